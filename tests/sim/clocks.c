/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * clocks.c - in simulation all clocks show simulated time, and sleeping takes it, in
 * mains, threads, callbacks and executed kernels; loops over a clock end; threads run at
 * the date of the event that starts or wakes them.
 */
#include <math.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu_mpi.h>

#include "../api/claim.h"

/* Dates are doubles near 1: a rest may be short by their resolution. */
#define NEAR(a, b) (fabs((a) - (b)) < 1e-9)

int claim_failures;
static int rank;

/* ---- every way to read a clock, in seconds --------------------------- */

static double by_starpu(void)
{
	return 1e-6 * starpu_timing_now();
}

static double by_gettimeofday(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

static double by_clock_gettime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double by_time(void)
{
	return (double)time(NULL);
}

static const struct clock {
	const char *name;
	double (*read)(void);
	double resolution_s;
} clocks[] = {
	{"starpu_timing_now", by_starpu, 1e-9},
	{"orrery_virtual_time", orrery_virtual_time, 1e-9},
	{"MPI_Wtime", MPI_Wtime, 1e-9},
	{"clock_gettime", by_clock_gettime, 2e-9},
	{"gettimeofday", by_gettimeofday, 2e-6},
	{"time", by_time, 1},
};

enum { NCLOCKS = sizeof(clocks) / sizeof(clocks[0]) };

/* ---- every way to sleep ---------------------------------------------- */

static void rest_sleep(void)
{
	sleep(1);
}

static void rest_usleep(void)
{
	usleep(250);
}

static void rest_nanosleep(void)
{
	const struct timespec rest = {0, 250000};

	nanosleep(&rest, NULL);
}

static void rest_starpu_sleep(void)
{
	starpu_sleep(0.5F);
}

static void rest_starpu_usleep(void)
{
	starpu_usleep(250);
}

static const struct rest {
	void (*rest)(void);
	double seconds;
} rests[] = {
	{rest_sleep, 1},          {rest_usleep, 250e-6},        {rest_nanosleep, 250e-6},
	{rest_starpu_sleep, 0.5}, {rest_starpu_usleep, 250e-6},
};

enum { NRESTS = sizeof(rests) / sizeof(rests[0]) };

/* ---- what is checked, wherever it runs ------------------------------- */

static void check_agreement(void)
{
	double now_s = by_starpu();

	for (int i = 0; i < NCLOCKS; i++) {
		double read_s = clocks[i].read();

		CLAIM(read_s <= now_s + 1e-9);
		CLAIM(read_s > now_s - clocks[i].resolution_s);
	}
}

static void check_rests(void)
{
	for (int i = 0; i < NRESTS; i++) {
		double start_s = by_starpu();

		rests[i].rest();
		CLAIM(NEAR(by_starpu() - start_s, rests[i].seconds));
	}
}

static void check_loops(void)
{
	for (int i = 0; i < NCLOCKS; i++) {
		double start_s = clocks[i].read();

		if (clocks[i].resolution_s >= 1)
			continue; /* It takes long to get there in steps of 50 ns. */
		while (clocks[i].read() - start_s < 3 * clocks[i].resolution_s)
			continue;
	}
}

static void check_here(void)
{
	check_agreement();
	check_rests();
	check_loops();
}

/* ---- where it runs --------------------------------------------------- */

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	check_here();
}

static void callback(void *arg)
{
	(void)arg;
	check_here();
}

static struct starpu_codelet checking = {.cpu_funcs = {kernel},
					 .name = "checking",
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE};
static struct starpu_codelet empty = {.cpu_funcs = {(starpu_cpu_func_t)1},
				      .name = "empty",
				      .model = &starpu_perfmodel_nop};

static void open_library(void)
{
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		exit(77);
}

static void in_main(void)
{
	open_library();
	check_here();
	starpu_mpi_shutdown();
}

static void in_kernels(void)
{
	open_library();
	starpu_task_insert(&checking, 0);
	starpu_task_wait_for_all();
	starpu_mpi_shutdown();
}

