/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_STORE_H
#define ORR_CORE_MODEL_MODEL_STORE_H

/*
 * model_store.h - which file speaks for a model, and what was read of it.
 *
 * A file is named SYMBOL.HOST.  HOST is the machine's name; in simulation, where a
 * node has none, the name of its CPU or GPU.  A file is read once per process and
 * shared by all nodes.  The model's state remembers, for each architecture of its
 * node, what its file says, so that the usual question costs no search.
 */
#include "core/model/model.h"
#include "core/model/model_file.h"
#include "core/model/model_merge.h"

/* One file, read or to be written.  Its lock guards all below it. */
struct model_file {
	struct model_file *next;
	struct orr_lock lock;
	char *name; /* SYMBOL.HOST; NULL: kept in memory only */
	struct model_data data;
	struct model_version version; /* when it was last read or written */
	int status; /* 0; -ENOENT: no such file yet; else it is unusable */
	int dirty;  /* has measurements that are not in the file */
};

/* The answer for an architecture and an implementation. */
struct model_answer {
	enum starpu_worker_archtype type;
	int devid, ncores;
	unsigned implementation;
	struct model_file *file;  /* NULL: no file has this architecture */
	struct model_arch *known; /* in file, or NULL */
	int broken;               /* its file is unusable */
	int stands_in;            /* known is of the first device of that kind */
	int nplaces;              /* the store had, when it was asked */
};

/* In sets, by key. */
enum { MODEL_MEMO_SETS = 4, MODEL_MEMOS = 4 };

/* What was said of tasks of one shape on one kind of device, while node->settings had
 * seen that many changes of measurements. */
struct model_memo {
	uint64_t key;
	unsigned nchanges;
	struct model_estimate estimate;
};

struct _starpu_perfmodel_state {
	struct _starpu_perfmodel_state *next; /* in the store */
	struct starpu_perfmodel *model;
	struct node *node; /* the answers are for this one */
	struct orr_lock lock;
	struct model_file *only; /* loaded by name: speaks for all architectures */
	int forced;              /* calibrated although nobody asked */
	int told;                /* atomic: of parameters that do not fit */
	int nanswers, capacity;
	struct model_answer *answers;
	struct model_memo memos[MODEL_MEMO_SETS]
			       [MODEL_MEMOS]; /* where durations are predicted */
	unsigned next_memo;                   /* goes next, of a set */
	int has_own;                          /* atomic */
	struct model_data own;                /* functions by devices: see model_own.h */
};

/* The state of model for node, made when there is none. */
struct _starpu_perfmodel_state *model_state(struct node *node,
					    struct starpu_perfmodel *model);
/* Forget the state; measurements stay in the store, but those of a model without a
 * symbol, which nobody would find. */
void model_state_drop(struct node *node, struct starpu_perfmodel *model);

/* What is known of model on arch.  With add, a place for measurements is made. */
struct model_answer model_find(struct node *node, struct starpu_perfmodel *model,
			       const struct starpu_perfmodel_arch *arch,
			       unsigned implementation, int add);
/*
 * Attach the file of symbol, or the file at path when symbol is NULL, to model.
 * 0; -ENOENT; -EINVAL and others when it is unusable.
 */
int model_attach(struct node *node, struct starpu_perfmodel *model, const char *symbol,
		 const char *path);
/* Path of the existing file of symbol on this node; 0 or -ENOENT. */
int model_path(struct node *node, const char *symbol, char *path, size_t bytes);
/* For a user: where the file of symbol was looked for in vain, and what is there. */
void model_absent(const struct node *node, const struct starpu_perfmodel_device *device,
		  const char *symbol, char *text, size_t bytes);
/* The name of this machine in files of measurements. */
void model_store_host(const struct node *node, char *host, size_t bytes);
/* Write the model's files that have new measurements. */
void model_save(struct node *node, struct starpu_perfmodel *model);

#endif
