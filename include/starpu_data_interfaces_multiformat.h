/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Data whose elements have another format on each type of device; part of
 * starpu_data_interfaces.h, which includes this.
 *
 * A value is in the format of the memory where it is.  When it has come to a memory of
 * another kind, a worker there converts it before it is used: an array of one format has
 * arrived, the codelet makes that of the other.
 */

#ifndef STARPU_DATA_INTERFACES_MULTIFORMAT_H
#define STARPU_DATA_INTERFACES_MULTIFORMAT_H

#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_codelet;

/** Bytes of an element of each format, 0: there is none; and the codelets that convert,
 * whose one buffer is the data.  Those to a device run there, those from it on a CPU. */
struct starpu_multiformat_data_interface_ops {
	size_t cpu_elemsize;
	size_t opencl_elemsize;
	struct starpu_codelet *cpu_to_opencl_cl;
	struct starpu_codelet *opencl_to_cpu_cl;
	size_t cuda_elemsize;
	struct starpu_codelet *cpu_to_cuda_cl;
	struct starpu_codelet *cuda_to_cpu_cl;
};

struct starpu_multiformat_interface {
	enum starpu_data_interface_id id;
	/* Those that the memory node does not need are NULL. */
	void *cpu_ptr;
	void *cuda_ptr;
	void *hip_ptr;
	void *opencl_ptr;
	uint32_t nx;
	struct starpu_multiformat_data_interface_ops *ops;
};

/**
 * Register nobjects elements at ptr, in the CPU's format; home_node as for
 * starpu_data_register, main memory or -1.
 *
 * @param format_ops  must stay as it is while the data are registered
 */
void starpu_multiformat_data_register(
	starpu_data_handle_t *handle, int home_node, void *ptr, uint32_t nobjects,
	struct starpu_multiformat_data_interface_ops *format_ops);

#define STARPU_MULTIFORMAT_FIELD_(itf, field)                                            \
	(((struct starpu_multiformat_interface *)(itf))->field)
#define STARPU_MULTIFORMAT_GET_CPU_PTR(itf)    STARPU_MULTIFORMAT_FIELD_(itf, cpu_ptr)
#define STARPU_MULTIFORMAT_GET_CUDA_PTR(itf)   STARPU_MULTIFORMAT_FIELD_(itf, cuda_ptr)
#define STARPU_MULTIFORMAT_GET_HIP_PTR(itf)    STARPU_MULTIFORMAT_FIELD_(itf, hip_ptr)
#define STARPU_MULTIFORMAT_GET_OPENCL_PTR(itf) STARPU_MULTIFORMAT_FIELD_(itf, opencl_ptr)
#define STARPU_MULTIFORMAT_GET_NX(itf)         STARPU_MULTIFORMAT_FIELD_(itf, nx)

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DATA_INTERFACES_MULTIFORMAT_H */
