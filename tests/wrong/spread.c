/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that spread data over ranks, communicators and parts wrongly, one for each
 * name. usage: spread CASE, on as many ranks as the case says.
 */
#include <sched.h>

#include "own.h"
#include "wrong.h"

static starpu_data_handle_t vector(long *at, int n, starpu_mpi_tag_t tag, int owner)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, rank == owner ? STARPU_MAIN_RAM : -1,
				    rank == owner ? (uintptr_t)at : 0, (uint32_t)n,
				    sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

static MPI_Comm half(void)
{
	MPI_Comm comm;

	MPI_Comm_split(WORLD, rank % 2, rank, &comm);
	starpu_mpi_comm_register(comm);
	return comm;
}

static void registered_longer_on_one(void)
{
	static long from[8], to[8];
	starpu_data_handle_t a = vector(from, rank ? 8 : 4, 1, 0), b = owned(to, 2, 1);

	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

static void owner_beyond_half(void)
{
	starpu_mpi_data_register_comm(variable(&value), 1, 2, half());
}

static void world_owner_in_half(void)
{
	MPI_Comm comm = half();
	starpu_data_handle_t mine = owned(&value, 1, 3);

	starpu_mpi_task_insert(comm, &add, STARPU_RW, mine, 0);
	starpu_data_unregister(mine);
}

static void unregistered_by_one(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0), b = owned(&other_value, 2, 1);

	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	if (rank == 1)
		starpu_data_unregister(a);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void submit(struct starpu_task *task)
{
	if (task && starpu_task_submit(task) != 0)
		exit(70);
}

static void built_and_not_posted(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);
	struct starpu_task *task = starpu_mpi_task_build(WORLD, &add, STARPU_RW, a,
							 STARPU_EXECUTE_ON_NODE, 1, 0);

	submit(task);
	if (rank == 1) /* not on rank 0 */
		starpu_mpi_task_post_build(WORLD, &add, STARPU_RW, a,
					   STARPU_EXECUTE_ON_NODE, 1, 0);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
	starpu_data_unregister(a);
}

