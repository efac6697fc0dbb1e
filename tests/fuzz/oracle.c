/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "program.h"
#include "values.h"

/*
 * oracle.c - the program run by one thread, one operation after the other.
 *
 * It decides what is legal where it stands: a value that does not exist is written
 * before it is read, and what cannot be done is skipped.  All runs follow it.
 */
struct model {
	struct shape shape;
	struct view view;
	int has_value, was_invalidated;
};

struct oracle {
	struct program *program;
	struct model models[MAX_LANES][MAX_DATA];
};

static void model_open(struct model *model, const struct shape *shape)
{
	free(model->view.values);
	*model = (struct model){.shape = *shape, .has_value = shape->homed};
	model->view = (struct view){.nx = shape->nx, .ny = shape->ny, .ld = shape->nx};
	model->view.values = calloc(view_count(&model->view) + 1, sizeof(uint64_t));
	if (model->has_value)
		view_fill(&model->view, shape);
}

/* What is reduced has a value: that of no contribution. */
static int may_be_neutral(const struct oracle *oracle, const struct op *op,
			  const struct use *use)
{
	return has_feature(oracle->program, FEATURE_REDUX) &&
	       (use->mode == USE_REDUX ||
		(use->variant == 0 && !oracle->program->lanes[op->lane].distributed));
}

static void make_neutral(struct model *model)
{
	for (unsigned i = 0; i < view_count(&model->view); i++)
		*view_at(&model->view, i) = 0;
	model->has_value = 1;
}

/* Modes that need a value become writing. */
static void legalise(struct oracle *oracle, struct op *op)
{
	struct model *models = oracle->models[op->lane];

	for (int i = 0; i < op->nuses; i++) {
		struct use *use = &op->uses[i];

		if (!models[use->datum].has_value && use->mode != USE_SCRATCH &&
		    models[use->datum].shape.order == ORDERED &&
		    !may_be_neutral(oracle, op, use))
			use->mode = USE_W;
	}
}

/* A value read twice in one task is fine; one that is written must be named once. */
static void drop_conflicts(struct op *op)
{
	int n = 0;

	for (int i = 0; i < op->nuses; i++) {
		int conflicts = 0;

		for (int k = 0; k < n; k++)
			if (op->uses[k].datum == op->uses[i].datum &&
			    (op->uses[k].mode != USE_R || op->uses[i].mode != USE_R))
				conflicts = 1;
		if (!conflicts)
			op->uses[n++] = op->uses[i];
	}
	op->nuses = n;
}

static int has_writer(const struct op *op)
{
	for (int i = 0; i < op->nuses; i++)
		if (op->uses[i].mode != USE_R && op->uses[i].mode != USE_SCRATCH &&
		    op->uses[i].mode != USE_GLANCE)
			return 1;
	return 0;
}

/* A task on data of each node runs on each; it must not write to anyone's data. */
static void place(struct oracle *oracle, struct op *op)
{
	const struct model *models = oracle->models[op->lane];
	int each = 0, n = 0;

	for (int i = 0; i < op->nuses; i++)
		if (models[op->uses[i].datum].shape.owner == OWNER_EACH &&
		    op->uses[i].mode != USE_R && op->uses[i].mode != USE_SCRATCH)
			each = 1;
	for (int i = 0; i < op->nuses; i++) {
		const struct shape *shape = &models[op->uses[i].datum].shape;

		/* STARPU_MPI_REDUX says nothing about who executes. */
		if (shape->owner == OWNER_EACH && op->uses[i].mode == USE_REDUX)
			op->uses[i].variant |= 2;
		if (!each || shape->owner == OWNER_EACH)
			op->uses[n++] = op->uses[i];
	}
	op->nuses = n;
	if (each) {
		op->flags &= ~(unsigned)(TASK_ON_NODE | TASK_ON_DATA | TASK_POLICY |
					 TASK_HALVES);
		return;
	}
	if (!has_writer(op) && !(op->flags & TASK_ON_DATA))
		op->flags |= TASK_ON_NODE;
	if ((op->flags & TASK_ON_DATA) &&
	    models[op->choice[0] % (unsigned)oracle->program->lanes[op->lane].ndata]
			    .shape.owner == OWNER_EACH)
		op->flags = (op->flags & ~(unsigned)TASK_ON_DATA) | TASK_ON_NODE;
}

