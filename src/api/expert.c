/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu_expert.h>

#include "api/api.h"
#include "base/check.h"
#include "core/hooks.h"
#include "core/lasting.h"

void starpu_wake_all_blocked_workers(void)
{
	workers_rouse(api_node(__func__));
}

static int add(const char *func, enum hook_kind kind, unsigned (*call)(void *arg),
	       void *arg)
{
	if (!call)
		orr_die(api_rank(), "%s: func is NULL, expected a function to call",
			func);
	return hooks_add(lasting_get(), plat_self(), kind, call, arg);
}

static void take_away(const char *func, enum hook_kind kind, int id)
{
	if (hooks_remove(lasting_get(), plat_self(), kind, id) < 0)
		orr_complain(api_rank(),
			     "%s: no hook has the number %d; expected one that the "
			     "registration returned, once",
			     func, id);
}

int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg)
{
	return add(__func__, HOOK_PROGRESSION, func, arg);
}

void starpu_progression_hook_deregister(int hook_id)
{
	take_away(__func__, HOOK_PROGRESSION, hook_id);
}

int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg)
{
	return add(__func__, HOOK_IDLE, func, arg);
}

void starpu_idle_hook_deregister(int hook_id)
{
	take_away(__func__, HOOK_IDLE, hook_id);
}
