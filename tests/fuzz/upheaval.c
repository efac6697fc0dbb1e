/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "upheaval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <orrery_mpi.h>
#include <starpu_mpi_lb.h>

#include "program.h"

enum { MAX_OF_DATA = 12, MAX_LENGTH = 700, MAX_MARKS = 64, MAX_RANKS = 64 };

struct upheaval {
	const struct upheaval_wish *wish;
	struct rng rng; /* the same on all ranks */
	struct rng own; /* this rank's */
	int ndata;
	starpu_data_handle_t data[MAX_OF_DATA];
	uint64_t expected[MAX_OF_DATA];
	int length[MAX_OF_DATA];
	int alive[MAX_RANKS], nalive;
	/* What each checkpoint must hold, by its mark. */
	uint64_t kept[MAX_MARKS][MAX_OF_DATA];
	long nmarks, nwaited;
	starpu_data_handle_t mark; /* of the checkpoint that it is in */
	/* A variable that differs from rank to rank, and all ranks' at each mark. */
	uint64_t of_rank, variables[MAX_MARKS][MAX_RANKS];
	starpu_mpi_checkpoint_template_t template;
	int balances;
	long iteration;
};

/* The balancer's callbacks have no argument; each rank, which may share the process with
 * others, uses its own place. */
static struct upheaval *at_rank[MAX_RANKS];

static unsigned below(struct upheaval *up, unsigned n)
{
	return rng_below(&up->rng, n);
}

static void look(struct upheaval *up, const char *what, uint64_t seen, uint64_t expected)
{
	if (seen != expected)
		up->wish->bad(up->wish->arg, what, seen, expected);
}

/* ---- tasks ------------------------------------------------------------- */

static void mix_cpu(void *buffers[], void *arg)
{
	uint64_t *x = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]), salt;
	const uint64_t *y = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

	starpu_codelet_unpack_args(arg, &salt);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = 5 * x[i] + y[0] + salt;
}

static void set_cpu(void *buffers[], void *arg)
{
	uint64_t *x = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]), salt;

	starpu_codelet_unpack_args(arg, &salt);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = salt;
}

static struct starpu_codelet mixes = {.cpu_funcs = {mix_cpu},
				      .nbuffers = 2,
				      .modes = {STARPU_RW, STARPU_R},
				      .model = &starpu_perfmodel_nop,
				      .name = "mixes"};
static struct starpu_codelet sets = {.cpu_funcs = {set_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "sets"};

static void insert(struct upheaval *up, uint64_t salt)
{
	int to = (int)below(up, (unsigned)up->ndata);
	int from = (int)below(up, (unsigned)up->ndata), ret;
	starpu_tag_t iteration = (starpu_tag_t)up->iteration;

	if (to == from) {
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &sets, STARPU_W,
					     up->data[to], STARPU_VALUE, &salt,
					     sizeof(salt), STARPU_TAG_ONLY, iteration, 0);
		up->expected[to] = salt;
	} else {
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &mixes, STARPU_RW,
					     up->data[to], STARPU_R, up->data[from],
					     STARPU_VALUE, &salt, sizeof(salt),
					     STARPU_TAG_ONLY, iteration, 0);
		up->expected[to] = 5 * up->expected[to] + up->expected[from] + salt;
	}
	look(up, "insertion in an upheaval", (uint64_t)ret, 0);
}

/* ---- the balancer -------------------------------------------------------- */

static struct upheaval *mine(void)
{
	return at_rank[starpu_mpi_world_rank()];
}

static void neighbours(int **ids, int *n)
{
	struct upheaval *up = mine();

	*ids = malloc((size_t)up->wish->nranks * sizeof(**ids));
	*n = 0;
	for (int rank = 0; rank < up->wish->nranks; rank++)
		if (rank != up->wish->rank && rng_below(&up->own, 3))
			(*ids)[(*n)++] = rank;
}

static void unit(starpu_data_handle_t **handles, int *n, int dst)
{
	struct upheaval *up = mine();

	(void)dst;
	*handles = malloc((size_t)up->ndata * sizeof(**handles));
	*n = 0;
	for (int i = 0; i < up->ndata; i++)
		if (starpu_mpi_data_get_rank(up->data[i]) == up->wish->rank &&
		    rng_below(&up->own, 2))
			(*handles)[(*n)++] = up->data[i];
}

