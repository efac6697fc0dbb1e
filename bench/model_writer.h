/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef BENCH_MODEL_WRITER_H
#define BENCH_MODEL_WRITER_H

/*
 * model_writer.h - calibration programs: from timings to a model file, version 45.
 *
 * Each kernel works on one, two or three square tiles.  One architecture a file.
 */
#include <stddef.h>
#include <stdio.h>

enum { WRITER_MAX_SIZES = 64 };

struct writer_size {
	int tile;   /* rows */
	int ntiles; /* operands of the kernel */
	size_t elem_bytes;
	double flops;
	double median_us, deviation_us; /* of nsample runs */
	int nsample;
};

struct writer {
	const char *dir, *symbol, *host;
	const char *comment; /* lines without '#': device, date, program */
	int arch_type;       /* 0: a CPU core, 1: a CUDA device */
	int nsizes;
	struct writer_size sizes[WRITER_MAX_SIZES];
};

/* Sort n durations in seconds and set median, deviation and number of the size. */
void writer_summarise(struct writer_size *size, double *seconds, int n);
/* Write DIR/SYMBOL.HOST.  0, or -1 after a message. */
int writer_write(const struct writer *writer);

#endif
