/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACES_H
#define ORR_CORE_INTERFACES_H

/*
 * interfaces.h - the predefined data interfaces: variable, vector, matrix, void.
 *
 * Their operations are constant and know nothing of nodes but through
 * starpu_malloc_on_node().  User-defined interfaces use the same table.
 */
#include "core/data.h"

/* 1 when the operations are one of ours, whose structs we may copy blindly. */
int interface_is_ours(const struct starpu_data_interface_ops *ops);
/* Make to describe the same shape as from, without memory; both of ours. */
void interface_clone(const struct starpu_data_interface_ops *ops, void *to,
		     const void *from);
/* How the payload lies in memory; 1 when known, 0: it must be packed. */
int interface_layout(starpu_data_handle_t handle, unsigned memory, char **base,
		     size_t *block_bytes, size_t *nblocks, size_t *stride_bytes);

#endif
