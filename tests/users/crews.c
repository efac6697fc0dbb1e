/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Several threads of each rank: one for each field inserts its tasks, on data and tags of
 * its own; another exchanges detached messages whose callbacks submit more. */
#include <starpu_mpi.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4, CHUNKS = 6, STEPS = 25, N = 700, PINGS = 40 };
static int rank, size, bad;
static starpu_data_handle_t chunk[FIELDS][CHUNKS];
static starpu_sem_t pings_over;

static void init_f(void *b[], void *a)
{
	int *v = (int *)STARPU_VECTOR_GET_PTR(b[0]), f, c;

	starpu_codelet_unpack_args(a, &f, &c);
	for (int i = 0; i < N; i++)
		v[i] = f * 1000 + c * 10 + i % 7;
}
static void step_f(void *b[], void *a)
{
	int *v = (int *)STARPU_VECTOR_GET_PTR(b[0]),
	    *w = (int *)STARPU_VECTOR_GET_PTR(b[1]), t;

	starpu_codelet_unpack_args(a, &t);
	for (int i = 0; i < N; i++)
		v[i] = (v[i] * 3 + w[(i + t) % N]) % 10007;
}
static void inc_f(void *b[], void *a)
{
	(void)a;
	++*(int *)STARPU_VARIABLE_GET_PTR(b[0]);
}
static struct starpu_codelet init = {
	.cpu_funcs = {init_f}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet step = {
	.cpu_funcs = {step_f}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};
static struct starpu_codelet inc = {
	.cpu_funcs = {inc_f}, .nbuffers = 1, .modes = {STARPU_RW}};

static void *field(void *arg)
{
	int f = (int)(intptr_t)arg;

	for (int c = 0; c < CHUNKS; c++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &init, STARPU_W, chunk[f][c],
				       STARPU_VALUE, &f, sizeof(f), STARPU_VALUE, &c,
				       sizeof(c), 0);
	for (int t = 0; t < STEPS; t++) {
		for (int c = 0; c < CHUNKS; c++)
			starpu_mpi_task_insert(
				MPI_COMM_WORLD, &step, STARPU_RW, chunk[f][c], STARPU_R,
				chunk[f][(c + 1 + t % (CHUNKS - 1)) % CHUNKS],
				STARPU_VALUE, &t, sizeof(t), STARPU_PRIORITY, f % 2, 0);
		if (t % 10 == 9)
			for (int c = 0; c < CHUNKS; c++)
				starpu_mpi_cache_flush(MPI_COMM_WORLD, chunk[f][c]);
	}
	return NULL;
}

static starpu_data_handle_t ball;
static int pings;

static void came(void *arg);
static void send_on(void)
{
	int n = pings++;

	if (n == PINGS) {
		starpu_sem_post(&pings_over);
		return;
	}
	starpu_task_insert(&inc, STARPU_RW, ball, 0);
	starpu_mpi_isend_detached(ball, (rank + 1) % size, 77, MPI_COMM_WORLD, NULL,
				  NULL);
	starpu_mpi_irecv_detached(ball, (rank + size - 1) % size, 77, MPI_COMM_WORLD,
				  came, NULL);
}
static void came(void *arg)
{
	(void)arg;
	send_on();
}

static void *player(void *arg)
{
	(void)arg;
	send_on();
	while (starpu_sem_wait(&pings_over))
		;
	return NULL;
}

/* Computes a field again, compares what this rank has of it, and ends it. */
static void check_field(int f)
{
	static int ref[CHUNKS][N];

	for (int c = 0; c < CHUNKS; c++)
		for (int i = 0; i < N; i++)
			ref[c][i] = f * 1000 + c * 10 + i % 7;
	for (int t = 0; t < STEPS; t++)
		for (int c = 0; c < CHUNKS; c++)
			for (int i = 0; i < N; i++)
				ref[c][i] =
					(ref[c][i] * 3 + ref[(c + 1 + t % (CHUNKS - 1)) %
							     CHUNKS][(i + t) % N]) %
					10007;
	for (int c = 0; c < CHUNKS; c++) {
		if (starpu_mpi_data_get_rank(chunk[f][c]) == rank) {
			starpu_data_acquire(chunk[f][c], STARPU_R);
			if (memcmp((int *)starpu_vector_get_local_ptr(chunk[f][c]),
				   ref[c], sizeof(ref[c])))
				printf("rank %d: field %d, chunk %d is wrong\n", rank, f,
				       c),
					bad = 1;
			starpu_data_release(chunk[f][c]);
		}
		starpu_data_unregister(chunk[f][c]);
	}
}

int main(int argc, char **argv)
{
	starpu_pthread_t threads[FIELDS + 1];
	int ret, value, from;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_sem_init(&pings_over, 0, 0);
	value = rank * 1000;
	starpu_variable_data_register(&ball, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int f = 0; f < FIELDS; f++)
		for (int c = 0; c < CHUNKS; c++) {
			starpu_vector_data_register(&chunk[f][c], -1, 0, N, sizeof(int));
			starpu_mpi_data_register(chunk[f][c], 100 * (f + 1) + c,
						 (f + c) % size);
		}
	for (int f = 0; f < FIELDS; f++)
		starpu_pthread_create(&threads[f], NULL, field, (void *)(intptr_t)f);
	starpu_pthread_create(&threads[FIELDS], NULL, player, NULL);
	for (int f = 0; f <= FIELDS; f++)
		starpu_pthread_join(threads[f], NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_acquire(ball, STARPU_R);
	/* the ball went round PINGS times, one rank further each */
	from = ((rank - PINGS) % size + size) % size;
	if (value != from * 1000 + PINGS)
		printf("rank %d: ball %d, expected %d\n", rank, value,
		       from * 1000 + PINGS),
			bad = 1;
	starpu_data_release(ball);
	starpu_data_unregister(ball);
	for (int f = 0; f < FIELDS; f++)
		check_field(f);
	starpu_mpi_shutdown();
	return bad;
}
