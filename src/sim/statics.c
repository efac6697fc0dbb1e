/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "sim/pthreads.h"

/*
 * statics.c - the end of static objects of C++ that have threads: a pool that is one
 * joins its threads in its destructor, which runs when the process ends.  Those of the
 * simulation are gone by then, and so are their stacks, on which there may be what the
 * destructor calls.  So a thread of its own calls the destructors of a rank's program
 * when its main has ended: what they wait for may still come.  Those that ranks share are
 * called when the last main has ended, before SimGrid ends the rest; nothing comes any
 * more then.
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

/* Those of the object that the code is in, or, without, of all objects that call us. */
static void finalize(struct sim_posix *own, const void *code)
{
	for (size_t i = own->ndsos; i > 0; i--) {
		void *dso = own->dsos[i - 1];

		if (code ? object_is_same(dso, code) : object_calls_us(dso))
			__cxa_finalize(dso);
	}
}

/* All mains have ended, and what their statics wait for has come. */
static void end_all(struct sim_posix *own)
{
	if (own->threads.count == 0 || own->is_over)
		return;
	own->is_over = 1;
	calendar_enter(the_sim);
	finalize(own, NULL);
	calendar_leave(the_sim);
}

static void *close_rank(void *arg)
{
	struct sim_posix *own = posix_get();
	struct posix_rank *mine = posix_rank(1);

	sim_block(NULL, &mine->main_has_ended, -1);
	finalize(own, mine->code);
	mine->closer = NULL;
	own->nending--;
	if (--own->nclosers == 0 && !sim_get()->first_main)
		end_all(own);
	return arg;
}

/* Has each rank a copy of the program? */
static int is_private(void)
{
	char how[32];

	return kernel_config("smpi/privatization", how, sizeof(how)) == 0 &&
	       (strcmp(how, "dlopen") == 0 || strcmp(how, "1") == 0 ||
		strcmp(how, "yes") == 0 || strcmp(how, "true") == 0);
}

void statics_watch(const void *code)
{
	struct posix_rank *mine = posix_rank(1);

	if (mine->closer || mine->main_has_ended || sim_get()->in_kernel ||
	    !is_private() || object_has_name(code))
		return;
	mine->code = code;
	posix_get()->nclosers++;
	mine->closer = pthreads_make_closer(close_rank);
	sim_thread_start(mine->closer, 0);
}

int statics_are_ending(int *first)
{
	const struct sim_posix *own = the_sim->posix;

	*first = own ? own->first_ending : 0;
	return own ? own->nending : 0;
}

void statics_main_ends(struct sim_rank *rank)
{
	struct sim_posix *own = the_sim->posix;
	struct posix_rank *mine = rank->posix;

	if (mine && mine->closer) {
		mine->main_has_ended = 1;
		if (own->nending++ == 0)
			own->first_ending = rank->place - (rank->place > 0);
		sim_wake_later(mine->closer);
	}
	if (own && own->nclosers == 0 && !the_sim->first_main)
		end_all(own);
}
