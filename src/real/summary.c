/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <string.h>

#include "base/newfile.h"
#include "base/process.h"
#include "core/node.h"
#include "real.h"

/*
 * summary.c - the figures of rank 0, or of the one that pretends to be a rank, for who
 * asked by ORRERY_SUMMARY.  Of several lives of the library the last one writes.
 */
static int write_file(const struct node *node, const char *path)
{
	struct newfile newfile;
	int ret = newfile_open(&newfile, path);

	if (ret)
		return ret;
	fprintf(newfile.file,
		"ranks=%d\ntasks=%lu\nmessages=%lu\nbytes=%llu\ninserted=%lu\n"
		"insertion_s=%.9g\nwall_s=%.3f\npeak_bytes=%llu\n",
		node->size, workers_executed(node), orr_count(&node->messages_sent),
		(unsigned long long)orr_count(&node->bytes_sent),
		orr_count(&node->tasks_inserted), node->inserting_s, process_wall_s(),
		process_peak_bytes());
	return newfile_close(&newfile);
}

void real_summary_write(const struct node *node)
{
	const struct knobs *knobs = node_knobs(node);
	int ret;

	if (!*knobs->summary || (node->rank != 0 && knobs->mpi_fake_size <= 0))
		return;
	ret = write_file(node, knobs->summary);
	if (ret)
		orr_complain(node->rank, "ORRERY_SUMMARY=%s: cannot write it: %s",
			     knobs->summary, strerror(-ret));
}
