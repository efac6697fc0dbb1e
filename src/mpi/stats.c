/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/stats.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

static const double BYTES_PER_MB = 1024 * 1024;

void stats_open(struct mpi *mpi, int how, int traces)
{
	mpi->stats.traces = traces;
	orr_store(&mpi->stats.is_on, traces);
	mpi->stats.is_longer = how > 1;
	if (how > 0)
		stats_enable(mpi);
}

void stats_enable(struct mpi *mpi)
{
	struct stats *stats = &mpi->stats;

	if (!stats->sent_bytes) {
		stats->sent_bytes =
			orr_alloc((size_t)mpi->size * sizeof(*stats->sent_bytes));
		stats->nsent = orr_alloc((size_t)mpi->size * sizeof(*stats->nsent));
		stats->since_s = plat_now_s(mpi->node->plat);
	}
	orr_store(&stats->counts, 1);
	orr_store(&stats->is_on, 1);
}

void stats_disable(struct mpi *mpi)
{
	orr_store(&mpi->stats.counts, 0);
	orr_store(&mpi->stats.is_on, mpi->stats.traces);
}

static void trace(const struct request *request, uint64_t bytes)
{
	struct mpi *mpi = request->mpi;

	fprintf(stderr,
		"[starpu_mpi_comm][%d] %.9f s: %s rank %d, tag %lld, %llu bytes, "
		"priority %d%s%s\n",
		mpi->rank, plat_now_s(mpi->node->plat),
		request->kind == REQUEST_SEND ? "send to" : "receive from",
		request->match.source, (long long)request->match.tag,
		(unsigned long long)bytes, request->priority, request->what ? ", " : "",
		request->what ? request->what : "");
}

void stats_moves_slow(const struct request *request, uint64_t bytes)
{
	struct stats *stats = &request->mpi->stats;
	int peer = request->match.source;

	if (stats->traces)
		trace(request, bytes);
	if (!orr_load(&stats->counts) || request->kind != REQUEST_SEND)
		return;
	stats->sent_bytes[peer] += bytes;
	stats->nsent[peer]++;
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
		if (stats->is_longer)
			fprintf(stderr, "[starpu_comm_stats][%s] %llu messages\n", where,
				(unsigned long long)stats->nsent[i]);
	}
}

void stats_free(struct mpi *mpi)
{
	free(mpi->stats.sent_bytes);
	free(mpi->stats.nsent);
	mpi->stats = (struct stats){0};
}
