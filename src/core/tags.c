/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/tags.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/task.h"
#include "core/wait.h"

/*
 * One lock for all tags of a node: explicit tags are a convenience, the fast path is
 * implicit dependencies.
 */

struct tag_link {
	struct tag_link *next;
	struct tag *tag;
};

struct tag {
	starpu_tag_t id;
	struct job *job;             /* its task, until that ends */
	struct starpu_task *task;    /* as last attached, for starpu_tag_get_task() */
	struct tag_link *successors; /* tags that wait for this one */
	int missing;                 /* tags that this one waits for */
	int done;
	int job_waits; /* job->missing counts this tag's missing ones, once */
	struct tag_waiter *waiters;
};

struct tag_waiter {
	struct tag_waiter *next;
	struct plat_gate gate;
};

/* Tags are locked.  Keys of the table may not be told apart from their mix by 0. */
static struct tag *tag_of(struct node *node, starpu_tag_t id)
{
	struct tag *tag = table_get(&node->tags, id);

	if (!tag) {
		tag = orr_alloc(sizeof(*tag));
		tag->id = id;
		table_put(&node->tags, id, tag);
	}
	return tag;
}

void tags_attach(struct node *node, struct job *job)
{
	struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = tag_of(node, job->task->tag_id);
	tag->job = job;
	tag->task = job->task;
	tag->done = 0;
	job->tag = tag;
	if (tag->missing > 0) {
		tag->job_waits = 1;
		orr_add(&job->missing, 1);
	}
	orr_unlock(&node->tags_lock);
}

/* Tags are locked: wake who waits, count down who depends. */
static void complete(struct node *node, struct tag *tag, struct ready *ready)
{
	struct tag_waiter *waiter = tag->waiters;

	tag->done = 1;
	tag->waiters = NULL;
	while (waiter) {
		struct tag_waiter *next = waiter->next;

		plat_gate_open(node->plat, &waiter->gate);
		waiter = next;
	}
	for (struct tag_link *link = tag->successors; link; link = link->next) {
		struct tag *after = link->tag;

		if (after->missing == 0 || --after->missing > 0)
			continue;
		if (after->job && after->job_waits) {
			after->job_waits = 0;
			job_satisfy(after->job, ready);
		} else if (!after->job && !after->done) {
			complete(node, after, ready);
		}
	}
}

void tags_notify(struct node *node, struct tag *tag, struct ready *ready)
{
	orr_lock(&node->tags_lock);
	if (tag->job)
		tag->job->tag = NULL;
	tag->job = NULL;
	complete(node, tag, ready);
	orr_unlock(&node->tags_lock);
}

void tags_declare_deps(struct node *node, starpu_tag_t id, unsigned ndeps,
		       const starpu_tag_t *deps)
{
	struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = tag_of(node, id);
	for (unsigned i = 0; i < ndeps; i++) {
		struct tag *before = tag_of(node, deps[i]);
		struct tag_link *link;

		if (before == tag)
			orr_die(node->rank, "tag %llu cannot depend on itself",
				(unsigned long long)id);
		link = orr_alloc(sizeof(*link));
		*link = (struct tag_link){before->successors, tag};
		before->successors = link;
		if (!before->done)
			tag->missing++;
	}
	orr_unlock(&node->tags_lock);
}

void tags_notify_from_apps(struct node *node, starpu_tag_t id)
{
	struct ready ready = {0};
	struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = tag_of(node, id);
	if (!tag->done)
		complete(node, tag, &ready);
	orr_unlock(&node->tags_lock);
	ready_run(node, &ready);
}

int tags_wait(struct node *node, unsigned ntags, const starpu_tag_t *ids)
{
	for (unsigned i = 0; i < ntags; i++) {
		struct tag_waiter waiter = {0};
		struct tag *tag;
		int done, ret;

		plat_gate_init(&waiter.gate);
		orr_lock(&node->tags_lock);
		tag = tag_of(node, ids[i]);
		done = tag->done;
		if (!done) {
			waiter.next = tag->waiters;
			tag->waiters = &waiter;
		}
		orr_unlock(&node->tags_lock);
		ret = done ? 0 : wait_at(node, &waiter.gate, WAIT_TAG, &ids[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

void tags_restart(struct node *node, starpu_tag_t id)
{
	orr_lock(&node->tags_lock);
	tag_of(node, id)->done = 0;
	orr_unlock(&node->tags_lock);
}

static void free_tag(struct tag *tag)
{
	while (tag->successors) {
		struct tag_link *link = tag->successors;

		tag->successors = link->next;
		free(link);
	}
	if (tag->job)
		tag->job->tag = NULL;
	free(tag);
}

void tags_remove(struct node *node, starpu_tag_t id)
{
	struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = table_remove(&node->tags, id);
	orr_unlock(&node->tags_lock);
	if (tag)
		free_tag(tag);
}

void tags_clear(struct node *node)
{
	size_t cursor = 0;
	struct tag *tag;

	orr_lock(&node->tags_lock);
	while ((tag = table_next(&node->tags, &cursor)))
		free_tag(tag);
	table_free(&node->tags);
	orr_unlock(&node->tags_lock);
}

struct starpu_task *tags_task(struct node *node, starpu_tag_t id)
{
	struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = table_get(&node->tags, id);
	orr_unlock(&node->tags_lock);
	return tag ? tag->task : NULL;
}

/* ---- saying what is missing ------------------------------------------ */

static void name_tag(const struct tag *tag, char *text, size_t bytes)
{
	if (tag->job)
		snprintf(text, bytes, "tag %llu (of task \"%.80s\", %lu)",
			 (unsigned long long)tag->id, task_name(tag->job->task),
			 tag->job->id);
	else
		snprintf(text, bytes,
			 "tag %llu, which no submitted task carries and which "
			 "starpu_tag_notify_from_apps() has not marked",
			 (unsigned long long)tag->id);
}

void tags_name(struct node *node, starpu_tag_t id, char *text, size_t bytes)
{
	const struct tag *tag;

	orr_lock(&node->tags_lock);
	tag = table_get(&node->tags, id);
	if (tag)
		name_tag(tag, text, bytes);
	else
		snprintf(text, bytes, "tag %llu, which has been removed",
			 (unsigned long long)id);
	orr_unlock(&node->tags_lock);
}

static void describe_links(const struct tag *before,
			   void (*say)(void *arg, const char *line), void *arg)
{
	char name[200], other[200], text[440];

	for (const struct tag_link *link = before->successors; link; link = link->next) {
		if (link->tag->missing == 0 || link->tag->done)
			continue;
		name_tag(before, other, sizeof(other));
		if (link->tag->job)
			name_tag(link->tag, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "tag %llu",
				 (unsigned long long)link->tag->id);
		snprintf(text, sizeof(text), "%s waits for %s", name, other);
		say(arg, text);
	}
}

void tags_describe(struct node *node, void (*say)(void *arg, const char *line), void *arg)
{
	const struct tag *tag;
	size_t cursor = 0;

	orr_lock(&node->tags_lock);
	while ((tag = table_next(&node->tags, &cursor)))
		if (!tag->done)
			describe_links(tag, say, arg);
	orr_unlock(&node->tags_lock);
}
