/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/insert_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/task/args.h"
#include "core/task/codelet.h"
#include "core/task/task.h"
#include "core/data/data_ops.h"
#include "mpi/afar.h"
#include "mpi/finish.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"
#include "mpi/plan.h"

void insertion_init(struct mpi *mpi)
{
	const struct knobs *knobs = node_knobs(mpi->node);
	const struct plat_costs *costs = &mpi->node->machine->costs;

	memset(&mpi->insertion, 0, sizeof(mpi->insertion));
	orr_lock_init(&mpi->insertion.lock);
	orr_lock_init(&mpi->insertion.turn);
	mpi->insertion.is_charged = knobs->submit_cost;
	mpi->insertion.charge_s[0] = costs->insert_s;
	mpi->insertion.charge_s[1] = costs->submit_s;
	mpi->insertion.datum_s = costs->datum_s;
	mpi->insertion.exchange_s = costs->exchange_s;
}

/* ---- one transfer ---------------------------------------------------- */

static void check_tag(struct mpi *mpi, starpu_data_handle_t handle, const char *what)
{
	char text[128];

	if (handle->tag >= 0)
		return;
	orr_die(mpi->rank,
		"a transfer for %s: %s has no tag; call starpu_mpi_data_register() with "
		"a tag on all ranks",
		what, data_describe(handle, text, sizeof(text)));
}

/* Owners are ranks of the communicator of the call, whatever the data were registered
 * with. */
__attribute__((noreturn)) static void die_beyond(struct mpi *mpi, const struct post *post)
{
	const struct mpi_comm *comm = comm_at(&mpi->comms, post->comm);
	char buffer[128];
	const char *text = data_describe(post->handle, buffer, sizeof(buffer));

	if (post->peer < comm->size)
		orr_die(mpi->rank,
			"%s: rank %d of the communicator, which %s %s, is not in the one "
			"given at init: give starpu_mpi_init_conf() one with all ranks "
			"that own data or execute tasks",
			post->what, post->peer,
			post->kind == REQUEST_SEND ? "is to get" : "is to send", text);
	orr_die(mpi->rank,
		"%s: rank %d, the owner of %s, does not exist: expected 0 to %d, the "
		"ranks of the communicator that is given; give the one that the data "
		"were registered with",
		post->what, post->peer, text, comm->size - 1);
}

struct request *insert_post(struct mpi *mpi, struct post *post, int from, int to)
{
	const struct mpi_comm *comm = comm_at(&mpi->comms, post->comm);
	int net_peer;

	post->kind = from == comm->rank ? REQUEST_SEND : REQUEST_RECEIVE;
	post->peer = post->kind == REQUEST_SEND ? to : from;
	net_peer = post->peer < comm->size ? comm_net_rank(comm, post->peer) : -1;
	if (net_peer < 0)
		die_beyond(mpi, post);
	post->ordinal = insert_ordinal(mpi, net_peer, post->kind);
	if (mpi->insertion.is_charged)
		plat_owe(mpi->node->plat, mpi->insertion.exchange_s);
	return engine_post(mpi, post);
}

void insert_transfer(const struct insert *insert, const struct plan_move *move)
{
	const struct starpu_data_descr *data = &insert->task->data[move->use];
	struct post post = {.handle = data->handle,
			    .comm = insert->comm,
			    .priority = insert->task->priority,
			    .what = insert->task->name};

	if (move->from != insert->me && move->to != insert->me)
		return;
	if (insert->mpi->is_fake) {
		if (move->to == insert->me)
			data_pretend_written_submit(insert->mpi->node, data->handle);
		return;
	}
	post.is_sync = (data->mode & STARPU_SSEND) != 0;
	check_tag(insert->mpi, post.handle, post.what);
	post.tag = post.handle->tag;
	insert_post(insert->mpi, &post, move->from, move->to);
}

/* ---- who executes ---------------------------------------------------- */

