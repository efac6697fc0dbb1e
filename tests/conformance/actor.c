/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "scenes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { EAGER_BYTES = 4096, PACKET_BYTES = 1500, MOST_PER_POLL = 100 };

static int actor_poll(void *arg)
{
	struct actor *actor = arg;
	int advanced;

	if (!orr_trylock(&actor->lock))
		return 0;
	actor->npolled = 0;
	advanced = actor->net->ops->poll(actor->net);
	EXPECT(actor, actor->npolled <= MOST_PER_POLL,
	       "one poll delivered %d messages; others wait for its end", actor->npolled);
	orr_unlock(&actor->lock);
	return advanced > 0;
}

static void actor_deliver(struct net *net, int peer, const void *head, size_t head_bytes,
			  const void *body, size_t body_bytes)
{
	struct actor *actor = net->owner;

	actor->npolled++;
	if (actor->scene && actor->scene->deliver)
		actor->scene->deliver(actor, peer, head, head_bytes, body, body_bytes);
	else
		actor_fail(actor, "a message from %d that nobody sent", peer);
}

static const struct starpu_conf no_conf;

int actor_open(struct actor *actor, int rank, int size, const void *comm)
{
	struct net_config config = {.comm = comm,
				    .rank = rank,
				    .size = size,
				    .eager_bytes = EAGER_BYTES,
				    .packet_bytes = PACKET_BYTES};
	int ret;

	memset(actor, 0, sizeof(*actor));
	actor->rank = rank;
	actor->size = size;
	knobs_read(&actor->settings.knobs);
	config.name = actor->settings.knobs.transport;
	config.piece_bytes = (size_t)actor->settings.knobs.mpi_piece_bytes;
	actor->node.world = &actor->world;
	actor->node.settings = &actor->settings;
	actor->node.conf = &no_conf;
	actor->node.rank = rank;
	actor->node.size = size;
	actor->world.nnodes = 1;
	orr_lock_init(&actor->lock);
	ret = plat_open(&actor->plat, &actor->node);
	if (ret < 0)
		return ret;
	actor->node.plat = actor->plat;
	actor->node.machine = plat_machine(actor->plat);
	plat_set_self(&actor->node);
	ret = plat_net_open(actor->plat, &config, &actor->net);
	if (ret < 0) {
		plat_set_self(NULL);
		plat_close(actor->plat);
		return ret;
	}
	actor->net->owner = actor;
	actor->net->deliver = actor_deliver;
	plat_set_poll(actor->plat, actor_poll, actor);
	return 0;
}

void actor_close(struct actor *actor)
{
	plat_set_poll(actor->plat, NULL, NULL);
	actor->net->ops->close(actor->net);
	plat_set_self(NULL);
	plat_close(actor->plat);
	knobs_free(&actor->settings.knobs);
}

void actor_fail(struct actor *actor, const char *format, ...)
{
	va_list args;

	if (actor->why[0])
		return;
	va_start(args, format);
	vsnprintf(actor->why, sizeof(actor->why), format, args);
	va_end(args);
}

void actor_expect(struct actor *actor, int n)
{
	actor->nleft = n;
	if (n == 0)
		plat_gate_open(actor->plat, &actor->gate);
}

void actor_ended(struct actor *actor)
{
	int nleft = orr_add(&actor->nleft, -1);

	EXPECT(actor, nleft >= 0, "more happened than was expected");
	if (nleft == 0)
		plat_gate_open(actor->plat, &actor->gate);
}

void actor_prepare(struct actor *actor, const struct scene *scene)
{
	actor->scene = scene;
	actor->why[0] = '\0';
	actor->data = NULL;
	plat_gate_init(&actor->gate);
	scene->prepare(actor);
}

void actor_start(struct actor *actor)
{
	actor->scene->start(actor);
}

void actor_finish(struct actor *actor)
{
	int ret = plat_gate_wait(actor->plat, &actor->gate);

	EXPECT(actor, ret == 0, "the wait ended with %d, %d more were expected", ret,
	       actor->nleft);
	if (actor->scene->check)
		actor->scene->check(actor);
	/* Callbacks of the network may still be about to return. */
	orr_lock(&actor->lock);
	free(actor->data);
	actor->data = NULL;
	orr_unlock(&actor->lock);
}

struct rendezvous {
	struct net_barrier barrier; /* first */
	struct plat *plat;
	struct plat_gate gate;
};

static void all_came(struct net_barrier *barrier)
{
	struct rendezvous *rendezvous = (struct rendezvous *)barrier;

	plat_gate_open(rendezvous->plat, &rendezvous->gate);
}

void actor_barrier(struct actor *actor)
{
	struct rendezvous rendezvous = {.barrier = {.done = all_came},
					.plat = actor->plat};

	plat_gate_init(&rendezvous.gate);
	orr_lock(&actor->lock);
	actor->net->ops->barrier(actor->net, &rendezvous.barrier);
	orr_unlock(&actor->lock);
	if (plat_gate_wait(actor->plat, &rendezvous.gate) != 0)
		orr_die(actor->rank, "the barrier between two scenes never ended");
}
