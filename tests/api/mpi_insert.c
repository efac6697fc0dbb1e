/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks inserted by all ranks: who executes them, and what travels for them. */
#include <errno.h>

#include "mpi_distributed.h"

int claim_failures, claim_rank, claim_size;

static starpu_data_handle_t distributed_vector(long *at, unsigned n, starpu_mpi_tag_t tag,
					       int owner)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				    RANK == owner ? (uintptr_t)at : 0, n, sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

static void write_two_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*pointer(buffers[0]) += 10;
	*pointer(buffers[1]) += 20;
	count(&nruns);
}

static struct starpu_codelet write_two = {.cpu_funcs = {write_two_cpu},
					  .nbuffers = 2,
					  .modes = {STARPU_RW, STARPU_RW},
					  .model = &starpu_perfmodel_nop,
					  .name = "write_two"};

/* ---- who executes ---------------------------------------------------- */

static void owner_computes(void)
{
	long x[2] = {5, 6};
	starpu_data_handle_t handles[2];
	int ncalls = 0, seven = 7;

	start();
	for (int i = 0; i < 2; i++)
		handles[i] = distributed(&x[i], i, i);
	for (int i = 0; i < 2; i++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &add, STARPU_VALUE, &seven,
						sizeof seven, STARPU_RW, handles[i],
						STARPU_CALLBACK_WITH_ARG_NFREE, count,
						&ncalls, 0),
			 0);
	CLAIM_EQ(starpu_mpi_insert_task(WORLD, &sum, STARPU_RW, handles[1], STARPU_R,
					handles[0], STARPU_PRIORITY, 3, 0),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, RANK < 2);
	CLAIM_EQ(nruns, RANK == 0 ? 1 : RANK == 1 ? 2 : 0);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	CLAIM_EQ(x[0], RANK == 0 ? 12 : 5);
	CLAIM_EQ(x[1], RANK == 1 ? 25 : 6);
	stop();
}

/* Elsewhere than at the owner, who gets the result. */
static void named_rank_executes(void)
{
	long x[2] = {5, 6};
	starpu_data_handle_t handles[2];

	start();
	for (int i = 0; i < 2; i++)
		handles[i] = distributed(&x[i], i, i);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[0], STARPU_EXECUTE_ON_NODE,
			       1, 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 1);
	/* The last one counts, and -1 not at all. */
	starpu_mpi_task_insert(WORLD, &add, STARPU_EXECUTE_ON_NODE, 1, STARPU_RW,
			       handles[0], STARPU_EXECUTE_ON_NODE, 0,
			       STARPU_EXECUTE_ON_NODE, -1, 0);
	/* The datum of EXECUTE_ON_DATA, against the owner of what is written. */
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[0], STARPU_EXECUTE_ON_DATA,
			       handles[1], 0);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[1], STARPU_EXECUTE_ON_DATA,
			       handles[0], 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 0 ? 2 : RANK == 1 ? 2 : 0);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	CLAIM_EQ(x[0], RANK == 0 ? 8 : 5);
	CLAIM_EQ(x[1], RANK == 1 ? 7 : 6);
	stop();
}

/* Without codelet, the callbacks alone, and on one rank only. */
static void empty_tasks_call_back(void)
{
	int ncalls = 0, nprologues = 0;

	start();
	for (int node = 0; node < claim_size; node++)
		starpu_mpi_task_insert(WORLD, NULL, STARPU_EXECUTE_ON_NODE, node,
				       STARPU_CALLBACK_WITH_ARG_NFREE, count, &ncalls,
				       STARPU_PROLOGUE_CALLBACK, count,
				       STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &nprologues,
				       0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, 1);
	CLAIM_EQ(nprologues, 1);
	stop();
}

/* Written data of two owners: the rank with more bytes, the lower one in doubt. */
static void most_bytes_decide(void)
{
	static long small[2], large[20];
	starpu_data_handle_t few, many, other;

	start();
	few = distributed_vector(small, 2, 0, 0);
	many = distributed_vector(large, 20, 1, 1);
	other = distributed_vector(small, 2, 2, 1);
	starpu_mpi_task_insert(WORLD, &write_two, STARPU_RW, few, STARPU_RW, many, 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 1);
	starpu_mpi_task_insert(WORLD, &write_two, STARPU_RW, other, STARPU_RW, few, 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK < 2);
	if (RANK == 0)
		CLAIM_EQ(value_here(few), 30);
	if (RANK == 1)
		CLAIM_EQ(value_here(many), 20);
	starpu_data_unregister(few);
	starpu_data_unregister(many);
	starpu_data_unregister(other);
	stop();
}

