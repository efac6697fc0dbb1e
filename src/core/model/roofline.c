/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/roofline.h"

#include <math.h>
#include <string.h>

#include "core/interface/interface.h"

/*
 * Declared, not measured.
 * CPU: a tuned BLAS reaches 85 to 95 % of a core's peak on large tiles; the low end
 *   leaves room for the other cores' memory traffic.  3 us stand for packing the
 *   operands: half the rate at a matrix product of order 50 on a 90 Gflop/s core.
 * GPU: vendor matrix products reach 80 to 95 % of the declared peak at orders of some
 *   thousands.  20 us are one launch (5 to 10 us, the usual figure for
 *   a kernel launch) and the ramp until all multiprocessors have work: half the rate
 *   at order 580 on a 19.5 Tflop/s device.
 */
double roofline_law_s(enum starpu_worker_archtype type, double peak_flops_per_s,
		      double flops, const struct plat_kernel *kernel)
{
	const struct device_type *device = device_type(type);
	double f_half = peak_flops_per_s * device->start_s;
	double efficiency = device->e_max * flops / (flops + f_half);

	if (kernel)
		return device->start_s / device->e_max +
		       flops / (peak_flops_per_s * kernel->efficiency) +
		       kernel->root_s * cbrt(flops);
	return flops / (peak_flops_per_s * efficiency);
}

const struct plat_kernel *roofline_named(const struct plat_kernels *kernels,
					 const struct starpu_task *task)
{
	const char *name = task->cl->model && task->cl->model->symbol
				   ? task->cl->model->symbol
				   : task->cl->name;

	for (int i = 0; kernels && name && i < kernels->n; i++)
		if (strstr(name, kernels->each[i].word))
			return &kernels->each[i];
	return NULL;
}

size_t roofline_element_bytes(struct starpu_task *task)
{
	if (!STARPU_TASK_GET_NBUFFERS(task))
		return 0;
	return interface_element_bytes(STARPU_TASK_GET_HANDLE(task, 0));
}

double roofline_seconds(const struct worker *worker, struct starpu_task *task)
{
	const struct plat_pace *pace =
		device_pace(worker->node->machine, &worker->device);
	const struct plat_kernels *kernels = pace->kernels ? &pace->kernels->slow : NULL;
	double peak;

	if (!(task->flops > 0))
		return 0;
	peak = pace->peak_flops_per_s[roofline_element_bytes(task) == 8];
	return peak > 0 ? roofline_law_s(worker->type, peak, task->flops,
					 roofline_named(kernels, task))
			: 0;
}
