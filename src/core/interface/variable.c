/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include "base/application.h"
#include "core/model/hash.h"

/* Variable: elemsize bytes. */

static int variable_layout(const void *shape, const void *place, struct layout *layout)
{
	layout_flat(layout,
		    (void *)((const struct starpu_variable_interface *)place)->ptr,
		    ((const struct starpu_variable_interface *)shape)->elemsize);
	return 0;
}

static size_t variable_element_bytes(const void *interface)
{
	return ((const struct starpu_variable_interface *)interface)->elemsize;
}

INTERFACE_BY_LAYOUT(variable, VARIABLE);

static starpu_ssize_t variable_allocate(void *interface, unsigned memory)
{
	return interface_allocate(interface, memory, variable_element_bytes(interface));
}

static void variable_free(void *interface, unsigned memory)
{
	interface_free(interface, memory, variable_element_bytes(interface));
}

static size_t variable_size(starpu_data_handle_t handle)
{
	return variable_element_bytes(handle->interface);
}

static uint32_t variable_footprint(starpu_data_handle_t handle)
{
	return hash_crc32c_be((uint32_t)variable_size(handle), 0);
}

static starpu_ssize_t variable_describe(void *interface, char *buf, size_t size)
{
	return snprintf(buf, size, "v%zu", variable_element_bytes(interface));
}

static int variable_compare(void *a, void *b)
{
	return variable_element_bytes(a) == variable_element_bytes(b);
}

static void variable_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%zu\t", variable_size(handle));
}

APPLICATION_OBJECT struct starpu_data_interface_ops starpu_interface_variable_ops = {
	INTERFACE_OPS_BY_LAYOUT(variable, VARIABLE),
	.reuse_data_on_node = interface_reuse};

starpu_data_handle_t interface_register_bytes(struct node *node, void *bytes, size_t n)
{
	struct starpu_variable_interface variable = {
		.id = STARPU_VARIABLE_INTERFACE_ID,
		.ptr = (uintptr_t)bytes,
		.dev_handle = (uintptr_t)bytes,
		.elemsize = n,
	};

	return data_register(node, STARPU_MAIN_RAM, &variable,
			     &starpu_interface_variable_ops);
}