static int choose_last(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
	(void)me;
	CLAIM_EQ(nb_data, 2);
	CLAIM_EQ(starpu_mpi_data_get_rank(descr[0].handle), 0);
	return nb_nodes - 1;
}

static int choose_first_owner(int me, int nb_nodes, struct starpu_data_descr *descr,
			      int nb_data)
{
	(void)me;
	(void)nb_nodes;
	(void)nb_data;
	return starpu_mpi_data_get_rank(descr[0].handle);
}

static void policies_decide(void)
{
	long x[2] = {0, 0};
	starpu_data_handle_t handles[2];
	int last, first;

	start();
	for (int i = 0; i < 2; i++)
		handles[i] = distributed(&x[i], i, i);
	CLAIM_EQ(starpu_mpi_node_selection_get_current_policy(),
		 STARPU_MPI_NODE_SELECTION_MOST_R_DATA);
	last = starpu_mpi_node_selection_register_policy(choose_last);
	first = starpu_mpi_node_selection_register_policy(choose_first_owner);
	CLAIM(last > 0 && first > last);
	starpu_mpi_task_insert(WORLD, &write_two, STARPU_RW, handles[0], STARPU_RW,
			       handles[1], STARPU_NODE_SELECTION_POLICY, last, 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == claim_size - 1);
	starpu_mpi_node_selection_set_current_policy(first);
	CLAIM_EQ(starpu_mpi_node_selection_get_current_policy(), first);
	nruns = 0;
	starpu_mpi_task_insert(WORLD, &write_two, STARPU_RW, handles[1], STARPU_RW,
			       handles[0], 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 1);
	CLAIM_EQ(starpu_mpi_node_selection_unregister_policy(last), 0);
	if (RANK == 0)
		CLAIM_EQ(value_here(handles[0]), 30);
	if (RANK == 1)
		CLAIM_EQ(value_here(handles[1]), 30);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	stop();
}

/* What does not concern a rank may be NULL there. */
static void null_handles_are_passed_over(void)
{
	long x = 5, y = 6;
	starpu_data_handle_t mine = NULL, theirs = NULL;
	int concerned = RANK < 2;

	start();
	if (concerned) {
		mine = distributed(&x, 0, 0);
		theirs = distributed(&y, 1, 1);
	}
	/* Nobody tells the third rank who executes: it stays out. */
	CLAIM_EQ(
		starpu_mpi_task_insert(WORLD, &sum, STARPU_RW, theirs, STARPU_R, mine, 0),
		concerned ? 0 : -EINVAL);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &sum, STARPU_EXECUTE_ON_NODE, 0, STARPU_RW,
					theirs, STARPU_R, mine, 0),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, concerned);
	if (concerned) {
		starpu_data_unregister(mine);
		starpu_data_unregister(theirs);
	}
	CLAIM_EQ(y, RANK == 1 ? 16 : 6);
	stop();
}

static struct starpu_codelet gpu_only = {.where = STARPU_CUDA,
					 .cuda_funcs = {add_cpu},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .name = "gpu_only"};

static void start_without_gpu(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = 0;
	conf.precedence_over_environment_variables = 1;
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, &conf), 0);
	nruns = 0;
}

static void no_worker_is_told_to_the_executor(void)
{
	long x = 0;
	starpu_data_handle_t handle;

	start_without_gpu();
	handle = distributed(&x, 0, 1);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &gpu_only, STARPU_RW, handle, 0),
		 RANK == 1 ? -ENODEV : 0);
	starpu_data_unregister(handle);
	stop();
}

/* Only one rank knows that the task does not run: all agree on who holds what after it.
 */
static void refused_tasks_change_nothing(void)
{
	long x = RANK == 0 ? 5 : 0;
	starpu_data_handle_t handle;

	start_without_gpu();
	handle = distributed(&x, 0, 0);
	starpu_mpi_get_data_on_node_detached(WORLD, handle, 1, NULL, NULL);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &gpu_only, STARPU_RW, handle, 0),
		 RANK == 0 ? -ENODEV : 0);
	CLAIM_EQ(starpu_mpi_get_data_on_node(WORLD, handle, 1), 0);
	if (RANK < 2)
		CLAIM_EQ(value_here(handle), 5);
	/* Elsewhere than on the owner. */
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &gpu_only, STARPU_RW, handle,
					STARPU_EXECUTE_ON_NODE, 1, 0),
		 RANK == 1 ? -ENODEV : 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle,
					STARPU_EXECUTE_ON_NODE, 1, 0),
		 0);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 0 ? 6 : 0);
	stop();
}

