/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/views.h"

#include <errno.h>

#include "base/check.h"
#include "core/data/coherency.h"
#include "core/data/data_ops.h"
#include "core/data/overlap.h"
#include "core/data/redux.h"
#include "core/task/deps.h"
#include "core/task/exclusion.h"
#include "core/wait.h"

/* ---- changes; the views are locked ----------------------------------- */

/* What is submitted for somebody; the application's own wishes come with more. */
struct change {
	int sequential;
	struct ready *ready;
};

static const enum view view_after[] = {
	[HANDOVER_OPEN_READ] = VIEW_READ,    [HANDOVER_OPEN_WRITE] = VIEW_WRITE,
	[HANDOVER_UPGRADE] = VIEW_WRITE,     [HANDOVER_DOWNGRADE] = VIEW_READ,
	[HANDOVER_CLOSE_READ] = VIEW_CLOSED, [HANDOVER_CLOSE_WRITE] = VIEW_CLOSED,
	[HANDOVER_CLEAN] = VIEW_CLOSED,
};

static void hand_over(struct partition *partition, const struct handover_wish *wish,
		      struct ready *ready)
{
	partition_set_view(partition, view_after[wish->kind]);
	handover_submit(partition, wish, ready);
}

static void change_to(struct partition *partition, enum handover_kind kind,
		      const struct change *change)
{
	const struct handover_wish wish = {.kind = kind,
					   .sequential = change->sequential};

	hand_over(partition, &wish, change->ready);
}

/* Only the application closes what it opened with starpu_data_partition(). */
static void must_be_planned(const struct partition *partition)
{
	char what[128];

	if (!partition->is_planned)
		orr_die(partition->parent->node->rank,
			"%s is partitioned into %u parts, and what it is a part of, or "
			"another partition of that, is used: call "
			"starpu_data_unpartition() before",
			data_describe(partition->parent, what, sizeof(what)),
			partition->nparts);
}

static void close_all(starpu_data_handle_t handle, const struct partition *but,
		      const struct change *change);
static void share_all(starpu_data_handle_t handle, const struct partition *but,
		      const struct change *change);

/* Partitions of the parts end with the view of their parents. */
static void close_parts(struct partition *partition, const struct change *change)
{
	for (unsigned i = 0; partition->nnested && i < partition->nparts; i++)
		close_all(partition->parts[i], NULL, change);
}

static void share_parts(struct partition *partition, const struct change *change)
{
	for (unsigned i = 0; partition->nnested && i < partition->nparts; i++)
		share_all(partition->parts[i], NULL, change);
}

static enum handover_kind closing(const struct partition *partition)
{
	return partition->view == VIEW_WRITE ? HANDOVER_CLOSE_WRITE : HANDOVER_CLOSE_READ;
}

/* Close all partitions of the datum but one, the newest first. */
static void close_all(starpu_data_handle_t handle, const struct partition *but,
		      const struct change *change)
{
	struct partition *partition, *next;

	partition_sort_open(handle);
	for (partition = partition_first_open(handle); partition; partition = next) {
		next = partition->next_open;
		if (partition == but)
			continue;
		must_be_planned(partition);
		close_parts(partition, change);
		change_to(partition, closing(partition), change);
	}
}

/* The same for reading: the datum, too, gets the value. */
static void share_all(starpu_data_handle_t handle, const struct partition *but,
		      const struct change *change)
{
	struct partition *partition = partition_first_open(handle);

	if (!partition || partition == but || partition->view != VIEW_WRITE)
		return;
	must_be_planned(partition);
	share_parts(partition, change);
	change_to(partition, HANDOVER_DOWNGRADE, change);
}

static void open_partition(struct partition *partition, int to_write,
			   const struct change *change);

/* The datum can be used, as far as what it is a part of is concerned. */
static void enter(starpu_data_handle_t handle, int to_write, const struct change *change)
{
	struct partition *outer = partition_of(handle);

	if (outer)
		open_partition(outer, to_write, change);
}

