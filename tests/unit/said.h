/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_SAID_H
#define ORR_TESTS_SAID_H

/* said.h - what the ranks of a program on the fake platform say on stderr. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "fake.h"

enum { SAID_BYTES = 1 << 14 };

/* play: the main of each rank, which is its argument.  said has SAID_BYTES. */
static inline void say_all(int nranks, void (*play)(void *rank), char *said)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	fake_start(nranks, 1e-6, 1e9);
	for (int i = 0; i < nranks; i++)
		fake_spawn(i, play, (void *)(intptr_t)i);
	fake_play();
	fake_stop();
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	said[fread(said, 1, SAID_BYTES - 1, file)] = 0;
	fclose(file);
}

#endif
