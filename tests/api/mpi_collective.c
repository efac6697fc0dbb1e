/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Several data, or several ranks, in one call; tasks whose data are exchanged by hand. */
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { MAX_RANKS = 8, PER_RANK = 3, NDATA = MAX_RANKS * PER_RANK, NLARGE = 3000 };

static long values[NDATA][NLARGE];
static starpu_data_handle_t data[NDATA];
static int nends[2];

static void ended(void *arg)
{
	++*(int *)arg;
}

static int ndata(void)
{
	return PER_RANK * claim_size;
}

static int owner_of(int i)
{
	return i % claim_size;
}

static unsigned length_of(int i)
{
	return i % 2 ? NLARGE : 2;
}

static void fill(int i, long value)
{
	for (unsigned j = 0; j < length_of(i); j++)
		values[i][j] = value;
}

static void expect(int i, long value)
{
	CLAIM_EQ(values[i][0], value);
	CLAIM_EQ(values[i][length_of(i) - 1], value);
}

/* Memory on the owner and on the root: as programs do that scatter. */
static void register_all(int root)
{
	for (int i = 0; i < ndata(); i++) {
		int is_here = RANK == root || RANK == owner_of(i);

		starpu_vector_data_register(&data[i], is_here ? STARPU_MAIN_RAM : -1,
					    is_here ? (uintptr_t)values[i] : 0,
					    length_of(i), sizeof(long));
		starpu_mpi_data_register(data[i], TAG + i, owner_of(i));
	}
}

static void unregister_all(void)
{
	for (int i = 0; i < ndata(); i++)
		starpu_data_unregister(data[i]);
}

/* ---- scatter and gather ---------------------------------------------- */

