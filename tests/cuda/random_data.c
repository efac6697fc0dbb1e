/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <string.h>

#include "random.h"

/* random_data.c - data of random programs: their memory, their values, their parts. */

static const uint64_t gap = 0x5555555555555555u; /* what is between rows */

unsigned below(struct rng *rng, unsigned n)
{
	rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((rng->state >> 33) ^ (rng->state >> 45)) % n;
}

long view_differs(const struct view *seen, const struct view *model)
{
	if (view_count(seen) != view_count(model))
		return 0;
	for (uint32_t i = 0; i < view_count(model); i++)
		if (*view_at(seen, i) != *view_at(model, i))
			return i;
	return -1;
}

struct view view_of_handle(starpu_data_handle_t handle)
{
	return view_of(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
}

/* ---- memory -------------------------------------------------------------- */

static void *obtain(const struct datum *datum, size_t bytes)
{
	void *at = NULL;

	if (datum->memory == PINNED) {
		if (starpu_malloc(&at, bytes) != 0)
			abort();
		return at;
	}
	at = malloc(bytes + 1);
	if (datum->memory == LATER_PINNED)
		starpu_memory_pin(at, bytes);
	return at;
}

static void give_back(const struct datum *datum, void *at, size_t bytes)
{
	if (datum->memory == PINNED) {
		starpu_free_noflag(at, bytes);
		return;
	}
	if (datum->memory == LATER_PINNED)
		starpu_memory_unpin(at, bytes);
	free(at);
}

/* ---- shapes -------------------------------------------------------------- */

/* Rows and planes of at most so many elements, often few. */
static void draw_shape(struct datum *datum, struct rng *rng, const struct sizes *sizes)
{
	struct view *home = &datum->home;
	unsigned n = 1 + below(rng, below(rng, 3) ? sizes->most / 16 + 1 : sizes->most);

	if (below(rng, 100) < sizes->full_percent)
		n = sizes->most;
	*home = (struct view){.nx = 1, .ny = 1, .nz = 1, .area = 1};
	if (datum->kind != VARIABLE)
		home->nx = n;
	if (datum->kind == BCSR) {
		datum->r = 1 + below(rng, 3);
		datum->c = 1 + below(rng, 3);
		home->area = datum->r * datum->c;
	}
	if (datum->kind == MATRIX || datum->kind == BLOCK) {
		home->nx = 1 + below(rng, n < 700 ? n : 700);
		home->ny = n / home->nx;
	}
	if (datum->kind == BLOCK) {
		home->nz = 1 + below(rng, home->ny < 9 ? home->ny : 9);
		home->ny = home->ny / home->nz;
	}
	home->ldy = home->nx;
	if (home->ny > 1 && below(rng, 2))
		home->ldy += below(rng, 20);
	home->ldz = home->ldy * home->ny;
	if (home->nz > 1 && below(rng, 2))
		home->ldz += below(rng, 2) ? home->ldy : below(rng, 5);
	if (home->nx < 1 || home->ny < 1)
		home->nx = home->ny = home->nz = 1;
}

static void make_model(struct datum *datum, struct rng *rng)
{
	struct view *model = &datum->model;

	*model = datum->home;
	if (datum->kind == BCSR)
		model->nx = model->nx / model->area * model->area + model->area;
	if (datum->kind == PAIR)
		model->nx = 2 * (model->nx / 2 + 1);
	datum->home.nx = model->nx;
	if (model->ny == 1)
		datum->home.ldy = datum->home.ldz = model->nx;
	model->ldy = model->nx;
	model->ldz = (size_t)model->nx * model->ny;
	model->values = malloc(view_count(model) * sizeof(uint64_t));
	for (uint32_t i = 0; i < view_count(model); i++)
		model->values[i] = below(rng, 1000);
}

/* Values and gaps of the application's memory. */
static void make_home(struct datum *datum)
{
	struct view *home = &datum->home;
	size_t n = home->ldz * home->nz;

	datum->home_bytes = n * sizeof(uint64_t);
	home->values = obtain(datum, datum->home_bytes);
	for (size_t i = 0; i < n; i++)
		home->values[i] = gap;
	for (uint32_t i = 0; i < view_count(home); i++)
		*view_at(home, i) = *view_at(&datum->model, i);
}

/* Columns are any; each row has as many blocks, and the last one the others. */
static void make_sparse(struct datum *datum, struct rng *rng)
{
	struct view *model = &datum->model;
	uint32_t nblocks = view_count(model) / model->area;
	uint32_t *columns = malloc(nblocks * sizeof(*columns)), *rows;

	model->nrows = 1 + below(rng, nblocks < 50 ? nblocks : 50);
	rows = malloc((model->nrows + 1) * sizeof(*rows));
	for (uint32_t i = 0; i < nblocks; i++)
		columns[i] = below(rng, 1000);
	for (uint32_t i = 0; i < model->nrows; i++)
		rows[i] = nblocks / model->nrows * i;
	rows[model->nrows] = nblocks;
	model->columns = columns;
	model->rows = rows;
}

static void register_sparse(struct datum *datum)
{
	const struct view *model = &datum->model;
	uint32_t nblocks = view_count(model) / model->area;

	if (datum->kind == CSR)
		starpu_csr_data_register(&datum->handle, STARPU_MAIN_RAM, nblocks,
					 model->nrows, (uintptr_t)datum->home.values,
					 (uint32_t *)model->columns,
					 (uint32_t *)model->rows, 0, sizeof(uint64_t));
	else
		starpu_bcsr_data_register(
			&datum->handle, STARPU_MAIN_RAM, nblocks, model->nrows,
			(uintptr_t)datum->home.values, (uint32_t *)model->columns,
			(uint32_t *)model->rows, 0, datum->r, datum->c, sizeof(uint64_t));
}

static void register_pair(struct datum *datum, int node)
{
	struct pair_interface pair = {.n = datum->model.nx / 2};

	if (node == STARPU_MAIN_RAM) {
		pair.first = datum->home.values;
		pair.second = datum->home.values + pair.n;
	}
	pair_register(&datum->handle, &pair, node, datum->variant);
}

static void register_it(struct datum *datum)
{
	const struct view *home = &datum->home;
	int node = home->values ? STARPU_MAIN_RAM : -1;
	uintptr_t at = (uintptr_t)home->values;
	const size_t each = sizeof(uint64_t);

	switch (datum->kind) {
	case VARIABLE:
		starpu_variable_data_register(&datum->handle, node, at, each);
		break;
	case VECTOR:
		starpu_vector_data_register(&datum->handle, node, at, home->nx, each);
		break;
	case MATRIX:
		starpu_matrix_data_register(&datum->handle, node, at, (uint32_t)home->ldy,
					    home->nx, home->ny, each);
		break;
	case BLOCK:
		starpu_block_data_register(&datum->handle, node, at, (uint32_t)home->ldy,
					   (uint32_t)home->ldz, home->nx, home->ny,
					   home->nz, each);
		break;
	case PAIR:
		register_pair(datum, node);
		break;
	default:
		register_sparse(datum);
		break;
	}
}

void datum_begin(struct datum *datum, struct rng *rng, const struct sizes *sizes)
{
	*datum = (struct datum){.kind = (enum kind)below(rng, KINDS),
				.memory = (enum memory)below(rng, 4),
				.variant = (int)below(rng, PAIR_VARIANTS)};
	if ((datum->kind == CSR || datum->kind == BCSR) && datum->memory == TEMPORARY)
		datum->memory = PINNED;
	draw_shape(datum, rng, sizes);
	make_model(datum, rng);
	if (datum->memory != TEMPORARY)
		make_home(datum);
	if (datum->kind == CSR || datum->kind == BCSR)
		make_sparse(datum, rng);
	datum->has_value = datum->memory != TEMPORARY;
	register_it(datum);
	datum->is_reduced = datum->kind <= BLOCK && below(rng, 3) == 0;
	if (datum->is_reduced)
		reduce_with(datum->handle);
}

/* ---- the end ------------------------------------------------------------- */

static void check_gaps(const struct datum *datum)
{
	const struct view *home = &datum->home;
	size_t n = home->ldz * home->nz;

	for (size_t i = 0; i < n; i++) {
		size_t in_plane = i % home->ldz;

		if (in_plane / home->ldy < home->ny && in_plane % home->ldy < home->nx)
			continue;
		if (home->values[i] != gap) {
			bad("a gap between rows was written", (long)i, datum->kind);
			return;
		}
	}
}

void datum_end(struct datum *datum)
{
	struct view seen;
	long where = -1;

	if (!datum->home.values && datum->has_value) {
		starpu_data_acquire(datum->handle, STARPU_R);
		seen = view_of_handle(datum->handle);
		where = view_differs(&seen, &datum->model);
		starpu_data_release(datum->handle);
	}
	starpu_data_unregister(datum->handle);
	if (datum->home.values) {
		if (datum->has_value)
			where = view_differs(&datum->home, &datum->model);
		check_gaps(datum);
		give_back(datum, datum->home.values, datum->home_bytes);
	}
	if (where >= 0)
		bad("last value of a datum (where, kind)", where, datum->kind);
	free(datum->model.values);
	free((void *)datum->model.columns);
	free((void *)datum->model.rows);
}

/* ---- parts --------------------------------------------------------------- */

typedef void (*filter_t)(void *father, void *child, struct starpu_data_filter *filter,
			 unsigned id, unsigned nparts);

/* Along the axis; NULL: it cannot be cut there. */
static filter_t filter_of(const struct datum *datum, int axis)
{
	static const filter_t filters[KINDS][3] = {
		[VECTOR] = {starpu_vector_filter_block},
		[MATRIX] = {starpu_matrix_filter_block,
			    starpu_matrix_filter_vertical_block},
		[BLOCK] = {starpu_block_filter_block, starpu_block_filter_vertical_block,
			   starpu_block_filter_depth_block}};

	return filters[datum->kind][axis];
}

/* The models of parts are places in that of the whole. */
static void model_parts(struct datum *datum, int axis)
{
	uint32_t begun = 0;

	for (unsigned i = 0; i < datum->nparts; i++) {
		struct view shape = view_of_handle(datum->parts[i]),
			    *part = &datum->part_models[i];
		size_t step = axis == 0   ? 1
			      : axis == 1 ? datum->model.ldy
					  : datum->model.ldz;

		*part = datum->model;
		part->nx = shape.nx;
		part->ny = shape.ny;
		part->nz = shape.nz;
		part->values += begun * step;
		begun += axis == 0 ? part->nx : axis == 1 ? part->ny : part->nz;
	}
}

void datum_cut(struct datum *datum, struct rng *rng, int planned)
{
	int axis = (int)below(rng, 3);
	uint32_t length = axis == 0   ? datum->model.nx
			  : axis == 1 ? datum->model.ny
				      : datum->model.nz;
	struct starpu_data_filter filter = {.nchildren = 2 + below(rng, MAX_PARTS - 1),
					    .filter_func = filter_of(datum, axis)};

	if (!filter.filter_func || length < filter.nchildren || datum->is_reduced ||
	    datum->plan != WHOLE || !datum->has_value)
		return;
	datum->nparts = filter.nchildren;
	if (planned) {
		starpu_data_partition_plan(datum->handle, &filter, datum->parts);
	} else {
		starpu_data_partition(datum->handle, &filter);
		for (unsigned i = 0; i < datum->nparts; i++)
			datum->parts[i] = starpu_data_get_child(datum->handle, i);
	}
	datum->plan = planned ? PLANNED : CUT;
	model_parts(datum, axis);
}

void datum_mend(struct datum *datum, struct rng *rng)
{
	unsigned node = below(rng, starpu_memory_nodes_get_count());

	if (datum->plan == CUT)
		starpu_data_unpartition(datum->handle,
					datum->home.values ? STARPU_MAIN_RAM : node);
	else if (datum->plan == PLANNED)
		starpu_data_partition_clean(datum->handle, datum->nparts, datum->parts);
	datum->plan = WHOLE;
	datum->nparts = 0;
}
