/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_OVERLAP_H
#define ORR_CORE_DATA_OVERLAP_H

/*
 * overlap.h - do the parts that a filter made share bytes, or leave their parent's?
 *
 * Parts that share bytes can be read, as those of the predefined filters with shadows.
 * Who writes one writes bytes that another one keeps copies of.
 */
#include "core/data/partition.h"

/*
 * Look at the memory of the parts of a new partition.  What leaves the parent is told;
 * parts that share bytes are noted in the partition, whose parts then have DATUM_VIEWS:
 * overlap_tell() is called when one is written.  Of parts whose layout is not known, or
 * has more than two dimensions, nothing is found.
 */
void overlap_look(struct partition *partition, const char *func);
/* The job writes a part of such a partition: once for each. */
void overlap_tell(struct partition *partition, const struct access *access);

#endif
