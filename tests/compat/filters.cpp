/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Filters and an interface of the application's, from C++. */
#include <starpu.h>

#include <numeric>
#include <vector>

namespace
{

class Handle
{
      public:
	explicit Handle(std::vector<double> &v)
	{
		starpu_vector_data_register(
			&handle_, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(v.data()),
			static_cast<uint32_t>(v.size()), sizeof(double));
	}
	~Handle()
	{
		starpu_data_unregister(handle_);
	}
	operator starpu_data_handle_t() const
	{
		return handle_;
	}

      private:
	starpu_data_handle_t handle_;
};

extern "C" void square(void *buffers[], void *)
{
	double *v = reinterpret_cast<double *>(STARPU_VECTOR_GET_PTR(buffers[0]));

	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] *= v[i];
}

extern "C" void every_other(void *father, void *child, struct starpu_data_filter *f,
			    unsigned id, unsigned nparts)
{
	starpu_vector_interface *v = static_cast<starpu_vector_interface *>(father);
	starpu_matrix_interface *m = static_cast<starpu_matrix_interface *>(child);

	(void)f;
	m->id = STARPU_MATRIX_INTERFACE_ID;
	m->nx = 1;
	m->ny = v->nx / nparts;
	m->ld = nparts;
	m->elemsize = v->elemsize;
	m->allocsize = m->nx * m->ny * m->elemsize;
	if (v->ptr) {
		m->ptr = v->ptr + id * v->elemsize;
		m->dev_handle = m->ptr;
		m->offset = v->offset + id * v->elemsize;
	}
}

extern "C" struct starpu_data_interface_ops *matrices(struct starpu_data_filter *,
						      unsigned)
{
	return &starpu_interface_matrix_ops;
}

extern "C" void negate(void *buffers[], void *)
{
	double *m = reinterpret_cast<double *>(STARPU_MATRIX_GET_PTR(buffers[0]));

	for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		m[j * STARPU_MATRIX_GET_LD(buffers[0])] *= -1;
}

starpu_codelet codelet(void (*func)(void **, void *))
{
	starpu_codelet cl;

	starpu_codelet_init(&cl);
	cl.cpu_funcs[0] = func;
	cl.nbuffers = 1;
	cl.modes[0] = STARPU_RW;
	return cl;
}

} // namespace

int main()
{
	std::vector<double> v(12);
	int bad = 0;

	std::iota(v.begin(), v.end(), 1.0);
	if (starpu_init(nullptr) != 0)
		return 77;
	static starpu_codelet square_cl = codelet(square), negate_cl = codelet(negate);
	{
		Handle handle(v);
		starpu_data_filter blocks = starpu_data_filter(),
				   others = starpu_data_filter();

		blocks.filter_func = starpu_vector_filter_block;
		blocks.nchildren = 5;
		starpu_data_partition(handle, &blocks);
		for (int i = 0; i < 5; i++)
			bad += starpu_task_insert(&square_cl, STARPU_RW,
						  starpu_data_get_sub_data(handle, 1, i),
						  0);
		starpu_data_unpartition(handle, STARPU_MAIN_RAM);
		others.filter_func = every_other;
		others.nchildren = 2;
		others.get_child_ops = matrices;
		starpu_data_partition(handle, &others);
		bad += starpu_task_insert(&negate_cl, STARPU_RW,
					  starpu_data_get_child(handle, 1), 0);
		starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	}
	starpu_shutdown();
	for (size_t i = 0; i < v.size(); i++)
		bad += v[i] != static_cast<double>((i + 1) * (i + 1)) * (i % 2 ? -1 : 1);
	return bad != 0;
}
