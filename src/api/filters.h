/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_FILTERS_H
#define ORR_API_FILTERS_H

/*
 * filters.h - what the predefined filters share.
 *
 * A filter takes a range of one dimension, or one position: the part has the strides of
 * its father and begins some bytes later.
 */
#include "core/interface/interface.h"

#define FILTER_PARAMS                                                                    \
	void *father_interface, void *child_interface, struct starpu_data_filter *f,     \
		unsigned id, unsigned nparts

/* A dimension of n elements, which are stride_bytes apart, in a call of a filter. */
struct filter_range {
	const char *func;
	unsigned n, id, nparts;
	size_t stride_bytes;
	size_t offset_bytes; /* out: where the part begins */
};

/* How many elements the part has; shadow: of them, at each end, shared with others. */
unsigned filter_split(struct filter_range *range, unsigned shadow);
unsigned filter_shadow(const struct starpu_data_filter *f);
/* One position, which must be less than n. */
void filter_pick(struct filter_range *range, size_t position);
/* The child's memory is the father's from offset_bytes on. */
void filter_place(const void *father, void *child, size_t offset_bytes);
/* The child is one element. */
void filter_element(const void *father, void *child, size_t elemsize,
		    size_t offset_bytes);

#endif
