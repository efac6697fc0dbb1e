/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_MPI_SLAVES_H
#define ORR_API_MPI_SLAVES_H

/*
 * mpi_slaves.h - starpu_init() of a program of several ranks that has a master.
 */
#include "core/node.h"
#include "mpi/ms.h"

/* What a rank is: the master, a slave, or alone. */
enum ms_role { MS_ALONE, MS_MASTER, MS_SLAVE };

/* With conf->nmpi_ms, merged with the environment: start MPI and say what the caller is.
 * A negative errno when the environment is wrong. */
int ms_role(struct starpu_conf *conf, int *argc, char ***argv, struct ms_config *config);
/* After starpu_shutdown(): MPI ends, if the library has started it, or if the program
 * comes to nothing more, as on a slave. */
void ms_end_mpi(int is_last);

#endif
