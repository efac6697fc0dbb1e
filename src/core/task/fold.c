/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/sched/sched.h"
#include "core/task/links.h"

enum { LINE_WORDS = ORR_LINE_BYTES / sizeof(uint64_t) };
enum { WORDS = TASK_LINES_BYTES / sizeof(uint64_t) };

/* Lines long: what is behind the task is zero. */
union whole {
	struct starpu_task task;
	uint64_t words[WORDS];
};

/* Handles are found in the accesses again, interfaces come with the fetch. */
enum {
	GAP_BEGIN = offsetof(struct starpu_task, handles) / sizeof(uint64_t),
	GAP_END = offsetof(struct starpu_task, modes) / sizeof(uint64_t),
	GAP_WORDS = GAP_END - GAP_BEGIN,
	KEPT_WORDS = WORDS - GAP_WORDS
};

_Static_assert(KEPT_WORDS <= 64 && LINE_WORDS == 8 &&
		       sizeof(starpu_data_handle_t) == sizeof(uint64_t) &&
		       GAP_BEGIN % LINE_WORDS == 0 && GAP_END % LINE_WORDS == 0,
	       "a word has a bit for each, and lines are compared as such");

/* What most tasks are that have been submitted and wait. */
static const union whole usual = {
	.task = {.where = -1,
		 .sequential_consistency = 1,
		 .detach = 1,
		 .destroy = 1,
		 .status = STARPU_TASK_BLOCKED,
		 .magic = 42,
		 .predicted = NAN,
		 .predicted_transfer = NAN,
		 .predicted_start = NAN},
};

static const union whole fresh = {.task = STARPU_TASK_INITIALIZER};

/* By enum job_block.  Three accesses are the most that dense linear algebra has. */
static const struct shape {
	unsigned short bytes;
	unsigned char nroom;
} shapes[] = {[BLOCK_SMALL] = {448, 3}, [BLOCK_LARGE] = {512, JOB_INLINE_ACCESSES}};

_Static_assert(sizeof(struct job) + 3 * sizeof(struct access) + LINE_WORDS * 8 <= 448,
	       "a word for the bits, seven for what differs");

static struct access *room_of(struct job *job)
{
	return (struct access *)(void *)(job + 1);
}

static struct folder *folder_of(struct node *node)
{
	struct folder *folder = node->folder;

	if (folder)
		return folder;
	node->folder = folder = orr_alloc(sizeof(*folder));
	pool_init_among(&folder->wholes, sizeof(union whole), node->commons);
	pool_init_in(&folder->small, shapes[BLOCK_SMALL].bytes, node->store);
	pool_init_in(&folder->large, shapes[BLOCK_LARGE].bytes, node->store);
	return folder;
}

void fold_close(struct node *node)
{
	struct folder *folder = node->folder;

	if (!folder)
		return;
	pool_free(&folder->wholes);
	pool_free(&folder->small);
	pool_free(&folder->large);
	free(folder);
	node->folder = NULL;
}

struct starpu_task *fold_create(struct node *node, const struct starpu_codelet *cl,
				const struct job_ops *ops)
{
	int is_small =
		cl && cl->nbuffers >= 0 && cl->nbuffers <= (int)shapes[BLOCK_SMALL].nroom;
	unsigned char block = is_small ? BLOCK_SMALL : BLOCK_LARGE;
	struct folder *folder;
	union whole *whole;
	struct job *job;

	orr_lock(&node->pool_lock);
	folder = folder_of(node);
	whole = pool_get(&folder->wholes);
	job = pool_get(is_small ? &folder->small : &folder->large);
	job->task = NULL; /* as in job_new() */
	job->is_folded = 0;
	orr_unlock(&node->pool_lock);
	*whole = fresh;
	whole->task.destroy = 1;
	job_init(job, node, ops, room_of(job), shapes[block].nroom);
	job->block = block;
	job->task = &whole->task;
	whole->task.starpu_private = job;
	return &whole->task;
}

void fold_free(struct job *job)
{
	struct node *node = job->node;
	struct folder *folder = node->folder;

	if (job->point)
		links_forget(job);
	if (job->own_accesses)
		free(job->accesses);
	orr_lock(&node->pool_lock);
	pool_put(&folder->wholes, job->task);
	job->task = NULL;
	pool_put(job->block == BLOCK_SMALL ? &folder->small : &folder->large, job);
	orr_unlock(&node->pool_lock);
}

