/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * pool.cpp - a pool of threads of C++20 inserts tasks and sends data; threads wait for
 * each other by all that the standard library has, and keep variables of their own.
 */
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <starpu_mpi.h>

using namespace std::chrono_literals;

namespace
{

int failures;

void claim(bool holds, const char *what)
{
	if (holds)
		return;
	failures++;
	std::printf("this does not hold: %s\n", what);
}

class Pool
{
	std::mutex mutex;
	std::condition_variable_any cond;
	std::queue<std::function<void()>> jobs;
	std::vector<std::jthread> threads;

	void work(std::stop_token stop)
	{
		for (;;) {
			std::function<void()> job;
			{
				std::unique_lock lock(mutex);
				if (!cond.wait(lock, stop, [&] { return !jobs.empty(); }))
					return;
				job = std::move(jobs.front());
				jobs.pop();
			}
			job();
		}
	}

      public:
	explicit Pool(int n)
	{
		for (int i = 0; i < n; i++)
			threads.emplace_back(
				[this](std::stop_token stop) { work(stop); });
	}

	template <class Job> auto submit(Job job)
	{
		auto task = std::make_shared<std::packaged_task<decltype(job())()>>(job);
		auto result = task->get_future();
		{
			std::lock_guard lock(mutex);
			jobs.push([task] { (*task)(); });
		}
		cond.notify_one();
		return result;
	}
};

void increment(void *buffers[], void *)
{
	*reinterpret_cast<int *>(STARPU_VARIABLE_GET_PTR(buffers[0])) += 1;
}

double price(starpu_task *, starpu_perfmodel_arch *, unsigned)
{
	return 10;
}

struct starpu_perfmodel model;
struct starpu_codelet incrementing, nothing;

void pools_insert_tasks()
{
	constexpr int n = 20;
	int value = 0, sum = 0;
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM,
				      reinterpret_cast<uintptr_t>(&value), sizeof(value));
	{
		Pool pool(3);
		std::vector<std::future<int>> results;

		for (int i = 0; i < n; i++)
			results.push_back(pool.submit([=] {
				starpu_task_insert(&incrementing, STARPU_RW, handle, 0);
				std::this_thread::sleep_for(1ms);
				return i;
			}));
		for (auto &result : results)
			sum += result.get();
		auto failing =
			pool.submit([]() -> int { throw std::runtime_error("no"); });
		try {
			failing.get();
			claim(false, "an exception comes with its future");
		} catch (const std::runtime_error &error) {
			claim(error.what() == std::string("no"), "it is that of the job");
		}
	}
	claim(sum == n * (n - 1) / 2, "each job has its result");
	starpu_data_unregister(handle);
	claim(value == n, "each task has run");
}

/* Two threads of each rank send to the next one and receive from the one before. */
void threads_send(int rank, int size)
{
	std::vector<std::thread> threads;

	for (int t = 0; t < 2; t++)
		threads.emplace_back([=] {
			int there = 100 * rank + t, here = -1;
			starpu_data_handle_t out, in;

			starpu_variable_data_register(&out, STARPU_MAIN_RAM,
						      reinterpret_cast<uintptr_t>(&there),
						      sizeof(there));
			starpu_variable_data_register(&in, STARPU_MAIN_RAM,
						      reinterpret_cast<uintptr_t>(&here),
						      sizeof(here));
			starpu_mpi_isend_detached(out, (rank + 1) % size, t,
						  MPI_COMM_WORLD, nullptr, nullptr);
			starpu_mpi_recv(in, (rank + size - 1) % size, t, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE);
			starpu_data_unregister(in);
			starpu_data_unregister(out);
			claim(here == 100 * ((rank + size - 1) % size) + t,
			      "threads receive what threads have sent");
		});
	for (auto &thread : threads)
		thread.join();
}

void threads_wait_for_each_other()
{
	constexpr int n = 4, rounds = 5;
	std::latch done(n);
	std::barrier meeting(n);
	std::counting_semaphore<2> two(2);
	std::shared_timed_mutex shared;
	std::atomic<int> nturns{0};
	int x = 0;
	std::vector<std::jthread> threads;

	for (int i = 0; i < n; i++)
		threads.emplace_back([&, i] {
			for (int round = 0; round < rounds; round++) {
				two.acquire();
				std::this_thread::sleep_for(100us);
				two.release();
				if (i == 0) {
					std::unique_lock lock(shared);
					x++;
				} else {
					std::shared_lock lock(shared, 500ms);
					claim(lock.owns_lock(), "readers get in");
				}
				meeting.arrive_and_wait();
			}
			nturns++;
			nturns.notify_all();
			done.count_down();
		});
	done.wait();
	for (int seen; (seen = nturns.load()) < n;)
		nturns.wait(seen);
	claim(x == rounds, "the writer has been in each round");
}

