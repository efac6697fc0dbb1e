/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "clan.h"
#include "run.h"
#include "upheaval.h"
#include "values.h"

/* mpi.c - operations on data that lie on several ranks. */

/* ---- tasks ----------------------------------------------------------- */

static int node_of(const struct op *op)
{
	return op->flags & TASK_ON_NODE ? op->node : -1;
}

static int priority_of(const struct op *op)
{
	return (int)(op->choice[2] % 7) - 3;
}

/* What all forms of an insertion say. */
#define TASK_ARGUMENTS(descr, n, ticket, op)                                             \
	STARPU_DATA_MODE_ARRAY, descr, n, STARPU_VALUE, &ticket, sizeof(ticket),         \
		STARPU_PRIORITY, priority_of(op), STARPU_SCHED_CTX,                      \
		crowds_context(lane, op)

/* A task that reads what another one does, whose halves surround those of the other. */
struct witness {
	starpu_data_handle_t handle; /* NULL: none */
	int node;
	struct starpu_task *task;
};

static void look_on(void *buffers[], void *arg)
{
	struct view view = view_of_buffer(buffers[0]);
	struct ticket ticket = ticket_read(arg);

	if (view_hash(&view) != ticket.op->expected)
		run_bad(ticket.run, ticket.op, "hash that a witness sees",
			view_hash(&view), ticket.op->expected);
}

static struct starpu_codelet witness_codelet = {
	.cpu_funcs = {look_on}, .nbuffers = 1, .modes = {STARPU_R}, .name = "witness"};

static void witness_build(struct witness *witness, struct lane_run *lane,
			  const struct op *op, const struct starpu_data_descr *descr)
{
	struct ticket ticket = ticket_make(lane->run, op);

	*witness = (struct witness){.node = node_of(op)};
	if (witness->node < 0)
		witness->node = (int)(op->choice[9] / 12 % (unsigned)lane->lane->nranks);
	for (int i = 0; op->choice[9] / 6 % 2 && i < op->nuses; i++)
		if (op->uses[i].mode == USE_R)
			witness->handle = descr[i].handle;
	if (witness->handle)
		witness->task = starpu_mpi_task_build(
			lane->comm, &witness_codelet, STARPU_R, witness->handle,
			STARPU_VALUE, &ticket, sizeof(ticket), STARPU_EXECUTE_ON_NODE,
			witness->node, 0);
}

static void witness_submit(const struct witness *witness, struct lane_run *lane,
			   struct op *op)
{
	if (!witness->handle)
		return;
	if (witness->task && starpu_task_submit(witness->task))
		run_bad(lane->run, op, "submission of a witness", 1, 0);
	starpu_mpi_task_post_build(lane->comm, &witness_codelet, STARPU_R,
				   witness->handle, STARPU_EXECUTE_ON_NODE, witness->node,
				   0);
}

/* As a struct that all ranks make, and by hand what an insertion does. */
static int insert_as_struct(struct lane_run *lane, struct op *op,
			    const struct starpu_data_descr *descr, int n)
{
	struct ticket ticket = ticket_make(lane->run, op);
	struct starpu_task *task = starpu_task_create();
	struct starpu_mpi_task_exchange_params params;
	struct starpu_data_descr data[STARPU_NMAXBUFS];
	int ret;

	starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &ticket,
				 sizeof(ticket), 0);
	task->cl = tasks_codelet(lane, op);
	task->cl_arg_free = 1;
	task->priority = priority_of(op);
	task->sched_ctx = crowds_context(lane, op);
	task->nbuffers = n;
	for (int i = 0; i < n; i++) {
		STARPU_TASK_SET_HANDLE(task, descr[i].handle, i);
		STARPU_TASK_SET_MODE(task, descr[i].mode, i);
	}
	if (node_of(op) >= 0)
		ret = starpu_mpi_task_exchange_data_before_execution_on_node(
			lane->comm, task, data, &params, node_of(op));
	else
		ret = starpu_mpi_task_exchange_data_before_execution(lane->comm, task,
								     data, &params);
	if (ret)
		return ret;
	if (params.do_execute) {
		ret = starpu_task_submit(task);
	} else {
		task->destroy = 0;
		starpu_task_destroy(task);
	}
	starpu_mpi_task_exchange_data_after_execution(lane->comm, data, (unsigned)n,
						      params);
	return ret;
}

/* Has the program drawn that form for it? */
static int is_struct(const struct lane_run *lane, const struct op *op, int n)
{
	return has_feature(lane->run->program, FEATURE_BLEND) && n <= STARPU_NMAXBUFS &&
	       !(op->flags & (TASK_HALVES | TASK_ON_DATA | TASK_POLICY)) &&
	       op->choice[9] / 16 % 5 == 0;
}

