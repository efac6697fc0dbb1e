/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Two threads of each rank insert readers of the same data at once, in different orders
 * on different ranks: each value travels once to each rank, and before whoever reads it.
 */
#include <starpu_mpi.h>
#include <stdlib.h>

enum { ROUNDS = 20, CHUNKS = 200, N = 40 };
static int rank, size, bad;
static starpu_data_handle_t chunk[CHUNKS], sum[2][8];
static starpu_pthread_barrier_t meeting;

static void fill_f(void *b[], void *a)
{
	long *v = (long *)STARPU_VECTOR_GET_PTR(b[0]), first;

	starpu_codelet_unpack_args(a, &first);
	for (int i = 0; i < N; i++)
		v[i] = first + i;
}
static void add_f(void *b[], void *a)
{
	const long *v = (const long *)STARPU_VECTOR_GET_PTR(b[1]);
	long *s = (long *)STARPU_VARIABLE_GET_PTR(b[0]);

	(void)a;
	for (int i = 0; i < N; i++)
		*s += v[i];
}
static struct starpu_codelet fill = {
	.cpu_funcs = {fill_f}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet add = {
	.cpu_funcs = {add_f}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};

static long value_of(int c, int round)
{
	return (long)c * 1000 + round;
}

/* The second thread of odd ranks goes from the end to the beginning in every other round.
 */
static void *reader(void *arg)
{
	int t = (int)(intptr_t)arg;

	for (int round = 0; round < ROUNDS; round++) {
		starpu_pthread_barrier_wait(&meeting);
		for (int i = 0; i < CHUNKS; i++) {
			int c = t && rank % 2 && round % 2 ? CHUNKS - 1 - i : i;

			for (int r = 0; r < size; r++)
				starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW,
						       sum[t][(r + rank) % size],
						       STARPU_R, chunk[c], 0);
		}
		starpu_pthread_barrier_wait(&meeting);
	}
	return NULL;
}

static void insert_writers(int round)
{
	for (int c = 0; c < CHUNKS; c++) {
		long first = value_of(c, round);

		starpu_mpi_task_insert(MPI_COMM_WORLD, &fill, STARPU_W, chunk[c],
				       STARPU_VALUE, &first, sizeof(first), 0);
	}
}

static void check(int t, int r)
{
	long expected = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (int c = 0; c < CHUNKS; c++)
			expected += N * value_of(c, round) + N * (N - 1) / 2;
	if (r == rank) {
		const long *s;

		starpu_data_acquire(sum[t][r], STARPU_R);
		s = (const long *)starpu_variable_get_local_ptr(sum[t][r]);
		if (*s != expected)
			printf("rank %d: thread %d has %ld, not %ld\n", rank, t, *s,
			       expected),
				bad = 1;
		starpu_data_release(sum[t][r]);
	}
	starpu_data_unregister(sum[t][r]);
}

int main(int argc, char **argv)
{
	static long sums[2][8];
	starpu_pthread_t threads[2];
	int ret;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (int c = 0; c < CHUNKS; c++) {
		starpu_vector_data_register(&chunk[c], -1, 0, N, sizeof(long));
		starpu_mpi_data_register(chunk[c], c, c % size);
	}
	for (int t = 0; t < 2; t++)
		for (int r = 0; r < size; r++) {
			starpu_variable_data_register(
				&sum[t][r], r == rank ? STARPU_MAIN_RAM : -1,
				r == rank ? (uintptr_t)&sums[t][r] : 0, sizeof(long));
			starpu_mpi_data_register(sum[t][r], 1000 + 10 * t + r, r);
		}
	starpu_pthread_barrier_init(&meeting, NULL, 3);
	for (int t = 0; t < 2; t++)
		starpu_pthread_create(&threads[t], NULL, reader, (void *)(intptr_t)t);
	for (int round = 0; round < ROUNDS; round++) {
		insert_writers(round);
		starpu_pthread_barrier_wait(&meeting);
		starpu_pthread_barrier_wait(&meeting);
	}
	for (int t = 0; t < 2; t++)
		starpu_pthread_join(threads[t], NULL);
	starpu_pthread_barrier_destroy(&meeting);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int t = 0; t < 2; t++)
		for (int r = 0; r < size; r++)
			check(t, r);
	for (int c = 0; c < CHUNKS; c++)
		starpu_data_unregister(chunk[c]);
	starpu_mpi_shutdown();
	return bad;
}
