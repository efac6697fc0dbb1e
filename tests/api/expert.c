/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What an application hooks into its workers: functions that they call, when they sleep
 * and wake, what they say of the end of their tasks, and how a policy wakes them.
 */
#include <signal.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 2, MOST = 16, NTASKS = 50 };

#define COUNT(counter) __atomic_add_fetch(&(counter), 1, __ATOMIC_SEQ_CST)
#define LOOK(counter)  __atomic_load_n(&(counter), __ATOMIC_SEQ_CST)

/* What others do does not come to an end otherwise. */
#define UNTIL(condition)                                                                 \
	while (!(condition))                                                             \
	starpu_usleep(50)

/* ---- hooks -------------------------------------------------------------- */

static int ncalls, nwanted, nran;

static unsigned content(void *arg)
{
	(void)arg;
	COUNT(ncalls);
	return 1;
}

/* Wants more until it has been called so often. */
static unsigned eager_for(void *arg)
{
	return COUNT(ncalls) >= *(int *)arg;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	COUNT(nran);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 30000;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost_us};

static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .model = &model, .name = "hooked"};

static void check_numbers(void)
{
	int id = starpu_idle_hook_register(content, NULL);

	CLAIM_EQ(id, 0);
	claim_start(NWORKERS);
	for (int i = 1; i < MOST; i++)
		CLAIM_EQ(starpu_idle_hook_register(content, NULL), i);
	CLAIM_EQ(starpu_idle_hook_register(content, NULL), -1);
	starpu_idle_hook_deregister(7);
	CLAIM_EQ(starpu_idle_hook_register(content, NULL), 7);
	CLAIM_EQ(starpu_progression_hook_register(content, NULL), 0);
	starpu_progression_hook_deregister(0);
	for (int i = 0; i < MOST; i++)
		starpu_idle_hook_deregister(i);
	starpu_shutdown();
}

static void check_called(void)
{
	int before;

	ncalls = 0;
	starpu_idle_hook_register(content, NULL);
	claim_start(NWORKERS);
	UNTIL(LOOK(ncalls) > 0);
	before = LOOK(ncalls);
	starpu_wake_all_blocked_workers();
	UNTIL(LOOK(ncalls) > before);
	starpu_idle_hook_deregister(0);
	before = LOOK(ncalls);
	starpu_wake_all_blocked_workers();
	starpu_task_insert(&codelet, 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(LOOK(ncalls), before);
	starpu_shutdown();
}

static void check_wants_more(void)
{
	int id;

	ncalls = 0;
	nwanted = 20;
	claim_start(NWORKERS);
	id = starpu_idle_hook_register(eager_for, &nwanted);
	UNTIL(LOOK(ncalls) >= nwanted);
	starpu_idle_hook_deregister(id);
	/* Who still wants more at the end of the library is left alone. */
	nwanted = 1 << 30;
	starpu_progression_hook_register(eager_for, &nwanted);
	starpu_shutdown();
	starpu_progression_hook_deregister(0);
}

static int nsubmitted;

static unsigned submitting(void *arg)
{
	(void)arg;
	if (LOOK(nsubmitted) < NTASKS && COUNT(nsubmitted) <= NTASKS)
		starpu_task_insert(&codelet, 0);
	return LOOK(nsubmitted) >= NTASKS;
}

static int removes_itself;

static unsigned once(void *arg)
{
	if (LOOK(ncalls) == 0) {
		COUNT(ncalls);
		starpu_idle_hook_deregister(*(int *)arg);
	}
	return 1;
}

static void check_works(void)
{
	int id;

	nran = nsubmitted = ncalls = 0;
	claim_start(1);
	id = starpu_idle_hook_register(submitting, NULL);
	UNTIL(LOOK(nran) == NTASKS);
	starpu_idle_hook_deregister(id);
	/* The number of the first one that is free. */
	removes_itself = 0;
	starpu_idle_hook_register(once, &removes_itself);
	UNTIL(LOOK(ncalls) == 1);
	starpu_task_insert(&codelet, 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(LOOK(ncalls), 1);
	starpu_shutdown();
}

/* ---- sleep -------------------------------------------------------------- */

static int nasleep, nslept, nwoken, was_wrong;

static void sleeps(unsigned worker)
{
	if (worker >= NWORKERS || COUNT(nasleep) > NWORKERS)
		was_wrong = 1;
	COUNT(nslept);
}

static void wakes(unsigned worker)
{
	if (worker >= NWORKERS || __atomic_sub_fetch(&nasleep, 1, __ATOMIC_SEQ_CST) < 0)
		was_wrong = 1;
	COUNT(nwoken);
}

static void check_sleep(void)
{
	struct starpu_conf conf;

	nasleep = nslept = nwoken = was_wrong = 0;
	starpu_conf_init(&conf);
	CLAIM(!conf.callback_worker_going_to_sleep && !conf.callback_worker_waking_up);
	conf.ncpus = NWORKERS;
	conf.precedence_over_environment_variables = 1;
	conf.callback_worker_going_to_sleep = sleeps;
	conf.callback_worker_waking_up = wakes;
	if (starpu_init(&conf) != 0)
		exit(77);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&codelet, 0);
	starpu_task_wait_for_all();
	UNTIL(LOOK(nasleep) > 0);
	starpu_wake_all_blocked_workers();
	UNTIL(LOOK(nwoken) > 0);
	CLAIM(!was_wrong);
	starpu_worker_set_waking_up_callback(NULL);
	starpu_worker_set_going_to_sleep_callback(NULL);
	starpu_shutdown();
}

/* ---- what will be --------------------------------------------------------- */

static int may_end;

static void held_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
#ifndef STARPU_SIMGRID /* Else it lasts as its model says. */
	while (!LOOK(may_end))
		starpu_usleep(50);
#endif
}

