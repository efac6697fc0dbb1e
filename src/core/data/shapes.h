/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_SHAPES_H
#define ORR_CORE_DATA_SHAPES_H

/*
 * shapes.h - structs of data that a node has registered and does not use.
 *
 * Each node of a simulation registers all data.  Most of them are elsewhere, and their
 * structs, which say sizes and no addresses, are alike.  A handle without memory points
 * to one that all nodes share, until it is used: data_make_body() gives it its own.  Only
 * a few are kept; data of further shapes have their own struct from the start.
 *
 * Not locked: the nodes of a process take turns in one thread.  A process with one node
 * shares none, so that threads never see a handle change its struct.
 */
#include <stddef.h>

struct world;

/* One that is the same as a plain struct but for addresses, or NULL. */
void *shapes_get(struct world *world, const void *interface, size_t bytes);
/* Is it one of them? */
int shapes_have(const struct world *world, const void *interface);
/* No node is left. */
void shapes_free(struct world *world);

#endif
