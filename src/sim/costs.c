/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>

#include "base/decimal.h"
#include "base/table.h"
#include "core/data/data.h"
#include "core/sched/sched.h"
#include "sim.h"
#include "wire.h"

/*
 * costs.c - what the software of a node takes, from the properties of its host or from
 * knobs; when messages are looked for that come to a node whose cores all run tasks; and
 * which values no cache holds any more (decision 081); what the library's own data cost
 * after a kernel that has used the caches (the same).
 */

/* Who waits polls for so long, and sleeps then (real/helper.c, real/wait.c): a worker, or
 * a main where nothing can come from others; a main that looks for messages. */
#define AWAKE_S      100e-6
#define MAIN_AWAKE_S 320e-6

#define PAGE_BYTES 4096.0

/*
 * What messages and tasks have brought into the caches of a node, and how much that was
 * when each datum was last among it.  The address of a datum stands for its memory, and
 * as that of a datum that is gone serves another, so does the address: nobody is told
 * when it ends, or each that lives for a while would count as bytes between others.
 */
struct sets {
	struct wire_pieces factor; /* of the bandwidth, by bytes in between */
	struct wire_pieces small;  /* the same of values of 64 KiB; none: not known */
	struct table last;         /* by datum: a count of bytes, plus 1 */
	double moved_bytes;
	double distinct_bytes; /* of all data that have been there: no more lie between */
};

/* ---- figures ----------------------------------------------------------- */

/* A knob that the user has set, else the property, else what the knob is without. */
static double figure(struct plat *plat, const char *name, const char *knob, double value)
{
	const char *text = knobs_raw(knob);

	return text && *text ? value : machine_property(plat, name, value);
}

static void read_charges(struct plat *plat, const struct knobs *knobs)
{
	struct plat_costs *costs = &plat->machine.costs;

	costs->submit_s =
		figure(plat, "submit_cost", "ORRERY_SUBMIT_COST", knobs->submit_s);
	costs->datum_s = figure(plat, "submit_datum_cost", "ORRERY_SUBMIT_DATUM_COST",
				knobs->datum_s);
	costs->insert_s =
		figure(plat, "insert_cost", "ORRERY_INSERT_COST", knobs->insert_s);
	costs->post_s = figure(plat, "post_cost", "ORRERY_POST_COST", knobs->post_s);
	costs->exchange_s =
		figure(plat, "exchange_cost", "ORRERY_EXCHANGE_COST", knobs->exchange_s);
}

static int refuse_pieces(const struct plat *plat, const char *name, const char *text,
			 const char *unit)
{
	orr_complain(plat->node->rank,
		     "platform file: property \"%s\" of host %s is \"%s\": expected "
		     "up to %d of bytes:%s, with ; between",
		     name, sg_host_get_name(plat->host), text, WIRE_MAX_PIECES, unit);
	return -ENODEV;
}

/* Seconds are divided by them. */
static int are_factors(const struct wire_pieces *pieces)
{
	for (int i = 0; i < pieces->n; i++)
		if (!(pieces->piece[i].value[0] > 0 &&
		      isfinite(pieces->piece[i].value[0])))
			return 0;
	return 1;
}

/* 0 or -ENODEV; without the property there are no sets. */
static int read_sets(struct plat *plat)
{
	const char *names[2] = {"copy_factors", "small_copy_factors"};
	struct wire_pieces factors[2] = {{.n = 0}};

	for (int i = 0; i < 2; i++) {
		const char *text = machine_text(plat, names[i]);

		if (text &&
		    (pieces_parse(&factors[i], text) < 0 || !are_factors(&factors[i])))
			return refuse_pieces(plat, names[i], text, "factor, above 0");
	}
	if (factors[0].n == 0 && factors[1].n == 0)
		return 0;
	plat->sets = orr_alloc(sizeof(*plat->sets));
	plat->sets->factor = factors[0];
	plat->sets->small = factors[1];
	return 0;
}

static int read_cold(struct plat *plat)
{
	const char *name = "cold_costs", *text = machine_text(plat, name);
	struct wire_pieces cold;
	int is_sound;

	if (!text)
		return 0;
	is_sound = pieces_parse(&cold, text) == 0;
	for (int i = 0; i < cold.n && is_sound; i++)
		is_sound = cold.piece[i].value[0] >= 0 && cold.piece[i].value[0] < 1 &&
			   cold.piece[i].value[1] == 0;
	if (!is_sound)
		return refuse_pieces(plat, name, text, "seconds, from 0 to less than 1");
	plat->costs.cold = orr_alloc(sizeof(*plat->costs.cold));
	*plat->costs.cold = cold;
	return 0;
}

