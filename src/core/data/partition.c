/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/coherency.h"
#include "core/data/data_ops.h"
#include "core/data/redux.h"
#include "core/data/relatives.h"
#include "core/interface/interface.h"
#include "core/outside.h"

/* ---- questions ------------------------------------------------------- */

struct partition *partition_first(starpu_data_handle_t handle)
{
	const struct data_extra *extra = data_find_extra(handle);

	return extra ? extra->partitions : NULL;
}

struct partition *partition_first_open(starpu_data_handle_t handle)
{
	const struct data_extra *extra = data_find_extra(handle);

	return extra ? extra->open_partitions : NULL;
}

struct partition *partition_synchronous(starpu_data_handle_t handle)
{
	struct partition *partition = partition_first(handle);

	return partition && !partition->is_planned ? partition : NULL;
}

int partition_nplans(starpu_data_handle_t handle)
{
	const struct partition *first = partition_first(handle);

	return first ? first->nplans : 0;
}

struct partition *partition_of(starpu_data_handle_t handle)
{
	return data_flags(handle) & DATUM_PART ? data_body(handle)->part_of : NULL;
}

/* ---- where the parts lie --------------------------------------------- */

/* Of a plain interface in the memory where parts lie inside. */
static struct plain_head *head_of(starpu_data_handle_t handle)
{
	return data_copy(handle, data_base_memory(handle))->interface;
}

static void shift(struct plain_head *head, uintptr_t by)
{
	if (!head->ptr)
		return;
	head->ptr += by;
	head->dev_handle += by;
}

void partition_follow(struct partition *partition)
{
	uintptr_t base;

	if (partition->is_fixed)
		return;
	base = head_of(partition->parent)->ptr;
	if (base == partition->base)
		return;
	for (unsigned i = 0; i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		orr_lock(&part->lock);
		if (part->ops->interface_size >= sizeof(struct plain_head))
			shift(head_of(part), base - partition->base);
		orr_unlock(&part->lock);
	}
	partition->base = base;
}

/* The memory of handle, which may lie in another datum, exists and stays. */
static void fix(starpu_data_handle_t handle)
{
	struct partition *outer = partition_of(handle);

	if (outer) {
		fix(outer->parent);
		partition_follow(outer);
	} else {
		coherency_hold(handle, data_base_memory(handle));
	}
}

static void unfix(starpu_data_handle_t handle)
{
	/* Others may be changing flags that are none of this. */
	struct partition *outer = data_body(handle)->part_of;

	if (outer)
		unfix(outer->parent);
	else
		coherency_let(handle, data_base_memory(handle));
}

/* ---- cutting --------------------------------------------------------- */

/* What a filter is given, and where it writes. */
struct cut {
	struct starpu_data_filter *filter;
	void *there, *elsewhere; /* the parent's struct, in its memory and without */
	void *temporary;         /* memory that there has only meanwhile */
	struct starpu_data_interface_ops **ops; /* of each part */
};

static int is_plain_with_pointer(const struct starpu_data_interface_ops *ops)
{
	return interface_is_plain(ops) &&
	       (ops->interface_size == 0 ||
		ops->interface_size >= sizeof(struct plain_head));
}

static struct starpu_data_interface_ops *
ops_of_part(starpu_data_handle_t parent, struct starpu_data_filter *filter, unsigned i)
{
	struct starpu_data_interface_ops *ops = NULL;
	OUTSIDE(outside);

	if (filter->get_child_ops) {
		outside_enter(&outside, parent->node, "get_child_ops of a filter");
		ops = filter->get_child_ops(filter, i);
		outside_end(&outside);
	}
	return ops ? ops : parent->ops;
}

/* The parent has no memory yet, where we can shift what was computed from another one. */
static void lend_memory(struct partition *partition, struct cut *cut)
{
	starpu_data_handle_t parent = partition->parent;
	struct plain_head *head = cut->there;
	char what[128];

	if (parent->ops->interface_size < sizeof(*head) || head->ptr)
		return;
	if (parent->ops->allocate_data_on_node(cut->there, STARPU_MAIN_RAM) < 0)
		budget_complain(parent->node, STARPU_MAIN_RAM, data_alloc_bytes(parent),
				data_describe(parent, what, sizeof(what)));
	cut->temporary = cut->there;
}

static void begin_cut(struct partition *partition, struct cut *cut)
{
	starpu_data_handle_t parent = partition->parent;
	size_t bytes = parent->ops->interface_size;

	cut->there = orr_alloc(bytes + 1);
	cut->elsewhere = orr_alloc(bytes + 1);
	partition->is_fixed = (unsigned char)!is_plain_with_pointer(parent->ops);
	for (unsigned i = 0; i < partition->nparts; i++) {
		cut->ops[i] = ops_of_part(parent, cut->filter, i);
		if (!is_plain_with_pointer(cut->ops[i]))
			partition->is_fixed = 1;
	}
	if (partition->is_fixed)
		fix(parent);
	orr_lock(&parent->lock);
	memcpy(cut->there, data_copy(parent, data_base_memory(parent))->interface, bytes);
	data_fill_interface(parent, cut->elsewhere);
	orr_unlock(&parent->lock);
	if (partition->is_fixed)
		return;
	lend_memory(partition, cut);
	if (bytes)
		partition->base = ((struct plain_head *)cut->there)->ptr;
}

