/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_BUS_H
#define ORR_CORE_MODEL_BUS_H

/*
 * bus.h - the links between the memories of a node, as StarPU's bus files tell them.
 *
 * Programs and tools of StarPU's look for these files after the first initialisation on
 * a machine.  The library does not need them: it knows its links.  So files that exist,
 * perhaps StarPU's, stay, unless STARPU_BUS_CALIBRATE asks for new ones.
 */
#include "core/node.h"

/* Write those of a real machine that does not have them yet. */
void bus_files_make(struct node *node);
/* Their names, one a line. */
void bus_files_list(struct node *node, FILE *out);
/* The tables, for people. */
void bus_print_links(struct node *node, FILE *out);
void bus_print_affinity(struct node *node, FILE *out);

/* From one memory to another: bytes per microsecond, and microseconds before the first.
 */
double bus_bandwidth(struct node *node, unsigned from, unsigned to);
double bus_latency_us(struct node *node, unsigned from, unsigned to);

#endif
