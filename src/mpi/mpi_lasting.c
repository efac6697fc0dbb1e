/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/mpi_lasting.h"

#include <stdlib.h>

#include "base/check.h"

static void free_lasting(void *lasting)
{
	struct mpi_lasting *mpi = lasting;

	tag_ranges_free(&mpi->tags);
	datatypes_free(&mpi->datatypes);
	free(mpi);
}

struct mpi_lasting *mpi_lasting_of(struct lasting *lasting)
{
	struct mpi_lasting *mpi = orr_load_ptr(&lasting->mpi);

	if (mpi)
		return mpi;
	mpi = orr_alloc(sizeof(*mpi));
	mpi->cache_is_on = mpi->use_coop_sends = 1;
	tag_ranges_init(&mpi->tags);
	datatypes_init(&mpi->datatypes);
	lasting->free_mpi = free_lasting;
	if (orr_cas_ptr(&lasting->mpi, NULL, mpi))
		return mpi;
	free(mpi); /* Another thread was first. */
	return orr_load_ptr(&lasting->mpi);
}
