/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_SCHED_CTX_H
#define ORR_API_SCHED_CTX_H

/* sched_ctx.h - what the files of starpu_sched_ctx.h share. */
struct sched;

/* The context with that number; ends the program when there is none. */
struct sched *api_context(const char *func, unsigned id);

#endif