void insert_open(struct insert *insert, struct mpi *mpi, int comm, struct exchange *task)
{
	const struct starpu_data_descr *data = task->data;
	int n = task->ndata, me = comm_at(&mpi->comms, comm)->rank;
	int place = PLAN_OPEN, unknown = -1, is_ours = 0;
	unsigned flags = 0, modes = 0;
	struct plan_use *uses = insert->inline_uses;

	insert->moves = insert->inline_moves;
	if (n > PLAN_INLINE_USES) {
		uses = orr_alloc((size_t)n * (sizeof(*uses) + sizeof(*insert->moves)));
		insert->moves = (struct plan_move *)(uses + n);
	}
	for (int i = 0; i < n; i++) {
		starpu_data_handle_t handle = data[i].handle;
		unsigned mode = data[i].mode;
		int owner;

		if (!handle) { /* It does not concern this rank. */
			uses[i] = (struct plan_use){.owner = OWNER_UNSET};
			if (unknown < 0 && place == PLAN_OPEN &&
			    (mode & (STARPU_W | STARPU_REDUX)))
				unknown = i;
			is_ours = 1;
			continue;
		}
		owner = handle->owner;
		orr_bring(orr_load_ptr((void **)&handle->body));
		uses[i] = (struct plan_use){.owner = owner, .mode = mode};
		flags |= data_flags(handle);
		modes |= mode;
		if (owner == me || owner < 0)
			is_ours = 1;
		place = plan_join(place, owner, mode);
	}
	insert->mpi = mpi;
	insert->comm = comm;
	insert->me = me;
	insert->task = task;
	insert->flags = flags;
	insert->modes = modes;
	insert->place = place;
	insert->unknown = unknown;
	insert->is_ours = is_ours;
	insert->has_turn = insert->will_read = insert->is_reading = 0;
	insert->uses = uses;
}

void insert_close(struct insert *insert)
{
	if (insert->uses != insert->inline_uses)
		free(insert->uses);
}

static void die_at(const struct insert *insert, int use, const char *what)
	__attribute__((noreturn));

static void die_at(const struct insert *insert, int use, const char *what)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;
	char text[128];

	if (handle && !handle->node)
		what = "the handle was unregistered; give one that "
		       "starpu_*_data_register() returned and that is still in use";
	orr_die(insert->mpi->rank,
		"starpu_mpi_task_insert: task %s, argument %d (%s): %s",
		insert->task->name, use, data_describe(handle, text, sizeof(text)), what);
}

void insert_die_unowned(const struct insert *insert, int only_written)
{
	for (int i = 0; i < insert->task->ndata; i++)
		if (insert->uses[i].mode && insert->uses[i].owner == OWNER_UNSET &&
		    (!only_written || (insert->uses[i].mode & (STARPU_W | STARPU_REDUX))))
			die_at(insert, i,
			       "the data has no owner; call starpu_mpi_data_register() "
			       "with a rank, on all ranks");
}

__attribute__((noreturn)) static void die_executor(const struct insert *insert,
						   int executor, int size)
{
	char text[128], why[192] = "";

	for (int i = 0; i < insert->task->ndata && !why[0]; i++)
		if (insert->uses[i].mode && insert->uses[i].owner == executor)
			snprintf(why, sizeof(why), ", the owner of argument %d (%s)", i,
				 data_describe(insert->task->data[i].handle, text,
					       sizeof(text)));
	orr_die(insert->mpi->rank,
		"starpu_mpi_task_insert: task %s shall execute on rank %d%s: expected 0 "
		"to %d, the ranks of the communicator that is given",
		insert->task->name, executor, why, size - 1);
}

void insert_check_executor(const struct insert *insert, int executor)
{
	int size = comm_at(&insert->mpi->comms, insert->comm)->size;

	if (executor >= size || (executor < 0 && executor != PLAN_EVERYWHERE))
		die_executor(insert, executor, size);
}

