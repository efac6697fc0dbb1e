/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include "base/check.h"
#include "mpi/migrate.h"

static void give(starpu_data_handle_t handle, starpu_mpi_tag_t tag, int rank,
		 MPI_Comm comm, const char *func)
{
	struct mpi *mpi = api_mpi(func);
	int index = rank == OWNER_UNSET ? 0 : api_comm_learn(mpi, comm, func);

	if (handle)
		api_check_registered(mpi->node, func, handle);
	registry_register(mpi, handle, tag, rank, index, func);
}

void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle,
				   starpu_mpi_tag_t data_tag, int rank, MPI_Comm comm)
{
	give(data_handle, data_tag, rank, comm, "starpu_mpi_data_register");
}

void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag)
{
	give(handle, data_tag, OWNER_UNSET, MPI_COMM_WORLD, __func__);
}

void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm)
{
	give(handle, TAG_UNSET, rank, comm, "starpu_mpi_data_set_rank");
}

/* The handle has been given to starpu_mpi_data_register(). */
static struct mpi *check_registered(const char *func, starpu_data_handle_t handle)
{
	struct mpi *mpi = api_mpi(func);
	char text[128];

	api_check_handle(mpi->node, func, handle);
	if (!(data_flags(handle) & DATUM_MPI))
		orr_die(mpi->rank,
			"%s: %s has neither tag nor owner; call "
			"starpu_mpi_data_register() first",
			func, data_describe(handle, text, sizeof(text)));
	return mpi;
}

int starpu_mpi_data_get_rank(starpu_data_handle_t handle)
{
	check_registered(__func__, handle);
	return handle->owner;
}

starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle)
{
	check_registered(__func__, handle);
	return handle->tag;
}

/* ---- sources --------------------------------------------------------- */

/* The handle is registered, and the rank exists. */
static struct mpi *check_rank(const char *func, starpu_data_handle_t handle, int rank)
{
	struct mpi *mpi = check_registered(func, handle);
	int size = comm_at(&mpi->comms, handle->comm)->size;
	char text[128];

	if (rank < 0 || rank >= size)
		orr_die(mpi->rank, "%s: rank %d for %s: expected 0 to %d", func, rank,
			data_describe(handle, text, sizeof(text)), size - 1);
	return mpi;
}

int starpu_mpi_data_get_source(starpu_data_handle_t data, int node)
{
	return sources_get(check_rank(__func__, data, node), data, node);
}

void starpu_mpi_data_set_source(starpu_data_handle_t data, int node, int new_source)
{
	struct mpi *mpi = check_rank(__func__, data, node);
	char text[128];

	check_rank(__func__, data, new_source);
	if (sources_set(mpi, data, node, new_source) < 0)
		orr_die(mpi->rank,
			"%s: rank %d shall send %s to rank %d, which is its source or "
			"that of its source: the value could not come there from the "
			"owner; give a rank that has another way to it",
			__func__, new_source, data_describe(data, text, sizeof(text)),
			node);
}

void starpu_mpi_data_reset_source(starpu_data_handle_t data, int node)
{
	sources_set(check_rank(__func__, data, node), data, node, OWNER_UNSET);
}

/* ---- moving values --------------------------------------------------- */

static int fetch_to(struct mpi *mpi, MPI_Comm comm, struct fetch *fetch)
{
	const struct mpi_comm *members;

	fetch->comm = api_comm(mpi, comm, fetch->what);
	members = comm_at(&mpi->comms, fetch->comm);
	if (fetch->to < 0 || fetch->to >= members->size)
		orr_die(mpi->rank, "%s: rank %d: expected 0 to %d", fetch->what,
			fetch->to, members->size - 1);
	return insert_fetch(mpi, fetch);
}

int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle, int node)
{
	struct mpi *mpi = check_registered(__func__, data_handle);
	struct fetch fetch = {.handle = data_handle, .to = node, .is_blocking = 1};

	api_blocking_node(__func__);
	fetch.what = __func__;
	return fetch_to(mpi, comm, &fetch);
}