static int is_open(const struct partition *partition, int to_write)
{
	return partition->view == VIEW_WRITE ||
	       (partition->view == VIEW_READ && !to_write);
}

/* What has to be done before the partition itself is opened. */
static void clear_way(struct partition *partition, int to_write,
		      const struct change *change)
{
	enter(partition->parent, to_write, change);
	if (to_write)
		close_all(partition->parent, partition, change);
	else
		share_all(partition->parent, partition, change);
}

static void open_partition(struct partition *partition, int to_write,
			   const struct change *change)
{
	if (is_open(partition, to_write))
		return;
	clear_way(partition, to_write, change);
	if (partition->view == VIEW_READ)
		change_to(partition, HANDOVER_UPGRADE, change);
	else
		change_to(partition, to_write ? HANDOVER_OPEN_WRITE : HANDOVER_OPEN_READ,
			  change);
}

static void reach(starpu_data_handle_t handle, int to_write, const struct change *change)
{
	if (partition_synchronous(handle))
		return; /* Who uses it nevertheless is told. */
	enter(handle, to_write, change);
	if (to_write)
		close_all(handle, NULL, change);
	else
		share_all(handle, NULL, change);
}

/* ---- checks ---------------------------------------------------------- */

/* The partition because of which the datum cannot be used, or NULL. */
static const struct partition *find_hindrance(starpu_data_handle_t handle, int to_write)
{
	const struct partition *own = partition_first_open(handle),
			       *outer = partition_of(handle);

	for (; outer; outer = partition_of(outer->parent))
		if (!is_open(outer, to_write))
			return outer;
	return own && (own->view == VIEW_WRITE || to_write) ? own : NULL;
}

/* A contribution to a reduction does so in the end. */
static int changes_value(const struct access *access)
{
	return (access->mode & (STARPU_W | STARPU_REDUX)) != 0;
}

static void refuse(const struct access *access, const struct partition *hindrance)
{
	const struct job *job = access->job;
	char who[JOB_NAME_BYTES], what[128], whole[128];
	const char *does = changes_value(access) ? "writes" : "reads";

	job->ops->describe(job, who, sizeof(who));
	data_describe(access->datum, what, sizeof(what));
	if (hindrance->parent != access->datum)
		orr_die(job->node->rank,
			"%s %s %s, a part of %s, whose partition is %s at that point: "
			"submit starpu_data_partition_submit() before, or use data in "
			"order (sequential consistency) and a datum and its parts, or "
			"parts of two partitions, in separate tasks",
			who, does, what,
			data_describe(hindrance->parent, whole, sizeof(whole)),
			hindrance->view == VIEW_READ ? "open for reading only"
						     : "not open");
	if (!hindrance->is_planned)
		orr_die(job->node->rank,
			"%s %s %s, which is partitioned into %u parts: use its parts "
			"(starpu_data_get_sub_data), or call starpu_data_unpartition() "
			"before",
			who, does, what, hindrance->nparts);
	orr_die(job->node->rank,
		"%s %s %s while a partition of it into %u parts is open%s: submit "
		"starpu_data_unpartition_submit() before, or use data in order "
		"(sequential consistency) and a datum and its parts in separate tasks",
		who, does, what, hindrance->nparts,
		hindrance->view == VIEW_READ ? " for reading" : "");
}

static void check(const struct access *access)
{
	const struct partition *hindrance =
		find_hindrance(access->datum, changes_value(access));
	struct partition *outer;

	if (hindrance)
		refuse(access, hindrance);
	outer = partition_of(access->datum);
	if (outer && outer->overlaps && changes_value(access))
		overlap_tell(outer, access);
}

/* ---- uses ------------------------------------------------------------ */

static int has_views(const struct access *access)
{
	return access->state == ACCESS_NEW && (data_flags(access->datum) & DATUM_VIEWS);
}

static int changes_views(const struct access *access)
{
	return has_views(access) && !(access->mode & (ACCESS_UNORDERED | STARPU_NOPLAN));
}

