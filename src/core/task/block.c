/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/task/fold.h"
#include "core/task/links.h"
#include "core/task/task.h"

/* As large as the pool makes it, and the job begins a line of the cache. */
struct task_block {
	struct starpu_task task;
	struct roomy_job half __attribute__((aligned(ORR_LINE_BYTES)));
};

_Static_assert(sizeof(struct task_block) <= 1024 &&
		       offsetof(struct task_block, half) == TASK_LINES_BYTES,
	       "of which large simulations have many; see job_expect_block()");

/* As job_init() would make the job. */
static const struct task_block fresh = {
	.task = STARPU_TASK_INITIALIZER,
	.half.job = {.ops = &task_ops, .missing = 1, .end_deps = 1, .block = BLOCK_WHOLE},
};

static void take_returned(struct node *node)
{
	orr_lock(&node->returned_lock);
	node->task_pool.free_list = node->returned_tasks;
	node->returned_tasks = NULL;
	orr_unlock(&node->returned_lock);
}

static void make(struct node *node, struct task_block *block)
{
	/* A number that the compiler does not know: it would copy word by word. */
	memcpy(block, &fresh, node->task_pool.object_bytes - sizeof(block->half.room));
	block->task.destroy = 1;
	block->half.job.node = node;
	block->half.job.accesses = block->half.job.room = block->half.room;
	block->half.job.nroom = JOB_INLINE_ACCESSES;
	orr_lock_init(&block->half.job.lock);
	block->half.job.task = &block->task;
	block->task.starpu_private = &block->half.job;
}

struct starpu_task *task_create(struct node *node)
{
	struct task_block *block, *next;

	orr_lock(&node->pool_lock);
	if (!node->task_pool.object_bytes)
		pool_init_in(&node->task_pool, sizeof(*block), node->store);
	if (!node->task_pool.free_list)
		take_returned(node);
	block = pool_get(&node->task_pool);
	block->half.job.task = NULL; /* as in job_new() */
	next = node->task_pool.free_list;
	if (next) /* Another core wrote to it last, as a rule: it comes meanwhile. */
		job_expect_block(&next->half.job);
	orr_unlock(&node->pool_lock);
	event_unname(&node->events, &block->half.job, EVENT_NAMES_OTHER);
	make(node, block);
	return &block->task;
}

int task_make_anew(struct node *node, struct starpu_task *task)
{
	struct job *job = NULL;

	orr_lock(&node->pool_lock);
	if (node->task_pool.object_bytes && pool_has(&node->task_pool, task))
		job = &((struct task_block *)(void *)task)->half.job;
	orr_unlock(&node->pool_lock);
	if (!job || job->task != task)
		return 0;
	if (job->life != LIFE_NEW && job->life != LIFE_ENDED)
		orr_die(node->rank,
			"starpu_task_init: task \"%s\" has been submitted and has not "
			"ended; call starpu_task_wait() first",
			task_name(task));
	if (job->point)
		links_forget(job);
	if (job->own_accesses)
		free(job->accesses);
	make(node, ORR_CONTAINER(job, struct task_block, half.job));
	return 1;
}

struct starpu_task *task_create_for(struct node *node, const struct starpu_codelet *cl)
{
	return node->machine->takes_turns ? fold_create(node, cl, &task_ops)
					  : task_create(node);
}

void task_free(struct job *job)
{
	struct node *node = job->node;
	struct task_block *block;

	if (job->block != BLOCK_WHOLE) {
		fold_free(job);
		return;
	}
	if (job->point)
		links_forget(job);
	block = ORR_CONTAINER(job, struct task_block, half.job);
	orr_lock(&node->returned_lock);
	if (job->own_accesses)
		free(job->accesses);
	job->task = NULL;
	*(void **)block = node->returned_tasks;
	node->returned_tasks = block;
	orr_unlock(&node->returned_lock);
}

void tasks_lock(struct node *node)
{
	orr_lock(&node->pool_lock);
	orr_lock(&node->returned_lock);
}

void tasks_unlock(struct node *node)
{
	orr_unlock(&node->returned_lock);
	orr_unlock(&node->pool_lock);
}

struct job *task_next_job(struct node *node, struct task_walk *walk)
{
	const struct folder *folder = node->folder;
	const struct pool *const pools[] = {&node->task_pool, &node->job_pool,
					    folder ? &folder->small : NULL,
					    folder ? &folder->large : NULL};

	while (walk->pool < sizeof(pools) / sizeof(pools[0]) && pools[walk->pool]) {
		void *object = pool_next(pools[walk->pool], &walk->cursor);
		struct job *job = object;

		if (!object) {
			walk->pool++;
			walk->cursor = (struct pool_cursor){0};
			continue;
		}
		if (pools[walk->pool] == &node->task_pool)
			job = &((struct task_block *)object)->half.job;
		/* Of what has just been taken from a pool no more is known than that it
		 * has no task; nobody walks while one is made that may be folded. */
		if (job->task || (walk->pool > 1 && job->is_folded))
			return job;
	}
	return NULL;
}
