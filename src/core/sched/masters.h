/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_MASTERS_H
#define ORR_CORE_SCHED_MASTERS_H

/* masters.h - of schedulers without a policy, which worker runs the tasks, and as what.
 */
#include "core/sched/sched.h"

/* The sets have changed: which workers have the cores of others to lead now?
 * node->scheds_lock is taken. */
void masters_lead(struct node *node);

#endif
