/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What is said about data and where they should be: no value depends on it. */
#include <stdint.h>
#include <string.h>

#include <starpu_profiling.h>
#include <starpu_scheduler.h>

#include "claim.h"

int claim_failures;

enum { N = 1000 };

static int values[N];

static starpu_data_handle_t start(void)
{
	starpu_data_handle_t handle;

	if (starpu_init(NULL) != 0)
		exit(77);
	for (int i = 0; i < N; i++)
		values[i] = i;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, N,
				    sizeof(int));
	return handle;
}

static void add_one(void *buffers[], void *arg)
{
	int *vector = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		vector[i]++;
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 10;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "hints"};
static struct starpu_codelet cl = {.cpu_funcs = {add_one},
				   .cpu_funcs_name = {"add_one"},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .model = &model};

/* All hints at once, between tasks. */
static void hints_change_no_value(void)
{
	starpu_data_handle_t handle = start();
	unsigned nmemories = starpu_memory_nodes_get_count();

	starpu_data_set_wt_mask(handle, ~0u);
	for (int t = 0; t < 20; t++) {
		unsigned memory = (unsigned)t % nmemories;

		CLAIM_EQ(starpu_task_insert(&cl, STARPU_RW, handle, 0), 0);
		CLAIM_EQ(starpu_data_prefetch_on_node_prio(handle, memory, 1, t % 3), 0);
		CLAIM_EQ(starpu_data_idle_prefetch_on_node_prio(handle, memory, 1, t), 0);
		CLAIM_EQ(starpu_data_idle_prefetch_on_node(handle, memory, 1), 0);
		CLAIM_EQ(starpu_data_request_allocation(handle, memory), 0);
		starpu_data_advise_as_important(handle, (unsigned)t % 2);
		starpu_memchunk_tidy(memory);
	}
	starpu_data_set_wt_mask(handle, 0);
	starpu_data_unregister(handle);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(values[i], i + 20);
	starpu_shutdown();
}