static int may_change_views(const struct job *job, int sequential)
{
	const struct starpu_task *task = job->task;

	return sequential &&
	       !(task && task->cl && (task->cl->flags & STARPU_CODELET_NOPLANS));
}

/* First what is written, so that what is read, too, finds it open. */
void views_submit(struct job *job, int sequential, struct ready *ready)
{
	struct node *node = job->node;
	struct change change = {.sequential = 1, .ready = ready};
	int changes = may_change_views(job, sequential);

	orr_lock(&node->views_lock);
	for (int to_write = 1; changes && to_write >= 0; to_write--) {
		for (int i = 0; i < job->naccesses; i++) {
			const struct access *access = &job->accesses[i];

			if (changes_views(access) && changes_value(access) == to_write)
				reach(access->datum, to_write, &change);
		}
	}
	for (int i = 0; i < job->naccesses; i++)
		if (has_views(&job->accesses[i]))
			check(&job->accesses[i]);
	deps_submit(job, sequential, ready);
	orr_unlock(&node->views_lock);
}

void views_prepare(starpu_data_handle_t handle, unsigned mode, struct ready *ready)
{
	struct change change = {.sequential = 1, .ready = ready};
	struct node *node = handle->node;

	orr_lock(&node->views_lock);
	if (data_flags(handle) & DATUM_SEQUENTIAL)
		reach(handle, (mode & STARPU_W) != 0, &change);
	orr_unlock(&node->views_lock);
}

int views_allow_reading(starpu_data_handle_t handle)
{
	struct node *node = handle->node;
	int allowed;

	orr_lock(&node->views_lock);
	allowed = !find_hindrance(handle, 0);
	orr_unlock(&node->views_lock);
	return allowed;
}

/* ---- synchronous partitions ------------------------------------------ */

static void submit_and_wait(struct partition *partition, enum handover_kind kind)
{
	struct node *node = partition->parent->node;
	struct plat_gate gate;
	struct handover_wish wish = {.kind = kind, .sequential = 1, .gate = &gate};
	struct change change = {.sequential = 1};
	struct ready ready = {0};

	plat_gate_init(&gate);
	change.ready = &ready;
	orr_lock(&node->views_lock);
	if (kind == HANDOVER_OPEN_WRITE) {
		clear_way(partition, 1, &change);
		partition_link(partition);
	} else {
		close_parts(partition, &change);
	}
	hand_over(partition, &wish, &ready);
	if (kind != HANDOVER_OPEN_WRITE)
		partition_unlink(partition);
	orr_unlock(&node->views_lock);
	ready_run(node, &ready);
	wait_at(node, &gate, WAIT_PARTITION, partition->parent);
}

/* The filter may look at the struct, or at the value: both are settled. */
void views_partition(struct node *node, starpu_data_handle_t handle,
		     struct starpu_data_filter *filter)
{
	if (data_flags(handle) & DATUM_CONTRIBUTED)
		node->on_last_use(node, handle);
	data_settle(node, handle, (int)data_base_memory(handle));
	submit_and_wait(partition_new(handle, filter, 0), HANDOVER_OPEN_WRITE);
}

/* What other ranks contributed to parts comes before their end. */
static void end_contributions(const struct partition *partition)
{
	struct node *node = partition->parent->node;

	for (unsigned i = 0; i < partition->nparts; i++)
		if (data_flags(partition->parts[i]) & DATUM_CONTRIBUTED)
			node->on_last_use(node, partition->parts[i]);
}

void views_unpartition(struct node *node, starpu_data_handle_t handle, unsigned memory)
{
	struct partition *partition = partition_synchronous(handle);

	end_contributions(partition);
	for (unsigned i = 0; i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		if (partition->nnested && partition_synchronous(part))
			views_unpartition(node, part, memory);
		/* Contributions are combined when somebody asks for the value. */
		if (redux_methods(part))
			data_settle(node, part, -1);
		data_wait_idle(node, part);
	}
	submit_and_wait(partition, HANDOVER_CLOSE_WRITE);
	for (unsigned i = 0; i < partition->nparts; i++)
		data_end(node, partition->parts[i]);
	partition_drop(partition);
	if (memory == data_base_memory(handle) || !data_body(handle)->has_value)
		return;
	data_acquire(node, handle, (int)memory, STARPU_R);
	data_release(handle, (int)memory, STARPU_NONE);
}

