/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Copies between the memories of a simulated node take the time that its links say,
 * alone and in contention.  Reads the links from the platform: one rank, at least two
 * GPUs.
 */
#include <math.h>
#include <mpi.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/node.h"

enum { MAX_COPIES = 4 };

#define BYTES 1e8

struct stage {
	struct plat *plat;
	struct plat_gate gate;
	int npending, nfailed;
};

struct scene {
	const char *name;
	int n;
	unsigned paths[MAX_COPIES][2];
	double expected_s; /* until the last has ended */
};

static double property(const char *name)
{
	const char *text = sg_host_get_property_value(sg_host_self(), name);

	return text ? atof(text) : 0;
}

static void on_done(struct plat_copy *copy)
{
	struct stage *stage = copy->owner;

	if (--stage->npending == 0)
		plat_gate_open(stage->plat, &stage->gate);
}

static void play(struct stage *stage, const struct scene *scene)
{
	struct plat_copy copies[MAX_COPIES] = {0};
	int (*copy)(struct plat *, struct plat_copy *) =
		plat_machine(stage->plat)->devices[STARPU_CUDA_WORKER].memory->copy;
	double start_s = plat_now_s(stage->plat), elapsed_s;

	plat_gate_init(&stage->gate);
	stage->npending = scene->n;
	for (int i = 0; i < scene->n; i++) {
		copies[i].from = scene->paths[i][0];
		copies[i].to = scene->paths[i][1];
		copies[i].bytes = (size_t)BYTES;
		copies[i].done = on_done;
		copies[i].owner = stage;
		if (copy(stage->plat, &copies[i]))
			on_done(&copies[i]);
	}
	plat_gate_wait(stage->plat, &stage->gate);
	elapsed_s = plat_now_s(stage->plat) - start_s;
	if (fabs(elapsed_s - scene->expected_s) > 1e-6 * scene->expected_s) {
		printf("FAIL %s: %.9g s, expected %.9g s\n", scene->name, elapsed_s,
		       scene->expected_s);
		stage->nfailed++;
	} else {
		printf("PASS %s\n", scene->name);
	}
}

static void play_one_main(struct stage *stage)
{
	double link = property("pcie_bw"), latency_s = property("pcie_lat");
	double host = property("host_bw"), peer = property("nvlink_bw");
	double shared = property("host_shared"), crossings = property("host_peers");
	double both = host > 0 ? fmin(2 * link, host) : 2 * link;
	double hop = peer > 0 ? peer : host > 0 ? fmin(link, host) : link;
	const struct scene scenes[] = {
		{"one copy to a GPU", 1, {{0, 1}}, latency_s + BYTES / link},
		{"one copy from a GPU", 1, {{2, 0}}, latency_s + BYTES / link},
		{"two to one GPU share its link",
		 2,
		 {{0, 1}, {0, 1}},
		 latency_s + 2 * BYTES / link},
		{"the directions are independent, unless the host side is one",
		 2,
		 {{0, 1}, {1, 0}},
		 latency_s + BYTES / (shared > 0 ? both / 2 : link)},
		{"two GPUs share the host side",
		 2,
		 {{0, 1}, {0, 2}},
		 latency_s + 2 * BYTES / both},
		{"one copy between GPUs", 1, {{1, 2}}, latency_s + BYTES / hop},
		{"two GPUs exchange, over the host side as often as they cross it",
		 2,
		 {{1, 2}, {2, 1}},
		 latency_s +
			 BYTES / (crossings > 0 ? fmin(hop, host / crossings / 2) : hop)},
	};

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(stage, &scenes[i]);
}

/* Two main memories; each has a GPU beside it: 2 and 3. */
static void play_two_mains(struct stage *stage)
{
	double link = property("pcie_bw"), latency_s = property("pcie_lat");
	double host = property("host_bw"), peer = property("nvlink_bw");
	double numa = property("numa_bw"), numa_s = property("numa_lat");
	double hop = peer > 0 ? peer : host > 0 ? fmin(link, host) : link;
	double far = fmin(hop, numa);
	const struct scene of_two[] = {
		{"one copy between main memories", 1, {{0, 1}}, numa_s + BYTES / numa},
		{"two to one main memory share its link",
		 2,
		 {{0, 1}, {0, 1}},
		 numa_s + 2 * BYTES / numa},
		{"main memories have two directions",
		 2,
		 {{0, 1}, {1, 0}},
		 numa_s + BYTES / numa},
		{"from a near main memory to a GPU",
		 1,
		 {{1, 3}},
		 latency_s + BYTES / hop},
		{"from a far main memory to a GPU",
		 1,
		 {{0, 3}},
		 latency_s + numa_s + BYTES / far},
		{"to a far main memory from a GPU",
		 1,
		 {{2, 1}},
		 latency_s + numa_s + BYTES / far},
		{"between GPUs that are far from each other",
		 1,
		 {{3, 2}},
		 latency_s + numa_s + BYTES / far},
	};

	for (size_t i = 0; i < sizeof(of_two) / sizeof(of_two[0]); i++)
		play(stage, &of_two[i]);
}

int main(int argc, char **argv)
{
	struct node *node = orr_alloc_lines(sizeof(*node));
	struct settings *settings = calloc(1, sizeof(*settings));
	struct stage stage = {0};

	MPI_Init(&argc, &argv);
	knobs_read(&settings->knobs);
	node->settings = settings;
	node->size = 1;
	if (plat_open(&stage.plat, node) < 0)
		return 1;
	node->plat = stage.plat;
	plat_set_self(node);
	node->machine = plat_machine(stage.plat);
	if (node->machine->devices[STARPU_CUDA_WORKER].count < 2) {
		printf("the platform has %d GPUs per node: 2 are needed\n",
		       node->machine->devices[STARPU_CUDA_WORKER].count);
		return 77;
	}
	if (node->machine->nnumas == 2)
		play_two_mains(&stage);
	else
		play_one_main(&stage);
	plat_close(stage.plat);
	MPI_Finalize();
	free(node);
	free(settings);
	return stage.nfailed != 0;
}
