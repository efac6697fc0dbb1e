/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void *grown(void *array, int n, int *room, size_t bytes)
{
	if (n < *room)
		return array;
	*room = 2 * *room + 64;
	return orr_realloc(array, (size_t)*room * bytes);
}

int program_column(struct program *program, enum program_number number,
		   const char *format, ...)
{
	struct program_column *column;
	va_list list;

	program->columns = grown(program->columns, program->ncolumns,
				 &program->room_columns, sizeof(*program->columns));
	column = &program->columns[program->ncolumns];
	column->number = (unsigned char)number;
	va_start(list, format);
	vsnprintf(column->name, sizeof(column->name), format, list);
	va_end(list);
	return program->ncolumns++;
}

void program_row(struct program *program, char type, double limit, const char *comment)
{
	program->rows = grown(program->rows, program->nrows, &program->room_rows,
			      sizeof(*program->rows));
	program->rows[program->nrows++] =
		(struct program_row){type, limit, comment, NULL, program->nentries};
}

void program_about(struct program *program, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	/* It stands in a comment of the LP file. */
	for (char *at = text; (at = strstr(at, "*/"));)
		*at = ' ';
	for (char *at = text; (at = strpbrk(at, "\r\n"));)
		*at = ' ';
	program->rows[program->nrows - 1].about = orr_strdup(text);
}

void program_term(struct program *program, int column, double factor)
{
	program->entries = grown(program->entries, program->nentries,
				 &program->room_entries, sizeof(*program->entries));
	program->entries[program->nentries++] = (struct program_entry){column, factor};
}

void program_free(struct program *program)
{
	for (int row = 0; row < program->nrows; row++)
		free(program->rows[row].about);
	free(program->rows);
	free(program->columns);
	free(program->entries);
	*program = (struct program){0};
}

/* ---- by area ----------------------------------------------------------- */

/* How many workers stand in the program, which class the i-th is of, how many it is. */
static int count_workers(const struct bound *bound, enum program_workers workers)
{
	return workers == PROGRAM_EACH ? bound->nworkers : bound->nclasses;
}

static int class_at(const struct bound *bound, enum program_workers workers, int i)
{
	return workers == PROGRAM_EACH ? bound->class_of[i] : i;
}

static int times(const struct bound *bound, enum program_workers workers, int i)
{
	return workers == PROGRAM_EACH ? 1 : bound->classes[i].n;
}

static double ms(const struct bound_kind *kind, int class)
{
	return 1e3 * bound_seconds(kind, class);
}

void program_by_area(struct program *program, const struct bound *bound,
		     enum program_workers workers)
{
	int nworkers = count_workers(bound, workers);
	int *columns = orr_alloc(((size_t)bound->nkinds * (size_t)nworkers + 1) *
				 sizeof(*columns));

	*program = (struct program){0};
	program_column(program, PROGRAM_REAL, "tmax");
	for (int w = 0; w < nworkers; w++)
		for (int k = 0; k < bound->nkinds; k++)
			if (ms(bound->kinds[k], class_at(bound, workers, w)) >= 0)
				columns[w * bound->nkinds + k] = program_column(
					program, PROGRAM_WHOLE, "w%dt%dn", w, k);
	for (int w = 0; w < nworkers; w++) {
		program_row(program, 'L', 0,
			    w == 0 ? "no worker is busy for longer than tmax (ms)"
				   : NULL);
		if (workers == PROGRAM_EACH)
			program_about(program, "worker %d", w);
		for (int k = 0; k < bound->nkinds; k++)
			if (columns[w * bound->nkinds + k])
				program_term(
					program, columns[w * bound->nkinds + k],
					ms(bound->kinds[k], class_at(bound, workers, w)));
		program_term(program, 0, -times(bound, workers, w));
	}
	for (int k = 0; k < bound->nkinds; k++) {
		program_row(program, 'E', (double)bound->kinds[k]->ntasks,
			    k == 0 ? "all tasks of a kind run" : NULL);
		program_about(program, "task %s key %x", bound->kinds[k]->name,
			      bound->kinds[k]->footprint);
		for (int w = 0; w < nworkers; w++)
			if (columns[w * bound->nkinds + k])
				program_term(program, columns[w * bound->nkinds + k], 1);
	}
	free(columns);
}
