/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_MPI_FORTRAN_H
#define ORR_API_MPI_FORTRAN_H

/*
 * mpi_fortran.h - what fstarpu_mpi_mod calls of C: as the functions of starpu_mpi.h, with
 * communicators as Fortran numbers them, and tags of tasks by address.
 */
#include <starpu_mpi.h>

typedef void (*fortran_callback)(void *);

/* The arguments of the program and of fstarpu_mpi_init(). */
struct fstarpu_mpi_argcv;
struct fstarpu_mpi_argcv *fstarpu_mpi_argcv_alloc(int argc, int initialize_mpi,
						  int comm_present, MPI_Fint comm);
void fstarpu_mpi_argcv_set_arg(struct fstarpu_mpi_argcv *argcv, int i, int len,
			       const char *arg);
void fstarpu_mpi_argcv_free(struct fstarpu_mpi_argcv *argcv);
int fstarpu_mpi_init_c(struct fstarpu_mpi_argcv *argcv);

starpu_mpi_req *fstarpu_mpi_req_alloc(void);
void fstarpu_mpi_req_free(starpu_mpi_req *req);
MPI_Status *fstarpu_mpi_status_alloc(void);
void fstarpu_mpi_status_free(MPI_Status *status);

int fstarpu_mpi_comm_size(MPI_Fint comm, int *size);
int fstarpu_mpi_comm_rank(MPI_Fint comm, int *rank);
int fstarpu_mpi_comm_register(MPI_Fint comm);
MPI_Fint fstarpu_mpi_world_comm(void);
int fstarpu_mpi_barrier(MPI_Fint comm);
int fstarpu_mpi_wait_for_all(MPI_Fint comm);
int fstarpu_mpi_wait_for_all_in_ctx(MPI_Fint comm, int sched_ctx);
int fstarpu_mpi_shutdown_comm(MPI_Fint comm);

void fstarpu_mpi_data_register_comm(starpu_data_handle_t handle, int64_t tag, int rank,
				    MPI_Fint comm);
void fstarpu_mpi_data_register(starpu_data_handle_t handle, int64_t tag, int rank);
void fstarpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Fint comm);
void fstarpu_mpi_data_set_rank(starpu_data_handle_t handle, int rank);
void fstarpu_mpi_data_migrate(MPI_Fint comm, starpu_data_handle_t handle, int rank);
void fstarpu_mpi_get_data_on_node(MPI_Fint comm, starpu_data_handle_t handle, int node);
void fstarpu_mpi_get_data_on_node_detached(MPI_Fint comm, starpu_data_handle_t handle,
					   int node, fortran_callback callback,
					   void *arg);
void fstarpu_mpi_get_data_on_all_nodes_detached(MPI_Fint comm,
						starpu_data_handle_t handle);
int fstarpu_mpi_data_cpy(starpu_data_handle_t dst, starpu_data_handle_t src,
			 MPI_Fint comm, int asynchronous, fortran_callback callback,
			 void *arg);
int fstarpu_mpi_data_cpy_priority(starpu_data_handle_t dst, starpu_data_handle_t src,
				  MPI_Fint comm, int asynchronous,
				  fortran_callback callback, void *arg, int prio);
void fstarpu_mpi_cache_flush(MPI_Fint comm, starpu_data_handle_t handle);
void fstarpu_mpi_cache_flush_all_data(MPI_Fint comm);

int fstarpu_mpi_isend(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
		      int64_t tag, MPI_Fint comm);
int fstarpu_mpi_isend_prio(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
			   int64_t tag, int prio, MPI_Fint comm);
int fstarpu_mpi_issend(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
		       int64_t tag, MPI_Fint comm);
int fstarpu_mpi_issend_prio(starpu_data_handle_t handle, starpu_mpi_req *req, int dst,
			    int64_t tag, int prio, MPI_Fint comm);
int fstarpu_mpi_irecv(starpu_data_handle_t handle, starpu_mpi_req *req, int src,
		      int64_t tag, MPI_Fint comm);
int fstarpu_mpi_send(starpu_data_handle_t handle, int dst, int64_t tag, MPI_Fint comm);
int fstarpu_mpi_send_prio(starpu_data_handle_t handle, int dst, int64_t tag, int prio,
			  MPI_Fint comm);