static void end_cut(struct partition *partition, struct cut *cut)
{
	if (cut->temporary)
		partition->parent->ops->free_data_on_node(cut->temporary,
							  STARPU_MAIN_RAM);
	free(cut->there);
	free(cut->elsewhere);
}

/* What the filters of older programs leave out. */
static void complete(const struct starpu_data_interface_ops *ops, void *interface)
{
	struct starpu_vector_interface *vector = interface;
	struct starpu_matrix_interface *matrix = interface;

	if (ops->interfaceid == STARPU_VECTOR_INTERFACE_ID && !vector->allocsize)
		vector->allocsize = vector->nx * vector->elemsize;
	if (ops->interfaceid == STARPU_MATRIX_INTERFACE_ID && !matrix->allocsize)
		matrix->allocsize = (size_t)matrix->nx * matrix->ny * matrix->elemsize;
}

/* A filter that leaves the number alone, or clears it, means the kind that was asked for;
 * one that writes another's wrote another struct.  A changed copy of a table may have a
 * number of its own. */
static void check_kind(const struct partition *partition, const struct plain_head *head,
		       const struct starpu_data_interface_ops *ops, unsigned i)
{
	char what[128];

	if (head->id == ops->interfaceid || head->id == 0 ||
	    ops->interfaceid >= STARPU_MAX_INTERFACE_ID)
		return;
	orr_die(partition->parent->node->rank,
		"filter_func made part %u of %s data of interface %d, and the filter "
		"says that its parts are of interface %d (%s); give it the get_child_ops "
		"that belongs to filter_func",
		i, data_describe(partition->parent, what, sizeof(what)), (int)head->id,
		(int)ops->interfaceid, ops->name ? ops->name : "no name");
}

static void filter_one(const struct partition *partition, const struct cut *cut,
		       unsigned i, void *from, void *to)
{
	struct starpu_data_interface_ops *ops = cut->ops[i];
	const struct node *node = partition->parent->node;
	int is_plain = interface_is_plain(ops);
	OUTSIDE(outside);

	memset(to, 0, ops->interface_size);
	outside_enter(&outside, node, "a filter function");
	if (ops->init)
		ops->init(to);
	if (is_plain && ops->interface_size >= sizeof(struct plain_head))
		((struct plain_head *)to)->id = ops->interfaceid;
	cut->filter->filter_func(from, to, cut->filter, i, partition->nparts);
	outside_end(&outside);
	if (!is_plain)
		return;
	if (ops->interface_size >= sizeof(struct plain_head))
		check_kind(partition, to, ops, i);
	complete(ops, to);
}

static void inherit(starpu_data_handle_t parent, starpu_data_handle_t part, unsigned i)
{
	const struct data_extra *from = data_find_extra(parent);
	struct data_extra *to;
	int n;

	if (!from || (!from->name && from->ndimensions == 0))
		return;
	to = data_extra(part);
	if (from->name)
		to->name = orr_strdup(from->name);
	n = from->ndimensions;
	if (n == 0)
		return;
	memcpy(to->dimensions, from->dimensions, sizeof(to->dimensions));
	if (n < (int)(sizeof(to->dimensions) / sizeof(to->dimensions[0])))
		to->dimensions[n++] = (int)i;
	to->ndimensions = n;
}

static starpu_data_handle_t cut_one(struct partition *partition, const struct cut *cut,
				    unsigned i)
{
	struct starpu_data_interface_ops *ops = cut->ops[i];
	size_t bytes = ops->interface_size;
	char few[2][128], *there = few[0], *elsewhere = few[1];
	starpu_data_handle_t part;

	if (bytes > sizeof(few[0])) {
		there = orr_alloc(bytes);
		elsewhere = orr_alloc(bytes);
	}
	filter_one(partition, cut, i, cut->there, there);
	if (!interface_is_plain(ops))
		filter_one(partition, cut, i, cut->elsewhere, elsewhere);
	part = data_register_part(partition->parent, ops, there, elsewhere);
	if (there != few[0]) {
		free(there);
		free(elsewhere);
	}
	data_body(part)->part_of = partition;
	if (partition->is_planned)
		data_change_flags(part, DATUM_VIEWS, 0);
	inherit(partition->parent, part, i);
	redux_inherit(partition->parent, part);
	return part;
}

static int is_partial(const struct partition *partition)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < partition->nparts; i++)
		bytes += data_bytes(partition->parts[i]);
	return bytes < data_bytes(partition->parent);
}

