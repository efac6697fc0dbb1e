/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_RANKFILE_H
#define ORR_MAP_RANKFILE_H

/*
 * rankfile.h - reads a rankfile of Open MPI as a map.
 *
 * Its lines are "rank N=HOST slot=LIST": cores by logical number ("0-2,5"), or sockets
 * with cores in them ("1:0-2", "0:*").  HOST may be "+nK", node K of the machine.  With
 * by_thread, numbers without a socket are those of hardware threads.
 */
#include "map/lama.h"

/* Into a job that map_open() has made.  0, or -EINVAL with file, line and remedy. */
int rankfile_read(struct map_job *job, const char *path, int by_thread,
		  struct map_says *says);

#endif