static void switch_balancer(struct upheaval *up)
{
	struct starpu_mpi_lb_conf conf = {.get_neighbors = neighbours,
					  .get_data_unit_to_migrate = unit};

	if (up->balances)
		starpu_mpi_lb_shutdown();
	else
		starpu_mpi_lb_init("heat", &conf);
	up->balances = !up->balances;
}

/* ---- checkpoints ----------------------------------------------------------- */

static int next_rank(int rank)
{
	return (rank + 1) % mine()->wish->nranks;
}

static void checkpoint(struct upheaval *up)
{
	uint64_t mark = (uint64_t)up->nmarks;
	int ret;

	if (up->nmarks == MAX_MARKS)
		return;
	memcpy(up->kept[mark], up->expected, sizeof(up->expected));
	for (int rank = 0; rank < up->wish->nranks; rank++)
		up->variables[mark][rank] = MAX_RANKS * mark + (uint64_t)rank;
	up->of_rank = up->variables[mark][up->wish->rank];
	up->nmarks++;
	starpu_mpi_task_insert(MPI_COMM_WORLD, &sets, STARPU_W, up->mark, STARPU_VALUE,
			       &mark, sizeof(mark), 0);
	ret = starpu_mpi_checkpoint_template_submit(up->template, (int)below(up, 3));
	look(up, "submission of a checkpoint", (uint64_t)ret, 0);
}

static void await(struct upheaval *up, int nahead)
{
	int ret = orrery_mpi_checkpoint_wait(up->template, nahead);

	look(up, "wait for checkpoints", (uint64_t)ret, 0);
	if (up->nmarks - nahead > up->nwaited)
		up->nwaited = up->nmarks - nahead;
}

static long read_mark(struct upheaval *up)
{
	long mark;

	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, up->mark);
	starpu_data_acquire(up->mark, STARPU_R);
	mark = (long)*(const uint64_t *)starpu_data_get_local_ptr(up->mark);
	starpu_data_release(up->mark);
	return mark;
}

/* Back at some checkpoint, not before the last that was waited for. */
static void went_back(struct upheaval *up)
{
	long mark = read_mark(up);

	if (mark < up->nwaited - 1 || mark >= up->nmarks) {
		look(up, "mark of a restored checkpoint", (uint64_t)mark,
		     (uint64_t)up->nmarks - 1);
		mark = up->nmarks - 1;
	}
	memcpy(up->expected, up->kept[mark], sizeof(up->expected));
	up->nmarks = mark + 1;
	up->nwaited = up->nmarks;
}

static int any_alive(struct upheaval *up)
{
	int rank = (int)below(up, (unsigned)up->wish->nranks);

	while (!up->alive[rank])
		rank = (rank + 1) % up->wish->nranks;
	return rank;
}

static void lose(struct upheaval *up)
{
	int lost = any_alive(up), spare = any_alive(up), n = below(up, 4) != 0, ret;
	int rank = up->wish->rank;

	/* Two that live must be left, or nobody keeps backups. */
	if (up->nalive < 3 || below(up, 2))
		spare = lost;
	if (n && rank == lost)
		orrery_mpi_lose();
	if (n && below(up, 2))
		checkpoint(up); /* It fails, or was complete before. */
	up->of_rank = UINT64_MAX;
	ret = orrery_mpi_checkpoint_restore(up->template, &lost, &spare, n);
	look(up, "restoration", (uint64_t)ret, 0);
	went_back(up);
	/* From now on the spare has the lost rank's. */
	if (n)
		up->variables[up->nmarks - 1][spare] =
			up->variables[up->nmarks - 1][lost];
	look(up, "a rank's variable", up->of_rank, up->variables[up->nmarks - 1][rank]);
	if (n && spare != lost) {
		up->alive[lost] = 0;
		up->nalive--;
	}
}

/* ---- all of it --------------------------------------------------------------- */

static void migrate(struct upheaval *up)
{
	starpu_mpi_data_migrate(MPI_COMM_WORLD, up->data[below(up, (unsigned)up->ndata)],
				any_alive(up));
}

