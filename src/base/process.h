/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_PROCESS_H
#define ORR_BASE_PROCESS_H

/* process.h - what the process has used of the host, simulated or not, and its stack. */

/* Seconds since the process started. */
double process_wall_s(void);
/* Largest resident set so far. */
unsigned long long process_peak_bytes(void);
/* Is it on the stack that the process started with?  The system is asked. */
int process_is_first_stack(const void *at);

#endif
