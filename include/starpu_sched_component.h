/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Modular schedulers: a policy is a graph of components, in which tasks go down from the
 * root to workers.  Some components keep tasks (fifo, prio, work stealing, heft,
 * heteroprio), others pass them on.
 *
 * Tasks are pushed down until somebody keeps them or says no, and pulled up by workers
 * that want one.  Who keeps tasks asks its children to pull (can_pull) when one has come,
 * and its parents to push (can_push) when it has room again.  Components that decide for
 * which child a task is (mct, heft, random, perfmodel_select, userchoice) only push: they
 * answer can_pull by asking their parents to push, and give nothing to who pulls.
 *
 * Threads: one at a time works in a tree.  The functions below and all methods of a
 * library's component see to that by a lock of the tree which the same thread may take
 * again; a worker is relaxed (starpu_worker_relax_on()) while it has it.  Methods of the
 * application's components are called with it.  They must not wait for tasks, nor submit
 * any.  The field lock of the tree is the application's: the library does not take it.
 *
 * Times are in microseconds.  task->predicted and predicted_transfer are what estimates
 * are made of; components that decide by them set them, NaN counts 0.
 */
#ifndef STARPU_SCHED_COMPONENT_H
#define STARPU_SCHED_COMPONENT_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_sched_component_properties {
	/* All workers below are of one type; they have one memory. */
	STARPU_SCHED_COMPONENT_HOMOGENEOUS = (1 << 0),
	STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE = (1 << 1)
};

#define STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(component)                                 \
	((component)->properties & STARPU_SCHED_COMPONENT_HOMOGENEOUS)
#define STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component)                          \
	((component)->properties & STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE)

struct starpu_sched_component {
	struct starpu_sched_tree *tree;
	/* Those below; and of these, those that the context has now. */
	struct starpu_bitmap workers;
	struct starpu_bitmap workers_in_ctx;
	void *data; /* whoever's methods these are */
	char *name;
	unsigned nchildren;
	struct starpu_sched_component **children;
	unsigned nparents;
	struct starpu_sched_component **parents;
	void (*add_child)(struct starpu_sched_component *component,
			  struct starpu_sched_component *child);
	void (*remove_child)(struct starpu_sched_component *component,
			     struct starpu_sched_component *child);
	void (*add_parent)(struct starpu_sched_component *component,
			   struct starpu_sched_component *parent);
	void (*remove_parent)(struct starpu_sched_component *component,
			      struct starpu_sched_component *parent);
	/* 0: kept, or passed on; else: refused, and the caller's as before.  Some worker
	 * below can execute the task.  By default to the first child that takes it. */
	int (*push_task)(struct starpu_sched_component *, struct starpu_task *);
	/* A task that some worker below to can execute, or NULL.  By default what the
	 * parents have. */
	struct starpu_task *(*pull_task)(struct starpu_sched_component *from,
					 struct starpu_sched_component *to);
	/* There is room below, at its child to: push what there is; was anything pushed?
	 * By default the parents are asked, until one says yes. */
	int (*can_push)(struct starpu_sched_component *from,
			struct starpu_sched_component *to);
	/* There is a task above: will anybody pull?  By default the children are asked,
	 * until one says yes. */
	int (*can_pull)(struct starpu_sched_component *component);
	/* starpu_do_schedule().  By default the children are told. */
	void (*do_schedule)(struct starpu_sched_component *component);
	/* The application's own; by default 0. */
	int (*notify)(struct starpu_sched_component *component, int message_ID,
		      void *arg);
	/* Tasks below by the speed of the workers there; by default the sum of the
	 * children's. */
	double (*estimated_load)(struct starpu_sched_component *component);
	/* When the first worker below will have nothing to do; by default the least of
	 * the children's. */
	double (*estimated_end)(struct starpu_sched_component *component);
	/* Called at its end, while children and parents are still there. */
	void (*deinit_data)(struct starpu_sched_component *component);
	/* workers or workers_in_ctx have been set. */
	void (*notify_change_workers)(struct starpu_sched_component *component);
	int properties;
#ifdef STARPU_HAVE_HWLOC
	hwloc_obj_t obj; /* the application's: NULL */
#else
	void *obj;
#endif
};

