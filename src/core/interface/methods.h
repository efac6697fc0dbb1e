/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_INTERFACE_METHODS_H
#define ORR_CORE_INTERFACE_METHODS_H

/*
 * methods.h - which of an interface's copy methods moves a value between two memories:
 * that for their kinds, else any_to_any, without async_data.
 */
#include "core/data/data.h"

/* Move the bytes before this returns, copy->owner being the datum.  Ends the program
 * when the interface cannot, or says that it failed. */
void methods_copy(struct node *node, const struct plat_copy *copy);
/* Does the interface go from one memory to the other without a stop? */
int methods_can_copy(const struct copy_state *from, const struct copy_state *to);

#endif
