/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"
#include "core/interface/methods.h"

#include <errno.h>
#include <string.h>

#include "base/application.h"
#include "core/model/hash.h"

/*
 * nx elements in as many formats as there are types of memories.
 *
 * A copy has an array of its memory's format, in which its value is, and those in which
 * values arrive, to be converted (core/data/convert.h): in devices the processors', in
 * main memory the devices', which are allocated when the first value comes.
 */
struct format {
	enum starpu_node_kind kind; /* of the memory */
	size_t field, elemsize;     /* offsets in the interface, in its ops */
};

#define FORMAT(kind, name)                                                               \
	{                                                                                \
		kind, offsetof(struct starpu_multiformat_interface, name##_ptr),         \
			offsetof(struct starpu_multiformat_data_interface_ops,           \
				 name##_elemsize)                                        \
	}

enum { FORMATS = 3, FORMAT_CPU = 0 };

static const struct format formats[FORMATS] = {FORMAT(STARPU_CPU_RAM, cpu),
					       FORMAT(STARPU_CUDA_RAM, cuda),
					       FORMAT(STARPU_OPENCL_RAM, opencl)};

/* Of the processors, where nothing else is known: on disks. */
static const struct format *format_of(unsigned memory)
{
	enum starpu_node_kind kind = interface_memory_kind(memory);

	for (int i = 0; i < FORMATS; i++)
		if (formats[i].kind == kind)
			return &formats[i];
	return &formats[FORMAT_CPU];
}

static void **array_of(void *interface, const struct format *format)
{
	return (void **)((char *)interface + format->field);
}

static size_t array_bytes(const void *interface, const struct format *format)
{
	const struct starpu_multiformat_interface *multi = interface;
	const char *ops = (const char *)multi->ops;
	size_t elemsize;

	memcpy(&elemsize, ops + format->elemsize, sizeof(elemsize));
	return multi->nx * elemsize;
}

/* ---- memory and copies ----------------------------------------------- */

static void multiformat_register(starpu_data_handle_t handle, int home, void *interface)
{
	const struct starpu_multiformat_interface *given = interface;

	for (unsigned memory = 0; memory < NODE_MAX_MEMORIES; memory++) {
		struct starpu_multiformat_interface *multi =
			data_interface(handle, memory);

		*multi = (struct starpu_multiformat_interface){
			.id = STARPU_MULTIFORMAT_INTERFACE_ID,
			.nx = given->nx,
			.ops = given->ops,
			.cpu_ptr = (int)memory == home ? given->cpu_ptr : NULL};
	}
}

/* An array of one more format; 0, or -ENOMEM. */
static int add_array(void *interface, unsigned memory, const struct format *format)
{
	void **array = array_of(interface, format);
	size_t bytes = array_bytes(interface, format);

	if (!*array)
		*array = (void *)interface_get(memory, bytes);
	return *array || !bytes ? 0 : -ENOMEM;
}

static void free_array(void *interface, unsigned memory, const struct format *format)
{
	void **array = array_of(interface, format);

	if (*array)
		interface_put(memory, (uintptr_t)*array, array_bytes(interface, format));
	*array = NULL;
}

static void multiformat_free(void *interface, unsigned memory)
{
	for (int i = 0; i < FORMATS; i++)
		free_array(interface, memory, &formats[i]);
}

static starpu_ssize_t multiformat_allocate(void *interface, unsigned memory)
{
	const struct format *own = format_of(memory);

	if (add_array(interface, memory, own) < 0)
		return -ENOMEM;
	if (own == &formats[FORMAT_CPU])
		return (starpu_ssize_t)array_bytes(interface, own);
	if (add_array(interface, memory, &formats[FORMAT_CPU]) < 0) {
		multiformat_free(interface, memory);
		return -ENOMEM;
	}
	return (starpu_ssize_t)(array_bytes(interface, own) +
				array_bytes(interface, &formats[FORMAT_CPU]));
}

/* What came in other formats to memory that is the application's. */
static void multiformat_unregister(starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & DATUM_USER_MEMORY) ||
	    (data_flags(handle) & DATUM_PART))
		return;
	for (int i = FORMAT_CPU + 1; i < FORMATS; i++)
		free_array(handle->interface, STARPU_MAIN_RAM, &formats[i]);
}

static int multiformat_copy(void *from, unsigned from_memory, void *to,
			    unsigned to_memory, void *async_data)
{
	const struct format *format = format_of(from_memory);
	const struct copy_ends ends = {from, to, from_memory, to_memory, async_data};

	if (add_array(to, to_memory, format) < 0)
		return -ENOMEM;
	return interface_move(&ends, *array_of(from, format), *array_of(to, format),
			      array_bytes(from, format));
}

