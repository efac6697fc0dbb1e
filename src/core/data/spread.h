/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_SPREAD_H
#define ORR_CORE_DATA_SPREAD_H

/*
 * spread.h - values that go where nobody waits for them: write-through.
 */
#include "core/data/data.h"

/*
 * Each new value of the datum goes to the memories of mask, too, when it is written
 * elsewhere: as soon as its writer is over, where there is room.  0: no more.
 */
void spread_set_mask(starpu_data_handle_t handle, unsigned mask);
/* The value of a datum with DATUM_WRITES_THROUGH, which nobody is writing, is new, or in
 * one more memory.  The datum is locked. */
void spread_value(starpu_data_handle_t handle);

#endif
