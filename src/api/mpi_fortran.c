/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_fortran.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/mpi_api.h"
#include "base/check.h"
#include "core/task/args.h"

/* ---- start and end ---------------------------------------------------- */

struct fstarpu_mpi_argcv {
	int argc, initialize_mpi, has_comm;
	MPI_Fint comm;
	char **argv;
};

struct fstarpu_mpi_argcv *fstarpu_mpi_argcv_alloc(int argc, int initialize_mpi,
						  int comm_present, MPI_Fint comm)
{
	struct fstarpu_mpi_argcv *argcv = orr_alloc(sizeof(*argcv));

	argcv->argc = argc > 0 ? argc : 0;
	argcv->initialize_mpi = initialize_mpi;
	argcv->has_comm = comm_present;
	argcv->comm = comm;
	argcv->argv = orr_alloc(((size_t)argcv->argc + 1) * sizeof(*argcv->argv));
	return argcv;
}

void fstarpu_mpi_argcv_set_arg(struct fstarpu_mpi_argcv *argcv, int i, int len,
			       const char *arg)
{
	ORR_ASSERT(i >= 0 && i < argcv->argc && len >= 0);
	free(argcv->argv[i]);
	argcv->argv[i] = orr_alloc((size_t)len + 1);
	memcpy(argcv->argv[i], arg, (size_t)len);
}

void fstarpu_mpi_argcv_free(struct fstarpu_mpi_argcv *argcv)
{
	for (int i = 0; i < argcv->argc; i++)
		free(argcv->argv[i]);
	free(argcv->argv);
	free(argcv);
}

/* MPI may take arguments away; those stay the struct's. */
int fstarpu_mpi_init_c(struct fstarpu_mpi_argcv *argcv)
{
	size_t bytes = ((size_t)argcv->argc + 1) * sizeof(*argcv->argv);
	char **copy = orr_alloc(bytes), **argv = copy;
	int argc = argcv->argc, ret;

	memcpy(copy, argcv->argv, bytes);
	if (argcv->has_comm)
		ret = starpu_mpi_init_comm(&argc, &argv, argcv->initialize_mpi,
					   MPI_Comm_f2c(argcv->comm));
	else
		ret = starpu_mpi_init(&argc, &argv, argcv->initialize_mpi);
	free(copy);
	return ret;
}

starpu_mpi_req *fstarpu_mpi_req_alloc(void)
{
	return orr_alloc(sizeof(starpu_mpi_req));
}

void fstarpu_mpi_req_free(starpu_mpi_req *req)
{
	free(req);
}

MPI_Status *fstarpu_mpi_status_alloc(void)
{
	return orr_alloc(sizeof(MPI_Status));
}

void fstarpu_mpi_status_free(MPI_Status *status)
{
	free(status);
}

/* ---- communicators ----------------------------------------------------- */

int fstarpu_mpi_comm_size(MPI_Fint comm, int *size)
{
	return starpu_mpi_comm_size(MPI_Comm_f2c(comm), size);
}

int fstarpu_mpi_comm_rank(MPI_Fint comm, int *rank)
{
	return starpu_mpi_comm_rank(MPI_Comm_f2c(comm), rank);
}

int fstarpu_mpi_comm_register(MPI_Fint comm)
{
	return starpu_mpi_comm_register(MPI_Comm_f2c(comm));
}

MPI_Fint fstarpu_mpi_world_comm(void)
{
	return MPI_Comm_c2f(MPI_COMM_WORLD);
}

int fstarpu_mpi_barrier(MPI_Fint comm)
{
	return starpu_mpi_barrier(MPI_Comm_f2c(comm));
}

int fstarpu_mpi_wait_for_all(MPI_Fint comm)
{
	return starpu_mpi_wait_for_all(MPI_Comm_f2c(comm));
}

int fstarpu_mpi_wait_for_all_in_ctx(MPI_Fint comm, int sched_ctx)
{
	return starpu_mpi_wait_for_all_in_ctx(MPI_Comm_f2c(comm), (unsigned)sched_ctx);
}

int fstarpu_mpi_shutdown_comm(MPI_Fint comm)
{
	return starpu_mpi_shutdown_comm(MPI_Comm_f2c(comm));
}

/* ---- distributed data -------------------------------------------------- */

void fstarpu_mpi_data_register_comm(starpu_data_handle_t handle, int64_t tag, int rank,
				    MPI_Fint comm)
{
	starpu_mpi_data_register_comm(handle, tag, rank, MPI_Comm_f2c(comm));
}

