/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Main waits for callbacks by the C++ library's mutexes and conditions.
#include <starpu.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

static std::mutex mutex;
static std::condition_variable condition;
static int ncalled;

static void called(void *)
{
	std::lock_guard<std::mutex> lock(mutex);

	ncalled++;
	condition.notify_one();
}

static void nothing(void **, void *)
{
}

int main()
{
	static struct starpu_codelet codelet;
	bool late;

	if (starpu_init(NULL) != 0)
		return 77;
	codelet.cpu_funcs[0] = nothing;
	codelet.model = &starpu_perfmodel_nop;
	for (int i = 0; i < 3; i++)
		if (starpu_task_insert(&codelet, STARPU_CALLBACK, called, 0) != 0)
			return 77;
	{
		std::unique_lock<std::mutex> lock(mutex);

		while (ncalled < 3)
			condition.wait(lock);
		// Nobody notifies: it ends at its date.
		late = !condition.wait_for(lock, std::chrono::milliseconds(100),
					   [] { return ncalled > 3; });
	}
	starpu_shutdown();
	if (!late)
		std::fprintf(stderr, "%d calls of 3\n", ncalled);
	return !late;
}
