/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_INTERFACE_H
#define ORR_API_INTERFACE_H

/*
 * interface.h - what the functions of the predefined interfaces share.
 *
 * Each has a file here, for its public functions, and one in core/interface.
 */
#include "api/api.h"
#include "core/interface/interface.h"

/* home, which must be a memory or -1. */
int api_home(const struct node *node, const char *func, int home);
/* The bytes of so many elements, which must be a number that exists. */
size_t api_product_bytes(const struct node *node, const char *func, size_t nelements,
			 size_t element_bytes);
/* Memory that is given must exist, unless there is nothing in it. */
void api_given_memory(const struct node *node, const char *func, int home, uintptr_t ptr,
		      size_t bytes);
/* The struct in main memory of a handle that must be of this kind. */
void *api_interface_of(const char *func, starpu_data_handle_t handle,
		       enum starpu_data_interface_id id, const char *kind);

/* The same, of a handle that the caller of this function was given. */
#define API_INTERFACE_OF(handle, kind, KIND)                                             \
	((struct starpu_##kind##_interface                                               \
		  *)(api_check_registered(api_node(__func__), __func__, handle),         \
		     api_interface_of(__func__, handle, STARPU_##KIND##_INTERFACE_ID,    \
				      #kind)))

/* The struct of the caller's memory, of a handle that the caller of this function was
 * given. */
const void *api_local_interface(const char *func, starpu_data_handle_t handle,
				enum starpu_data_interface_id id, const char *kind);

#define API_LOCAL_INTERFACE(handle, kind, KIND)                                          \
	((const struct starpu_##kind##_interface *)api_local_interface(                  \
		__func__, handle, STARPU_##KIND##_INTERFACE_ID, #kind))

/* Memory of the application's, for the copy in a memory that has none yet. */
struct api_place {
	unsigned memory;
	uintptr_t ptr, dev_handle;
	size_t offset;
};

/* Put it there; returns the struct of that memory. */
void *api_place(const char *func, starpu_data_handle_t handle,
		enum starpu_data_interface_id id, const char *kind,
		const struct api_place *place);

/* The same, of the arguments of this function. */
#define API_PLACE(kind, KIND)                                                            \
	((struct starpu_##kind##_interface *)api_place(                                  \
		__func__, handle, STARPU_##KIND##_INTERFACE_ID, #kind,                   \
		&(struct api_place){node, ptr, dev_handle, offset}))

/* A dimension of an array: n elements, or parts of lower dimensions, ld elements apart.
 */
struct api_dim {
	size_t n, ld;
};

/* Whether some element lies where another one does; sorts dims. */
int api_dims_overlap(struct api_dim *dims, size_t ndims);

#endif