static void in_callbacks(void)
{
	open_library();
	starpu_task_insert(&checking, STARPU_CALLBACK, callback, 0);
	starpu_task_wait_for_all();
	starpu_mpi_shutdown();
}

static void *thread(void *arg)
{
	check_here();
	return arg;
}

static void in_threads(void)
{
	starpu_pthread_t created;

	open_library();
	STARPU_PTHREAD_CREATE(&created, NULL, thread, NULL);
	STARPU_PTHREAD_JOIN(created, NULL);
	starpu_mpi_shutdown();
}

static void without_the_library(void)
{
	double start_s = by_clock_gettime();

	usleep(250);
	CLAIM(by_clock_gettime() - start_s > 249e-6);
	start_s = by_starpu();
	while (by_starpu() - start_s < 4e-6)
		continue;
	start_s = by_gettimeofday();
	while (by_gettimeofday() - start_s < 4e-6)
		continue;
}

/* ---- what it means for dates ----------------------------------------- */

static void sleeping_prolongs_the_kernel(void)
{
	double start_s, rest_s = 0;

	open_library();
	for (int i = 0; i < NRESTS; i++)
		rest_s += rests[i].seconds;
	start_s = by_starpu();
	starpu_task_insert(&checking, 0);
	starpu_task_wait_for_all();
	CLAIM(by_starpu() - start_s >= rest_s);
	starpu_mpi_shutdown();
}

static void sleep_backwards(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	starpu_sleep(-1.F);
	starpu_usleep(-1e6F);
	starpu_usleep(NAN);
}

static struct starpu_codelet sleeping_backwards = {
	.cpu_funcs = {sleep_backwards},
	.name = "sleeping_backwards",
	.flags = STARPU_CODELET_SIMGRID_EXECUTE};

static double half_a_second_us(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 500e3;
}

static struct starpu_perfmodel long_model = {.type = STARPU_COMMON,
					     .cost_function = half_a_second_us};
static struct starpu_codelet lasting = {
	.cpu_funcs = {(starpu_cpu_func_t)1}, .name = "lasting", .model = &long_model};

/* As what is left of a period that is over: the next task is as long as ever. */
static void sleeping_for_less_than_nothing_is_none(void)
{
	double start_s;
	int worker;

	open_library();
	worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	start_s = by_starpu();
	starpu_sleep(-1.F);
	starpu_usleep(NAN);
	starpu_task_insert(&sleeping_backwards, STARPU_EXECUTE_ON_WORKER, worker, 0);
	starpu_task_insert(&lasting, STARPU_EXECUTE_ON_WORKER, worker, 0);
	starpu_task_wait_for_all();
	CLAIM(by_starpu() - start_s >= 0.5 && by_starpu() - start_s < 0.6);
	starpu_mpi_shutdown();
}

