/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/interface/interface.h"

#include <string.h>

#include "base/check.h"

/* ---- registration ---------------------------------------------------- */

/* What all predefined interfaces that have content begin with. */
struct plain_head {
	enum starpu_data_interface_id id;
	uintptr_t ptr, dev_handle;
	size_t offset;
};

#define BEGINS_AS_PLAIN(kind)                                                            \
	_Static_assert(offsetof(struct starpu_##kind##_interface, ptr) ==                \
				       offsetof(struct plain_head, ptr) &&               \
			       offsetof(struct starpu_##kind##_interface, dev_handle) == \
				       offsetof(struct plain_head, dev_handle) &&        \
			       offsetof(struct starpu_##kind##_interface, offset) ==     \
				       offsetof(struct plain_head, offset),              \
		       "pointers of the interface are elsewhere")
BEGINS_AS_PLAIN(variable);
BEGINS_AS_PLAIN(vector);
BEGINS_AS_PLAIN(matrix);

void interface_copy_shape(void *to, const void *from, size_t bytes)
{
	struct plain_head *head = to;

	if (bytes < sizeof(*head))
		return; /* Without content. */
	*head = (struct plain_head){.id = ((const struct plain_head *)from)->id};
	memcpy(head + 1, (const struct plain_head *)from + 1, bytes - sizeof(*head));
}

void interface_register_plain(starpu_data_handle_t handle, int home, void *interface)
{
	size_t bytes = handle->ops->interface_size;

	for (unsigned memory = 0; memory < NODE_MAX_MEMORIES; memory++) {
		void *slot = data_interface(handle, memory);

		if (bytes && (int)memory == home)
			memcpy(slot, interface, bytes);
		else
			interface_copy_shape(slot, interface, bytes);
	}
}

/* ---- layout ---------------------------------------------------------- */

static const struct interface_packing *const packings[] = {
	&interface_flat, &interface_matrix, &interface_void};

int interface_layout(starpu_data_handle_t handle, unsigned memory, struct layout *layout)
{
	const struct starpu_data_interface_ops *ops = handle->ops;

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		const struct interface_packing *packing = packings[i];

		if (ops->pack_data != packing->pack || ops->peek_data != packing->peek ||
		    ops->unpack_data != packing->unpack)
			continue;
		packing->layout(handle, data_copy(handle, memory)->interface, memory,
				layout);
		return 1;
	}
	return 0;
}
