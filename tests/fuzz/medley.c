/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "medley.h"

/*
 * medley.c - data of a lane beside its others, of which parts, copies and read-only
 * duplicates are used in turn, while values are dropped, moved and evicted.
 *
 * Each operation is a few steps, whose choices are drawn from its salt and do not depend
 * on what is there, so that any operation may be left out.  The model has the values that
 * are there after what was submitted so far: in each quarter of a datum, element i is
 * base + slope * i, or there is none.  Ranks of a distributed lane have the same model.
 */
enum {
	MAX_DATA_HERE = 7,
	MAX_DUPLICATES = 8,
	MEMBERS = 11, /* the whole, halves, quarters of halves, quarters */
	MAX_NTASKS = 4
};

struct piece {
	starpu_data_handle_t handles[MEMBERS]; /* NULL: not planned */
	starpu_arbiter_t arbiter;
	unsigned nx;
	int owner, was_moved;
	uint64_t *home;
	struct values values;
};

struct duplicate {
	starpu_data_handle_t handle;
	struct values values;
	int is_here;
};

struct medley {
	struct lane_run *lane;
	const struct op *op;
	struct rng rng;
	int ndata, nduplicates;
	int64_t next_tag;
	struct piece pieces[MAX_DATA_HERE];
	struct duplicate duplicates[MAX_DUPLICATES];
};

static const struct {
	int first, n;
} members[MEMBERS] = {{0, 4}, {0, 2}, {2, 2}, {0, 1}, {1, 1}, {2, 1},
		      {3, 1}, {0, 1}, {1, 1}, {2, 1}, {3, 1}};

static unsigned below(struct medley *medley, unsigned n)
{
	return rng_below(&medley->rng, n);
}

static void check(struct medley *medley, const char *what, int ret)
{
	if (ret)
		run_bad(medley->lane->run, medley->op, what, (uint64_t)ret, 0);
}

/* ---- values ---------------------------------------------------------- */

static struct values values_of(const struct piece *piece, int member)
{
	struct values values = {.n = members[member].n,
				.nx = piece->nx / QUARTERS * (unsigned)members[member].n};
	int first = members[member].first;

	for (int q = 0; q < values.n; q++) {
		values.has[q] = piece->values.has[first + q];
		values.base[q] = piece->values.base[first + q];
		values.slope[q] = piece->values.slope[first + q];
	}
	return values;
}

static void put(struct piece *piece, int member, const struct values *values)
{
	int first = members[member].first;

	for (int q = 0; q < values->n; q++) {
		piece->values.has[first + q] = values->has[q];
		piece->values.base[first + q] = values->base[q];
		piece->values.slope[first + q] = values->slope[q];
	}
}

/* ---- data ------------------------------------------------------------ */

static int is_distributed(const struct medley *medley)
{
	return medley->lane->lane->distributed;
}

static int is_owner(const struct medley *medley, const struct piece *piece)
{
	return !is_distributed(medley) || piece->owner == medley->lane->rank;
}

static void announce(struct medley *medley, starpu_data_handle_t handle, int owner)
{
	if (is_distributed(medley))
		starpu_mpi_data_register_comm(handle, medley->next_tag++, owner,
					      medley->lane->comm);
}

static void plan(struct piece *piece, int parent, int first, unsigned n)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = n};

	starpu_data_partition_plan(piece->handles[parent], &filter,
				   &piece->handles[first]);
}

/* Halves, perhaps quarters of them, and quarters. */
static void cut(struct medley *medley, struct piece *piece, unsigned depth)
{
	if (depth & 1)
		plan(piece, 0, 7, 4);
	if (depth & 2) {
		plan(piece, 0, 1, 2);
		if (depth & 4) {
			plan(piece, 1, 3, 2);
			plan(piece, 2, 5, 2);
		}
	}
	for (int i = 1; i < MEMBERS; i++)
		if (piece->handles[i])
			announce(medley, piece->handles[i], piece->owner);
}

static void open_home(struct piece *piece, uint64_t first, int is_here)
{
	values_do(&piece->values, SET, first, NULL);
	if (!is_here)
		return;
	piece->home = malloc(piece->nx * sizeof(*piece->home));
	if (!piece->home)
		abort();
	values_apply(piece->home, &piece->values, SET, first, NULL);
}

