/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Conjugate gradients: solve A x = b, where A has 4 on its diagonal and -1 beside it.
 *
 * The vectors are cut into parts, each worked on by a task of its own; the scalar
 * products are reductions, to which the tasks of all parts contribute. Only the
 * product with A takes p as a whole: the runtime puts the parts together for it.
 * The application waits once in each iteration, for the norm that tells whether to go on.
 */
#include <math.h>
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>

enum { N = 4000, NPARTS = 8, MAX_ITERATIONS = 100 };

#define SCALAR(buffer) (*(double *)STARPU_VARIABLE_GET_PTR(buffer))
#define X(buffer)      ((double *)STARPU_VECTOR_GET_PTR(buffer))
#define LENGTH(buffer) STARPU_VECTOR_GET_NX(buffer)

static double x[N], r[N], p[N], q[N];
static double rr, previous, pq;

/* A vector and its parts. */
struct vector {
	starpu_data_handle_t whole, part[NPARTS];
};

static struct vector x_data, r_data, p_data, q_data;
static starpu_data_handle_t rr_data, previous_data, pq_data;

/* ---- kernels --------------------------------------------------------- */

/* sum += a . b of one part */
static void dot_cpu(void *buffers[], void *arg)
{
	const double *a = X(buffers[1]), *b = X(buffers[2]);

	(void)arg;
	for (unsigned i = 0; i < LENGTH(buffers[1]); i++)
		SCALAR(buffers[0]) += a[i] * b[i];
}

/* q = A p, for the part of q that begins at first */
static void product_cpu(void *buffers[], void *arg)
{
	double *part = X(buffers[0]);
	const double *all = X(buffers[1]);
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int k = 0, n = (int)LENGTH(buffers[0]); k < n; k++) {
		int i = first + k;

		part[k] = 4 * all[i] - (i > 0 ? all[i - 1] : 0) -
			  (i + 1 < N ? all[i + 1] : 0);
	}
}

/* alpha = rr / pq;  x += alpha p;  r -= alpha q */
static void advance_cpu(void *buffers[], void *arg)
{
	double alpha = SCALAR(buffers[4]) / SCALAR(buffers[5]);

	(void)arg;
	for (unsigned i = 0; i < LENGTH(buffers[0]); i++) {
		X(buffers[0])[i] += alpha * X(buffers[2])[i];
		X(buffers[1])[i] -= alpha * X(buffers[3])[i];
	}
}

/* beta = rr / previous;  p = r + beta p */
static void turn_cpu(void *buffers[], void *arg)
{
	double beta = SCALAR(buffers[2]) / SCALAR(buffers[3]);

	(void)arg;
	for (unsigned i = 0; i < LENGTH(buffers[0]); i++)
		X(buffers[0])[i] = X(buffers[1])[i] + beta * X(buffers[0])[i];
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void)arg;
	SCALAR(buffers[0]) = 0;
}

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	SCALAR(buffers[0]) += SCALAR(buffers[1]);
}

