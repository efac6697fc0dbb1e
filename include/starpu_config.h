/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Limits and features.  The limits size arrays inside public structures, so a
 * client and the library must see the same file: it is not generated.
 *
 * STARPU_SIMGRID is never defined here.  The pkg-config file of the simulated
 * flavour puts it on the command line.  That of the real flavour puts STARPU_HAVE_HWLOC
 * there: simulated machines have no hwloc topology.
 */

#ifndef STARPU_CONFIG_H
#define STARPU_CONFIG_H

#include <stddef.h>
#include <sys/types.h>

/* The release of StarPU whose interface these headers follow. */
#define STARPU_MAJOR_VERSION   1
#define STARPU_MINOR_VERSION   4
#define STARPU_RELEASE_VERSION 12

/* Limits. */
#define STARPU_NMAXBUFS           8
#define STARPU_MAXIMPLEMENTATIONS 4
#define STARPU_NMAX_SCHED_CTXS    10
#define STARPU_MAXCPUS            256
#define STARPU_MAXNUMANODES       8
#define STARPU_MAXCUDADEVS        16
#define STARPU_MAXOPENCLDEVS      0
#define STARPU_MAXHIPDEVS         0
#define STARPU_MAXMAXFPGADEVS     0
#define STARPU_MAXNODES           64
#define STARPU_NMAXWORKERS        288
/** Combined workers. */
#define STARPU_NMAX_COMBINEDWORKERS 64
#define STARPU_FXT_MAX_FILES        64

/* Features of the library. */
#define STARPU_USE_CPU     1
#define STARPU_USE_MPI     1
#define STARPU_USE_MPI_MPI 1
#define STARPU_USE_MPI_FT  1
#define STARPU_PROF_TOOL   1
/** Callbacks of workers that go to sleep and wake up. */
#define STARPU_WORKER_CALLBACKS 1

/* What the system offers. */
#define STARPU_LINUX_SYS                       1
#define STARPU_HAVE_UNISTD_H                   1
#define STARPU_HAVE_MALLOC_H                   1
#define STARPU_HAVE_SETENV                     1
#define STARPU_HAVE_UNSETENV                   1
#define STARPU_HAVE_POSIX_MEMALIGN             1
#define STARPU_HAVE_MEMALIGN                   1
#define STARPU_HAVE_STRUCT_TIMESPEC            1
#define STARPU_HAVE_STRERROR_R                 1
#define STARPU_HAVE_STATEMENT_EXPRESSIONS      1
#define STARPU_HAVE_CXX11                      1
#define STARPU_HAVE_NEARBYINTF                 1
#define STARPU_HAVE_RINTF                      1
#define STARPU_HAVE_PTHREAD_SPIN_LOCK          1
#define STARPU_HAVE_PTHREAD_BARRIER            1
#define STARPU_HAVE_PTHREAD_SETNAME_NP         1
#define STARPU_PTHREAD_MUTEX_INITIALIZER_ZERO  1
#define STARPU_PTHREAD_COND_INITIALIZER_ZERO   1
#define STARPU_PTHREAD_RWLOCK_INITIALIZER_ZERO 1
#define STARPU_HAVE_MPI_COMM_CREATE_GROUP      1
#define HAVE_MPI_COMM_F2C                      1
#define STARPU_USE_DRAND48                     1
#define STARPU_USE_ERAND48_R                   1

/* The __sync and __atomic families of GCC and Clang. */
#define STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP   1
#define STARPU_HAVE_SYNC_BOOL_COMPARE_AND_SWAP_8 1
#define STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP    1
#define STARPU_HAVE_SYNC_VAL_COMPARE_AND_SWAP_8  1
#define STARPU_HAVE_SYNC_FETCH_AND_ADD           1
#define STARPU_HAVE_SYNC_FETCH_AND_ADD_8         1
#define STARPU_HAVE_SYNC_FETCH_AND_OR            1
#define STARPU_HAVE_SYNC_FETCH_AND_OR_8          1
#define STARPU_HAVE_SYNC_LOCK_TEST_AND_SET       1
#define STARPU_HAVE_SYNC_SYNCHRONIZE             1
#define STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N    1
#define STARPU_HAVE_ATOMIC_COMPARE_EXCHANGE_N_8  1
#define STARPU_HAVE_ATOMIC_EXCHANGE_N            1
#define STARPU_HAVE_ATOMIC_EXCHANGE_N_8          1
#define STARPU_HAVE_ATOMIC_FETCH_ADD             1
#define STARPU_HAVE_ATOMIC_FETCH_ADD_8           1
#define STARPU_HAVE_ATOMIC_FETCH_OR              1
#define STARPU_HAVE_ATOMIC_FETCH_OR_8            1
#define STARPU_HAVE_ATOMIC_TEST_AND_SET          1

/** Signed counterpart of size_t. */
typedef ssize_t starpu_ssize_t;

#define __starpu_func__ __func__
#define __starpu_inline __inline__

#endif /* STARPU_CONFIG_H */
