/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The load balancer: what moves, where to, and that results stay what they are. */
#include <errno.h>
#include <stdint.h>

#include <starpu_mpi_lb.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NDATA = 24, ITERATIONS = 40, LENGTH = 300 };

static long values[NDATA][LENGTH];
static starpu_data_handle_t data[NDATA];
static int nasked, may_move;

/* ---- a graph in which rank 0 has all the work -------------------------- */

/* Long enough to be seen among other processes. */
static void work_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const long *y = (const long *)STARPU_VECTOR_GET_PTR(buffers[1]);
	volatile long sum = 0;

	(void)arg;
	for (int i = 0; i < 300000; i++)
		sum = sum + i;
	for (int i = 0; i < LENGTH; i++)
		/* Modulo 2^64, which only unsigned numbers are. */
		x[i] = (long)(3 * (unsigned long)x[i] + (unsigned long)y[LENGTH - 1 - i] +
			      1);
}

static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 200;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet work = {.cpu_funcs = {work_cpu},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_R},
				     .model = &model,
				     .name = "work"};

static int partner(int i, int iteration)
{
	int other = (i + iteration) % NDATA;

	return other == i ? (i + 1) % NDATA : other;
}

static void insert_all(int first, int last)
{
	for (int iteration = first; iteration < last; iteration++)
		for (int i = 0; i < NDATA; i++)
			CLAIM_EQ(starpu_mpi_task_insert(
					 WORLD, &work, STARPU_RW, data[i], STARPU_R,
					 data[partner(i, iteration)], STARPU_TAG_ONLY,
					 (starpu_tag_t)iteration, 0),
				 0);
}

static void open_data(void)
{
	start();
	nasked = 0;
	may_move = NDATA;
	for (int i = 0; i < NDATA; i++) {
		for (int j = 0; j < LENGTH; j++)
			values[i][j] = i + j;
		starpu_vector_data_register(&data[i], RANK == 0 ? STARPU_MAIN_RAM : -1,
					    RANK == 0 ? (uintptr_t)values[i] : 0, LENGTH,
					    sizeof(long));
		starpu_mpi_data_register(data[i], TAG + i, 0);
	}
}

static int owned_by(int rank)
{
	int n = 0;

	for (int i = 0; i < NDATA; i++)
		n += starpu_mpi_data_get_rank(data[i]) == rank;
	return n;
}

/* All values are what one rank would have computed. */
static void expect_values(int iterations)
{
	static long expected[NDATA][LENGTH];

	for (int i = 0; i < NDATA; i++)
		for (int j = 0; j < LENGTH; j++)
			expected[i][j] = i + j;
	for (int iteration = 0; iteration < iterations; iteration++)
		for (int i = 0; i < NDATA; i++)
			for (int j = 0; j < LENGTH; j++)
				expected[i][j] =
					3 * (unsigned long)expected[i][j] +
					(unsigned long)expected[partner(i, iteration)]
							       [LENGTH - 1 - j] +
					1;
	for (int i = 0; i < NDATA; i++) {
		if (starpu_mpi_data_get_rank(data[i]) != RANK)
			continue;
		starpu_data_acquire(data[i], STARPU_R);
		CLAIM(memcmp(starpu_data_get_local_ptr(data[i]), expected[i],
			     sizeof(expected[i])) == 0);
		starpu_data_release(data[i]);
	}
}

static void close_data(void)
{
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	stop();
}

/* ---- callbacks ---------------------------------------------------------- */

static void all_others(int **ids, int *n)
{
	*ids = malloc((size_t)claim_size * sizeof(**ids));
	*n = 0;
	for (int rank = 0; rank < claim_size; rank++)
		if (rank != RANK)
			(*ids)[(*n)++] = rank;
}

static void one_datum(starpu_data_handle_t **handles, int *n, int dst)
{
	CLAIM(dst >= 0 && dst < claim_size && dst != RANK);
	nasked++;
	*n = 0;
	for (int i = 0; i < NDATA && *n == 0 && nasked <= may_move; i++)
		if (starpu_mpi_data_get_rank(data[i]) == RANK) {
			*handles = malloc(sizeof(**handles));
			(*handles)[(*n)++] = data[i];
		}
}

