/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <orrery_mpi.h>

#include "api/mpi_api.h"
#include "api/sched_ctx.h"
#include "core/sched/sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/task/tags.h"
#include "core/task/task.h"
#include "core/worker.h"
#include "mpi/finish.h"

/* ---- starting -------------------------------------------------------- */

static void check(struct mpi *mpi, const struct post *post)
{
	const struct mpi_comm *comm = comm_at(&mpi->comms, post->comm);
	const char *side = post->kind == REQUEST_SEND ? "destination" : "source";

	api_check_handle(mpi->node, post->what, post->handle);
	if (post->tag < 0)
		orr_die(mpi->rank, "%s: tag %lld: expected 0 to INT64_MAX", post->what,
			(long long)post->tag);
	if (post->peer < 0 || post->peer >= comm->size)
		orr_die(mpi->rank, "%s: %s is rank %d: expected 0 to %d", post->what,
			side, post->peer, comm->size - 1);
	if (comm_net_rank(comm, post->peer) < 0)
		orr_die(mpi->rank,
			"%s: %s %d of the communicator is not in the one given at init: "
			"give starpu_mpi_init_conf() one with all ranks that exchange "
			"data",
			post->what, side, post->peer);
}

static struct request *start(const char *func, struct post *post, MPI_Comm comm)
{
	struct mpi *mpi = api_mpi(func);

	post->what = func;
	post->comm = api_comm_learn(mpi, comm, func);
	check(mpi, post);
	if (!orr_load(&mpi->tally.posts))
		orr_store(&mpi->tally.posts, 1);
	if (node_knobs(mpi->node)->submit_cost)
		plat_charge(mpi->node->plat, mpi->node->machine->costs.post_s);
	if (!mpi->is_fake)
		return engine_post(mpi, post);
	if (post->is_waited)
		orr_die(mpi->rank,
			"%s: nothing is communicated with STARPU_MPI_FAKE_SIZE, so "
			"nothing can be waited for; use a detached form",
			func);
	if (post->kind == REQUEST_RECEIVE)
		data_pretend_written_submit(mpi->node, post->handle);
	return NULL;
}

/* A worker's thread may wait for messages in a kernel, while others go on; not in a
 * callback, which may have interrupted anything. */
static struct worker *check_may_wait(const char *func)
{
	struct node *node = api_node(func);
	struct worker *worker = plat_current_worker(node->plat);

	if (!worker)
		return NULL;
	if (!worker->caller.task || worker->caller.depth > 0)
		api_blocking_node(func); /* It ends the program. */
	if (!node->machine->kernels_wait)
		orr_die(node->rank,
			"%s: task \"%s\" waits for a message, but a simulated task only "
			"takes time, and its kernel is called at once; use a form with a "
			"callback, or insert the transfer as a task of its own",
			func, task_name(worker->caller.task));
	return worker;
}

/* What the task itself uses is free at its end only. */
static void check_not_own(const char *func, const struct worker *worker,
			  const struct request *request)
{
	const struct job *job = worker->running;
	char text[128];

	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].datum == request_handle(request) &&
		    (request->kind == REQUEST_RECEIVE ||
		     (job->accesses[i].mode & STARPU_W)))
			orr_die(worker->node->rank,
				"%s: task \"%s\" waits for a %s %s, which it uses itself "
				"until it ends, so this could never end; give the task "
				"another handle, or let a callback or another task %s",
				func, task_name(job->task),
				request->kind == REQUEST_SEND ? "send of"
							      : "receive into",
				data_describe(request_handle(request), text,
					      sizeof(text)),
				request->kind == REQUEST_SEND ? "send" : "receive");
}

static int start_waited(const char *func, struct post *post, MPI_Comm comm,
			starpu_mpi_req *req)
{
	if (!req)
		orr_die(api_mpi(func)->rank, "%s: the pointer to the request is NULL",
			func);
	post->is_waited = 1;
	*req = start(func, post, comm);
	return 0;
}

static int start_blocking(const char *func, struct post *post, MPI_Comm comm,
			  MPI_Status *status)
{
	starpu_mpi_req req;

	check_may_wait(func);
	post->is_blocking = 1;
	start_waited(func, post, comm, &req);
	return starpu_mpi_wait(&req, status);
}

static int start_detached(const char *func, struct post *post, MPI_Comm comm)
{
	start(func, post, comm);
	return 0;
}

