/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_OVERLAP_H
#define ORR_CORE_DATA_OVERLAP_H

/*
 * overlap.h - do the parts that a filter made share bytes, leave their parent's, or miss?
 *
 * Parts that share bytes can be read, as those of the predefined filters with shadows.
 * Who writes one writes bytes that another one keeps copies of.
 */
#include "base/layout.h"
#include "core/data/partition.h"

/*
 * Look at the memory of the parts of a new partition.  What leaves the parent is told,
 * and so is a part whose struct the filter left empty; parts that share bytes are noted
 * in the partition, whose parts then have DATUM_VIEWS: overlap_tell() is called when one
 * is written.  Nothing is found of parts whose layout is not known, or of very many that
 * lie between each other.
 */
void overlap_look(struct partition *partition, const char *func);
/* Do two boxes of a grid share bytes?  0 also when they are of different grids. */
int overlap_shares(const struct layout *first, const struct layout *second);
/* The job writes a part of such a partition: once for each. */
void overlap_tell(struct partition *partition, const struct access *access);

#endif
