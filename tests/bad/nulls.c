/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Functions that are given NULL, or a handle of another interface, where they need an
 * object: each says its name and what it was given, and aborts.  Each call is made in a
 * process of its own.
 */
#include "dying.h"

static starpu_data_handle_t handle, vector, same;
static long value;
static int number;
static void *pointer;
static starpu_ssize_t count;

/* It lives until the release, and must not be used any more. */
static void use_ended(starpu_data_handle_t ended)
{
	starpu_data_acquire(ended, STARPU_R);
	starpu_data_unregister_submit(ended);
	starpu_data_unregister(ended);
}

/* What is called, and a word that the message must contain beside it. */
#define CALL(function, word, ...)                                                        \
	static void call_##function(void)                                                \
	{                                                                                \
		(void)!sizeof(#word);                                                    \
		function(__VA_ARGS__);                                                   \
	}

/* The same for those whose result must be used. */
#define USED(function, word, ...)                                                        \
	static void call_##function(void)                                                \
	{                                                                                \
		if (function(__VA_ARGS__))                                               \
			number++;                                                        \
	}

#define CALLS                                                                            \
	CALL(starpu_sched_ctx_delete, stays, 0)                                          \
	CALL(starpu_sched_ctx_get_nworkers, not deleted, 7)                              \
	CALL(starpu_sched_ctx_create, sched_ctx_name, NULL, 0, NULL, 0)                  \
	CALL(starpu_sched_ctx_set_inheritor, not deleted, 0, 9)                          \
	CALL(starpu_data_acquire, NULL, NULL, STARPU_R)                                  \
	CALL(starpu_data_acquire_on_node, NULL, NULL, 0, STARPU_R)                       \
	CALL(starpu_data_acquire_cb, NULL, NULL, STARPU_R, NULL, NULL)                   \
	CALL(starpu_data_acquire_try, NULL, NULL, STARPU_R)                              \
	CALL(starpu_data_release, NULL, NULL)                                            \
	CALL(starpu_data_release_to, NULL, NULL, STARPU_R)                               \
	CALL(starpu_data_unregister, NULL, NULL)                                         \
	CALL(starpu_data_unregister_no_coherency, NULL, NULL)                            \
	CALL(starpu_data_unregister_submit, NULL, NULL)                                  \
	CALL(starpu_data_invalidate, NULL, NULL)                                         \
	CALL(starpu_data_invalidate_submit, NULL, NULL)                                  \
	CALL(starpu_data_deinitialize, NULL, NULL)                                       \
	CALL(starpu_data_deinitialize_submit, NULL, NULL)                                \
	CALL(starpu_data_fetch_on_node, NULL, NULL, 0, 0)                                \
	CALL(starpu_data_prefetch_on_node, NULL, NULL, 0, 1)                             \
	CALL(starpu_data_wont_use, NULL, NULL)                                           \
	CALL(starpu_data_advise_as_important, NULL, NULL, 1)                             \
	CALL(starpu_data_query_status, NULL, NULL, 0, &number, &number, &number)         \
	CALL(starpu_data_query_status2, memory node, handle, 64, NULL, NULL, NULL, NULL) \
	CALL(starpu_data_is_on_node, NULL, NULL, 0)                                      \
	CALL(starpu_data_test_if_allocated_on_node, NULL, NULL, 0)                       \
	CALL(starpu_data_set_sequential_consistency_flag, NULL, NULL, 0)                 \
	CALL(starpu_data_get_sequential_consistency_flag, NULL, NULL)                    \
	CALL(starpu_data_set_user_data, NULL, NULL, &value)                              \
	CALL(starpu_data_get_user_data, NULL, NULL)                                      \
	CALL(starpu_data_set_sched_data, NULL, NULL, &value)                             \
	CALL(starpu_data_get_sched_data, NULL, NULL)                                     \
	CALL(starpu_data_set_name, NULL, NULL, "name")                                   \
	CALL(starpu_data_set_coordinates, NULL, NULL, 1, 0)                              \
	CALL(starpu_data_get_interface_ops, NULL, NULL)                                  \
	CALL(starpu_data_get_interface_on_node, memory node, handle, 64)                 \
	CALL(starpu_data_get_interface_id, NULL, NULL)                                   \
	CALL(starpu_data_get_size, NULL, NULL)                                           \
	CALL(starpu_data_get_alloc_size, NULL, NULL)                                     \
	CALL(starpu_data_get_home_node, NULL, NULL)                                      \
	CALL(starpu_data_handle_to_pointer, NULL, NULL, 0)                               \
	CALL(starpu_data_get_local_ptr, NULL, NULL)                                      \
	CALL(starpu_data_pack, NULL, NULL, &pointer, &count)                             \
	CALL(starpu_data_unpack, NULL, NULL, &value, sizeof value)                       \
	CALL(starpu_data_peek, NULL, NULL, &value, sizeof value)                         \
	CALL(starpu_data_register_same, NULL, &handle, NULL)                             \
	CALL(starpu_variable_data_register, NULL, NULL, 0, (uintptr_t)&value,            \
	     sizeof value)                                                               \
	CALL(starpu_void_data_register, NULL, NULL)                                      \
	CALL(starpu_vector_get_elemsize, NULL, NULL)                                     \
	CALL(starpu_vector_get_nx, interface, handle)                                    \
	CALL(starpu_matrix_get_nx, interface, vector)                                    \
	CALL(starpu_matrix_get_elemsize, interface, handle)                              \
	CALL(starpu_tensor_get_nx, interface, vector)                                    \
	CALL(starpu_tensor_get_local_ldt, interface, vector)                             \
	CALL(starpu_ndim_get_nn, interface, vector)                                      \
	CALL(starpu_ndim_get_local_ldn, interface, handle)                               \
	CALL(starpu_ndim_data_register, NULL, &same, -1, 0, NULL, NULL, 2, 4)            \
	CALL(starpu_csr_get_nnz, interface, vector)                                      \
	CALL(starpu_csr_get_local_rowptr, interface, vector)                             \
	CALL(starpu_bcsr_get_r, interface, vector)                                       \
	CALL(starpu_bcsr_get_local_nzval, interface, vector)                             \
	CALL(starpu_csr_data_register, NULL, &same, 0, 1, 1, 0, NULL, NULL, 0, 4)        \
	CALL(starpu_coo_data_register, NULL, &same, 0, 1, 1, 1, NULL, NULL,              \
	     (uintptr_t)&value, 4)                                                       \
	CALL(starpu_data_ptr_register, NULL, NULL, 0)                                    \
	CALL(starpu_vector_ptr_register, already, vector, 0, 0, 0, 0)                    \
	CALL(starpu_matrix_ptr_register, interface, vector, 0, 0, 0, 0, 1)               \
	CALL(starpu_data_assign_arbiter, NULL, vector, NULL)                             \
	CALL(starpu_data_evict_from_node, NULL, NULL, 0)                                 \
	CALL(starpu_variable_get_elemsize, interface, vector)                            \
	CALL(use_ended, unregister_submit, handle)                                       \
	CALL(starpu_task_init, NULL, NULL)                                               \
	CALL(starpu_task_clean, NULL, NULL)                                              \
	CALL(starpu_task_destroy, NULL, NULL)                                            \
	CALL(starpu_task_set_destroy, NULL, NULL)                                        \
	CALL(starpu_task_dup, NULL, NULL)                                                \
	USED(starpu_task_submit, NULL, NULL)                                             \
	USED(starpu_task_finished, NULL, NULL)                                           \
	USED(starpu_task_wait, NULL, NULL)                                               \
	CALL(starpu_task_get_name, NULL, NULL)                                           \
	CALL(starpu_task_get_job_id, NULL, NULL)                                         \
	CALL(starpu_task_declare_deps, NULL, NULL, 0)                                    \
	CALL(starpu_task_end_dep_add, NULL, NULL, 1)                                     \
	CALL(starpu_task_end_dep_release, NULL, NULL)                                    \
	CALL(starpu_task_create_sync, NULL, NULL, STARPU_R)                              \
	CALL(starpu_task_expected_length, NULL, NULL, NULL, 0)                           \
	CALL(starpu_worker_can_execute_task, NULL, 0, NULL, 0)                           \
	CALL(starpu_perfmodel_init, NULL, NULL)                                          \
	CALL(starpu_codelet_pack_arg_init, NULL, NULL)                                   \
	CALL(starpu_codelet_pack_arg, NULL, NULL, &value, sizeof value)                  \
	CALL(starpu_task_insert, modes, NULL, STARPU_DATA_ARRAY, &handle, 1, 0)          \
	CALL(starpu_codelet_unpack_args_and_copyleft, cl_arg, NULL, NULL, 0, NULL)

CALLS

#undef CALL
#undef USED
#define CALL(function, word, ...)                                                        \
	{#function " says what it was given", {"starpu_", #word}, call_##function, 0},
#define USED CALL

static const struct dying calls[] = {CALLS};

static void prepare(void)
{
	static long values[4];

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof value);
	starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)values, 4,
				    sizeof values[0]);
}

int main(void)
{
	return dying_run(calls, sizeof calls / sizeof calls[0], prepare);
}
