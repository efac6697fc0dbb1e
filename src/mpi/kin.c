/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/kin.h"

#include "core/data/relatives.h"
#include "mpi/mpi.h"

static int has_kin(starpu_data_handle_t handle)
{
	return (data_flags(handle) & (DATUM_PART | DATUM_VIEWS)) != 0;
}

void kin_note_copies(starpu_data_handle_t handle)
{
	if (has_kin(handle))
		relatives_note(handle, NOTE_COPIES);
}

void kin_note_contributions(starpu_data_handle_t handle)
{
	if (has_kin(handle))
		relatives_note(handle, NOTE_CONTRIBUTIONS);
}

void kin_clear_all(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct relatives kin;

	relatives_find(handle, NOTE_COPIES, &kin);
	for (unsigned i = 0; i < kin.n; i++)
		cache_clear(mpi, kin.list[i]);
	relatives_free(&kin);
}

void kin_settle_all(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct relatives kin;

	relatives_find(handle, NOTE_CONTRIBUTIONS, &kin);
	for (unsigned i = 0; i < kin.n; i++)
		if (kin.list[i]->flags & DATUM_CONTRIBUTED)
			reduce_settle(mpi, kin.list[i]);
	relatives_free(&kin);
}
