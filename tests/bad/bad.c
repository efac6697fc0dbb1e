/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * One mistake of an application for each name; run.py says what must come of it.
 * usage: bad CASE, on two ranks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

enum { TAG = 7, MANY = 20000 /* bytes: more than travel with their header */ };

struct mistake {
	const char *name;
	void (*make)(void);
};

static int rank, size;
static long value, other_value;
static char bytes[MANY];

/* ---- tools ----------------------------------------------------------- */

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};
static struct starpu_codelet copy = {.cpu_funcs = {add_cpu},
				     .nbuffers = 2,
				     .modes = {STARPU_W, STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "copy"};
static struct starpu_codelet writes = {.cpu_funcs = {add_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &starpu_perfmodel_nop,
				       .name = "writes"};
static struct starpu_perfmodel small_model = {.type = STARPU_HISTORY_BASED,
					      .symbol = "orrery_test_bad"};
static struct starpu_codelet modelled = {.cpu_funcs = {add_cpu},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &small_model,
					 .name = "modelled"};

static starpu_data_handle_t variable(long *at)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				      sizeof *at);
	return handle;
}

/* A variable that lives on one rank. */
static starpu_data_handle_t distributed(long *at, starpu_mpi_tag_t tag, int owner)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, rank == owner ? STARPU_MAIN_RAM : -1,
				      rank == owner ? (uintptr_t)at : 0, sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

static starpu_data_handle_t vector(unsigned nbytes)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, nbytes,
				    1);
	return handle;
}

static void insert(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, cl, STARPU_RW, handle, 0);
}

/* ---- handles --------------------------------------------------------- */

static void more_than_the_limit(void)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, 3 << 20, 1);
	starpu_task_insert(&writes, STARPU_W, handle, 0);
	starpu_task_wait_for_all();
}

static void null_handle(void)
{
	starpu_task_insert(&add, STARPU_RW, (starpu_data_handle_t)NULL, 0);
}

static void null_sent(void)
{
	starpu_mpi_send(NULL, 1 - rank, TAG, MPI_COMM_WORLD);
}

static void null_registered(void)
{
	starpu_mpi_data_register(NULL, TAG, 0);
}

static void handle_without_owner(void)
{
	insert(&add, variable(&value));
}

static void handle_without_tag(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_mpi_data_set_rank(handle, 0);
	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, handle,
			       STARPU_EXECUTE_ON_NODE, 1, 0);
}

static void rank_of_unregistered(void)
{
	starpu_mpi_data_get_rank(variable(&value));
}

static void pointer_without_buffer(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, -1, 0, sizeof(value));
	starpu_data_get_local_ptr(handle);
}

/* A handle that has ended, and many others begun and ended since. */
static starpu_data_handle_t ended(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_unregister(handle);
	for (int i = 0; i < 100; i++)
		starpu_data_unregister(variable(&other_value));
	return handle;
}

static void ended_again(void)
{
	starpu_data_unregister(ended());
}

static void ended_acquired(void)
{
	starpu_data_acquire(ended(), STARPU_R);
}

static void ended_in_task(void)
{
	starpu_task_insert(&add, STARPU_RW, ended(), 0);
}

static void ending_in_task(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_acquire(handle, STARPU_R);
	starpu_data_unregister_submit(handle);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
}

static void same_tag_twice(void)
{
	starpu_mpi_data_register(variable(&value), TAG, 0);
	starpu_mpi_data_register(variable(&other_value), TAG, 1);
}

static void negative_tag(void)
{
	starpu_mpi_data_register(variable(&value), -7, 0);
}

static void no_value(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, -1, 0, sizeof value);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
}

/* ---- ranks ----------------------------------------------------------- */

static void register_negative(void)
{
	starpu_mpi_data_register(variable(&value), TAG, -5);
}

static void block_on_itself(void)
{
	static int cells[100];
	starpu_data_handle_t handle;

	/* Planes between the rows are fine. */
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, 20, 4, 3,
				   5, 5, sizeof(int));
	starpu_data_unregister(handle);
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, 4, 15, 3,
				   5, 5, sizeof(int));
}

static void tensor_on_itself(void)
{
	static int cells[1000];
	starpu_data_handle_t handle;

	starpu_tensor_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, 3, 15, 70,
				    3, 5, 5, 2, sizeof(int));
}

static void ndim_with_stride(uint32_t first, uint32_t third)
{
	static int cells[1000];
	uint32_t nn[] = {3, 5, 5}, ldn[] = {first, 3, third};
	starpu_data_handle_t handle;

	starpu_ndim_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)cells, ldn, nn, 3,
				  sizeof(int));
	starpu_ndim_get_local_ldi(handle, 3);
}

