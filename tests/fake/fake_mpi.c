/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "base/check.h"
#include "fake_impl.h"
#include "mpi.h"

/* fake_mpi.c - communicators, their groups and attributes, of the nodes of the fake. */

/* What one rank attached to a communicator. */
struct fake_attribute {
	struct fake_attribute *next;
	int node, keyval;
	void *value;
};

struct fake_keyval {
	struct fake_keyval *next;
	int number;
	MPI_Comm_delete_attr_function *remove;
	void *extra_state;
};

/* A collective call that is under way: what the ranks gave, then what they get. */
struct fake_split {
	int narrived, nleft;
	int *colors, *keys;
	struct fake_comm **results;
};

struct fake_comm {
	struct fake_comm *next; /* of all */
	int size, nfreed;
	uint64_t number; /* 0: the world */
	int *nodes;      /* by rank */
	struct fake_attribute *attributes;
	struct fake_split split;
};

struct fake_mpi {
	struct fake_comm *comms;
	struct fake_comm *world;
	struct fake_keyval *keyvals;
	int nkeyvals;
	uint64_t ncomms;
};

static struct fake_mpi *mpi_get(void)
{
	struct fake *fake = fake_get();

	if (!fake->mpi)
		fake->mpi = orr_alloc(sizeof(*fake->mpi));
	return fake->mpi;
}

static struct fake_comm *comm_new(int size)
{
	struct fake_mpi *mpi = mpi_get();
	struct fake_comm *comm = orr_alloc(sizeof(*comm));
	size_t n = (size_t)size;

	comm->size = size;
	comm->number = mpi->ncomms++;
	comm->nodes = orr_alloc(n * sizeof(int));
	comm->split.colors = orr_alloc(n * sizeof(int));
	comm->split.keys = orr_alloc(n * sizeof(int));
	comm->split.results = orr_alloc(n * sizeof(struct fake_comm *));
	comm->next = mpi->comms;
	mpi->comms = comm;
	return comm;
}

void fake_mpi_free(struct fake *fake)
{
	struct fake_mpi *mpi = fake->mpi;

	if (!mpi)
		return;
	while (mpi->comms) {
		struct fake_comm *comm = mpi->comms;

		mpi->comms = comm->next;
		free(comm->nodes);
		free(comm->split.colors);
		free(comm->split.keys);
		free(comm->split.results);
		free(comm);
	}
	while (mpi->keyvals) {
		struct fake_keyval *keyval = mpi->keyvals;

		mpi->keyvals = keyval->next;
		free(keyval);
	}
	free(mpi);
}

MPI_Comm fake_mpi_world(void)
{
	struct fake_mpi *mpi = mpi_get();

	if (!mpi->world) {
		mpi->world = comm_new(fake_get()->nnodes);
		for (int i = 0; i < mpi->world->size; i++)
			mpi->world->nodes[i] = i;
	}
	return mpi->world;
}

/* ---- life ------------------------------------------------------------ */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void)argc;
	(void)argv;
	*provided = required;
	return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
	*flag = 1;
	return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
	*flag = 0;
	return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
	return MPI_SUCCESS;
}

int MPI_Query_thread(int *provided)
{
	*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *is_main)
{
	*is_main = 1;
	return MPI_SUCCESS;
}

/* ---- ranks ----------------------------------------------------------- */

static int rank_of(const struct fake_comm *comm, int node)
{
	for (int i = 0; i < comm->size; i++)
		if (comm->nodes[i] == node)
			return i;
	return MPI_UNDEFINED;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	*rank = rank_of(comm, fake_selected());
	return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	*size = comm->size;
	return MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm comm, int *joins_groups)
{
	(void)comm;
	*joins_groups = 0;
	return MPI_SUCCESS;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	*group = comm;
	return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
	*group = NULL;
	return MPI_SUCCESS;
}

int MPI_Group_translate_ranks(MPI_Group from, int n, const int *ranks, MPI_Group to,
			      int *translated)
{
	for (int i = 0; i < n; i++)
		translated[i] = rank_of(to, from->nodes[ranks[i]]);
	return MPI_SUCCESS;
}

