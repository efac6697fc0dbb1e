/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Modular schedulers: all predefined ones, and trees that a program builds itself, with
 * components of its own. */
#include <starpu_sched_component.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 120, NCHAINS = 5 };

static int nran, order[NTASKS];

static void note(void *buffers[], void *arg)
{
	int at = STARPU_ATOMIC_ADD(&nran, 1) - 1;

	(void)buffers;
	order[at % NTASKS] = (int)(intptr_t)arg;
}

static double lasts(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		    unsigned nimpl)
{
	(void)task;
	(void)arch;
	(void)nimpl;
	return 20;
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = lasts, .symbol = "components"};

static struct starpu_codelet codelet = {.cpu_funcs = {note}, .cpu_funcs_name = {"note"}};
static struct starpu_codelet timed = {
	.cpu_funcs = {note}, .cpu_funcs_name = {"note"}, .model = &model};
static struct starpu_codelet chained = {.cpu_funcs = {note},
					.cpu_funcs_name = {"note"},
					.nbuffers = 1,
					.modes = {STARPU_RW}};

static void begin(struct starpu_sched_policy *policy, const char *name, int ncpus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy = policy;
	conf.sched_policy_name = name;
	conf.precedence_over_environment_variables = 1;
	if (ncpus > 0)
		conf.ncpus = ncpus;
	nran = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static struct starpu_task *task_of(struct starpu_codelet *cl, int i)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)i;
	task->priority = i % 7;
	return task;
}

static void run(void)
{
	starpu_data_handle_t handles[NCHAINS];
	int values[NCHAINS] = {0};

	nran = 0;
	for (int i = 0; i < NCHAINS; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(int));
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = task_of(i % 3 == 0   ? &chained
						   : i % 3 == 1 ? &timed
								: &codelet,
						   i);

		if (i % 3 == 0)
			task->handles[0] = handles[i % NCHAINS];
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, NTASKS);
	for (int i = 0; i < NCHAINS; i++)
		starpu_data_unregister(handles[i]);
}

/* ---- predefined ------------------------------------------------------ */

static void each_name_is_a_policy(void)
{
	struct starpu_sched_policy **policies;
	char names[64][40];
	int n = 0;

	begin(NULL, "eager", 0);
	policies = starpu_sched_get_predefined_policies();
	for (; *policies && n < 64; policies++)
		if (strncmp((*policies)->policy_name, "modular-", 8) == 0)
			snprintf(names[n++], sizeof(names[0]), "%s",
				 (*policies)->policy_name);
	starpu_shutdown();
	CLAIM_EQ(n, 23);
	for (int i = 0; i < n; i++) {
		begin(NULL, names[i], 0);
		CLAIM(strcmp(starpu_sched_get_sched_policy()->policy_name, names[i]) ==
		      0);
		run();
		CLAIM(starpu_sched_tree_get(0) != NULL);
		starpu_shutdown();
	}
}

/* With one worker the order is the queue's. */
static void priorities_count(void)
{
	static const char *const names[] = {"modular-prio", "modular-eager-prio",
					    "modular-heft", "modular-dmdas"};

	for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		int inversions = 0, depth = 3;

		begin(NULL, names[k], 1);
		CLAIM(starpu_sched_get_max_priority() > 6);
		starpu_pause();
		for (int i = 0; i < NTASKS; i++)
			CLAIM_EQ(starpu_task_submit(task_of(&timed, i)), 0);
		starpu_resume();
		starpu_task_wait_for_all();
		CLAIM_EQ(nran, NTASKS);
		for (int i = depth; i + 1 < NTASKS; i++)
			inversions += order[i] % 7 < order[i + 1] % 7;
		/* What was ahead of the first urgent one is kept in its queue. */
		CLAIM(inversions <= depth);
		starpu_shutdown();
	}
}

static void contexts_have_trees_of_their_own(void)
{
	int ids[STARPU_NMAXWORKERS], n;
	unsigned ctx;

	begin(NULL, "modular-heft", 0);
	n = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, STARPU_NMAXWORKERS);
	ctx = starpu_sched_ctx_create(ids, n > 1 ? 2 : 1, "ws",
				      STARPU_SCHED_CTX_POLICY_NAME, "modular-ws", 0);
	CLAIM(starpu_sched_tree_get(ctx) != starpu_sched_tree_get(0));
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(starpu_task_submit_to_ctx(task_of(&timed, i), ctx), 0);
		if (i % 20 == 7 && n > 1)
			starpu_sched_ctx_remove_workers(&ids[1], 1, ctx);
		if (i % 20 == 17 && n > 1)
			starpu_sched_ctx_add_workers(&ids[1], 1, ctx);
	}
	starpu_task_wait_for_all_in_ctx(ctx);
	CLAIM_EQ(nran, NTASKS);
	starpu_sched_ctx_delete(ctx);
	run();
	starpu_shutdown();
}

