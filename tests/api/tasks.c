/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Implicit dependencies, exclusion and the life of tasks, on one node. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 2000, NDATA = 16 };

static void start(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 3; /* More workers than cores find more orders. */
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static void *pointer(void *buffer)
{
	return (void *)STARPU_VARIABLE_GET_PTR(buffer);
}

/* ---- kernels --------------------------------------------------------- */

/* x = 3 x + value (mod 2^64): the result tells the order. */
static void mix(void *buffers[], void *arg)
{
	uint64_t *x = pointer(buffers[0]);
	int value;

	starpu_codelet_unpack_args(arg, &value);
	*x = 3 * *x + (uint64_t)value;
}

/* Unprotected add: lost updates show missing exclusion. */
static void add(void *buffers[], void *arg)
{
	volatile long *x = pointer(buffers[0]);
	long seen = *x;

	(void)arg;
	for (volatile int i = 0; i < 50; i++)
		;
	*x = seen + 1;
}

static void sum_two(void *buffers[], void *arg)
{
	unsigned long *sum = pointer(buffers[0]); /* It may wrap. */

	(void)arg;
	*sum += *(unsigned long *)pointer(buffers[1]) +
		*(unsigned long *)pointer(buffers[2]);
}

static void use_scratch(void *buffers[], void *arg)
{
	long *result = pointer(buffers[0]);
	long *scratch = (long *)STARPU_VECTOR_GET_PTR(buffers[1]);
	int n = (int)STARPU_VECTOR_GET_NX(buffers[1]);
	long sum = 0;

	(void)arg;
	for (int i = 0; i < n; i++)
		scratch[i] = i;
	for (int i = 0; i < n; i++)
		sum += scratch[i];
	*result = sum;
}

static struct starpu_codelet cl_mix = {.cpu_funcs = {mix},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop};
static struct starpu_codelet cl_commute = {.cpu_funcs = {add},
					   .nbuffers = 1,
					   .modes = {STARPU_RW | STARPU_COMMUTE},
					   .model = &starpu_perfmodel_nop};
static struct starpu_codelet cl_add = {.cpu_funcs = {add},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop};
static struct starpu_codelet cl_sum = {.cpu_funcs = {sum_two},
				       .nbuffers = 3,
				       .modes = {STARPU_RW, STARPU_R, STARPU_R},
				       .model = &starpu_perfmodel_nop};
static struct starpu_codelet cl_scratch = {.cpu_funcs = {use_scratch},
					   .nbuffers = 2,
					   .modes = {STARPU_W, STARPU_SCRATCH},
					   .model = &starpu_perfmodel_nop};

/* ---- claims ---------------------------------------------------------- */

static void writers_keep_order(void)
{
	uint64_t x = 1, expected = 1;
	starpu_data_handle_t handle;

	start();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof(x));
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(starpu_task_insert(&cl_mix, STARPU_RW, handle, STARPU_VALUE, &i,
					    sizeof(i), 0),
			 0);
		expected = 3 * expected + (uint64_t)i;
	}
	starpu_data_unregister(handle);
	CLAIM(x == expected);
	starpu_shutdown();
}

/* A random graph of x[a] += x[b] + x[c], against the same in a loop. */
static void random_graph_as_sequential(void)
{
	long x[NDATA], expected[NDATA];
	starpu_data_handle_t handles[NDATA];
	unsigned seed = 12345;

	start();
	for (int i = 0; i < NDATA; i++) {
		x[i] = expected[i] = i;
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&x[i], sizeof(x[i]));
	}
	for (int i = 0; i < 20 * NTASKS; i++) {
		int a = (seed = seed * 1103515245 + 12345) >> 16 & (NDATA - 1);
		int b = (seed = seed * 1103515245 + 12345) >> 16 & (NDATA - 1);
		int c = (seed = seed * 1103515245 + 12345) >> 16 & (NDATA - 1);

		starpu_task_insert(&cl_sum, STARPU_RW, handles[a], STARPU_R, handles[b],
				   STARPU_R, handles[c], STARPU_PRIORITY, i % 5, 0);
		expected[a] =
			(long)((unsigned long)expected[a] + (unsigned long)expected[b] +
			       (unsigned long)expected[c]);
	}
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(handles[i]);
	for (int i = 0; i < NDATA; i++)
		CLAIM(x[i] == expected[i]);
	starpu_shutdown();
}

static void commuting_writers_exclude(void)
{
	long x[2] = {0, 0};
	starpu_data_handle_t handles[2];

	start();
	for (int i = 0; i < 2; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&x[i], sizeof(x[i]));
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&cl_commute, STARPU_RW | STARPU_COMMUTE,
				   handles[i % 2], 0);
	starpu_task_insert(&cl_sum, STARPU_RW, handles[0], STARPU_R, handles[1], STARPU_R,
			   handles[1], 0);
	starpu_data_unregister(handles[0]);
	starpu_data_unregister(handles[1]);
	CLAIM_EQ(x[1], NTASKS / 2);
	CLAIM_EQ(x[0], 3 * (NTASKS / 2));
	starpu_shutdown();
}

