/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Values that leave main memory for disks: who, where to, and what happens when nobody
 * takes them.  Main memory has room for ROOM values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/data.h"
#include "core/stuck.h"
#include "fake.h"

enum { INTS = 256, BYTES = INTS * sizeof(int), ROOM = 3, NDATA = 8 };

static struct {
	struct node *node;
	starpu_data_handle_t data[NDATA];
	int disk, nwrites, nreads, nobjects, nfailures; /* failures to come */
	int nwrong, nrun;
	size_t most_bytes; /* used in main memory when a task ran */
} world;

/* ---- a disk in memory ------------------------------------------------- */

static void *plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static void *object_new(void *base, size_t size)
{
	(void)base;
	world.nobjects++;
	return calloc(1, size);
}

static void object_free(void *base, void *object, size_t size)
{
	(void)base;
	(void)size;
	world.nobjects--;
	free(object);
}

static int object_read(void *base, void *object, void *to, off_t offset, size_t size)
{
	(void)base;
	world.nreads++;
	memcpy(to, (char *)object + offset, size);
	return 0;
}

static int object_write(void *base, void *object, const void *from, off_t offset,
			size_t size)
{
	(void)base;
	world.nwrites++;
	if (world.nfailures > 0) {
		world.nfailures--;
		return -ENOSPC;
	}
	memcpy((char *)object + offset, from, size);
	return 0;
}

static struct starpu_disk_ops disk_ops = {.plug = plug,
					  .alloc = object_new,
					  .free = object_free,
					  .read = object_read,
					  .write = object_write};

static int add_disk(size_t bytes)
{
	int disk = starpu_disk_register(&disk_ops, &world, -1);

	world.node->memories[disk].capacity_bytes = bytes;
	return disk;
}

/* ---- the machine ------------------------------------------------------ */

static void start_with(int ncpus, int ngpus)
{
	memset(&world, 0, sizeof(world));
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = ncpus;
	fake_machine()->ngpus = ngpus;
	fake_machine()->no_peer_copies = 1;
	setenv("STARPU_LIMIT_CPU_MEM", "1", 1);
	assert_int_equal(starpu_init(NULL), 0);
	unsetenv("STARPU_LIMIT_CPU_MEM");
	world.node = plat_self();
	world.node->memories[0].capacity_bytes = (size_t)ROOM * BYTES;
	for (int i = 0; i < NDATA; i++)
		starpu_vector_data_register(&world.data[i], -1, 0, INTS, sizeof(int));
}

static void start(int ngpus)
{
	start_with(1, ngpus);
}

static void stop(void)
{
	for (int i = 0; i < NDATA; i++)
		if (world.data[i])
			starpu_data_unregister_no_coherency(world.data[i]);
	assert_int_equal(starpu_memory_get_used(0), 0);
	starpu_shutdown();
	fake_stop();
	assert_int_equal(world.nobjects, 0);
	assert_int_equal(world.nwrong, 0);
}

/* ---- tasks ------------------------------------------------------------ */

static void note(void)
{
	size_t used = world.node->memories[0].used_bytes;

	world.nrun++;
	if (used > world.most_bytes)
		world.most_bytes = used;
}

static void fill(void *buffers[], void *arg)
{
	int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	note();
	for (int i = 0; i < INTS; i++)
		values[i] = (int)(intptr_t)arg + i;
}

static void look(void *buffers[], void *arg)
{
	const int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	note();
	for (int i = 0; i < INTS; i++)
		world.nwrong += values[i] != (int)(intptr_t)arg + i;
}

static struct starpu_codelet fills = {
	.cpu_funcs = {fill}, .cuda_funcs = {fill}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet looks = {
	.cpu_funcs = {look}, .cuda_funcs = {look}, .nbuffers = 1, .modes = {STARPU_R}};

/* On the last worker, a core, or the first, a GPU if there is one. */
static void submit_at(struct starpu_codelet *cl, int i, unsigned worker)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)(1000 * i);
	task->handles[0] = world.data[i];
	task->execute_on_a_specific_worker = 1;
	task->workerid = worker;
	assert_int_equal(starpu_task_submit(task), 0);
}

static void submit(struct starpu_codelet *cl, int i)
{
	submit_at(cl, i, starpu_worker_get_count() - 1);
}

static void fill_all(void)
{
	for (int i = 0; i < NDATA; i++)
		submit(&fills, i);
	assert_int_equal(starpu_task_wait_for_all(), 0);
}

static void look_at_all(void)
{
	for (int i = 0; i < NDATA; i++)
		submit(&looks, i);
	assert_int_equal(starpu_task_wait_for_all(), 0);
}

