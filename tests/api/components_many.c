/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Modular schedulers with many tasks, and many ways to them: how often is asked. */
#include <starpu_sched_component.h>
#include <stdint.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 2000, NWAITING = 20, NWAYS = 3, NPRIORITIES = 7 };

static void never_called(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static int nmodel;

static double cores_or_gpus(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	nmodel++;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 3000 : 100;
}

static int nasked;

static int asks(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)worker;
	(void)task;
	(void)nimpl;
	nasked++;
	return 1;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
					.arch_cost_function = cores_or_gpus,
					.symbol = "components_many"};
static struct starpu_codelet asking = {.cpu_funcs = {never_called},
				       .cuda_funcs = {never_called},
				       .can_execute = asks,
				       .model = &model,
				       .name = "asking"};
static struct starpu_codelet plain = {
	.cpu_funcs = {never_called}, .model = &model, .name = "plain"};

static void begin(struct starpu_sched_policy *policy, const char *name)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy = policy;
	conf.sched_policy_name = name;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

/* ---- heteroprio ------------------------------------------------------- */

/* Whatever waits, a worker is given what comes first for it. */
static void a_task_is_asked_about_a_few_times(void)
{
	begin(NULL, "modular-heteroprio");
	starpu_pause();
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&asking, STARPU_PRIORITY, i % NPRIORITIES, 0);
	nasked = 0;
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM(nasked >= NTASKS);
	CLAIM(nasked < 60 * NTASKS);
	starpu_shutdown();
}

/* ---- heft -------------------------------------------------------------- */

static struct starpu_codelet anywhere = {.cpu_funcs = {never_called},
					 .cuda_funcs = {never_called},
					 .model = &model,
					 .name = "anywhere"};

/* However often a task is refused, its model is asked for each class of workers when it
 * comes and when its turn does, and for the worker that takes it. */
static void a_model_is_asked_by_class(const char *policy)
{
	int nclasses;

	begin(NULL, policy);
	nclasses = 1 + (int)starpu_cuda_worker_get_count();
	CLAIM(nclasses > 1);
	nmodel = 0;
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&anywhere, STARPU_PRIORITY, i % NPRIORITIES, 0);
	starpu_task_wait_for_all();
	CLAIM(nmodel >= NTASKS);
	CLAIM(nmodel <= (2 * nclasses + 3) * NTASKS);
	starpu_shutdown();
}

static void heft_asks_models_a_few_times(void)
{
	static const char *const policies[] = {"modular-heft", "modular-heft2",
					       "modular-pheft", "modular-gemm"};

	for (int i = 0; i < 4; i++)
		a_model_is_asked_by_class(policies[i]);
}

/* ---- tasks that nobody takes ------------------------------------------ */

static int is_open, noffered;
static struct starpu_sched_component *ours;

/* The program's: it takes a task when it is open, for any child. */
static int take(struct starpu_sched_component *component, struct starpu_task *task)
{
	noffered++;
	if (!is_open)
		return 1;
	return component->children[0]->push_task(component->children[0], task);
}

/* One queue, a component that refuses, and several ways from it to one worker's queue. */
static void init(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
	struct starpu_sched_component *below =
		starpu_sched_component_fifo_create(tree, NULL);

	tree->root = starpu_sched_component_fifo_create(tree, NULL);
	ours = starpu_sched_component_create(tree, "refusing");
	ours->push_task = take;
	starpu_sched_component_connect(tree->root, ours);
	for (int i = 0; i < NWAYS; i++) {
		struct starpu_sched_component *way =
			starpu_sched_component_eager_create(tree, NULL);

		starpu_sched_component_connect(ours, way);
		starpu_sched_component_connect(way, below);
	}
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_sched_component_connect(below,
					       starpu_sched_component_worker_get(ctx, i));
	starpu_sched_tree_update_workers(tree);
	starpu_sched_tree_update_workers_in_ctx(tree);
	starpu_sched_ctx_set_policy_data(ctx, tree);
}

static void deinit(unsigned ctx)
{
	starpu_sched_tree_deinitialize(ctx);
}

static struct starpu_sched_policy policy = {
	.init_sched = init,
	.deinit_sched = deinit,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
	.post_exec_hook = starpu_sched_component_worker_post_exec_hook,
	.policy_name = "refusing",
	.policy_description = "a component that refuses",
};

/* Who asks for tasks reaches the queue by each way; what was refused by one is not
 * offered again by the next, but whenever somebody asks anew. */
static void what_is_refused_is_not_offered_by_each_way(void)
{
	struct starpu_sched_component *way, *below;
	int each;

	begin(&policy, NULL);
	is_open = 0;
	for (int i = 0; i < NWAITING; i++)
		starpu_task_insert(&plain, 0);
	way = ours->children[0];
	below = way->children[0];
	noffered = 0;
	way->can_push(way, below);
	each = noffered;
	CLAIM(each >= 1 && each < NWAITING);
	for (int i = 0; i < 2; i++) {
		noffered = 0;
		CLAIM(below->pull_task(below, below->children[0]) == NULL);
		CLAIM_EQ(noffered, each);
	}
	is_open = 1;
	way->can_push(way, below);
	starpu_task_wait_for_all();
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"heteroprio asks about a task a few times",
		 a_task_is_asked_about_a_few_times},
		{"heft asks models a few times", heft_asks_models_a_few_times},
		{"what is refused is not offered again by each way",
		 what_is_refused_is_not_offered_by_each_way},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
