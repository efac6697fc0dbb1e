/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs whose mistake is in what the library calls, or shows on another rank than it
 * is made on, one for each name.  usage: deeper CASE, on two ranks.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "own.h"
#include "pair.h"
#include "wrong.h"

/* ---- an interface of the program's own ---------------------------------- */

static int says, packed_bytes = sizeof(long), packs_nothing;

static int pack_own(starpu_data_handle_t handle, unsigned node, void **at,
		    starpu_ssize_t *count)
{
	(void)handle;
	*count = packed_bytes;
	if (!at)
		return 0;
	*at = packs_nothing || packed_bytes < 0 ? NULL
						: (void *)starpu_malloc_on_node_flags(
							  node, (size_t)packed_bytes, 0);
	if (*at && packed_bytes > 0)
		memset(*at, 0, (size_t)packed_bytes);
	return rank == 0 ? says : 0;
}

static int peek_own(starpu_data_handle_t handle, unsigned node, void *at, size_t count)
{
	(void)handle;
	(void)node;
	(void)at;
	return count == sizeof(long) && rank == 0 ? 0 : says;
}

static int unpack_own(starpu_data_handle_t handle, unsigned node, void *at, size_t count)
{
	int status = peek_own(handle, node, at, count);

	starpu_free_on_node_flags(node, (uintptr_t)at, count, 0);
	return status;
}

static struct starpu_data_interface_ops ops = {.register_data_handle = register_own,
					       .get_size = size_own,
					       .footprint = footprint_own,
					       .pack_data = pack_own,
					       .peek_data = peek_own,
					       .unpack_data = unpack_own,
					       .interface_size =
						       sizeof(struct own_interface),
					       .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
					       .name = "own"};

static void exchange_own(void)
{
	struct own_interface interface = {.at = (uintptr_t)&value};
	starpu_data_handle_t a;

	interface.id = ops.interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	starpu_data_register(&a, STARPU_MAIN_RAM, &interface, &ops);
	if (rank == 0)
		starpu_mpi_send(a, 1, TAG, WORLD);
	else
		starpu_mpi_recv(a, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(a);
}

static void unpack_fails(void)
{
	says = rank == 1 ? -5 : 0;
	exchange_own();
}

static void pack_fails(void)
{
	says = rank == 0 ? -5 : 0;
	exchange_own();
}

static void pack_gives_nothing(void)
{
	packs_nothing = 1;
	exchange_own();
}

static void pack_gives_less_than_nothing(void)
{
	packed_bytes = -8;
	exchange_own();
}

/* ---- callbacks of transfers --------------------------------------------- */

static starpu_data_handle_t received;
static volatile int zero;

/* On rank 1. */
static void receive_with(void (*callback)(void *arg))
{
	received = variable(&value);
	if (rank == 0)
		starpu_mpi_send(received, 1, TAG, WORLD);
	else
		starpu_mpi_irecv_detached(received, 0, TAG, WORLD, callback, NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	starpu_data_unregister(received);
}

static void divide(void *arg)
{
	(void)arg;
	value = value / zero;
}

static void callback_divides(void)
{
	receive_with(divide);
}

static void assert_more(void *arg)
{
	(void)arg;
	if (zero == 0)
		abort();
}

static void callback_asserts(void)
{
	receive_with(assert_more);
}

static void unregister_received(void *arg)
{
	(void)arg;
	starpu_data_unregister(received);
}

static void callback_unregisters(void)
{
	receive_with(unregister_received);
}

static void wait_for_tasks(void *arg)
{
	(void)arg;
	starpu_task_insert(&nothing, 0);
	starpu_task_wait_for_all();
}

static void callback_waits_for_tasks(void)
{
	receive_with(wait_for_tasks);
}

static void stop_library(void *arg)
{
	(void)arg;
	starpu_mpi_shutdown();
}

static void callback_shuts_down(void)
{
	receive_with(stop_library);
}

static void meet(void *arg)
{
	(void)arg;
	starpu_mpi_barrier(WORLD);
}

static void callback_meets(void)
{
	receive_with(meet);
}

static void leave(void *arg)
{
	(void)arg;
	_exit(0);
}

static void callback_exits_at_once(void)
{
	receive_with(leave);
}

static void die(void *arg)
{
	(void)arg;
	raise(SIGKILL);
}

static void callback_is_killed(void)
{
	receive_with(die);
}

/* ---- kernels on one rank -------------------------------------------------- */

static volatile long sink;

static int deeper(int n)
{
	volatile char room[4096];

	room[n % 4096] = (char)n;
	return n < 0 ? room[0] : deeper(n + 1) + room[n % 4096];
}

static void overflow_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (rank == 1)
		sink = deeper(0);
}

static void free_twice_cpu(void *buffers[], void *arg)
{
	void *volatile at = malloc(64), *volatile same = at;

	(void)buffers;
	(void)arg;
	if (rank == 0)
		return;
	free(at);
	free(same);
}

static void divide_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (rank == 1)
		sink = value / zero;
}