static int place(const struct insert *insert, int policy)
{
	const struct exchange *task = insert->task;
	int executor = plan_joined(insert->place);

	switch (executor) {
	case PLAN_CONFLICT:
		if (policy_counts_bytes(insert->mpi, policy))
			insert_note_sizes(insert->mpi, task);
		return policy_select(insert->mpi, policy, insert->comm, task->data,
				     task->ndata);
	case PLAN_UNOWNED:
		insert_die_unowned(insert, 1);
		break;
	case PLAN_MIXED:
		orr_die(insert->mpi->rank,
			"starpu_mpi_task_insert: task %s writes data of "
			"STARPU_MPI_PER_NODE and "
			"other data; split it, or add STARPU_EXECUTE_ON_NODE",
			task->name);
	default:
		break;
	}
	return executor;
}

/* A task that every rank executes reads what every rank has. */
static void check_private(const struct insert *insert)
{
	for (int i = 0; i < insert->task->ndata; i++)
		if (plan_reads(insert->uses[i].mode) &&
		    insert->uses[i].owner != OWNER_PER_NODE)
			die_at(insert, i,
			       "all ranks execute this task, since it writes data of "
			       "STARPU_MPI_PER_NODE; it can only read such data");
}

/* ---- transfers ------------------------------------------------------- */

/* The value is on its way, or there: no later than this task wants it, as far as this
 * rank has a part in that. */
static void raise_it(const struct insert *insert, int use, int rank)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;
	struct mpi *mpi = insert->mpi;

	while (rank != insert->uses[use].owner) {
		int source = sources_get(mpi, handle, rank);

		if (rank == insert->me)
			raise_transfer(mpi, REQUEST_RECEIVE, handle, -1,
				       insert->task->priority);
		else if (source == insert->me)
			raise_transfer(
				mpi, REQUEST_SEND, handle,
				comm_net_rank(comm_at(&mpi->comms, insert->comm), rank),
				insert->task->priority);
		rank = source;
	}
}

static int holds(const struct insert *insert, int use, int rank)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;
	struct mpi *mpi = insert->mpi;

	if (rank == insert->me)
		return cache_note_received(mpi, handle);
	if (insert->uses[use].owner == insert->me || insert_passes_on(insert, use, rank))
		return cache_note_sent(
			mpi, handle,
			comm_net_rank(comm_at(&mpi->comms, insert->comm), rank));
	return 1;
}

/* As plan_before() wants it: only the ranks by which the value travels take note. */
int insert_holds(void *arg, int use, int rank)
{
	const struct insert *insert = arg;

	if (insert->uses[use].owner == OWNER_UNSET)
		insert_die_unowned(insert, 0);
	if (!holds(insert, use, rank))
		return 0;
	if (orr_load(&insert->mpi->engine.raising.nnoted) > 0)
		raise_it(insert, use, rank);
	return 1;
}

/* Most tasks have nothing that is asked for. */
static int holds_in_turn(void *arg, int use, int rank)
{
	insert_take_turn(arg);
	return insert_holds(arg, use, rank);
}

int insert_passes_on(const struct insert *insert, int use, int rank)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;

	return (data_flags(handle) & DATUM_SOURCED) &&
	       insert->uses[use].owner != insert->me &&
	       sources_lead_by(insert->mpi, handle, rank, insert->me);
}

/* Who sends the value to the rank; it gets the value first if it does not hold it. */
static int prepare_source(struct insert *insert, int use, int rank)
{
	starpu_data_handle_t handle = insert->task->data[use].handle;
	int owner = insert->uses[use].owner;
	int source = sources_get(insert->mpi, handle, rank);

	if (source != owner && !insert_holds(insert, use, source)) {
		const struct plan_move move = {
			.use = use,
			.from = prepare_source(insert, use, source),
			.to = source};

		insert_transfer(insert, &move);
	}
	return source;
}

