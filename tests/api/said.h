/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_API_SAID_H
#define ORR_TESTS_API_SAID_H

/* said.h - what the process writes to stderr between two calls. */
#include <stdio.h>
#include <unistd.h>

#include "claim.h"

enum { SAID_BYTES = 1 << 14 };

struct said {
	char text[SAID_BYTES];
	FILE *file;
	int before;
};

static inline void said_begin(struct said *said)
{
	said->file = tmpfile();
	said->before = dup(STDERR_FILENO);
	CLAIM(said->file && said->before >= 0);
	fflush(stderr);
	dup2(fileno(said->file), STDERR_FILENO);
}

static inline const char *said_end(struct said *said)
{
	fflush(stderr);
	dup2(said->before, STDERR_FILENO);
	close(said->before);
	rewind(said->file);
	said->text[fread(said->text, 1, SAID_BYTES - 1, said->file)] = '\0';
	fclose(said->file);
	return said->text;
}

#endif