static void piece_open(struct medley *medley, struct piece *piece)
{
	unsigned nx = 1 + below(medley, 3) * below(medley, 300),
		 first = below(medley, 1000), has_home = below(medley, 2),
		 has_arbiter = below(medley, 4) == 0, depth = below(medley, 8),
		 owner = below(medley, (unsigned)medley->lane->lane->nranks);

	*piece = (struct piece){.nx = QUARTERS * (nx % 3 ? nx : 5), .owner = (int)owner};
	piece->values = (struct values){.n = QUARTERS, .nx = piece->nx};
	if (has_home)
		open_home(piece, first, is_owner(medley, piece));
	starpu_vector_data_register(piece->handles, piece->home ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)piece->home, piece->nx, sizeof(uint64_t));
	announce(medley, piece->handles[0], piece->owner);
	if (has_feature(medley->lane->run->program, FEATURE_REDUX))
		starpu_data_set_reduction_methods(piece->handles[0], &medley_combine,
						  &medley_neutral);
	if (has_arbiter) {
		piece->arbiter = starpu_arbiter_create();
		starpu_data_assign_arbiter(piece->handles[0], piece->arbiter);
	} else if (has_feature(medley->lane->run->program, FEATURE_PARTITIONS)) {
		cut(medley, piece, depth);
	}
}

/* What others contributed comes to the owner, before somebody looks who is no task. */
static void reduce(struct medley *medley, struct piece *piece)
{
	const struct lane_run *lane = medley->lane;

	if (!is_distributed(medley) || lane->run->program->threaded ||
	    !has_feature(lane->run->program, FEATURE_REDUX))
		return;
	for (int i = 0; i < MEMBERS; i++)
		if (piece->handles[i])
			starpu_mpi_redux_data_tree(lane->comm, piece->handles[i],
						   2 + (int)(medley->op->salt % 3));
}

static void flush(struct medley *medley, struct piece *piece)
{
	for (int i = 0; is_distributed(medley) && i < MEMBERS; i++)
		if (piece->handles[i])
			starpu_mpi_cache_flush(medley->lane->comm, piece->handles[i]);
}

static void clean(struct piece *piece)
{
	starpu_data_handle_t *handles = piece->handles;

	if (handles[5])
		starpu_data_partition_clean(handles[2], 2, &handles[5]);
	if (handles[3])
		starpu_data_partition_clean(handles[1], 2, &handles[3]);
	if (handles[1])
		starpu_data_partition_clean(handles[0], 2, &handles[1]);
	if (handles[7])
		starpu_data_partition_clean(handles[0], 4, &handles[7]);
	memset(&handles[1], 0, (MEMBERS - 1) * sizeof(*handles));
}

static void piece_close(struct medley *medley, struct piece *piece, unsigned how)
{
	reduce(medley, piece);
	clean(piece);
	if (piece->home || piece->arbiter || how == 0)
		starpu_data_unregister(piece->handles[0]);
	else if (how == 1 || is_distributed(medley))
		starpu_data_unregister_submit(piece->handles[0]);
	else
		starpu_data_unregister_no_coherency(piece->handles[0]);
	if (piece->home && values_are_full(&piece->values) && !piece->was_moved)
		values_look(medley->lane->run, medley->op, "value at home after a medley",
			    piece->home, &piece->values);
	if (piece->arbiter)
		starpu_arbiter_destroy(piece->arbiter);
	free(piece->home);
}

/* A planned member, or the whole. */
static int any_member(const struct piece *piece, unsigned drawn)
{
	return piece->handles[drawn % MEMBERS] ? (int)(drawn % MEMBERS) : 0;
}

/* ---- tasks ----------------------------------------------------------- */

static struct errand order_make(const struct medley *medley, enum deed deed,
				uint64_t salt, const struct values *before)
{
	return (struct errand){.run = medley->lane->run,
			       .op = medley->op,
			       .deed = deed,
			       .is_seen = deed == SEE || deed == CHANGE || deed == MIX,
			       .salt = salt,
			       .before = *before};
}

static void insert_at(struct medley *medley, const struct errand *order,
		      struct starpu_data_descr *descr, int n, int node)
{
	struct starpu_codelet *cl =
		medley->op->choice[1] % 4 ? &medley_anywhere : &medley_on_cpus;
	int prio = (int)(medley->op->choice[2] % 11) - 5, ret;

