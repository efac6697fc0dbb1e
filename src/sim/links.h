/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_LINKS_H
#define ORR_SIM_LINKS_H

/*
 * links.h - links between the GPUs of a node that differ by pair.
 *
 * gpu_links="0,1:50e9;0,3:25e9:2e-6;switch,4,5,6,7:450e9": of each two GPUs in a group
 * bytes per second each way, then, where they are not as those of all GPUs, a latency and
 * how often a copy crosses the host's side.  Each pair has its own links, one in each
 * direction; at a switch each GPU has one in each direction for all others there.
 */
#include "sim.h"

/* From one GPU to another: the links that a copy takes. */
struct links_way {
	short out,
		in; /* by number; of a pair that has its own, both the same; -1: none */
	short ncrossings; /* of the host's side; negative: host_peers */
	double latency_s; /* negative: that of PCIe */
};

/* Of all nodes whose property has the same text. */
struct links {
	struct links *next;
	char *text;
	int ngpus, n;        /* GPUs, and links */
	double *bytes_per_s; /* of each link */
	struct links_way ways[];
};

/* The table for the host of a node with so many GPUs into plat->links, where it has one.
 * 0, or -ENODEV with a message. */
int links_read(struct plat *plat, int ngpus);
/* NULL: there is none between two GPUs, by their numbers in the machine. */
const struct links_way *links_way(const struct links *links, int from, int to);

#endif