static unsigned number_of_parts(starpu_data_handle_t parent,
				struct starpu_data_filter *filter)
{
	OUTSIDE(outside);
	unsigned n;

	if (!filter->get_nchildren)
		return filter->nchildren;
	outside_enter(&outside, parent->node, "get_nchildren of a filter");
	n = filter->get_nchildren(filter, parent);
	outside_end(&outside);
	return n;
}

struct partition *partition_new(starpu_data_handle_t parent,
				struct starpu_data_filter *filter, int is_planned)
{
	unsigned n = number_of_parts(parent, filter);
	struct partition *partition =
		orr_alloc(sizeof(*partition) + n * sizeof(partition->parts[0]));
	struct cut cut = {.filter = filter,
			  .ops = orr_alloc((n + 1) * sizeof(cut.ops[0]))};

	if (data_flags(parent) & DATUM_OUTDATED)
		data_settle_outdated(parent, STARPU_NONE);
	partition->parent = parent;
	partition->users = 1;
	partition->is_planned = (unsigned char)is_planned;
	partition->nparts = n;
	begin_cut(partition, &cut);
	for (unsigned i = 0; i < n; i++)
		partition->parts[i] = cut_one(partition, &cut, i);
	end_cut(partition, &cut);
	partition->is_partial = is_partial(partition);
	free(cut.ops);
	return partition;
}

/* ---- of a parent ----------------------------------------------------- */

void partition_link(struct partition *partition)
{
	starpu_data_handle_t parent = partition->parent;
	struct data_extra *extra = data_extra(parent);
	struct partition *outer = partition_of(parent);

	partition->next = extra->partitions;
	partition->at = &extra->partitions;
	partition->number = 0;
	partition->nplans = partition->is_planned;
	if (partition->next) {
		partition->next->at = &partition->next;
		partition->number = partition->next->number + 1;
		partition->nplans += partition->next->nplans;
	}
	extra->partitions = partition;
	if (outer)
		outer->nnested++;
	relatives_link(partition, partition->next);
	orr_lock(&parent->lock);
	data_change_flags(parent, DATUM_VIEWS, 0);
	orr_unlock(&parent->lock);
}

void partition_unlink(struct partition *partition)
{
	starpu_data_handle_t parent = partition->parent;
	struct partition *outer = partition_of(parent);
	int nplans = partition_nplans(parent) - partition->is_planned;

	partition_set_view(partition, VIEW_CLOSED);
	relatives_unlink(partition);
	*partition->at = partition->next;
	if (partition->next)
		partition->next->at = partition->at;
	if (data_extra(parent)->partitions)
		data_extra(parent)->partitions->nplans = nplans;
	if (outer)
		outer->nnested--;
	if (data_extra(parent)->partitions || (outer && outer->is_planned))
		return;
	orr_lock(&parent->lock);
	data_change_flags(parent, 0, DATUM_VIEWS);
	orr_unlock(&parent->lock);
}

static void link_open(struct partition **first, struct partition *partition)
{
	partition->next_open = *first;
	partition->at_open = first;
	if (partition->next_open)
		partition->next_open->at_open = &partition->next_open;
	*first = partition;
}

static void unlink_open(struct partition *partition)
{
	*partition->at_open = partition->next_open;
	if (partition->next_open)
		partition->next_open->at_open = partition->at_open;
}

void partition_set_view(struct partition *partition, enum view view)
{
	enum view before = partition->view;

	partition->view = (unsigned char)view;
	if (before == VIEW_CLOSED && view != VIEW_CLOSED)
		link_open(&data_extra(partition->parent)->open_partitions, partition);
	else if (before != VIEW_CLOSED && view == VIEW_CLOSED)
		unlink_open(partition);
}

static int compare_age(const void *left, const void *right)
{
	const struct partition *a = *(struct partition *const *)left;
	const struct partition *b = *(struct partition *const *)right;

	return (a->number > b->number) - (a->number < b->number);
}

void partition_sort_open(starpu_data_handle_t handle)
{
	struct partition *first = partition_first_open(handle), *partition, **all;
	size_t n = 0;

	for (partition = first; partition; partition = partition->next_open)
		n++;
	if (n < 2)
		return;
	all = orr_alloc(n * sizeof(struct partition *));
	n = 0;
	for (partition = first; partition; partition = partition->next_open)
		all[n++] = partition;
	qsort(all, n, sizeof(struct partition *), compare_age);
	data_extra(handle)->open_partitions = NULL;
	for (size_t i = 0; i < n; i++)
		link_open(&data_extra(handle)->open_partitions, all[i]);
	free(all);
}

void partition_drop(struct partition *partition)
{
	if (orr_add(&partition->users, -1) > 0)
		return;
	if (partition->is_fixed)
		unfix(partition->parent);
	free(partition);
}