/* The fields common to all forms. */
#define POST(KIND, PEER, PRIO)                                                           \
	{                                                                                \
		.kind = KIND, .handle = data_handle, .peer = PEER, .tag = data_tag,      \
		.priority = PRIO                                                         \
	}
#define SEND(PRIO)    POST(REQUEST_SEND, dest, PRIO)
#define RECEIVE(PRIO) POST(REQUEST_RECEIVE, source, PRIO)

int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			  starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
	struct post post = SEND(prio);

	return start_waited(__func__, &post, comm, req);
}

int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	struct post post = SEND(0);

	return start_waited(__func__, &post, comm, req);
}

int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req,
			   int dest, starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
	struct post post = SEND(prio);

	post.is_sync = 1;
	return start_waited(__func__, &post, comm, req);
}

int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		      starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	struct post post = SEND(0);

	post.is_sync = 1;
	return start_waited(__func__, &post, comm, req);
}

int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	struct post post = RECEIVE(0);

	return start_waited(__func__, &post, comm, req);
}

int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest,
			 starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
	struct post post = SEND(prio);

	return start_blocking(__func__, &post, comm, MPI_STATUS_IGNORE);
}

int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm)
{
	struct post post = SEND(0);

	return start_blocking(__func__, &post, comm, MPI_STATUS_IGNORE);
}

int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source,
			 starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
			 MPI_Status *status)
{
	struct post post = RECEIVE(prio);

	return start_blocking(__func__, &post, comm, status);
}

int starpu_mpi_recv(starpu_data_handle_t data_handle, int source,
		    starpu_mpi_tag_t data_tag, MPI_Comm comm, MPI_Status *status)
{
	struct post post = RECEIVE(0);

	return start_blocking(__func__, &post, comm, status);
}

int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg)
{
	struct post post = SEND(prio);

	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm,
			      void (*callback)(void *), void *arg)
{
	struct post post = SEND(0);

	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
				    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				    void (*callback)(void *), void *arg)
{
	struct post post = SEND(prio);

	post.is_sync = 1;
	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
			       starpu_mpi_tag_t data_tag, MPI_Comm comm,
			       void (*callback)(void *), void *arg)
{
	struct post post = SEND(0);

	post.is_sync = 1;
	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg)
{
	struct post post = RECEIVE(prio);

	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm,
			      void (*callback)(void *), void *arg)
{
	struct post post = RECEIVE(0);

	post.callback = callback;
	post.arg = arg;
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_irecv_detached_sequential_consistency(
	starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
	MPI_Comm comm, void (*callback)(void *), void *arg, int sequential_consistency)
{
	struct post post = RECEIVE(0);

	post.callback = callback;
	post.arg = arg;
	post.is_unordered = !sequential_consistency;
	return start_detached(__func__, &post, comm);
}

/* ---- task tags reached at the end ------------------------------------ */

/* Shared by the messages of one call. */
struct unlock {
	struct node *node;
	starpu_tag_t tag;
	int nleft; /* atomic */
};

static void message_ended(void *arg)
{
	struct unlock *unlock = arg;

	if (orr_add(&unlock->nleft, -1) > 0)
		return;
	tags_notify_from_apps(unlock->node, unlock->tag);
	free(unlock);
}

static struct unlock *unlock_new(const char *func, starpu_tag_t tag, unsigned nmessages)
{
	struct mpi *mpi = api_mpi(func);
	struct unlock *unlock;

	if (mpi->is_fake || nmessages == 0)
		return NULL; /* No message ends. */
	unlock = orr_alloc(sizeof(*unlock));
	unlock->node = mpi->node;
	unlock->tag = tag;
	unlock->nleft = (int)nmessages;
	return unlock;
}

int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
					      starpu_mpi_tag_t data_tag, int prio,
					      MPI_Comm comm, starpu_tag_t tag)
{
	struct post post = SEND(prio);

	post.callback = message_ended;
	post.arg = unlock_new(__func__, tag, 1);
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag)
{
	return starpu_mpi_isend_detached_unlock_tag_prio(data_handle, dest, data_tag, 0,
							 comm, tag);
}

int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag)
{
	struct post post = RECEIVE(0);

	post.callback = message_ended;
	post.arg = unlock_new(__func__, tag, 1);
	return start_detached(__func__, &post, comm);
}

