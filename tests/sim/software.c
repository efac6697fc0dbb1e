/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What a platform says of the software of its nodes, by dates.  On software.xml: rank 0
 * is a node of which hardly anything is said, rank 1 one of which everything is.
 */
#include <math.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "../api/claim.h"

int claim_failures;

#define WORLD MPI_COMM_WORLD

/* Of software.xml, and of the knobs by default. */
enum { SUBMIT_US = 13, WAKE_US = 70, MAIN_WAKE_US = 90, PUSH_US = 40, PUSH_ANY_US = 30 };
enum { COLD_US = 6, COLDER_US = 25, COLD_BYTES = 1000 };
enum { FETCH_US = 15, INSERT_US = 20, POLL_WAIT_US = 2000, SWITCH_US = 10 };
enum { TASK_US = 1000, LONG_US = 5000, SHORT_US = 8, NSHORT = 400, MIDDLE_US = 30 };
enum { KEPT_BYTES = 16500, FEW_BYTES = 400 };
enum { SLOW_BYTES = 17500 }; /* half as fast by themselves */
enum { HELPED_BYTES = 1 << 16 };
enum { BYTES = 400, VALUE_BYTES = 20000, NVALUES = 3, MOST_HEAD_BYTES = 250 };

static const double mute_us = 1 + 0.5;

static int rank;
static double task_us;

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return task_us;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "software"};
static struct starpu_codelet none = {
	.cpu_funcs = {(starpu_cpu_func_t)1}, .model = &model, .name = "no data"};
static struct starpu_codelet three = {.cpu_funcs = {(starpu_cpu_func_t)1},
				      .nbuffers = 3,
				      .modes = {STARPU_R, STARPU_R, STARPU_RW},
				      .model = &model,
				      .name = "three data"};

static struct starpu_codelet one = {.cpu_funcs = {(starpu_cpu_func_t)1},
				    .nbuffers = 1,
				    .modes = {STARPU_R},
				    .model = &model,
				    .name = "one datum"};

static struct starpu_codelet make = {.cpu_funcs = {(starpu_cpu_func_t)1},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "a value"};

static void claim_between(double us, double least, double most)
{
	if (us > least - 0.02 && us < most + 0.02)
		return;
	if (claim_failures++ < CLAIM_MAX_SHOWN)
		printf("rank %d: took %.6f us, expected %.6f to %.6f\n", rank, us, least,
		       most);
}

static void claim_us(double us, double expected)
{
	claim_between(us, expected, expected);
}

static const char *const knobs[] = {
	"ORRERY_SUBMIT_COST", "ORRERY_SUBMIT_DATUM_COST", "ORRERY_INSERT_COST",
	"ORRERY_PUSH_COST",   "ORRERY_FETCH_COST",        "ORRERY_WAKE_COST",
	"ORRERY_POLL_WAIT",   "ORRERY_MAIN_WAKE_COST",    "ORRERY_SWITCH_COST",
	"ORRERY_PAGE_COST",   "ORRERY_LONE_COPY",         "ORRERY_EXCHANGE_COST",
	"STARPU_SCHED"};

enum { NKNOBS = sizeof(knobs) / sizeof(knobs[0]) };

static void start(void)
{
	setenv("ORRERY_QUANTUM", "1e-6", 1);
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL), 0);
	starpu_mpi_comm_rank(WORLD, &rank);
	starpu_mpi_barrier(WORLD);
}

static void stop(void)
{
	starpu_mpi_shutdown();
	for (int i = 0; i < NKNOBS; i++)
		unsetenv(knobs[i]);
}

static double now_us(void)
{
	return starpu_timing_now();
}

/* From the insertion of a task of three data to when it has been waited for.  The data
 * end.
 */
static double end_of_three_us(starpu_data_handle_t *data)
{
	double start_us = now_us();

	starpu_task_insert(&three, STARPU_R, data[0], STARPU_R, data[1], STARPU_RW,
			   data[2], 0);
	starpu_task_wait_for_all();
	start_us = now_us() - start_us;
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(data[i]);
	return start_us;
}

