/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "kin.h"

#include <stdlib.h>
#include <string.h>

unsigned kin_below(struct kin *kin, unsigned n)
{
	kin->state = kin->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(((kin->state >> 33) ^ (kin->state >> 45)) % n);
}

/* ---- elements -------------------------------------------------------- */

unsigned kin_count(const struct kin_array *array)
{
	unsigned n = 1;

	for (unsigned d = 0; d < array->ndims; d++)
		n *= array->n[d];
	return n;
}

unsigned *kin_at(const struct kin_array *array, unsigned i)
{
	unsigned *x = array->x;

	for (unsigned d = 0; d < array->ndims; d++) {
		x += i % array->n[d] * array->ld[d];
		i /= array->n[d];
	}
	return x;
}

uint64_t kin_hash(const struct kin_array *array)
{
	unsigned n = kin_count(array);
	uint64_t sum = n;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 1099511628211u + *kin_at(array, i);
	return sum;
}

void kin_do(const struct kin_array *array, enum kin_deed deed, unsigned salt)
{
	unsigned n = kin_count(array);

	for (unsigned i = 0; i < n; i++) {
		unsigned *x = kin_at(array, i);

		switch (deed) {
		case KIN_SET:
			*x = i + salt;
			break;
		case KIN_CHANGE:
			*x = *x * 3 + salt;
			break;
		case KIN_ADD:
			*x += i + salt;
			break;
		case KIN_SCRIBBLE:
			*x = 0xdeadbeef;
			break;
		default:
			break;
		}
	}
}

struct kin_array kin_of_buffer(void *buffer)
{
	const enum starpu_data_interface_id *id = buffer;
	const struct starpu_tensor_interface *t = buffer;
	const struct starpu_block_interface *b = buffer;
	const struct starpu_matrix_interface *m = buffer;
	const struct starpu_vector_interface *v = buffer;

	switch (*id) {
	case STARPU_TENSOR_INTERFACE_ID:
		return (struct kin_array){(unsigned *)t->ptr,
					  4,
					  {t->nx, t->ny, t->nz, t->nt},
					  {1, t->ldy, t->ldz, t->ldt}};
	case STARPU_BLOCK_INTERFACE_ID:
		return (struct kin_array){(unsigned *)b->ptr,
					  3,
					  {b->nx, b->ny, b->nz},
					  {1, b->ldy, b->ldz}};
	case STARPU_MATRIX_INTERFACE_ID:
		return (struct kin_array){
			(unsigned *)m->ptr, 2, {m->nx, m->ny}, {1, m->ld}};
	case STARPU_VECTOR_INTERFACE_ID:
		return (struct kin_array){(unsigned *)v->ptr, 1, {v->nx}, {1}};
	default:
		return (struct kin_array){
			(unsigned *)STARPU_VARIABLE_GET_PTR(buffer), 0, {0}, {0}};
	}
}

/* ---- the datum ------------------------------------------------------- */

static int add_member(struct kin *kin, starpu_data_handle_t handle,
		      const struct kin_array *model, int plan)
{
	kin->members[kin->nmembers] = (struct kin_member){handle, *model, plan, 0};
	return kin->nmembers++;
}

/* Rows of the application's memory are longer than needed, to be found out if used. */
static unsigned gap(const struct kin *kin)
{
	return kin->memory && kin->ndims > 1 ? 2 : 0;
}

static struct kin_array memory_array(const struct kin *kin)
{
	struct kin_array array = {kin->memory, kin->ndims, {0}, {1}};

	for (unsigned d = 0; d < kin->ndims; d++) {
		array.n[d] = kin->n[d];
		if (d > 0)
			array.ld[d] =
				array.ld[d - 1] * kin->n[d - 1] + (d == 1 ? gap(kin) : 0);
	}
	return array;
}