/* Which is asked for when the policy is known: all have to be right before. */
static int read_pushes(struct plat *plat)
{
	const char *name = "push_costs", *text = machine_text(plat, name), *at = text;

	for (int n = 0; at && (n == 0 || *at); n++) {
		size_t length = strcspn(at, ":;");
		char *end = NULL;
		double seconds = -1;

		if (length > 0 && at[length] == ':')
			seconds = decimal_read(at + length + 1, &end);
		if (!(seconds >= 0 && seconds < 1) || end == at + length + 1 ||
		    (*end != ';' && *end != 0)) {
			orr_complain(
				plat->node->rank,
				"platform file: property \"%s\" of host %s is \"%s\": "
				"expected POLICY:SECONDS, from 0 to less than 1, with ; "
				"between, such as lws:3e-7;dmda:4e-7",
				name, sg_host_get_name(plat->host), text);
			return -ENODEV;
		}
		at = end + (*end == ';');
	}
	plat->costs.push_by_policy = text;
	return 0;
}

int costs_read(struct plat *plat)
{
	const struct knobs *knobs = node_knobs(plat->node);
	struct sim_costs *costs = &plat->costs;
	const char *push = knobs_raw("ORRERY_PUSH_COST");

	read_charges(plat, knobs);
	costs->push_s = figure(plat, "push_cost", "ORRERY_PUSH_COST", knobs->push_s);
	costs->datum_s = figure(plat, "fetch_cost", "ORRERY_FETCH_COST", knobs->fetch_s);
	costs->has_datum = machine_text(plat, "fetch_cost") != NULL;
	costs->wake_s = figure(plat, "wake_cost", "ORRERY_WAKE_COST", knobs->wake_s);
	costs->main_wake_s = figure(plat, "main_wake_cost", "ORRERY_MAIN_WAKE_COST",
				    knobs->main_wake_s);
	costs->look_s = figure(plat, "poll_wait", "ORRERY_POLL_WAIT", knobs->look_s);
	costs->page_s = figure(plat, "page_cost", "ORRERY_PAGE_COST", knobs->page_s);
	costs->lone_copy =
		figure(plat, "lone_copy", "ORRERY_LONE_COPY", knobs->lone_copy);
	costs->switch_s =
		figure(plat, "switch_cost", "ORRERY_SWITCH_COST", knobs->switch_s);
	if (read_sets(plat) < 0 || read_cold(plat) < 0 || read_pushes(plat) < 0) {
		costs_close(plat);
		return -ENODEV;
	}
	if (push && *push)
		costs->push_by_policy = NULL;
	return 0;
}

void costs_close(struct plat *plat)
{
	for (struct look *look = plat->looks; look; look = look->next)
		look->plat = NULL;
	plat->looks = plat->last_look = NULL;
	free(plat->costs.cold);
	plat->costs.cold = NULL;
	if (!plat->sets)
		return;
	table_free(&plat->sets->last);
	free(plat->sets);
	plat->sets = NULL;
}

/* "lws:3e-7;dmda:9e-7": the policy's, or what holds for all. */
static double push_of_policy(const struct sim_costs *costs, const struct node *node)
{
	const char *name = node->policy ? node->policy->policy_name : NULL;
	const char *at = costs->push_by_policy;
	size_t length = name ? strlen(name) : 0;

	for (; length && *at; at += strcspn(at, ";"), at += *at == ';')
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			return decimal_read(at + length + 1, NULL);
	return costs->push_s;
}

/* The policy is known by now: which it is does not change. */
static double push_s(struct plat *plat)
{
	struct sim_costs *costs = &plat->costs;

	if (costs->push_by_policy) {
		costs->push_s = push_of_policy(costs, plat->node);
		costs->push_by_policy = NULL;
	}
	return costs->push_s;
}

double costs_of_task_s(struct plat *plat, double kernel_s, int ndata)
{
	const struct knobs *knobs = node_knobs(plat->node);
	double seconds = kernel_s;

	if (knobs->push_cost)
		seconds += push_s(plat);
	if (knobs->fetch_cost || plat->costs.has_datum)
		seconds += plat->costs.datum_s * ndata;
	return seconds;
}

