/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Calls around what this library does not have - a library of accelerators, workers made
 * of workers - where doing nothing is the complete answer.
 */
#include <starpu.h>

#include <errno.h>

void starpu_hipblas_init(void)
{
}

void starpu_hipblas_shutdown(void)
{
}
