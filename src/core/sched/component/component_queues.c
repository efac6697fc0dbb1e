/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components that keep tasks: in order of arrival, by priority, one queue for each child.
 */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/nearness.h"
#include "core/sched/component/component.h"
#include "core/task/task.h"

/* ---- what they share ------------------------------------------------- */

/* Tasks and what they are predicted to take. */
struct store {
	struct tasks tasks;
	double us;
};

static void store_put(struct store *store, struct starpu_task *task, int key,
		      int is_first)
{
	tasks_push(&store->tasks, task, key, is_first);
	store->us += component_predicted_us(task);
}

static struct starpu_task *store_take(struct store *store, struct starpu_task *task)
{
	if (!task)
		return NULL;
	tasks_take(&store->tasks, task);
	store->us -= component_predicted_us(task);
	if (store->tasks.ntasks == 0)
		store->us = 0; /* No rounding stays. */
	return task;
}

static void store_drain(struct store *store, component_t *component, struct tasks *out)
{
	struct starpu_task *task;

	while ((task = store_take(store, component_find_other(&store->tasks, component))))
		tasks_push(out, task, task->priority, 0);
}

static double mean_speed(component_t *component)
{
	double sum = component_speed(component);

	return sum > 0 ? sum / starpu_bitmap_cardinal(&component->workers_in_ctx) : 1;
}

/* ---- one queue ------------------------------------------------------- */

enum {
	LOOKS = 16,       /* tasks among which the readiest is sought */
	MOST_REJECTED = 8 /* at a time */
};

struct fifo {
	struct store store;
	struct starpu_sched_component_fifo_data limits;
	int by_priority;
	int is_asking; /* parents, for more */
	/* Nobody took anything, when that was asked. */
	struct refusal {
		const component_t *to;
		unsigned round, changes;
	} refusal;
};

static struct fifo *fifo_of(component_t *component)
{
	return component->data;
}

static void fifo_free(component_t *component)
{
	tasks_free(&fifo_of(component)->store.tasks);
	free(component->data);
}

static int fifo_key(const struct fifo *fifo, const struct starpu_task *task)
{
	return fifo->by_priority ? task->priority : 0;
}

static void keep(component_t *component, struct starpu_task *task, int is_first)
{
	struct fifo *fifo = fifo_of(component);

	store_put(&fifo->store, task, fifo_key(fifo, task), is_first);
	lanes_note(component);
}

static struct starpu_task *give(component_t *component, struct starpu_task *task)
{
	if (store_take(&fifo_of(component)->store, task))
		lanes_note(component);
	return task;
}

static int is_full(const struct fifo *fifo, const struct starpu_task *task)
{
	const struct starpu_sched_component_fifo_data *limits = &fifo->limits;
	unsigned n = fifo->store.tasks.ntasks;

	if (limits->ntasks_threshold && n >= limits->ntasks_threshold)
		return 1;
	return limits->exp_len_threshold > 0 && n > 0 &&
	       fifo->store.us + component_predicted_us(task) > limits->exp_len_threshold;
}

static int fifo_push(component_t *component, struct starpu_task *task)
{
	struct fifo *fifo = fifo_of(component);
	int refuses;

	tree_enter(tree_of(component));
	refuses = is_full(fifo, task);
	if (!refuses) {
		keep(component, task, 0);
		component_prefetch(component, task);
		component->can_pull(component);
	}
	tree_leave(tree_of(component));
	return refuses;
}

int component_is_full(const component_t *component, const struct starpu_task *task)
{
	return component->push_task == fifo_push && is_full(component->data, task);
}

int component_will_refuse(component_t *component, struct starpu_task *task)
{
	const struct component_kind *kind =
		ORR_CONTAINER(component, struct component, base)->kind;

	return kind && kind->refuses && component->push_task == kind->push &&
	       kind->refuses(component, task);
}

struct readiest {
	component_t *to;
	unsigned memory;
	int nlooks, priority;
	struct starpu_task *best;
	size_t bytes;
};

