/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_DATATYPE_H
#define ORR_MPI_DATATYPE_H

/*
 * datatype.h - functions of the application that describe the values of its own
 * interfaces in MPI's terms, for each interface by its number.
 *
 * They are the program's: they may be given before the first life of the library and hold
 * in all.  A function may refuse a value, which is packed by its interface then.
 */
#include "base/place.h"
#include "base/table.h"
#include "core/data/data.h"
#include "plat/net.h"

struct mpi;
struct answer;

struct datatype {
	/* The application's functions, whose types only the API knows, and who calls
	 * them: 0 and *type, or a refusal. */
	void (*allocate)(void);
	void (*free)(void);
	int (*ask)(const struct datatype *datatype, starpu_data_handle_t handle,
		   unsigned memory, struct net_type *type);
	void (*give_back)(const struct datatype *datatype, struct net_type *type);
	int is_told; /* that its types describe more than the data have */
};

struct datatypes {
	struct orr_lock lock;
	struct table by_id; /* struct datatype, by interface id + 1 */
	int n;              /* atomic */
};

void datatypes_init(struct datatypes *datatypes);
void datatypes_free(struct datatypes *datatypes);
/* Replaces an earlier one. */
void datatype_put(struct datatypes *datatypes, int interface_id,
		  const struct datatype *datatype);
void datatype_remove(struct datatypes *datatypes, int interface_id);

/*
 * Where the value of a datum is, from the address of a copy on: when its copy in a main
 * memory is the caller's.  NULL when nobody is to be asked then, or refuses; else to be
 * freed.
 */
struct place *datatype_ask(struct mpi *mpi, starpu_data_handle_t handle, unsigned memory);
/*
 * The same asked when a transfer of it is posted, which may be long before its memory is
 * there; answered_place() says where it has come to be, and frees the answer.
 */
struct answer *datatype_ask_first(struct mpi *mpi, starpu_data_handle_t handle);
struct place *answered_place(struct answer *answer, starpu_data_handle_t handle,
			     unsigned memory);
void answer_free(struct answer *answer);
/* The address of a copy. */
char *datatype_base(starpu_data_handle_t handle, unsigned memory);

#endif
