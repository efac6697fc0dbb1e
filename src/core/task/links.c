/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/links.h"

#include <limits.h>

#include "base/check.h"
#include "core/bound/graph.h"
#include "core/task/tags.h"
#include "core/task/task.h"

static struct job_point *job_point(struct point *point)
{
	return ORR_CONTAINER(point, struct job_point, point);
}

void point_init(struct point *point, int is_tag)
{
	*point = (struct point){.is_tag = (unsigned char)is_tag};
	list_init(&point->in);
	list_init(&point->out);
}

struct job_point *job_point_of(struct job *job)
{
	struct node *node = job->node;
	struct job_point *made;

	if (job->point)
		return job->point;
	if (!node->point_pool.object_bytes)
		pool_init_among(&node->point_pool, sizeof(*made), node->commons);
	made = pool_get(&node->point_pool);
	*made = (struct job_point){.job = job};
	point_init(&made->point, 0);
	/* Who ends the run looks for the point under the job's lock only. */
	orr_lock(&job->lock);
	made->point.done = job->life >= LIFE_ENDING;
	job->point = made;
	orr_unlock(&job->lock);
	return made;
}

struct link *link_new(struct node *node, struct point *from, struct point *to)
{
	struct link *link;

	if (!node->link_pool.object_bytes)
		pool_init_among(&node->link_pool, sizeof(*link), node->commons);
	link = pool_get(&node->link_pool);
	*link = (struct link){.from = from, .to = to, .past = from->done};
	list_push_back(&from->out, &link->out);
	list_push_back(&to->in, &link->in);
	return link;
}

static void link_free(struct node *node, struct link *link)
{
	list_remove(&link->in);
	list_remove(&link->out);
	pool_put(&node->link_pool, link);
}

/* Whether the run that begins has to wait for this link. */
static int link_await(struct link *link)
{
	if (link->spare > 0) {
		link->spare--;
		return 0;
	}
	if (link->past && link->from->done)
		return 0;
	link->past = 0;
	link->awaited = 1;
	return 1;
}

int point_arm(struct point *point)
{
	for (struct list *at = point->in.next; at != &point->in; at = at->next) {
		struct link *link = LIST_ENTRY(at, struct link, in);

		if (link->awaited || !link_await(link))
			continue;
		if (link->at_end)
			orr_add(&job_point(point)->job->end_deps, 1);
		else
			point->missing++;
	}
	return point->missing;
}

/* The occurrence that a submitted task waits for has come, or never will. */
static void link_settle(struct link *link, struct ready *ready)
{
	struct point *to = link->to;

	link->awaited = 0;
	if (link->at_end) {
		job_end_dep_release(job_point(to)->job, ready);
		return;
	}
	if (--to->missing > 0)
		return;
	if (to->is_tag)
		tags_open_gate(to, ready);
	else
		job_satisfy(job_point(to)->job, ready);
}

void point_fire(struct point *point, struct ready *ready)
{
	point->done = 1;
	for (struct list *at = point->out.next; at != &point->out; at = at->next) {
		struct link *link = LIST_ENTRY(at, struct link, out);

		link->past = 0;
		if (link->awaited)
			link_settle(link, ready);
		else if (link->spare < UINT_MAX)
			link->spare++;
		if (link->to->is_tag)
			tags_arrival(link);
	}
}

void point_clear(struct node *node, struct point *point, struct ready *ready)
{
	while (!list_is_empty(&point->in))
		link_free(node, LIST_ENTRY(point->in.next, struct link, in));
	while (!list_is_empty(&point->out)) {
		struct link *link = LIST_ENTRY(point->out.next, struct link, out);

		if (link->awaited)
			link_settle(link, ready);
		if (link->to->is_tag)
			tags_drop_link(link);
		link_free(node, link);
	}
}

/* ---- between tasks --------------------------------------------------- */

static void check_declaration(struct job *after, struct job *before, int at_end)
{
	int rank = after->node->rank;

	if (after == before)
		orr_die(rank, "task \"%s\" cannot depend on itself",
			task_name(after->task));
	if (!at_end && after->life == LIFE_SUBMITTED)
		orr_die(rank,
			"task \"%s\" is submitted already: declare what it waits for "
			"before its submission",
			task_name(after->task));
}