/* Without sequential consistency, writers still exclude each other. */
static void unordered_writers_exclude(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	start();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof(x));
	starpu_data_set_sequential_consistency_flag(handle, 0);
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&cl_add, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	CLAIM_EQ(x, NTASKS);
	starpu_shutdown();
}

static void scratch_is_private(void)
{
	long result[8];
	starpu_data_handle_t handles[8], scratch;

	start();
	starpu_vector_data_register(&scratch, -1, 0, 1000, sizeof(long));
	for (int i = 0; i < 8; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&result[i], sizeof(long));
	for (int k = 0; k < 50; k++)
		for (int i = 0; i < 8; i++)
			starpu_task_insert(&cl_scratch, STARPU_W, handles[i],
					   STARPU_SCRATCH, scratch, 0);
	for (int i = 0; i < 8; i++)
		starpu_data_unregister(handles[i]);
	starpu_data_unregister(scratch);
	for (int i = 0; i < 8; i++)
		CLAIM_EQ(result[i], 999 * 1000 / 2);
	starpu_shutdown();
}

static int ncalls;

static void count_call(void *arg)
{
	__atomic_add_fetch(&ncalls, 1, __ATOMIC_SEQ_CST);
	(void)arg;
}

static void callbacks_run_before_wait_returns(void)
{
	start();
	ncalls = 0;
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(i % 2 ? &starpu_codelet_nop : NULL, STARPU_CALLBACK,
				   count_call, STARPU_PROLOGUE_CALLBACK, count_call,
				   STARPU_EPILOGUE_CALLBACK, count_call, 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, 3 * NTASKS);
	starpu_shutdown();
}

static void undetached_tasks_can_be_waited(void)
{
	struct starpu_task *tasks[100];

	start();
	for (int i = 0; i < 100; i++) {
		tasks[i] = starpu_task_create();
		tasks[i]->cl = &starpu_codelet_nop;
		tasks[i]->detach = 0;
		CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
	}
	CLAIM_EQ(starpu_task_wait_array(tasks, 100), 0);
	tasks[0] = starpu_task_create();
	tasks[0]->cl = &starpu_codelet_nop;
	tasks[0]->synchronous = 1;
	CLAIM_EQ(starpu_task_submit(tasks[0]), 0);
	starpu_shutdown();
}

static int chain_position;

static void expect_position(void *arg)
{
	CLAIM_EQ(chain_position, (intptr_t)arg);
	chain_position++;
}

static void explicit_dependencies_order(void)
{
	struct starpu_task *tasks[20];

	start();
	chain_position = 0;
	for (int i = 0; i < 20; i++) {
		tasks[i] = starpu_task_create();
		tasks[i]->cl = &starpu_codelet_nop;
		tasks[i]->callback_func = expect_position;
		tasks[i]->callback_arg = (void *)(intptr_t)i;
		tasks[i]->destroy = 0;
		tasks[i]->detach = 0;
	}
	/* Callbacks run after successors are released: order them by end dependency. */
	for (int i = 1; i < 20; i++)
		starpu_task_declare_deps(tasks[i], 1, tasks[i - 1]);
	for (int i = 0; i < 20; i++) {
		tasks[i]->epilogue_callback_func = tasks[i]->callback_func;
		tasks[i]->epilogue_callback_arg = tasks[i]->callback_arg;
		tasks[i]->callback_func = NULL;
	}
	for (int i = 19; i >= 0; i--)
		CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
	for (int i = 0; i < 20; i++) {
		CLAIM_EQ(starpu_task_wait(tasks[i]), 0);
		starpu_task_destroy(tasks[i]);
	}
	CLAIM_EQ(chain_position, 20);
	starpu_shutdown();
}

static void tags_order(void)
{
	start();
	chain_position = 0;
	for (int i = 1; i < 20; i++)
		starpu_tag_declare_deps((starpu_tag_t)i, 1, (starpu_tag_t)(i - 1));
	for (int i = 19; i >= 0; i--) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &starpu_codelet_nop;
		task->use_tag = 1;
		task->tag_id = (starpu_tag_t)i;
		task->epilogue_callback_func = expect_position;
		task->epilogue_callback_arg = (void *)(intptr_t)i;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	CLAIM_EQ(starpu_tag_wait(19), 0);
	CLAIM_EQ(chain_position, 20);
	starpu_task_wait_for_all();
	starpu_shutdown();
}

