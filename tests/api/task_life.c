/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Tasks that run more than once, end in odd places or come in long chains, and the tags
 * and explicit dependencies between them.
 */
#include <limits.h>

#include <starpu_sched_ctx.h>

#include "claim.h"

int claim_failures;

enum { ROUNDS = 1000, LINKS = 100000 };

static int na, nb, overtaken;

static void run_a(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_add_fetch(&na, 1, __ATOMIC_SEQ_CST);
}

static void run_b(void *buffers[], void *arg)
{
	int n = __atomic_add_fetch(&nb, 1, __ATOMIC_SEQ_CST);

	(void)buffers;
	(void)arg;
	overtaken += n > __atomic_load_n(&na, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet cl_a = {
	.cpu_funcs = {run_a}, .model = &starpu_perfmodel_nop, .name = "a"};
static struct starpu_codelet cl_b = {
	.cpu_funcs = {run_b}, .model = &starpu_perfmodel_nop, .name = "b"};
static const struct starpu_codelet cl_const = {
	.cpu_funcs = {run_a}, .model = &starpu_perfmodel_nop, .name = "const"};

static void begin(void)
{
	na = nb = overtaken = 0;
	if (starpu_init(NULL))
		exit(77);
}

static void submit(struct starpu_task *task)
{
	CLAIM_EQ(starpu_task_submit(task), 0);
}

static struct starpu_task *new_empty(void (*callback)(void *), void *arg)
{
	struct starpu_task *task = starpu_task_create();

	task->callback_func = callback;
	task->callback_arg = arg;
	return task;
}

/* ---- runs that repeat ------------------------------------------------ */

static void repeat_pair(struct starpu_task *a, struct starpu_task *b, int b_first)
{
	for (int i = 0; i < ROUNDS; i++) {
		submit(b_first ? b : a);
		submit(b_first ? a : b);
		CLAIM_EQ(starpu_task_wait(a), 0);
		CLAIM_EQ(starpu_task_wait(b), 0);
	}
	CLAIM_EQ(na, ROUNDS);
	CLAIM_EQ(nb, ROUNDS);
	CLAIM_EQ(overtaken, 0);
	starpu_task_clean(a);
	starpu_task_clean(b);
	starpu_shutdown();
}

static void init_pair(struct starpu_task *a, struct starpu_task *b)
{
	starpu_task_init(a);
	starpu_task_init(b);
	a->cl = &cl_a;
	b->cl = &cl_b;
	a->detach = b->detach = 0;
}

static void dependencies_hold_again(void)
{
	struct starpu_task a, b, *array[1] = {&a};

	for (int b_first = 0; b_first < 2; b_first++) {
		begin();
		init_pair(&a, &b);
		starpu_task_declare_deps_array(&b, 1, array);
		repeat_pair(&a, &b, b_first);
	}
}

static void tags_hold_again(void)
{
	struct starpu_task a, b;

	for (int b_first = 0; b_first < 2; b_first++) {
		begin();
		init_pair(&a, &b);
		a.use_tag = b.use_tag = 1;
		a.tag_id = 1;
		b.tag_id = 2;
		starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
		repeat_pair(&a, &b, b_first);
	}
}

static struct starpu_task twice_a, twice_b;

static void stop_a(void *arg)
{
	(void)arg;
	twice_a.regenerate = na < ROUNDS;
}

static void stop_b(void *arg)
{
	(void)arg;
	twice_b.regenerate = nb < ROUNDS;
}

static void regenerated_tasks_wait(void)
{
	begin();
	init_pair(&twice_a, &twice_b);
	twice_a.detach = twice_b.detach = 1;
	twice_a.regenerate = twice_b.regenerate = 1;
	twice_a.callback_func = stop_a;
	twice_b.callback_func = stop_b;
	starpu_task_declare_deps(&twice_b, 1, &twice_a);
	submit(&twice_a);
	submit(&twice_b);
	starpu_task_wait_for_all();
	CLAIM_EQ(na, ROUNDS);
	CLAIM_EQ(nb, ROUNDS);
	CLAIM_EQ(overtaken, 0);
	starpu_task_clean(&twice_a);
	starpu_task_clean(&twice_b);
	starpu_shutdown();
}

static void submit_again(void *arg)
{
	if (na < ROUNDS)
		submit(arg);
}

static void a_callback_submits_its_task(void)
{
	struct starpu_task task;

	for (int detach = 0; detach < 2; detach++) {
		begin();
		starpu_task_init(&task);
		task.cl = &cl_a;
		task.detach = detach != 0;
		task.callback_func = submit_again;
		task.callback_arg = &task;
		submit(&task);
		if (!detach)
			CLAIM_EQ(starpu_task_wait(&task), 0);
		starpu_task_wait_for_all();
		CLAIM_EQ(na, ROUNDS);
		starpu_task_clean(&task);
		starpu_shutdown();
	}
}

/* ---- ends ------------------------------------------------------------ */

static void set_destroy(void *arg)
{
	starpu_task_set_destroy(arg);
}

static void destroy(void *arg)
{
	starpu_task_destroy(arg);
}

static void callbacks_destroy_their_tasks(void)
{
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		struct starpu_task *task = new_empty(i % 2 ? set_destroy : destroy, NULL);

		task->cl = &cl_a;
		task->destroy = 0;
		task->callback_arg = task;
		submit(task);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(na, ROUNDS);
	starpu_shutdown();
}

static void removed_tags_hold_nobody(void)
{
	begin();
	for (int i = 0; i < 10; i++) {
		struct starpu_task *task = new_empty(NULL, NULL);

		starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
		starpu_tag_declare_deps(3, 1, (starpu_tag_t)2);
		task->cl = &cl_a;
		task->use_tag = 1;
		task->tag_id = 2;
		submit(task);
		/* With a link pending, then one that ends nowhere. */
		starpu_tag_remove(i % 2 ? 1 : 2);
		starpu_task_wait_for_all();
		starpu_tag_notify_restart_from_apps(1);
		starpu_tag_remove(3);
	}
	CLAIM_EQ(na, 10);
	starpu_shutdown();
}

static void successors_are_told(void)
{
	struct starpu_task *tasks[3], *seen[3] = {NULL};

	begin();
	for (int i = 0; i < 3; i++)
		tasks[i] = new_empty(NULL, NULL);
	starpu_task_declare_deps_array(tasks[1], 1, tasks);
	starpu_task_declare_deps_array(tasks[2], 1, tasks);
	CLAIM_EQ(starpu_task_get_task_succs(tasks[0], 1, seen), 2);
	CLAIM(seen[0] == tasks[1] && !seen[1]);
	submit(tasks[2]);
	CLAIM_EQ(starpu_task_get_task_scheduled_succs(tasks[0], 3, seen), 1);
	CLAIM(seen[0] == tasks[2]);
	submit(tasks[1]);
	submit(tasks[0]);
	starpu_task_wait_for_all();
	starpu_shutdown();
}

/* ---- long chains ----------------------------------------------------- */

static int nlinks;

static void link_on(void *arg)
{
	if (++nlinks < LINKS)
		submit(new_empty(link_on, arg));
}

static void chains_of_callbacks_are_no_recursion(void)
{
	begin();
	nlinks = 0;
	submit(new_empty(link_on, NULL));
	starpu_task_wait_for_all();
	CLAIM_EQ(nlinks, LINKS);
	starpu_shutdown();
}

/* In a new life: a submitted task that waits for starpu_task_end_dep_release(). */
static struct starpu_task *new_without_end(void)
{
	struct starpu_task *task;

	begin();
	task = new_empty(NULL, NULL);
	starpu_task_end_dep_add(task, 1);
	submit(task);
	return task;
}

static void chains_of_ends_are_no_recursion(void)
{
	struct starpu_task *first = new_without_end(), *before = first;

	for (int i = 1; i < LINKS; i++) {
		struct starpu_task *task = new_empty(NULL, NULL);

		starpu_task_declare_end_deps_array(task, 1, &before);
		submit(task);
		before = task;
	}
	CLAIM_EQ(starpu_task_nsubmitted(), LINKS);
	starpu_task_end_dep_release(first);
	starpu_task_wait_for_all();
	CLAIM_EQ(starpu_task_nsubmitted(), 0);
	starpu_shutdown();
}

static void chains_of_tags_are_no_recursion(void)
{
	begin();
	for (starpu_tag_t i = 1; i <= LINKS; i++)
		starpu_tag_declare_deps(i + 1, 1, i);
	starpu_tag_notify_from_apps(1);
	CLAIM_EQ(starpu_tag_wait(LINKS + 1), 0);
	starpu_shutdown();
}

/* ---- callbacks ------------------------------------------------------- */

static int nwrong;

static void check_current(void *arg)
{
	nwrong += starpu_task_get_current() != arg;
}

static void callbacks_know_their_task(void)
{
	struct starpu_task *with, *without;

	begin();
	nwrong = 0;
	with = new_empty(check_current, NULL);
	with->cl = &cl_a;
	with->callback_arg = with;
	without = new_empty(check_current, NULL);
	without->callback_arg = without->prologue_callback_pop_arg = without;
	without->prologue_callback_pop_func = check_current;
	starpu_task_declare_deps(without, 1, with);
	submit(without);
	submit(with);
	starpu_task_wait_for_all();
	CLAIM_EQ(nwrong, 0);
	starpu_shutdown();
}

static void count_up(void *arg)
{
	++*(int *)arg;
}

static void popped_without_kernel(void)
{
	struct starpu_task *task;
	int npopped = 0;

	begin();
	task = new_empty(NULL, NULL);
	task->prologue_callback_pop_func = count_up;
	task->prologue_callback_pop_arg = &npopped;
	submit(task);
	starpu_task_wait_for_all();
	CLAIM_EQ(npopped, 1);
	starpu_shutdown();
}

static void submit_more(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		submit(new_empty(NULL, NULL));
}

static starpu_data_handle_t acquired;

static void release_and_submit(void *arg)
{
	starpu_data_release(acquired);
	submit_more(arg);
}

static void callbacks_are_not_throttled(void)
{
	begin();
	starpu_set_limit_max_submitted_tasks(1);
	starpu_void_data_register(&acquired);
	CLAIM_EQ(starpu_data_acquire_cb(acquired, STARPU_RW, release_and_submit, NULL),
		 0);
	submit(new_empty(submit_more, NULL));
	starpu_task_wait_for_all();
	starpu_data_unregister(acquired);
	starpu_shutdown();
}

/* ---- codelets and lives ---------------------------------------------- */

static void codelets_may_be_constant(void)
{
	begin();
	CLAIM_EQ(starpu_task_insert((struct starpu_codelet *)&cl_const, 0), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(na, 1);
	starpu_shutdown();
}

static void nop_may_be_changed(void)
{
	starpu_data_handle_t handle;

	begin();
	starpu_void_data_register(&handle);
	starpu_codelet_nop.nbuffers = 1;
	starpu_codelet_nop.modes[0] = STARPU_RW;
	CLAIM_EQ(starpu_task_insert(&starpu_codelet_nop, STARPU_RW, handle, 0), 0);
	starpu_data_unregister(handle);
	starpu_codelet_nop.nbuffers = 0;
	starpu_codelet_nop.modes[0] = STARPU_NONE;
	starpu_shutdown();
}

static void lives_may_nest(void)
{
	begin();
	CLAIM_EQ(starpu_init(NULL), 0);
	starpu_shutdown();
	CLAIM_EQ(starpu_is_initialized(), 1);
	starpu_shutdown();
	CLAIM_EQ(starpu_is_initialized(), 0);
}

/* The library ends without them; what they wait for does not let them go. */
static void blocked_tasks_never_run(void)
{
	struct starpu_task *unsubmitted, *blocked;

	begin();
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	CLAIM_EQ(starpu_task_insert(&cl_a, STARPU_TAG, (starpu_tag_t)1, 0), 0);
	CLAIM_EQ(starpu_task_insert(&cl_a, STARPU_TAG, (starpu_tag_t)3, 0), 0);
	unsubmitted = starpu_task_create();
	unsubmitted->cl = &cl_a;
	blocked = starpu_task_create();
	blocked->cl = &cl_b;
	starpu_task_declare_deps_array(blocked, 1, &unsubmitted);
	submit(blocked);
	CLAIM_EQ(starpu_task_wait_for_no_ready(), 0);
	starpu_shutdown();
	CLAIM_EQ(na, 1);
	CLAIM_EQ(nb, 0);
	/* They are forgotten: their tags are free. */
	begin();
	CLAIM_EQ(starpu_task_insert(&cl_a, STARPU_TAG, (starpu_tag_t)1, 0), 0);
	CLAIM_EQ(starpu_tag_wait(1), 0);
	CLAIM_EQ(na, 1);
	starpu_shutdown();
}

/* ---- callbacks that wait ----------------------------------------------- */

enum { DEEPEST = 80 };

static int ndepths, nwaited;

/* Each is called in that of the task before, and at last they are put off. */
static void submit_deeper(void *arg)
{
	struct starpu_task *task = starpu_task_create();
	int deepest = (int)(intptr_t)arg;

	if (++ndepths < deepest) {
		task->callback_func = submit_deeper;
		task->callback_arg = arg;
		submit(task);
		return;
	}
	task->detach = 0;
	submit(task);
	CLAIM_EQ(starpu_task_wait(task), 0);
	nwaited++;
}

/* Main's callbacks may: also for what they have submitted themselves. */
static void callbacks_wait_for_what_is_put_off(void)
{
	begin();
	for (int deepest = 1; deepest < DEEPEST; deepest++) {
		ndepths = nwaited = 0;
		submit(new_empty(submit_deeper, (void *)(intptr_t)deepest));
		CLAIM_EQ(ndepths, deepest);
		CLAIM_EQ(nwaited, 1);
	}
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	starpu_shutdown();
}

/* ---- synchronous tasks ------------------------------------------------- */

static void drop_task(void *arg)
{
	starpu_task_set_destroy(arg);
	nb++;
}

static void destroy_task(void *arg)
{
	starpu_task_destroy(arg);
	nb++;
}

/* Who waits for the end of the task frees it, once. */
static void callbacks_drop_synchronous_tasks(void)
{
	void (*const callbacks[])(void *) = {drop_task, destroy_task};
	struct starpu_task *task, *next;

	begin();
	for (int i = 0; i < 8; i++) {
		task = starpu_task_create();
		task->cl = i & 1 ? &cl_a : NULL;
		task->destroy = i >> 1 & 1;
		task->synchronous = 1;
		task->callback_func = callbacks[i >> 2];
		task->callback_arg = task;
		CLAIM_EQ(starpu_task_submit(task), 0);
		CLAIM_EQ(nb, i + 1);
		/* Of what is freed twice two have the same. */
		task = starpu_task_create();
		next = starpu_task_create();
		CLAIM(task != next);
		starpu_task_destroy(next);
		starpu_task_destroy(task);
	}
	CLAIM_EQ(na, 4);
	starpu_shutdown();
}

/* Nobody waits for fewer than there can be. */
static void many_may_be_left(void)
{
	begin();
	CLAIM_EQ(starpu_task_insert(&cl_a, 0), 0);
	CLAIM_EQ(starpu_task_wait_for_n_submitted(UINT_MAX), 0);
	CLAIM_EQ(starpu_task_wait_for_n_submitted_in_ctx(0, UINT_MAX), 0);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	starpu_shutdown();
}

/* ---- copies ------------------------------------------------------------- */

static void add_argument(void *buffers[], void *arg)
{
	int value;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &value);
	__atomic_add_fetch(&na, value, __ATOMIC_SEQ_CST);
}

static void add_callback_argument(void *arg)
{
	__atomic_add_fetch(&nb, *(int *)arg, __ATOMIC_SEQ_CST);
}

/* What is freed with a task is not freed twice. */
static void copies_have_arguments_of_their_own(void)
{
	static struct starpu_codelet cl = {.cpu_funcs = {add_argument},
					   .model = &starpu_perfmodel_nop,
					   .flags = STARPU_CODELET_SIMGRID_EXECUTE};
	int value = 7, *argument = malloc(sizeof(*argument));
	struct starpu_task *task, *copy;

	begin();
	*argument = 5;
	task = starpu_task_build(&cl, STARPU_VALUE, &value, sizeof(value),
				 STARPU_CALLBACK_WITH_ARG, add_callback_argument,
				 argument, 0);
	copy = starpu_task_dup(task);
	CLAIM(copy->cl_arg != task->cl_arg);
	CLAIM_EQ(copy->cl_arg_size, task->cl_arg_size);
	submit(copy);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	submit(task);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM_EQ(na, 14);
	CLAIM_EQ(nb, 10);
	starpu_shutdown();
}

/* ---- defaults ----------------------------------------------------------- */

/* Where it lies is not forgotten with the rest. */
static void created_tasks_may_be_set_to_defaults(void)
{
	static struct starpu_task own;
	struct starpu_task *task;

	begin();
	task = new_empty(NULL, NULL);
	starpu_task_clean(task);
	starpu_task_init(task);
	CLAIM_EQ(task->destroy, 0);
	starpu_task_destroy(task);
	task = new_empty(NULL, NULL);
	for (int round = 0; round < 3; round++) {
		starpu_task_init(task);
		CLAIM(!task->cl && task->destroy == 0 && task->detach == 1);
		task->cl = &cl_a;
		task->detach = 0;
		submit(task);
		CLAIM_EQ(starpu_task_wait(task), 0);
	}
	starpu_task_init(task);
	task->cl = &cl_a;
	task->destroy = 1;
	submit(task);
	starpu_task_init(&own);
	own.cl = &cl_a;
	own.detach = 0;
	submit(&own);
	CLAIM_EQ(starpu_task_wait(&own), 0);
	starpu_task_clean(&own);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM_EQ(na, 5);
	starpu_shutdown();
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"dependencies hold again", dependencies_hold_again},
		{"tags hold again", tags_hold_again},
		{"regenerated tasks wait", regenerated_tasks_wait},
		{"a callback submits its task", a_callback_submits_its_task},
		{"callbacks destroy their tasks", callbacks_destroy_their_tasks},
		{"removed tags hold nobody", removed_tags_hold_nobody},
		{"successors are told", successors_are_told},
		{"chains of callbacks are no recursion",
		 chains_of_callbacks_are_no_recursion},
		{"chains of ends are no recursion", chains_of_ends_are_no_recursion},
		{"chains of tags are no recursion", chains_of_tags_are_no_recursion},
		{"callbacks know their task", callbacks_know_their_task},
		{"popped without kernel", popped_without_kernel},
		{"callbacks are not throttled", callbacks_are_not_throttled},
		{"codelets may be constant", codelets_may_be_constant},
		{"starpu_codelet_nop may be changed", nop_may_be_changed},
		{"lives may nest", lives_may_nest},
		{"blocked tasks never run", blocked_tasks_never_run},
		{"callbacks wait for what is put off",
		 callbacks_wait_for_what_is_put_off},
		{"callbacks drop synchronous tasks", callbacks_drop_synchronous_tasks},
		{"many may be left", many_may_be_left},
		{"copies have arguments of their own",
		 copies_have_arguments_of_their_own},
		{"created tasks may be set to defaults",
		 created_tasks_may_be_set_to_defaults},
		{NULL, NULL},
	};

	(void)argc;
	(void)argv;
	return claims_run(claims, 0);
}
