/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random programs on GPUs: all that a program computes is compared with what a sequential
 * run of it does.  A seed is a program and its settings, of which those that the
 * environment has already stay as they are.
 *
 * usage: random [--seeds A-B] [--seconds LIMIT] [--timeout S] [--jobs N] [--batch N]
 *               [--quiet] [--hold]
 *
 * Each of the jobs is a process that plays one seed after the other, a new one after so
 * many (--batch); --hold: it has a context of its own from first to last.  With --seconds
 * as many seeds are played as fit.  Prints a line for each seed, with --quiet only for
 * one that failed, and at last how many there were; begins none after 20 failures.  One
 * that takes longer than --timeout says where all its threads are.
 *
 * Status 0: all were right; 1: some were not; 77: there is no device.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

enum { MAX_JOBS = 16, MAX_BAD = 20, SKIPPED = 77, HUNG = 3 };

struct options {
	unsigned long long first, last;
	double seconds;
	int timeout_s, njobs, batch, is_quiet, holds;
};

/* Of all processes. */
static struct common {
	unsigned long long next; /* seed */
	long nplayed, nbad, ngpu;
	double begun_s;
	struct place places[MAX_JOBS];
} * common;

struct place *place;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One line by one write: several processes print. */
static void say(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (write(STDOUT_FILENO, line,
		  (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		_exit(1);
}

void bad(const char *what, long a, long b)
{
	if (__atomic_add_fetch(&place->nbad, 1, __ATOMIC_SEQ_CST) <= 3)
		say("BAD seed %llu, step %d: %s (%ld, %ld)\n", place->seed, place->op,
		    what, a, b);
}

/* ---- settings ------------------------------------------------------------ */

struct knob {
	const char *name, *values[12]; /* "": unset */
};

static const struct knob knobs[] = {
	{"STARPU_SCHED",
	 {"eager", "lws", "dmda", "dmdas", "heteroprio", "dmdar", "dmdap", "prio", "ws",
	  "random", "dm"}},
	{"STARPU_CUDA_PIPELINE", {"0", "1", "2", "3"}},
	{"STARPU_NWORKER_PER_CUDA", {"1", "1", "2", "3"}},
	{"STARPU_CUDA_THREAD_PER_DEV", {"", "", "0", "1"}},
	{"STARPU_NCPU", {"0", "1", "2", "4"}},
	{"STARPU_LIMIT_CUDA_MEM", {"", "4", "16", "16", "64"}},
	{"STARPU_PREFETCH", {"0", "1"}},
	{"STARPU_DISABLE_PINNING", {"", "", "", "1"}},
	{"STARPU_MINIMUM_AVAILABLE_MEM", {"", "", "10", "40"}},
	{"STARPU_TARGET_AVAILABLE_MEM", {"", "", "20", "60"}},
	{"STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", {"", "0"}},
};

enum { KNOBS = sizeof(knobs) / sizeof(knobs[0]) };

static int is_given[KNOBS]; /* by who called us */

static void note_given(void)
{
	for (int i = 0; i < KNOBS; i++)
		is_given[i] = getenv(knobs[i].name) != NULL;
}

static void set_knobs(struct rng *rng)
{
	size_t used = 0;

	for (int i = 0; i < KNOBS; i++) {
		const struct knob *knob = &knobs[i];
		unsigned n = 0;
		const char *value;

		while (n < 12 && knob->values[n])
			n++;
		value = knob->values[below(rng, n)];
		if (is_given[i])
			value = getenv(knob->name);
		else if (*value)
			setenv(knob->name, value, 1);
		else
			unsetenv(knob->name);
		if (*value && used < sizeof(place->knobs))
			used += (size_t)snprintf(place->knobs + used,
						 sizeof(place->knobs) - used, "%s%s=%s",
						 used ? " " : "", knob->name, value);
	}
}

/* So that the data of several tasks of six fit. */
static struct sizes draw_sizes(struct rng *rng)
{
	static const unsigned kib[] = {1, 64, 512, 1024, 2048}, full[] = {0, 0, 30, 90};
	const char *limit = getenv("STARPU_LIMIT_CUDA_MEM");
	unsigned most = (limit && *limit ? (unsigned)atoi(limit) : 64) * 1024 / 10;
	unsigned chosen = kib[below(rng, 5)];

	return (struct sizes){(chosen < most ? chosen : most) * 1024 /
				      (unsigned)sizeof(uint64_t),
			      full[below(rng, 4)]};
}

/* ---- one that hangs ------------------------------------------------------ */

static void tell_thread(int number)
{
	void *frames[40];
	char name[16] = "", line[64];
	int n = backtrace(frames, 40);

	(void)number;
	prctl(PR_GET_NAME, name, 0, 0, 0);
	n = n < 40 ? n : 40;
	snprintf(line, sizeof(line), "thread %ld %s:\n", syscall(SYS_gettid), name);
	if (write(STDOUT_FILENO, line, strlen(line)) > 0)
		backtrace_symbols_fd(frames, n, STDOUT_FILENO);
}

/* Each thread tells in turn. */
static void too_late(int number)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;

	(void)number;
	say("FAIL seed %llu: no end within its time, at step %d, after %ld tasks; %s\n",
	    place->seed, place->op, place->ntasks, place->knobs);
	while (threads && (thread = readdir(threads))) {
		if (atoi(thread->d_name) <= 0)
			continue;
		syscall(SYS_tgkill, getpid(), atoi(thread->d_name), SIGUSR2);
		usleep(50000);
	}
	_exit(HUNG);
}

/* ---- seeds --------------------------------------------------------------- */

/* 0: there is no device. */
static int play(const struct options *options, unsigned long long seed)
{
	struct rng rng = {seed * 0x9e3779b97f4a7c15u + 12345};
	struct sizes sizes;

	memset(place, 0, sizeof(*place));
	place->seed = seed;
	place->begun_s = now_s();
	for (int i = 0; i < 5; i++)
		below(&rng, 2);
	set_knobs(&rng);
	sizes = draw_sizes(&rng);
	alarm((unsigned)options->timeout_s);
	if (starpu_init(NULL) != 0)
		return 0;
	if (starpu_cuda_worker_get_count() == 0) {
		starpu_shutdown();
		return 0;
	}
	program_run(&rng, &sizes, 20 + below(&rng, sizes.most > 100000 ? 80 : 220));
	place->op = -1;
	starpu_shutdown();
	alarm(0);
	__atomic_add_fetch(&common->nplayed, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&common->ngpu, place->ngpu, __ATOMIC_SEQ_CST);
	if (place->nbad)
		__atomic_add_fetch(&common->nbad, 1, __ATOMIC_SEQ_CST);
	if (place->nbad || !options->is_quiet)
		say("%s seed %llu: %ld tasks, %ld on GPUs, %.1f MiB, %.2f s; %s\n",
		    place->nbad ? "FAIL" : "PASS", seed, place->ntasks, place->ngpu,
		    place->bytes / (1 << 20), now_s() - place->begun_s, place->knobs);
	place->seed = 0;
	return 1;
}

/* And there have not been so many failures that another one tells nothing new. */
static int has_time(const struct options *options)
{
	if (__atomic_load_n(&common->nbad, __ATOMIC_SEQ_CST) >= MAX_BAD)
		return 0;
	return options->seconds <= 0 || now_s() - common->begun_s < options->seconds;
}

static int job(const struct options *options)
{
	void *frame;

	backtrace(&frame, 1); /* It loads a library the first time. */
	signal(SIGALRM, too_late);
	signal(SIGUSR2, tell_thread);
	if (options->holds)
		random_hold_context();
	for (int i = 0; i < options->batch && has_time(options); i++) {
		unsigned long long seed =
			__atomic_fetch_add(&common->next, 1, __ATOMIC_SEQ_CST);

		if (seed > options->last)
			break;
		if (!play(options, seed))
			return SKIPPED;
	}
	return 0;
}

/* A process has ended: was it right? */
static void judge(struct place *of, int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (status == 0)
		return;
	common->nbad++;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != HUNG)
		say("FAIL seed %llu: %s %d at step %d, after %ld tasks; %s\n", of->seed,
		    number ? "signal" : "exit status",
		    number ? number : WEXITSTATUS(status), of->op, of->ntasks, of->knobs);
}

static pid_t begin_job(const struct options *options, int i)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	place = &common->places[i];
	/* Not exit(): a library's end is not what is tested, but at the end of batches.
	 */
	exit(job(options));
}

