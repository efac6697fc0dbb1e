/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuSOLVER on the workers that can use it.  Without such workers, as here, there is
 * nothing to start: any thread may call these functions at any time.
 */

#ifndef STARPU_CUSOLVER_H
#define STARPU_CUSOLVER_H

#ifdef __cplusplus
extern "C" {
#endif

/** Start cuSOLVER on each worker that can use it: none. */
void starpu_cusolver_init(void);

/** Undo starpu_cusolver_init(). */
void starpu_cusolver_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUSOLVER_H */