/* ---- planned partitions ---------------------------------------------- */

struct partition *views_plan(starpu_data_handle_t handle,
			     struct starpu_data_filter *filter)
{
	struct node *node = handle->node;
	struct partition *partition = partition_new(handle, filter, 1);

	orr_lock(&node->views_lock);
	partition_link(partition);
	orr_unlock(&node->views_lock);
	return partition;
}

/* Is this the view that a handover of the kind begins with? */
static int begins_with(enum handover_kind kind, enum view view)
{
	switch (kind) {
	case HANDOVER_OPEN_READ:
	case HANDOVER_OPEN_WRITE:
		return view == VIEW_CLOSED;
	case HANDOVER_UPGRADE:
	case HANDOVER_CLOSE_READ:
		return view == VIEW_READ;
	default:
		return view == VIEW_WRITE;
	}
}

static void make_ready_for(struct partition *partition, enum handover_kind kind,
			   const struct change *change)
{
	switch (kind) {
	case HANDOVER_OPEN_READ:
		clear_way(partition, 0, change);
		break;
	case HANDOVER_OPEN_WRITE:
	case HANDOVER_UPGRADE:
		clear_way(partition, 1, change);
		break;
	case HANDOVER_DOWNGRADE:
		share_parts(partition, change);
		break;
	default:
		close_parts(partition, change);
	}
}

int views_change(struct partition *partition, const struct handover_wish *wish,
		 enum view *view)
{
	struct node *node = partition->parent->node;
	struct ready ready = {0};
	struct change change = {.sequential = wish->sequential, .ready = &ready};
	struct handover_wish actual = *wish;
	int possible;

	orr_lock(&node->views_lock);
	*view = partition->view;
	if (wish->kind == HANDOVER_CLOSE_WRITE && *view == VIEW_READ)
		actual.kind = HANDOVER_CLOSE_READ;
	possible = begins_with(actual.kind, *view);
	if (possible) {
		make_ready_for(partition, actual.kind, &change);
		hand_over(partition, &actual, &ready);
	}
	orr_unlock(&node->views_lock);
	ready_run(node, &ready);
	return possible ? 0 : -EINVAL;
}

void views_share(struct partition *partition)
{
	struct node *node = partition->parent->node;
	struct ready ready = {0};
	struct change change = {.sequential = 1, .ready = &ready};

	orr_lock(&node->views_lock);
	share_all(partition->parent, NULL, &change);
	orr_unlock(&node->views_lock);
	ready_run(node, &ready);
}

static void mark_dying(struct partition *partition)
{
	for (unsigned i = 0; i < partition->nparts; i++) {
		starpu_data_handle_t part = partition->parts[i];

		orr_lock(&part->lock);
		data_change_flags(part, DATUM_DYING, 0);
		orr_unlock(&part->lock);
		if (part->node->on_unregister)
			part->node->on_unregister(part->node, part, 0);
	}
}

int views_clean(struct partition *partition)
{
	struct node *node = partition->parent->node;
	struct ready ready = {0};
	struct change change = {.sequential = 1, .ready = &ready};
	int is_free;

	end_contributions(partition);
	orr_lock(&node->views_lock);
	is_free = partition->nnested == 0;
	if (is_free) {
		if (partition->view != VIEW_CLOSED)
			change_to(partition, closing(partition), &change);
		partition_unlink(partition);
		mark_dying(partition);
		change_to(partition, HANDOVER_CLEAN, &change);
	}
	orr_unlock(&node->views_lock);
	ready_run(node, &ready);
	return is_free ? 0 : -EBUSY;
}
