/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Who may use a datum when; ends, priorities and unregistering that depend on it. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

static void start_with(int ncpus)
{
	claim_start(ncpus);
}

static void start(void)
{
	start_with(3);
}

/* ---- kernels and tasks ------------------------------------------------ */

static int nrun;

static int runs(void)
{
	return __atomic_load_n(&nrun, __ATOMIC_SEQ_CST);
}

static void count(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_add_fetch(&nrun, 1, __ATOMIC_SEQ_CST);
}

/* Unprotected: lost updates show missing exclusion. */
static void add(void *buffers[], void *arg)
{
	volatile long *x = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	long seen = *x;

	for (volatile int i = 0; i < 50; i++)
		;
	*x = seen + 1;
	count(buffers, arg);
}

static void add_two(void *buffers[], void *arg)
{
	add(buffers, arg);
	add(buffers + 1, arg);
}

static struct starpu_codelet reads = {
	.cpu_funcs = {count}, .nbuffers = 1, .modes = {STARPU_R}, .name = "reads"};
static struct starpu_codelet writes = {
	.cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "writes"};
static struct starpu_codelet makes = {
	.cpu_funcs = {count}, .nbuffers = 1, .modes = {STARPU_W}, .name = "makes"};
static struct starpu_codelet two = {.cpu_funcs = {count},
				    .nbuffers = 2,
				    .modes = {STARPU_RW, STARPU_RW},
				    .name = "two"};
static struct starpu_codelet commutes = {
	.cpu_funcs = {add_two},
	.nbuffers = 2,
	.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE},
	.name = "commutes"};
static struct starpu_codelet any = {
	.cpu_funcs = {count}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "any"};
static struct starpu_codelet scratches = {.cpu_funcs = {count},
					  .nbuffers = 1,
					  .modes = {STARPU_SCRATCH},
					  .name = "scratches"};

static struct starpu_task *unordered(struct starpu_codelet *cl, starpu_data_handle_t h)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h;
	task->sequential_consistency = 0;
	return task;
}

static void submit(struct starpu_task *task)
{
	CLAIM_EQ(starpu_task_submit(task), 0);
}

static starpu_data_handle_t registered(long *x)
{
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)x, sizeof(*x));
	return h;
}

/* ---- without order ----------------------------------------------------- */

/* A writer that waits between readers neither stops them nor goes lost. */
static void a_writer_between_readers(void)
{
	starpu_data_handle_t h;
	long x = 0;

	start();
	nrun = 0;
	h = registered(&x);
	starpu_data_acquire(h, STARPU_RW);
	for (int i = 0; i < 3; i++) {
		submit(unordered(&reads, h));
		submit(unordered(&writes, h));
		submit(unordered(&reads, h));
	}
	CLAIM_EQ(runs(), 0);
	starpu_data_release(h);
	starpu_task_wait_for_all();
	CLAIM_EQ(runs(), 9);
	starpu_data_unregister(h);
	CLAIM_EQ(x, 3);
	starpu_shutdown();
}

/* Data come and go while their last users end. */
static void data_without_order_come_and_go(void)
{
	int nbad = 0;

	start();
	for (int i = 0; i < 3000; i++) {
		long x = 0;
		starpu_data_handle_t h = registered(&x);

		starpu_data_set_sequential_consistency_flag(h, 0);
		submit(unordered(&writes, h));
		for (int k = 0; k < 3; k++)
			submit(unordered(&reads, h));
		submit(unordered(&writes, h));
		starpu_data_unregister(h);
		nbad += x != 2;
	}
	CLAIM_EQ(nbad, 0);
	starpu_shutdown();
}

/* The readers behind a downgraded writer run, with and without order. */
static void a_downgrade_lets_readers_go(void)
{
	struct starpu_task *tasks[2];
	starpu_data_handle_t h;
	long x = 0;

	start();
	h = registered(&x);
	for (int ordered = 0; ordered < 2; ordered++) {
		starpu_data_acquire(h, STARPU_RW);
		submit(unordered(&writes, h)); /* It stays outside. */
		for (int i = 0; i < 2; i++) {
			tasks[i] = unordered(&reads, h);
			tasks[i]->sequential_consistency = ordered;
			tasks[i]->detach = 0;
			submit(tasks[i]);
		}
		starpu_data_release_to(h, STARPU_R);
		for (int i = 0; i < 2; i++)
			CLAIM_EQ(starpu_task_wait(tasks[i]), 0);
		CLAIM_EQ(x, ordered);
		starpu_data_release(h);
		starpu_task_wait_for_all();
	}
	starpu_data_unregister(h);
	CLAIM_EQ(x, 2);
	starpu_shutdown();
}

/* ---- who is blocked holds nothing --------------------------------------- */

