/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What programs set by hand: who has sent and received what, who sends together, owners
 * of a communicator; and the forms of calls that others have been derived from. */
#include "mpi_distributed.h"

enum { TAG = 40, NOBODY = -7 };

int claim_failures, claim_rank, claim_size;

/* ---- marks of the cache ---------------------------------------------- */

static void read_on(starpu_data_handle_t handle, int node)
{
	starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handle,
			       STARPU_EXECUTE_ON_NODE, node, 0);
}

/* Both ends forget, so it is sent again; the copy is given up. */
static void marks_are_cleared(void)
{
	long x = 5;
	starpu_data_handle_t handle;

	start();
	handle = distributed(&x, 1, 0);
	count_bytes();
	read_on(handle, 1);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	CLAIM_EQ(starpu_mpi_cached_send(handle, 1), RANK == 0);
	CLAIM_EQ(starpu_mpi_cached_send(handle, 0), 0);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), RANK == 1);
	starpu_mpi_cached_send_clear(handle);
	starpu_mpi_cached_receive_clear(handle);
	CLAIM_EQ(starpu_mpi_cached_send(handle, 1), 0);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), 0);
	if (RANK == 0)
		CLAIM_EQ(value_here(handle), 5);
	/* The owner's value stays, marked or not. */
	starpu_mpi_cached_receive_clear(handle);
	if (RANK == 0)
		CLAIM_EQ(value_here(handle), 5);
	read_on(handle, 1);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	if (RANK < 2)
		CLAIM_EQ(value_here(handle), 5);
	starpu_data_unregister(handle);
	stop();
}

/* The program sends by itself and says so: a task needs no message then. */
static void marks_are_set(void)
{
	long x = 6;
	starpu_data_handle_t handle;

	start();
	handle = distributed(&x, 1, 0);
	count_bytes();
	if (RANK == 0) {
		starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
		CLAIM_EQ(starpu_mpi_cached_send_set(handle, 1), 0);
		CLAIM_EQ(starpu_mpi_cached_send_set(handle, 1), 1);
		CLAIM_EQ(starpu_mpi_cached_send_set_comm(handle, 1, WORLD), 1);
	} else if (RANK == 1) {
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, NULL, NULL);
		CLAIM_EQ(starpu_mpi_cached_receive_set(handle), 0);
		CLAIM_EQ(starpu_mpi_cached_receive_set(handle), 1);
		CLAIM_EQ(starpu_mpi_cached_cp_receive_set(handle), 1);
	}
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	read_on(handle, 1);
	CLAIM_EQ(bytes_sent(), 0);
	CLAIM_EQ(nruns, RANK == 1);
	if (RANK < 2)
		CLAIM_EQ(value_here(handle), 6);
	/* A write makes it old on both. */
	starpu_mpi_task_insert(WORLD, &add, STARPU_RW, handle, 0);
	CLAIM_EQ(starpu_mpi_cached_send(handle, 1), 0);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), 0);
	read_on(handle, 1);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	if (RANK < 2)
		CLAIM_EQ(value_here(handle), 7);
	starpu_data_unregister(handle);
	stop();
}

static void a_checkpoint_marks_as_well(void)
{
	long x = 6;
	starpu_data_handle_t handle;

	start();
	handle = distributed(&x, 1, 0);
	if (RANK == 1) {
		CLAIM_EQ(starpu_mpi_cached_cp_receive_set(handle), 0);
		CLAIM_EQ(starpu_mpi_cached_receive(handle), 1);
	}
	starpu_mpi_cached_receive_clear(handle);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), 0);
	starpu_data_unregister(handle);
	stop();
}

static void without_cache_nothing_is_marked(void)
{
	long x = 6;
	starpu_data_handle_t handle;

	start();
	CLAIM_EQ(starpu_mpi_cache_set(0), 0);
	handle = distributed(&x, 1, 0);
	CLAIM_EQ(starpu_mpi_cached_send_set(handle, claim_size - 1), 0);
	CLAIM_EQ(starpu_mpi_cached_send_set(handle, claim_size - 1), 0);
	CLAIM_EQ(starpu_mpi_cached_send(handle, claim_size - 1), 0);
	CLAIM_EQ(starpu_mpi_cached_receive_set(handle), 0);
	CLAIM_EQ(starpu_mpi_cached_receive_set(handle), 0);
	CLAIM_EQ(starpu_mpi_cached_receive(handle), 0);
	/* Data that were registered without it are known with it. */
	CLAIM_EQ(starpu_mpi_cache_set(1), 0);
	count_bytes();
	read_on(handle, 1);
	read_on(handle, 1);
	CLAIM_EQ(bytes_sent(), RANK == 0 ? sizeof x : 0);
	CLAIM_EQ(starpu_mpi_cached_send(handle, 1), RANK == 0);
	starpu_data_unregister(handle);
	stop();
}

/* ---- cooperative sends ------------------------------------------------ */

enum { NBYTES = 1 << 18, NPASSES = 4 };

