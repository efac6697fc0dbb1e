/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_LASTING_H
#define ORR_CORE_LASTING_H

/*
 * lasting.h - what the application sets and asks while its node is not open.
 *
 * One per rank, made on first use; they outlive all lives of the library, so what is
 * set before starpu_init() holds in it, and what is asked after starpu_shutdown() is
 * answered as of the last life.  Any thread may ask for them at any time, so what the
 * application sets and asks is atomic.
 */
#include <starpu.h>

#include "core/tool.h"
#include "plat/plat.h"

struct early_tags;
struct hooks;

/* How many workers of each type and memories there are. */
struct shape {
	int nworkers_of[STARPU_NARCH], nmemories;
	int kinds[STARPU_MAXNODES]; /* enum starpu_node_kind, of the memories */
};

struct lasting {
	int default_sequential; /* of data registered from now on */
	int profiling;
	int starts_paused;              /* events are recorded from a call on */
	int nrecorded;                  /* lives whose events were */
	int next_interface_id;          /* atomic; never repeats in a process */
	int communication_tag;          /* only kept */
	uint64_t malloc_align;          /* of starpu_malloc(), a power of two */
	starpu_malloc_hook malloc_hook; /* of the application's, or NULL */
	starpu_free_hook free_hook;
	void (*watchdog_hook)(void *arg);
	void *watchdog_arg;
	int has_hypervisor; /* atomic: the application says so */
	struct tool tool;
	struct hooks *hooks;  /* of core/hooks.h; atomic, NULL: never any */
	int owns_mpi;         /* MPI was started for slaves, and is ours to end */
	int is_changing;      /* atomic: a life begins or ends */
	struct shape shape;   /* of the life that is or was last */
	struct orr_lock lock; /* of the two below */
	struct early_tags *early_tags, *early_tags_last;
	/* What the MPI layer keeps between its lives, behind its struct; or NULL. */
	void *mpi;
	void (*free_mpi)(void *mpi);
};

/* Those of the calling rank. */
struct lasting *lasting_get(void);
void lasting_free(struct lasting *lasting);

/*
 * Explicit dependencies declared without a node: kept, and given to the next node
 * when it opens.
 */
void lasting_declare_tags(struct lasting *lasting, starpu_tag_t id, unsigned ndeps,
			  const starpu_tag_t *deps);
void lasting_notify_tag(struct lasting *lasting, starpu_tag_t id);
/* Forget what was notified, or all, for this tag. */
void lasting_restart_tag(struct lasting *lasting, starpu_tag_t id);
void lasting_remove_tag(struct lasting *lasting, starpu_tag_t id);
void lasting_give_tags(struct lasting *lasting, struct node *node);

#endif
