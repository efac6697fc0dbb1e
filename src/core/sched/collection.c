/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/collection.h"

#include <stdlib.h>

#include "base/application.h"
#include "base/check.h"
#include "plat/plat.h"

typedef struct starpu_worker_collection workers_t;
typedef struct starpu_sched_ctx_iterator iterator_t;

static unsigned count(workers_t *workers)
{
	return (unsigned)orr_load((int *)&workers->nworkers);
}

static unsigned has_next(workers_t *workers, iterator_t *it)
{
	return (unsigned)it->cursor < count(workers);
}

static int get_next(workers_t *workers, iterator_t *it)
{
	return orr_load(&workers->workerids[it->cursor++]);
}

static void init_iterator(workers_t *workers, iterator_t *it)
{
	(void)workers;
	it->cursor = 0;
	it->value = it->possible_value = NULL;
	it->possibly_parallel = -1;
}

/* There are no workers of several cores. */
static void init_iterator_for_parallel_tasks(workers_t *workers, iterator_t *it,
					     struct starpu_task *task)
{
	(void)task;
	init_iterator(workers, it);
}

/* Those from at on move up by one. */
static int insert(workers_t *workers, unsigned at, int worker)
{
	if (workers->present[worker])
		return -1;
	for (unsigned i = workers->nworkers; i > at; i--)
		orr_store(&workers->workerids[i], workers->workerids[i - 1]);
	orr_store(&workers->workerids[at], worker);
	workers->present[worker] = 1;
	orr_store((int *)&workers->nworkers, (int)workers->nworkers + 1);
	return worker;
}

static int list_add(workers_t *workers, int worker)
{
	return insert(workers, workers->nworkers, worker);
}

static int tree_add(workers_t *workers, int worker)
{
	unsigned at = 0;

	while (at < workers->nworkers && workers->workerids[at] < worker)
		at++;
	return insert(workers, at, worker);
}

static int remove_one(workers_t *workers, int worker)
{
	unsigned i = 0;

	if (!workers->present[worker])
		return -1;
	while (workers->workerids[i] != worker)
		i++;
	workers->present[worker] = 0;
	for (; i + 1 < workers->nworkers; i++)
		orr_store(&workers->workerids[i], workers->workerids[i + 1]);
	orr_store((int *)&workers->nworkers, (int)workers->nworkers - 1);
	return worker;
}

static void init(workers_t *workers)
{
	workers->workerids = orr_alloc(STARPU_NMAXWORKERS * sizeof(*workers->workerids));
	workers->nworkers = 0;
}

static void deinit(workers_t *workers)
{
	free(workers->workerids);
	workers->workerids = NULL;
}

#define COLLECTION(type_, add_)                                                          \
	{                                                                                \
		.type = (type_), .has_next = has_next, .get_next = get_next,             \
		.add = (add_), .remove = remove_one, .init = init, .deinit = deinit,     \
		.init_iterator = init_iterator,                                          \
		.init_iterator_for_parallel_tasks = init_iterator_for_parallel_tasks     \
	}

APPLICATION_OBJECT struct starpu_worker_collection starpu_worker_list =
	COLLECTION(STARPU_WORKER_LIST, list_add);
APPLICATION_OBJECT struct starpu_worker_collection starpu_worker_tree =
	COLLECTION(STARPU_WORKER_TREE, tree_add);

struct starpu_worker_collection *collection_new(enum starpu_worker_collection_type type)
{
	struct starpu_worker_collection *collection = orr_alloc(sizeof(*collection));

	*collection =
		type == STARPU_WORKER_TREE ? starpu_worker_tree : starpu_worker_list;
	collection->init(collection);
	return collection;
}

void collection_free(struct starpu_worker_collection *collection)
{
	if (!collection)
		return;
	collection->deinit(collection);
	free(collection);
}