static int insert_in_halves(struct lane_run *lane, struct op *op,
			    struct starpu_data_descr *descr, int n)
{
	struct ticket ticket = ticket_make(lane->run, op);
	struct witness witness;
	struct starpu_task *task;
	int ret;

	witness_build(&witness, lane, op, descr);
	task = starpu_mpi_task_build(lane->comm, tasks_codelet(lane, op),
				     TASK_ARGUMENTS(descr, n, ticket, op),
				     STARPU_EXECUTE_ON_NODE, node_of(op), 0);
	if (task && starpu_task_submit(task))
		run_bad(lane->run, op, "starpu_task_submit()", 1, 0);
	ret = starpu_mpi_task_post_build(lane->comm, tasks_codelet(lane, op),
					 TASK_ARGUMENTS(descr, n, ticket, op),
					 STARPU_EXECUTE_ON_NODE, node_of(op), 0);
	witness_submit(&witness, lane, op);
	return ret;
}

/* Where the task executes, as far as the program can tell; -1: it cannot. */
static int known_node(const struct op *op, const struct starpu_data_descr *descr, int n)
{
	int node = node_of(op), owner;

	if (op->flags & (TASK_HALVES | TASK_ON_DATA | TASK_POLICY))
		return -1;
	for (int i = 0; i < n && node_of(op) < 0; i++) {
		if (descr[i].mode & (STARPU_REDUX | STARPU_MPI_REDUX))
			return -1;
		if (!(descr[i].mode & STARPU_W) || (descr[i].mode & STARPU_SCRATCH))
			continue;
		owner = starpu_mpi_data_get_rank(descr[i].handle);
		if (owner < 0 || (node >= 0 && node != owner))
			return -1;
		node = owner;
	}
	return node;
}

static int has_sent(const struct lane_run *lane, starpu_data_handle_t handle)
{
	for (int rank = 0; rank < lane->lane->nranks; rank++)
		if (starpu_mpi_cached_send(handle, rank))
			return 1;
	return 0;
}

/*
 * Does the datum not concern the rank?  It is owned elsewhere, and the rank has no copy
 * of it, nor keeps account of whom it sent one, nor has a part in a reduction to come.
 */
static int is_elsewhere(const struct lane_run *lane, const struct starpu_data_descr *use,
			int node)
{
	int owner;

	if (use->mode & STARPU_SCRATCH)
		return 1;
	owner = starpu_mpi_data_get_rank(use->handle);
	return owner >= 0 && owner != lane->rank &&
	       starpu_mpi_data_get_source(use->handle, node) == owner &&
	       !(use->mode & (STARPU_REDUX | STARPU_MPI_REDUX)) &&
	       !starpu_mpi_data_get_redux_map(use->handle) &&
	       !starpu_mpi_cached_receive(use->handle) && !has_sent(lane, use->handle);
}

/* May the rank leave the call out?  It executes elsewhere, and no datum concerns it. */
static int may_be_pruned(const struct lane_run *lane, const struct op *op,
			 const struct starpu_data_descr *descr, int n)
{
	int node = known_node(op, descr, n);

	if (node < 0 || node == lane->rank)
		return 0;
	for (int i = 0; i < n; i++)
		if (!is_elsewhere(lane, &descr[i], node))
			return 0;
	return 1;
}

/* NULL for what does not concern the rank, which then says who executes; 0: not done. */
static int insert_with_nulls(struct lane_run *lane, struct op *op,
			     struct starpu_data_descr *descr, int n)
{
	struct ticket ticket = ticket_make(lane->run, op);
	int node = known_node(op, descr, n), ret;

	if (node < 0 || node == lane->rank ||
	    !has_feature(lane->run->program, FEATURE_BLEND) ||
	    (op->choice[9] / 128 + (unsigned)lane->rank) % 3)
		return 0;
	for (int i = 0; i < n; i++)
		if (is_elsewhere(lane, &descr[i], node))
			descr[i].handle = NULL;
	ret = starpu_mpi_task_insert(lane->comm, tasks_codelet(lane, op),
				     STARPU_EXECUTE_ON_NODE, node,
				     TASK_ARGUMENTS(descr, n, ticket, op), 0);
	if (ret)
		run_bad(lane->run, op, "insertion", (uint64_t)ret, 0);
	return 1;
}

enum { MAX_LISTED = 3 };

