/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <string.h>

#include "random.h"

/*
 * random_program.c - a program from a seed: tasks and whatever else an application does,
 * and beside it what a sequential run has computed by then.
 */
struct program {
	struct rng *rng;
	const struct sizes *sizes;
	unsigned nnodes, ncpus, ngpus;
	int ndata;
	struct datum data[MAX_DATA];
	uint64_t step;
};

/* A datum, or one of its parts. */
struct target {
	struct datum *datum;
	starpu_data_handle_t handle;
	struct view model;
};

static unsigned draw(struct program *program, unsigned n)
{
	return below(program->rng, n);
}

static struct target whole_of(struct datum *datum)
{
	return (struct target){datum, datum->handle, datum->model};
}

static struct target part_of(struct datum *datum, unsigned i)
{
	return (struct target){datum, datum->parts[i], datum->part_models[i]};
}

static struct target any_target(struct program *program)
{
	struct datum *datum = &program->data[draw(program, (unsigned)program->ndata)];
	int part = datum->plan == CUT || (datum->plan == PLANNED && draw(program, 3));

	return part ? part_of(datum, draw(program, datum->nparts)) : whole_of(datum);
}

/* ---- tasks --------------------------------------------------------------- */

static const enum starpu_data_access_mode modes[] = {
	[USE_R] = STARPU_R,         [USE_W] = STARPU_W,
	[USE_RW] = STARPU_RW,       [USE_COMMUTE] = STARPU_RW | STARPU_COMMUTE,
	[USE_REDUX] = STARPU_REDUX, [USE_SCRATCH] = STARPU_SCRATCH};

/* W would lose the columns of a sparse matrix, and they are not scratch. */
static enum use draw_use(struct program *program, const struct datum *datum)
{
	static const enum use likely[] = {
		USE_R,  USE_R,       USE_R,       USE_W,       USE_RW,    USE_RW,
		USE_RW, USE_COMMUTE, USE_COMMUTE, USE_SCRATCH, USE_REDUX, USE_REDUX};
	enum use use = likely[draw(program, sizeof(likely) / sizeof(likely[0]))];

	if (datum->is_reduced && draw(program, 3) == 0)
		use = USE_REDUX;
	if (use == USE_REDUX && !datum->is_reduced)
		use = USE_RW;
	if (datum->kind == CSR || datum->kind == BCSR)
		return use == USE_W || use == USE_SCRATCH ? USE_RW : use;
	if (!datum->has_value && use != USE_SCRATCH)
		use = USE_W;
	/* A part's or a parent's scratch would be no scratch for the other. */
	return use == USE_SCRATCH && datum->plan != WHOLE ? USE_R : use;
}

static int is_taken(const struct target *targets, int n, const struct target *target)
{
	for (int i = 0; i < n; i++)
		if (targets[i].datum == target->datum &&
		    (targets[i].handle == target->handle ||
		     targets[i].handle == target->datum->handle ||
		     target->handle == target->datum->handle))
			return 1;
	return 0;
}

/* What the task is to do, and to what. */
static void draw_uses(struct program *program, struct cook *cook, struct target *targets)
{
	int wanted = 1 + (int)draw(program, MAX_USES);

	*cook = (struct cook){.step = ++program->step};
	for (int i = 0; i < wanted; i++) {
		struct target target = any_target(program);
		enum use use = draw_use(program, target.datum);

		if (is_taken(targets, cook->n, &target))
			continue;
		cook->use[cook->n] = (unsigned char)use;
		targets[cook->n++] = target;
	}
}

/* The same, on models.  Scratch holds nothing then, so it adds nothing to sums. */
static void cook_models(const struct cook *task, const struct target *targets)
{
	struct cook cook = {.step = task->step, .n = task->n};

	for (int i = 0; i < task->n; i++) {
		cook.views[i] = targets[i].model;
		cook.use[i] = task->use[i];
		if (task->use[i] == USE_SCRATCH)
			cook.use[i] = USE_PLUS; /* It is not read. */
	}
	for (cook.which = 0; cook.which < cook.n; cook.which++) {
		uint32_t n = view_count(&cook.views[cook.which]);

		if (task->use[cook.which] == USE_R ||
		    task->use[cook.which] == USE_SCRATCH)
			continue;
		for (uint32_t i = 0; i < n; i++)
			cook_element(&cook, i);
		targets[cook.which].datum->has_value = 1;
	}
}

