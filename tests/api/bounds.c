/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Lower bounds of starpu_bound.h, on three CPU workers; files of one for bounds.py. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <starpu_bound.h>

#include "said.h"

int claim_failures;

enum { NCPUS = 3, MS = 1000 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

/* Of so many milliseconds, which the task's argument says. */
static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return MS * (double)(intptr_t)task->cl_arg;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "bounds"};
static struct starpu_perfmodel never = {.type = STARPU_HISTORY_BASED,
					.symbol = "bounds_never"};
static struct starpu_codelet on_one = {
	.cpu_funcs = {nothing}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .model = &model};
static struct starpu_codelet alone = {.cpu_funcs = {nothing}, .model = &model};
static struct starpu_codelet unknown = {.cpu_funcs = {nothing}, .model = &never};
static struct starpu_codelet free_of_cost = {.cpu_funcs = {nothing}, .name = "free"};

static struct starpu_task *task_of(struct starpu_codelet *cl, int ms)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)ms;
	return task;
}

static void submit(struct starpu_task *task)
{
	CLAIM_EQ(starpu_task_submit(task), 0);
}

static void on(starpu_data_handle_t handle, unsigned mode, int ms)
{
	struct starpu_task *task = task_of(&on_one, ms);

	task->nbuffers = 1;
	task->modes[0] = (enum starpu_data_access_mode)mode;
	task->handles[0] = handle;
	submit(task);
}

static int near(double seen, double expected)
{
	if (fabs(seen - expected) < 1e-6)
		return 1;
	printf("%.9g is not %.9g\n", seen, expected);
	return 0;
}

static void expect(double relaxed_ms, double whole_ms)
{
	double relaxed = -1, whole = -1;

	starpu_bound_stop();
	starpu_bound_compute(&relaxed, &whole, whole_ms > 0);
	CLAIM(near(relaxed, relaxed_ms));
	/* As with StarPU what was not asked for is not told. */
	CLAIM(near(whole, whole_ms > 0 ? whole_ms : -1));
}

static void begin(int deps, int prio)
{
	claim_start(NCPUS);
	starpu_bound_start(deps, prio);
}

static void end(void)
{
	starpu_task_wait_for_all();
	starpu_shutdown();
}

/* 4 x 2 ms and 1 x 6 ms on 3 workers: 14 / 3; whole: 6 beside 4 and 4. */
static void area(void)
{
	begin(0, 0);
	for (int i = 0; i < 4; i++)
		submit(task_of(&alone, 2));
	submit(task_of(&alone, 6));
	expect(14. / 3, 6);
	end();
}

static void only_between_start_and_stop(void)
{
	double relaxed = -1;

	begin(0, 0);
	starpu_bound_stop();
	submit(task_of(&alone, 6));
	starpu_bound_compute(&relaxed, NULL, 0);
	CLAIM(near(relaxed, 0));
	starpu_bound_start(0, 0);
	submit(task_of(&alone, 6));
	starpu_bound_start(0, 0);
	submit(task_of(&alone, 3));
	expect(1, 3);
	end();
}

static void a_chain_through_data(void)
{
	starpu_data_handle_t handle;
	int value = 0;

	begin(1, 0);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	on(handle, STARPU_W, 2);
	for (int i = 0; i < 3; i++)
		on(handle, STARPU_R, 3);
	on(handle, STARPU_RW, 1);
	expect(6, 6);
	starpu_data_unregister(handle);
	end();
}

/* They exclude each other on the machine, which the bound does not know. */
static void commuting_neighbours_have_no_order(void)
{
	starpu_data_handle_t handle;
	int value = 0;

	begin(1, 0);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	on(handle, STARPU_RW | STARPU_COMMUTE, 5);
	on(handle, STARPU_RW | STARPU_COMMUTE, 5);
	on(handle, STARPU_R, 1);
	expect(6, 6);
	starpu_data_unregister(handle);
	end();
}

static void declared_edges(void)
{
	struct starpu_task *tasks[3];

	begin(1, 0);
	for (int i = 0; i < 3; i++)
		tasks[i] = task_of(&alone, 4);
	starpu_task_declare_deps(tasks[2], 1, tasks[1]);
	starpu_task_declare_deps(tasks[1], 1, tasks[0]);
	/* The middle one comes last. */
	submit(tasks[2]);
	submit(tasks[0]);
	submit(tasks[1]);
	expect(12, 12);
	end();
}

static void tags(void)
{
	begin(1, 0);
	for (int i = 0; i < 3; i++) {
		struct starpu_task *task = task_of(&alone, 2);

		task->use_tag = 1;
		task->tag_id = (starpu_tag_t)(7 + i);
		if (i > 0)
			starpu_tag_declare_deps(task->tag_id, 1,
						(starpu_tag_t)(task->tag_id - 1));
		submit(task);
	}
	expect(6, 6);
	for (int i = 0; i < 3; i++)
		starpu_tag_remove((starpu_tag_t)(7 + i));
	end();
}

/*
 * One worker's worth of order on one core: an urgent task that is ready goes first,
 * though the chain behind the other one would end sooner otherwise.
 */
static void priorities(int prio, double expected_ms)
{
	starpu_data_handle_t handle;
	struct starpu_task *urgent;
	int value = 0;

	claim_start(1);
	starpu_bound_start(1, prio);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	urgent = task_of(&alone, 4);
	urgent->priority = 3;
	on(handle, STARPU_RW, 1);
	on(handle, STARPU_RW, 1);
	submit(urgent);
	expect(6, expected_ms);
	starpu_data_unregister(handle);
	end();
}

