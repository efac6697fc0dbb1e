/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Tasks in one call.  After the codelet come keys, int each, followed by their
 * values, and a final 0.  A key is either an access mode, followed by a handle,
 * or one of the constants below, whose comments give the types of the values.
 * Values are fetched with exactly these types: a double must be a double.
 *
 * Any thread may call these functions.
 */

/* Programs that include this file first rely on it for all the others. */
#include <starpu.h>

#ifndef STARPU_TASK_UTIL_H
#define STARPU_TASK_UTIL_H

#include <stdlib.h>
#include <string.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_task.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys lie above the bits of the access modes. */
#define STARPU_MODE_SHIFT 17

/** void *, size_t: append a copy to the packed argument. */
#define STARPU_VALUE (1 << STARPU_MODE_SHIFT)
/** void (*)(void *): callback after the task. */
#define STARPU_CALLBACK (2 << STARPU_MODE_SHIFT)
/** void (*)(void *), void *: the same with its argument, freed with the task. */
#define STARPU_CALLBACK_WITH_ARG (3 << STARPU_MODE_SHIFT)
/** void *: argument of the callback, freed with the task. */
#define STARPU_CALLBACK_ARG (4 << STARPU_MODE_SHIFT)
/** int: larger first. */
#define STARPU_PRIORITY (5 << STARPU_MODE_SHIFT)
/** int: rank that executes the task; for starpu_mpi_task_insert. */
#define STARPU_EXECUTE_ON_NODE (6 << STARPU_MODE_SHIFT)
/** starpu_data_handle_t: the owner executes the task; for starpu_mpi_task_insert. */
#define STARPU_EXECUTE_ON_DATA (7 << STARPU_MODE_SHIFT)
/** starpu_data_handle_t *, int: that many handles, in the codelet's modes. */
#define STARPU_DATA_ARRAY (8 << STARPU_MODE_SHIFT)
/** struct starpu_data_descr *, int: that many handles with their modes. */
#define STARPU_DATA_MODE_ARRAY (9 << STARPU_MODE_SHIFT)
/** starpu_tag_t: tag of the task. */
#define STARPU_TAG (10 << STARPU_MODE_SHIFT)
/** int: tag for a hypervisor; kept, no effect. */
#define STARPU_HYPERVISOR_TAG (11 << STARPU_MODE_SHIFT)
/** double: operations that the task does. */
#define STARPU_FLOPS (12 << STARPU_MODE_SHIFT)
/** unsigned: scheduling context; kept, no effect: there is one. */
#define STARPU_SCHED_CTX (13 << STARPU_MODE_SHIFT)
/** void (*)(void *): called when the task becomes ready. */
#define STARPU_PROLOGUE_CALLBACK (14 << STARPU_MODE_SHIFT)
/** void *: its argument, freed with the task. */
#define STARPU_PROLOGUE_CALLBACK_ARG (15 << STARPU_MODE_SHIFT)
/** void (*)(void *): called by the worker that takes the task. */
#define STARPU_PROLOGUE_CALLBACK_POP (16 << STARPU_MODE_SHIFT)
/** void *: its argument, freed with the task. */
#define STARPU_PROLOGUE_CALLBACK_POP_ARG (17 << STARPU_MODE_SHIFT)
/** int: worker that executes the task; -1: any. */
#define STARPU_EXECUTE_ON_WORKER (18 << STARPU_MODE_SHIFT)
/** unsigned long long: types of workers, as the field where. */
#define STARPU_EXECUTE_WHERE (19 << STARPU_MODE_SHIFT)
/** starpu_tag_t: tag for traces, without dependencies. */
#define STARPU_TAG_ONLY (20 << STARPU_MODE_SHIFT)
/** unsigned: whether several workers may share the task; kept, no effect. */
#define STARPU_POSSIBLY_PARALLEL (21 << STARPU_MODE_SHIFT)
/** unsigned: order on the worker given by STARPU_EXECUTE_ON_WORKER; no effect today. */
#define STARPU_WORKER_ORDER (22 << STARPU_MODE_SHIFT)
/** int: policy that chooses the rank; for starpu_mpi_task_insert. */
#define STARPU_NODE_SELECTION_POLICY (23 << STARPU_MODE_SHIFT)
/** const char *: name, which must outlive the task. */
#define STARPU_NAME (24 << STARPU_MODE_SHIFT)
/** void *, size_t: the whole argument of the kernel, freed with the task. */
#define STARPU_CL_ARGS (25 << STARPU_MODE_SHIFT)
/** void *, size_t: the same, not freed. */
#define STARPU_CL_ARGS_NFREE (26 << STARPU_MODE_SHIFT)
/** unsigned, struct starpu_task **: tasks to wait for before the start. */
#define STARPU_TASK_DEPS_ARRAY (27 << STARPU_MODE_SHIFT)
/** int: colour 0xRRGGBB in traces; kept, no effect. */
#define STARPU_TASK_COLOR (28 << STARPU_MODE_SHIFT)
/** unsigned char *: one flag per handle, kept until the submission. */
#define STARPU_HANDLES_SEQUENTIAL_CONSISTENCY (29 << STARPU_MODE_SHIFT)
/** int: whether the submission waits for the end. */
#define STARPU_TASK_SYNCHRONOUS (30 << STARPU_MODE_SHIFT)
/** unsigned, struct starpu_task **: tasks to wait for before the end. */
#define STARPU_TASK_END_DEPS_ARRAY (31 << STARPU_MODE_SHIFT)
/** int: number of calls of starpu_task_end_dep_release to wait for. */
#define STARPU_TASK_END_DEP (32 << STARPU_MODE_SHIFT)
/** unsigned, uint32_t *: length and words of the set of allowed workers. */
#define STARPU_TASK_WORKERIDS (33 << STARPU_MODE_SHIFT)
/** unsigned: 0 ignores implicit dependencies. */
#define STARPU_SEQUENTIAL_CONSISTENCY (34 << STARPU_MODE_SHIFT)
/** struct starpu_profiling_task_info *: where to note the times. */
#define STARPU_TASK_PROFILING_INFO (35 << STARPU_MODE_SHIFT)
/** unsigned: 1 leaves the task out of the order of submission. */
#define STARPU_TASK_NO_SUBMITORDER (36 << STARPU_MODE_SHIFT)
/** As the keys without NFREE, but the argument is not freed. */
#define STARPU_CALLBACK_ARG_NFREE              (37 << STARPU_MODE_SHIFT)
#define STARPU_CALLBACK_WITH_ARG_NFREE         (38 << STARPU_MODE_SHIFT)
#define STARPU_PROLOGUE_CALLBACK_ARG_NFREE     (39 << STARPU_MODE_SHIFT)
#define STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE (40 << STARPU_MODE_SHIFT)
/** void *: for the scheduler. */
#define STARPU_TASK_SCHED_DATA (41 << STARPU_MODE_SHIFT)
/** struct starpu_transaction *: the transaction it belongs to, or NULL. */
#define STARPU_TRANSACTION (42 << STARPU_MODE_SHIFT)
/** const char *, int: where in the source. */
#define STARPU_TASK_FILE (43 << STARPU_MODE_SHIFT)
#define STARPU_TASK_LINE (44 << STARPU_MODE_SHIFT)
/** void (*)(void *): called before the dependents are released. */
#define STARPU_EPILOGUE_CALLBACK (45 << STARPU_MODE_SHIFT)
/** void *: its argument, freed with the task. */
#define STARPU_EPILOGUE_CALLBACK_ARG (46 << STARPU_MODE_SHIFT)
/** Tasks that become graphs: not offered, any value but NULL ends the process. */
#define STARPU_BUBBLE_FUNC             (47 << STARPU_MODE_SHIFT)
#define STARPU_BUBBLE_FUNC_ARG         (48 << STARPU_MODE_SHIFT)
#define STARPU_BUBBLE_GEN_DAG_FUNC     (49 << STARPU_MODE_SHIFT)
#define STARPU_BUBBLE_GEN_DAG_FUNC_ARG (50 << STARPU_MODE_SHIFT)
#define STARPU_BUBBLE_PARENT           (51 << STARPU_MODE_SHIFT)
/** int *, int: the memory of each buffer, as nodes[] of the codelet, and how many. */
#define STARPU_NODE_ARRAY (52 << STARPU_MODE_SHIFT)
/** Above all keys. */
#define STARPU_SHIFTED_MODE_MAX (53 << STARPU_MODE_SHIFT)

