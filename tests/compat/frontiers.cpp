/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Breadth-first search by levels: frontiers go in messages whose size another one tells
// first; who hears it registers memory and receives, from inside of the callback.
#include <starpu_mpi.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

namespace
{

const int nvertices = 600;
int rank_, ranks;
std::mutex lock;
std::vector<int> arrived;

std::vector<int> neighbours(int vertex)
{
	std::vector<int> found(1, (vertex + 1) % nvertices);
	unsigned x = vertex * 2654435761u;

	for (int i = 0; i < 3; i++) {
		x = x * 1664525u + 1013904223u;
		found.push_back((x >> 8) % nvertices);
	}
	return found;
}

int owner(int vertex)
{
	return vertex % ranks;
}

void take(const std::vector<int> &items)
{
	std::lock_guard<std::mutex> guard(lock);

	arrived.insert(arrived.end(), items.begin(), items.end());
}

// What one rank tells another in a level.
struct Box {
	int peer, count;
	starpu_mpi_tag_t tag;
	std::vector<int> items;
	starpu_data_handle_t told, held;

	Box(int peer, starpu_mpi_tag_t tag, const std::vector<int> &items)
	    : peer(peer), count(items.size()), tag(tag), items(items), held(nullptr)
	{
		starpu_variable_data_register(&told, STARPU_MAIN_RAM, (uintptr_t)&count,
					      sizeof count);
	}

	void hold()
	{
		items.resize(count);
		starpu_vector_data_register(&held, STARPU_MAIN_RAM,
					    (uintptr_t)items.data(), count,
					    sizeof items[0]);
	}

	static void is_here(void *arg)
	{
		Box *box = static_cast<Box *>(arg);

		starpu_data_unregister_submit(box->held);
		take(box->items);
	}

	static void is_told(void *arg)
	{
		Box *box = static_cast<Box *>(arg);

		if (box->count == 0)
			return;
		box->hold();
		starpu_mpi_irecv_detached(box->held, box->peer, box->tag + 1,
					  MPI_COMM_WORLD, is_here, box);
	}

	void receive()
	{
		starpu_mpi_irecv_detached(told, peer, tag, MPI_COMM_WORLD, is_told, this);
		starpu_data_unregister_submit(told);
	}

	void send()
	{
		starpu_mpi_isend_detached(told, peer, tag, MPI_COMM_WORLD, nullptr,
					  nullptr);
		starpu_data_unregister_submit(told);
		if (count == 0)
			return;
		hold();
		starpu_mpi_isend_detached(held, peer, tag + 1, MPI_COMM_WORLD, nullptr,
					  nullptr);
		starpu_data_unregister_submit(held);
	}
};

// No tag is used twice.
starpu_mpi_tag_t tag_of(int level, int from, int to)
{
	return ((int64_t)1 << 40) +
	       2 * ((int64_t)level * ranks * ranks + from * ranks + to);
}

void exchange(int level, const std::vector<int> &frontier)
{
	std::vector<std::vector<int>> out(ranks);
	std::vector<std::unique_ptr<Box>> boxes;

	for (int vertex : frontier)
		for (int next : neighbours(vertex))
			out[owner(next)].push_back(next);
	arrived.clear();
	take(out[rank_]);
	for (int peer = 0; peer < ranks; peer++) {
		if (peer == rank_)
			continue;
		boxes.emplace_back(new Box(peer, tag_of(level, peer, rank_), {}));
		boxes.back()->receive();
		boxes.emplace_back(new Box(peer, tag_of(level, rank_, peer), out[peer]));
		boxes.back()->send();
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

// The next frontier of what has arrived.
std::vector<int> settle(std::vector<int> &levels, const std::vector<int> &found,
			int level)
{
	std::vector<int> frontier;

	for (int vertex : found)
		if (levels[vertex] < 0) {
			levels[vertex] = level;
			frontier.push_back(vertex);
		}
	return frontier;
}

std::vector<int> search_alone()
{
	std::vector<int> levels(nvertices, -1), frontier = settle(levels, {0}, 0), found;

	for (int level = 1; !frontier.empty(); level++) {
		found.clear();
		for (int vertex : frontier)
			for (int next : neighbours(vertex))
				found.push_back(next);
		frontier = settle(levels, found, level);
	}
	return levels;
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<int> levels(nvertices, -1), frontier, expected;
	int nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, nullptr) != 0)
		return 77;
	rank_ = starpu_mpi_world_rank();
	ranks = starpu_mpi_world_size();
	if (rank_ == owner(0))
		frontier = settle(levels, {0}, 0);
	for (int level = 1, total = 1; total > 0; level++) {
		int n;

		exchange(level, frontier);
		frontier = settle(levels, arrived, level);
		n = frontier.size();
		MPI_Allreduce(&n, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	expected = search_alone();
	for (int vertex = 0; vertex < nvertices; vertex++)
		nwrong += owner(vertex) == rank_ && levels[vertex] != expected[vertex];
	if (nwrong)
		std::fprintf(stderr, "rank %d: %d wrong levels\n", rank_, nwrong);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