void fstarpu_mpi_data_register(starpu_data_handle_t handle, int64_t tag, int rank)
{
	starpu_mpi_data_register(handle, tag, rank);
}

void fstarpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Fint comm)
{
	starpu_mpi_data_set_rank_comm(handle, rank, MPI_Comm_f2c(comm));
}

void fstarpu_mpi_data_set_rank(starpu_data_handle_t handle, int rank)
{
	starpu_mpi_data_set_rank(handle, rank);
}

void fstarpu_mpi_data_migrate(MPI_Fint comm, starpu_data_handle_t handle, int rank)
{
	starpu_mpi_data_migrate(MPI_Comm_f2c(comm), handle, rank);
}

void fstarpu_mpi_get_data_on_node(MPI_Fint comm, starpu_data_handle_t handle, int node)
{
	starpu_mpi_get_data_on_node(MPI_Comm_f2c(comm), handle, node);
}

void fstarpu_mpi_get_data_on_node_detached(MPI_Fint comm, starpu_data_handle_t handle,
					   int node, fortran_callback callback, void *arg)
{
	starpu_mpi_get_data_on_node_detached(MPI_Comm_f2c(comm), handle, node, callback,
					     arg);
}

void fstarpu_mpi_get_data_on_all_nodes_detached(MPI_Fint comm,
						starpu_data_handle_t handle)
{
	starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm_f2c(comm), handle);
}

int fstarpu_mpi_data_cpy(starpu_data_handle_t dst, starpu_data_handle_t src,
			 MPI_Fint comm, int asynchronous, fortran_callback callback,
			 void *arg)
{
	return starpu_mpi_data_cpy(dst, src, MPI_Comm_f2c(comm), asynchronous, callback,
				   arg);
}

int fstarpu_mpi_data_cpy_priority(starpu_data_handle_t dst, starpu_data_handle_t src,
				  MPI_Fint comm, int asynchronous,
				  fortran_callback callback, void *arg, int prio)
{
	return starpu_mpi_data_cpy_priority(dst, src, MPI_Comm_f2c(comm), asynchronous,
					    callback, arg, prio);
}

void fstarpu_mpi_cache_flush(MPI_Fint comm, starpu_data_handle_t handle)
{
	starpu_mpi_cache_flush(MPI_Comm_f2c(comm), handle);
}

void fstarpu_mpi_cache_flush_all_data(MPI_Fint comm)
{
	starpu_mpi_cache_flush_all_data(MPI_Comm_f2c(comm));
}

/* ---- messages ----------------------------------------------------------- */