	if (!is_distributed(medley))
		ret = starpu_task_insert(cl, STARPU_DATA_MODE_ARRAY, descr, n,
					 STARPU_PRIORITY, prio, STARPU_VALUE, order,
					 sizeof(*order), 0);
	else
		ret = starpu_mpi_task_insert(
			medley->lane->comm, cl, STARPU_DATA_MODE_ARRAY, descr, n,
			STARPU_PRIORITY, prio, STARPU_VALUE, order, sizeof(*order),
			STARPU_EXECUTE_ON_NODE, node, 0);
	check(medley, "insertion in a medley", ret);
}

static void insert(struct medley *medley, struct piece *piece, int member, enum deed deed,
		   unsigned salt)
{
	static const enum starpu_data_access_mode modes[] = {[SEE] = STARPU_R,
							     [SET] = STARPU_W,
							     [CHANGE] = STARPU_RW,
							     [ADD] = STARPU_RW |
								     STARPU_COMMUTE,
							     [CONTRIBUTE] = STARPU_REDUX};
	struct values values = values_of(piece, member);
	struct errand order = order_make(medley, deed, salt, &values);
	struct starpu_data_descr descr = {piece->handles[member], modes[deed]};
	int node = (int)(salt % (unsigned)medley->lane->lane->nranks);

	if (is_distributed(medley) && deed == CONTRIBUTE && salt % 3 == 0)
		descr.mode = STARPU_MPI_REDUX;
	insert_at(medley, &order, &descr, 1, salt % 2 ? node : piece->owner);
	values_do(&values, deed, salt, NULL);
	put(piece, member, &values);
}

/* Some uses in a row, where the value allows them. */
static void use(struct medley *medley, struct piece *piece)
{
	static const enum deed deeds[] = {SEE, SEE, SEE, SET,        SET,       CHANGE,
					  ADD, ADD, ADD, CONTRIBUTE, CONTRIBUTE};
	unsigned drawn = below(medley, MEMBERS), n = 1 + below(medley, MAX_NTASKS);
	enum deed deed = deeds[below(medley, sizeof(deeds) / sizeof(deeds[0]))];
	int member = any_member(piece, drawn);
	struct values values = values_of(piece, member);
	const struct program *program = medley->lane->run->program;

	if (deed == CONTRIBUTE &&
	    ((is_distributed(medley) && program->threaded) || piece->arbiter ||
	     !has_feature(program, FEATURE_REDUX)))
		deed = SET;
	if (deed == CONTRIBUTE && !values_are_full(&values) &&
	    (values_present(&values) || member))
		deed = SET;
	if (deed != SET && deed != CONTRIBUTE && !values_are_full(&values))
		deed = SET;
	for (unsigned i = 0; i < n; i++)
		insert(medley, piece, member, deed, 1 + below(medley, 1000));
}

/* One is added to another; or to both, which commute with others. */
static void use_two(struct medley *medley, struct piece *to, struct piece *from)
{
	unsigned one = below(medley, MEMBERS), two = below(medley, MEMBERS),
		 how = below(medley, 3), salt = 1 + below(medley, 1000);
	int a = any_member(to, one), b = any_member(from, two);
	struct values x = values_of(to, a), y = values_of(from, b);
	struct errand order = order_make(medley, MIX, salt, &x);
	struct starpu_data_descr descr[2] = {
		{to->handles[a], how ? STARPU_RW | STARPU_COMMUTE : STARPU_RW},
		{from->handles[b], STARPU_R}};

	if (to == from || x.nx != y.nx || x.n != y.n || !values_are_full(&x) ||
	    !values_are_full(&y))
		return;
	order.is_seen = how == 0;
	order.other = y;
	insert_at(medley, &order, descr, 2,
		  (int)(salt % (unsigned)medley->lane->lane->nranks));
	values_do(&x, MIX, salt, &y);
	put(to, a, &x);
}

