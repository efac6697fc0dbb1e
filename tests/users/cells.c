/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Particles in cells of a ring: an interface of the program's own with two arrays and
 * their length, sent by a datatype that names all three, and packed where that is
 * refused. */
#include <starpu_mpi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAP        600
#define NCELLS_PER 4
#define STEPS      12

struct cell {
	enum starpu_data_interface_id id;
	double *x;
	int *kind;
	int n; /* particles, the same in all copies */
};

static int rank, size, ncells, calls_dt, calls_free, calls_refused, calls_pack;

static void cell_register(starpu_data_handle_t h, int home, void *itf)
{
	struct cell *c = itf;
	int node;

	for (node = 0; node < STARPU_MAXNODES; node++) {
		struct cell *l = starpu_data_get_interface_on_node(h, node);

		*l = *c;
		if (node != home)
			l->x = NULL, l->kind = NULL;
	}
}

static starpu_ssize_t cell_alloc(void *itf, unsigned node)
{
	struct cell *c = itf;

	c->x = (double *)starpu_malloc_on_node(node, CAP * sizeof(double));
	c->kind = (int *)starpu_malloc_on_node(node, CAP * sizeof(int));
	return CAP * (sizeof(double) + sizeof(int));
}

static void cell_free(void *itf, unsigned node)
{
	struct cell *c = itf;

	starpu_free_on_node(node, (uintptr_t)c->x, CAP * sizeof(double));
	starpu_free_on_node(node, (uintptr_t)c->kind, CAP * sizeof(int));
	c->x = NULL;
	c->kind = NULL;
}

static size_t cell_size(starpu_data_handle_t h)
{
	(void)h;
	return CAP * (sizeof(double) + sizeof(int));
}

static uint32_t cell_footprint(starpu_data_handle_t h)
{
	(void)h;
	return starpu_hash_crc32c_be(CAP, 0);
}

static void *cell_pointer(starpu_data_handle_t h, unsigned node)
{
	struct cell *c = starpu_data_get_interface_on_node(h, node);

	return c->x;
}

static int cell_copy(void *src, unsigned sn, void *dst, unsigned dn, void *async)
{
	struct cell *s = src, *d = dst;

	d->n = s->n;
	int ret = starpu_interface_copy((uintptr_t)s->x, 0, sn, (uintptr_t)d->x, 0, dn,
					CAP * sizeof(double), async);
	if (starpu_interface_copy((uintptr_t)s->kind, 0, sn, (uintptr_t)d->kind, 0, dn,
				  CAP * sizeof(int), async))
		ret = -EAGAIN;
	return ret;
}

