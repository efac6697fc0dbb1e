/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/migrate.h"

#include "mpi/mpi.h"

void migrate_data(struct mpi *mpi, starpu_data_handle_t handle, int comm, int to,
		  const char *what)
{
	struct fetch fetch = {.handle = handle, .comm = comm, .to = to, .what = what};
	int was_mine = handle->owner == OWNER_PER_NODE ||
		       handle->owner == comm_at(&mpi->comms, handle->comm)->rank;

	if (handle->owner == to)
		return;
	/* In any case before there is another owner, who would be sent it again. */
	reduce_settle(mpi, handle);
	insert_fetch(mpi, &fetch);
	registry_register(mpi, handle, TAG_UNSET, to, comm, what);
	cache_flush(mpi, handle);
	/* Nobody would tell the owner of before that its copy is no longer the value. */
	if (was_mine && !mpi->cache.is_on && !insert_has_halves(mpi))
		cache_drop_copy(mpi, handle);
}