/* ---- words ----------------------------------------------------------- */

/* Where the words go: behind the accesses, the first one with a bit for each other. */
static uint64_t *words_of(const struct job *job)
{
	size_t naccesses = job->own_accesses ? 0 : (size_t)job->naccesses;

	return (uint64_t *)(void *)(room_of((struct job *)job) + naccesses);
}

static size_t room_words(const struct job *job)
{
	const char *end = (const char *)job + shapes[job->block].bytes;

	return (size_t)(end - (const char *)words_of(job)) / sizeof(uint64_t);
}

static inline unsigned place(unsigned bit)
{
	return bit < GAP_BEGIN ? bit : bit + GAP_WORDS;
}

/*
 * The words that differ from the usual ones, behind a word with a bit for each; 0: there
 * is room for most words only.  One at a time: they have just been written, and wider
 * reads would wait until that has reached the cache.
 */
static int note_differing(const union whole *whole, uint64_t *noted, size_t most)
{
	uint64_t differ = 0;
	size_t n = 1;

#pragma GCC unroll 64
	for (unsigned bit = 0; bit < KEPT_WORDS; bit++) {
		uint64_t word = whole->words[place(bit)];

		if (__builtin_expect(word == usual.words[place(bit)], 1))
			continue;
		if (n < most)
			noted[n] = word;
		n++;
		differ |= UINT64_C(1) << bit;
	}
	*noted = differ;
	return n <= most;
}

/* Are the handles those of the accesses, and the interfaces still to come? */
static int gap_is_known(const struct job *job, const union whole *whole)
{
	const uint64_t *words = whole->words + GAP_BEGIN;
	int n = whole->task.dyn_handles ? 0 : job->naccesses;
	uint64_t differ = 0;

	for (int i = 0; i < n; i++)
		differ |= words[i] ^ (uintptr_t)job->accesses[i].datum;
	for (int i = n; i < GAP_WORDS; i++)
		differ |= words[i];
	return !differ;
}

/* Nobody has been told of the task, can find it, or wants it after its end. */
static int is_unseen(const struct job *job, const struct starpu_task *task)
{
	return task->detach && task->destroy && !task->regenerate && !task->use_tag &&
	       !task->bundle && !task->profiling_info && !job->point &&
	       !job->contributes && !job->sched->is_told && !job->node->is_bounding &&
	       !events_on(&job->node->events);
}

void fold_away(struct job *job)
{
	union whole *whole = (union whole *)(void *)job->task;
	struct node *node = job->node;
	uint64_t *words = words_of(job);

	if (!is_unseen(job, &whole->task) || !gap_is_known(job, whole))
		return;
	whole->task.starpu_private = NULL;
	if (!note_differing(whole, words, room_words(job))) {
		whole->task.starpu_private = job;
		return;
	}
	job->task = NULL;
	job->is_folded = 1;
	orr_lock(&node->pool_lock);
	pool_put(&node->folder->wholes, whole);
	orr_unlock(&node->pool_lock);
}

static void fill(const struct job *job, union whole *whole)
{
	const uint64_t *from = words_of(job);
	uint64_t differ = *from++;
	int n;

	*whole = usual;
	for (; differ; differ &= differ - 1)
		whole->words[place((unsigned)__builtin_ctzll(differ))] = *from++;
	n = whole->task.dyn_handles ? 0 : job->naccesses;
	for (int i = 0; i < n; i++)
		whole->task.handles[i] = job->accesses[i].datum;
	whole->task.starpu_private = (void *)job;
}

/* Who places the task asks for one line after the other. */
static void expect_codelet(const struct starpu_codelet *cl)
{
	if (!cl)
		return;
	orr_bring(cl);
	orr_bring(&cl->model);
	orr_bring(&cl->cpu_funcs);
	orr_bring(&cl->cuda_funcs);
	orr_bring(&cl->nbuffers);
	orr_bring(&cl->flags);
}

void fold_out(struct job *job)
{
	struct node *node = job->node;
	union whole *whole;

	orr_lock(&node->pool_lock);
	whole = pool_get(&node->folder->wholes);
	orr_unlock(&node->pool_lock);
	fill(job, whole);
	expect_codelet(whole->task.cl);
	job->task = &whole->task;
	job->is_folded = 0;
}

void fold_look(const struct job *job, struct starpu_task *task)
{
	union whole whole;

	fill(job, &whole);
	*task = whole.task;
}
