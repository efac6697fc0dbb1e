/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/turns.h"

const struct turn_kind turn_read = {.shares = 1};
const struct turn_kind turn_write = {.shares = 0};
const struct turn_kind turn_commute = {.shares = 1, .excludes = 1};
const struct turn_kind turn_held = {.shares = 0};

const struct turn_kinds turns_plain = {{
	[STARPU_R] = &turn_read,
	[STARPU_R | STARPU_COMMUTE] = &turn_read,
	[STARPU_W] = &turn_write,
	[STARPU_RW] = &turn_write,
	[STARPU_W | STARPU_COMMUTE] = &turn_commute,
	[STARPU_RW | STARPU_COMMUTE] = &turn_commute,
}};
