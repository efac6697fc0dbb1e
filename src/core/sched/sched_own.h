/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_OWN_H
#define ORR_CORE_SCHED_SCHED_OWN_H

/*
 * sched_own.h - a struct starpu_sched_policy of the application's, played as a scheduler.
 *
 * Its functions are called with nothing of ours locked but the worker's own lock
 * (relax.h) around pop_task().  The policy says itself whom to wake; who forgets is
 * served as well, for after each push all workers that sleep are woken.  A policy may be
 * made of one of ours, see inner.h.
 */
#include "core/sched/sched.h"

/* In no list: sched->policy says what to call. */
extern const struct sched_ops sched_own;

#endif
