/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/afar.h"

/* Any access; as plain_is_afar(). */
static inline int access_is_afar(struct placing *placing, unsigned mode,
				 starpu_data_handle_t handle)
{
	if (!handle || (mode & (STARPU_REDUX | STARPU_MPI_REDUX)))
		return 0;
	return !(mode & STARPU_RW) || plain_is_afar(placing, mode, handle);
}

static inline int all_are_afar(struct placing *placing,
			       const struct starpu_data_descr *data, int n)
{
	for (int i = 0; i < n; i++)
		if (!access_is_afar(placing, data[i].mode, data[i].handle))
			return 0;
	return 1;
}

static inline int node_is_afar(struct placing *placing, int node, int size)
{
	if (node == -1)
		return 1;
	placing->is_given = 1;
	return node >= 0 && node < size && (unsigned)node + 1 != placing->me;
}

static inline void skip_operands(struct arg_walk *walk, const char *operands)
{
	for (; *operands; operands++)
		ARGS_SKIP_OPERAND(*operands, walk->list);
}

/* What is no access: 0 when it may make the task concern the rank. */
static inline int key_is_afar(struct placing *placing, int key, int size,
			      struct arg_walk *walk)
{
	const struct starpu_data_descr *data;
	const char *operands;

	/* The most frequent ones first. */
	if (key == STARPU_PRIORITY) {
		(void)va_arg(walk->list, int);
		return 1;
	}
	if (key == STARPU_FLOPS) {
		(void)va_arg(walk->list, double);
		return 1;
	}
	switch (key) {
	case STARPU_EXECUTE_ON_NODE:
		return node_is_afar(placing, va_arg(walk->list, int), size);
	case STARPU_NONE:
		(void)va_arg(walk->list, starpu_data_handle_t);
		return 1;
	case STARPU_DATA_MODE_ARRAY:
		data = va_arg(walk->list, const struct starpu_data_descr *);
		return all_are_afar(placing, data, va_arg(walk->list, int));
	default:
		operands = args_operands(key);
		skip_operands(walk, operands);
		return *operands != 0;
	}
}

enum afar afar_look(const struct mpi_comm *members, const struct arg_walk *args)
{
	struct placing placing = {.me = (unsigned)members->rank + 1};
	struct arg_walk walk = *args;
	int key, goes_on;

	while ((key = va_arg(walk.list, int)) != 0) {
		/* Two comparisons less. */
		if (afar_is_plain(key))
			goes_on = plain_is_afar(&placing, (unsigned)key,
						va_arg(walk.list, starpu_data_handle_t));
		else if (args_is_access(key))
			goes_on = access_is_afar(&placing, (unsigned)key,
						 va_arg(walk.list, starpu_data_handle_t));
		else
			goes_on = key_is_afar(&placing, key, members->size, &walk);
		if (!goes_on)
			return AFAR_UNKNOWN;
	}
	return placing.is_given ? AFAR_FOREIGN : afar_judge(&placing, members->size);
}
