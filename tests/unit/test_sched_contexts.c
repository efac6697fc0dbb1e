/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Several schedulers: each task runs once, on a worker of its own; workers move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "core/sched/contexts.h"
#include "core/sched/sched_own.h"
#include "fake_impl.h"
#include "one_node.h"

enum { MAX_TASKS = 900, MAX_WORKERS = 40, NSEEDS = 300, NO_CONTEXT = -1 };

static struct {
	int times[MAX_TASKS], worker[MAX_TASKS], context[MAX_TASKS];
} seen;

static void forget(void)
{
	for (int i = 0; i < MAX_TASKS; i++) {
		seen.times[i] = 0;
		seen.worker[i] = seen.context[i] = NO_CONTEXT;
	}
}

/* Writes down for which scheduler the worker runs. */
static void note(void *buffers[], void *arg)
{
	int number = (int)(intptr_t)arg, id = starpu_worker_get_id();

	(void)buffers;
	seen.times[number]++;
	seen.worker[number] = id;
	seen.context[number] = one.node->workers[id].running->sched->id;
}

static struct starpu_codelet anywhere = {.cpu_funcs = {note}, .cuda_funcs = {note}};
static struct starpu_codelet on_cpu = {.cpu_funcs = {note}};

static struct starpu_task *make(struct starpu_codelet *cl, int number,
				const struct sched *sched)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	if (sched)
		task->sched_ctx = (unsigned)sched->id;
	return task;
}

static void submit(struct starpu_codelet *cl, int number, const struct sched *sched)
{
	assert_int_equal(starpu_task_submit(make(cl, number, sched)), 0);
}

static void open_node(int ncpus, int ngpus, const char *policy)
{
	one_open(ncpus, ngpus, policy);
	forget();
}

static struct sched *create(const char *policy)
{
	struct sched *sched = contexts_create(
		one.node, sched_find(policy),
		(struct starpu_sched_policy *)&sched_find(policy)->object);

	assert_non_null(sched);
	contexts_start(sched);
	return sched;
}

static void move(int worker, struct sched *to)
{
	contexts_move(&one.node->workers[worker], to);
}

/* ---- one thing each --------------------------------------------------- */

static void expect_workers(const struct sched *sched, int n, const int *ids)
{
	struct worker *worker = sched_worker_from(sched, 0);

	for (int i = 0; i < n; i++) {
		assert_non_null(worker);
		assert_int_equal(worker->id, ids[i]);
		assert_true(sched_has(sched, worker));
		worker = sched_worker_from(sched, worker->id + 1);
	}
	assert_null(worker);
	worker = sched_worker_before(sched, one.node->nworkers);
	for (int i = n - 1; i >= 0; i--) {
		assert_non_null(worker);
		assert_int_equal(worker->id, ids[i]);
		worker = sched_worker_before(sched, worker->id);
	}
	assert_null(worker);
}

/* Across the words that the sets are kept in. */
static void sets_are_walked_both_ways(void **state)
{
	static const int moved[] = {0, 7, 31, 32, 33, 39};
	struct sched *sched;
	int rest[MAX_WORKERS], n = 0;

	(void)state;
	open_node(MAX_WORKERS, 0, "eager");
	sched = create("lws");
	expect_workers(sched, 0, NULL);
	for (int i = 5; i >= 0; i--)
		move(moved[i], sched);
	expect_workers(sched, 6, moved);
	for (int id = 0, i = 0; id < MAX_WORKERS; id++)
		if (i < 6 && moved[i] == id)
			i++;
		else
			rest[n++] = id;
	expect_workers(one.node->scheds[0], n, rest);
	assert_ptr_equal(sched_worker_from(sched, 31), &one.node->workers[31]);
	assert_ptr_equal(sched_worker_before(sched, 32), &one.node->workers[31]);
	assert_null(sched_worker_from(sched, MAX_WORKERS));
	one_close();
}

static void tasks_run_where_they_belong(void **state)
{
	struct sched *sched;

	(void)state;
	for (int i = 0; sched_at(i); i++) {
		open_node(4, 0, "lws");
		sched = create(sched_at(i)->object.policy_name);
		move(1, sched);
		move(3, sched);
		for (int k = 0; k < 40; k++)
			submit(&on_cpu, k, k % 2 ? sched : NULL);
		assert_int_equal(starpu_task_wait_for_all(), 0);
		for (int k = 0; k < 40; k++) {
			assert_int_equal(seen.times[k], 1);
			assert_int_equal(seen.worker[k] % 2, k % 2);
			assert_int_equal(seen.context[k], k % 2);
		}
		one_close();
	}
}