static int draw_codelet(struct program *program)
{
	static const int likely[] = {
		COOK_ANYWHERE,   COOK_ANYWHERE,     COOK_ANYWHERE_WAITS,
		COOK_ON_GPU,     COOK_ON_GPU,       COOK_ON_GPU,
		COOK_ON_GPU,     COOK_ON_GPU_WAITS, COOK_ON_GPU_FORGETS,
		COOK_ON_DEFAULT, COOK_ON_CPU,       COOK_ON_CPU};
	int which = likely[draw(program, sizeof(likely) / sizeof(likely[0]))];

	return which == COOK_ON_CPU && program->ncpus == 0 ? COOK_ON_GPU : which;
}

static void insert(struct program *program)
{
	struct target targets[MAX_USES];
	struct starpu_data_descr descrs[MAX_USES];
	struct cook cook;
	int which = draw_codelet(program), on_gpu, rc;
	int worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER,
					       (int)draw(program, program->ngpus));

	draw_uses(program, &cook, targets);
	on_gpu = which != COOK_ON_CPU && draw(program, 6) == 0;
	for (int i = 0; i < cook.n; i++)
		descrs[i] =
			(struct starpu_data_descr){targets[i].handle, modes[cook.use[i]]};
	rc = starpu_task_insert(
		cook_codelet(which, (int)draw(program, 3) == 0), STARPU_DATA_MODE_ARRAY,
		descrs, cook.n, STARPU_VALUE, &cook, sizeof(cook), STARPU_PRIORITY,
		(int)draw(program, 5) - 2, STARPU_EXECUTE_ON_WORKER, on_gpu ? worker : -1,
		STARPU_TASK_SYNCHRONOUS, draw(program, 40) == 0, 0);
	if (rc != 0)
		bad("starpu_task_insert()", rc, which);
	cook_models(&cook, targets);
	place->ntasks++;
}

/* ---- what main sees ------------------------------------------------------ */

static void change(const struct view *view, uint64_t step)
{
	for (uint32_t i = 0; i < view_count(view); i++)
		*view_at(view, i) += step + i;
}

static void check(const struct target *target, const char *what)
{
	struct view seen = view_of_handle(target->handle);
	long where = view_differs(&seen, &target->model);

	if (where >= 0)
		bad(what, where, target->datum->kind);
}

static void acquire(struct program *program)
{
	struct target target = any_target(program);
	int writes = (int)draw(program, 2);
	struct view seen;

	if (!target.datum->has_value)
		return;
	if (starpu_data_acquire(target.handle, writes ? STARPU_RW : STARPU_R))
		bad("starpu_data_acquire()", writes, 0);
	check(&target, "value at an acquisition (where, kind)");
	if (writes) {
		seen = view_of_handle(target.handle);
		change(&seen, ++program->step);
		change(&target.model, program->step);
	}
	if (writes && draw(program, 2))
		starpu_data_release_to(target.handle, STARPU_R);
	starpu_data_release(target.handle);
}

struct visit {
	struct target target;
	uint64_t *expected, step;
};

static void visited(void *arg)
{
	struct visit *visit = arg;
	struct view seen = view_of_handle(visit->target.handle);

	for (uint32_t i = 0; i < view_count(&seen); i++)
		if (*view_at(&seen, i) != visit->expected[i]) {
			bad("value in a callback (where, kind)", i,
			    visit->target.datum->kind);
			break;
		}
	change(&seen, visit->step);
	starpu_data_release(visit->target.handle);
	free(visit->expected);
	free(visit);
}

static void acquire_cb(struct program *program)
{
	struct visit *visit = malloc(sizeof(*visit));
	struct view *model = &visit->target.model;

	*visit = (struct visit){.target = any_target(program), .step = ++program->step};
	if (!visit->target.datum->has_value) {
		free(visit);
		return;
	}
	visit->expected = malloc(view_count(model) * sizeof(uint64_t));
	for (uint32_t i = 0; i < view_count(model); i++)
		visit->expected[i] = *view_at(model, i);
	change(model, visit->step);
	if (starpu_data_acquire_cb(visit->target.handle, STARPU_RW, visited, visit))
		bad("starpu_data_acquire_cb()", 0, 0);
}

