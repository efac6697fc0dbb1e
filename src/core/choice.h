/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_CHOICE_H
#define ORR_CORE_CHOICE_H

/*
 * choice.h - which of a machine's GPUs have workers: STARPU_WORKERS_CUDAID, else
 * conf.workers_cuda_gpuid, else all, and of these as many as are wanted.
 */
#include "core/node.h"

/* Numbers of GPUs, in the order of their workers. */
struct choice {
	int ids[STARPU_MAXCUDADEVS];
	int n;
};

/* Does the user name GPUs?  Without a conf nobody has. */
int choice_is_made(const struct node *node);
/* Of so many that are there; says what cannot be had unless quiet. */
void choice_make(const struct node *node, int there, int quiet, struct choice *choice);

#endif
