/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_COMPONENT_COMPONENT_H
#define ORR_CORE_SCHED_COMPONENT_COMPONENT_H

/*
 * component.h - modular schedulers: include/starpu_sched_component.h says what components
 * are, and what programs see of them.
 *
 * The library's components and the application's lie in one graph.  Whoever comes into it
 * takes the tree's lock, which nests: all methods of the library's do, so that they need
 * no locks of their own.  A component calls others only when its own state is consistent,
 * for these may call it again.  Tasks that no worker of the context can run never lie in
 * the graph: they are put aside with the scheduler.
 */
#include <starpu_sched_component.h>

#include "core/sched/classes.h"
#include "core/sched/sched.h"
#include "core/sched/tasks.h"

typedef struct starpu_sched_component component_t;

/* What the library knows of a component of its own. */
struct component_kind {
	const char *name;
	/* The workers below have changed: take out the tasks that none can run now. */
	void (*drain)(component_t *component, struct tasks *out);
	/* Of who passes tasks on by push(): would it refuse the task, as it surely will
	 * until something changes?  What is predicted of the task is then said to it. */
	int (*push)(component_t *component, struct starpu_task *task);
	int (*refuses)(component_t *component, struct starpu_task *task);
	/* Those below get the same workers. */
	void (*spread)(component_t *component);
};

struct component {
	component_t base;
	const struct component_kind *kind; /* NULL: the application's */
	struct component *next;            /* of the tree's */
	/* The first of each class of workers_in_ctx, when that was among, the last of so
	 * many sets; where they are, and how fast together. */
	struct starpu_bitmap among;
	unsigned nsets;
	int nfirst;
	struct worker **first;
	uint64_t memories;
	unsigned kinds; /* STARPU_CPU | ...: what they are */
	double speed;
	struct lanes *lanes; /* of many children; NULL: not asked for yet */
};

struct tree {
	struct starpu_sched_tree base;
	struct node *node;
	struct sched *sched;
	struct orr_lock lock;
	const void *owner; /* atomic: whose thread has it, */
	int depth;         /* so often */
	struct worker *relaxed;
	struct component *all;           /* components */
	int nteams, nown;                /* of these: of teams; the application's */
	struct memberships *memberships; /* of workers in teams; NULL: not asked for */
	unsigned hold;                   /* counts how often it was taken, */
	unsigned shape;                  /* changes of links and workers, */
	unsigned changes;                /* of what decisions ask, */
	unsigned round;      /* and who asked for tasks without being asked: */
	int nasking;         /* asking within each other */
	struct lanes *lanes; /* all of them */
	struct notes *notes; /* NULL: nobody has asked yet */
	component_t *workers[STARPU_NMAXWORKERS]; /* NULL: not asked for yet */
};

static inline struct tree *tree_of(const component_t *component)
{
	return ORR_CONTAINER(component->tree, struct tree, base);
}

static inline int component_is(const component_t *component,
			       const struct component_kind *kind)
{
	return ORR_CONTAINER(component, struct component, base)->kind == kind;
}

/* ---- the tree -------------------------------------------------------- */

struct tree *tree_new(struct sched *sched);
void tree_free(struct tree *tree);
/* The lock; nests. */
void tree_enter(struct tree *tree);
void tree_leave(struct tree *tree);
void tree_push(struct tree *tree, struct starpu_task *task);
/* The worker itself: a task that it can run, or NULL. */
struct starpu_task *tree_pop(struct tree *tree, struct worker *worker);
void tree_change_workers(struct tree *tree, const int *ids, unsigned n, int come);
void tree_schedule(struct tree *tree);
void tree_update_workers(struct tree *tree);
/* The kernel of a task begins, or has ended, on worker. */
void tree_started(struct tree *tree, struct worker *worker, struct job *job);
void tree_ended(struct tree *tree, struct worker *worker);

/* ---- components: see the header of the same names -------------------- */

component_t *component_new(struct starpu_sched_tree *tree, const char *name,
			   const struct component_kind *kind);