static double to_us(struct timespec date)
{
	return 1e6 * (double)date.tv_sec + 1e-3 * (double)date.tv_nsec;
}

static struct starpu_codelet held = {
	.cpu_funcs = {held_kernel}, .model = &model, .name = "held"};

static void check_end(void)
{
	struct timespec end = {77, 77};
	struct starpu_task *task = starpu_task_create();

	may_end = 0;
	claim_start(1);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	starpu_worker_get_current_task_exp_end(0, &end);
	CLAIM_EQ(end.tv_sec, 0);
	CLAIM_EQ(end.tv_nsec, 0);
	task->cl = &held;
	task->destroy = 0;
	task->detach = 0;
	CLAIM_EQ(starpu_task_submit(task), 0);
	do {
		starpu_usleep(100);
		starpu_worker_get_current_task_exp_end(0, &end);
	} while (!to_us(end));
	COUNT(may_end);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM(to_us(end) > to_us(task->profiling_info->start_time) + 29000);
	CLAIM(to_us(end) < to_us(task->profiling_info->start_time) + 31000);
	starpu_worker_get_current_task_exp_end(0, &end);
	CLAIM_EQ(end.tv_sec, 0);
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
	starpu_task_destroy(task);
	starpu_shutdown();
}

static char told[200];
static int tellings;

/* With one worker there is one call at a time. */
static void tell(void *data, struct starpu_task *task, double delay_us)
{
	CLAIM(data == &tellings);
	CLAIM(delay_us == 30000);
	strcat(told, task->name);
	strcat(told, " ");
	tellings++;
}

static struct starpu_task *named(const char *name)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &codelet;
	task->name = name;
	return task;
}

static void check_soon(void)
{
	static struct starpu_codelet changing = {.cpu_funcs = {kernel},
						 .model = &model,
						 .nbuffers = 1,
						 .modes = {STARPU_RW}};
	struct starpu_task *task[3];
	starpu_data_handle_t handle;
	int value = 0;

	told[0] = '\0';
	tellings = 0;
	claim_start(1);
	starpu_task_notify_ready_soon_register(tell, &tellings);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_pause();
	starpu_task_insert(&changing, STARPU_RW, handle, STARPU_NAME, "first", 0);
	starpu_task_insert(&changing, STARPU_RW, handle, STARPU_NAME, "second", 0);
	starpu_task_insert(&changing, STARPU_RW, handle, STARPU_NAME, "third", 0);
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(strcmp(told, "second third "), 0);
	/* Of two that are missing nobody knows which is the last. */
	told[0] = '\0';
	task[0] = named("before");
	task[1] = named("beside");
	task[2] = named("after");
	starpu_task_declare_deps_array(task[2], 2, task);
	starpu_pause();
	for (int i = 0; i < 3; i++)
		CLAIM_EQ(starpu_task_submit(task[i]), 0);
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(strcmp(told, "after "), 0);
	/* The same by tags. */
	told[0] = '\0';
	starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
	starpu_pause();
	for (int i = 2; i >= 1; i--) {
		task[i] = named(i == 2 ? "tagged" : "one");
		task[i]->use_tag = 1;
		task[i]->tag_id = (starpu_tag_t)i;
		CLAIM_EQ(starpu_task_submit(task[i]), 0);
	}
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(strcmp(told, "tagged "), 0);
	starpu_task_notify_ready_soon_register(NULL, NULL);
	starpu_data_unregister(handle);
	starpu_shutdown();
	CLAIM_EQ(tellings, 4);
}

