/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What is true of this backend before any node is open. */
#include "sim.h"

#include <simgrid/actor.h>

int plat_is_simulated(void)
{
	return 1;
}

uint64_t plat_seat(void)
{
	return sg_actor_self() ? (uint64_t)sg_actor_self_get_pid() : 0;
}

double plat_clock_s(void)
{
	return clock_look_s();
}
