/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Policies that are made of a predefined one: each hook counts, and calls the other's.
 * All predefined policies in turn, as the one of the program and of contexts, two of
 * which have different ones inside and pass a worker on while there are tasks; and copies
 * with nothing but another name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#ifdef STARPU_SIMGRID
enum { is_simulated = 1 };
#else
enum { is_simulated = 0 };
#endif
enum { NTASKS = 60, NHANDLES = 4, NPASSES = 6 };
enum hook { INIT, DEINIT, PUSH, POP, PRE, POST, COME, LEAVE, NHOOKS };

static struct starpu_sched_policy *inside[STARPU_NMAX_SCHED_CTXS], *next;
static int counts[STARPU_NMAX_SCHED_CTXS][NHOOKS], nrun, nforeseen, nbad;

static void count(unsigned ctx, enum hook hook)
{
	__atomic_add_fetch(&counts[ctx][hook], 1, __ATOMIC_SEQ_CST);
}

static void init(unsigned ctx)
{
	memset(counts[ctx], 0, sizeof(counts[ctx]));
	inside[ctx] = next;
	count(ctx, INIT);
	next->init_sched(ctx);
}

static void deinit(unsigned ctx)
{
	count(ctx, DEINIT);
	inside[ctx]->deinit_sched(ctx);
}

/* The end that the other one foresees is its duration away, or further. */
static void foresee(struct starpu_task *task, double (*simulate)(struct starpu_task *))
{
	double now = starpu_timing_now(), end = simulate(task);

	__atomic_add_fetch(&nforeseen, 1, __ATOMIC_SEQ_CST);
	if (!(end >= now + 49.999 && end < now + 1e9))
		__atomic_add_fetch(&nbad, 1, __ATOMIC_SEQ_CST);
}

static int push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;

	count(ctx, PUSH);
	if (inside[ctx]->simulate_push_task)
		foresee(task, inside[ctx]->simulate_push_task);
	return inside[ctx]->push_task(task);
}

static struct starpu_task *pop(unsigned ctx)
{
	struct starpu_task *task = NULL;

	/* StarPU's random has none. */
	if (inside[ctx]->pop_task)
		task = inside[ctx]->pop_task(ctx);
	if (task)
		count(ctx, POP);
	return task;
}

static void notify(struct starpu_task *task, int worker, int perf_worker, unsigned ctx)
{
	if (inside[ctx]->push_task_notify)
		inside[ctx]->push_task_notify(task, worker, perf_worker, ctx);
}

static void pre(struct starpu_task *task, unsigned ctx)
{
	count(ctx, PRE);
	if (inside[ctx]->pre_exec_hook)
		inside[ctx]->pre_exec_hook(task, ctx);
}

static void post(struct starpu_task *task, unsigned ctx)
{
	count(ctx, POST);
	if (inside[ctx]->post_exec_hook)
		inside[ctx]->post_exec_hook(task, ctx);
}

static void schedule(unsigned ctx)
{
	if (inside[ctx]->do_schedule)
		inside[ctx]->do_schedule(ctx);
}

static void come(unsigned ctx, int *ids, unsigned n)
{
	count(ctx, COME);
	if (inside[ctx]->add_workers)
		inside[ctx]->add_workers(ctx, ids, n);
}

static void leave(unsigned ctx, int *ids, unsigned n)
{
	count(ctx, LEAVE);
	if (inside[ctx]->remove_workers)
		inside[ctx]->remove_workers(ctx, ids, n);
}

static struct starpu_sched_policy wrap(struct starpu_sched_policy *policy)
{
	struct starpu_sched_policy wrapped = *policy;

	wrapped.init_sched = init;
	wrapped.deinit_sched = deinit;
	wrapped.push_task = push;
	wrapped.push_task_notify = notify;
	wrapped.pop_task = pop;
	wrapped.pre_exec_hook = pre;
	wrapped.post_exec_hook = post;
	wrapped.do_schedule = schedule;
	wrapped.add_workers = come;
	wrapped.remove_workers = leave;
	wrapped.policy_name = "counting";
	wrapped.policy_description = "counts what another one does";
	return wrapped;
}

/* ---- tasks ----------------------------------------------------------- */

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_add_fetch(&nrun, 1, __ATOMIC_SEQ_CST);
}

static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return 50 + 17 * task->priority;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet cl = {.cpu_funcs = {work},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .model = &model,
				   .flags = STARPU_CODELET_SIMGRID_EXECUTE};
static int values[NHANDLES];
static starpu_data_handle_t handles[NHANDLES];

static void begin(const struct starpu_sched_policy *policy)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = NULL;
	conf.sched_policy = (struct starpu_sched_policy *)policy;
	STARPU_ASSERT(starpu_init(&conf) == 0);
	for (int i = 0; i < NHANDLES; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
}

