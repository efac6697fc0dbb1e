/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/wait.h"

int wait_at(struct node *node, struct plat_gate *gate, enum wait_kind kind,
	    const void *object)
{
	struct wait wait = {.kind = kind, .object = object, .gate = gate};
	int ret;

	if (plat_gate_is_open(gate))
		return plat_gate_wait(node->plat, gate);
	wait.thread = plat_thread();
	orr_lock(&node->waits_lock);
	list_push_back(&node->waits, &wait.link);
	node->nwaits++;
	orr_unlock(&node->waits_lock);
	ret = plat_gate_wait(node->plat, gate);
	orr_lock(&node->waits_lock);
	list_remove(&wait.link);
	orr_unlock(&node->waits_lock);
	return ret;
}