#define CODELET(what, n, ...)                                                            \
	static struct starpu_codelet what = {.cpu_funcs = {what##_cpu},                  \
					     .nbuffers = n,                              \
					     .modes = {__VA_ARGS__},                     \
					     .model = &starpu_perfmodel_nop,             \
					     .name = #what}

CODELET(dot, 3, STARPU_REDUX, STARPU_R, STARPU_R);
CODELET(product, 2, STARPU_W, STARPU_R);
CODELET(advance, 6, STARPU_RW, STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R);
CODELET(turn, 4, STARPU_RW, STARPU_R, STARPU_R, STARPU_R);
CODELET(zero, 1, STARPU_W);
CODELET(add, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);

/* ---- the method ------------------------------------------------------ */

/* From now on nobody knows the sum, and contributions begin at zero. */
static void scalar_product(starpu_data_handle_t sum, const struct vector *a,
			   const struct vector *b)
{
	starpu_data_invalidate_submit(sum);
	for (int i = 0; i < NPARTS; i++)
		starpu_task_insert(&dot, STARPU_REDUX, sum, STARPU_R, a->part[i],
				   STARPU_R, b->part[i], 0);
}

static double value_of(starpu_data_handle_t scalar)
{
	double value;

	starpu_data_acquire(scalar, STARPU_R);
	value = *(double *)starpu_variable_get_local_ptr(scalar);
	starpu_data_release(scalar);
	return value;
}

static void iterate(void)
{
	int first = 0;

	for (int i = 0; i < NPARTS; i++) {
		starpu_task_insert(&product, STARPU_W, q_data.part[i], STARPU_R,
				   p_data.whole, STARPU_VALUE, &first, sizeof first, 0);
		first += (int)starpu_vector_get_nx(q_data.part[i]);
	}
	scalar_product(pq_data, &p_data, &q_data);
	for (int i = 0; i < NPARTS; i++)
		starpu_task_insert(&advance, STARPU_RW, x_data.part[i], STARPU_RW,
				   r_data.part[i], STARPU_R, p_data.part[i], STARPU_R,
				   q_data.part[i], STARPU_R, rr_data, STARPU_R, pq_data,
				   0);
	starpu_data_cpy(previous_data, rr_data, 1, NULL, NULL);
	scalar_product(rr_data, &r_data, &r_data);
	for (int i = 0; i < NPARTS; i++)
		starpu_task_insert(&turn, STARPU_RW, p_data.part[i], STARPU_R,
				   r_data.part[i], STARPU_R, rr_data, STARPU_R,
				   previous_data, 0);
}

/* ---- data ------------------------------------------------------------ */

static void register_vector(struct vector *vector, double *values)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = NPARTS};

	starpu_vector_data_register(&vector->whole, STARPU_MAIN_RAM, (uintptr_t)values, N,
				    sizeof *values);
	starpu_data_partition_plan(vector->whole, &filter, vector->part);
}

static void unregister_vector(struct vector *vector)
{
	starpu_data_partition_clean(vector->whole, NPARTS, vector->part);
	starpu_data_unregister(vector->whole);
}

static starpu_data_handle_t register_scalar(double *value)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)value,
				      sizeof *value);
	starpu_data_set_reduction_methods(handle, &add, &zero);
	return handle;
}

static void register_all(void)
{
	/* The solution is 1 everywhere; x begins as 0, so that r and p are b. */
	for (int i = 0; i < N; i++)
		r[i] = p[i] = 4 - (i > 0) - (i + 1 < N);
	register_vector(&x_data, x);
	register_vector(&r_data, r);
	register_vector(&p_data, p);
	register_vector(&q_data, q);
	rr_data = register_scalar(&rr);
	previous_data = register_scalar(&previous);
	pq_data = register_scalar(&pq);
}

static void unregister_all(void)
{
	unregister_vector(&x_data);
	unregister_vector(&r_data);
	unregister_vector(&p_data);
	unregister_vector(&q_data);
	starpu_data_unregister(rr_data);
	starpu_data_unregister(previous_data);
	starpu_data_unregister(pq_data);
}

int main(void)
{
	/* Values are computed for real, and in a simulation with ORRERY_EXECUTE=1. */
	double first, error = 0;
	int executes, n = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	register_all();
	scalar_product(rr_data, &r_data, &r_data);
	first = value_of(rr_data);
	while (n < MAX_ITERATIONS &&
	       (executes ? value_of(rr_data) > 1e-24 * first : n < 10)) {
		iterate();
		n++;
	}
	unregister_all();
	for (int i = 0; i < N && executes; i++)
		if (fabs(x[i] - 1) > error)
			error = fabs(x[i] - 1);
	printf("conjugate gradients: %d iterations, the largest error is %.1e\n", n,
	       error);
	starpu_shutdown();
	return error > 1e-9;
}
