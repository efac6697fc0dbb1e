/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Scheduling contexts as a program uses them: starpu_sched_ctx.h. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <starpu_sched_ctx.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 4, NTASKS = 40, NOBODY = -1 };

static int workers[NTASKS], order[NTASKS], norder;

static void note(void *buffers[], void *arg)
{
	int number = (int)(intptr_t)arg;

	(void)buffers;
	workers[number] = starpu_worker_get_id();
	order[number] = STARPU_ATOMIC_ADD(&norder, 1);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 100;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "contexts"};
static struct starpu_codelet cl = {
	.cpu_funcs = {note}, .cpu_funcs_name = {"note"}, .model = &model};

static void begin(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = NWORKERS;
	conf.sched_policy_name = "lws";
	if (starpu_init(&conf) != 0 || starpu_cpu_worker_get_count() != NWORKERS)
		exit(77);
	norder = 0;
	for (int i = 0; i < NTASKS; i++)
		workers[i] = order[i] = NOBODY;
}

static struct starpu_task *make(int number)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->cl_arg = (void *)(intptr_t)number;
	return task;
}

static void submit(int number, unsigned ctx)
{
	CLAIM_EQ(starpu_task_submit_to_ctx(make(number), ctx), 0);
}

/* Tasks from first on, before end, ran on workers of the mask. */
static void expect_on(int first, int end, unsigned mask)
{
	for (int i = first; i < end; i++)
		CLAIM(workers[i] != NOBODY && (mask >> workers[i] & 1));
}

static unsigned mask_of(unsigned ctx)
{
	int *ids;
	unsigned mask = 0, n = starpu_sched_ctx_get_workers_list(ctx, &ids);

	for (unsigned i = 0; i < n; i++)
		mask |= 1u << ids[i];
	free(ids);
	CLAIM_EQ(n, starpu_sched_ctx_get_nworkers(ctx));
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(starpu_sched_ctx_contains_worker(i, ctx), mask >> i & 1);
	return mask;
}

static unsigned create(const char *policy, int first, int n)
{
	int ids[NWORKERS] = {0, 1, 2, 3};

	return starpu_sched_ctx_create(ids + first, n, "test",
				       STARPU_SCHED_CTX_POLICY_NAME, policy, 0);
}

static void take_away(unsigned ctx, int first, int n)
{
	int ids[NWORKERS] = {0, 1, 2, 3};

	starpu_sched_ctx_remove_workers(ids + first, (unsigned)n, ctx);
}

/* ---- claims ---------------------------------------------------------- */

static void tell_context(void *buffers[], void *arg)
{
	(void)buffers;
	*(unsigned *)arg = starpu_task_get_current()->sched_ctx;
}

static struct starpu_codelet tell_cl = {.cpu_funcs = {tell_context},
					.cpu_funcs_name = {"tell_context"},
					.flags = STARPU_CODELET_SIMGRID_EXECUTE};

