/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks that are tried until they succeed, and bundles. */
#include <errno.h>
#include <stdint.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 20, NWORKERS = 2 };

static int ncalls, nchecks, nended, values[NTASKS], seen[NTASKS];

/* The first calls of a task fail, as many as its number modulo 3. */
static void produce(void *buffers[], void *arg)
{
	int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	int *calls = arg;

	STARPU_ATOMIC_ADD(&ncalls, 1);
	*value = 1000 + *calls;
	if ((*calls)-- > 0) {
		*value = -1;
		starpu_task_ft_failed(starpu_task_get_current());
	}
}

static void look(void *buffers[], void *arg)
{
	/* Several at once may be given the same place. */
	__atomic_store_n((int *)arg, *(const int *)STARPU_VARIABLE_GET_PTR(buffers[0]),
			 __ATOMIC_RELAXED);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 250;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "retries"};
static struct starpu_codelet produces = {.cpu_funcs = {produce},
					 .cpu_funcs_name = {"produce"},
					 .nbuffers = 1,
					 .modes = {STARPU_W},
					 .model = &model};
static struct starpu_codelet looks = {.cpu_funcs = {look},
				      .cpu_funcs_name = {"look"},
				      .nbuffers = 1,
				      .modes = {STARPU_R},
				      .model = &model};

static void ended(void *arg)
{
	(void)arg;
	STARPU_ATOMIC_ADD(&nended, 1);
}

/* Readers come after the try that succeeded, whatever the check. */
static void run(void (*check)(void *))
{
	starpu_data_handle_t handles[NTASKS];
	int calls[NTASKS], expected = 0;

	claim_start(NWORKERS);
	ncalls = nchecks = nended = 0;
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		calls[i] = i % 3;
		expected += 1 + i % 3;
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
		task->cl = &produces;
		task->cl_arg = &calls[i];
		task->handles[0] = handles[i];
		task->prologue_callback_func = starpu_task_ft_prologue;
		task->prologue_callback_arg = (void *)(uintptr_t)check;
		task->callback_func = ended;
		CLAIM_EQ(starpu_task_submit(task), 0);
		CLAIM_EQ(starpu_task_insert(&looks, STARPU_R, handles[i],
					    STARPU_CL_ARGS_NFREE, &seen[i],
					    sizeof(seen[i]), 0),
			 0);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, expected);
	CLAIM_EQ(nended, NTASKS);
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(seen[i], 1000);
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(values[i], 1000);
	}
	starpu_shutdown();
}

static void failed_tasks_are_tried_again(void)
{
	run(NULL);
}

static void own_check(void *arg)
{
	struct starpu_task *last = starpu_task_get_current();

	STARPU_ATOMIC_ADD(&nchecks, 1);
	if (!last->failed)
		starpu_task_ft_success(arg);
	else
		CLAIM_EQ(starpu_task_submit_nodeps(
				 starpu_task_ft_create_retry(arg, last, own_check)),
			 0);
}

static void programs_check_themselves(void)
{
	run(own_check);
	CLAIM_EQ(nchecks, ncalls);
}

static struct starpu_task *make(starpu_data_handle_t handle, int *arg)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &looks;
	task->cl_arg = arg;
	task->handles[0] = handle;
	return task;
}

enum { NROUNDS = 20000 };

static void do_nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet nothing = {.cpu_funcs = {do_nothing}, .name = "nothing"};

/* It may do so at any moment. */
static void tasks_end_while_main_takes_them_out(void)
{
	unsigned drawn = 1;

	claim_start(1);
	for (int i = 0; i < NROUNDS; i++) {
		struct starpu_task *task = starpu_task_create();
		starpu_task_bundle_t bundle;
		int removed;

		task->cl = &nothing;
		task->destroy = task->detach = 0;
		starpu_task_bundle_create(&bundle);
		CLAIM_EQ(starpu_task_bundle_insert(bundle, task), 0);
		CLAIM_EQ(starpu_task_submit(task), 0);
		drawn = drawn * 1103515245 + 12345;
		for (volatile unsigned n = drawn / 65536 % 3000; n > 0; n--)
			continue;
		removed = starpu_task_bundle_remove(bundle, task);
		CLAIM(removed == 0 || removed == -ENOENT);
		starpu_task_bundle_close(bundle);
		CLAIM_EQ(starpu_task_wait(task), 0);
		starpu_task_destroy(task);
	}
	starpu_shutdown();
}

