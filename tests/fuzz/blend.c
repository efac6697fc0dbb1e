/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include <orrery_mpi.h>

#include "run.h"
#include "values.h"

/*
 * blend.c - what programs do by hand with data that tasks of several ranks use as well:
 * messages of them, copies, owners that they change themselves, and handles that are
 * unregistered while their values travel.
 */

/* A home that may be used until all has ended; one that was only read still has its value
 * then.  Nobody brings one home that was unregistered when unused. */
struct leftover {
	struct leftover *next;
	struct view home;
	const struct op *op;
	uint64_t expected;
	int is_read;
};

static void leave(struct lane_run *lane, const struct op *op, const struct live *live,
		  int is_read)
{
	struct leftover *leftover = malloc(sizeof(*leftover));

	if (!leftover)
		abort();
	*leftover = (struct leftover){lane->leftovers, live->home, op,
				      is_read ? view_hash(&live->home) : 0, is_read};
	lane->leftovers = leftover;
}

void blend_finish(struct lane_run *lane)
{
	while (lane->leftovers) {
		struct leftover *leftover = lane->leftovers;
		uint64_t seen = view_hash(&leftover->home);

		if (leftover->is_read && seen != leftover->expected)
			run_bad(lane->run, leftover->op, "value that was left", seen,
				leftover->expected);
		lane->leftovers = leftover->next;
		free(leftover->home.values);
		free(leftover);
	}
}

static starpu_mpi_tag_t tag_of(const struct lane_run *lane, const struct op *op)
{
	return ((starpu_mpi_tag_t)(lane->index + 1) << 40) +
	       ((starpu_mpi_tag_t)op->id << 10);
}

/* ---- messages -------------------------------------------------------- */

static void glimpse(void *buffers[], void *arg)
{
	struct view view = view_of_buffer(buffers[0]);
	struct ticket ticket;
	uint64_t seen = view_hash(&view);

	starpu_codelet_unpack_args(arg, &ticket);
	if (seen != ticket.op->expected)
		run_bad(ticket.run, ticket.op, "value of a message", seen,
			ticket.op->expected);
}

static struct starpu_codelet glimpse_codelet = {.cpu_funcs = {glimpse},
						.nbuffers = 1,
						.modes = {STARPU_R},
						.model = &starpu_perfmodel_nop,
						.name = "glimpse"};

static void look_later(struct lane_run *lane, const struct op *op,
		       starpu_data_handle_t handle)
{
	struct ticket ticket = ticket_make(lane->run, op);
	int ret = starpu_task_insert(&glimpse_codelet, STARPU_R, handle, STARPU_VALUE,
				     &ticket, sizeof(ticket), 0);

	if (ret)
		run_bad(lane->run, op, "starpu_task_insert()", (uint64_t)ret, 0);
	starpu_data_unregister_submit(handle);
}

static void receive_copy(struct lane_run *lane, const struct op *op,
			 const struct live *live)
{
	struct shape shape = live->shape;
	struct live copy;
	uint64_t seen;
	starpu_mpi_req req;

	shape.homed = 0;
	live_register(lane, &copy, &shape);
	if (op->choice[1] % 3 == 0) {
		starpu_mpi_irecv_detached(copy.handle, live->shape.owner,
					  tag_of(lane, op), lane->comm, NULL, NULL);
		look_later(lane, op, copy.handle);
		return;
	}
	if (op->choice[1] % 3 == 1) {
		starpu_mpi_recv(copy.handle, live->shape.owner, tag_of(lane, op),
				lane->comm, MPI_STATUS_IGNORE);
	} else {
		starpu_mpi_irecv(copy.handle, &req, live->shape.owner, tag_of(lane, op),
				 lane->comm);
		starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	}
	seen = live_acquired_hash(&copy);
	if (seen != op->expected)
		run_bad(lane->run, op, "value of a message", seen, op->expected);
	starpu_data_unregister(copy.handle);
}

