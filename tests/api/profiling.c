/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What starpu_profiling.h tells of workers and of the links between memories. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <starpu_profiling.h>

#include "said.h"

int claim_failures;

enum { NTASKS = 20, KERNEL_US = 1000, N = 1 << 18 };

static int values[N];

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return KERNEL_US;
}

static double cost_j(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 0.5;
}

static void work(void *buffers[], void *arg)
{
	struct starpu_task *task = starpu_task_get_current();

	(void)buffers;
	(void)arg;
	starpu_usleep(KERNEL_US);
	if (task->profiling_info)
		task->profiling_info->energy_consumed = 0.5;
}

static struct starpu_perfmodel time_model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "profiling_time"};
static struct starpu_perfmodel energy_model = {
	.type = STARPU_COMMON, .cost_function = cost_j, .symbol = "profiling_energy"};
static struct starpu_codelet cl = {.cpu_funcs = {work},
				   .cpu_funcs_name = {"work"},
				   .nbuffers = 1,
				   .modes = {STARPU_R},
				   .model = &time_model,
				   .energy_model = &energy_model};
static struct starpu_codelet gpu_cl = {
	.cuda_funcs = {work}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &time_model};

static starpu_data_handle_t begin(void)
{
	starpu_data_handle_t handle;

	if (starpu_init(NULL) != 0)
		exit(77);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, N,
				    sizeof(int));
	return handle;
}

static void end(starpu_data_handle_t handle)
{
	starpu_data_unregister(handle);
	starpu_shutdown();
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
}

static void run(starpu_data_handle_t handle)
{
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, STARPU_R, handle, STARPU_FLOPS, 3e9, 0),
			 0);
	starpu_task_wait_for_all();
}

/* ---- workers --------------------------------------------------------- */

struct sums {
	int ntasks;
	double executing_us, flops, energy_j;
};

/* The times of each worker add up to the whole. */
static struct sums ask_all(void)
{
	struct starpu_profiling_worker_info info;
	struct sums sums = {0};

	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		double total_us, parts_us;

		CLAIM_EQ(starpu_profiling_worker_get_info((int)i, &info), 0);
		total_us = starpu_timing_timespec_to_us(&info.total_time);
		parts_us = starpu_timing_timespec_to_us(&info.executing_time) +
			   starpu_timing_timespec_to_us(&info.callback_time) +
			   starpu_timing_timespec_to_us(&info.waiting_time) +
			   starpu_timing_timespec_to_us(&info.sleeping_time) +
			   starpu_timing_timespec_to_us(&info.scheduling_time);
		CLAIM(total_us - parts_us < 0.1 && parts_us - total_us < 0.1);
		CLAIM(starpu_timespec_cmp(&info.all_executing_time, &info.executing_time,
					  ==));
		CLAIM(!starpu_timespec_cmp(&info.all_sleeping_time, &info.sleeping_time,
					   <));
		sums.ntasks += info.executed_tasks;
		sums.executing_us += starpu_timing_timespec_to_us(&info.executing_time);
		sums.flops += info.flops;
		sums.energy_j += info.energy_consumed;
	}
	return sums;
}

static void workers_tell_how_they_spent_their_time(void)
{
	starpu_data_handle_t handle = begin();
	struct sums sums;

	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
		 STARPU_PROFILING_DISABLE);
	run(handle);
	sums = ask_all();
	CLAIM_EQ(sums.ntasks, NTASKS);
	CLAIM(sums.executing_us > 0.999 * NTASKS * KERNEL_US);
	CLAIM_EQ(sums.flops, NTASKS * 3e9);
	CLAIM_EQ(2 * sums.energy_j, NTASKS);
	end(handle);
}

static void each_answer_begins_anew(void)
{
	starpu_data_handle_t handle = begin();

	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	run(handle);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		CLAIM_EQ(starpu_profiling_worker_get_info((int)i, NULL), 0);
	CLAIM_EQ(ask_all().ntasks, 0);
	run(handle);
	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
		 STARPU_PROFILING_ENABLE);
	CLAIM_EQ(ask_all().ntasks, 0);
	run(handle);
	CLAIM_EQ(ask_all().ntasks, NTASKS);
	end(handle);
}