static void bundles_have_their_tasks(void)
{
	starpu_task_bundle_t bundle, other;
	starpu_data_handle_t handle;
	struct starpu_task *tasks[3], *late;
	struct starpu_perfmodel_arch *arch;

	claim_start(NWORKERS);
	values[0] = 7;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&values[0],
				      sizeof(values[0]));
	arch = starpu_worker_get_perf_archtype(0, 0);
	starpu_task_bundle_create(&bundle);
	starpu_task_bundle_create(&other);
	for (int i = 0; i < 3; i++) {
		tasks[i] = make(handle, &seen[i]);
		CLAIM_EQ(starpu_task_bundle_insert(bundle, tasks[i]), 0);
		CLAIM(tasks[i]->bundle == bundle);
		/* Once more changes nothing, as with StarPU 1.3.10. */
		CLAIM_EQ(starpu_task_bundle_insert(bundle, tasks[i]), 0);
	}
	CLAIM_EQ(starpu_task_bundle_insert(other, tasks[0]), -EINVAL);
	CLAIM_EQ(starpu_task_bundle_remove(other, tasks[0]), -ENOENT);
	CLAIM_EQ((long)starpu_task_bundle_expected_length(bundle, arch, 0), 750);
	CLAIM_EQ((long)starpu_task_bundle_expected_energy(bundle, arch, 0), 0);
	CLAIM_EQ((long)starpu_task_bundle_expected_data_transfer_time(bundle, 0), 0);
	CLAIM_EQ(starpu_task_bundle_remove(bundle, tasks[0]), 0);
	CLAIM(tasks[0]->bundle == NULL);
	CLAIM_EQ((long)starpu_task_bundle_expected_length(bundle, arch, 0), 500);
	CLAIM_EQ(starpu_task_submit(tasks[0]), 0);
	CLAIM_EQ(starpu_task_submit(tasks[1]), 0);
	starpu_task_wait_for_all();
	/* Who has ended has left it. */
	CLAIM_EQ((long)starpu_task_bundle_expected_length(bundle, arch, 0), 250);
	starpu_task_bundle_close(other);
	starpu_task_bundle_close(bundle);
	late = make(handle, NULL);
	CLAIM_EQ(starpu_task_bundle_insert(bundle, late), -EPERM);
	starpu_task_destroy(late);
	CLAIM_EQ(starpu_task_submit(tasks[2]), 0); /* The bundle goes with it. */
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	CLAIM_EQ(seen[2], 7);
	starpu_shutdown();
}

static void bundles_are_large_and_change(void)
{
	enum { NMEMBERS = 4000 };
	static struct starpu_task *tasks[NMEMBERS];
	struct starpu_perfmodel_arch *arch;
	starpu_task_bundle_t bundle;
	starpu_data_handle_t handle;
	struct starpu_task *copy;

	claim_start(NWORKERS);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&values[0],
				      sizeof(values[0]));
	arch = starpu_worker_get_perf_archtype(0, 0);
	starpu_task_bundle_create(&bundle);
	for (int i = 0; i < NMEMBERS; i++) {
		tasks[i] = make(handle, &seen[0]);
		CLAIM_EQ(starpu_task_bundle_insert(bundle, tasks[i]), 0);
		/* Two come, one goes. */
		if (i % 2 == 1)
			CLAIM_EQ(starpu_task_bundle_remove(bundle, tasks[i / 2]), 0);
	}
	CLAIM_EQ((long)starpu_task_bundle_expected_length(bundle, arch, 0),
		 250L * NMEMBERS / 2);
	copy = starpu_task_dup(tasks[NMEMBERS - 1]);
	CLAIM(copy->bundle == NULL); /* A task of its own. */
	starpu_task_bundle_close(bundle);
	for (int i = NMEMBERS - 1; i >= 0; i--)
		CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(starpu_task_submit(copy), 0);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	starpu_shutdown();
}

int main(void)
{
	const struct claim claims[] = {
		{"failed_tasks_are_tried_again", failed_tasks_are_tried_again},
		{"programs_check_themselves", programs_check_themselves},
		{"tasks_end_while_main_takes_them_out",
		 tasks_end_while_main_takes_them_out},
		{"bundles_have_their_tasks", bundles_have_their_tasks},
		{"bundles_are_large_and_change", bundles_are_large_and_change},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
