/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_INSERT_PARTS_H
#define ORR_MPI_INSERT_PARTS_H

/*
 * insert_parts.h - of what insertions are made: insert.c, and replicas.c for tasks that
 * several ranks execute.
 */
#include "mpi/insert.h"
#include "mpi/plan.h"
#include "mpi/request.h"

/* One slow insertion. */
struct insert {
	struct mpi *mpi;
	int comm, me;
	struct exchange *task;
	unsigned flags, modes; /* of all data together */
	int place;             /* by the owners of what is written, as plan_join() says */
	int unknown; /* the first use that writes, if its handle is NULL; else -1 */
	int is_ours; /* this rank owns some of the data, or some have no owner */
	char has_turn, will_read, is_reading; /* turn.c */
	struct plan_use *uses;                /* inline_uses, or allocated with moves */
	struct plan_move *moves;              /* room for as many */
	struct plan_use inline_uses[PLAN_INLINE_USES];
	struct plan_move inline_moves[PLAN_INLINE_USES];
};

/* ordinals.c: the number of a transfer with a peer, of those of its kind; starts with 1.
 * Not atomic with the insertion: several threads may count alike on one rank and
 * differently on another, so that it only explains. */
uint32_t insert_ordinal(struct mpi *mpi, int net_peer, enum request_kind kind);

void insert_open(struct insert *insert, struct mpi *mpi, int comm, struct exchange *task);
void insert_close(struct insert *insert);
const char *insert_name_of(const struct starpu_codelet *cl);

/* End the program where a datum that is used, or written, has no owner; where the
 * executor does not exist. */
void insert_die_unowned(const struct insert *insert, int only_written);
void insert_check_executor(const struct insert *insert, int executor);

/* This rank's half of a transfer, if it has one. */
void insert_transfer(const struct insert *insert, const struct plan_move *move);
/*
 * What is noted as held must be posted before another thread sees the note: that one
 * would submit a reader ahead of the receive.  A thread that has its turn already, whose
 * callback inserts, goes on in it.
 */
void insert_take_turn(struct insert *insert);
void insert_end_turn(struct insert *insert);
/* In the turn and without cache: from the first to the second the task that reads what
 * came is not submitted; the latter says whether nobody has such a task, or a half. */
void insert_begin_reading(struct insert *insert);
int insert_end_reading(struct insert *insert);

/* Has the rank the current value, as far as it concerns this one?  From now on it has.
 * arg is the struct insert. */
int insert_holds(void *arg, int use, int rank);
/* Does the value come to the rank by this one, which is not the owner? */
int insert_passes_on(const struct insert *insert, int use, int rank);
/* Without cache: has this rank a copy that nobody asks for, once executor has used it? */
int insert_keeps_none(const struct insert *insert, int use, int executor);
/* What travels before the task is executed by task->executor. */
void insert_move_before(struct insert *insert);
/* 0, or -ENODEV: it was destroyed. */
int insert_submit(struct mpi *mpi, struct starpu_task *task);

#endif
