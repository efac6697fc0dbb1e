/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/queue.h"

#include "base/check.h"

void queue_init(struct queue *queue, int ignores_priority)
{
	*queue = (struct queue){.ignores_priority = ignores_priority};
	orr_lock_init(&queue->lock);
}

void queue_free(struct queue *queue)
{
	for (int i = 0; i < QUEUE_LANES; i++)
		heap_free(&queue->lanes[i].others);
	levels_free(&queue->filtered);
}

static int is_filtered(const struct starpu_task *task)
{
	return task->cl->can_execute || task->workerids;
}

/* NULL: among those that are walked. */
static struct queue_lane *lane_of(struct queue *queue, const struct job *job)
{
	unsigned where = job->where & job->node->arch_mask;
	struct queue_lane *lane = queue->lanes;

	if (is_filtered(job->task))
		return NULL;
	while (lane < queue->lanes + queue->nlanes && lane->where != where)
		lane++;
	if (lane == queue->lanes + queue->nlanes) {
		if (queue->nlanes == QUEUE_LANES)
			return NULL;
		queue->nlanes++;
		lane->where = where;
	}
	return lane;
}

static int priority_of(const struct queue *queue, const struct job *job)
{
	return queue->ignores_priority ? 0 : job->task->priority;
}

void queue_push(struct queue *queue, struct job *job)
{
	void *newest;

	if (!orr_load(&queue->has_priorities) && priority_of(queue, job) != 0)
		orr_store(&queue->has_priorities, 1);
	do {
		newest = orr_load_ptr(&queue->pushed);
		job->next = newest;
	} while (!orr_cas_ptr(&queue->pushed, newest, job));
}

static void sort_in(struct queue *queue, struct job *job)
{
	int priority = priority_of(queue, job);
	struct queue_lane *lane = lane_of(queue, job);

	job->next = NULL;
	job->place.order = queue->arrival++;
	if (!lane) {
		levels_push(&queue->filtered, job, priority);
	} else if (!lane->first) {
		lane->priority = priority;
		lane->first = lane->last = job;
	} else if (lane->priority == priority) {
		lane->last->next = job;
		lane->last = job;
	} else {
		heap_push_ordered(&lane->others, &job->place, -(double)priority,
				  job->place.order);
	}
	orr_store(&queue->length, queue->length + 1);
}

/* The queue is locked; for others, see queue_is_empty(), it is not empty meanwhile. */
static void sort_all_in(struct queue *queue)
{
	struct job *newest, *oldest = NULL, *next;

	if (!orr_load_ptr(&queue->pushed))
		return;
	orr_store(&queue->length, queue->length + 1);
	for (newest = orr_swap_ptr(&queue->pushed, NULL); newest; newest = next) {
		next = newest->next;
		newest->next = oldest;
		oldest = newest;
	}
	for (; oldest; oldest = next) {
		next = oldest->next;
		sort_in(queue, oldest);
	}
	orr_store(&queue->length, queue->length - 1);
}

/* In this order: jobs leave the stack after they are counted.  Where there are some, the
 * stack is left to those who push. */
int queue_is_empty(struct queue *queue)
{
	return orr_load(&queue->length) == 0 && !orr_load_ptr(&queue->pushed) &&
	       orr_load(&queue->length) == 0;
}

static int goes_before(const struct queue *queue, const struct job *a,
		       const struct job *b)
{
	int more = priority_of(queue, a), less = priority_of(queue, b);

	return more > less || (more == less && a->place.order < b->place.order);
}

/* The lane's best job, left in place, or NULL. */
static struct job *lane_peek(const struct queue *queue, const struct queue_lane *lane)
{
	struct job *other;

	if (lane->others.count == 0)
		return lane->first;
	other = ORR_CONTAINER(lane->others.keys[0].entry, struct job, place);
	if (!lane->first || goes_before(queue, other, lane->first))
		return other;
	return lane->first;
}

static void lane_take(struct queue_lane *lane, struct job *job)
{
	if (job == lane->first)
		lane->first = job->next;
	else
		heap_remove(&lane->others, &job->place);
}

static struct job *take_best(struct queue *queue, struct worker *worker)
{
	const unsigned can_run = (unsigned)STARPU_WORKER_TO_MASK(worker->type);
	struct queue_lane *lane = NULL;
	struct job *best = NULL, *filtered = NULL;

	for (int i = 0; i < queue->nlanes; i++) {
		struct queue_lane *other = &queue->lanes[i];
		struct job *job = NULL;

		if (other->where & can_run)
			job = lane_peek(queue, other);
		if (job && (!best || goes_before(queue, job, best))) {
			best = job;
			lane = other;
		}
	}
	if (queue->filtered.n)
		filtered = levels_pop_for(&queue->filtered, worker, best,
					  best ? priority_of(queue, best) : 0);
	if (filtered)
		return filtered;
	if (best) {
		lane_take(lane, best);
		if (lane->first)
			job_expect(lane->first);
	}
	return best;
}

struct job *queue_pop(struct queue *queue, struct worker *worker)
{
	struct job *job;

	if (queue_is_empty(queue))
		return NULL;
	orr_lock(&queue->lock);
	if (orr_load(&queue->has_priorities))
		sort_all_in(queue);
	job = take_best(queue, worker);
	if (!job && orr_load_ptr(&queue->pushed)) {
		sort_all_in(queue);
		job = take_best(queue, worker);
	}
	if (job)
		orr_store(&queue->length, queue->length - 1);
	orr_unlock(&queue->lock);
	if (job)
		worker_choose_implementation(worker, job);
	return job;
}

int queue_length(struct queue *queue)
{
	if (orr_load_ptr(&queue->pushed)) {
		orr_lock(&queue->lock);
		sort_all_in(queue);
		orr_unlock(&queue->lock);
	}
	return orr_load(&queue->length);
}

void queue_drain(struct queue *queue, struct ready *jobs)
{
	struct job *job;

	if (queue_is_empty(queue))
		return;
	orr_lock(&queue->lock);
	sort_all_in(queue);
	for (int i = 0; i < queue->nlanes; i++)
		while ((job = lane_peek(queue, &queue->lanes[i]))) {
			lane_take(&queue->lanes[i], job);
			ready_append(jobs, job);
		}
	while ((job = levels_pop(&queue->filtered)))
		ready_append(jobs, job);
	orr_store(&queue->length, 0);
	orr_unlock(&queue->lock);
}