static void act(struct upheaval *up)
{
	uint64_t salt = below(up, 1u << 20);

	switch (below(up, 24)) {
	case 0:
		switch_balancer(up);
		break;
	case 1:
	case 2:
		checkpoint(up);
		break;
	case 3:
		await(up, (int)below(up, 3));
		break;
	case 4:
		lose(up);
		break;
	case 5:
		migrate(up);
		break;
	case 6:
	case 7:
	case 8:
		/* The balancer holds rounds between iterations. */
		up->iteration += 1 + below(up, 2);
		break;
	default:
		for (unsigned n = 1 + below(up, 6); n > 0; n--)
			insert(up, salt + n);
	}
}

static starpu_data_handle_t new_data(struct upheaval *up, int64_t tag, int length)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, (uint32_t)length, sizeof(uint64_t));
	starpu_mpi_data_register(handle, up->wish->first_tag + tag,
				 (int)below(up, (unsigned)up->wish->nranks));
	return handle;
}

static int backup_for(struct upheaval *up, starpu_data_handle_t handle)
{
	int n = up->wish->nranks;

	return (starpu_mpi_data_get_rank(handle) + 1 +
		(int)below(up, (unsigned)(n - 1))) %
	       n;
}

static void set_up(struct upheaval *up)
{
	up->ndata = 2 + (int)below(up, MAX_OF_DATA - 1);
	starpu_mpi_checkpoint_init();
	starpu_mpi_checkpoint_template_create(&up->template, 1, 0);
	up->mark = new_data(up, MAX_OF_DATA, 1);
	starpu_mpi_checkpoint_template_add_entry(&up->template, STARPU_VALUE,
						 &up->of_rank, (int)sizeof(up->of_rank),
						 (starpu_mpi_tag_t)0, next_rank, STARPU_R,
						 up->mark, backup_for(up, up->mark), 0);
	for (int i = 0; i < up->ndata; i++) {
		uint64_t first = (uint64_t)i;

		up->length[i] = 1 + (int)below(up, below(up, 2) ? 4 : MAX_LENGTH);
		up->data[i] = new_data(up, i, up->length[i]);
		up->expected[i] = first;
		starpu_mpi_task_insert(MPI_COMM_WORLD, &sets, STARPU_W, up->data[i],
				       STARPU_VALUE, &first, sizeof(first), 0);
		starpu_mpi_checkpoint_template_add_entry(&up->template, STARPU_R,
							 up->data[i],
							 backup_for(up, up->data[i]), 0);
	}
	look(up, "number of entries",
	     (uint64_t)starpu_mpi_checkpoint_template_freeze(&up->template),
	     (uint64_t)up->ndata + 2);
	/* So that there is always something to go back to. */
	checkpoint(up);
	await(up, 0);
}

static void tear_down(struct upheaval *up)
{
	if (up->balances)
		starpu_mpi_lb_shutdown();
	starpu_mpi_checkpoint_shutdown();
	for (int i = 0; i < up->ndata; i++) {
		if (starpu_mpi_data_get_rank(up->data[i]) == up->wish->rank) {
			const uint64_t *x;

			starpu_data_acquire(up->data[i], STARPU_R);
			x = (const uint64_t *)starpu_data_get_local_ptr(up->data[i]);
			look(up, "first element after an upheaval", x[0],
			     up->expected[i]);
			look(up, "last element after an upheaval", x[up->length[i] - 1],
			     up->expected[i]);
			starpu_data_release(up->data[i]);
		}
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < up->ndata; i++)
		starpu_data_unregister(up->data[i]);
	starpu_data_unregister(up->mark);
}

void upheaval_run(const struct upheaval_wish *wish)
{
	struct upheaval *up = calloc(1, sizeof(*up));

	up->wish = wish;
	up->rng.state = wish->seed;
	up->own.state = wish->seed + 77u * (uint64_t)(wish->rank + 1);
	up->nalive = wish->nranks;
	for (int rank = 0; rank < wish->nranks; rank++)
		up->alive[rank] = 1;
	at_rank[wish->rank] = up;
	set_up(up);
	for (unsigned n = 10 + below(up, 60); n > 0; n--)
		act(up);
	tear_down(up);
	at_rank[wish->rank] = NULL;
	free(up);
}
