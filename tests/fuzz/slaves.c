/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random tasks on a master and its slaves, with STARPU_NMPI_MS: the values that they
 * leave are those of the same tasks in the order of their submission, on plain arrays.
 *
 * usage: slaves FIRST_SEED COUNT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { MAX_DATA = 12, MAX_USED = 4, MAX_ELEMENTS = 40000, PARTS = 3 };

enum use { USE_R, USE_W, USE_RW, USE_ADD, USE_REDUX, USE_SCRATCH, NUSES };

struct datum {
	starpu_data_handle_t handle;
	uint64_t *memory, *oracle; /* memory: NULL, or the application's */
	unsigned nx, ny, ld;       /* ny 1: a vector */
	int has_value;
};

/* By value, since a slave sees nothing else. */
struct command {
	uint64_t salt;
	int n, uses[MAX_USED], is_matrix[MAX_USED];
};

static struct {
	unsigned long state;
	int ndata;
	struct datum data[MAX_DATA];
} world;

static unsigned draw(unsigned n)
{
	world.state = world.state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)((world.state >> 33) % n);
}

/* ---- what a task does ------------------------------------------------ */

struct view {
	uint64_t *at;
	unsigned nx, ny, ld;
};

static uint64_t *element(const struct view *view, unsigned i)
{
	return view->at + (i / view->nx) * view->ld + i % view->nx;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
	return x ^ (x >> 29);
}

static void compute(const struct command *command, const struct view *views)
{
	uint64_t hash = command->salt;

	for (int k = 0; k < command->n; k++)
		if (command->uses[k] == USE_R || command->uses[k] == USE_RW)
			for (unsigned i = 0; i < views[k].nx * views[k].ny; i++)
				hash = mix(hash + *element(&views[k], i));
	for (int k = 0; k < command->n; k++)
		for (unsigned i = 0; i < views[k].nx * views[k].ny; i++)
			switch ((enum use)command->uses[k]) {
			case USE_W:
			case USE_RW:
			case USE_SCRATCH:
				*element(&views[k], i) = hash + i;
				break;
			case USE_ADD:
			case USE_REDUX:
				*element(&views[k], i) += command->salt + i;
				break;
			default:
				break;
			}
}

static struct view view_of(void *buffer, int is_matrix)
{
	if (is_matrix)
		return (struct view){(uint64_t *)STARPU_MATRIX_GET_PTR(buffer),
				     STARPU_MATRIX_GET_NX(buffer),
				     STARPU_MATRIX_GET_NY(buffer),
				     STARPU_MATRIX_GET_LD(buffer)};
	return (struct view){(uint64_t *)STARPU_VECTOR_GET_PTR(buffer),
			     STARPU_VECTOR_GET_NX(buffer), 1,
			     STARPU_VECTOR_GET_NX(buffer)};
}

void slaves_compute(void *buffers[], void *arg);
void slaves_neutral(void *buffers[], void *arg);
void slaves_combine(void *buffers[], void *arg);

void slaves_compute(void *buffers[], void *arg)
{
	struct view views[MAX_USED];
	struct command command;

	starpu_codelet_unpack_args(arg, &command);
	for (int k = 0; k < command.n; k++)
		views[k] = view_of(buffers[k], command.is_matrix[k]);
	compute(&command, views);
}

static struct view view_of_any(void *buffer)
{
	return view_of(buffer, *(enum starpu_data_interface_id *)buffer ==
				       STARPU_MATRIX_INTERFACE_ID);
}

void slaves_neutral(void *buffers[], void *arg)
{
	struct view view = view_of_any(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < view.nx * view.ny; i++)
		*element(&view, i) = 0;
}

void slaves_combine(void *buffers[], void *arg)
{
	struct view into = view_of_any(buffers[0]), from = view_of_any(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < into.nx * into.ny; i++)
		*element(&into, i) += *element(&from, i);
}

static struct starpu_codelet codelet = {.cpu_funcs = {slaves_compute},
					.cpu_funcs_name = {"slaves_compute"},
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.model = &starpu_perfmodel_nop,
					.name = "compute"};
static struct starpu_codelet neutral = {.cpu_funcs = {slaves_neutral},
					.cpu_funcs_name = {"slaves_neutral"},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "neutral"};
static struct starpu_codelet combine = {.cpu_funcs = {slaves_combine},
					.cpu_funcs_name = {"slaves_combine"},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "combine"};

/* ---- data ------------------------------------------------------------ */

static unsigned draw_size(void)
{
	switch (draw(4)) {
	case 0:
		return 1 + draw(4);
	case 1:
		return 1 + draw(MAX_ELEMENTS);
	default:
		return 1 + draw(600);
	}
}

static void begin(struct datum *datum)
{
	size_t bytes;

	*datum = (struct datum){.nx = draw_size(), .ny = 1};
	if (draw(3) == 0) {
		datum->ny = 1 + draw(8);
		datum->nx = 1 + datum->nx / datum->ny;
	}
	datum->ld = datum->ny > 1 ? datum->nx + draw(5) : datum->nx;
	bytes = (size_t)datum->ld * datum->ny * sizeof(uint64_t);
	datum->oracle = calloc(1, bytes);
	if (draw(3)) {
		datum->memory = calloc(1, bytes);
		datum->has_value = 1;
	} else {
		datum->ld = datum->nx;
	}
	if (datum->ny > 1)
		starpu_matrix_data_register(&datum->handle,
					    datum->memory ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)datum->memory, datum->ld,
					    datum->nx, datum->ny, sizeof(uint64_t));
	else
		starpu_vector_data_register(
			&datum->handle, datum->memory ? STARPU_MAIN_RAM : -1,
			(uintptr_t)datum->memory, datum->nx, sizeof(uint64_t));
	starpu_data_set_reduction_methods(datum->handle, &combine, &neutral);
}

