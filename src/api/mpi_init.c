/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"
#include "api/bindings.h"
#include "api/mpi_trace.h"
#include "api/trace.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/lasting.h"

/*
 * MPI must run: start it when asked to, and in simulation always, since programs written
 * for it leave MPI to the library.  1 when it is ours to end: those that did not ask may
 * use MPI between two lives of the library.
 */
static int start_mpi(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm)
{
	int is_initialised = 0, is_finalised = 0, level;

	MPI_Initialized(&is_initialised);
	MPI_Finalized(&is_finalised);
	if (is_finalised)
		orr_die(ORR_NO_RANK, "starpu_mpi_init: MPI has been finalised and cannot "
				     "start again; let the "
				     "application call MPI_Init_thread() and "
				     "MPI_Finalize() around all "
				     "initialisations");
	if (is_initialised)
		return 0;
	if (!initialize_mpi && !plat_is_simulated())
		orr_die(ORR_NO_RANK, "starpu_mpi_init: MPI is not initialised; call "
				     "MPI_Init_thread() first, "
				     "or pass 1 for initialize_mpi");
	/* Compared by name only: MPI_COMM_WORLD is constant before MPI_Init(). */
	if (!plat_is_simulated() && comm != MPI_COMM_WORLD)
		orr_die(ORR_NO_RANK,
			"starpu_mpi_init: with initialize_mpi, the communicator must "
			"be MPI_COMM_WORLD");
	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
	return initialize_mpi;
}

/* MPI is called by the thread that initialises, which has to be that which started it. */
static void check_main(const struct mpi_api *api)
{
	int is_main = 1;

	MPI_Is_thread_main(&is_main);
	if (!is_main)
		orr_die(api->world_rank,
			"starpu_mpi_init: MPI provides MPI_THREAD_FUNNELED only, "
			"but this is not the thread that called "
			"MPI_Init_thread(); initialise in that one, or ask for "
			"MPI_THREAD_SERIALIZED and set ORRERY_MPI_EXPLICIT=0");
}

/* 1: MPI may be called by one thread at a time; and by only one at all? */
static int check_level(const struct mpi_api *api, const struct node *node, int *funnels)
{
	int level = MPI_THREAD_SINGLE;

	MPI_Query_thread(&level);
	*funnels = level < MPI_THREAD_SERIALIZED && !plat_is_simulated() &&
		   node_knobs(node)->mpi_explicit;
	if (*funnels) {
		check_main(api);
		return 1;
	}
	/* The same on all ranks: one says it. */
	if (level < MPI_THREAD_SERIALIZED && !plat_is_simulated() && api->world_rank == 0)
		orr_complain(api->world_rank,
			     "starpu_mpi_init: MPI provides thread level %d; the "
			     "library calls it from several threads, one at a time: "
			     "MPI_Init_thread() should ask for MPI_THREAD_SERIALIZED or "
			     "more, or ORRERY_MPI_EXPLICIT=1 be set",
			     level);
	return level < MPI_THREAD_MULTIPLE && !plat_is_simulated();
}

/* Messages are events in simulation: no thread polls for them. */
static void tell_without_driver(const struct node *node)
{
	if (plat_is_simulated() && node->rank == 0 &&
	    node_knobs(node)->mpi_driver_call_frequency > 0)
		orr_complain(node->rank,
			     "STARPU_MPI_DRIVER_CALL_FREQUENCY has no effect in "
			     "simulation, where communication takes no "
			     "worker's time; unset it");
}

static int init(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm)
{
	struct node *node = api_node("starpu_mpi_init_comm");
	struct mpi_api *api;
	struct net_config config = {0};
	int was_initialised, is_serial, ret;

	if (node->ms)
		orr_die(node->rank,
			"starpu_mpi_init_comm: this rank is the master of the others "
			"(STARPU_NMPI_MS, conf.nmpi_ms), which a program that uses "
			"starpu_mpi has not; unset it");
	if (node->mpi)
		orr_die(node->rank,
			"starpu_mpi_init_comm: the MPI layer runs already; call "
			"starpu_mpi_shutdown() first");
	api = orr_alloc(sizeof(*api));
	MPI_Initialized(&was_initialised);
	api->owns_mpi = start_mpi(argc, argv, initialize_mpi, comm);
	/* Before its start, SMPI has no value for the communicator of all ranks. */
	if (initialize_mpi || !was_initialised)
		comm = MPI_COMM_WORLD;
	MPI_Comm_rank(MPI_COMM_WORLD, &api->world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &api->world_size);
	api_comm_check(api->world_rank, comm, "starpu_mpi_init_comm");
	is_serial = check_level(api, node, &config.funnels);
	config.name = node_knobs(node)->transport;
	config.comm = &comm;
	config.eager_bytes = (size_t)node_knobs(node)->mpi_eager_bytes;
	config.piece_bytes = (size_t)node_knobs(node)->mpi_piece_bytes;
	config.packet_bytes = (size_t)node_knobs(node)->mpi_packet_bytes;
	MPI_Comm_rank(comm, &config.rank);
	MPI_Comm_size(comm, &config.size);
	ret = mpi_open(node, &config);
	if (ret < 0) {
		free(api);
		return ret;
	}
	trace_meet(node);
	tell_without_driver(node);
	node->mpi->api = api;
	node->mpi->mpi_is_serial = (char)is_serial;
	node->mpi->lasting->world_rank =
		node->mpi->is_fake ? node->mpi->rank : api->world_rank;
	node->mpi->lasting->world_size =
		node->mpi->is_fake ? node->mpi->size : api->world_size;
	api_comms_open(node->mpi, comm);
	bindings_display_by_rank(node->mpi);
	return 0;
}

