/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_PERF_TABLE_H
#define ORR_API_PERF_TABLE_H

/*
 * perf_table.h - names and numbers of performance counters and of knobs.
 *
 * The number of an entry has its place in the table and its scope, so that numbers of
 * counters and of knobs differ as their scopes do.  Both have the same types.
 */
#include <starpu_perf_monitoring.h>

struct perf_entry {
	const char *name, *help;
	unsigned char scope, is_real; /* a double; else an int32 or int64 */
	unsigned char is_long, what;  /* what: the table's own */
};

struct perf_table {
	const char *noun;          /* of an entry, for messages */
	const char *const *scopes; /* names by number, NULL between */
	const struct perf_entry *entries;
	int nentries;
};

enum { PERF_SCOPE_BITS = 3, PERF_NSCOPES = 1 << PERF_SCOPE_BITS };

/* As the functions of starpu_perf_monitoring.h. */
int perf_scope(const struct perf_table *table, const char *name);
const char *perf_scope_name(const struct perf_table *table, int scope);
int perf_type(const char *name);
const char *perf_type_name(int type);
int perf_count(const struct perf_table *table, int scope);
int perf_named(const struct perf_table *table, int scope, const char *name);
int perf_nth(const struct perf_table *table, int scope, int nth);
int perf_type_of(const struct perf_entry *entry);
void perf_list(const struct perf_table *table, int scope);
/* All scopes. */
void perf_list_all(const struct perf_table *table);

/* NULL: there is none. */
const struct perf_entry *perf_find(const struct perf_table *table, int id);
/* The same of a scope; ends the program when there is none, naming func. */
const struct perf_entry *perf_at(const struct perf_table *table, const char *func, int id,
				 int scope);
/* It is a real, or an integer; ends the program otherwise. */
void perf_check_kind(const struct perf_entry *entry, const char *func, int is_real);

#endif