/* As with StarPU, tasks count at any time, and what they took only while it is on. */
static void only_tasks_are_counted_while_it_is_off(void)
{
	starpu_data_handle_t handle = begin();
	struct starpu_profiling_worker_info info;
	struct sums sums;

	run(handle);
	sums = ask_all();
	CLAIM_EQ(sums.ntasks, NTASKS);
	CLAIM(sums.executing_us == 0 && sums.flops == 0);
	CLAIM_EQ(ask_all().ntasks, 0);
	run(handle);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE); /* It forgets them. */
	starpu_profiling_init();                              /* It stays on. */
	run(handle);
	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_DISABLE),
		 STARPU_PROFILING_ENABLE);
	run(handle);
	sums = ask_all();
	CLAIM_EQ(sums.ntasks, 2 * NTASKS);
	CLAIM_EQ(sums.flops, NTASKS * 3e9);
	CLAIM_EQ(ask_all().ntasks, 0);
	CLAIM_EQ(starpu_profiling_worker_get_info(-1, &info), -EINVAL);
	CLAIM_EQ(starpu_profiling_worker_get_info((int)starpu_worker_get_count(), &info),
		 -EINVAL);
	end(handle);
}

static void call_back(void *arg)
{
	(void)arg;
	starpu_usleep(KERNEL_US);
}

static void callbacks_have_a_time_of_their_own(void)
{
	starpu_data_handle_t handle = begin();
	struct starpu_profiling_worker_info info;
	double callback_us = 0;

	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&cl, STARPU_R, handle, STARPU_CALLBACK,
					    call_back, 0),
			 0);
	starpu_task_wait_for_all();
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		starpu_profiling_worker_get_info((int)i, &info);
		callback_us += starpu_timing_timespec_to_us(&info.callback_time);
	}
	CLAIM(callback_us > 0.999 * NTASKS * KERNEL_US);
	end(handle);
}

/* ---- links ----------------------------------------------------------- */

static void links_have_numbers(void)
{
	starpu_data_handle_t handle = begin();
	int nmemories = (int)starpu_memory_nodes_get_count(), n = starpu_bus_get_count();

	CLAIM(n >= 2 * (nmemories - 1) && n <= nmemories * (nmemories - 1));
	for (int i = 0; i < n; i++) {
		int from = starpu_bus_get_src(i), to = starpu_bus_get_dst(i);

		CLAIM_EQ(starpu_bus_get_id(from, to), i);
		CLAIM_EQ(starpu_bus_get_direct(i), from != 0 && to != 0);
		CLAIM_EQ(starpu_bus_get_ngpus(i), starpu_cuda_worker_get_count());
		starpu_bus_set_direct(i, from == 0);
		starpu_bus_set_ngpus(i, 1);
		CLAIM_EQ(starpu_bus_get_direct(i), from == 0);
		CLAIM_EQ(starpu_bus_get_ngpus(i), 1);
	}
	CLAIM_EQ(starpu_bus_get_id(0, 0), -1);
	CLAIM_EQ(starpu_bus_get_src(n), -EINVAL);
	CLAIM_EQ(starpu_bus_get_dst(-1), -EINVAL);
	CLAIM_EQ(starpu_bus_get_profiling_info(n, NULL), -EINVAL);
	end(handle);
}

/* One value to a GPU, which changes it, and back. */
static void links_count_what_they_carry(void)
{
	starpu_data_handle_t handle = begin();
	int gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0), there, back;
	struct starpu_profiling_bus_info info;

	if (gpu >= 0) {
		int memory = (int)starpu_worker_get_memory_node((unsigned)gpu);

		starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
		starpu_task_insert(&gpu_cl, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   gpu, 0);
		starpu_task_wait_for_all();
		starpu_data_acquire(handle, STARPU_R);
		starpu_data_release(handle);
		there = starpu_bus_get_id(STARPU_MAIN_RAM, memory);
		back = starpu_bus_get_id(memory, STARPU_MAIN_RAM);
		for (int i = 0; i < starpu_bus_get_count(); i++) {
			int is_used = i == there || i == back;

			CLAIM_EQ(starpu_bus_get_profiling_info(i, &info), 0);
			CLAIM_EQ(info.transfer_count, is_used);
			CLAIM_EQ(info.transferred_bytes, is_used * N * sizeof(int));
			CLAIM_EQ(starpu_bus_get_profiling_info(i, &info), 0);
			CLAIM_EQ(info.transfer_count, 0);
		}
	}
	end(handle);
}