/* The ranks of one color, by key, then by rank. */
static void make_half(struct fake_comm *comm, int color)
{
	struct fake_split *split = &comm->split;
	struct fake_comm *half;
	int n = 0;

	for (int i = 0; i < comm->size; i++)
		n += split->colors[i] == color;
	half = comm_new(n);
	n = 0;
	for (int i = 0; i < comm->size; i++) {
		int at = n;

		if (split->colors[i] != color)
			continue;
		split->results[i] = half;
		for (; at > 0; at--) {
			int before = rank_of(comm, half->nodes[at - 1]);

			if (split->keys[before] <= split->keys[i])
				break;
			half->nodes[at] = half->nodes[at - 1];
		}
		half->nodes[at] = comm->nodes[i];
		n++;
	}
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
	struct fake_split *split = &comm->split;
	int rank = rank_of(comm, fake_selected());

	while (split->nleft > 0) /* of the previous one */
		fake_yield();
	split->colors[rank] = color;
	split->keys[rank] = key;
	split->results[rank] = NULL;
	if (++split->narrived == comm->size) {
		for (int i = 0; i < comm->size; i++)
			if (!split->results[i])
				make_half(comm, split->colors[i]);
		split->nleft = comm->size;
	}
	while (split->narrived < comm->size)
		fake_yield();
	*out = split->results[rank];
	if (--split->nleft == 0)
		split->narrived = 0;
	return MPI_SUCCESS;
}

/* Its ranks share it. */
uint64_t plat_net_birth(const void *comm)
{
	return (*(const MPI_Comm *)comm)->number;
}

int plat_net_has_ended(const void *comm)
{
	const struct fake_comm *fake = *(const MPI_Comm *)comm;

	return fake->nfreed == fake->size;
}

/* ---- attributes ------------------------------------------------------ */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
			   MPI_Comm_delete_attr_function *remove, int *keyval,
			   void *extra_state)
{
	struct fake_mpi *mpi = mpi_get();
	struct fake_keyval *made = orr_alloc(sizeof(*made));

	(void)copy;
	*made = (struct fake_keyval){.next = mpi->keyvals,
				     .number = ++mpi->nkeyvals,
				     .remove = remove,
				     .extra_state = extra_state};
	mpi->keyvals = made;
	*keyval = made->number;
	return MPI_SUCCESS;
}

int MPI_Comm_free_keyval(int *keyval)
{
	*keyval = 0;
	return MPI_SUCCESS;
}

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
	struct fake_attribute *attribute = orr_alloc(sizeof(*attribute));

	*attribute = (struct fake_attribute){.next = comm->attributes,
					     .node = fake_selected(),
					     .keyval = keyval,
					     .value = value};
	comm->attributes = attribute;
	return MPI_SUCCESS;
}

static void remove_attribute(struct fake_comm *comm, struct fake_attribute **at)
{
	struct fake_attribute *attribute = *at;
	struct fake_keyval *keyval = mpi_get()->keyvals;

	*at = attribute->next;
	while (keyval && keyval->number != attribute->keyval)
		keyval = keyval->next;
	ORR_ASSERT(keyval);
	keyval->remove(comm, attribute->keyval, attribute->value, keyval->extra_state);
	free(attribute);
}

/* keyval 0: all of the selected node. */
static void remove_attributes(struct fake_comm *comm, int keyval)
{
	struct fake_attribute **at = &comm->attributes;

	while (*at) {
		if ((*at)->node == fake_selected() &&
		    (!keyval || (*at)->keyval == keyval))
			remove_attribute(comm, at);
		else
			at = &(*at)->next;
	}
}

int MPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
	remove_attributes(comm, keyval);
	return MPI_SUCCESS;
}

/* Its memory stays until fake_stop(): its value must not come again meanwhile. */
int MPI_Comm_free(MPI_Comm *comm)
{
	remove_attributes(*comm, 0);
	*comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int MPI_Gather(const void *from, int nfrom, MPI_Datatype from_type, void *to, int nto,
	       MPI_Datatype to_type, int root, MPI_Comm comm)
{
	(void)from;
	(void)nfrom;
	(void)from_type;
	(void)to;
	(void)nto;
	(void)to_type;
	(void)root;
	(void)comm;
	orr_die(ORR_NO_RANK, "MPI_Gather: nodes of the fake share one process");
}
