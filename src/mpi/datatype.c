/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/datatype.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

void datatypes_init(struct datatypes *datatypes)
{
	orr_lock_init(&datatypes->lock);
}

void datatypes_free(struct datatypes *datatypes)
{
	struct datatype *datatype;
	size_t cursor = 0;

	while ((datatype = table_next(&datatypes->by_id, &cursor)))
		free(datatype);
	table_free(&datatypes->by_id);
}

static uint64_t key_of(int interface_id)
{
	return (uint64_t)interface_id + 1;
}

void datatype_remove(struct datatypes *datatypes, int interface_id)
{
	struct datatype *old;

	orr_lock(&datatypes->lock);
	old = table_get(&datatypes->by_id, key_of(interface_id));
	if (old) {
		table_remove(&datatypes->by_id, key_of(interface_id));
		orr_store(&datatypes->n, datatypes->n - 1);
	}
	orr_unlock(&datatypes->lock);
	free(old);
}

void datatype_put(struct datatypes *datatypes, int interface_id,
		  const struct datatype *datatype)
{
	struct datatype *own = orr_alloc(sizeof(*own));

	*own = *datatype;
	datatype_remove(datatypes, interface_id);
	orr_lock(&datatypes->lock);
	table_put(&datatypes->by_id, key_of(interface_id), own);
	orr_store(&datatypes->n, datatypes->n + 1);
	orr_unlock(&datatypes->lock);
}

/* ---- one value -------------------------------------------------------- */

static int find(struct datatypes *datatypes, int interface_id, struct datatype *found)
{
	struct datatype *datatype;

	if (orr_load(&datatypes->n) == 0)
		return 0;
	orr_lock(&datatypes->lock);
	datatype = table_get(&datatypes->by_id, key_of(interface_id));
	if (datatype)
		*found = *datatype;
	orr_unlock(&datatypes->lock);
	return datatype != NULL;
}

static struct place *ask(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory)
{
	struct datatype datatype;
	struct place *place = NULL;
	struct net_type type;

	if (!mpi->net->place_of ||
	    !find(&mpi->lasting->datatypes, (int)handle->ops->interfaceid, &datatype))
		return NULL;
	if (mpi->mpi_is_serial)
		engine_hold_mpi(mpi);
	if (datatype.ask(&datatype, handle, memory, &type) == 0) {
		place = mpi->net->place_of(&type);
		datatype.give_back(&datatype, &type);
	}
	if (mpi->mpi_is_serial)
		engine_let_go_mpi(mpi);
	return place;
}

struct place *datatype_ask_first(struct mpi *mpi, starpu_data_handle_t handle)
{
	return mpi->net->may_ask && mpi->net->may_ask()
		       ? ask(mpi, handle, STARPU_MAIN_RAM)
		       : NULL;
}

struct place *datatype_ask(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory)
{
	return mpi->net->may_ask ? NULL : ask(mpi, handle, memory);
}

char *datatype_base(starpu_data_handle_t handle, unsigned memory)
{
	const struct starpu_data_interface_ops *ops = handle->ops;
	struct copy_state *copy = data_find_copy(handle, memory);

	if (!copy)
		return NULL;
	if (ops->to_pointer)
		return ops->to_pointer(copy->interface, memory);
	return ops->handle_to_pointer ? ops->handle_to_pointer(handle, memory) : NULL;
}
