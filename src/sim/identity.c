/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What is true of this backend before any node is open. */
#include "sim.h"

int plat_is_simulated(void)
{
	return 1;
}

double plat_clock_s(void)
{
	return clock_look_s();
}