static void values_go_to_their_owners_and_come_back(void)
{
	int *sent = &nends[0], *received = &nends[1], root;

	start();
	root = claim_size - 1;
	nends[0] = nends[1] = 0;
	for (int i = 0; i < ndata(); i++)
		fill(i, RANK == root ? 100 + i : -1);
	register_all(root);
	CLAIM_EQ(starpu_mpi_scatter_detached(data, ndata(), root, WORLD, ended, sent,
					     ended, received),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(*sent, RANK == root);
	CLAIM_EQ(*received, RANK != root);
	for (int i = 0; i < ndata(); i++) {
		if (owner_of(i) != RANK)
			continue;
		starpu_data_acquire(data[i], STARPU_RW);
		expect(i, 100 + i);
		fill(i, 200 + i);
		starpu_data_release(data[i]);
	}
	CLAIM_EQ(starpu_mpi_gather_detached(data, ndata(), root, WORLD, ended, sent,
					    ended, received),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(*sent, 1);
	CLAIM_EQ(*received, 1);
	unregister_all();
	for (int i = 0; RANK == root && i < ndata(); i++)
		expect(i, 200 + i);
	stop();
}

static void who_moves_nothing_hears_nothing(void)
{
	starpu_data_handle_t own[2] = {NULL, NULL};

	start();
	nends[0] = nends[1] = 0;
	fill(0, 5);
	if (RANK == 0) {
		starpu_vector_data_register(&own[1], STARPU_MAIN_RAM,
					    (uintptr_t)values[0], 2, sizeof(long));
		starpu_mpi_data_register(own[1], TAG, 0);
	}
	starpu_mpi_scatter_detached(own, 2, 0, WORLD, ended, &nends[0], ended, &nends[1]);
	starpu_mpi_gather_detached(own, 2, 0, WORLD, ended, &nends[0], ended, &nends[1]);
	starpu_mpi_gather_detached(own, 0, 0, WORLD, NULL, NULL, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nends[0] + nends[1], 0);
	if (own[1])
		starpu_data_unregister(own[1]);
	expect(0, 5);
	stop();
}

/* ---- copies ---------------------------------------------------------- */

static void look_cpu(void *buffers[], void *arg)
{
	const long *x = (const long *)STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
	long *seen;

	starpu_codelet_unpack_args(arg, &seen);
	*seen = x[0] == x[n - 1] ? x[0] : -1;
}

static void set_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = value;
}

static struct starpu_codelet look = {.cpu_funcs = {look_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "look"};
static struct starpu_codelet set = {.cpu_funcs = {set_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "set"};

static long seen;

static void set_to(starpu_data_handle_t handle, long value)
{
	starpu_mpi_task_insert(WORLD, &set, STARPU_RW, handle, STARPU_VALUE, &value,
			       sizeof(value), 0);
}

/* What a task on that rank reads; everybody waits. */
static void expect_on(starpu_data_handle_t handle, int rank, long value)
{
	long *at = &seen;

	seen = -2;
	starpu_mpi_task_insert(WORLD, &look, STARPU_R, handle, STARPU_VALUE, &at,
			       sizeof(at), STARPU_EXECUTE_ON_NODE, rank, 0);
	starpu_mpi_wait_for_all(WORLD);
	if (RANK == rank)
		CLAIM_EQ(seen, value);
}

/* What others have read of data that are scattered is of the past. */
static void scattered_values_are_new_to_all(void)
{
	int root = claim_size - 1, is_here = RANK == root || RANK == 0;
	starpu_data_handle_t handle;

	start();
	fill(1, RANK == root ? 20 : 10);
	starpu_vector_data_register(&handle, is_here ? STARPU_MAIN_RAM : -1,
				    is_here ? (uintptr_t)values[1] : 0, NLARGE,
				    sizeof(long));
	starpu_mpi_data_register(handle, TAG, 0);
	for (int rank = 0; rank < root; rank++)
		expect_on(handle, rank, 10);
	starpu_mpi_scatter_detached(&handle, 1, root, WORLD, NULL, NULL, NULL, NULL);
	for (int rank = 0; rank < claim_size; rank++)
		expect_on(handle, rank, 20);
	starpu_data_unregister(handle);
	stop();
}

static starpu_data_handle_t owned(int i, int owner)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				    RANK == owner ? (uintptr_t)values[i] : 0, NLARGE,
				    sizeof(long));
	starpu_mpi_data_register(handle, TAG + i, owner);
	return handle;
}

static void copy(starpu_data_handle_t to, starpu_data_handle_t from, int asynchronous)
{
	CLAIM_EQ(starpu_mpi_data_cpy(to, from, WORLD, asynchronous, ended, &nends[0]), 0);
}

static void copies_reach_data_of_any_owner(void)
{
	starpu_data_handle_t from, same, other;
	int last = claim_size - 1;

	start();
	nends[0] = 0;
	from = owned(0, 0);
	same = owned(1, 0);
	other = owned(2, last);
	set_to(from, 10);
	set_to(same, 11);
	set_to(other, 12);
	/* What others have read is not to be found there any more. */
	expect_on(same, last, 11);
	expect_on(other, 0, 12);
	copy(same, from, 1);
	copy(other, from, 1);
	set_to(from, 13);
	for (int rank = 0; rank < claim_size; rank++) {
		expect_on(same, rank, 10);
		expect_on(other, rank, 10);
	}
	/* One owner: on all ranks; two: where the value goes. */
	CLAIM_EQ(nends[0], RANK == last ? 2 : 1);
	copy(from, from, 1);
	CLAIM_EQ(nends[0], RANK == last ? 3 : 2);
	CLAIM_EQ(starpu_mpi_data_cpy_priority(from, other, WORLD, 0, ended, &nends[1], 5),
		 0);
	starpu_data_unregister(other);
	expect_on(from, last, 10);
	starpu_data_unregister(from);
	starpu_data_unregister(same);
	stop();
}

static struct starpu_codelet set_late = {.cpu_funcs = {set_cpu},
					 .nbuffers = 2,
					 .modes = {STARPU_RW, STARPU_R},
					 .model = &starpu_perfmodel_nop,
					 .name = "set_late"};

/* The rank that sends the copied value sends one of dst itself before, but has it later.
 */
static void copies_come_after_what_was_written_elsewhere(void)
{
	int last = claim_size - 1;
	starpu_data_handle_t to, from, gate;
	long value = 31;

	start();
	to = owned(0, 0);
	from = owned(1, last);
	gate = owned(2, last);
	set_to(from, 30);
	starpu_mpi_wait_for_all(WORLD);
	if (RANK == last)
		starpu_data_acquire(gate, STARPU_RW);
	starpu_mpi_task_insert(WORLD, &set_late, STARPU_RW, to, STARPU_R, gate,
			       STARPU_VALUE, &value, sizeof(value),
			       STARPU_EXECUTE_ON_NODE, last, 0);
	copy(to, from, 1);
	if (RANK == last)
		starpu_data_release(gate);
	for (int rank = 0; rank < claim_size; rank++)
		expect_on(to, rank, 30);
	starpu_data_unregister(to);
	starpu_data_unregister(from);
	starpu_data_unregister(gate);
	stop();
}

static void blocking_copies_are_over_at_once(void)
{
	starpu_data_handle_t from, to;

	start();
	nends[0] = 0;
	from = owned(0, 0);
	to = owned(1, claim_size - 1);
	set_to(from, 20);
	copy(to, from, 0);
	CLAIM_EQ(nends[0], RANK == claim_size - 1);
	if (RANK == claim_size - 1)
		CLAIM_EQ(starpu_data_acquire_try(to, STARPU_R), 0);
	if (RANK == claim_size - 1)
		starpu_data_release(to);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	stop();
}

/* ---- exchanges by hand ----------------------------------------------- */

static void add_cpu(void *buffers[], void *arg)
{
	const long *x = (const long *)STARPU_VECTOR_GET_PTR(buffers[0]);
	long *y = (long *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[1]); i++)
		y[i] += x[i];
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void submit_if(int is_mine, starpu_data_handle_t x, starpu_data_handle_t y)
{
	if (is_mine)
		CLAIM_EQ(starpu_task_insert(&add, STARPU_R, x, STARPU_RW, y, 0), 0);
}

/* Each datum by itself, on a rank that owns neither. */
static void add_piecewise(starpu_data_handle_t x, starpu_data_handle_t y, int node)
{
	struct starpu_mpi_task_exchange_params of_x = {.xrank = node}, of_y = of_x;

	CLAIM_EQ(starpu_mpi_exchange_data_before_execution(WORLD, x, STARPU_R, &of_x), 0);
	CLAIM_EQ(starpu_mpi_exchange_data_before_execution(WORLD, y, STARPU_RW, &of_y),
		 0);
	CLAIM_EQ(of_x.me, RANK);
	CLAIM_EQ(of_x.do_execute, RANK == node);
	CLAIM_EQ(of_y.xrank, node);
	CLAIM_EQ(of_y.exchange_needed, 1);
	submit_if(of_x.do_execute, x, y);
	CLAIM_EQ(starpu_mpi_exchange_data_after_execution(WORLD, x, STARPU_R, of_x), 0);
	CLAIM_EQ(starpu_mpi_exchange_data_after_execution(WORLD, y, STARPU_RW, of_y), 0);
}

static void add_on_node(starpu_data_handle_t x, starpu_data_handle_t y, int node)
{
	struct starpu_mpi_task_exchange_params params;
	struct starpu_data_descr descrs[2];
	struct starpu_task *task = starpu_task_create();

	task->cl = &add;
	task->handles[0] = x;
	task->handles[1] = y;
	CLAIM_EQ(starpu_mpi_task_exchange_data_before_execution_on_node(
			 WORLD, task, descrs, &params, node),
		 0);
	CLAIM_EQ(params.do_execute, RANK == node);
	if (params.do_execute) {
		CLAIM_EQ(starpu_task_submit(task), 0);
	} else {
		task->destroy = 0;
		starpu_task_destroy(task);
	}
	CLAIM_EQ(starpu_mpi_task_exchange_data_after_execution(WORLD, descrs, 2, params),
		 0);
}

static void data_are_exchanged_one_by_one(void)
{
	starpu_data_handle_t x, y;
	int node;

	start();
	node = claim_size - 1;
	x = owned(0, 0);
	y = owned(1, 0);
	set_to(x, 1);
	set_to(y, 30);
	add_piecewise(x, y, node);
	expect_on(y, 0, 31);
	expect_on(y, node, 31);
	add_on_node(x, y, node);
	expect_on(y, 0, 32);
	expect_on(y, node, 32);
	starpu_data_unregister(x);
	starpu_data_unregister(y);
	stop();
}

static const struct claim claims[] = {
	{"values go to their owners and come back",
	 values_go_to_their_owners_and_come_back},
	{"who moves nothing hears nothing", who_moves_nothing_hears_nothing},
	{"scattered values are new to all", scattered_values_are_new_to_all},
	{"copies reach data of any owner", copies_reach_data_of_any_owner},
	{"copies come after what was written elsewhere",
	 copies_come_after_what_was_written_elsewhere},
	{"blocking copies are over at once", blocking_copies_are_over_at_once},
	{"data are exchanged one by one", data_are_exchanged_one_by_one},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
