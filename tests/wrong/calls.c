/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs whose ranks call different things, or whose kernels do what ends them, one for
 * each name. usage: calls CASE, on two ranks.
 */
#include <pthread.h>

#include <orrery_mpi.h>

#include "pair.h"
#include "reduced.h"
#include "wrong.h"

/* ---- kernels that do not return ---------------------------------------- */

static void exits_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	exit(0);
}

static void leaves_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	pthread_exit(NULL);
}

static void faults_cpu(void *buffers[], void *arg)
{
	long *volatile nowhere = (long *)8;

	(void)buffers;
	(void)arg;
	*nowhere = 1;
}

static void aborts_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static void gives_up_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	MPI_Abort(WORLD, 3);
}

static void finalizes_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	MPI_Finalize();
}

/* Rank 1 runs it, and rank 0 waits for what it writes. */
static void run_kernel(const char *name, starpu_cpu_func_t kernel)
{
	struct starpu_codelet cl = {.cpu_funcs = {kernel},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				    .name = name};

	register_both();
	starpu_mpi_task_insert(WORLD, &cl, STARPU_RW, to, 0);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, to, STARPU_RW, from, 0);
	end_both();
}

static void kernel_exits(void)
{
	run_kernel("exits", exits_cpu);
}

static void kernel_ends_its_thread(void)
{
	run_kernel("leaves", leaves_cpu);
}

static void kernel_faults(void)
{
	run_kernel("faults", faults_cpu);
}

static void kernel_aborts(void)
{
	run_kernel("aborts", aborts_cpu);
}

static void kernel_gives_up(void)
{
	run_kernel("gives_up", gives_up_cpu);
}

static void kernel_finalizes(void)
{
	run_kernel("finalizes", finalizes_cpu);
}

/* ---- what the ranks say differs ------------------------------------------ */

static void tags_allocated_on_one(void)
{
	int64_t first;

	if (rank == 0)
		starpu_mpi_tags_allocate(10);
	first = starpu_mpi_tags_allocate(2);
	from = owned(&value, first, 0);
	to = owned(&other_value, first + 1, 1);
	insert_copy();
	end_both();
}

static void tag_changed_on_one(void)
{
	register_both();
	if (rank == 0)
		starpu_mpi_data_set_tag(from, 50);
	insert_copy();
	end_both();
}

static int choose_own(int me, int nnodes, struct starpu_data_descr *descr, int n)
{
	(void)nnodes;
	(void)descr;
	(void)n;
	return me;
}

static int choose_nobody(int me, int nnodes, struct starpu_data_descr *descr, int n)
{
	(void)me;
	(void)nnodes;
	(void)descr;
	(void)n;
	return -1;
}

static void insert_by_policy(int policy)
{
	static struct starpu_codelet both = {.cpu_funcs = {nothing_cpu},
					     .nbuffers = 2,
					     .modes = {STARPU_RW, STARPU_RW},
					     .model = &starpu_perfmodel_nop,
					     .name = "both"};

	register_both();
	starpu_mpi_task_insert(WORLD, &both, STARPU_RW, from, STARPU_RW, to,
			       STARPU_NODE_SELECTION_POLICY, policy, 0);
	end_both();
}

static void policy_of_each(void)
{
	insert_by_policy(starpu_mpi_node_selection_register_policy(choose_own));
}

static void policy_of_nobody(void)
{
	insert_by_policy(starpu_mpi_node_selection_register_policy(choose_nobody));
}

static void policy_below_all(void)
{
	insert_by_policy(-3);
}

static void current_policy_below_all(void)
{
	starpu_mpi_node_selection_set_current_policy(-5);
}

static void replicas_differ(void)
{
	int node = rank;

	register_both();
	starpu_mpi_tasks_insert(WORLD, &add, 1, &node, STARPU_RW, from, 0);
	end_both();
}

static void parts_differ(void)
{
	static long whole[12];
	starpu_data_handle_t data, part;
	struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
					    .nchildren = rank == 0 ? 2 : 3};

	starpu_vector_data_register(&data, rank == 0 ? STARPU_MAIN_RAM : -1,
				    rank == 0 ? (uintptr_t)whole : 0, 12, sizeof *whole);
	to = owned(&other_value, 2, 1);
	starpu_data_partition(data, &halves);
	part = starpu_data_get_sub_data(data, 1, 1);
	starpu_mpi_data_register(part, 11, 0);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, part, STARPU_RW, to, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unpartition(data, STARPU_MAIN_RAM);
	starpu_data_unregister(data);
	starpu_data_unregister(to);
}

