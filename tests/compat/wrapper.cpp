/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// A small C++ layer over codelets and handles: lambdas as kernels, RAII for data.
#include <starpu.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

class Vector
{
      public:
	explicit Vector(std::vector<double> &data)
	{
		starpu_vector_data_register(&handle_, STARPU_MAIN_RAM,
					    reinterpret_cast<uintptr_t>(data.data()),
					    static_cast<uint32_t>(data.size()),
					    sizeof(double));
		starpu_data_set_name(handle_, "Vector");
	}
	~Vector()
	{
		starpu_data_unregister(handle_);
	}
	Vector(const Vector &) = delete;
	Vector &operator=(const Vector &) = delete;
	starpu_data_handle_t handle() const
	{
		return handle_;
	}

      private:
	starpu_data_handle_t handle_;
};

class Kernel
{
      public:
	using Function = std::function<void(std::vector<double *>, std::size_t)>;

	Kernel(const char *name, std::vector<starpu_data_access_mode> modes,
	       Function body)
	    : body_(std::move(body))
	{
		starpu_codelet_init(&codelet_);
		codelet_.where = STARPU_CPU;
		codelet_.cpu_funcs[0] = &Kernel::run;
		codelet_.cpu_funcs_name[0] = "Kernel::run";
		codelet_.nbuffers = static_cast<int>(modes.size());
		for (std::size_t i = 0; i < modes.size(); i++)
			codelet_.modes[i] = modes[i];
		codelet_.name = name;
		codelet_.model = &starpu_perfmodel_nop;
	}

	void operator()(std::initializer_list<const Vector *> args, int priority = 0)
	{
		starpu_task *task = starpu_task_create();
		task->cl = &codelet_;
		task->cl_arg = this;
		task->priority = priority;
		unsigned i = 0;
		for (const Vector *v : args)
			task->handles[i++] = v->handle();
		int ret = starpu_task_submit(task);
		if (ret)
			throw std::runtime_error(std::strerror(-ret));
	}

      private:
	static void run(void *buffers[], void *arg)
	{
		auto *self = static_cast<Kernel *>(arg);
		std::vector<double *> pointers;
		for (int i = 0; i < self->codelet_.nbuffers; i++)
			pointers.push_back(reinterpret_cast<double *>(
				STARPU_VECTOR_GET_PTR(buffers[i])));
		self->body_(pointers, STARPU_VECTOR_GET_NX(buffers[0]));
	}

	starpu_codelet codelet_;
	Function body_;
};

static starpu_data_access_mode commute()
{
	return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
}

static int program()
{
	std::vector<double> x(1000), y(1000, 0.0), sum(1, 0.0);
	std::iota(x.begin(), x.end(), 0.0);
	{
		Vector vx(x), vy(y), vsum(sum);
		Kernel copy("copy", {STARPU_R, STARPU_W},
			    [](std::vector<double *> p, std::size_t n) {
				    std::copy(p[0], p[0] + n, p[1]);
			    });
		Kernel twice("twice", {STARPU_RW},
			     [](std::vector<double *> p, std::size_t n) {
				     for (std::size_t i = 0; i < n; i++)
					     p[0][i] *= 2;
			     });
		Kernel add("add", {STARPU_R, commute()},
			   [](std::vector<double *> p, std::size_t n) {
				   p[1][0] += std::accumulate(p[0], p[0] + n, 0.0);
			   });
		copy({&vx, &vy});
		twice({&vy}, STARPU_MAX_PRIO);
		for (int i = 0; i < 10; i++) {
			add({&vx, &vsum});
			add({&vy, &vsum});
		}
		starpu_task_wait_for_all();
	}
#ifdef STARPU_SIMGRID
	if (!std::getenv("CHECK_VALUES"))
		return 0;
#endif
	std::printf("sum = %.1f\n", sum[0]);
	return sum[0] == 10 * 3 * 499500.0 && y[999] == 1998.0 ? 0 : 1;
}

int main()
{
	starpu_conf conf;
	starpu_conf_init(&conf);
	conf.sched_policy_name = "prio";
	int ret = starpu_init(&conf);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	try {
		ret = program();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		ret = 1;
	}
	starpu_shutdown();
	return ret;
}
