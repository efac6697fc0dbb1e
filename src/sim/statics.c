/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "sim/pthreads.h"

/*
 * statics.c - the end of static objects of C++ that have threads: a pool that is one
 * joins its threads in its destructor, which runs when the process ends.  Those of the
 * simulation are gone by then, and so are their stacks, on which there may be what the
 * destructor calls.  So it is called when the last main has ended, before SimGrid ends
 * the rest.
 *
 * An object of the dynamic linker has a handle by which its destructors are registered,
 * and called.
 */
extern void *__dso_handle __attribute__((visibility("hidden")));

int __cxa_atexit(void (*call)(void *object), void *object, void *dso);
void __cxa_finalize(void *dso);

static void remember(struct sim_posix *own, void *dso)
{
	own->mutex_lock(&own->keys_mutex);
	if (!table_put(&own->known_dsos, (uint64_t)(uintptr_t)dso, dso)) {
		own->dsos =
			orr_realloc(own->dsos, (own->ndsos + 1) * sizeof(own->dsos[0]));
		own->dsos[own->ndsos++] = dso;
	}
	own->mutex_unlock(&own->keys_mutex);
}

int __cxa_atexit(void (*call)(void *object), void *object, void *dso)
{
	struct sim_posix *own = posix_get();

	if (dso && dso != &__dso_handle)
		remember(own, dso);
	return own->cxa_atexit(call, object, dso);
}

void statics_end(void)
{
	struct sim_posix *own = the_sim->posix;

	if (!own || own->threads.count == 0)
		return;
	own->is_over = 1;
	calendar_enter(the_sim);
	for (size_t i = own->ndsos; i > 0; i--)
		if (object_calls_us(own->dsos[i - 1]))
			__cxa_finalize(own->dsos[i - 1]);
	calendar_leave(the_sim);
}