/* The owner sends what tasks compute. */
static void post(struct lane_run *lane, const struct op *op, struct live *live)
{
	mpi_reduce(lane, live, op->choice[2]);
	if (live->shape.owner == lane->rank) {
		if (op->choice[0] % 3)
			starpu_mpi_isend_detached(live->handle, op->node,
						  tag_of(lane, op), lane->comm, NULL,
						  NULL);
		else
			starpu_mpi_issend_detached_prio(
				live->handle, op->node, tag_of(lane, op),
				(int)(op->choice[3] % 5) - 2, lane->comm, NULL, NULL);
	}
	if (op->node == lane->rank)
		receive_copy(lane, op, live);
}

/* The owner receives what tasks read afterwards; nobody may keep the old value. */
static void take(struct lane_run *lane, const struct op *op, struct live *live)
{
	struct shape shape = live->shape;
	struct live sent;

	mpi_reduce(lane, live, op->choice[2]);
	starpu_mpi_cache_flush(lane->comm, live->handle);
	if (op->node == lane->rank) {
		shape.owner = lane->rank;
		live_register(lane, &sent, &shape);
		view_overwrite(&sent.home, op->salt);
		starpu_mpi_isend_detached(sent.handle, live->shape.owner,
					  tag_of(lane, op), lane->comm, NULL, NULL);
		starpu_data_unregister_submit(sent.handle);
		leave(lane, op, &sent, 1);
	}
	if (live->shape.owner != lane->rank)
		return;
	if (op->choice[1] % 2)
		starpu_mpi_irecv_detached(live->handle, op->node, tag_of(lane, op),
					  lane->comm, NULL, NULL);
	else
		starpu_mpi_recv(live->handle, op->node, tag_of(lane, op), lane->comm,
				MPI_STATUS_IGNORE);
}

/* ---- owners ---------------------------------------------------------- */

static void give(struct lane_run *lane, struct live *live, int owner)
{
	starpu_mpi_data_set_rank_comm(live->handle, owner, lane->comm);
	live->shape.owner = owner;
}

/* As a migration does. */
static void give_by_hand(struct lane_run *lane, const struct op *op, struct live *live)
{
	if (op->choice[1] % 2)
		starpu_mpi_get_data_on_node(lane->comm, live->handle, op->node);
	else
		starpu_mpi_get_data_on_node_detached(lane->comm, live->handle, op->node,
						     NULL, NULL);
	give(lane, live, op->node);
	starpu_mpi_cache_flush(lane->comm, live->handle);
}

static void spread(struct lane_run *lane, const struct op *op)
{
	int data[BLEND_SPREAD], n = blend_members(op, lane->lane->ndata, data);
	starpu_data_handle_t handles[BLEND_SPREAD];
	int root = lane->live[op->uses[0].datum].shape.owner, count = 0;

	if (op->choice[0] % 3 == 0) {
		give_by_hand(lane, op, &lane->live[op->uses[0].datum]);
		return;
	}
	for (int i = 0; i < n; i++) {
		struct live *live = &lane->live[data[i]];
		int owner = live->shape.owner;

		if (owner < 0 || (op->choice[0] % 3 == 2 && owner != root))
			continue;
		mpi_reduce(lane, live, op->choice[2]);
		handles[count++] = live->handle;
		data[count - 1] = data[i];
		if (op->choice[0] % 3 == 2)
			give(lane, live, (op->node + i) % lane->lane->nranks);
	}
	if (op->choice[0] % 3 == 2)
		starpu_mpi_scatter_detached(handles, count, root, lane->comm, NULL, NULL,
					    NULL, NULL);
	else
		starpu_mpi_gather_detached(handles, count, op->node, lane->comm, NULL,
					   NULL, NULL, NULL);
	for (int i = 0; i < count; i++) {
		if (op->choice[0] % 3 == 1)
			give(lane, &lane->live[data[i]], op->node);
		starpu_mpi_cache_flush(lane->comm, handles[i]);
	}
}

