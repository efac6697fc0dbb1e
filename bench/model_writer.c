/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "model_writer.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, n, sizeof *values, compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The deviation is 1.4826 times the median distance from the median, which is the
 * standard deviation of normal noise and forgets interruptions. */
void writer_summarise(struct writer_size *size, double *seconds, int n)
{
	double middle = median(seconds, n);

	for (int i = 0; i < n; i++)
		seconds[i] = fabs(seconds[i] - middle);
	size->median_us = 1e6 * middle;
	size->deviation_us = 1.4826e6 * median(seconds, n);
	size->nsample = n;
}

/* CRC-32C, most significant bit first: how StarPU names the sizes of a task's data. */
static uint32_t crc(uint32_t v, uint32_t sum)
{
	for (int i = 0; i < 4; i++) {
		sum ^= (v >> 8 * i & 0xff) << 24;
		for (int bit = 0; bit < 8; bit++)
			sum = sum << 1 ^ (sum >> 31 ? 0x1EDC6F41 : 0);
	}
	return sum;
}

static uint32_t footprint(const struct writer_size *size)
{
	/* A matrix handle: rows after columns, then the matrix interface's number, 0. */
	uint32_t handle = crc(crc(size->tile, size->tile), 0), sum = 0;

	for (int i = 0; i < size->ntiles; i++)
		sum = crc(handle, sum);
	return sum;
}

static unsigned long bytes(const struct writer_size *size)
{
	return (unsigned long)size->ntiles * size->tile * size->tile * size->elem_bytes;
}

/* The sums of a regression of ln duration by ln bytes, and its line. */
static void write_regression(FILE *f, const struct writer *writer)
{
	double n = 0, x = 0, xx = 0, y = 0, xy = 0, beta, alpha;
	unsigned long min = bytes(&writer->sizes[0]), max = min;

	for (int i = 0; i < writer->nsizes; i++) {
		const struct writer_size *s = &writer->sizes[i];
		double lnx = log(bytes(s)), lny = log(s->median_us);

		n += s->nsample;
		x += s->nsample * lnx;
		xx += s->nsample * lnx * lnx;
		y += s->nsample * lny;
		xy += s->nsample * lnx * lny;
		min = bytes(s) < min ? bytes(s) : min;
		max = bytes(s) > max ? bytes(s) : max;
	}
	beta = (n * xy - x * y) / (n * xx - x * x);
	alpha = exp((y - beta * x) / n);
	fprintf(f,
		"# sumlnx\tsumlnx2\t\tsumlny\t\tsumlnxlny\talpha\t\tbeta\t\tn\tminx\t\t"
		"maxx\n");
	fprintf(f, "%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%.0f\t%-15lu\t%-15lu\n", x,
		xx, y, xy, alpha, beta, n, min, max);
}

static void write_sizes(FILE *f, const struct writer *writer)
{
	fprintf(f,
		"# a\t\tb\t\tc\nnan\t\tnan\t\tnan\n# not multiple-regression-base\n0\n");
	fprintf(f, "# hash\t\tsize\t\tflops\t\tmean (us)\tdev (us)\tsum\t\tsum2\t\tn\n");
	for (int i = 0; i < writer->nsizes; i++) {
		const struct writer_size *s = &writer->sizes[i];
		double m = s->median_us, d = s->deviation_us, n = s->nsample;

		fprintf(f, "%08x\t%-15lu\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%d\n",
			footprint(s), bytes(s), s->flops, m, d, n * m,
			n * (m * m + d * d), s->nsample);
	}
}

static void write_comment(FILE *f, const char *text)
{
	size_t length;

	for (; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		fprintf(f, "# %.*s\n", (int)length, text);
	}
}

int writer_write(const struct writer *writer)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.%s", writer->dir, writer->symbol,
		 writer->host);
	f = fopen(path, "w");
	if (!f || !writer->nsizes) {
		fprintf(stderr, "%s: %s\n", path, f ? "no sizes" : strerror(errno));
		if (f)
			fclose(f);
		return -1;
	}
	write_comment(f, writer->comment);
	fprintf(f, "##################\n# Performance Model Version\n45\n\n");
	fprintf(f, "# COMBs\n# number of combinations\n1\n# COMB_0\n");
	fprintf(f, "# number of types devices\n1\n# DEV_0\n");
	fprintf(f, "# device type (CPU - 0, CUDA - 1, OPENCL - 2)\n%d\n",
		writer->arch_type);
	fprintf(f, "# device id \n0\n# number of cores \n1\n");
	fprintf(f, "# number of implementations\n1\n# Model for %s0_impl0 (Comb0)\n",
		writer->arch_type ? "cuda" : "cpu");
	fprintf(f, "# number of entries\n%d\n", writer->nsizes);
	write_regression(f, writer);
	write_sizes(f, writer);
	if (fclose(f)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}
