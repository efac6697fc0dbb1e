/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_APPLICATION_H
#define ORR_BASE_APPLICATION_H

/*
 * application.h - objects of the public interface that belong to the application.
 *
 * StarPU lets programs change its tables of operations and its empty codelet, and they
 * do.  The library never writes to them, so they are no state of its own; all ranks of a
 * simulation see the same ones.
 */
#define APPLICATION_OBJECT __attribute__((section(".data.application")))

#endif
