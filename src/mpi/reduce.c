/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/data/redux.h"
#include "core/task/task.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

/* Of a datum that is to be reduced. */
struct contributors {
	struct list link; /* in mpi->reductions.due */
	starpu_data_handle_t handle;
	int comm, size, n;
	char has[]; /* by rank; the owner counts as one */
};

static uint64_t key_of(starpu_data_handle_t handle)
{
	return (uint64_t)(uintptr_t)handle;
}

void reduce_init(struct mpi *mpi)
{
	orr_lock_init(&mpi->reductions.lock);
	list_init(&mpi->reductions.due);
}

void reduce_free(struct mpi *mpi)
{
	struct list *due = &mpi->reductions.due;

	while (!list_is_empty(due))
		reduce_forget(mpi,
			      LIST_ENTRY(due->next, struct contributors, link)->handle);
	table_free(&mpi->reductions.by_handle);
}

/* ---- who contributed -------------------------------------------------- */

static struct contributors *find(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct contributors *found;

	if (!(data_flags(handle) & DATUM_CONTRIBUTED))
		return NULL;
	orr_lock(&mpi->reductions.lock);
	found = table_get(&mpi->reductions.by_handle, key_of(handle));
	orr_unlock(&mpi->reductions.lock);
	return found;
}

static struct contributors *begin(struct mpi *mpi, int comm, starpu_data_handle_t handle)
{
	int size = comm_at(&mpi->comms, comm)->size;
	struct contributors *new = orr_alloc(sizeof(*new) + (size_t)size);

	new->handle = handle;
	new->comm = comm;
	new->size = size;
	new->has[handle->owner] = 1;
	new->n = 1;
	orr_lock(&mpi->reductions.lock);
	table_put(&mpi->reductions.by_handle, key_of(handle), new);
	list_push_back(&mpi->reductions.due, &new->link);
	orr_unlock(&mpi->reductions.lock);
	data_set_flags(handle, DATUM_CONTRIBUTED, 0);
	kin_note_contributions(handle);
	return new;
}

/* Take it off: later contributions are of another reduction. */
static struct contributors *take(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct contributors *taken = find(mpi, handle);

	if (!taken)
		return NULL;
	orr_lock(&mpi->reductions.lock);
	table_remove(&mpi->reductions.by_handle, key_of(handle));
	list_remove(&taken->link);
	orr_unlock(&mpi->reductions.lock);
	data_set_flags(handle, 0, DATUM_CONTRIBUTED);
	return taken;
}

void reduce_forget(struct mpi *mpi, starpu_data_handle_t handle)
{
	free(take(mpi, handle));
}

char *reduce_map(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct contributors *found = find(mpi, handle);

	return found ? found->has : NULL;
}

int reduce_nwaiting(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct contributors *found = find(mpi, handle);

	return found ? found->n : 0;
}

static void die(struct mpi *mpi, starpu_data_handle_t handle, const char *what,
		const char *why) __attribute__((noreturn));

static void die(struct mpi *mpi, starpu_data_handle_t handle, const char *what,
		const char *why)
{
	char text[128];

	orr_die(mpi->rank, "%s, a reduction of %s: %s", what,
		data_describe(handle, text, sizeof(text)), why);
}

void reduce_note(struct mpi *mpi, int comm, starpu_data_handle_t handle, int executor,
		 const char *what)
{
	int me = comm_at(&mpi->comms, comm)->rank;
	struct contributors *contributors;

	if (handle->owner == OWNER_PER_NODE || executor < 0)
		return;
	if (handle->owner == OWNER_UNSET)
		die(mpi, handle, what,
		    "the data has no owner; call starpu_mpi_data_register() with a rank, "
		    "on all ranks");
	if (handle->owner >= comm_at(&mpi->comms, comm)->size)
		die(mpi, handle, what,
		    "its owner is not in the communicator that is given; give the one "
		    "that the data were registered with");
	contributors = find(mpi, handle);
	if (!contributors)
		contributors = begin(mpi, comm, handle);
	/* What others hold is of the past. */
	cache_clear(mpi, handle);
	kin_clear(mpi, handle);
	if (contributors->has[executor])
		return;
	contributors->has[executor] = 1;
	contributors->n++;
	/* A contribution begins with the neutral element, not with an old value. */
	if (executor == me && orr_load_ptr((void **)&handle->body))
		data_invalidate_submit(mpi->node, handle);
}

/* ---- the tree --------------------------------------------------------- */

int reduce_root(const int *ranks, int n, int owner, int64_t tag, int arity)
{
	int wanted = (int)(tag % arity);

	for (int i = 0; i < n; i++)
		if (ranks[i] == owner)
			return i;
	return wanted < n ? wanted : 0;
}

struct step {
	struct mpi *mpi;
	const struct reduction *reduction;
	int comm, me;
};

static void post(const struct step *step, starpu_data_handle_t at, int from, int to)
{
	starpu_data_handle_t handle = step->reduction->handle;
	struct post half = {.handle = at,
			    .comm = step->comm,
			    .priority = step->reduction->priority,
			    .tag = handle->tag,
			    .what = step->reduction->what};

	if (!step->mpi->is_fake)
		insert_post(step->mpi, &half, from, to);
	else if (at != handle)
		data_pretend_written_submit(step->mpi->node, at);
}