static starpu_data_handle_t register_root(const struct kin *kin)
{
	struct kin_array a = memory_array(kin);
	int home = kin->memory ? STARPU_MAIN_RAM : -1;
	uintptr_t at = (uintptr_t)kin->memory;
	starpu_data_handle_t handle;
	size_t size = sizeof(unsigned);

	if (kin->ndims == 1)
		starpu_vector_data_register(&handle, home, at, a.n[0], size);
	else if (kin->ndims == 2)
		starpu_matrix_data_register(&handle, home, at, a.ld[1], a.n[0], a.n[1],
					    size);
	else if (kin->ndims == 3)
		starpu_block_data_register(&handle, home, at, a.ld[1], a.ld[2], a.n[0],
					   a.n[1], a.n[2], size);
	else
		starpu_tensor_data_register(&handle, home, at, a.ld[1], a.ld[2], a.ld[3],
					    a.n[0], a.n[1], a.n[2], a.n[3], size);
	return handle;
}

static void choose_shape(struct kin *kin)
{
	static const unsigned most[] = {KIN_ELEMENTS, 7, 4, 3};

	kin->ndims = kin_below(kin, 2) ? 1 : 2 + kin_below(kin, 3);
	kin->count = 1;
	for (unsigned d = 0; d < kin->ndims; d++) {
		unsigned least = kin->ndims == 1 ? 6 : 1;

		kin->n[d] = least + kin_below(kin, most[kin->ndims - 1] - least + 1);
		if (kin->count * kin->n[d] > KIN_ELEMENTS)
			kin->n[d] = 1;
		kin->count *= kin->n[d];
	}
}

void kin_begin(struct kin *kin, int with_memory)
{
	struct kin_array model = {kin->model, 0, {0}, {1}}, memory;

	choose_shape(kin);
	if (with_memory)
		kin->memory = calloc(2 * KIN_ELEMENTS + 2, sizeof(*kin->memory));
	memory = memory_array(kin);
	model.ndims = kin->ndims;
	for (unsigned d = 0; d < kin->ndims; d++) {
		model.n[d] = kin->n[d];
		if (d > 0)
			model.ld[d] = model.ld[d - 1] * kin->n[d - 1];
	}
	for (unsigned i = 0; i < kin->count; i++) {
		kin->model[i] = kin_below(kin, 100000);
		if (with_memory)
			*kin_at(&memory, i) = kin->model[i];
	}
	add_member(kin, register_root(kin), &model, -1);
}

uint64_t kin_hash_memory(const struct kin *kin)
{
	struct kin_array memory = memory_array(kin);

	return kin_hash(&memory);
}

/* ---- cuts ------------------------------------------------------------ */

static const struct cut {
	unsigned ndims, dim;
	int picks; /* the dimension goes */
	void (*filter)(void *, void *, struct starpu_data_filter *, unsigned, unsigned);
	struct starpu_data_interface_ops *(*ops)(struct starpu_data_filter *, unsigned);
} cuts[] = {
	{1, 0, 0, starpu_vector_filter_block, NULL},
	{1, 0, 0, starpu_vector_filter_block, NULL},
	{1, 0, 1, starpu_vector_filter_pick_variable,
	 starpu_vector_filter_pick_variable_child_ops},
	{2, 0, 0, starpu_matrix_filter_block, NULL},
	{2, 1, 0, starpu_matrix_filter_vertical_block, NULL},
	{2, 1, 1, starpu_matrix_filter_pick_vector_y,
	 starpu_matrix_filter_pick_vector_child_ops},
	{3, 0, 0, starpu_block_filter_block, NULL},
	{3, 1, 0, starpu_block_filter_vertical_block, NULL},
	{3, 2, 0, starpu_block_filter_depth_block, NULL},
	{3, 2, 1, starpu_block_filter_pick_matrix_z,
	 starpu_block_filter_pick_matrix_child_ops},
	{3, 1, 1, starpu_block_filter_pick_matrix_y,
	 starpu_block_filter_pick_matrix_child_ops},
	{4, 0, 0, starpu_tensor_filter_block, NULL},
	{4, 1, 0, starpu_tensor_filter_vertical_block, NULL},
	{4, 2, 0, starpu_tensor_filter_depth_block, NULL},
	{4, 3, 0, starpu_tensor_filter_time_block, NULL},
	{4, 3, 1, starpu_tensor_filter_pick_block_t,
	 starpu_tensor_filter_pick_block_child_ops},
	{4, 2, 1, starpu_tensor_filter_pick_block_z,
	 starpu_tensor_filter_pick_block_child_ops},
	{4, 1, 1, starpu_tensor_filter_pick_block_y,
	 starpu_tensor_filter_pick_block_child_ops},
};

