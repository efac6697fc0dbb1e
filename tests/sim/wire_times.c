/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Transport "routes" takes as long as SMPI's own messages, alone and in contention.
 * Each scene is a set of transfers that begin together; what is compared is the date
 * of the last arrival.  Prints a table; fails when a difference exceeds TOLERANCE.
 *
 * Run on at least 8 ranks: wire_times [transport]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/node.h"
#include "plat/net.h"

#define TOLERANCE 0.03

enum { MAX_TRANSFERS = 512, EAGER_BYTES = 4096, SCENE_RANKS = 8 };

struct transfer {
	int from, to;
	size_t bytes;
};

struct scene {
	char name[40];
	int n;
	struct transfer transfers[MAX_TRANSFERS];
};

struct run {
	struct plat *plat;
	struct net *net;
	int npending, rank;
	struct plat_gate gate;
};

static void end_one(struct run *run)
{
	if (--run->npending == 0)
		plat_gate_open(run->plat, &run->gate);
}

static void on_bulk(struct net_bulk *bulk)
{
	void *run;

	memcpy(&run, &bulk[1], sizeof(run));
	end_one(run);
}

static void on_sent(struct net_message *message)
{
	void *run;

	memcpy(&run, &message[1], sizeof(run));
	end_one(run);
}

static const struct net_sender sender = {on_sent};

static void on_deliver(struct net *net, int peer, const void *head, size_t head_bytes,
		       const void *body, size_t body_bytes)
{
	(void)peer, (void)head, (void)head_bytes, (void)body, (void)body_bytes;
	end_one(net->owner);
}

static void on_barrier(struct net_barrier *barrier)
{
	struct plat_gate *gate = barrier->backend[0];

	plat_gate_open(NULL, gate);
}

static void wait_barrier(struct run *run)
{
	struct net_barrier barrier = {.done = on_barrier};
	struct plat_gate gate;

	plat_gate_init(&gate);
	barrier.backend[0] = &gate;
	run->net->ops->barrier(run->net, &barrier);
	plat_gate_wait(run->plat, &gate);
}

static void *add(struct run *run, const struct transfer *t)
{
	void *memory;

	run->npending++;
	if (t->bytes <= EAGER_BYTES) {
		struct net_message *message = calloc(1, sizeof(*message) + sizeof(run));

		memcpy(&message[1], &run, sizeof(run));
		message->peer = t->to;
		message->body_bytes = (unsigned)t->bytes;
		message->sender = &sender;
		memory = message;
	} else {
		struct net_bulk *bulk = calloc(1, sizeof(*bulk) + sizeof(run));

		memcpy(&bulk[1], &run, sizeof(run));
		bulk->peer = run->rank == t->from ? t->to : t->from;
		layout_flat(&bulk->layout, NULL, t->bytes);
		bulk->done = on_bulk;
		memory = bulk;
	}
	return memory;
}

static double play_ours(struct run *run, const struct scene *scene)
{
	void *memory[2 * MAX_TRANSFERS];
	int n = 0, rank = run->rank;
	double start_s;

	wait_barrier(run);
	start_s = plat_now_s(run->plat);
	plat_gate_init(&run->gate);
	run->npending = 1;
	for (int i = 0; i < scene->n; i++) {
		const struct transfer *t = &scene->transfers[i];

		if (t->to == rank && t->bytes <= EAGER_BYTES)
			run->npending++;
		if (t->to == rank && t->bytes > EAGER_BYTES) {
			struct net_bulk *bulk = memory[n++] = add(run, t);

			bulk->key = (uint32_t)i;
			run->net->ops->get(run->net, bulk);
		}
		if (t->from == rank && t->bytes <= EAGER_BYTES)
			run->net->ops->send(run->net, memory[n++] = add(run, t));
		if (t->from == rank && t->bytes > EAGER_BYTES) {
			struct net_bulk *bulk = memory[n++] = add(run, t);

			bulk->key = (uint32_t)i;
			run->net->ops->put(run->net, bulk);
		}
	}
	if (--run->npending > 0)
		plat_gate_wait(run->plat, &run->gate);
	while (n > 0)
		free(memory[--n]);
	return plat_now_s(run->plat) - start_s;
}