static struct starpu_mpi_lb_conf conf = {.get_neighbors = all_others,
					 .get_data_unit_to_migrate = one_datum};

/* ---- claims --------------------------------------------------------------- */

static void data_flow_to_idle_ranks(void)
{
	int fair = NDATA / claim_size;

	open_data();
	starpu_mpi_lb_init("heat", &conf);
	insert_all(0, ITERATIONS);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_lb_shutdown();
	/* Real machines are noisy, so that less is claimed. */
	for (int rank = 0; rank < claim_size; rank++)
		CLAIM(owned_by(rank) >= 1);
	CLAIM(owned_by(0) < NDATA);
	if (orrery_is_simulated()) {
		CLAIM(owned_by(0) <= fair + 2);
		CLAIM(owned_by(claim_size - 1) >= fair - 2);
	}
	if (RANK == 0)
		CLAIM(nasked > 0);
	expect_values(ITERATIONS);
	close_data();
}

static void nothing_moves_without_a_policy(void)
{
	struct starpu_mpi_lb_conf half = {.get_neighbors = all_others};

	open_data();
	starpu_mpi_lb_shutdown();
	starpu_mpi_lb_init(NULL, NULL);
	starpu_mpi_lb_init("", &conf);
	starpu_mpi_lb_init("help", &conf);
	starpu_mpi_lb_init("cold", &conf);
	starpu_mpi_lb_init("heat", &half);
	insert_all(0, 6);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_lb_shutdown();
	CLAIM_EQ(owned_by(0), NDATA);
	CLAIM_EQ(nasked, 0);
	expect_values(6);
	close_data();
}

static void what_is_not_offered_stays(void)
{
	open_data();
	may_move = 2;
	starpu_mpi_lb_init("heat", &conf);
	starpu_mpi_lb_init("heat", &conf); /* Refused: there is one. */
	insert_all(0, 12);
	starpu_mpi_lb_shutdown();
	starpu_mpi_lb_shutdown();
	CLAIM(owned_by(0) >= NDATA - 2);
	insert_all(12, 20); /* Nobody asks any more. */
	starpu_mpi_wait_for_all(WORLD);
	CLAIM(owned_by(0) >= NDATA - 2);
	expect_values(20);
	close_data();
}

/* Nor does the balancer wait for a task that never ran. */
static void a_refused_task_is_not_measured(void)
{
	static struct starpu_codelet nowhere = {.cuda_funcs = {work_cpu},
						.nbuffers = 1,
						.modes = {STARPU_RW},
						.model = &starpu_perfmodel_nop,
						.name = "nowhere"};

	starpu_data_handle_t lonely;
	long value = 0;

	open_data();
	lonely = variable(&value);
	starpu_mpi_data_register(lonely, TAG + NDATA, 0);
	starpu_mpi_lb_init("heat", &conf);
	for (int iteration = 0; iteration < 12; iteration++) {
		int ret = starpu_mpi_task_insert(WORLD, &nowhere, STARPU_RW, lonely,
						 STARPU_TAG_ONLY, (starpu_tag_t)iteration,
						 0);

		CLAIM_EQ(ret, RANK == 0 ? -ENODEV : 0);
		insert_all(iteration, iteration + 1);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_lb_shutdown();
	expect_values(12);
	starpu_data_unregister(lonely);
	close_data();
}

static void it_may_start_again(void)
{
	open_data();
	for (int part = 0; part < 2; part++) {
		starpu_mpi_lb_init("heat", &conf);
		insert_all(20 * part, 20 * part + 20);
		starpu_mpi_lb_shutdown();
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM(owned_by(0) < NDATA);
	expect_values(40);
	close_data();
}

static const struct claim claims[] = {
	{"data flow to idle ranks", data_flow_to_idle_ranks},
	{"nothing moves without a policy", nothing_moves_without_a_policy},
	{"what is not offered stays", what_is_not_offered_stays},
	{"a refused task is not measured", a_refused_task_is_not_measured},
	{"it may start again", it_may_start_again},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	setenv("LB_HEAT_SLEEP_THRESHOLD", "4", 0);
	setenv("LB_HEAT_TIME_THRESHOLD", "100", 0);
	return mpi_claims_run(argc, argv, claims);
}
