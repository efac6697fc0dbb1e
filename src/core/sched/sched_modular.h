/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_MODULAR_H
#define ORR_CORE_SCHED_SCHED_MODULAR_H

/*
 * sched_modular.h - the policies that are made of components, as STARPU_SCHED names them.
 *
 * Each is the usual graph (starpu_sched_component.h) of a decision and flags.
 */
#include "core/sched/component/component.h"

/* id, name, what it does, whether it knows priorities, create, flags */
#define MODULAR_POLICIES(ROW)                                                            \
	ROW(EAGER, "eager", "one queue, in order of arrival", 0, eager, ABOVE)           \
	ROW(EAGER_PREFETCHING, "eager-prefetching", "the same, two tasks ahead", 0,      \
	    eager, WORKERS | FIFO_ABOVE | FIFOS_BELOW)                                   \
	ROW(EAGER_PRIO, "eager-prio", "one queue, by priority", 1, eager_prio, ALWAYS)   \
	ROW(GEMM, "gemm", "to the memory where a task ends first", 1, mct,               \
	    MEMNODES | PERFMODEL | ABOVE_PRIO | BELOW_PRIO | FIFOS_BELOW_READY | IMPL)   \
	ROW(PRIO, "prio", "one queue, by priority", 1, eager, ALWAYS | ABOVE_PRIO)       \
	ROW(PRIO_PREFETCHING, "prio-prefetching", "the same, two tasks ahead", 1, eager, \
	    WORKERS | ABOVE_PRIO | BELOW_PRIO)                                           \
	ROW(RANDOM, "random", "to a worker drawn by its speed", 0, random,               \
	    WORKERS | FIFOS_BELOW | NOLIMIT)                                             \
	ROW(RANDOM_PRIO, "random-prio", "the same, by priority there", 1, random,        \
	    WORKERS | BELOW_PRIO | NOLIMIT)                                              \
	ROW(RANDOM_PREFETCHING, "random-prefetching", "drawn, two tasks ahead", 0,       \
	    random, WORKERS | FIFO_ABOVE | FIFOS_BELOW)                                  \
	ROW(RANDOM_PRIO_PREFETCHING, "random-prio-prefetching",                          \
	    "drawn by priority, two tasks ahead", 1, random,                             \
	    WORKERS | ABOVE_PRIO | BELOW_PRIO)                                           \
	ROW(PRANDOM, "prandom", "drawn among workers and sets of them", 0, random,       \
	    WORKERS | COMBINED | FIFO_ABOVE | FIFOS_BELOW)                               \
	ROW(PRANDOM_PRIO, "prandom-prio", "the same, by priority", 1, random,            \
	    WORKERS | COMBINED | ABOVE_PRIO | BELOW_PRIO)                                \
	ROW(WS, "ws", "a queue for each worker, and stealing", 1, eager, WS_BELOW)       \
	ROW(DMDA, "dmda", "to the worker where a task ends first", 0, mct,               \
	    WORKERS | PERFMODEL | FIFOS_BELOW | NOLIMIT | IMPL)                          \
	ROW(DMDAP, "dmdap", "the same, by priority there", 1, mct,                       \
	    WORKERS | PERFMODEL | BELOW_PRIO | NOLIMIT | IMPL)                           \
	ROW(DMDAR, "dmdar", "the same, there those with most data first", 0, mct,        \
	    WORKERS | PERFMODEL | FIFOS_BELOW | FIFOS_BELOW_READY | NOLIMIT | IMPL)      \
	ROW(DMDAS, "dmdas", "the same, there by priority, then data", 1, mct,            \
	    WORKERS | PERFMODEL | BELOW_PRIO | FIFOS_BELOW_READY | NOLIMIT | IMPL)       \
	ROW(HEFT, "heft", "by priority, to the worker where a task ends first", 1, mct,  \
	    WORKERS | PERFMODEL | ABOVE_PRIO | BELOW_PRIO | IMPL)                        \
	ROW(HEFT_PRIO, "heft-prio", "the same for a memory, then by priority", 1, heft,  \
	    MEMNODES | PERFMODEL | ABOVE_PRIO | BELOW_PRIO | IMPL)                       \
	ROW(HEFT2, "heft2", "the same, whose decision keeps the tasks", 1, heft,         \
	    WORKERS | PERFMODEL | BELOW_PRIO | IMPL)                                     \
	ROW(HETEROPRIO, "heteroprio", "to devices what they speed up most", 1,           \
	    heteroprio, WORKERS | PERFMODEL | BELOW_PRIO | IMPL)                         \
	ROW(HETEROPRIO_HEFT, "heteroprio-heft",                                          \
	    "heteroprio, or heft for tasks with sched_data 1", 1, heteroprio,            \
	    WORKERS | FIFOS_BELOW | FIFOS_BELOW_PRIO | IMPL)                             \
	ROW(PHEFT, "pheft", "heft, also to sets of workers", 1, heft,                    \
	    WORKERS | COMBINED | PERFMODEL | BELOW_PRIO | IMPL)

#define MODULAR_ID(id, ...) MODULAR_##id,
enum { MODULAR_POLICIES(MODULAR_ID) NMODULARS };
#undef MODULAR_ID

struct modular {
	struct sched_ops ops;
	int n;
	struct simple_decision decisions[2];
};

extern const struct modular sched_modulars[NMODULARS];

#endif
