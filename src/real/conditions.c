/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Conditions of the application's, of which some wake workers. */
#include "core/sched/conditions.h"
#include "real/real.h"

int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
	conditions_signalled(plat_self(), cond);
	return pthread_cond_signal(cond);
}

int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
	conditions_signalled(plat_self(), cond);
	return pthread_cond_broadcast(cond);
}