/* Those that do not even see an alarm are ended. */
static void end_the_stuck(const struct options *options, const pid_t *pids)
{
	for (int i = 0; i < options->njobs; i++)
		if (pids[i] > 0 && common->places[i].seed &&
		    now_s() - common->places[i].begun_s > options->timeout_s + 15)
			kill(pids[i], SIGKILL);
}

/* 1: there is no device. */
static int run_all(const struct options *options)
{
	pid_t pids[MAX_JOBS] = {0};
	int nrunning, status, is_skipped = 0;

	do {
		nrunning = 0;
		for (int i = 0; i < options->njobs; i++) {
			if (pids[i] > 0 &&
			    waitpid(pids[i], &status, WNOHANG) == pids[i]) {
				pids[i] = 0;
				if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
					is_skipped = 1;
				else
					judge(&common->places[i], status);
			}
			if (pids[i] == 0 && !is_skipped && has_time(options) &&
			    common->next <= options->last) {
				memset(&common->places[i], 0, sizeof(*place));
				pids[i] = begin_job(options, i);
			}
			nrunning += pids[i] > 0;
		}
		end_the_stuck(options, pids);
		usleep(20000);
	} while (nrunning > 0);
	return is_skipped;
}

/* ---- main ---------------------------------------------------------------- */

