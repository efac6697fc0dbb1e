/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/spread.h"

#include "core/data/coherency.h"

void spread_set_mask(starpu_data_handle_t handle, unsigned mask)
{
	struct data_extra *extra = data_extra(handle);

	orr_lock(&handle->lock);
	extra->wt_mask = mask;
	if (mask)
		data_change_flags(handle, DATUM_WRITES_THROUGH, 0);
	else
		data_change_flags(handle, 0, DATUM_WRITES_THROUGH);
	orr_unlock(&handle->lock);
}

void spread_value(starpu_data_handle_t handle)
{
	struct data_body *body = handle->body;
	unsigned left = body->extra->wt_mask;

	for (; left && body->valid; left &= left - 1) {
		unsigned memory = (unsigned)__builtin_ctz(left);

		if (!((body->valid | body->arriving) & memory_bit(memory)))
			coherency_send(handle, memory);
	}
}
