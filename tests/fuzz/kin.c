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

static struct kin_array of_ndim(const struct starpu_ndim_interface *ndim)
{
	struct kin_array array = {(unsigned *)ndim->ptr, (unsigned)ndim->ndim, {0}, {0}};

	memcpy(array.n, ndim->nn, ndim->ndim * sizeof(*array.n));
	memcpy(array.ld, ndim->ldn, ndim->ndim * sizeof(*array.ld));
	return array;
}

struct kin_array kin_of_buffer(void *buffer)
{
	const enum starpu_data_interface_id *id = buffer;
	const struct starpu_tensor_interface *t = buffer;
	const struct starpu_block_interface *b = buffer;
	const struct starpu_matrix_interface *m = buffer;
	const struct starpu_vector_interface *v = buffer;
	const struct starpu_csr_interface *csr = buffer;
	const struct starpu_bcsr_interface *bcsr = buffer;

	switch (*id) {
	case STARPU_NDIM_INTERFACE_ID:
		return of_ndim(buffer);
	case STARPU_CSR_INTERFACE_ID:
		return (struct kin_array){(unsigned *)csr->nzval, 1, {csr->nnz}, {1}};
	case STARPU_BCSR_INTERFACE_ID:
		return (struct kin_array){
			(unsigned *)bcsr->nzval, 1, {bcsr->nnz * bcsr->r * bcsr->c}, {1}};
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

uint64_t kin_hash_acquired(starpu_data_handle_t handle)
{
	struct kin_array array;
	uint64_t hash;

	starpu_data_acquire(handle, STARPU_R);
	array = kin_of_buffer(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
	hash = kin_hash(&array);
	starpu_data_release(handle);
	return hash;
}

/* ---- reductions ------------------------------------------------------ */

void kin_neutral_kernel(void *buffers[], void *arg)
{
	struct kin_array array = kin_of_buffer(buffers[0]);

	(void)arg;
	for (unsigned i = 0, n = kin_count(&array); i < n; i++)
		*kin_at(&array, i) = 0;
}

void kin_combine_kernel(void *buffers[], void *arg)
{
	struct kin_array into = kin_of_buffer(buffers[0]),
			 from = kin_of_buffer(buffers[1]),
			 scratch = kin_of_buffer(buffers[2]);

	(void)arg;
	kin_do(&scratch, KIN_SCRIBBLE, 0);
	for (unsigned i = 0, n = kin_count(&into); i < n; i++)
		*kin_at(&into, i) += *kin_at(&from, i);
}

/* ---- the datum ------------------------------------------------------- */

int kin_is_sparse(const struct kin *kin, int member)
{
	return kin->members[member].kind >= KIN_CSR;
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

	if (kin->kind == KIN_NDIM)
		starpu_ndim_data_register(&handle, home, at, a.ld, a.n, kin->ndims, size);
	else if (kin->ndims == 1)
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

static void fill(struct kin *kin)
{
	struct kin_array memory = memory_array(kin);

	for (unsigned i = 0; i < kin->count; i++) {
		kin->model[i] = kin_below(kin, 100000);
		if (kin->memory)
			*kin_at(&memory, i) = kin->model[i];
	}
}

void kin_begin(struct kin *kin, int with_memory)
{
	struct kin_array model = {kin->model, 0, {0}, {1}};

	choose_shape(kin);
	kin->kind = kin_below(kin, 3) ? KIN_GRID : KIN_NDIM;
	if (with_memory)
		kin->memory = calloc(2 * KIN_ELEMENTS + 2, sizeof(*kin->memory));
	model.ndims = kin->ndims;
	for (unsigned d = 0; d < kin->ndims; d++) {
		model.n[d] = kin->n[d];
		if (d > 0)
			model.ld[d] = model.ld[d - 1] * kin->n[d - 1];
	}
	fill(kin);
	kin->members[kin->nmembers++] =
		(struct kin_member){register_root(kin), model, -1, kin->kind, 0, 0, 0};
}

static void choose_structure(struct kin *kin)
{
	unsigned nrows = 1 + kin_below(kin, KIN_ROWS), nnz = 0, most;

	kin->kind = kin_below(kin, 2) ? KIN_CSR : KIN_BCSR;
	kin->r = kin->kind == KIN_CSR ? 1 : 1 + kin_below(kin, 3);
	kin->c = kin->kind == KIN_CSR ? 1 : 1 + kin_below(kin, 2);
	/* With its columns and rows, no more bytes than other data. */
	most = (KIN_ELEMENTS - KIN_ROWS - 1) / (kin->r * kin->c + 1);
	for (unsigned i = 0; i < nrows; i++) {
		unsigned n = kin_below(kin, 5);

		if (i == 0 && n == 0)
			n = 1;
		kin->rows[i] = nnz;
		for (unsigned k = 0; k < n && nnz < most; k++)
			kin->columns[nnz++] = k;
	}
	kin->rows[nrows] = nnz;
	kin->ndims = 1;
	kin->n[0] = kin->count = nnz * kin->r * kin->c;
	kin->members[0].nrows = nrows;
}

void kin_begin_sparse(struct kin *kin)
{
	struct kin_member *whole = &kin->members[kin->nmembers++];
	uint32_t nnz, nrows;

	choose_structure(kin);
	kin->memory = calloc(KIN_ELEMENTS, sizeof(*kin->memory));
	fill(kin);
	nrows = whole->nrows;
	nnz = kin->rows[nrows];
	whole->model = (struct kin_array){kin->model, 1, {kin->count}, {1}};
	whole->plan = -1;
	whole->kind = kin->kind;
	if (kin->kind == KIN_CSR)
		starpu_csr_data_register(&whole->handle, STARPU_MAIN_RAM, nnz, nrows,
					 (uintptr_t)kin->memory, kin->columns, kin->rows,
					 0, sizeof(*kin->memory));
	else
		starpu_bcsr_data_register(&whole->handle, STARPU_MAIN_RAM, nnz, nrows,
					  (uintptr_t)kin->memory, kin->columns, kin->rows,
					  0, kin->r, kin->c, sizeof(*kin->memory));
}

uint64_t kin_hash_memory(const struct kin *kin)
{
	struct kin_array memory = memory_array(kin);

	return kin_hash(&memory);
}

/* ---- cuts ------------------------------------------------------------ */

enum { ANY = KIN_DIMS + 1 };

/* Along a dimension, of rows, or into single blocks. */
static const struct cut {
	unsigned ndims, dim; /* ndims ANY: of them all, one is drawn */
	int picks;           /* the dimension goes */
	void (*filter)(void *, void *, struct starpu_data_filter *, unsigned, unsigned);
	struct starpu_data_interface_ops *(*ops)(struct starpu_data_filter *, unsigned);
	enum kin_kind of, into;
} cuts[] = {
	{1, 0, 0, starpu_vector_filter_block, NULL, KIN_GRID, KIN_GRID},
	{1, 0, 0, starpu_vector_filter_block, NULL, KIN_GRID, KIN_GRID},
	{1, 0, 1, starpu_vector_filter_pick_variable,
	 starpu_vector_filter_pick_variable_child_ops, KIN_GRID, KIN_GRID},
	{2, 0, 0, starpu_matrix_filter_block, NULL, KIN_GRID, KIN_GRID},
	{2, 1, 0, starpu_matrix_filter_vertical_block, NULL, KIN_GRID, KIN_GRID},
	{2, 1, 1, starpu_matrix_filter_pick_vector_y,
	 starpu_matrix_filter_pick_vector_child_ops, KIN_GRID, KIN_GRID},
	{3, 0, 0, starpu_block_filter_block, NULL, KIN_GRID, KIN_GRID},
	{3, 1, 0, starpu_block_filter_vertical_block, NULL, KIN_GRID, KIN_GRID},
	{3, 2, 0, starpu_block_filter_depth_block, NULL, KIN_GRID, KIN_GRID},
	{3, 2, 1, starpu_block_filter_pick_matrix_z,
	 starpu_block_filter_pick_matrix_child_ops, KIN_GRID, KIN_GRID},
	{3, 1, 1, starpu_block_filter_pick_matrix_y,
	 starpu_block_filter_pick_matrix_child_ops, KIN_GRID, KIN_GRID},
	{4, 0, 0, starpu_tensor_filter_block, NULL, KIN_GRID, KIN_GRID},
	{4, 1, 0, starpu_tensor_filter_vertical_block, NULL, KIN_GRID, KIN_GRID},
	{4, 2, 0, starpu_tensor_filter_depth_block, NULL, KIN_GRID, KIN_GRID},
	{4, 3, 0, starpu_tensor_filter_time_block, NULL, KIN_GRID, KIN_GRID},
	{4, 3, 1, starpu_tensor_filter_pick_block_t,
	 starpu_tensor_filter_pick_block_child_ops, KIN_GRID, KIN_GRID},
	{4, 2, 1, starpu_tensor_filter_pick_block_z,
	 starpu_tensor_filter_pick_block_child_ops, KIN_GRID, KIN_GRID},
	{4, 1, 1, starpu_tensor_filter_pick_block_y,
	 starpu_tensor_filter_pick_block_child_ops, KIN_GRID, KIN_GRID},
	{ANY, 0, 0, starpu_ndim_filter_block, NULL, KIN_NDIM, KIN_NDIM},
	{ANY, 0, 1, starpu_ndim_filter_pick_ndim, NULL, KIN_NDIM, KIN_NDIM},
	{4, ANY, 0, starpu_ndim_filter_to_tensor, starpu_ndim_filter_to_tensor_child_ops,
	 KIN_NDIM, KIN_GRID},
	{3, ANY, 0, starpu_ndim_filter_to_block, starpu_ndim_filter_to_block_child_ops,
	 KIN_NDIM, KIN_GRID},
	{2, ANY, 0, starpu_ndim_filter_to_matrix, starpu_ndim_filter_to_matrix_child_ops,
	 KIN_NDIM, KIN_GRID},
	{1, ANY, 0, starpu_ndim_filter_to_vector, starpu_ndim_filter_to_vector_child_ops,
	 KIN_NDIM, KIN_GRID},
	{1, 0, 0, starpu_csr_filter_vertical_block, NULL, KIN_CSR, KIN_CSR},
	{1, 0, 0, starpu_bcsr_filter_vertical_block, NULL, KIN_BCSR, KIN_BCSR},
	{1, 0, 1, starpu_bcsr_filter_canonical_block,
	 starpu_bcsr_filter_canonical_block_child_ops, KIN_BCSR, KIN_GRID},
};

static int fits(const struct cut *cut, const struct kin_member *parent)
{
	return cut->of == parent->kind &&
	       (cut->ndims == ANY || cut->ndims == parent->model.ndims) &&
	       (cut->into == KIN_NDIM || !parent->has_gaps);
}

static struct cut choose_cut(struct kin *kin, const struct kin_member *parent)
{
	struct cut cut;

	do
		cut = cuts[kin_below(kin, sizeof(cuts) / sizeof(cuts[0]))];
	while (!fits(&cut, parent));
	if (cut.of == KIN_NDIM)
		cut.dim = kin_below(kin, parent->model.ndims);
	return cut;
}

/* The rule of chunks is the documented one. */
static unsigned chunk(unsigned n, unsigned nparts, unsigned id, unsigned *start)
{
	unsigned least = n / nparts, more = n % nparts;

	*start = id * least + (id < more ? id : more);
	return least + (id < more);
}

static void cut_rows(const struct kin *kin, struct kin_member *part, unsigned nparts,
		     unsigned id)
{
	unsigned bytes = kin->r * kin->c, before = kin->rows[part->first_row], start;

	part->nrows = chunk(part->nrows, nparts, id, &start);
	part->first_row += start;
	part->model.x += (kin->rows[part->first_row] - before) * bytes;
	part->model.n[0] =
		(kin->rows[part->first_row + part->nrows] - kin->rows[part->first_row]) *
		bytes;
}

/* A matrix whose rows follow each other. */
static void pick_block(const struct kin *kin, struct kin_member *part, unsigned id)
{
	part->model = (struct kin_array){
		part->model.x + id * kin->r * kin->c, 2, {kin->c, kin->r}, {1, kin->c}};
}

static void cut_grid(struct kin_member *part, const struct cut *cut,
		     const struct starpu_data_filter *f, unsigned id)
{
	struct kin_array *model = &part->model;
	unsigned ld = model->ld[cut->dim], start;

	if (cut->picks) {
		start = (unsigned)(uintptr_t)f->filter_arg_ptr + id;
		part->has_gaps |= cut->dim == 0;
		model->ndims--;
		for (unsigned d = cut->dim; d < model->ndims; d++) {
			model->n[d] = model->n[d + 1];
			model->ld[d] = model->ld[d + 1];
		}
	} else {
		model->n[cut->dim] = chunk(model->n[cut->dim], f->nchildren, id, &start);
	}
	model->x += start * ld;
}

/* What a part is of its parent. */
static struct kin_member cut_member(const struct kin *kin, int parent,
				    const struct cut *cut,
				    const struct starpu_data_filter *f, unsigned id)
{
	struct kin_member part = kin->members[parent];

	part.kind = cut->into;
	if (cut->of < KIN_CSR)
		cut_grid(&part, cut, f, id);
	else if (cut->picks)
		pick_block(kin, &part, id);
	else
		cut_rows(kin, &part, f->nchildren, id);
	return part;
}

/* Into so many parts at most. */
static unsigned extent(const struct kin *kin, const struct kin_member *parent,
		       const struct cut *cut)
{
	if (cut->of < KIN_CSR)
		return parent->model.n[cut->dim];
	return cut->picks ? parent->model.n[0] / (kin->r * kin->c) : parent->nrows;
}

static struct cut choose_filter(struct kin *kin, int parent, struct starpu_data_filter *f)
{
	struct cut cut = choose_cut(kin, &kin->members[parent]);
	unsigned n = extent(kin, &kin->members[parent], &cut), from = 0;

	if (cut.picks && cut.of < KIN_CSR)
		from = kin_below(kin, n);
	n -= from;
	*f = (struct starpu_data_filter){
		.filter_func = cut.filter,
		.get_child_ops = cut.ops,
		.nchildren = 1 + kin_below(kin, n < KIN_PARTS ? n : KIN_PARTS),
		.filter_arg = cut.dim,
		.filter_arg_ptr = cut.picks ? (void *)(uintptr_t)from : NULL};
	return cut;
}

static int can_cut(const struct kin *kin, int parent)
{
	return kin->nplans < KIN_PLANS && kin->members[parent].model.ndims > 0 &&
	       kin_count(&kin->members[parent].model) > 0;
}

static int make(struct kin *kin, int parent, int is_synchronous)
{
	struct kin_plan *made = &kin->plans[kin->nplans];
	starpu_data_handle_t handle = kin->members[parent].handle;
	struct starpu_data_filter f;
	struct cut cut;

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
		struct kin_member part = cut_member(kin, parent, &cut, &f, i);

		if (is_synchronous)
			made->parts[i] = starpu_data_get_sub_data(handle, 1, (int)i);
		part.handle = made->parts[i];
		part.plan = kin->nplans;
		kin->members[kin->nmembers++] = part;
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
