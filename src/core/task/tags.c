/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/tags.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/bound/graph.h"
#include "core/task/task.h"
#include "core/wait.h"

struct tag {
	struct point point; /* first */
	starpu_tag_t id;
	struct node *node;
	struct list jobs; /* job_points of tasks that carry it, the last one first */
	struct tag_waiter *waiters;
	struct tag *next_reached; /* on the way to the tags after it */
	uint64_t wave;            /* of node->wave, when it was last reached */
	uint64_t level;           /* the fewest arrivals at a link that ends here */
	unsigned nlowest;         /* links that have no more arrivals */
	unsigned char had_task;
	unsigned char reached; /* tags_wait() need not wait */
	unsigned char heard;   /* a wait has ended since it was reached last */
	unsigned char again;   /* its task has regenerated: a wait is for one run */
};

struct tag_waiter {
	struct tag_waiter *next;
	struct plat_gate gate;
};

static struct tag *tag_at(struct point *point)
{
	return ORR_CONTAINER(point, struct tag, point);
}

/* Links are locked. */
static struct tag *tag_of(struct node *node, starpu_tag_t id)
{
	struct tag *tag = table_get(&node->tags, id);

	if (!tag) {
		tag = orr_alloc(sizeof(*tag));
		*tag = (struct tag){.id = id, .node = node};
		point_init(&tag->point, 1);
		list_init(&tag->jobs);
		table_put(&node->tags, id, tag);
	}
	return tag;
}

/* ---- threads that wait ----------------------------------------------- */

static void wake_waiters(struct tag *tag)
{
	struct tag_waiter *waiter = tag->waiters;

	tag->waiters = NULL;
	while (waiter) {
		struct tag_waiter *next = waiter->next;

		plat_gate_open(tag->node->plat, &waiter->gate);
		waiter = next;
	}
}

static void reach(struct tag *tag)
{
	tag->reached = 1;
	tag->heard = tag->waiters != NULL;
	wake_waiters(tag);
}

/* ---- tags that no task has carried ----------------------------------- */

/* Find the fewest arrivals anew: all links have more than there were. */
static void find_level(struct tag *tag)
{
	tag->level = UINT64_MAX;
	tag->nlowest = 0;
	for (struct list *at = tag->point.in.next; at != &tag->point.in; at = at->next) {
		uint64_t arrivals = LIST_ENTRY(at, struct link, in)->arrivals;

		if (arrivals > tag->level)
			continue;
		if (arrivals < tag->level)
			tag->nlowest = 0;
		tag->level = arrivals;
		tag->nlowest++;
	}
	if (tag->nlowest == 0)
		tag->level = 0;
}

/* One more arrival; 1 when it was the last one needed to reach the tag once more. */
static int arrive(struct link *link)
{
	struct tag *tag = tag_at(link->to);

	if (tag->had_task || link->arrivals++ > tag->level || --tag->nlowest > 0)
		return 0;
	find_level(tag);
	if (tag->wave == tag->node->wave)
		return 0; /* A cycle. */
	tag->wave = tag->node->wave;
	return 1;
}

/* tag is reached without a task, and then perhaps tags after it, and so on. */
static void reach_on(struct tag *tag)
{
	struct tag *last = tag;

	tag->next_reached = NULL;
	for (; tag; tag = tag->next_reached) {
		reach(tag);
		for (struct list *at = tag->point.out.next; at != &tag->point.out;
		     at = at->next) {
			struct link *link = LIST_ENTRY(at, struct link, out);

			if (!arrive(link))
				continue;
			last->next_reached = tag_at(link->to);
			last = last->next_reached;
			last->next_reached = NULL;
		}
	}
}

void tags_arrival(struct link *link)
{
	struct tag *tag = tag_at(link->to);

	tag->node->wave++;
	if (arrive(link))
		reach_on(tag);
}

void tags_drop_link(struct link *link)
{
	struct tag *tag = tag_at(link->to);
	uint64_t arrivals = link->arrivals;

	if (tag->had_task || arrivals > tag->level)
		return;
	/* As if it had brought all that the others brought. */
	link->arrivals = UINT64_MAX;
	if (--tag->nlowest > 0)
		return;
	find_level(tag);
	tag->node->wave++;
	tag->wave = tag->node->wave;
	reach_on(tag);
}

/* ---- tags and their tasks -------------------------------------------- */

void tags_detach(struct job_point *point)
{
	if (!point->tag)
		return;
	list_remove(&point->attached);
	point->tag = NULL;
}

void tags_attach(struct job *job, int again)
{
	struct tag *tag = tag_of(job->node, job->task->tag_id);
	struct job_point *point = job_point_of(job);

	tags_detach(point);
	point->tag = tag;
	list_push_front(&tag->jobs, &point->attached);
	tag->had_task = 1;
	tag->point.done = 0;
	tag->again = (unsigned char)again;
	if (!again || tag->heard)
		tag->reached = 0;
	point->gated = tag->point.missing > 0 || point_arm(&tag->point) > 0;
	if (point->gated)
		orr_add(&job->missing, 1);
}