void futures_and_time_limits()
{
	auto late = std::async(std::launch::async, [] {
		std::this_thread::sleep_for(200ms);
		return 7;
	});
	std::timed_mutex mutex;
	bool has = true;

	claim(late.wait_for(1ms) == std::future_status::timeout, "it is late");
	claim(late.get() == 7, "and comes");
	mutex.lock();
	std::jthread([&] { has = mutex.try_lock_for(1ms); }).join();
	claim(!has, "a lock is waited for in vain");
	mutex.unlock();
}

/* Counts those that there are. */
struct Counted {
	static std::atomic<int> n;
	int value = 1;

	Counted()
	{
		n++;
	}
	~Counted()
	{
		n--;
	}
};

std::atomic<int> Counted::n{0};

int next_local()
{
	thread_local Counted counted;

	return counted.value++;
}

void threads_keep_variables()
{
	std::vector<std::thread> threads;
	int before = Counted::n;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([] {
			for (int turn = 1; turn < 5; turn++) {
				claim(next_local() == turn, "turns of its own");
				std::this_thread::sleep_for(1ms);
			}
		});
	for (auto &thread : threads)
		thread.join();
	claim(Counted::n == before, "they end with their threads");
}

/* Each has tried, and all but one fail. */
void once_among_many()
{
	std::vector<std::jthread> threads;
	std::once_flag flag;
	int n = 0, nfailed = 0;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			try {
				std::call_once(flag, [&, i] {
					std::this_thread::sleep_for(1ms);
					if (n++ < 2)
						throw i;
				});
			} catch (int thrown) {
				claim(thrown == i,
				      "who has called it gets the exception");
				nfailed++;
			}
		});
	threads.clear();
	claim(n == 3 && nfailed == 2, "it is done once");
}

void what_comes_when_a_thread_ends()
{
	std::mutex mutex;
	std::condition_variable cond;
	std::promise<int> promise;
	auto result = promise.get_future();
	bool is_ready = false;

	std::jthread thread([&] {
		std::unique_lock lock(mutex);
		promise.set_value_at_thread_exit(5);
		is_ready = true;
		std::notify_all_at_thread_exit(cond, std::move(lock));
		std::this_thread::sleep_for(2ms);
		claim(result.wait_for(0s) == std::future_status::timeout, "not before");
	});
	claim(result.get() == 5, "a value that is given at the end");
	std::unique_lock lock(mutex);
	cond.wait(lock, [&] { return is_ready; });
}

/* What the system keeps for each thread. */
void modes_are_each_ones_own()
{
	locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
	std::jthread thread([=] {
		claim(uselocale(nullptr) == LC_GLOBAL_LOCALE, "it has the program's");
		uselocale(locale);
		fesetround(FE_UPWARD);
		errno = ERANGE;
		std::this_thread::sleep_for(4ms);
		claim(uselocale(nullptr) == locale, "its locale");
		claim(fegetround() == FE_UPWARD, "its rounding");
	});
	std::mutex mutex;

	std::this_thread::sleep_for(1ms);
	claim(uselocale(nullptr) == LC_GLOBAL_LOCALE, "main's locale");
	claim(fegetround() == FE_TONEAREST, "main's rounding");
	mutex.lock();
	std::jthread other([&] {
		claim(errno == 0, "a thread begins without an error");
		std::this_thread::sleep_for(1ms);
		errno = EDOM;
		mutex.unlock();
	});
	errno = ENOENT;
	mutex.lock();
	claim(errno == ENOENT, "main's error");
	mutex.unlock();
	other.join();
	thread.join();
	freelocale(locale);
}

/* By an attribute. */
void writers_come_before_readers()
{
	pthread_rwlockattr_t attr;
	pthread_rwlock_t lock;
	std::string order;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr,
				      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	pthread_rwlock_rdlock(&lock);
	std::jthread writer([&] {
		pthread_rwlock_wrlock(&lock);
		order += 'w';
		pthread_rwlock_unlock(&lock);
	});
	std::this_thread::sleep_for(20ms);
	std::jthread reader([&] {
		pthread_rwlock_rdlock(&lock);
		order += 'r';
		pthread_rwlock_unlock(&lock);
	});
	std::this_thread::sleep_for(20ms);
	claim(order.empty(), "a writer who waits keeps readers out");
	pthread_rwlock_unlock(&lock);
	writer.join();
	reader.join();
	claim(order == "wr", "and comes before them");
	pthread_rwlock_destroy(&lock);
	pthread_rwlockattr_destroy(&attr);
}

int use_stack(int depth)
{
	volatile char some[1000];

	some[999] = 1;
	return depth > 0 ? use_stack(depth - 1) + some[999] : 0;
}

void *use_mib(void *mib)
{
	int n = 1024 * *static_cast<int *>(mib);

	claim(use_stack(n) == n, "a stack is as large as asked for");
	return nullptr;
}

/* Also where that is the default. */
void stacks_are_large()
{
	pthread_attr_t attr;
	pthread_t thread;
	int few = 4, many = 40;

	pthread_attr_init(&attr);
	claim(pthread_create(&thread, &attr, use_mib, &few) == 0, "a stack of 8 MiB");
	pthread_join(thread, nullptr);
	pthread_attr_setstacksize(&attr, 64 << 20);
	claim(pthread_create(&thread, &attr, use_mib, &many) == 0, "one of 64 MiB");
	pthread_join(thread, nullptr);
	pthread_attr_destroy(&attr);
}