/* Contributions are noted, and those of others reduced before somebody uses the value. */
static void reduce_before(const struct insert *insert)
{
	for (int i = 0; i < insert->task->ndata; i++) {
		starpu_data_handle_t handle = insert->task->data[i].handle;
		unsigned mode = insert->uses[i].mode;

		if (!handle || (mode & STARPU_SCRATCH))
			continue;
		kin_settle(insert->mpi, handle);
		if (mode & (STARPU_REDUX | STARPU_MPI_REDUX))
			reduce_note(insert->mpi, insert->comm, handle,
				    insert->task->executor, insert->task->name);
		else if (data_flags(handle) & DATUM_CONTRIBUTED)
			reduce_settle(insert->mpi, handle);
	}
}

void insert_move_before(struct insert *insert)
{
	const struct exchange *task = insert->task;
	int nmoves;

	if ((insert->flags & (DATUM_KIN | DATUM_CONTRIBUTED)) ||
	    (insert->modes & (STARPU_REDUX | STARPU_MPI_REDUX)))
		reduce_before(insert);
	nmoves = plan_before(insert->moves, insert->uses, task->ndata, task->executor,
			     holds_in_turn, insert);
	for (int i = 0; i < nmoves; i++) {
		struct plan_move *move = &insert->moves[i];

		move->from = prepare_source(insert, move->use, move->to);
		insert_transfer(insert, move);
	}
	insert_begin_reading(insert);
	insert_end_turn(insert);
}

int insert_keeps_none(const struct insert *insert, int use, int executor)
{
	int owner = insert->uses[use].owner;

	if (owner == insert->me || owner == OWNER_PER_NODE)
		return 0;
	return executor == insert->me || insert_passes_on(insert, use, executor);
}

/* Without cache.  What comes for a task that is about to be submitted stays. */
static void drop_read(struct insert *insert)
{
	int may_drop;

	insert_take_turn(insert);
	may_drop = insert_end_reading(insert);
	for (int i = 0; may_drop && i < insert->task->ndata; i++)
		if (plan_reads(insert->uses[i].mode) &&
		    insert_keeps_none(insert, i, insert->task->executor))
			cache_drop_copy(insert->mpi, insert->task->data[i].handle);
	insert_end_turn(insert);
}

/* What was written is nowhere else any more; without cache, what was read neither. */
static void forget_copies(struct insert *insert)
{
	const unsigned noted = DATUM_SENT | DATUM_RECEIVED | DATUM_KIN;
	const struct starpu_data_descr *data = insert->task->data;
	struct mpi *mpi = insert->mpi;

	for (int i = 0, n = insert->task->ndata; i < n; i++) {
		/* It has no mode where the handle is NULL. */
		if (!plan_replaces(insert->uses[i].mode) ||
		    !(data_flags(data[i].handle) & noted))
			continue;
		cache_clear(mpi, data[i].handle);
		kin_clear(mpi, data[i].handle);
	}
	if (!mpi->cache.is_on || insert->is_reading)
		drop_read(insert);
}

static void write_back(const struct insert *insert)
{
	const struct exchange *task = insert->task;
	int nmoves = plan_after(insert->moves, insert->uses, task->ndata, task->executor);

	for (int i = 0; i < nmoves; i++)
		insert_transfer(insert, &insert->moves[i]);
}

static void move_after(struct insert *insert)
{
	/* Most often the owner of all that is written executes. */
	if (insert->place != insert->task->executor)
		write_back(insert);
	forget_copies(insert);
}

/* No worker executes it, which only this rank knows: others go on as if it had.  What it
 * would have updated goes home as it is, and the account stays the same on all ranks. */
static void move_after_refused(struct insert *insert)
{
	const struct exchange *task = insert->task;
	int nmoves = plan_after(insert->moves, insert->uses, task->ndata, task->executor);

	for (int i = 0; i < nmoves; i++)
		if (plan_reads(insert->uses[insert->moves[i].use].mode))
			insert_transfer(insert, &insert->moves[i]);
	forget_copies(insert);
}

