/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Transactions: epochs of tasks that run or do not; and tasks in a given order. */
#include <stdint.h>

#include "claim.h"

int claim_failures;

enum { NEPOCHS = 12, NTASKS = 10 };

static int nasked, nrun[NEPOCHS], nended, order[NTASKS], nordered;

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .cost_function = cost_us, .symbol = "transactions"};

/* All tasks of the epoch before have ended, none of this one has begun. */
static int every_third_does_not_run(void *buffer, void *arg)
{
	int epoch = (int)(intptr_t)arg;

	(void)buffer;
	CLAIM_EQ(nasked, epoch);
	CLAIM_EQ(nended, epoch * NTASKS);
	CLAIM_EQ(nrun[epoch], 0);
	nasked++;
	return epoch % 3 == 2 ? 0 : 7;
}

static void work(void *buffers[], void *arg)
{
	int epoch;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &epoch);
	STARPU_ATOMIC_ADD(&nrun[epoch], 1);
}

static void add(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void ended(void *arg)
{
	(void)arg;
	STARPU_ATOMIC_ADD(&nended, 1);
}

static struct starpu_codelet works = {
	.cpu_funcs = {work}, .cpu_funcs_name = {"work"}, .model = &model};
static struct starpu_codelet adds = {.cpu_funcs = {add},
				     .cpu_funcs_name = {"add"},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .model = &model};

static void start(int ncpus)
{
	claim_start(ncpus);
	nasked = nended = nordered = 0;
	for (int i = 0; i < NEPOCHS; i++)
		nrun[i] = 0;
}

static void insert_epoch(struct starpu_transaction *transaction, const int *number,
			 starpu_data_handle_t handle)
{
	for (int i = 0; i < NTASKS; i++) {
		int ret;

		if (i % 2)
			ret = starpu_task_insert(&works, STARPU_VALUE, number,
						 sizeof(*number), STARPU_TRANSACTION,
						 transaction, STARPU_EPILOGUE_CALLBACK,
						 ended, 0);
		else
			ret = starpu_task_insert(&adds, STARPU_RW, handle,
						 STARPU_TRANSACTION, transaction,
						 STARPU_EPILOGUE_CALLBACK, ended, 0);
		CLAIM_EQ(ret, 0);
	}
}

/* Epochs one after the other; those that are skipped leave data as they are, and their
 * tasks end all the same. */
static void epochs_run_or_not(void)
{
	struct starpu_transaction *transaction;
	starpu_data_handle_t handle;
	int value = 0, waits = 5;

	start(3);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	transaction = starpu_transaction_open(every_third_does_not_run, NULL);
	CLAIM(transaction != NULL);
	for (int epoch = 0; epoch < NEPOCHS; epoch++) {
		if (epoch > 0)
			starpu_transaction_next_epoch(transaction,
						      (void *)(intptr_t)epoch);
		insert_epoch(transaction, &epoch, handle);
		if (epoch == waits)
			starpu_task_wait_for_all();
	}
	starpu_transaction_close(transaction);
	starpu_data_unregister(handle);
	starpu_task_wait_for_all();
	CLAIM_EQ(nasked, NEPOCHS);
	CLAIM_EQ(nended, NEPOCHS * NTASKS);
	CLAIM_EQ(value, NEPOCHS * 2 / 3 * NTASKS / 2);
	for (int epoch = 0; epoch < NEPOCHS; epoch++)
		CLAIM_EQ(nrun[epoch], epoch % 3 == 2 ? 0 : NTASKS / 2);
	starpu_shutdown();
}

static int never(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
	return 0;
}

/* A skipped task takes no time, in simulation to the digit. */
static void skipped_take_no_time(void)
{
	struct starpu_transaction *transaction;
	int number = 0;
	double start_s;

	start(1);
	transaction = starpu_transaction_open(never, NULL);
	start_s = starpu_timing_now();
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&works, STARPU_VALUE, &number, sizeof(number),
				   STARPU_TRANSACTION, transaction, 0);
	starpu_transaction_close(transaction);
	starpu_task_wait_for_all();
	CLAIM_EQ(nrun[0], 0);
	if (orrery_is_simulated())
		CLAIM(starpu_timing_now() - start_s < 100);
	starpu_shutdown();
}

/* An epoch without tasks, and a transaction without any. */
static void empty_ones_end(void)
{
	struct starpu_transaction *transaction;

	start(2);
	transaction = starpu_transaction_open(never, NULL);
	starpu_transaction_next_epoch(transaction, NULL);
	starpu_transaction_next_epoch(transaction, NULL);
	starpu_transaction_close(transaction);
	starpu_transaction_close(starpu_transaction_open(never, NULL));
	starpu_task_wait_for_all();
	starpu_shutdown();
}

/* ---- tasks in a given order on a worker -------------------------------- */

static void note(void *buffers[], void *arg)
{
	int number;

	(void)buffers;
	starpu_codelet_unpack_args(arg, &number);
	CLAIM_EQ(starpu_worker_get_id(), 1);
	order[nordered++] = number;
}

static struct starpu_codelet notes = {
	.cpu_funcs = {note}, .cpu_funcs_name = {"note"}, .model = &model};

/* Whatever the order of submission and the priorities; twice, since numbers go on. */
static void worker_follows_its_order(void)
{
	start(2);
	for (int round = 0; round < 2; round++) {
		nordered = 0;
		for (int i = 0; i < NTASKS; i++) {
			int number = (7 * i + 3) % NTASKS;

			starpu_task_insert(&notes, STARPU_VALUE, &number, sizeof(number),
					   STARPU_EXECUTE_ON_WORKER, 1,
					   STARPU_WORKER_ORDER,
					   (unsigned)(round * NTASKS + number + 1),
					   STARPU_PRIORITY, number % 3, 0);
		}
		starpu_task_wait_for_all();
		CLAIM_EQ(nordered, NTASKS);
		for (int i = 0; i < NTASKS; i++)
			CLAIM_EQ(order[i], i);
	}
	starpu_shutdown();
}

/* A task that is not ready holds those behind it, not those without a number. */
static void order_waits_for_who_is_not_ready(void)
{
	starpu_data_handle_t handle;
	int value = 0, number = 0, last = 1;

	start(2);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_data_acquire(handle, STARPU_RW);
	starpu_task_insert(&adds, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER, 1,
			   STARPU_WORKER_ORDER, 1U, 0);
	starpu_task_insert(&notes, STARPU_VALUE, &last, sizeof(last),
			   STARPU_EXECUTE_ON_WORKER, 1, STARPU_WORKER_ORDER, 2U, 0);
	starpu_task_insert(&notes, STARPU_VALUE, &number, sizeof(number),
			   STARPU_EXECUTE_ON_WORKER, 1, 0);
	starpu_task_wait_for_n_submitted(2);
	CLAIM_EQ(nordered, 1);
	CLAIM_EQ(order[0], 0);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	CLAIM_EQ(nordered, 2);
	CLAIM_EQ(order[1], 1);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"transaction_epochs_run_or_not", epochs_run_or_not},
	{"transaction_skipped_tasks_take_no_time", skipped_take_no_time},
	{"transaction_may_be_empty", empty_ones_end},
	{"worker_order_is_kept", worker_follows_its_order},
	{"worker_order_waits_for_who_is_not_ready", order_waits_for_who_is_not_ready},
	{0}};

int main(void)
{
	return claims_run(claims, 0);
}