long pages()
{
	std::FILE *file = std::fopen("/proc/self/statm", "r");
	long n = 0;

	claim(file && std::fscanf(file, "%ld", &n) == 1, "the size of the process");
	std::fclose(file);
	return n;
}

/* No time passes; 4,000 stacks are 32 GB. */
void threads_leave_no_stacks()
{
	long before = pages();

	for (int i = 0; i < 4000; i++)
		std::thread([] {}).join();
	claim(pages() - before < (16l << 30) / sysconf(_SC_PAGESIZE), "they are gone");
}

sem_t posted;
pthread_t waiting;
int nposts;

void *wait_for_post(void *)
{
	sem_wait(&posted);
	nposts++;
	return nullptr;
}

void post_and_cancel(void *)
{
	sem_post(&posted);
	pthread_cancel(waiting);
}

void callbacks_wake_and_cancel()
{
	void *result = nullptr;

	sem_init(&posted, 0, 0);
	pthread_create(&waiting, nullptr, wait_for_post, nullptr);
	std::this_thread::sleep_for(1ms);
	starpu_task_insert(&nothing, STARPU_CALLBACK, post_and_cancel, 0);
	starpu_task_wait_for_all();
	pthread_join(waiting, &result);
	claim(nposts == (result != PTHREAD_CANCELED), "it goes on, or ends");
}

struct Noting {
	bool &gone;

	~Noting()
	{
		gone = true;
	}
};

void ends()
{
	bool gone = false, has_failed = false;
	std::thread thread([&] {
		Noting noting{gone};

		pthread_exit(nullptr);
	}),
		nobody;

	claim(thread.get_id() != std::this_thread::get_id(), "it is another one");
	thread.join();
	claim(gone, "pthread_exit() clears away");
	try {
		nobody.join();
	} catch (const std::system_error &) {
		has_failed = true;
	}
	claim(has_failed, "no thread is not joined");
	std::thread([] {}).detach();
}

/* Writes what is left when the program ends. */
class Logger
{
	std::mutex mutex;
	std::condition_variable cond;
	std::queue<int> lines;
	bool stops = false;
	int nlogged = 0, nwritten = 0;
	std::thread thread{[this] {
		std::unique_lock lock(mutex);
		while (!stops || !lines.empty()) {
			cond.wait(lock, [this] { return stops || !lines.empty(); });
			for (; !lines.empty(); lines.pop(), nwritten++)
				std::this_thread::sleep_for(1ms);
		}
	}};

      public:
	void log(int line)
	{
		{
			std::lock_guard lock(mutex);
			lines.push(line);
			nlogged++;
		}
		cond.notify_one();
	}

	~Logger()
	{
		{
			std::lock_guard lock(mutex);
			stops = true;
		}
		cond.notify_one();
		thread.join();
		if (nwritten == nlogged)
			return;
		std::printf("%d of %d lines are lost\n", nlogged - nwritten, nlogged);
		std::fflush(stdout);
		std::_Exit(1);
	}
};

void leave_lines()
{
	static Logger logger;

	for (int i = 0; i < 5; i++)
		logger.log(i);
}

/* Gone with the program: its destructor joins its threads, after main. */
void leave_a_pool()
{
	static Pool pool(2);

	pool.submit([] {}).get();
}

/* Nobody wakes it, at the end neither. */
void leave_a_thread()
{
	auto *mutex = new std::mutex;
	auto *cond = new std::condition_variable;

	std::thread([=] {
		std::unique_lock lock(*mutex);
		cond->wait(lock, [] { return false; });
	}).detach();
	std::this_thread::sleep_for(1ms);
}

} // namespace

int main(int argc, char **argv)
{
	int rank, size;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, nullptr) != 0)
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	model.type = STARPU_PER_ARCH;
	model.arch_cost_function = price;
	incrementing.cpu_funcs[0] = increment;
	incrementing.nbuffers = 1;
	incrementing.modes[0] = STARPU_RW;
	incrementing.flags = STARPU_CODELET_SIMGRID_EXECUTE;
	incrementing.model = &model;
	incrementing.name = "incrementing";
	nothing = incrementing;
	nothing.nbuffers = 0;
	nothing.cpu_funcs[0] = [](void **, void *) {};
	pools_insert_tasks();
	threads_send(rank, size);
	threads_wait_for_each_other();
	futures_and_time_limits();
	threads_keep_variables();
	once_among_many();
	what_comes_when_a_thread_ends();
	modes_are_each_ones_own();
	writers_come_before_readers();
	callbacks_wake_and_cancel();
	stacks_are_large();
	threads_leave_no_stacks();
	ends();
	leave_a_pool();
	leave_lines();
	leave_a_thread();
	starpu_mpi_shutdown();
	return failures != 0;
}
