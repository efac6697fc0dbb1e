/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/mpi.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/signals.h"
#include "core/stuck.h"
#include "mpi/finish.h"

static void close_parts(struct mpi *mpi)
{
	registry_free(&mpi->registry);
	cache_free(mpi);
	sources_free(mpi);
	insertion_free(mpi);
	reduce_free(mpi);
	lb_free(mpi);
	compare_free(mpi);
	stats_free(mpi);
	barriers_free(mpi);
	engine_free(mpi);
	standstill_free(mpi);
	comm_table_free(&mpi->comms);
	free(mpi);
}

static void set_size(struct mpi *mpi, const struct knobs *knobs,
		     const struct net_config *config)
{
	mpi->is_fake = knobs->mpi_fake_size > 0;
	mpi->rank = config->rank;
	mpi->size = mpi->is_fake ? knobs->mpi_fake_size : config->size;
	if (mpi->is_fake && knobs->mpi_fake_rank >= 0)
		mpi->rank = knobs->mpi_fake_rank;
	if (mpi->rank >= mpi->size)
		orr_die(ORR_NO_RANK,
			"STARPU_MPI_FAKE_RANK is %d: expected 0 to %d (of "
			"STARPU_MPI_FAKE_SIZE)",
			mpi->rank, mpi->size - 1);
}

static void set_behaviour(struct mpi *mpi, const struct knobs *knobs)
{
	engine_set_limits(mpi, knobs);
	mpi->has_priorities = knobs->mpi_priorities;
	mpi->redux_threshold = knobs->mpi_redux_threshold;
	mpi->cache.is_on = knobs->mpi_cache != 0;
	mpi->cache.reports = knobs->mpi_cache_stats;
	mpi->lasting->cache_is_on = mpi->cache.is_on;
	mpi->lasting->use_coop_sends = knobs->mpi_coop_sends;
	stats_open(mpi, knobs->mpi_stats, *knobs->mpi_comm != 0);
	if (!mpi->cache.is_on && !knobs->silent && mpi->rank == 0)
		orr_complain(mpi->rank, "the communication cache is disabled "
					"(STARPU_MPI_CACHE): data travel for each task");
}

/* ---- what all ranks must take alike ---------------------------------- */

enum agreed {
	AGREED_EAGER,
	AGREED_CACHE,
	AGREED_FAKE_SIZE,
	AGREED_TRACE,
	AGREED_REDUX,
	AGREED_PIECE,
	AGREED_PACKET,
	AGREED_COMPARE,
	AGREED_KERNELS,
	NAGREED
};

static const char *const agreed_names[NAGREED] = {
	[AGREED_EAGER] = "ORRERY_MPI_EAGER",
	[AGREED_CACHE] = "STARPU_MPI_CACHE",
	[AGREED_FAKE_SIZE] = "STARPU_MPI_FAKE_SIZE",
	[AGREED_TRACE] = "ORRERY_TRACE (0: unset)",
	[AGREED_REDUX] = "STARPU_MPI_REDUX_ARITY_THRESHOLD",
	[AGREED_PIECE] = "ORRERY_MPI_PIECE",
	[AGREED_PACKET] = "ORRERY_MPI_PACKET",
	[AGREED_COMPARE] = "ORRERY_MPI_COMPARE",
	[AGREED_KERNELS] = "STARPU_DISABLE_KERNELS",
};

/* Environments may differ between machines: the least counts, and rank 0 says so. */
static int agree_on(struct node *node, struct net_config *config, struct knobs *knobs,
		    int *all_trace)
{
	struct net_agreement items[NAGREED] = {
		[AGREED_EAGER] = {.own = (int64_t)config->eager_bytes},
		[AGREED_CACHE] = {.own = knobs->mpi_cache != 0},
		[AGREED_FAKE_SIZE] = {.own = knobs->mpi_fake_size},
		[AGREED_TRACE] = {.own = *node_knobs(node)->trace != 0},
		[AGREED_REDUX] = {.own = knobs->mpi_redux_threshold},
		[AGREED_PIECE] = {.own = (int64_t)config->piece_bytes},
		[AGREED_PACKET] = {.own = (int64_t)config->packet_bytes},
		[AGREED_COMPARE] = {.own = knobs->mpi_compare},
		[AGREED_KERNELS] = {.own = knobs->disable_kernels},
	};
	int ret = plat_net_agree(node->plat, config, items, NAGREED);

	if (ret < 0)
		return ret;
	for (int i = 0; i < NAGREED && config->rank == 0; i++)
		if (items[i].least != items[i].most)
			orr_complain(
				config->rank,
				"starpu_mpi_init: the ranks have different values of "
				"%s, from %lld to %lld: %s; set it alike for all",
				agreed_names[i], (long long)items[i].least,
				(long long)items[i].most,
				i == AGREED_KERNELS
					? "where it is 1 tasks compute nothing, and all "
					  "get their values"
					: "all take the least");
	config->eager_bytes = (size_t)items[AGREED_EAGER].least;
	knobs->mpi_cache = (int)items[AGREED_CACHE].least;
	knobs->mpi_fake_size = (int)items[AGREED_FAKE_SIZE].least;
	*all_trace = (int)items[AGREED_TRACE].least;
	knobs->mpi_redux_threshold = (int)items[AGREED_REDUX].least;
	knobs->mpi_compare = (int)items[AGREED_COMPARE].least;
	config->piece_bytes = (size_t)items[AGREED_PIECE].least;
	config->packet_bytes = (size_t)items[AGREED_PACKET].least;
	return 0;
}

