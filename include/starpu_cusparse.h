/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuSPARSE on the workers that can use it.  Without such workers, as here, there is
 * nothing to start: any thread may call these functions at any time.
 */

#ifndef STARPU_CUSPARSE_H
#define STARPU_CUSPARSE_H

#ifdef __cplusplus
extern "C" {
#endif

/** Start cuSPARSE on each worker that can use it: none. */
void starpu_cusparse_init(void);

/** Undo starpu_cusparse_init(). */
void starpu_cusparse_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUSPARSE_H */
