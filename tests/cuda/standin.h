/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_H
#define STANDIN_H

/*
 * standin.h - what the files of the stand-in for CUDA know of each other: standin.c has
 * devices, contexts and memory, standin_streams.c what runs, standin_hold.c what runs
 * beside what, the others libraries above these.
 */
#include <pthread.h>
#include <stddef.h>

#include <cuda_runtime.h>

#include "real/cuda.h"

enum { DEVICES_MAX = 8, GRAIN = 256 };
enum { INVALID_VALUE = 1, ENDED = 4, INVALID_CONTEXT = 201, NOT_PINNED = 713 };

struct block {
	struct block *next;
	size_t at, bytes;
};

struct context {
	int ordinal, nholders, nallocations;
	char *seen, *bytes; /* addresses that programs have, and that streams use */
	size_t size, used, others; /* the last: of other programs */
	struct block *blocks;      /* by address */
	int error;                 /* sticky */
};

struct op;

struct CUstream_st {
	struct context *context;
	pthread_t thread;
	pthread_cond_t changed;
	struct op *first, *last;
	int nqueued;
	unsigned random;
};

struct event {
	int npending; /* records that the streams have not come to */
	double date_s;
};

struct pinned {
	struct pinned *next;
	char *at;
	size_t bytes;
};

/* Under the lock, but for what never changes after cuInit(). */
struct standin {
	pthread_mutex_t lock;
	int is_known, is_over, ndevices, most_queued, nruns, fail_run, fail_run_error;
	long delay_us;
	char fail_name[64];
	int fail_call, fail_error, fail_once, ncalls;
	int nshapes[4]; /* copies of so many dimensions */
	long counts[STANDIN_COUNTS];
	int others_after;
	size_t pitch, others_kib;
	struct context contexts[DEVICES_MAX];
	struct pinned *pinned;
};
extern struct standin standin __attribute__((visibility("hidden")));

/* standin.c */
void standin_lock(void);
/* Returns rc. */
int standin_unlock(int rc);
/* What this call of a function of ours is to return at once; 0: nothing.  With the lock.
 */
int standin_injection(const char *function);
/* The same for others, without the lock. */
int standin_injected(const char *function);
/* Of an environment variable. */
long standin_number(const char *name, long preset);
/* The caller's, or NULL. */
struct context *standin_context(void);
/* Whose context the caller has; -1: none's. */
int standin_device(void);
/* The context in whose memory an address is, or NULL: main memory. */
struct context *standin_owner(const void *at);
int standin_is_pinned(const void *at);

#define BEGIN()                                                                          \
	do {                                                                             \
		int rc_;                                                                 \
		standin_lock();                                                          \
		rc_ = standin_injection(__func__);                                       \
		if (rc_)                                                                 \
			return standin_unlock(rc_);                                      \
	} while (0)

/* standin_hold.c; with the lock. */
/* An operation begins; it may be held, without the lock. */
void standin_begin(enum standin_kind kind);
/* It has ended. */
void standin_note(enum standin_kind kind);

#endif