/* One that waits for a tag, with its turn on h, does not keep h from others. */
static void a_task_blocked_by_a_tag_holds_nothing(void)
{
	starpu_data_handle_t h;
	struct starpu_task *task;
	long x = 0;

	start();
	h = registered(&x);
	starpu_tag_declare_deps((starpu_tag_t)1, 1, (starpu_tag_t)2);
	CLAIM_EQ(
		starpu_task_insert(&writes, STARPU_TAG, (starpu_tag_t)1, STARPU_RW, h, 0),
		0);
	task = unordered(&writes, h);
	task->use_tag = 1;
	task->tag_id = 2;
	submit(task);
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	CLAIM_EQ(x, 2);
	starpu_shutdown();
}

/* One that waits for g, with its turn on h, does not keep h from others. */
static void a_task_blocked_by_data_holds_nothing(void)
{
	starpu_data_handle_t h, g;
	struct starpu_task *task;
	long x = 0, y = 0;

	start();
	nrun = 0;
	h = registered(&x);
	g = registered(&y);
	starpu_data_acquire(g, STARPU_RW);
	CLAIM_EQ(starpu_task_insert(&two, STARPU_RW, h, STARPU_RW, g, 0), 0);
	for (int i = 0; i < 3; i++) {
		/* The second stays outside g, and holds h no more than the first. */
		struct starpu_task *other = unordered(&two, h);

		other->handles[1] = g;
		submit(other);
		task = unordered(i % 2 ? &reads : &writes, h);
		task->detach = 0;
		submit(task);
		CLAIM_EQ(starpu_task_wait(task), 0);
	}
	CLAIM_EQ(runs(), 3);
	starpu_data_release(g);
	starpu_task_wait_for_all();
	CLAIM_EQ(runs(), 7);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	starpu_shutdown();
}

/* ---- many ---------------------------------------------------------------- */

static void commuting_tasks_exclude_each_other(void)
{
	enum { NDATA = 16, NTASKS = 20000 };
	static long x[NDATA];
	starpu_data_handle_t h[NDATA];
	unsigned random = 1;
	long sum = 0;

	start();
	for (int i = 0; i < NDATA; i++) {
		x[i] = 0;
		h[i] = registered(&x[i]);
	}
	for (int i = 0; i < NTASKS; i++) {
		int a, b;

		random = random * 1103515245u + 12345u;
		a = (int)((random >> 8) % NDATA);
		b = (int)((random >> 16) % NDATA);
		if (a == b)
			b = (a + 1) % NDATA;
		CLAIM_EQ(starpu_task_insert(&commutes, STARPU_RW | STARPU_COMMUTE, h[a],
					    STARPU_RW | STARPU_COMMUTE, h[b], 0),
			 0);
	}
	for (int i = 0; i < NDATA; i++) {
		starpu_data_unregister(h[i]);
		sum += x[i];
	}
	CLAIM_EQ(sum, 2 * NTASKS);
	starpu_shutdown();
}

static void use_many(int n, int ndata)
{
	static long x[20000];
	starpu_data_handle_t *h = calloc((size_t)ndata, sizeof(*h));
	struct starpu_data_descr *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; i < ndata; i++)
		h[i] = registered(&x[i]);
	for (int i = 0; i < n; i++) {
		all[i].handle = h[i % ndata];
		all[i].mode = i % 3 ? STARPU_R : STARPU_RW;
	}
	nrun = 0;
	for (int i = 0; i < 3; i++)
		CLAIM_EQ(starpu_task_insert(&any, STARPU_DATA_MODE_ARRAY, all, n, 0), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(runs(), 3);
	for (int i = 0; i < ndata; i++)
		starpu_data_unregister(h[i]);
	free(all);
	free(h);
}

static void any_number_of_data(void)
{
	start();
	use_many(65, 65);
	use_many(1000, 1000);
	use_many(20000, 20000);
	use_many(20000, 1);
	use_many(5000, 70);
	starpu_shutdown();
}

/* Readers that follow each other without end let a writer in all the same. */
static int stop_reading;

static void read_again(void *arg)
{
	starpu_data_handle_t h = arg;
	struct starpu_task *task;

	if (__atomic_load_n(&stop_reading, __ATOMIC_SEQ_CST))
		return;
	task = unordered(&reads, h);
	task->callback_func = read_again;
	task->callback_arg = h;
	if (starpu_task_submit(task) != 0)
		abort();
}

static void stop(void *arg)
{
	(void)arg;
	__atomic_store_n(&stop_reading, 1, __ATOMIC_SEQ_CST);
}

