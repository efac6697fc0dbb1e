/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A program of StarPU's first years, as libstarpu.pc has it compiled. */
#define STARPU_USE_DEPRECATED_API
#define STARPU_USE_DEPRECATED_ONE_ZERO_API
#include <starpu.h>
#include <stdio.h>

static float mat[12];
static unsigned vec[10];

static void cpu_func(void *descr[], void *arg)
{
	starpu_matrix_interface_t *m = (starpu_matrix_interface_t *)descr[0];
	float *val = (float *)m->ptr;
	unsigned i, j;

	(void)arg;
	for (j = 0; j < m->ny; j++)
		for (i = 0; i < m->nx; i++)
			val[j * m->ld + i] += 1.0f;
}

static void vector_func(void *descr[], void *arg)
{
	starpu_vector_interface_t *v = (starpu_vector_interface_t *)descr[0];
	unsigned i;

	(void)arg;
	for (i = 0; i < v->nx; i++)
		((unsigned *)v->ptr)[i]++;
}

static starpu_codelet cl, vector_cl;

static void apply(starpu_codelet *codelet, starpu_data_handle handle)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = codelet;
	task->handles[0] = handle;
	if (starpu_task_submit(task) != 0)
		exit(1);
}

static void both(starpu_codelet *codelet, starpu_data_handle handle,
		 void (*func)(void *, void *, struct starpu_data_filter *, unsigned,
			      unsigned))
{
	struct starpu_data_filter f;
	int i;

	memset(&f, 0, sizeof(f));
	f.filter_func = func;
	f.nchildren = 2;
	f.filter_arg = 4;
	starpu_data_partition(handle, &f);
	for (i = 0; i < 2; i++)
		apply(codelet, starpu_data_get_sub_data(handle, 1, i));
	starpu_data_unpartition(handle, 0);
}

int main(void)
{
	starpu_data_handle m, v;
	enum starpu_access_mode mode = STARPU_RW;
	int i, bad = 0;

	cl.cpu_func = cpu_func;
	cl.where = STARPU_CPU;
	cl.nbuffers = 1;
	cl.modes[0] = mode;
	vector_cl = cl;
	vector_cl.cpu_func = vector_func;
	if (starpu_init(NULL) != 0)
		return 77;
	starpu_matrix_data_register(&m, 0, (uintptr_t)mat, 3, 3, 4, sizeof(float));
	starpu_vector_data_register(&v, 0, (uintptr_t)vec, 10, sizeof(unsigned));
	both(&cl, m, starpu_block_filter_func);
	both(&cl, m, starpu_vertical_block_filter_func);
	both(&vector_cl, v, starpu_block_filter_func_vector);
	both(&vector_cl, v, starpu_vector_divide_in_2_filter_func);
	if (starpu_get_handle_interface_id(v) != STARPU_VECTOR_INTERFACE_ID)
		bad++;
	if (starpu_handle_get_local_ptr(v) != vec)
		bad++;
	(void)starpu_block_shadow_filter_func;
	(void)starpu_vertical_block_shadow_filter_func;
	(void)starpu_block_shadow_filter_func_vector;
	(void)starpu_vector_list_filter_func;
	(void)starpu_block_filter_func_block;
	(void)starpu_block_shadow_filter_func_block;
	(void)starpu_vertical_block_filter_func_block;
	(void)starpu_vertical_block_shadow_filter_func_block;
	(void)starpu_depth_block_filter_func_block;
	(void)starpu_depth_block_shadow_filter_func_block;
	(void)starpu_vertical_block_filter_func_csr;
	(void)starpu_canonical_block_filter_bcsr;
	starpu_data_unregister(m);
	starpu_data_unregister(v);
	starpu_shutdown();
	for (i = 0; i < 12; i++)
		bad += mat[i] != 2.0f;
	for (i = 0; i < 10; i++)
		bad += vec[i] != 2;
	return bad != 0;
}
