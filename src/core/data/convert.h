/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_CONVERT_H
#define ORR_CORE_DATA_CONVERT_H

/*
 * convert.h - data that have another format on each type of device (is_multiformat).
 *
 * A value is in the format of the memory where it is valid.  A transfer to a memory of
 * another kind ends with a conversion: a codelet of the interface's, which a worker that
 * computes from the target runs before anything else.
 */
#include "core/data/data.h"

/* What has to run on to after the bytes have come; NULL: nothing. */
struct starpu_codelet *convert_codelet(const struct copy_state *from,
				       const struct copy_state *to);
/* What would have to run if the value were used in memories of a kind now; NULL: nothing,
 * or there is nothing. */
struct starpu_codelet *convert_expected(starpu_data_handle_t datum,
					enum starpu_node_kind target);
/* Bytes of from's value, in its format. */
size_t convert_bytes(const struct copy_state *from);
/* Have it run, then call copy->done(). */
void convert_start(const struct copy_state *to, struct starpu_codelet *cl,
		   struct plat_copy *copy);

/* ---- what worker.c calls --------------------------------------------- */

int convert_is_job(const struct job *job);
/* The worker has run it. */
void convert_executed(struct worker *worker, struct job *job);

#endif
