/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_SCENES_H
#define ORR_TESTS_SCENES_H

/*
 * scenes.h - what every backend must do alike, as scenes that each node plays.
 *
 * A scene is prepared on all nodes, then started on all, then each node waits until
 * what it expects has happened, then it checks.  Programs: conformance.c plays them
 * under mpirun and smpirun, conformance_fake.c on the fake.
 */
#include "core/node.h"
#include "plat/net.h"

struct actor;

struct scene {
	const char *name;
	int min_nodes;
	/* Allocate actor->data and call actor_expect(); messages may arrive after it. */
	void (*prepare)(struct actor *actor);
	/* Called without the lock; may block at this node's own gates only. */
	void (*start)(struct actor *actor);
	void (*deliver)(struct actor *actor, int peer, const void *head,
			size_t head_bytes, const void *body, size_t body_bytes);
	void (*check)(struct actor *actor); /* NULL: nothing more to check */
};

/* One node on the stage. */
struct actor {
	struct node node; /* as much of it as a backend needs */
	struct world world;
	struct settings settings;
	struct plat *plat;
	struct net *net;
	int rank, size;
	struct orr_lock lock; /* around calls of the net and its callbacks */
	struct plat_gate gate;
	int nleft;   /* atomic: what is still expected to happen */
	int npolled; /* messages that one poll, or the calendar, delivered */
	const struct scene *scene;
	void *data;    /* the scene's */
	char why[200]; /* the first failure, or "" */
};

extern const struct scene net_scenes[], bulk_scenes[], plat_scenes[];

/* Open the platform and a network of size nodes.  0 or a negative errno. */
int actor_open(struct actor *actor, int rank, int size, const void *comm);
void actor_close(struct actor *actor);

void actor_prepare(struct actor *actor, const struct scene *scene);
void actor_start(struct actor *actor);
/* Wait for what is expected, then check. */
void actor_finish(struct actor *actor);
/* Wait until all actors are here. */
void actor_barrier(struct actor *actor);

/* n things will happen; actor_ended() says that one has, from any thread. */
void actor_expect(struct actor *actor, int n);
void actor_ended(struct actor *actor);
void actor_fail(struct actor *actor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define EXPECT(actor, cond, ...)                                                         \
	do {                                                                             \
		if (!(cond))                                                             \
			actor_fail(actor, __VA_ARGS__);                                  \
	} while (0)

#endif
