/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Heat in a rod, one piece for each node; the ends are exchanged as ghost cells. */
#include <starpu_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 64 /* in each piece */
#define STEPS 40
#define ALPHA 0.2

enum { LEFT, RIGHT };

struct piece {
	starpu_data_handle_t u,
		ghost[2]; /* ghost: copies of this piece's first and last cell */
	double cells[CELLS], ends[2];
};

static void edges_cpu(void *descr[], void *arg)
{
	double *u = (double *)STARPU_VECTOR_GET_PTR(descr[0]);

	(void)arg;
	*(double *)STARPU_VARIABLE_GET_PTR(descr[1]) = u[0];
	*(double *)STARPU_VARIABLE_GET_PTR(descr[2]) =
		u[STARPU_VECTOR_GET_NX(descr[0]) - 1];
}

static void step_cpu(void *descr[], void *arg)
{
	double *u = (double *)STARPU_VECTOR_GET_PTR(descr[0]);
	double left = *(double *)STARPU_VARIABLE_GET_PTR(descr[1]);
	double right = *(double *)STARPU_VARIABLE_GET_PTR(descr[2]), old = left, alpha;
	unsigned i, n = STARPU_VECTOR_GET_NX(descr[0]);

	starpu_codelet_unpack_args(arg, &alpha);
	for (i = 0; i < n; i++) {
		double here = u[i], next = i + 1 < n ? u[i + 1] : right;

		u[i] = here + alpha * (old - 2 * here + next);
		old = here;
	}
}

static struct starpu_codelet edges_cl = {
	.cpu_funcs = {edges_cpu},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_W, STARPU_W},
	.name = "edges",
	.model = &starpu_perfmodel_nop,
};

static struct starpu_codelet step_cl = {
	.cpu_funcs = {step_cpu},
	.nbuffers = 3,
	.modes = {STARPU_RW, STARPU_R, STARPU_R},
	.name = "step",
	.model = &starpu_perfmodel_nop,
};

static double initial(int i)
{
	return (i * 37) % 101;
}

static void register_pieces(struct piece *pieces, int rank, int size)
{
	int p, e, i, mine;

	for (p = 0; p < size; p++) {
		struct piece *piece = &pieces[p];

		mine = p == rank;
		for (i = 0; i < CELLS; i++)
			piece->cells[i] = initial(p * CELLS + i);
		starpu_vector_data_register(&piece->u, mine ? STARPU_MAIN_RAM : -1,
					    mine ? (uintptr_t)piece->cells : 0, CELLS,
					    sizeof(double));
		starpu_mpi_data_register(piece->u, 3 * p, p);
		for (e = 0; e < 2; e++) {
			starpu_variable_data_register(
				&piece->ghost[e], mine ? STARPU_MAIN_RAM : -1,
				mine ? (uintptr_t)&piece->ends[e] : 0, sizeof(double));
			starpu_mpi_data_register(piece->ghost[e], 3 * p + 1 + e, p);
		}
	}
}

static void steps(struct piece *pieces, int size)
{
	double alpha = ALPHA;
	int t, p, ret;

	for (t = 0; t < STEPS; t++) {
		starpu_iteration_push(t);
		for (p = 0; p < size; p++) {
			ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &edges_cl, STARPU_R,
						     pieces[p].u, STARPU_W,
						     pieces[p].ghost[LEFT], STARPU_W,
						     pieces[p].ghost[RIGHT], 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
		for (p = 0; p < size; p++) { /* the rod is a ring */
			ret = starpu_mpi_task_insert(
				MPI_COMM_WORLD, &step_cl, STARPU_RW, pieces[p].u,
				STARPU_R, pieces[(p + size - 1) % size].ghost[RIGHT],
				STARPU_R, pieces[(p + 1) % size].ghost[LEFT],
				STARPU_VALUE, &alpha, sizeof(alpha), STARPU_FLOPS,
				5.0 * CELLS, 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
		starpu_iteration_pop();
	}
}

static int wrong(const double *mine, int rank, int size)
{
	int n = size * CELLS, i, t, bad = 0;
	double *u[2] = {malloc(n * sizeof(double)), malloc(n * sizeof(double))};

	for (i = 0; i < n; i++)
		u[0][i] = initial(i);
	for (t = 0; t < STEPS; t++)
		for (i = 0; i < n; i++) {
			double *old = u[t % 2], here = old[i];

			u[1 - t % 2][i] = here + ALPHA * (old[(i + n - 1) % n] -
							  2 * here + old[(i + 1) % n]);
		}
	for (i = 0; i < CELLS; i++)
		bad |= fabs(mine[i] - u[STEPS % 2][rank * CELLS + i]) > 1e-9;
	free(u[0]);
	free(u[1]);
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		bad = 0;
#endif
	return bad;
}

int main(int argc, char **argv)
{
	struct piece *pieces;
	int ret, rank, size, p;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	pieces = calloc(size, sizeof(*pieces));
	register_pieces(pieces, rank, size);
	steps(pieces, size);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (p = 0; p < size; p++) {
		starpu_data_unregister(pieces[p].u);
		starpu_data_unregister(pieces[p].ghost[LEFT]);
		starpu_data_unregister(pieces[p].ghost[RIGHT]);
	}
	ret = wrong(pieces[rank].cells, rank, size);
	if (ret)
		fprintf(stderr, "[%d] temperatures differ\n", rank);
	free(pieces);
	starpu_mpi_shutdown();
	return ret;
}
