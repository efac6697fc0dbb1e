/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * keys.c - in simulation threads have values of their own by pthread_setspecific(), and
 * ranks keys of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include <starpu_mpi.h>

#include "../api/claim.h"

/* So many all ranks have more than one process may have. */
enum { NKEYS = 700 };

int claim_failures;

static pthread_key_t key;
static tss_t c11_key;
static int main_value, thread_value, worker_value, nended;
static void *seen_by_kernels[2];

static void end(void *value)
{
	CLAIM(value == &thread_value);
	/* Once more. */
	if (++nended == 1)
		CLAIM_EQ(pthread_setspecific(key, value), 0);
}

static void *have_value(void *arg)
{
	CLAIM(pthread_getspecific(key) == NULL);
	CLAIM_EQ(pthread_setspecific(key, &thread_value), 0);
	starpu_sleep(1e-3F);
	CLAIM(pthread_getspecific(key) == &thread_value);
	return arg;
}

static void have_key_and_thread(void *(*routine)(void *))
{
	nended = 0;
	CLAIM_EQ(pthread_key_create(&key, end), 0);
	CLAIM(pthread_getspecific(key) == NULL);
	CLAIM_EQ(pthread_setspecific(key, &main_value), 0);
	routine(NULL);
	CLAIM(pthread_getspecific(key) == &main_value);
	CLAIM_EQ(nended, 2);
	CLAIM_EQ(pthread_key_delete(key), 0);
	CLAIM_EQ(pthread_key_delete(key), EINVAL);
	CLAIM_EQ(pthread_setspecific(key, &main_value), EINVAL);
}

static void *by_thread_of_the_simulation(void *arg)
{
	starpu_pthread_t thread;

	STARPU_PTHREAD_CREATE(&thread, NULL, have_value, NULL);
	starpu_sleep(0.5e-3F);
	CLAIM(pthread_getspecific(key) == &main_value);
	STARPU_PTHREAD_JOIN(thread, NULL);
	return arg;
}

static void threads_have_values_of_their_own(void)
{
	claim_start(1);
	have_key_and_thread(by_thread_of_the_simulation);
	starpu_shutdown();
}

static void *have_value_at_once(void *arg)
{
	CLAIM(pthread_getspecific(key) == NULL);
	CLAIM_EQ(pthread_setspecific(key, &thread_value), 0);
	CLAIM(pthread_getspecific(key) == &thread_value);
	return arg;
}

static void *by_stranger(void *arg)
{
	pthread_t thread;

	CLAIM_EQ(pthread_create(&thread, NULL, have_value_at_once, NULL), 0);
	CLAIM_EQ(pthread_join(thread, NULL), 0);
	return arg;
}

static void so_have_threads_that_the_simulation_does_not_know(void)
{
	claim_start(1);
	have_key_and_thread(by_stranger);
	starpu_shutdown();
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	seen_by_kernels[0] = seen_by_kernels[1];
	seen_by_kernels[1] = tss_get(c11_key);
	CLAIM_EQ(tss_set(c11_key, &worker_value), thrd_success);
}

static struct starpu_codelet keeping = {.cpu_funcs = {kernel},
					.name = "keeping",
					.model = &starpu_perfmodel_nop,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void workers_keep_theirs(void)
{
	claim_start(1);
	CLAIM_EQ(tss_create(&c11_key, NULL), thrd_success);
	CLAIM_EQ(tss_set(c11_key, &main_value), thrd_success);
	for (int i = 0; i < 2; i++)
		starpu_task_insert(&keeping, 0);
	starpu_task_wait_for_all();
	CLAIM(seen_by_kernels[0] == NULL);
	CLAIM(seen_by_kernels[1] == &worker_value);
	CLAIM(tss_get(c11_key) == &main_value);
	tss_delete(c11_key);
	starpu_shutdown();
}

static void each_rank_has_keys(void)
{
	pthread_key_t keys[NKEYS];
	int nrefused = 0;

	claim_start(1);
	for (int i = 0; i < NKEYS; i++)
		nrefused += pthread_key_create(&keys[i], NULL) != 0;
	CLAIM_EQ(nrefused, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < NKEYS && !nrefused; i++)
		pthread_key_delete(keys[i]);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"threads_have_values_of_their_own", threads_have_values_of_their_own},
	{"so_have_threads_that_the_simulation_does_not_know",
	 so_have_threads_that_the_simulation_does_not_know},
	{"workers_keep_theirs", workers_keep_theirs},
	{"each_rank_has_keys", each_rank_has_keys},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int rank, failed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	failed = claims_run(claims, rank);
	MPI_Finalize();
	return failed;
}