static double task_of_three_us(void)
{
	starpu_data_handle_t data[3];
	static int values[3];

	for (int i = 0; i < 3; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(int));
	task_us = TASK_US;
	return end_of_three_us(data);
}

/* The same of vectors of 1/3 of some bytes, beside what a small one takes. */
static double more_of_bytes_us(unsigned bytes)
{
	starpu_data_handle_t data[3];
	double before_us = task_of_three_us();

	for (int i = 0; i < 3; i++) {
		starpu_vector_data_register(&data[i], -1, 0, bytes / 3, 1);
		starpu_task_insert(&make, STARPU_W, data[i], 0);
	}
	starpu_task_wait_for_all();
	return end_of_three_us(data) - before_us;
}

/* A kernel that uses the caches leaves none of the library's own data there. */
static void after_many_bytes_a_task_costs_more(void)
{
	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	setenv("ORRERY_WAKE_COST", "0", 1);
	start();
	claim_us(more_of_bytes_us(COLD_BYTES / 3 * 3), 0);
	claim_us(more_of_bytes_us(2 * COLD_BYTES / 3 * 3), rank ? COLD_US : 0);
	claim_us(more_of_bytes_us(60 * COLD_BYTES), rank ? COLD_US : 0);
	claim_us(more_of_bytes_us(60 * COLD_BYTES + 3), rank ? COLDER_US : 0);
	stop();
}

static void a_task_costs_what_the_platform_says(void)
{
	start();
	starpu_usleep(500);
	claim_us(task_of_three_us(),
		 rank ? SUBMIT_US + WAKE_US + TASK_US + PUSH_US + FETCH_US + MAIN_WAKE_US
		      : TASK_US + mute_us);
	stop();
}

/* Where messages may come it looks for them for 320 us before it naps. */
static void a_main_among_ranks_is_awake_for_longer(void)
{
	static const double waits_us[] = {250, 400};

	for (int i = 0; i < 2; i++) {
		double start_us;

		setenv("ORRERY_WAKE_COST", "0", 1);
		setenv("ORRERY_PUSH_COST", "0", 1);
		setenv("ORRERY_SUBMIT_COST", "0", 1);
		setenv("ORRERY_MAIN_WAKE_COST", "9e-5", 1);
		start();
		task_us = waits_us[i];
		start_us = now_us();
		starpu_task_insert(&none, 0);
		starpu_task_wait_for_all();
		claim_us(now_us() - start_us, waits_us[i] + (i ? MAIN_WAKE_US : 0));
		stop();
	}
}

static void what_the_user_sets_goes_first(void)
{
	for (int i = 0; i < NKNOBS - 1; i++)
		setenv(knobs[i], "0", 1);
	setenv("ORRERY_SUBMIT_COST", "2e-6", 1);
	setenv("ORRERY_PUSH_COST", "1e-6", 1);
	start();
	starpu_usleep(500);
	claim_us(task_of_three_us(), 2 + TASK_US + 1);
	stop();
}

static void who_has_worked_just_now_is_awake(void)
{
	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
	task_of_three_us();
	claim_us(task_of_three_us(),
		 rank ? SUBMIT_US + TASK_US + PUSH_US + FETCH_US : TASK_US + mute_us);
	stop();
}

static void policies_that_are_not_named_cost_the_same(void)
{
	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	setenv("STARPU_SCHED", "eager", 1);
	start();
	task_of_three_us();
	claim_us(task_of_three_us(),
		 rank ? SUBMIT_US + TASK_US + PUSH_ANY_US + FETCH_US : TASK_US + mute_us);
	stop();
}