static const struct cut *choose_cut(struct kin *kin, unsigned ndims)
{
	const struct cut *cut;

	do
		cut = &cuts[kin_below(kin, sizeof(cuts) / sizeof(cuts[0]))];
	while (cut->ndims != ndims);
	return cut;
}

/* What a part is of its parent: the rule of chunks is the documented one. */
static struct kin_array cut_model(const struct kin_array *parent, const struct cut *cut,
				  const struct starpu_data_filter *f, unsigned id)
{
	struct kin_array part = *parent;
	unsigned n = parent->n[cut->dim], least = n / f->nchildren,
		 more = n % f->nchildren, start;

	if (cut->picks) {
		start = (unsigned)(uintptr_t)f->filter_arg_ptr + id;
		part.ndims--;
		for (unsigned d = cut->dim; d < part.ndims; d++) {
			part.n[d] = parent->n[d + 1];
			part.ld[d] = parent->ld[d + 1];
		}
	} else {
		start = id * least + (id < more ? id : more);
		part.n[cut->dim] = least + (id < more);
	}
	part.x += start * parent->ld[cut->dim];
	return part;
}

static const struct cut *choose_filter(struct kin *kin, int parent,
				       struct starpu_data_filter *f)
{
	const struct kin_array *model = &kin->members[parent].model;
	const struct cut *cut = choose_cut(kin, model->ndims);
	unsigned n = model->n[cut->dim], from = cut->picks ? kin_below(kin, n) : 0;

	n -= from;
	*f = (struct starpu_data_filter){
		.filter_func = cut->filter,
		.get_child_ops = cut->ops,
		.nchildren = 1 + kin_below(kin, n < KIN_PARTS ? n : KIN_PARTS),
		.filter_arg_ptr = cut->picks ? (void *)(uintptr_t)from : NULL};
	return cut;
}

static int can_cut(const struct kin *kin, int parent)
{
	return kin->nplans < KIN_PLANS && kin->members[parent].model.ndims > 0;
}

static int make(struct kin *kin, int parent, int is_synchronous)
{
	struct kin_plan *made = &kin->plans[kin->nplans];
	starpu_data_handle_t handle = kin->members[parent].handle;
	struct starpu_data_filter f;
	const struct cut *cut;

	if (!can_cut(kin, parent))
		return -1;
	cut = choose_filter(kin, parent, &f);
	if (is_synchronous)
		starpu_data_partition(handle, &f);
	else
		starpu_data_partition_plan(handle, &f, made->parts);
	made->parent = parent;
	made->n = f.nchildren;
	made->first = kin->nmembers;
	made->is_synchronous = is_synchronous;
	made->view = is_synchronous ? KIN_WRITE : KIN_CLOSED;
	for (unsigned i = 0; i < f.nchildren; i++) {
		struct kin_array model =
			cut_model(&kin->members[parent].model, cut, &f, i);

		if (is_synchronous)
			made->parts[i] = starpu_data_get_sub_data(handle, 1, (int)i);
		add_member(kin, made->parts[i], &model, kin->nplans);
	}
	return kin->nplans++;
}

int kin_plan(struct kin *kin, int parent, int depth)
{
	int plan = make(kin, parent, 0);

	if (plan < 0 || depth == 0)
		return plan;
	for (unsigned i = 0; i < kin->plans[plan].n; i++)
		if (kin_below(kin, 3) == 0)
			kin_plan(kin, kin->plans[plan].first + (int)i, depth - 1);
	return plan;
}

int kin_partition(struct kin *kin, int parent)
{
	return make(kin, parent, 1);
}

