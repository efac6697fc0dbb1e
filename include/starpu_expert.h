/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Functions of the application's that workers call between their tasks, to move something
 * on that nobody else does.  They may be registered at any time, also before
 * starpu_init(), and stay until they are deregistered.  Any thread may call these
 * functions, tasks, callbacks and hooks too.
 *
 * A hook is called by several workers at once.  It may submit tasks, and must not wait:
 * in simulation it takes no time.  It returns 0 when it wants to be called again soon:
 * then workers that find nothing to do call it again after 20 us, and at intervals that
 * grow to 1 ms while they find nothing; in simulation a program that is stuck does not
 * end meanwhile.  Else workers may sleep until there is something to do, or until
 * starpu_wake_all_blocked_workers().
 */

#ifndef STARPU_EXPERT_H
#define STARPU_EXPERT_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Have all workers look again for what there is to do.  Needs an initialised library. */
void starpu_wake_all_blocked_workers(void);

/**
 * Call func(arg) each time that a worker looks for something to do.  Returns a number
 * from 0 on, or -1 when there are 16 already.
 */
int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg);

/** Call it no more.  When this returns no other thread is in it. */
void starpu_progression_hook_deregister(int hook_id);

/** The same, only when a worker has no task. */
int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg);

/** Call it no more.  When this returns no other thread is in it. */
void starpu_idle_hook_deregister(int hook_id);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_EXPERT_H */
