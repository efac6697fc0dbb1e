/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Around messages: communicators, lives of the runtime, barriers, counts, tags. */
#include <stdint.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

/* ---- communicators --------------------------------------------------- */

/* Reversed ranks; the same tag on two communicators at the same time. */
static void communicators_are_apart(void)
{
	long x[2] = {RANK, 100 + RANK}, y[2] = {-1, -1};
	starpu_data_handle_t sent[2], got[2];
	int last = claim_size - 1, me, n;
	MPI_Comm reversed;

	MPI_Comm_split(WORLD, 0, -RANK, &reversed);
	start();
	starpu_mpi_comm_register(reversed);
	starpu_mpi_comm_rank(reversed, &me);
	starpu_mpi_comm_size(reversed, &n);
	CLAIM_EQ(me, last - RANK);
	CLAIM_EQ(n, claim_size);
	for (int i = 0; i < 2; i++) {
		sent[i] = variable(&x[i]);
		got[i] = variable(&y[i]);
	}
	/* To the next rank of each, which are different ones. */
	starpu_mpi_isend_detached(sent[0], (me + 1) % n, TAG, reversed, NULL, NULL);
	starpu_mpi_isend_detached(sent[1], (RANK + 1) % n, TAG, WORLD, NULL, NULL);
	starpu_mpi_irecv_detached(got[1], (RANK + n - 1) % n, TAG, WORLD, NULL, NULL);
	starpu_mpi_irecv_detached(got[0], (me + n - 1) % n, TAG, reversed, NULL, NULL);
	starpu_mpi_barrier(reversed);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < 2; i++) {
		starpu_data_unregister(sent[i]);
		starpu_data_unregister(got[i]);
	}
	CLAIM_EQ(y[0], (RANK + 1) % n);
	CLAIM_EQ(y[1], 100 + (RANK + n - 1) % n);
	stop();
	MPI_Comm_free(&reversed);
}

/* The library lives on a part of the world only. */
static void part_of_the_world_works(void)
{
	MPI_Comm part;
	struct starpu_conf conf;
	long x = 0;
	starpu_data_handle_t handle;
	int me, n;

	MPI_Comm_split(WORLD, RANK < 2, -RANK, &part);
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	CLAIM_EQ(starpu_init(&conf), 0);
	CLAIM_EQ(starpu_mpi_init_comm(NULL, NULL, 0, part), 0);
	starpu_mpi_comm_rank(part, &me);
	starpu_mpi_comm_size(part, &n);
	CLAIM_EQ(starpu_mpi_world_rank(), RANK);
	CLAIM_EQ(starpu_mpi_world_size(), claim_size);
	handle = variable(&x);
	if (me > 0)
		starpu_mpi_recv(handle, me - 1, TAG, part, MPI_STATUS_IGNORE);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
	if (me < n - 1)
		starpu_mpi_isend_detached(handle, me + 1, TAG, part, NULL, NULL);
	starpu_mpi_barrier(part);
	starpu_data_unregister(handle);
	CLAIM_EQ(x, me + 1);
	starpu_mpi_shutdown_comm(part);
	starpu_shutdown();
	MPI_Comm_free(&part);
}

/* ---- lives, barriers, counts ----------------------------------------- */

static void lives_follow_each_other(void)
{
	for (int life = 0; life < 5; life++) {
		long x = RANK + 10 * life;
		starpu_data_handle_t handle;
		int rank = -1;

		if (life % 2) {
			start();
		} else {
			CLAIM_EQ(starpu_init(NULL), 0);
			CLAIM_EQ(starpu_mpi_init_comm(NULL, NULL, 0, WORLD), 0);
		}
		starpu_mpi_comm_rank(WORLD, &rank);
		CLAIM_EQ(rank, RANK);
		handle = variable(&x);
		starpu_mpi_data_register(handle, TAG, 0);
		if (RANK == 0)
			starpu_mpi_send(handle, 1, TAG, WORLD);
		else if (RANK == 1)
			starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_data_unregister(handle);
		CLAIM_EQ(x, (RANK == 1 ? 0 : RANK) + 10 * life);
		stop();
		if (life % 2 == 0)
			starpu_shutdown();
		CLAIM_EQ(starpu_is_initialized(), 0);
	}
}

