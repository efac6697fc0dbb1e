/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What is true of this backend before any node is open. */
#include "plat/plat.h"

int plat_is_simulated(void)
{
	return 0;
}

uint64_t plat_seat(void)
{
	return 0; /* One rank in a process. */
}

double plat_clock_s(void)
{
	return plat_now_s(NULL);
}