double costs_cold_s(const struct plat *plat, struct starpu_task *task)
{
	const struct wire_pieces *cold = plat->costs.cold;
	size_t bytes = 0;

	if (!cold || !task->cl)
		return 0;
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
		bytes += data_bytes(STARPU_TASK_GET_HANDLE(task, i));
	return pieces_at(cold, (double)bytes, 0);
}

double costs_wake_s(double wake_s, double since_s, double now_s)
{
	return now_s - since_s > AWAKE_S ? wake_s : 0;
}

double costs_main_wake_s(const struct plat *plat, double since_s, double now_s)
{
	double awake_s = plat->node->size > 1 ? MAIN_AWAKE_S : AWAKE_S;

	return now_s - since_s > awake_s ? plat->costs.main_wake_s : 0;
}

/* ---- who looks for messages ---------------------------------------------- */

static void unlink_look(struct look *look)
{
	struct plat *plat = look->plat;

	*(look->prev ? &look->prev->next : &plat->looks) = look->next;
	*(look->next ? &look->next->prev : &plat->last_look) = look->prev;
	look->plat = NULL;
}

/* All workers have run tasks meanwhile: another thread takes a core for a moment. */
static void on_look(struct plat_timer *timer)
{
	struct look *look = ORR_CONTAINER(timer, struct look, timer);
	struct plat *plat = look->plat;

	if (plat) {
		unlink_look(look);
		sim_lend(plat, 2 * plat->costs.switch_s, 1);
	}
	look->run(look);
}

int look_later(struct plat *plat, struct look *look, void (*run)(struct look *look))
{
	if (!plat->lends_cores || plat->costs.look_s <= 0 || !sim_all_run(plat))
		return 0;
	*look = (struct look){.timer = {.fire = on_look},
			      .prev = plat->last_look,
			      .plat = plat,
			      .run = run,
			      .is_late = 1};
	*(plat->last_look ? &plat->last_look->next : &plat->looks) = look;
	plat->last_look = look;
	calendar_add(plat->sim, &look->timer, plat->sim->now_s + plat->costs.look_s);
	return 1;
}

void look_now(struct plat *plat)
{
	while (plat->looks) {
		struct look *look = plat->looks;

		unlink_look(look);
		calendar_move(plat->sim, &look->timer, plat->sim->now_s);
	}
}

/* ---- new memory ----------------------------------------------------------- */

/*
 * A kernel that fills new memory takes its page faults with it, and its model has them.
 * Those of what messages fill are nobody's until the bytes come.
 */
void costs_new_memory(struct plat *plat, size_t bytes)
{
	if (plat->costs.page_s > 0 && plat->lends_cores && !plat_current_worker(plat))
		plat->new_bytes += (double)bytes;
}

double costs_pages_s(struct plat *plat, double bytes)
{
	double touched = fmin(plat->new_bytes, bytes);

	if (touched <= 0)
		return 0;
	plat->new_bytes -= touched;
	return touched / PAGE_BYTES * plat->costs.page_s;
}

/* ---- caches -------------------------------------------------------------- */

/* Bytes that have come since the datum did, or since the beginning. */
static double bring(struct sets *sets, const void *datum, double bytes)
{
	uintptr_t seen = (uintptr_t)table_get(&sets->last, (uintptr_t)datum);
	double between = sets->moved_bytes - (seen ? (double)(seen - 1) : 0);

	between = fmin(between, sets->distinct_bytes);
	if (!seen)
		sets->distinct_bytes += bytes;
	sets->moved_bytes += bytes;
	table_put(&sets->last, (uintptr_t)datum,
		  (void *)((uintptr_t)sets->moved_bytes + 1));
	return between;
}

static double times(const struct wire_pieces *factors, double between)
{
	double factor = pieces_at(factors, between, 1);

	return factor > 0 ? 1 / factor : 1;
}

struct cost_stretch costs_stretch(struct plat *plat, const void *datum, double bytes)
{
	struct sets *sets = plat->sets;
	double between;

	if (!sets || !datum)
		return (struct cost_stretch){1, 0};
	between = bring(sets, datum, bytes) + bytes;
	return (struct cost_stretch){times(&sets->factor, between),
				     sets->small.n > 0 ? times(&sets->small, between)
						       : 0};
}

void costs_touch(struct plat *plat, struct starpu_task *task)
{
	if (!plat->sets || !task->cl)
		return;
	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);

		bring(plat->sets, handle, (double)data_bytes(handle));
	}
}