static int is_valid(int i, int memory)
{
	int allocated, valid, requested;

	starpu_data_query_status(world.data[i], memory, &allocated, &valid, &requested);
	return valid;
}

/* ---- claims ----------------------------------------------------------- */

static void what_has_no_room_goes_to_the_disk(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk(0);
	fill_all();
	assert_true(is_valid(0, world.disk));
	assert_false(is_valid(0, 0));
	assert_true(is_valid(NDATA - 1, 0));
	assert_int_equal(world.nreads, 0);
	look_at_all();
	assert_true(world.nreads > 0);
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	/* What was only read is there still, and is not written again. */
	world.nwrites = 0;
	look_at_all();
	look_at_all();
	assert_true(world.nwrites <= 2 * ROOM);
	stop();
}

static void by_main_memory_to_and_from_a_device(void **state)
{
	(void)state;
	start(1);
	world.disk = add_disk(0);
	world.node->memories[1].capacity_bytes = (size_t)2 * BYTES;
	for (int i = 0; i < NDATA; i++)
		submit_at(&fills, i, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_true(is_valid(0, world.disk));
	for (int i = 0; i < NDATA; i++)
		submit_at(&looks, i, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	look_at_all();
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	stop();
}

static void some_stay(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk(0);
	assert_int_equal(starpu_data_get_ooc_flag(world.data[0]), 1);
	starpu_data_set_ooc_flag(world.data[0], 0);
	assert_int_equal(starpu_data_get_ooc_flag(world.data[0]), 0);
	fill_all();
	assert_true(is_valid(0, 0));
	assert_false(is_valid(0, world.disk));
	assert_int_equal(starpu_data_evict_from_node(world.data[0], 0), -1);
	starpu_data_set_ooc_flag(world.data[0], 1);
	assert_int_equal(starpu_data_evict_from_node(world.data[0], 0), 0);
	fake_run();
	assert_true(is_valid(0, world.disk));
	assert_false(is_valid(0, 0));
	look_at_all();
	stop();
}

/* A disk of the size that is needed is used to the last byte; stale and double values
 * leave it. */
static void a_disk_is_used_to_the_last_byte(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk((size_t)(NDATA - ROOM + 1) * BYTES);
	fill_all();
	for (int round = 0; round < 3; round++) {
		look_at_all();
		fill_all();
	}
	look_at_all();
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	assert_true(world.node->memories[world.disk].used_bytes <=
		    world.node->memories[world.disk].capacity_bytes);
	stop();
}

/* Under a policy that lets a core take a task ahead, so that two values leave at a time.
 */
static void two_disks_share(void **state)
{
	int other;

	(void)state;
	setenv("STARPU_SCHED", "random", 1);
	start(0);
	unsetenv("STARPU_SCHED");
	world.disk = add_disk(0);
	other = add_disk(0);
	fill_all();
	look_at_all();
	assert_true(world.node->memories[world.disk].used_bytes > 0);
	assert_true(world.node->memories[other].used_bytes > 0);
	stop();
}

/* ---- nobody takes them ------------------------------------------------- */

static void a_value_that_cannot_be_written_stays(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk(0);
	world.nfailures = 1 << 20;
	fill_all();
	for (int i = 0; i < NDATA; i++)
		assert_true(is_valid(i, 0));
	look_at_all();
	assert_int_equal(world.nrun, 2 * NDATA);
	/* The limit was left behind: there was no other way. */
	assert_true(world.most_bytes > (size_t)ROOM * BYTES);
	stop();
}

static void another_disk_takes_them(void **state)
{
	(void)state;
	start(0);
	add_disk(0);
	world.nfailures = 1;
	world.disk = add_disk(0);
	fill_all();
	look_at_all();
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	stop();
}

static void a_disk_too_small_takes_what_it_can(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk((size_t)2 * BYTES);
	fill_all();
	look_at_all();
	assert_true(world.nwrites >= 2);
	assert_int_equal(world.nrun, 2 * NDATA);
	stop();
}

static void say(void *arg, const char *text)
{
	if (strstr(text, "waits for room in memory node 0"))
		++*(int *)arg;
}

/* Without a disk they wait until somebody ends data: here nobody does at first. */
static void without_a_disk_tasks_wait(void **state)
{
	int nsaid = 0;

	(void)state;
	start(0);
	for (int i = 0; i < NDATA; i++)
		submit(&fills, i);
	assert_int_equal(starpu_task_wait_for_all(), -EDEADLK);
	assert_int_equal(world.nrun, ROOM);
	stuck_describe(world.node, say, &nsaid);
	assert_int_equal(nsaid, 1);
	for (int i = 0; i < NDATA - ROOM; i++) {
		starpu_data_unregister_submit(world.data[i]);
		world.data[i] = NULL;
	}
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(world.nrun, NDATA);
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	stop();
}

static void run_alone(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	world.nrun++;
}

/* Others stand in line. */
static void who_needs_no_room_does_not_wait(void **state)
{
	static struct starpu_codelet alone = {.cpu_funcs = {run_alone}};
	struct starpu_task *task;

	(void)state;
	start_with(2, 0);
	for (int i = 0; i < NDATA; i++)
		submit_at(&fills, i, 0);
	assert_int_equal(starpu_task_wait_for_all(), -EDEADLK);
	assert_int_equal(world.nrun, ROOM);
	task = starpu_task_create();
	task->cl = &alone;
	task->execute_on_a_specific_worker = 1;
	task->workerid = 1;
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(starpu_task_wait_for_all(), -EDEADLK);
	assert_int_equal(world.nrun, ROOM + 1);
	for (int i = 0; i < NDATA - ROOM; i++) {
		starpu_data_unregister_submit(world.data[i]);
		world.data[i] = NULL;
	}
	assert_int_equal(starpu_task_wait_for_all(), 0);
	stop();
}

/* ---- the application --------------------------------------------------- */

static void the_application_does_not_wait(void **state)
{
	(void)state;
	start(0);
	world.disk = add_disk(0);
	fill_all();
	for (int i = 0; i < NDATA; i++)
		assert_int_equal(starpu_data_acquire(world.data[i], STARPU_R), 0);
	assert_int_equal(starpu_memory_get_used(0), NDATA * BYTES);
	/* One task at a time runs beside it. */
	look_at_all();
	for (int i = 0; i < NDATA; i++)
		starpu_data_release(world.data[i]);
	fake_run();
	assert_true(starpu_memory_get_used(0) <= (size_t)ROOM * BYTES);
	stop();
}

static void who_asks_for_memory_makes_values_leave(void **state)
{
	const int waits = (int)(STARPU_MALLOC_COUNT | STARPU_MEMORY_WAIT);
	void *memory;

	(void)state;
	start(0);
	world.disk = add_disk(0);
	fill_all();
	assert_int_equal(starpu_malloc_flags(&memory, (size_t)2 * BYTES, waits), 0);
	assert_int_equal(starpu_memory_get_available(0),
			 BYTES - (long)world.node->memories[0].used_bytes + 2 * BYTES);
	look_at_all();
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	starpu_free_flags(memory, (size_t)2 * BYTES, waits);
	starpu_memory_wait_available(0, (size_t)ROOM * BYTES);
	assert_int_equal(starpu_memory_get_used(0), 0);
	look_at_all();
	stop();
}

static void several_main_memories_share(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = 2;
	fake_machine()->nnumas = 2;
	fake_machine()->numa_bytes = 2 * BYTES;
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", "1", 1);
	assert_int_equal(starpu_init(NULL), 0);
	unsetenv("STARPU_LIMIT_CPU_NUMA_MEM");
	world.node = plat_self();
	world.node->memories[0].capacity_bytes = (size_t)ROOM * BYTES;
	for (int i = 0; i < NDATA; i++)
		starpu_vector_data_register(&world.data[i], -1, 0, INTS, sizeof(int));
	world.disk = add_disk(0);
	for (int i = 0; i < NDATA; i++)
		submit_at(&fills, i, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	/* Some are beside, the others on the disk. */
	assert_true(world.node->memories[1].used_bytes > 0);
	assert_true(world.node->memories[world.disk].used_bytes > 0);
	look_at_all();
	for (int i = 0; i < NDATA; i++)
		submit_at(&looks, i, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_true(world.most_bytes <= (size_t)ROOM * BYTES);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_room_goes_to_the_disk),
		cmocka_unit_test(by_main_memory_to_and_from_a_device),
		cmocka_unit_test(some_stay),
		cmocka_unit_test(a_disk_is_used_to_the_last_byte),
		cmocka_unit_test(two_disks_share),
		cmocka_unit_test(a_value_that_cannot_be_written_stays),
		cmocka_unit_test(another_disk_takes_them),
		cmocka_unit_test(a_disk_too_small_takes_what_it_can),
		cmocka_unit_test(without_a_disk_tasks_wait),
		cmocka_unit_test(who_needs_no_room_does_not_wait),
		cmocka_unit_test(the_application_does_not_wait),
		cmocka_unit_test(who_asks_for_memory_makes_values_leave),
		cmocka_unit_test(several_main_memories_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