/* Handle by handle, as most programs do; the rest of the list is empty. */
static int insert_listed(struct lane_run *lane, struct op *op,
			 const struct starpu_data_descr *descr, int n)
{
	struct ticket ticket = ticket_make(lane->run, op);
	struct starpu_data_descr list[MAX_LISTED] = {
		{NULL, STARPU_NONE}, {NULL, STARPU_NONE}, {NULL, STARPU_NONE}};

	for (int i = 0; i < n; i++)
		list[i] = descr[i];
	return starpu_mpi_task_insert(
		lane->comm, tasks_codelet(lane, op), (int)list[0].mode, list[0].handle,
		STARPU_PRIORITY, priority_of(op), (int)list[1].mode, list[1].handle,
		STARPU_VALUE, &ticket, sizeof(ticket), (int)list[2].mode, list[2].handle,
		STARPU_FLOPS, 1.0, STARPU_EXECUTE_ON_NODE, node_of(op), 0);
}

/* Would several ranks compute the same? */
static int may_be_replicated(const struct lane_run *lane, const struct op *op)
{
	if (op->flags & (TASK_HALVES | TASK_ON_DATA | TASK_POLICY) || op->choice[8] % 4)
		return 0;
	for (int i = 0; i < op->nuses; i++) {
		const struct shape *shape = &lane->live[op->uses[i].datum].shape;

		if (op->uses[i].mode != USE_SCRATCH &&
		    (op->uses[i].mode > USE_RW || shape->order != ORDERED ||
		     shape->owner == OWNER_EACH))
			return 0;
	}
	return 1;
}

enum { MAX_RANKS = 16 };

/* Some ranks from one on, in a circle. */
static int insert_replicas(struct lane_run *lane, struct op *op,
			   const struct starpu_data_descr *descr, int n)
{
	struct ticket ticket = ticket_make(lane->run, op);
	int nodes[MAX_RANKS], nranks = lane->lane->nranks;
	int count = 1 + (int)(op->choice[8] / 4 % (unsigned)nranks);
	unsigned first = op->choice[8] / 64;

	for (int i = 0; i < count; i++)
		nodes[i] = (int)((first + (unsigned)i) % (unsigned)nranks);
	return starpu_mpi_tasks_insert(lane->comm, tasks_codelet(lane, op), count, nodes,
				       TASK_ARGUMENTS(descr, n, ticket, op), 0);
}

void tasks_insert_mpi(struct lane_run *lane, struct op *op)
{
	struct starpu_data_descr descr[MAX_USES];
	struct ticket ticket = ticket_make(lane->run, op);
	int n = tasks_descriptions(lane, op, descr), ret;
	struct live *where = &lane->live[op->choice[0] % (unsigned)lane->lane->ndata];

	if ((op->choice[9] + (unsigned)lane->rank) % 3 == 0 &&
	    !may_be_replicated(lane, op) &&
	    has_feature(lane->run->program, FEATURE_PRUNE) &&
	    may_be_pruned(lane, op, descr, n))
		return;
	if (!may_be_replicated(lane, op) && insert_with_nulls(lane, op, descr, n))
		return;
	if (lane->lane->nranks <= MAX_RANKS && may_be_replicated(lane, op))
		ret = insert_replicas(lane, op, descr, n);
	else if (is_struct(lane, op, n))
		ret = insert_as_struct(lane, op, descr, n);
	else if (op->flags & TASK_HALVES)
		ret = insert_in_halves(lane, op, descr, n);
	else if (op->flags & TASK_ON_DATA)
		ret = starpu_mpi_task_insert(lane->comm, tasks_codelet(lane, op),
					     TASK_ARGUMENTS(descr, n, ticket, op),
					     STARPU_EXECUTE_ON_DATA, where->handle, 0);
	else if (op->flags & TASK_POLICY)
		ret = starpu_mpi_task_insert(lane->comm, tasks_codelet(lane, op),
					     TASK_ARGUMENTS(descr, n, ticket, op),
					     STARPU_NODE_SELECTION_POLICY,
					     lane->run->policy, 0);
	else if (n <= MAX_LISTED && op->choice[9] / 3 % 2)
		ret = insert_listed(lane, op, descr, n);
	else
		ret = starpu_mpi_task_insert(lane->comm, tasks_codelet(lane, op),
					     TASK_ARGUMENTS(descr, n, ticket, op),
					     STARPU_EXECUTE_ON_NODE, node_of(op), 0);
	if (ret)
		run_bad(lane->run, op, "insertion", (uint64_t)ret, 0);
}