/* ---- all ranks --------------------------------------------------------- */

static void look_now(struct lane_run *lane, const struct op *op, struct live *live)
{
	uint64_t seen = live_acquired_hash(live);

	if (seen != op->expected)
		run_bad(lane->run, op, "value that all ranks have", seen, op->expected);
}

/* Each gives a value of its own; what was contributed to the old one is dropped. */
static void combine(struct lane_run *lane, const struct op *op, struct live *live)
{
	int is_for_all = (int)(op->choice[1] % 2), prio = (int)(op->choice[3] % 5) - 2;
	struct shape shape = live->shape;
	struct live own;

	shape.owner = lane->rank;
	live_register(lane, &own, &shape);
	starpu_mpi_data_register_comm(own.handle, tag_of(lane, op), STARPU_MPI_PER_NODE,
				      lane->comm);
	view_overwrite(&own.home, op->salt + (uint64_t)lane->rank);
	if (is_for_all)
		orrery_mpi_allreduce_detached(own.handle, live->handle, lane->comm, prio,
					      NULL, NULL);
	else
		orrery_mpi_reduce_detached(own.handle, live->handle, lane->comm, prio,
					   NULL, NULL);
	leave(lane, op, &own, 1);
	starpu_data_unregister_submit(own.handle);
	if (is_for_all && op->choice[2] % 3 == 0)
		look_now(lane, op, live);
}

static void gather_on_all(struct lane_run *lane, const struct op *op)
{
	int data[BLEND_SPREAD], n = blend_members(op, lane->lane->ndata, data), count = 0;
	starpu_data_handle_t handles[BLEND_SPREAD];

	for (int i = 0; i < n; i++)
		if (lane->live[data[i]].shape.owner >= 0)
			handles[count++] = lane->live[data[i]].handle;
	orrery_mpi_allgather_detached(handles, count, lane->comm,
				      (int)(op->choice[3] % 5) - 2, NULL, NULL);
	if (op->choice[2] % 3 == 0)
		look_now(lane, op, &lane->live[data[0]]);
}

/* ---- handles --------------------------------------------------------- */

static void copy(struct lane_run *lane, const struct op *op, struct live *live)
{
	struct live *from = &lane->live[op->choice[5]];

	starpu_mpi_data_cpy_priority(live->handle, from->handle, lane->comm,
				     (int)(op->choice[1] % 2), NULL, NULL,
				     (int)(op->choice[3] % 5) - 2);
}

/* The new handle has another tag, as the old one is still in use. */
static void replace(struct lane_run *lane, const struct op *op, struct live *live)
{
	mpi_reduce(lane, live, op->choice[2]);
	starpu_data_unregister_submit(live->handle);
	if (live->home.values)
		leave(lane, op, live, 0);
	live_register(lane, live, &op->shape);
	lane->generations[op->uses[0].datum]++;
	mpi_register(lane, op->uses[0].datum);
}

int run_blend_op(struct lane_run *lane, struct op *op)
{
	struct live *live = op->nuses ? &lane->live[op->uses[0].datum] : NULL;

	switch (op->kind) {
	case OP_COPY:
		copy(lane, op, live);
		return 1;
	case OP_SPREAD:
		spread(lane, op);
		return 1;
	case OP_POST:
		post(lane, op, live);
		return 1;
	case OP_TAKE:
		take(lane, op, live);
		return 1;
	case OP_REPLACE:
		replace(lane, op, live);
		return 1;
	case OP_COMBINE:
		combine(lane, op, live);
		return 1;
	case OP_ALL_GATHER:
		gather_on_all(lane, op);
		return 1;
	case OP_COOP:
		/* Each rank as it likes. */
		if (lane->run->program->nranks > 2)
			starpu_mpi_coop_sends_set_use((int)(op->choice[0] >> lane->rank) &
						      1);
		return 1;
	default:
		return 0;
	}
}
