/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Where workers have all cores of a node, what others do there takes time from them.  On
 * no_spare_core.xml: rank 0 has cores to spare, rank 1 has not.
 */
#include <math.h>
#include <stdlib.h>

#include <starpu_mpi.h>

#include "../api/claim.h"

int claim_failures;

enum { TASK_US = 1000, SUBMIT_US = 100, NTASKS = 6, BYTES = 400, RECEIVE_US = 50 };

/* Heads of messages travel, too. */
enum { MOST_HEAD_BYTES = 200 };

static int rank;
static double task_us;

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return task_us;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "lending"};
static struct starpu_codelet codelet = {
	.cpu_funcs = {(starpu_cpu_func_t)1}, .model = &model, .name = "a task"};

static void claim_us(double us, double least, double most)
{
	if (us > least - 0.02 && us < most + 0.02)
		return;
	if (claim_failures++ < CLAIM_MAX_SHOWN)
		printf("rank %d: took %.6f us, expected %.6f to %.6f\n", rank, us, least,
		       most);
}

static void start(const char *submit_cost)
{
	setenv("ORRERY_SUBMIT_COST", submit_cost, 1);
	setenv("ORRERY_QUANTUM", "1e-5", 1);
	setenv("ORRERY_POST_COST", "0", 1);
	setenv("STARPU_SIMGRID_TASK_PUSH_COST", "0", 1);
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

/* The first task begins when it is submitted; while the others are, it runs. */
static void who_submits_takes_time_from_tasks(void)
{
	double start_us, us;

	start("1e-4");
	task_us = TASK_US;
	start_us = starpu_timing_now();
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&codelet, 0), 0);
	starpu_task_wait_for_all();
	us = NTASKS * TASK_US + SUBMIT_US;
	if (rank == 1)
		us += (NTASKS - 1) * SUBMIT_US;
	claim_us(starpu_timing_now() - start_us, us, us);
	starpu_mpi_shutdown();
}

/* Both receive; returns how long a task takes that begins before, or after that. */
static double beside_a_message_us(int is_before)
{
	starpu_data_handle_t in, out;
	char bytes[2][BYTES] = {{0}};
	starpu_mpi_req request;
	double start_us;

	starpu_vector_data_register(&out, STARPU_MAIN_RAM, (uintptr_t)bytes[0], BYTES, 1);
	starpu_vector_data_register(&in, STARPU_MAIN_RAM, (uintptr_t)bytes[1], BYTES, 1);
	starpu_mpi_irecv(in, &request, 1 - rank, 7, MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	if (is_before)
		starpu_task_insert(&codelet, 0);
	starpu_mpi_send(out, 1 - rank, 7, MPI_COMM_WORLD);
	if (!is_before) {
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
		start_us = starpu_timing_now();
		starpu_task_insert(&codelet, 0);
	}
	starpu_task_wait_for_all();
	start_us = starpu_timing_now() - start_us;
	if (is_before)
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	starpu_data_unregister(in);
	starpu_data_unregister(out);
	return start_us;
}

static void who_receives_takes_time_from_a_task(void)
{
	int full;
	double us;

	start("0");
	full = rank == 1;
	task_us = 5 * TASK_US;
	us = beside_a_message_us(1);
	claim_us(us, task_us + full * (BYTES + RECEIVE_US),
		 task_us + full * (BYTES + RECEIVE_US + MOST_HEAD_BYTES));
	starpu_mpi_shutdown();
}

/* The bytes have come before the task begins, and have cost it nothing. */
static void an_idle_worker_has_moved_the_bytes(void)
{
	start("0");
	task_us = TASK_US;
	claim_us(beside_a_message_us(0), task_us, task_us);
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"who_submits_takes_time_from_tasks", who_submits_takes_time_from_tasks},
	{"who_receives_takes_time_from_a_task", who_receives_takes_time_from_a_task},
	{"an_idle_worker_has_moved_the_bytes", an_idle_worker_has_moved_the_bytes},
	{0},
};

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	failed = claims_run(claims, rank != 0);
	MPI_Finalize();
	return failed;
}
