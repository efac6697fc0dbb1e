/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/stats.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

static const double BYTES_PER_MB = 1024 * 1024;

void stats_enable(struct mpi *mpi)
{
	struct stats *stats = &mpi->stats;

	if (!stats->sent_bytes) {
		stats->sent_bytes =
			orr_alloc((size_t)mpi->size * sizeof(*stats->sent_bytes));
		stats->since_s = plat_now_s(mpi->node->plat);
	}
	stats->is_on = 1;
}

void stats_count_slow(struct mpi *mpi, int peer, uint64_t bytes)
{
	struct stats *stats = &mpi->stats;

	stats->sent_bytes[peer] += bytes;
	stats->nsends++;
	if (bytes > stats->max_bytes)
		stats->max_bytes = bytes;
}

static void print_line(const char *where, const char *gap, double bytes, double seconds)
{
	double rate = seconds > 0 ? bytes / seconds : 0;

	fprintf(stderr, "[starpu_comm_stats][%s]%s\t%f B\t%f MB\t %f B/s\t %f MB/s\n",
		where, gap, bytes, bytes / BYTES_PER_MB, rate, rate / BYTES_PER_MB);
}

void stats_print(struct mpi *mpi)
{
	struct stats *stats = &mpi->stats;
	double seconds, total = 0;
	char where[40];

	if (!stats->sent_bytes)
		return;
	seconds = plat_now_s(mpi->node->plat) - stats->since_s;
	for (int i = 0; i < mpi->size; i++)
		total += (double)stats->sent_bytes[i];
	snprintf(where, sizeof(where), "%d", mpi->rank);
	print_line(where, " TOTAL:", total, seconds);
	fprintf(stderr,
		"[starpu_comm_stats][%d] NB_SENDS: %lu MAX_SENT_SIZE: %llu AVERAGE: %f\n",
		mpi->rank, stats->nsends, (unsigned long long)stats->max_bytes,
		stats->nsends ? total / (double)stats->nsends : 0);
	for (int i = 0; i < mpi->size; i++) {
		if (!stats->sent_bytes[i])
			continue;
		snprintf(where, sizeof(where), "%d:%d", mpi->rank, i);
		print_line(where, "", (double)stats->sent_bytes[i], seconds);
	}
}

void stats_free(struct mpi *mpi)
{
	free(mpi->stats.sent_bytes);
	mpi->stats.sent_bytes = NULL;
	mpi->stats.is_on = 0;
}
