/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Absurd values of every variable: the library starts all the same, or says the
 * variable's name and ends.  Each value is tried in a process of its own.
 * usage: knob_values NAME ...
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>

enum { LONG_BYTES = 5000, LIMIT_S = 20 };

static char long_text[LONG_BYTES + 1];

/* Where "/proc" is, nobody can leave files, root neither. */
static const char *const values[] = {"",         "-7",    "0",    "1000000000000000000",
				     "-1e18",    "many",  "nan",  "inf",
				     "7 apples", "/proc", "%n%s", long_text};

static long value;

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add = {
	.cpu_funcs = {add_cpu}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "add"};

/* A life of the library with one task. */
static void live(void)
{
	starpu_data_handle_t handle;

	if (starpu_init(NULL) != 0)
		_exit(70);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof value);
	if (starpu_task_insert(&add, STARPU_RW, handle, 0) != 0)
		_exit(71);
	starpu_data_unregister(handle);
	starpu_shutdown();
	_exit(0);
}

static void child(const char *name, const char *text, int output)
{
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setenv(name, text, 1);
	alarm(LIMIT_S);
	live();
}

static int ends_well(const char *name, int status, const char *output)
{
	if (strstr(output, "internal error"))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 1;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT)
		return 0;
	return strstr(output, name) != NULL;
}

/* 1 when the value does no harm. */
static int check(const char *name, const char *text)
{
	static char output[16384];
	size_t used = 0;
	ssize_t got;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) != 0)
		return 0;
	pid = fork();
	if (pid == 0)
		child(name, text, ends[1]);
	close(ends[1]);
	while ((got = read(ends[0], output + used, sizeof output - 1 - used)) > 0)
		used += (size_t)got;
	output[used] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (ends_well(name, status, output))
		return 1;
	printf("%s=%.40s: status %#x, output: %s\n", name, text, (unsigned)status,
	       output);
	return 0;
}

int main(int argc, char **argv)
{
	int nfailed = 0;

	memset(long_text, 'x', LONG_BYTES);
	setenv("STARPU_NCPU", "1", 1);
	for (int i = 1; i < argc; i++) {
		int passed = 1;

		for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
			passed &= check(argv[i], values[k]);
		printf("%s absurd values of %s\n", passed ? "PASS" : "FAIL", argv[i]);
		fflush(stdout);
		nfailed += !passed;
	}
	return nfailed != 0;
}
