/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_DIRECT_H
#define ORR_MPI_DIRECT_H

/*
 * direct.h - large values that leave from memories of devices, and arrive there.
 *
 * Where the transport can do that: see memories of struct net.
 */
struct acquire;

/* A request's turn has come: choose such a memory for it, if that spares a copy.  Its
 * acquire's granted(). */
void direct_choose(struct acquire *acquire);

#endif