/* ---- summaries ------------------------------------------------------- */

static int has_line(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, wanted) != NULL;
	if (file)
		fclose(file);
	return n;
}

static void the_end_writes_summaries(void)
{
	char path[] = "/tmp/orrery-profiling-XXXXXX";
	int fd = mkstemp(path), nworkers;
	starpu_data_handle_t handle;

	CLAIM(fd >= 0);
	setenv("STARPU_WORKER_STATS", "1", 1);
	setenv("STARPU_BUS_STATS", "1", 1);
	setenv("STARPU_WORKER_STATS_FILE", path, 1);
	setenv("STARPU_BUS_STATS_FILE", path, 1);
	handle = begin();
	nworkers = (int)starpu_worker_get_count();
	run(handle);
	starpu_profiling_worker_helper_display_summary();
	CLAIM_EQ(has_line(path, "Worker stats:"), 1);
	CLAIM_EQ(has_line(path, "Data transfer stats:"), 0);
	starpu_profiling_bus_helper_display_summary();
	CLAIM_EQ(has_line(path, "Data transfer stats:"), 1);
	end(handle);
	CLAIM_EQ(has_line(path, "Worker stats:"), 2);
	CLAIM_EQ(has_line(path, "Data transfer speed:"), 1);
	CLAIM_EQ(has_line(path, "Data transfer stats:"), 2);
	CLAIM_EQ(has_line(path, "Total transfers: 0.0000 GB"), 2);
	CLAIM_EQ(has_line(path, "task(s)"), 2 * nworkers);
	CLAIM_EQ(has_line(path, "ms executing: "), 2 * nworkers);
	CLAIM(has_line(path, " GFlop/s") > 0);
	unsetenv("STARPU_WORKER_STATS");
	unsetenv("STARPU_BUS_STATS");
	unsetenv("STARPU_WORKER_STATS_FILE");
	unsetenv("STARPU_BUS_STATS_FILE");
	close(fd);
	unlink(path);
}

/* A codelet without a name has that of its model. */
static void codelets_have_statistics(void)
{
	starpu_data_handle_t handle = begin();
	struct said said;
	const char *text;

	run(handle);
	said_begin(&said);
	starpu_codelet_display_stats(&cl);
	text = said_end(&said);
	CLAIM(strstr(text, "Statistics for codelet profiling_time\n\t") == text);
	CLAIM(strstr(text, "\tCPU 0 -> ") != NULL);
	end(handle);
}

static void dates_add_up(void)
{
	struct timespec a = {1, 999999999}, b = {0, 2}, c;

	starpu_timespec_add(&a, &b, &c);
	CLAIM(c.tv_sec == 2 && c.tv_nsec == 1);
	starpu_timespec_sub(&c, &a, &c);
	CLAIM(c.tv_sec == 0 && c.tv_nsec == 2);
	starpu_timespec_accumulate(&a, &b);
	CLAIM(a.tv_sec == 2 && a.tv_nsec == 1 && starpu_timespec_cmp(&a, &b, >));
	CLAIM_EQ(1000 * starpu_timing_timespec_delay_us(&b, &a) + 0.5, 1999999999);
	starpu_timespec_clear(&a);
	CLAIM(a.tv_sec == 0 && a.tv_nsec == 0);
	starpu_profiling_set_id(3); /* Traces are told apart by their ranks. */
}

static const struct claim claims[] = {
	{"workers tell how they spent their time",
	 workers_tell_how_they_spent_their_time},
	{"each answer begins anew", each_answer_begins_anew},
	{"only tasks are counted while it is off",
	 only_tasks_are_counted_while_it_is_off},
	{"callbacks have a time of their own", callbacks_have_a_time_of_their_own},
	{"links have numbers", links_have_numbers},
	{"links count what they carry", links_count_what_they_carry},
	{"the end writes summaries", the_end_writes_summaries},
	{"codelets have statistics", codelets_have_statistics},
	{"dates add up", dates_add_up},
	{NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