int insert_before(struct mpi *mpi, int comm, struct exchange *exchange)
{
	struct insert insert;
	int ret = 0;

	insert_open(&insert, mpi, comm, exchange);
	if (exchange->executor == OWNER_UNSET && insert.unknown >= 0) {
		ret = -EINVAL;
	} else {
		if (exchange->executor == OWNER_UNSET)
			exchange->executor = place(&insert, POLICY_CURRENT);
		insert_check_executor(&insert, exchange->executor);
		if (exchange->executor == PLAN_EVERYWHERE)
			check_private(&insert);
		insert_move_before(&insert);
	}
	insert_close(&insert);
	return ret;
}

void insert_after(struct mpi *mpi, int comm, const struct exchange *exchange)
{
	struct exchange copy = *exchange;
	struct insert insert;

	insert_open(&insert, mpi, comm, &copy);
	move_after(&insert);
	insert_close(&insert);
}

/* ---- argument lists -------------------------------------------------- */

const char *insert_name_of(const struct starpu_codelet *cl)
{
	return cl && cl->name ? cl->name : "without name";
}

/* The executor that the arguments name, or the owner of what is written. */
static int choose(const struct insert *insert, const struct arg_list *args)
{
	struct exchange *task = insert->task;

	if (args->execute_on_node != -1) {
		task->executor = args->execute_on_node;
	} else if (args->on_data) {
		task->executor = args->on_data->owner;
		if (task->executor == OWNER_UNSET)
			orr_die(insert->mpi->rank,
				"starpu_mpi_task_insert: task %s: "
				"STARPU_EXECUTE_ON_DATA names data without owner; call "
				"starpu_mpi_data_register() first",
				task->name);
	} else {
		if (insert->unknown >= 0)
			return -EINVAL;
		task->executor = place(insert, args->policy);
	}
	/* A node that is named too late is not known where the handle is NULL. */
	if (insert->unknown >= 0 && insert->unknown < args->nbefore_node)
		return -EINVAL;
	insert_check_executor(insert, task->executor);
	if (task->executor == PLAN_EVERYWHERE)
		check_private(insert);
	return 0;
}

static int executes_here(const struct insert *insert)
{
	return insert->task->executor == insert->me ||
	       insert->task->executor == PLAN_EVERYWHERE;
}

/* Another executes, others own all of the data, and this rank has no part in the account
 * of any of them: there is nothing to do. */
static int is_foreign(const struct insert *insert)
{
	const unsigned noted = DATUM_RECEIVED | DATUM_SENT | DATUM_CONTRIBUTED |
			       DATUM_KIN | DATUM_SOURCED;

	return !insert->is_ours && !(insert->flags & noted) &&
	       !(insert->modes & (STARPU_REDUX | STARPU_MPI_REDUX)) &&
	       !executes_here(insert);
}

int insert_submit(struct mpi *mpi, struct starpu_task *task)
{
	OUTSIDE(outside);
	int ret;

	if (mpi->insertion.hook) {
		outside_enter(&outside, mpi->node, "the hook before submission");
		mpi->insertion.hook(task);
		outside_end(&outside);
	}
	if (mpi->balances)
		lb_submit(mpi, task);
	if (mpi->insertion.hook || mpi->balances)
		ret = task_submit(mpi->node, task);
	else
		ret = task_submit_inserted(mpi->node, task);
	if (ret < 0) {
		codelet_say_refused(mpi->node, task, "starpu_mpi_task_insert");
		if (mpi->balances)
			lb_refused(mpi, task);
		task->destroy = 0;
		task_destroy(task);
	}
	return ret;
}

enum {
	PHASE_BEFORE = 1,
	PHASE_BUILD = 2,
	PHASE_SUBMIT = 4,
	PHASE_AFTER = 8,
	PHASE_ALL = PHASE_BEFORE | PHASE_BUILD | PHASE_SUBMIT | PHASE_AFTER
};