/* ---- a component of the program's ------------------------------------ */

struct stack {
	struct starpu_task_list tasks;
	starpu_pthread_mutex_t mutex;
	int npushed;
};

static struct stack *the_stack; /* of the last tree */

static int stack_push(struct starpu_sched_component *component, struct starpu_task *task)
{
	struct stack *stack = component->data;

	STARPU_COMPONENT_MUTEX_LOCK(&stack->mutex);
	starpu_task_list_push_front(&stack->tasks, task);
	stack->npushed++;
	STARPU_COMPONENT_MUTEX_UNLOCK(&stack->mutex);
	starpu_push_task_end(task);
	component->can_pull(component);
	return 0;
}

static struct starpu_task *stack_pull(struct starpu_sched_component *component,
				      struct starpu_sched_component *to)
{
	struct stack *stack = component->data;
	struct starpu_task *task;

	STARPU_COMPONENT_MUTEX_LOCK(&stack->mutex);
	for (task = starpu_task_list_begin(&stack->tasks); task;
	     task = starpu_task_list_next(task))
		if (starpu_sched_component_can_execute_task(to, task))
			break;
	if (task)
		starpu_task_list_erase(&stack->tasks, task);
	STARPU_COMPONENT_MUTEX_UNLOCK(&stack->mutex);
	return task;
}

static int stack_can_push(struct starpu_sched_component *component,
			  struct starpu_sched_component *to)
{
	struct stack *stack = component->data;
	struct starpu_task *rejected;
	int n;

	rejected = starpu_sched_component_pump_to(component, to, &n);
	if (rejected) {
		STARPU_COMPONENT_MUTEX_LOCK(&stack->mutex);
		starpu_task_list_push_front(&stack->tasks, rejected);
		STARPU_COMPONENT_MUTEX_UNLOCK(&stack->mutex);
	}
	return n > 0;
}

static void stack_end(struct starpu_sched_component *component)
{
	struct stack *stack = component->data;

	CLAIM(starpu_task_list_empty(&stack->tasks));
	CLAIM(stack->npushed >= NTASKS);
	STARPU_PTHREAD_MUTEX_DESTROY(&stack->mutex);
	free(stack);
}

static struct starpu_sched_component *stack_create(struct starpu_sched_tree *tree,
						   void *arg)
{
	struct starpu_sched_component *component =
		starpu_sched_component_create(tree, "stack");
	struct stack *stack = calloc(1, sizeof(*stack));

	CLAIM(arg == &model);
	starpu_task_list_init(&stack->tasks);
	STARPU_PTHREAD_MUTEX_INIT(&stack->mutex, NULL);
	component->data = the_stack = stack;
	component->push_task = stack_push;
	component->pull_task = stack_pull;
	component->can_push = stack_can_push;
	component->can_pull = starpu_sched_component_can_pull_all;
	component->deinit_data = stack_end;
	return component;
}

static void stack_init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_scheduler(
		stack_create, &model,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_DECIDE_ALWAYS |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO,
		ctx);
}

static void tree_deinit(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_ctx_get_policy_data(ctx);

	starpu_sched_tree_destroy(tree);
}

static struct starpu_sched_policy stack_policy = {
	.init_sched = stack_init,
	.deinit_sched = tree_deinit,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
	.post_exec_hook = starpu_sched_component_worker_post_exec_hook,
	.do_schedule = starpu_sched_tree_do_schedule,
	.policy_name = "stack",
	.policy_description = "the last one first",
	.worker_type = STARPU_WORKER_LIST,
};

static void a_component_of_ours_decides(void)
{
	begin(&stack_policy, NULL, 0);
	run();
	CLAIM_EQ(the_stack->npushed, NTASKS);
	starpu_shutdown();
}

/* ---- a tree built by hand -------------------------------------------- */

static struct starpu_sched_component *choosing, *gathering;

