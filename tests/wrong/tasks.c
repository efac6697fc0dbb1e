/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with tasks and data in one node, one for each name; run.py says what must
 * come of it.
 * usage: tasks CASE
 */
#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>
#include <starpu_scheduler.h>

#include "wrong.h"

static struct starpu_codelet unbounded = {.cpu_funcs = {nothing_cpu},
					  .nbuffers = STARPU_VARIABLE_NBUFFERS,
					  .model = &starpu_perfmodel_nop,
					  .name = "unbounded"};

static struct starpu_task *adding(starpu_data_handle_t handle)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &add;
	task->handles[0] = handle;
	return task;
}

static void say(int ret)
{
	printf("returns %d\n", ret);
}

/* ---- codelets and lists of arguments -------------------------------------- */

static void no_function(void)
{
	static struct starpu_codelet empty = {
		.nbuffers = 1, .modes = {STARPU_RW}, .name = "empty"};

	say(starpu_task_insert(&empty, STARPU_RW, variable(&value), 0));
}

static void no_such_worker(void)
{
	say(starpu_task_insert(&nothing, STARPU_EXECUTE_ON_WORKER, 99, 0));
}

static void only_for_gpus(void)
{
	static struct starpu_codelet cuda = {
		.cuda_funcs = {(starpu_cuda_func_t)nothing_cpu},
		.model = &starpu_perfmodel_nop,
		.name = "only_for_gpus"};

	say(starpu_task_insert(&cuda, 0));
}

static void too_many_buffers(void)
{
	starpu_task_insert(&add, STARPU_RW, variable(&value), STARPU_RW,
			   variable(&other_value), 0);
}

static void nine_buffers(void)
{
	static struct starpu_codelet nine = {
		.cpu_funcs = {nothing_cpu}, .nbuffers = 9, .name = "nine"};

	starpu_task_insert(&nine, STARPU_R, variable(&value), 0);
}

static void negative_buffers(void)
{
	static struct starpu_codelet negative = {
		.cpu_funcs = {nothing_cpu}, .nbuffers = -3, .name = "negative"};

	starpu_task_insert(&negative, STARPU_R, variable(&value), 0);
}

static void no_mode(void)
{
	static struct starpu_codelet modeless = {
		.cpu_funcs = {nothing_cpu}, .nbuffers = 1, .name = "modeless"};
	struct starpu_task *task = adding(variable(&value));

	task->cl = &modeless;
	say(starpu_task_submit(task));
	starpu_task_wait_for_all();
}

static void no_end_of_list(void)
{
	starpu_task_insert(&add, STARPU_RW, variable(&value), 12345678);
}

static void only_commute(void)
{
	starpu_task_insert(&unbounded, STARPU_COMMUTE, variable(&value), 0);
	starpu_task_wait_for_all();
}

static void unpacks_cpu(void *buffers[], void *arg)
{
	struct starpu_codelet_pack_arg_data state;
	long one;

	(void)buffers;
	starpu_codelet_unpack_arg_init(&state, arg, 0);
	starpu_codelet_unpack_arg(&state, &one, sizeof one);
	starpu_codelet_unpack_arg(&state, &one, sizeof one);
}

static struct starpu_codelet unpacks = {.cpu_funcs = {unpacks_cpu},
					.model = &starpu_perfmodel_nop,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "unpacks"};

static void unpacks_too_much(void)
{
	starpu_task_insert(&unpacks, STARPU_VALUE, &value, sizeof value, 0);
	starpu_task_wait_for_all();
}

static void unpacks_other_size(void)
{
	static char small;

	starpu_task_insert(&unpacks, STARPU_VALUE, &small, sizeof small, 0);
	starpu_task_wait_for_all();
}

/* ---- the life of a task ----------------------------------------------------- */

static void null_task(void)
{
	say(starpu_task_submit(NULL));
}

static void zeroed_task(void)
{
	static struct starpu_task zeroed;

	say(starpu_task_submit(&zeroed));
}

