/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What a start does to its configuration, to MPI and to the library below; which
 * variables each start reads again. */
#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

#define WORLD MPI_COMM_WORLD

#ifdef STARPU_SIMGRID
#define IS_SIMULATED 1
#else
#define IS_SIMULATED 0
#endif

/* Simulated communication takes no core. */
#define CORE !IS_SIMULATED

static int mpi_was_touched;

static struct starpu_conf conf_for(int ncpus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.ncuda = 0;
	conf.precedence_over_environment_variables = 1;
	return conf;
}

static void without_workers_nothing_is_started(void)
{
	struct starpu_conf conf = conf_for(0);
	int started = 0, ended = 0;

	CLAIM_EQ(mpi_was_touched, 0);
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, &conf), -ENODEV);
	CLAIM_EQ(starpu_is_initialized(), 0);
	MPI_Initialized(&started);
	MPI_Finalized(&ended);
	CLAIM(started && !ended);
	conf = conf_for(1);
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, &conf), 0);
	CLAIM_EQ(starpu_mpi_world_size(), claim_size);
	starpu_mpi_shutdown();
}

/* Of how many cores the configuration says that they are reserved after a start. */
static int reserved(int ncpus, int before)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.reserve_ncpus = before;
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, &conf), 0);
	CLAIM_EQ(conf.will_use_mpi, 1);
	starpu_mpi_shutdown();
	CLAIM_EQ(starpu_is_initialized(), 0);
	return conf.reserve_ncpus;
}

static void a_core_is_reserved_unless_the_program_counts(void)
{
	CLAIM_EQ(reserved(-1, -1), CORE ? 1 : -1);
	CLAIM_EQ(reserved(-1, 0), CORE ? 1 : 0);
	CLAIM_EQ(reserved(1, -1), -1);
	setenv("STARPU_MPI_THREAD_CPUID", "0", 1);
	CLAIM_EQ(reserved(-1, -1), -1);
	setenv("STARPU_MPI_THREAD_CPUID", "-1", 1);
	CLAIM_EQ(reserved(-1, -1), CORE ? 1 : -1);
	unsetenv("STARPU_MPI_THREAD_CPUID");
	setenv("STARPU_MPI_DRIVER_CALL_FREQUENCY", "5", 1);
	CLAIM_EQ(reserved(-1, -1), -1);
	unsetenv("STARPU_MPI_DRIVER_CALL_FREQUENCY");
}

/* -1 is what StarPU calls unset. */
static void each_start_reads_the_variables_again(void)
{
	static const char *const values[] = {"0", "1", "-1", "0", NULL};

	for (int i = 0; i < 5; i++) {
		int is_on = values[i] == NULL || strcmp(values[i], "0") != 0;

		if (values[i]) {
			setenv("STARPU_MPI_CACHE", values[i], 1);
			setenv("STARPU_MPI_COOP_SENDS", values[i], 1);
		} else {
			unsetenv("STARPU_MPI_CACHE");
			unsetenv("STARPU_MPI_COOP_SENDS");
		}
		claim_init(1);
		CLAIM_EQ(starpu_mpi_cache_is_enabled(), is_on);
		CLAIM_EQ(starpu_mpi_coop_sends_get_use(), is_on);
		starpu_mpi_shutdown();
	}
}

/* Who has started the library itself ends it, also after a life where it had not. */
static void the_library_below_belongs_to_who_started_it(void)
{
	struct starpu_conf conf = conf_for(1);

	for (int life = 0; life < 3; life++) {
		if (life % 2) {
			claim_init(1);
		} else {
			CLAIM_EQ(starpu_init(&conf), 0);
			CLAIM_EQ(starpu_mpi_init_comm(NULL, NULL, 0, WORLD), 0);
		}
		starpu_mpi_shutdown();
		CLAIM_EQ(starpu_is_initialized(), life % 2 == 0);
		if (life % 2 == 0)
			starpu_shutdown();
	}
}

/* Two ranks have nobody to pass a value on to. */
static void few_ranks_cooperate_as_before(void)
{
	claim_init(1);
	starpu_mpi_coop_sends_set_use(0);
	CLAIM_EQ(starpu_mpi_coop_sends_get_use(), claim_size <= 2);
	starpu_mpi_coop_sends_set_use(1);
	CLAIM_EQ(starpu_mpi_coop_sends_get_use(), 1);
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"without workers nothing is started", without_workers_nothing_is_started},
	{"a core is reserved unless the program counts",
	 a_core_is_reserved_unless_the_program_counts},
	{"each start reads the variables again", each_start_reads_the_variables_again},
	{"the library below belongs to who started it",
	 the_library_below_belongs_to_who_started_it},
	{"few ranks cooperate as before", few_ranks_cooperate_as_before},
	{NULL, NULL},
};

/* First with MPI to be started as well. */
int main(int argc, char **argv)
{
	struct starpu_conf conf = conf_for(0);

	if (starpu_mpi_init_conf(&argc, &argv, 1, WORLD, &conf) != -ENODEV)
		return 1;
	MPI_Initialized(&mpi_was_touched);
	return mpi_claims_run(argc, argv, claims);
}