/* On a GPU, where main touches nothing. */
static void acquire_there(struct program *program)
{
	struct target target = any_target(program);
	int node = (int)draw(program, program->nnodes);

	if (!target.datum->has_value)
		return;
	starpu_data_acquire_on_node(target.handle, node,
				    draw(program, 2) ? STARPU_RW : STARPU_R);
	starpu_data_release_on_node(target.handle, node);
}

/* ---- hints --------------------------------------------------------------- */

static void hint(struct program *program)
{
	struct target target = any_target(program);
	unsigned node = draw(program, program->nnodes), kind = draw(program, 10);
	int is_async = (int)draw(program, 2);

	if (kind <= 4 && !target.datum->has_value)
		return;
	/* Main waits for these, and no order says that what they want will be there. */
	if (kind == 0)
		starpu_data_prefetch_on_node(target.handle, node, 1);
	else if (kind == 1)
		starpu_data_idle_prefetch_on_node(target.handle, node, 1);
	else if (kind == 2)
		starpu_data_fetch_on_node(target.handle, node, (unsigned)is_async);
	else if (kind == 3)
		starpu_data_prefetch_on_node(target.handle, node, (unsigned)is_async);
	else if (kind == 4)
		starpu_data_request_allocation(target.handle, node);
	else if (kind <= 6)
		starpu_data_wont_use(target.handle);
	else if (kind == 7)
		(void)starpu_data_evict_from_node(target.handle, node);
	else if (kind == 8)
		starpu_memchunk_tidy(node);
	else
		starpu_data_set_wt_mask(target.handle, draw(program, 4));
}

static void invalidate(struct datum *datum)
{
	if (datum->kind == CSR || datum->kind == BCSR || datum->plan != WHOLE)
		return;
	starpu_data_invalidate_submit(datum->handle);
	datum->has_value = 0;
}

static void renew(struct program *program, struct datum *datum)
{
	datum_mend(datum, program->rng);
	datum_end(datum);
	datum_begin(datum, program->rng, program->sizes);
}

static void act(struct program *program)
{
	struct datum *datum = &program->data[draw(program, (unsigned)program->ndata)];

	switch (draw(program, 16)) {
	case 0:
	case 1:
		acquire(program);
		break;
	case 2:
		acquire_cb(program);
		break;
	case 3:
		acquire_there(program);
		break;
	case 4:
		datum_cut(datum, program->rng, (int)draw(program, 3));
		break;
	case 5:
		datum_mend(datum, program->rng);
		break;
	case 6:
		renew(program, datum);
		break;
	case 7:
		if (draw(program, 3) == 0)
			invalidate(datum);
		break;
	case 8:
		if (draw(program, 3) == 0)
			starpu_task_wait_for_all();
		break;
	case 9:
		starpu_task_wait_for_n_submitted(draw(program, 10));
		break;
	default:
		hint(program);
		break;
	}
}

void program_run(struct rng *rng, const struct sizes *sizes, unsigned nsteps)
{
	struct program *program = calloc(1, sizeof(*program));

	program->rng = rng;
	program->sizes = sizes;
	program->nnodes = starpu_memory_nodes_get_count();
	program->ncpus = starpu_cpu_worker_get_count();
	program->ngpus = starpu_cuda_worker_get_count();
	program->ndata = 4 + (int)draw(program, MAX_DATA - 4);
	for (int i = 0; i < program->ndata; i++) {
		datum_begin(&program->data[i], rng, sizes);
		place->bytes += 8.0 * view_count(&program->data[i].model);
	}
	for (unsigned i = 0; i < nsteps; i++) {
		place->op = (int)i;
		if (draw(program, 3))
			insert(program);
		else
			act(program);
	}
	for (int i = 0; i < program->ndata; i++) {
		datum_mend(&program->data[i], rng);
		datum_end(&program->data[i]);
	}
	starpu_task_wait_for_all();
	free(program);
}
