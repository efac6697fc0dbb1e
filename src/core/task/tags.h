/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_TAGS_H
#define ORR_CORE_TASK_TAGS_H

/*
 * tags.h - explicit dependencies by number (starpu_tag_t).
 *
 * A tag is made on first mention and lives until it is removed.  It happens when its
 * task has ended, or when the application says so; see links.h for what follows.
 *
 * A tag that no task has carried yet may get one any time, so what it waits for says
 * nothing to tasks that wait for it; but threads in tags_wait() are satisfied when all
 * that it waits for has happened, and so are such tags after it.
 */
#include "core/task/links.h"

void tags_declare_deps(struct node *node, starpu_tag_t id, unsigned ndeps,
		       const starpu_tag_t *deps);
/* The application marks the tag done, unless it is. */
void tags_notify_from_apps(struct node *node, starpu_tag_t id);
/* The same, but the tag is to happen again; one that is done only becomes undone. */
void tags_notify_restart(struct node *node, starpu_tag_t id);
/* Block the calling user thread until all are done. */
int tags_wait(struct node *node, unsigned ntags, const starpu_tag_t *ids);
void tags_restart(struct node *node, starpu_tag_t id);
/* Any time: who waits for the tag need not any more. */
void tags_remove(struct node *node, starpu_tag_t id);
void tags_clear(struct node *node);
/* At the end of the node: what waited for them will never run. */
void tags_close(struct node *node);
/* "tag 7 (of task ...)", for messages. */
void tags_name(struct node *node, starpu_tag_t id, char *text, size_t bytes);
/* Which tags wait for which, line by line; tags are locked meanwhile. */
void tags_describe(struct node *node, void (*say)(void *arg, const char *line),
		   void *arg);
/* The task that carries the tag, or carried it last. */
struct starpu_task *tags_task(struct node *node, starpu_tag_t id);

/* ---- for links.c: links are locked ------------------------------------ */

/* The task of job is submitted: it completes its tag, and waits for what that needs. */
void tags_attach(struct job *job, int again);
/* The task carries no tag any more, or goes away. */
void tags_detach(struct job_point *point);
/* All that the tag's tasks wait for has happened. */
void tags_open_gate(struct point *point, struct ready *ready);
/* Tell the tasks that wait for the tag's gate; those that wait for the tag alone. */
void tags_waiting(struct point *point, void (*say)(void *arg, struct job *job),
		  void *arg);
void tags_followers(struct tag *tag, void (*say)(void *arg, struct job *after),
		    void *arg);
/* A task that carries the tag has ended. */
void tags_task_ended(struct tag *tag, struct ready *ready);
/* A link to a tag has carried something, or goes away. */
void tags_arrival(struct link *link);
void tags_drop_link(struct link *link);

#endif
