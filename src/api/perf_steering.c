/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <starpu_perf_steering.h>

#include "api/api.h"
#include "api/perf_table.h"
#include "api/trace.h"
#include "base/check.h"
#include "core/sched/contexts.h"

enum {
	GLOBAL = starpu_perf_knob_scope_global,
	PER_WORKER = starpu_perf_knob_scope_per_worker,
	PER_SCHEDULER = starpu_perf_knob_scope_per_scheduler
};

enum knob {
	CALIBRATE,
	CATCH_SIGNALS,
	BIND_TO_PU,
	ENABLE_WORKER,
	MAX_PRIORITY,
	MIN_PRIORITY,
	WEIGHT
};

static const char *const scopes[PERF_NSCOPES] = {[GLOBAL] = "global",
						 [PER_WORKER] = "per_worker",
						 [PER_SCHEDULER] = "per_scheduler"};

/* Weights: behind WEIGHT in the order of enum sched_weight. */
static const struct perf_entry entries[] = {
	{"starpu.global.g_calibrate_knob",
	 "0: use models, 1: measure tasks, 2: measure them anew", GLOBAL, 0, 0,
	 CALIBRATE},
	{"starpu.global.g_enable_catch_signal_knob",
	 "0: signals that end the process are not caught to save a trace", GLOBAL, 0, 0,
	 CATCH_SIGNALS},
	{"starpu.worker.w_bind_to_pu_knob", "logical core that the worker is bound to",
	 PER_WORKER, 0, 0, BIND_TO_PU},
	{"starpu.worker.w_enable_worker_knob", "0: the worker takes no tasks", PER_WORKER,
	 0, 0, ENABLE_WORKER},
	{"starpu.task.s_max_priority_cap_knob",
	 "highest priority of tasks submitted from now on", PER_SCHEDULER, 0, 0,
	 MAX_PRIORITY},
	{"starpu.task.s_min_priority_cap_knob",
	 "lowest priority of tasks submitted from now on", PER_SCHEDULER, 0, 0,
	 MIN_PRIORITY},
	{"starpu.dmda.s_alpha_knob", "weight of the expected end", PER_SCHEDULER, 1, 0,
	 WEIGHT + SCHED_ALPHA},
	{"starpu.dmda.s_beta_knob", "weight of the time of transfers", PER_SCHEDULER, 1,
	 0, WEIGHT + SCHED_BETA},
	{"starpu.dmda.s_gamma_knob", "weight of the energy, microseconds per joule",
	 PER_SCHEDULER, 1, 0, WEIGHT + SCHED_GAMMA},
	{"starpu.dmda.s_idle_power_knob", "power of a worker that waits, watts",
	 PER_SCHEDULER, 1, 0, WEIGHT + SCHED_IDLE_POWER},
};

static const struct perf_table table = {.noun = "knob",
					.scopes = scopes,
					.entries = entries,
					.nentries = sizeof(entries) / sizeof(entries[0])};

/* ---- names ----------------------------------------------------------- */

int starpu_perf_knob_scope_name_to_id(const char *name)
{
	return perf_scope(&table, name);
}

const char *starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope)
{
	return perf_scope_name(&table, (int)scope);
}

int starpu_perf_knob_type_name_to_id(const char *name)
{
	return perf_type(name);
}

const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type)
{
	return perf_type_name((int)type);
}

int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope)
{
	return perf_count(&table, (int)scope);
}

int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope, const char *name)
{
	return perf_named(&table, (int)scope, name);
}

int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth)
{
	return perf_nth(&table, (int)scope, nth);
}

const char *starpu_perf_knob_id_to_name(int id)
{
	const struct perf_entry *entry = perf_find(&table, id);

	return entry ? entry->name : NULL;
}

int starpu_perf_knob_get_type_id(int id)
{
	return perf_type_of(perf_find(&table, id));
}

const char *starpu_perf_knob_get_help_string(int id)
{
	const struct perf_entry *entry = perf_find(&table, id);

	return entry ? entry->help : NULL;
}

void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope)
{
	perf_list(&table, (int)scope);
}

void starpu_perf_knob_list_all_avail(void)
{
	perf_list_all(&table);
}

/* ---- whose knob ------------------------------------------------------ */

/* The node (both NULL), a worker, or a policy's schedulers. */
struct subject {
	struct worker *worker;
	const char *policy;
};

static int scope_of(struct subject subject)
{
	if (subject.policy)
		return PER_SCHEDULER;
	return subject.worker ? PER_WORKER : GLOBAL;
}

static struct subject of_worker(const char *func, unsigned workerid)
{
	struct node *node = api_node(func);

	if (workerid >= (unsigned)node->nworkers)
		orr_die(node->rank, "%s: there is no worker %u; expected 0 to %d", func,
			workerid, node->nworkers - 1);
	return (struct subject){.worker = &node->workers[workerid]};
}

static struct subject of_policy(const char *func, const char *policy)
{
	api_given(func, "sched_policy_name", policy);
	return (struct subject){.policy = policy};
}

/* ---- one value ------------------------------------------------------- */

