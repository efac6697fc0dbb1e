/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_CUDA_H
#define ORR_REAL_CUDA_H

/*
 * cuda.h - GPUs, through the driver API of CUDA: libcuda.so.1, opened when a node opens.
 *
 * What is declared here of CUDA are its binary interface's names, numbers and layouts;
 * neither a toolkit nor a driver is needed to build or to start.  Each device is used in
 * its primary context, which is the one of CUDA's runtime API, and a stream of the one
 * API is a stream of the other: kernels may be written for either.
 *
 * Threads: the worker of a device starts its kernels and looks for their ends; two
 * copiers start copies to and from the device, each on a stream of its own, and look for
 * theirs. Any thread may allocate and free.
 */
#include <pthread.h>

#include "base/table.h"
#include "plat/plat.h"

enum {
	CUDA_SUCCESS = 0,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_ENDED = 4, /* since the process leaves */
	CUDA_NO_DEVICE = 100,
	CUDA_NOT_READY = 600,
	CUDA_PEER_ALREADY = 704,
	CUDA_HOST_ALREADY = 712
};

enum {
	CUDA_ATTRIBUTE_PITCH = 11, /* the longest that copies may have */
	CUDA_ATTRIBUTE_UNIFIED = 41,
	CUDA_STREAM_BLOCKING = 0,
	CUDA_STREAM_APART = 1,
	CUDA_EVENT_TIMED = 0,
	CUDA_EVENT_UNTIMED = 2,
	CUDA_REGISTER_PORTABLE = 1,
	CUDA_MEMORY_HOST = 1,
	CUDA_MEMORY_DEVICE = 2
};

/* CUDA_MEMCPY2D */
struct cuda_rectangle {
	size_t from_x, from_y;
	unsigned from_type;
	const void *from_host;
	unsigned long long from_device;
	void *from_array;
	size_t from_pitch;
	size_t to_x, to_y;
	unsigned to_type;
	void *to_host;
	unsigned long long to_device;
	void *to_array;
	size_t to_pitch;
	size_t bytes, rows;
};

/* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, where both ends name their contexts. */
struct cuda_box_end {
	size_t x, y, z, level;
	unsigned type;
	const void *host;
	unsigned long long device;
	void *array, *context;
	size_t pitch,
		height; /* of a plane: from one to the next are pitch * height bytes */
};

struct cuda_box {
	struct cuda_box_end from, to;
	size_t bytes, rows, planes;
};

/* X(what we call it, its symbol, its parameters) */
#define CUDA_CALLS(X)                                                                    \
	X(init, cuInit, (unsigned flags))                                                \
	X(version, cuDriverGetVersion, (int *version))                                   \
	X(count, cuDeviceGetCount, (int *count))                                         \
	X(device, cuDeviceGet, (int *device, int ordinal))                               \
	X(name, cuDeviceGetName, (char *name, int bytes, int device))                    \
	X(total, cuDeviceTotalMem_v2, (size_t * bytes, int device))                      \
	X(attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))      \
	X(uuid, cuDeviceGetUuid, (unsigned char *uuid, int device))                      \
	X(bus, cuDeviceGetPCIBusId, (char *text, int bytes, int device))                 \
	X(can_peer, cuDeviceCanAccessPeer, (int *can, int device, int peer))             \
	X(retain, cuDevicePrimaryCtxRetain, (void **context, int device))                \
	X(let_go, cuDevicePrimaryCtxRelease_v2, (int device))                            \
	X(set, cuCtxSetCurrent, (void *context))                                         \
	X(push, cuCtxPushCurrent_v2, (void *context))                                    \
	X(pop, cuCtxPopCurrent_v2, (void **context))                                     \
	X(peer, cuCtxEnablePeerAccess, (void *context, unsigned flags))                  \
	X(memory, cuMemGetInfo_v2, (size_t * unused, size_t * total))                    \
	X(allocate, cuMemAlloc_v2, (unsigned long long *at, size_t bytes))               \
	X(release, cuMemFree_v2, (unsigned long long at))                                \
	X(pin, cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned flags))          \
	X(unpin, cuMemHostUnregister, (void *ptr))                                       \
	X(copy, cuMemcpyAsync,                                                           \
	  (unsigned long long to, unsigned long long from, size_t bytes, void *stream))  \
	X(rectangle, cuMemcpy2DAsync_v2,                                                 \
	  (const struct cuda_rectangle *rectangle, void *stream))                        \
	X(box, cuMemcpy3DAsync_v2, (const struct cuda_box *box, void *stream))           \
	X(peer_box, cuMemcpy3DPeerAsync, (const struct cuda_box *box, void *stream))     \
	X(stream, cuStreamCreate, (void **stream, unsigned flags))                       \
	X(end_stream, cuStreamDestroy_v2, (void *stream))                                \
	X(wait, cuStreamSynchronize, (void *stream))                                     \
	X(event, cuEventCreate, (void **event, unsigned flags))                          \
	X(end_event, cuEventDestroy_v2, (void *event))                                   \
	X(record, cuEventRecord, (void *event, void *stream))                            \
	X(query, cuEventQuery, (void *event))                                            \
	X(elapsed, cuEventElapsedTime, (float *ms, void *first, void *last))             \
	X(error_name, cuGetErrorName, (int error, const char **text))                    \
	X(error_text, cuGetErrorString, (int error, const char **text))

#define CUDA_CALL_FIELD(field, symbol, parameters) int(*field) parameters;

struct cuda_calls {
	CUDA_CALLS(CUDA_CALL_FIELD)
};