static double play_smpi(struct run *run, const struct scene *scene)
{
	static char buffer[1 << 24];
	MPI_Request requests[2 * MAX_TRANSFERS];
	int n = 0, rank = run->rank;
	double start_s;

	wait_barrier(run);
	start_s = plat_now_s(run->plat);
	for (int i = 0; i < scene->n; i++) {
		const struct transfer *t = &scene->transfers[i];

		if (t->to == rank)
			MPI_Irecv(buffer, (int)t->bytes, MPI_BYTE, t->from, i,
				  MPI_COMM_WORLD, &requests[n++]);
	}
	for (int i = 0; i < scene->n; i++) {
		const struct transfer *t = &scene->transfers[i];

		if (t->from == rank)
			MPI_Isend(buffer, (int)t->bytes, MPI_BYTE, t->to, i,
				  MPI_COMM_WORLD, &requests[n++]);
	}
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	return plat_now_s(run->plat) - start_s;
}

static void append(struct scene *scene, int from, int to, size_t bytes)
{
	scene->transfers[scene->n++] = (struct transfer){from, to, bytes};
}

static int nfailed, size;

static void compare(struct run *run, const struct scene *scene)
{
	double mine[2], last[2], difference;

	mine[0] = play_smpi(run, scene);
	mine[1] = play_ours(run, scene);
	MPI_Allreduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	difference = last[1] / last[0] - 1;
	if (run->rank == 0)
		printf("%-32s %12.3f %12.3f %+8.2f %%\n", scene->name, last[0] * 1e6,
		       last[1] * 1e6, 100 * difference);
	nfailed += fabs(difference) > TOLERANCE;
}

static void play_sizes(struct run *run, int to, const char *name)
{
	for (size_t bytes = 8; bytes <= 1 << 24; bytes *= 2) {
		struct scene scene = {.n = 0};

		snprintf(scene.name, sizeof(scene.name), "%s %zu B", name, bytes);
		append(&scene, 0, to, bytes);
		compare(run, &scene);
	}
}

static void play_patterns(struct run *run, size_t bytes)
{
	struct scene scenes[6] = {0};
	static const char *const names[] = {"two into one",    "exchange",     "ring",
					    "all to all of 8", "one to seven", "random"};
	unsigned seed = 1;

	append(&scenes[0], 1, 0, bytes);
	append(&scenes[0], 2, 0, bytes);
	append(&scenes[1], 0, 1, bytes);
	append(&scenes[1], 1, 0, bytes);
	for (int i = 0; i < size && i < MAX_TRANSFERS; i++)
		append(&scenes[2], i, (i + 1) % size, bytes);
	for (int i = 0; i < SCENE_RANKS; i++)
		for (int j = 0; j < SCENE_RANKS; j++)
			if (i != j)
				append(&scenes[3], i, j, bytes);
	for (int i = 1; i < SCENE_RANKS; i++)
		append(&scenes[4], 0, i, bytes);
	for (int i = 0; i < 4 * size && i < MAX_TRANSFERS; i++) {
		int from, to;

		seed = seed * 1103515245u + 12345u;
		from = (int)(seed >> 16) % size;
		seed = seed * 1103515245u + 12345u;
		to = (int)(seed >> 16) % size;
		if (from != to)
			append(&scenes[5], from, to, bytes * (1 + (seed >> 8) % 4));
	}
	for (int i = 0; i < 6; i++) {
		snprintf(scenes[i].name, sizeof(scenes[i].name), "%s %zu B", names[i],
			 bytes);
		compare(run, &scenes[i]);
	}
}

int main(int argc, char **argv)
{
	static struct node node;
	struct run run = {0};
	struct net_config config = {.name = argc > 1 ? argv[1] : ""};
	MPI_Comm comm = MPI_COMM_WORLD;
	struct settings settings = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(comm, &run.rank);
	MPI_Comm_size(comm, &size);
	knobs_read(&settings.knobs);
	node.settings = &settings;
	node.rank = run.rank;
	node.size = size;
	if (plat_open(&run.plat, &node) < 0)
		return 1;
	node.plat = run.plat;
	plat_set_self(&node);
	config.comm = &comm;
	config.rank = run.rank;
	config.size = size;
	config.eager_bytes = EAGER_BYTES;
	if (plat_net_open(run.plat, &config, &run.net) < 0)
		return 1;
	run.net->owner = &run;
	run.net->deliver = on_deliver;
	if (run.rank == 0)
		printf("%-32s %12s %12s %8s\n", "scene", "smpi_us", "ours_us",
		       "difference");
	play_sizes(&run, size - 1, "one message");
	play_sizes(&run, 0, "to itself");
	play_patterns(&run, 3000);
	play_patterns(&run, 100000);
	play_patterns(&run, 2000000);
	if (run.rank == 0)
		printf("%d scenes beyond %g %%\n", nfailed, 100 * TOLERANCE);
	wait_barrier(&run);
	run.net->ops->close(run.net);
	plat_close(run.plat);
	MPI_Finalize();
	return nfailed != 0;
}
