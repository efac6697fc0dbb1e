/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_INSERT_H
#define ORR_MPI_INSERT_H

/*
 * insert.h - tasks of the distributed graph: what this rank has to do for each.
 *
 * Every rank calls for every task.  Most calls concern others: those leave after one
 * look at each handle, without lock, allocation or walk over ranks.
 *
 * Transfers carry their ordinal among those that insertion makes for the same pair of
 * ranks.  Ranks that insert the same tasks in the same order count alike, also when calls
 * are left out that do not concern a rank.  A difference is no error, as the order of
 * independent tasks is free; it explains an error that shows otherwise.
 */
#include <stdarg.h>

#include "core/data/data.h"

struct mpi;
struct post;
struct request;

struct insertion {
	struct orr_lock lock;
	/* Held by who notes that values travel until they are posted (turn.c); who does,
	 * who did so first, and whether another one did so, too. */
	struct orr_lock turn;
	int several;
	void *mover, *first;
	int nreading;                           /* see insert_begin_reading() */
	int nhalves;                            /* see insert_count_halves(); atomic */
	struct table ordinals;                  /* by peer: struct ordinals */
	struct ordinals *recent;                /* those asked for last, or NULL */
	void (*hook)(struct starpu_task *task); /* before submission; may be NULL */
	int is_charged;                         /* insertion takes simulated time: */
	double charge_s[2];                     /* of a task elsewhere, of one here, */
	double datum_s;                         /* and of each datum of the latter; */
	double exchange_s;                      /* of a value that is sent or received */
	/* Of starpu_mpi_task_build() without starpu_mpi_task_post_build(): data that are
	 * written and concern this rank (atomic), and the last such task. */
	int nowed;
	char owing[48];
	/* A task was placed by sizes that ranks may not agree on: what to say, or NULL;
	 * atomic. */
	char *guess;
};

/* To be added to what is said of different graphs: what may have made them differ, of
 * what happened here; or "". */
const char *insert_more_words(struct mpi *mpi);

struct exchange;

/* The data of the task have several owners, and the sizes decided which one executes. */
void insert_note_sizes(struct mpi *mpi, const struct exchange *task);

/* The data of a task that is not described by an argument list. */
struct exchange {
	struct starpu_data_descr *data;
	int ndata, priority;
	int executor; /* in: -1 or forced; out: the rank, or PLAN_EVERYWHERE */
	const char *name;
};

void insertion_init(struct mpi *mpi);
void insertion_free(struct mpi *mpi);

/* As starpu_mpi_tasks_insert(), whose name is func: n ranks execute it (replicas.c). */
struct replicas {
	const int *ranks;
	int n;
	const char *func;
};
int insert_replicas(struct mpi *mpi, int comm, struct starpu_codelet *cl,
		    const struct replicas *replicas, va_list list);
/* The two halves of an insertion; *task is NULL where the task does not execute. */
int insert_build(struct mpi *mpi, int comm, struct starpu_codelet *cl, va_list list,
		 struct starpu_task **task);
int insert_post_build(struct mpi *mpi, int comm, struct starpu_codelet *cl, va_list list);
/*
 * Data of first halves whose second ones are to come: what they have received stays until
 * then.  Counted on all ranks, and with cache, too, as each may be different by then.
 */
void insert_count_halves(struct mpi *mpi, int ndata);
int insert_has_halves(struct mpi *mpi);
/* Say which halves are missing, when all has ended. */
void insert_check_built(struct mpi *mpi);
/* Transfers before and after a task; the first chooses the executor, 0 or -EINVAL. */
int insert_before(struct mpi *mpi, int comm, struct exchange *exchange);
void insert_after(struct mpi *mpi, int comm, const struct exchange *exchange);

/* This rank's half of a transfer between two ranks of post->comm, with the tag set. */
struct request *insert_post(struct mpi *mpi, struct post *post, int from, int to);

/* What starpu_mpi_get_data_on_node() does. */
struct fetch {
	starpu_data_handle_t handle;
	int comm, to; /* rank in comm */
	int priority;
	int is_blocking;
	void (*callback)(void *arg); /* on rank to, after reception */
	void *arg;
	const char *what; /* function called */
};

/* 0 or -EDEADLK. */
int insert_fetch(struct mpi *mpi, const struct fetch *fetch);

#endif