static void insertions_cost_by_who_executes(void)
{
	starpu_data_handle_t datum[2];
	double start_us;

	start();
	task_us = TASK_US;
	for (int i = 0; i < 2; i++) {
		starpu_variable_data_register(&datum[i], -1, 0, sizeof(int));
		starpu_mpi_data_register(datum[i], i, i);
	}
	start_us = now_us();
	starpu_mpi_task_insert(WORLD, &none, STARPU_EXECUTE_ON_NODE, 1 - rank, 0);
	claim_us(now_us() - start_us, rank ? INSERT_US : 0.05);
	start_us = now_us();
	starpu_mpi_task_insert(WORLD, &none, STARPU_EXECUTE_ON_NODE, rank, 0);
	claim_us(now_us() - start_us, rank ? SUBMIT_US - 3 : 1);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(datum[i]);
	stop();
}

/* ---- messages beside tasks ------------------------------------------------ */

struct beside {
	double message_us, tasks_us; /* from when the first task was submitted */
};

/* Rank 1 executes n tasks of us each, while a message comes from rank 0, and nmore
 * behind it. */
static struct beside message_beside(double us, int n, int nmore)
{
	starpu_data_handle_t value;
	static char bytes[BYTES];
	struct beside beside = {0, 0};
	starpu_mpi_req request;
	double start_us;

	task_us = us;
	starpu_vector_data_register(&value, STARPU_MAIN_RAM, (uintptr_t)bytes, BYTES, 1);
	if (rank == 1)
		starpu_mpi_irecv(value, &request, 0, 7, WORLD);
	starpu_mpi_barrier(WORLD);
	start_us = now_us();
	for (int i = 0; i < n && rank == 1; i++)
		starpu_task_insert(&none, 0);
	if (rank == 0) {
		starpu_mpi_send(value, 1, 7, WORLD);
	} else {
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
		beside.message_us = now_us() - start_us;
		for (int i = 0; i < nmore; i++)
			starpu_task_insert(&none, 0);
		starpu_task_wait_for_all();
		beside.tasks_us = now_us() - start_us;
	}
	starpu_mpi_barrier(WORLD);
	starpu_data_unregister(value);
	return beside;
}

/* What else costs time stays out of this. */
static void start_with_messages(void)
{
	setenv("ORRERY_SUBMIT_COST", "0", 1);
	setenv("ORRERY_PUSH_COST", "0", 1);
	setenv("ORRERY_WAKE_COST", "0", 1);
	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
}

static void a_message_waits_for_a_thread_that_looks(void)
{
	struct beside beside;

	start_with_messages();
	beside = message_beside(LONG_US, 1, 0);
	if (rank == 1) {
		claim_between(beside.message_us, BYTES + POLL_WAIT_US,
			      BYTES + POLL_WAIT_US + MOST_HEAD_BYTES);
		claim_between(beside.tasks_us, LONG_US + 2 * SWITCH_US + BYTES,
			      LONG_US + 2 * SWITCH_US + BYTES + MOST_HEAD_BYTES);
	}
	stop();
}

/* It moves the bytes then, before it runs another task. */
static void or_for_the_worker_to_be_idle(void)
{
	struct beside beside;

	start_with_messages();
	beside = message_beside(TASK_US, 1, 1);
	if (rank == 1) {
		claim_us(beside.message_us, TASK_US);
		claim_between(beside.tasks_us, 2 * TASK_US + BYTES,
			      2 * TASK_US + BYTES + MOST_HEAD_BYTES);
	}
	stop();
}

/* Or of another, when nobody has looked for 40 us: with long tasks the next one. */
static void or_for_the_end_of_a_task(void)
{
	struct beside beside;

	start_with_messages();
	beside = message_beside(SHORT_US, NSHORT, 0);
	if (rank == 1)
		claim_between(beside.message_us, BYTES,
			      BYTES + MOST_HEAD_BYTES + SHORT_US);
	beside = message_beside(MIDDLE_US, NSHORT, 0);
	if (rank == 1)
		claim_between(beside.message_us, BYTES,
			      BYTES + MOST_HEAD_BYTES + 2 * MIDDLE_US);
	beside = message_beside(TASK_US, 9, 0);
	if (rank == 1)
		claim_between(beside.message_us, TASK_US, TASK_US + MOST_HEAD_BYTES);
	stop();
}