/* ---- a policy that wakes by a signal --------------------------------------- */

static struct starpu_task_list list;
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static int nkept;

static void init_list(unsigned ctx)
{
	(void)ctx;
	starpu_task_list_init(&list);
}

static int keep(struct starpu_task *task)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	starpu_task_list_push_back(&list, task);
	nkept++;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_sched_task_break(task);
	return starpu_push_task_end(task);
}

static int are_given;

static struct starpu_task *give(unsigned ctx)
{
	struct starpu_task *task = NULL;

	(void)ctx;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	if (are_given && !starpu_task_list_empty(&list))
		task = starpu_task_list_pop_front(&list);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return task;
}

static struct starpu_sched_policy policy = {.init_sched = init_list,
					    .push_task = keep,
					    .pop_task = give,
					    .policy_name = "kept back"};

/* The library knows nothing of the tasks becoming available but by the signal. */
static void check_condition(void)
{
	starpu_pthread_mutex_t *own;
	starpu_pthread_cond_t *cond;
	struct starpu_conf conf;

	nran = nkept = are_given = 0;
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.precedence_over_environment_variables = 1;
	conf.sched_policy = &policy;
	if (starpu_init(&conf) != 0)
		exit(77);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&codelet, 0);
	UNTIL(LOOK(nkept) == NTASKS);
	starpu_worker_get_sched_condition(0, &own, &cond);
	/* Until it sleeps for want of tasks. */
	starpu_sleep(0.01f);
	CLAIM_EQ(LOOK(nran), 0);
	STARPU_PTHREAD_MUTEX_LOCK(own);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	are_given = 1;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	STARPU_PTHREAD_COND_SIGNAL(cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(own);
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, NTASKS);
	starpu_shutdown();
}

static int ntraps;

static void trapped(int number)
{
	(void)number;
	ntraps++;
}

/* At each stage of one task a debugger would stop. */
static void check_breaks(void)
{
	static const char *const names[] = {
		"STARPU_TASK_BREAK_ON_PUSH", "STARPU_TASK_BREAK_ON_SCHED",
		"STARPU_TASK_BREAK_ON_POP", "STARPU_TASK_BREAK_ON_EXEC"};
	struct starpu_conf conf;

	for (int i = 0; i < 4; i++)
		setenv(names[i], "3", 1);
	signal(SIGTRAP, trapped);
	are_given = 1;
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.sched_policy = &policy;
	conf.catch_signals = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
	for (int i = 0; i < 4; i++)
		unsetenv(names[i]);
	for (int i = 0; i < NTASKS; i++) {
		starpu_task_insert(&codelet, 0);
		starpu_task_wait_for_all();
		CLAIM_EQ(ntraps, i + 1 < 3 ? 0 : 4);
	}
	starpu_shutdown();
	signal(SIGTRAP, SIG_DFL);
}

/* ---- trees ------------------------------------------------------------------ */

/* Two packages of two units. */
static void grow(struct starpu_tree *root)
{
	memset(root, 0x55, sizeof(*root));
	starpu_tree_insert(root, 77, 0, 0, 2, NULL);
	starpu_tree_prepare_children(2, root);
	for (int i = 0; i < 2; i++) {
		starpu_tree_insert(&root->nodes[i], i, 1, 0, 2, root);
		starpu_tree_prepare_children(2, &root->nodes[i]);
		for (int k = 0; k < 2; k++)
			starpu_tree_insert(&root->nodes[i].nodes[k], 2 * i + k, 2, 1, 0,
					   &root->nodes[i]);
	}
}