static int run_phases(struct insert *insert, struct starpu_codelet *cl, va_list list,
		      int phases, struct starpu_task **task)
{
	struct mpi *mpi = insert->mpi;
	int ret = 0;

	insert->will_read = phases == PHASE_ALL;
	if (phases & PHASE_BEFORE)
		insert_move_before(insert);
	if ((phases & PHASE_BUILD) && executes_here(insert))
		ret = task_build_v(mpi->node, cl, list, "task_insert", task);
	if (ret == 0 && (phases & PHASE_SUBMIT) && *task)
		ret = insert_submit(mpi, *task);
	if (ret == 0 && (phases & PHASE_AFTER))
		move_after(insert);
	else if (phases & PHASE_AFTER)
		move_after_refused(insert);
	return ret;
}

/* sign: 1 for the first half of an insertion, -1 for the second. */
static void note_half(const struct insert *insert, int sign)
{
	struct insertion *insertion = &insert->mpi->insertion;
	int n = 0;

	insert_count_halves(insert->mpi, sign * insert->task->ndata);
	for (int i = 0; i < insert->task->ndata; i++)
		n += plan_replaces(insert->uses[i].mode) &&
		     (insert->uses[i].owner == insert->me || executes_here(insert));
	if (n == 0)
		return;
	orr_add(&insertion->nowed, sign * n);
	if (sign < 0)
		return;
	orr_lock(&insertion->lock);
	snprintf(insertion->owing, sizeof(insertion->owing), "%s", insert->task->name);
	orr_unlock(&insertion->lock);
}

/* Who executes it, and what everybody does. */
static void count_executed(struct mpi *mpi, int executor)
{
	orr_next(executor == PLAN_EVERYWHERE ? &mpi->tally.nleft_out
					     : &mpi->tally.nexecuted);
}

/* One that is inserted here; nobody executes it without a codelet. */
static void count_inserted(struct mpi *mpi, const struct starpu_codelet *cl)
{
	insert_count(mpi->node);
	if (!cl)
		orr_next(&mpi->tally.nleft_out);
}

static int insert_listed(struct mpi *mpi, int comm, struct starpu_codelet *cl,
			 va_list list, int phases, struct starpu_task **task)
{
	struct arg_list args;
	struct exchange exchange = {.executor = OWNER_UNSET, .name = insert_name_of(cl)};
	struct insert insert;
	int ret, is_own = 0;

	args_begin(&args, cl);
	args_scan(&args, mpi->rank, list);
	if (mpi->balances && phases == PHASE_ALL)
		lb_arrive(mpi, args.has_iteration, args.iteration);
	exchange.data = args.buffers;
	exchange.ndata = args.nbuffers;
	exchange.priority = args.priority;
	insert_open(&insert, mpi, comm, &exchange);
	ret = choose(&insert, &args);
	if (mpi->compare && (phases & PHASE_BUILD))
		compare_note(mpi, exchange.name,
			     ret == 0 ? exchange.executor : OWNER_UNSET);
	if (ret == 0 && phases != PHASE_ALL)
		note_half(&insert, phases & PHASE_BUILD ? 1 : -1);
	if (ret == 0 && !is_foreign(&insert)) {
		is_own = executes_here(&insert);
		if (cl && is_own && (phases & PHASE_BUILD))
			count_executed(mpi, exchange.executor);
		ret = run_phases(&insert, cl, list, phases, task);
	}
	insert_close(&insert);
	if (phases & (PHASE_SUBMIT | PHASE_BUILD))
		insert_charge(mpi, is_own, exchange.ndata);
	args_end(&args);
	return ret;
}

int insert_closely(struct mpi *mpi, int comm, struct starpu_codelet *cl,
		   struct arg_walk *args, enum afar seen)
{
	struct starpu_task *task = NULL;

	count_inserted(mpi, cl);
	if (seen == AFAR_LONGER && !mpi->looks_closely)
		seen = afar_look(comm_at(&mpi->comms, comm), args);
	if (seen != AFAR_FOREIGN || mpi->looks_closely)
		return insert_listed(mpi, comm, cl, args->list, PHASE_ALL, &task);
	insert_charge(mpi, 0, 0);
	return 0;
}