struct starpu_sched_tree {
	struct starpu_sched_component *root;
	struct starpu_bitmap workers; /* of the context, now */
	unsigned sched_ctx_id;
	starpu_pthread_mutex_t lock;
};

/** A component, from what it is given. */
typedef struct starpu_sched_component *(*starpu_sched_component_create_t)(
	struct starpu_sched_tree *tree, void *data);

/*
 * The tree
 */

/** A tree without components, that of the context from now on. */
struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id);

/** End a tree and all components in it. */
void starpu_sched_tree_destroy(struct starpu_sched_tree *tree);

/** The same for the tree of a context, if it has one: for deinit_sched. */
void starpu_sched_tree_deinitialize(unsigned sched_ctx_id);

/** The tree of a context, or NULL. */
struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id);

/** Tell all components which workers are below them: after the graph has changed. */
void starpu_sched_tree_update_workers(struct starpu_sched_tree *t);
void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t);

/** For push_task, pop_task, add_workers, remove_workers and do_schedule of a policy whose
 * init_sched has made a tree.  A task that no worker of the context can execute waits
 * until the context gets one; a root that refuses any other ends the program. */
int starpu_sched_tree_push_task(struct starpu_task *task);
struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx);
void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids,
				   unsigned nworkers);
void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids,
				      unsigned nworkers);
void starpu_sched_tree_do_schedule(unsigned sched_ctx_id);

/*
 * Components
 */

/** A component with the default methods; starpu_sched_component_destroy() frees it. */
struct starpu_sched_component *
starpu_sched_component_create(struct starpu_sched_tree *tree, const char *name);

/** End a component, which leaves its parents and children; and all below that no other
 * parent has. */
void starpu_sched_component_destroy(struct starpu_sched_component *component);
void starpu_sched_component_destroy_rec(struct starpu_sched_component *component);

/** Make child a child of parent: their add_child() and add_parent() are called. */
void starpu_sched_component_connect(struct starpu_sched_component *parent,
				    struct starpu_sched_component *child);

/** The default add_child(): one side only. */
void starpu_sched_component_add_child(struct starpu_sched_component *component,
				      struct starpu_sched_component *child);

/** Call a method of another component. */
int starpu_sched_component_push_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to,
				     struct starpu_task *task);
struct starpu_task *starpu_sched_component_pull_task(struct starpu_sched_component *from,
						     struct starpu_sched_component *to);

/** Pull tasks from component and push them to a child (downstream: to the only one) until
 * there are none, or the child refuses one, which is returned.  *success is how many were
 * accepted. */
struct starpu_task *
starpu_sched_component_pump_to(struct starpu_sched_component *component,
			       struct starpu_sched_component *to, int *success);
struct starpu_task *
starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
				       int *success);

/** Ask all parents to push; did any? */
int starpu_sched_component_send_can_push_to_parents(
	struct starpu_sched_component *component);

/** The default methods; pull_all asks every child. */
struct starpu_task *
starpu_sched_component_parents_pull_task(struct starpu_sched_component *component,
					 struct starpu_sched_component *to);
int starpu_sched_component_can_push(struct starpu_sched_component *component,
				    struct starpu_sched_component *to);
int starpu_sched_component_can_pull(struct starpu_sched_component *component);
int starpu_sched_component_can_pull_all(struct starpu_sched_component *component);
double starpu_sched_component_estimated_load(struct starpu_sched_component *component);
double starpu_sched_component_estimated_end_min(struct starpu_sched_component *component);
/** The same behind exp_len, shared by the children. */
double
starpu_sched_component_estimated_end_min_add(struct starpu_sched_component *component,
					     double exp_len);
double
starpu_sched_component_estimated_end_average(struct starpu_sched_component *component);