/* ---- what travels ---------------------------------------------------- */

static void read_twice(starpu_data_handle_t result, starpu_data_handle_t source)
{
	for (int i = 0; i < 2; i++)
		starpu_mpi_task_insert(WORLD, &sum, STARPU_RW, result, STARPU_R, source,
				       0);
}

/* Rank 1, by its place in a communicator the other way round. */
static void sent_by_another_number(starpu_data_handle_t source)
{
	int size = starpu_mpi_world_size();
	MPI_Comm backwards;

	MPI_Comm_split(WORLD, 0, -RANK, &backwards);
	starpu_mpi_comm_register(backwards);
	if (RANK == 0) {
		CLAIM(starpu_mpi_cached_send_comm(source, size - 2, backwards));
		CLAIM(starpu_mpi_cached_send_set_comm(source, size - 2, backwards));
		CLAIM(!starpu_mpi_cached_send_comm(source, size - 1, backwards));
	}
	MPI_Comm_free(&backwards);
}

static void copies_are_kept(void)
{
	long x = 3, y = 0;
	starpu_data_handle_t source, result;

	start();
	count_bytes();
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 1);
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 1);
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	CLAIM_EQ(starpu_mpi_cached_receive(source), RANK == 1);
	if (RANK == 0)
		CLAIM(starpu_mpi_cached_send(source, 1));
	sent_by_another_number(source);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, source, 0);
	CLAIM_EQ(starpu_mpi_cached_receive(source), 0);
	if (RANK == 0)
		CLAIM(!starpu_mpi_cached_send(source, 1));
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	starpu_mpi_cache_flush(WORLD, source);
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	starpu_mpi_cache_flush_all_data(WORLD);
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	starpu_data_unregister(source);
	starpu_data_unregister(result);
	CLAIM_EQ(y, RANK == 1 ? 30 : 0);
	stop();
}

static void without_cache_all_travels(void)
{
	long x = 3, y = 0;
	starpu_data_handle_t source, result;

	start();
	count_bytes();
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 1);
	starpu_mpi_cache_set(0);
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 0);
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? 2 * sizeof x : 0);
	CLAIM_EQ(starpu_mpi_cached_receive(source), 0);
	starpu_mpi_cache_set(1);
	read_twice(result, source);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	starpu_data_unregister(source);
	starpu_data_unregister(result);
	CLAIM_EQ(y, RANK == 1 ? 12 : 0);
	stop();
}

/* STARPU_MPI_PER_NODE: every rank has its own value, and nothing travels. */
static void private_data_stay(void)
{
	long x = RANK, y = 0;
	starpu_data_handle_t own, result;
	int one = 1;

	start();
	count_bytes();
	starpu_variable_data_register(&own, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof x);
	starpu_mpi_data_register(own, 0, STARPU_MPI_PER_NODE);
	result = distributed(&y, 1, 1);
	starpu_mpi_task_insert(WORLD, &add, STARPU_VALUE, &one, sizeof one, STARPU_RW,
			       own, 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, 1);
	starpu_mpi_task_insert(WORLD, &sum, STARPU_RW, result, STARPU_R, own, 0);
	CLAIM_EQ(bytes_sent(), 0);
	starpu_data_unregister(own);
	starpu_data_unregister(result);
	CLAIM_EQ(x, RANK + 1);
	CLAIM_EQ(y, RANK == 1 ? 2 : 0);
	stop();
}

/* A callback on the receiving rank, only when something travels. */
static void data_are_fetched(void)
{
	long x = 3;
	starpu_data_handle_t handle;
	int ncalls = 0;

	start();
	handle = distributed(&x, 0, 0);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	CLAIM_EQ(starpu_mpi_get_data_on_node(WORLD, handle, 1), 0);
	if (RANK == 1)
		CLAIM_EQ(value_here(handle), 4);
	starpu_mpi_get_data_on_node_detached(WORLD, handle, 1, count, &ncalls);
	starpu_mpi_get_data_on_node_detached(WORLD, handle, 0, count, &ncalls);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, 0);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	starpu_mpi_get_data_on_node_detached(WORLD, handle, claim_size - 1, count,
					     &ncalls);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(ncalls, RANK == claim_size - 1);
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, handle);
	CLAIM_EQ(value_here(handle), 6);
	starpu_data_unregister(handle);
	stop();
}

