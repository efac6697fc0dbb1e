/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components that pass tasks on, by rules that ask no durations. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/component/component.h"
#include "core/sched/draw.h"
#include "core/task/task.h"

static void free_data(component_t *component)
{
	free(component->data);
}

/* Try one child. */
static int offer(component_t *child, struct asked *asked)
{
	return !component_is_full(child, asked->task) &&
	       component_can_run_too(child, asked) &&
	       component_push(child, asked->task) == 0;
}

/* ---- random ---------------------------------------------------------- */

/* Children side by side that are alike. */
struct run {
	int first, n;
	const struct worker *worker; /* like that below each; NULL: it is asked itself */
	int is_team;
	int number; /* of those that are no teams */
	double speed;
	int can_run;
};

struct drawing {
	uint64_t drawn;
	unsigned shape;
	int nruns;
	struct run *runs;
	/* Their speed, when only these could run the task, by number; 0: not kept. */
	uint64_t able;
	double total;
};

enum { NUMBERED_RUNS = 64 };

static void drawing_free(component_t *component)
{
	free(((struct drawing *)component->data)->runs);
	free(component->data);
}

static void follow(component_t *component)
{
	struct drawing *drawing = component->data;
	int n = 0;

	if (drawing->shape == tree_of(component)->shape && drawing->runs)
		return;
	drawing->shape = tree_of(component)->shape;
	drawing->nruns = 0;
	drawing->able = 0;
	drawing->runs = orr_realloc(drawing->runs, (component->nchildren + 1) *
							   sizeof(drawing->runs[0]));
	for (int i = 0; i < (int)component->nchildren; i++) {
		component_t *child = component->children[i];
		struct run run = {.first = i,
				  .n = 1,
				  .worker = component_stands_for(child),
				  .is_team = component_has_team(child),
				  .speed = component_speed(child)};
		struct run *last =
			drawing->nruns ? &drawing->runs[drawing->nruns - 1] : &run;

		if (run.worker && last != &run && last->worker &&
		    classes_are_like(last->worker, run.worker) &&
		    !(last->speed < run.speed) && !(last->speed > run.speed)) {
			last->n++;
			continue;
		}
		run.number = run.is_team ? 0 : n++;
		drawing->runs[drawing->nruns++] = run;
	}
}

static int can_run_some(component_t *component, const struct run *run,
			struct starpu_task *task)
{
	if (run->is_team && task->cl->type == STARPU_SEQ)
		return 0;
	if (run->worker)
		return worker_can_run_job(run->worker, task->starpu_private);
	return component_can_run(component->children[run->first], task);
}

/* Sees who can run the task.  The sum of their speeds is that in the order of children,
 * which rounding sees. */
static double total_speed(component_t *component, struct starpu_task *task)
{
	struct drawing *drawing = component->data;
	int is_kept = 1;
	uint64_t able = 0;

	for (int i = 0; i < drawing->nruns; i++) {
		struct run *run = &drawing->runs[i];

		run->can_run = can_run_some(component, run, task);
		if (!run->can_run)
			continue;
		is_kept &= !run->is_team && run->number < NUMBERED_RUNS;
		able |= UINT64_C(1) << run->number % NUMBERED_RUNS;
	}
	if (is_kept && drawing->able == able)
		return drawing->total;
	drawing->able = is_kept ? able : 0;
	drawing->total = 0;
	for (int i = 0; i < drawing->nruns; i++)
		for (int k = 0; drawing->runs[i].can_run && k < drawing->runs[i].n; k++)
			drawing->total += drawing->runs[i].speed;
	return drawing->total;
}

/* As many of them as leave something, one after the other; whole numbers are exact. */
static int pass(const struct run *run, double *left)
{
	int k = 0;

	if (run->speed >= 1 && run->speed == floor(run->speed)) {
		k = (int)fmin(run->n, *left / run->speed);
		while (k > 0 && k * run->speed > *left)
			k--;
		*left -= k * run->speed;
	}
	for (; k < run->n && *left >= 0; k++)
		*left -= run->speed;
	return k;
}

static component_t *draw_by_runs(component_t *component, struct starpu_task *task)
{
	struct drawing *drawing = component->data;
	component_t *last = NULL;
	double left;

	follow(component);
	left = total_speed(component, task) * draw_number(++drawing->drawn);
	for (int i = 0; i < drawing->nruns && left >= 0; i++) {
		const struct run *run = &drawing->runs[i];

		if (run->can_run)
			last = component->children[run->first + pass(run, &left) - 1];
	}
	return last;
}

static component_t *draw(component_t *component, struct starpu_task *task)
{
	struct drawing *drawing = component->data;
	struct asked asked = {.task = task}, again = asked;
	component_t *last = NULL;
	double total = 0, left;

	tree_of(component)->changes++;
	if (classes_hold_for(tree_of(component)->node, task))
		return draw_by_runs(component, task);
	for (unsigned i = 0; i < component->nchildren; i++)
		if (component_can_run_too(component->children[i], &asked))
			total += component_speed(component->children[i]);
	left = total * draw_number(++drawing->drawn);
	for (unsigned i = 0; i < component->nchildren && left >= 0; i++) {
		if (!component_can_run_too(component->children[i], &again))
			continue;
		last = component->children[i];
		left -= component_speed(last);
	}
	return last;
}

