/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>

#include "leader.h"

int leader_of(const void *comm)
{
	MPI_Group group, world;
	int first = 0, leader = -1;

	MPI_Comm_group(*(const MPI_Comm *)comm, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(group, 1, &first, world, &leader);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	return leader;
}