static void submitted_twice(void)
{
	starpu_data_handle_t handle = variable(&value);
	struct starpu_task *task = adding(handle);

	task->detach = 0;
	task->destroy = 0;
	starpu_data_acquire(handle, STARPU_RW);
	say(starpu_task_submit(task));
	say(starpu_task_submit(task));
}

static void waited_for_twice(void)
{
	struct starpu_task *task = adding(variable(&value));

	task->detach = 0;
	task->destroy = 0;
	say(starpu_task_submit(task));
	say(starpu_task_wait(task));
	say(starpu_task_wait(task));
}

static void destroyed_running(void)
{
	starpu_data_handle_t handle = variable(&value);
	struct starpu_task *task = adding(handle);

	task->destroy = 0;
	starpu_data_acquire(handle, STARPU_RW);
	say(starpu_task_submit(task));
	starpu_task_destroy(task);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
}

static void destroyed_detached(void)
{
	starpu_data_handle_t handle = variable(&value);
	struct starpu_task *task = adding(handle);

	starpu_data_acquire(handle, STARPU_RW);
	say(starpu_task_submit(task));
	starpu_task_destroy(task);
}

static void finished_detached(void)
{
	struct starpu_task *task = adding(variable(&value));

	say(starpu_task_finished(task));
}

static void resumed_only(void)
{
	starpu_resume();
}

static void shutdown_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	starpu_shutdown();
}

static void shutdown_in_task(void)
{
	static struct starpu_codelet shuts = {.cpu_funcs = {shutdown_cpu},
					      .model = &starpu_perfmodel_nop,
					      .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					      .name = "shuts"};

	starpu_task_insert(&shuts, 0);
	starpu_task_wait_for_all();
}

/* ---- handles ------------------------------------------------------------------ */

static void released_twice(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_acquire(handle, STARPU_R);
	starpu_data_release(handle);
	starpu_data_release(handle);
}

static void ended_twice_by_submit(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_unregister_submit(handle);
	starpu_task_wait_for_all();
	starpu_data_unregister_submit(handle);
}

static void another_interface(void)
{
	starpu_vector_get_nx(variable(&value));
}

static void home_nowhere(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, 7, (uintptr_t)&value, sizeof value);
}

static void home_at_null(void)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, 0, 10, 8);
}

static void rows_overlap(void)
{
	starpu_data_handle_t handle;

	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value, 2, 5, 5,
				    8);
}

static void acquired_as_scratch(void)
{
	starpu_data_acquire(variable(&value), STARPU_SCRATCH);
}

static void acquired_without_value(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, -1, 0, sizeof value);
	starpu_data_acquire(handle, STARPU_R);
}

static void read_after_invalidate(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_invalidate(handle);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
}

static void contributed_without_methods(void)
{
	starpu_task_insert(&unbounded, STARPU_REDUX, variable(&value), 0);
	starpu_task_wait_for_all();
}

static void no_such_hook(void)
{
	starpu_idle_hook_deregister(3);
}

/* ---- aliases of parallel tasks --------------------------------------------- */

static void (*hand_over)(struct starpu_task *task);
static struct starpu_task *popped;

static int push(struct starpu_task *task)
{
	hand_over(task);
	return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
	struct starpu_task *task = __atomic_exchange_n(&popped, NULL, __ATOMIC_ACQ_REL);

	(void)ctx;
	return task;
}

/* A task on worker 0 under this policy. */
static void scheduled_by(void (*hands_over)(struct starpu_task *task),
			 struct starpu_task *(*pops)(unsigned ctx))
{
	static struct starpu_sched_policy policy = {
		.push_task = push, .policy_name = "wrong", .policy_description = "wrong"};
	int worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	unsigned ctx;

	policy.pop_task = pops;
	ctx = starpu_sched_ctx_create(&worker, 1, "wrong", STARPU_SCHED_CTX_POLICY_STRUCT,
				      &policy, 0);
	hand_over = hands_over;
	starpu_task_insert(&nothing, STARPU_SCHED_CTX, ctx, 0);
	starpu_task_wait_for_all();
}