static int cell_pack(starpu_data_handle_t h, unsigned node, void **ptr,
		     starpu_ssize_t *count)
{
	struct cell *c = starpu_data_get_interface_on_node(h, node);

	*count = sizeof(int) + c->n * (sizeof(double) + sizeof(int));
	if (ptr) {
		char *b = (char *)starpu_malloc_on_node_flags(node, *count, 0);

		*ptr = b;
		memcpy(b, &c->n, sizeof(int));
		memcpy(b + sizeof(int), c->x, c->n * sizeof(double));
		memcpy(b + sizeof(int) + c->n * sizeof(double), c->kind,
		       c->n * sizeof(int));
		__atomic_fetch_add(&calls_pack, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static int cell_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	struct cell *c = starpu_data_get_interface_on_node(h, node);
	char *b = ptr;

	memcpy(&c->n, b, sizeof(int));
	STARPU_ASSERT(count == sizeof(int) + c->n * (sizeof(double) + sizeof(int)));
	memcpy(c->x, b + sizeof(int), c->n * sizeof(double));
	memcpy(c->kind, b + sizeof(int) + c->n * sizeof(double), c->n * sizeof(int));
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods copies = {.any_to_any = cell_copy};
static struct starpu_data_interface_ops ops = {.register_data_handle = cell_register,
					       .allocate_data_on_node = cell_alloc,
					       .handle_to_pointer = cell_pointer,
					       .free_data_on_node = cell_free,
					       .copy_methods = &copies,
					       .get_size = cell_size,
					       .footprint = cell_footprint,
					       .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
					       .interface_size = sizeof(struct cell),
					       .pack_data = cell_pack,
					       .unpack_data = cell_unpack};

static void cell_data_register(starpu_data_handle_t *h, int home)
{
	struct cell c = {.x = NULL, .kind = NULL, .n = 0};

	if (ops.interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		ops.interfaceid = starpu_data_interface_get_next_id();
	c.id = ops.interfaceid;
	starpu_data_register(h, home, &c, &ops);
}

/* The number of particles is in the interface itself, beside the pointers. */
static int cell_datatype(starpu_data_handle_t h, MPI_Datatype *type)
{
	struct cell *c = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	int len[3] = {1, CAP, CAP}, ret;
	MPI_Aint at[3], base;
	MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_INT};

	if (starpu_mpi_data_get_tag(h) / size % 3 == 0) {
		__atomic_fetch_add(&calls_refused, 1, __ATOMIC_RELAXED);
		return -1;
	}
	MPI_Get_address(c->x, &base);
	MPI_Get_address(&c->n, at);
	MPI_Get_address(c->x, at + 1);
	MPI_Get_address(c->kind, at + 2);
	for (int i = 0; i < 3; i++)
		at[i] -= base;
	ret = MPI_Type_create_struct(3, len, at, types, type);
	STARPU_ASSERT(ret == MPI_SUCCESS);
	ret = MPI_Type_commit(type);
	STARPU_ASSERT(ret == MPI_SUCCESS);
	__atomic_fetch_add(&calls_dt, 1, __ATOMIC_RELAXED);
	return 0;
}

static void cell_datatype_free(MPI_Datatype *type)
{
	__atomic_fetch_add(&calls_free, 1, __ATOMIC_RELAXED);
	MPI_Type_free(type);
}

static double frac(double x)
{
	return x - floor(x);
}

static void fill_cell(struct cell *c, int cell)
{
	c->n = 20 + 3 * cell;
	for (int i = 0; i < CAP; i++)
		c->x[i] = i < c->n ? frac(0.137 * i + 0.31 * cell) : -1,
		c->kind[i] = i < c->n ? 100 * cell + i : -1;
}

/* Moves particles; those that pass 1 go into out. */
static void move_cell(struct cell *in, struct cell *out)
{
	int keep = 0;

	out->n = 0;
	for (int i = 0; i < in->n; i++) {
		double x = in->x[i] + 0.05 + 0.01 * (in->kind[i] % 7);

		if (x >= 1) {
			out->x[out->n] = frac(x);
			out->kind[out->n++] = in->kind[i];
		} else {
			in->x[keep] = x;
			in->kind[keep++] = in->kind[i];
		}
	}
	in->n = keep;
}

static void join_cell(struct cell *in, const struct cell *more)
{
	memcpy(in->x + in->n, more->x, more->n * sizeof(double));
	memcpy(in->kind + in->n, more->kind, more->n * sizeof(int));
	in->n += more->n;
}

static double sum_cell(const struct cell *c)
{
	double s = 0;

	for (int i = 0; i < c->n; i++)
		s += (i + 1) * c->x[i] + 1e-3 * c->kind[i];
	return s;
}

static void fill_f(void *b[], void *a)
{
	int cell;

	starpu_codelet_unpack_args(a, &cell);
	fill_cell(b[0], cell);
}
static void move_f(void *b[], void *a)
{
	(void)a;
	move_cell(b[0], b[1]);
}
static void join_f(void *b[], void *a)
{
	(void)a;
	join_cell(b[0], b[1]);
}
static void sum_f(void *b[], void *a)
{
	(void)a;
	*(double *)STARPU_VARIABLE_GET_PTR(b[1]) = sum_cell(b[0]);
}
static struct starpu_codelet fill = {
	.cpu_funcs = {fill_f}, .nbuffers = 1, .modes = {STARPU_W}, .name = "fill"};
static struct starpu_codelet move = {.cpu_funcs = {move_f},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_W},
				     .name = "move"};
static struct starpu_codelet join = {.cpu_funcs = {join_f},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_R},
				     .name = "join"};
static struct starpu_codelet sum = {.cpu_funcs = {sum_f},
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_W},
				    .name = "sum"};

