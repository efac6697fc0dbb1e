/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What the library itself takes of this machine: "orrery calibrate" runs it, see
 * doc/decisions/081-costs-are-measured.md.
 *
 * usage: calibrate_costs tasks [ROUNDS]        one process: submission, workers, sleep
 *        calibrate_costs gaps [ROUNDS]         the same, all cores: from kernel to kernel
 *        calibrate_costs insert [ROUNDS]       with STARPU_MPI_FAKE_SIZE=2: insertions
 *        mpirun -n 2 calibrate_costs messages [ROUNDS]   beside tasks; of many bytes
 *        mpirun -n 2 calibrate_costs exchanges [ROUNDS]  insertions that send or receive
 *        calibrate_costs cores [ROUNDS]        no task: a line of the cache between cores
 *
 * Each but gaps and cores with one CPU worker (STARPU_NCPU=1); with STARPU_SCHED.  Lines
 * "costs,CASE,s,VALUE,MEDIAN,MEAN": VALUE is that below which a tenth of the rounds lie,
 * MEAN what a program pays for each.  All cases take turns in each round, so that what
 * else the machine does meets all alike.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

#define WORLD MPI_COMM_WORLD

enum {
	NDATA = 16,      /* that tasks read and write */
	NTASKS = 200,    /* of a sample */
	ASLEEP_US = 800, /* long enough for a worker without tasks to go to sleep */
	LONG_US = 2000,  /* and for a main that waits */
	BUSY_US = 3000,  /* tasks beside messages, */
	APART_US = 300,  /* which begin so much later */
	SWITCHES = 100,
	PIECE = 1 << 20, /* of the values that are many bytes together */
	LARGEST_SET = 96,
	SMALL_PIECE = 1 << 16,
	SMALL_SET = 1024, /* of them */
	QUIET = 10,
	MAX_SAMPLES = 1000
};

struct samples {
	const char *name;
	double s[MAX_SAMPLES];
	int n;
};

static starpu_data_handle_t data[NDATA];
static volatile int gate;
static volatile double began_s, ended_s;
static int nleft;

/* ---- kernels ----------------------------------------------------------- */

/* Until the main says so. */
static void hold(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	while (!gate)
		;
	began_s = bench_now_s();
}

static void spin_us(double us)
{
	double until_s = bench_now_s() + 1e-6 * us;

	while (bench_now_s() < until_s)
		;
}

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (--nleft == 0)
		ended_s = bench_now_s();
}

static void note_begin(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	began_s = bench_now_s();
}

static void last_long(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	spin_us(LONG_US);
	ended_s = bench_now_s();
}

static void be_busy(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	spin_us(BUSY_US);
}

#define PLAIN(kernel)                                                                    \
	static struct starpu_codelet kernel##_codelet = {.cpu_funcs = {kernel},          \
							 .model = &starpu_perfmodel_nop}
PLAIN(hold);
PLAIN(nothing);
PLAIN(note_begin);
PLAIN(last_long);
PLAIN(be_busy);
static struct starpu_codelet three_codelet = {
	.cpu_funcs = {nothing},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_RW},
	.model = &starpu_perfmodel_nop,
};

/* ---- samples ----------------------------------------------------------- */