static void asks_for_thousand(struct starpu_task *task)
{
	starpu_parallel_task_barrier_init_n(task, 1000);
}

static void thousand_aliases(void)
{
	scheduled_by(asks_for_thousand, pop);
}

static void gives_copy(struct starpu_task *task)
{
	__atomic_store_n(&popped, starpu_task_dup(task), __ATOMIC_RELEASE);
}

static void alias_before_barrier(void)
{
	scheduled_by(gives_copy, pop);
}

static void gives_both(struct starpu_task *task)
{
	starpu_parallel_task_barrier_init_n(task, 2);
	for (int i = 0; i < 2; i++)
		starpu_push_local_task(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0),
				       starpu_task_dup(task), 0);
}

static void alias_twice(void)
{
	scheduled_by(gives_both, pop);
}

static void gives_one(struct starpu_task *task)
{
	starpu_parallel_task_barrier_init_n(task, 2);
	__atomic_store_n(&popped, starpu_task_dup(task), __ATOMIC_RELEASE);
}

static void alias_missing(void)
{
	scheduled_by(gives_one, pop);
}

static void barrier_of_own(void)
{
	starpu_parallel_task_barrier_init_n(starpu_task_create(), 1);
}

static void success_of_nothing(void)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &nothing;
	starpu_task_ft_success(task);
}

/* ---- transactions, contexts and links that are no more ---------------------- */

static int always(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
	return 1;
}

static struct starpu_transaction *closed_transaction(void)
{
	struct starpu_transaction *transaction = starpu_transaction_open(always, NULL);

	starpu_transaction_close(transaction);
	starpu_task_wait_for_all();
	return transaction;
}

static void closed_twice(void)
{
	starpu_transaction_close(closed_transaction());
}

static void epoch_of_closed(void)
{
	starpu_transaction_next_epoch(closed_transaction(), NULL);
}

static void task_of_closed(void)
{
	starpu_task_insert(&nothing, STARPU_TRANSACTION, closed_transaction(), 0);
}

static unsigned deleted_context(void)
{
	int worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	unsigned ctx = starpu_sched_ctx_create(&worker, 1, "gone",
					       STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);

	starpu_sched_ctx_set_context(&ctx);
	starpu_task_insert(&nothing, 0);
	starpu_task_wait_for_all();
	starpu_sched_ctx_delete(ctx);
	return ctx;
}

static void task_of_deleted_context(void)
{
	starpu_task_insert(&nothing, STARPU_SCHED_CTX, deleted_context(), 0);
}

static void thread_of_deleted_context(void)
{
	deleted_context();
	starpu_task_insert(&nothing, 0);
}

static void task_of_no_context(void)
{
	starpu_task_insert(&nothing, STARPU_SCHED_CTX, 100u, 0);
}

static void no_such_bus(void)
{
	say(starpu_bus_get_direct(0));
	say(starpu_bus_get_ngpus(-1));
	starpu_bus_set_direct(0, 1);
}

static int left_out;

static void sample_what_is_left_out(struct starpu_perf_counter_listener *listener,
				    struct starpu_perf_counter_sample *sample,
				    void *context)
{
	(void)listener;
	(void)context;
	starpu_perf_counter_sample_get_int64_value(sample, left_out);
}

static void disabled_counter(void)
{
	const enum starpu_perf_counter_scope scope = starpu_perf_counter_scope_global;
	struct starpu_perf_counter_set *set = starpu_perf_counter_set_alloc(scope);

	left_out = starpu_perf_counter_nth_to_id(scope, 0);
	starpu_perf_counter_set_enable_id(set, left_out);
	starpu_perf_counter_set_enable_id(set, starpu_perf_counter_nth_to_id(scope, 1));
	starpu_perf_counter_set_disable_id(set, left_out);
	starpu_perf_counter_set_global_listener(
		starpu_perf_counter_listener_init(set, sample_what_is_left_out, NULL));
	starpu_perf_counter_collection_start();
	starpu_task_insert(&nothing, 0);
}