/* A datum for two tasks, gone when they have ended. */
static void use_temporary(struct medley *medley, struct piece *piece)
{
	unsigned drawn = below(medley, MEMBERS), salt = 1 + below(medley, 1000),
		 owner = below(medley, (unsigned)medley->lane->lane->nranks);
	int member = any_member(piece, drawn);
	struct values values = values_of(piece, member), temporary = values;
	struct errand order = order_make(medley, SET, salt, &values);
	struct starpu_data_descr descr[2] = {{piece->handles[member], STARPU_RW},
					     {NULL, STARPU_W}};

	if (!values_are_full(&values))
		return;
	starpu_data_register_same(&descr[1].handle, piece->handles[member]);
	announce(medley, descr[1].handle, (int)owner);
	insert_at(medley, &order, &descr[1], 1, (int)owner);
	values_do(&temporary, SET, salt, NULL);
	order = order_make(medley, MIX, salt, &values);
	order.other = temporary;
	descr[1].mode = STARPU_R;
	insert_at(medley, &order, descr, 2, piece->owner);
	values_do(&values, MIX, salt, &temporary);
	put(piece, member, &values);
	starpu_data_unregister_submit(descr[1].handle);
}

/* ---- duplicates and copies ------------------------------------------- */

static void duplicate(struct medley *medley, struct piece *piece)
{
	unsigned drawn = below(medley, MEMBERS), asynchronous = below(medley, 2);
	struct duplicate *made = &medley->duplicates[medley->nduplicates];
	int member = any_member(piece, drawn);
	struct values values = values_of(piece, member);

	if (medley->nduplicates == MAX_DUPLICATES || !values_are_full(&values))
		return;
	reduce(medley, piece);
	*made = (struct duplicate){.values = values, .is_here = is_owner(medley, piece)};
	if (made->is_here)
		check(medley, "starpu_data_dup_ro()",
		      starpu_data_dup_ro(&made->handle, piece->handles[member],
					 (int)asynchronous));
	medley->nduplicates++;
}

/* A duplicate of a duplicate is one more reference. */
static void duplicate_again(struct medley *medley, const struct duplicate *duplicate)
{
	struct duplicate *made = &medley->duplicates[medley->nduplicates];

	if (medley->nduplicates == MAX_DUPLICATES)
		return;
	*made = *duplicate;
	if (made->is_here)
		check(medley, "starpu_data_dup_ro() of a duplicate",
		      starpu_data_dup_ro(&made->handle, duplicate->handle, 1));
	medley->nduplicates++;
}

static void use_duplicate(struct medley *medley, unsigned how)
{
	struct duplicate *duplicate =
		&medley->duplicates[below(medley, MAX_DUPLICATES) %
				    (unsigned)(medley->nduplicates ? medley->nduplicates
								   : 1)];
	struct errand order = order_make(medley, SEE, 0, &duplicate->values);

	if (!medley->nduplicates)
		return;
	if (how == 0) {
		duplicate_again(medley, duplicate);
	} else if (how < 3) {
		if (duplicate->is_here && how == 1)
			starpu_data_unregister(duplicate->handle);
		else if (duplicate->is_here)
			starpu_data_unregister_submit(duplicate->handle);
		*duplicate = medley->duplicates[--medley->nduplicates];
	} else if (duplicate->is_here) {
		check(medley, "insertion of a look at a duplicate",
		      starpu_task_insert(&medley_anywhere, STARPU_R, duplicate->handle,
					 STARPU_VALUE, &order, sizeof(order), 0));
	}
}

static void copy(struct medley *medley, struct piece *to, struct piece *from)
{
	unsigned one = below(medley, MEMBERS), two = below(medley, MEMBERS),
		 asynchronous = below(medley, 2);
	int a = any_member(to, one), b = any_member(from, two);
	struct values x = values_of(to, a), y = values_of(from, b);

	if (to == from || x.nx != y.nx || x.n != y.n || !values_are_full(&y))
		return;
	if (is_distributed(medley))
		check(medley, "starpu_mpi_data_cpy()",
		      starpu_mpi_data_cpy(to->handles[a], from->handles[b],
					  medley->lane->comm, (int)asynchronous, NULL,
					  NULL));
	else
		check(medley, "starpu_data_cpy()",
		      starpu_data_cpy(to->handles[a], from->handles[b], (int)asynchronous,
				      NULL, NULL));
	put(to, a, &y);
}

/* ---- values come and go ---------------------------------------------- */