/* What a knob is set to, or where its value goes. */
struct turn {
	const char *func;
	const struct perf_entry *entry;
	struct node *node;
	struct subject subject;
	double value; /* exact: integers have 32 bits */
	int is_set;
};

/* 0, or -1: the scheduler has no such knob. */
static int turn_scheduler(struct turn *turn, struct sched *sched)
{
	int *limit = turn->entry->what == MAX_PRIORITY ? &sched->max_priority
						       : &sched->min_priority;

	if (turn->entry->what >= WEIGHT) {
		if (!sched->ops->weigh)
			return -1;
		return sched->ops->weigh(sched,
					 (enum sched_weight)(turn->entry->what - WEIGHT),
					 &turn->value, turn->is_set);
	}
	if (turn->is_set)
		orr_store(limit, (int)turn->value);
	else
		turn->value = orr_load(limit);
	return 0;
}

static const char *policy_of(const struct sched *sched)
{
	const char *name = sched->policy ? sched->policy->policy_name
					 : sched->ops->object.policy_name;

	return name ? name : "";
}

/* All that have the policy, or to read it, one. */
static void turn_schedulers(struct turn *turn)
{
	struct node *node = turn->node;
	int nfound = 0, nturned = 0;

	orr_lock(&node->scheds_lock);
	for (int i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct sched *sched = node->scheds[i];

		if (!sched || strcmp(policy_of(sched), turn->subject.policy) != 0)
			continue;
		if (nturned > 0 && !turn->is_set)
			break;
		nfound++;
		nturned += turn_scheduler(turn, sched) == 0;
	}
	orr_unlock(&node->scheds_lock);
	if (nfound == 0)
		orr_complain(node->rank,
			     "%s: no scheduler has policy \"%s\"; nothing is changed",
			     turn->func, turn->subject.policy);
	else if (nturned == 0)
		orr_complain(node->rank,
			     "%s: policy %s has no %s; it is one of dmda, dmdap, dmdar, "
			     "dmdas and dmdasd",
			     turn->func, turn->subject.policy, turn->entry->name);
}

static void bind_worker(const struct turn *turn)
{
	struct worker *worker = turn->subject.worker;

	if (worker->type != STARPU_CPU_WORKER ||
	    plat_bind_worker(worker, (int)turn->value) < 0)
		orr_complain(turn->node->rank,
			     "%s: worker %d cannot be bound to core %d; expected a CPU "
			     "worker of a real run that is bound (STARPU_WORKERS_NOBIND "
			     "is not set), and a logical core of this machine",
			     turn->func, worker->id, (int)turn->value);
}

static int bound_to(const struct worker *worker)
{
	return worker->type == STARPU_CPU_WORKER
		       ? plat_worker_bindid(worker->node->plat, worker->devid)
		       : -1;
}

static void turn_it(struct turn *turn)
{
	struct worker *worker = turn->subject.worker;

	switch (turn->entry->what) {
	case CALIBRATE:
		if (turn->is_set)
			orr_store(&turn->node->calibrate, (int)turn->value);
		else
			turn->value = orr_load(&turn->node->calibrate);
		break;
	case CATCH_SIGNALS:
		if (turn->is_set)
			trace_catch_signals(turn->node, (int)turn->value);
		else
			turn->value = orr_load(&turn->node->catch_signals);
		break;
	case BIND_TO_PU:
		if (turn->is_set)
			bind_worker(turn);
		else
			turn->value = bound_to(worker);
		break;
	case ENABLE_WORKER:
		if (turn->is_set)
			contexts_hold(worker, HELD_BY_KNOB, turn->value == 0);
		else
			turn->value = !(orr_load(&worker->held) >> HELD_BY_KNOB & 1);
		break;
	default:
		turn_schedulers(turn);
	}
}

static struct turn begin_turn(const char *func, int id, struct subject subject,
			      int is_real)
{
	struct turn turn = {.func = func, .subject = subject};

	turn.node = api_node(func);
	turn.entry = perf_at(&table, func, id, scope_of(subject));
	perf_check_kind(turn.entry, func, is_real);
	return turn;
}

static double get(const char *func, int id, struct subject subject, int is_real)
{
	struct turn turn = begin_turn(func, id, subject, is_real);

	turn_it(&turn);
	return turn.value;
}

static void set(struct turn *turn, double value, double least, double most)
{
	if (!(value >= least && value <= most)) {
		orr_complain(turn->node->rank,
			     "%s: %s cannot be %g; expected %g to %g; nothing is changed",
			     turn->func, turn->entry->name, value, least, most);
		return;
	}
	turn->is_set = 1;
	turn->value = value;
	turn_it(turn);
}

static int64_t get_integer(const char *func, int id, struct subject subject)
{
	return (int64_t)get(func, id, subject, 0);
}

static double get_real(const char *func, int id, struct subject subject)
{
	return get(func, id, subject, 1);
}

static void set_integer(const char *func, int id, struct subject subject, int64_t value)
{
	struct turn turn = begin_turn(func, id, subject, 0);
	int is_priority = scope_of(subject) == PER_SCHEDULER;
	int most = turn.entry->what == CALIBRATE       ? 2
		   : turn.entry->what == ENABLE_WORKER ? 1
		   : turn.entry->what == CATCH_SIGNALS ? 1
						       : INT_MAX;

	set(&turn, (double)value, is_priority ? INT_MIN : 0, most);
}

