/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* ---- for lp_solve ------------------------------------------------------- */

static void print_row(const struct program *program, int row, FILE *file)
{
	const struct program_row *of = &program->rows[row];

	if (of->comment)
		fprintf(file, "\n/* %s */\n", of->comment);
	if (of->about)
		fprintf(file, "/* %s */\n", of->about);
	/* Without the 0 a row of one variable would be a limit of the variable. */
	fprintf(file, "R%d: 0", row + 1);
	for (int i = of->first; i < program_row_end(program, row); i++)
		fprintf(file, " %+.12g %s", program->entries[i].factor,
			program->columns[program->entries[i].column].name);
	fprintf(file, " %s %.12g;\n",
		of->type == 'L'   ? "<="
		: of->type == 'G' ? ">="
				  : "=",
		of->limit);
}

static void print_numbers(const struct program *program, enum program_number number,
			  const char *word, FILE *file)
{
	const char *before = word;

	for (int i = 0; i < program->ncolumns; i++)
		if (program->columns[i].number == number) {
			fprintf(file, "%s%s", before, program->columns[i].name);
			before = ",\n\t";
		}
	if (before != word)
		fprintf(file, ";\n");
}

void program_print_lp(const struct program *program, FILE *file)
{
	fprintf(file, "/* A lower bound of the time that the recorded tasks take, in ms; "
		      "for lp_solve. */\nmin: tmax;\n");
	for (int row = 0; row < program->nrows; row++)
		print_row(program, row, file);
	fprintf(file, "\n/* tasks are whole; without what follows: a relaxed bound */\n");
	print_numbers(program, PROGRAM_WHOLE, "int ", file);
	print_numbers(program, PROGRAM_BINARY, "bin ", file);
}

/* ---- MPS --------------------------------------------------------------- */

enum { MPS_NAME_BYTES = 9, MPS_NUMBER_BYTES = 12 };

/* Fields of the fixed format have eight characters. */
static void mps_name(const struct program *program, int column,
		     char name[PROGRAM_NAME_BYTES])
{
	if (strlen(program->columns[column].name) < MPS_NAME_BYTES)
		strcpy(name, program->columns[column].name);
	else
		snprintf(name, MPS_NAME_BYTES, "C%07u", (unsigned)column % 10000000U);
}

static void print_rows(const struct program *program, FILE *file)
{
	fprintf(file, "ROWS\n N  COST\n");
	for (int row = 0; row < program->nrows; row++) {
		if (program->rows[row].comment)
			fprintf(file, "* %s\n", program->rows[row].comment);
		if (program->rows[row].about)
			fprintf(file, "* %s\n", program->rows[row].about);
		fprintf(file, " %c  R%d\n", program->rows[row].type, row + 1);
	}
}

/* Where the entries of each column are: at[first[column]] on; and their rows. */
static int *by_column(const struct program *program, int **at, int **row_of)
{
	size_t n = (size_t)program->nentries + 1;
	int *first = orr_alloc(((size_t)program->ncolumns + 2) * sizeof(*first));
	int *next = orr_alloc(((size_t)program->ncolumns + 1) * sizeof(*next));

	*at = orr_alloc(n * sizeof(**at));
	*row_of = orr_alloc(n * sizeof(**row_of));
	for (int i = 0; i < program->nentries; i++)
		first[program->entries[i].column + 1]++;
	for (int c = 0; c < program->ncolumns; c++) {
		first[c + 1] += first[c];
		next[c] = first[c];
	}
	for (int row = 0; row < program->nrows; row++)
		for (int i = program->rows[row].first; i < program_row_end(program, row);
		     i++) {
			(*at)[next[program->entries[i].column]++] = i;
			(*row_of)[i] = row;
		}
	free(next);
	return first;
}

static void print_marker(FILE *file, int is_whole)
{
	fprintf(file, "    MARKER    'MARKER'                 '%s'\n",
		is_whole ? "INTORG" : "INTEND");
}

/* As many digits as twelve characters have room for. */
static void print_field(FILE *file, const char *name, int row, double value)
{
	char text[32];
	int digits = MPS_NUMBER_BYTES;

	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strlen(text) > MPS_NUMBER_BYTES && --digits > 0);
	fprintf(file, "    %-8s  R%-7d  %12s\n", name, row + 1, text);
}

static void print_columns(const struct program *program, FILE *file)
{
	char name[PROGRAM_NAME_BYTES];
	int *at, *row_of, *first = by_column(program, &at, &row_of), was_whole = 0;

	fprintf(file, "COLUMNS\n");
	for (int c = 0; c < program->ncolumns; c++) {
		int is_whole = program->columns[c].number != PROGRAM_REAL;

		if (is_whole != was_whole)
			print_marker(file, is_whole);
		was_whole = is_whole;
		mps_name(program, c, name);
		if (strcmp(name, program->columns[c].name) != 0)
			fprintf(file, "* %s\n", program->columns[c].name);
		if (c == 0)
			fprintf(file, "    %-8s  COST      %12.12g\n", name, 1.0);
		for (int i = first[c]; i < first[c + 1]; i++)
			print_field(file, name, row_of[at[i]],
				    program->entries[at[i]].factor);
	}
	if (was_whole)
		print_marker(file, 0);
	free(first);
	free(at);
	free(row_of);
}

/* A whole variable without limits would be binary to some readers. */
static void print_bounds(const struct program *program, FILE *file)
{
	char name[PROGRAM_NAME_BYTES];

	fprintf(file, "BOUNDS\n");
	for (int c = 0; c < program->ncolumns; c++) {
		mps_name(program, c, name);
		if (program->columns[c].number == PROGRAM_BINARY)
			fprintf(file, " UP BND       %-8s  %12d\n", name, 1);
		else if (program->columns[c].number == PROGRAM_WHOLE)
			fprintf(file, " PL BND       %-8s\n", name);
	}
}

void program_print_mps(const struct program *program, FILE *file)
{
	fprintf(file,
		"NAME          ORRERY\n* A lower bound of the time that the recorded "
		"tasks take, in ms.\n");
	print_rows(program, file);
	print_columns(program, file);
	fprintf(file, "RHS\n");
	for (int row = 0; row < program->nrows; row++)
		if (program->rows[row].limit != 0)
			print_field(file, "RHS", row, program->rows[row].limit);
	print_bounds(program, file);
	fprintf(file, "ENDATA\n");
}