static struct mpi *open_parts(struct node *node, const struct net_config *config,
			      const struct knobs *knobs)
{
	struct mpi *mpi = orr_alloc(sizeof(*mpi));

	mpi->node = node;
	set_size(mpi, knobs, config);
	comm_table_init(&mpi->comms);
	comm_add(&mpi->comms, mpi->rank, mpi->size, NULL, 0);
	engine_init(mpi);
	registry_init(&mpi->registry);
	cache_init(mpi);
	sources_init(mpi);
	insertion_init(mpi);
	tally_open(mpi);
	reduce_init(mpi);
	mpi->lasting = mpi_lasting_of(node->lasting);
	mpi->insertion.hook = mpi->lasting->hook;
	if (knobs->mpi_compare)
		compare_open(mpi);
	policies_begin(&mpi->lasting->policies);
	set_behaviour(mpi, knobs);
	return mpi;
}

static void settle_before_end(struct node *node, starpu_data_handle_t handle)
{
	reduce_settle(node->mpi, handle);
}

int mpi_open(struct node *node, const struct net_config *wanted)
{
	struct net_config agreed = *wanted, *config = &agreed;
	struct knobs knobs = *node_knobs(node);
	struct mpi *mpi;
	int ret, all_trace = 0;

	/* Programs set variables between starpu_init() and this.  Where ranks have one
	 * environment, they keep to what the node read. */
	if (!node->machine->one_environment)
		knobs_read(&knobs);
	ret = agree_on(node, config, &knobs, &all_trace);
	mpi = ret < 0 ? NULL : open_parts(node, config, &knobs);
	if (!node->machine->one_environment)
		knobs_free(&knobs);
	if (ret < 0)
		return ret;
	if (!mpi->is_fake) {
		struct net *net;

		ret = plat_net_open(node->plat, config, &net);
		if (ret < 0)
			goto free_parts;
		engine_connect(mpi, net);
		if (config->funnels)
			engine_funnel(mpi);
	}
	mpi->all_trace = (char)all_trace;
	node->rank = mpi->rank;
	node->size = mpi->size;
	node->mpi = mpi;
	node->on_unregister = registry_on_unregister;
	node->on_last_use = settle_before_end;
	node->on_describe = watch_describe;
	node->on_signature = standstill_signature;
	node->on_busy = standstill_busy;
	if (mpi->net && mpi->size > 1)
		node->on_standstill = standstill_look;
	node->on_stuck = early_on_stuck;
	node->on_unpolled = standstill_unpolled;
	if (mpi->net)
		plat_set_poll(node->plat, engine_poll, mpi);
	return 0;

free_parts:
	close_parts(mpi);
	return ret;
}

static void say(void *arg, const char *line)
{
	struct node *node = arg;

	orr_complain(node->rank, "  %s", line);
}

/* Let the last messages leave. */
static void settle(struct mpi *mpi)
{
	while (engine_nflying(mpi) > 0 || engine_nending(mpi) > 0) {
		if (engine_is_polled(mpi))
			engine_poll(mpi);
		plat_sleep(mpi->node->plat, 1e-6);
	}
}

/* All nodes have completed everything of theirs when this returns, and all that was
 * sent has arrived. */
static void agree(struct mpi *mpi)
{
	mpi->is_leaving = 1;
	barrier_flush(mpi);
	barrier_leave(mpi);
	tally_tell(mpi);
	mpi_barrier(mpi, 0);
	tally_check(mpi);
	compare_check(mpi);
	settle(mpi);
	watch_check_leftovers(mpi);
}

void mpi_close_begin(struct node *node)
{
	struct mpi *mpi = node->mpi;

	node_end_insertion(node);
	if (finish_wait_all(mpi, NULL) < 0) {
		orr_complain(node->rank, "starpu_mpi_shutdown: these can never end:");
		stuck_describe(node, say, node);
		orr_abort();
	}
	insert_check_built(mpi);
	watch_check_held(mpi);
	ft_close(mpi);
	if (mpi->net)
		agree(mpi);
}

void mpi_close_end(struct node *node)
{
	struct mpi *mpi = node->mpi;

	if (mpi->net) {
		plat_set_poll(node->plat, NULL, NULL);
		mpi->net->ops->close(mpi->net);
	}
	stats_print(mpi);
	orr_store(&node->tells_executed, 0);
	node->on_unregister = NULL;
	node->on_last_use = NULL;
	node->on_describe = NULL;
	node->on_signature = NULL;
	node->on_busy = NULL;
	node->on_standstill = NULL;
	node->on_stuck = NULL;
	node->on_unpolled = NULL;
	node->mpi = NULL;
	policies_end(&mpi->lasting->policies);
	close_parts(mpi);
}
