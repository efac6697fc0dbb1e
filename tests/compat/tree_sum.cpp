/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// A sum over a binary tree of nodes, with template kernels and arrays of handles.
#include <starpu_mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T> struct Sum {
	static void cpu(void *buffers[], void *cl_arg)
	{
		int n;
		starpu_codelet_unpack_args(cl_arg, &n);
		T *result = reinterpret_cast<T *>(STARPU_VARIABLE_GET_PTR(buffers[0]));
		for (int i = 1; i <= n; i++)
			*result += *reinterpret_cast<T *>(
				STARPU_VARIABLE_GET_PTR(buffers[i]));
	}

	static starpu_codelet *codelet()
	{
		static starpu_codelet cl;
		cl.cpu_funcs[0] = cpu;
		cl.cpu_funcs_name[0] = "Sum::cpu";
		cl.nbuffers = STARPU_VARIABLE_NBUFFERS;
		cl.name = "sum";
		return &cl;
	}
};

static void sum_tree(std::vector<starpu_data_handle_t> &leaves)
{
	const std::size_t n = leaves.size();
	for (std::size_t step = 1; step < n; step *= 2)
		for (std::size_t i = 0; i + step < n; i += 2 * step) {
			std::array<starpu_data_descr, 2> descr{{
				{leaves[i], STARPU_RW},
				{leaves[i + step], STARPU_R},
			}};
			int count = 1;
			int ret = starpu_mpi_task_insert(
				MPI_COMM_WORLD, Sum<std::int64_t>::codelet(),
				STARPU_DATA_MODE_ARRAY, descr.data(),
				static_cast<int>(descr.size()), STARPU_VALUE, &count,
				sizeof(count), 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
}

int main(int argc, char **argv)
{
	constexpr int per_node = 3;
	int ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, nullptr);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	const int rank = starpu_mpi_world_rank(), size = starpu_mpi_world_size();
	const int n = per_node * size;
	std::vector<std::int64_t> values(n);
	std::vector<starpu_data_handle_t> leaves(n);

	for (int i = 0; i < n; i++) {
		const bool mine = i % size == rank;
		values[i] = i + 1;
		starpu_variable_data_register(
			&leaves[i], mine ? STARPU_MAIN_RAM : -1,
			mine ? reinterpret_cast<uintptr_t>(&values[i]) : 0,
			sizeof(values[i]));
		starpu_mpi_data_register(leaves[i], i, i % size);
	}
	sum_tree(leaves);
	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, leaves[0]);
	starpu_data_acquire(leaves[0], STARPU_R);
	std::int64_t *total =
		static_cast<std::int64_t *>(starpu_data_get_local_ptr(leaves[0]));
	bool right = *total == static_cast<std::int64_t>(n) * (n + 1) / 2;
	starpu_data_release(leaves[0]);
#ifdef STARPU_SIMGRID
	if (!std::getenv("CHECK_VALUES"))
		right = true;
#endif
	for (auto handle : leaves)
		starpu_data_unregister(handle);
	starpu_mpi_shutdown();
	return right ? 0 : 1;
}
