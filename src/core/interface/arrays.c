/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/arrays.h"

#include <errno.h>
#include <string.h>

static uintptr_t pointer_in(const void *interface, const struct array *array)
{
	uintptr_t ptr;

	memcpy(&ptr, (const char *)interface + array->field, sizeof(ptr));
	return ptr;
}

static void set_pointer(void *interface, const struct array *array, uintptr_t ptr)
{
	memcpy((char *)interface + array->field, &ptr, sizeof(ptr));
}

size_t arrays_bytes(interface_arrays_func *arrays_of, const void *interface)
{
	struct arrays arrays = arrays_of(interface);
	size_t bytes = 0;

	for (int i = 0; i < arrays.n; i++)
		bytes += arrays.array[i].bytes;
	return bytes;
}

void arrays_register(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		     int home, const void *interface)
{
	struct arrays arrays = arrays_of(interface);

	for (unsigned memory = 0; memory < NODE_MAX_MEMORIES; memory++) {
		void *slot = data_interface(handle, memory);

		memcpy(slot, interface, handle->ops->interface_size);
		for (int i = 0; i < arrays.n && (int)memory != home; i++)
			set_pointer(slot, &arrays.array[i], 0);
	}
}

/* The first n of them. */
static void free_some(const struct arrays *arrays, int n, void *interface,
		      unsigned memory)
{
	for (int i = 0; i < n; i++) {
		const struct array *array = &arrays->array[i];

		interface_put(memory, pointer_in(interface, array), array->bytes);
		set_pointer(interface, array, 0);
	}
}

starpu_ssize_t arrays_allocate(interface_arrays_func *arrays_of, void *interface,
			       unsigned memory)
{
	struct arrays arrays = arrays_of(interface);
	size_t bytes = 0;

	for (int i = 0; i < arrays.n; i++) {
		const struct array *array = &arrays.array[i];
		uintptr_t ptr = interface_get(memory, array->bytes);

		if (!ptr && array->bytes) {
			free_some(&arrays, i, interface, memory);
			return -ENOMEM;
		}
		set_pointer(interface, array, ptr);
		bytes += array->bytes;
	}
	return (starpu_ssize_t)bytes;
}

void arrays_free(interface_arrays_func *arrays_of, void *interface, unsigned memory)
{
	struct arrays arrays = arrays_of(interface);

	free_some(&arrays, arrays.n, interface, memory);
}

void arrays_reuse(interface_arrays_func *arrays_of, void *interface, const void *cached)
{
	struct arrays arrays = arrays_of(cached);

	for (int i = 0; i < arrays.n; i++)
		set_pointer(interface, &arrays.array[i],
			    pointer_in(cached, &arrays.array[i]));
}

void arrays_forget(interface_arrays_func *arrays_of, void *interface)
{
	struct arrays arrays = arrays_of(interface);

	for (int i = 0; i < arrays.n; i++)
		set_pointer(interface, &arrays.array[i], 0);
}

void arrays_cache(interface_arrays_func *arrays_of, void *cached, void *interface)
{
	arrays_reuse(arrays_of, cached, interface);
	arrays_forget(arrays_of, interface);
}

int arrays_copy(interface_arrays_func *arrays_of, const struct copy_ends *ends)
{
	struct arrays arrays = arrays_of(ends->from);
	int ret = 0;

	for (int i = 0; i < arrays.n; i++)
		if (interface_move(ends,
				   (const void *)pointer_in(ends->from, &arrays.array[i]),
				   (void *)pointer_in(ends->to, &arrays.array[i]),
				   arrays.array[i].bytes) == -EAGAIN)
			ret = -EAGAIN;
	return ret;
}

int arrays_pack(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		unsigned memory, void **ptr, starpu_ssize_t *count)
{
	const void *interface = data_copy(handle, memory)->interface;
	struct arrays arrays = arrays_of(interface);
	struct copy_ends here = {.from_memory = memory, .to_memory = memory};
	char *at;

	*count = (starpu_ssize_t)arrays_bytes(arrays_of, interface);
	if (!ptr)
		return 0;
	*ptr = at = interface_buffer_get(memory, (size_t)*count);
	if (!at)
		return -ENOMEM;
	for (int i = 0; i < arrays.n; at += arrays.array[i++].bytes)
		interface_move(&here,
			       (const void *)pointer_in(interface, &arrays.array[i]), at,
			       arrays.array[i].bytes);
	return 0;
}

int arrays_peek(interface_arrays_func *arrays_of, starpu_data_handle_t handle,
		unsigned memory, void *ptr, size_t count)
{
	void *interface = data_copy(handle, memory)->interface;
	struct arrays arrays = arrays_of(interface);
	struct copy_ends here = {.from_memory = memory, .to_memory = memory};
	const char *at = ptr;

	if (count != arrays_bytes(arrays_of, interface))
		return -EINVAL;
	for (int i = 0; i < arrays.n; at += arrays.array[i++].bytes)
		interface_move(&here, at, (void *)pointer_in(interface, &arrays.array[i]),
			       arrays.array[i].bytes);
	return 0;
}