/* Also the global one; where it was submitted first, there a task stays. */
static void tasks_know_their_context(void)
{
	struct starpu_task *task;
	unsigned told = NOBODY, ctx;

	begin();
	ctx = create("eager", 0, 2);
	task = starpu_task_create();
	task->cl = &tell_cl;
	task->cl_arg = &told;
	task->detach = task->destroy = 0;
	CLAIM_EQ(task->sched_ctx, STARPU_NMAX_SCHED_CTXS);
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(task->sched_ctx, 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM_EQ(told, 0);
	told = NOBODY;
	starpu_sched_ctx_set_context(&ctx);
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM_EQ(told, 0);
	starpu_task_destroy(task);
	CLAIM_EQ(starpu_task_insert(&tell_cl, STARPU_CL_ARGS_NFREE, &told, sizeof(told),
				    0),
		 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(told, ctx);
	starpu_sched_ctx_set_context(NULL);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void tasks_run_in_their_context(void)
{
	unsigned left, right;

	begin();
	left = create("eager", 0, 2);
	right = create("dmda", 2, 2);
	for (int i = 0; i < 10; i++)
		CLAIM_EQ(starpu_task_insert(&cl, STARPU_SCHED_CTX, left,
					    STARPU_CL_ARGS_NFREE, (void *)(intptr_t)i,
					    sizeof(void *), 0),
			 0);
	for (int i = 10; i < 20; i++)
		submit(i, right);
	starpu_sched_ctx_set_context(&right);
	CLAIM_EQ(starpu_sched_ctx_get_context(), right);
	for (int i = 20; i < 30; i++)
		CLAIM_EQ(starpu_task_submit(make(i)), 0);
	starpu_sched_ctx_set_context(NULL);
	CLAIM_EQ(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
	for (int i = 30; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_submit(make(i)), 0);
	starpu_task_wait_for_all();
	expect_on(0, 10, 3);
	expect_on(10, 30, 12);
	expect_on(30, NTASKS, 15);
	starpu_sched_ctx_delete(left);
	starpu_sched_ctx_delete(right);
	starpu_shutdown();
}

/* A worker of two contexts takes tasks of both. */
static void workers_are_shared(void)
{
	unsigned one, two;

	begin();
	take_away(0, 0, NWORKERS);
	one = create("prio", 1, 2);
	two = create("lws", 2, 1);
	CLAIM_EQ(mask_of(0), 0);
	CLAIM_EQ(mask_of(one), 6);
	CLAIM_EQ(mask_of(two), 4);
	CLAIM_EQ(starpu_sched_ctx_get_nshared_workers(one, two), 1);
	CLAIM_EQ(starpu_sched_ctx_overlapping_ctxs_on_worker(2), 1);
	CLAIM_EQ(starpu_sched_ctx_overlapping_ctxs_on_worker(1), 0);
	for (int i = 0; i < NTASKS; i++)
		submit(i, i % 2 ? two : one);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		expect_on(i, i + 1, i % 2 ? 4 : 6);
	starpu_sched_ctx_delete(one);
	starpu_sched_ctx_delete(two);
	/* Who belongs to nobody is the initial one's. */
	CLAIM_EQ(mask_of(0), 6);
	starpu_shutdown();
}

static void ranks_say_who_goes_first(void)
{
	unsigned ctx;
	int only = 0;

	begin();
	take_away(0, 1, NWORKERS - 1);
	ctx = create("eager", 0, 1);
	starpu_sched_ctx_set_priority(&only, 1, ctx, 2);
	CLAIM_EQ(starpu_sched_ctx_get_priority(0, ctx), 2);
	CLAIM_EQ(starpu_sched_ctx_get_priority(0, 0), 0);
	starpu_pause();
	for (int i = 0; i < 10; i++)
		submit(i, i % 2 ? ctx : 0);
	starpu_resume();
	starpu_task_wait_for_all();
	for (int i = 0; i < 10; i++)
		CLAIM_EQ((order[i] - 1) / 5, i % 2 == 0);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void equal_ranks_take_turns(void)
{
	unsigned ctx;

	begin();
	take_away(0, 1, NWORKERS - 1);
	ctx = create("eager", 0, 1);
	starpu_pause();
	for (int i = 0; i < 20; i++)
		submit(i, i < 10 ? ctx : 0);
	starpu_resume();
	starpu_task_wait_for_all();
	for (int i = 0; i < 9; i++)
		CLAIM(order[i] < order[i + 11] && order[i + 10] < order[i + 1]);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* Tasks of other contexts may stay blocked meanwhile. */
static void one_waits_for_a_context(void)
{
	struct starpu_task *blocked;
	unsigned ctx;

	begin();
	ctx = create("ws", 1, 3);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	blocked = make(0);
	blocked->use_tag = 1;
	blocked->tag_id = 1;
	CLAIM_EQ(starpu_task_submit(blocked), 0);
	for (int i = 1; i < NTASKS; i++)
		submit(i, ctx);
	starpu_task_wait_for_all_in_ctx(ctx);
	CLAIM_EQ(norder, NTASKS - 1);
	CLAIM_EQ(starpu_task_nsubmitted(), 1);
	submit(1, ctx);
	starpu_sched_ctx_set_context(&ctx);
	starpu_task_wait_for_all();
	starpu_sched_ctx_set_context(NULL);
	CLAIM_EQ(starpu_task_nsubmitted(), 1);
	submit(2, ctx);
	starpu_sched_ctx_delete(ctx); /* Waits, too. */
	CLAIM_EQ(norder, NTASKS + 1);
	starpu_tag_notify_from_apps(2);
	starpu_task_wait_for_all_in_ctx(0);
	CLAIM_EQ(starpu_task_nsubmitted(), 0);
	starpu_shutdown();
}

static void workers_come_and_go(void)
{
	int ids[2] = {0, 3};
	unsigned ctx;

	begin();
	ctx = create("dmdas", 1, 1);
	starpu_sched_ctx_add_workers(ids, 2, ctx);
	CLAIM_EQ(mask_of(ctx), 11);
	take_away(ctx, 0, 2);
	CLAIM_EQ(mask_of(ctx), 8);
	for (int i = 0; i < NTASKS; i++)
		submit(i, ctx);
	starpu_task_wait_for_all();
	expect_on(0, NTASKS, 8);
	/* What waits goes to who comes. */
	take_away(ctx, 3, 1);
	for (int i = 0; i < NTASKS; i++)
		submit(i, ctx);
	starpu_sched_ctx_add_workers(ids, 1, ctx);
	starpu_task_wait_for_all();
	expect_on(0, NTASKS, 1);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void policies_have_their_priorities(void)
{
	int ids[1] = {0};
	struct starpu_task *task;
	unsigned ctx;

	begin();
	ctx = starpu_sched_ctx_create(ids, 1, "prio", STARPU_SCHED_CTX_POLICY_NAME,
				      "prio", STARPU_SCHED_CTX_POLICY_MIN_PRIO, -2,
				      STARPU_SCHED_CTX_POLICY_MAX_PRIO, 5,
				      STARPU_SCHED_CTX_USER_DATA, &norder, 0);
	CLAIM_EQ(starpu_sched_ctx_get_min_priority(ctx), -2);
	CLAIM_EQ(starpu_sched_ctx_get_max_priority(ctx), 5);
	CLAIM(starpu_sched_ctx_get_user_data(ctx) == &norder);
	CLAIM_EQ(strcmp(starpu_sched_ctx_get_sched_policy(ctx)->policy_name, "prio"), 0);
	task = make(0);
	task->priority = 100;
	task->destroy = task->detach = 0;
	CLAIM_EQ(starpu_task_submit_to_ctx(task, ctx), 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM_EQ(task->priority, 5);
	CLAIM_EQ(starpu_sched_ctx_get_ctx_for_task(task), ctx);
	starpu_task_destroy(task);
	take_away(0, 0, 1);
	starpu_pause();
	for (int i = 0; i < 6; i++) {
		task = make(i);
		task->priority = i;
		CLAIM_EQ(starpu_task_submit_to_ctx(task, ctx), 0);
	}
	starpu_resume();
	starpu_task_wait_for_all();
	for (int i = 0; i < 5; i++)
		CLAIM(order[i + 1] < order[i]);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static int nends;
static unsigned ended;

static void note_end(unsigned ctx, void *arg)
{
	CLAIM(arg == &nends);
	ended = ctx;
	nends++;
}

static void heirs_get_the_workers(void)
{
	unsigned ctx, heir;

	begin();
	take_away(0, 0, 2);
	ctx = create("eager", 0, 2);
	heir = create("eager", 2, 1);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(ctx), STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_set_inheritor(ctx, heir);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(ctx), heir);
	starpu_sched_ctx_register_close_callback(ctx, note_end, &nends);
	nends = 0;
	for (int i = 0; i < NTASKS; i++)
		submit(i, ctx);
	starpu_sched_ctx_finished_submit(ctx);
	starpu_task_wait_for_all();
	CLAIM_EQ(nends, 1);
	CLAIM_EQ(ended, ctx);
	CLAIM_EQ(mask_of(heir), 7);
	/* It has its workers as well until it is deleted: it may go on, and end again. */
	CLAIM_EQ(mask_of(ctx), 3);
	submit(0, ctx);
	starpu_task_wait_for_all();
	CLAIM_EQ(nends, 1);
	starpu_sched_ctx_finished_submit(ctx);
	CLAIM_EQ(nends, 2);
	starpu_sched_ctx_delete(ctx);
	CLAIM_EQ(nends, 2);
	nends = 1;
	ctx = create("eager", 3, 1);
	starpu_sched_ctx_register_close_callback(ctx, note_end, &nends);
	starpu_sched_ctx_delete(ctx);
	CLAIM_EQ(nends, 2);
	CLAIM_EQ(mask_of(0), 12);
	starpu_sched_ctx_delete(heir);
	CLAIM_EQ(mask_of(0), 15);
	starpu_shutdown();
}

/* A number comes to another context when its own is deleted. */
static void heirs_that_have_gone_do_not_inherit(void)
{
	unsigned outer, middle, inner, other;

	begin();
	outer = create("eager", 0, 1);
	middle = create("eager", 1, 1);
	inner = create("eager", 2, 2);
	take_away(0, 2, 2);
	starpu_sched_ctx_set_inheritor(inner, middle);
	starpu_sched_ctx_set_inheritor(middle, outer);
	starpu_sched_ctx_delete(middle);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(inner), outer);
	starpu_sched_ctx_delete(outer);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(inner), STARPU_NMAX_SCHED_CTXS);
	other = create("eager", 0, 1);
	CLAIM_EQ(other, outer);
	starpu_sched_ctx_finished_submit(inner);
	CLAIM_EQ(mask_of(inner), 12);
	starpu_sched_ctx_delete(inner);
	CLAIM_EQ(mask_of(other), 1);
	CLAIM_EQ(mask_of(0), 15);
	starpu_sched_ctx_set_inheritor(other, 0);
	starpu_sched_ctx_set_inheritor(other, STARPU_NMAX_SCHED_CTXS);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(other), STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_delete(other);
	starpu_shutdown();
}

static void contexts_are_nested(void)
{
	int ids[2] = {0, 1};
	unsigned outer, inner;

	begin();
	outer = create("eager", 0, 2);
	inner = starpu_sched_ctx_create(ids, 1, "inner", STARPU_SCHED_CTX_POLICY_NAME,
					"eager", STARPU_SCHED_CTX_NESTED, outer, 0);
	CLAIM_EQ(starpu_sched_ctx_get_hierarchy_level(0), 0);
	CLAIM_EQ(starpu_sched_ctx_get_hierarchy_level(outer), 0);
	CLAIM_EQ(starpu_sched_ctx_get_hierarchy_level(inner), 1);
	CLAIM_EQ(starpu_sched_ctx_get_inheritor(inner), outer);
	take_away(outer, 0, 1);
	starpu_sched_ctx_delete(inner);
	CLAIM_EQ(mask_of(outer), 3);
	starpu_sched_ctx_delete(outer);
	starpu_shutdown();
}

static void expect_ready(unsigned ctx, int n)
{
	CLAIM_EQ(starpu_sched_ctx_get_nready_tasks(ctx), n);
}

static void submit_after(int number, unsigned ctx, struct starpu_task *before)
{
	struct starpu_task *task = make(number);

	if (before)
		starpu_task_declare_deps_array(task, 1, &before);
	CLAIM_EQ(starpu_task_submit_to_ctx(task, ctx), 0);
}

/* Those that wait for another task are not. */
static void ready_tasks_are_counted(void)
{
	struct starpu_task *first;
	unsigned ctx;

	begin();
	ctx = create("prio", 1, 2);
	first = make(0);
	first->destroy = 0;
	starpu_pause();
	for (int i = 1; i < 6; i++)
		submit_after(i, ctx, NULL);
	expect_ready(ctx, 5);
	submit_after(6, ctx, first);
	submit_after(7, 0, first);
	expect_ready(ctx, 5);
	expect_ready(0, 0);
	CLAIM_EQ(starpu_task_submit_to_ctx(first, ctx), 0);
	expect_ready(ctx, 6);
	submit_after(8, 0, NULL);
	expect_ready(0, 1);
	CLAIM_EQ(starpu_task_nready(), 7);
	starpu_resume();
	starpu_task_wait_for_all();
	expect_ready(ctx, 0);
	expect_ready(0, 0);
	starpu_task_destroy(first);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void expect_contexts(int worker, unsigned mask)
{
	unsigned *list, n = starpu_worker_get_sched_ctx_list(worker, &list), seen = 0;

	CLAIM_EQ(n, (unsigned)__builtin_popcount(mask));
	for (unsigned i = 0; i < n; i++)
		seen |= 1u << list[i];
	CLAIM_EQ(seen, mask);
	free(list);
}

static void workers_know_their_contexts(void)
{
	unsigned one, two;

	begin();
	expect_contexts(0, 1);
	one = create("eager", 1, 2);
	two = create("eager", 2, 2);
	expect_contexts(0, 1);
	expect_contexts(1, 1 | 1u << one);
	expect_contexts(2, 1 | 1u << one | 1u << two);
	starpu_sched_ctx_delete(one);
	expect_contexts(2, 1 | 1u << two);
	starpu_sched_ctx_delete(two);
	starpu_shutdown();
}

/* ---- without a policy ------------------------------------------------ */

static void without_a_policy_a_master_runs_the_tasks(void)
{
	int ids[2] = {1, 2};
	unsigned ctx, awake = 7;

	begin();
	ctx = starpu_sched_ctx_create(ids, 2, "cores", STARPU_SCHED_CTX_NESTED, 0u, 0);
	CLAIM_EQ(starpu_sched_ctx_has_starpu_scheduler(ctx, &awake), 0);
	CLAIM_EQ(awake, 0);
	CLAIM_EQ(starpu_sched_ctx_has_starpu_scheduler(0, NULL), 1);
	CLAIM(starpu_sched_ctx_get_sched_policy(ctx) == NULL);
	CLAIM_EQ(starpu_sched_ctx_master_get_context(1), ctx);
	CLAIM_EQ(starpu_sched_ctx_worker_is_master_for_child_ctx(1, 0), ctx);
	CLAIM_EQ(starpu_sched_ctx_master_get_context(2), STARPU_NMAX_SCHED_CTXS);
	CLAIM_EQ(mask_of(ctx), 6);
	for (int i = 0; i < NTASKS; i++)
		submit(i, i % 2 ? ctx : 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		expect_on(i, i + 1, i % 2 ? 2 : 11); /* Worker 2 sleeps. */
	starpu_sched_ctx_delete(ctx);
	take_away(0, 0, 2);
	take_away(0, 3, 1);
	for (int i = 0; i < NTASKS; i++)
		submit(i, 0);
	starpu_task_wait_for_all();
	expect_on(0, NTASKS, 4);
	starpu_shutdown();
}

static int nparts[2], seen_ranks;

static void do_part(void *buffers[], void *arg)
{
	int rank = starpu_sched_ctx_get_worker_rank(*(unsigned *)arg);

	(void)buffers;
	STARPU_ATOMIC_ADD(&nparts[rank], 1);
	STARPU_ATOMIC_OR(&seen_ranks, 1 << rank);
}

/* Each kernel is called by all of them. */
static void awake_workers_share_each_task(void)
{
	static struct starpu_codelet parts = {
		.cpu_funcs = {do_part}, .cpu_funcs_name = {"do_part"}, .model = &model};
	int ids[2] = {1, 2};
	unsigned ctx, awake = 7;

	begin();
	ctx = starpu_sched_ctx_create(ids, 2, "cores", STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
	CLAIM_EQ(starpu_sched_ctx_has_starpu_scheduler(ctx, &awake), 0);
	CLAIM_EQ(awake, 1);
	for (int i = 0; i < NTASKS; i++) {
		starpu_task_insert(&parts, STARPU_SCHED_CTX, ctx, STARPU_CL_ARGS_NFREE,
				   &ctx, sizeof(ctx), 0);
		submit(i, 0);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(seen_ranks, 3);
	CLAIM_EQ(nparts[0], NTASKS);
	CLAIM_EQ(nparts[1], NTASKS);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void *in_parallel(void *arg)
{
	unsigned ctx = *(unsigned *)arg;
	int *cpuids, n, before = norder;

	starpu_sched_ctx_get_available_cpuids(ctx, &cpuids, &n);
	CLAIM_EQ(n, 2);
	free(cpuids);
	for (int i = 0; i < 10; i++)
		submit(i, ctx);
	for (int i = 10; i < 20; i++)
		submit(i, 0);
	starpu_task_wait_for_all_in_ctx(0);
	CLAIM_EQ(norder, before + 10);
	expect_on(10, 20, 12);
	return &norder;
}

/* Nobody touches their cores meanwhile. */
static void parallel_code_has_the_cores(void)
{
	unsigned ctx;

	begin();
	ctx = create("lws", 0, 2);
	for (int i = 0; i < NTASKS; i++)
		submit(i, ctx);
	CLAIM(starpu_sched_ctx_exec_parallel_code(in_parallel, &ctx, ctx) == &norder);
	starpu_task_wait_for_all();
	expect_on(0, 10, 3);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* ---- many ------------------------------------------------------------ */

static unsigned contexts[STARPU_NMAX_SCHED_CTXS];

static void submit_next(void *arg)
{
	int number = (int)(intptr_t)arg;

	if (number + 1 < NTASKS) {
		struct starpu_task *task = make(number + 1);

		task->callback_func = submit_next;
		task->callback_arg = (void *)(intptr_t)(number + 1);
		CLAIM_EQ(starpu_task_submit_to_ctx(task, contexts[(number + 9) % 9 + 1]),
			 0);
	}
}

static void as_many_as_there_may_be(void)
{
	begin();
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i < STARPU_NMAX_SCHED_CTXS; i++)
			contexts[i] = create(i % 2 ? "dmda" : "ws", i % NWORKERS, 1);
		submit_next((void *)(intptr_t)-1);
		starpu_task_wait_for_all();
		for (int i = 0; i < NTASKS; i++)
			expect_on(i, i + 1, 1u << ((i + 8) % 9 + 1) % NWORKERS);
		for (int i = 1; i < STARPU_NMAX_SCHED_CTXS; i++)
			starpu_sched_ctx_delete(contexts[i]);
		CLAIM_EQ(mask_of(0), 15);
	}
	starpu_shutdown();
}

static void the_library_chooses_workers(void)
{
	unsigned first, second;

	begin();
	first = starpu_sched_ctx_create_inside_interval("eager", "first", 1, 3, 0, 0, 0);
	CLAIM_EQ(mask_of(first), 7);
	second =
		starpu_sched_ctx_create_inside_interval("eager", "second", 2, 2, 0, 0, 1);
	CLAIM_EQ(mask_of(second), 9);
	starpu_sched_ctx_delete(first);
	starpu_sched_ctx_delete(second);
	first = starpu_sched_ctx_create(NULL, -1, "all", STARPU_SCHED_CTX_POLICY_NAME, "",
					0);
	second = starpu_sched_ctx_create(NULL, 0, "none", STARPU_SCHED_CTX_POLICY_NAME,
					 "eager", 0);
	CLAIM_EQ(mask_of(first), 15);
	CLAIM_EQ(mask_of(second), 0);
	starpu_sched_ctx_delete(first);
	starpu_sched_ctx_delete(second);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"tasks know their context", tasks_know_their_context},
	{"tasks run in their context", tasks_run_in_their_context},
	{"workers are shared", workers_are_shared},
	{"ranks say who goes first", ranks_say_who_goes_first},
	{"equal ranks take turns", equal_ranks_take_turns},
	{"one waits for a context", one_waits_for_a_context},
	{"workers come and go", workers_come_and_go},
	{"policies have their priorities", policies_have_their_priorities},
	{"heirs get the workers", heirs_get_the_workers},
	{"heirs that have gone do not inherit", heirs_that_have_gone_do_not_inherit},
	{"contexts are nested", contexts_are_nested},
	{"ready tasks are counted", ready_tasks_are_counted},
	{"workers know their contexts", workers_know_their_contexts},
	{"without a policy a master runs the tasks",
	 without_a_policy_a_master_runs_the_tasks},
	{"awake workers share each task", awake_workers_share_each_task},
	{"parallel code has the cores", parallel_code_has_the_cores},
	{"as many as there may be", as_many_as_there_may_be},
	{"the library chooses workers", the_library_chooses_workers},
	{NULL, NULL}};

int main(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	return claims_run(claims, 0);
}