static void acquire_waits_for_writers(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	start();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof(x));
	for (int round = 1; round <= 20; round++) {
		for (int i = 0; i < 10; i++)
			starpu_task_insert(&cl_add, STARPU_RW, handle, 0);
		CLAIM_EQ(starpu_data_acquire(handle, STARPU_RW), 0);
		CLAIM_EQ(x, 11 * round - 1);
		x++;
		starpu_data_release(handle);
	}
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void no_worker_is_refused(void)
{
	static struct starpu_codelet cl_gpu = {
		.where = STARPU_CUDA, .cuda_funcs = {mix}, .nbuffers = 0};
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncuda = 0;
	conf.ncpus = 1;
	CLAIM_EQ(starpu_init(&conf), 0);
	CLAIM_EQ(starpu_task_insert(&cl_gpu, 0), -ENODEV);
	starpu_shutdown();
	starpu_conf_init(&conf);
	starpu_conf_noworker(&conf);
	conf.precedence_over_environment_variables = 1;
	CLAIM_EQ(starpu_init(&conf), -ENODEV);
	conf.magic = 0;
	CLAIM_EQ(starpu_init(&conf), -EINVAL);
	CLAIM_EQ(starpu_is_initialized(), 0);
}

static void pause_holds_tasks(void)
{
	start();
	ncalls = 0;
	starpu_pause();
	for (int i = 0; i < 10; i++)
		starpu_task_insert(&starpu_codelet_nop, STARPU_CALLBACK, count_call, 0);
	CLAIM_EQ(starpu_is_paused(), 1);
	CLAIM_EQ(ncalls, 0);
	CLAIM_EQ(starpu_task_nsubmitted(), 10);
	starpu_resume();
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, 10);
	starpu_shutdown();
}

static void more_buffers_than_static(void)
{
	enum { MANY = 20 };
	static struct starpu_codelet cl_many = {.cpu_funcs = {starpu_codelet_nop_func},
						.nbuffers = STARPU_VARIABLE_NBUFFERS,
						.model = &starpu_perfmodel_nop};
	struct starpu_data_descr descrs[MANY];
	starpu_data_handle_t handles[MANY];
	long x[MANY] = {0};

	start();
	for (int i = 0; i < MANY; i++) {
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&x[i], sizeof(long));
		descrs[i].handle = handles[i];
		descrs[i].mode = i % 2 ? STARPU_R : STARPU_RW;
	}
	for (int k = 0; k < 100; k++)
		CLAIM_EQ(starpu_task_insert(&cl_many, STARPU_DATA_MODE_ARRAY, descrs,
					    MANY, 0),
			 0);
	for (int i = 0; i < MANY; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
}