int mpi_choose_node(int me, int nnodes, struct starpu_data_descr *descr, int n)
{
	starpu_mpi_tag_t sum = 0;

	(void)me;
	for (int i = 0; i < n; i++)
		if (descr[i].handle && !(descr[i].mode & STARPU_SCRATCH))
			sum += starpu_mpi_data_get_tag(descr[i].handle);
	return (int)(sum % nnodes);
}

/* ---- data ------------------------------------------------------------ */

void mpi_register(struct lane_run *lane, int datum)
{
	struct live *live = &lane->live[datum];
	int owner =
		live->shape.owner == OWNER_EACH ? STARPU_MPI_PER_NODE : live->shape.owner;

	starpu_mpi_tag_t tag = 10 + 1000 * lane->index + datum +
			       ((starpu_mpi_tag_t)lane->generations[datum] << 32);

	starpu_mpi_data_register_comm(live->handle, tag, owner, lane->comm);
}

static void check_value(struct lane_run *lane, const struct op *op, const char *what)
{
	uint64_t seen = live_acquired_hash(&lane->live[op->uses[0].datum]);

	if (seen != op->expected)
		run_bad(lane->run, op, what, seen, op->expected);
}

static void renew(struct lane_run *lane, const struct op *op)
{
	struct live *live = &lane->live[op->uses[0].datum];

	live_unregister(lane, live);
	free(live->home.values);
	if (op->choice[1] % 2)
		starpu_mpi_barrier(lane->comm);
	live_register(lane, live, &op->shape);
	mpi_register(lane, op->uses[0].datum);
}

/* The owner is going to look; what others contributed is there then. */
void mpi_reduce(struct lane_run *lane, const struct live *live, unsigned choice)
{
	if (lane->run->program->threaded)
		return;
	if (choice % 3 == 0)
		starpu_mpi_redux_data_prio(lane->comm, live->handle, 1);
	else
		starpu_mpi_redux_data_tree(lane->comm, live->handle, (int)(choice % 4));
}

/* The application's own writes are not announced, so nobody may keep the old value. */
static void owner_writes(struct lane_run *lane, const struct op *op)
{
	struct live *live = &lane->live[op->uses[0].datum];
	struct view view;

	mpi_reduce(lane, live, op->choice[1]);
	starpu_mpi_cache_flush(lane->comm, live->handle);
	if (live->shape.owner != lane->rank)
		return;
	starpu_data_acquire(live->handle, STARPU_RW);
	view = live_local_view(live);
	view_change(&view, op->salt);
	if (view_hash(&view) != op->expected)
		run_bad(lane->run, op, "value that the owner writes", view_hash(&view),
			op->expected);
	starpu_data_release(live->handle);
}

/* From ranks below only, so never in a circle. */
static void change_source(struct lane_run *lane, const struct op *op)
{
	starpu_data_handle_t handle = lane->live[op->uses[0].datum].handle;

	if (op->node == 0 || op->choice[1] % 4 == 0)
		starpu_mpi_data_reset_source(handle, op->node);
	else
		starpu_mpi_data_set_source(handle, op->node,
					   (int)(op->choice[2] % (unsigned)op->node));
}

