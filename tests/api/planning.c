/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Data are planned to be cut while tasks give them memory and another thread submits more
 * of these. */
#include <pthread.h>
#include <stdint.h>

#include "claim.h"

int claim_failures;

enum { NX = 64, NPARTS = 4, NROUNDS = 100, NREADERS = 8 };

static int nwrong;

static void set(void *buffers[], void *arg)
{
	int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		values[i] = (int)(intptr_t)arg;
}

static void look(void *buffers[], void *arg)
{
	const int *values = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		if (values[i] != (int)(intptr_t)arg)
			(void)STARPU_ATOMIC_ADD(&nwrong, 1);
}

static struct starpu_codelet setting = {
	.cpu_funcs = {set}, .nbuffers = 1, .modes = {STARPU_W}, .name = "set"};
static struct starpu_codelet looking = {
	.cpu_funcs = {look}, .nbuffers = 1, .modes = {STARPU_R}, .name = "look"};

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle, intptr_t value)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)value;
	task->handles[0] = handle;
	CLAIM_EQ(starpu_task_submit(task), 0);
}

struct reader {
	starpu_data_handle_t handle;
	intptr_t value;
};

static void *submit_readers(void *arg)
{
	const struct reader *reader = arg;

	for (int i = 0; i < NREADERS; i++)
		submit(&looking, reader->handle, reader->value);
	return NULL;
}

static void plan_beside_others(int round)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = NPARTS};
	starpu_data_handle_t handle, parts[NPARTS];
	struct reader reader = {.value = round};
	pthread_t thread;

	starpu_vector_data_register(&handle, -1, 0, NX, sizeof(int));
	reader.handle = handle;
	submit(&setting, handle, round);
	CLAIM_EQ(pthread_create(&thread, NULL, submit_readers, &reader), 0);
	starpu_data_partition_plan(handle, &filter, parts);
	CLAIM_EQ(pthread_join(thread, NULL), 0);
	starpu_data_partition_submit(handle, NPARTS, parts);
	for (int i = 0; i < NPARTS; i++)
		submit(&looking, parts[i], round);
	starpu_data_unpartition_submit(handle, NPARTS, parts, -1);
	starpu_data_partition_clean(handle, NPARTS, parts);
	starpu_data_unregister(handle);
}

static void parts_see_what_was_written(void)
{
	claim_start(3);
	for (int i = 0; i < NROUNDS; i++)
		plan_beside_others(i);
	CLAIM_EQ(nwrong, 0);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"data are planned to be cut while others use them",
		 parts_see_what_was_written},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
