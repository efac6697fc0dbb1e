/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A disk reads a value that leaves with a function of the application's, and finds it
 * whole: whose bytes these are meanwhile, a datum's or its parts', nobody writes them
 * before the function has returned.  With STARPU_LIMIT_CPU_MEM=1, which list.txt sets.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "claim.h"

int claim_failures;

enum { BYTES = 600, NPARTS = 2, PATIENCE_MS = 1000 };

/* ---- a disk that looks twice ------------------------------------------ */

static struct {
	int is_armed, is_reading, was_written, nchanged; /* atomic */
} look;

static void set(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

static int get(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

/* 0: not in time. */
static int wait_for(const int *flag, int most_ms)
{
	for (int ms = 0; ms < most_ms && !get(flag); ms++)
		usleep(1000);
	return get(flag);
}

static void *plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static void *new_object(void *base, size_t size)
{
	(void)base;
	return calloc(1, size);
}

static void free_object(void *base, void *object, size_t size)
{
	(void)base;
	(void)size;
	free(object);
}

static int read_object(void *base, void *object, void *to, off_t offset, size_t size)
{
	(void)base;
	memcpy(to, (char *)object + offset, size);
	return 0;
}

static int write_object(void *base, void *object, const void *from, off_t offset,
			size_t size)
{
	const unsigned char *first = from;
	int before = __atomic_load_n(first, __ATOMIC_SEQ_CST);

	(void)base;
	if (__atomic_exchange_n(&look.is_armed, 0, __ATOMIC_SEQ_CST)) {
		set(&look.is_reading, 1);
		wait_for(&look.was_written, PATIENCE_MS);
		if (__atomic_load_n(first, __ATOMIC_SEQ_CST) != before)
			set(&look.nchanged, 1);
	}
	memcpy((char *)object + offset, from, size);
	return 0;
}

static struct starpu_disk_ops disk_ops = {.plug = plug,
					  .alloc = new_object,
					  .free = free_object,
					  .read = read_object,
					  .write = write_object};

/* ---- a vector, its parts and what makes it leave ------------------------ */

static void write_all(void *buffers[], void *arg)
{
	unsigned char *bytes = (unsigned char *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		__atomic_store_n(&bytes[i], (unsigned char)(bytes[i] + 1),
				 __ATOMIC_SEQ_CST);
	if (get(&look.is_reading))
		set(&look.was_written, 1);
}

static struct starpu_codelet begin = {
	.cpu_funcs = {write_all}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet go_on = {
	.cpu_funcs = {write_all}, .nbuffers = 1, .modes = {STARPU_RW}};

static struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
					   .nchildren = NPARTS};

static starpu_data_handle_t whole, parts[NPARTS];
static unsigned disk;

static void start(void)
{
	memset(&look, 0, sizeof(look));
	claim_start(2);
	disk = (unsigned)starpu_disk_register(&disk_ops, &look, -1);
	starpu_vector_data_register(&whole, -1, 0, BYTES, 1);
	starpu_data_partition_plan(whole, &halves, parts);
	starpu_task_insert(&begin, STARPU_W, whole, 0);
	starpu_task_wait_for_all();
}

static void let_it_leave(void)
{
	set(&look.is_armed, 1);
	CLAIM_EQ(starpu_data_evict_from_node(whole, STARPU_MAIN_RAM), 0);
	CLAIM(wait_for(&look.is_reading, 20000));
}

/* Each new value of the first part goes to the disk as well. */
static void write_part_through(void)
{
	starpu_data_set_wt_mask(parts[0], 1u << disk);
	starpu_data_partition_submit(whole, NPARTS, parts);
	set(&look.is_armed, 1);
	starpu_task_insert(&go_on, STARPU_RW, parts[0], 0);
	CLAIM(wait_for(&look.is_reading, 20000));
}

static void stop(void)
{
	starpu_task_wait_for_all();
	CLAIM_EQ(get(&look.nchanged), 0);
	CLAIM_EQ(get(&look.was_written), 1);
	starpu_data_partition_clean(whole, NPARTS, parts);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* ---- claims ------------------------------------------------------------- */

static void a_part_waits_for_who_reads_the_whole(void)
{
	start();
	let_it_leave();
	starpu_data_partition_submit(whole, NPARTS, parts);
	starpu_task_insert(&go_on, STARPU_RW, parts[0], 0);
	starpu_data_unpartition_submit(whole, NPARTS, parts, -1);
	stop();
}

static void a_part_that_was_read_before_waits(void)
{
	start();
	let_it_leave();
	starpu_data_partition_readonly_submit(whole, NPARTS, parts);
	starpu_data_partition_readwrite_upgrade_submit(whole, NPARTS, parts);
	starpu_task_insert(&go_on, STARPU_RW, parts[0], 0);
	starpu_data_unpartition_submit(whole, NPARTS, parts, -1);
	stop();
}

static void the_whole_waits_for_who_reads_a_part(void)
{
	start();
	write_part_through();
	starpu_data_unpartition_submit(whole, NPARTS, parts, -1);
	starpu_task_insert(&go_on, STARPU_RW, whole, 0);
	stop();
}

static void the_whole_that_was_read_before_waits(void)
{
	start();
	write_part_through();
	starpu_data_partition_readonly_downgrade_submit(whole, NPARTS, parts);
	starpu_data_unpartition_submit(whole, NPARTS, parts, -1);
	starpu_task_insert(&go_on, STARPU_RW, whole, 0);
	stop();
}

int main(void)
{
	static const struct claim claims[] = {
		{"who writes a part waits for who copies the whole",
		 a_part_waits_for_who_reads_the_whole},
		{"also after the parts were read only",
		 a_part_that_was_read_before_waits},
		{"who writes the whole waits for who copies a part",
		 the_whole_waits_for_who_reads_a_part},
		{"also after it was read only", the_whole_that_was_read_before_waits},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