static void readers_do_not_starve_a_writer(void)
{
	struct starpu_task *task;
	starpu_data_handle_t h;
	long x = 0;

	start();
	stop_reading = 0;
	h = registered(&x);
	for (int i = 0; i < 6; i++)
		read_again(h);
	task = unordered(&writes, h);
	task->callback_func = stop;
	submit(task);
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	CLAIM_EQ(x, 1);
	starpu_shutdown();
}

/* ---- order among the ready ones -------------------------------------------- */

static int order[64], norder;

static void note(void *buffers[], void *arg)
{
	(void)buffers;
	order[norder++] = (int)(intptr_t)arg;
}

static int can_always(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)worker;
	(void)task;
	(void)nimpl;
	return 1;
}

static struct starpu_codelet plain = {.cpu_funcs = {note}, .name = "plain"};
static struct starpu_codelet mixed = {
	.cpu_funcs = {note}, .cuda_funcs = {note}, .name = "mixed"};
static struct starpu_codelet picky = {
	.cpu_funcs = {note}, .can_execute = can_always, .name = "picky"};

static struct starpu_task *numbered(struct starpu_codelet *cl, int number, int priority)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->priority = priority;
	return task;
}

static int begin_order(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = 0;
	conf.sched_policy_name = "lws";
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
	norder = 0;
	starpu_pause();
	return 0;
}

static void end_order(void)
{
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_shutdown();
}

static void ties_go_by_submission(void)
{
	struct starpu_codelet *const kinds[] = {&plain, &mixed, &picky};

	begin_order();
	for (int i = 0; i < 60; i++)
		submit(numbered(kinds[i % 3], i, i < 6 ? 1 : 5));
	end_order();
	for (int i = 0; i < 54; i++)
		CLAIM_EQ(order[i], i + 6);
	for (int i = 54; i < 60; i++)
		CLAIM_EQ(order[i], i - 54);
}

static void filtered_tasks_have_priorities(void)
{
	static uint32_t first[1] = {1};
	struct starpu_task *task;

	begin_order();
	submit(numbered(&picky, 3, 0));
	submit(numbered(&picky, 2, 9));
	submit(numbered(&plain, 0, 100));
	task = numbered(&plain, 1, 50);
	task->workerids = first;
	task->workerids_len = 1;
	submit(task);
	end_order();
	for (int i = 0; i < 4; i++)
		CLAIM_EQ(order[i], i);
}

static void bound_tasks_have_priorities(void)
{
	begin_order();
	for (int i = 0; i < 12; i++) {
		struct starpu_task *task = numbered(&plain, i, i % 3);

		task->execute_on_a_specific_worker = 1;
		task->workerid = 0;
		submit(task);
	}
	end_order();
	for (int i = 0; i < 12; i++)
		CLAIM_EQ(order[i], 3 * (i % 4) + 2 - i / 4);
}

/* ---- other users ------------------------------------------------------------- */

static void trying_sees_turns(void)
{
	starpu_data_handle_t h, g;
	long x = 0;

	start();
	h = registered(&x);
	starpu_variable_data_register(&g, -1, 0, sizeof(long));
	starpu_tag_declare_deps((starpu_tag_t)1, 1, (starpu_tag_t)2);
	starpu_tag_declare_deps((starpu_tag_t)3, 1, (starpu_tag_t)2);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_R), 0);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_RW), -EAGAIN);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_R), 0);
	starpu_data_release(h);
	starpu_data_release(h);
	CLAIM_EQ(
		starpu_task_insert(&writes, STARPU_TAG, (starpu_tag_t)1, STARPU_RW, h, 0),
		0);
	CLAIM_EQ(starpu_task_insert(&makes, STARPU_TAG, (starpu_tag_t)3, STARPU_W, g, 0),
		 0);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_R), -EAGAIN);
	CLAIM_EQ(starpu_data_acquire_try(g, STARPU_R), -EAGAIN);
	starpu_tag_notify_from_apps((starpu_tag_t)2);
	starpu_task_wait_for_all();
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_RW), 0);
	starpu_data_release(h);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	starpu_shutdown();
}

/* Exclusion is for those that run: who waits for other data holds none of its own. */
static void trying_passes_those_that_wait(void)
{
	starpu_data_handle_t h, g;
	long x = 0, y = 0;

	start();
	h = registered(&x);
	g = registered(&y);
	CLAIM_EQ(starpu_data_acquire(g, STARPU_RW), 0);
	CLAIM_EQ(starpu_task_insert(&commutes, STARPU_RW | STARPU_COMMUTE, h,
				    STARPU_RW | STARPU_COMMUTE, g, 0),
		 0);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_RW | STARPU_COMMUTE), 0);
	CLAIM_EQ(x, 0);
	starpu_data_release(h);
	starpu_data_release(g);
	starpu_task_wait_for_all();
	CLAIM_EQ(x, 1);
	/* Its turn on h has come, and those without order need not wait for its end. */
	CLAIM_EQ(starpu_data_acquire(g, STARPU_RW), 0);
	CLAIM_EQ(starpu_task_insert(&two, STARPU_RW, h, STARPU_RW, g, 0), 0);
	starpu_data_set_sequential_consistency_flag(h, 0);
	CLAIM_EQ(starpu_data_acquire_try(h, STARPU_RW), 0);
	starpu_data_release(h);
	starpu_data_release(g);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	starpu_shutdown();
}

