/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_LEADER_H
#define ORR_SIM_LEADER_H

/*
 * The rank in MPI_COMM_WORLD of member 0 of a communicator (pointer to an MPI_Comm).
 * Local: no message, no simulated time.
 */
int leader_of(const void *comm);

#endif