static void a_request_gives_a_buffer(void)
{
	starpu_data_handle_t handle = start(), other;
	unsigned last = starpu_memory_nodes_get_count() - 1;

	starpu_data_register_same(&other, handle);
	CLAIM_EQ(starpu_data_test_if_allocated_on_node(other, last), 0);
	CLAIM_EQ(starpu_data_request_allocation(other, last), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(starpu_data_test_if_allocated_on_node(other, last), 1);
	CLAIM_EQ(starpu_data_acquire(other, STARPU_W), 0);
	CLAIM(starpu_data_get_local_ptr(other) != NULL);
	starpu_data_release(other);
	starpu_data_unregister(other);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void what_is_there_costs_nothing(void)
{
	starpu_data_handle_t handle = start();
	unsigned last = starpu_memory_nodes_get_count() - 1;
	struct starpu_task *task = starpu_task_create();
	double us = starpu_data_expected_transfer_time(handle, last, STARPU_R);

	CLAIM_EQ(starpu_data_expected_transfer_time(handle, STARPU_MAIN_RAM, STARPU_RW),
		 0);
	CLAIM(last == STARPU_MAIN_RAM ? us == 0 : us > 0);
	CLAIM_EQ(starpu_data_expected_transfer_time(handle, last, STARPU_W), 0);
	task->cl = &cl;
	task->handles[0] = handle;
	CLAIM(starpu_task_expected_data_transfer_time(last, task) == us);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		CLAIM(starpu_task_expected_data_transfer_time_for(task, i) ==
		      starpu_data_expected_transfer_time(
			      handle, starpu_worker_get_memory_node(i), STARPU_RW));
	CLAIM_EQ(starpu_get_prefetch_flag(), 1);
	task->destroy = 0;
	starpu_task_destroy(task);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* ---- a word before the copy ------------------------------------------ */

static int ngranted, nacquired;
static starpu_data_handle_t acquired;

static void granted(void *arg, int *node, enum starpu_data_access_mode mode)
{
	CLAIM(arg == &ngranted);
	CLAIM_EQ(*node, STARPU_ACQUIRE_NO_NODE);
	CLAIM_EQ(mode, STARPU_RW);
	CLAIM_EQ(nacquired, 0);
	*node = STARPU_MAIN_RAM;
	ngranted++;
}

static void use(void *arg)
{
	CLAIM(arg == &ngranted);
	CLAIM_EQ(ngranted, 1);
	nacquired++;
	values[0] += 100;
	starpu_data_release_on_node(acquired, STARPU_MAIN_RAM);
}

static void the_node_may_be_chosen_late(void)
{
	long before = 7, after = 7;

	acquired = start();
	ngranted = nacquired = 0;
	CLAIM_EQ(starpu_task_insert(&cl, STARPU_RW, acquired, 0), 0);
	CLAIM_EQ(starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
			 acquired, STARPU_ACQUIRE_NO_NODE, STARPU_RW, granted, use,
			 &ngranted, 1, 0, &before, &after, 0),
		 0);
	CLAIM_EQ(before, -1);
	CLAIM_EQ(after, -1);
	CLAIM_EQ(starpu_task_insert(&cl, STARPU_RW, acquired, 0), 0);
	starpu_data_unregister(acquired);
	CLAIM_EQ(nacquired, 1);
	CLAIM_EQ(values[0], 102);
	starpu_shutdown();
}

/* ---- texts ------------------------------------------------------------ */

static void data_are_shown(void)
{
	starpu_data_handle_t handle = start(), other;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	starpu_data_register_same(&other, handle);
	starpu_data_set_name(handle, "numbers");
	CLAIM_EQ(starpu_data_acquire(handle, STARPU_R), 0);
	starpu_data_print(handle, STARPU_MAIN_RAM, stream);
	starpu_data_print(other, STARPU_MAIN_RAM, stream);
	starpu_data_release(handle);
	fclose(stream);
	CLAIM(strstr(text, "STARPU_VECTOR_INTERFACE data \"numbers\" (V1000x4) in memory "
			   "node 0: 0 0x1 0x2 0x3 ") != NULL);
	CLAIM(strstr(text, " 0xf ... (1000 elements)\n") != NULL);
	CLAIM(strstr(text, "node 0: no buffer\n") != NULL);
	free(text);
	starpu_data_unregister(other);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void numbers_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%zu\tbytes\n", starpu_data_get_size(handle));
}

/* Of a kind that cannot be packed. */
static void kinds_show_themselves(void)
{
	static struct starpu_data_interface_ops ops;
	static int numbers[3];
	struct starpu_vector_interface vector = {.id = STARPU_VECTOR_INTERFACE_ID,
						 .ptr = (uintptr_t)numbers,
						 .dev_handle = (uintptr_t)numbers,
						 .nx = 3,
						 .elemsize = sizeof(*numbers)};
	starpu_data_handle_t first = start(), handle;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	ops = starpu_interface_vector_ops;
	ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
	ops.pack_data = NULL;
	ops.display = numbers_display;
	starpu_data_register(&handle, STARPU_MAIN_RAM, &vector, &ops);
	starpu_data_print(handle, STARPU_MAIN_RAM, stream);
	fclose(stream);
	CLAIM(strstr(text, "node 0: 12 bytes \n") != NULL);
	free(text);
	starpu_data_unregister(handle);
	starpu_data_unregister(first);
	starpu_shutdown();
}

static void memories_are_shown(void)
{
	starpu_data_handle_t handle = start();
	char text[4096] = {0};
	FILE *file = tmpfile(), *before = stderr;

	CLAIM_EQ(starpu_data_acquire(handle, STARPU_R), 0);
	starpu_data_release(handle);
	stderr = file;
	starpu_data_display_memory_stats();
	stderr = before;
	rewind(file);
	CLAIM(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	CLAIM(strstr(text, "memory node 0 (") == text);
	CLAIM(strstr(text, "1 data, with the memory nodes") != NULL);
	CLAIM(strstr(text, "(V1000x4), 4000 bytes: 0\n") != NULL);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"hints change no value", hints_change_no_value},
	{"a request gives a buffer", a_request_gives_a_buffer},
	{"what is there costs nothing", what_is_there_costs_nothing},
	{"the node may be chosen late", the_node_may_be_chosen_late},
	{"data are shown", data_are_shown},
	{"kinds without packing show themselves", kinds_show_themselves},
	{"memories are shown", memories_are_shown},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
