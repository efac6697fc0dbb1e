/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/relatives.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/data/data_ops.h"

static const unsigned note_flags[NNOTES] = {
	[NOTE_COPIES] = DATUM_SENT | DATUM_RECEIVED,
	[NOTE_CONTRIBUTIONS] = DATUM_CONTRIBUTED,
};

static int has_note(starpu_data_handle_t handle, enum note note)
{
	return (data_flags(handle) & note_flags[note]) != 0;
}

/* ---- who may have notes ---------------------------------------------- */

static struct family *family_of(starpu_data_handle_t handle)
{
	const struct partition *partition = partition_first(handle);

	return partition ? partition->family : NULL;
}

static struct partition *first_noted(starpu_data_handle_t handle, enum note note)
{
	const struct family *family = family_of(handle);

	return family ? family->noted[note] : NULL;
}

static void list_partition(struct partition *partition, enum note note)
{
	struct partition **first = &partition->family->noted[note];
	struct noted *noted = &partition->noted[note];

	noted->next = *first;
	noted->at = first;
	if (noted->next)
		noted->next->noted[note].at = &noted->next;
	*first = partition;
}

static void unlist_partition(struct partition *partition, enum note note)
{
	struct noted *noted = &partition->noted[note];

	if (!noted->at)
		return;
	*noted->at = noted->next;
	if (noted->next)
		noted->next->noted[note].at = noted->at;
	noted->at = NULL;
}

static uint64_t key_of(starpu_data_handle_t handle)
{
	return (uint64_t)(uintptr_t)handle;
}

static void number_parts(struct partition *partition)
{
	for (uintptr_t i = 0; i < partition->nparts; i++)
		table_put(&partition->numbers, key_of(partition->parts[i]),
			  (void *)(i + 1));
}

static unsigned number_of(struct partition *partition, starpu_data_handle_t part)
{
	void *number;

	if (partition->numbers.count == 0)
		number_parts(partition);
	number = table_get(&partition->numbers, key_of(part));
	ORR_ASSERT(number);
	return (unsigned)((uintptr_t)number - 1);
}

/* 0: it is listed already, and so is what it is a part of. */
static int list_part(struct partition *partition, starpu_data_handle_t part,
		     enum note note)
{
	struct noted *noted = &partition->noted[note];
	unsigned number = number_of(partition, part);

	if (!noted->parts) {
		noted->parts = orr_alloc(partition->nparts * sizeof(*noted->parts));
		noted->is_listed = orr_alloc(partition->nparts);
	}
	if (noted->is_listed[number])
		return 0;
	noted->is_listed[number] = 1;
	noted->parts[noted->nlisted++] = number;
	if (!noted->at)
		list_partition(partition, note);
	return 1;
}

static void list_upwards(starpu_data_handle_t handle, enum note note)
{
	struct partition *outer = partition_of(handle);

	while (outer && outer->family && list_part(outer, handle, note)) {
		handle = outer->parent;
		outer = partition_of(handle);
	}
}

/* ---- DATUM_KIN ------------------------------------------------------- */

/* The parts of all partitions of the datum but one, at any depth. */
static void tell_below(starpu_data_handle_t handle, const struct partition *but)
{
	const struct partition *partition = partition_first(handle);

	for (; partition; partition = partition->next) {
		if (partition == but)
			continue;
		for (unsigned i = 0; i < partition->nparts; i++) {
			data_set_flags(partition->parts[i], DATUM_KIN, 0);
			if (partition->nnested)
				tell_below(partition->parts[i], NULL);
		}
	}
}

/* Once: those that come later inherit it. */
static void tell(starpu_data_handle_t handle)
{
	struct family *family = family_of(handle);
	struct partition *outer = partition_of(handle);

	if (family && !family->has_told) {
		tell_below(handle, NULL);
		family->has_told = 1;
	}
	for (; outer && !outer->has_told; outer = partition_of(outer->parent)) {
		data_set_flags(outer->parent, DATUM_KIN, 0);
		tell_below(outer->parent, outer);
		outer->has_told = 1;
	}
}

void relatives_note(starpu_data_handle_t handle, enum note note)
{
	orr_lock(&handle->node->views_lock);
	tell(handle);
	list_upwards(handle, note);
	orr_unlock(&handle->node->views_lock);
}

