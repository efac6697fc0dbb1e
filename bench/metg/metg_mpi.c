/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The smallest task that is worth it, in plain MPI: each rank goes through its columns; a
 * message for each value that comes from another rank, all of a step posted at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "pattern.h"

struct exchange {
	MPI_Request *requests;
	double *values; /* two for each column */
	double *came;   /* for each message of a step */
	int nrequests, capacity;
};

static MPI_Request *next_request(struct exchange *x)
{
	if (x->nrequests == x->capacity) {
		fprintf(stderr, "metg_mpi: more messages in a step than expected\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return &x->requests[x->nrequests++];
}

/* Receives first; both ranks go through all edges in one order, which pairs them. */
static void exchange(const struct metg *m, struct exchange *x, int step)
{
	int inputs[MAX_INPUTS];

	x->nrequests = 0;
	for (int sends = 0; sends <= 1; sends++)
		for (int column = 0; column < m->width; column++) {
			int to = metg_owner(m, column);
			int n = metg_inputs(m, step, column, inputs);

			for (int i = 0; i < n; i++) {
				int from = metg_owner(m, inputs[i]);

				if (from == to)
					continue;
				if (!sends && to == m->rank)
					MPI_Irecv(&x->came[x->nrequests], 1, MPI_DOUBLE,
						  from, column, MPI_COMM_WORLD,
						  next_request(x));
				else if (sends && from == m->rank)
					MPI_Isend(&x->values[2 * inputs[i] + !(step & 1)],
						  1, MPI_DOUBLE, to, column,
						  MPI_COMM_WORLD, next_request(x));
			}
		}
	MPI_Waitall(x->nrequests, x->requests, MPI_STATUSES_IGNORE);
}

static double graph_s(const struct metg *m, struct exchange *x, double us)
{
	double start_s;

	MPI_Barrier(MPI_COMM_WORLD);
	start_s = MPI_Wtime();
	for (int step = 0; step < m->steps; step++) {
		if (m->size > 1)
			exchange(m, x, step);
		for (int column = 0; column < m->width; column++)
			if (metg_owner(m, column) == m->rank) {
				metg_spin(us);
				x->values[2 * column + (step & 1)] = step;
			}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - start_s;
}

static void try_lengths(const struct metg *m, struct exchange *x)
{
	graph_s(m, x, m->from_us);
	for (double us = m->from_us; us >= m->to_us * 0.999; us /= m->factor) {
		double best_s = 1e30;

		for (int i = 0; i < m->repeats; i++) {
			double time_s = graph_s(m, x, us);

			best_s = time_s < best_s ? time_s : best_s;
		}
		if (!m->rank)
			printf("%g,%.9f\n", us, best_s);
	}
}

int main(int argc, char **argv)
{
	struct metg m = {.rank = 0};
	struct exchange x = {.nrequests = 0};
	int rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &m.size);
	rc = metg_read(&m, argc, argv);
	if (!rc) {
		x.capacity = 2 * m.width * (*m.pattern == 'a' ? m.width : m.inputs);
		x.requests = malloc((size_t)x.capacity * sizeof *x.requests);
		x.came = malloc((size_t)x.capacity * sizeof *x.came);
		x.values = calloc(2 * (size_t)m.width, sizeof *x.values);
		if (!x.requests || !x.came || !x.values)
			MPI_Abort(MPI_COMM_WORLD, 1);
		try_lengths(&m, &x);
	}
	free(x.requests);
	free(x.came);
	free(x.values);
	MPI_Finalize();
	return rc ? 2 : 0;
}