/* It reads on one rank and writes on the other: the transfers happen, the kernel not. */
static void built_and_forgotten(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0), b = owned(&other_value, 2, 1);

	starpu_mpi_task_build(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_mpi_task_post_build(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

/* What rank 0 computes never reaches rank 1, which owns it. */
static void built_and_never_posted(void)
{
	starpu_data_handle_t a = owned(&value, 1, 1);

	submit(starpu_mpi_task_build(WORLD, &add, STARPU_RW, a, STARPU_EXECUTE_ON_NODE, 0,
				     0));
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(a);
}

/* In order: what is built is submitted or destroyed, and posted. */
static void built_well(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0), b = owned(&other_value, 2, 1);
	struct starpu_task *task;

	for (int node = 0; node < 2; node++) {
		submit(starpu_mpi_task_build(WORLD, &copy, STARPU_R, a, STARPU_RW, b,
					     STARPU_EXECUTE_ON_NODE, node, 0));
		starpu_mpi_task_post_build(WORLD, &copy, STARPU_R, a, STARPU_RW, b,
					   STARPU_EXECUTE_ON_NODE, node, 0);
	}
	/* Nobody writes: nothing is to be posted. */
	submit(starpu_mpi_task_build(WORLD, &nothing, STARPU_EXECUTE_ON_NODE, 0, 0));
	task = starpu_mpi_task_build(WORLD, &add, STARPU_RW, b, 0);
	starpu_mpi_task_post_build(WORLD, &add, STARPU_RW, b, 0);
	if (task)
		starpu_task_destroy(task);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

static void posted_for_another(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);
	struct starpu_task *task = starpu_mpi_task_build(WORLD, &add, STARPU_RW, a,
							 STARPU_EXECUTE_ON_NODE, 1, 0);

	submit(task);
	starpu_mpi_task_post_build(WORLD, &add, STARPU_RW, a, STARPU_EXECUTE_ON_NODE, 2,
				   0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(a);
}

static void private_and_owned(void)
{
	starpu_data_handle_t a = variable(&value), b = owned(&other_value, 2, 0);

	starpu_mpi_data_register(a, 1, STARPU_MPI_PER_NODE);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, b, STARPU_RW, a, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

static void migrated_apart(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_mpi_data_migrate(WORLD, a, rank == 0 ? 1 : 2);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
	starpu_data_unregister(a);
}

static void inserted_without_value(void)
{
	starpu_data_handle_t a, b = owned(&other_value, 2, 1);

	starpu_variable_data_register(&a, -1, 0, sizeof value);
	starpu_mpi_data_register(a, 1, 0);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

static void array_of_nothing(void)
{
	starpu_mpi_task_insert(WORLD, &add, STARPU_DATA_ARRAY, NULL, 1, 0);
}

static void negative_array(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_mpi_task_insert(WORLD, &add, STARPU_DATA_ARRAY, &a, -1, 0);
}

static void whole_sent_while_parted(void)
{
	static long values[8];
	starpu_data_handle_t a;
	struct starpu_data_filter two = {.filter_func = starpu_vector_filter_block,
					 .nchildren = 2};

	starpu_vector_data_register(&a, STARPU_MAIN_RAM, (uintptr_t)values, 8,
				    sizeof *values);
	starpu_data_partition(a, &two);
	if (rank == 0)
		starpu_mpi_send(a, 1, TAG, WORLD);
	else if (rank == 1)
		starpu_mpi_recv(a, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unpartition(a, STARPU_MAIN_RAM);
	starpu_data_unregister(a);
}

static void whole_inserted_while_parted(void)
{
	static long values[8], other[8];
	starpu_data_handle_t a = vector(values, 8, 1, 0), b = vector(other, 8, 2, 1);
	struct starpu_data_filter two = {.filter_func = starpu_vector_filter_block,
					 .nchildren = 2};

	if (rank == 0)
		starpu_data_partition(a, &two);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void send_without_request(void)
{
	starpu_mpi_isend(variable(&value), NULL, 1 - rank, TAG, WORLD);
}

static void contributed_as_update(void)
{
	static struct starpu_codelet updates = {.cpu_funcs = {add_cpu},
						.nbuffers = 1,
						.modes = {STARPU_RW},
						.name = "updates"};
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_mpi_task_insert(WORLD, &updates, STARPU_REDUX, a, 0);
	starpu_data_unregister(a);
}

static void tag_of_no_transfers(void)
{
	starpu_mpi_isend_array_detached_unlock_tag(0, NULL, NULL, NULL, NULL, 5);
	starpu_tag_wait(5);
}

/* Rank 0 alone in one group, the others in another one. */
static MPI_Comm two_groups(void)
{
	MPI_Comm group, both;

	MPI_Comm_split(WORLD, rank == 0, rank, &group);
	MPI_Intercomm_create(group, 0, WORLD, rank == 0 ? 1 : 0, TAG, &both);
	return both;
}

static void two_groups_registered(void)
{
	starpu_mpi_comm_register(two_groups());
}

static void sent_between_groups(void)
{
	starpu_data_handle_t a = variable(&value);
	MPI_Comm both = two_groups();

	if (rank == 0)
		starpu_mpi_send(a, 0, TAG, both);
	else if (rank == 1)
		starpu_mpi_recv(a, 0, TAG, both, MPI_STATUS_IGNORE);
}

/* An interface that says it has a datatype, and gives none. */
static void *point_own(void *interface, unsigned node)
{
	(void)node;
	return (void *)((struct own_interface *)interface)->at;
}

static int no_type(starpu_data_handle_t handle, MPI_Datatype *type)
{
	(void)handle;
	*type = MPI_DATATYPE_NULL;
	return 0;
}

static void free_type(MPI_Datatype *type)
{
	MPI_Type_free(type);
}

/* It describes two where the data has one. */
static int type_of_two(starpu_data_handle_t handle, MPI_Datatype *type)
{
	(void)handle;
	MPI_Type_contiguous(2, MPI_LONG, type);
	MPI_Type_commit(type);
	return 0;
}

/* The value, and a field of the interface itself, as one that tells a length. */
static int type_with_field(starpu_data_handle_t handle, MPI_Datatype *type)
{
	struct own_interface *own = starpu_data_get_interface_on_node(handle, 0);
	int lengths[] = {sizeof(own->id), sizeof(long)};
	MPI_Aint at[] = {(MPI_Aint)((uintptr_t)&own->id - own->at), 0};

	MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, type);
	MPI_Type_commit(type);
	return 0;
}

static void exchange_own(long *at, int (*type)(starpu_data_handle_t, MPI_Datatype *))
{
	static struct starpu_data_interface_ops ops = {
		.register_data_handle = register_own,
		.get_size = size_own,
		.footprint = footprint_own,
		.interface_size = sizeof(struct own_interface),
		.to_pointer = point_own,
		.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
		.name = "own"};
	struct own_interface interface = {.at = (uintptr_t)at};
	starpu_data_handle_t a;

	interface.id = ops.interfaceid =
		(enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	starpu_data_register(&a, STARPU_MAIN_RAM, &interface, &ops);
	starpu_mpi_datatype_register(a, type, free_type);
	if (rank == 0)
		starpu_mpi_send(a, 1, TAG, WORLD);
	else
		starpu_mpi_recv(a, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(a);
}

static void no_datatype(void)
{
	exchange_own(&value, no_type);
}

static void datatype_too_long(void)
{
	static long two[2];

	exchange_own(two, type_of_two);
}

static void datatype_with_field(void)
{
	exchange_own(&value, type_with_field);
}

/* Without cache a copy is there for one task. */
static void acquired_after_its_task(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0), b = owned(&other_value, 2, 1);

	starpu_mpi_cache_set(0);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, a, STARPU_RW, b, 0);
	starpu_mpi_wait_for_all(WORLD);
	if (rank == 1) {
		starpu_data_acquire(a, STARPU_R);
		starpu_data_release(a);
	}
	starpu_mpi_barrier(WORLD);
}

/* Each takes the other one for the owner, so that nobody executes what writes it; the
 * other tasks run. */
static void owners_differ(void)
{
	starpu_data_handle_t a = owned(&value, 1, 1 - rank);
	starpu_data_handle_t b = owned(&other_value, 2, 1);

	for (int i = 0; i < 3; i++) {
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, b, 0);
	}
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

enum { DISPUTED = 4 };

/* DISPUTED data; owner(i) is what this rank believes. */
static void add_to_all(int (*owner)(int i))
{
	static long at[DISPUTED];
	starpu_data_handle_t data[DISPUTED];

	for (int i = 0; i < DISPUTED; i++)
		data[i] = owned(&at[i], 1 + i, owner(i));
	for (int i = 0; i < 2 * DISPUTED; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, data[i % DISPUTED], 0);
	for (int i = 0; i < DISPUTED; i++)
		starpu_data_unregister(data[i]);
}

static int always_me(int i)
{
	(void)i;
	return rank;
}

static int me_and_then_others(int i)
{
	return (rank + i) % size;
}

/* All ranks execute all tasks. */
static void owned_by_all(void)
{
	add_to_all(always_me);
}

/* With as many executed as inserted, half of them twice. */
static void owners_shifted(void)
{
	add_to_all(me_and_then_others);
}

static void owner_set_by_each(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, a);
	starpu_mpi_data_set_rank(a, rank);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, a, 0);
	starpu_data_unregister(a);
}

/* Legal: what a rank executes itself it submits as a task of its own. */
static void own_tasks_apart(void)
{
	starpu_data_handle_t both[] = {owned(&value, 1, 0), owned(&other_value, 2, 1)};

	for (int i = 0; i < 6; i++)
		if (starpu_mpi_data_get_rank(both[i % 2]) == rank)
			starpu_task_insert(&add, STARPU_RW, both[i % 2], 0);
		else
			starpu_mpi_task_insert(WORLD, &add, STARPU_RW, both[i % 2], 0);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(both[i]);
}

/* ---- communicators that end --------------------------------------------- */

static MPI_Comm freed(void)
{
	MPI_Comm comm, was;

	MPI_Comm_dup(WORLD, &comm);
	was = comm;
	starpu_mpi_comm_register(comm);
	MPI_Comm_free(&comm);
	return was;
}

static void sent_in_freed(void)
{
	MPI_Comm comm = freed();

	if (rank == 0)
		starpu_mpi_send(variable(&value), 1, TAG, comm);
	else
		starpu_mpi_recv(variable(&value), 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void met_in_freed(void)
{
	starpu_mpi_barrier(freed());
}

static void inserted_in_freed(void)
{
	starpu_mpi_task_insert(freed(), &add, STARPU_RW, owned(&value, 1, 0), 0);
}

static void library_ends_first(void)
{
	starpu_shutdown();
}

static void mpi_ends_first(void)
{
	MPI_Finalize();
}

static void other_communicator_ends(void)
{
	starpu_mpi_shutdown_comm(half());
}

static void barrier_in_kernel_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	starpu_mpi_barrier(WORLD);
}

static void barrier_in_kernel(void)
{
	static struct starpu_codelet meets = {.cpu_funcs = {barrier_in_kernel_cpu},
					      .model = &starpu_perfmodel_nop,
					      .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					      .name = "meets"};

	if (rank == 0)
		starpu_task_insert(&meets, 0);
	starpu_task_wait_for_all();
}

/* Without a thread of the library, nobody moves rank 1's messages meanwhile. */
static void waits_outside(void)
{
	starpu_data_handle_t a = variable(&value);

	if (rank == 0) {
		starpu_mpi_recv(a, 1, TAG, WORLD, MPI_STATUS_IGNORE);
	} else {
		struct span span = {0};

		starpu_mpi_isend_detached(a, 0, TAG, WORLD, NULL, NULL);
		while (span_lasts(&span))
			sched_yield();
	}
	starpu_data_unregister(a);
}

static void leave(void *arg)
{
	(void)arg;
	exit(0);
}

static void exits_in_callback(void)
{
	if (rank == 1)
		starpu_task_insert(&nothing, STARPU_CALLBACK, leave, 0);
	starpu_mpi_barrier(WORLD);
}

static void rank_set_beyond(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_mpi_data_set_rank(a, 7);
}

/* The handle that had the tag lives on until it is released. */
static void same_tag_too_soon(void)
{
	starpu_data_handle_t a = owned(&value, 1, 0);

	starpu_data_acquire(a, STARPU_R);
	starpu_data_unregister_submit(a);
	owned(&other_value, 1, 0);
}

/* Data of a rank of the world, read, fetched and contributed to in one of the halves. */
static struct starpu_codelet reads = {.cpu_funcs = {nothing_cpu},
				      .nbuffers = 1,
				      .modes = {STARPU_R},
				      .model = &starpu_perfmodel_nop,
				      .name = "reads"};

static void world_data_read_in_half(void)
{
	starpu_data_handle_t a = owned(&value, 1, 3);

	starpu_mpi_task_insert(half(), &reads, STARPU_R, a, STARPU_EXECUTE_ON_NODE, 0, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void world_data_fetched_in_half(void)
{
	starpu_data_handle_t a = owned(&value, 1, 3);

	starpu_mpi_get_data_on_all_nodes_detached(half(), a);
	starpu_mpi_wait_for_all(WORLD);
}

static void world_data_reduced_in_half(void)
{
	starpu_data_handle_t a = owned(&value, 1, 3);

	starpu_mpi_task_insert(half(), &add, STARPU_MPI_REDUX, a, STARPU_EXECUTE_ON_NODE,
			       0, 0);
	starpu_mpi_wait_for_all(WORLD);
}

static void policy_of_null(void)
{
	starpu_mpi_node_selection_register_policy(NULL);
}

static void map_of_unregistered(void)
{
	starpu_mpi_data_get_redux_map(variable(&value));
}

/* Two memories for one buffer. */
static void nodes_too_many(void)
{
	int nodes[2] = {0, 0};

	starpu_task_insert(&add, STARPU_RW, variable(&value), STARPU_NODE_ARRAY, nodes, 2,
			   0);
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		SCENE(registered_longer_on_one),
		SCENE(owner_beyond_half),
		SCENE(world_owner_in_half),
		SCENE(unregistered_by_one),
		SCENE(built_and_not_posted),
		SCENE(built_and_forgotten),
		SCENE(built_and_never_posted),
		SCENE(built_well),
		SCENE(posted_for_another),
		SCENE(private_and_owned),
		SCENE(migrated_apart),
		SCENE(inserted_without_value),
		SCENE(array_of_nothing),
		SCENE(negative_array),
		SCENE(whole_sent_while_parted),
		SCENE(whole_inserted_while_parted),
		SCENE(send_without_request),
		SCENE(contributed_as_update),
		SCENE(tag_of_no_transfers),
		SCENE(two_groups_registered),
		SCENE(sent_between_groups),
		SCENE(no_datatype),
		SCENE(datatype_too_long),
		SCENE(datatype_with_field),
		SCENE(acquired_after_its_task),
		SCENE(owners_differ),
		SCENE(owned_by_all),
		SCENE(owners_shifted),
		SCENE(owner_set_by_each),
		SCENE(own_tasks_apart),
		SCENE(sent_in_freed),
		SCENE(met_in_freed),
		SCENE(inserted_in_freed),
		SCENE(library_ends_first),
		SCENE(mpi_ends_first),
		SCENE(other_communicator_ends),
		SCENE(barrier_in_kernel),
		SCENE(waits_outside),
		SCENE(exits_in_callback),
		SCENE(rank_set_beyond),
		SCENE(same_tag_too_soon),
		SCENE(world_data_read_in_half),
		SCENE(world_data_fetched_in_half),
		SCENE(world_data_reduced_in_half),
		SCENE(policy_of_null),
		SCENE(map_of_unregistered),
		SCENE(nodes_too_many),
	};

	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof *scenes);
}