static int read_option(struct options *options, const char *name, const char *value)
{
	if (strcmp(name, "--seeds") == 0) {
		char *end;

		options->first = options->last = strtoull(value, &end, 10);
		if (*end == '-')
			options->last = strtoull(end + 1, NULL, 10);
	} else if (strcmp(name, "--seconds") == 0) {
		options->seconds = atof(value);
	} else if (strcmp(name, "--timeout") == 0) {
		options->timeout_s = atoi(value);
	} else if (strcmp(name, "--batch") == 0) {
		options->batch = atoi(value);
	} else if (strcmp(name, "--jobs") == 0) {
		options->njobs = atoi(value);
	} else {
		return 0;
	}
	return options->njobs >= 1 && options->njobs <= MAX_JOBS && options->batch >= 1;
}

int main(int argc, char **argv)
{
	struct options options = {
		.first = 1, .last = 20, .timeout_s = 60, .njobs = 1, .batch = 10};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--quiet") == 0)
			options.is_quiet = 1;
		else if (strcmp(argv[i], "--hold") == 0)
			options.holds = 1;
		else if (i + 1 >= argc || !read_option(&options, argv[i], argv[i + 1]))
			return fprintf(stderr, "%s: %s: see the head of random.c\n",
				       argv[0], argv[i]),
			       2;
		else
			i++;
	}
	setenv("STARPU_SILENT", "1", 0);
	setenv("STARPU_WORKERS_NOBIND", "1", 0);
	random_choose_library();
	note_given();
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	common->next = options.first;
	common->begun_s = now_s();
	if (run_all(&options)) {
		puts("skipped: no device");
		return SKIPPED;
	}
	if (common->ngpu == 0)
		common->nbad++; /* Nothing was tried. */
	printf("%s random programs from seed %llu: %ld played, %ld bad, %ld kernels on "
	       "GPUs, %.0f s\n",
	       common->nbad ? "FAIL" : "PASS", options.first, common->nplayed,
	       common->nbad, common->ngpu, now_s() - common->begun_s);
	return common->nbad != 0;
}