static int knob_named(enum starpu_perf_knob_scope scope, const char *name)
{
	return starpu_perf_knob_name_to_id(scope, name);
}

static void number_as_float(void)
{
	starpu_perf_knob_get_global_float_value(knob_named(
		starpu_perf_knob_scope_global, "starpu.global.g_calibrate_knob"));
}

static void number_set_to_float(void)
{
	starpu_perf_knob_set_global_float_value(
		knob_named(starpu_perf_knob_scope_global,
			   "starpu.global.g_calibrate_knob"),
		1.5f);
}

static void switch_as_float(void)
{
	starpu_perf_knob_get_per_worker_float_value(
		knob_named(starpu_perf_knob_scope_per_worker,
			   "starpu.worker.w_enable_worker_knob"),
		0);
}

static void switch_set_to_float(void)
{
	starpu_perf_knob_set_per_worker_float_value(
		knob_named(starpu_perf_knob_scope_per_worker,
			   "starpu.worker.w_enable_worker_knob"),
		0, 1);
}

static struct starpu_task *pop_or_sleep(unsigned ctx)
{
	struct starpu_task *task;

	while (!(task = pop(ctx)))
		starpu_usleep(100);
	return task;
}

/* Bytes are an int there. */
static void size_of_four_gib(void)
{
	setenv("SIZE_OF_MINE", "-2097152", 1);
	if (starpu_get_env_size_default("SIZE_OF_MINE", 0) != INT_MIN)
		return;
	setenv("SIZE_OF_MINE", "4g", 1);
	printf("%d\n", starpu_get_env_size_default("SIZE_OF_MINE", 0));
}

static void gives_it(struct starpu_task *task)
{
	__atomic_store_n(&popped, task, __ATOMIC_RELEASE);
}

static void pop_that_sleeps(void)
{
	scheduled_by(gives_it, pop_or_sleep);
}

static const struct scene scenes[] = {
	SCENE(no_function),
	SCENE(no_such_worker),
	SCENE(only_for_gpus),
	SCENE(too_many_buffers),
	SCENE(nine_buffers),
	SCENE(negative_buffers),
	SCENE(no_mode),
	SCENE(no_end_of_list),
	SCENE(only_commute),
	SCENE(unpacks_too_much),
	SCENE(unpacks_other_size),
	SCENE(null_task),
	SCENE(zeroed_task),
	SCENE(submitted_twice),
	SCENE(waited_for_twice),
	SCENE(destroyed_running),
	SCENE(destroyed_detached),
	SCENE(finished_detached),
	SCENE(resumed_only),
	SCENE(shutdown_in_task),
	SCENE(released_twice),
	SCENE(ended_twice_by_submit),
	SCENE(another_interface),
	SCENE(home_nowhere),
	SCENE(home_at_null),
	SCENE(rows_overlap),
	SCENE(acquired_as_scratch),
	SCENE(acquired_without_value),
	SCENE(read_after_invalidate),
	SCENE(contributed_without_methods),
	SCENE(no_such_hook),
	SCENE(thousand_aliases),
	SCENE(alias_before_barrier),
	SCENE(alias_twice),
	SCENE(alias_missing),
	SCENE(barrier_of_own),
	SCENE(pop_that_sleeps),
	SCENE(success_of_nothing),
	SCENE(closed_twice),
	SCENE(epoch_of_closed),
	SCENE(task_of_closed),
	SCENE(task_of_deleted_context),
	SCENE(thread_of_deleted_context),
	SCENE(task_of_no_context),
	SCENE(no_such_bus),
	SCENE(disabled_counter),
	SCENE(number_as_float),
	SCENE(number_set_to_float),
	SCENE(switch_as_float),
	SCENE(switch_set_to_float),
	SCENE(size_of_four_gib),
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof scenes[0]);
}