static void priorities_keep_what_fits(void)
{
	priorities(0, 6);
	priorities(1, 6);
}

static void without_calibration(void)
{
	double relaxed = -1, whole = -1;

	begin(0, 0);
	submit(task_of(&alone, 6));
	submit(task_of(&unknown, 0));
	starpu_bound_compute(&relaxed, &whole, 1);
	/* In simulation the roofline may know it. */
	CLAIM(near(relaxed, 0) || relaxed >= 2);
	end();
}

static void without_a_model(void)
{
	double relaxed = -1, whole = -1;

	begin(0, 0);
	submit(task_of(&alone, 6));
	submit(task_of(&free_of_cost, 0));
	starpu_bound_compute(&relaxed, &whole, 1);
	CLAIM(near(relaxed, 2));
	CLAIM(near(whole, 6));
	end();
}

enum { NLINKS = 40 };

/* Of tasks with an order the search for whole numbers may take for ever: it is announced.
 * Here it has nothing to choose. */
static void long_searches_are_announced(void)
{
	starpu_data_handle_t handle;
	double relaxed = -1, whole = -1;
	struct said said;
	int value = 0;

	setenv("STARPU_SILENT", "0", 1);
	begin(1, 0);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NLINKS; i++)
		on(handle, STARPU_RW, 1);
	starpu_bound_stop();
	said_begin(&said);
	starpu_bound_compute(&relaxed, &whole, 1);
	CLAIM(strstr(said_end(&said), "this may take very long; integer = 0"));
	CLAIM(near(whole, NLINKS));
	starpu_data_unregister(handle);
	end();
	unsetenv("STARPU_SILENT");
}

static size_t printed(void (*print)(FILE *output), const char *words)
{
	char text[1 << 16] = "";
	FILE *file = tmpfile();
	size_t n;

	print(file);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	CLAIM(strstr(text, words) != NULL);
	return n;
}

static void print_both(FILE *output)
{
	starpu_bound_print(output, 0);
}

static void texts(void)
{
	begin(1, 1);
	submit(task_of(&alone, 2));
	submit(task_of(&alone, 3));
	starpu_bound_stop();
	CLAIM(printed(starpu_bound_print_lp, "min: tmax;") > 100);
	CLAIM(printed(starpu_bound_print_mps, "ENDATA") > 100);
	CLAIM(printed(starpu_bound_print_dot, "digraph") > 20);
	CLAIM(printed(starpu_bound_print_lp, ": bounds */\n") > 100);
	CLAIM(printed(print_both, "Theoretical minimum execution time: 3") > 20);
	end();
}

/* StarPU's lines; no task can be divided, so one worker has it. */
static void print_whole(FILE *output)
{
	starpu_bound_print(output, 1);
}

static void shares_are_printed(void)
{
	begin(0, 0);
	submit(task_of(&alone, 6));
	CLAIM(printed(starpu_bound_print_lp, "/* worker 2 */\n") > 100);
	CLAIM(printed(starpu_bound_print_lp, "/* task bounds key 0 */\n") > 100);
	CLAIM(printed(starpu_bound_print_mps, "* task bounds key 0\n") > 100);
	CLAIM(printed(print_whole, "bounds key 0\n\tw0t0n ") > 20);
	CLAIM(printed(print_whole, "0n 1.000000") > 20);
	CLAIM(printed(print_whole, "0n 0.000000") > 20);
	end();
}

/* A graph, of which bounds.py reads the files. */
static int write_files(const char *lp, const char *mps, int deps)
{
	FILE *file;
	double relaxed, whole;

	begin(deps, deps);
	for (int i = 0; i < 4; i++) {
		struct starpu_task *task = task_of(&alone, 2 + i);

		task->priority = i;
		submit(task);
	}
	starpu_task_wait_for_all();
	starpu_bound_stop();
	file = fopen(lp, "w");
	starpu_bound_print_lp(file);
	fclose(file);
	file = fopen(mps, "w");
	starpu_bound_print_mps(file);
	fclose(file);
	starpu_bound_compute(&relaxed, &whole, 1);
	printf("%.9g %.9g\n", relaxed, whole);
	starpu_shutdown();
	return 0;
}

/* Was the library built with GLPK?  bounds.py knows whether it should. */
static int can_solve(void)
{
	double relaxed = 0;

	begin(0, 0);
	submit(task_of(&alone, 1));
	starpu_bound_compute(&relaxed, NULL, 0);
	end();
	return relaxed > 0;
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"the area of independent tasks", area},
		{"what is submitted between start and stop", only_between_start_and_stop},
		{"a chain through data", a_chain_through_data},
		{"commuting neighbours have no order",
		 commuting_neighbours_have_no_order},
		{"declared edges, in any order of submission", declared_edges},
		{"a chain of tags", tags},
		{"priorities keep what fits", priorities_keep_what_fits},
		{"a model without measurements", without_calibration},
		{"a task without a model", without_a_model},
		{"long searches are announced", long_searches_are_announced},
		{"texts", texts},
		{"shares of workers are printed", shares_are_printed},
		{NULL, NULL}};

	if (argc == 4)
		return write_files(argv[1], argv[2], atoi(argv[3]));
	return can_solve() ? claims_run(claims, 0) : 77;
}
