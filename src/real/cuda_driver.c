/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "core/wait.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_driver.c - the functions of libcuda.  The library stays open until the process
 * ends: a driver does not like to be unloaded.
 */
#define FIND(field, symbol, parameters)                                                  \
	{                                                                                \
		void *at = dlsym(library, #symbol);                                      \
		if (!at)                                                                 \
			return #symbol;                                                  \
		memcpy(&call->field, &at, sizeof(at));                                   \
	}

/* The first function that is missing, or NULL. */
static const char *find_all(void *library, struct cuda_calls *call)
{
	void *newer = dlsym(library, "cuDeviceGetUuid_v2");

	CUDA_CALLS(FIND)
	/* It tells the instances of a device that has been divided (MIG) apart. */
	if (newer)
		memcpy(&call->uuid, &newer, sizeof(newer));
	return NULL;
}

int cuda_load(struct plat *plat, struct cuda_calls *call, int is_wanted)
{
	const char *file = node_knobs(plat->node)->cuda_library, *missing;
	void *library;

	if (!*file)
		file = "libcuda.so.1";
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		if (is_wanted)
			orr_complain(
				plat->node->rank,
				"CUDA workers are asked for (STARPU_NCUDA, "
				"STARPU_WORKERS_CUDAID, conf.ncuda), and CUDA's driver "
				"cannot be loaded: %s; install the driver of the GPU, "
				"or ask for none; going on without",
				dlerror());
		return -ENODEV;
	}
	missing = find_all(library, call);
	if (missing) {
		orr_complain(plat->node->rank,
			     "%s has no function %s: a driver of CUDA 11 or later is "
			     "expected; going on without CUDA workers",
			     file, missing);
		return -ENODEV;
	}
	return 0;
}

const char *cuda_words(const struct cuda_calls *call, int error, char *text, size_t bytes)
{
	const char *name = NULL, *words = NULL;

	if (call->error_name(error, &name) != CUDA_SUCCESS || !name)
		name = "an error that this driver does not know";
	if (call->error_text(error, &words) != CUDA_SUCCESS || !words)
		words = "no words";
	snprintf(text, bytes, "%s (%s, %d)", words, name, error);
	return text;
}

/* CUDA tells an error of a kernel to whoever calls next. */
static const char *suspects(const struct cuda_device *device, char *text, size_t bytes)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; device->lanes && i < device->cuda->nlanes && used < bytes; i++) {
		const char *name = orr_load_ptr((void **)&device->lanes[i].running);

		if (name)
			used += (size_t)snprintf(text + used, bytes - used,
						 "%stask \"%s\"", used ? ", " : " (",
						 name);
	}
	if (used > 0 && used < bytes - 1)
		snprintf(text + used, bytes - used, ")");
	return text;
}

enum { REST_US = 100 * 1000 };

/* Nobody waits for our threads then, and the values are lost with the process; but for a
 * handler of exit() that comes after the driver's, which would wait for ever. */
void cuda_rest_at_end(const struct cuda *cuda, int error)
{
	const struct plat_caller *caller = plat_caller(cuda->plat);
	struct node *node = cuda->plat->node;
	double since_s = plat_now_s(cuda->plat), most_s = node_knobs(node)->watchdog_s;

	while (error == CUDA_ENDED && (caller->worker || caller->is_runtime)) {
		usleep(REST_US);
		if (most_s > 0 && plat_now_s(cuda->plat) - since_s > most_s &&
		    wait_survey(node, NULL).nblocked > 0)
			orr_die(node->rank,
				"the program leaves, and waits for what a GPU was to do: "
				"CUDA's driver has ended before.  A handler of exit() "
				"that calls the library is to be there after "
				"starpu_init(): call atexit() then, or shut down in "
				"main");
	}
}

void cuda_check(const struct cuda_device *device, int error, const char *what)
{
	char words[160], running[160];

	if (error == CUDA_SUCCESS)
		return;
	cuda_rest_at_end(device->cuda, error);
	orr_die(device->cuda->plat->node->rank,
		"CUDA %d (%s): %s: %s; what was started before on this device%s may have "
		"failed, or the device is lost: see the system's log (dmesg, nvidia-smi "
		"-q), look for wrong addresses in kernels (compute-sanitizer), or leave "
		"the device out with STARPU_WORKERS_CUDAID",
		device->is->id, device->is->model, what,
		cuda_words(&device->cuda->call, error, words, sizeof(words)),
		suspects(device, running, sizeof(running)));
}

void cuda_enter(const struct cuda_device *device)
{
	cuda_check(device, device->cuda->call.push(device->context),
		   "its context cannot be entered");
}

void cuda_leave(const struct cuda_device *device)
{
	void *context;

	cuda_check(device, device->cuda->call.pop(&context),
		   "its context cannot be left");
}
