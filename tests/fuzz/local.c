/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "run.h"

/* local.c - operations of one node that are no tasks: acquisitions, waits, tags. */

static enum starpu_data_access_mode mode_of(const struct op *op)
{
	return op->uses[0].mode == USE_R   ? STARPU_R
	       : op->uses[0].mode == USE_W ? STARPU_W
					   : STARPU_RW;
}

static void check_hash(struct lane_run *lane, const struct op *op, const char *what,
		       uint64_t seen)
{
	if (seen != op->expected)
		run_bad(lane->run, op, what, seen, op->expected);
}

/* See the value, and write as the oracle did. */
static void visit(struct lane_run *lane, const struct op *op, const struct live *live,
		  const char *what)
{
	struct view view = live_local_view(live);

	if (op->uses[0].mode != USE_W)
		check_hash(lane, op, what, view_hash(&view));
	if (op->uses[0].mode == USE_W)
		view_overwrite(&view, op->salt);
	else if (op->uses[0].mode == USE_RW)
		view_change(&view, op->salt);
}

static void acquire(struct lane_run *lane, const struct op *op, struct live *live)
{
	struct view view;
	uint64_t hash;

	if (starpu_data_acquire(live->handle, mode_of(op)))
		run_bad(lane->run, op, "starpu_data_acquire()", 1, 0);
	visit(lane, op, live, "value at an acquisition");
	if (op->uses[0].mode == USE_RW && op->choice[1] % 2) {
		view = live_local_view(live);
		hash = view_hash(&view);
		starpu_data_release_to(live->handle, STARPU_R);
		view = live_local_view(live);
		if (view_hash(&view) != hash)
			run_bad(lane->run, op, "value after release_to()",
				view_hash(&view), hash);
	}
	starpu_data_release(live->handle);
}

/* Its callback may run after the datum was given another home in the lane's table. */
struct acquisition {
	struct lane_run *lane;
	const struct op *op;
	struct live live;
};

static void acquired(void *arg)
{
	struct acquisition *acquisition = arg;

	visit(acquisition->lane, acquisition->op, &acquisition->live,
	      "value in the callback of an acquisition");
	if (acquisition->op->uses[0].mode == USE_RW && acquisition->op->choice[1] % 2)
		starpu_data_release_to(acquisition->live.handle, STARPU_R);
	starpu_data_release(acquisition->live.handle);
	free(acquisition);
}

static void acquire_cb(struct lane_run *lane, const struct op *op, struct live *live)
{
	struct acquisition *acquisition = malloc(sizeof(*acquisition));

	*acquisition = (struct acquisition){lane, op, *live};
	if (starpu_data_acquire_cb(live->handle, mode_of(op), acquired, acquisition))
		run_bad(lane->run, op, "starpu_data_acquire_cb()", 1, 0);
}

static void try_to_acquire(struct live *live)
{
	struct view view;

	if (starpu_data_acquire_try(live->handle, STARPU_R) != 0)
		return;
	/* Which of its values is not said: pending writers may come later. */
	view = live_local_view(live);
	(void)view_hash(&view);
	starpu_data_release(live->handle);
}

static void renew(struct lane_run *lane, const struct op *op, struct live *live)
{
	int by_submit = op->choice[1] % 2 && !live->home.values;
	int has_value = (int)op->flags && live->shape.order == ORDERED;

	if (live->has_scratch_users &&
	    !has_feature(lane->run->program, FEATURE_DRY_SCRATCH)) {
		tasks_wait_kept(lane);
		starpu_task_wait_for_all();
	}
	if (lane->lane->distributed)
		by_submit = 0;
	else if (!live->home.values && has_value && !by_submit)
		check_hash(lane, op, "value without a home", live_acquired_hash(live));
	if (by_submit)
		starpu_data_unregister_submit(live->handle);
	else
		live_unregister(lane, live);
	if (live->home.values && has_value && !lane->lane->distributed)
		check_hash(lane, op, "value at home", view_hash(&live->home));
	free(live->home.values);
	live_register(lane, live, &op->shape);
}

static void query(const struct live *live)
{
	int allocated, valid, loading;

	starpu_data_query_status(live->handle, STARPU_MAIN_RAM, &allocated, &valid,
				 &loading);
	(void)starpu_data_is_on_node(live->handle, STARPU_MAIN_RAM);
}

static void empty_task(struct lane_run *lane, const struct op *op, struct live *live)
{
	struct starpu_task *task = starpu_task_create();

	task->nbuffers = 1;
	task->handles[0] = live->handle;
	task->modes[0] = op->choice[1] % 2 ? STARPU_RW : STARPU_R;
	if (starpu_task_submit(task))
		run_bad(lane->run, op, "starpu_task_submit() of an empty task", 1, 0);
}

/* ---- tags, ends ------------------------------------------------------ */