/* Rank 1 enters the barrier after it has what rank 0 sends from inside it. */
static void barrier_lets_messages_pass(void)
{
	unsigned char *at = filled(LARGE, RANK ? 9 : 1);
	starpu_data_handle_t handle;

	start();
	handle = vector(at, LARGE);
	for (int i = 0; i < 3; i++) {
		if (RANK == 0)
			starpu_mpi_isend_detached(handle, 1, TAG, WORLD, NULL, NULL);
		else if (RANK == 1)
			starpu_mpi_recv(handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		CLAIM_EQ(starpu_mpi_barrier(WORLD), 0);
	}
	starpu_data_unregister(handle);
	if (RANK < 2)
		CLAIM(is_filled(at, LARGE, 1));
	free(at);
	stop();
}

/* Payload bytes by destination, only while the count is on; an envelope is none. */
static void statistics_count_payload(void)
{
	size_t *sent = calloc((size_t)claim_size, sizeof *sent);
	unsigned char *at = filled(40000, 1);
	long x = 5;
	starpu_data_handle_t small, large;

	start();
	small = variable(&x);
	large = vector(at, 40000);
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			starpu_mpi_comm_stats_enable();
		if (i == 2)
			starpu_mpi_comm_stats_disable();
		if (RANK == 0) {
			starpu_mpi_send(small, 1, TAG, WORLD);
			starpu_mpi_send(large, 1, TAG + 1, WORLD);
		} else if (RANK == 1) {
			starpu_mpi_recv(small, 0, TAG, WORLD, MPI_STATUS_IGNORE);
			starpu_mpi_recv(large, 0, TAG + 1, WORLD, MPI_STATUS_IGNORE);
		}
		starpu_mpi_barrier(WORLD);
	}
	starpu_mpi_comm_stats_retrieve(sent);
	for (int i = 0; i < claim_size; i++)
		CLAIM_EQ(sent[i], RANK == 0 && i == 1 ? 40000 + sizeof x : 0);
	starpu_data_unregister(small);
	starpu_data_unregister(large);
	stop();
	free(at);
	free(sent);
}

/* ---- tags ------------------------------------------------------------ */

static void tags_have_64_bits(void)
{
	int64_t *bound = NULL;
	int flag = 0;

	CLAIM_EQ(starpu_mpi_comm_get_attr(WORLD, STARPU_MPI_TAG_UB, &bound, &flag), 0);
	CLAIM_EQ(flag, 1);
	CLAIM(bound && *bound == INT64_MAX);
	CLAIM_EQ(starpu_mpi_comm_get_attr(WORLD, MPI_HOST, &bound, &flag), 0);
	CLAIM_EQ(flag, 0);
	CLAIM_EQ(starpu_mpi_get_communication_tag(), 42);
	starpu_mpi_set_communication_tag(100);
	CLAIM_EQ(starpu_mpi_get_communication_tag(), 100);
	starpu_mpi_set_communication_tag(42);
}

static void tag_ranges_do_not_overlap(void)
{
	int64_t first, second, third;

	start();
	CLAIM_EQ(starpu_mpi_tags_allocate(0), -1);
	first = starpu_mpi_tags_allocate(100);
	second = starpu_mpi_tags_allocate(10);
	CLAIM(first >= 0 && second >= 0);
	CLAIM(first + 100 <= second || second + 10 <= first);
	starpu_mpi_tags_free(first);
	third = starpu_mpi_tags_allocate(50);
	CLAIM_EQ(third, first);
	CLAIM(third + 50 <= second || second + 10 <= third);
	starpu_mpi_tags_free(third);
	starpu_mpi_tags_free(second);
	CLAIM_EQ(starpu_mpi_tags_allocate(1000), first);
	starpu_mpi_tags_free(first);
	stop();
}

static void tags_and_owners_are_kept(void)
{
	long x[2];
	starpu_data_handle_t first, second;

	start();
	first = variable(&x[0]);
	starpu_mpi_data_register(first, 42, 1);
	CLAIM_EQ(starpu_mpi_data_get_tag(first), 42);
	CLAIM_EQ(starpu_mpi_data_get_rank(first), 1);
	starpu_mpi_data_register(first, 42, 1); /* the same once more is no conflict */
	starpu_mpi_data_set_rank(first, 0);
	CLAIM_EQ(starpu_mpi_data_get_tag(first), 42);
	CLAIM_EQ(starpu_mpi_data_get_rank(first), 0);
	starpu_mpi_data_set_tag(first, (starpu_mpi_tag_t)1 << 60);
	CLAIM_EQ(starpu_mpi_data_get_tag(first), (starpu_mpi_tag_t)1 << 60);
	second = variable(&x[1]);
	starpu_mpi_data_register(second, 42, 0); /* free again */
	starpu_data_unregister(first);
	starpu_mpi_data_register(second, (starpu_mpi_tag_t)1 << 60, STARPU_MPI_PER_NODE);
	CLAIM_EQ(starpu_mpi_data_get_rank(second), STARPU_MPI_PER_NODE);
	starpu_data_unregister(second);
	stop();
}

static const struct claim claims[] = {
	{"communicators are kept apart", communicators_are_apart},
	{"a part of the world works by itself", part_of_the_world_works},
	{"five lives follow each other", lives_follow_each_other},
	{"messages pass during a barrier", barrier_lets_messages_pass},
	{"statistics count payload bytes", statistics_count_payload},
	{"tags have 64 bits", tags_have_64_bits},
	{"ranges of tags do not overlap", tag_ranges_do_not_overlap},
	{"tags and owners are kept", tags_and_owners_are_kept},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
