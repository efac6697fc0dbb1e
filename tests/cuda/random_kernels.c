/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "random.h"

/* random_kernels.c - codelets of random programs. */

/* What main passes to a kernel; the views are the buffers'. */
static struct view flat(uintptr_t at, uint32_t n)
{
	return (struct view){
		.values = (uint64_t *)at, .ldy = n, .ldz = n, .nx = n, .ny = 1, .nz = 1};
}

static struct view view_of_sparse(const void *buffer)
{
	const struct starpu_csr_interface *csr = buffer;
	const struct starpu_bcsr_interface *bcsr = buffer;
	int is_bcsr = csr->id == STARPU_BCSR_INTERFACE_ID;
	uint32_t area = is_bcsr ? bcsr->r * bcsr->c : 1;
	struct view view = flat(csr->nzval, csr->nnz * area);

	view.columns = csr->colind;
	view.rows = csr->rowptr;
	view.nrows = csr->nrow;
	view.area = area;
	return view;
}

struct view view_of(void *buffer)
{
	const struct starpu_block_interface *block = buffer;
	const struct pair_interface *pair = buffer;
	struct view view;

	if (is_pair(buffer)) {
		view = flat((uintptr_t)pair->first, 2 * pair->n);
		view.more = pair->second;
		view.split = pair->n;
		return view;
	}
	switch (block->id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		return flat(STARPU_VARIABLE_GET_PTR(buffer), 1);
	case STARPU_VECTOR_INTERFACE_ID:
		return flat(STARPU_VECTOR_GET_PTR(buffer), STARPU_VECTOR_GET_NX(buffer));
	case STARPU_CSR_INTERFACE_ID:
	case STARPU_BCSR_INTERFACE_ID:
		return view_of_sparse(buffer);
	case STARPU_MATRIX_INTERFACE_ID:
		view = flat(STARPU_MATRIX_GET_PTR(buffer), STARPU_MATRIX_GET_NX(buffer));
		view.ny = STARPU_MATRIX_GET_NY(buffer);
		view.ldy = STARPU_MATRIX_GET_LD(buffer);
		return view;
	default:
		view = flat(block->ptr, block->nx);
		view.ny = block->ny;
		view.nz = block->nz;
		view.ldy = block->ldy;
		view.ldz = block->ldz;
		return view;
	}
}

static void take_buffers(struct cook *cook, void *buffers[])
{
	for (int i = 0; i < cook->n; i++)
		cook->views[i] = view_of(buffers[i]);
}

/* Scratch is written first: the sums of the others read it. */
static int is_of_phase(const struct cook *cook, int which, int phase)
{
	return cook->use[which] != USE_R &&
	       (cook->use[which] == USE_SCRATCH) == (phase == 0);
}

static void cook_here(struct cook *cook)
{
	for (int phase = 0; phase < 2; phase++)
		for (cook->which = 0; cook->which < cook->n; cook->which++)
			for (uint32_t i = 0; is_of_phase(cook, cook->which, phase) &&
					     i < view_count(&cook->views[cook->which]);
			     i++)
				cook_element(cook, i);
}

static void cook_there(struct cook *cook, cudaStream_t stream)
{
	__atomic_add_fetch(&place->ngpu, 1, __ATOMIC_RELAXED);
	for (int phase = 0; phase < 2; phase++)
		for (cook->which = 0; cook->which < cook->n; cook->which++)
			if (is_of_phase(cook, cook->which, phase))
				random_launch(cook, stream);
}

/* ---- tasks --------------------------------------------------------------- */

static void task_cpu(void *buffers[], void *arg)
{
	struct cook cook;

	starpu_codelet_unpack_args(arg, &cook);
	take_buffers(&cook, buffers);
	cook_here(&cook);
}

static void launch_task(void *buffers[], void *arg, cudaStream_t stream)
{
	struct cook cook;

	starpu_codelet_unpack_args(arg, &cook);
	take_buffers(&cook, buffers);
	cook_there(&cook, stream);
}

static void task_cuda(void *buffers[], void *arg)
{
	launch_task(buffers, arg, starpu_cuda_get_local_stream());
}

