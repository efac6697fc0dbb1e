/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/lasting.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/node.h"
#include "core/task/tags.h"

enum { DEFAULT_COMMUNICATION_TAG = 42 }; /* StarPU's */

/* One call for a tag; without predecessors it is a notification. */
struct early_tags {
	struct early_tags *next;
	starpu_tag_t id;
	unsigned ndeps;
	starpu_tag_t deps[];
};

static struct lasting *lasting_new(void)
{
	struct lasting *lasting = orr_alloc(sizeof(*lasting));

	lasting->default_sequential = 1;
	lasting->next_interface_id = STARPU_MAX_INTERFACE_ID;
	lasting->malloc_align = sizeof(void *);
	lasting->communication_tag = DEFAULT_COMMUNICATION_TAG;
	orr_lock_init(&lasting->lock);
	return lasting;
}

struct lasting *lasting_get(void)
{
	struct world *world = world_get();
	uint64_t seat = plat_seat();
	struct lasting *lasting;
	const struct node *node;

	/* Another thread may close the node, which is hidden under this lock before. */
	orr_lock(&world->lasting_lock);
	node = plat_self();
	lasting = node ? node->lasting : table_get(&world->lasting, seat);
	if (!lasting) {
		lasting = lasting_new();
		table_put(&world->lasting, seat, lasting);
	}
	orr_unlock(&world->lasting_lock);
	return lasting;
}

void lasting_free(struct lasting *lasting)
{
	struct early_tags *call;

	if (lasting->mpi)
		lasting->free_mpi(lasting->mpi);
	while ((call = lasting->early_tags)) {
		lasting->early_tags = call->next;
		free(call);
	}
	free(lasting->hooks);
	free(lasting);
}

/* ---- tags ------------------------------------------------------------ */

static void keep(struct lasting *lasting, struct early_tags *call)
{
	orr_lock(&lasting->lock);
	if (lasting->early_tags_last)
		lasting->early_tags_last->next = call;
	else
		lasting->early_tags = call;
	lasting->early_tags_last = call;
	orr_unlock(&lasting->lock);
}

void lasting_declare_tags(struct lasting *lasting, starpu_tag_t id, unsigned ndeps,
			  const starpu_tag_t *deps)
{
	struct early_tags *call;

	if (ndeps == 0)
		return;
	call = orr_alloc(sizeof(*call) + ndeps * sizeof(*deps));
	call->id = id;
	call->ndeps = ndeps;
	memcpy(call->deps, deps, ndeps * sizeof(*deps));
	keep(lasting, call);
}

void lasting_notify_tag(struct lasting *lasting, starpu_tag_t id)
{
	struct early_tags *call = orr_alloc(sizeof(*call));

	call->id = id;
	keep(lasting, call);
}

static struct early_tags *take_tags(struct lasting *lasting)
{
	struct early_tags *calls;

	orr_lock(&lasting->lock);
	calls = lasting->early_tags;
	lasting->early_tags = lasting->early_tags_last = NULL;
	orr_unlock(&lasting->lock);
	return calls;
}

static void forget(struct lasting *lasting, starpu_tag_t id, int only_notifications)
{
	struct early_tags *call, *calls = take_tags(lasting);

	while ((call = calls)) {
		calls = call->next;
		call->next = NULL;
		if (call->id == id && !(only_notifications && call->ndeps))
			free(call);
		else
			keep(lasting, call);
	}
}

void lasting_restart_tag(struct lasting *lasting, starpu_tag_t id)
{
	forget(lasting, id, 1);
}

void lasting_remove_tag(struct lasting *lasting, starpu_tag_t id)
{
	forget(lasting, id, 0);
}

void lasting_give_tags(struct lasting *lasting, struct node *node)
{
	struct early_tags *call, *calls = take_tags(lasting);

	while ((call = calls)) {
		calls = call->next;
		if (call->ndeps)
			tags_declare_deps(node, call->id, call->ndeps, call->deps);
		else
			tags_notify_from_apps(node, call->id);
		free(call);
	}
}
