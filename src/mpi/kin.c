/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/kin.h"

#include "core/data/partition.h"
#include "mpi/mpi.h"

static int has_kin(starpu_data_handle_t handle)
{
	return (handle->flags & (DATUM_PART | DATUM_VIEWS)) != 0;
}

void kin_note(starpu_data_handle_t handle)
{
	struct relatives kin;

	if (!has_kin(handle))
		return;
	partition_relatives(handle, &kin);
	for (unsigned i = 0; i < kin.n; i++)
		data_set_flags(kin.list[i], DATUM_KIN, 0);
	relatives_free(&kin);
}

void kin_clear_all(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct relatives kin;

	partition_relatives(handle, &kin);
	for (unsigned i = 0; i < kin.n; i++)
		cache_clear(mpi, kin.list[i]);
	relatives_free(&kin);
}

void kin_settle_all(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct relatives kin;

	partition_relatives(handle, &kin);
	for (unsigned i = 0; i < kin.n; i++)
		if (kin.list[i]->flags & DATUM_CONTRIBUTED)
			reduce_settle(mpi, kin.list[i]);
	relatives_free(&kin);
}