static void hand_init(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
	struct starpu_sched_component_composed_recipe *recipe =
		starpu_sched_component_composed_recipe_create();
	struct starpu_sched_component *prio, *composed;
	struct starpu_sched_component_fifo_data limits = {.ntasks_threshold = 1};

	starpu_sched_component_composed_recipe_add(
		recipe,
		(starpu_sched_component_create_t)starpu_sched_component_fifo_create,
		NULL);
	starpu_sched_component_composed_recipe_add(
		recipe, starpu_sched_component_random_create, NULL);
	composed = starpu_sched_component_composed_component_create(tree, recipe);
	starpu_sched_component_composed_recipe_destroy(recipe);
	prio = starpu_sched_component_prio_create(tree, NULL);
	CLAIM(starpu_sched_component_is_prio(prio));
	CLAIM(!starpu_sched_component_is_fifo(prio));
	choosing = tree->root = starpu_sched_component_userchoice_create(tree, NULL);
	gathering = starpu_sched_component_eager_create(tree, NULL);
	starpu_sched_component_connect(tree->root, composed);
	starpu_sched_component_connect(tree->root, prio);
	starpu_sched_component_connect(prio, gathering);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		struct starpu_sched_component *worker =
			starpu_sched_component_worker_get(ctx, (int)i);
		struct starpu_sched_component *stage =
			starpu_sched_component_stage_create(tree, NULL);
		struct starpu_sched_component *fifo =
			starpu_sched_component_fifo_create(tree, &limits);

		CLAIM(starpu_sched_component_is_simple_worker(worker));
		CLAIM_EQ(starpu_sched_component_worker_get_workerid(worker), i);
		starpu_sched_component_connect(stage, worker);
		starpu_sched_component_connect(fifo, stage);
		starpu_sched_component_connect(composed, fifo);
		starpu_sched_component_connect(gathering, stage);
	}
	starpu_sched_tree_update_workers(tree);
	starpu_sched_ctx_set_policy_data(ctx, tree);
}

static void hand_submit(struct starpu_task *task)
{
	task->sched_data = (void *)(uintptr_t)(task->priority % 2);
}

static struct starpu_sched_policy hand_policy = {
	.init_sched = hand_init,
	.deinit_sched = tree_deinit,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.submit_hook = hand_submit,
	.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
	.post_exec_hook = starpu_sched_component_worker_post_exec_hook,
	.policy_name = "by hand",
	.worker_type = STARPU_WORKER_LIST,
};

static void trees_may_be_built_by_hand(void)
{
	unsigned n;

	begin(&hand_policy, NULL, 0);
	n = starpu_worker_get_count();
	CLAIM(starpu_sched_tree_get(0)->root == choosing);
	CLAIM_EQ(starpu_bitmap_cardinal(&choosing->workers_in_ctx), n);
	CLAIM_EQ(gathering->nchildren, n);
	CLAIM(starpu_sched_component_is_eager(gathering));
	CLAIM(starpu_sched_component_is_userchoice(choosing));
	run();
	CLAIM_EQ((long long)choosing->estimated_load(choosing), 0);
	starpu_shutdown();
}

/* ---- children that are taken out -------------------------------------- */

static void stealing_init(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);

	tree->root = starpu_sched_component_work_stealing_create(tree, NULL);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_sched_component_connect(
			tree->root, starpu_sched_component_worker_get(ctx, (int)i));
	starpu_sched_tree_update_workers(tree);
	starpu_sched_ctx_set_policy_data(ctx, tree);
}

static struct starpu_sched_policy stealing_policy = {
	.init_sched = stealing_init,
	.deinit_sched = tree_deinit,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.policy_name = "stealing by hand",
	.worker_type = STARPU_WORKER_LIST,
};

/* What lies in its queue is for the others. */
static void tasks_of_who_leaves_are_stolen(void)
{
	struct starpu_sched_component *root, *last;

	begin(&stealing_policy, NULL, 2);
	root = starpu_sched_tree_get(0)->root;
	last = root->children[root->nchildren - 1];
	starpu_pause();
	for (int i = 0; i < 4; i++)
		CLAIM_EQ(starpu_task_submit(task_of(&timed, i)), 0);
	root->remove_child(root, last);
	last->remove_parent(last, root);
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, 4);
	starpu_shutdown();
}

/* ---- methods that do nothing ------------------------------------------- */

static int nignored;

static void ignore_link(struct starpu_sched_component *component,
			struct starpu_sched_component *other)
{
	(void)component;
	(void)other;
	nignored++;
}

