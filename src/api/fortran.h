/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_FORTRAN_H
#define ORR_API_FORTRAN_H

/*
 * fortran.h - what fstarpu_mod calls of C besides functions of the public headers.
 *
 * How they look to Fortran is in src/fortran/functions.txt.  Constants, modes, kinds and
 * sizes travel as pointers of that value.  Lists of arguments are arrays of pointers
 * that end with NULL: keys by value, pointers and sizes by value, other operands by
 * address.
 */
#include <stdint.h>

#include <starpu.h>

static inline void *fortran_constant(uintptr_t value)
{
	return (void *)value;
}

static inline uintptr_t fortran_value(const void *constant)
{
	return (uintptr_t)constant;
}

/* A name of Fortran's, which the codelet, model or configuration keeps. */
char *fortran_keep_name(const char *func, const char *name);

void *fstarpu_get_constant(const char *name);

struct starpu_conf *fstarpu_conf_allocate(void);
void fstarpu_conf_free(struct starpu_conf *conf);
void fstarpu_conf_set_sched_policy_name(struct starpu_conf *conf, const char *name);
void fstarpu_conf_set_min_prio(struct starpu_conf *conf, int min_prio);
void fstarpu_conf_set_max_prio(struct starpu_conf *conf, int max_prio);
void fstarpu_conf_set_ncpu(struct starpu_conf *conf, int ncpu);
void fstarpu_conf_set_ncuda(struct starpu_conf *conf, int ncuda);
void fstarpu_conf_set_nhip(struct starpu_conf *conf, int nhip);
void fstarpu_conf_set_nopencl(struct starpu_conf *conf, int nopencl);

void fstarpu_topology_print(void);
void *fstarpu_worker_get_type(int id);
int fstarpu_worker_get_count_by_type(void *type);
int fstarpu_worker_get_ids_by_type(void *type, int *workerids, int maxsize);
int fstarpu_worker_get_by_type(void *type, int num);
int fstarpu_worker_get_by_devid(void *type, int devid);
void fstarpu_worker_get_type_as_string(void *type, char *dst, size_t maxlen);

struct starpu_codelet *fstarpu_codelet_allocate(void);
void fstarpu_codelet_free(struct starpu_codelet *cl);
void fstarpu_codelet_set_name(struct starpu_codelet *cl, const char *name);
void fstarpu_codelet_set_model(struct starpu_codelet *cl, struct starpu_perfmodel *model);
void fstarpu_codelet_set_energy_model(struct starpu_codelet *cl,
				      struct starpu_perfmodel *model);
void fstarpu_codelet_add_cpu_func(struct starpu_codelet *cl, starpu_cpu_func_t func);
void fstarpu_codelet_add_cuda_func(struct starpu_codelet *cl, starpu_cuda_func_t func);
void fstarpu_codelet_add_cuda_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_add_hip_func(struct starpu_codelet *cl, starpu_hip_func_t func);
void fstarpu_codelet_add_hip_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_add_opencl_func(struct starpu_codelet *cl,
				     starpu_opencl_func_t func);
void fstarpu_codelet_add_opencl_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, void *mode);
void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl);
void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers);
void fstarpu_codelet_set_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_set_where(struct starpu_codelet *cl, void *where);

struct starpu_perfmodel *fstarpu_perfmodel_allocate(void);
void fstarpu_perfmodel_free(struct starpu_perfmodel *model);
void fstarpu_perfmodel_set_symbol(struct starpu_perfmodel *model, const char *symbol);
void fstarpu_perfmodel_set_type(struct starpu_perfmodel *model, void *type);

void fstarpu_task_insert(void **arglist);
void fstarpu_task_set_codelet(struct starpu_task *task, struct starpu_codelet *cl);
void fstarpu_task_set_handle(struct starpu_task *task, int i,
			     starpu_data_handle_t handle);
void fstarpu_task_set_detach(struct starpu_task *task, int detach);
void fstarpu_task_set_destroy(struct starpu_task *task, int destroy);
int fstarpu_sched_ctx_create(int *workers, int nworkers, const char *name,
			     void **arglist);