/** Fill an initialised task; 0, or -EINVAL for arguments that do not fit together. */
int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...);

/** A new task, not submitted; NULL for arguments that do not fit together. */
struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...);

/**
 * Build a task and submit it.  Modes that the codelet leaves at 0 are stored in
 * it; one that differs from the codelet's ends the process, as does a key that
 * does not exist.
 *
 * @return 0; -EINVAL: arguments that do not fit together; -ENODEV: no worker can
 *         execute it; in both cases the task is gone
 */
int starpu_task_insert(struct starpu_codelet *cl, ...);

/** The same under its older name. */
int starpu_insert_task(struct starpu_codelet *cl, ...);

/*
 * For those who write their own insertion: fill the buffers of a task.
 * *allocated_buffers is the room in the task, initially 0; *current_buffer, the
 * number of buffers so far.
 */

/** Make room for `room` more buffers. */
void starpu_task_insert_data_make_room(struct starpu_codelet *cl,
				       struct starpu_task *task, int *allocated_buffers,
				       int current_buffer, int room);

/** Append a handle whose mode is arg_type. */
void starpu_task_insert_data_process_arg(struct starpu_codelet *cl,
					 struct starpu_task *task, int *allocated_buffers,
					 int *current_buffer, int arg_type,
					 starpu_data_handle_t handle);