int fstarpu_mpi_isend(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
		      int64_t tag, MPI_Fint comm)
{
	return starpu_mpi_isend(handle, req, dst, tag, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_isend_prio(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
			   int64_t tag, int prio, MPI_Fint comm)
{
	return starpu_mpi_isend_prio(handle, req, dst, tag, prio, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_issend(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
		       int64_t tag, MPI_Fint comm)
{
	return starpu_mpi_issend(handle, req, dst, tag, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_issend_prio(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
			    int64_t tag, int prio, MPI_Fint comm)
{
	return starpu_mpi_issend_prio(handle, req, dst, tag, prio, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_irecv(starpu_data_handle_t handle, starpu_mpi_req *req, int src,
		      int64_t tag, MPI_Fint comm)
{
	return starpu_mpi_irecv(handle, req, src, tag, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_send(starpu_data_handle_t handle, int dst, int64_t tag, MPI_Fint comm)
{
	return starpu_mpi_send(handle, dst, tag, MPI_Comm_f2c(comm));
}

int fstarpu_mpi_send_prio(starpu_data_handle_t handle, int dst, int64_t tag, int prio,
			  MPI_Fint comm)
{
	return starpu_mpi_send_prio(handle, dst, tag, prio, MPI_Comm_f2c(comm));
}

/* A status of C's; C_NULL_PTR where nobody asks. */
int fstarpu_mpi_recv(starpu_data_handle_t handle, int src, int64_t tag, MPI_Fint comm,
		     MPI_Status *status)
{
	return starpu_mpi_recv(handle, src, tag, MPI_Comm_f2c(comm),
			       status ? status : MPI_STATUS_IGNORE);
}

int fstarpu_mpi_recv_prio(starpu_data_handle_t handle, int src, int64_t tag, int prio,
			  MPI_Fint comm, MPI_Status *status)
{
	return starpu_mpi_recv_prio(handle, src, tag, prio, MPI_Comm_f2c(comm),
				    status ? status : MPI_STATUS_IGNORE);
}

int fstarpu_mpi_isend_detached(starpu_data_handle_t handle, int dst, int64_t tag,
			       MPI_Fint comm, fortran_callback callback, void *arg)
{
	return starpu_mpi_isend_detached(handle, dst, tag, MPI_Comm_f2c(comm), callback,
					 arg);
}

int fstarpu_mpi_isend_detached_prio(starpu_data_handle_t handle, int dst, int64_t tag,
				    int prio, MPI_Fint comm, fortran_callback callback,
				    void *arg)
{
	return starpu_mpi_isend_detached_prio(handle, dst, tag, prio, MPI_Comm_f2c(comm),
					      callback, arg);
}

int fstarpu_mpi_issend_detached(starpu_data_handle_t handle, int dst, int64_t tag,
				MPI_Fint comm, fortran_callback callback, void *arg)
{
	return starpu_mpi_issend_detached(handle, dst, tag, MPI_Comm_f2c(comm), callback,
					  arg);
}

int fstarpu_mpi_issend_detached_prio(starpu_data_handle_t handle, int dst, int64_t tag,
				     int prio, MPI_Fint comm, fortran_callback callback,
				     void *arg)
{
	return starpu_mpi_issend_detached_prio(handle, dst, tag, prio, MPI_Comm_f2c(comm),
					       callback, arg);
}

int fstarpu_mpi_irecv_detached(starpu_data_handle_t handle, int src, int64_t tag,
			       MPI_Fint comm, fortran_callback callback, void *arg)
{
	return starpu_mpi_irecv_detached(handle, src, tag, MPI_Comm_f2c(comm), callback,
					 arg);
}

int fstarpu_mpi_irecv_detached_prio(starpu_data_handle_t handle, int src, int64_t tag,
				    int prio, MPI_Fint comm, fortran_callback callback,
				    void *arg)
{
	return starpu_mpi_irecv_detached_prio(handle, src, tag, prio, MPI_Comm_f2c(comm),
					      callback, arg);
}

int fstarpu_mpi_irecv_detached_sequential_consistency(starpu_data_handle_t handle,
						      int src, int64_t tag, MPI_Fint comm,
						      fortran_callback callback,
						      void *arg,
						      int sequential_consistency)
{
	return starpu_mpi_irecv_detached_sequential_consistency(
		handle, src, tag, MPI_Comm_f2c(comm), callback, arg,
		sequential_consistency);
}

/* ---- messages that notify a tag ------------------------------------------ */

int fstarpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t handle, int dst,
					  int64_t tag, MPI_Fint comm,
					  starpu_tag_t *unlocked)
{
	return starpu_mpi_isend_detached_unlock_tag(handle, dst, tag, MPI_Comm_f2c(comm),
						    *unlocked);
}

int fstarpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t handle, int dst,
					       int64_t tag, int prio, MPI_Fint comm,
					       starpu_tag_t *unlocked)
{
	return starpu_mpi_isend_detached_unlock_tag_prio(handle, dst, tag, prio,
							 MPI_Comm_f2c(comm), *unlocked);
}

int fstarpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t handle, int src,
					  int64_t tag, MPI_Fint comm,
					  starpu_tag_t *unlocked)
{
	return starpu_mpi_irecv_detached_unlock_tag(handle, src, tag, MPI_Comm_f2c(comm),
						    *unlocked);
}

static MPI_Comm *comms_of(int n, const MPI_Fint *numbers)
{
	MPI_Comm *comms = orr_alloc((n > 0 ? (size_t)n : 1) * sizeof(*comms));

	for (int i = 0; i < n; i++)
		comms[i] = MPI_Comm_f2c(numbers[i]);
	return comms;
}

int fstarpu_mpi_isend_array_detached_unlock_tag(int n, starpu_data_handle_t *handles,
						int *dsts, int64_t *tags, MPI_Fint *comms,
						starpu_tag_t *unlocked)
{
	MPI_Comm *c_comms = comms_of(n, comms);
	int ret = starpu_mpi_isend_array_detached_unlock_tag((unsigned)n, handles, dsts,
							     tags, c_comms, *unlocked);

	free(c_comms);
	return ret;
}

int fstarpu_mpi_isend_array_detached_unlock_tag_prio(int n, starpu_data_handle_t *handles,
						     int *dsts, int64_t *tags, int *prios,
						     MPI_Fint *comms,
						     starpu_tag_t *unlocked)
{
	MPI_Comm *c_comms = comms_of(n, comms);
	int ret = starpu_mpi_isend_array_detached_unlock_tag_prio(
		(unsigned)n, handles, dsts, tags, prios, c_comms, *unlocked);

	free(c_comms);
	return ret;
}

int fstarpu_mpi_irecv_array_detached_unlock_tag(int n, starpu_data_handle_t *handles,
						int *srcs, int64_t *tags, MPI_Fint *comms,
						starpu_tag_t *unlocked)
{
	MPI_Comm *c_comms = comms_of(n, comms);
	int ret = starpu_mpi_irecv_array_detached_unlock_tag((unsigned)n, handles, srcs,
							     tags, c_comms, *unlocked);

	free(c_comms);
	return ret;
}

/* ---- collective calls, statistics ----------------------------------------- */

int fstarpu_mpi_scatter_detached(starpu_data_handle_t *handles, int n, int root,
				 MPI_Fint comm, fortran_callback scallback, void *sarg,
				 fortran_callback rcallback, void *rarg)
{
	return starpu_mpi_scatter_detached(handles, n, root, MPI_Comm_f2c(comm),
					   scallback, sarg, rcallback, rarg);
}

int fstarpu_mpi_gather_detached(starpu_data_handle_t *handles, int n, int root,
				MPI_Fint comm, fortran_callback scallback, void *sarg,
				fortran_callback rcallback, void *rarg)
{
	return starpu_mpi_gather_detached(handles, n, root, MPI_Comm_f2c(comm), scallback,
					  sarg, rcallback, rarg);
}

void fstarpu_mpi_redux_data(MPI_Fint comm, starpu_data_handle_t handle)
{
	starpu_mpi_redux_data(MPI_Comm_f2c(comm), handle);
}

void fstarpu_mpi_redux_data_prio(MPI_Fint comm, starpu_data_handle_t handle, int prio)
{
	starpu_mpi_redux_data_prio(MPI_Comm_f2c(comm), handle, prio);
}

void fstarpu_mpi_redux_data_tree(MPI_Fint comm, starpu_data_handle_t handle, int arity)
{
	starpu_mpi_redux_data_tree(MPI_Comm_f2c(comm), handle, arity);
}

void fstarpu_mpi_redux_data_prio_tree(MPI_Fint comm, starpu_data_handle_t handle,
				      int prio, int arity)
{
	starpu_mpi_redux_data_prio_tree(MPI_Comm_f2c(comm), handle, prio, arity);
}

void fstarpu_mpi_comm_stats_enable(void)
{
	starpu_mpi_comm_stats_enable();
}

void fstarpu_mpi_comm_stats_disable(void)
{
	starpu_mpi_comm_stats_disable();
}

/* ---- insertion -------------------------------------------------------------- */

static MPI_Comm comm_of(const char *func, void **arglist)
{
	if (!arglist || !arglist[0])
		orr_die(api_rank(),
			"%s: the list begins with NULL; expected c_loc() of a "
			"communicator, a codelet or C_NULL_PTR, then keys and operands",
			func);
	return MPI_Comm_f2c(*(MPI_Fint *)arglist[0]);
}

/* A subroutine has no code to return.  -EINVAL is fine where a handle is C_NULL_PTR since
 * the task does not concern the rank, and has had its message otherwise. */
static void check_inserted(const char *func, int ret)
{
	if (ret < 0 && ret != -EINVAL)
		orr_die(api_rank(), "%s: the task could not be inserted", func);
}

void fstarpu_mpi_task_insert(void **arglist)
{
	MPI_Comm comm = comm_of(__func__, arglist);

	check_inserted(__func__, starpu_mpi_task_insert(comm, arglist[1], ARGS_IN_ARRAY,
							arglist + 2, 0));
}

void fstarpu_mpi_tasks_insert(void **arglist)
{
	MPI_Comm comm = comm_of(__func__, arglist);

	if (!arglist[2] || !arglist[3])
		orr_die(api_rank(),
			"%s: after communicator and codelet comes NULL; expected c_loc() "
			"of the number of ranks, then of the array of ranks",
			__func__);
	check_inserted(__func__, starpu_mpi_tasks_insert(comm, arglist[1],
							 *(int *)arglist[2], arglist[3],
							 ARGS_IN_ARRAY, arglist + 4, 0));
}

struct starpu_task *fstarpu_mpi_task_build(void **arglist)
{
	MPI_Comm comm = comm_of(__func__, arglist);

	return starpu_mpi_task_build(comm, arglist[1], ARGS_IN_ARRAY, arglist + 2, 0);
}

void fstarpu_mpi_task_post_build(void **arglist)
{
	MPI_Comm comm = comm_of(__func__, arglist);

	starpu_mpi_task_post_build(comm, arglist[1], ARGS_IN_ARRAY, arglist + 2, 0);
}
