/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE /* process_vm_readv() */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/check.h"
#include "real/onehost.h"

/*
 * spread.c - values that lie with gaps at a sender of this host, read by their receiver.
 *
 * The system takes about a microsecond for each run of bytes of another process, as long
 * as for some KiB of them.  So long rows are read to their places by lists of runs, and
 * short ones as one run with the gaps between them, into a place in the cache of the
 * core, from where they go to theirs.  Where there is more of gaps than of value, MPI
 * moves it: it packs at the sender.
 */
enum {
	LONG_ROW = 16 << 10, /* by lists in any case */
	ROW = 4 << 10,       /* as well, when gaps are many */
	MANY_GAPS = 4        /* a part of the value that gaps are more than */
};

static size_t gap_bytes(const struct layout *layout)
{
	return layout_extent_bytes(layout) - layout_bytes(layout);
}

static int goes_by_lists(const struct layout *layout)
{
	return layout->block_bytes >= LONG_ROW ||
	       (layout->block_bytes >= ROW &&
		gap_bytes(layout) > layout_bytes(layout) / MANY_GAPS);
}

int spread_takes(const struct layout *layout)
{
	return layout_ascends(layout) &&
	       (goes_by_lists(layout) || gap_bytes(layout) <= layout_bytes(layout));
}

struct layout *spread_layout(int pid, uint64_t at, size_t bytes)
{
	struct layout *layout = orr_alloc(sizeof(*layout));
	struct iovec here = {layout, sizeof(*layout)};
	struct iovec there = {(void *)(uintptr_t)at, sizeof(*layout)};

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(*layout)) {
		free(layout);
		return NULL;
	}
	ORR_ASSERT(layout_bytes(layout) == bytes);
	return layout;
}

/* ---- by lists -------------------------------------------------------- */

struct lists {
	int pid, n, status;
	size_t bytes;
	struct iovec to[NROWS], from[NROWS];
};

static void read_lists(struct lists *lists)
{
	unsigned long n = (unsigned long)lists->n;

	if (n > 0 && lists->status == 0)
		lists->status = onehost_status(
			process_vm_readv(lists->pid, lists->to, n, lists->from, n, 0),
			lists->bytes);
	lists->bytes = 0;
	lists->n = 0;
}

static void add_run(void *arg, char *to, const char *from, size_t bytes)
{
	struct lists *lists = arg;

	lists->to[lists->n] = (struct iovec){to, bytes};
	lists->from[lists->n++] = (struct iovec){(char *)from, bytes};
	lists->bytes += bytes;
	if (lists->n == NROWS)
		read_lists(lists);
}

static int read_by_lists(int pid, const struct layout *to, const struct layout *from,
			 size_t at, size_t bytes)
{
	struct lists lists = {.pid = pid};

	layout_each_row_of(to, from, at, bytes, add_run, &lists);
	read_lists(&lists);
	return lists.status;
}

/* ---- with gaps ------------------------------------------------------- */

struct gathered {
	const char *at, *first; /* here, and where it lies there */
};

static void place_run(void *arg, char *to, const char *from, size_t bytes)
{
	const struct gathered *gathered = arg;

	memcpy(to, gathered->at + (from - gathered->first), bytes);
}

/* From the first byte to the last. */
static size_t span_bytes(const struct layout *layout, size_t at, size_t bytes)
{
	return (size_t)(layout_address(layout, at + bytes - 1) -
			layout_address(layout, at)) +
	       1;
}

/* Bytes of the value, gaps and all at most SPREAD_BYTES: of one row any number is. */
static size_t fitting(const struct layout *layout, size_t at, size_t bytes)
{
	if (bytes > SPREAD_BYTES)
		bytes = SPREAD_BYTES;
	while (span_bytes(layout, at, bytes) > SPREAD_BYTES)
		bytes -= (bytes + 3) / 4;
	return bytes;
}

static int read_gathered(char *here, int pid, const struct layout *to,
			 const struct layout *from, size_t at, size_t bytes)
{
	struct gathered gathered = {here, layout_address(from, at)};
	struct iovec all = {here, span_bytes(from, at, bytes)};
	struct iovec there = {(char *)gathered.first, all.iov_len};
	int status =
		onehost_status(process_vm_readv(pid, &all, 1, &there, 1, 0), all.iov_len);

	if (status == 0)
		layout_each_row_of(to, from, at, bytes, place_run, &gathered);
	return status;
}

/* ---------------------------------------------------------------------- */

int spread_read(struct onehost *onehost, int pid, const struct layout *to,
		const struct layout *from, size_t at, size_t bytes)
{
	int status = 0;
	size_t n;

	if (goes_by_lists(from))
		return read_by_lists(pid, to, from, at, bytes);
	if (!onehost->gathered)
		onehost->gathered = orr_alloc(SPREAD_BYTES);
	for (; bytes > 0 && status == 0; at += n, bytes -= n) {
		n = fitting(from, at, bytes);
		status = read_gathered(onehost->gathered, pid, to, from, at, n);
	}
	return status;
}
