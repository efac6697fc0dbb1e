/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_DYING_H
#define ORR_TESTS_DYING_H

/*
 * dying.h - mistakes that must end the process by abort(), with words that say what was
 * found and what to do; each is made in a process of its own.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>

struct dying {
	const char *name;     /* of the claim */
	const char *words[2]; /* of the message */
	void (*make)(void);
	int lives; /* it is told, and goes on */
};

static inline void dying_child(const struct dying *mistake, void (*prepare)(void),
			       int output)
{
	dup2(output, STDERR_FILENO);
	alarm(20);
	if (starpu_init(NULL) != 0)
		_exit(77);
	prepare();
	mistake->make();
	_exit(0);
}

/* 1 when it ended as it must. */
static inline int dying_check(const struct dying *mistake, void (*prepare)(void))
{
	char text[4096] = "";
	size_t used = 0;
	ssize_t got;
	int ends[2], status, ended;
	pid_t pid;

	if (pipe(ends) != 0)
		return 0;
	pid = fork();
	if (pid == 0)
		dying_child(mistake, prepare, ends[1]);
	close(ends[1]);
	while ((got = read(ends[0], text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)got;
	close(ends[0]);
	waitpid(pid, &status, 0);
	ended = mistake->lives ? status == 0
			       : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	if (ended && strstr(text, mistake->words[0]) && strstr(text, mistake->words[1]))
		return 1;
	printf("status %#x, output: %s\n", (unsigned)status, text);
	return 0;
}

/* Make all n of them after prepare(); returns main's status. */
static inline int dying_run(const struct dying *mistakes, size_t n, void (*prepare)(void))
{
	int nfailed = 0;

	signal(SIGPIPE, SIG_IGN);
	setenv("STARPU_NCPU", "1", 1);
	for (size_t i = 0; i < n; i++) {
		int passed = dying_check(&mistakes[i], prepare);

		printf("%s %s\n", passed ? "PASS" : "FAIL", mistakes[i].name);
		fflush(stdout);
		nfailed += !passed;
	}
	return nfailed != 0;
}

#endif