/** Can a worker below, of the context, execute the task?  1 or 0. */
int starpu_sched_component_can_execute_task(struct starpu_sched_component *component,
					    struct starpu_task *task);

/** The same; *length, unless it is NULL, is the least that models say of the workers and
 * implementations: NaN when one of these is yet to be measured, 0 without a model.  That
 * implementation is set. */
int starpu_sched_component_execute_preds(struct starpu_sched_component *component,
					 struct starpu_task *task, double *length)
	__attribute__((warn_unused_result));

/** How long the task's data travel to the memories of the workers below, on average. */
double starpu_sched_component_transfer_length(struct starpu_sched_component *component,
					      struct starpu_task *task);

/** Bring what the task reads to the memory of the workers below, if that is one. */
void starpu_sched_component_prefetch_on_node(struct starpu_sched_component *component,
					     struct starpu_task *task);

/*
 * Workers: the leaves.  Each keeps what it is given until its worker takes it.
 */

/** That of a worker, made when first asked for. */
struct starpu_sched_component *starpu_sched_component_worker_get(unsigned sched_ctx,
								 int workerid);
struct starpu_sched_component *starpu_sched_component_worker_new(unsigned sched_ctx,
								 int workerid);

/** Several processors that execute a task together, as starpu_combined_worker_*() do. */
struct starpu_sched_component *
starpu_sched_component_parallel_worker_create(struct starpu_sched_tree *tree,
					      unsigned nworkers, unsigned *workers);

/** Its number, also of several; -1 for no worker. */
int starpu_sched_component_worker_get_workerid(
	struct starpu_sched_component *worker_component);
int starpu_sched_component_is_worker(struct starpu_sched_component *component);
int starpu_sched_component_is_simple_worker(struct starpu_sched_component *component);
int starpu_sched_component_is_combined_worker(struct starpu_sched_component *component);

/** For pre_exec_hook and post_exec_hook of a policy: estimates follow what runs. */
void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task,
						 unsigned sched_ctx_id);
void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task,
						  unsigned sched_ctx_id);

/*
 * Who keeps tasks
 */

/** Limits, none when 0: a queue refuses a task that would be more than that many, or
 * would wait longer than that (unless it is the only one).  Expected lengths are always
 * kept: exp has no effect.  ready: of the first ones, that which needs the least data to
 * come is taken first. */
struct starpu_sched_component_fifo_data {
	unsigned ntasks_threshold;
	double exp_len_threshold;
	int ready;
	int exp;
};
struct starpu_sched_component_prio_data {
	unsigned ntasks_threshold;
	double exp_len_threshold;
	int ready;
	int exp;
};

/** Tasks in the order in which they came; by priority.  NULL: no limits. */
struct starpu_sched_component *
starpu_sched_component_fifo_create(struct starpu_sched_tree *tree,
				   struct starpu_sched_component_fifo_data *fifo_data);
int starpu_sched_component_is_fifo(struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_prio_create(struct starpu_sched_tree *tree,
				   struct starpu_sched_component_prio_data *prio_data);
int starpu_sched_component_is_prio(struct starpu_sched_component *component);

/** A queue, by priority, for each child, filled in turns; who finds his empty takes the
 * last one of another.  arg has no effect. */
struct starpu_sched_component *
starpu_sched_component_work_stealing_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_work_stealing(struct starpu_sched_component *component);

/** For push_task: a worker's task goes to its own queue of the first component of that
 * kind. */
int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task);

/*
 * Who passes them on.  Without other words, arg has no effect.
 */

/** To a child drawn by the speed of its workers. */
struct starpu_sched_component *
starpu_sched_component_random_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_random(struct starpu_sched_component *);

/** To the child that has just asked, else in turns; and to any that pulls. */
struct starpu_sched_component *
starpu_sched_component_eager_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager(struct starpu_sched_component *);

/** The same; tasks that it is given it keeps by priority, until children pull. */
struct starpu_sched_component *
starpu_sched_component_eager_prio_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager_prio(struct starpu_sched_component *);

/** To the least busy child whose workers the task's model does not know yet; then to the
 * least busy one. */