static struct view oracle_of(const struct datum *datum)
{
	return (struct view){datum->oracle, datum->nx, datum->ny, datum->ld};
}

/* The number of wrong elements. */
static int compare(const struct datum *datum, const struct view *seen, unsigned long seed)
{
	struct view expected = oracle_of(datum);

	for (unsigned i = 0; i < expected.nx * expected.ny; i++) {
		if (*element(seen, i) == *element(&expected, i))
			continue;
		printf("seed %lu: datum %d, element %u is %llx, expected %llx\n", seed,
		       (int)(datum - world.data), i,
		       (unsigned long long)*element(seen, i),
		       (unsigned long long)*element(&expected, i));
		return 1;
	}
	return 0;
}

static int acquire(struct datum *datum, unsigned long seed)
{
	struct view view;
	int wrong;

	starpu_data_acquire(datum->handle, STARPU_RW);
	view = view_of(starpu_data_get_interface_on_node(datum->handle, STARPU_MAIN_RAM),
		       datum->ny > 1);
	wrong = compare(datum, &view, seed);
	*element(&view, 0) += 7;
	*datum->oracle += 7;
	starpu_data_release(datum->handle);
	return wrong;
}

/* ---- submission ------------------------------------------------------ */

static enum starpu_data_access_mode mode_of(int use)
{
	static const enum starpu_data_access_mode modes[NUSES] = {
		[USE_R] = STARPU_R,         [USE_W] = STARPU_W,
		[USE_RW] = STARPU_RW,       [USE_ADD] = STARPU_RW | STARPU_COMMUTE,
		[USE_REDUX] = STARPU_REDUX, [USE_SCRATCH] = STARPU_SCRATCH};

	return modes[use];
}

static int draw_use(const struct datum *datum)
{
	int use = (int)draw(NUSES);

	if (use == USE_REDUX && draw(2))
		use = USE_RW;
	/* What is not there cannot be read. */
	return datum->has_value || use == USE_SCRATCH ? use : USE_W;
}

static void play(const struct command *command, struct datum *const *data)
{
	struct view views[MAX_USED];
	uint64_t *scratch[MAX_USED] = {0};

	for (int k = 0; k < command->n; k++) {
		views[k] = oracle_of(data[k]);
		if (command->uses[k] != USE_SCRATCH)
			continue;
		scratch[k] = malloc((size_t)views[k].ld * views[k].ny * sizeof(uint64_t));
		views[k].at = scratch[k];
	}
	compute(command, views);
	for (int k = 0; k < command->n; k++)
		free(scratch[k]);
}

static void insert(void)
{
	struct command command = {.salt = world.state, .n = 1 + (int)draw(MAX_USED)};
	struct starpu_data_descr descriptions[MAX_USED];
	struct datum *data[MAX_USED];
	int n = 0, worker = -1;

	for (int k = 0; k < command.n; k++) {
		struct datum *datum = &world.data[draw((unsigned)world.ndata)];
		int is_twice = 0;

		for (int j = 0; j < n; j++)
			is_twice |= data[j] == datum;
		if (is_twice)
			continue;
		command.uses[n] = draw_use(datum);
		command.is_matrix[n] = datum->ny > 1;
		descriptions[n] = (struct starpu_data_descr){datum->handle,
							     mode_of(command.uses[n])};
		data[n++] = datum;
	}
	command.n = n;
	for (int k = 0; k < n; k++)
		data[k]->has_value |= command.uses[k] != USE_SCRATCH;
	play(&command, data);
	if (draw(3) == 0)
		worker = (int)draw(starpu_worker_get_count());
	if (starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, descriptions, n,
			       STARPU_VALUE, &command, sizeof(command), STARPU_PRIORITY,
			       (int)draw(3), STARPU_EXECUTE_ON_WORKER, worker, 0) != 0)
		abort();
}

static int one_seed(unsigned long seed)
{
	int ntasks, wrong = 0;

	world.state = seed * 77777 + 3;
	world.ndata = 2 + (int)draw(MAX_DATA - 2);
	for (int i = 0; i < world.ndata; i++)
		begin(&world.data[i]);
	ntasks = 10 + (int)draw(60);
	for (int i = 0; i < ntasks; i++) {
		struct datum *datum = &world.data[draw((unsigned)world.ndata)];

		insert();
		if (draw(12) == 0 && datum->has_value)
			wrong += acquire(datum, seed);
		if (draw(6) == 0 && datum->has_value)
			starpu_data_prefetch_on_node(
				datum->handle, draw(starpu_memory_nodes_get_count()), 1);
	}
	for (int i = 0; i < world.ndata; i++) {
		struct datum *datum = &world.data[i];
		struct view seen = oracle_of(datum);

		if (datum->has_value && !datum->memory)
			wrong += acquire(datum, seed);
		starpu_data_unregister(datum->handle);
		seen.at = datum->memory;
		if (datum->memory)
			wrong += compare(datum, &seen, seed);
		free(datum->memory);
		free(datum->oracle);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	int wrong = 0;

	if (starpu_initialize(NULL, &argc, &argv) != 0)
		return 77;
	if (starpu_mpi_ms_worker_get_count() == 0) {
		printf("FAIL slaves: there is none; set STARPU_NMPI_MS\n");
		return 1;
	}
	for (unsigned long seed = first; seed < first + count; seed++)
		wrong += one_seed(seed) != 0;
	starpu_shutdown();
	printf("%s random tasks on slaves: %lu seeds from %lu, %d wrong\n",
	       wrong ? "FAIL" : "PASS", count, first, wrong);
	return wrong != 0;
}