int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle,
					 int node, void (*callback)(void *), void *arg)
{
	struct mpi *mpi = check_registered(__func__, data_handle);
	struct fetch fetch = {.handle = data_handle,
			      .to = node,
			      .callback = callback,
			      .arg = arg,
			      .what = __func__};

	return fetch_to(mpi, comm, &fetch);
}

void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm,
					       starpu_data_handle_t data_handle)
{
	struct mpi *mpi = check_registered(__func__, data_handle);
	const struct mpi_comm *members =
		comm_at(&mpi->comms, api_comm(mpi, comm, __func__));

	/* Others than the owner take part in one of the transfers only, unless they
	 * send in its place. */
	if (members->rank != data_handle->owner &&
	    !(data_flags(data_handle) & DATUM_SOURCED)) {
		starpu_mpi_get_data_on_node_detached(comm, data_handle, members->rank,
						     NULL, NULL);
		return;
	}
	for (int rank = 0; rank < members->size; rank++)
		starpu_mpi_get_data_on_node_detached(comm, data_handle, rank, NULL, NULL);
}

void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank)
{
	struct mpi *mpi = check_registered(__func__, handle);

	int index = api_comm_learn(mpi, comm, __func__);
	int size = comm_at(&mpi->comms, index)->size;

	if (new_rank < 0 || new_rank >= size)
		orr_die(mpi->rank, "%s: rank %d: expected 0 to %d", __func__, new_rank,
			size - 1);
	migrate_data(mpi, handle, index, new_rank, __func__);
}

/* ---- cache ----------------------------------------------------------- */

int starpu_mpi_cache_is_enabled(void)
{
	return mpi_lasting_of(lasting_get())->cache_is_on;
}

int starpu_mpi_cache_set(int enabled)
{
	struct mpi *mpi = api_mpi_or_null();

	mpi_lasting_of(lasting_get())->cache_is_on = enabled == 1;
	if (mpi)
		cache_set(mpi, enabled == 1);
	return 0;
}

void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle)
{
	struct mpi *mpi = api_mpi(__func__);

	(void)comm;
	api_check_handle(mpi->node, __func__, data_handle);
	cache_flush(mpi, data_handle);
}

void starpu_mpi_cache_flush_all_data(MPI_Comm comm)
{
	(void)comm;
	struct mpi *mpi = api_mpi_or_null();

	if (mpi)
		cache_flush_all(mpi);
}

int starpu_mpi_cached_receive(starpu_data_handle_t data_handle)
{
	struct mpi *mpi = check_registered(__func__, data_handle);

	return mpi->cache.is_on && (data_flags(data_handle) & DATUM_RECEIVED);
}

int starpu_mpi_cached_receive_set(starpu_data_handle_t data)
{
	return cache_note_received(check_registered(__func__, data), data);
}

int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle)
{
	return cache_note_received(check_registered(__func__, data_handle), data_handle);
}

void starpu_mpi_cached_receive_clear(starpu_data_handle_t data)
{
	cache_clear_received(check_registered(__func__, data), data);
}

/* The rank in the transport of rank dest of a communicator by index. */
static int net_dest(struct mpi *mpi, const char *func, int comm, int dest)
{
	const struct mpi_comm *members = comm_at(&mpi->comms, comm);

	if (dest < 0 || dest >= members->size)
		orr_die(mpi->rank, "%s: rank %d: expected 0 to %d", func, dest,
			members->size - 1);
	return comm_net_rank(members, dest);
}

int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest)
{
	struct mpi *mpi = check_registered(__func__, data_handle);

	return cache_has_sent(mpi, data_handle, net_dest(mpi, __func__, 0, dest));
}