struct starpu_sched_component *
starpu_sched_component_eager_calibration_create(struct starpu_sched_tree *tree,
						void *arg);
int starpu_sched_component_is_eager_calibration(struct starpu_sched_component *);

/** What a decision weighs, as STARPU_SCHED_ALPHA, BETA, GAMMA and STARPU_IDLE_POWER,
 * which hold where it is NULL; nolock has no effect. */
struct starpu_sched_component_mct_data {
	double alpha;
	double beta;
	double _gamma;
	double idle_power;
	int nolock;
};

/** To the child where the task is expected to end at the least cost
 *   alpha * (end - least end) + beta * transfer + gamma * energy [J]
 *   + gamma * idle power * (end - last end of all) / 1e6,
 * end being when the child is free and the data have come, and the duration behind that.
 * Children whose workers are yet to be measured go first, the least busy of them. */
struct starpu_sched_component *
starpu_sched_component_mct_create(struct starpu_sched_tree *tree,
				  struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_mct(struct starpu_sched_component *component);

/** The same, for the tasks in the order of their priorities: those that a child refuses
 * stay here. */
struct starpu_sched_component *
starpu_sched_component_heft_create(struct starpu_sched_tree *tree,
				   struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_heft(struct starpu_sched_component *component);

/** Tasks by how much faster a device is than a core: devices take the first, cores the
 * last, unless devices would have done all tasks here sooner; by priority among equals.
 * batch, 0 or 1: ratios that differ by less than a tenth count as equal.  mct weighs
 * nothing here. */
struct starpu_sched_component_heteroprio_data {
	struct starpu_sched_component_mct_data *mct;
	unsigned batch;
};
struct starpu_sched_component *starpu_sched_component_heteroprio_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_heteroprio_data *params);
int starpu_sched_component_is_heteroprio(struct starpu_sched_component *component);

/** Sets the fastest implementation, or one that is yet to be measured, of the first
 * worker below that can execute the task, and what is predicted. */
struct starpu_sched_component *
starpu_sched_component_best_implementation_create(struct starpu_sched_tree *tree,
						  void *arg);

/** To one of three components, which are its children: by whether the task's model is yet
 * to be measured on some worker, there is none, or it knows. */
struct starpu_sched_component_perfmodel_select_data {
	struct starpu_sched_component *calibrator_component;
	struct starpu_sched_component *no_perfmodel_component;
	struct starpu_sched_component *perfmodel_component;
};
struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data);
int starpu_sched_component_is_perfmodel_select(struct starpu_sched_component *component);

/** Who pulls gets what the first parent has, then the second ... */
struct starpu_sched_component *
starpu_sched_component_stage_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_stage(struct starpu_sched_component *component);

/** To the child whose number is task->sched_data, (void *)0 the first. */
struct starpu_sched_component *
starpu_sched_component_userchoice_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_userchoice(struct starpu_sched_component *component);

/*
 * Several, one below the other, as one
 */

struct starpu_sched_component_composed_recipe;
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create(void);
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg);

/** One more, below those that are there. */
void starpu_sched_component_composed_recipe_add(
	struct starpu_sched_component_composed_recipe *recipe,
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg);
void starpu_sched_component_composed_recipe_destroy(
	struct starpu_sched_component_composed_recipe *);

/** Of a recipe that is not empty; of one component, that itself. */
struct starpu_sched_component *starpu_sched_component_composed_component_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_composed_recipe *recipe);

/*
 * A graph that follows the machine
 *
 * Each place of a level - a socket, a main memory where there are several, a cache - has
 * a component of that level's recipe above those of the places in it; workers are below
 * the innermost.  A recipe that is NULL leaves its level out, as a machine does that does
 * not tell of it (simulated ones know main memories).  Places of the same cores at
 * several levels are one below the other.
 */
