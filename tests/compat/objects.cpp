/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Distributed vectors as C++ objects: handles are members, kernels are closures.
#include <starpu_mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dist
{

class Runtime
{
      public:
	Runtime(int *argc, char ***argv)
	{
		const int ret =
			starpu_mpi_init_conf(argc, argv, 1, MPI_COMM_WORLD, nullptr);
		if (ret != 0)
			throw std::runtime_error("starpu_mpi_init_conf");
		starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank_);
		starpu_mpi_comm_size(MPI_COMM_WORLD, &size_);
	}
	Runtime(const Runtime &) = delete;
	Runtime &operator=(const Runtime &) = delete;
	~Runtime()
	{
		starpu_mpi_shutdown();
	}
	int rank() const
	{
		return rank_;
	}
	int size() const
	{
		return size_;
	}

      private:
	int rank_ = -1, size_ = 0;
};

class Handle
{
      public:
	Handle() = default;
	explicit Handle(starpu_data_handle_t h) : h_(h)
	{
	}
	Handle(Handle &&o) noexcept : h_(o.h_)
	{
		o.h_ = nullptr;
	}
	Handle &operator=(Handle &&o) noexcept
	{
		std::swap(h_, o.h_);
		return *this;
	}
	Handle(const Handle &) = delete;
	Handle &operator=(const Handle &) = delete;
	~Handle()
	{
		if (h_)
			starpu_data_unregister(h_);
	}
	starpu_data_handle_t get() const
	{
		return h_;
	}

      private:
	starpu_data_handle_t h_ = nullptr;
};

starpu_mpi_tag_t next_tag()
{
	static starpu_mpi_tag_t tag = 100;
	return tag++;
}

template <typename T> class Vector
{
      public:
	Vector(const Runtime &rt, std::size_t n, std::size_t nblocks)
	    : rt_(rt), nb_(n / nblocks)
	{
		for (std::size_t b = 0; b < nblocks; b++) {
			const int owner = static_cast<int>(b) % rt.size();
			std::vector<T> local(owner == rt.rank() ? nb_ : 0, T(1));
			memory_.push_back(std::move(local));
			starpu_data_handle_t h;
			starpu_vector_data_register(
				&h, owner == rt.rank() ? STARPU_MAIN_RAM : -1,
				reinterpret_cast<uintptr_t>(memory_.back().data()),
				static_cast<uint32_t>(nb_), sizeof(T));
			starpu_mpi_data_register(h, next_tag(), owner);
			blocks_.emplace_back(h);
		}
	}
	std::size_t nblocks() const
	{
		return blocks_.size();
	}
	starpu_data_handle_t block(std::size_t b) const
	{
		return blocks_[b].get();
	}
	const T *local(std::size_t b) const
	{
		return memory_[b].data();
	}
	std::size_t nb() const
	{
		return nb_;
	}

      private:
	const Runtime &rt_;
	std::size_t nb_;
	std::vector<std::vector<T>> memory_;
	std::vector<Handle> blocks_;
};

using Kernel = std::function<void(void **)>;

void call(void *buffers[], void *arg)
{
	(*static_cast<Kernel *>(arg))(buffers);
}

void forget(void *arg)
{
	delete static_cast<Kernel *>(arg);
}

struct Codelet : starpu_codelet {
	Codelet(const char *what, int n)
	{
		std::memset(static_cast<starpu_codelet *>(this), 0,
			    sizeof(starpu_codelet));
		cpu_funcs[0] = call;
		cpu_funcs_name[0] = "call";
		nbuffers = n;
		name = what;
		model = &starpu_perfmodel_nop;
	}
};

template <typename F, typename... Args> void submit(Codelet &cl, F &&kernel, Args... args)
{
	Kernel *k = new Kernel(std::forward<F>(kernel));
	std::size_t unused = sizeof(*k);
	struct starpu_task *task = starpu_mpi_task_build(
		MPI_COMM_WORLD, &cl, args..., STARPU_CL_ARGS_NFREE,
		static_cast<void *>(k), unused, STARPU_CALLBACK_WITH_ARG_NFREE, forget,
		static_cast<void *>(k), 0);
	if (task) {
		const int ret = starpu_task_submit(task);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	} else {
		delete k;
	}
	starpu_mpi_task_post_build(MPI_COMM_WORLD, &cl, args..., 0);
}

template <typename T> void axpy(T a, const Vector<T> &x, Vector<T> &y)
{
	static Codelet cl("axpy", 2);
	for (std::size_t b = 0; b < y.nblocks(); b++)
		submit(
			cl,
			[a](void **buf) {
				const T *px = reinterpret_cast<const T *>(
					STARPU_VECTOR_GET_PTR(buf[1]));
				T *py = reinterpret_cast<T *>(
					STARPU_VECTOR_GET_PTR(buf[0]));
				for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buf[0]);
				     i++)
					py[i] += a * px[i];
			},
			STARPU_RW, y.block(b), STARPU_R, x.block((b + 1) % x.nblocks()));
}

template <typename T> class Scalar
{
      public:
	Scalar()
	{
		starpu_data_handle_t h;
		starpu_variable_data_register(&h, STARPU_MAIN_RAM,
					      reinterpret_cast<uintptr_t>(&value_),
					      sizeof(T));
		starpu_mpi_data_register(h, next_tag(), 0);
		h_ = Handle(h);
	}
	starpu_data_handle_t get() const
	{
		return h_.get();
	}
	T read() const
	{
		starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h_.get());
		starpu_data_acquire(h_.get(), STARPU_R);
		const T v = *static_cast<T *>(starpu_data_get_local_ptr(h_.get()));
		starpu_data_release(h_.get());
		return v;
	}

      private:
	T value_ = T(0);
	Handle h_;
};

template <typename T> T dot(const Vector<T> &x, const Vector<T> &y)
{
	static Codelet zero("zero", 1), cl("dot", 3);
	Scalar<T> s;
	submit(
		zero,
		[](void **buf) {
			*reinterpret_cast<T *>(STARPU_VARIABLE_GET_PTR(buf[0])) = T(0);
		},
		STARPU_W, s.get());
	for (std::size_t b = 0; b < x.nblocks(); b++)
		submit(
			cl,
			[](void **buf) {
				T *sum = reinterpret_cast<T *>(
					STARPU_VARIABLE_GET_PTR(buf[0]));
				const T *px = reinterpret_cast<const T *>(
					STARPU_VECTOR_GET_PTR(buf[1]));
				const T *py = reinterpret_cast<const T *>(
					STARPU_VECTOR_GET_PTR(buf[2]));
				for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buf[1]);
				     i++)
					*sum += px[i] * py[i];
			},
			STARPU_RW, s.get(), STARPU_R, x.block(b), STARPU_R, y.block(b));
	return s.read();
}

} // namespace dist

int main(int argc, char **argv)
{
	int bad = 0;
	try {
		dist::Runtime rt(&argc, &argv);
		dist::Vector<double> x(rt, 4096, 8), y(rt, 4096, 8);
		double expect = 1.0;
		for (int it = 1; it <= 5; it++) {
			dist::axpy(static_cast<double>(it), x, y);
			expect += it;
			const double d = dist::dot(x, y);
#ifdef STARPU_SIMGRID
			if (!std::getenv("CHECK_VALUES"))
				continue;
#endif
			if (std::fabs(d - 4096.0 * expect) > 1e-6) {
				std::fprintf(stderr, "%d: dot %g expected %g\n",
					     rt.rank(), d, 4096.0 * expect);
				bad = 1;
			}
		}
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 77;
	}
	return bad;
}
