/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Threads wait for each other by the C++ library's futures, mutexes that have an owner,
// conditions, and statics that another one initialises.
#include <starpu.h>
#include <chrono>
#include <condition_variable>
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

// Who is first fails, while another one waits for it.
static void *fail_once(void *arg)
{
	static std::once_flag twice;
	static int ncalls;

	try {
		std::call_once(twice, [] {
			int n = ++ncalls;

			starpu_sleep(0.1F);
			if (n == 1)
				throw n;
		});
	} catch (int) {
		(*static_cast<int *>(arg))++;
	}
	CHECK(ncalls >= 1 && ncalls <= 2);
	return arg;
}

static void exceptions_leave_what_is_done_once()
{
	starpu_pthread_t thread;
	int nfailed = 0;

	starpu_pthread_create(&thread, NULL, fail_once, &nfailed);
	starpu_sleep(0.05F);
	fail_once(&nfailed);
	starpu_pthread_join(thread, NULL);
	CHECK(nfailed == 1);
}

static std::mutex plain;
static std::condition_variable signalled;
static bool is_signalled;

static void *signal_at_once(void *arg)
{
	std::lock_guard<std::mutex> lock(plain);

	is_signalled = true;
	signalled.notify_one();
	return arg;
}

static void who_gets_the_mutex_signals_at_once()
{
	starpu_pthread_t thread;

	{
		std::unique_lock<std::mutex> lock(plain);

		starpu_pthread_create(&thread, NULL, signal_at_once, NULL);
		starpu_sleep(0.01F);
		signalled.wait(lock, [] { return is_signalled; });
	}
	starpu_pthread_join(thread, NULL);
}

template <class Clock> static void dates_may_be_past()
{
	std::promise<int> never;
	std::future<int> future = never.get_future();

	CHECK(future.wait_until(Clock::now() - std::chrono::milliseconds(500)) ==
	      std::future_status::timeout);
}

int main()
{
	starpu_pthread_t thread;

	if (starpu_init(NULL) != 0)
		return 77;
	dates_may_be_past<std::chrono::steady_clock>();
	dates_may_be_past<std::chrono::system_clock>();
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
	exceptions_leave_what_is_done_once();
	who_gets_the_mutex_signals_at_once();
	starpu_shutdown();
	return failures != 0;
}