static void methods_on_one(void)
{
	register_both();
	if (rank == 0)
		starpu_data_set_reduction_methods(from, &sum, &zero);
	for (int node = 0; node < size; node++)
		starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, from,
				       STARPU_EXECUTE_ON_NODE, node, 0);
	starpu_mpi_redux_data(WORLD, from);
	end_both();
}

/* Each rank adds one; then rank 0 reads, or all reduce first. */
static void contribute_and_read(int reduces)
{
	register_both();
	starpu_data_set_reduction_methods(from, &sum, &zero);
	for (int node = 0; node < size; node++)
		starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, from,
				       STARPU_EXECUTE_ON_NODE, node, 0);
	if (reduces)
		starpu_mpi_redux_data(WORLD, from);
	if (rank == 0) {
		starpu_data_acquire(from, STARPU_R);
		printf("reads %ld\n", value);
		starpu_data_release(from);
	}
	end_both();
}

static void read_before_reduction(void)
{
	contribute_and_read(0);
}

static void read_after_reduction(void)
{
	contribute_and_read(1);
}

static void counts_differ(void)
{
	starpu_data_handle_t handles[2];

	register_both();
	handles[0] = from;
	handles[1] = to;
	starpu_mpi_scatter_detached(handles, rank == 0 ? 2 : 1, 0, WORLD, NULL, NULL,
				    NULL, NULL);
	end_both();
}

static void spread_by_its_owner(void)
{
	register_both();
	if (rank == 0)
		orrery_mpi_broadcast_detached(from, WORLD, 0, NULL, NULL);
	end_both();
}

static void spread_by_another(void)
{
	register_both();
	if (rank == 1)
		orrery_mpi_broadcast_detached(from, WORLD, 0, NULL, NULL);
	end_both();
}

static void marked_as_received(void)
{
	register_both();
	starpu_mpi_cached_receive_set(rank == 1 ? from : to);
	insert_copy();
	end_both();
}

static void communicator_of_one(void)
{
	MPI_Group all, first;
	MPI_Comm comm;
	int owner = 0;

	register_both();
	MPI_Comm_group(WORLD, &all);
	MPI_Group_incl(all, 1, &owner, &first);
	MPI_Comm_create(WORLD, first, &comm);
	starpu_mpi_task_insert(rank == 0 ? comm : WORLD, &copy, STARPU_R, from, STARPU_RW,
			       to, 0);
	end_both();
}

/* ---- single calls -------------------------------------------------------- */

static void size_to_null(void)
{
	starpu_mpi_comm_size(WORLD, NULL);
}

static void rank_to_null(void)
{
	starpu_mpi_comm_rank(WORLD, NULL);
}

static void attribute_to_null(void)
{
	int flag;

	starpu_mpi_comm_get_attr(WORLD, STARPU_MPI_TAG_UB, NULL, &flag);
}

static void statistics_to_null(void)
{
	starpu_mpi_comm_stats_enable();
	starpu_mpi_comm_stats_retrieve(NULL);
}

static void negative_sends(void)
{
	register_both();
	starpu_mpi_coop_sends_data_handle_nb_sends(from, -3);
}

static void request_of_nobody(void)
{
	static long junk[32];
	starpu_mpi_req request = (starpu_mpi_req)(void *)junk;

	starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
}

static void by_no_ranks(void)
{
	int node = 0;

	register_both();
	starpu_mpi_tasks_insert(WORLD, &add, 0, &node, STARPU_RW, from, 0);
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		SCENE(kernel_exits),
		SCENE(kernel_ends_its_thread),
		SCENE(kernel_faults),
		SCENE(kernel_aborts),
		SCENE(kernel_gives_up),
		SCENE(kernel_finalizes),
		SCENE(tags_allocated_on_one),
		SCENE(tag_changed_on_one),
		SCENE(policy_of_nobody),
		SCENE(policy_below_all),
		SCENE(current_policy_below_all),
		SCENE(policy_of_each),
		SCENE(replicas_differ),
		SCENE(parts_differ),
		SCENE(methods_on_one),
		SCENE(read_before_reduction),
		SCENE(read_after_reduction),
		SCENE(counts_differ),
		SCENE(spread_by_its_owner),
		SCENE(spread_by_another),
		SCENE(marked_as_received),
		SCENE(communicator_of_one),
		SCENE(size_to_null),
		SCENE(rank_to_null),
		SCENE(attribute_to_null),
		SCENE(statistics_to_null),
		SCENE(negative_sends),
		SCENE(request_of_nobody),
		SCENE(by_no_ranks),
	};

	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof *scenes);
}
