/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Two main memories of two cores each: of a platform, or those that hwloc is told to see
 * on a real machine (HWLOC_SYNTHETIC), which may refuse to place anything there.
 */
#include <stdlib.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { SMALL = 100, LARGE = 1 << 18, NEAR = 0, FAR = 1 };

static void add_one(void *buffers[], void *arg)
{
	int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	size_t n = STARPU_VECTOR_GET_NX(buffers[0]);

	*(unsigned *)arg = starpu_worker_get_memory_node(starpu_worker_get_id_check());
	for (size_t i = 0; i < n; i++)
		values[i]++;
}

static struct starpu_codelet adds = {
	.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};

static void memories(void)
{
	char name[32];

	CLAIM_EQ(starpu_memory_nodes_get_count(), 2);
	CLAIM_EQ(starpu_memory_nodes_get_numa_count(), 2);
	CLAIM_EQ(starpu_node_get_kind(FAR), STARPU_CPU_RAM);
	starpu_memory_node_get_name(FAR, name, sizeof(name));
	CLAIM(strcmp(name, "NUMA 1") == 0);
	CLAIM_EQ(starpu_memory_nodes_numa_id_to_devid(1), FAR);
	CLAIM_EQ(starpu_memory_nodes_numa_devid_to_id(FAR), 1);
	CLAIM_EQ(starpu_memory_nodes_numa_devid_to_id(2), -1);
	for (unsigned i = 0; i < 4; i++)
		CLAIM_EQ(starpu_worker_get_memory_node(i), i / 2);
	CLAIM_EQ(starpu_memory_get_total(NEAR), 5 << 20);
	CLAIM_EQ(starpu_memory_get_total(FAR), 3 << 20);
	CLAIM_EQ(starpu_memory_get_total_all_nodes(), 8 << 20);
}

/* Round the workers, so that the value goes from one memory to the other and back. */
static void values(int n, int rounds)
{
	int *all = calloc((size_t)n, sizeof(*all)), bad = 0;
	unsigned memory = 7, *seen = &memory;
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)all, (uint32_t)n,
				    sizeof(*all));
	for (int i = 0; i < rounds; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &adds;
		task->handles[0] = handle;
		task->cl_arg = seen;
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)i % 4;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM_EQ(memory, FAR);
	CLAIM(starpu_data_is_on_node(handle, FAR));
	starpu_data_unregister(handle);
	for (int i = 0; i < n; i++)
		bad += all[i] != rounds;
	CLAIM_EQ(bad, 0);
	free(all);
}

/* More than its limit lets it hold: values leave for the first memory. */
static void limited(void)
{
	enum { N = 6, INTS = 1 << 18 };
	starpu_data_handle_t handles[N];
	unsigned memory;

	for (int i = 0; i < N; i++) {
		int *all = calloc(INTS, sizeof(*all));
		struct starpu_task *task = starpu_task_create();

		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)all,
					    INTS, sizeof(*all));
		task->cl = &adds;
		task->handles[0] = handles[i];
		task->cl_arg = &memory;
		task->execute_on_a_specific_worker = 1;
		task->workerid = 2;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM(starpu_memory_get_used(FAR) <= 3 << 20);
	CLAIM(starpu_memory_get_used(FAR) > 0);
	for (int i = 0; i < N; i++) {
		int *all = starpu_data_handle_to_pointer(handles[i], STARPU_MAIN_RAM);

		starpu_data_unregister(handles[i]);
		CLAIM_EQ(all[0], 1);
		CLAIM_EQ(all[INTS - 1], 1);
		free(all);
	}
	CLAIM_EQ(starpu_memory_get_used(FAR), 0);
}

