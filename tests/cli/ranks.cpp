// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The Orrery authors

// What a C++ program has once in a process, for each simulated rank: singletons, statics
// of templates; and clocks and sleeps of the C++ library in simulated time.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include <starpu_mpi.h>

// smpicxx asks for C++11.
#if __GNUC__ >= 11 && !defined(__clang__)
static_assert(__cplusplus >= 201703L, "orrery cc has the compiler's own standard");
#endif

struct Settings {
	int rank = -1;
	std::vector<int> list;

	static Settings &get()
	{
		static Settings only;
		return only;
	}
};

template <class T> struct Counter {
	static int n;
};

template <class T> int Counter<T>::n = 1;

template <class Clock> static double rest_s()
{
	auto begin = Clock::now();

	std::this_thread::sleep_for(std::chrono::milliseconds(1500));
	return std::chrono::duration<double>(Clock::now() - begin).count();
}

int main(int argc, char **argv)
{
	int rank, wrong;
	double steady_s, system_s;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	Settings::get().rank = rank;
	Settings::get().list.assign(rank + 1, rank);
	Counter<double>::n += rank;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	wrong = Settings::get().rank != rank ||
		Settings::get().list.size() != rank + 1u ||
		Counter<double>::n != 1 + rank;
	if (wrong)
		std::printf("rank %d: others have its statics\n", rank);
	steady_s = rest_s<std::chrono::steady_clock>();
	system_s = rest_s<std::chrono::system_clock>();
	if (std::fabs(steady_s - 1.5) > 1e-6 || std::fabs(system_s - 1.5) > 1e-6)
		std::printf("rank %d: slept %.9g and %.9g s, expected 1.5\n", rank,
			    steady_s, system_s);
	starpu_mpi_shutdown();
	if (rank == 0)
		std::puts("the end");
	return 0;
}