static void an_idle_node_looks_at_once(void)
{
	struct beside beside;

	start_with_messages();
	beside = message_beside(0, 0, 0);
	if (rank == 1)
		claim_between(beside.message_us, BYTES, BYTES + MOST_HEAD_BYTES);
	stop();
}

/* Of rank 1, with a long task, while a value comes. */
static double receive_beside_us(starpu_data_handle_t value, double us)
{
	starpu_mpi_req request;
	double start_us;

	task_us = us;
	if (rank == 1)
		starpu_mpi_irecv(value, &request, 0, 7, WORLD);
	starpu_mpi_barrier(WORLD);
	start_us = now_us();
	if (rank == 1) {
		starpu_task_insert(&none, 0);
		starpu_task_wait_for_all();
		start_us = now_us() - start_us;
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	} else {
		starpu_mpi_send(value, 1, 7, WORLD);
	}
	starpu_mpi_barrier(WORLD);
	return start_us;
}

/* ---- caches ---------------------------------------------------------------- */

static double move_us(starpu_data_handle_t value, int to)
{
	double start_us;

	starpu_mpi_barrier(WORLD);
	start_us = now_us();
	if (rank == to)
		starpu_mpi_recv(value, 1 - to, 7, WORLD, MPI_STATUS_IGNORE);
	else
		starpu_mpi_send(value, to, 7, WORLD);
	return now_us() - start_us;
}

/* How many bytes came to the node since the value did, or at all, of messages and of
 * tasks, decides; the other node's copies are all alike. */
static void values_that_no_cache_holds_are_slower(void)
{
	static const struct {
		int value, times;
	} moves[] = {{0, 2}, {1, 2}, {2, 2}, {2, 1}, {1, 2}, {1, 1}, {0, 2}};
	starpu_data_handle_t values[NVALUES];

	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
	for (int i = 0; i < NVALUES; i++) {
		starpu_vector_data_register(&values[i], -1, 0, VALUE_BYTES, 1);
		starpu_task_insert(&make, STARPU_W, values[i], 0);
	}
	starpu_task_wait_for_all();
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		double us = move_us(values[moves[i].value], 1);

		if (rank == 1)
			claim_between(us, moves[i].times * VALUE_BYTES,
				      moves[i].times * VALUE_BYTES + 3 * MOST_HEAD_BYTES);
	}
	for (int i = 0; i < NVALUES; i++) {
		double us = move_us(values[i], 0);

		if (rank == 0)
			claim_between(us, VALUE_BYTES, VALUE_BYTES + 3 * MOST_HEAD_BYTES);
	}
	for (int i = 0; i < NVALUES; i++)
		starpu_data_unregister(values[i]);
	stop();
}

/* Of 64 KiB as often slower as small_copy_factors say, of 1 MiB as copy_factors say, or
 * not at all without; between them as a power of the size. */
static void small_values_have_factors_of_their_own(void)
{
	static const unsigned bytes[NVALUES] = {1 << 16, 1 << 18, 1 << 20};
	static const double times[2][NVALUES] = {{4, 2, 1}, {4, 2.828427, 2}};
	starpu_data_handle_t values[NVALUES];

	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
	for (int i = 0; i < NVALUES; i++) {
		starpu_vector_data_register(&values[i], -1, 0, bytes[i], 1);
		starpu_task_insert(&make, STARPU_W, values[i], 0);
	}
	starpu_task_wait_for_all();
	for (int to = 1; to >= 0; to--)
		for (int i = 0; i < 2 * NVALUES; i++) {
			double us = move_us(values[i % NVALUES], to);
			double least_us = times[to][i % NVALUES] * bytes[i % NVALUES];

			if (rank == to && i >= NVALUES)
				claim_between(us, (int)least_us - 1,
					      (int)least_us + 6 * MOST_HEAD_BYTES);
		}
	for (int i = 0; i < NVALUES; i++)
		starpu_data_unregister(values[i]);
	stop();
}

