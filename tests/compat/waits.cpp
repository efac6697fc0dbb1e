/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Threads wait for each other by the C++ library's futures, mutexes that have an owner,
// and statics that another one initialises.
#include <starpu.h>
#include <chrono>
#include <cstdio>
#include <future>
#include <mutex>

static const std::chrono::milliseconds shorter(20);
static std::recursive_timed_mutex mutex;
static std::promise<int> promise;
static std::once_flag once;
static int value, failures;

#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			std::printf("line %d: not %s\n", __LINE__, #condition);          \
			failures++;                                                      \
		}                                                                        \
	} while (0)

struct slow {
	int value;
	slow() : value(0)
	{
		starpu_sleep(0.1F);
		value = 7;
	}
};

static int slow_value()
{
	static slow one;

	return one.value;
}

static void *beside(void *arg)
{
	std::future<int> future = promise.get_future();

	CHECK(!mutex.try_lock());
	CHECK(!mutex.try_lock_for(shorter));
	mutex.lock();
	CHECK(value == 1);
	mutex.unlock();
	CHECK(future.wait_for(shorter) == std::future_status::timeout);
	CHECK(future.get() == 5);
	CHECK(slow_value() == 7);
	std::call_once(once, [] {
		starpu_sleep(0.1F);
		value = 9;
	});
	CHECK(value == 9);
	return arg;
}

int main()
{
	starpu_pthread_t thread;

	if (starpu_init(NULL) != 0)
		return 77;
	{
		std::lock_guard<std::recursive_timed_mutex> lock(mutex);

		starpu_pthread_create(&thread, NULL, beside, NULL);
		starpu_sleep(0.1F);
		value = 1;
	}
	starpu_sleep(0.1F);
	promise.set_value(5);
	CHECK(slow_value() == 7);
	starpu_sleep(0.05F);
	std::call_once(once, [] { value = 9; });
	CHECK(value == 9);
	starpu_pthread_join(thread, NULL);
	starpu_shutdown();
	return failures != 0;
}
