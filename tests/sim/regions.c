/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Streams that begin together get the max-min fair rates, however many links they have:
 * compared with a plain search.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "solver_parts.h"

enum { USES = 3 };

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 8) % n;
}

/* Of those that are not yet rated each link's share; the least one's streams stay. */
static void share_out(struct stream **streams, double *levels, int nstreams,
		      struct link *links, int nlinks)
{
	double *left = orr_alloc((size_t)nlinks * sizeof(*left));
	int nrated = 0;

	for (int i = 0; i < nlinks; i++)
		left[i] = links[i].bytes_per_s;
	while (nrated < nstreams) {
		double least = INFINITY;
		int full = 0;

		for (int i = 0; i < nlinks; i++) {
			double weight = 0;

			for (int s = 0; s < nstreams; s++)
				for (int u = 0; u < USES && levels[s] < 0; u++)
					if (streams[s]->uses[u].link == &links[i])
						weight += streams[s]->uses[u].weight;
			if (weight > 0 && left[i] / weight < least) {
				least = left[i] / weight;
				full = i;
			}
		}
		for (int s = 0; s < nstreams; s++) {
			int is_held = 0;

			for (int u = 0; u < USES; u++)
				is_held |= streams[s]->uses[u].link == &links[full];
			if (!is_held || levels[s] >= 0)
				continue;
			levels[s] = least;
			nrated++;
			for (int u = 0; u < USES; u++)
				left[streams[s]->uses[u].link - links] -=
					least * streams[s]->uses[u].weight;
		}
	}
	free(left);
}

/* Streams of a few links each, with random capacities. */
static int check(int nlinks, int nstreams, unsigned first_seed)
{
	unsigned seed = first_seed;
	int nwrong;
	struct solver solver = {0};
	struct link *links = orr_alloc((size_t)nlinks * sizeof(*links));
	struct stream **streams = orr_alloc((size_t)nstreams * sizeof(*streams));
	double *levels = orr_alloc((size_t)nstreams * sizeof(*levels));

	for (int i = 0; i < nlinks; i++)
		links[i] = (struct link){.bytes_per_s = 1e9 + 1e6 * draw(&seed, 5000),
					 .level = INFINITY,
					 .most = INFINITY};
	region_begin(&solver);
	for (int s = 0; s < nstreams; s++) {
		streams[s] = orr_alloc_lines(sizeof(struct stream) +
					     USES * sizeof(struct use));
		streams[s]->penalty = 1;
		streams[s]->bound = INFINITY;
		streams[s]->held_by = UNHELD;
		streams[s]->nuses = USES;
		for (int u = 0; u < USES; u++) {
			/* Each link has one for sure; the others differ. */
			int to = u == 0 ? s % nlinks : (int)draw(&seed, (unsigned)nlinks);

			while (u > 0 && (&links[to] == streams[s]->uses[0].link ||
					 &links[to] == streams[s]->uses[u - 1].link))
				to = (to + 1) % nlinks;
			streams[s]->uses[u] =
				(struct use){.link = &links[to], .weight = 1};
			links[to].nmembers++;
		}
		levels[s] = -1;
	}
	for (int s = 0; s < nstreams; s++)
		region_add(&solver, streams[s]);
	region_rate(&solver);
	share_out(streams, levels, nstreams, links, nlinks);
	nwrong = solver.region.nresidents != (unsigned)nstreams;
	for (int s = 0; s < nstreams; s++) {
		const struct resident *resident = &solver.region.residents[s];

		nwrong += resident->stream != streams[s] ||
			  !(fabs(resident->level / levels[s] - 1) < 1e-9);
		free(streams[s]);
	}
	if (nwrong > 0)
		printf("%d of %d streams on %d links have a wrong rate (seed %u)\n",
		       nwrong, nstreams, nlinks, first_seed);
	region_free(&solver.region);
	free(levels);
	free(streams);
	free(links);
	return nwrong;
}

/* So many that all are compared, that blocks of them are, and that blocks of blocks. */
int main(int argc, char **argv)
{
	int nwrong = 0;

	MPI_Init(&argc, &argv);
	for (unsigned seed = 1; seed <= 20; seed++)
		nwrong += check(30, 40, seed);
	for (unsigned seed = 1; seed <= 5; seed++)
		nwrong += check(200, 250, seed);
	nwrong += check(256, 300, 6);
	nwrong += check(257, 300, 7);
	nwrong += check(900, 1000, 8);
	MPI_Finalize();
	return nwrong > 0;
}