static int look_at(struct starpu_task *task, void *arg)
{
	struct readiest *r = arg;
	size_t bytes;

	if (r->nlooks++ == LOOKS || (r->best && task->priority != r->priority))
		return 1;
	if (!component_can_run(r->to, task))
		return 0;
	bytes = nearness_lacks_bytes(task->starpu_private, r->memory);
	if (!r->best || bytes < r->bytes) {
		r->best = task;
		r->bytes = bytes;
		r->priority = task->priority;
	}
	return bytes == 0;
}

static struct starpu_task *fifo_choose(struct fifo *fifo, component_t *to)
{
	struct readiest r = {.to = to};
	const struct worker *worker = component_worker(to);

	if (fifo->limits.ready && worker) {
		r.memory = worker->memory;
		tasks_find(&fifo->store.tasks, 0, look_at, NULL, &r);
		if (r.best)
			return r.best;
	}
	return component_find(&fifo->store.tasks, 0, to);
}

/* Parents may push here while they are asked. */
static int ask_for_more(component_t *component)
{
	struct fifo *fifo = fifo_of(component);
	int did;

	if (fifo->is_asking)
		return 0;
	fifo->is_asking = 1;
	did = component_ask_parents(component);
	fifo->is_asking = 0;
	return did;
}

static struct starpu_task *fifo_pull(component_t *component, component_t *to)
{
	struct fifo *fifo = fifo_of(component);
	struct starpu_task *task;

	tree_enter(tree_of(component));
	task = give(component, fifo_choose(fifo, to));
	if (!task && ask_for_more(component))
		task = give(component, fifo_choose(fifo, to));
	if (!task)
		task = component_parents_pull(component, to);
	else
		ask_for_more(component);
	tree_leave(tree_of(component));
	return task;
}

/* A component may be asked once for each way that leads from it to who asks, but what
 * was refused a moment ago will be refused again. */
static int is_refused_again(component_t *component, const component_t *to)
{
	const struct tree *tree = tree_of(component);
	const struct refusal *refusal = &fifo_of(component)->refusal;

	return tree->nasking > 0 && refusal->to == to && refusal->round == tree->round &&
	       refusal->changes == tree->changes;
}

/* Those that were refused, in their order; the first nout are out of the store. */
struct offers {
	component_t *from, *to;
	int n, nout;
	struct starpu_task *refused[MOST_REJECTED];
};

/* The next task to offer, or that of which too many are refused.  Who will be refused
 * stays at its place. */
static int is_next(struct starpu_task *task, void *arg)
{
	struct offers *offers = arg;
	double before_us;

	if (!component_can_run(offers->to, task))
		return 0;
	before_us = component_predicted_us(task);
	if (!component_will_refuse(offers->to, task))
		return 1;
	fifo_of(offers->from)->store.us += component_predicted_us(task) - before_us;
	offers->refused[offers->n++] = task;
	return offers->n == MOST_REJECTED;
}

static unsigned kinds_of_offers(void *offers)
{
	return component_kinds(((struct offers *)offers)->to);
}

/* Whoever comes here while it is pushed finds what is behind it. */
static int offer(struct offers *offers, struct starpu_task *task)
{
	while (offers->nout < offers->n)
		give(offers->from, offers->refused[offers->nout++]);
	give(offers->from, task);
	if (offers->to->push_task(offers->to, task) == 0)
		return 1;
	offers->refused[offers->n++] = task;
	offers->nout++;
	return 0;
}

static int offer_in_place(component_t *component, component_t *to)
{
	struct offers offers = {.from = component, .to = to};
	const struct tasks *tasks = &fifo_of(component)->store.tasks;
	struct starpu_task *task;
	int n = 0;

	while (offers.n < MOST_REJECTED &&
	       (task = tasks_find(tasks, 0, is_next, kinds_of_offers, &offers)) &&
	       offers.n < MOST_REJECTED)
		n += offer(&offers, task);
	while (offers.nout-- > 0)
		keep(component, offers.refused[offers.nout], 1);
	return n;
}

