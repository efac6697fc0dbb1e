/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_BIRTHS_H
#define ORR_CORE_BIRTHS_H

/*
 * births.h - how the communicators of a rank were made, so that its members know one by
 * the same number without a message.
 *
 * MPI has all members of a communicator make others of it in one order.  So whose child
 * one is, and how many that one had before it, is the same wherever it is known; that of
 * all ranks is the first.  Ranks that get none of a split count it as well.
 */
#include <stdint.h>

#include "base/table.h"
#include "plat/plat.h"

/* Zeroed, it knows none. */
struct births {
	struct orr_lock lock;
	struct table known; /* struct birth by the value of the communicator */
};

/* A call that makes communicators has returned child to this rank, or 0; first is that of
 * all ranks.  A child of an unknown parent stays unknown. */
void births_note(struct births *births, uint64_t first, uint64_t parent, uint64_t child);
/* One has been made in a way that does not say how. */
void births_note_unknown(struct births *births, uint64_t comm);
/* The communicator is freed: its value may come again, by a call that makes one. */
void births_end(struct births *births, uint64_t comm);
int births_has_ended(struct births *births, uint64_t comm);
/* Its number, or 0. */
uint64_t births_number(struct births *births, uint64_t comm);
void births_free(struct births *births);

#endif