static void end(void)
{
	for (int i = 0; i < NHANDLES; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
}

static void submit(unsigned ctx, int n)
{
	for (int i = 0; i < n; i++)
		STARPU_ASSERT(starpu_task_insert(&cl, STARPU_RW, handles[i % NHANDLES],
						 STARPU_PRIORITY, i % 3, STARPU_SCHED_CTX,
						 ctx, 0) == 0);
}

/* Microseconds. */
static double run_all(void)
{
	double begun = starpu_timing_now();

	nrun = 0;
	submit(0, NTASKS);
	starpu_task_wait_for_all();
	return starpu_timing_now() - begun;
}

static int check(const char *name, const char *what, int found, int least, int most)
{
	if (found >= least && found <= most)
		return 0;
	printf("%s: %s %d, expected %d to %d\n", name, what, found, least, most);
	return 1;
}

static int check_counts(unsigned ctx, int least)
{
	const char *name = inside[ctx]->policy_name;
	const int *n = counts[ctx];

	return check(name, "init_sched", n[INIT], 1, 1) +
	       check(name, "deinit_sched", n[DEINIT], 1, 1) +
	       check(name, "push_task", n[PUSH], least, NTASKS * NPASSES) +
	       check(name, "pop_task", n[POP], inside[ctx]->pop_task ? least : 0,
		     NTASKS * NPASSES) +
	       check(name, "pre_exec_hook", n[PRE], least, NTASKS * NPASSES) +
	       check(name, "post_exec_hook", n[POST], least, NTASKS * NPASSES) +
	       check(name, "add_workers", n[COME], 1, 100);
}

/* Of the policies that reckon with durations, all tasks are foreseen. */
static int check_foreseen(const char *name, int ntasks)
{
	int n = strncmp(name, "dm", 2) == 0 ? ntasks : 0;

	return check(name, "foreseen tasks", nforeseen, n, n) +
	       check(name, "ends foreseen too early, or not at all", nbad, 0, 0);
}

/* ---- the three ways -------------------------------------------------- */

static int alone(struct starpu_sched_policy *policy, double *spent)
{
	struct starpu_sched_policy wrapped = wrap(policy);
	int failed;

	next = policy;
	nforeseen = nbad = 0;
	begin(&wrapped);
	failed = strcmp(starpu_sched_ctx_get_sched_policy(0)->policy_name, "counting") !=
		 0;
	*spent = run_all();
	end();
	failed += check(policy->policy_name, "tasks", nrun, NTASKS, NTASKS);
	failed += check_foreseen(policy->policy_name, NTASKS);
	return failed + check_counts(0, NTASKS);
}

static int renamed(struct starpu_sched_policy *policy, double *spent)
{
	struct starpu_sched_policy copy = *policy;
	int failed;

	copy.policy_name = "renamed";
	begin(&copy);
	failed =
		strcmp(starpu_sched_ctx_get_sched_policy(0)->policy_name, "renamed") != 0;
	*spent = run_all();
	end();
	return failed + check(policy->policy_name, "tasks", nrun, NTASKS, NTASKS);
}

/* One worker goes to and fro. */
static int in_contexts(struct starpu_sched_policy *policy,
		       struct starpu_sched_policy *other)
{
	struct starpu_sched_policy a = wrap(policy), b = wrap(other);
	int ids[STARPU_NMAXWORKERS], n, failed;
	unsigned first, second;

	nrun = 0;
	begin(NULL);
	n = (int)starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids,
					       STARPU_NMAXWORKERS);
	next = policy;
	first = starpu_sched_ctx_create(ids, n, "first", STARPU_SCHED_CTX_POLICY_STRUCT,
					&a, 0);
	next = other;
	second = starpu_sched_ctx_create(ids, 1, "second", STARPU_SCHED_CTX_POLICY_STRUCT,
					 &b, 0);
	for (int i = 0; i < NPASSES; i++) {
		submit(first, NTASKS / 2);
		submit(second, NTASKS / 2);
		if (n > 1 && i % 2 == 0)
			starpu_sched_ctx_remove_workers(&ids[1], 1, first);
		else if (n > 1)
			starpu_sched_ctx_add_workers(&ids[1], 1, first);
	}
	starpu_task_wait_for_all();
	starpu_sched_ctx_delete(first);
	starpu_sched_ctx_delete(second);
	end();
	failed = check(policy->policy_name, "tasks", nrun, NTASKS * NPASSES,
		       NTASKS * NPASSES);
	return failed + check_counts(first, NTASKS / 2 * NPASSES) +
	       check_counts(second, NTASKS / 2 * NPASSES);
}

int main(int argc, char **argv)
{
	struct starpu_sched_policy **policies = starpu_sched_get_predefined_policies();
	int failed = 0;

	for (int i = 0; policies[i]; i++) {
		struct starpu_sched_policy *other =
			policies[i + 1] ? policies[i + 1] : policies[0];
		double wrapped_us, usual_us;

		if (argc > 1 && strcmp(argv[1], policies[i]->policy_name) != 0)
			continue;
		if (argc > 1 && argc < 3)
			printf("%s\n", policies[i]->policy_name);
		failed += alone(policies[i], &wrapped_us);
		failed += renamed(policies[i], &usual_us);
		if (is_simulated && fabs(wrapped_us - usual_us) > 1e-3) {
			printf("%s: %f us, %f us inside another\n",
			       policies[i]->policy_name, usual_us, wrapped_us);
			failed++;
		}
		failed += in_contexts(policies[i], other);
	}
	return failed != 0;
}
