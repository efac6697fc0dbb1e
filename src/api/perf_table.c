/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/perf_table.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/check.h"

static const char *const types[] = {NULL, "int32", "int64", "float", "double"};
enum { NTYPES = sizeof(types) / sizeof(types[0]) };

static int find_name(const char *const *names, int n, const char *name)
{
	for (int i = 0; name && i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

int perf_scope(const struct perf_table *table, const char *name)
{
	return find_name(table->scopes, PERF_NSCOPES, name);
}

const char *perf_scope_name(const struct perf_table *table, int scope)
{
	return scope >= 0 && scope < PERF_NSCOPES ? table->scopes[scope] : NULL;
}

int perf_type(const char *name)
{
	return find_name(types, NTYPES, name);
}

const char *perf_type_name(int type)
{
	return type >= 0 && type < NTYPES ? types[type] : NULL;
}

/* ---- entries --------------------------------------------------------- */

static int id_of(const struct perf_table *table, int i)
{
	return i << PERF_SCOPE_BITS | table->entries[i].scope;
}

const struct perf_entry *perf_find(const struct perf_table *table, int id)
{
	int i = id >> PERF_SCOPE_BITS;

	if (id < 0 || i >= table->nentries || id_of(table, i) != id)
		return NULL;
	return &table->entries[i];
}

int perf_count(const struct perf_table *table, int scope)
{
	int n = 0;

	for (int i = 0; i < table->nentries; i++)
		n += table->entries[i].scope == scope;
	return n;
}

int perf_named(const struct perf_table *table, int scope, const char *name)
{
	for (int i = 0; name && i < table->nentries; i++)
		if (table->entries[i].scope == scope &&
		    !strcmp(table->entries[i].name, name))
			return id_of(table, i);
	return -1;
}

int perf_nth(const struct perf_table *table, int scope, int nth)
{
	for (int i = 0; i < table->nentries; i++)
		if (table->entries[i].scope == scope && nth-- == 0)
			return id_of(table, i);
	return -1;
}

int perf_type_of(const struct perf_entry *entry)
{
	if (!entry)
		return -1;
	if (entry->is_real)
		return starpu_perf_counter_type_double;
	return entry->is_long ? starpu_perf_counter_type_int64
			      : starpu_perf_counter_type_int32;
}

void perf_list(const struct perf_table *table, int scope)
{
	fprintf(stderr, "scope: %s\n",
		perf_scope_name(table, scope) ? table->scopes[scope] : "(unknown)");
	for (int i = 0; i < table->nentries; i++) {
		const struct perf_entry *entry = &table->entries[i];

		if (entry->scope == scope)
			fprintf(stderr, "  0x%08x %s [%s]: %s\n",
				(unsigned)id_of(table, i), entry->name,
				types[perf_type_of(entry)], entry->help);
	}
}

void perf_list_all(const struct perf_table *table)
{
	for (int scope = 0; scope < PERF_NSCOPES; scope++)
		if (table->scopes[scope])
			perf_list(table, scope);
}

/* ---- what the application says --------------------------------------- */

const struct perf_entry *perf_at(const struct perf_table *table, const char *func, int id,
				 int scope)
{
	const struct perf_entry *entry = perf_find(table, id);

	if (!entry)
		orr_die(api_rank(),
			"%s: there is no %s with number %d; take one from the functions "
			"name_to_id() or nth_to_id()",
			func, table->noun, id);
	if (entry->scope != scope)
		orr_die(api_rank(), "%s: %s %s has scope %s, not %s", func, table->noun,
			entry->name, table->scopes[entry->scope], table->scopes[scope]);
	return entry;
}

void perf_check_kind(const struct perf_entry *entry, const char *func, int is_real)
{
	if (entry->is_real != is_real)
		orr_die(api_rank(), "%s: %s has type %s; use the function for that type",
			func, entry->name, types[perf_type_of(entry)]);
}
