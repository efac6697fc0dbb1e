/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include <errno.h>

#include "base/application.h"

/* Data without content, for dependencies only. */

static starpu_ssize_t void_allocate(void *data_interface, unsigned memory)
{
	(void)data_interface;
	(void)memory;
	return 0;
}

static void void_free(void *data_interface, unsigned memory)
{
	(void)data_interface;
	(void)memory;
}

static size_t void_size(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

static uint32_t void_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return 0;
}

static int void_copy(void *from, unsigned from_memory, void *to, unsigned to_memory,
		     void *async_data)
{
	(void)from;
	(void)from_memory;
	(void)to;
	(void)to_memory;
	(void)async_data;
	return 0;
}

static starpu_ssize_t void_describe(void *data_interface, char *buf, size_t size)
{
	(void)data_interface;
	return snprintf(buf, size, "0");
}

static int void_compare(void *a, void *b)
{
	(void)a;
	(void)b;
	return 1;
}

static void void_display(starpu_data_handle_t handle, FILE *f)
{
	(void)handle;
	fputs("void\t", f);
}

static int void_pack(starpu_data_handle_t handle, unsigned memory, void **ptr,
		     starpu_ssize_t *count)
{
	(void)handle;
	(void)memory;
	*count = 0;
	if (ptr)
		*ptr = NULL;
	return 0;
}

static int void_peek(starpu_data_handle_t handle, unsigned memory, void *ptr,
		     size_t count)
{
	(void)handle;
	(void)memory;
	(void)ptr;
	return count == 0 ? 0 : -EINVAL;
}

static int void_unpack(starpu_data_handle_t handle, unsigned memory, void *ptr,
		       size_t count)
{
	int ret = void_peek(handle, memory, ptr, count);

	interface_buffer_put(memory, ptr, count);
	return ret;
}

static int void_layout(const void *shape, const void *place, struct layout *layout)
{
	(void)shape;
	(void)place;
	layout_flat(layout, NULL, 0);
	return 0;
}

const struct interface_kind interface_void = {.id = STARPU_VOID_INTERFACE_ID,
					      .layout = void_layout,
					      .pack = void_pack,
					      .peek = void_peek,
					      .unpack = void_unpack};

static const struct starpu_data_copy_methods void_methods = {.any_to_any = void_copy};

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_void_ops = {
	.register_data_handle = interface_register_plain,
	.allocate_data_on_node = void_allocate,
	.free_data_on_node = void_free,
	.copy_methods = &void_methods,
	.get_size = void_size,
	.footprint = void_footprint,
	.compare = void_compare,
	.display = void_display,
	.describe = void_describe,
	.interfaceid = STARPU_VOID_INTERFACE_ID,
	.interface_size = 0,
	.pack_data = void_pack,
	.peek_data = void_peek,
	.unpack_data = void_unpack,
	.name = (char *)"STARPU_VOID_INTERFACE",
};
