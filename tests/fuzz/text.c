/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "program.h"

/* text.c - a program for people to read. */

static const char *const op_names[] = {
#define FUZZ_NAME(kind, text) text,
	FUZZ_OPS(FUZZ_NAME)
#undef FUZZ_NAME
};

static const char *const mode_names[] = {"R",       "W",   "RW",     "RW|COMMUTE",
					 "SCRATCH", "add", "glance", "REDUX"};

static const struct {
	unsigned flag;
	const char *name;
} flag_names[] = {
	{TASK_BY_HAND, "by hand"},     {TASK_SYNC, "synchronous"},
	{TASK_KEPT, "kept"},           {TASK_TAGGED, "tagged"},
	{TASK_AFTER, "after a task"},  {TASK_WORKER, "on a worker"},
	{TASK_WORKERS, "on workers"},  {TASK_PICKY, "picky"},
	{TASK_MODEL, "model"},         {TASK_CALLBACK, "callback"},
	{TASK_UNORDERED, "unordered"}, {TASK_HALVES, "in halves"},
	{TASK_POLICY, "policy"},       {TASK_ON_NODE, "on a node"},
	{TASK_ON_DATA, "on data"},     {TASK_EACH_ORDER, "order by datum"},
};

static void print_shape(const struct shape *shape, FILE *file)
{
	static const char *const kinds[] = {"variable", "vector", "matrix"};
	static const char *const orders[] = {"", " loose", " loose by handle"};

	fprintf(file, "%s %ux%u ld %u%s%s", kinds[shape->kind], shape->nx, shape->ny,
		shape->ld, shape->homed ? "" : " without home", orders[shape->order]);
	if (shape->owner == OWNER_EACH)
		fprintf(file, " on each node");
	else
		fprintf(file, " owner %d", shape->owner);
}

static void print_op(const struct op *op, FILE *file)
{
	fprintf(file, "%4d  lane %d  %s", op->id, op->lane, op_names[op->kind]);
	for (int i = 0; i < op->nuses; i++)
		fprintf(file, "%s d%d %s", i ? "," : "", op->uses[i].datum,
			mode_names[op->uses[i].mode]);
	for (size_t i = 0;
	     op->kind == OP_TASK && i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
		if (op->flags & flag_names[i].flag)
			fprintf(file, "; %s", flag_names[i].name);
	if (op->kind > OP_END_DEP || (op->flags & TASK_ON_NODE))
		fprintf(file, "; node %d", op->node);
	if (op->kind == OP_RENEW) {
		fprintf(file, " as ");
		print_shape(&op->shape, file);
	}
	fprintf(file, "; choices %u %u %u\n", op->choice[0], op->choice[1],
		op->choice[2]);
}

void program_print(const struct program *program, FILE *file)
{
	fprintf(file, "program of seed %llu, %d ranks\n",
		(unsigned long long)program->seed, program->nranks);
	for (int i = 0; i < program->nenv; i++)
		if (*program->env[i][1])
			fprintf(file, "      %s=%s\n", program->env[i][0],
				program->env[i][1]);
	for (int l = 0; l < program->nlanes; l++)
		for (int d = 0; d < program->lanes[l].ndata; d++) {
			fprintf(file, "      lane %d  d%d ", l, d);
			print_shape(&program->lanes[l].shapes[d], file);
			fprintf(file, "\n");
		}
	for (int i = 0; i < program->nops; i++)
		if (!program->ops[i].skip)
			print_op(&program->ops[i], file);
}