static void set_real(const char *func, int id, struct subject subject, double value)
{
	struct turn turn = begin_turn(func, id, subject, 1);

	set(&turn, value, 0, HUGE_VAL);
}

int32_t starpu_perf_knob_get_global_int32_value(const int knob_id)
{
	return (int32_t)get_integer(__func__, knob_id, (struct subject){0});
}

int64_t starpu_perf_knob_get_global_int64_value(const int knob_id)
{
	return get_integer(__func__, knob_id, (struct subject){0});
}

float starpu_perf_knob_get_global_float_value(const int knob_id)
{
	return (float)get_real(__func__, knob_id, (struct subject){0});
}

double starpu_perf_knob_get_global_double_value(const int knob_id)
{
	return get_real(__func__, knob_id, (struct subject){0});
}

void starpu_perf_knob_set_global_int32_value(const int knob_id, int32_t new_value)
{
	set_integer(__func__, knob_id, (struct subject){0}, new_value);
}

void starpu_perf_knob_set_global_int64_value(const int knob_id, int64_t new_value)
{
	set_integer(__func__, knob_id, (struct subject){0}, new_value);
}

void starpu_perf_knob_set_global_float_value(const int knob_id, float new_value)
{
	set_real(__func__, knob_id, (struct subject){0}, new_value);
}

void starpu_perf_knob_set_global_double_value(const int knob_id, double new_value)
{
	set_real(__func__, knob_id, (struct subject){0}, new_value);
}

int32_t starpu_perf_knob_get_per_worker_int32_value(const int knob_id, unsigned workerid)
{
	return (int32_t)get_integer(__func__, knob_id, of_worker(__func__, workerid));
}

int64_t starpu_perf_knob_get_per_worker_int64_value(const int knob_id, unsigned workerid)
{
	return get_integer(__func__, knob_id, of_worker(__func__, workerid));
}

float starpu_perf_knob_get_per_worker_float_value(const int knob_id, unsigned workerid)
{
	return (float)get_real(__func__, knob_id, of_worker(__func__, workerid));
}

double starpu_perf_knob_get_per_worker_double_value(const int knob_id, unsigned workerid)
{
	return get_real(__func__, knob_id, of_worker(__func__, workerid));
}

void starpu_perf_knob_set_per_worker_int32_value(const int knob_id, unsigned workerid,
						 int32_t new_value)
{
	set_integer(__func__, knob_id, of_worker(__func__, workerid), new_value);
}

void starpu_perf_knob_set_per_worker_int64_value(const int knob_id, unsigned workerid,
						 int64_t new_value)
{
	set_integer(__func__, knob_id, of_worker(__func__, workerid), new_value);
}

void starpu_perf_knob_set_per_worker_float_value(const int knob_id, unsigned workerid,
						 float new_value)
{
	set_real(__func__, knob_id, of_worker(__func__, workerid), new_value);
}

void starpu_perf_knob_set_per_worker_double_value(const int knob_id, unsigned workerid,
						  double new_value)
{
	set_real(__func__, knob_id, of_worker(__func__, workerid), new_value);
}

int32_t starpu_perf_knob_get_per_scheduler_int32_value(const int knob_id,
						       const char *sched_policy_name)
{
	return (int32_t)get_integer(__func__, knob_id,
				    of_policy(__func__, sched_policy_name));
}

int64_t starpu_perf_knob_get_per_scheduler_int64_value(const int knob_id,
						       const char *sched_policy_name)
{
	return get_integer(__func__, knob_id, of_policy(__func__, sched_policy_name));
}

float starpu_perf_knob_get_per_scheduler_float_value(const int knob_id,
						     const char *sched_policy_name)
{
	return (float)get_real(__func__, knob_id, of_policy(__func__, sched_policy_name));
}

double starpu_perf_knob_get_per_scheduler_double_value(const int knob_id,
						       const char *sched_policy_name)
{
	return get_real(__func__, knob_id, of_policy(__func__, sched_policy_name));
}

void starpu_perf_knob_set_per_scheduler_int32_value(const int knob_id,
						    const char *sched_policy_name,
						    int32_t new_value)
{
	set_integer(__func__, knob_id, of_policy(__func__, sched_policy_name), new_value);
}

void starpu_perf_knob_set_per_scheduler_int64_value(const int knob_id,
						    const char *sched_policy_name,
						    int64_t new_value)
{
	set_integer(__func__, knob_id, of_policy(__func__, sched_policy_name), new_value);
}

void starpu_perf_knob_set_per_scheduler_float_value(const int knob_id,
						    const char *sched_policy_name,
						    float new_value)
{
	set_real(__func__, knob_id, of_policy(__func__, sched_policy_name), new_value);
}

void starpu_perf_knob_set_per_scheduler_double_value(const int knob_id,
						     const char *sched_policy_name,
						     double new_value)
{
	set_real(__func__, knob_id, of_policy(__func__, sched_policy_name), new_value);
}
