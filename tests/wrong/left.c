/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that leave a function which the library has called otherwise than by
 * returning: by a jump to where they have called the library, as an exception does, or by
 * the end of the thread.  usage: left CASE
 */
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>
#include <unwind.h>

#include "own.h"
#include "wrong.h"

static jmp_buf before;

static void jump(void *arg)
{
	(void)arg;
	longjmp(before, 1);
}

static void jump_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	jump(arg);
}

static struct starpu_codelet jumps = {.cpu_funcs = {jump_cpu},
				      .model = &starpu_perfmodel_nop,
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				      .name = "jumps"};

/* What the program does next: it waits for tasks. */
static void go_on(void)
{
	starpu_task_insert(&nothing, 0);
	starpu_task_wait_for_all();
	printf("goes on\n");
}

static void callback_of_acquire(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (setjmp(before) == 0)
		starpu_data_acquire_cb(handle, STARPU_R, jump, NULL);
	go_on();
}

static void callback_of_empty_task(void)
{
	static struct starpu_codelet nowhere = {.where = STARPU_NOWHERE,
						.name = "nowhere"};

	if (setjmp(before) == 0)
		starpu_task_insert(&nowhere, STARPU_CALLBACK, jump, 0);
	go_on();
}

static void callback_of_request(void)
{
	starpu_data_handle_t handle = owned(&value, TAG, 1),
			     other = owned(&other_value, 8, 0);

	starpu_mpi_isend_detached(rank ? handle : other, 1 - rank, TAG, WORLD, NULL,
				  NULL);
	if (setjmp(before) == 0) {
		starpu_mpi_irecv_detached(rank ? other : handle, 1 - rank, TAG, WORLD,
					  jump, NULL);
		starpu_mpi_wait_for_all(WORLD);
	}
	go_on();
}

static void callback_of_task(void)
{
	if (setjmp(before) == 0) {
		starpu_task_insert(&nothing, STARPU_CALLBACK, jump, 0);
		starpu_task_wait_for_all();
	}
	go_on();
}

static void kernel(void)
{
	if (setjmp(before) == 0) {
		starpu_task_insert(&jumps, 0);
		starpu_task_wait_for_all();
	}
	go_on();
}

/* Main's stack is used by two threads from the jump on, so main stands still. */
static void kernel_beside_main(void)
{
	if (setjmp(before) == 0) {
		starpu_task_insert(&jumps, 0);
		for (;;)
			pause();
	}
	go_on();
}

static void filter_func(void *father, void *child, struct starpu_data_filter *filter,
			unsigned id, unsigned nparts)
{
	(void)father;
	(void)child;
	(void)filter;
	(void)id;
	(void)nparts;
	longjmp(before, 1);
}

static void filter(void)
{
	struct starpu_data_filter halves = {.filter_func = filter_func, .nchildren = 2};
	starpu_data_handle_t handle = many_bytes();

	if (setjmp(before) == 0)
		starpu_data_partition(handle, &halves);
	go_on();
}

/* As an exception of C++ that is caught in main does, once its handler is found. */
static _Unwind_Reason_Code go_up(int version, _Unwind_Action actions,
				 _Unwind_Exception_Class kind,
				 struct _Unwind_Exception *exception,
				 struct _Unwind_Context *frame, void *arg)
{
	(void)version;
	(void)kind;
	(void)exception;
	(void)frame;
	(void)arg;
	if (actions & _UA_END_OF_STACK)
		exit(71);
	return _URC_NO_REASON;
}

static void throw(void *arg)
{
	static struct _Unwind_Exception exception;

	_Unwind_ForcedUnwind(&exception, go_up, arg);
}

static void throwing_callback(void)
{
	starpu_data_acquire_cb(variable(&value), STARPU_R, throw, NULL);
	go_on();
}

static void end_thread(void *arg)
{
	pthread_exit(arg);
}

static void callback_ends_its_thread(void)
{
	starpu_data_acquire_cb(variable(&value), STARPU_R, end_thread, NULL);
	go_on();
}

/* ---- a policy, and an interface ------------------------------------------- */

static int push(struct starpu_task *task)
{
	(void)task;
	longjmp(before, 1);
}

static struct starpu_task *pop(unsigned context)
{
	(void)context;
	return NULL;
}

static void policy(void)
{
	static struct starpu_sched_policy jumping = {
		.push_task = push, .pop_task = pop, .policy_name = "jumping"};
	unsigned context = starpu_sched_ctx_create(
		NULL, 0, "jumping", STARPU_SCHED_CTX_POLICY_STRUCT, &jumping, 0);

	if (setjmp(before) == 0)
		starpu_task_insert(&nothing, STARPU_SCHED_CTX, context, 0);
	go_on();
}

static int pack(starpu_data_handle_t handle, unsigned node, void **at,
		starpu_ssize_t *count)
{
	(void)handle;
	(void)node;
	(void)at;
	(void)count;
	longjmp(before, 1);
}

static struct starpu_data_interface_ops ops = {.register_data_handle = register_own,
					       .get_size = size_own,
					       .footprint = footprint_own,
					       .pack_data = pack,
					       .interface_size =
						       sizeof(struct own_interface),
					       .name = "own"};