static void ndim_on_itself(void)
{
	ndim_with_stride(1, 14);
}

static void ndim_apart(void)
{
	ndim_with_stride(2, 15);
}

static void ndim_fourth(void)
{
	ndim_with_stride(1, 15);
}

/* ---- operations of the application's that refuse ---------------------- */

static starpu_ssize_t refuse_memory(void *interface, unsigned node)
{
	(void)interface;
	(void)node;
	return -ENOMEM;
}

static int refuse_copy(void *from, unsigned from_node, void *to, unsigned to_node)
{
	(void)from;
	(void)from_node;
	(void)to;
	(void)to_node;
	return -EIO;
}

static int refuse_unpacking(starpu_data_handle_t handle, unsigned node, void *ptr,
			    size_t count)
{
	(void)handle;
	(void)node;
	(void)ptr;
	(void)count;
	return -EINVAL;
}

/* As vectors, but for what the case changes. */
static struct starpu_data_interface_ops refusing;

static starpu_data_handle_t refusing_vector(int home)
{
	static int at[4];
	struct starpu_vector_interface vector = {STARPU_VECTOR_INTERFACE_ID,
						 .ptr = (uintptr_t)at, .nx = 4,
						 .elemsize = 4, .allocsize = 16};
	starpu_data_handle_t handle;

	starpu_data_register(&handle, home, &vector, &refusing);
	return handle;
}

static void own_memory_refused(void)
{
	refusing = starpu_interface_vector_ops;
	refusing.allocate_data_on_node = refuse_memory;
	starpu_data_acquire(refusing_vector(-1), STARPU_W);
}

static void own_memory_absent(void)
{
	refusing = starpu_interface_vector_ops;
	refusing.allocate_data_on_node = NULL;
	starpu_data_acquire(refusing_vector(-1), STARPU_W);
}

static void own_copy_fails(void)
{
	static const struct starpu_data_copy_methods methods = {.ram_to_ram =
									refuse_copy};

	refusing = starpu_interface_vector_ops;
	refusing.copy_methods = &methods;
	starpu_data_cpy(refusing_vector(-1), refusing_vector(STARPU_MAIN_RAM), 0, NULL,
			NULL);
}

static void own_unpack_fails(void)
{
	starpu_data_handle_t handle;

	refusing = starpu_interface_vector_ops;
	refusing.peek_data = NULL;
	refusing.unpack_data = refuse_unpacking;
	handle = refusing_vector(STARPU_MAIN_RAM);
	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	else
		starpu_mpi_recv(handle, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void register_beyond(void)
{
	starpu_mpi_data_register(variable(&value), TAG, size);
}

static void send_negative(void)
{
	starpu_mpi_req req;

	starpu_mpi_isend(variable(&value), &req, -1, TAG, MPI_COMM_WORLD);
}

static void send_beyond(void)
{
	starpu_mpi_isend_detached(variable(&value), size, TAG, MPI_COMM_WORLD, NULL,
				  NULL);
}

static void receive_negative(void)
{
	starpu_mpi_recv(variable(&value), -1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_beyond(void)
{
	starpu_mpi_irecv_detached(variable(&value), size, TAG, MPI_COMM_WORLD, NULL,
				  NULL);
}

static void execute_negative(void)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW,
			       distributed(&value, TAG, 0), STARPU_EXECUTE_ON_NODE, -3,
			       0);
}

static void execute_beyond(void)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_EXECUTE_ON_NODE, size,
			       STARPU_RW, distributed(&value, TAG, 0), 0);
}

static void fetch_beyond(void)
{
	starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, distributed(&value, TAG, 0),
					     size, NULL, NULL);
}

static void migrate_beyond(void)
{
	starpu_mpi_data_migrate(MPI_COMM_WORLD, distributed(&value, TAG, 0), size);
}

static int choose_beyond(int me, int nb_nodes, struct starpu_data_descr *descr,
			 int nb_data)
{
	(void)me;
	(void)descr;
	(void)nb_data;
	return nb_nodes;
}

static void policy_beyond(void)
{
	int policy = starpu_mpi_node_selection_register_policy(choose_beyond);

	starpu_mpi_task_insert(MPI_COMM_WORLD, NULL, STARPU_R,
			       distributed(&value, TAG, 0), STARPU_NODE_SELECTION_POLICY,
			       policy, 0);
}