static void data_migrate(void)
{
	long x = 3;
	starpu_data_handle_t handle;

	start();
	handle = distributed(&x, 0, 0);
	for (int turn = 0; turn < 2 * claim_size; turn++) {
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
		starpu_mpi_data_migrate(WORLD, handle, (turn + 1) % claim_size);
		CLAIM_EQ(starpu_mpi_data_get_rank(handle), (turn + 1) % claim_size);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, 2);
	if (RANK == 0)
		CLAIM_EQ(value_here(handle), 3 + 2 * claim_size);
	starpu_data_unregister(handle);
	stop();
}

/* Ranks that are numbered otherwise own otherwise. */
static void communicators_number_the_owners(void)
{
	long x = 100 * RANK, y = 0;
	MPI_Comm reversed;
	starpu_data_handle_t first, second;
	int me;

	MPI_Comm_split(WORLD, 0, -RANK, &reversed);
	start();
	starpu_mpi_comm_register(reversed);
	starpu_mpi_comm_rank(reversed, &me);
	starpu_variable_data_register(&first, me == 0 ? STARPU_MAIN_RAM : -1,
				      (uintptr_t)&x, sizeof x);
	starpu_mpi_data_register_comm(first, 0, 0, reversed);
	starpu_variable_data_register(&second, me == 1 ? STARPU_MAIN_RAM : -1,
				      (uintptr_t)&y, sizeof y);
	starpu_mpi_data_register_comm(second, 1, 1, reversed);
	for (int i = 0; i < 3; i++)
		starpu_mpi_task_insert(reversed, &sum, STARPU_RW, second, STARPU_R, first,
				       0);
	starpu_mpi_task_insert(reversed, &add, STARPU_RW, second, STARPU_EXECUTE_ON_NODE,
			       0, 0);
	starpu_mpi_wait_for_all(reversed);
	CLAIM_EQ(nruns, me == 0 ? 1 : me == 1 ? 3 : 0);
	starpu_data_unregister(first);
	starpu_data_unregister(second);
	CLAIM_EQ(y, me == 1 ? 300 * (claim_size - 1) + 1 : 0);
	stop();
	MPI_Comm_free(&reversed);
}

/* ---- parts of an insertion ------------------------------------------- */

static void built_tasks_are_submitted_by_hand(void)
{
	long x = 3, y = 4;
	starpu_data_handle_t source, result;
	struct starpu_task *task;
	int five = 5;

	start();
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 1);
	for (int i = 0; i < 5; i++) {
		task = starpu_mpi_task_build(WORLD, &sum, STARPU_RW, result, STARPU_R,
					     source, STARPU_EXECUTE_ON_NODE, 0,
					     STARPU_PRIORITY, 2, STARPU_VALUE, &five,
					     sizeof five, 0);
		CLAIM_EQ(task != NULL, RANK == 0);
		if (task) {
			CLAIM_EQ(task->priority, 2);
			CLAIM_EQ(starpu_task_submit(task), 0);
		}
		starpu_mpi_task_post_build(WORLD, &sum, STARPU_RW, result, STARPU_R,
					   source, STARPU_EXECUTE_ON_NODE, 0,
					   STARPU_PRIORITY, 2, 0);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 0 ? 5 : 0);
	starpu_data_unregister(source);
	starpu_data_unregister(result);
	CLAIM_EQ(y, RANK == 1 ? 19 : 4);
	stop();
}