static void do_task(struct oracle *oracle, struct op *op)
{
	struct model *models = oracle->models[op->lane];
	struct view *views;

	legalise(oracle, op);
	drop_conflicts(op);
	if (oracle->program->lanes[op->lane].distributed)
		place(oracle, op);
	op->skip = op->nuses == 0;
	views = calloc((size_t)op->nuses + 1, sizeof(*views));
	for (int i = 0; i < op->nuses; i++) {
		struct model *model = &models[op->uses[i].datum];

		if (op->uses[i].mode != USE_SCRATCH)
			views[i] = model->view;
		if (op->uses[i].mode != USE_SCRATCH && op->uses[i].mode != USE_W &&
		    !model->has_value)
			make_neutral(model);
		if (op->uses[i].mode == USE_W)
			model->has_value = 1;
		if (op->uses[i].mode == USE_R)
			op->expected = view_hash(&model->view);
	}
	values_compute(op, views);
	free(views);
}

/* Acquisitions see the value, and change it unless they only read. */
static void do_acquire(struct op *op, struct model *model)
{
	if (model->shape.order != ORDERED) {
		op->skip = 1;
		return;
	}
	if (!model->has_value)
		op->uses[0].mode = USE_W;
	op->expected = view_hash(&model->view);
	if (op->uses[0].mode == USE_W)
		view_overwrite(&model->view, op->salt);
	else if (op->uses[0].mode == USE_RW)
		view_change(&model->view, op->salt);
	model->has_value = 1;
}

static void do_renew(struct op *op, struct model *model)
{
	/* The value of what has no home can only be seen before it goes. */
	op->expected = view_hash(&model->view);
	op->flags = model->has_value;
	op->shape.order = model->shape.order;
	if (op->shape.order != ORDERED)
		op->shape.homed = 1;
	model_open(model, &op->shape);
}

static void do_local(struct oracle *oracle, struct op *op, struct model *model)
{
	switch (op->kind) {
	case OP_TRY:
		op->skip = model->shape.order != ORDERED || !model->has_value ||
			   model->was_invalidated;
		break;
	case OP_INVALIDATE:
		op->skip = model->shape.order != ORDERED;
		if (!op->skip)
			model->has_value = 0, model->was_invalidated = 1;
		break;
	case OP_PREFETCH:
	case OP_STATUS:
	case OP_EMPTY:
		op->skip = !model->has_value;
		break;
	case OP_PAUSE:
	case OP_GATE:
	case OP_END_DEP:
		/* A thread that is held back cannot let go what holds others back. */
		op->skip = oracle->program->limited;
		break;
	default:
		break;
	}
}

static void do_distributed(struct op *op, struct model *model)
{
	int each = model->shape.owner == OWNER_EACH;

	op->expected = view_hash(&model->view);
	switch (op->kind) {
	case OP_MIGRATE:
		op->skip = each;
		if (!op->skip)
			model->shape.owner = op->node;
		break;
	case OP_GET:
	case OP_GET_DETACHED:
	case OP_GET_ALL:
		op->skip = each;
		break;
	case OP_OWNER_WRITES:
		op->skip = each;
		if (!op->skip) {
			view_change(&model->view, op->salt);
			op->expected = view_hash(&model->view);
		}
		break;
	default:
		break;
	}
}

/* ---- by hand --------------------------------------------------------- */

int blend_members(const struct op *op, int ndata, int *data)
{
	int n = 1 + (int)(op->choice[4] % BLEND_SPREAD);

	n = n < ndata ? n : ndata;
	for (int i = 0; i < n; i++)
		data[i] = (op->uses[0].datum + i) % ndata;
	return n;
}