void component_free(component_t *component);
void component_free_all(component_t *component);
void component_add_child(component_t *component, component_t *child);
void component_connect(component_t *parent, component_t *child);
int component_push(component_t *to, struct starpu_task *task);
struct starpu_task *component_pull(component_t *from, component_t *to);
struct starpu_task *component_pump(component_t *component, component_t *to, int *success);
int component_ask_parents(component_t *component);
struct starpu_task *component_parents_pull(component_t *component, component_t *to);
int component_can_push(component_t *component, component_t *to);
int component_can_pull(component_t *component);
int component_can_pull_all(component_t *component);
double component_load(component_t *component);
double component_end_us(component_t *component);
double component_end_behind_us(component_t *component, double us);
double component_end_mean_us(component_t *component);
int component_can_run(component_t *component, struct starpu_task *task);
/* The first of the tasks, or from the last one back, that it can run; that it cannot. */
struct starpu_task *component_find(const struct tasks *tasks, int from_last,
				   component_t *component);
struct starpu_task *component_find_other(const struct tasks *tasks,
					 component_t *component);
/* It can run no task that is for other kinds of workers; for tasks_find(). */
unsigned component_kinds(component_t *component);
/* The same of one child after the other: what holds for a worker is not asked again for
 * the next like it.  All but the task are zero at first. */
struct asked {
	struct starpu_task *task;
	const struct worker *worker; /* NULL: none */
	int can_run;
};
int component_can_run_too(component_t *component, struct asked *asked);
/* A worker like all those below, with which it may be asked; NULL: it is asked itself. */
const struct worker *component_stands_for(component_t *component);
/* Would it refuse the task for want of room?  0 of all but the library's queues. */
int component_is_full(const component_t *component, const struct starpu_task *task);
/* The same of any component; 0: it may take the task. */
int component_will_refuse(component_t *component, struct starpu_task *task);
int component_predict(component_t *component, struct starpu_task *task, double *us);
/* Those of the workers below, one bit each. */
uint64_t component_memories(component_t *component);
double component_transfer_us(component_t *component, struct starpu_task *task);
double component_energy_j(component_t *component, struct starpu_task *task);
void component_prefetch(component_t *component, struct starpu_task *task);
/* For who only pushes: pull_task(), can_pull(). */
struct starpu_task *component_gives_nothing(component_t *from, component_t *to);
int component_wants_pushes(component_t *component);
/* Is it above one team, and nothing else? */
int component_has_team(component_t *component);
/* The first worker below, of the context; NULL: none. */
struct worker *component_worker(component_t *component);
/* What the fastest implementation of the worker takes, which is set: NaN when one is yet
 * to be measured, 0 when nobody knows.  It can run the task. */
double component_fastest_us(struct worker *worker, struct starpu_task *task);
/* Predicted, or 0. */
double component_predicted_us(const struct starpu_task *task);
/* Of the workers below it together, relative to one core. */
double component_speed(component_t *component);
double component_now_us(const component_t *component);

/* ---- notes: see component_notes.c ------------------------------------ */

enum { ANSWER_NONE, ANSWER_NO, ANSWER_YES };

/* What component_fastest_us() says; and can a worker of the class run it at all? */
struct answer {
	double us;
	unsigned char implementation, state;
};

struct note {
	const struct job *job; /* NULL: of none */
	uint64_t id;
	unsigned nmodel_changes;
	const struct worker *asked; /* the last one, or NULL */
	const int *class_of;        /* by worker */
	/* What was said of all workers below a component. */
	struct {
		const component_t *component;
		unsigned nsets;
		struct answer answer;
	} whole;
	struct answer passing;   /* of a class that other nodes answer for */
	struct answer answers[]; /* by class */
};

struct notes *notes_new(const struct node *node);
void notes_free(struct notes *notes);
/* Of a task for which classes_hold_for(); until the next note is asked for. */
struct note *note_of(struct tree *tree, const struct starpu_task *task);
/* Of the worker's class; the chosen implementation of the task may change. */
const struct answer *note_fill(struct tree *tree, struct note *note,
			       struct worker *worker, struct starpu_task *task);

static inline const struct answer *note_ask(struct tree *tree, struct note *note,
					    struct worker *worker,
					    struct starpu_task *task)
{
	const struct answer *answer = &note->answers[note->class_of[worker->id]];

	return answer->state != ANSWER_NONE ? answer
					    : note_fill(tree, note, worker, task);
}

/* ---- lanes: see component_lanes.c ------------------------------------ */

/* When the one worker below a component will be free. */
struct lane {
	struct worker *worker;
	double waiting_us, running_until_us; /* bound tasks come to it */
};

/* 0: what is below is no lane. */
int lane_of(component_t *component, struct lane *lane);
double lane_end_us(const struct lane *lane, double now_us);

