/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random graphs over distributed data give what one processor alone would give.
 * ORRERY_TEST_SEED and ORRERY_TEST_GRAPHS: number of the first graph, and how many.
 */
#include <stdint.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

#define WORLD MPI_COMM_WORLD
#define RANK  claim_rank

enum { NDATA = 14, NTASKS = 400, MAX_USES = 5, LONG_ONE = 3000 };

/* Each rank computes the expected values for itself. */
struct datum {
	starpu_data_handle_t handle;
	uint64_t *home, *expected;
	unsigned n;
	int owner;
};

static struct datum data[NDATA];
static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* ---- the kernel ------------------------------------------------------ */

struct recipe {
	int nuses;
	uint64_t step;
	unsigned char reads[MAX_USES], writes[MAX_USES];
};

/*
 * Written data get their old value times three (if it may be read), plus what is only
 * read, plus the number of the task.  The order of tasks and each value count.
 */
static void cook(const struct recipe *recipe, uint64_t *values[], const unsigned n[])
{
	for (int w = 0; w < recipe->nuses; w++) {
		if (!recipe->writes[w])
			continue;
		for (unsigned i = 0; i < n[w]; i++) {
			uint64_t sum = recipe->step * (i + 1) + (unsigned)w;

			if (recipe->reads[w])
				sum += 3 * values[w][i];
			for (int r = 0; r < recipe->nuses; r++)
				if (recipe->reads[r] && !recipe->writes[r])
					sum += (uint64_t)(r + 1) * values[r][i % n[r]];
			values[w][i] = sum;
		}
	}
}

static void cook_cpu(void *buffers[], void *arg)
{
	struct recipe recipe;
	uint64_t *values[MAX_USES];
	unsigned n[MAX_USES];

	starpu_codelet_unpack_args(arg, &recipe);
	for (int i = 0; i < recipe.nuses; i++) {
		values[i] = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[i]);
		n[i] = STARPU_VECTOR_GET_NX(buffers[i]);
	}
	cook(&recipe, values, n);
}

static struct starpu_codelet cl_cook = {.cpu_funcs = {cook_cpu},
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.model = &starpu_perfmodel_nop,
					.name = "cook"};

/* ---- the graph ------------------------------------------------------- */

static void make_data(void)
{
	for (int d = 0; d < NDATA; d++) {
		struct datum *datum = &data[d];

		datum->n = d % 5 == 4 ? LONG_ONE + (unsigned)d : 1 + (unsigned)d % 3;
		datum->owner = (int)draw((unsigned)claim_size);
		datum->home = calloc(datum->n, sizeof *datum->home);
		datum->expected = calloc(datum->n, sizeof *datum->home);
		for (unsigned i = 0; i < datum->n; i++)
			datum->home[i] = datum->expected[i] = (uint64_t)d * 1000 + i;
		starpu_vector_data_register(
			&datum->handle, datum->owner == RANK ? STARPU_MAIN_RAM : -1,
			(uintptr_t)datum->home, datum->n, sizeof *datum->home);
		starpu_mpi_data_register(datum->handle, 50 + d, datum->owner);
	}
}

static enum starpu_data_access_mode draw_mode(void)
{
	switch (draw(8)) {
	case 0:
		return STARPU_W;
	case 1:
	case 2:
	case 3:
		return STARPU_RW;
	case 4:
		return STARPU_R | STARPU_SSEND;
	default:
		return STARPU_R;
	}
}

static int choose_any(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
	starpu_mpi_tag_t sum = 0;

	(void)me;
	for (int i = 0; i < nb_data; i++)
		sum += starpu_mpi_data_get_tag(descr[i].handle);
	return (int)(sum % nb_nodes);
}

static void insert(const struct recipe *recipe, struct starpu_data_descr *descrs,
		   int policy)
{
	int node = draw(4) == 0 ? (int)draw((unsigned)claim_size) : -1;
	int priority = (int)draw(5);

	if (draw(6) == 0)
		starpu_mpi_task_insert(
			WORLD, &cl_cook, STARPU_DATA_MODE_ARRAY, descrs, recipe->nuses,
			STARPU_VALUE, recipe, sizeof *recipe, STARPU_EXECUTE_ON_DATA,
			data[draw(NDATA)].handle, STARPU_PRIORITY, priority, 0);
	else
		starpu_mpi_task_insert(
			WORLD, &cl_cook, STARPU_DATA_MODE_ARRAY, descrs, recipe->nuses,
			STARPU_VALUE, recipe, sizeof *recipe, STARPU_EXECUTE_ON_NODE,
			node, STARPU_PRIORITY, priority, STARPU_NODE_SELECTION_POLICY,
			draw(2) ? policy : -1, 0);
}