/* They wait for a worker that can run them. */
static void tasks_without_a_worker_wait(void **state)
{
	struct sched *sched;

	(void)state;
	for (int i = 0; sched_at(i); i++) {
		open_node(2, 1, "eager"); /* worker 0: a GPU */
		sched = create(sched_at(i)->object.policy_name);
		submit(&on_cpu, 1, sched);
		submit(&on_cpu, 2, sched);
		submit(&anywhere, 3, sched);
		starpu_do_schedule();
		fake_run();
		assert_int_equal(seen.times[1] + seen.times[2] + seen.times[3], 0);
		move(0, sched);
		fake_run();
		assert_int_equal(seen.worker[3], 0);
		assert_int_equal(seen.times[1] + seen.times[2], 0);
		move(2, sched);
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_int_equal(seen.worker[1], 2);
		assert_int_equal(seen.worker[2], 2);
		one_close();
	}
}

/* What waits for a worker stays with the scheduler when the worker leaves. */
static void what_waits_stays(void **state)
{
	(void)state;
	for (int i = 0; sched_at(i); i++) {
		struct sched *sched;

		open_node(3, 0, sched_at(i)->object.policy_name);
		sched = create("eager");
		starpu_pause();
		for (int k = 0; k < 30; k++)
			submit(&on_cpu, k, NULL);
		move(0, sched);
		move(2, sched);
		starpu_resume();
		assert_int_equal(starpu_task_wait_for_all(), 0);
		for (int k = 0; k < 30; k++) {
			assert_int_equal(seen.times[k], 1);
			assert_int_equal(seen.worker[k], 1);
		}
		one_close();
	}
}

/* A worker ends what it has begun, for whom it has begun it. */
static void a_worker_leaves_between_tasks(void **state)
{
	struct sched *sched;

	(void)state;
	open_node(1, 0, "dmda");
	sched = create("prio");
	submit(&on_cpu, 1, NULL);
	submit(&on_cpu, 2, NULL);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	assert_int_equal(one.node->workers[0].npipeline, 1);
	move(0, sched);
	submit(&on_cpu, 3, sched);
	assert_ptr_equal(one.node->workers[0].pipeline[0]->sched, one.node->scheds[0]);
	fake_run();
	assert_int_equal(seen.context[1], 0);
	assert_int_equal(seen.context[2], NO_CONTEXT);
	assert_int_equal(seen.context[3], sched->id);
	move(0, one.node->scheds[0]);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(seen.context[2], 0);
	one_close();
}

/* Nor does a task for the new scheduler wait for it when somebody else is idle. */
static void who_has_not_come_is_not_woken(void **state)
{
	struct sched *sched;

	(void)state;
	open_node(2, 0, "eager");
	sched = create("eager");
	move(1, sched);
	fake_run();
	submit(&anywhere, 1, NULL);
	fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
	assert_int_equal(one.node->workers[0].npipeline, 1);
	move(0, sched);
	one.node->workers[0].parked = 1;
	submit(&anywhere, 2, sched);
	fake_run();
	assert_int_equal(seen.worker[2], 1);
	one_close();
}

/* Nor is a task lost when who was woken for it leaves before he has looked. */
static void who_stays_takes_what_a_leaver_was_woken_for(void **state)
{
	struct sched *sched;

	(void)state;
	open_node(2, 0, "eager");
	sched = create("eager");
	move(0, sched);
	move(1, sched);
	fake_run();
	submit(&anywhere, 1, sched);
	move(0, one.node->scheds[0]);
	fake_run();
	assert_int_equal(seen.worker[1], 1);
	one_close();
}

static struct sched *next_context;

static void submit_there(void *arg)
{
	(void)arg;
	submit(&on_cpu, 2, next_context);
}

/* A worker keeps what it made ready only when it is its own. */
static void a_task_for_others_goes_to_them(void **state)
{
	(void)state;
	for (int i = 0; sched_at(i); i++) {
		struct starpu_task *task;

		open_node(2, 0, "lws");
		next_context = create(sched_at(i)->object.policy_name);
		move(1, next_context);
		task = make(&on_cpu, 1, NULL);
		task->callback_func = submit_there;
		assert_int_equal(starpu_task_submit(task), 0);
		assert_int_equal(starpu_task_wait_for_all(), 0);
		assert_int_equal(seen.worker[1], 0);
		assert_int_equal(seen.worker[2], 1);
		one_close();
	}
}

