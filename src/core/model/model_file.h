/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_MODEL_FILE_H
#define ORR_CORE_MODEL_MODEL_FILE_H

/*
 * model_file.h - what one model file holds, in memory and on disk.
 *
 * The format is StarPU's, version 45 (44 is read as well): for each combination of
 * devices and each implementation, sums of regressions and one line per footprint.
 * Times in the file and in these structures are microseconds.
 */
#include <stdio.h>

#include <starpu.h>

#include "base/table.h"

struct model_samples;

/* Thirty years: what a clock never measured. */
#define MODEL_MAX_US 1e15

/*
 * An entry of the history.  StarPU's mean leaves out what is far from it, which
 * schedulers want; a sum of tasks takes their number times the mean of all, which "all"
 * has: but for those in which something else had the core, see model_fit.c.
 */
struct model_entry {
	struct starpu_perfmodel_history_entry known; /* first: see model_entry_of() */
	struct model_all {
		unsigned nsample;
		double sum, sum2; /* microseconds */
	} all;
	struct model_seen {
		struct model_all known, all; /* in the file, when it was last seen */
		int starts_afresh;           /* nothing of that is in known any more */
	} seen;
};

static inline struct model_entry *
model_entry_of(const struct starpu_perfmodel_history_entry *known)
{
	return (struct model_entry *)(uintptr_t)known;
}

/* A measured size, for interpolation: natural logarithms of bytes and seconds. */
struct model_point {
	double ln_bytes, ln_seconds;
};

/* What is known of one implementation on one combination of devices. */
struct model_arch {
	struct starpu_perfmodel_per_arch known; /* first: what the public API shows */
	struct starpu_perfmodel_history_entry **entries; /* in the order of the file */
	size_t nentries, capacity;
	struct table by_footprint;  /* to the same entries */
	struct model_point *points; /* by size; NULL: not computed */
	size_t npoints;
	double off_inside, off_outside; /* how far logarithms of times are off there */
	struct model_samples
		*samples; /* of a multiple regression; NULL: none in this run */
	struct model_seen_fit {
		unsigned nsample;
		double sumlnx, sumlnx2, sumlny, sumlnxlny;
	} seen; /* in the file, when it was last seen */
};

struct model_combination {
	struct starpu_perfmodel_arch arch; /* owned, its devices too */
	struct model_arch *implementations[STARPU_MAXIMPLEMENTATIONS]; /* or NULL */
};

/* A zeroed struct is a model without measurements. */
struct model_data {
	struct model_combination **combinations;
	size_t ncombinations;
};

/*
 * Replace the content of data by that of a file.  0; -ENOENT: there is no such file
 * (no message); -ENODATA: it is empty; -EINVAL: it is malformed.  The last two, and
 * any other failure of the system, leave data empty after a message for rank.
 */
int model_data_read(struct model_data *data, const char *path, int rank);
/* Replace the file as a whole.  0; -errno after a message: the old one is kept. */
int model_data_write(const struct model_data *data, const char *path, int rank);
void model_data_clear(struct model_data *data);
/* Wait for a lock of the file, F_RDLCK or F_WRLCK, also when signals come. */
void model_file_lock(FILE *file, int type);
/* As files name a type of devices: "cpu". */
const char *model_type_name(unsigned type);
/* Devices as files name them: "cpu0", "cuda1_cuda2". */
void model_print_arch(FILE *f, const struct starpu_perfmodel_arch *arch);

/* Have both the same devices, in any order? */
int model_same_arch(const struct starpu_perfmodel_arch *a,
		    const struct starpu_perfmodel_arch *b);
/* The combination of exactly these devices in any order, or NULL. */
struct model_combination *model_data_find(const struct model_data *data,
					  const struct starpu_perfmodel_arch *arch);
/* As above; what does not exist is added, empty. */
struct model_arch *model_data_add(struct model_data *data,
				  const struct starpu_perfmodel_arch *arch,
				  unsigned implementation);
/* The entry of a footprint, or NULL; with add, a new one with only its footprint. */
struct starpu_perfmodel_history_entry *model_arch_entry(struct model_arch *arch,
							uint32_t footprint, int add);
/* Does StarPU's mean leave out measurements that are in the mean of all? */
int model_entry_leaves_out(const struct model_entry *entry);
/* Sums that a mean can be made of? */
int model_all_is_sound(const struct model_all *all);
/* The type that a file's content speaks for. */
enum starpu_perfmodel_type model_data_type(const struct model_data *data);

#endif
