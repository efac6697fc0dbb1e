/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_BINDINGS_H
#define ORR_API_BINDINGS_H

/* bindings.h - which core each worker is bound to, when STARPU_DISPLAY_BINDINGS asks. */
struct mpi;
struct node;

/* 1: workers of cores are bound to them. */
int bindings_are_made(const struct node *node);
void bindings_display(const struct node *node);
/* The same, one rank after the other; collective. */
void bindings_display_by_rank(struct mpi *mpi);

#endif
