/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_TOOLBOX_H
#define ORR_API_TOOLBOX_H

/* toolbox.h - what the queues of starpu_scheduler_toolbox.h share. */
struct starpu_task;
struct tasks;

/* Can the worker execute it?  Then its first implementation is set.  -1: anybody can. */
int toolbox_can_run(int worker, struct starpu_task *task);
/* See tasks_find(): of that worker; *worker is as above. */
unsigned toolbox_kinds(void *worker);
/* See starpu_st_fifo_taskq_pop_first_ready_task(); the task stays. */
struct starpu_task *toolbox_readiest(const struct tasks *tasks, unsigned worker);

#endif