int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
						    starpu_data_handle_t *data_handle,
						    int *dest, starpu_mpi_tag_t *data_tag,
						    int *prio, MPI_Comm *comm,
						    starpu_tag_t tag)
{
	struct unlock *unlock = unlock_new(__func__, tag, array_size);

	for (unsigned i = 0; i < array_size; i++) {
		struct post post = {.kind = REQUEST_SEND,
				    .handle = data_handle[i],
				    .peer = dest[i],
				    .tag = data_tag[i],
				    .priority = prio ? prio[i] : 0,
				    .callback = message_ended,
				    .arg = unlock};

		start(__func__, &post, comm[i]);
	}
	return 0;
}

int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle,
					       int *dest, starpu_mpi_tag_t *data_tag,
					       MPI_Comm *comm, starpu_tag_t tag)
{
	return starpu_mpi_isend_array_detached_unlock_tag_prio(
		array_size, data_handle, dest, data_tag, NULL, comm, tag);
}

int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle,
					       int *source, starpu_mpi_tag_t *data_tag,
					       MPI_Comm *comm, starpu_tag_t tag)
{
	struct unlock *unlock = unlock_new(__func__, tag, array_size);

	for (unsigned i = 0; i < array_size; i++) {
		struct post post = {.kind = REQUEST_RECEIVE,
				    .handle = data_handle[i],
				    .peer = source[i],
				    .tag = data_tag[i],
				    .callback = message_ended,
				    .arg = unlock};

		start(__func__, &post, comm[i]);
	}
	return 0;
}

/* ---- waiting --------------------------------------------------------- */

static void fill_status(MPI_Status *status, int peer, int64_t tag)
{
	if (status == MPI_STATUS_IGNORE || !status)
		return;
	memset(status, 0, sizeof(*status));
	status->MPI_SOURCE = peer;
	status->MPI_TAG = (int)(tag & INT32_MAX);
	status->MPI_ERROR = MPI_SUCCESS;
}

/* What req points to; NULL when it is over. */
static struct request *request_at(const char *func, const starpu_mpi_req *req)
{
	struct request *request;

	api_given(func, "req", req);
	request = *req;
	if (request && !request->mpi)
		orr_die(api_rank(),
			"%s: the request is over: a wait or a test that succeeded has "
			"ended it and set *req to NULL; give no copy of it",
			func);
	return request;
}

int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status)
{
	struct request *request = request_at(__func__, req);
	const struct worker *worker;
	int peer, ret;
	int64_t tag;

	if (!request)
		return 0;
	worker = check_may_wait(__func__);
	if (worker && !request_has_ended(request))
		check_not_own(request->what, worker, request);
	peer = request->peer;
	tag = request->match.tag;
	ret = finish_wait(request);
	if (ret < 0)
		return ret;
	*req = NULL;
	fill_status(status, peer, tag);
	return 0;
}

int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status)
{
	struct request *request = request_at(__func__, req);
	int peer;
	int64_t tag;

	api_given(__func__, "flag", flag);
	*flag = 1;
	if (!request)
		return 0;
	peer = request->peer;
	tag = request->match.tag;
	*flag = finish_test(request);
	if (*flag) {
		*req = NULL;
		fill_status(status, peer, tag);
	}
	return 0;
}

int orrery_mpi_progress(void)
{
	struct mpi *mpi = api_mpi(__func__);

	return mpi->is_fake ? 0 : finish_progress(mpi);
}

int starpu_mpi_barrier(MPI_Comm comm)
{
	struct mpi *mpi = api_mpi(__func__);

	api_blocking_node(__func__);
	return mpi_barrier(mpi, api_comm_learn(mpi, comm, __func__));
}

int starpu_mpi_wait_for_all(MPI_Comm comm)
{
	struct mpi *mpi = api_mpi(__func__);

	(void)comm;
	node_end_insertion(api_blocking_node(__func__));
	reduce_all(mpi);
	return finish_wait_all(mpi, NULL);
}

int starpu_mpi_wait_for_all_in_ctx(MPI_Comm comm, unsigned sched_ctx)
{
	struct mpi *mpi = api_mpi(__func__);
	struct sched *sched = api_context(__func__, sched_ctx);

	(void)comm;
	api_blocking_node(__func__);
	if (sched->ops->schedule)
		sched->ops->schedule(sched);
	reduce_all(mpi);
	return finish_wait_all(mpi, sched);
}