static void end_mpi_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (rank == 1)
		raise(SIGTERM);
}

static void run(void (*kernel)(void *buffers[], void *arg), const char *name)
{
	static struct starpu_codelet codelet = {.model = &starpu_perfmodel_nop,
						.flags = STARPU_CODELET_SIMGRID_EXECUTE};

	codelet.cpu_funcs[0] = kernel;
	codelet.name = name;
	starpu_task_insert(&codelet, 0);
	starpu_task_wait_for_all();
	starpu_mpi_barrier(WORLD);
}

static void kernel_overflows(void)
{
	run(overflow_cpu, "overflows");
}

static void kernel_frees_twice(void)
{
	run(free_twice_cpu, "frees_twice");
}

static void kernel_divides(void)
{
	run(divide_cpu, "divides");
}

static void kernel_is_terminated(void)
{
	run(end_mpi_cpu, "terminates");
}

/* ---- memory ----------------------------------------------------------------- */

/* More than the process may have from here on; SMPI's ranks share it. */
static void no_memory_for_receive(void)
{
	enum { BYTES = 1 << 30 };
	struct rlimit limit = {.rlim_cur = 1 << 28, .rlim_max = RLIM_INFINITY};
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, BYTES, 1);
	if (rank == 0)
		starpu_task_insert(&nothing, 0);
	setrlimit(RLIMIT_AS, &limit);
	if (rank == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, NULL, NULL);
	else
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
}

/* ---- requests and handles ---------------------------------------------------- */

static void request_from_nowhere(void)
{
	starpu_mpi_req request = (starpu_mpi_req)(uintptr_t)0x1230;

	if (rank == 1)
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
}

static void handle_from_nowhere(void)
{
	starpu_data_handle_t handle = (starpu_data_handle_t)(uintptr_t)0x1230;

	if (rank == 1)
		starpu_mpi_send(handle, 0, TAG, WORLD);
}

/* ---- graphs that differ ------------------------------------------------------- */

static struct starpu_codelet nobody = {
	.cpu_funcs = {nothing_cpu}, .model = &starpu_perfmodel_nop, .name = "nobody"};

static struct starpu_codelet clear = {.cpu_funcs = {nothing_cpu},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &starpu_perfmodel_nop,
				      .name = "clear"};
static struct starpu_codelet swap = {.cpu_funcs = {nothing_cpu},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_RW},
				     .model = &starpu_perfmodel_nop,
				     .name = "swap"};

static void codelets_differ(void)
{
	register_both();
	if (rank == 0)
		starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to, 0);
	else
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, to, 0);
	end_both();
}

static void arguments_swapped(void)
{
	register_both();
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, rank ? to : from, STARPU_RW,
			       rank ? from : to, 0);
	end_both();
}

static void executors_differ(void)
{
	register_both();
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to,
			       STARPU_EXECUTE_ON_NODE, rank, 0);
	end_both();
}

/* Nobody does. */
static void executors_are_others(void)
{
	register_both();
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to,
			       STARPU_EXECUTE_ON_NODE, 1 - rank, 0);
	end_both();
}

/* Nothing is written, and no message shows it. */
static void executors_apart(void)
{
	for (int i = 0; i < 100; i++)
		starpu_mpi_task_insert(WORLD, i % 2 ? &nothing : &nobody,
				       STARPU_EXECUTE_ON_NODE, i == 76 ? rank : i % 2, 0);
}

