/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_FUZZ_KIN_H
#define ORR_TESTS_FUZZ_KIN_H

/*
 * kin.h - a datum and the parts of its partitions, with what each of them holds: vectors
 * to tensors, arrays of n dimensions, sparse matrices, of which the values are looked at.
 *
 * The model has the values that tasks submitted from now on must find, and the view of
 * each partition: the rules are those of core/data/views.h, written a second time.
 * Public headers only.
 */
#include <stdint.h>

#include <starpu.h>

enum {
	KIN_ELEMENTS = 48,
	KIN_PLANS = 16,
	KIN_PARTS = 4,
	KIN_DIMS = 4,
	KIN_ROWS = 6,
	KIN_MEMBERS = 1 + KIN_PLANS * KIN_PARTS
};

/* Elements in memory; the first dimension is the fastest. */
struct kin_array {
	unsigned *x, ndims, n[KIN_DIMS], ld[KIN_DIMS];
};

unsigned kin_count(const struct kin_array *array);
unsigned *kin_at(const struct kin_array *array, unsigned i);
uint64_t kin_hash(const struct kin_array *array);
/* What a kernel is given, or an acquisition finds. */
struct kin_array kin_of_buffer(void *buffer);

/* Of the whole, read in main memory. */
uint64_t kin_hash_acquired(starpu_data_handle_t handle);

/* What is done with a datum. */
enum kin_deed { KIN_SEE, KIN_SET, KIN_CHANGE, KIN_ADD, KIN_SCRIBBLE, KIN_NDEEDS };

void kin_do(const struct kin_array *array, enum kin_deed deed, unsigned salt);

/* For all kinds: what is added to, and what to. */
void kin_neutral_kernel(void *buffers[], void *arg);
/* Adds the second buffer to the first; the third is scratch. */
void kin_combine_kernel(void *buffers[], void *arg);

/* Grids are vectors, matrices, blocks, tensors by their dimensions, or variables. */
enum kin_kind { KIN_GRID, KIN_NDIM, KIN_CSR, KIN_BCSR };

/* The datum, or a part at any depth. */
struct kin_member {
	starpu_data_handle_t handle;
	struct kin_array model;
	int plan; /* that it is of, or -1 */
	enum kin_kind kind;
	unsigned first_row, nrows; /* of a sparse matrix */
	int has_gaps;              /* between elements of the first dimension */
};

enum kin_view { KIN_CLOSED, KIN_READ, KIN_WRITE };

struct kin_plan {
	int parent, first; /* members */
	unsigned n;
	enum kin_view view;
	int is_synchronous;
	starpu_data_handle_t parts[KIN_PARTS];
};

struct kin {
	uint64_t state;
	unsigned *memory; /* the application's, or NULL */
	unsigned ndims, n[KIN_DIMS], count;
	enum kin_kind kind; /* of the whole */
	/* Of a sparse matrix; in CSR, blocks are elements. */
	uint32_t columns[KIN_ELEMENTS], rows[KIN_ROWS + 1], r, c;
	int nmembers, nplans, is_by_hand; /* without order: wait for all */
	unsigned model[KIN_ELEMENTS];
	struct kin_member members[KIN_MEMBERS];
	struct kin_plan plans[KIN_PLANS];
};

unsigned kin_below(struct kin *kin, unsigned n);

/* Register the datum, with memory of the application or none. */
void kin_begin(struct kin *kin, int with_memory);
/* The same with memory, a sparse matrix.  All of it must have a value, and its structure
 * is a part of that: who sets the values reads it, and it is neither reduced nor copied
 * to. */
void kin_begin_sparse(struct kin *kin);
int kin_is_sparse(const struct kin *kin, int member);
/* With what its memory holds in the end. */
uint64_t kin_hash_memory(const struct kin *kin);
/* Cut it at random, to a depth; the new plan or -1 when there is no room for more. */
int kin_plan(struct kin *kin, int parent, int depth);
/* The same with starpu_data_partition(). */
int kin_partition(struct kin *kin, int parent);
/* All planned ones, or those from the number on. */
void kin_clean(struct kin *kin, int from);
/* Has it been cut with starpu_data_partition()? */
int kin_is_partitioned(const struct kin *kin, int member);

/* The views change as by a use. */
void kin_reach(struct kin *kin, int member, int to_write);
/* Could it be used as the views are? */
int kin_allows(const struct kin *kin, int member, int to_write);
/* What the functions of plans do. */
void kin_open(struct kin *kin, int plan, int to_write);
void kin_close(struct kin *kin, int plan);
void kin_downgrade(struct kin *kin, int plan);
void kin_share(struct kin *kin, int parent);
/* Could its view be changed in any way without a change of others? */
int kin_is_alone(const struct kin *kin, int plan);

#endif
