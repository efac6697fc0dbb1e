/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/program.h"

#include <errno.h>
#include <stdlib.h>

#include <glpk.h>

#include "base/check.h"

static int kind_of_row(char type)
{
	return type == 'L' ? GLP_UP : type == 'G' ? GLP_LO : GLP_FX;
}

static void add_rows(glp_prob *problem, const struct program *program)
{
	if (program->nrows)
		glp_add_rows(problem, program->nrows);
	for (int row = 0; row < program->nrows; row++) {
		double limit = program->rows[row].limit;

		glp_set_row_bnds(problem, row + 1, kind_of_row(program->rows[row].type),
				 limit, limit);
	}
}

static void add_columns(glp_prob *problem, const struct program *program, int whole)
{
	glp_add_cols(problem, program->ncolumns);
	for (int c = 0; c < program->ncolumns; c++) {
		enum program_number number = program->columns[c].number;

		glp_set_col_bnds(problem, c + 1,
				 number == PROGRAM_BINARY ? GLP_DB : GLP_LO, 0, 1);
		if (whole && number != PROGRAM_REAL)
			glp_set_col_kind(problem, c + 1, GLP_IV);
	}
	glp_set_obj_dir(problem, GLP_MIN);
	glp_set_obj_coef(problem, 1, 1);
}

/* GLPK counts from one. */
static void load(glp_prob *problem, const struct program *program)
{
	size_t n = (size_t)program->nentries + 1;
	int *rows = orr_alloc(n * sizeof(*rows)),
	    *columns = orr_alloc(n * sizeof(*columns));
	double *factors = orr_alloc(n * sizeof(*factors));

	for (int row = 0; row < program->nrows; row++)
		for (int i = program->rows[row].first; i < program_row_end(program, row);
		     i++) {
			rows[i + 1] = row + 1;
			columns[i + 1] = program->entries[i].column + 1;
			factors[i + 1] = program->entries[i].factor;
		}
	glp_load_matrix(problem, program->nentries, rows, columns, factors);
	free(rows);
	free(columns);
	free(factors);
}

static int solve_relaxed(glp_prob *problem)
{
	glp_smcp how;
	int ret;

	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.presolve = GLP_ON;
	ret = glp_simplex(problem, &how);
	if (ret == GLP_ENOPFS)
		return -EDOM;
	return ret == 0 && glp_get_status(problem) == GLP_OPT ? 0 : -EIO;
}

static int solve_whole(glp_prob *problem)
{
	glp_iocp how;
	int ret;

	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.presolve = GLP_ON;
	ret = glp_intopt(problem, &how);
	if (ret == GLP_ENOPFS)
		return -EDOM;
	return ret == 0 && glp_mip_status(problem) == GLP_OPT ? 0 : -EIO;
}

int program_solve(const struct program *program, int whole, double *minimum,
		  double *values)
{
	glp_prob *problem = glp_create_prob();
	int ret;

	glp_term_out(GLP_OFF);
	add_rows(problem, program);
	add_columns(problem, program, whole);
	load(problem, program);
	ret = whole ? solve_whole(problem) : solve_relaxed(problem);
	if (ret == 0)
		*minimum = whole ? glp_mip_obj_val(problem) : glp_get_obj_val(problem);
	for (int c = 0; ret == 0 && values && c < program->ncolumns; c++)
		values[c] = whole ? glp_mip_col_val(problem, c + 1)
				  : glp_get_col_prim(problem, c + 1);
	glp_delete_prob(problem);
	glp_free_env();
	return ret;
}
