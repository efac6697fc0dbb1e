/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_H
#define STANDIN_H

/* What the stand-in's libraries ask the stand-in: is this call of the function to fail,
 * and with what (STANDIN_FAIL)?  0: no. */
int standin_injected(const char *function);
/* Whose context the caller has; -1: none's. */
int standin_device(void);

#endif