static double alone(void)
{
	struct cell *c = calloc(ncells, sizeof(*c)), *o = calloc(ncells, sizeof(*o));
	double s = 0;

	for (int i = 0; i < ncells; i++) {
		c[i].x = malloc(CAP * 8);
		c[i].kind = malloc(CAP * 4);
		o[i].x = malloc(CAP * 8);
		o[i].kind = malloc(CAP * 4);
		fill_cell(c + i, i);
	}
	for (int t = 0; t < STEPS; t++) {
		for (int i = 0; i < ncells; i++)
			move_cell(c + i, o + i);
		for (int i = 0; i < ncells; i++)
			join_cell(c + i, o + (i + ncells - 1) % ncells);
	}
	for (int i = 0; i < ncells; i++)
		s += (1 + i % 5) * sum_cell(c + i);
	for (int i = 0; i < ncells; i++) {
		free(c[i].x);
		free(c[i].kind);
		free(o[i].x);
		free(o[i].kind);
	}
	free(c);
	free(o);
	return s;
}

static starpu_data_handle_t *cells, *outs, *sums;

static void register_all(double *values)
{
	cells = calloc(ncells, sizeof(*cells));
	outs = calloc(ncells, sizeof(*outs));
	sums = calloc(ncells, sizeof(*sums));
	for (int i = 0; i < ncells; i++) {
		cell_data_register(cells + i, -1);
		cell_data_register(outs + i, -1);
		starpu_variable_data_register(sums + i,
					      rank == i % size ? STARPU_MAIN_RAM : -1,
					      (uintptr_t)(values + i), sizeof(double));
		starpu_mpi_data_register(cells[i], 3 * ncells + i, i % size);
		starpu_mpi_data_register(outs[i], 100 * ncells + i, i % size);
		starpu_mpi_data_register(sums[i], 200 * ncells + i, i % size);
	}
}

static void insert_all(void)
{
	for (int i = 0; i < ncells; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &fill, STARPU_W, cells[i],
				       STARPU_VALUE, &i, sizeof(i), 0);
	for (int t = 0; t < STEPS; t++) {
		if (t == STEPS / 2) { /* no datatype any more: all is packed */
			starpu_mpi_wait_for_all(MPI_COMM_WORLD);
			starpu_mpi_barrier(MPI_COMM_WORLD);
			starpu_mpi_interface_datatype_unregister(ops.interfaceid);
		}
		for (int i = 0; i < ncells; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &move, STARPU_RW, cells[i],
					       STARPU_W, outs[i], 0);
		for (int i = 0; i < ncells; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &join, STARPU_RW, cells[i],
					       STARPU_R, outs[(i + ncells - 1) % ncells],
					       0);
	}
	for (int i = 0; i < ncells; i++) {
		starpu_mpi_task_insert(MPI_COMM_WORLD, &sum, STARPU_R, cells[i], STARPU_W,
				       sums[i], 0);
		starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, sums[i], 0, NULL,
						     NULL);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static double total_and_end(void)
{
	double total = 0;

	for (int i = 0; i < ncells; i++) {
		if (rank == 0) {
			starpu_data_acquire(sums[i], STARPU_R);
			total += (1 + i % 5) *
				 *(double *)starpu_variable_get_local_ptr(sums[i]);
			starpu_data_release(sums[i]);
		}
		starpu_data_unregister(cells[i]);
		starpu_data_unregister(outs[i]);
		starpu_data_unregister(sums[i]);
	}
	free(cells);
	free(outs);
	free(sums);
	return total;
}

int main(int argc, char **argv)
{
	int ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	double total, expected, *values;

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ncells = NCELLS_PER * size;
	values = calloc(ncells, sizeof(*values));
	register_all(values);
	starpu_mpi_datatype_register(cells[0], cell_datatype, cell_datatype_free);
	insert_all();
	total = total_and_end();
	free(values);
	starpu_mpi_shutdown();
	if (calls_dt != calls_free || calls_dt == 0 || calls_refused == 0 ||
	    calls_pack == 0) {
		printf("rank %d: %d datatypes made, %d freed, %d refused, %d packed\n",
		       rank, calls_dt, calls_free, calls_refused, calls_pack);
		ret = 1;
	}
	expected = alone();
	if (rank == 0 && fabs(total - expected) > 1e-9 * fabs(expected)) {
		printf("total %.10g, expected %.10g\n", total, expected);
		ret = 1;
	}
	return ret != 0;
}