/* Whoever works for whom. */
static void bound_tasks_go_to_their_worker(void **state)
{
	struct sched *sched;
	struct starpu_task *task;

	(void)state;
	open_node(2, 0, "dmda");
	sched = create("dmda");
	move(1, sched);
	for (int k = 0; k < 4; k++) {
		task = make(&on_cpu, k, k / 2 ? sched : NULL);
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)k % 2;
		assert_int_equal(starpu_task_submit(task), 0);
	}
	assert_int_equal(starpu_task_wait_for_all(), 0);
	for (int k = 0; k < 4; k++)
		assert_int_equal(seen.worker[k], k % 2);
	one_close();
}

static void priorities_are_those_of_the_policy(void **state)
{
	struct sched *prio, *eager;
	struct starpu_task *task;

	(void)state;
	open_node(1, 0, "lws");
	prio = create("prio");
	eager = create("eager");
	task = make(&on_cpu, 1, prio);
	task->destroy = task->detach = 0;
	task->priority = 7;
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(task->priority, 7);
	move(0, prio);
	assert_int_equal(starpu_task_wait(task), 0);
	task->sched_ctx = (unsigned)eager->id;
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(task->priority, 0);
	move(0, eager);
	assert_int_equal(starpu_task_wait(task), 0);
	starpu_task_destroy(task);
	one_close();
}

static void numbers_are_given_again(void **state)
{
	struct sched *scheds[STARPU_NMAX_SCHED_CTXS];
	struct starpu_task *task;

	(void)state;
	open_node(3, 0, "lws");
	for (int i = 1; i < STARPU_NMAX_SCHED_CTXS; i++) {
		scheds[i] = create(i % 2 ? "lws" : "dmda");
		assert_int_equal(scheds[i]->id, i);
		move(i % 3, scheds[i]);
	}
	assert_null(contexts_create(one.node, sched_find("eager"), NULL));
	submit(&on_cpu, 1, scheds[4]);
	assert_int_equal(contexts_delete(scheds[4], scheds[5]), -EBUSY);
	move(1, scheds[4]);
	fake_run();
	assert_int_equal(seen.context[1], 4);
	assert_int_equal(contexts_delete(scheds[4], scheds[5]), 0);
	assert_true(sched_has(scheds[5], &one.node->workers[1]));
	scheds[4] = create("prio");
	assert_int_equal(scheds[4]->id, 4);
	move(2, scheds[4]);
	task = make(&on_cpu, 2, NULL);
	task->sched_ctx = 4;
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(seen.context[2], 4);
	one_close();
}

/* A policy of the application's, in a context of its own, is told who comes and goes, and
 * finds what it keeps until the end. */
static struct {
	struct starpu_task_list list;
	int ninits, ndeinits, nworkers;
} own_seen;

static void own_init(unsigned ctx)
{
	starpu_task_list_init(&own_seen.list);
	starpu_sched_ctx_set_policy_data(ctx, &own_seen);
	own_seen.ninits++;
}

static void own_deinit(unsigned ctx)
{
	assert_ptr_equal(starpu_sched_ctx_get_policy_data(ctx), &own_seen);
	own_seen.ndeinits++;
}

static int own_push(struct starpu_task *task)
{
	starpu_task_list_push_back(&own_seen.list, task);
	return starpu_push_task_end(task);
}

static struct starpu_task *own_pop(unsigned ctx)
{
	assert_true(starpu_sched_ctx_contains_worker(starpu_worker_get_id(), ctx));
	return starpu_task_list_pop_front(&own_seen.list);
}

static void own_come(unsigned ctx, int *ids, unsigned n)
{
	(void)ctx;
	(void)ids;
	own_seen.nworkers += (int)n;
}

static void own_go(unsigned ctx, int *ids, unsigned n)
{
	/* While the policy hears of them they are still seen, as by StarPU. */
	assert_true(starpu_sched_ctx_contains_worker(ids[0], ctx));
	own_seen.nworkers -= (int)n;
}

static struct starpu_sched_policy own_policy = {
	.init_sched = own_init,
	.deinit_sched = own_deinit,
	.push_task = own_push,
	.pop_task = own_pop,
	.add_workers = own_come,
	.remove_workers = own_go,
	.policy_name = "own",
};