struct starpu_sched_component_specs {
	struct starpu_sched_component_composed_recipe
		*hwloc_machine_composed_sched_component; /* of the root: not NULL */
	struct starpu_sched_component_composed_recipe
		*hwloc_component_composed_sched_component; /* of main memories */
	struct starpu_sched_component_composed_recipe
		*hwloc_socket_composed_sched_component;
	struct starpu_sched_component_composed_recipe
		*hwloc_cache_composed_sched_component; /* of each level of caches */
	/* The recipe of a component above each worker of a type, or NULL; called once for
	 * each worker.  NULL: none has any. */
	struct starpu_sched_component_composed_recipe *(*worker_composed_sched_component)(
		enum starpu_worker_archtype archtype);
	/* 1: workers of devices are below the components of the first core; 0: those of a
	 * type have components of their own for all levels, below the root. */
	int mix_heterogeneous_workers;
};

/** Make the tree of a context, of all workers of the node: for init_sched.  It is the
 * context's policy data as well.  The recipes may be destroyed afterwards. */
struct starpu_sched_tree *
starpu_sched_component_make_scheduler(unsigned sched_ctx_id,
				      struct starpu_sched_component_specs s);

/*
 * The usual graph
 *
 * From the top: a queue (FIFO_ABOVE), components that come first (PRE_DECISION), a choice
 * by models (PERFMODEL), the decision, and for each worker, memory or type of workers a
 * queue (FIFOS_BELOW), one that distributes to its workers (WS_BELOW: by stealing), who
 * chooses implementations (IMPL), and the workers.  Without DECIDE_* there is one place
 * for all; with one place there is no decision but with DECIDE_ALWAYS.  Queues above have
 * no limits, those below STARPU_NTASKS_THRESHOLD (2) and STARPU_EXP_LEN_THRESHOLD (1e9).
 */
#define STARPU_SCHED_SIMPLE_DECIDE_MASK         (3 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_WORKERS      (1 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_MEMNODES     (2 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_ARCHS        (3 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_ALWAYS       (1 << 3)
#define STARPU_SCHED_SIMPLE_PERFMODEL           (1 << 4)
#define STARPU_SCHED_SIMPLE_IMPL                (1 << 5)
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE          (1 << 6)
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO     (1 << 7)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW         (1 << 8)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO    (1 << 9)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY   (1 << 10)
#define STARPU_SCHED_SIMPLE_WS_BELOW            (1 << 11)
#define STARPU_SCHED_SIMPLE_COMBINED_WORKERS    (1 << 12)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP     (1 << 13)
#define STARPU_SCHED_SIMPLE_PRE_DECISION        (1 << 14)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT (1 << 16)

/** Make the tree of a context, of all workers of the node: for init_sched.  It is the
 * context's policy data as well. */
void starpu_sched_component_initialize_simple_scheduler(
	starpu_sched_component_create_t create_decision_component, void *data,
	unsigned flags, unsigned sched_ctx_id);

/** The same with ndecisions decisions, among which a userchoice chooses: each is create,
 * data, flags (of type unsigned), without PERFMODEL and all with the same DECIDE_*.
 * Flags that are PRE_DECISION alone are followed by create and data of a component that
 * comes before the decision, and by flags again. */
void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id,
							 unsigned ndecisions, ...);

/** A mutex of the application's; a worker is relaxed while it waits for it. */
#define STARPU_COMPONENT_MUTEX_LOCK(m)                                                   \
	do {                                                                             \
		const int relaxed_ = starpu_worker_get_relax_state();                    \
		if (!relaxed_)                                                           \
			starpu_worker_relax_on();                                        \
		STARPU_PTHREAD_MUTEX_LOCK((m));                                          \
		if (!relaxed_)                                                           \
			starpu_worker_relax_off();                                       \
	} while (0)
#define STARPU_COMPONENT_MUTEX_TRYLOCK(m) STARPU_PTHREAD_MUTEX_TRYLOCK((m))
#define STARPU_COMPONENT_MUTEX_UNLOCK(m)  STARPU_PTHREAD_MUTEX_UNLOCK((m))

#ifdef __cplusplus
}
#endif

#endif /* STARPU_SCHED_COMPONENT_H */