static int offer_each(component_t *component, component_t *to)
{
	struct starpu_task *rejected[MOST_REJECTED];
	int n = 0, nrejected = 0, npushed;

	do {
		rejected[nrejected] = component_pump(component, to, &npushed);
		n += npushed;
	} while (rejected[nrejected] && ++nrejected < MOST_REJECTED);
	while (nrejected-- > 0)
		keep(component, rejected[nrejected], 1);
	return n;
}

/* Others may push to it, or take from it, while a task is looked at. */
static int may_stay(component_t *component, component_t *to)
{
	const struct component_kind *kind =
		ORR_CONTAINER(to, struct component, base)->kind;

	return component->nparents == 0 && component->pull_task == fifo_pull &&
	       !fifo_of(component)->limits.ready && kind && kind->refuses &&
	       to->push_task == kind->push;
}

/* A task that is refused does not hold up those behind it: others may be for children
 * that have room. */
static int fifo_can_push(component_t *component, component_t *to)
{
	struct tree *tree = tree_of(component);
	int n;

	tree_enter(tree);
	if (is_refused_again(component, to)) {
		tree_leave(tree);
		return 0;
	}
	n = may_stay(component, to) ? offer_in_place(component, to)
				    : offer_each(component, to);
	if (n == 0)
		fifo_of(component)->refusal = (struct refusal){
			.to = to, .round = tree->round, .changes = tree->changes};
	tree_leave(tree);
	return n > 0;
}

static double fifo_load(component_t *component)
{
	return component_load(component) +
	       fifo_of(component)->store.tasks.ntasks / mean_speed(component);
}

double component_fifo_us(component_t *component)
{
	return fifo_of(component)->store.us;
}

double component_fifo_end_us(component_t *component)
{
	struct lane lane;

	if (lane_of(component, &lane))
		return lane_end_us(&lane, component_now_us(component));
	return component_end_behind_us(component, component_fifo_us(component));
}

static void fifo_drain(component_t *component, struct tasks *out)
{
	store_drain(&fifo_of(component)->store, component, out);
	lanes_note(component);
}

const struct component_kind component_kind_fifo = {.name = "fifo", .drain = fifo_drain};
const struct component_kind component_kind_prio = {.name = "prio", .drain = fifo_drain};

static component_t *queue(struct starpu_sched_tree *tree,
			  const struct starpu_sched_component_fifo_data *limits,
			  const struct component_kind *kind)
{
	component_t *component = component_new(tree, kind->name, kind);
	struct fifo *fifo = orr_alloc(sizeof(*fifo));

	if (limits)
		fifo->limits = *limits;
	fifo->by_priority = kind == &component_kind_prio;
	component->data = fifo;
	component->push_task = fifo_push;
	component->pull_task = fifo_pull;
	component->can_push = fifo_can_push;
	component->estimated_load = fifo_load;
	component->estimated_end = component_fifo_end_us;
	component->deinit_data = fifo_free;
	return component;
}

component_t *component_fifo(struct starpu_sched_tree *tree, void *data)
{
	return queue(tree, data, &component_kind_fifo);
}

component_t *component_prio(struct starpu_sched_tree *tree, void *data)
{
	const struct starpu_sched_component_prio_data *prio = data;
	struct starpu_sched_component_fifo_data limits = {0};

	if (prio)
		limits = (struct starpu_sched_component_fifo_data){
			.ntasks_threshold = prio->ntasks_threshold,
			.exp_len_threshold = prio->exp_len_threshold,
			.ready = prio->ready,
			.exp = prio->exp};
	return queue(tree, &limits, &component_kind_prio);
}

/* ---- one queue for each child ---------------------------------------- */

struct stealing {
	struct store *stores; /* by child, and as many as there ever were */
	unsigned nstores, next;
};

static struct stealing *stealing_of(component_t *component)
{
	return component->data;
}

static void stealing_free(component_t *component)
{
	struct stealing *stealing = stealing_of(component);

	for (unsigned i = 0; i < stealing->nstores; i++)
		tasks_free(&stealing->stores[i].tasks);
	free(stealing->stores);
	free(stealing);
}

