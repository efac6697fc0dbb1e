/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_CHOICE_H
#define ORR_CORE_CHOICE_H

/*
 * choice.h - which of a machine's GPUs have workers: STARPU_WORKERS_CUDAID, else
 * conf.workers_cuda_gpuid, else all, and of these as many as are wanted.  And on which
 * cores CPU workers are: STARPU_WORKERS_CPUID, else STARPU_WORKERS_COREID, else
 * conf.workers_bindid, else those of the machine in their order.
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

/* Where the user puts CPU workers, one after the other. */
struct choice_places {
	const char *variable, *what, *text; /* of the environment; text "": none */
	int are_cores;                      /* and not hardware threads */
	const unsigned *ids; /* instead: the application's, of each worker; or NULL */
};

struct choice_places choice_places(const struct node *node);
/* Call add(arg, number) for each that the environment names, of so many that are there;
 * ends the program where one is not. */
void choice_read_places(const struct node *node, const struct choice_places *places,
			int there, void (*add)(void *arg, int id), void *arg);
/* The same on a machine where a core has one hardware thread, and of what the application
 * names as far as it is there, with a message where nobody has told. */
void choice_cores(const struct node *node, int there, int *told,
		  void (*add)(void *arg, int id), void *arg);
/* Say so once where the user has put several CPU workers on one core. */
void choice_tell_shared(const struct node *node);

#endif