/* ---- a partition comes and goes -------------------------------------- */

void relatives_link(struct partition *partition, struct partition *other)
{
	const unsigned noted =
		DATUM_KIN | DATUM_SENT | DATUM_RECEIVED | DATUM_CONTRIBUTED;

	partition->family = other ? other->family : orr_alloc(sizeof(*partition->family));
	partition->family->npartitions++;
	if (!(data_flags(partition->parent) & noted) && !partition->family->has_told)
		return;
	for (unsigned i = 0; i < partition->nparts; i++)
		data_set_flags(partition->parts[i], DATUM_KIN, 0);
}

void relatives_unlink(struct partition *partition)
{
	for (int note = 0; note < NNOTES; note++) {
		unlist_partition(partition, (enum note)note);
		free(partition->noted[note].parts);
		free(partition->noted[note].is_listed);
		partition->noted[note] = (struct noted){0};
	}
	table_free(&partition->numbers);
	if (--partition->family->npartitions == 0)
		free(partition->family);
	partition->family = NULL;
}

/* ---- answers --------------------------------------------------------- */

static void add(struct relatives *relatives, starpu_data_handle_t handle, enum note note)
{
	if (!has_note(handle, note))
		return;
	if (relatives->n == relatives->capacity) {
		relatives->capacity = relatives->capacity ? 2 * relatives->capacity : 16;
		relatives->list =
			orr_realloc(relatives->list,
				    relatives->capacity * sizeof(relatives->list[0]));
	}
	relatives->list[relatives->n++] = handle;
}

static int compare_unsigned(const void *left, const void *right)
{
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;

	return (a > b) - (a < b);
}

/* The newest first. */
static int compare_number(const void *left, const void *right)
{
	const struct partition *a = *(struct partition *const *)left;
	const struct partition *b = *(struct partition *const *)right;

	return (a->number < b->number) - (a->number > b->number);
}

static void add_below(struct relatives *relatives, starpu_data_handle_t handle,
		      const struct partition *but, enum note note);

/* In the order of the parts.  Those that have nothing any more leave the list. */
static void add_parts(struct relatives *relatives, struct partition *partition,
		      enum note note)
{
	struct noted *noted = &partition->noted[note];
	unsigned nkept = 0;

	qsort(noted->parts, noted->nlisted, sizeof(*noted->parts), compare_unsigned);
	for (unsigned i = 0; i < noted->nlisted; i++) {
		starpu_data_handle_t part = partition->parts[noted->parts[i]];

		add(relatives, part, note);
		add_below(relatives, part, NULL, note);
		if (has_note(part, note) || first_noted(part, note))
			noted->parts[nkept++] = noted->parts[i];
		else
			noted->is_listed[noted->parts[i]] = 0;
	}
	noted->nlisted = nkept;
	if (nkept == 0)
		unlist_partition(partition, note);
}

static void add_below(struct relatives *relatives, starpu_data_handle_t handle,
		      const struct partition *but, enum note note)
{
	struct partition *partition = first_noted(handle, note), **all;
	size_t n = 0;

	for (; partition; partition = partition->noted[note].next)
		n += partition != but;
	if (n == 0)
		return;
	all = orr_alloc(n * sizeof(struct partition *));
	n = 0;
	partition = first_noted(handle, note);
	for (; partition; partition = partition->noted[note].next)
		if (partition != but)
			all[n++] = partition;
	qsort(all, n, sizeof(struct partition *), compare_number);
	for (size_t i = 0; i < n; i++)
		add_parts(relatives, all[i], note);
	free(all);
}

void relatives_find(starpu_data_handle_t handle, enum note note,
		    struct relatives *relatives)
{
	const struct partition *outer;

	*relatives = (struct relatives){0};
	orr_lock(&handle->node->views_lock);
	add_below(relatives, handle, NULL, note);
	for (outer = partition_of(handle); outer; outer = partition_of(outer->parent)) {
		add(relatives, outer->parent, note);
		add_below(relatives, outer->parent, outer, note);
	}
	orr_unlock(&handle->node->views_lock);
}

void relatives_free(struct relatives *relatives)
{
	free(relatives->list);
}