/* Announced or not, allowed or not, all that was sent arrives. */
static void announced_sends_arrive(void)
{
	unsigned char *at = calloc(NBYTES, 1);
	starpu_data_handle_t handle;
	int preset;

	start();
	preset = starpu_mpi_coop_sends_get_use();
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at, NBYTES, 1);
	for (int pass = 0; pass < NPASSES; pass++) {
		starpu_mpi_coop_sends_set_use(pass % 2);
		CLAIM_EQ(starpu_mpi_coop_sends_get_use(),
			 claim_size > 2 ? pass % 2 : preset);
		if (RANK != 0) {
			starpu_mpi_irecv_detached(handle, 0, TAG + pass, WORLD, NULL,
						  NULL);
			continue;
		}
		starpu_data_acquire(handle, STARPU_W);
		memset(at, pass + 1, NBYTES);
		if (pass >= NPASSES / 2)
			starpu_mpi_coop_sends_data_handle_nb_sends(handle,
								   claim_size - 1);
		starpu_data_release(handle);
		for (int to = 1; to < claim_size; to++)
			starpu_mpi_isend_detached(handle, to, TAG + pass, WORLD, NULL,
						  NULL);
	}
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(at[0], NPASSES);
	CLAIM_EQ(at[NBYTES - 1], NPASSES);
	starpu_data_unregister(handle);
	stop();
	free(at);
}

/* ---- forms of calls ---------------------------------------------------- */

static struct starpu_task *build(struct starpu_codelet *cl, ...)
{
	struct starpu_task *task;
	va_list list;

	va_start(list, cl);
	task = starpu_mpi_task_build_v(WORLD, cl, list);
	va_end(list);
	return task;
}

static int post_build(struct starpu_codelet *cl, ...)
{
	va_list list;
	int ret;

	va_start(list, cl);
	ret = starpu_mpi_task_post_build_v(WORLD, cl, list);
	va_end(list);
	return ret;
}

/* Executed where the data read live, the result goes home. */
static void argument_lists_are_taken(void)
{
	long x = 5, y = 7;
	starpu_data_handle_t handles[2];
	struct starpu_task *task;

	start();
	handles[0] = distributed(&x, 1, 0);
	handles[1] = distributed(&y, 2, 1);
	task = build(&sum, STARPU_RW, handles[0], STARPU_R, handles[1],
		     STARPU_EXECUTE_ON_DATA, handles[1], 0);
	CLAIM_EQ(task != NULL, RANK == 1);
	if (task)
		CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(post_build(&sum, STARPU_RW, handles[0], STARPU_R, handles[1],
			    STARPU_EXECUTE_ON_DATA, handles[1], 0),
		 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 1);
	if (RANK == 0)
		CLAIM_EQ(value_here(handles[0]), 12);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	stop();
}

/* A synchronous send is not over before it is asked for; the urgent forms match in the
 * order of the calls, like all. */
static void urgent_forms_match(void)
{
	enum { NSENDS = 3 };
	long values[NSENDS] = {1, 2, 3};
	starpu_data_handle_t handles[NSENDS];
	starpu_mpi_req requests[NSENDS];
	int is_over;

	start();
	for (int i = 0; i < NSENDS; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof values[i]);
	for (int i = 0; i < NSENDS && RANK == 0; i++) {
		starpu_mpi_issend_prio(handles[i], &requests[i], 1, TAG, 3, WORLD);
		starpu_mpi_test(&requests[i], &is_over, MPI_STATUS_IGNORE);
		CLAIM_EQ(is_over, 0);
		CLAIM(requests[i] != NULL);
	}
	starpu_mpi_barrier(WORLD);
	for (int i = NSENDS - 1; i >= 0 && RANK == 1; i--)
		starpu_mpi_recv_prio(handles[i], 0, TAG, i, WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < NSENDS && RANK == 0; i++) {
		starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
		CLAIM(requests[i] == NULL);
	}
	for (int i = 0; i < NSENDS; i++)
		starpu_data_unregister(handles[i]);
	CLAIM_EQ(values[0], RANK == 1 ? 3 : 1);
	CLAIM_EQ(values[NSENDS - 1], RANK == 1 ? 1 : 3);
	stop();
}

static void urgent_sends_reach_tags(void)
{
	long x = RANK == 0 ? 8 : 0;
	starpu_data_handle_t handle;
	starpu_tag_t tag = 99;

	start();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof x);
	if (RANK == 0)
		starpu_mpi_isend_detached_unlock_tag_prio(handle, 1, TAG, 2, WORLD, tag);
	else if (RANK == 1)
		starpu_mpi_irecv_detached_unlock_tag(handle, 0, TAG, WORLD, tag);
	if (RANK < 2) {
		starpu_tag_wait(tag);
		starpu_tag_remove(tag);
	}
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK < 2 ? 8 : 0);
	stop();
}

