/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_REPORT_H
#define ORR_MAP_REPORT_H

/*
 * report.h - a map in words, and as other programs read it.
 */
#include <stdio.h>

#include "map/lama.h"

/* A line per node: its ranks, in one bracket per socket, core by core. */
void report_ranks(const struct map_job *job, FILE *out);
/* A line per rank: "[BB/../../..][../../../..]", a character per hardware thread. */
void report_bindings(const struct map_job *job, FILE *out);
void report_binding(const struct map_job *job, const struct map_place *place, char *text);
/* CSV: rank,node,socket,core,thread,cpus (numbers of the operating system). */
void report_table(const struct map_job *job, FILE *out);
/* The node of each rank, a line each: a host file of SMPI. */
void report_hosts(const struct map_job *job, FILE *out);
/* What draws: the kinds of nodes by core, the nodes, the ranks. */
void report_picture(const struct map_job *job, FILE *out);

/*
 * Open MPI's rankfile.  Its slots are cores by their logical number among those that the
 * system shows, or hardware threads, when a binding splits a core; then mpirun needs
 * --use-hwthread-cpus.
 */
void report_rankfile(const struct map_job *job, FILE *out);
int report_splits_cores(const struct map_job *job);

#endif
