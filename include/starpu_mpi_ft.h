/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Checkpoints.  The library is built without them: every function is accepted,
 * does nothing and returns 0, as in a StarPU configured without fault tolerance
 * (STARPU_USE_MPI_FT is not defined).
 */

#ifndef STARPU_MPI_FT_H
#define STARPU_MPI_FT_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/** Does nothing; returns 0. */
static __starpu_inline int starpu_mpi_checkpoint_init(void)
{
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int starpu_mpi_checkpoint_shutdown(void)
{
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int
starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template,
				      int cp_id, int cp_domain)
{
	(void)cp_template;
	(void)cp_id;
	(void)cp_domain;
	return 0;
}

/** Does nothing; returns 0. */
static inline int
starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template,
					 ...)
{
	(void)cp_template;
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int
starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template)
{
	(void)cp_template;
	return 0;
}

/** Does nothing; returns 0. */
static inline int
starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					int cp_id, int cp_domain, ...)
{
	(void)cp_template;
	(void)cp_id;
	(void)cp_domain;
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int
starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template,
				      int prio)
{
	(void)cp_template;
	(void)prio;
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int
starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
	(void)cp_template;
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int starpu_mpi_ft_turn_on(void)
{
	return 0;
}

/** Does nothing; returns 0. */
static __starpu_inline int starpu_mpi_ft_turn_off(void)
{
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* STARPU_MPI_FT_H */