void tags_open_gate(struct point *point, struct ready *ready)
{
	struct tag *tag = tag_at(point);

	for (struct list *at = tag->jobs.next; at != &tag->jobs; at = at->next) {
		struct job_point *waiting = LIST_ENTRY(at, struct job_point, attached);

		if (!waiting->gated)
			continue;
		waiting->gated = 0;
		job_satisfy(waiting->job, ready);
	}
}

void tags_waiting(struct point *point, void (*say)(void *arg, struct job *job), void *arg)
{
	struct tag *tag = tag_at(point);

	for (struct list *at = tag->jobs.next; at != &tag->jobs; at = at->next) {
		struct job_point *waiting = LIST_ENTRY(at, struct job_point, attached);

		if (waiting->gated)
			say(arg, waiting->job);
	}
}

void tags_followers(struct tag *tag, void (*say)(void *arg, struct job *after), void *arg)
{
	if (!tag->point.done)
		point_followers(&tag->point, say, arg);
}

/* Somebody who knows says that the tag is done. */
static void happen(struct tag *tag, struct ready *ready)
{
	reach(tag);
	point_fire(&tag->point, ready);
}

void tags_task_ended(struct tag *tag, struct ready *ready)
{
	if (!tag->point.done)
		happen(tag, ready);
}

/* ---- what the application declares ----------------------------------- */

static void declare(struct tag *tag, struct tag *before)
{
	struct link *link = link_new(tag->node, &before->point, &tag->point);

	/* A task that waits already waits for this, too. */
	if (tag->point.missing > 0) {
		link->awaited = !link->past;
		tag->point.missing += link->awaited;
	}
	link->arrivals = link->past || before->reached;
	if (link->arrivals < tag->level || tag->nlowest == 0) {
		tag->level = link->arrivals;
		tag->nlowest = 1;
	} else if (link->arrivals == tag->level) {
		tag->nlowest++;
	}
}

void tags_declare_deps(struct node *node, starpu_tag_t id, unsigned ndeps,
		       const starpu_tag_t *deps)
{
	struct tag *tag;

	orr_lock(&node->links_lock);
	tag = tag_of(node, id);
	if (orr_load(&node->is_bounding))
		graph_declare_tags(node, id, ndeps, deps);
	for (unsigned i = 0; i < ndeps; i++) {
		if (deps[i] == id)
			orr_die(node->rank, "tag %llu cannot depend on itself",
				(unsigned long long)id);
		declare(tag, tag_of(node, deps[i]));
		event_tell(node, NULL,
			   (struct event){
				   .kind = EVENT_TAG_LINKED, .id = id, .value = deps[i]});
	}
	if (!tag->had_task && tag->level > 0 && !tag->reached) {
		tag->wave = ++node->wave;
		reach_on(tag);
	}
	orr_unlock(&node->links_lock);
}

static void undo(struct tag *tag)
{
	tag->point.done = 0;
	tag->reached = 0;
}

static void notify(struct node *node, starpu_tag_t id, int restarts)
{
	struct ready ready = {0};
	struct tag *tag;

	orr_lock(&node->links_lock);
	tag = tag_of(node, id);
	if (!tag->point.done)
		happen(tag, &ready);
	if (restarts)
		undo(tag);
	orr_unlock(&node->links_lock);
	ready_run(node, &ready);
}

void tags_notify_from_apps(struct node *node, starpu_tag_t id)
{
	notify(node, id, 0);
}

void tags_notify_restart(struct node *node, starpu_tag_t id)
{
	notify(node, id, 1);
}

void tags_restart(struct node *node, starpu_tag_t id)
{
	orr_lock(&node->links_lock);
	undo(tag_of(node, id));
	orr_unlock(&node->links_lock);
}

/* 1 when the tag was reached, else the waiter is enqueued. */
static int wait_or_pass(struct node *node, starpu_tag_t id, struct tag_waiter *waiter)
{
	struct tag *tag;
	int reached;

	plat_gate_init(&waiter->gate);
	orr_lock(&node->links_lock);
	tag = tag_of(node, id);
	reached = tag->reached;
	if (!reached) {
		waiter->next = tag->waiters;
		tag->waiters = waiter;
	} else if (tag->again && !tag->point.done) {
		tag->reached = 0; /* That was the run before. */
	} else {
		tag->heard = 1;
	}
	orr_unlock(&node->links_lock);
	return reached;
}