static void chains_of_empty_tasks_need_no_stack(void)
{
	starpu_data_handle_t handle;

	start();
	starpu_void_data_register(&handle);
	starpu_data_acquire(handle, STARPU_RW);
	for (int i = 0; i < 200000; i++)
		CLAIM_EQ(starpu_task_submit(starpu_task_create_sync(handle, STARPU_RW)),
			 0);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static int seen_workers;

static void see_worker(void *arg)
{
	__atomic_or_fetch((int *)arg, 1 << starpu_worker_get_id_check(),
			  __ATOMIC_SEQ_CST);
}

static void each_worker_is_called(void)
{
	start();
	seen_workers = 0;
	starpu_execute_on_each_worker(see_worker, &seen_workers, STARPU_CPU);
	CLAIM_EQ(__builtin_popcount((unsigned)seen_workers),
		 starpu_cpu_worker_get_count());
	starpu_shutdown();
}

static void some_workers_are_called(void)
{
	unsigned last, chosen[3] = {0, 0, 0};

	start();
	last = starpu_worker_get_count() - 1;
	chosen[1] = last;
	seen_workers = 0;
	starpu_execute_on_specific_workers(see_worker, &seen_workers, 3, chosen, "some");
	CLAIM_EQ(seen_workers, 1 | 1 << last);
	starpu_shutdown();
}

static void use_energy(void *arg)
{
	(void)arg;
	starpu_energy_use(1.5f);
}

static void energy_is_summed_up(void)
{
	start();
	CLAIM(starpu_energy_used() == 0);
	starpu_execute_on_each_worker(use_energy, NULL, STARPU_CPU);
	use_energy(NULL);
	CLAIM(starpu_energy_used() == 1.5 * (starpu_cpu_worker_get_count() + 1));
	starpu_shutdown();
}

static void sync_tasks_wait_for_tags(void)
{
	starpu_tag_t deps[2] = {101, 102};

	start();
	ncalls = 0;
	starpu_create_sync_task(100, 2, deps, count_call, NULL);
	starpu_tag_notify_from_apps(101);
	CLAIM_EQ(ncalls, 0);
	starpu_tag_notify_from_apps(102);
	CLAIM_EQ(starpu_tag_wait(100), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, 1);
	starpu_shutdown();
}

static void release_and_count(void *arg)
{
	__atomic_add_fetch(&ncalls, 1, __ATOMIC_SEQ_CST);
	starpu_data_release(arg);
}

static void chains_of_acquisitions_need_no_stack(void)
{
	enum { LONG = 100000 };
	starpu_data_handle_t handle;

	start();
	ncalls = 0;
	starpu_void_data_register(&handle);
	starpu_data_acquire(handle, STARPU_RW);
	for (int i = 0; i < LONG; i++)
		starpu_data_acquire_cb(handle, STARPU_RW, release_and_count, handle);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, LONG);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static double date_us(const struct timespec *date)
{
	return 1e6 * (double)date->tv_sec + 1e-3 * (double)date->tv_nsec;
}

static void does_nothing(void *arg)
{
	(void)arg;
}

/* What does not happen has the date 0, as with StarPU. */
static void what_does_not_happen_has_no_date(void)
{
	static struct starpu_codelet calls = {.callback_func = does_nothing};
	static struct starpu_codelet *codelets[] = {NULL, &starpu_codelet_nop, &calls};
	struct starpu_profiling_task_info *info;

	start();
	calls.cpu_funcs[0] = starpu_codelet_nop.cpu_funcs[0];
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (int i = 0; i < 3; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = codelets[i];
		task->detach = task->destroy = 0;
		CLAIM_EQ(starpu_task_submit(task), 0);
		CLAIM_EQ(starpu_task_wait(task), 0);
		info = task->profiling_info;
		CLAIM(date_us(&info->submit_time) > 0);
		CLAIM_EQ(date_us(&info->start_time) > 0, i > 0);
		CLAIM_EQ(date_us(&info->release_data_start_time) > 0, i > 0);
		CLAIM_EQ(date_us(&info->release_data_end_time) > 0, i > 0);
		CLAIM_EQ(date_us(&info->callback_start_time) > 0, i == 2);
		CLAIM_EQ(date_us(&info->callback_end_time) > 0, i == 2);
		starpu_task_destroy(task);
	}
	starpu_shutdown();
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
}

static void profiled_tasks_have_dates(void)
{
	struct starpu_task *task;
	struct starpu_profiling_task_info *info;

	start();
	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
		 STARPU_PROFILING_DISABLE);
	task = starpu_task_create();
	task->cl = &starpu_codelet_nop;
	task->detach = task->destroy = 0;
	task->callback_func = does_nothing;
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	info = task->profiling_info;
	CLAIM(info != NULL);
	CLAIM(date_us(&info->submit_time) <= date_us(&info->push_start_time));
	CLAIM(date_us(&info->push_start_time) <= date_us(&info->push_end_time));
	CLAIM(date_us(&info->push_end_time) <= date_us(&info->pop_start_time));
	CLAIM(date_us(&info->pop_start_time) <= date_us(&info->pop_end_time));
	CLAIM(date_us(&info->pop_end_time) <= date_us(&info->start_time));
	CLAIM(date_us(&info->start_time) <= date_us(&info->end_time));
	CLAIM(date_us(&info->end_time) <= date_us(&info->callback_start_time));
	CLAIM(date_us(&info->callback_start_time) <= date_us(&info->callback_end_time));
	CLAIM(date_us(&info->callback_end_time) <= starpu_timing_now());
	CLAIM(info->workerid >= 0 && info->workerid < 3);
	starpu_task_destroy(task);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"writers keep their order", writers_keep_order},
	{"a random graph gives the sequential result", random_graph_as_sequential},
	{"commuting writers exclude each other", commuting_writers_exclude},
	{"unordered writers exclude each other", unordered_writers_exclude},
	{"scratch is private to a task", scratch_is_private},
	{"callbacks have run when wait_for_all returns",
	 callbacks_run_before_wait_returns},
	{"undetached and synchronous tasks can be waited for",
	 undetached_tasks_can_be_waited},
	{"explicit dependencies order tasks", explicit_dependencies_order},
	{"tags order tasks", tags_order},
	{"acquire waits for earlier writers", acquire_waits_for_writers},
	{"a task that no worker can run is refused", no_worker_is_refused},
	{"a paused runtime starts nothing", pause_holds_tasks},
	{"tasks take more buffers than the static arrays", more_buffers_than_static},
	{"a long chain of empty tasks needs no stack",
	 chains_of_empty_tasks_need_no_stack},
	{"a long chain of acquisitions needs no stack",
	 chains_of_acquisitions_need_no_stack},
	{"each worker is called once", each_worker_is_called},
	{"some workers are called", some_workers_are_called},
	{"energy is summed up", energy_is_summed_up},
	{"a sync task waits for tags", sync_tasks_wait_for_tags},
	{"profiled tasks have their dates", profiled_tasks_have_dates},
	{"what does not happen has no date", what_does_not_happen_has_no_date},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
