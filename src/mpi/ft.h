/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_FT_H
#define ORR_MPI_FT_H

/*
 * ft.h - checkpoints in memory: each value twice, on two ranks.
 *
 * A checkpoint is a cut of the order of insertion.  The owner of a value copies it by a
 * task into a snapshot, which takes its turn like any other, and sends the snapshot to
 * the rank that keeps the backup; so tasks that write the value wait for a copy in
 * memory, never for the network.  Survivors go back to their snapshots; of a rank that
 * is lost, others have the backups.
 *
 * A checkpoint is complete when all backups are where they belong, which the ranks find
 * out by a tree (ft_tree.h); then an older one is not needed any more, and its buffers
 * serve the next.  A rank that has lost its memory says so in the tree: the checkpoint
 * has failed, and the older one stays.
 */
#include "base/list.h"
#include "mpi/ft_tree.h"

struct ft_checkpoint;
struct ft_map;
struct ft_waiter;

enum { FT_NOBODY = -1 };

enum ft_kind { FT_DATA, FT_VALUE };

/* What a template names; the same on all ranks. */
struct ft_entry {
	enum ft_kind kind;
	/* A datum, and the rank that keeps its backup. */
	starpu_data_handle_t handle;
	int backup;
	/* A variable of each rank, and who keeps the backup of a rank's. */
	void *value;
	size_t bytes;
	int64_t tag;
	int (*backup_of)(int rank);
};

struct ft_template {
	struct list link; /* in ft->templates */
	struct mpi *mpi;
	int id, domain;
	struct ft_entry *entries; /* owned */
	int n, room;
	struct table known; /* handles, and tags of values */
	int is_frozen, is_checked;
	uint64_t nsubmitted;

	/* Under ft->lock. */
	uint64_t failed; /* the first of those since the last restore, or 0 */
	struct ft_checkpoint *latest; /* complete, or NULL */
	struct list flying;           /* the ranks have not agreed on them yet */
	struct list idle;             /* their buffers serve again */
	struct ft_waiter *waiters;
	char *gone;          /* by rank: its part of latest is lost; NULL: of none */
	struct ft_map *maps; /* of ranks that were replaced, the newest first */
};

/* Who stands in for a rank: itself, or the one that took its place. */
struct ft_map {
	struct ft_map *older;
	int rank[];
};

/* What this rank has of one value. */
struct ft_part {
	struct ft_checkpoint *checkpoint;
	int entry, is_own;
	int peer; /* own: who keeps the backup; else: whose it is */
	starpu_data_handle_t copy;
	void *bytes; /* of a variable's copy, owned */
};

/* Of a datum, when it was submitted. */
struct ft_place {
	int owner, keeper;
};

struct ft_checkpoint {
	struct tree tree; /* first */
	struct list link;
	struct ft_template *template;
	const struct ft_map *map; /* NULL: nobody had been replaced */
	uint64_t sequence;
	int64_t number; /* of all trees: tells its messages from others */
	int is_over, is_retired;
	struct ft_place *places; /* by entry; of data only */
	int nparts;
	struct ft_part *parts; /* in the order of entries */
};

struct ft {
	struct orr_lock lock;
	struct list templates;
	int64_t ntrees;
	int is_off;
	int nlost_here; /* losses of this rank that were not restored */
	double *lose_s; /* when it will be, from ORRERY_MPI_LOSE; in order */
	int nlosses, nlost;
};

/* Makes mpi->ft.  0, or -EINVAL: it is there. */
int ft_open(struct mpi *mpi);
/* Nothing is pending.  Frees all templates. */
void ft_close(struct mpi *mpi);

struct ft_template *ft_template_new(struct mpi *mpi, int id, int domain);
struct ft_template *ft_template_find(struct mpi *mpi, int id);
/* 0, or -EINVAL with a message. */
int ft_template_add(struct ft_template *template, const struct ft_entry *entry);
void ft_template_print(const struct ft_template *template);

/* Asynchronous, all ranks at the same place of insertion; the template is frozen. */
void ft_submit(struct ft_template *template, int priority);
/* Block until all but the last nahead have been agreed on.  0; -EOWNERDEAD: one of these
 * has failed; -EDEADLK. */
int ft_wait(struct ft_template *template, int nahead);

/* This rank loses its memory now. */
void ft_lose(struct mpi *mpi);
int ft_is_lost(struct mpi *mpi);

/* ---- for ft_restore.c -------------------------------------------------- */

/* Who keeps the backup of an entry whose owner is a rank; FT_NOBODY: no other rank is
 * left. */
int ft_keeper(const struct ft_template *template, const struct ft_entry *entry, int owner,
	      const struct ft_map *map);
static inline int ft_stand_in(const struct ft_map *map, int rank)
{
	return map ? map->rank[rank] : rank;
}
/* A tag that no other transfer of this number has. */
int64_t ft_tag(const struct ft_entry *entry, int64_t number);
int ft_comm(struct mpi *mpi, const struct ft_entry *entry);

#endif
