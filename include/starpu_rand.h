/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Random numbers: the drand48 family of the C library.  Programs compiled in
 * strict ISO mode must ask for it (_GNU_SOURCE) before they use these macros.
 */

#ifndef STARPU_RAND_H
#define STARPU_RAND_H

#include <stdlib.h>

#include <orrery.h>
#include <starpu_config.h>
#include <starpu_helper.h>

/** The seed to use: STARPU_RAND_SEED if set, else 0 in simulation, else seed. */
#define starpu_seed(seed)                                                                \
	starpu_get_env_number_default("STARPU_RAND_SEED",                                \
				      orrery_is_simulated() ? 0 : (int)(seed))

#define starpu_srand48(seed)  srand48(starpu_seed(seed))
#define starpu_drand48()      drand48()
#define starpu_lrand48()      lrand48()
#define starpu_erand48(xsubi) erand48(xsubi)

/** The state of the forms that several threads may use at once. */
typedef struct drand48_data starpu_drand48_data;

#define starpu_srand48_r(seed, buffer)          srand48_r(starpu_seed(seed), (buffer))
#define starpu_drand48_r(buffer, result)        drand48_r((buffer), (result))
#define starpu_lrand48_r(buffer, result)        lrand48_r((buffer), (result))
#define starpu_erand48_r(xsubi, buffer, result) erand48_r((xsubi), (buffer), (result))

#endif /* STARPU_RAND_H */