static void add_task(uint64_t step, int policy)
{
	struct starpu_data_descr descrs[MAX_USES];
	struct recipe recipe = {.nuses = 1 + (int)draw(MAX_USES), .step = step};
	uint64_t *values[MAX_USES];
	unsigned n[MAX_USES], first = draw(NDATA), stride = 1 + 2 * draw(2);

	for (int i = 0; i < recipe.nuses; i++) {
		struct datum *datum = &data[(first + (unsigned)i * stride) % NDATA];

		descrs[i].handle = datum->handle;
		descrs[i].mode = draw_mode();
		recipe.reads[i] = (descrs[i].mode & STARPU_R) != 0;
		recipe.writes[i] = (descrs[i].mode & STARPU_W) != 0;
		values[i] = datum->expected;
		n[i] = datum->n;
	}
	insert(&recipe, descrs, policy);
	cook(&recipe, values, n);
}

/* Now and then something else between the tasks. */
static void interrupt(void)
{
	struct datum *datum = &data[draw(NDATA)];
	int node = (int)draw((unsigned)claim_size);

	switch (draw(60)) {
	case 0:
		starpu_mpi_cache_flush(WORLD, datum->handle);
		break;
	case 1:
		starpu_mpi_cache_flush_all_data(WORLD);
		break;
	case 2:
	case 3:
		starpu_mpi_data_migrate(WORLD, datum->handle, node);
		datum->owner = node;
		break;
	case 4:
		starpu_mpi_get_data_on_node_detached(WORLD, datum->handle, node, NULL,
						     NULL);
		break;
	case 5:
		starpu_mpi_get_data_on_node(WORLD, datum->handle, node);
		break;
	case 6:
		starpu_mpi_wait_for_all(WORLD);
		break;
	case 7:
		starpu_mpi_barrier(WORLD);
		break;
	case 8:
		starpu_mpi_get_data_on_all_nodes_detached(WORLD, datum->handle);
		break;
	default:
		break;
	}
}

static int is_expected(const struct datum *datum)
{
	const uint64_t *values;
	int is_equal;

	if (starpu_data_acquire(datum->handle, STARPU_R) != 0)
		return 0;
	values = starpu_data_get_local_ptr(datum->handle);
	is_equal = memcmp(values, datum->expected, datum->n * sizeof *values) == 0;
	starpu_data_release(datum->handle);
	return is_equal;
}

static void run_graph(uint64_t number, int ncpus)
{
	int policy;

	seed = number;
	claim_init(ncpus);
	policy = starpu_mpi_node_selection_register_policy(choose_any);
	make_data();
	for (uint64_t step = 1; step <= NTASKS; step++) {
		add_task(step, policy);
		interrupt();
	}
	for (int d = 0; d < NDATA; d++) {
		struct datum *datum = &data[d];
		int has_value = datum->owner == RANK;

		if (d % 2) {
			starpu_mpi_get_data_on_all_nodes_detached(WORLD, datum->handle);
			has_value = 1;
		}
		CLAIM_EQ(starpu_mpi_data_get_rank(datum->handle), datum->owner);
		if (has_value && !is_expected(datum) &&
		    claim_failures++ < CLAIM_MAX_SHOWN)
			printf("graph %llu: datum %d of rank %d is wrong on %d of %d\n",
			       (unsigned long long)number, d, datum->owner, RANK,
			       claim_size);
		starpu_data_unregister(datum->handle);
		free(datum->home);
		free(datum->expected);
	}
	starpu_mpi_shutdown();
}

static void run_graphs(int first, int ncpus)
{
	int ngraphs = starpu_getenv_number_default("ORRERY_TEST_GRAPHS", 4);

	first += starpu_getenv_number_default("ORRERY_TEST_SEED", 0);
	for (int i = 0; i < ngraphs; i++)
		run_graph((uint64_t)first + (uint64_t)i, ncpus);
}

static void many_workers(void)
{
	run_graphs(1, 4);
}

static void one_worker(void)
{
	run_graphs(101, 1);
}

static const struct claim claims[] = {
	{"random graphs on several workers", many_workers},
	{"random graphs on one worker", one_worker},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