static void packing(void)
{
	struct own_interface interface = {.at = (uintptr_t)&value};
	starpu_data_handle_t handle;

	interface.id = ops.interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	starpu_data_register(&handle, STARPU_MAIN_RAM, &interface, &ops);
	if (setjmp(before) == 0)
		starpu_mpi_send(handle, 1 - rank, TAG, WORLD);
	go_on();
}

/* ---- what the library asks ------------------------------------------------ */

static int may_execute(unsigned worker, struct starpu_task *task, unsigned i)
{
	(void)worker;
	(void)task;
	(void)i;
	longjmp(before, 1);
}

static void can_execute(void)
{
	static struct starpu_codelet picky;

	picky = nothing;
	picky.can_execute = may_execute;
	if (setjmp(before) == 0)
		starpu_task_insert(&picky, 0);
	go_on();
}

static double cost(struct starpu_task *task, unsigned i)
{
	(void)task;
	(void)i;
	longjmp(before, 1);
}

static size_t size_base(struct starpu_task *task, unsigned i)
{
	(void)task;
	(void)i;
	longjmp(before, 1);
}

/* A task with this model, which is not submitted. */
static struct starpu_task *modelled(struct starpu_perfmodel *model)
{
	static struct starpu_codelet cl;
	struct starpu_task *task = starpu_task_create();

	cl = nothing;
	cl.model = model;
	task->cl = &cl;
	return task;
}

static void cost_function(void)
{
	static struct starpu_perfmodel model = {.type = STARPU_COMMON,
						.cost_function = cost};
	struct starpu_task *task = modelled(&model);

	if (setjmp(before) == 0)
		starpu_task_expected_length(task, starpu_worker_get_perf_archtype(0, 0),
					    0);
	go_on();
}

static void size_of_task(void)
{
	static struct starpu_perfmodel model = {
		.type = STARPU_HISTORY_BASED, .size_base = size_base, .symbol = "left"};
	struct starpu_task *task = modelled(&model);

	if (setjmp(before) == 0)
		starpu_task_footprint(&model, task, starpu_worker_get_perf_archtype(0, 0),
				      0);
	go_on();
}

static unsigned nparts(struct starpu_data_filter *filter, starpu_data_handle_t handle)
{
	(void)filter;
	(void)handle;
	longjmp(before, 1);
}

static void number_of_parts(void)
{
	struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
					    .get_nchildren = nparts};
	starpu_data_handle_t handle = many_bytes();

	if (setjmp(before) == 0)
		starpu_data_partition(handle, &halves);
	go_on();
}

static void init_sched(unsigned context)
{
	(void)context;
	longjmp(before, 1);
}

static void start_of_policy(void)
{
	static struct starpu_sched_policy jumping = {.init_sched = init_sched,
						     .push_task = push,
						     .pop_task = pop,
						     .policy_name = "jumping"};

	if (setjmp(before) == 0)
		starpu_sched_ctx_create(NULL, 0, "jumping",
					STARPU_SCHED_CTX_POLICY_STRUCT, &jumping, 0);
	go_on();
}

static int select_rank(int me, int nranks, struct starpu_data_descr *data, int n)
{
	(void)me;
	(void)nranks;
	(void)data;
	(void)n;
	longjmp(before, 1);
}

static void selection(void)
{
	static struct starpu_codelet both;
	starpu_data_handle_t one = owned(&value, TAG, 0), two = owned(&other_value, 8, 1);
	int policy = starpu_mpi_node_selection_register_policy(select_rank);

	both = nothing;
	both.nbuffers = 2;
	both.modes[0] = both.modes[1] = STARPU_RW;
	if (setjmp(before) == 0)
		starpu_mpi_task_insert(WORLD, &both, STARPU_RW, one, STARPU_RW, two,
				       STARPU_NODE_SELECTION_POLICY, policy, 0);
	go_on();
}

static starpu_ssize_t allocate(void *interface, unsigned node)
{
	(void)interface;
	(void)node;
	longjmp(before, 1);
}

static void allocation(void)
{
	struct own_interface interface = {.at = 0};
	starpu_data_handle_t handle;

	interface.id = ops.interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	ops.allocate_data_on_node = allocate;
	starpu_data_register(&handle, -1, &interface, &ops);
	if (setjmp(before) == 0)
		starpu_data_acquire(handle, STARPU_W);
	go_on();
}

static unsigned idle(void *arg)
{
	throw(arg);
	return 1;
}

/* On a worker's stack, so nobody could jump to main, which must not be sooner. */
static void idle_hook(void)
{
	starpu_idle_hook_register(idle, NULL);
	starpu_sleep(30);
	go_on();
	starpu_shutdown();
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		SCENE(callback_of_acquire),
		SCENE(callback_of_empty_task),
		SCENE(callback_of_request),
		SCENE(callback_of_task),
		SCENE(kernel),
		SCENE(kernel_beside_main),
		SCENE(filter),
		SCENE(throwing_callback),
		SCENE(callback_ends_its_thread),
		SCENE(policy),
		SCENE(packing),
		SCENE(can_execute),
		SCENE(cost_function),
		SCENE(size_of_task),
		SCENE(number_of_parts),
		SCENE(start_of_policy),
		SCENE(selection),
		SCENE(allocation),
		SCENE(idle_hook),
	};

	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof *scenes);
}