int insert_build(struct mpi *mpi, int comm, struct starpu_codelet *cl, va_list list,
		 struct starpu_task **task)
{
	struct job *job;
	int ret;

	*task = NULL;
	count_inserted(mpi, cl);
	ret = insert_listed(mpi, comm, cl, list, PHASE_BEFORE | PHASE_BUILD, task);
	if (*task) {
		job = (*task)->starpu_private;
		job->is_built = 1;
	}
	return ret;
}

int insert_post_build(struct mpi *mpi, int comm, struct starpu_codelet *cl, va_list list)
{
	struct starpu_task *none = NULL;

	return insert_listed(mpi, comm, cl, list, PHASE_AFTER, &none);
}

void insert_check_built(struct mpi *mpi)
{
	struct task_walk walk = {0};
	char name[JOB_NAME_BYTES];
	const struct job *job;
	int nowed = orr_load(&mpi->insertion.nowed);

	tasks_lock(mpi->node);
	while ((job = task_next_job(mpi->node, &walk))) {
		if (!job->is_built || job->life != LIFE_NEW)
			continue;
		job->ops->describe(job, name, sizeof(name));
		orr_complain(mpi->rank,
			     "starpu_mpi_shutdown: %s of starpu_mpi_task_build() was "
			     "never submitted and has not run: give what that returns to "
			     "starpu_task_submit(), or to starpu_task_destroy()",
			     name);
	}
	tasks_unlock(mpi->node);
	if (nowed > 0)
		orr_complain(mpi->rank,
			     "starpu_mpi_shutdown: starpu_mpi_task_post_build() is "
			     "missing for %d data that tasks of starpu_mpi_task_build() "
			     "write (the last: task \"%s\"): their owners have not got "
			     "the values; call it on all ranks after each submission, "
			     "with the same arguments",
			     nowed, mpi->insertion.owing);
}

/* ---- single data ----------------------------------------------------- */

/* What the caller waits for, or NULL. */
static struct request *fetch_in_turn(struct insert *insert, const struct fetch *fetch)
{
	struct mpi *mpi = insert->mpi;
	struct post post = {.handle = fetch->handle,
			    .comm = fetch->comm,
			    .priority = fetch->priority,
			    .is_waited = fetch->is_blocking,
			    .what = fetch->what};
	int source;

	if (insert_holds(insert, 0, fetch->to))
		return NULL;
	if (mpi->is_fake) {
		if (insert->me == fetch->to)
			data_pretend_written_submit(mpi->node, fetch->handle);
		return NULL;
	}
	source = prepare_source(insert, 0, fetch->to);
	if (insert->me != source && insert->me != fetch->to)
		return NULL;
	if (insert->me == fetch->to) {
		post.callback = fetch->callback;
		post.arg = fetch->arg;
	}
	post.tag = fetch->handle->tag;
	return insert_post(mpi, &post, source, fetch->to);
}

int insert_fetch(struct mpi *mpi, const struct fetch *fetch)
{
	starpu_data_handle_t handle = fetch->handle;
	struct starpu_data_descr data = {.handle = handle, .mode = STARPU_R};
	struct exchange exchange = {.data = &data,
				    .ndata = 1,
				    .priority = fetch->priority,
				    .executor = fetch->to,
				    .name = fetch->what};
	struct insert insert;
	struct request *request;

	if (handle->owner == OWNER_UNSET)
		orr_die(mpi->rank,
			"%s: the data has no owner; call starpu_mpi_data_register()",
			fetch->what);
	check_tag(mpi, handle, fetch->what);
	kin_settle(mpi, handle);
	if (data_flags(handle) & DATUM_CONTRIBUTED)
		reduce_settle(mpi, handle);
	insert_open(&insert, mpi, fetch->comm, &exchange);
	if (handle->owner == fetch->to || handle->owner == OWNER_PER_NODE)
		return 0;
	insert_take_turn(&insert);
	request = fetch_in_turn(&insert, fetch);
	insert_end_turn(&insert);
	return request ? finish_wait(request) : 0;
}
