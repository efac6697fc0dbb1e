/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <mpi.h>
#include <string.h>

#include "api/mpi_slaves.h"
#include "base/check.h"
#include "core/lasting.h"

/* 0; -EALREADY: it has ended. */
static int start_mpi(int *argc, char ***argv)
{
	int is_initialised = 0, is_finalised = 0, level;

	MPI_Initialized(&is_initialised);
	MPI_Finalized(&is_finalised);
	if (is_finalised)
		return -EALREADY;
	if (is_initialised)
		return 0;
	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
	lasting_get()->owns_mpi = 1;
	return 0;
}

static int check_level(int rank)
{
	int level = MPI_THREAD_SINGLE;

	MPI_Query_thread(&level);
	if (level >= MPI_THREAD_SERIALIZED || plat_is_simulated())
		return 0;
	orr_complain(rank,
		     "starpu_init: MPI provides thread level %d, but a master and its "
		     "slaves call it from several threads, one at a time: let the "
		     "program ask MPI_Init_thread() for MPI_THREAD_SERIALIZED or more",
		     level);
	return -EINVAL;
}

static void configure(struct ms_config *config, const struct knobs *knobs)
{
	/* Before its start, SMPI has no value for it. */
	const MPI_Comm world = MPI_COMM_WORLD;

	_Static_assert(sizeof(world) <= sizeof(config->comm), "it is kept there");
	memcpy(config->comm, &world, sizeof(world));
	config->net.comm = config->comm;
	config->net.eager_bytes = (size_t)knobs->mpi_eager_bytes;
	config->net.piece_bytes = (size_t)knobs->mpi_piece_bytes;
	config->net.packet_bytes = (size_t)knobs->mpi_packet_bytes;
	config->master = knobs->mpi_master_node;
	MPI_Comm_rank(MPI_COMM_WORLD, &config->net.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &config->net.size);
}

static int role_in(const struct ms_config *config, int nwanted)
{
	const struct net_config *net = &config->net;

	if (config->master >= net->size) {
		orr_complain(net->rank,
			     "STARPU_MPI_MASTER_NODE is %d: expected a rank of this "
			     "program, from 0 to %d",
			     config->master, net->size - 1);
		return -EINVAL;
	}
	if (net->size > 1)
		return net->rank == config->master ? MS_MASTER : MS_SLAVE;
	orr_complain(net->rank,
		     "%d slaves are asked for (STARPU_NMPI_MS, conf.nmpi_ms), but the "
		     "program has one rank: it runs without; start it with mpirun -np %d",
		     nwanted, nwanted + 1);
	return MS_ALONE;
}

/* A slave's workers are its own matter. */
static void configure_slave(struct starpu_conf *conf, const struct knobs *knobs)
{
	conf->precedence_over_environment_variables = 1;
	conf->ncpus = knobs->nmpi_ms_threads;
	conf->nmpi_ms = 0;
	conf->sched_policy_name = "eager";
	conf->sched_policy = NULL;
	conf->sched_policy_callback = NULL;
	conf->use_explicit_workers_bindid = 0;
}

int ms_role(struct starpu_conf *conf, int *argc, char ***argv, struct ms_config *config)
{
	struct knobs knobs;
	int ret;

	if (start_mpi(argc, argv) < 0) {
		orr_complain(ORR_NO_RANK,
			     "starpu_init: MPI has been finalised, with it the slaves "
			     "that were asked for (STARPU_NMPI_MS): it runs without");
		return MS_ALONE;
	}
	knobs_read(&knobs);
	configure(config, &knobs);
	config->nwanted = conf->nmpi_ms;
	ret = role_in(config, conf->nmpi_ms);
	if (ret > MS_ALONE && check_level(config->net.rank) < 0)
		ret = -EINVAL;
	if (ret == MS_SLAVE)
		configure_slave(conf, &knobs);
	knobs_free(&knobs);
	return ret;
}

void ms_end_mpi(int is_last)
{
	int is_finalised = 0;

	if (!lasting_get()->owns_mpi && !is_last)
		return;
	MPI_Finalized(&is_finalised);
	if (!is_finalised)
		MPI_Finalize();
	lasting_get()->owns_mpi = 0;
}
