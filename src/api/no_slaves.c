/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Instead of mpi_slaves.c, in builds without MPI. */
#include "api/mpi_slaves.h"
#include "base/check.h"

int ms_role(struct starpu_conf *conf, int *argc, char ***argv, struct ms_config *config)
{
	(void)argc;
	(void)argv;
	(void)config;
	orr_complain(ORR_NO_RANK,
		     "starpu_init: %d slaves are asked for (STARPU_NMPI_MS, "
		     "conf.nmpi_ms), but the library was built without MPI: it runs "
		     "without",
		     conf->nmpi_ms);
	return MS_ALONE;
}

void ms_end_mpi(int is_last)
{
	(void)is_last;
}