/* The next ones from a unit, marked one after the other. */
static void check_walk(struct starpu_tree *root, int from, char *present, int expected)
{
	char visited[STARPU_NMAXWORKERS] = {0};
	struct starpu_tree *at = starpu_tree_get(root, from), *next;
	int seen = 0;

	visited[from] = 1;
	while ((next = starpu_tree_get_neighbour(root, at, visited, present))) {
		seen = 10 * seen + next->id + 1;
		visited[next->id] = 1;
	}
	CLAIM_EQ(seen, expected);
}

static int count_units(const struct starpu_tree *tree, unsigned *seen)
{
	int n = 0;

	if (tree->is_pu) {
		int *ids;

		CLAIM_EQ(tree->arity, 0);
		*seen += (unsigned)starpu_bindid_get_workerids(tree->id, &ids);
		return 1;
	}
	CLAIM(tree->arity > 1);
	for (int i = 0; i < tree->arity; i++) {
		CLAIM(tree->nodes[i].father == tree);
		CLAIM(tree->nodes[i].level > tree->level);
		n += count_units(&tree->nodes[i], seen);
	}
	return n;
}

/* Units 0 to 3 are those of four workers in simulation, where a real machine may have
 * fewer. */
static void check_tree(void)
{
	char present[STARPU_NMAXWORKERS], visited[STARPU_NMAXWORKERS];
	struct starpu_tree root;
	unsigned nworkers = 0;
	int *ids, n;

	claim_start(4);
	grow(&root);
	CLAIM_EQ(root.id, 0);
	CLAIM_EQ(root.arity, 2);
	CLAIM(!root.father);
	CLAIM(starpu_tree_get(&root, 3) == &root.nodes[1].nodes[1]);
	CLAIM(!starpu_tree_get(&root, 77));
	n = count_units(starpu_workers_get_tree(), &nworkers);
	CLAIM_EQ(nworkers, 4);
	if (n == 4) {
		memset(present, 1, sizeof(present));
		check_walk(&root, 0, present, 234);
		check_walk(&root, 3, present, 312);
		present[1] = 0;
		check_walk(&root, 3, present, 31);
		memset(visited, 1, sizeof(visited));
		starpu_tree_reset_visited(&root.nodes[1], visited);
		CLAIM(visited[0] && visited[1] && !visited[2] && !visited[3]);
	}
	CLAIM_EQ(starpu_bindid_get_workerids(9999, &ids), 0);
	starpu_tree_free(&root);
	CLAIM(!root.nodes);
	starpu_shutdown();
}

/* From a worker to its leaf of the tree, and back, whether workers are bound or not. */
static void check_units(void)
{
	claim_start(4);
	for (int i = 0; i < 4; i++) {
		int unit = starpu_worker_get_bindid(i), is_there = 0, *ids;
		int n = starpu_bindid_get_workerids(unit, &ids);
		struct starpu_tree *leaf =
			starpu_tree_get(starpu_workers_get_tree(), unit);

		CLAIM(leaf && leaf->is_pu);
		for (int k = 0; k < n; k++)
			is_there |= ids[k] == i;
		CLAIM(is_there);
	}
	starpu_shutdown();
}

static void check_unbound_units(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	check_units();
	unsetenv("STARPU_WORKERS_NOBIND");
}

static const struct claim claims[] = {
	{"hooks_have_numbers", check_numbers},
	{"hooks_are_called_until_they_are_taken_away", check_called},
	{"hooks_that_want_more_are_called_again", check_wants_more},
	{"hooks_submit_tasks_and_take_themselves_away", check_works},
	{"workers_tell_that_they_sleep", check_sleep},
	{"workers_tell_when_tasks_will_end", check_end},
	{"tasks_that_will_be_ready_are_told", check_soon},
	{"signals_wake_workers", check_condition},
	{"debuggers_stop_at_a_task", check_breaks},
	{"trees_know_neighbours", check_tree},
	{"workers_have_a_leaf_of_the_tree", check_units},
	{"workers_that_are_not_bound_too", check_unbound_units},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	(void)argv;
	return claims_run(claims, argc > 1);
}