/* A root above one queue for all workers. */
static void stubborn_init(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
	struct starpu_sched_component *queue =
		starpu_sched_component_fifo_create(tree, NULL);

	tree->root = starpu_sched_component_create(tree, "stubborn");
	starpu_sched_component_connect(tree->root, queue);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_sched_component_connect(
			queue, starpu_sched_component_worker_get(ctx, (int)i));
	starpu_sched_tree_update_workers(tree);
	starpu_sched_ctx_set_policy_data(ctx, tree);
	tree->root->remove_child = queue->remove_child = ignore_link;
	queue->remove_parent = ignore_link;
}

static void stubborn_deinit(unsigned ctx)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_get(ctx);

	starpu_sched_component_destroy_rec(tree->root);
	starpu_sched_tree_destroy(tree);
}

/* Those that are to lose a link and keep it end all the same. */
static void links_end_with_their_component(void)
{
	struct starpu_sched_policy policy = stealing_policy;

	for (int i = 0; i < 2; i++) {
		nignored = 0;
		policy.init_sched = stubborn_init;
		policy.deinit_sched = i ? tree_deinit : stubborn_deinit;
		begin(&policy, NULL, 2);
		for (int j = 0; j < 4; j++)
			CLAIM_EQ(starpu_task_submit(task_of(&timed, j)), 0);
		starpu_task_wait_for_all();
		CLAIM_EQ(nran, 4);
		starpu_shutdown();
		CLAIM(nignored > 0);
	}
}

/* ---- several decisions ----------------------------------------------- */

static void several_init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_schedulers(
		ctx, 2,
		(starpu_sched_component_create_t)starpu_sched_component_mct_create, NULL,
		(unsigned)(STARPU_SCHED_SIMPLE_DECIDE_WORKERS |
			   STARPU_SCHED_SIMPLE_FIFO_ABOVE |
			   STARPU_SCHED_SIMPLE_FIFOS_BELOW),
		starpu_sched_component_eager_create, NULL,
		(unsigned)STARPU_SCHED_SIMPLE_PRE_DECISION, stack_create, &model,
		(unsigned)STARPU_SCHED_SIMPLE_DECIDE_WORKERS);
}

static void several_submit(struct starpu_task *task)
{
	/* The stack claims to see a run of its own. */
	task->sched_data = (void *)(uintptr_t)1;
}

static void several_decisions_share_workers(void)
{
	struct starpu_sched_policy policy = hand_policy;

	policy.init_sched = several_init;
	policy.submit_hook = several_submit;
	policy.policy_name = "several";
	begin(&policy, NULL, 0);
	run();
	CLAIM_EQ(the_stack->npushed, NTASKS);
	starpu_shutdown();
}

/* ---- a tree that follows the machine --------------------------------- */

static int nroots, nplaces, nqueues;

static struct starpu_sched_component *root_create(struct starpu_sched_tree *tree,
						  void *arg)
{
	nroots++;
	return starpu_sched_component_eager_create(tree, arg);
}

static struct starpu_sched_component *place_create(struct starpu_sched_tree *tree,
						   void *arg)
{
	nplaces++;
	return starpu_sched_component_eager_create(tree, arg);
}

static struct starpu_sched_component *queue_create(struct starpu_sched_tree *tree,
						   void *arg)
{
	nqueues++;
	return starpu_sched_component_fifo_create(tree, arg);
}

static struct starpu_sched_component_composed_recipe *queue_recipe;

static struct starpu_sched_component_composed_recipe *
recipe_of_worker(enum starpu_worker_archtype type)
{
	return type == STARPU_CPU_WORKER ? queue_recipe : NULL;
}

static struct starpu_sched_component_specs places;

static void machine_init(unsigned ctx)
{
	struct starpu_sched_component_composed_recipe *root =
		starpu_sched_component_composed_recipe_create_singleton(root_create,
									NULL);
	struct starpu_sched_tree *tree;

	nroots = nplaces = nqueues = 0;
	queue_recipe = starpu_sched_component_composed_recipe_create_singleton(
		queue_create, NULL);
	places.hwloc_machine_composed_sched_component = root;
	places.hwloc_component_composed_sched_component =
		starpu_sched_component_composed_recipe_create_singleton(place_create,
									NULL);
	places.worker_composed_sched_component = recipe_of_worker;
	tree = starpu_sched_component_make_scheduler(ctx, places);
	CLAIM(tree == starpu_sched_tree_get(ctx));
	CLAIM(tree == starpu_sched_ctx_get_policy_data(ctx));
	starpu_sched_component_composed_recipe_destroy(root);
	starpu_sched_component_composed_recipe_destroy(
		places.hwloc_component_composed_sched_component);
	starpu_sched_component_composed_recipe_destroy(queue_recipe);
}