/* Inner ones come after those that they are in. */
void kin_clean(struct kin *kin, int from)
{
	while (kin->nplans > from) {
		struct kin_plan *last = &kin->plans[--kin->nplans];
		starpu_data_handle_t parent = kin->members[last->parent].handle;

		if (kin_below(kin, 2))
			starpu_data_partition_clean(parent, last->n, last->parts);
		else
			starpu_data_partition_clean_node(parent, last->n, last->parts,
							 -1);
		kin->nmembers = last->first;
		if (kin->is_by_hand)
			starpu_task_wait_for_all();
	}
}

int kin_is_partitioned(const struct kin *kin, int member)
{
	for (int i = 0; i < kin->nplans; i++)
		if (kin->plans[i].parent == member && kin->plans[i].is_synchronous)
			return 1;
	return 0;
}

/* ---- views ----------------------------------------------------------- */

static void close_all(struct kin *kin, int member, int but)
{
	for (int i = 0; i < kin->nplans; i++)
		if (i != but && kin->plans[i].parent == member)
			kin_close(kin, i);
}

void kin_close(struct kin *kin, int plan)
{
	struct kin_plan *closed = &kin->plans[plan];

	for (unsigned i = 0; i < closed->n; i++)
		close_all(kin, closed->first + (int)i, -1);
	closed->view = KIN_CLOSED;
}

static void share_but(struct kin *kin, int member, int but)
{
	for (int i = 0; i < kin->nplans; i++)
		if (i != but && kin->plans[i].parent == member &&
		    kin->plans[i].view == KIN_WRITE)
			kin_downgrade(kin, i);
}

void kin_share(struct kin *kin, int parent)
{
	share_but(kin, parent, -1);
}

void kin_downgrade(struct kin *kin, int plan)
{
	struct kin_plan *shared = &kin->plans[plan];

	for (unsigned i = 0; i < shared->n; i++)
		share_but(kin, shared->first + (int)i, -1);
	shared->view = KIN_READ;
}

static int is_open(const struct kin_plan *plan, int to_write)
{
	return plan->view == KIN_WRITE || (plan->view == KIN_READ && !to_write);
}

static void enter(struct kin *kin, int member, int to_write)
{
	int outer = kin->members[member].plan;

	if (outer >= 0 && !is_open(&kin->plans[outer], to_write))
		kin_open(kin, outer, to_write);
}

static void clear_way(struct kin *kin, int member, int but, int to_write)
{
	enter(kin, member, to_write);
	if (to_write)
		close_all(kin, member, but);
	else
		share_but(kin, member, but);
}

void kin_open(struct kin *kin, int plan, int to_write)
{
	clear_way(kin, kin->plans[plan].parent, plan, to_write);
	kin->plans[plan].view = to_write ? KIN_WRITE : KIN_READ;
}

void kin_reach(struct kin *kin, int member, int to_write)
{
	clear_way(kin, member, -1, to_write);
}

/* Nothing of the datum's own partitions but one stands in the way. */
static int is_whole(const struct kin *kin, int member, int but, int to_write)
{
	for (int i = 0; i < kin->nplans; i++) {
		const struct kin_plan *plan = &kin->plans[i];

		if (i != but && plan->parent == member &&
		    (plan->view == KIN_WRITE || (plan->view == KIN_READ && to_write)))
			return 0;
	}
	return 1;
}

static int is_entered(const struct kin *kin, int member, int to_write)
{
	for (int at = kin->members[member].plan; at >= 0;
	     at = kin->members[kin->plans[at].parent].plan)
		if (!is_open(&kin->plans[at], to_write))
			return 0;
	return 1;
}

int kin_allows(const struct kin *kin, int member, int to_write)
{
	return is_entered(kin, member, to_write) && is_whole(kin, member, -1, to_write);
}

int kin_is_alone(const struct kin *kin, int plan)
{
	int parent = kin->plans[plan].parent;

	for (int i = 0; i < kin->nplans; i++)
		if (kin->members[kin->plans[i].parent].plan == plan &&
		    kin->plans[i].view != KIN_CLOSED)
			return 0;
	return is_entered(kin, parent, 1) && is_whole(kin, parent, plan, 1);
}