/* A sender that runs a task does not copy its part: half of the bandwidth, here. */
static void a_receiver_alone_is_slower(void)
{
	starpu_data_handle_t value;

	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	setenv("ORRERY_LONE_COPY", "0.5", 1);
	start();
	starpu_vector_data_register(&value, -1, 0, HELPED_BYTES, 1);
	starpu_task_insert(&make, STARPU_W, value, 0);
	starpu_task_wait_for_all();
	task_us = 10 * HELPED_BYTES;
	for (int times = 2; times <= 4; times += 2) {
		double us;

		if (times == 4 && rank == 0)
			starpu_task_insert(&none, 0);
		us = move_us(value, 1);
		if (rank == 1)
			claim_between(us, times * HELPED_BYTES - 1,
				      times * HELPED_BYTES + 6 * MOST_HEAD_BYTES);
	}
	starpu_task_wait_for_all();
	starpu_data_unregister(value);
	stop();
}

/* A slow value takes a core so much longer, and not what a larger one would. */
static void slow_values_take_their_time_from_tasks(void)
{
	starpu_data_handle_t value;

	start_with_messages();
	starpu_vector_data_register(&value, -1, 0, HELPED_BYTES, 1);
	starpu_task_insert(&make, STARPU_W, value, 0);
	starpu_task_wait_for_all();
	for (int time = 0; time < 2; time++) {
		double us = receive_beside_us(value, 10 * HELPED_BYTES);
		double expected = 12 * HELPED_BYTES;

		if (rank == 1)
			claim_between(us, expected - 1, expected + 4 * MOST_HEAD_BYTES);
	}
	starpu_data_unregister(value);
	stop();
}

/* For the threads that insert, on both sides. */
static void values_that_insertions_move_cost_their_threads(void)
{
	starpu_data_handle_t value;
	double start_us;

	setenv("ORRERY_EXCHANGE_COST", "3e-5", 1);
	start();
	starpu_vector_data_register(&value, -1, 0, BYTES, 1);
	starpu_mpi_data_register(value, 1, 0);
	task_us = TASK_US;
	starpu_mpi_task_insert(WORLD, &make, STARPU_W, value, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	start_us = now_us();
	starpu_mpi_task_insert(WORLD, &one, STARPU_R, value, STARPU_EXECUTE_ON_NODE, 1,
			       0);
	claim_us(now_us() - start_us, 30 + (rank ? SUBMIT_US - 2 : 0.05));
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(value);
	stop();
}

static void touch(starpu_data_handle_t value, int times)
{
	for (int i = 0; i < times; i++)
		starpu_task_insert(&make, STARPU_W, value, 0);
	starpu_task_wait_for_all();
}

/* But no more than there are: tasks on a few bytes leave the others where they are. */
static void tasks_use_caches_too(void)
{
	static const struct {
		int value, ntasks, times;
	} moves[] = {{0, 1, 1}, {1, 100, 1}, {2, 3, 2}, {2, 0, 1}};
	starpu_data_handle_t values[NVALUES];

	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
	for (int i = 0; i < NVALUES; i++)
		starpu_vector_data_register(&values[i], -1, 0,
					    i == 1 ? FEW_BYTES : KEPT_BYTES, 1);
	touch(values[0], 1);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		double us;

		touch(values[moves[i].value], moves[i].ntasks);
		us = move_us(values[0], 1);
		if (rank == 1)
			claim_between(us, moves[i].times * KEPT_BYTES,
				      moves[i].times * KEPT_BYTES + 3 * MOST_HEAD_BYTES);
	}
	for (int i = 0; i < NVALUES; i++)
		starpu_data_unregister(values[i]);
	stop();
}