/* Unregistering waits for users of scratch, or leaves them what they use. */
static void unregistering_waits_for_scratch(void)
{
	start();
	nrun = 0;
	for (int round = 0; round < 20; round++) {
		starpu_data_handle_t gate, h;
		long x = 0;

		gate = registered(&x);
		starpu_vector_data_register(&h, -1, 0, 1000, sizeof(int));
		for (int i = 0; i < 10; i++)
			CLAIM_EQ(starpu_task_insert(&scratches, STARPU_SCRATCH, h, 0), 0);
		CLAIM_EQ(starpu_task_insert(&any, STARPU_RW, gate, STARPU_SCRATCH, h, 0),
			 0);
		if (round % 2) {
			starpu_data_unregister(h);
			CLAIM_EQ(runs(), 11 * (round + 1));
		} else {
			starpu_data_unregister_submit(h);
		}
		starpu_task_wait_for_all();
		starpu_data_unregister(gate);
	}
	starpu_shutdown();
}

/* So does unregister_submit for those without order. */
static void unregistering_waits_for_those_without_order(void)
{
	starpu_data_handle_t h;
	long x = 0;

	start();
	h = registered(&x);
	starpu_tag_declare_deps((starpu_tag_t)1, 1, (starpu_tag_t)2);
	for (int i = 0; i < 5; i++) {
		struct starpu_task *task = unordered(i % 2 ? &reads : &writes, h);

		task->use_tag = i == 0;
		task->tag_id = 1;
		submit(task);
	}
	starpu_data_unregister_submit(h);
	starpu_tag_notify_from_apps((starpu_tag_t)2);
	starpu_task_wait_for_all();
	CLAIM_EQ(x, 3);
	starpu_shutdown();
}

/* ---- arbiters -------------------------------------------------------- */

static void eat_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet eat = {
	.cpu_funcs = {eat_cpu},
	.nbuffers = 2,
	.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE},
	.model = &starpu_perfmodel_nop,
	.name = "eat"};

/* Each task needs two neighbours of a ring, in the order that would starve
 * others. */
static void arbiters_lock_together(void)
{
	enum { SEATS = 5, ROUNDS = 200 };
	int forks[SEATS] = {0};
	starpu_data_handle_t handles[SEATS];
	starpu_arbiter_t arbiter;

	start();
	arbiter = starpu_arbiter_create();
	for (int i = 0; i < SEATS; i++) {
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&forks[i], sizeof(int));
		starpu_data_assign_arbiter(handles[i], arbiter);
	}
	for (int i = 0; i < SEATS * ROUNDS; i++)
		starpu_task_insert(&eat, STARPU_RW | STARPU_COMMUTE, handles[i % SEATS],
				   STARPU_RW | STARPU_COMMUTE, handles[(i + 1) % SEATS],
				   0);
	for (int i = 0; i < SEATS; i++)
		starpu_data_unregister(handles[i]);
	starpu_arbiter_destroy(arbiter);
	starpu_shutdown();
	for (int i = 0; i < SEATS; i++)
		CLAIM_EQ(forks[i], 2 * ROUNDS);
}

int main(void)
{
	static const struct claim claims[] = {
		{"a writer between readers", a_writer_between_readers},
		{"data without order come and go", data_without_order_come_and_go},
		{"a downgrade lets readers go", a_downgrade_lets_readers_go},
		{"a task blocked by a tag holds nothing",
		 a_task_blocked_by_a_tag_holds_nothing},
		{"a task blocked by data holds nothing",
		 a_task_blocked_by_data_holds_nothing},
		{"commuting tasks exclude each other",
		 commuting_tasks_exclude_each_other},
		{"any number of data", any_number_of_data},
		{"readers do not starve a writer", readers_do_not_starve_a_writer},
		{"ties go by submission", ties_go_by_submission},
		{"filtered tasks have priorities", filtered_tasks_have_priorities},
		{"bound tasks have priorities", bound_tasks_have_priorities},
		{"trying sees turns", trying_sees_turns},
		{"trying passes those that wait", trying_passes_those_that_wait},
		{"unregistering waits for scratch", unregistering_waits_for_scratch},
		{"unregistering waits for those without order",
		 unregistering_waits_for_those_without_order},
		{"arbiters lock together", arbiters_lock_together},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