/* Without cache: the second half of the first leaves the value that the second reads. */
static void built_tasks_overlap(int by_hand)
{
	enum { NTASKS = 2 };
	long x = 3, y[NTASKS] = {4, 5};
	starpu_data_handle_t source, results[NTASKS];
	struct starpu_mpi_task_exchange_params params[NTASKS];
	struct starpu_data_descr descrs[NTASKS][2];
	struct starpu_task *tasks[NTASKS];

	start();
	starpu_mpi_cache_set(0);
	source = distributed(&x, 0, 0);
	for (int i = 0; i < NTASKS; i++) {
		results[i] = distributed(&y[i], i + 1, 1);
		if (!by_hand) {
			tasks[i] = starpu_mpi_task_build(WORLD, &sum, STARPU_RW,
							 results[i], STARPU_R, source, 0);
			continue;
		}
		tasks[i] = starpu_task_create();
		tasks[i]->cl = &sum;
		tasks[i]->handles[0] = results[i];
		tasks[i]->handles[1] = source;
		starpu_mpi_task_exchange_data_before_execution(WORLD, tasks[i], descrs[i],
							       &params[i]);
	}
	for (int i = 0; i < NTASKS; i++) {
		if (RANK == 1)
			CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
		if (by_hand)
			starpu_mpi_task_exchange_data_after_execution(WORLD, descrs[i], 2,
								      params[i]);
		else
			starpu_mpi_task_post_build(WORLD, &sum, STARPU_RW, results[i],
						   STARPU_R, source, 0);
		if (by_hand && RANK != 1) {
			tasks[i]->destroy = 0;
			starpu_task_destroy(tasks[i]);
		}
	}
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < NTASKS; i++)
		starpu_data_unregister(results[i]);
	CLAIM_EQ(starpu_mpi_cached_receive(source), 0);
	starpu_data_unregister(source);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(y[i], RANK == 1 ? 7 + i : 4 + i);
	starpu_mpi_cache_set(1);
	stop();
}

static void built_tasks_leave_each_other_data(void)
{
	built_tasks_overlap(0);
}

/* The same where several ranks execute what reads it between. */
static void built_tasks_keep_what_several_ranks_read(void)
{
	int ranks[] = {0, 1};
	long x = 3, y = 4;
	starpu_data_handle_t source, result;
	struct starpu_task *task;

	start();
	starpu_mpi_cache_set(0);
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 1);
	task = starpu_mpi_task_build(WORLD, &sum, STARPU_RW, result, STARPU_R, source, 0);
	starpu_mpi_tasks_insert(WORLD, &only_read, 2, ranks, STARPU_R, source, 0);
	if (RANK == 1)
		CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_mpi_task_post_build(WORLD, &sum, STARPU_RW, result, STARPU_R, source, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(result);
	starpu_data_unregister(source);
	CLAIM_EQ(y, RANK == 1 ? 7 : 4);
	starpu_mpi_cache_set(1);
	stop();
}

/* Without cache: who owned what moves reads it in a task that is built, not submitted. */
static void built_tasks_keep_data_that_move(void)
{
	long x = 3, y = 4;
	starpu_data_handle_t source, result;
	struct starpu_task *task;

	start();
	starpu_mpi_cache_set(0);
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 0);
	task = starpu_mpi_task_build(WORLD, &sum, STARPU_RW, result, STARPU_R, source, 0);
	starpu_mpi_data_migrate(WORLD, source, 1);
	if (RANK == 0)
		CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_mpi_task_post_build(WORLD, &sum, STARPU_RW, result, STARPU_R, source, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(result);
	starpu_data_unregister(source);
	CLAIM_EQ(y, RANK == 0 ? 7 : 4);
	starpu_mpi_cache_set(1);
	stop();
}

static void tasks_filled_by_hand_leave_each_other_data(void)
{
	built_tasks_overlap(1);
}

static void tasks_filled_by_hand_exchange(void)
{
	long x = 3, y = 4;
	starpu_data_handle_t source, result;

	start();
	source = distributed(&x, 0, 0);
	result = distributed(&y, 1, 1);
	for (int i = 0; i < 5; i++) {
		struct starpu_task *task = starpu_task_create();
		struct starpu_mpi_task_exchange_params params;
		struct starpu_data_descr descrs[2];

		task->cl = &sum;
		task->handles[0] = result;
		task->handles[1] = source;
		CLAIM_EQ(starpu_mpi_task_exchange_data_before_execution(WORLD, task,
									descrs, &params),
			 0);
		CLAIM_EQ(params.xrank, 1);
		CLAIM_EQ(params.do_execute, RANK == 1);
		if (params.do_execute) {
			CLAIM_EQ(starpu_task_submit(task), 0);
		} else {
			task->destroy = 0;
			starpu_task_destroy(task);
		}
		CLAIM_EQ(starpu_mpi_task_exchange_data_after_execution(WORLD, descrs, 2,
								       params),
			 0);
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, source, 0);
	}
	starpu_data_unregister(source);
	starpu_data_unregister(result);
	CLAIM_EQ(y, RANK == 1 ? 4 + 3 + 4 + 5 + 6 + 7 : 4);
	stop();
}

static int nhooked;

static void note_task(struct starpu_task *task)
{
	nhooked += task->cl == &add;
}