static void add(struct samples *samples, double s)
{
	if (samples->n < MAX_SAMPLES)
		samples->s[samples->n++] = s;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(struct samples *samples, int n)
{
	for (int i = 0; i < n; i++) {
		struct samples *of = &samples[i];

		qsort(of->s, (size_t)of->n, sizeof(*of->s), compare);
		if (of->n > 0)
			printf("costs,%s,s,%.6g,%.6g,%.6g\n", of->name,
			       of->s[of->n / QUIET], of->s[of->n / 2],
			       bench_mean(of->s, of->n));
	}
}

/* ---- one process ------------------------------------------------------- */

static void insert_nothing(int i)
{
	(void)i;
	starpu_task_insert(&nothing_codelet, 0);
}

static void insert_three(int i)
{
	starpu_task_insert(&three_codelet, STARPU_R, data[(5 * i + 9) % NDATA], STARPU_R,
			   data[(5 * i + 3) % NDATA], STARPU_RW, data[5 * i % NDATA], 0);
}

/* While the worker is held, the main submits; then the worker has all to itself. */
static void submit_and_run(void (*insert)(int), struct samples *submitted,
			   struct samples *executed)
{
	double start_s;

	gate = 0;
	nleft = NTASKS;
	starpu_task_insert(&hold_codelet, 0);
	starpu_usleep(50);
	start_s = bench_now_s();
	for (int i = 0; i < NTASKS; i++)
		insert(i);
	add(submitted, (bench_now_s() - start_s) / NTASKS);
	gate = 1;
	starpu_task_wait_for_all();
	add(executed, (ended_s - began_s) / NTASKS);
}

/* From the call that submits to the kernel of a worker that sleeps. */
static double wake_worker_s(void)
{
	double start_s;

	spin_us(ASLEEP_US);
	start_s = bench_now_s();
	starpu_task_insert(&note_begin_codelet, 0);
	starpu_task_wait_for_all();
	return began_s - start_s;
}

/* From the end of the last kernel to the main that has waited long. */
static double wake_main_s(void)
{
	starpu_task_insert(&last_long_codelet, 0);
	starpu_task_wait_for_all();
	return bench_now_s() - ended_s;
}

/* ---- two threads on one core -------------------------------------------- */

static int whose_turn;

static void wait_turn(int whose)
{
	while (__atomic_load_n(&whose_turn, __ATOMIC_ACQUIRE) != whose)
		syscall(SYS_futex, &whose_turn, FUTEX_WAIT_PRIVATE, 1 - whose, NULL, NULL,
			0);
}

static void give_turn(int whom)
{
	__atomic_store_n(&whose_turn, whom, __ATOMIC_RELEASE);
	syscall(SYS_futex, &whose_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void bind_here(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *answer(void *cpu)
{
	bind_here(*(int *)cpu);
	for (int i = 0; i < SWITCHES; i++) {
		wait_turn(1);
		give_turn(0);
	}
	return NULL;
}

/* A thread gives the core to another, which gives it back. */
static double switch_s(void)
{
	cpu_set_t before;
	pthread_t thread;
	int cpu = sched_getcpu();
	double start_s;

	pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
	bind_here(cpu);
	pthread_create(&thread, NULL, answer, &cpu);
	start_s = bench_now_s();
	for (int i = 0; i < SWITCHES; i++) {
		give_turn(1);
		wait_turn(0);
	}
	start_s = (bench_now_s() - start_s) / (2 * SWITCHES);
	pthread_join(thread, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	return start_s;
}

static int measure_tasks(int rounds)
{
	static struct samples samples[] = {{.name = "submit_0"}, {.name = "task_0"},
					   {.name = "submit_3"}, {.name = "task_3"},
					   {.name = "wake"},     {.name = "main_wake"},
					   {.name = "switch"}};
	float values[NDATA] = {0};

	if (starpu_init(NULL))
		return 77;
	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(float));
	for (int round = 0; round < rounds; round++) {
		submit_and_run(insert_nothing, &samples[0], &samples[1]);
		submit_and_run(insert_three, &samples[2], &samples[3]);
		add(&samples[4], wake_worker_s());
		add(&samples[5], wake_main_s());
		add(&samples[6], switch_s());
	}
	tell(samples, sizeof(samples) / sizeof(samples[0]));
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	starpu_shutdown();
	return 0;
}

/* ---- from one kernel to the next of a worker ------------------------------ */

/* All cores have workers, many tasks wait, and kernels use the caches: what the library
 * needs for the next task lies there no more. */
enum { NEW_PAGES = 1024, PAGE = 4096 };
enum { MOST_TASKS = 4000, LARGE_TASKS = 1000, MOST_WORKERS = 256, LINE = 64 };
enum { GAP_DATA = 1024, GAP_BYTES = 64 << 20, LARGE = 1 << 18 };

static starpu_data_handle_t gap_data[GAP_DATA];
static int ngap_data;
static double kernel_ended_s[MOST_WORKERS];
static double gaps_s[MOST_TASKS];
static int ngaps;

static void touch(void *buffers[], void *arg)
{
	double start_s = bench_now_s();
	int worker = starpu_worker_get_id() % MOST_WORKERS;
	volatile char *to = (volatile char *)STARPU_VECTOR_GET_PTR(buffers[2]);
	size_t bytes = STARPU_VECTOR_GET_NX(buffers[2]);

	(void)arg;
	if (kernel_ended_s[worker] > 0) {
		int at = __atomic_fetch_add(&ngaps, 1, __ATOMIC_RELAXED);

		gaps_s[at % MOST_TASKS] = start_s - kernel_ended_s[worker];
	}
	for (int i = 0; i < 2; i++) {
		volatile char *from = (volatile char *)STARPU_VECTOR_GET_PTR(buffers[i]);

		for (size_t k = 0; k < bytes; k += LINE)
			to[k] = (char)(to[k] + from[k]);
	}
	kernel_ended_s[worker] = bench_now_s();
}

static struct starpu_codelet touch_codelet = {
	.cpu_funcs = {touch},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_RW},
	.model = &starpu_perfmodel_nop,
};

static void register_gap_data(char *bytes, uint32_t each)
{
	size_t stride = (each + LINE - 1) / LINE * LINE, n = GAP_BYTES / stride;

	ngap_data = n < GAP_DATA ? (int)n : GAP_DATA;
	for (size_t i = 0; i < (size_t)ngap_data; i++)
		starpu_vector_data_register(&gap_data[i], STARPU_MAIN_RAM,
					    (uintptr_t)(bytes + i * stride), each, 1);
}

static void unregister_gap_data(void)
{
	for (int i = 0; i < ngap_data; i++)
		starpu_data_unregister(gap_data[i]);
}

static void hold_workers(int nworkers)
{
	gate = 0;
	for (int i = 0; i < nworkers; i++)
		starpu_task_insert(&hold_codelet, 0);
}

/* As in a program, values are written, and read by tasks that other workers run. */
static void insert_touch(int i)
{
	starpu_task_insert(&touch_codelet, STARPU_R,
			   gap_data[(i + ngap_data / 2) % ngap_data], STARPU_R,
			   gap_data[(i + ngap_data / 3) % ngap_data], STARPU_RW,
			   gap_data[i % ngap_data], 0);
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Of a task for whose like the library has no memory yet, as in a program that submits
 * its graph.  Workers that are held spin on all cores: the time that they have meanwhile,
 * as much again or none, is not the submission's.
 */
static double submit_new_s(int nworkers)
{
	double start_s;

	hold_workers(nworkers);
	start_s = processor_s();
	for (int i = 0; i < MOST_TASKS; i++)
		insert_touch(i);
	start_s = (processor_s() - start_s) / MOST_TASKS;
	gate = 1;
	starpu_mpi_wait_for_all(WORLD);
	return start_s;
}

/* Without waits for tasks and interruptions. */
static double gap_s(int nworkers, int ntasks)
{
	hold_workers(nworkers);
	ngaps = 0;
	for (int i = 0; i < MOST_WORKERS; i++)
		kernel_ended_s[i] = 0;
	for (int i = 0; i < ntasks; i++)
		insert_touch(i);
	gate = 1;
	starpu_mpi_wait_for_all(WORLD);
	qsort(gaps_s, (size_t)ngaps, sizeof(*gaps_s), compare);
	return bench_mean(gaps_s, ngaps);
}

/* Of memory that nobody has touched. */
static double page_s(void)
{
	size_t bytes = (size_t)NEW_PAGES * PAGE;
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start_s;

	if (memory == MAP_FAILED)
		return 0;
	madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
	start_s = bench_now_s();
	for (size_t i = 0; i < bytes; i += PAGE)
		memory[i] = 1;
	start_s = bench_now_s() - start_s;
	munmap((void *)memory, bytes);
	return start_s / NEW_PAGES;
}

static int measure_gaps(int rounds)
{
	static struct samples samples[] = {
		{.name = "submit_new"}, {.name = "gap 24"},     {.name = "gap 49152"},
		{.name = "gap 196608"}, {.name = "gap 786432"}, {.name = "gap 3145728"},
		{.name = "page"}};
	enum { last = sizeof(samples) / sizeof(samples[0]) - 1 };
	char *bytes = calloc(GAP_BYTES, 1);
	int nworkers;

	if (starpu_mpi_init_conf(NULL, NULL, 1, WORLD, NULL))
		return 77;
	nworkers = (int)starpu_cpu_worker_get_count();
	register_gap_data(bytes, 8);
	add(&samples[0], submit_new_s(nworkers));
	unregister_gap_data();
	for (int round = 0; round < rounds; round++) {
		for (int i = 1; i < last; i++) {
			int each = atoi(samples[i].name + 4) / 3;

			register_gap_data(bytes, (uint32_t)each);
			add(&samples[i],
			    gap_s(nworkers, each < LARGE ? MOST_TASKS : LARGE_TASKS));
			unregister_gap_data();
		}
		add(&samples[last], page_s());
	}
	tell(samples, sizeof(samples) / sizeof(samples[0]));
	starpu_mpi_shutdown();
	free(bytes);
	return 0;
}

/* ---- insertions, as one of two ranks that are not there ------------------ */

static double insert_s(int first)
{
	double start_s = bench_now_s();

	for (int i = 0; i < NTASKS; i++)
		starpu_mpi_task_insert(WORLD, &three_codelet, STARPU_R,
				       data[first + (5 * i + 3) % (NDATA / 2)], STARPU_R,
				       data[first + (5 * i + 1) % (NDATA / 2)], STARPU_RW,
				       data[first + 5 * i % (NDATA / 2)], 0);
	return (bench_now_s() - start_s) / NTASKS;
}

static int measure_insert(int rounds)
{
	static struct samples samples[] = {{.name = "insert_own_3"},
					   {.name = "insert_foreign_3"}};
	float values[NDATA] = {0};

	if (starpu_mpi_init_conf(NULL, NULL, 1, WORLD, NULL))
		return 77;
	for (int i = 0; i < NDATA; i++) {
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(float));
		starpu_mpi_data_register(data[i], i, i >= NDATA / 2);
	}
	for (int round = 0; round < rounds; round++) {
		gate = 0;
		starpu_task_insert(&hold_codelet, 0);
		starpu_usleep(50);
		add(&samples[0], insert_s(0));
		add(&samples[1], insert_s(NDATA / 2));
		gate = 1;
		starpu_task_wait_for_all();
	}
	tell(samples, sizeof(samples) / sizeof(samples[0]));
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	starpu_mpi_shutdown();
	return 0;
}

/* ---- two ranks ----------------------------------------------------------- */

static int rank;

/* Half of a round trip, while both ranks' workers run long tasks, or none. */
static double beside_tasks_s(starpu_data_handle_t value, int ntasks)
{
	double start_s, s;

	for (int i = 0; i < ntasks; i++)
		starpu_task_insert(&be_busy_codelet, 0);
	starpu_mpi_barrier(WORLD);
	starpu_usleep(APART_US);
	start_s = bench_now_s();
	for (int turn = 0; turn < 2; turn++)
		if (turn == rank)
			starpu_mpi_send(value, 1 - rank, turn, WORLD);
		else
			starpu_mpi_recv(value, 1 - rank, turn, WORLD, MPI_STATUS_IGNORE);
	s = (bench_now_s() - start_s) / 2;
	starpu_task_wait_for_all();
	return s;
}

/* Seconds per value when n of them move, all at once, round after round. */
static double set_s(const starpu_data_handle_t *values, int n)
{
	double start_s;

	starpu_mpi_barrier(WORLD);
	start_s = bench_now_s();
	for (int i = 0; i < n; i++)
		if (rank == 0)
			starpu_mpi_isend_detached(values[i], 1, i, WORLD, NULL, NULL);
		else
			starpu_mpi_irecv_detached(values[i], 0, i, WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	return (bench_now_s() - start_s) / n;
}

/* Of a receive, for the thread that wants it. */
static double post_s(const starpu_data_handle_t *values)
{
	double start_s, s = 0;

	starpu_mpi_barrier(WORLD);
	start_s = bench_now_s();
	for (int i = 0; i < LARGEST_SET && rank == 0; i++)
		starpu_mpi_irecv_detached(values[i], 1, i, WORLD, NULL, NULL);
	s = bench_now_s() - start_s;
	starpu_mpi_barrier(WORLD);
	for (int i = 0; i < LARGEST_SET && rank == 1; i++)
		starpu_mpi_isend_detached(values[i], 0, i, WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	return s / LARGEST_SET;
}

/* Of ever more values, whose numbers are n times those in the names behind the word. */
static void measure_sets(struct samples *samples, int nsets,
			 const starpu_data_handle_t *values, int n)
{
	for (int i = 0; i < nsets; i++) {
		int size = atoi(strchr(samples[i].name, ' ')) * n;

		set_s(values, size);
		for (int again = 0; again <= 16 * n / size; again++)
			add(&samples[i], set_s(values, size));
	}
}

/* Where the library puts what comes, as in programs: not side by side. */
static void make_values(starpu_data_handle_t *values, int n, uint32_t bytes)
{
	for (int i = 0; i < n; i++) {
		starpu_vector_data_register(&values[i], -1, 0, bytes, 1);
		starpu_data_acquire(values[i], STARPU_W);
		memset(starpu_data_get_local_ptr(values[i]), 1, bytes);
		starpu_data_release(values[i]);
	}
}

static void drop_values(const starpu_data_handle_t *values, int n)
{
	for (int i = 0; i < n; i++)
		starpu_data_unregister(values[i]);
}

static int measure_messages(int rounds)
{
	static struct samples samples[] = {
		{.name = "message_idle"}, {.name = "message_busy"}, {.name = "post"},
		{.name = "set 1"},        {.name = "set 4"},        {.name = "set 8"},
		{.name = "set 16"},       {.name = "set 32"},       {.name = "set 64"},
		{.name = "set 96"},       {.name = "small 1"},      {.name = "small 4"},
		{.name = "small 8"},      {.name = "small 16"},     {.name = "small 32"},
		{.name = "small 64"}};
	enum { SETS = 3, SMALL_SETS = 10, END = sizeof(samples) / sizeof(samples[0]) };
	static starpu_data_handle_t small_values[SMALL_SET];
	starpu_data_handle_t values[LARGEST_SET], small;
	char word[8] = {0};

	if (starpu_mpi_init_conf(NULL, NULL, 1, WORLD, NULL))
		return 77;
	MPI_Comm_rank(WORLD, &rank);
	starpu_vector_data_register(&small, STARPU_MAIN_RAM, (uintptr_t)word, 8, 1);
	make_values(values, LARGEST_SET, PIECE);
	make_values(small_values, SMALL_SET, SMALL_PIECE);
	for (int round = 0; round < rounds; round++) {
		add(&samples[0], beside_tasks_s(small, 0));
		add(&samples[1], beside_tasks_s(small, 3));
		add(&samples[2], post_s(values));
		measure_sets(&samples[SETS], SMALL_SETS - SETS, values, 1);
		measure_sets(&samples[SMALL_SETS], END - SMALL_SETS, small_values,
			     PIECE / SMALL_PIECE);
	}
	if (rank == 0)
		tell(samples, END);
	drop_values(small_values, SMALL_SET);
	drop_values(values, LARGEST_SET);
	starpu_data_unregister(small);
	starpu_mpi_shutdown();
	return 0;
}

/* ---- insertions that send or receive --------------------------------------- */

enum { EXCHANGES = 1000, EXCHANGED = 1 << 14 };

#define OF_ONE(what, mode)                                                               \
	static struct starpu_codelet what##_codelet = {.cpu_funcs = {note_begin},        \
						       .nbuffers = 1,                    \
						       .modes = {mode},                  \
						       .model = &starpu_perfmodel_nop}
OF_ONE(make, STARPU_W);
OF_ONE(use, STARPU_R);

/* Processor time of an insertion of a task of rank 1 that reads a value of the owner's,
 * which has just been made. */
static double use_s(const starpu_data_handle_t *values, int owner)
{
	double start_s;

	for (int i = 0; i < EXCHANGES; i++)
		starpu_mpi_task_insert(WORLD, &make_codelet, STARPU_W, values[i],
				       STARPU_EXECUTE_ON_NODE, owner, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	start_s = processor_s();
	for (int i = 0; i < EXCHANGES; i++)
		starpu_mpi_task_insert(WORLD, &use_codelet, STARPU_R, values[i],
				       STARPU_EXECUTE_ON_NODE, 1, 0);
	start_s = (processor_s() - start_s) / EXCHANGES;
	starpu_mpi_wait_for_all(WORLD);
	return start_s;
}

static int measure_exchanges(int rounds)
{
	static starpu_data_handle_t values[2][EXCHANGES];
	static struct samples samples[] = {{.name = "exchange_send"},
					   {.name = "exchange_receive"}};
	double own_s;

	if (starpu_mpi_init_conf(NULL, NULL, 1, WORLD, NULL))
		return 77;
	MPI_Comm_rank(WORLD, &rank);
	for (int i = 0; i < 2 * EXCHANGES; i++) {
		starpu_data_handle_t *value = &values[i / EXCHANGES][i % EXCHANGES];

		starpu_vector_data_register(value, -1, 0, EXCHANGED, 1);
		starpu_mpi_data_register(*value, i, i / EXCHANGES);
	}
	use_s(values[1], 1);
	use_s(values[0], 0);
	for (int round = 0; round < rounds; round++) {
		own_s = use_s(values[1], 1);
		add(&samples[rank], use_s(values[0], 0) - own_s);
	}
	tell(&samples[rank], 1);
	for (int i = 0; i < 2 * EXCHANGES; i++)
		starpu_data_unregister(values[i / EXCHANGES][i % EXCHANGES]);
	starpu_mpi_shutdown();
	return 0;
}

/* ---- from core to core ---------------------------------------------------- */

enum { TURNS = 2000, MOST_OTHERS = 8, LEAST_ROUNDS = 5 };

static const double long_s = 0.03; /* where other threads have the cores meanwhile */

struct turns {
	_Alignas(128) volatile long at; /* odd: the other's turn */
	int core;                       /* of the other */
};

/* False: there is no such core for this process. */
static int stay_on(int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static void *turn_about(void *arg)
{
	struct turns *turns = arg;

	stay_on(turns->core);
	for (long i = 0; i < TURNS; i++) {
		while (turns->at != 2 * i + 1)
			;
		turns->at = 2 * i + 2;
	}
	return NULL;
}

/* Half of a round trip. */
static double line_s(int core)
{
	struct turns turns = {.core = core};
	pthread_t other;
	double s = 0;

	if (pthread_create(&other, NULL, turn_about, &turns))
		return 0;
	for (long i = 0; i < TURNS; i++) {
		turns.at = 2 * i + 1;
		while (turns.at != 2 * i + 2)
			;
		if (i == TURNS / 2 - 1)
			s = bench_now_s(); /* both threads are there */
	}
	s = (bench_now_s() - s) / TURNS;
	pthread_join(other, NULL);
	return s;
}

/* From the first core of this process to others, at most eight: the mean of them. Nothing
 * is said where there is but one. */
static int measure_cores(int rounds)
{
	struct samples sample = {.name = "core_to_core"};
	int cores[CPU_SETSIZE], n = 0, step;
	double until_s;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET((size_t)core, &set))
			cores[n++] = core;
	if (n < 2)
		return 0;
	stay_on(cores[0]);
	step = (n - 2) / MOST_OTHERS + 1;
	until_s = bench_now_s() + long_s;
	for (int i = 0; i < rounds && (i < LEAST_ROUNDS || bench_now_s() < until_s);
	     i++) {
		double s = 0;
		int others = 0;

		for (int k = 1; k < n; k += step, others++)
			s += line_s(cores[k]);
		add(&sample, s / others);
	}
	tell(&sample, 1);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		int (*measure)(int rounds);
	} all[] = {{"tasks", measure_tasks},         {"gaps", measure_gaps},
		   {"insert", measure_insert},       {"messages", measure_messages},
		   {"exchanges", measure_exchanges}, {"cores", measure_cores}};
	int rounds = argc > 2 ? atoi(argv[2]) : 50;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && rounds > 0 && strcmp(argv[1], all[i].what) == 0)
			return all[i].measure(rounds);
	fprintf(stderr,
		"calibrate_costs: expected tasks, gaps, insert, messages, exchanges or "
		"cores, and rounds\n");
	return 2;
}