static void trees_follow_the_machine(void)
{
	struct starpu_sched_policy policy = hand_policy;
	struct starpu_sched_component *root;
	unsigned ngpus, nmains;

	policy.init_sched = machine_init;
	policy.submit_hook = NULL;
	policy.policy_name = "machine";
	for (int mix = 0; mix < 2; mix++) {
		places.mix_heterogeneous_workers = mix;
		begin(&policy, NULL, 0);
		ngpus = starpu_cuda_worker_get_count();
		nmains = starpu_memory_nodes_get_numa_count();
		root = starpu_sched_tree_get(0)->root;
		CLAIM_EQ(nroots, 1);
		CLAIM_EQ(nqueues, starpu_cpu_worker_get_count());
		CLAIM_EQ(nplaces, nmains + (ngpus > 0 && !mix));
		CLAIM_EQ(root->nchildren, nplaces);
		CLAIM_EQ(starpu_bitmap_cardinal(&root->workers),
			 starpu_worker_get_count());
		run();
		starpu_shutdown();
	}
}

/* ---- questions ------------------------------------------------------- */

static double two_speeds(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned nimpl)
{
	(void)task;
	(void)arch;
	return nimpl == 1 ? 30 : 50;
}

static struct starpu_perfmodel two_model = {.type = STARPU_PER_ARCH,
					    .arch_cost_function = two_speeds,
					    .symbol = "components_two"};
static struct starpu_perfmodel new_model = {.type = STARPU_HISTORY_BASED,
					    .symbol = "components_never_run"};
static struct starpu_codelet two_ways = {.cpu_funcs = {note, note}, .model = &two_model};
static struct starpu_codelet unmeasured = {.cpu_funcs = {note}, .model = &new_model};
static struct starpu_codelet elsewhere = {.where = STARPU_OPENCL, .opencl_funcs = {note}};

static double length_of(struct starpu_codelet *cl, int can)
{
	struct starpu_sched_component *root = starpu_sched_tree_get(0)->root;
	struct starpu_task *task = task_of(cl, 0);
	double us = -5;

	task->destroy = 0;
	CLAIM_EQ(starpu_sched_component_can_execute_task(root, task), can);
	CLAIM_EQ(starpu_sched_component_execute_preds(root, task, &us), can);
	CLAIM_EQ(starpu_sched_component_execute_preds(root, task, NULL), can);
	CLAIM(starpu_sched_component_transfer_length(root, task) == 0);
	if (cl == &two_ways)
		CLAIM_EQ(starpu_task_get_implementation(task), 1);
	starpu_task_destroy(task);
	return us;
}

/* Before it is submitted, too; a component without workers runs none. */
static void components_are_asked_about_tasks(void)
{
	struct starpu_sched_component *bare;
	struct starpu_task *task;
	double us;

	begin(&stealing_policy, NULL, 2);
	CLAIM(starpu_sched_component_is_work_stealing(starpu_sched_tree_get(0)->root));
	CLAIM_EQ(length_of(&two_ways, 1) + 0.5, 30);
	CLAIM(length_of(&codelet, 1) == 0);
	us = length_of(&unmeasured, 1);
	CLAIM(us != us || us == 0); /* Simulation measures nothing. */
	length_of(&elsewhere, 0);
	bare = starpu_sched_component_create(starpu_sched_tree_get(0), "bare");
	task = task_of(&codelet, 0);
	CLAIM_EQ(starpu_sched_component_can_execute_task(bare, task), 0);
	starpu_task_destroy(task);
	starpu_sched_component_destroy(bare);
	starpu_shutdown();
}

/* ---- default methods --------------------------------------------------- */

static struct starpu_task *stock[3];
static int nstock, room, nasked, answer;

static struct starpu_task *stock_pull(struct starpu_sched_component *from,
				      struct starpu_sched_component *to)
{
	(void)from;
	(void)to;
	return nstock > 0 ? stock[--nstock] : NULL;
}

static int room_push(struct starpu_sched_component *component, struct starpu_task *task)
{
	(void)component;
	(void)task;
	return room-- <= 0;
}