static void hook_sees_own_tasks(void)
{
	long x[2] = {0, 0};
	starpu_data_handle_t handles[2];

	/* It is the program's: given before, and kept over lives. */
	starpu_mpi_pre_submit_hook_register(note_task);
	start();
	stop();
	start();
	nhooked = 0;
	for (int i = 0; i < 2; i++)
		handles[i] = distributed(&x[i], i, i);
	for (int i = 0; i < 10; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[i % 2], 0);
	starpu_mpi_pre_submit_hook_unregister();
	for (int i = 0; i < 2; i++)
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handles[i], 0);
	CLAIM_EQ(nhooked, RANK < 2 ? 5 : 0);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	stop();
}

static void arrays_of_handles_work(void)
{
	long x[2] = {3, 4};
	starpu_data_handle_t handles[2];
	struct starpu_data_descr descrs[2];

	start();
	for (int i = 0; i < 2; i++) {
		handles[i] = distributed(&x[i], i, i);
		descrs[i].handle = handles[i];
		descrs[i].mode = i ? STARPU_R : STARPU_RW;
	}
	starpu_mpi_task_insert(WORLD, &sum, STARPU_DATA_ARRAY, handles, 2, 0);
	starpu_mpi_task_insert(WORLD, &sum, STARPU_DATA_MODE_ARRAY, descrs, 2, 0);
	starpu_mpi_task_insert(WORLD, &sum, STARPU_RW, handles[0],
			       STARPU_R | STARPU_SSEND, handles[1], 0);
	starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handles[1],
			       STARPU_EXECUTE_ON_DATA, handles[1], 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 0 ? 3 : RANK == 1);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	CLAIM_EQ(x[0], RANK == 0 ? 15 : 3);
	stop();
}

enum { NMANY = 40 };

static void number_cpu(void *buffers[], void *arg)
{
	(void)arg;
	for (int i = 0; i < NMANY; i++)
		*pointer(buffers[i]) += i;
	count(&nruns);
}

static struct starpu_codelet number = {.cpu_funcs = {number_cpu},
				       .nbuffers = STARPU_VARIABLE_NBUFFERS,
				       .model = &starpu_perfmodel_nop,
				       .name = "number"};

/* More than a plan has room for by itself: all come to the rank, and all go back. */
static void many_data_travel(void)
{
	long x[NMANY];
	starpu_data_handle_t handles[NMANY];
	struct starpu_data_descr descrs[NMANY];

	start();
	for (int i = 0; i < NMANY; i++) {
		x[i] = 100;
		handles[i] = distributed(&x[i], i, i % 2);
		descrs[i].handle = handles[i];
		descrs[i].mode = STARPU_RW;
	}
	for (int executor = 0; executor < 2; executor++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &number, STARPU_DATA_MODE_ARRAY,
						descrs, NMANY, STARPU_EXECUTE_ON_NODE,
						executor, 0),
			 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK < 2);
	for (int i = 0; i < NMANY; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(x[i], RANK == i % 2 ? 100 + 2 * i : 100);
	}
	stop();
}

static const struct claim claims[] = {
	{"the owner of what is written executes", owner_computes},
	{"a rank that is named executes", named_rank_executes},
	{"empty tasks call back on their rank", empty_tasks_call_back},
	{"the rank with most bytes executes", most_bytes_decide},
	{"policies choose the rank", policies_decide},
	{"handles may be NULL where they do not matter", null_handles_are_passed_over},
	{"only the executing rank misses a worker", no_worker_is_told_to_the_executor},
	{"refused tasks change nothing", refused_tasks_change_nothing},
	{"what was read is not sent again", copies_are_kept},
	{"without cache everything is sent each time", without_cache_all_travels},
	{"data of STARPU_MPI_PER_NODE stay", private_data_stay},
	{"data are fetched to a rank", data_are_fetched},
	{"data migrate", data_migrate},
	{"communicators number the owners", communicators_number_the_owners},
	{"built tasks are submitted by hand", built_tasks_are_submitted_by_hand},
	{"built tasks leave each other their data", built_tasks_leave_each_other_data},
	{"built tasks keep what several ranks read",
	 built_tasks_keep_what_several_ranks_read},
	{"built tasks keep data that move", built_tasks_keep_data_that_move},
	{"tasks filled by hand leave them, too",
	 tasks_filled_by_hand_leave_each_other_data},
	{"tasks filled by hand exchange their data", tasks_filled_by_hand_exchange},
	{"the hook sees the rank's own tasks", hook_sees_own_tasks},
	{"arrays of handles are taken apart", arrays_of_handles_work},
	{"tasks of many data take them along", many_data_travel},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
