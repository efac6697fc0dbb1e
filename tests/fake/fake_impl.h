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

struct fake_net;

/* The k-th network that each node opens connects these nets. */
struct fake_domain {
	struct fake_domain *next;
	struct fake_net **nets; /* by rank; NULL before it is opened */
	double *arrived_s;      /* last arrival of a message, by from * size + to */
	struct net_bulk_half *puts, *gets; /* without their counterpart */
	struct fake_parcel *early; /* for a net that is not open yet */
	int size, nopen, nclosed;
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
	struct owned *owned;   /* what to free when an event never runs */
};

/* An event of the fake itself, allocated; freed once it ran, or by fake_stop(). */
struct fake_event {
	struct plat_timer timer; /* first */
	struct fake_event *prev, *next;
};

struct plat {
	struct node *node;
	int index;
	struct plat_machine machine;
	struct fake_worker *workers;
	int nworkers;
	double *memory_used_bytes; /* by memory */
};

struct fake *fake_get(void);

/* A zeroed event of bytes (struct fake_event first); fake_event_done() in its fire. */
void *fake_event_new(struct plat *plat, size_t bytes, void (*fire)(struct plat_timer *));
void fake_event_done(void *event);

#endif
