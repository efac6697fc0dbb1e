/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_HANDOVER_H
#define ORR_CORE_DATA_HANDOVER_H

/*
 * handover.h - a value changes hands between a datum and the parts of a partition.
 *
 * A handover is a job that takes its turn on the parent and on all parts, so that what
 * was submitted before it has ended, and what is submitted afterwards waits for it.  When
 * they are its own it brings the value to the memory where parts lie inside the parent,
 * if it is elsewhere, and says there whose it is from then on.
 */
#include "core/data/partition.h"

enum handover_kind {
	HANDOVER_OPEN_READ,  /* the parts may be read beside the parent */
	HANDOVER_OPEN_WRITE, /* the parts have the value */
	HANDOVER_UPGRADE,    /* from the former to the latter */
	HANDOVER_DOWNGRADE,  /* and back: the parent may be read, too */
	HANDOVER_CLOSE_READ,
	HANDOVER_CLOSE_WRITE, /* the parent has the value */
	HANDOVER_CLEAN        /* the parts are freed, and the partition dropped */
};

struct handover_wish {
	enum handover_kind kind;
	int sequential;           /* 0: no turns, exclusion only */
	struct plat_gate *gate;   /* opened at the end, or NULL */
	void (*callback)(void *); /* called at the end, or NULL */
	void *arg;
};

/* The views are locked; jobs that may start are appended to ready. */
void handover_submit(struct partition *partition, const struct handover_wish *wish,
		     struct ready *ready);

#endif