/* Ranks the other way round. */
static void owners_are_of_the_communicator(void)
{
	long x = 4;
	starpu_data_handle_t handle;
	MPI_Comm reversed;

	start();
	MPI_Comm_split(WORLD, 0, -RANK, &reversed);
	starpu_mpi_comm_register(reversed);
	starpu_variable_data_register(&handle, RANK == 0 ? STARPU_MAIN_RAM : -1,
				      RANK == 0 ? (uintptr_t)&x : 0, sizeof x);
	starpu_mpi_data_set_tag(handle, 3);
	CLAIM_EQ(starpu_mpi_data_get_rank(handle), -1);
	starpu_mpi_data_set_rank_comm(handle, claim_size - 1, reversed);
	CLAIM_EQ(starpu_mpi_data_get_rank(handle), claim_size - 1);
	CLAIM_EQ(starpu_mpi_data_get_tag(handle), 3);
	starpu_mpi_task_insert(reversed, &add, STARPU_RW, handle, 0);
	starpu_mpi_task_insert(reversed, &only_read, STARPU_R, handle,
			       STARPU_EXECUTE_ON_NODE, 0, 0);
	starpu_mpi_wait_for_all(reversed);
	CLAIM_EQ(nruns, (RANK == 0) + (RANK == claim_size - 1));
	if (RANK == 0 || RANK == claim_size - 1)
		CLAIM_EQ(value_here(handle), 5);
	starpu_data_unregister(handle);
	stop();
	MPI_Comm_free(&reversed);
}

/* ---- what the environment says ------------------------------------------ */

static int said(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

static int is_simulated(void)
{
#ifdef STARPU_SIMGRID
	return 1;
#else
	return 0;
#endif
}

static void variables_are_read(void)
{
	int core = said("STARPU_MPI_THREAD_CPUID", -1);

	CLAIM_EQ(starpu_mpi_get_thread_cpuid(), -1);
	start();
	CLAIM_EQ(starpu_mpi_coop_sends_get_use(), said("STARPU_MPI_COOP_SENDS", 1));
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), said("STARPU_MPI_CACHE", 1));
	if (core >= 0 || is_simulated())
		CLAIM_EQ(starpu_mpi_get_thread_cpuid(), is_simulated() ? -1 : core);
	stop();
	CLAIM_EQ(starpu_mpi_get_thread_cpuid(), -1);
}

/* ---- older starts -------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void the_oldest_start_works(void)
{
	struct starpu_conf conf;
	int rank = NOBODY, size = NOBODY;

	CLAIM_EQ(starpu_mpi_get_thread_cpuid(), -1);
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	CLAIM_EQ(starpu_init(&conf), 0);
	CLAIM_EQ(starpu_mpi_initialize(), 0);
	starpu_mpi_comm_rank(WORLD, &rank);
	starpu_mpi_comm_size(WORLD, &size);
	CLAIM_EQ(rank, RANK);
	CLAIM_EQ(size, claim_size);
	CLAIM(starpu_mpi_get_thread_cpuid() >= -1);
	starpu_mpi_shutdown();
	starpu_shutdown();
	CLAIM_EQ(starpu_mpi_get_thread_cpuid(), -1);
}

/* With MPI as well, so that it takes a run of its own. */
static int run_extended(void)
{
	long x, got;
	starpu_data_handle_t handle;
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (starpu_init(&conf) != 0)
		return 77;
	claim_rank = claim_size = NOBODY;
	CLAIM_EQ(starpu_mpi_initialize_extended(&claim_rank, &claim_size), 0);
	CLAIM_EQ(starpu_mpi_world_rank(), RANK);
	CLAIM_EQ(starpu_mpi_world_size(), claim_size);
	CLAIM(claim_size > 1 && RANK >= 0 && RANK < claim_size);
	x = got = RANK;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof x);
	if (RANK == 0)
		starpu_mpi_recv(handle, claim_size - 1, TAG, WORLD, MPI_STATUS_IGNORE);
	else if (RANK == claim_size - 1)
		starpu_mpi_send(handle, 0, TAG, WORLD);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, RANK == 0 ? claim_size - 1 : got);
	starpu_mpi_shutdown();
	starpu_shutdown();
	if (RANK == 0)
		printf("%s the start with MPI gives rank and size\n",
		       claim_failures ? "FAIL" : "PASS");
	return claim_failures != 0;
}

static const struct claim claims[] = {
	{"marks are cleared, and it is sent again", marks_are_cleared},
	{"marks are set by who sends by itself", marks_are_set},
	{"a checkpoint marks as well", a_checkpoint_marks_as_well},
	{"without cache nothing is marked", without_cache_nothing_is_marked},
	{"announced sends arrive", announced_sends_arrive},
	{"argument lists are taken", argument_lists_are_taken},
	{"urgent forms match", urgent_forms_match},
	{"urgent sends reach tags", urgent_sends_reach_tags},
	{"owners are of the communicator", owners_are_of_the_communicator},
	{"variables are read", variables_are_read},
	{"the oldest start works", the_oldest_start_works},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "extended") == 0)
		return run_extended();
	return mpi_claims_run(argc, argv, claims);
}