static void drop(struct medley *medley, struct piece *piece)
{
	unsigned drawn = below(medley, MEMBERS), how = below(medley, 2);
	int member = any_member(piece, drawn);
	struct values values = values_of(piece, member);

	reduce(medley, piece);
	flush(medley, piece);
	if (how)
		starpu_data_invalidate_submit(piece->handles[member]);
	else
		starpu_data_deinitialize_submit(piece->handles[member]);
	memset(values.has, 0, sizeof(values.has));
	put(piece, member, &values);
}

static void hint(struct medley *medley, struct piece *piece)
{
	unsigned drawn = below(medley, MEMBERS), how = below(medley, 5),
		 asynchronous = below(medley, 2),
		 node = below(medley, starpu_memory_nodes_get_count());
	int member = any_member(piece, drawn);
	starpu_data_handle_t handle = piece->handles[member];
	struct values values = values_of(piece, member);

	if (how == 0) {
		starpu_data_evict_from_node(handle, node);
		return;
	}
	if (!values_are_full(&values) || !is_owner(medley, piece))
		return;
	if (how == 1)
		starpu_data_wont_use(handle);
	else if (how == 2)
		starpu_data_prefetch_on_node(handle, STARPU_MAIN_RAM, asynchronous);
	else if (how == 3)
		starpu_data_idle_prefetch_on_node(handle, STARPU_MAIN_RAM, 1);
	else
		starpu_data_fetch_on_node(handle, STARPU_MAIN_RAM, asynchronous);
}

/* All epochs but those that are refused. */
static int is_wanted(void *buffer, void *arg)
{
	(void)buffer;
	return arg != NULL;
}

static void transact(struct medley *medley, struct piece *piece)
{
	unsigned nepochs = 1 + below(medley, 3), runs = below(medley, 8),
		 salt = below(medley, 1000);
	struct starpu_transaction *transaction;

	if (is_distributed(medley) || !values_are_full(&piece->values))
		return;
	transaction = starpu_transaction_open(is_wanted, runs & 1 ? medley : NULL);
	if (!transaction)
		return;
	for (unsigned i = 0; i < nepochs; i++) {
		struct errand order = order_make(medley, CHANGE, salt, &piece->values);

		if (i)
			starpu_transaction_next_epoch(transaction,
						      runs >> i & 1 ? medley : NULL);
		check(medley, "insertion in an epoch",
		      starpu_task_insert(&medley_anywhere, STARPU_RW, piece->handles[0],
					 STARPU_VALUE, &order, sizeof(order),
					 STARPU_TRANSACTION, transaction, 0));
		if (runs >> i & 1)
			values_do(&piece->values, CHANGE, salt, NULL);
	}
	starpu_transaction_close(transaction);
}

/* ---- the application's accesses -------------------------------------- */

struct visit {
	struct errand order;
	starpu_data_handle_t handle;
};

static void visit_now(void *arg)
{
	struct visit *visit = arg;
	uint64_t *x = starpu_data_handle_to_pointer(visit->handle, STARPU_MAIN_RAM);

	if (visit->order.is_seen)
		values_look(visit->order.run, visit->order.op,
			    "value acquired in a medley", x, &visit->order.before);
	values_apply(x, &visit->order.before, visit->order.deed, visit->order.salt, NULL);
	starpu_data_release(visit->handle);
	free(visit);
}

static void acquire(struct medley *medley, struct piece *piece)
{
	static const enum starpu_data_access_mode modes[] = {STARPU_R, STARPU_W,
							     STARPU_RW};
	unsigned drawn = below(medley, MEMBERS), by_callback = below(medley, 2),
		 salt = 1 + below(medley, 1000);
	enum deed deed = (enum deed)below(medley, 3);
	int member = any_member(piece, drawn), ret;
	struct values values = values_of(piece, member);
	struct visit *visit = malloc(sizeof(*visit));

	if (deed != SET && !values_are_full(&values)) {
		free(visit);
		return;
	}
	reduce(medley, piece);
	flush(medley, piece);
	*visit = (struct visit){order_make(medley, deed, salt, &values),
				piece->handles[member]};
	if (!is_owner(medley, piece)) {
		free(visit);
	} else if (by_callback) {
		ret = starpu_data_acquire_cb(visit->handle, modes[deed], visit_now,
					     visit);
		check(medley, "starpu_data_acquire_cb()", ret);
	} else {
		ret = starpu_data_acquire(visit->handle, modes[deed]);
		check(medley, "starpu_data_acquire()", ret);
		visit_now(visit);
	}
	values_do(&values, deed, salt, NULL);
	put(piece, member, &values);
}