/* The wait has failed: nobody may open the gate any more. */
static void forget_waiter(struct node *node, starpu_tag_t id, struct tag_waiter *waiter)
{
	struct tag_waiter **at;
	struct tag *tag;

	orr_lock(&node->links_lock);
	tag = tag_of(node, id);
	for (at = &tag->waiters; *at && *at != waiter;)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
	orr_unlock(&node->links_lock);
}

int tags_wait(struct node *node, unsigned ntags, const starpu_tag_t *ids)
{
	for (unsigned i = 0; i < ntags; i++) {
		struct tag_waiter waiter = {0};
		int ret;

		if (wait_or_pass(node, ids[i], &waiter))
			continue;
		ret = wait_at(node, &waiter.gate, WAIT_TAG, &ids[i]);
		if (ret < 0) {
			forget_waiter(node, ids[i], &waiter);
			return ret;
		}
	}
	return 0;
}

static void free_tag(struct tag *tag, struct ready *ready)
{
	tags_open_gate(&tag->point, ready);
	while (!list_is_empty(&tag->jobs))
		tags_detach(LIST_ENTRY(tag->jobs.next, struct job_point, attached));
	point_clear(tag->node, &tag->point, ready);
	wake_waiters(tag);
	free(tag);
}

void tags_remove(struct node *node, starpu_tag_t id)
{
	struct ready ready = {0};
	struct tag *tag;

	orr_lock(&node->links_lock);
	tag = table_remove(&node->tags, id);
	if (tag)
		free_tag(tag, &ready);
	orr_unlock(&node->links_lock);
	ready_run(node, &ready);
}

static void free_all(struct node *node, struct ready *ready)
{
	size_t cursor = 0;
	struct tag *tag;

	orr_lock(&node->links_lock);
	while ((tag = table_next(&node->tags, &cursor)))
		free_tag(tag, ready);
	table_free(&node->tags);
	orr_unlock(&node->links_lock);
}

void tags_clear(struct node *node)
{
	struct ready ready = {0};

	free_all(node, &ready);
	ready_run(node, &ready);
}

void tags_close(struct node *node)
{
	struct ready never = {0};

	free_all(node, &never);
}

/* The job that carries the tag, or carried it last, or NULL. */
static const struct job *carrier(const struct tag *tag)
{
	if (list_is_empty(&tag->jobs))
		return NULL;
	return LIST_ENTRY(tag->jobs.next, struct job_point, attached)->job;
}

struct starpu_task *tags_task(struct node *node, starpu_tag_t id)
{
	const struct job *job;
	struct tag *tag;

	orr_lock(&node->links_lock);
	tag = table_get(&node->tags, id);
	job = tag ? carrier(tag) : NULL;
	orr_unlock(&node->links_lock);
	return job ? job->task : NULL;
}

/* ---- saying what is missing ------------------------------------------ */

static int is_pending(const struct job *job)
{
	return job && job->life == LIFE_SUBMITTED;
}

static void name_tag(const struct tag *tag, char *text, size_t bytes)
{
	const struct job *job = carrier(tag);

	if (is_pending(job))
		snprintf(text, bytes, "tag %llu (of task \"%.80s\", %lu)",
			 (unsigned long long)tag->id, task_name(job->task),
			 (unsigned long)job->id);
	else
		snprintf(text, bytes,
			 "tag %llu, which no submitted task carries and which "
			 "starpu_tag_notify_from_apps() has not marked",
			 (unsigned long long)tag->id);
}

void tags_name(struct node *node, starpu_tag_t id, char *text, size_t bytes)
{
	const struct tag *tag;

	orr_lock(&node->links_lock);
	tag = table_get(&node->tags, id);
	if (tag)
		name_tag(tag, text, bytes);
	else
		snprintf(text, bytes, "tag %llu, which has been removed",
			 (unsigned long long)id);
	orr_unlock(&node->links_lock);
}

static void describe_links(const struct tag *before,
			   void (*say)(void *arg, const char *line), void *arg)
{
	char name[200], other[200], text[440];

	for (struct list *at = before->point.out.next; at != &before->point.out;
	     at = at->next) {
		const struct link *link = LIST_ENTRY(at, struct link, out);
		const struct tag *after = tag_at(link->to);

		if (is_pending(carrier(after)) ? !link->awaited : after->reached)
			continue;
		name_tag(before, other, sizeof(other));
		if (is_pending(carrier(after)))
			name_tag(after, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "tag %llu",
				 (unsigned long long)after->id);
		snprintf(text, sizeof(text), "%s waits for %s", name, other);
		say(arg, text);
	}
}

void tags_describe(struct node *node, void (*say)(void *arg, const char *line), void *arg)
{
	const struct tag *tag;
	size_t cursor = 0;

	orr_lock(&node->links_lock);
	while ((tag = table_next(&node->tags, &cursor)))
		if (!tag->point.done)
			describe_links(tag, say, arg);
	orr_unlock(&node->links_lock);
}