static void policy_unknown(void)
{
	starpu_mpi_node_selection_set_current_policy(9);
}

/* ---- transfers that do not meet -------------------------------------- */

static void receive_never_sent(void)
{
	if (rank == 0)
		starpu_mpi_recv(variable(&value), 1, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

/* Both wait: neither has shut down. */
static void receives_never_sent(void)
{
	starpu_mpi_recv(variable(&value), 1 - rank, TAG + rank, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
}

static void detached_receive_never_sent(void)
{
	if (rank == 0)
		starpu_mpi_irecv_detached(variable(&value), 1, TAG, MPI_COMM_WORLD, NULL,
					  NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static void sent_never_received(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

static void large_never_received(void)
{
	starpu_data_handle_t handle = vector(MANY);

	if (rank == 0)
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

static void synchronous_never_received(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_issend_detached(handle, 1, TAG, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

static void exchange_sizes(unsigned sent, unsigned received)
{
	if (rank == 0)
		starpu_mpi_send(vector(sent), 1, TAG, MPI_COMM_WORLD);
	else if (rank == 1)
		starpu_mpi_recv(vector(received), 0, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

static void shorter_receive(void)
{
	exchange_sizes(100, 50);
}

static void longer_receive(void)
{
	exchange_sizes(50, 100);
}

static void shorter_large_receive(void)
{
	exchange_sizes(MANY, MANY - 1);
}

static void large_for_small_receive(void)
{
	exchange_sizes(MANY, 8);
}

/* ---- ranks that submit different graphs ------------------------------ */

/* Rank 1 leaves out one of the tasks that read on rank 1 what rank 0 has. */
static void task_left_out(void)
{
	starpu_data_handle_t from[3], to = distributed(&value, 10, 1);
	static long values[3];

	for (int i = 0; i < 3; i++)
		from[i] = distributed(&values[i], i, 0);
	for (int i = 0; i < 3; i++)
		if (rank != 1 || i != 1)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &copy, STARPU_W, to,
					       STARPU_R, from[i], 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(from[i]);
	starpu_data_unregister(to);
}

/* Rank 1 inserts one more than rank 0 does. */
static void task_added(void)
{
	starpu_data_handle_t from = distributed(&value, 1, 0);
	starpu_data_handle_t to = distributed(&other_value, 2, 1);

	if (rank == 1)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &copy, STARPU_W, to, STARPU_R,
				       from, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
}

/* Each rank takes itself for the one that executes. */
static void places_differ(void)
{
	starpu_data_handle_t one = distributed(&value, 1, 0);
	starpu_data_handle_t two = distributed(&other_value, 2, 1);

	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, one,
			       STARPU_EXECUTE_ON_NODE, rank, 0);
	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, two,
			       STARPU_EXECUTE_ON_NODE, rank, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static void owners_differ(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_mpi_data_register(handle, TAG, 1 - rank);
	for (int i = 0; i < 2; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE, 0, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

/* ---- the order of calls ---------------------------------------------- */

static void release_unacquired(void)
{
	starpu_data_release(variable(&value));
}

static void wait_detached(void)
{
	struct starpu_task *task = starpu_task_create();

	starpu_pause(); /* It is still there when it is waited for. */
	task->cl = &add;
	task->handles[0] = variable(&value);
	if (starpu_task_submit(task) == 0 && starpu_task_wait(task) == 0)
		printf("ends well\n");
}

static void null_request(void)
{
	starpu_mpi_isend(variable(&value), NULL, 1, TAG, MPI_COMM_WORLD);
}

static void block_cpu(void *buffers[], void *arg)
{
	starpu_data_handle_t handle;
	int which;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &which, &handle);
	if (which == 0)
		starpu_task_wait_for_all();
	else if (which == 1)
		starpu_mpi_recv(handle, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		starpu_data_acquire(handle, STARPU_R);
}

static struct starpu_codelet block = {.cpu_funcs = {block_cpu},
				      .model = &starpu_perfmodel_nop,
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				      .name = "block"};

static void block_in_task(int which)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_task_insert(&block, STARPU_VALUE, &which, sizeof which, STARPU_VALUE,
			   &handle, sizeof handle, 0);
	starpu_task_wait_for_all();
}

static void wait_in_task(void)
{
	block_in_task(0);
}

static void receive_in_task(void)
{
	block_in_task(1);
}

static void acquire_in_task(void)
{
	block_in_task(2);
}

/* ---- arguments ------------------------------------------------------- */

static void too_few_buffers(void)
{
	starpu_task_insert(&copy, STARPU_W, variable(&value), 0);
}

static void other_mode(void)
{
	starpu_task_insert(&add, STARPU_R, variable(&value), 0);
}

static void unknown_key(void)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &add, 90 << STARPU_MODE_SHIFT, 1, 0);
}

static void tags_not_allocated(void)
{
	starpu_mpi_tags_free(12345);
}

/* ---- what is outside: the scheduler, files, variables ---------------- */

static void nothing(void)
{
	starpu_data_handle_t handle = distributed(&value, TAG, 0);

	insert(&add, handle);
	starpu_data_unregister(handle);
	if (rank == 0)
		printf("ends well\n");
}

/* A task with a model from a file, whose size is not there; it declares no flops. */
static void with_model(void)
{
	starpu_data_handle_t handle = distributed(&value, TAG, 0);

	insert(&modelled, handle);
	starpu_data_unregister(handle);
	if (rank == 0)
		printf("ends well\n");
}

static void without_model(void)
{
	static struct starpu_codelet unmodelled = {.cpu_funcs = {add_cpu},
						   .nbuffers = 1,
						   .modes = {STARPU_RW},
						   .name = "unmodelled"};
	starpu_data_handle_t handle = distributed(&value, TAG, 0);

	insert(&unmodelled, handle);
	starpu_data_unregister(handle);
}

#define CASE(function)                                                                   \
	{                                                                                \
#function, function                                                      \
	}

static const struct mistake mistakes[] = {
	CASE(null_handle),
	CASE(null_sent),
	CASE(null_registered),
	CASE(handle_without_owner),
	CASE(handle_without_tag),
	CASE(rank_of_unregistered),
	CASE(pointer_without_buffer),
	CASE(ended_again),
	CASE(ended_acquired),
	CASE(ended_in_task),
	CASE(ending_in_task),
	CASE(same_tag_twice),
	CASE(negative_tag),
	CASE(no_value),
	CASE(register_negative),
	CASE(register_beyond),
	CASE(block_on_itself),
	CASE(tensor_on_itself),
	CASE(ndim_on_itself),
	CASE(ndim_apart),
	CASE(ndim_fourth),
	CASE(own_memory_refused),
	CASE(own_memory_absent),
	CASE(own_copy_fails),
	CASE(own_unpack_fails),
	CASE(send_negative),
	CASE(send_beyond),
	CASE(receive_negative),
	CASE(receive_beyond),
	CASE(execute_negative),
	CASE(execute_beyond),
	CASE(fetch_beyond),
	CASE(migrate_beyond),
	CASE(policy_beyond),
	CASE(policy_unknown),
	CASE(receive_never_sent),
	CASE(receives_never_sent),
	CASE(detached_receive_never_sent),
	CASE(sent_never_received),
	CASE(large_never_received),
	CASE(synchronous_never_received),
	CASE(shorter_receive),
	CASE(longer_receive),
	CASE(shorter_large_receive),
	CASE(large_for_small_receive),
	CASE(task_left_out),
	CASE(task_added),
	CASE(places_differ),
	CASE(owners_differ),
	CASE(release_unacquired),
	CASE(wait_detached),
	CASE(null_request),
	CASE(wait_in_task),
	CASE(receive_in_task),
	CASE(acquire_in_task),
	CASE(too_few_buffers),
	CASE(other_mode),
	CASE(unknown_key),
	CASE(tags_not_allocated),
	CASE(more_than_the_limit),
	CASE(nothing),
	CASE(with_model),
	CASE(without_model),
};

static int make_uninitialised(const char *name)
{
	starpu_data_handle_t handle;

	if (strcmp(name, "before_init") == 0)
		starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
					      sizeof value);
	else if (strcmp(name, "before_mpi_init") == 0 && starpu_init(NULL) == 0)
		starpu_mpi_barrier(MPI_COMM_WORLD);
	else
		return 0;
	return 1;
}

static int make_one(const char *name)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
		if (strcmp(mistakes[i].name, name) == 0) {
			mistakes[i].make();
			return 1;
		}
	fprintf(stderr, "bad: there is no case %s\n", name);
	return 0;
}

int main(int argc, char **argv)
{
	int known;

	if (argc != 2) {
		fprintf(stderr, "usage: bad CASE\n");
		return 64;
	}
	MPI_Init(&argc, &argv);
	if (make_uninitialised(argv[1])) {
		MPI_Finalize();
		return 0;
	}
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		return 70;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	known = make_one(argv[1]);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return known ? 0 : 64;
}
