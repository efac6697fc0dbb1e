/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TAGS_H
#define ORR_CORE_TAGS_H

/*
 * tags.h - explicit dependencies by number (starpu_tag_t).
 *
 * A tag is made on first mention and lives until it is removed.  It is done when its
 * task has ended, or when the application says so; what depends on it may start then.
 */
#include "core/job.h"

/* The task of job completes tag job->task->tag_id, and waits for what that needs. */
void tags_attach(struct node *node, struct job *job);
/* The task of a tag has ended. */
void tags_notify(struct node *node, struct tag *tag, struct ready *ready);
void tags_declare_deps(struct node *node, starpu_tag_t id, unsigned ndeps,
		       const starpu_tag_t *deps);
/* The application marks the tag done. */
void tags_notify_from_apps(struct node *node, starpu_tag_t id);
/* Block the calling user thread until all are done. */
int tags_wait(struct node *node, unsigned ntags, const starpu_tag_t *ids);
void tags_restart(struct node *node, starpu_tag_t id);
void tags_remove(struct node *node, starpu_tag_t id);
void tags_clear(struct node *node);
/* "tag 7 (of task ...)", for messages. */
void tags_name(struct node *node, starpu_tag_t id, char *text, size_t bytes);
/* Which tags wait for which, line by line; tags are locked meanwhile. */
void tags_describe(struct node *node, void (*say)(void *arg, const char *line),
		   void *arg);
struct starpu_task *tags_task(struct node *node, starpu_tag_t id);

#endif