/* Each rank finds its own datum the larger one, and executes, or the smaller one, and
 * does not. */
static size_t sizes[2] = {8, 8};

static size_t size_here(starpu_data_handle_t handle)
{
	return sizes[handle == to];
}

static void sizes_decide(void)
{
	static struct starpu_data_interface_ops sized;
	struct starpu_vector_interface vector = {
		.nx = 1, .elemsize = sizeof(long), .allocsize = sizeof(long)};

	sized = starpu_interface_vector_ops;
	sized.get_size = size_here;
	sized.get_alloc_size = NULL;
	vector.id = sized.interfaceid = starpu_data_interface_get_next_id();
	starpu_data_register(&from, -1, &vector, &sized);
	starpu_mpi_data_register(from, 1, 0);
	starpu_data_register(&to, -1, &vector, &sized);
	starpu_mpi_data_register(to, 2, 1);
	starpu_mpi_task_insert(WORLD, &clear, STARPU_W, from, 0);
	starpu_mpi_task_insert(WORLD, &clear, STARPU_W, to, 0);
	starpu_mpi_wait_for_all(WORLD);
	sizes[rank] = 100;
	starpu_mpi_task_insert(WORLD, &swap, STARPU_RW, from, STARPU_RW, to, 0);
	end_both();
}

static void executor_beyond(void)
{
	register_both();
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to,
			       STARPU_EXECUTE_ON_NODE, 7, 0);
	end_both();
}

/* The owner has no kernel; others would not need one. */
static void no_kernel_at_the_owner(void)
{
	struct starpu_codelet mine = copy;

	register_both();
	if (rank == 1)
		mine.cpu_funcs[0] = NULL;
	starpu_mpi_task_insert(WORLD, &mine, STARPU_R, from, STARPU_RW, to, 0);
	end_both();
}

static void parted_on_one(void)
{
	static long values[8];
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = 2};
	starpu_data_handle_t whole;

	starpu_vector_data_register(&whole, rank == 0 ? STARPU_MAIN_RAM : -1,
				    rank == 0 ? (uintptr_t)values : 0, 8, sizeof(long));
	starpu_mpi_data_register(whole, 1, 0);
	to = owned(&other_value, 2, 1);
	if (rank == 0)
		starpu_data_partition(whole, &filter);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R,
			       rank == 0 ? starpu_data_get_sub_data(whole, 1, 0) : whole,
			       STARPU_RW, to, 0);
	starpu_mpi_wait_for_all(WORLD);
}

/* A message of the life before comes to the data that has its tag now. */
static void late_message(void)
{
	starpu_data_handle_t before = many_bytes(), now;

	if (rank == 0) {
		starpu_mpi_isend_detached(before, 1, TAG, WORLD, NULL, NULL);
		starpu_mpi_wait_for_all(WORLD);
	}
	starpu_data_unregister(before);
	now = variable(&value);
	if (rank == 1)
		starpu_mpi_recv(now, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(now);
}

static const struct scene scenes[] = {
	SCENE(unpack_fails),           SCENE(pack_fails),
	SCENE(pack_gives_nothing),     SCENE(pack_gives_less_than_nothing),
	SCENE(callback_divides),       SCENE(callback_asserts),
	SCENE(callback_unregisters),   SCENE(callback_waits_for_tasks),
	SCENE(callback_shuts_down),    SCENE(callback_meets),
	SCENE(callback_exits_at_once), SCENE(callback_is_killed),
	SCENE(kernel_overflows),       SCENE(kernel_frees_twice),
	SCENE(kernel_divides),         SCENE(kernel_is_terminated),
	SCENE(no_memory_for_receive),  SCENE(request_from_nowhere),
	SCENE(handle_from_nowhere),    SCENE(codelets_differ),
	SCENE(arguments_swapped),      SCENE(executors_differ),
	SCENE(executors_are_others),   SCENE(executor_beyond),
	SCENE(no_kernel_at_the_owner), SCENE(parted_on_one),
	SCENE(late_message),           SCENE(executors_apart),
	SCENE(sizes_decide),
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));
}