static void blocks(void)
{
	void *spread;
	uintptr_t small, large;

	CLAIM_EQ(starpu_malloc(&spread, LARGE), 0);
	memset(spread, 1, LARGE);
	small = starpu_malloc_on_node(FAR, SMALL);
	large = starpu_malloc_on_node(FAR, LARGE);
	memset((void *)small, 2, SMALL);
	memset((void *)large, 3, LARGE);
	CLAIM(starpu_get_memory_location_bitmap(spread, LARGE) != 0);
	CLAIM_EQ(starpu_get_memory_location_bitmap(spread, 0), -1);
	starpu_free_on_node(FAR, large, LARGE);
	starpu_free_on_node(FAR, small, SMALL);
	starpu_free_noflag(spread, LARGE);
}

/* What came from a node outlives it. */
static void late(void)
{
	void *ptr;

	CLAIM_EQ(starpu_init(NULL), 0);
	CLAIM_EQ(starpu_malloc(&ptr, LARGE), 0);
	starpu_shutdown();
	starpu_free_noflag(ptr, LARGE);
}

static void in_a_life(void (*check)(void))
{
	if (starpu_init(NULL) != 0)
		exit(77);
	check();
	starpu_shutdown();
}

static void numa_nodes_are_memories(void)
{
	in_a_life(memories);
}

static void blocks_of_each_and_of_all(void)
{
	in_a_life(blocks);
	late();
}

static void small_values(void)
{
	values(SMALL, 400);
}

static void large_values(void)
{
	values(LARGE, 40);
}

static void values_follow_their_tasks(void)
{
	in_a_life(small_values);
	in_a_life(large_values);
}

static void what_has_no_room_leaves(void)
{
	in_a_life(limited);
}

/* Nothing is allocated in the other memory, and nothing is copied there. */
static void mapped(void)
{
	static int all[LARGE];
	starpu_data_handle_t handle;

	CLAIM_EQ(starpu_map_enabled(), 1);
	starpu_vector_data_register(&handle, NEAR, (uintptr_t)all, LARGE, sizeof(*all));
	CLAIM_EQ(starpu_data_fetch_on_node(handle, FAR, 0), 0);
	CLAIM_EQ(starpu_data_test_if_mapped_on_node(handle, FAR), 1);
	CLAIM(starpu_data_handle_to_pointer(handle, FAR) == all);
	CLAIM_EQ(starpu_memory_get_used(FAR), 0);
	starpu_data_unregister(handle);
	small_values();
	large_values();
}

static void the_applications_memory_is_mapped(void)
{
	setenv("STARPU_ENABLE_MAP", "1", 1);
	in_a_life(mapped);
	unsetenv("STARPU_ENABLE_MAP");
}

static void without_the_variable_they_are_one(void)
{
	setenv("STARPU_USE_NUMA", "0", 1);
	CLAIM_EQ(starpu_init(NULL), 0);
	CLAIM_EQ(starpu_memory_nodes_get_count(), 1);
	CLAIM_EQ(starpu_worker_get_memory_node(3), STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_memory_nodes_numa_id_to_devid(0), STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_memory_nodes_numa_id_to_devid(1), -1);
	starpu_shutdown();
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"NUMA nodes are memories", numa_nodes_are_memories},
		{"blocks may be of each, or of all", blocks_of_each_and_of_all},
		{"values follow their tasks", values_follow_their_tasks},
		{"what has no room leaves", what_has_no_room_leaves},
		{"the application's memory is mapped", the_applications_memory_is_mapped},
		{"without the variable they are one", without_the_variable_they_are_one},
		{NULL, NULL},
	};

	setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
	if (argc > 1 && strcmp(argv[1], "refused") == 0) {
		setenv("HWLOC_THISSYSTEM", "1", 1);
		setenv("STARPU_WORKERS_GETBIND", "0", 1);
	}
	setenv("STARPU_USE_NUMA", "1", 1);
	setenv("STARPU_NCPU", "4", 1);
	setenv("STARPU_LIMIT_CPU_NUMA_0_MEM", "5", 1);
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", "3", 1);
	return claims_run(claims, 0);
}
