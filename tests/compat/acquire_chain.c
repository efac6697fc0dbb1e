/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Callbacks that acquire again: a counter that goes through tasks and callbacks. */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#define NSTEPS 50

static unsigned token, n_callbacks;
static starpu_data_handle_t token_handle;
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;

static void increment_cpu(void *descr[], void *arg)
{
	unsigned *val = (unsigned *)STARPU_VARIABLE_GET_PTR(descr[0]);

	(void)arg;
	*val += 1;
}

static struct starpu_codelet increment_cl = {
	.modes = {STARPU_RW},
	.cpu_funcs = {increment_cpu},
	.nbuffers = 1,
	.model = &starpu_perfmodel_nop,
};

static void increment(void)
{
	int ret = starpu_task_insert(&increment_cl, STARPU_RW, token_handle, 0);

	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
}

static void callback(void *arg)
{
	unsigned *handled = arg, more;

	token++;
	starpu_data_release(token_handle);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	more = ++*handled < NSTEPS;
	if (!more)
		STARPU_PTHREAD_COND_SIGNAL(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	if (more) {
		increment();
		starpu_data_acquire_cb(token_handle, STARPU_RW, callback, arg);
	}
}

static void reader(void *arg)
{
	starpu_data_release((starpu_data_handle_t)arg);
	STARPU_ATOMIC_ADD(&n_callbacks, 100);
}

int main(void)
{
	unsigned seen;
	int ret = starpu_init(NULL), i;

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	if (!starpu_cpu_worker_get_count()) {
		starpu_shutdown();
		return 77;
	}
	starpu_variable_data_register(&token_handle, STARPU_MAIN_RAM, (uintptr_t)&token,
				      sizeof(token));
	starpu_data_acquire_cb(token_handle, STARPU_RW, callback, &n_callbacks);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	while (n_callbacks < NSTEPS)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);

	for (i = 0; i < 4; i++)
		starpu_data_acquire_cb(token_handle, STARPU_R, reader, token_handle);
	starpu_data_acquire_on_node(token_handle, STARPU_MAIN_RAM, STARPU_R);
	seen = token;
	starpu_data_release_on_node(token_handle, STARPU_MAIN_RAM);
	if (starpu_data_acquire_try(token_handle, STARPU_R) == 0)
		starpu_data_release(token_handle);
	starpu_data_unregister(token_handle);
	starpu_shutdown();

	fprintf(stderr, "token %u, callbacks %u\n", seen, n_callbacks);
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		seen = 2 * NSTEPS - 1;
#endif
	return seen == 2 * NSTEPS - 1 && n_callbacks == NSTEPS + 400 ? 0 : 1;
}