static void fetched(void *arg)
{
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void move(struct lane_run *lane, const struct op *op)
{
	struct live *live = &lane->live[op->uses[0].datum];

	switch (op->kind) {
	case OP_MIGRATE:
		starpu_mpi_data_migrate(lane->comm, live->handle, op->node);
		live->shape.owner = op->node;
		break;
	case OP_GET:
		starpu_mpi_get_data_on_node(lane->comm, live->handle, op->node);
		if (lane->rank == op->node)
			check_value(lane, op, "value got on a node");
		break;
	case OP_GET_DETACHED:
		starpu_mpi_get_data_on_node_detached(lane->comm, live->handle, op->node,
						     fetched, &lane->nfetched);
		break;
	default:
		starpu_mpi_get_data_on_all_nodes_detached(lane->comm, live->handle);
		if (op->choice[1] % 2)
			check_value(lane, op, "value got on all nodes");
		break;
	}
}

struct clan_place {
	struct run *run;
	const struct op *op;
};

static void clan_is_bad(void *arg, const char *what, uint64_t seen, uint64_t expected)
{
	const struct clan_place *place = arg;

	run_bad(place->run, place->op, what, seen, expected);
}

enum { CLAN_TAGS = 1000, FIRST_CLAN_TAG = 1 << 20 };

static void clan(struct lane_run *lane, const struct op *op)
{
	struct clan_place place = {lane->run, op};
	struct clan_wish wish = {
		.seed = op->salt * 1000 + op->choice[0],
		.comm = lane->comm,
		.rank = lane->rank,
		.nranks = lane->lane->nranks,
		.first_tag = FIRST_CLAN_TAG + (int64_t)op->id * CLAN_TAGS,
		.reduces = !lane->run->program->threaded &&
			   has_feature(lane->run->program, FEATURE_REDUX),
		.is_alone = !lane->run->program->threaded,
		.bad = clan_is_bad,
		.arg = &place};

	clan_run(&wish);
}

enum { UPHEAVAL_TAGS = 100, FIRST_UPHEAVAL_TAG = 1 << 28 };

static void upheaval(struct lane_run *lane, const struct op *op)
{
	struct clan_place place = {lane->run, op};
	struct upheaval_wish wish = {.seed = op->salt * 1000 + op->choice[0],
				     .rank = lane->rank,
				     .nranks = lane->lane->nranks,
				     .first_tag = FIRST_UPHEAVAL_TAG +
						  (int64_t)op->id * UPHEAVAL_TAGS,
				     .bad = clan_is_bad,
				     .arg = &place};

	if (wish.nranks > 1)
		upheaval_run(&wish);
}

int run_mpi_op(struct lane_run *lane, struct op *op)
{
	struct live *live = op->nuses ? &lane->live[op->uses[0].datum] : NULL;

	if (!lane->lane->distributed)
		return 0;
	switch (op->kind) {
	case OP_FLUSH:
		starpu_mpi_cache_flush(lane->comm, live->handle);
		return 1;
	case OP_FLUSH_ALL:
		starpu_mpi_cache_flush_all_data(lane->comm);
		return 1;
	case OP_CACHE_SET:
		starpu_mpi_cache_set(!starpu_mpi_cache_is_enabled());
		return 1;
	case OP_SOURCE:
		change_source(lane, op);
		return 1;
	case OP_MIGRATE:
	case OP_GET:
	case OP_GET_DETACHED:
	case OP_GET_ALL:
		move(lane, op);
		return 1;
	case OP_BARRIER:
		starpu_mpi_barrier(lane->comm);
		return 1;
	case OP_MPI_WAIT:
		starpu_mpi_wait_for_all(lane->comm);
		return 1;
	case OP_CHECK:
		mpi_reduce(lane, live, op->choice[1]);
		if (live_is_here(lane, live))
			check_value(lane, op, "the owner's value");
		return 1;
	case OP_OWNER_WRITES:
		owner_writes(lane, op);
		return 1;
	case OP_RENEW:
		renew(lane, op);
		return 1;
	case OP_CLAN:
		clan(lane, op);
		return 1;
	case OP_UPHEAVAL:
		upheaval(lane, op);
		return 1;
	default:
		return 0;
	}
}

/* ---- a lane's beginning and end -------------------------------------- */

void mpi_lane_register(struct lane_run *lane)
{
	for (int i = 0; i < lane->lane->ndata; i++) {
		live_register(lane, &lane->live[i], &lane->lane->shapes[i]);
		mpi_register(lane, i);
	}
	starpu_vector_data_register(&lane->scratch, -1, 0, 50, sizeof(uint64_t));
}

static void check_end(struct lane_run *lane, int i)
{
	const struct program *program = lane->run->program;
	struct live *live = &lane->live[i];
	struct op op = {.id = -1, .expected = program->final[lane->index][i]};
	struct use use = {.datum = (unsigned char)i};
	int everywhere = (program->seed + (uint64_t)i) % 2 && live->shape.owner >= 0;

	op.uses = &use;
	if (live->shape.owner >= 0 &&
	    starpu_mpi_data_get_rank(live->handle) != live->shape.owner)
		run_bad(lane->run, NULL, "owner",
			(uint64_t)starpu_mpi_data_get_rank(live->handle),
			(uint64_t)live->shape.owner);
	mpi_reduce(lane, live, (unsigned)(program->seed + (uint64_t)i) % 12);
	if (everywhere)
		starpu_mpi_get_data_on_all_nodes_detached(lane->comm, live->handle);
	if (everywhere || live_is_here(lane, live))
		check_value(lane, &op, "value at the end");
}

void mpi_lane_finish(struct lane_run *lane)
{
	/* Two threads must not be in one collective call. */
	if (!lane->lane->only_transfers)
		pings_finish(lane);
	for (int i = 0; i < lane->lane->ndata; i++)
		check_end(lane, i);
	if (!lane->lane->only_transfers)
		starpu_mpi_wait_for_all(lane->comm);
	for (int i = 0; i < lane->lane->ndata; i++) {
		live_unregister(lane, &lane->live[i]);
		free(lane->live[i].home.values);
	}
	starpu_data_unregister(lane->scratch);
	if (!lane->lane->only_transfers)
		blend_finish(lane);
}