int reduce_add(struct mpi *mpi, const struct reduction *reduction,
	       starpu_data_handle_t from)
{
	const struct redux_methods *methods = redux_methods(reduction->handle);
	struct starpu_task *task = task_create(mpi->node);
	starpu_data_handle_t scratch;
	int ret;

	if (!methods || !methods->combine)
		die(mpi, reduction->handle, reduction->what,
		    "nobody said how to combine; call "
		    "starpu_data_set_reduction_methods() on all ranks");
	task->cl = methods->combine;
	task->cl_arg = methods->combine_arg;
	task->handles[0] = reduction->handle;
	task->handles[1] = from;
	task->priority = reduction->priority;
	scratch = redux_give_scratch(task, reduction->handle);
	ret = task_submit_ours(mpi->node, task);
	if (ret < 0) {
		task->destroy = 0;
		task_destroy(task);
	}
	if (scratch)
		data_unregister_submit(mpi->node, scratch);
	return ret;
}

static void add(const struct step *step, starpu_data_handle_t from)
{
	if (reduce_add(step->mpi, step->reduction, from) < 0)
		die(step->mpi, step->reduction->handle, step->reduction->what,
		    "no worker can execute the codelet that combines");
}

/* Into a buffer of its own, so that contributions arrive together. */
static void receive(const struct step *step, int from)
{
	starpu_data_handle_t handle = step->reduction->handle;
	struct node *node = step->mpi->node;
	starpu_data_handle_t buffer =
		data_register(node, -1, handle->interface, handle->ops);

	buffer->flags |= DATUM_SEQUENTIAL;
	post(step, buffer, from, step->me);
	add(step, buffer);
	data_unregister_submit(node, buffer);
}

static void send(const struct step *step, int to)
{
	starpu_data_handle_t handle = step->reduction->handle;

	post(step, handle, step->me, to);
	data_invalidate_submit(step->mpi->node, handle);
}

/* The ranks' own part in one group. */
static void meet(const struct step *step, const int *ranks, int n, int root)
{
	for (int i = 0; i < n; i++) {
		if (i == root)
			continue;
		if (ranks[root] == step->me)
			receive(step, ranks[i]);
		else if (ranks[i] == step->me)
			send(step, ranks[root]);
	}
}

static void climb(const struct step *step, int *ranks, int n)
{
	starpu_data_handle_t handle = step->reduction->handle;
	int arity = step->reduction->arity;

	if (arity < 2 || arity > n)
		arity = n;
	while (n > 1) {
		int ngroups = 0;

		for (int first = 0; first < n; first += arity) {
			int size = n - first < arity ? n - first : arity;
			int root = reduce_root(ranks + first, size, handle->owner,
					       handle->tag, arity);

			meet(step, ranks + first, size, root);
			ranks[ngroups++] = ranks[first + root];
		}
		n = ngroups;
	}
}

/* They meet at the owner of now, also when it was another one that they began with: if it
 * did not contribute, what it may have is no part of the value. */
static void add_owner(struct mpi *mpi, struct contributors *contributors,
		      const struct reduction *reduction)
{
	starpu_data_handle_t handle = contributors->handle;
	int owner = handle->owner;

	if (owner < 0 || owner >= contributors->size)
		die(mpi, handle, reduction->what,
		    "its owner was changed while contributions waited, to none of the "
		    "ranks that contribute; call starpu_mpi_redux_data() before");
	if (contributors->has[owner])
		return;
	contributors->has[owner] = 1;
	contributors->n++;
	if (owner == comm_at(&mpi->comms, contributors->comm)->rank &&
	    orr_load_ptr((void **)&handle->body))
		data_invalidate_submit(mpi->node, handle);
}

void reduce_data(struct mpi *mpi, const struct reduction *reduction)
{
	struct contributors *contributors = take(mpi, reduction->handle);
	struct step step = {.mpi = mpi, .reduction = reduction};
	int *ranks, n = 0;

	if (contributors)
		add_owner(mpi, contributors, reduction);
	if (!contributors || contributors->n < 2) {
		free(contributors);
		return;
	}
	if (reduction->handle->tag < 0)
		die(mpi, reduction->handle, reduction->what,
		    "the data has no tag; call starpu_mpi_data_register() with a tag, on "
		    "all ranks");
	step.comm = contributors->comm;
	step.me = comm_at(&mpi->comms, step.comm)->rank;
	ranks = orr_alloc((size_t)contributors->n * sizeof(*ranks));
	for (int rank = 0; rank < contributors->size; rank++)
		if (contributors->has[rank])
			ranks[n++] = rank;
	if (contributors->has[step.me])
		climb(&step, ranks, n);
	free(ranks);
	free(contributors);
}

void reduce_settle(struct mpi *mpi, starpu_data_handle_t handle)
{
	int threshold = mpi->redux_threshold;
	long agreed = data_agreed_bytes(handle);
	int is_flat = threshold < 0 || (agreed < 0 ? 0 : agreed) < threshold;
	struct reduction reduction = {
		.handle = handle, .arity = is_flat ? 0 : 2, .what = "automatically"};

	reduce_data(mpi, &reduction);
}

void reduce_all(struct mpi *mpi)
{
	struct list *due = &mpi->reductions.due;

	for (;;) {
		starpu_data_handle_t handle = NULL;

		orr_lock(&mpi->reductions.lock);
		if (!list_is_empty(due))
			handle = LIST_ENTRY(due->next, struct contributors, link)->handle;
		orr_unlock(&mpi->reductions.lock);
		if (!handle)
			return;
		reduce_settle(mpi, handle);
	}
}