static void an_own_policy_has_a_context(void **state)
{
	struct sched *sched;

	(void)state;
	open_node(3, 0, "eager");
	sched = contexts_create(one.node, &sched_own, &own_policy);
	contexts_start(sched);
	assert_int_equal(sched->id, 1);
	move(1, sched);
	move(2, sched);
	assert_int_equal(own_seen.nworkers, 2);
	assert_int_equal(starpu_sched_ctx_get_nworkers(1), 2);
	assert_ptr_equal(starpu_sched_ctx_get_sched_policy(1), &own_policy);
	for (int i = 0; i < 10; i++)
		submit(&on_cpu, i, sched);
	fake_run();
	for (int i = 0; i < 10; i++)
		assert_int_equal(seen.context[i], 1);
	move(2, one.node->scheds[0]);
	assert_int_equal(own_seen.nworkers, 1);
	assert_int_equal(starpu_sched_ctx_get_nworkers(1), 1);
	assert_int_equal(contexts_delete(sched, one.node->scheds[0]), 0);
	fake_run();
	assert_int_equal(own_seen.nworkers, 0);
	assert_int_equal(own_seen.ninits, 1);
	assert_int_equal(own_seen.ndeinits, 1);
	assert_null(contexts_find(one.node, 1));
	one_close();
}

static int nclosed;

static void count_close(struct sched *sched)
{
	nclosed++;
	sched_eager.close(sched);
}

/* Whoever used it last: the worker that follows, who deletes it. */
static void who_is_left_by_all_is_closed(void **state)
{
	struct sched_ops counted = sched_eager;
	struct sched *sched;

	(void)state;
	counted.close = count_close;
	for (int works = 0; works < 2; works++) {
		open_node(2, 0, "eager");
		nclosed = 0;
		sched = contexts_create(one.node, &counted, &counted.object);
		contexts_start(sched);
		move(0, sched);
		submit(&on_cpu, 1, sched);
		fake_run();
		assert_int_equal(seen.worker[1], 0);
		if (works) {
			struct starpu_task *task = make(&on_cpu, 2, NULL);

			task->execute_on_a_specific_worker = 1;
			task->workerid = 0;
			assert_int_equal(starpu_task_submit(task), 0);
			fake_run_until(fake_now_s() + 0.5 * fake_machine()->task_s);
		}
		assert_int_equal(contexts_delete(sched, one.node->scheds[0]), 0);
		assert_int_equal(nclosed, 0); /* The worker is still there. */
		fake_run();
		assert_int_equal(nclosed, 1);
		one_close();
		assert_int_equal(nclosed, 1);
	}
}

/* ---- random programs -------------------------------------------------- */

static struct {
	unsigned random;
	int nsubmitted, nscheds;
	int wanted[MAX_TASKS]; /* scheduler; NO_CONTEXT: bound to a worker */
	int only[MAX_TASKS];   /* the worker, or -1 */
	struct sched *scheds[STARPU_NMAX_SCHED_CTXS];
} program;

static int draw(int n)
{
	program.random = program.random * 1103515245u + 12345u;
	return (int)((program.random >> 8) % (unsigned)n);
}

static starpu_data_handle_t shared;
static void act(void *arg);
static void work(void *buffers[], void *arg);

static struct starpu_codelet plain = {.cpu_funcs = {work}, .cuda_funcs = {work}};
static struct starpu_codelet cpu_only = {.cpu_funcs = {work}};
static struct starpu_codelet alone = {
	.cpu_funcs = {work}, .cuda_funcs = {work}, .nbuffers = 1, .modes = {STARPU_RW}};

static void submit_random(void)
{
	struct starpu_codelet *const codelets[] = {&plain, &cpu_only, &alone};
	int number = program.nsubmitted, kind = draw(3);
	struct sched *sched = program.scheds[draw(program.nscheds)];
	struct starpu_task *task;

	if (number == MAX_TASKS)
		return;
	program.nsubmitted++;
	task = make(codelets[kind], number, sched);
	task->priority = draw(5);
	program.wanted[number] = sched->id;
	program.only[number] = -1;
	if (kind == 2)
		task->handles[0] = shared;
	if (draw(8) == 0) {
		/* 0, a GPU, is the first. */
		task->workerid = 1 + (unsigned)draw(one.node->nworkers - 1);
		task->execute_on_a_specific_worker = 1;
		program.wanted[number] = NO_CONTEXT;
		program.only[number] = (int)task->workerid;
	}
	if (draw(6) == 0)
		task->callback_func = act;
	assert_int_equal(starpu_task_submit(task), 0);
}