static int random_push(component_t *component, struct starpu_task *task)
{
	component_t *child;
	int refuses;

	tree_enter(tree_of(component));
	child = draw(component, task);
	refuses = !child || component_push(child, task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

const struct component_kind component_kind_random = {.name = "random"};

component_t *component_random(struct starpu_sched_tree *tree, void *data)
{
	component_t *component = component_new(tree, "random", &component_kind_random);

	(void)data;
	component->data = orr_alloc(sizeof(struct drawing));
	component->push_task = random_push;
	component->pull_task = component_gives_nothing;
	component->can_pull = component_wants_pushes;
	component->deinit_data = drawing_free;
	return component;
}

/* ---- eager ----------------------------------------------------------- */

struct eager {
	unsigned next;
	component_t *asking; /* child that has room, or NULL */
	struct tasks tasks;  /* of eager_prio: what it was given */
};

static struct eager *eager_of(component_t *component)
{
	return component->data;
}

static int eager_push(component_t *component, struct starpu_task *task)
{
	struct eager *eager = eager_of(component);
	struct asked asked = {.task = task};
	int done;

	tree_enter(tree_of(component));
	done = eager->asking && offer(eager->asking, &asked);
	for (unsigned k = 0; k < component->nchildren && !done; k++) {
		unsigned i = (eager->next + k) % component->nchildren;

		done = offer(component->children[i], &asked);
		if (done)
			eager->next = i + 1;
	}
	tree_leave(tree_of(component));
	return !done;
}

static int eager_can_push(component_t *component, component_t *to)
{
	struct eager *eager = eager_of(component);
	component_t *before;
	int did;

	tree_enter(tree_of(component));
	before = eager->asking;
	eager->asking = to;
	did = component_can_push(component, to);
	eager->asking = before;
	tree_leave(tree_of(component));
	return did;
}

static void eager_free(component_t *component)
{
	tasks_free(&eager_of(component)->tasks);
	free(component->data);
}

static component_t *eager_new(struct starpu_sched_tree *tree,
			      const struct component_kind *kind)
{
	component_t *component = component_new(tree, kind->name, kind);

	component->data = orr_alloc(sizeof(struct eager));
	component->push_task = eager_push;
	component->can_push = eager_can_push;
	component->deinit_data = eager_free;
	return component;
}

const struct component_kind component_kind_eager = {.name = "eager"};

component_t *component_eager(struct starpu_sched_tree *tree, void *data)
{
	(void)data;
	return eager_new(tree, &component_kind_eager);
}

/* ---- eager, by priority ---------------------------------------------- */

static int eager_prio_push(component_t *component, struct starpu_task *task)
{
	tree_enter(tree_of(component));
	tasks_push(&eager_of(component)->tasks, task, task->priority, 0);
	component->can_pull(component);
	tree_leave(tree_of(component));
	return 0;
}

static struct starpu_task *take(struct tasks *tasks, struct starpu_task *task)
{
	if (task)
		tasks_take(tasks, task);
	return task;
}

static struct starpu_task *eager_prio_pull(component_t *component, component_t *to)
{
	struct tasks *tasks = &eager_of(component)->tasks;
	struct starpu_task *task;

	tree_enter(tree_of(component));
	task = take(tasks, component_find(tasks, 0, to));
	if (!task)
		task = component_parents_pull(component, to);
	tree_leave(tree_of(component));
	return task;
}

static int eager_prio_can_push(component_t *component, component_t *to)
{
	struct starpu_task *rejected;
	int n;

	tree_enter(tree_of(component));
	rejected = component_pump(component, to, &n);
	if (rejected)
		tasks_push(&eager_of(component)->tasks, rejected, rejected->priority, 1);
	tree_leave(tree_of(component));
	return n > 0;
}

static void eager_prio_drain(component_t *component, struct tasks *out)
{
	struct tasks *tasks = &eager_of(component)->tasks;
	struct starpu_task *task;

	while ((task = take(tasks, component_find_other(tasks, component))))
		tasks_push(out, task, task->priority, 0);
}

const struct component_kind component_kind_eager_prio = {.name = "eager prio",
							 .drain = eager_prio_drain};

component_t *component_eager_prio(struct starpu_sched_tree *tree, void *data)
{
	component_t *component = eager_new(tree, &component_kind_eager_prio);

	(void)data;
	component->push_task = eager_prio_push;
	component->pull_task = eager_prio_pull;
	component->can_push = eager_prio_can_push;
	return component;
}

/* ---- where models are to be measured --------------------------------- */

/* The least busy child that can run it; is_unknown: and whose workers are yet to be
 * measured. */
static component_t *least_busy(component_t *component, struct starpu_task *task,
			       int is_unknown)
{
	component_t *best = NULL;
	double least = INFINITY;

	for (unsigned i = 0; i < component->nchildren; i++) {
		component_t *child = component->children[i];
		double us, load;

		if (!component_predict(child, task, &us) || (is_unknown && !isnan(us)))
			continue;
		load = child->estimated_load(child);
		if (load < least)
			best = child;
		least = fmin(least, load);
	}
	return best;
}

static int calibration_push(component_t *component, struct starpu_task *task)
{
	component_t *child;
	int refuses;

	tree_enter(tree_of(component));
	child = least_busy(component, task, 1);
	if (!child)
		child = least_busy(component, task, 0);
	refuses = !child || component_push(child, task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

const struct component_kind component_kind_calibration = {.name = "eager calibration"};

component_t *component_calibration(struct starpu_sched_tree *tree, void *data)
{
	component_t *component =
		component_new(tree, "eager calibration", &component_kind_calibration);

	(void)data;
	component->push_task = calibration_push;
	component->pull_task = component_gives_nothing;
	component->can_pull = component_wants_pushes;
	return component;
}

/* ---- the best implementation ----------------------------------------- */

static struct starpu_task *choose_implementation(component_t *component,
						 struct starpu_task *task)
{
	struct starpu_bitmap *workers = &component->workers_in_ctx;
	const struct node *node = tree_of(component)->node;

	for (int id = starpu_bitmap_first(workers); task && id >= 0;
	     id = starpu_bitmap_next(workers, id)) {
		struct worker *worker = &node->workers[id];

		if (!worker_can_run_job(worker, task->starpu_private))
			continue;
		task->predicted = component_fastest_us(worker, task);
		task->predicted_transfer = component_transfer_us(component, task);
		break;
	}
	return task;
}

static int implementation_push(component_t *component, struct starpu_task *task)
{
	int refuses;

	tree_enter(tree_of(component));
	choose_implementation(component, task);
	refuses = component->nchildren == 0 ||
		  component_push(component->children[0], task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

static struct starpu_task *implementation_pull(component_t *component, component_t *to)
{
	struct starpu_task *task;

	tree_enter(tree_of(component));
	task = choose_implementation(component, component_parents_pull(component, to));
	tree_leave(tree_of(component));
	return task;
}

const struct component_kind component_kind_implementation = {
	.name = "best implementation"};

component_t *component_implementation(struct starpu_sched_tree *tree, void *data)
{
	component_t *component = component_new(tree, "best implementation",
					       &component_kind_implementation);

	(void)data;
	component->push_task = implementation_push;
	component->pull_task = implementation_pull;
	return component;
}

/* ---- by what models know --------------------------------------------- */

static component_t *branch(component_t *component, struct starpu_task *task)
{
	const struct starpu_sched_component_perfmodel_select_data *data = component->data;
	double us;

	if (!component_predict(component, task, &us))
		return NULL;
	if (isnan(us))
		return data->calibrator_component;
	return us > 0 ? data->perfmodel_component : data->no_perfmodel_component;
}

static int select_push(component_t *component, struct starpu_task *task)
{
	component_t *child;
	int refuses;

	tree_enter(tree_of(component));
	child = branch(component, task);
	refuses = !child || component_push(child, task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

static int select_refuses(component_t *component, struct starpu_task *task)
{
	component_t *child = branch(component, task);

	return child && component_will_refuse(child, task);
}

const struct component_kind component_kind_select = {
	.name = "perfmodel select", .push = select_push, .refuses = select_refuses};

component_t *component_select(struct starpu_sched_tree *tree, void *data)
{
	component_t *component =
		component_new(tree, "perfmodel select", &component_kind_select);
	struct starpu_sched_component_perfmodel_select_data *own =
		orr_alloc(sizeof(*own));

	*own = *(struct starpu_sched_component_perfmodel_select_data *)data;
	component->data = own;
	component->push_task = select_push;
	component->pull_task = component_gives_nothing;
	component->can_pull = component_wants_pushes;
	component->deinit_data = free_data;
	component_connect(component, own->calibrator_component);
	component_connect(component, own->no_perfmodel_component);
	component_connect(component, own->perfmodel_component);
	return component;
}

/* ---- stages ---------------------------------------------------------- */

/* The default methods ask parents in their order. */
const struct component_kind component_kind_stage = {.name = "stage"};

component_t *component_stage(struct starpu_sched_tree *tree, void *data)
{
	(void)data;
	return component_new(tree, "stage", &component_kind_stage);
}

/* ---- what the application says --------------------------------------- */

static int choice_push(component_t *component, struct starpu_task *task)
{
	uintptr_t i = (uintptr_t)task->sched_data;

	if (i >= component->nchildren)
		orr_die(tree_of(component)->node->rank,
			"task \"%s\" has sched_data %ju, expected the number of a "
			"component, below %u: set (void *)(uintptr_t)0 for the first",
			task_name(task), (uintmax_t)i, component->nchildren);
	return component_push(component->children[i], task);
}

const struct component_kind component_kind_choice = {.name = "userchoice"};

component_t *component_choice(struct starpu_sched_tree *tree, void *data)
{
	component_t *component =
		component_new(tree, "userchoice", &component_kind_choice);

	(void)data;
	component->push_task = choice_push;
	component->pull_task = component_gives_nothing;
	component->can_pull = component_wants_pushes;
	return component;
}
