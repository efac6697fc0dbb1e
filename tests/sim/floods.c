/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Messages that come faster than their links move them, so that all are on their way at
 * one time: floods.py counts what each costs.  Without arguments the scenes' names.
 *
 * floods [SCENE MESSAGES], on one rank
 */
#include <mpi.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/node.h"
#include "sim/wire.h"

enum { SIZES = 61, PRIME = 7919 };

struct stage {
	struct plat *plat;
	struct wire *wire;
	sg_host_t *hosts;
	int nhosts, npending;
	struct plat_gate gate;
};

struct pair {
	int from, to;
};

static struct pair between_two(const struct stage *stage, int i)
{
	(void)stage;
	(void)i;
	return (struct pair){0, 1};
}

static struct pair to_one(const struct stage *stage, int i)
{
	return (struct pair){1 + i % (stage->nhosts - 1), 0};
}

static struct pair from_one(const struct stage *stage, int i)
{
	return (struct pair){0, 1 + i % (stage->nhosts - 1)};
}

static struct pair each_to_each(const struct stage *stage, int i)
{
	int from = i % stage->nhosts,
	    distance = 1 + i / stage->nhosts % (stage->nhosts - 1);

	return (struct pair){from, (from + distance) % stage->nhosts};
}

static const struct {
	const char *name;
	struct pair (*pair)(const struct stage *stage, int i);
	double bytes, more_bytes; /* some have so many times more, up to SIZES */
} scenes[] = {
	{"between_two", between_two, 4096, 64},
	{"equal_between_two", between_two, 4096, 0},
	{"short_between_two", between_two, 64, 0},
	{"to_one", to_one, 4096, 64},
	{"equal_to_one", to_one, 4096, 0},
	{"short_to_one", to_one, 64, 0},
	{"from_one", from_one, 4096, 64},
	{"each_to_each", each_to_each, 4096, 64},
	{"short_each_to_each", each_to_each, 64, 0},
};

enum { NSCENES = sizeof(scenes) / sizeof(scenes[0]) };

static void on_arrival(void *arg)
{
	struct stage *stage = arg;

	if (--stage->npending == 0)
		plat_gate_open(stage->plat, &stage->gate);
}

static void play(struct stage *stage, int scene, int n)
{
	double begin_s = plat_now_s(stage->plat);

	plat_gate_init(&stage->gate);
	stage->npending = n;
	for (int i = 0; i < n; i++) {
		struct pair pair = scenes[scene].pair(stage, i);
		double more = scenes[scene].more_bytes * (i * PRIME % SIZES);

		wire_start(stage->wire, &(struct wire_transfer){
						.from = stage->hosts[pair.from],
						.to = stage->hosts[pair.to],
						.bytes = scenes[scene].bytes + more,
						.start_s = begin_s + 1e-8 * i,
						.done = on_arrival,
						.arg = stage,
					});
	}
	plat_gate_wait(stage->plat, &stage->gate);
	printf("%s: %d messages in %.9g s\n", scenes[scene].name, n,
	       plat_now_s(stage->plat) - begin_s);
}

int main(int argc, char **argv)
{
	static struct node node = {.size = 1};
	static struct stage stage;
	struct settings settings = {0};

	MPI_Init(&argc, &argv);
	knobs_read(&settings.knobs);
	node.settings = &settings;
	if (plat_open(&stage.plat, &node) < 0)
		return 1;
	node.plat = stage.plat;
	plat_set_self(&node);
	stage.wire = wire_new(sim_get(), WIRE_ROUTES);
	stage.hosts = sg_host_list();
	stage.nhosts = (int)sg_host_count();
	for (int i = 0; i < NSCENES; i++)
		if (argc < 3)
			printf("%s\n", scenes[i].name);
		else if (strcmp(argv[1], scenes[i].name) == 0)
			play(&stage, i, atoi(argv[2]));
	wire_free(stage.wire);
	plat_close(stage.plat);
	MPI_Finalize();
	return 0;
}
