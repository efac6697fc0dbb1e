/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "trace/convert.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

#define TOOL "starpu_fxt_tool"

enum { MAX_WORDS = 64 };

extern char **environ;

/* The one that was installed with the library, or else what PATH says. */
static const char *find_tool(void)
{
	const char *installed = ORRERY_DATADIR "/../../bin/" TOOL;

	return access(installed, X_OK) == 0 ? installed : TOOL;
}

/* 0 or an errno; what it says goes where ours goes. */
static int run(char **words, int *status)
{
	pid_t pid;
	int error = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);

	if (error)
		return error;
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

void convert_trace(const char *path, const char *options, int rank, int nranks)
{
	char *words[MAX_WORDS + 4] = {(char *)(uintptr_t)find_tool(), "-i",
				      (char *)(uintptr_t)path};
	char *copy, *place, *word;
	int n = 3, status = 0, error;

	if (nranks > 1) {
		if (rank == 0)
			orr_complain(
				rank,
				"STARPU_GENERATE_TRACE=1: a trace needs the files of "
				"all %d ranks, when they have ended: starpu_fxt_tool "
				"-i %s and those of the others",
				nranks, path);
		return;
	}
	copy = orr_strdup(options);
	for (word = strtok_r(copy, " ", &place); word && n < MAX_WORDS + 3;
	     word = strtok_r(NULL, " ", &place))
		words[n++] = word;
	error = run(words, &status);
	if (error)
		orr_complain(rank,
			     "STARPU_GENERATE_TRACE=1: %s cannot be run: %s; what was "
			     "recorded is in %s, for starpu_fxt_tool -i",
			     words[0], strerror(error), path);
	else if (status != 0)
		orr_complain(rank,
			     "STARPU_GENERATE_TRACE=1: %s failed; what was recorded is "
			     "in %s",
			     words[0], path);
	free(copy);
}
