/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/args.h"

#include <stdint.h>

/* What follows a key: p pointer, z size, i 32 bits, l 64 bits, d double; the latter three
 * by address. */
static const char *operands_of(int rank, int key)
{
	if (args_is_access(key))
		return "p";
	switch (key) {
	case STARPU_VALUE:
	case STARPU_CL_ARGS:
	case STARPU_CL_ARGS_NFREE:
		return "pz";
	case STARPU_DATA_ARRAY:
	case STARPU_DATA_MODE_ARRAY:
	case STARPU_NODE_ARRAY:
		return "pi";
	case STARPU_TASK_DEPS_ARRAY:
	case STARPU_TASK_END_DEPS_ARRAY:
	case STARPU_TASK_WORKERIDS:
		return "ip";
	case STARPU_CALLBACK_WITH_ARG:
	case STARPU_CALLBACK_WITH_ARG_NFREE:
		return "pp";
	case STARPU_PRIORITY:
	case STARPU_EXECUTE_ON_NODE:
	case STARPU_EXECUTE_ON_WORKER:
	case STARPU_NODE_SELECTION_POLICY:
	case STARPU_HYPERVISOR_TAG:
	case STARPU_POSSIBLY_PARALLEL:
	case STARPU_SCHED_CTX:
	case STARPU_WORKER_ORDER:
	case STARPU_TASK_COLOR:
	case STARPU_TASK_SYNCHRONOUS:
	case STARPU_TASK_END_DEP:
	case STARPU_TASK_NO_SUBMITORDER:
	case STARPU_SEQUENTIAL_CONSISTENCY:
	case STARPU_TASK_LINE:
		return "i";
	case STARPU_TAG:
	case STARPU_TAG_ONLY:
	case STARPU_EXECUTE_WHERE:
		return "l";
	case STARPU_FLOPS:
		return "d";
	default:
		break;
	}
	if (key < 0 || key & ((1 << STARPU_MODE_SHIFT) - 1) ||
	    key >= STARPU_SHIFTED_MODE_MAX)
		args_die_unknown_key(rank, key);
	return "p";
}

static void take_one(int key, char operand, void *at, args_take take, void *context)
{
	if (operand == 'i')
		take(context, key, *(int *)at);
	else if (operand == 'l')
		take(context, key, *(uint64_t *)at);
	else if (operand == 'd')
		take(context, key, *(double *)at);
	else
		take(context, key, at);
}

static void take_two(int key, const char *operands, void **at, args_take take,
		     void *context)
{
	if (operands[0] == 'i')
		take(context, key, *(int *)at[0], at[1]);
	else if (operands[1] == 'i')
		take(context, key, at[0], *(int *)at[1]);
	else if (operands[1] == 'z')
		take(context, key, at[0], (size_t)(uintptr_t)at[1]);
	else
		take(context, key, at[0], at[1]);
}

void args_walk_array(int rank, void **array, args_take take, void *context)
{
	while (*array) {
		int key = (int)(intptr_t)*array++;
		const char *operands = operands_of(rank, key);

		if (operands[1])
			take_two(key, operands, array, take, context);
		else
			take_one(key, operands[0], *array, take, context);
		array += operands[1] ? 2 : 1;
	}
}
