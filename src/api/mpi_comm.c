/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include <stdlib.h>

#include "base/check.h"

struct mpi *api_no_mpi(const char *func)
{
	orr_die(api_node(func)->rank,
		"%s: the MPI layer is not initialised; call starpu_mpi_init_conf() or "
		"starpu_mpi_init_comm() first",
		func);
}

struct mpi *api_mpi_or_null(void)
{
	struct node *node = plat_self();

	return node ? node->mpi : NULL;
}

/* ---- the table of communicators -------------------------------------- */

static uint64_t key_of(MPI_Comm comm)
{
	return (uint64_t)(uintptr_t)comm;
}

/* The application frees a communicator: its value may come again for another one. */
static int on_comm_freed(MPI_Comm comm, int keyval, void *attribute, void *extra_state)
{
	struct mpi *mpi = extra_state;
	struct mpi_api *api = mpi->api;

	(void)keyval;
	(void)attribute;
	orr_lock(&mpi->comms.lock);
	table_remove(&api->comms, key_of(comm));
	orr_swap_ptr((void **)(void *)&mpi->last_comm, NULL);
	if (comm == api->comm)
		api->comm = MPI_COMM_NULL;
	for (int i = 0; i < api->nlive; i++) {
		if (api->live[i] == comm) {
			api->live[i] = api->live[--api->nlive];
			break;
		}
	}
	orr_unlock(&mpi->comms.lock);
	return MPI_SUCCESS;
}

static int find(struct mpi *mpi, MPI_Comm comm)
{
	struct mpi_api *api = mpi->api;
	uintptr_t found;

	if (mpi->is_fake)
		return 0;
	orr_lock(&mpi->comms.lock);
	found = (uintptr_t)table_get(&api->comms, key_of(comm));
	orr_unlock(&mpi->comms.lock);
	return (int)found - 1;
}

/* Threads that look at both fields may see a mixture: the index goes first, and the
 * value is only there while the index is its own. */
static void remember(struct mpi *mpi, MPI_Comm comm, int index)
{
	orr_lock(&mpi->comms.lock);
	if (mpi->last_comm == NULL) {
		mpi->last_comm_index = index;
		orr_swap_ptr((void **)(void *)&mpi->last_comm, (void *)(uintptr_t)comm);
	}
	orr_unlock(&mpi->comms.lock);
}

static void add(struct mpi *mpi, MPI_Comm comm, int index)
{
	struct mpi_api *api = mpi->api;

	orr_lock(&mpi->comms.lock);
	table_put(&api->comms, key_of(comm), (void *)(uintptr_t)(index + 1));
	if (api->nlive == api->live_capacity) {
		api->live_capacity = api->live_capacity ? 2 * api->live_capacity : 4;
		api->live = orr_realloc(api->live,
					(size_t)api->live_capacity * sizeof(*api->live));
	}
	api->live[api->nlive++] = comm;
	orr_unlock(&mpi->comms.lock);
	MPI_Comm_set_attr(comm, api->keyval, mpi);
}

/* Ranks of comm in the communicator of init; NULL when they are the same. */
static int *ranks_in_init(struct mpi *mpi, MPI_Comm comm, int size)
{
	struct mpi_api *api = mpi->api;
	int *ranks = orr_alloc((size_t)size * sizeof(*ranks));
	int *in_init = orr_alloc((size_t)size * sizeof(*in_init));
	int is_identity = size == mpi->size;
	MPI_Group group;

	for (int i = 0; i < size; i++)
		ranks[i] = i;
	MPI_Comm_group(comm, &group);
	MPI_Group_translate_ranks(group, size, ranks, api->group, in_init);
	MPI_Group_free(&group);
	for (int i = 0; i < size; i++) {
		if (in_init[i] == MPI_UNDEFINED)
			in_init[i] = -1;
		is_identity = is_identity && in_init[i] == i;
	}
	free(ranks);
	if (!is_identity)
		return in_init;
	free(in_init);
	return NULL;
}

static void check_lives(int rank, MPI_Comm comm, const char *func)
{
	if (plat_net_has_ended(&comm))
		orr_die(rank,
			"%s: the communicator has been freed (MPI_Comm_free()): keep it "
			"until the last call that names it",
			func);
}