enum { CUDA_TO_DEVICE, CUDA_FROM_DEVICE, CUDA_COPIERS };

/* Copies in one direction: what waits, and what is on its way, each in order. */
struct cuda_copier {
	struct cuda_device *device;
	void *stream;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct plat_copy *first, *last; /* that wait; under the mutex */
	int stopping;
	/* The thread's own. */
	struct plat_copy *flying, *last_flying;
	void **events; /* not in use */
	int nevents, events_room;
	pthread_t thread;
	int has_thread;
};

/* A kernel that was started; the worker's thread alone sees it. */
struct cuda_flight {
	struct job *job;
	void *start, *end; /* events */
	double start_s;
	int timed;
};

enum { CUDA_FLIGHTS = 8 };

/* What a worker has of its device. */
struct cuda_lane {
	struct cuda_device *device;
	void *stream; /* of its kernels */
	struct cuda_flight flights[CUDA_FLIGHTS];
	unsigned nstarted, nended;
	const char *running; /* atomic: the oldest kernel's task; for messages */
	void *handles[PLAT_LIBRARIES];
};

struct cuda_device {
	struct cuda *cuda;
	const struct plat_device *is;
	int device; /* CUDA's number of it, which is no ordinal */
	void *context;
	size_t pitch_most;
	double bytes_per_s[CUDA_COPIERS];
	struct cuda_copier copiers[CUDA_COPIERS];
	struct cuda_lane *lanes; /* cuda->nlanes of them, one for each worker */
	int told_full;           /* atomic: that an allocation failed */
	void *properties; /* the application's header's; atomic; NULL: not asked for */
};

/* cuBLAS and its like, while somebody wants handles. */
struct cuda_library {
	int nusers;
	int (*create)(void **handle), (*destroy)(void *handle);
	int (*set_stream)(void *handle, void *stream); /* NULL: it has no such function */
	void *handle; /* of who is no worker of a device; on the first device */
};

/* Of a node with devices. */
struct cuda {
	struct plat *plat;
	struct cuda_calls call;
	int ndevices, nlanes; /* the latter: workers of each device */
	int nthreads;         /* that CUDA has started */
	/* MPI reads and writes devices' memories: who polls has the first one's context.
	 */
	int is_direct;
	int told_unpinned; /* atomic: that memory cannot be pinned */
	int npending;      /* atomic: copies and kernels that have not ended */
	unsigned char peers[STARPU_MAXCUDADEVS][STARPU_MAXCUDADEVS];
	struct plat_device each[STARPU_MAXCUDADEVS];
	struct cuda_device devices[STARPU_MAXCUDADEVS];
	struct orr_lock pinned_lock;
	struct table pinned; /* blocks of main memory, by address */
	struct orr_lock libraries_lock;
	struct cuda_library libraries[PLAT_LIBRARIES];
};

/* cuda_driver.c */
/* Open the library and find its functions.  0, or -ENODEV; why is told when it must be.
 */
int cuda_load(struct plat *plat, struct cuda_calls *call, int is_wanted);
/* "out of memory (CUDA_ERROR_OUT_OF_MEMORY)" */
const char *cuda_words(const struct cuda_calls *call, int error, char *text,
		       size_t bytes);
/* A thread of ours whose call has this error rests for ever when the process leaves and
 * CUDA's driver has ended before it; who waits for it then is told. */
void cuda_rest_at_end(const struct cuda *cuda, int error);
/* A call of CUDA's that must not fail: ends the program when it did. */
void cuda_check(const struct cuda_device *device, int error, const char *what);
/* Work in the device's context; nests. */
void cuda_enter(const struct cuda_device *device);
void cuda_leave(const struct cuda_device *device);

/* cuda_devices.c */
void cuda_open(struct plat *plat);
void cuda_close(struct plat *plat);
/* Copies and kernels that have not ended. */
int cuda_count(struct plat *plat);
/* The device of a memory, or NULL. */
struct cuda_device *cuda_at(struct plat *plat, unsigned memory);
/* A worker's, or NULL: it has no device. */
struct cuda_lane *cuda_lane(const struct worker *worker);
/* The devices' memories, as bits, when MPI is to read and write there: what the user
 * says, or what it can. */
uint64_t cuda_memories_of_mpi(struct plat *plat, int mpi_can);
/* Threads of ours. */
int cuda_thread_count(const struct plat *plat);
int cuda_is_thread(const struct plat *plat, pthread_t thread);

/* cuda_share.c */
struct net_config;
/* Collective: devices that several ranks of this machine use are divided among them. */
void cuda_share(struct plat *plat, const struct net_config *config);

/* cuda_copies.c */
extern const struct memory_driver cuda_memory;
int cuda_copiers_open(struct cuda_device *device);
void cuda_copiers_close(struct cuda_device *device);
/* Copies of all bytes, on a stream. */
struct cuda_copy {
	struct cuda_device *device;   /* whose context is the current one */
	struct cuda_device *out, *in; /* at the two ends; NULL: main memory */
	const struct layout *from, *to;
	void *stream;
	starpu_data_handle_t owner; /* whose bytes, for messages; or NULL */
};
/* Start them. */
void cuda_start_rows(const struct cuda_copy *copy);
/* Measure how fast copies are. */
void cuda_measure(struct cuda_device *device);

/* cuda_workers.c */
extern const struct worker_driver cuda_driver;
/* With the device's context; what CUDA says. */
int cuda_lane_open(struct cuda_lane *lane);
void cuda_lane_close(struct cuda_lane *lane);

/* cuda_libraries.c */
/* End the handles that the application did not. */
void cuda_libraries_close(struct cuda *cuda);

#endif