static void act(void *arg)
{
	(void)arg;
	struct worker *worker = &one.node->workers[draw(one.node->nworkers)];
	struct sched *sched = program.scheds[draw(program.nscheds)];

	switch (draw(6)) {
	case 0:
		contexts_move(worker, sched);
		break;
	case 1:
		contexts_add(sched, &worker->id, 1);
		worker->ranks[sched->id] = (unsigned char)draw(2);
		break;
	case 2:
		contexts_remove(sched, &worker->id, 1);
		break;
	default:
		submit_random();
		break;
	}
}

static void work(void *buffers[], void *arg)
{
	note(buffers, arg);
	if (draw(5) == 0)
		act(NULL);
}

static void check_all(void)
{
	for (int k = 0; k < program.nsubmitted; k++) {
		assert_int_equal(seen.times[k], 1);
		if (program.wanted[k] != NO_CONTEXT)
			assert_int_equal(seen.context[k], program.wanted[k]);
		if (program.only[k] >= 0)
			assert_int_equal(seen.worker[k], program.only[k]);
	}
}

/* Each scheduler gets all workers for a while, so that its tasks can end. */
static void finish_all(void)
{
	for (int i = 0; i < program.nscheds; i++)
		for (int round = 0; round < 50; round++) {
			for (int w = 0; w < one.node->nworkers; w++)
				move(w, program.scheds[i]);
			fake_run();
		}
}

static double some_time_s(const struct worker *worker, const struct job *job)
{
	(void)worker;
	(void)job;
	return 1e-7 * (1 + draw(20));
}

static void play(unsigned long seed)
{
	int npolicies = 0;

	while (sched_at(npolicies))
		npolicies++;
	program.random = (unsigned)seed;
	program.nsubmitted = 0;
	open_node(2 + draw(4), 1, sched_at(draw(npolicies))->object.policy_name);
	fake_machine()->duration_s = some_time_s;
	starpu_void_data_register(&shared);
	starpu_data_set_sequential_consistency_flag(shared, 0);
	program.scheds[0] = one.node->scheds[0];
	program.nscheds = 2 + draw(3);
	for (int i = 1; i < program.nscheds; i++)
		program.scheds[i] = create(sched_at(draw(npolicies))->object.policy_name);
	for (int i = 0; i < 200; i++) {
		if (draw(3))
			submit_random();
		else
			act(NULL);
		if (draw(4) == 0)
			for (int n = draw(10); n > 0; n--)
				fake_step();
	}
	do {
		starpu_do_schedule();
		finish_all();
	} while (node_nsubmitted(one.node) > 0);
	check_all();
	for (int i = program.nscheds - 1; i > 0; i--) {
		assert_int_equal(contexts_delete(program.scheds[i], program.scheds[0]),
				 0);
		if (draw(2))
			fake_run();
	}
	submit(&on_cpu, MAX_TASKS - 1, NULL);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	starpu_data_unregister(shared);
	one_close();
}

static void random_programs(void **state)
{
	const char *only = getenv("SEED");
	unsigned long first = only ? strtoul(only, NULL, 10) : 1;

	(void)state;
	for (unsigned long seed = first; seed < first + (only ? 1 : NSEEDS); seed++) {
		print_message("seed %lu\n", seed);
		play(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_walked_both_ways),
		cmocka_unit_test(tasks_run_where_they_belong),
		cmocka_unit_test(tasks_without_a_worker_wait),
		cmocka_unit_test(what_waits_stays),
		cmocka_unit_test(a_worker_leaves_between_tasks),
		cmocka_unit_test(who_has_not_come_is_not_woken),
		cmocka_unit_test(who_stays_takes_what_a_leaver_was_woken_for),
		cmocka_unit_test(a_task_for_others_goes_to_them),
		cmocka_unit_test(bound_tasks_go_to_their_worker),
		cmocka_unit_test(priorities_are_those_of_the_policy),
		cmocka_unit_test(numbers_are_given_again),
		cmocka_unit_test(an_own_policy_has_a_context),
		cmocka_unit_test(who_is_left_by_all_is_closed),
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
