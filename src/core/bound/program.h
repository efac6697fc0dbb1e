/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_BOUND_PROGRAM_H
#define ORR_CORE_BOUND_PROGRAM_H

/*
 * program.h - the linear program whose minimum is the bound; in milliseconds.
 *
 * By area: n(w,k) tasks of kind k run on worker w; all tasks of a kind run, and no worker
 * is busy for longer than tmax, which is minimised.
 *
 * By graph: x(t,w) says that task t runs on worker w; it ends at c(t) = s(t) + its time
 * there, starts after those that it waits for, and tmax is no earlier than any end.  The
 * area holds, too.  With whole numbers, of two tasks on one worker one comes after the
 * other; and with priorities a worker starts no task before a more urgent one that it
 * could run, unless something that this waits for ends later.
 */
#include <stdio.h>

#include "core/bound/bound.h"

enum { PROGRAM_NAME_BYTES = 24 };

struct program_row {
	char type; /* 'L': at most, 'G': at least, 'E': equal */
	double limit;
	const char *comment; /* what it and the next rows say, or NULL */
	char *about;         /* the worker or the tasks that it is of, or NULL; owned */
	int first;           /* of its entries */
};

enum program_number { PROGRAM_REAL, PROGRAM_WHOLE, PROGRAM_BINARY };

struct program_column {
	char name[PROGRAM_NAME_BYTES];
	unsigned char number; /* enum program_number; none is negative */
};

struct program_entry {
	int column;
	double factor;
};

/* Column 0 is tmax, which is to be minimised. */
struct program {
	int nrows, room_rows, ncolumns, room_columns, nentries, room_entries;
	struct program_row *rows;
	struct program_column *columns;
	struct program_entry *entries;
};

/* How the workers stand in the program. */
enum program_workers {
	PROGRAM_EACH,   /* each for itself */
	PROGRAM_CLASSES /* those alike as one of so many times the speed */
};

void program_by_area(struct program *program, const struct bound *bound,
		     enum program_workers workers);
void program_by_graph(struct program *program, struct bound *bound,
		      enum program_workers workers, int whole);
void program_free(struct program *program);

/* For lp_solve; in the fixed format of MPS. */
void program_print_lp(const struct program *program, FILE *file);
void program_print_mps(const struct program *program, FILE *file);

/*
 * The minimum, with whole numbers where they are asked for; values: of the columns, or
 * NULL.  0; -ENOSYS: this build has nothing to solve it with; -EDOM: it has no solution;
 * -EIO: none was found.
 */
int program_solve(const struct program *program, int whole, double *minimum,
		  double *values);

/* ---- for who writes one ------------------------------------------------ */

int program_column(struct program *program, enum program_number number,
		   const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What follows belongs to this row, until the next one. */
void program_row(struct program *program, char type, double limit, const char *comment);
/* The last row's. */
void program_about(struct program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void program_term(struct program *program, int column, double factor);

static inline int program_row_end(const struct program *program, int row)
{
	return row + 1 < program->nrows ? program->rows[row + 1].first
					: program->nentries;
}

#endif