int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm)
{
	return init(argc, argv, initialize_mpi, comm);
}

int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi)
{
	int is_initialised = 0;

	/* In simulation, MPI_COMM_WORLD has a value after MPI_Init() only. */
	MPI_Initialized(&is_initialised);
	if (!is_initialised && plat_is_simulated())
		return init(argc, argv, initialize_mpi, MPI_COMM_NULL);
	return init(argc, argv, initialize_mpi, MPI_COMM_WORLD);
}

/* One core is left for communication, unless the user has said where it runs. */
static void reserve_core(struct starpu_conf *conf)
{
	struct knobs knobs;
	int is_placed;

	knobs_read(&knobs);
	is_placed = knobs.mpi_thread_cpuid >= 0 || knobs.mpi_thread_coreid >= 0 ||
		    knobs.mpi_driver_call_frequency > 0 || knobs.mpi_explicit;
	knobs_free(&knobs);
	conf->will_use_mpi = 1;
	if (is_placed || conf->ncpus != -1 || plat_is_simulated())
		return; /* A platform's "cpus" are workers: simulation needs no core for
			   it. */
	conf->reserve_ncpus = conf->reserve_ncpus == -1 ? 1 : conf->reserve_ncpus + 1;
}

int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
			 struct starpu_conf *conf)
{
	struct starpu_conf own_conf;
	int ret;

	if (!conf) {
		conf = &own_conf;
		starpu_conf_init(conf);
	}
	reserve_core(conf);
	ret = starpu_init(conf);
	if (ret < 0)
		return ret;
	ret = init(argc, argv, initialize_mpi, comm);
	if (ret < 0) {
		starpu_shutdown();
		return ret;
	}
	((struct mpi_api *)api_mpi(__func__)->api)->started_starpu = 1;
	return 0;
}

int starpu_mpi_initialize(void)
{
	return init(NULL, NULL, 0, MPI_COMM_WORLD);
}

int starpu_mpi_initialize_extended(int *rank, int *world_size)
{
	int ret;

	api_given(__func__, "rank", rank);
	api_given(__func__, "world_size", world_size);
	ret = starpu_mpi_init(NULL, NULL, 1);
	if (ret < 0)
		return ret;
	*rank = starpu_mpi_world_rank();
	*world_size = starpu_mpi_world_size();
	return 0;
}

static int shut_down(const char *func)
{
	struct node *node = api_blocking_node(func);
	struct mpi_api *api = api_mpi(func)->api;
	int owns_mpi = api->owns_mpi, started_starpu = api->started_starpu;

	mpi_close_begin(node);
	trace_part(node);
	mpi_trace_gather(node, api->comm);
	api_comms_close(api);
	mpi_close_end(node);
	free(api);
	if (owns_mpi)
		MPI_Finalize();
	if (started_starpu)
		starpu_shutdown();
	return 0;
}

int starpu_mpi_shutdown(void)
{
	return shut_down(__func__);
}

int starpu_mpi_shutdown_comm(MPI_Comm comm)
{
	struct mpi *mpi = api_mpi(__func__);

	if (!mpi->is_fake && api_comm(mpi, comm, __func__) != 0)
		orr_die(mpi->rank, "%s: expected the communicator given at init",
			__func__);
	return shut_down(__func__);
}

int starpu_mpi_get_thread_cpuid(void)
{
	struct node *node = plat_self();

	if (!node || !node->mpi || !node->machine->polls_itself)
		return -1;
	return node->machine->polling_pu;
}

int starpu_mpi_get_communication_tag(void)
{
	return orr_load(&lasting_get()->communication_tag);
}

/* Our messages travel in a communicator of their own, so no tag can meet them. */
void starpu_mpi_set_communication_tag(int tag)
{
	orr_store(&lasting_get()->communication_tag, tag);
}
