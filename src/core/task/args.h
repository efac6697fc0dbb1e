/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_ARGS_H
#define ORR_CORE_TASK_ARGS_H

/*
 * args.h - the argument list of task_insert: (key, operands)*, 0.
 *
 * The MPI layer scans a list for what placement and transfers need, on every rank;
 * only the rank that runs the task decodes the rest and builds the task.
 */
#include <stdarg.h>

#include "core/task/task.h"

enum { ARGS_INLINE_BUFFERS = 16 };

struct arg_list {
	struct starpu_codelet *codelet;
	/* inline_buffers, an array of the caller's, or allocated. */
	struct starpu_data_descr *buffers;
	struct starpu_data_descr *allocated; /* of them, or NULL */
	int nbuffers, room;
	int has_node, execute_on_node;
	starpu_data_handle_t on_data; /* STARPU_EXECUTE_ON_DATA, or NULL */
	int priority;
	int policy;        /* -1: the current one */
	int has_iteration; /* STARPU_TAG_ONLY, for the load balancer */
	uint64_t iteration;
	int nbefore_node; /* buffers before what says who executes */
	struct starpu_data_descr inline_buffers[ARGS_INLINE_BUFFERS];
};

static inline void args_begin(struct arg_list *args, struct starpu_codelet *codelet)
{
	args->codelet = codelet;
	args->buffers = args->inline_buffers;
	args->allocated = NULL;
	args->nbuffers = 0;
	args->room = ARGS_INLINE_BUFFERS;
	args->has_node = 0;
	args->execute_on_node = -1;
	args->on_data = NULL;
	args->priority = 0;
	args->policy = -1;
	args->has_iteration = 0;
	args->nbefore_node = 0;
}

/* Collect what placement needs, skip the rest.  Aborts on an unknown key. */
void args_scan(struct arg_list *args, int rank, va_list list);
void args_end(struct arg_list *args);

#define ARGS_ACCESS_BITS                                                                 \
	(STARPU_R | STARPU_W | STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX)

/* What a mode says of messages, and not of the access. */
#define ARGS_MPI_BITS (STARPU_SSEND | STARPU_MPI_SAME)

/* Is a key the mode of the handle that follows it? */
static inline int args_is_access(int key)
{
	return (key & ARGS_ACCESS_BITS) && key < (1 << STARPU_MODE_SHIFT);
}

/*
 * What follows a key that does not matter for placement and transfers, as va_arg must
 * fetch it: p pointer, i int, u unsigned, z size_t, l 64 bits, d double.  "" when the key
 * matters, or is none.
 */
const char *args_operands(int key);

/* A macro, as a list that is handed over cannot stay in registers. */
#define ARGS_SKIP_OPERAND(operand, list)                                                 \
	do {                                                                             \
		switch (operand) {                                                       \
		case 'p':                                                                \
			(void)va_arg(list, void *);                                      \
			break;                                                           \
		case 'i':                                                                \
			(void)va_arg(list, int);                                         \
			break;                                                           \
		case 'u':                                                                \
			(void)va_arg(list, unsigned);                                    \
			break;                                                           \
		case 'z':                                                                \
			(void)va_arg(list, size_t);                                      \
			break;                                                           \
		case 'l':                                                                \
			(void)va_arg(list, uint64_t);                                    \
			break;                                                           \
		default:                                                                 \
			(void)va_arg(list, double);                                      \
		}                                                                        \
	} while (0)

void args_die_unknown_key(int rank, int key) __attribute__((noreturn));

/*
 * The key of an operand of type void **: the list goes on in that array, until NULL, as
 * Fortran writes it: keys, pointers and sizes by value, other operands by address.  Each
 * key is handed to take() with operands of C's types.
 */
enum { ARGS_IN_ARRAY = STARPU_SHIFTED_MODE_MAX };
typedef void (*args_take)(void *context, int key, ...);
void args_walk_array(int rank, void **array, args_take take, void *context);

/* Pack values as StarPU does: int count, then (size_t bytes, bytes)*. */
struct packer {
	char *buffer;
	size_t used, capacity;
	int count;
};

void packer_add(struct packer *packer, const void *value, size_t bytes);
void packer_end(struct packer *packer, void **buffer, size_t *bytes);

/* Room for more handles in the task's arrays; *allocated is 0 at first. */
void args_make_room(struct starpu_codelet *cl, struct starpu_task *task, int *allocated,
		    int current, int room);
/* Append a handle; its mode goes to the task or to the codelet, where it is checked. */
void args_add_buffer(struct starpu_codelet *cl, struct starpu_task *task, int *allocated,
		     int *current, unsigned mode, starpu_data_handle_t handle);

/* Fill an initialised task from the list; 0 or -EINVAL. */
int args_fill_task(struct node *node, struct starpu_task *task, struct starpu_codelet *cl,
		   va_list list);

#endif
