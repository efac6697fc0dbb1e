/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TRACE_CONVERT_H
#define ORR_TRACE_CONVERT_H

/*
 * convert.h - STARPU_GENERATE_TRACE: starpu_fxt_tool reads the file of a node that has
 * closed.
 */

/* Run it on a file, in the directory where the process is, and wait for it.  options:
 * more words for it.  What goes wrong is said, and so is that the file of one of several
 * ranks is not enough. */
void convert_trace(const char *path, const char *options, int rank, int nranks);

#endif
