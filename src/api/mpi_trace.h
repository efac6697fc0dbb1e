/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_MPI_TRACE_H
#define ORR_API_MPI_TRACE_H

#include "api/mpi_api.h"

/* mpi_trace.h - the table of ORRERY_TRACE where ranks are processes: all send their rows
 * to the first, which writes the file.  Collective, when everything else has ended. */
void mpi_trace_gather(struct node *node, MPI_Comm comm);

#endif
