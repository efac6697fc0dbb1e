/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Kernels that wait for messages: the worker's thread blocks, everything else goes on.
 * A chain of tasks has one order on all ranks, so that those that wait for each other
 * run at the same time, also where there is one worker.
 */
#include <string.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NTASKS = 50, WIDE = 100000, ANSWER = 7 };

struct exchange {
	starpu_data_handle_t sent, got;
	int tag;
};

/* On the side of the node; atomic. */
static int nexecuted;
static starpu_data_handle_t answer;

static int next_rank(void)
{
	return (RANK + 1) % claim_size;
}

static int last_rank(void)
{
	return (RANK + claim_size - 1) % claim_size;
}

static void executed(void)
{
	__atomic_add_fetch(&nexecuted, 1, __ATOMIC_SEQ_CST);
}

static void exchange_cpu(void *buffers[], void *arg)
{
	const struct exchange *x = arg;
	starpu_mpi_req req;

	(void)buffers;
	starpu_mpi_isend(x->sent, &req, next_rank(), x->tag, WORLD);
	starpu_mpi_recv(x->got, last_rank(), x->tag, WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	executed();
}

static void send_cpu(void *buffers[], void *arg)
{
	const struct exchange *x = arg;

	(void)buffers;
	starpu_mpi_send(x->sent, next_rank(), x->tag, WORLD);
	executed();
}

static void receive_cpu(void *buffers[], void *arg)
{
	const struct exchange *x = arg;
	MPI_Status status;

	(void)buffers;
	starpu_mpi_recv(x->got, last_rank(), x->tag, WORLD, &status);
	CLAIM_EQ(status.MPI_SOURCE, last_rank());
	executed();
}

#define CODELET(function, name_)                                                         \
	{                                                                                \
		.cpu_funcs = {function}, .nbuffers = STARPU_VARIABLE_NBUFFERS,           \
		.model = &starpu_perfmodel_nop, .name = name_                            \
	}
static struct starpu_codelet exchanges = CODELET(exchange_cpu, "exchanges");
static struct starpu_codelet sends = CODELET(send_cpu, "sends");
static struct starpu_codelet receives = CODELET(receive_cpu, "receives");

/* After the one before, when there is an order. */
static void submit(struct starpu_codelet *cl, struct exchange *x,
		   starpu_data_handle_t order)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = x;
	if (order) {
		task->handles[0] = order;
		task->modes[0] = STARPU_RW;
		task->nbuffers = 1;
	}
	CLAIM_EQ(starpu_task_submit(task), 0);
}

/* No function of the library that would poll in this thread. */
static void wait_without_help(int wanted)
{
	while (__atomic_load_n(&nexecuted, __ATOMIC_SEQ_CST) < wanted)
		starpu_sleep(1e-4);
}

static void chain(int ntasks, size_t bytes)
{
	struct exchange x[NTASKS];
	unsigned char *sent = filled(bytes, (unsigned)RANK), *got[NTASKS];
	long order = 0;
	starpu_data_handle_t order_handle;

	nexecuted = 0;
	claim_init(1);
	order_handle = variable(&order);
	x[0].sent = vector(sent, bytes);
	for (int i = 0; i < ntasks; i++) {
		got[i] = filled(bytes, 99);
		x[i] = (struct exchange){x[0].sent, vector(got[i], bytes), i};
		submit(&exchanges, &x[i], order_handle);
	}
	wait_without_help(ntasks);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < ntasks; i++) {
		starpu_data_unregister(x[i].got);
		CLAIM(is_filled(got[i], bytes, (unsigned)last_rank()));
		free(got[i]);
	}
	starpu_data_unregister(x[0].sent);
	starpu_data_unregister(order_handle);
	free(sent);
	stop();
}

static void small_messages(void)
{
	chain(NTASKS, 8);
}

static void large_messages(void)
{
	chain(6, WIDE);
}

/* One worker sends what the receiver is not ready for, another one receives. */
static void two_workers_block(void)
{
	unsigned char *sent = filled(LARGE, (unsigned)RANK), *got = filled(LARGE, 99);
	struct exchange x = {.tag = TAG};

	claim_init(2);
	x.sent = vector(sent, LARGE);
	x.got = vector(got, LARGE);
	submit(&sends, &x, NULL);
	submit(&receives, &x, NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(x.sent);
	starpu_data_unregister(x.got);
	CLAIM(is_filled(got, LARGE, (unsigned)last_rank()));
	free(sent);
	free(got);
	stop();
}

static void asked(void *arg)
{
	(void)arg;
	starpu_mpi_isend_detached(answer, last_rank(), ANSWER, WORLD, NULL, NULL);
}

static void asks_cpu(void *buffers[], void *arg)
{
	const struct exchange *x = arg;

	(void)buffers;
	starpu_mpi_send(x->sent, next_rank(), x->tag, WORLD);
	starpu_mpi_recv(x->got, next_rank(), ANSWER, WORLD, MPI_STATUS_IGNORE);
	executed();
}

/* What a kernel waits for comes from a callback, on a rank whose worker waits, too. */
static void callbacks_run_meanwhile(void)
{
	static struct starpu_codelet asks = CODELET(asks_cpu, "asks");
	long question = 0, asked_for = 0, own = 40 + RANK, got = 0;
	struct exchange x = {.tag = TAG};
	starpu_data_handle_t from_last;

	nexecuted = 0;
	start();
	answer = variable(&own);
	from_last = variable(&asked_for);
	x.sent = variable(&question);
	x.got = variable(&got);
	starpu_mpi_irecv_detached(from_last, last_rank(), TAG, WORLD, asked, NULL);
	submit(&asks, &x, NULL);
	wait_without_help(1);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(x.got);
	CLAIM_EQ(got, 40 + next_rank());
	starpu_data_unregister(x.sent);
	starpu_data_unregister(from_last);
	starpu_data_unregister(answer);
	stop();
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"kernels exchange small messages", small_messages},
		{"kernels exchange large messages", large_messages},
		{"a worker sends while another receives", two_workers_block},
		{"callbacks run while a kernel waits", callbacks_run_meanwhile},
		{NULL, NULL},
	};

	return mpi_claims_run(argc, argv, claims);
}
