/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Functions that hardly any program calls. */
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

static void start(void)
{
	claim_start(2);
}

/* ---- packed arguments -------------------------------------------------- */

static void arguments_are_packed_one_by_one(void)
{
	struct starpu_codelet_pack_arg_data state;
	int one = 1, seen = 0;
	double two = 2.5;
	char three[] = "three", nothing = 0;
	void *packed = NULL, *at = NULL;
	size_t bytes = 0, size = 0;

	starpu_codelet_pack_arg_init(&state);
	starpu_codelet_pack_arg(&state, &one, sizeof(one));
	starpu_codelet_pack_arg(&state, &two, sizeof(two));
	starpu_codelet_pack_arg(&state, three, sizeof(three));
	starpu_codelet_pack_arg(&state, &nothing, 0);
	starpu_codelet_pack_arg(&state, &one, sizeof(one));
	starpu_codelet_pack_arg_fini(&state, &packed, &bytes);
	CLAIM(packed && bytes >= 2 * sizeof(one) + sizeof(two) + sizeof(three));

	starpu_codelet_unpack_arg_init(&state, packed, bytes);
	starpu_codelet_unpack_arg(&state, &seen, sizeof(seen));
	CLAIM_EQ(seen, 1);
	starpu_codelet_unpack_discard_arg(&state);
	starpu_codelet_dup_arg(&state, &at, &size);
	CLAIM_EQ(size, sizeof(three));
	CLAIM((char *)at < (char *)packed || (char *)at >= (char *)packed + bytes);
	CLAIM(strcmp(at, "three") == 0);
	free(at);
	starpu_codelet_dup_arg(&state, &at, &size);
	CLAIM_EQ(size, 0);
	free(at);
	starpu_codelet_pick_arg(&state, &at, &size);
	CLAIM_EQ(size, sizeof(one));
	CLAIM((char *)at > (char *)packed && (char *)at + size <= (char *)packed + bytes);
	CLAIM(memcmp(at, &one, sizeof(one)) == 0);
	starpu_codelet_unpack_arg_fini(&state);
	free(packed);
}

static void no_arguments_are_packed_too(void)
{
	struct starpu_codelet_pack_arg_data state;
	void *packed = NULL;
	size_t bytes = 0;

	starpu_codelet_pack_arg_init(&state);
	starpu_codelet_pack_arg_fini(&state, &packed, &bytes);
	if (packed) {
		starpu_codelet_unpack_arg_init(&state, packed, bytes);
		starpu_codelet_unpack_arg_fini(&state);
	}
	free(packed);
}

/* ---- tasks ----------------------------------------------------------------- */

enum { NMANY = STARPU_NMAXBUFS + 4 };

static int nbuffers_seen;
static long sum_seen;

static void add_all(void *buffers[], void *arg)
{
	(void)arg;
	nbuffers_seen = (int)STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());
	sum_seen = 0;
	for (int i = 0; i < nbuffers_seen; i++)
		sum_seen += *(long *)STARPU_VARIABLE_GET_PTR(buffers[i]);
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 100;
}

static struct starpu_codelet any = {.cpu_funcs = {add_all},
				    .cpu_funcs_name = {"add_all"},
				    .model = &starpu_perfmodel_nop,
				    .nbuffers = STARPU_VARIABLE_NBUFFERS};

/* One at a time, with their modes, and more than a task has without a list of its own. */
static void buffers_are_added_to_a_task(void)
{
	starpu_data_handle_t handles[NMANY];
	struct starpu_data_descr described[2];
	struct starpu_task *task;
	long values[NMANY];
	int room = 0, n = 0;

	start();
	for (int i = 0; i < NMANY; i++) {
		values[i] = i + 1;
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(long));
	}
	task = starpu_task_create();
	task->cl = &any;
	starpu_task_insert_data_process_arg(&any, task, &room, &n, STARPU_RW, handles[0]);
	starpu_task_insert_data_make_room(&any, task, &room, n, NMANY - n);
	CLAIM_EQ(n, 1);
	for (int i = 0; i < 2; i++)
		described[i] = (struct starpu_data_descr){.handle = handles[1 + i],
							  .mode = STARPU_R};
	starpu_task_insert_data_process_mode_array_arg(&any, task, &room, &n, 2,
						       described);
	CLAIM_EQ(n, 3);
	for (int i = 3; i < NMANY; i++)
		starpu_task_insert_data_process_arg(&any, task, &room, &n, STARPU_R,
						    handles[i]);
	CLAIM_EQ(n, NMANY);
	task->nbuffers = n;
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NMANY; i++)
		starpu_data_unregister(handles[i]);
	if (nbuffers_seen > 0) { /* Simulation need not call it. */
		CLAIM_EQ(nbuffers_seen, NMANY);
		CLAIM_EQ(sum_seen, NMANY * (NMANY + 1) / 2);
		CLAIM_EQ(values[0], 101);
	}
	starpu_shutdown();
}

static struct starpu_codelet pair = {.cpu_funcs = {add_all},
				     .cpu_funcs_name = {"add_all"},
				     .model = &starpu_perfmodel_nop,
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_R}};

