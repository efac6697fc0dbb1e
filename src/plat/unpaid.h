/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_UNPAID_H
#define ORR_PLAT_UNPAID_H

/*
 * unpaid.h - charges and clocks of plat.h for a plat_inline.h whose time passes by
 * itself, or not at all: nothing is charged.  plat_now_s() is declared before.
 */
static inline double plat_look_s(struct plat *plat)
{
	return plat_now_s(plat);
}

static inline double plat_here_s(struct plat *plat)
{
	return plat_now_s(plat);
}

static inline void plat_charge(struct plat *plat, double seconds)
{
	(void)plat;
	(void)seconds;
}

static inline int plat_charge_lightly(struct plat *plat, double seconds)
{
	plat_charge(plat, seconds);
	return 1;
}

static inline void plat_owe(struct plat *plat, double seconds)
{
	(void)plat;
	(void)seconds;
}

static inline double plat_effort_s(struct plat *plat)
{
	(void)plat;
	return 0;
}

#endif