/* A worker that runs a task ends it so much later when the value has come; the second
 * time the memory is no more new.  What a task fills costs nothing besides. */
static void new_memory_is_touched_once(void)
{
	starpu_data_handle_t value;

	setenv("ORRERY_PAGE_COST", "4.096e-3", 1); /* a microsecond for a byte */
	start_with_messages();
	starpu_vector_data_register(&value, -1, 0, BYTES, 1);
	if (rank == 0)
		touch(value, 1);
	for (int time = 0; time < 2; time++) {
		double us = receive_beside_us(value, LONG_US);
		double expected = LONG_US + 2 * SWITCH_US + (time ? 1 : 2) * BYTES;

		if (rank == 1)
			claim_between(us, expected, expected + MOST_HEAD_BYTES);
	}
	starpu_data_unregister(value);
	stop();
}

/* Memory is half as fast, too: both at once cost once. */
static void values_that_are_slow_already_are_not_slower(void)
{
	starpu_data_handle_t values[NVALUES + 1];

	setenv("ORRERY_MAIN_WAKE_COST", "0", 1);
	start();
	for (int i = 0; i <= NVALUES; i++) {
		starpu_vector_data_register(&values[i], -1, 0,
					    i ? VALUE_BYTES : SLOW_BYTES, 1);
		starpu_task_insert(&make, STARPU_W, values[i], 0);
	}
	starpu_task_wait_for_all();
	for (int time = 0; time < 2; time++)
		for (int i = 0; i <= NVALUES; i++) {
			double us = move_us(values[i], 1);

			if (rank == 1 && i == 0)
				claim_between(us, 2 * SLOW_BYTES,
					      2 * SLOW_BYTES + 4 * MOST_HEAD_BYTES);
		}
	for (int i = 0; i <= NVALUES; i++)
		starpu_data_unregister(values[i]);
	stop();
}

static const struct claim claims[] = {
	{"a_task_costs_what_the_platform_says", a_task_costs_what_the_platform_says},
	{"after_many_bytes_a_task_costs_more", after_many_bytes_a_task_costs_more},
	{"a_main_among_ranks_is_awake_for_longer",
	 a_main_among_ranks_is_awake_for_longer},
	{"what_the_user_sets_goes_first", what_the_user_sets_goes_first},
	{"who_has_worked_just_now_is_awake", who_has_worked_just_now_is_awake},
	{"policies_that_are_not_named_cost_the_same",
	 policies_that_are_not_named_cost_the_same},
	{"insertions_cost_by_who_executes", insertions_cost_by_who_executes},
	{"a_message_waits_for_a_thread_that_looks",
	 a_message_waits_for_a_thread_that_looks},
	{"or_for_the_worker_to_be_idle", or_for_the_worker_to_be_idle},
	{"or_for_the_end_of_a_task", or_for_the_end_of_a_task},
	{"an_idle_node_looks_at_once", an_idle_node_looks_at_once},
	{"values_that_are_slow_already_are_not_slower",
	 values_that_are_slow_already_are_not_slower},
	{"values_that_no_cache_holds_are_slower", values_that_no_cache_holds_are_slower},
	{"small_values_have_factors_of_their_own",
	 small_values_have_factors_of_their_own},
	{"a_receiver_alone_is_slower", a_receiver_alone_is_slower},
	{"slow_values_take_their_time_from_tasks",
	 slow_values_take_their_time_from_tasks},
	{"values_that_insertions_move_cost_their_threads",
	 values_that_insertions_move_cost_their_threads},
	{"tasks_use_caches_too", tasks_use_caches_too},
	{"new_memory_is_touched_once", new_memory_is_touched_once},
	{0},
};

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	failed = claims_run(claims, rank != 0);
	MPI_Finalize();
	return failed;
}