int fstarpu_mpi_recv(starpu_data_handle_t handle, int src, int64_t tag, MPI_Fint comm,
		     MPI_Status *status);
int fstarpu_mpi_recv_prio(starpu_data_handle_t handle, int src, int64_t tag, int prio,
			  MPI_Fint comm, MPI_Status *status);
int fstarpu_mpi_isend_detached(starpu_data_handle_t handle, int dst, int64_t tag,
			       MPI_Fint comm, fortran_callback callback, void *arg);
int fstarpu_mpi_isend_detached_prio(starpu_data_handle_t handle, int dst, int64_t tag,
				    int prio, MPI_Fint comm, fortran_callback callback,
				    void *arg);
int fstarpu_mpi_issend_detached(starpu_data_handle_t handle, int dst, int64_t tag,
				MPI_Fint comm, fortran_callback callback, void *arg);
int fstarpu_mpi_issend_detached_prio(starpu_data_handle_t handle, int dst, int64_t tag,
				     int prio, MPI_Fint comm, fortran_callback callback,
				     void *arg);
int fstarpu_mpi_irecv_detached(starpu_data_handle_t handle, int src, int64_t tag,
			       MPI_Fint comm, fortran_callback callback, void *arg);
int fstarpu_mpi_irecv_detached_prio(starpu_data_handle_t handle, int src, int64_t tag,
				    int prio, MPI_Fint comm, fortran_callback callback,
				    void *arg);
int fstarpu_mpi_irecv_detached_sequential_consistency(starpu_data_handle_t handle,
						      int src, int64_t tag, MPI_Fint comm,
						      fortran_callback callback,
						      void *arg,
						      int sequential_consistency);

int fstarpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t handle, int dst,
					  int64_t tag, MPI_Fint comm,
					  starpu_tag_t *unlocked);
int fstarpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t handle, int dst,
					       int64_t tag, int prio, MPI_Fint comm,
					       starpu_tag_t *unlocked);
int fstarpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t handle, int src,
					  int64_t tag, MPI_Fint comm,
					  starpu_tag_t *unlocked);
int fstarpu_mpi_isend_array_detached_unlock_tag(int n, starpu_data_handle_t *handles,
						int *dsts, int64_t *tags, MPI_Fint *comms,
						starpu_tag_t *unlocked);
int fstarpu_mpi_isend_array_detached_unlock_tag_prio(int n, starpu_data_handle_t *handles,
						     int *dsts, int64_t *tags, int *prios,
						     MPI_Fint *comms,
						     starpu_tag_t *unlocked);
int fstarpu_mpi_irecv_array_detached_unlock_tag(int n, starpu_data_handle_t *handles,
						int *srcs, int64_t *tags, MPI_Fint *comms,
						starpu_tag_t *unlocked);

int fstarpu_mpi_scatter_detached(starpu_data_handle_t *handles, int n, int root,
				 MPI_Fint comm, fortran_callback scallback, void *sarg,
				 fortran_callback rcallback, void *rarg);
int fstarpu_mpi_gather_detached(starpu_data_handle_t *handles, int n, int root,
				MPI_Fint comm, fortran_callback scallback, void *sarg,
				fortran_callback rcallback, void *rarg);
void fstarpu_mpi_redux_data(MPI_Fint comm, starpu_data_handle_t handle);
void fstarpu_mpi_redux_data_prio(MPI_Fint comm, starpu_data_handle_t handle, int prio);
void fstarpu_mpi_redux_data_tree(MPI_Fint comm, starpu_data_handle_t handle, int arity);
void fstarpu_mpi_redux_data_prio_tree(MPI_Fint comm, starpu_data_handle_t handle,
				      int prio, int arity);
void fstarpu_mpi_comm_stats_enable(void);
void fstarpu_mpi_comm_stats_disable(void);

/* arglist: the address of a communicator, a codelet, then as fstarpu_task_insert(). */
void fstarpu_mpi_task_insert(void **arglist);
/* arglist: communicator and codelet, the number of ranks and their array by address. */
void fstarpu_mpi_tasks_insert(void **arglist);
struct starpu_task *fstarpu_mpi_task_build(void **arglist);
void fstarpu_mpi_task_post_build(void **arglist);

#endif
