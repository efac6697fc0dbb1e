/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_COLLECTION_H
#define ORR_CORE_SCHED_COLLECTION_H

/*
 * collection.h - struct starpu_worker_collection: the workers of a context, as policies
 * of the application's walk them.
 *
 * In the order in which they came (list) or of their numbers, which follow the topology
 * (tree).  Whoever walks takes no lock: a worker that comes or goes meanwhile may be met
 * or not, and another be missed once.
 */
#include <starpu_worker.h>

struct starpu_worker_collection *collection_new(enum starpu_worker_collection_type type);
void collection_free(struct starpu_worker_collection *collection);

#endif