int starpu_mpi_cached_send_comm(starpu_data_handle_t data_handle, int dest, MPI_Comm comm)
{
	struct mpi *mpi = check_registered(__func__, data_handle);
	int index = api_comm(mpi, comm, __func__);

	return cache_has_sent(mpi, data_handle, net_dest(mpi, __func__, index, dest));
}

int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest)
{
	struct mpi *mpi = check_registered(__func__, data);

	return cache_note_sent(mpi, data, net_dest(mpi, __func__, 0, dest));
}

int starpu_mpi_cached_send_set_comm(starpu_data_handle_t data, int dest, MPI_Comm comm)
{
	struct mpi *mpi = check_registered(__func__, data);
	int index = api_comm(mpi, comm, __func__);

	return cache_note_sent(mpi, data, net_dest(mpi, __func__, index, dest));
}

void starpu_mpi_cached_send_clear(starpu_data_handle_t data)
{
	cache_clear_sent(check_registered(__func__, data), data);
}

/* ---- cooperative sends ------------------------------------------------ */

void starpu_mpi_coop_sends_set_use(int use_coop_sends)
{
	struct mpi *mpi = api_mpi_or_null();

	if (!mpi || mpi->size <= 2)
		orr_complain(mpi ? mpi->rank : ORR_NO_RANK,
			     "%s: ignored, since cooperative sends need 3 ranks or more, "
			     "and there are %d",
			     __func__, mpi ? mpi->size : 0);
	else
		orr_store(&mpi->lasting->use_coop_sends, use_coop_sends != 0);
}

int starpu_mpi_coop_sends_get_use(void)
{
	return orr_load(&mpi_lasting_of(lasting_get())->use_coop_sends);
}

void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle,
						int nb_sends)
{
	struct mpi *mpi = api_mpi(__func__);

	api_check_handle(mpi->node, __func__, data_handle);
	if (nb_sends < 0)
		orr_die(mpi->rank, "%s: %d sends: expected 0 or more", __func__,
			nb_sends);
	if (!mpi->is_fake)
		coop_expect(mpi, data_handle, nb_sends);
}

/* ---- statistics and tags --------------------------------------------- */

void starpu_mpi_comm_stats_enable(void)
{
	stats_enable(api_mpi(__func__));
}

void starpu_mpi_comm_stats_disable(void)
{
	struct mpi *mpi = api_mpi_or_null();

	if (mpi)
		stats_disable(mpi);
}

void starpu_mpi_comm_stats_retrieve(size_t *comm_stats)
{
	struct mpi *mpi = api_mpi_or_null();

	if (!mpi || !mpi->stats.sent_bytes)
		return;
	api_given(__func__, "comm_stats", comm_stats);
	for (int i = 0; i < mpi->size; i++)
		comm_stats[i] = (size_t)mpi->stats.sent_bytes[i];
}

int64_t starpu_mpi_tags_allocate(int64_t nbtags)
{
	struct mpi_lasting *lasting = mpi_lasting_of(lasting_get());
	int64_t first;

	if (nbtags == 0)
		return -1;
	if (nbtags < 0)
		orr_die(api_rank(), "%s: %lld tags: expected 0 or more", __func__,
			(long long)nbtags);
	first = tag_ranges_take(&lasting->tags, nbtags);
	if (first < 0)
		orr_die(api_rank(),
			"%s: no %lld consecutive tags are free; free some with "
			"starpu_mpi_tags_free()",
			__func__, (long long)nbtags);
	return first;
}

int64_t starpu_mpi_tags_get_next_value(void)
{
	return tag_ranges_end(&mpi_lasting_of(lasting_get())->tags);
}

void starpu_mpi_tags_free(int64_t mintag)
{
	struct mpi_lasting *lasting = mpi_lasting_of(lasting_get());

	if (tag_ranges_give(&lasting->tags, mintag) < 0)
		orr_die(api_rank(),
			"%s: no tags were allocated from %lld on; give what "
			"starpu_mpi_tags_allocate() returned",
			__func__, (long long)mintag);
}