static void do_spread(struct oracle *oracle, const struct op *op)
{
	const struct lane *lane = &oracle->program->lanes[op->lane];
	struct model *models = oracle->models[op->lane];
	int data[BLEND_SPREAD], n = blend_members(op, lane->ndata, data);
	int root = models[data[0]].shape.owner, how = (int)(op->choice[0] % 3);

	for (int i = 0; i < (how ? n : 1); i++) {
		struct shape *shape = &models[data[i]].shape;

		if (shape->owner < 0 || (how == 2 && shape->owner != root))
			continue;
		shape->owner = how == 2 ? (op->node + i) % lane->nranks : op->node;
	}
}

/* Another datum of the same shape; its number goes into choice 5. */
static void do_copy(struct oracle *oracle, struct op *op, struct model *model)
{
	unsigned n = (unsigned)oracle->program->lanes[op->lane].ndata;

	op->skip = 1;
	for (unsigned i = 0; i < n && op->skip; i++) {
		unsigned datum = (op->choice[0] + i) % n;
		const struct model *from = &oracle->models[op->lane][datum];

		if (from == model || from->shape.owner < 0 ||
		    from->shape.kind != model->shape.kind ||
		    from->shape.nx != model->shape.nx ||
		    from->shape.ny != model->shape.ny)
			continue;
		op->skip = 0;
		op->choice[5] = datum;
		for (unsigned k = 0; k < view_count(&model->view); k++)
			*view_at(&model->view, k) = *view_at(&from->view, k);
	}
}

/* The sum of what blend.c gives each rank. */
static void do_combine(struct oracle *oracle, struct op *op, struct model *model)
{
	const struct program *program = oracle->program;
	uint64_t n = (uint64_t)program->lanes[op->lane].nranks;

	/* Reductions are of one thread. */
	op->skip = program->threaded || !has_feature(program, FEATURE_REDUX);
	for (unsigned i = 0; i < view_count(&model->view) && !op->skip; i++)
		*view_at(&model->view, i) = n * (op->salt + i) + n * (n - 1) / 2;
}

static void do_blend(struct oracle *oracle, struct op *op, struct model *model)
{
	op->skip = op->kind != OP_COOP && model->shape.owner < 0;
	if (op->skip)
		return;
	if (op->kind == OP_SPREAD)
		do_spread(oracle, op);
	if (op->kind == OP_COPY)
		do_copy(oracle, op, model);
	if (op->kind == OP_COMBINE)
		do_combine(oracle, op, model);
	if (op->kind == OP_TAKE)
		view_overwrite(&model->view, op->salt);
	op->expected = view_hash(&model->view);
	if (op->kind == OP_REPLACE)
		model_open(model, &op->shape);
}

static void do_op(struct oracle *oracle, struct op *op)
{
	struct model *model =
		op->nuses ? &oracle->models[op->lane][op->uses[0].datum] : NULL;

	if (op->kind == OP_TASK)
		do_task(oracle, op);
	else if (op->kind == OP_ACQUIRE || op->kind == OP_ACQUIRE_CB)
		do_acquire(op, model);
	else if (op->kind == OP_RENEW)
		do_renew(op, model);
	else if (op->kind >= OP_COPY)
		do_blend(oracle, op, model);
	else if (op->kind >= OP_FLUSH && model)
		do_distributed(op, model);
	else
		do_local(oracle, op, model);
}

void oracle_run(struct program *program)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));

	oracle->program = program;
	for (int l = 0; l < program->nlanes; l++)
		for (int d = 0; d < program->lanes[l].ndata; d++)
			model_open(&oracle->models[l][d], &program->lanes[l].shapes[d]);
	for (int i = 0; i < program->nops; i++)
		do_op(oracle, &program->ops[i]);
	for (int l = 0; l < program->nlanes; l++)
		for (int d = 0; d < program->lanes[l].ndata; d++) {
			struct model *model = &oracle->models[l][d];

			program->final[l][d] = view_hash(&model->view);
			program->final_shapes[l][d] = model->shape;
			program->has_value[l][d] = model->has_value != 0;
			free(model->view.values);
		}
	free(oracle);
}
