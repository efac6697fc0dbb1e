/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_BREAKS_H
#define ORR_CORE_TASK_BREAKS_H

/*
 * breaks.h - where a debugger is to stop: SIGTRAP when the task of a number, which
 * STARPU_TASK_BREAK_ON_* give, comes to a stage of its life.
 */
#include "core/event.h"

struct job;

void breaks_open(struct node *node);
/* The job is told of an event. */
void breaks_at(const struct job *job, enum event_kind kind);
/* A policy has decided about it. */
void breaks_at_decision(const struct job *job);

#endif
