/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_SPIN_H
#define ORR_SIM_SPIN_H

/*
 * spin.h - finds code of the program that keeps the whole simulation waiting: it spins,
 * or blocks in the system, or only computes for long.
 */
struct sim;

/* Begin to look, when a node asks for a watchdog. */
void spin_watch(struct sim *sim, double watchdog_s);

#endif
