/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What it costs to record tasks of 10 us: lives with and without ORRERY_EVENTS in turn,
 * by the processor time of the worker, and of all threads, which a busy machine changes
 * less than wall time.
 *
 * usage: tracing [PAIRS [NTASKS [model]]], with STARPU_NCPU=1
 * model: the codelet has one, by history, that has been measured.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <starpu.h>

#include "bench.h"

enum { NDATA = 64, MAX_PAIRS = 1000 };

static const double task_s = 10e-6;

static unsigned loops; /* of a task */
static unsigned long nexecuted, nlast;
static double first_s, last_s; /* of the worker's processor time */

static double processor_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void work(void)
{
	for (volatile unsigned i = 0; i < loops; i++)
		;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (nexecuted++ == 0)
		first_s = processor_s(CLOCK_THREAD_CPUTIME_ID);
	work();
	if (nexecuted == nlast)
		last_s = processor_s(CLOCK_THREAD_CPUTIME_ID);
}

static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "traced"};

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "bench_traced"};

/* Microseconds a task, of the worker and of all threads. */
static void live(unsigned ntasks, double us[2])
{
	starpu_data_handle_t data[NDATA];
	float values[NDATA] = {0};
	double before_s;

	if (starpu_init(NULL))
		exit(77);
	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
	nexecuted = 0;
	nlast = ntasks;
	before_s = processor_s(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < ntasks; i++)
		starpu_task_insert(&codelet, STARPU_RW, data[i % NDATA], 0);
	starpu_task_wait_for_all();
	us[1] = (processor_s(CLOCK_PROCESS_CPUTIME_ID) - before_s) / ntasks * 1e6;
	us[0] = (last_s - first_s) / ntasks * 1e6;
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	starpu_shutdown();
}

/* So many loops that a task takes 10 us: where it runs, since a loop by itself may take
 * half as long again. */
static void calibrate(void)
{
	enum { LIVES = 4, NTASKS = 1000 };
	double us[2];

	loops = 1000;
	for (int i = 0; i < LIVES; i++) {
		live(NTASKS, us);
		loops = (unsigned)(loops * 1e6 * task_s / us[0]) + 1;
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/* Its measurements are kept in dir. */
static void measure_model(const char *dir)
{
	double us[2];

	setenv("STARPU_HOME", dir, 1);
	setenv("STARPU_CALIBRATE", "1", 1);
	codelet.model = &model;
	live(100, us);
	unsetenv("STARPU_CALIBRATE");
}

int main(int argc, char **argv)
{
	int has_model = argc > 3 && !strcmp(argv[3], "model");
	unsigned pairs = argc > 1 ? atoi(argv[1]) : 15,
		 ntasks = argc > 2 ? atoi(argv[2]) : 5000;
	char dir[] = "/tmp/orrery-tracing-XXXXXX", command[64];
	static double off[2][MAX_PAIRS], on[2][MAX_PAIRS], us[2];

	if (!pairs || pairs > MAX_PAIRS || ntasks < 2 || !mkdtemp(dir))
		return 2;
	calibrate();
	if (has_model)
		measure_model(dir);
	for (unsigned i = 0; i < 2 * pairs; i++) {
		int recorded = i % 2;

		if (recorded)
			setenv("ORRERY_EVENTS", dir, 1);
		else
			unsetenv("ORRERY_EVENTS");
		live(ntasks, us);
		for (int k = 0; k < 2; k++)
			(recorded ? on : off)[k][i / 2] = us[k];
	}
	for (int k = 0; k < 2; k++) {
		const char *who = k ? "all threads" : "worker";
		double without = median(off[k], pairs), with = median(on[k], pairs);
		char text[64];

		snprintf(text, sizeof(text), "%s (not recorded)", who);
		bench_print("tracing", text, "us/task", without);
		snprintf(text, sizeof(text), "%s (recorded)", who);
		bench_print("tracing", text, "us/task", with);
		snprintf(text, sizeof(text), "%s (cost)", who);
		bench_print("tracing", text, "%", 100 * (with / without - 1));
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) != 0;
}
