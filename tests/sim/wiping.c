/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Invalidations that wait for who uses a datum: they need no memory, and keep their place
 * in its queue.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../api/claim.h"

int claim_failures;

enum { MANY = 20000 };

static long resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = -1;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		pages = -1;
	if (file)
		fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void start(void)
{
	CLAIM_EQ(starpu_init(NULL), 0);
}

static starpu_data_handle_t new_datum(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, -1, 0, sizeof(double));
	return handle;
}

static int is_valid(starpu_data_handle_t handle)
{
	int is_allocated = 0, is_there = 0, is_loading = 0, is_requested = 0;

	starpu_data_query_status2(handle, STARPU_MAIN_RAM, &is_allocated, &is_there,
				  &is_loading, &is_requested);
	return is_there;
}

static void many_that_wait_need_no_memory(void)
{
	static starpu_data_handle_t handles[MANY];
	long before, after;

	start();
	for (int i = 0; i < MANY; i++) {
		handles[i] = new_datum();
		CLAIM_EQ(starpu_data_acquire(handles[i], STARPU_W), 0);
	}
	before = resident_bytes();
	for (int i = 0; i < MANY; i++)
		starpu_data_invalidate_submit(handles[i]);
	after = resident_bytes();
	CLAIM(before > 0 && after - before < MANY * 50L);
	for (int i = 0; i < MANY; i++)
		CLAIM(is_valid(handles[i]));
	for (int i = 0; i < MANY; i++)
		starpu_data_release(handles[i]);
	starpu_task_wait_for_all();
	for (int i = 0; i < MANY; i++) {
		CLAIM(!is_valid(handles[i]));
		starpu_data_unregister(handles[i]);
	}
	starpu_shutdown();
}

struct witness {
	starpu_data_handle_t handle;
	int when, *clock;
};

static void note(void *arg)
{
	struct witness *witness = arg;

	witness->when = ++*witness->clock;
	starpu_data_release(witness->handle);
}

/* A reader before it, a writer and a reader behind it, and another one at the end. */
static void it_keeps_its_place(void)
{
	starpu_data_handle_t handle;
	int clock = 0;
	struct witness before, writer, reader;

	start();
	handle = new_datum();
	before = writer = reader = (struct witness){handle, 0, &clock};
	CLAIM_EQ(starpu_data_acquire(handle, STARPU_W), 0);
	CLAIM_EQ(starpu_data_acquire_cb(handle, STARPU_R, note, &before), 0);
	starpu_data_invalidate_submit(handle);
	CLAIM_EQ(starpu_data_acquire_cb(handle, STARPU_W, note, &writer), 0);
	CLAIM_EQ(starpu_data_acquire_cb(handle, STARPU_R, note, &reader), 0);
	CLAIM_EQ(clock, 0);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	CLAIM_EQ(before.when, 1);
	CLAIM_EQ(writer.when, 2);
	CLAIM_EQ(reader.when, 3);
	CLAIM(is_valid(handle));

	CLAIM_EQ(starpu_data_acquire(handle, STARPU_R), 0);
	starpu_data_invalidate_submit(handle);
	starpu_data_invalidate_submit(handle);
	/* Behind them there will be no value. */
	CLAIM_EQ(starpu_data_acquire_try(handle, STARPU_R), -EAGAIN);
	CLAIM(is_valid(handle));
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	CLAIM(!is_valid(handle));
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void the_end_of_a_datum_waits_for_it(void)
{
	starpu_data_handle_t handle;

	start();
	handle = new_datum();
	CLAIM_EQ(starpu_data_acquire(handle, STARPU_W), 0);
	starpu_data_invalidate_submit(handle);
	starpu_data_unregister_submit(handle);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"many that wait need no memory", many_that_wait_need_no_memory},
	{"it keeps its place", it_keeps_its_place},
	{"the end of a datum waits for it", the_end_of_a_datum_waits_for_it},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