void api_comm_check(int rank, MPI_Comm comm, const char *func)
{
	int joins_groups = 0;

	if (comm == MPI_COMM_NULL)
		orr_die(rank, "%s: the communicator is MPI_COMM_NULL", func);
	check_lives(rank, comm, func);
	MPI_Comm_test_inter(comm, &joins_groups);
	if (joins_groups)
		orr_die(rank,
			"%s: the communicator joins two groups of ranks "
			"(MPI_Intercomm_create()), which have ranks of the same numbers: "
			"expected one group; make it with MPI_Intercomm_merge()",
			func);
}

static int learn_now(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	int rank, size, index, *to_net;

	if (mpi->mpi_is_serial)
		engine_hold_mpi(mpi);
	api_comm_check(mpi->rank, comm, func);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	to_net = ranks_in_init(mpi, comm, size);
	index = comm_add(&mpi->comms, rank, size, to_net, plat_net_birth(&comm));
	if (index < 0)
		orr_die(mpi->rank,
			"%s: more than %d communicators were registered; use fewer", func,
			COMM_MAX);
	add(mpi, comm, index);
	if (mpi->mpi_is_serial)
		engine_let_go_mpi(mpi);
	return index;
}

/* Once only, whoever asks at the same time: the ids of later ones depend on it. */
static int learn(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	struct mpi_api *api = mpi->api;
	int index;

	orr_lock(&api->learning);
	index = find(mpi, comm);
	if (index < 0)
		index = learn_now(mpi, comm, func);
	orr_unlock(&api->learning);
	return index;
}

int api_comm_find(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	int index = find(mpi, comm);

	if (index < 0)
		check_lives(mpi->rank, comm, func);
	if (index < 0)
		orr_die(mpi->rank,
			"%s: the communicator is not registered; call "
			"starpu_mpi_comm_register() on all its ranks first",
			func);
	remember(mpi, comm, index);
	return index;
}

int api_comm_learn_slow(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	int index = find(mpi, comm);

	if (index < 0)
		index = learn(mpi, comm, func);
	remember(mpi, comm, index);
	return index;
}

void api_comms_open(struct mpi *mpi, MPI_Comm comm)
{
	struct mpi_api *api = mpi->api;

	api->comm = comm;
	orr_lock_init(&api->learning);
	if (mpi->is_fake)
		return;
	MPI_Comm_group(comm, &api->group);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_freed, &api->keyval, mpi);
	add(mpi, comm, 0);
	if (comm != MPI_COMM_WORLD)
		learn(mpi, MPI_COMM_WORLD, "starpu_mpi_init_comm");
	remember(mpi, comm, 0);
}

void api_comms_close(struct mpi_api *api)
{
	/* The callback shortens the list. */
	while (api->nlive > 0)
		MPI_Comm_delete_attr(api->live[api->nlive - 1], api->keyval);
	if (api->live) {
		MPI_Comm_free_keyval(&api->keyval);
		MPI_Group_free(&api->group);
	}
	free(api->live);
	table_free(&api->comms);
}

/* ---- public ---------------------------------------------------------- */

int starpu_mpi_comm_register(MPI_Comm comm)
{
	struct mpi *mpi = api_mpi(__func__);

	if (find(mpi, comm) < 0)
		learn(mpi, comm, __func__);
	return 0;
}

int starpu_mpi_comm_size(MPI_Comm comm, int *size)
{
	struct mpi *mpi = api_mpi(__func__);

	api_given(__func__, "size", size);
	*size = comm_at(&mpi->comms, api_comm(mpi, comm, __func__))->size;
	return 0;
}

int starpu_mpi_comm_rank(MPI_Comm comm, int *rank)
{
	struct mpi *mpi = api_mpi(__func__);

	api_given(__func__, "rank", rank);
	*rank = comm_at(&mpi->comms, api_comm(mpi, comm, __func__))->rank;
	return 0;
}

int starpu_mpi_world_rank(void)
{
	return mpi_lasting_of(lasting_get())->world_rank;
}

int starpu_mpi_world_size(void)
{
	return mpi_lasting_of(lasting_get())->world_size;
}

int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
	static const int64_t largest_tag = INT64_MAX;

	(void)comm;
	api_given(__func__, "flag", flag);
	if (keyval == STARPU_MPI_TAG_UB)
		api_given(__func__, "attribute_val", attribute_val);
	*flag = keyval == STARPU_MPI_TAG_UB;
	if (*flag)
		*(const int64_t **)attribute_val = &largest_tag;
	return 0;
}