void fstarpu_sched_ctx_display_workers(int ctx);
void fstarpu_unpack_arg(void *cl_arg, void **bufferlist);
void fstarpu_tag_declare_deps_array(int id, int ndeps, starpu_tag_t *tags);

void fstarpu_data_acquire(starpu_data_handle_t handle, void *mode);
starpu_data_handle_t *fstarpu_data_handle_array_alloc(int nb);
void fstarpu_data_handle_array_free(starpu_data_handle_t *handles);
void fstarpu_data_handle_array_set(starpu_data_handle_t *handles, int i,
				   starpu_data_handle_t handle);
struct starpu_data_descr *fstarpu_data_descr_array_alloc(int nb);
struct starpu_data_descr *fstarpu_data_descr_alloc(void);
void fstarpu_data_descr_array_free(struct starpu_data_descr *descrs);
void fstarpu_data_descr_free(struct starpu_data_descr *descr);
void fstarpu_data_descr_array_set(struct starpu_data_descr *descrs, int i,
				  starpu_data_handle_t handle, void *mode);
void fstarpu_data_descr_set(struct starpu_data_descr *descr, starpu_data_handle_t handle,
			    void *mode);

void *fstarpu_variable_get_ptr(void **buffers, int i);
void *fstarpu_vector_get_ptr(void **buffers, int i);
int fstarpu_vector_get_nx(void **buffers, int i);
void *fstarpu_matrix_get_ptr(void **buffers, int i);
int fstarpu_matrix_get_ld(void **buffers, int i);
int fstarpu_matrix_get_nx(void **buffers, int i);
int fstarpu_matrix_get_ny(void **buffers, int i);
void *fstarpu_block_get_ptr(void **buffers, int i);
int fstarpu_block_get_ldy(void **buffers, int i);
int fstarpu_block_get_ldz(void **buffers, int i);
int fstarpu_block_get_nx(void **buffers, int i);
int fstarpu_block_get_ny(void **buffers, int i);
int fstarpu_block_get_nz(void **buffers, int i);
void *fstarpu_tensor_get_ptr(void **buffers, int i);
int fstarpu_tensor_get_ldy(void **buffers, int i);
int fstarpu_tensor_get_ldz(void **buffers, int i);
int fstarpu_tensor_get_ldt(void **buffers, int i);
int fstarpu_tensor_get_nx(void **buffers, int i);
int fstarpu_tensor_get_ny(void **buffers, int i);
int fstarpu_tensor_get_nz(void **buffers, int i);
int fstarpu_tensor_get_nt(void **buffers, int i);

struct starpu_data_filter *fstarpu_data_filter_allocate(void);
void fstarpu_data_filter_free(struct starpu_data_filter *filter);
void fstarpu_data_filter_set_filter_func(struct starpu_data_filter *filter,
					 void (*func)(void *, void *,
						      struct starpu_data_filter *,
						      unsigned, unsigned));
void fstarpu_data_filter_set_nchildren(struct starpu_data_filter *filter, int nchildren);
void fstarpu_data_filter_set_get_nchildren_func(
	struct starpu_data_filter *filter,
	unsigned (*func)(struct starpu_data_filter *, starpu_data_handle_t));
void fstarpu_data_filter_set_get_child_ops_func(
	struct starpu_data_filter *filter,
	struct starpu_data_interface_ops *(*func)(struct starpu_data_filter *, unsigned));
void fstarpu_data_filter_set_filter_arg(struct starpu_data_filter *filter, int arg);
void fstarpu_data_filter_set_filter_arg_ptr(struct starpu_data_filter *filter, void *arg);
struct starpu_data_filter *fstarpu_df_alloc_bcsr_filter_canonical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_csr_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_vertical_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_list(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_divide_in_2(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_vertical_block_shadow(void);
starpu_data_handle_t fstarpu_data_get_sub_data(starpu_data_handle_t root, int depth,
					       int *indices);
void fstarpu_data_map_filters(starpu_data_handle_t root, int nfilters,
			      struct starpu_data_filter **filters);

#endif
