/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include <string.h>

#include "base/check.h"
#include "mpi/datatype.h"

_Static_assert(sizeof(MPI_Datatype) <= sizeof(((struct net_type *)0)->mpi),
	       "struct net_type must have room for an MPI_Datatype");

/* An MPI_Datatype is a pointer here and a number there.  ret: what the application's
 * function returned. */
static int keep(struct net_type *type, MPI_Datatype mpi, int ret,
		starpu_data_handle_t handle)
{
	static const MPI_Datatype untouched = {0};
	char text[128];

	if (ret == 0 && (mpi == MPI_DATATYPE_NULL || mpi == untouched))
		orr_die(api_rank(),
			"the function that allocates the MPI datatype of %s has returned "
			"0 and no type (MPI_DATATYPE_NULL): expected a type, or another "
			"number than 0 for a value that is to be packed",
			data_describe(handle, text, sizeof(text)));
	memcpy(&type->mpi, &mpi, sizeof(mpi));
	return ret;
}

static void give_back(const struct datatype *datatype, struct net_type *type)
{
	MPI_Datatype mpi;

	memcpy(&mpi, &type->mpi, sizeof(mpi));

	((starpu_mpi_datatype_free_func_t)datatype->free)(&mpi);
}

static int ask_main(const struct datatype *datatype, starpu_data_handle_t handle,
		    unsigned memory, struct net_type *type)
{
	MPI_Datatype mpi = {0};
	int ret = ((starpu_mpi_datatype_allocate_func_t)datatype->allocate)(handle, &mpi);

	(void)memory;
	return keep(type, mpi, ret, handle);
}

static int ask_memory(const struct datatype *datatype, starpu_data_handle_t handle,
		      unsigned memory, struct net_type *type)
{
	MPI_Datatype mpi = {0};
	int ret = ((starpu_mpi_datatype_node_allocate_func_t)datatype->allocate)(
		handle, memory, &mpi);

	return keep(type, mpi, ret, handle);
}

static struct datatypes *datatypes_now(void)
{
	return &mpi_lasting_of(lasting_get())->datatypes;
}

/* The library's own kinds are described already. */
static void check_id(const char *func, int id)
{
	if (id < STARPU_MAX_INTERFACE_ID)
		orr_die(api_rank(),
			"%s: interface %d is predefined and has its datatype; register "
			"one for an interface of your own, with a number of "
			"starpu_data_interface_get_next_id()",
			func, id);
}

static int register_id(const char *func, enum starpu_data_interface_id id,
		       const struct datatype *datatype)
{
	check_id(func, (int)id);
	if (!datatype->allocate || !datatype->free)
		orr_die(api_rank(), "%s: the function that %s datatypes is NULL", func,
			datatype->allocate ? "frees" : "allocates");
	datatype_put(datatypes_now(), (int)id, datatype);
	return 0;
}

/* The value must have an address, to which its type is relative. */
static enum starpu_data_interface_id id_of(const char *func, starpu_data_handle_t handle)
{
	struct node *node = api_node(func);
	char text[128];

	api_check_handle(node, func, handle);
	if (!handle->ops->to_pointer && !handle->ops->handle_to_pointer)
		orr_die(node->rank,
			"%s: the interface of %s has no to_pointer; define it in struct "
			"starpu_data_interface_ops, since datatypes are relative to it",
			func, data_describe(handle, text, sizeof(text)));
	return handle->ops->interfaceid;
}

int starpu_mpi_interface_datatype_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	struct datatype datatype = {.allocate = (void (*)(void))allocate_datatype_func,
				    .free = (void (*)(void))free_datatype_func,
				    .ask = ask_main,
				    .give_back = give_back};

	return register_id(__func__, id, &datatype);
}

int starpu_mpi_interface_datatype_node_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	struct datatype datatype = {.allocate = (void (*)(void))allocate_datatype_func,
				    .free = (void (*)(void))free_datatype_func,
				    .ask = ask_memory,
				    .give_back = give_back};

	return register_id(__func__, id, &datatype);
}

int starpu_mpi_datatype_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return starpu_mpi_interface_datatype_register(
		id_of(__func__, handle), allocate_datatype_func, free_datatype_func);
}

int starpu_mpi_datatype_node_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return starpu_mpi_interface_datatype_node_register(
		id_of(__func__, handle), allocate_datatype_func, free_datatype_func);
}

int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id)
{
	check_id(__func__, (int)id);
	datatype_remove(datatypes_now(), (int)id);
	return 0;
}

int starpu_mpi_datatype_unregister(starpu_data_handle_t handle)
{
	api_check_handle(api_node(__func__), __func__, handle);
	return starpu_mpi_interface_datatype_unregister(handle->ops->interfaceid);
}
