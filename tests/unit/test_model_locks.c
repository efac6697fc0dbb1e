/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Model files are read and written under locks, which signals do not cut short; and
 * counts of measurements may have ten digits.
 *
 * Another process holds the lock and half of the file.  It writes the rest, and lets the
 * lock go, once so many signals have come to who waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/model/model_file.h"
#include "core/model/model_merge.h"

enum { NSIGNALS = 20 };

static int failures;
static int holds[2], asks[2]; /* pipes: it has the lock; it shall let it go */
static volatile sig_atomic_t nsignals;

static void expect(int good, const char *what)
{
	printf("%s %s\n", good ? "PASS" : "FAIL", what);
	failures += !good;
}

static void on_alarm(int number)
{
	(void)number;
	if (++nsignals == NSIGNALS && write(asks[1], "", 1) != 1)
		_exit(2);
}

static void ring(long us)
{
	struct itimerval often = {{0, us}, {0, us}};

	if (setitimer(ITIMER_REAL, &often, NULL) != 0)
		exit(2);
}

/* A file of one entry, with a mean of all. */
static void write_file(const char *path, const char *nsample)
{
	struct starpu_perfmodel_device device = {.type = STARPU_CPU_WORKER, .ncores = 1};
	struct starpu_perfmodel_arch cpu = {.ndevices = 1, .devices = &device};
	struct model_data data = {0};
	struct starpu_perfmodel_history_entry *entry =
		model_arch_entry(model_data_add(&data, &cpu, 0), 7, 1);
	char command[512];

	*entry = (struct starpu_perfmodel_history_entry){.mean = 2,
							 .deviation = 0,
							 .sum = 20,
							 .sum2 = 40,
							 .nsample = 10,
							 .footprint = 7,
							 .size = 8,
							 .flops = 0};
	model_entry_of(entry)->all = (struct model_all){1234, 3000, 9000};
	if (model_data_write(&data, path, -1) != 0)
		exit(2);
	model_data_clear(&data);
	snprintf(command, sizeof(command), "sed -i 's/ 1234 / %s /' %s", nsample, path);
	if (system(command) != 0)
		exit(2);
}

/* ---- the other process ------------------------------------------------- */

static void lock(int fd, int is_flock)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if ((is_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLK, &whole)) != 0)
		_exit(2);
}

/* Its end is the end of the lock. */
static void hold(const char *path, const char *rest, int is_flock)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
	char byte;

	lock(fd, is_flock);
	if (write(holds[1], "", 1) != 1 || read(asks[0], &byte, 1) != 1 ||
	    write(fd, rest, strlen(rest)) != (ssize_t)strlen(rest))
		_exit(2);
	_exit(0);
}

static pid_t start(const char *path, const char *rest, int is_flock)
{
	pid_t pid;
	char byte;

	nsignals = 0;
	if (pipe(holds) != 0 || pipe(asks) != 0)
		exit(2);
	pid = fork();
	if (pid == 0)
		hold(path, rest, is_flock);
	if (pid < 0 || read(holds[0], &byte, 1) != 1)
		exit(2);
	ring(1000);
	return pid;
}

static int end(pid_t pid)
{
	int status, waits = nsignals >= NSIGNALS;

	ring(0);
	if (!waits && write(asks[1], "", 1) != 1)
		exit(2);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		exit(2);
	for (int i = 0; i < 2; i++) {
		close(holds[i]);
		close(asks[i]);
	}
	return waits;
}

/* ---- claims ------------------------------------------------------------ */

static void readers_wait(const char *path)
{
	struct model_data data = {0};
	char text[8192] = "";
	FILE *file;
	size_t n;
	pid_t pid;
	int ret;

	write_file(path, "1234");
	file = fopen(path, "r");
	n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (n == 0 || fclose(file) != 0 || truncate(path, (off_t)n / 2) != 0)
		exit(2);
	pid = start(path, text + n / 2, 0);
	ret = model_data_read(&data, path, -1);
	expect(end(pid) && ret == 0, "who reads a model waits for who writes it");
	model_data_clear(&data);
}

static void writers_wait(const char *path, const char *lock_path)
{
	pid_t pid = start(lock_path, "", 1);
	int fd = model_merge_lock(path, 0, 0), kept;

	expect(end(pid) && fd >= 0, "who writes a model waits for others that do");
	kept = model_merge_lock(path, 0.01, 0);
	expect(kept == -EBUSY, "but not for who never unlocks it");
	model_merge_unlock(fd);
	fd = model_merge_lock(path, 0.01, 0);
	expect(fd >= 0, "who unlocks it lets the next one write");
	model_merge_unlock(fd);
}

static void counts_have_ten_digits(const char *path)
{
	const struct model_arch *arch;
	struct model_data data = {0};
	int ret;

	write_file(path, "4123456789");
	ret = model_data_read(&data, path, -1);
	arch = ret ? NULL : data.combinations[0]->implementations[0];
	expect(arch && model_entry_of(arch->entries[0])->all.nsample == 4123456789u &&
		       model_entry_of(arch->entries[0])->all.sum == 3000,
	       "a file counts as far as the library does");
	model_data_clear(&data);
	write_file(path, "4294967296");
	expect(model_data_read(&data, path, -1) != 0, "more is no count");
}

int main(void)
{
	char top[] = "/tmp/orrery-locks-XXXXXX", path[64], lock_path[64], below[64];
	struct sigaction action = {.sa_handler = on_alarm};

	if (!mkdtemp(top) || sigaction(SIGALRM, &action, NULL) != 0)
		return 2;
	snprintf(below, sizeof(below), "%s/45", top);
	snprintf(path, sizeof(path), "%s/45/kernel.cpu", top);
	snprintf(lock_path, sizeof(lock_path), "%s/.lock", top);
	if (mkdir(below, 0700) != 0)
		return 2;
	readers_wait(path);
	writers_wait(path, lock_path);
	counts_have_ten_digits(path);
	if (unlink(path) != 0 || unlink(lock_path) != 0 || rmdir(below) != 0 ||
	    rmdir(top) != 0)
		return 2;
	return failures != 0;
}