static void task_cuda_waits(void *buffers[], void *arg)
{
	cudaError_t status;

	launch_task(buffers, arg, starpu_cuda_get_local_stream());
	status = cudaStreamSynchronize(starpu_cuda_get_local_stream());
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

static void task_cuda_default(void *buffers[], void *arg)
{
	launch_task(buffers, arg,
		    random_launches_by_default() ? NULL : starpu_cuda_get_local_stream());
}

#define TASK(cpu_, cuda_, flags_, name_)                                                 \
	{                                                                                \
		.cpu_funcs = {cpu_}, .cuda_funcs = {cuda_}, .cuda_flags = {flags_},      \
		.nbuffers = STARPU_VARIABLE_NBUFFERS, .name = name_                      \
	}

/* Twice: a codelet counts its tasks, so that a used one is not copied. */
#define COOK_TABLE                                                                       \
	{                                                                                \
		[COOK_ANYWHERE] =                                                        \
			TASK(task_cpu, task_cuda, STARPU_CUDA_ASYNC, "anywhere"),        \
		[COOK_ANYWHERE_WAITS] =                                                  \
			TASK(task_cpu, task_cuda_waits, 0, "anywhere, waits"),           \
		[COOK_ON_GPU] = TASK(NULL, task_cuda, STARPU_CUDA_ASYNC, "on a GPU"),    \
		[COOK_ON_GPU_WAITS] = TASK(NULL, task_cuda_waits, 0, "on a GPU, waits"), \
		[COOK_ON_GPU_FORGETS] = TASK(NULL, task_cuda, 0, "on a GPU, forgets"),   \
		[COOK_ON_DEFAULT] =                                                      \
			TASK(NULL, task_cuda_default, STARPU_CUDA_ASYNC, "by default"),  \
		[COOK_ON_CPU] = TASK(task_cpu, NULL, 0, "on a core")                     \
	}

static struct starpu_codelet cooks[COOKS] = COOK_TABLE;
static struct starpu_codelet with_models[COOKS] = COOK_TABLE;
static struct starpu_perfmodel models[COOKS];
static const char *const symbols[COOKS] = {"random_0", "random_1", "random_2", "random_3",
					   "random_4", "random_5", "random_6"};

struct starpu_codelet *cook_codelet(int which, int with_model)
{
	if (!with_model)
		return &cooks[which];
	if (!with_models[which].model) {
		models[which].type = STARPU_HISTORY_BASED;
		models[which].symbol = symbols[which];
		with_models[which].model = &models[which];
	}
	return &with_models[which];
}

/* ---- reductions ---------------------------------------------------------- */

static struct cook neutral_of(void *buffers[])
{
	struct cook cook = {.n = 1, .use = {USE_NEUTRAL}};

	take_buffers(&cook, buffers);
	return cook;
}

static struct cook sum_of(void *buffers[])
{
	struct cook cook = {.n = 2, .use = {USE_PLUS, USE_R}};

	take_buffers(&cook, buffers);
	return cook;
}

static void neutral_cpu(void *buffers[], void *arg)
{
	struct cook cook = neutral_of(buffers);

	(void)arg;
	cook_here(&cook);
}

static void neutral_cuda(void *buffers[], void *arg)
{
	struct cook cook = neutral_of(buffers);

	(void)arg;
	cook_there(&cook, starpu_cuda_get_local_stream());
}

static void sum_cpu(void *buffers[], void *arg)
{
	struct cook cook = sum_of(buffers);

	(void)arg;
	cook_here(&cook);
}

static void sum_cuda(void *buffers[], void *arg)
{
	struct cook cook = sum_of(buffers);

	(void)arg;
	cook_there(&cook, starpu_cuda_get_local_stream());
}

static struct starpu_codelet neutral = {.cpu_funcs = {neutral_cpu},
					.cuda_funcs = {neutral_cuda},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.name = "neutral"};
static struct starpu_codelet plus = {.cpu_funcs = {sum_cpu},
				     .cuda_funcs = {sum_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 2,
				     .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				     .name = "plus"};

void reduce_with(starpu_data_handle_t handle)
{
	starpu_data_set_reduction_methods(handle, &plus, &neutral);
}