/** Append nb_handles handles in the codelet's modes. */
void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl,
					       struct starpu_task *task,
					       int *allocated_buffers,
					       int *current_buffer, int nb_handles,
					       starpu_data_handle_t *handles);

/** Append nb_descrs handles with their modes. */
void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl,
						    struct starpu_task *task,
						    int *allocated_buffers,
						    int *current_buffer, int nb_descrs,
						    struct starpu_data_descr *descrs);

/*
 * Packed arguments: an int count, then for each argument its size (size_t) and
 * its bytes, without padding.
 */

/**
 * Pack arguments, each STARPU_VALUE, void *, size_t, up to a 0.  *arg_buffer is
 * allocated with malloc and belongs to the caller.
 */
void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...);

/** Copy the arguments in order to the given pointers; a NULL ends them early. */
void starpu_codelet_unpack_args(void *cl_arg, ...);

/** The same; those behind a 0 in the list are packed into buffer. */
void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer,
					     size_t buffer_size, ...);

/** State of packing or unpacking one argument after the other; private. */
struct starpu_codelet_pack_arg_data {
	char *arg_buffer;
	size_t arg_buffer_size;
	size_t arg_buffer_used;
	size_t current_offset;
	int nargs;
};

/** Start packing. */
void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state);

/** Append a copy of ptr_size bytes. */
void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *ptr,
			     size_t ptr_size);

/** Give the buffer, allocated with malloc, to the caller. */
void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state,
				  void **cl_arg, size_t *cl_arg_size);

/** Start unpacking; cl_arg stays the caller's. */
void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state,
				    void *cl_arg, size_t cl_arg_size);

/** Copy the next argument; a size other than its own ends the process. */
void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state, void *ptr,
			       size_t size);

/** Give a copy of the next argument, allocated with malloc. */
void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state, void **ptr,
			    size_t *size);

/** Give the address of the next argument within the buffer, perhaps not aligned. */
void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state, void **ptr,
			     size_t *size);

/** Skip the next argument. */
void starpu_codelet_unpack_discard_arg(struct starpu_codelet_pack_arg_data *state);

/** End unpacking; arguments that were not unpacked end the process. */
void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_TASK_UTIL_H */
