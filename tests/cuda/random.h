/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_CUDA_RANDOM_H
#define ORR_TESTS_CUDA_RANDOM_H

/*
 * random.h - random programs for GPUs, whose values are known.
 *
 * random.c runs one after the other in processes of its own, random_program.c makes a
 * program from a seed and checks its values against a sequential run, random_data.c has
 * data of all kinds, random_kernels.c the codelets, random_pair.c an interface of the
 * application's.  random_device.cu launches kernels of CUDA, random_standin.c what takes
 * their place on the stand-in.  All arithmetic is of integers.
 */
#include <stdint.h>
#include <stdlib.h>

#include <starpu.h>

#include "random_cook.h"

enum { MAX_DATA = 24, MAX_PARTS = 4 };

/* ---- random numbers, complaints ---------------------------------------- */

struct rng {
	uint64_t state;
};

unsigned below(struct rng *rng, unsigned n);

/* What is going on, for who has to say where a program hangs; in shared memory. */
struct place {
	unsigned long long seed;
	int op, nbad;
	double begun_s;
	long ntasks, ngpu; /* tasks that were inserted, and calls of kernels of GPUs */
	double bytes;      /* of all data at first */
	char what[64], knobs[400];
};

extern struct place *place; /* this process's */
void bad(const char *what, long a, long b);

/* ---- data ---------------------------------------------------------------- */

enum kind { VARIABLE, VECTOR, MATRIX, BLOCK, CSR, BCSR, PAIR, KINDS };
enum memory { TEMPORARY, PLAIN, PINNED, LATER_PINNED };
enum plan { WHOLE, CUT, PLANNED };

struct datum {
	starpu_data_handle_t handle;
	enum kind kind;
	enum memory memory;
	enum plan plan;
	int has_value, is_reduced, variant;
	struct view home;  /* the application's memory; values is NULL: it has none */
	struct view model; /* what the values are to be, in rows without gaps */
	size_t home_bytes;
	unsigned r, c; /* of blocks of a sparse matrix */
	unsigned nparts;
	starpu_data_handle_t parts[MAX_PARTS];
	struct view part_models[MAX_PARTS];
};

/* Elements that data have at most, and how many of a hundred data have that many. */
struct sizes {
	unsigned most, full_percent;
};

/* A datum with its value. */
void datum_begin(struct datum *datum, struct rng *rng, const struct sizes *sizes);
/* Check its values, and end it; no part is left. */
void datum_end(struct datum *datum);
void datum_cut(struct datum *datum, struct rng *rng, int planned);
void datum_mend(struct datum *datum, struct rng *rng);
/* Acquired by the main program, all of it or one of its parts: what is there? */
struct view view_of_handle(starpu_data_handle_t handle);
/* The first element that differs, or -1. */
long view_differs(const struct view *seen, const struct view *model);

/* random_pair.c: two vectors, whose copies the application makes itself. */
struct pair_interface {
	enum starpu_data_interface_id id;
	unsigned n;
	uint64_t *first, *second;
};

enum { PAIR_VARIANTS = 3 };

void pair_register(starpu_data_handle_t *handle, struct pair_interface *pair, int home,
		   int variant);
int is_pair(const void *interface);

/* ---- kernels ------------------------------------------------------------- */

enum {
	COOK_ANYWHERE,
	COOK_ANYWHERE_WAITS,
	COOK_ON_GPU,
	COOK_ON_GPU_WAITS,
	COOK_ON_GPU_FORGETS, /* no STARPU_CUDA_ASYNC, and it does not wait */
	COOK_ON_DEFAULT,     /* the default stream's kernels */
	COOK_ON_CPU,
	COOKS
};

struct starpu_codelet *cook_codelet(int which, int with_model);
struct view view_of(void *buffer);
void reduce_with(starpu_data_handle_t handle);

/* What kernels do for one use of a task: all elements, or the scratch's of the first
 * phase.  On the stream, or the default one (random_launches_by_default()). */
void random_launch(const struct cook *cook, cudaStream_t stream);
int random_launches_by_default(void);
/* Which library is CUDA's: before all else. */
void random_choose_library(void);
/* Have a context for as long as the process lives. */
void random_hold_context(void);

/* ---- programs ------------------------------------------------------------ */

void program_run(struct rng *rng, const struct sizes *sizes, unsigned nsteps);

#endif