static void stealing_add_child(component_t *component, component_t *child)
{
	struct stealing *stealing = stealing_of(component);

	component_add_child(component, child);
	if (stealing->nstores >= component->nchildren)
		return;
	stealing->stores = orr_realloc(stealing->stores,
				       component->nchildren * sizeof(struct store));
	stealing->stores[stealing->nstores++] = (struct store){0};
}

static void put(component_t *component, unsigned i, struct starpu_task *task)
{
	store_put(&stealing_of(component)->stores[i], task, task->priority, 0);
	component_can_pull_all(component);
}

static int stealing_push(component_t *component, struct starpu_task *task)
{
	struct stealing *stealing = stealing_of(component);
	int refuses = 1;

	tree_enter(tree_of(component));
	for (unsigned k = 0; k < component->nchildren && refuses; k++) {
		unsigned i = (stealing->next + k) % component->nchildren;

		if (!component_can_run(component->children[i], task))
			continue;
		stealing->next = i + 1;
		put(component, i, task);
		refuses = 0;
	}
	tree_leave(tree_of(component));
	return refuses;
}

/* The child above that worker, nchildren if none is. */
static unsigned child_of(component_t *component, int worker)
{
	unsigned i = 0;

	while (i < component->nchildren &&
	       !starpu_bitmap_get(&component->children[i]->workers, worker))
		i++;
	return i;
}

int component_stealing_push_own(component_t *component, struct worker *worker,
				struct starpu_task *task)
{
	unsigned i = child_of(component, worker->id);

	if (i == component->nchildren || !component_can_run(component->children[i], task))
		return 1;
	put(component, i, task);
	return 0;
}

/* Its own queue from the first task on, those of others from the last, and of children
 * that have been taken out. */
static struct starpu_task *find(component_t *component, component_t *to)
{
	struct stealing *stealing = stealing_of(component);
	const struct worker *worker = component_worker(to);
	unsigned own = worker ? child_of(component, worker->id) : 0;
	struct starpu_task *task = NULL;

	for (unsigned k = 0; k < stealing->nstores && !task; k++) {
		struct store *store = &stealing->stores[(own + k) % stealing->nstores];

		task = store_take(store, component_find(&store->tasks, k > 0, to));
	}
	return task;
}

static struct starpu_task *stealing_pull(component_t *component, component_t *to)
{
	struct starpu_task *task;

	tree_enter(tree_of(component));
	task = find(component, to);
	if (!task && component_ask_parents(component))
		task = find(component, to);
	if (!task)
		task = component_parents_pull(component, to);
	tree_leave(tree_of(component));
	return task;
}

static double stealing_load(component_t *component)
{
	struct stealing *stealing = stealing_of(component);
	double n = 0;

	for (unsigned i = 0; i < stealing->nstores; i++)
		n += stealing->stores[i].tasks.ntasks;
	return component_load(component) + n / mean_speed(component);
}

static double stealing_end_us(component_t *component)
{
	struct stealing *stealing = stealing_of(component);
	double us = 0;

	for (unsigned i = 0; i < stealing->nstores; i++)
		us += stealing->stores[i].us;
	return component_end_mean_us(component) +
	       us / (component->nchildren ? component->nchildren : 1);
}

static void stealing_drain(component_t *component, struct tasks *out)
{
	struct stealing *stealing = stealing_of(component);

	for (unsigned i = 0; i < stealing->nstores; i++)
		store_drain(&stealing->stores[i], component, out);
}

const struct component_kind component_kind_stealing = {.name = "work stealing",
						       .drain = stealing_drain};

component_t *component_stealing(struct starpu_sched_tree *tree, void *data)
{
	component_t *component =
		component_new(tree, "work stealing", &component_kind_stealing);

	(void)data;
	component->data = orr_alloc(sizeof(struct stealing));
	component->add_child = stealing_add_child;
	component->push_task = stealing_push;
	component->pull_task = stealing_pull;
	component->can_pull = component_can_pull_all;
	component->estimated_load = stealing_load;
	component->estimated_end = stealing_end_us;
	component->deinit_data = stealing_free;
	return component;
}