/* A child that is none.  Of teams, which a task for one worker passes: the next that is
 * no team, or how many there are. */
struct other_child {
	int child, is_team, next_alone;
};

struct lanes {
	struct lanes *next; /* of the tree's */
	component_t *component;
	unsigned shape;
	struct classes classes; /* in microseconds */
	unsigned nnotes;        /* counts changes of them */
	int ninside;
	int noutside;
	struct other_child *outside;
	int child[STARPU_NMAXWORKERS];
};

void lanes_init(struct lanes *lanes, component_t *component);
void lanes_free(struct lanes *lanes);
/* Who decides among them now: see which children there are. */
void lanes_follow(struct lanes *lanes);
/* When the first of them is free; INFINITY: there is none. */
double lanes_end_us(struct lanes *lanes, double now_us);
/* The component has been given a task, or has given one away: decisions may change. */
void lanes_note(component_t *component);

/* ---- kinds ----------------------------------------------------------- */

extern const struct component_kind component_kind_worker, component_kind_team,
	component_kind_fifo, component_kind_prio, component_kind_stealing,
	component_kind_random, component_kind_eager, component_kind_eager_prio,
	component_kind_calibration, component_kind_mct, component_kind_heft,
	component_kind_heteroprio, component_kind_implementation, component_kind_select,
	component_kind_stage, component_kind_choice, component_kind_composed;

component_t *component_of_worker(struct tree *tree, int id);
/* NULL: there are as many teams as there may be. */
component_t *component_of_team(struct tree *tree, const int *ids, int n);
struct team;
/* What a worker's component adds to its lane. */
void component_worker_lane(component_t *component, struct lane *lane);
double component_fifo_us(component_t *component);
double component_worker_end_us(component_t *component);
double component_fifo_end_us(component_t *component);
/* Of a component that is one, or NULL. */
const struct team *component_team(component_t *component);
int component_worker_number(component_t *component);
void memberships_free(struct memberships *memberships);
/* A gang for the task that a team with this member is to pull; 1: made. */
int component_team_pull(struct tree *tree, struct worker *worker);
void component_worker_started(component_t *component, struct job *job);
void component_worker_ended(component_t *component);
component_t *component_fifo(struct starpu_sched_tree *tree, void *data);
component_t *component_prio(struct starpu_sched_tree *tree, void *data);
component_t *component_stealing(struct starpu_sched_tree *tree, void *data);
/* Of a worker, to its own queue; 0, or 1: it has none. */
int component_stealing_push_own(component_t *component, struct worker *worker,
				struct starpu_task *task);
component_t *component_random(struct starpu_sched_tree *tree, void *data);
component_t *component_eager(struct starpu_sched_tree *tree, void *data);
component_t *component_eager_prio(struct starpu_sched_tree *tree, void *data);
component_t *component_calibration(struct starpu_sched_tree *tree, void *data);
component_t *component_mct(struct starpu_sched_tree *tree, void *data);
component_t *component_heft(struct starpu_sched_tree *tree, void *data);
component_t *component_heteroprio(struct starpu_sched_tree *tree, void *data);
component_t *component_implementation(struct starpu_sched_tree *tree, void *data);
component_t *component_select(struct starpu_sched_tree *tree, void *data);
component_t *component_stage(struct starpu_sched_tree *tree, void *data);
component_t *component_choice(struct starpu_sched_tree *tree, void *data);

struct recipe *recipe_new(void);
void recipe_add(struct recipe *recipe, starpu_sched_component_create_t create, void *arg);
void recipe_free(struct recipe *recipe);
component_t *component_composed(struct starpu_sched_tree *tree,
				const struct recipe *recipe);

/* ---- the usual graph ------------------------------------------------- */

enum { SIMPLE_PRE = 4, SIMPLE_MOST = 16 };

struct simple_decision {
	starpu_sched_component_create_t create;
	void *data;
	unsigned flags;
	int npre;
	struct {
		starpu_sched_component_create_t create;
		void *data;
	} pre[SIMPLE_PRE];
};

/* After the machine's levels; 0 when the recipe of the machine is NULL or empty. */
int places_build(struct tree *tree, const struct starpu_sched_component_specs *specs);

/* The scheduler's tree is new. */
void simple_build(struct tree *tree, const struct simple_decision *decisions, int n);

#endif
