/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_FAKE_FAKE_IMPL_H
#define ORR_FAKE_FAKE_IMPL_H

/* fake_impl.h - what the files of the fake share. */
#include "base/heap.h"
#include "core/node.h"
#include "core/worker.h"
#include "fake.h"
#include "plat/net.h"

struct fake_half;
struct fake_main;
struct fake_mpi;
struct fake_net;
struct fake_parcel;

/* The k-th network that each node opens connects these nets. */
struct fake_domain {
	struct fake_domain *next;
	struct fake_net **nets;    /* by rank; NULL before it is opened */
	double *arrived_s;         /* last arrival of a message, by from * size + to */
	struct fake_half *halves;  /* of bulks, without their counterpart */
	struct fake_parcel *early; /* for nets that are not open yet */
	int size, number, nclosed;
	uint64_t shared[NET_SHARED_WORDS]; /* see struct net */
};

struct fake {
	struct heap calendar;
	struct fake_machine machine;
	double now_s, latency_s, bytes_per_s;
	int nnodes, selected;
	struct world *world;
	struct node **nodes; /* what plat_set_self() set */
	int *nets_opened;    /* by node */
	struct fake_domain *domains;
	struct worker *worker; /* on behalf of which the present event runs */
	struct fake_event *events;
	struct fake_mpi *mpi; /* NULL until it is asked for */
	unsigned long chance; /* 0: nothing is drawn */
	struct fake_main *mains, *running;
	int nlocks;        /* held now */
	void *scheduler;   /* context of fake_play() */
	const void *stack; /* of fake_play() */
	size_t stack_bytes;
};

/* An event of the fake itself; fake_stop() frees those that are left. */
struct fake_event {
	struct plat_timer timer; /* first */
	struct fake_event *prev, *next;
};

extern const struct memory_driver fake_disk_driver;

struct plat {
	struct node *node;
	int index;
	struct plat_machine machine;
	struct fake_worker *workers;
	struct plat_caller caller; /* of all but the workers and mains */
	int nworkers;
	double *memory_used_bytes; /* by memory */
};

struct fake *fake_get(void);
/* Of the main of this node that runs now, or NULL. */
struct plat_caller *fake_main_caller(const struct plat *plat);

extern const struct worker_driver fake_worker_driver;

/* A zeroed event of bytes, struct fake_event first; its owner frees it. */
void *fake_event_new(size_t bytes);
void fake_event_free(void *event);
/* Let the event happen at a date. */
void fake_event_at(struct plat *plat, void *event, double date_s,
		   void (*fire)(struct plat_timer *timer));

/* fake_mains.c: a number below n; how much later something happens; a main's wait. */
unsigned fake_draw(struct fake *fake, unsigned n);
double fake_jitter_s(struct fake *fake);
int fake_main_waits(struct fake *fake, const struct plat_gate *gate);
/* The gate is open: whoever waits for it may go on before its opener does. */
void fake_gate_opened(struct fake *fake, const struct plat_gate *gate);
/* fake.c: nothing is left to happen; let the nodes do what they put off.  1 if any. */
int fake_unstick(void);
/* Run a kernel, which may yield, on a stack of its own. */
void fake_spawn_kernel(struct worker *worker, void (*run)(void *arg), void *arg);
/* fake_mpi.c: forget all communicators. */
void fake_mpi_free(struct fake *fake);
/* fake_net.c: forget all networks. */
void fake_nets_free(struct fake *fake);

#endif