/* What is converted is converted from or to the processors' format. */
static int multiformat_can_copy(void *from, unsigned from_memory, void *to,
				unsigned to_memory, unsigned handled_by)
{
	(void)from;
	(void)to;
	(void)handled_by;
	return format_of(from_memory) == format_of(to_memory);
}

static void *multiformat_pointer(void *interface, unsigned memory)
{
	return *array_of(interface, format_of(memory));
}

/* ---- packed: the value where it is ------------------------------------ */

static int multiformat_pack(starpu_data_handle_t handle, unsigned memory, void **ptr,
			    starpu_ssize_t *count)
{
	void *interface = data_copy(handle, memory)->interface;
	const struct format *format = format_of(memory);
	struct copy_ends here = {.from_memory = memory, .to_memory = memory};
	size_t bytes = array_bytes(interface, format);

	*count = (starpu_ssize_t)bytes;
	if (!ptr)
		return 0;
	*ptr = interface_buffer_get(memory, bytes);
	if (!*ptr)
		return -ENOMEM;
	return interface_move(&here, *array_of(interface, format), *ptr, bytes);
}

static int multiformat_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,
			    size_t count)
{
	void *interface = data_copy(handle, memory)->interface;
	const struct format *format = format_of(memory);
	struct copy_ends here = {.from_memory = memory, .to_memory = memory};

	if (count != array_bytes(interface, format))
		return -EINVAL;
	return interface_move(&here, ptr, *array_of(interface, format), count);
}

static int multiformat_unpack(starpu_data_handle_t handle, unsigned memory, void *ptr,
			      size_t count)
{
	int ret = multiformat_peek(handle, memory, ptr, count);

	interface_buffer_put(memory, ptr, count);
	return ret;
}

/* ---- sizes and texts ------------------------------------------------- */

static size_t multiformat_size(starpu_data_handle_t handle)
{
	return array_bytes(handle->interface, &formats[FORMAT_CPU]);
}

/* In the memory that needs most of it. */
static size_t multiformat_alloc_size(starpu_data_handle_t handle)
{
	size_t most = 0;

	for (int i = FORMAT_CPU + 1; i < FORMATS; i++) {
		size_t bytes = array_bytes(handle->interface, &formats[i]);

		if (bytes > most && interface_has_memory(handle->node, formats[i].kind))
			most = bytes;
	}
	return multiformat_size(handle) + most;
}

static uint32_t multiformat_footprint(starpu_data_handle_t handle)
{
	const struct starpu_multiformat_interface *multi = handle->interface;

	return hash_crc32c_be(multi->nx, 0);
}

static starpu_ssize_t multiformat_describe(void *interface, char *buf, size_t size)
{
	const struct starpu_multiformat_interface *multi = interface;

	return snprintf(buf, size, "F%ux%zux%zux%zu", multi->nx, multi->ops->cpu_elemsize,
			multi->ops->cuda_elemsize, multi->ops->opencl_elemsize);
}

static int multiformat_compare(void *a, void *b)
{
	const struct starpu_multiformat_interface *x = a, *y = b;

	return x->nx == y->nx && x->ops->cpu_elemsize == y->ops->cpu_elemsize &&
	       x->ops->cuda_elemsize == y->ops->cuda_elemsize &&
	       x->ops->opencl_elemsize == y->ops->opencl_elemsize;
}

static void multiformat_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%u\t",
		((struct starpu_multiformat_interface *)handle->interface)->nx);
}

static struct starpu_multiformat_data_interface_ops *multiformat_ops(void *interface)
{
	return ((struct starpu_multiformat_interface *)interface)->ops;
}

static size_t multiformat_element_bytes(const void *interface)
{
	return ((const struct starpu_multiformat_interface *)interface)
		->ops->cpu_elemsize;
}

const struct interface_kind interface_multiformat = {
	.id = STARPU_MULTIFORMAT_INTERFACE_ID,
	.element_bytes = multiformat_element_bytes};

static const struct starpu_data_copy_methods multiformat_methods = {
	.can_copy = multiformat_can_copy, .any_to_any = multiformat_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops interface_multiformat_ops = {
	.register_data_handle = multiformat_register,
	.unregister_data_handle = multiformat_unregister,
	.get_alloc_size = multiformat_alloc_size,
	.is_multiformat = 1,
	.dontcache = 1,
	.get_mf_ops = multiformat_ops,
	INTERFACE_OPS(multiformat, MULTIFORMAT)};
