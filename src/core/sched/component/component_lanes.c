/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Lanes: children below which one way leads down to one worker, by queues of the
 * library's.  Those whose workers are alike differ only in when they are free, so that
 * who decides among them asks one of each class, and a tournament for the first.
 *
 * A lane is free at max(now, running_until_us) + waiting_us, which is what the methods
 * estimated_end on it say, to the last bit.  A child with a method of the application's
 * on its way is no lane, nor is one that is not in the order of workers.
 */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/component/component.h"

int lane_of(component_t *component, struct lane *lane)
{
	*lane = (struct lane){0};
	if (starpu_bitmap_cardinal(&component->workers_in_ctx) != 1)
		return 0;
	while (component->estimated_end != component_worker_end_us) {
		if (component->nchildren != 1)
			return 0;
		if (component->estimated_end == component_fifo_end_us)
			lane->waiting_us += component_fifo_us(component);
		else if (component->estimated_end != component_end_us)
			return 0;
		component = component->children[0];
	}
	component_worker_lane(component, lane);
	return 1;
}

double lane_end_us(const struct lane *lane, double now_us)
{
	double from_us =
		now_us > lane->running_until_us ? now_us : lane->running_until_us;

	return from_us + lane->waiting_us + 1e6 * worker_bound_s(lane->worker);
}

void lanes_init(struct lanes *lanes, component_t *component)
{
	struct tree *tree = tree_of(component);

	tree_enter(tree);
	*lanes = (struct lanes){
		.next = tree->lanes, .component = component, .shape = tree->shape - 1};
	classes_init(&lanes->classes, tree->node);
	for (int i = 0; i < lanes->classes.n; i++)
		lanes->classes.class[i].soonest.per_second = 1e6;
	tree->lanes = lanes;
	tree_leave(tree);
}

void lanes_free(struct lanes *lanes)
{
	struct lanes **at = &tree_of(lanes->component)->lanes;

	while (*at != lanes)
		at = &(*at)->next;
	*at = lanes->next;
	classes_free(&lanes->classes);
	free(lanes->outside);
}

static int has_lane(const void *lanes, const struct worker *worker)
{
	return ((const struct lanes *)lanes)->child[worker->id] >= 0;
}

static void note(struct lanes *lanes, const struct lane *lane)
{
	lanes->nnotes++;
	classes_note(&lanes->classes, lane->worker->id, lane->waiting_us,
		     lane->running_until_us + lane->waiting_us);
}

static void follow_outside(struct lanes *lanes)
{
	component_t **children = lanes->component->children;
	int next_alone = lanes->noutside;

	for (int i = lanes->noutside - 1; i >= 0; i--) {
		struct other_child *outside = &lanes->outside[i];

		outside->is_team = component_has_team(children[outside->child]);
		outside->next_alone = next_alone;
		if (!outside->is_team)
			next_alone = i;
	}
}

void lanes_follow(struct lanes *lanes)
{
	component_t *component = lanes->component;
	int last = -1;
	struct lane lane;

	if (lanes->shape == tree_of(component)->shape)
		return;
	lanes->shape = tree_of(component)->shape;
	lanes->nnotes++;
	lanes->ninside = lanes->noutside = 0;
	lanes->outside = orr_realloc(lanes->outside, (component->nchildren + 1) *
							     sizeof(lanes->outside[0]));
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		lanes->child[i] = -1;
	for (int i = 0; i < (int)component->nchildren; i++) {
		if (!lane_of(component->children[i], &lane) || lane.worker->id <= last) {
			lanes->outside[lanes->noutside++].child = i;
			continue;
		}
		last = lane.worker->id;
		lanes->child[last] = i;
		lanes->ninside++;
	}
	follow_outside(lanes);
	classes_choose(&lanes->classes, has_lane, lanes);
	for (int i = 0; i <= last; i++)
		if (lanes->child[i] >= 0 &&
		    lane_of(component->children[lanes->child[i]], &lane))
			note(lanes, &lane);
}

double lanes_end_us(struct lanes *lanes, double now_us)
{
	double end_us = INFINITY;

	lanes_follow(lanes);
	for (int i = 0; i < lanes->classes.n; i++)
		end_us =
			fmin(end_us, soonest_s(&lanes->classes.class[i].soonest, now_us));
	return end_us;
}

void lanes_note(component_t *component)
{
	struct tree *tree = tree_of(component);
	struct lane lane, its;

	tree->changes++;
	if (!tree->lanes || !lane_of(component, &lane))
		return;
	for (struct lanes *lanes = tree->lanes; lanes; lanes = lanes->next) {
		int child = lanes->child[lane.worker->id];

		if (lanes->shape == tree->shape && child >= 0 &&
		    lane_of(lanes->component->children[child], &its))
			note(lanes, &its);
	}
}