static int asked_push(struct starpu_sched_component *from,
		      struct starpu_sched_component *to)
{
	(void)from;
	(void)to;
	nasked++;
	return answer;
}

static int asked_pull(struct starpu_sched_component *component)
{
	(void)component;
	nasked++;
	return answer;
}

static double load_of(struct starpu_sched_component *component)
{
	return component->name[0] == 'l' ? 1.5 : 2;
}

static void pump_all(struct starpu_sched_component *parent,
		     struct starpu_sched_component *child, int has, int fits)
{
	int n = -1;
	struct starpu_task *left;

	nstock = has;
	room = fits;
	left = starpu_sched_component_pump_to(parent, child, &n);
	CLAIM_EQ(n, has < fits ? has : fits);
	CLAIM(left == (has > fits ? stock[has - fits - 1] : NULL));
}

static void ask_neighbours(struct starpu_sched_component *parent,
			   struct starpu_sched_component *child, int says)
{
	answer = says;
	nasked = 0;
	CLAIM_EQ(starpu_sched_component_send_can_push_to_parents(child), says);
	CLAIM_EQ(starpu_sched_component_can_push(child, NULL), says);
	CLAIM_EQ(nasked, 2);
	nasked = 0;
	CLAIM_EQ(starpu_sched_component_can_pull(parent), says);
	CLAIM_EQ(nasked, says ? 1 : 2);
	nasked = 0;
	starpu_sched_component_can_pull_all(parent);
	CLAIM_EQ(nasked, 2);
}

static void components_call_their_neighbours(void)
{
	struct starpu_sched_component *parent, *left, *right;
	struct starpu_sched_tree *tree;

	begin(&stealing_policy, NULL, 2);
	tree = starpu_sched_tree_get(0);
	parent = starpu_sched_component_create(tree, "parent");
	left = starpu_sched_component_create(tree, "left");
	right = starpu_sched_component_create(tree, "right");
	CLAIM_EQ(starpu_sched_component_send_can_push_to_parents(parent), 0);
	CLAIM(starpu_sched_component_parents_pull_task(parent, parent) == NULL);
	CLAIM(starpu_sched_component_estimated_load(parent) == 0);
	starpu_sched_component_add_child(parent, left);
	CLAIM(parent->nchildren == 1 && left->nparents == 0);
	parent->remove_child(parent, left);
	CLAIM_EQ(parent->nchildren, 0);
	starpu_sched_component_connect(parent, left);
	starpu_sched_component_connect(parent, right);
	for (int i = 0; i < 3; i++)
		stock[i] = task_of(&codelet, i);
	parent->pull_task = stock_pull;
	parent->can_push = asked_push;
	left->push_task = room_push;
	left->can_pull = right->can_pull = asked_pull;
	left->estimated_load = right->estimated_load = load_of;
	CLAIM(starpu_sched_component_estimated_load(parent) == 3.5);
	ask_neighbours(parent, left, 0);
	ask_neighbours(parent, left, 1);
	nstock = 1;
	CLAIM(starpu_sched_component_parents_pull_task(left, left) == stock[0]);
	CLAIM(starpu_sched_component_pull_task(parent, left) == NULL);
	room = 1;
	CLAIM_EQ(starpu_sched_component_push_task(parent, left, stock[0]), 0);
	CLAIM(starpu_sched_component_push_task(parent, left, stock[0]) != 0);
	pump_all(parent, left, 3, 1);
	pump_all(parent, left, 2, 2);
	pump_all(parent, left, 0, 1);
	pump_all(parent, left, 1, 0);
	for (int i = 0; i < 3; i++)
		starpu_task_destroy(stock[i]);
	starpu_sched_component_destroy(right);
	starpu_sched_component_destroy_rec(parent);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"each_name_is_a_policy", each_name_is_a_policy},
		{"priorities_count", priorities_count},
		{"contexts_have_trees_of_their_own", contexts_have_trees_of_their_own},
		{"a_component_of_ours_decides", a_component_of_ours_decides},
		{"trees_may_be_built_by_hand", trees_may_be_built_by_hand},
		{"tasks_of_who_leaves_are_stolen", tasks_of_who_leaves_are_stolen},
		{"links_end_with_their_component", links_end_with_their_component},
		{"several_decisions_share_workers", several_decisions_share_workers},
		{"trees_follow_the_machine", trees_follow_the_machine},
		{"components_are_asked_about_tasks", components_are_asked_about_tasks},
		{"components_call_their_neighbours", components_call_their_neighbours},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