static void a_task_is_set(void)
{
	starpu_data_handle_t handles[2];
	struct starpu_task task;
	long values[2] = {3, 4};
	int room = 0, n = 0;

	start();
	for (int i = 0; i < 2; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(long));
	starpu_task_init(&task);
	CLAIM_EQ(starpu_task_set(&task, &pair, STARPU_RW, handles[0], STARPU_R,
				 handles[1], STARPU_PRIORITY, 1, STARPU_NAME, "set", 0),
		 0);
	CLAIM(task.cl == &pair && task.handles[1] == handles[1]);
	CLAIM_EQ(task.priority, 1);
	CLAIM(task.name && strcmp(task.name, "set") == 0);
	task.detach = 0;
	task.destroy = 0;
	CLAIM_EQ(starpu_task_submit(&task), 0);
	CLAIM_EQ(starpu_task_wait(&task), 0);
	starpu_task_clean(&task);

	starpu_task_init(&task);
	task.cl = &pair;
	starpu_task_insert_data_process_array_arg(&pair, &task, &room, &n, 2, handles);
	CLAIM_EQ(n, 2);
	CLAIM(task.handles[0] == handles[0] && task.handles[1] == handles[1]);
	task.detach = 0;
	task.destroy = 0;
	CLAIM_EQ(starpu_task_submit(&task), 0);
	CLAIM_EQ(starpu_task_wait(&task), 0);
	starpu_task_clean(&task);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
}

/* ---- the rest --------------------------------------------------------------- */

static void coordinates_are_kept(void)
{
	int dims[] = {1, 2, 3, 4, 5, 6, 7}, seen[8] = {0};
	starpu_data_handle_t handle;
	long value = 0;

	start();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	CLAIM_EQ(starpu_data_get_coordinates_array(handle, 8, seen), 0);
	starpu_data_set_coordinates_array(handle, 2, dims);
	CLAIM_EQ(starpu_data_get_coordinates_array(handle, 8, seen), 2);
	CLAIM(seen[0] == 1 && seen[1] == 2 && seen[2] == 0);
	starpu_data_set_coordinates_array(handle, 7, dims);
	CLAIM_EQ(starpu_data_get_coordinates_array(handle, 8, seen), 5);
	CLAIM(seen[4] == 5 && seen[5] == 0);
	memset(seen, 0, sizeof(seen));
	CLAIM_EQ(starpu_data_get_coordinates_array(handle, 3, seen), 3);
	CLAIM(seen[2] == 3 && seen[3] == 0);
	starpu_data_set_coordinates_array(handle, 0, dims);
	CLAIM_EQ(starpu_data_get_coordinates_array(handle, 8, seen), 0);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void hashes_go_on(void)
{
	const char text[] = "orrery";
	void *pointer = (void *)(uintptr_t)text;
	uint32_t begun = starpu_hash_crc32c_be_n(text, 3, 7);

	CLAIM_EQ(starpu_hash_crc32c_string(text, 7),
		 starpu_hash_crc32c_be_n(text + 3, 3, begun));
	CLAIM_EQ(starpu_hash_crc32c_string("", 7), 7);
	CLAIM_EQ(starpu_hash_crc32c_be_ptr(pointer, 1),
		 starpu_hash_crc32c_be_n(&pointer, sizeof(pointer), 1));
}

static void the_environment_is_read(void)
{
	const char *words[] = {"few", "some", "many", NULL};
	int major = -1, minor = -1, release = -1;

	starpu_get_version(&major, &minor, &release);
	CLAIM(major == STARPU_MAJOR_VERSION && minor == STARPU_MINOR_VERSION);
	CLAIM(release >= 0);
	unsetenv("RARELY_WORD");
	CLAIM_EQ(starpu_get_env_string_var_default("RARELY_WORD", words, 1), 1);
	setenv("RARELY_WORD", "many", 1);
	CLAIM_EQ(starpu_get_env_string_var_default("RARELY_WORD", words, 1), 2);
	setenv("RARELY_WORD", "None", 1);
	CLAIM_EQ(starpu_get_env_string_var_default("RARELY_WORD", words, 1), 1);
	unsetenv("RARELY_WORD");
}

static void memories_are_asked_together(void)
{
	size_t used;

	setenv("STARPU_LIMIT_CPU_MEM", "64", 1);
	start();
	used = starpu_memory_get_used_all_nodes();
	CLAIM_EQ(starpu_memory_get_available_all_nodes(),
		 starpu_memory_get_total_all_nodes() < 0
			 ? -1
			 : starpu_memory_get_total_all_nodes() - (starpu_ssize_t)used);
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CPU_MEM");
	start();
	CLAIM_EQ(starpu_memory_get_available_all_nodes(), -1);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"arguments are packed one by one", arguments_are_packed_one_by_one},
	{"no arguments are packed, too", no_arguments_are_packed_too},
	{"buffers are added to a task", buffers_are_added_to_a_task},
	{"a task is set", a_task_is_set},
	{"coordinates are kept", coordinates_are_kept},
	{"hashes go on", hashes_go_on},
	{"the environment is read", the_environment_is_read},
	{"memories are asked together", memories_are_asked_together},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
