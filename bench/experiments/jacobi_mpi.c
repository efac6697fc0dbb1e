/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Jacobi's method on a cube, in plain MPI: without communication, blocking, or overlapped
 * by hand.  Time only: a rank computes by letting time pass, as many points as jacobi.c's
 * tasks, at the same time per point; the faces are messages of their true size whose
 * contents all ranks share.  A rank is a node, and its threads share the points evenly.
 *
 * usage: jacobi_mpi-sim --variant 0|1|2 --px P --py P --pz P --nx N --ny N --nz N
 *        --steps S --cores C --point-ns T [--copy-bw B --copy-us L]
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "common.h"

enum { NONE, BLOCKING, OVERLAPPED };

struct jacobi {
	double variant, p[3], n[3], steps, cores, point_ns;
	double copy_bw, copy_us; /* of a GPU's link, bytes/s and us; 0: no GPU */
	double place_bytes[6];   /* of the face to each neighbour */
	int neighbours[6];       /* ranks; -1: the edge */
	double points, inner_points;
	double wait_s;
};

/* What is sent and received; nobody looks at it. */
static char *faces;

static double seconds_of(const struct jacobi *j, double points)
{
	return points * j->point_ns * 1e-9 / j->cores;
}

/* Copies of all faces between a GPU and the memory that MPI sends from, one way. */
static double copies_s(const struct jacobi *j)
{
	double sum_s = 0;

	for (int side = 0; side < 6 && j->copy_bw > 0; side++)
		if (j->neighbours[side] >= 0)
			sum_s += j->copy_us * 1e-6 + j->place_bytes[side] / j->copy_bw;
	return sum_s;
}

static void lay_out(struct jacobi *j, int rank)
{
	int extent[3] = {(int)j->p[0], (int)j->p[1], (int)j->p[2]}, place[3];
	double local[3], inner[3], largest = 0;

	grid_place(extent, rank, place);
	for (int d = 0; d < 3; d++)
		local[d] = inner[d] = j->n[d] / j->p[d];
	for (int side = 0; side < 6; side++) {
		int d = side / 2, there[3] = {place[0], place[1], place[2]};

		there[d] += side % 2 ? 1 : -1;
		j->neighbours[side] = grid_rank(extent, there);
		inner[d] -= j->neighbours[side] >= 0;
		j->place_bytes[side] = 8 * local[(d + 1) % 3] * local[(d + 2) % 3];
		if (j->place_bytes[side] > largest)
			largest = j->place_bytes[side];
	}
	j->points = local[0] * local[1] * local[2];
	j->inner_points = inner[0] * inner[1] * inner[2];
	if (!faces)
		faces = malloc((size_t)largest);
	if (!faces)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static int start(const struct jacobi *j, MPI_Request requests[12])
{
	int n = 0;

	for (int side = 0; side < 6; side++)
		if (j->neighbours[side] >= 0)
			MPI_Irecv(faces, (int)j->place_bytes[side], MPI_BYTE,
				  j->neighbours[side], side ^ 1, MPI_COMM_WORLD,
				  &requests[n++]);
	for (int side = 0; side < 6; side++)
		if (j->neighbours[side] >= 0)
			MPI_Isend(faces, (int)j->place_bytes[side], MPI_BYTE,
				  j->neighbours[side], side, MPI_COMM_WORLD,
				  &requests[n++]);
	return n;
}

static void exchange(struct jacobi *j, MPI_Request *requests, int n)
{
	double before_s = MPI_Wtime();

	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	j->wait_s += MPI_Wtime() - before_s;
}

/* The faces of the first step are there from the start, as in jacobi.c. */
static void step(struct jacobi *j, int is_first)
{
	MPI_Request requests[12];
	double start_s = MPI_Wtime(), copy_s = copies_s(j);

	if (j->variant == NONE || is_first) {
		compute_s(seconds_of(j, j->points));
	} else if (j->variant == BLOCKING) {
		compute_s(copy_s);
		exchange(j, requests, start(j, requests));
		compute_s(copy_s + seconds_of(j, j->points));
	} else {
		int n;

		/* A GPU computes inside while the host copies; cores post, compute, wait.
		 */
		compute_s(copy_s);
		n = start(j, requests);
		if (copy_s <= 0)
			compute_s(seconds_of(j, j->inner_points));
		exchange(j, requests, n);
		compute_s(copy_s);
		compute_s(start_s + seconds_of(j, j->inner_points) - MPI_Wtime());
		compute_s(seconds_of(j, j->points - j->inner_points));
	}
}

static int read_all(struct jacobi *j, int argc, char **argv, int rank, int size)
{
	const struct setting settings[] = {
		{"variant", &j->variant}, {"px", &j->p[0]},
		{"py", &j->p[1]},         {"pz", &j->p[2]},
		{"nx", &j->n[0]},         {"ny", &j->n[1]},
		{"nz", &j->n[2]},         {"steps", &j->steps},
		{"cores", &j->cores},     {"point-ns", &j->point_ns},
		{"copy-bw", &j->copy_bw}, {"copy-us", &j->copy_us},
	};
	int n = sizeof settings / sizeof *settings;

	if (settings_read(settings, n, argc, argv, rank == 0))
		return -1;
	if (j->p[0] * j->p[1] * j->p[2] == size && j->cores >= 1 && j->variant <= 2)
		return 0;
	if (!rank)
		fprintf(stderr,
			"jacobi_mpi: a grid of %g x %g x %g with %d ranks, %g cores, "
			"variant %g: expected as many ranks as the grid has places, a "
			"core, and variant 0 (none), 1 (blocking) or 2 (overlapped)\n",
			j->p[0], j->p[1], j->p[2], size, j->cores, j->variant);
	return -1;
}

int main(int argc, char **argv)
{
	struct jacobi j = {.p = {1, 1, 1},
			   .n = {96, 96, 96},
			   .steps = 4,
			   .cores = 1,
			   .point_ns = 10};
	double start_s, own[2], largest[2] = {0};
	int rank, size, rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rc = read_all(&j, argc, argv, rank, size);
	if (!rc) {
		lay_out(&j, rank);
		start_s = MPI_Wtime();
		for (int s = 0; s < j.steps; s++)
			step(&j, s == 0);
		own[0] = MPI_Wtime() - start_s;
		own[1] = j.wait_s;
		MPI_Reduce(own, largest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	}
	if (!rc && !rank)
		printf("time: %.9f s\nwait: %.9f s\n", largest[0], largest[1]);
	MPI_Finalize();
	return rc ? 2 : 0;
}