void links_declare(struct job *after, struct job *before, int at_end)
{
	struct node *node = after->node;
	struct job_point *to;
	struct link *link;

	check_declaration(after, before, at_end);
	orr_lock(&node->links_lock);
	to = job_point_of(after);
	link = link_new(node, &job_point_of(before)->point, &to->point);
	link->at_end = (unsigned char)at_end;
	/* A task may add to what its end waits for while it runs. */
	if (at_end && after->life == LIFE_SUBMITTED && link_await(link))
		orr_add(&after->end_deps, 1);
	if (!at_end && orr_load(&node->is_bounding))
		graph_declare(after, before);
	if (!at_end)
		event_tell(node, NULL,
			   (struct event){.kind = EVENT_TASK_LINKED,
					  .n = before->id != 0,
					  .id = (uintptr_t)after,
					  .value = (uintptr_t)before});
	orr_unlock(&node->links_lock);
}

void links_arm(struct job *job, int again)
{
	struct node *node = job->node;

	orr_lock(&node->links_lock);
	if (job->task->use_tag)
		tags_attach(job, again);
	else if (job->point->tag)
		tags_detach(job->point);
	job->point->point.done = 0;
	if (point_arm(&job->point->point) > 0)
		orr_add(&job->missing, 1);
	orr_unlock(&node->links_lock);
}

void links_fire(struct job *job, struct ready *ready)
{
	struct node *node = job->node;
	struct job_point *point = job->point;

	orr_lock(&node->links_lock);
	orr_lock(&job->lock);
	job->life = LIFE_ENDING;
	orr_unlock(&job->lock);
	point_fire(&point->point, ready);
	if (point->tag)
		tags_task_ended(point->tag, ready);
	orr_unlock(&node->links_lock);
}

/* A task that never ran is waited for: who waits goes on, and we say so. */
static void tell_lost_links(struct job *job)
{
	const struct point *point = &job->point->point;

	for (struct list *at = point->out.next; at != &point->out; at = at->next) {
		struct link *link = LIST_ENTRY(at, struct link, out);

		if (!link->awaited || link->to->is_tag || point->done)
			continue;
		orr_complain(job->node->rank,
			     "task \"%s\" is destroyed while task \"%s\" waits for its "
			     "end: the latter goes on; destroy tasks after their end",
			     task_name(job->task),
			     task_name(job_point(link->to)->job->task));
	}
}

void links_forget(struct job *job)
{
	struct node *node = job->node;
	struct job_point *point = job->point;
	struct ready ready = {0};

	if (orr_load(&node->is_bounding))
		graph_forget_job(job);
	orr_lock(&node->links_lock);
	tell_lost_links(job);
	tags_detach(point);
	point_clear(node, &point->point, &ready);
	job->point = NULL;
	pool_put(&node->point_pool, point);
	orr_unlock(&node->links_lock);
	ready_run(node, &ready);
}

void links_describe(struct job *job, void (*say)(void *arg, struct job *after), void *arg)
{
	struct node *node = job->node;

	if (!job->point || !orr_trylock(&node->links_lock))
		return;
	for (struct list *at = job->point->point.out.next; at != &job->point->point.out;
	     at = at->next) {
		struct link *link = LIST_ENTRY(at, struct link, out);

		if (link->awaited)
			say(arg, job_point(link->to)->job);
	}
	orr_unlock(&node->links_lock);
}

void point_followers(const struct point *point, void (*say)(void *arg, struct job *after),
		     void *arg)
{
	for (const struct list *at = point->out.next; at != &point->out; at = at->next) {
		const struct link *link = LIST_ENTRY(at, struct link, out);

		if (!link->awaited || link->at_end || link->to->missing != 1)
			continue;
		if (link->to->is_tag)
			tags_waiting(link->to, say, arg);
		else
			say(arg, job_point(link->to)->job);
	}
}

void links_followers(struct job *job, void (*say)(void *arg, struct job *after),
		     void *arg)
{
	struct node *node = job->node;

	if (!job->point)
		return;
	orr_lock(&node->links_lock);
	point_followers(&job->point->point, say, arg);
	if (job->point->tag)
		tags_followers(job->point->tag, say, arg);
	orr_unlock(&node->links_lock);
}

unsigned links_successors(struct job *job, unsigned n, struct starpu_task **tasks,
			  int submitted_only)
{
	struct node *node = job->node;
	unsigned count = 0;

	orr_lock(&node->links_lock);
	for (struct list *at = job->point ? job->point->point.out.next : NULL;
	     at && at != &job->point->point.out; at = at->next) {
		struct link *link = LIST_ENTRY(at, struct link, out);
		struct job *after = job_point(link->to)->job;

		if (link->at_end || (submitted_only && after->life != LIFE_SUBMITTED))
			continue;
		if (count < n)
			tasks[count] = after->task;
		count++;
	}
	orr_unlock(&node->links_lock);
	return count;
}