/* ---- owners ---------------------------------------------------------- */

/* The whole goes with all its parts. */
static void migrate(struct medley *medley, struct piece *piece)
{
	const struct lane_run *lane = medley->lane;
	int rank = (int)below(medley, (unsigned)lane->lane->nranks);

	if (!is_distributed(medley) || !values_are_full(&piece->values))
		return;
	reduce(medley, piece);
	flush(medley, piece);
	piece->was_moved |= rank != piece->owner;
	starpu_mpi_data_migrate(lane->comm, piece->handles[0], rank);
	piece->owner = rank;
	for (int i = 1; i < MEMBERS; i++)
		if (piece->handles[i])
			starpu_mpi_data_set_rank_comm(piece->handles[i], rank,
						      lane->comm);
}

/* ---- steps ----------------------------------------------------------- */

static void step(struct medley *medley)
{
	unsigned what = below(medley, 40), how = below(medley, 6),
		 close_how = below(medley, 3);
	struct piece *piece = &medley->pieces[below(medley, (unsigned)medley->ndata)],
		     *other = &medley->pieces[below(medley, (unsigned)medley->ndata)];

	if (what < 15)
		use(medley, piece);
	else if (what < 18)
		use_two(medley, piece, other);
	else if (what < 20)
		use_temporary(medley, piece);
	else if (what < 22)
		duplicate(medley, piece);
	else if (what < 25)
		use_duplicate(medley, how);
	else if (what < 28)
		copy(medley, piece, other);
	else if (what < 29)
		drop(medley, piece);
	else if (what < 33)
		hint(medley, piece);
	else if (what < 35)
		transact(medley, piece);
	else if (what < 37)
		acquire(medley, piece);
	else if (what < 39)
		migrate(medley, piece);
	else {
		piece_close(medley, piece, close_how);
		piece_open(medley, piece);
	}
}

enum { STEPS = 3 };

int run_medley_op(struct lane_run *lane, struct op *op)
{
	struct medley *medley = lane->medley;

	if (op->kind != OP_MEDLEY)
		return 0;
	medley->op = op;
	medley->rng.state = op->salt * 0x9e3779b97f4a7c15u + op->choice[0];
	for (int i = 0; i < STEPS; i++)
		step(medley);
	return 1;
}

void medley_open(struct lane_run *lane)
{
	struct medley *medley;
	/* All ranks open the same. */
	uint64_t seed = lane->run->program->seed;

	if (!has_feature(lane->run->program, FEATURE_MEDLEY) ||
	    lane->lane->only_transfers)
		return;
	lane->medley = medley = calloc(1, sizeof(*medley));
	medley->lane = lane;
	medley->rng.state = seed * 0x9e3779b97f4a7c15u + (uint64_t)lane->index;
	medley->next_tag = ((int64_t)1 << 36) + ((int64_t)lane->index << 24);
	medley->ndata = 2 + (int)below(medley, MAX_DATA_HERE - 1);
	for (int i = 0; i < medley->ndata; i++)
		piece_open(medley, &medley->pieces[i]);
}

static void see_all(struct medley *medley, struct piece *piece)
{
	uint64_t *x;

	reduce(medley, piece);
	if (!values_are_full(&piece->values) || !is_owner(medley, piece))
		return;
	starpu_data_acquire(piece->handles[0], STARPU_R);
	x = starpu_data_handle_to_pointer(piece->handles[0], STARPU_MAIN_RAM);
	values_look(medley->lane->run, NULL, "value at the end of a medley", x,
		    &piece->values);
	starpu_data_release(piece->handles[0]);
}

void medley_close(struct lane_run *lane)
{
	static const struct op none = {.id = -1};
	struct medley *medley = lane->medley;

	if (!medley)
		return;
	medley->op = &none;
	for (int i = 0; i < medley->ndata; i++) {
		see_all(medley, &medley->pieces[i]);
		piece_close(medley, &medley->pieces[i], (unsigned)i % 2);
	}
	for (int i = 0; i < medley->nduplicates; i++)
		if (medley->duplicates[i].is_here)
			starpu_data_unregister(medley->duplicates[i].handle);
	free(medley);
	lane->medley = NULL;
}
