/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mpi/ucx.h"

/*
 * ucx_library.c - the functions of libucp.  The library stays open until the process
 * ends, as its modules and its thread want it.
 */
#define FIND(field, symbol)                                                              \
	{                                                                                \
		void *at = dlsym(library, #symbol);                                      \
		if (!at)                                                                 \
			return #symbol;                                                  \
		memcpy(&call->field, &at, sizeof(at));                                   \
	}

/* The first function that is missing, or NULL. */
static const char *find_all(void *library, struct ucx_calls *call)
{
	UCX_CALLS(FIND)
	return NULL;
}

enum { NSIGNALS = 32 }; /* without those of real time */

/* Handlers of signals are the program's affair: UCX installs some when it is loaded. */
static void *open_library(const char *file)
{
	struct sigaction before[NSIGNALS];
	int is_known[NSIGNALS];
	void *library;

	for (int i = 1; i < NSIGNALS; i++)
		is_known[i] = sigaction(i, NULL, &before[i]) == 0;
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	for (int i = 1; i < NSIGNALS; i++)
		if (is_known[i])
			sigaction(i, &before[i], NULL);
	return library;
}

int ucx_load(const char *file, struct ucx_calls *call, char *why, size_t bytes)
{
	const char *missing;
	void *library;

	if (!*file)
		file = "libucp.so.0";
	library = open_library(file);
	if (!library) {
		snprintf(why, bytes, "%s; install the Debian package libucx0", dlerror());
		return -ENODEV;
	}
	missing = find_all(library, call);
	if (!missing)
		return 0;
	snprintf(why, bytes, "%s has no function %s; UCX 1.11 or later is expected", file,
		 missing);
	return -ENODEV;
}