/* SMPI, below transport "mpi", lets them out of what opens it one by one. */
static void all_ranks_begin_at_one_date(void)
{
	double date_s, sooner_s, later_s;

	open_library();
	date_s = by_starpu();
	MPI_Allreduce(&date_s, &sooner_s, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&date_s, &later_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	CLAIM(sooner_s == later_s);
	starpu_mpi_shutdown();
}

static void a_few_looks_take_no_time(void)
{
	double start_s;

	open_library();
	start_s = by_starpu();
	for (int i = 0; i < 10; i++)
		CLAIM(by_starpu() == start_s);
	starpu_mpi_shutdown();
}

static void looks_between_tasks_take_no_time(void)
{
	double end_s[2];

	for (int looks = 0; looks < 2; looks++) {
		double start_s;

		open_library();
		start_s = by_starpu();
		for (int i = 0; i < 100; i++) {
			starpu_task_insert(&empty, 0);
			for (int j = 0; j < 5 * looks; j++)
				by_starpu();
		}
		starpu_task_wait_for_all();
		end_s[looks] = by_starpu() - start_s;
		starpu_mpi_shutdown();
	}
	CLAIM(NEAR(end_s[0], end_s[1]));
}

/* What one callback did, and when the threads that it started and woke ran. */
/* On the stack: ranks may share the program's variables. */
struct acts {
	starpu_pthread_t created;
	starpu_sem_t sem;
	double date_s, created_s, woken_s;
};

static void sleep_long(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	starpu_sleep(0.125F);
}

static struct starpu_codelet sleeping = {.cpu_funcs = {sleep_long},
					 .name = "sleeping",
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void *look_at_start(void *arg)
{
	((struct acts *)arg)->created_s = by_starpu();
	return arg;
}

static void *look_when_woken(void *arg)
{
	struct acts *acts = arg;

	starpu_sem_wait(&acts->sem);
	acts->woken_s = by_starpu();
	return arg;
}

static void start_and_wake(void *arg)
{
	struct acts *acts = arg;

	acts->date_s = by_starpu();
	STARPU_PTHREAD_CREATE(&acts->created, NULL, look_at_start, acts);
	starpu_sem_post(&acts->sem);
}

/* Events go on while all threads wait: so long as none of them is concerned. */
static void threads_run_at_the_date_of_what_woke_them(void)
{
	struct acts acts = {0};
	starpu_pthread_t waiting;
	double start_s;

	open_library();
	starpu_sem_init(&acts.sem, 0, 0);
	STARPU_PTHREAD_CREATE(&waiting, NULL, look_when_woken, &acts);
	start_s = by_starpu();
	/* One core each: the callback comes between the ends of other tasks. */
	for (int i = 0; i < 40; i++)
		starpu_task_insert(&sleeping, STARPU_CALLBACK,
				   i == 20 ? start_and_wake : NULL,
				   STARPU_CALLBACK_ARG_NFREE, &acts, 0);
	starpu_task_wait_for_all();
	CLAIM(acts.date_s > start_s + 0.6 && by_starpu() > acts.date_s + 0.4);
	CLAIM(acts.created_s == acts.date_s);
	CLAIM(acts.woken_s == acts.date_s);
	STARPU_PTHREAD_JOIN(acts.created, NULL);
	STARPU_PTHREAD_JOIN(waiting, NULL);
	starpu_sem_destroy(&acts.sem);
	starpu_mpi_shutdown();
}

/* Threads have room for values up to the number of a key: were they numbered beyond the
 * rank, many ranks would have as much as the square of their number. */
static void keys_are_numbered_in_each_rank(void)
{
	starpu_pthread_key_t keys[3];

	open_library();
	for (int i = 0; i < 3; i++) {
		CLAIM_EQ(starpu_pthread_key_create(&keys[i], NULL), 0);
		CLAIM(keys[i] < 3);
		CLAIM_EQ(starpu_pthread_setspecific(keys[i], &keys[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		CLAIM(starpu_pthread_getspecific(keys[i]) == &keys[i]);
		CLAIM_EQ(starpu_pthread_key_delete(keys[i]), 0);
		CLAIM(starpu_pthread_getspecific(keys[i]) == NULL);
	}
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"threads_run_at_the_date_of_what_woke_them",
	 threads_run_at_the_date_of_what_woke_them},
	{"clocks_agree_and_loops_end_in_main", in_main},
	{"clocks_agree_and_loops_end_in_kernels", in_kernels},
	{"clocks_agree_and_loops_end_in_callbacks", in_callbacks},
	{"clocks_agree_and_loops_end_in_threads", in_threads},
	{"clocks_move_without_the_library", without_the_library},
	{"sleeping_prolongs_the_kernel", sleeping_prolongs_the_kernel},
	{"sleeping_for_less_than_nothing_is_none",
	 sleeping_for_less_than_nothing_is_none},
	{"all_ranks_begin_at_one_date", all_ranks_begin_at_one_date},
	{"keys_are_numbered_in_each_rank", keys_are_numbered_in_each_rank},
	{"a_few_looks_take_no_time", a_few_looks_take_no_time},
	{"looks_between_tasks_take_no_time", looks_between_tasks_take_no_time},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	failed = claims_run(claims, rank > 0);
	MPI_Finalize();
	return failed;
}