static struct starpu_task *submit_tagged(starpu_tag_t tag, starpu_tag_t after)
{
	struct starpu_task *task = starpu_task_create();

	starpu_tag_declare_deps(tag, 1, after);
	task->use_tag = 1;
	task->tag_id = tag;
	if (starpu_task_submit(task))
		abort();
	return task;
}

/* Tasks behind a tag that the thread notifies. */
static void gate(struct lane_run *lane, const struct op *op)
{
	starpu_tag_t base =
		((starpu_tag_t)(lane->index + 1) << 48) + ((starpu_tag_t)op->id << 8);

	if (lane->ntags + 2 > MAX_TAGS)
		return;
	submit_tagged(base + 1, base);
	for (starpu_tag_t i = 2; i < 4; i++) {
		submit_tagged(base + i, base + 1);
		lane->tags[lane->ntags++] = base + i;
	}
	starpu_tag_notify_from_apps(base);
}

static void release_end(void *arg)
{
	starpu_task_end_dep_release(arg);
}

/* A task that another one lets end. */
static void end_dependency(struct lane_run *lane, const struct op *op)
{
	struct starpu_task *task = starpu_task_create(), *other = starpu_task_create();

	task->detach = task->destroy = 0;
	starpu_task_end_dep_add(task, 1);
	other->callback_func = release_end;
	other->callback_arg = task;
	if (op->choice[1] % 2) {
		if (starpu_task_submit(other) || starpu_task_submit(task))
			run_bad(lane->run, op, "submission", 1, 0);
	} else if (starpu_task_submit(task) || starpu_task_submit(other)) {
		run_bad(lane->run, op, "submission", 1, 0);
	}
	tasks_keep(lane, task);
}

static void pause_and_resume(struct lane_run *lane, const struct op *op)
{
	starpu_pause();
	for (unsigned i = 0; i < 1 + op->choice[1] % 3; i++)
		if (starpu_task_insert(&starpu_codelet_nop, 0))
			run_bad(lane->run, op, "insertion while paused", 1, 0);
	starpu_resume();
}

static void wait_in_lane(struct lane_run *lane, const struct op *op)
{
	int is_alone = lane->run->program->nlanes == 1;

	switch (op->kind) {
	case OP_WAIT_ALL:
		starpu_task_wait_for_all();
		if (is_alone)
			chains_check_ended(lane);
		break;
	case OP_WAIT_N:
		starpu_task_wait_for_n_submitted(op->choice[1] % 20 +
						 (is_alone ? 0 : 1000));
		break;
	case OP_WAIT_KEPT:
		tasks_wait_kept(lane);
		break;
	default:
		if (lane->ntags)
			starpu_tag_wait(
				lane->tags[op->choice[1] % (unsigned)lane->ntags]);
		break;
	}
}

struct family_place {
	struct run *run;
	const struct op *op;
};

static void family_is_bad(void *arg, const char *what, uint64_t seen, uint64_t expected)
{
	const struct family_place *place = arg;

	run_bad(place->run, place->op, what, seen, expected);
}

static void family(struct lane_run *lane, const struct op *op)
{
	struct family_place place = {lane->run, op};
	struct family_wish wish = {.seed = op->salt * 1000 + op->choice[0],
				   .nmemories = 1,
				   .bad = family_is_bad,
				   .arg = &place};

	family_run(&wish);
}

int run_local_op(struct lane_run *lane, struct op *op)
{
	struct live *live = op->nuses ? &lane->live[op->uses[0].datum] : NULL;

	switch (op->kind) {
	case OP_ACQUIRE:
		acquire(lane, op, live);
		return 1;
	case OP_ACQUIRE_CB:
		acquire_cb(lane, op, live);
		return 1;
	case OP_TRY:
		try_to_acquire(live);
		return 1;
	case OP_INVALIDATE:
		starpu_data_invalidate_submit(live->handle);
		return 1;
	case OP_PREFETCH:
		starpu_data_prefetch_on_node(live->handle, STARPU_MAIN_RAM,
					     op->choice[1] % 2);
		return 1;
	case OP_STATUS:
		query(live);
		return 1;
	case OP_RENEW:
		renew(lane, op, live);
		return 1;
	case OP_EMPTY:
		empty_task(lane, op, live);
		return 1;
	case OP_PAUSE:
		pause_and_resume(lane, op);
		return 1;
	case OP_GATE:
		gate(lane, op);
		return 1;
	case OP_FAMILY:
		family(lane, op);
		return 1;
	case OP_END_DEP:
		end_dependency(lane, op);
		return 1;
	case OP_WAIT_ALL:
	case OP_WAIT_N:
	case OP_WAIT_KEPT:
	case OP_WAIT_TAG:
		wait_in_lane(lane, op);
		return 1;
	default:
		return 0;
	}
}
