/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/choice.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_devices.c - which devices a node has, and main memory that they copy from.
 *
 * A device gives the node nine tenths of what is free when the node opens: kernels and
 * libraries need some, too.
 */
static const double given_part = 0.9;

/* ---- which ----------------------------------------------------------- */

/* Workers of each of n devices: so many workers may a node have beside processors. */
static int choose_lanes(const struct plat *plat, int n)
{
	int wanted = node_knobs(plat->node)->cuda_workers;
	int most = (STARPU_NMAXWORKERS - STARPU_MAXCPUS) / (n > 0 ? n : 1);

	if (wanted <= most)
		return wanted;
	orr_complain(plat->node->rank,
		     "STARPU_NWORKER_PER_CUDA is %d for %d devices: expected at most %d "
		     "workers of GPUs in all; going on with %d for each",
		     wanted, n, STARPU_NMAXWORKERS - STARPU_MAXCPUS, most);
	return most;
}

/* ---- one device ------------------------------------------------------ */

static int describe(struct cuda_device *device, struct plat_device *is, int id)
{
	const struct cuda_calls *call = &device->cuda->call;
	size_t total, unused;
	int rc, pitch = 0;

	is->id = id;
	rc = call->device(&device->device, id);
	if (rc == CUDA_SUCCESS)
		rc = call->name(is->model, sizeof(is->model), device->device);
	if (rc == CUDA_SUCCESS)
		rc = call->total(&total, device->device);
	if (rc == CUDA_SUCCESS)
		rc = call->bus(is->bus, sizeof(is->bus), device->device);
	if (rc == CUDA_SUCCESS)
		rc = call->attribute(&pitch, CUDA_ATTRIBUTE_PITCH, device->device);
	if (rc == CUDA_SUCCESS)
		rc = call->retain(&device->context, device->device);
	if (rc != CUDA_SUCCESS)
		return rc;
	cuda_enter(device);
	rc = call->memory(&unused, &total);
	cuda_leave(device);
	device->pitch_most = (size_t)pitch;
	is->total_bytes = (double)total;
	is->memory_bytes = (double)unused * given_part;
	return rc;
}

static int open_streams(struct cuda_device *device)
{
	const struct cuda_calls *call = &device->cuda->call;
	int nlanes = device->cuda->nlanes, rc = CUDA_SUCCESS;

	device->lanes = orr_alloc((size_t)nlanes * sizeof(*device->lanes));
	cuda_enter(device);
	for (int i = 0; rc == CUDA_SUCCESS && i < nlanes; i++) {
		device->lanes[i].device = device;
		rc = cuda_lane_open(&device->lanes[i]);
	}
	for (int i = 0; rc == CUDA_SUCCESS && i < CUDA_COPIERS; i++)
		rc = call->stream(&device->copiers[i].stream, CUDA_STREAM_APART);
	cuda_leave(device);
	return rc;
}

/* What open_device() has made of it. */
static void close_device(struct cuda_device *device)
{
	const struct cuda_calls *call = &device->cuda->call;

	if (!device->context)
		return;
	cuda_copiers_close(device);
	cuda_enter(device);
	for (int i = 0; device->lanes && i < device->cuda->nlanes; i++)
		cuda_lane_close(&device->lanes[i]);
	for (int i = 0; i < CUDA_COPIERS; i++)
		if (device->copiers[i].stream)
			call->end_stream(device->copiers[i].stream);
	cuda_leave(device);
	call->let_go(device->device);
	free(device->lanes);
	free(device->properties);
	device->context = NULL;
}

/* 0, or -ENODEV with a message. */
static int open_device(struct cuda *cuda, int id)
{
	struct cuda_device *device = &cuda->devices[cuda->ndevices];
	struct plat_device *is = &cuda->each[cuda->ndevices];
	char words[160];
	int rc;

	device->cuda = cuda;
	device->is = is;
	rc = describe(device, is, id);
	if (rc == CUDA_SUCCESS)
		rc = open_streams(device);
	if (rc == CUDA_SUCCESS && cuda_copiers_open(device) == 0)
		return 0;
	if (rc != CUDA_SUCCESS)
		orr_complain(cuda->plat->node->rank,
			     "CUDA %d (%s) cannot be used: %s; going on without it: "
			     "nvidia-smi says who uses it, and whether it is healthy",
			     id, is->model,
			     cuda_words(&cuda->call, rc, words, sizeof(words)));
	close_device(device);
	memset(device, 0, sizeof(*device));
	memset(is, 0, sizeof(*is));
	return -ENODEV;
}

/* Each context must say that it wants to see the other's memory. */
static int open_peer(struct cuda *cuda, int from, int to)
{
	struct cuda_device *at = &cuda->devices[from], *other = &cuda->devices[to];
	char words[160];
	int can = 0, rc;

	if (cuda->call.can_peer(&can, at->device, other->device) != CUDA_SUCCESS || !can)
		return 0;
	cuda_enter(at);
	rc = cuda->call.peer(other->context, 0);
	cuda_leave(at);
	if (rc == CUDA_SUCCESS || rc == CUDA_PEER_ALREADY)
		return 1;
	orr_complain(
		cuda->plat->node->rank,
		"CUDA %d (%s) may not see the memory of CUDA %d (%s), which it "
		"reaches: %s; copies between them go by main memory: nvidia-smi topo "
		"-p2p r says what the machine allows",
		at->is->id, at->is->model, other->is->id, other->is->model,
		cuda_words(&cuda->call, rc, words, sizeof(words)));
	return 0;
}

static void open_peers(struct cuda *cuda)
{
	if (!node_knobs(cuda->plat->node)->cuda_direct)
		return;
	for (int i = 0; i < cuda->ndevices; i++)
		for (int k = 0; k < cuda->ndevices; k++)
			cuda->peers[i][k] = i == k || open_peer(cuda, i, k);
}

/* ---- life ------------------------------------------------------------ */

/* How many there are; 0 with a message when that must be told. */
static int count_devices(struct cuda *cuda, int is_wanted)
{
	char words[160];
	int n = 0, rc = cuda->call.init(0);

	if (rc == CUDA_SUCCESS)
		rc = cuda->call.count(&n);
	if (rc == CUDA_SUCCESS && n > 0)
		return n;
	if (is_wanted || (rc != CUDA_SUCCESS && rc != CUDA_NO_DEVICE))
		orr_complain(cuda->plat->node->rank,
			     "CUDA finds no device: %s; CUDA_VISIBLE_DEVICES may hide "
			     "them, and nvidia-smi says what the driver sees; going on "
			     "without CUDA workers",
			     cuda_words(&cuda->call,
					rc != CUDA_SUCCESS ? rc : CUDA_NO_DEVICE, words,
					sizeof(words)));
	return 0;
}

static void fill_machine(struct cuda *cuda)
{
	struct plat_devices *devices = &cuda->plat->machine.devices[STARPU_CUDA_WORKER];

	devices->count = cuda->ndevices;
	devices->nworkers_each = cuda->nlanes;
	devices->worker = &cuda_driver;
	devices->memory = &cuda_memory;
	devices->each = cuda->each;
	memcpy(devices->model, cuda->each[0].model, sizeof(devices->model));
	devices->memory_bytes = cuda->each[0].memory_bytes;
}

static void open_all(struct plat *plat, struct cuda *cuda, int is_wanted)
{
	int there = count_devices(cuda, is_wanted);
	struct choice choice;

	if (there == 0)
		return;
	choice_make(plat->node, there, 0, &choice);
	cuda->nlanes = choose_lanes(plat, choice.n);
	for (int i = 0; i < choice.n; i++)
		cuda->ndevices += open_device(cuda, choice.ids[i]) == 0;
	open_peers(cuda);
	for (int i = 0; i < cuda->ndevices; i++)
		cuda_measure(&cuda->devices[i]);
}

void cuda_open(struct plat *plat)
{
	const struct starpu_conf *conf = plat->node->conf;
	int is_wanted = conf->ncuda > 0 || choice_is_made(plat->node);
	int nthreads = threads_of_process(NULL, 0);
	struct cuda *cuda;

	if (conf->ncuda == 0)
		return;
	cuda = orr_alloc(sizeof(*cuda));
	cuda->plat = plat;
	orr_lock_init(&cuda->pinned_lock);
	orr_lock_init(&cuda->libraries_lock);
	if (cuda_load(plat, &cuda->call, is_wanted) == 0)
		open_all(plat, cuda, is_wanted);
	if (cuda->ndevices == 0) {
		free(cuda);
		return;
	}
	plat->cuda = cuda;
	fill_machine(cuda);
	cuda->nthreads = threads_of_process(NULL, 0) - nthreads - cuda_thread_count(plat);
}

static void unpin_all(struct cuda *cuda)
{
	size_t cursor = 0;
	void *ptr;

	while ((ptr = table_next(&cuda->pinned, &cursor)))
		cuda->call.unpin(ptr);
	table_free(&cuda->pinned);
}

void cuda_close(struct plat *plat)
{
	struct cuda *cuda = plat->cuda;

	if (!cuda)
		return;
	cuda_libraries_close(cuda);
	cuda_enter(&cuda->devices[0]);
	unpin_all(cuda);
	cuda_leave(&cuda->devices[0]);
	for (int i = 0; i < cuda->ndevices; i++)
		close_device(&cuda->devices[i]);
	plat->cuda = NULL;
	free(cuda);
}

int cuda_count(struct plat *plat)
{
	return plat->cuda ? orr_load(&plat->cuda->npending) : 0;
}

uint64_t cuda_memories_of_mpi(struct plat *plat, int mpi_can)
{
	int wanted = node_knobs(plat->node)->mpi_gpudirect;
	uint64_t memories = 0;

	if (!plat->cuda || wanted == 0 || (wanted < 0 && !mpi_can))
		return 0;
	if (!mpi_can)
		orr_complain(plat->node->rank,
			     "STARPU_MPI_GPUDIRECT is 1, but MPI says that it is not "
			     "CUDA-aware: messages from and to GPUs will fail if that is "
			     "so; unset it, or take an MPI built with CUDA "
			     "(ompi_info --parsable | grep cuda_support)");
	plat->cuda->is_direct = 1;
	for (int i = 0; i < plat->cuda->ndevices; i++)
		memories |= (uint64_t)1 << (plat->machine.nnumas + i);
	return memories;
}

/* The memories of the devices follow main memories. */
struct cuda_device *cuda_at(struct plat *plat, unsigned memory)
{
	unsigned index = memory - (unsigned)plat->machine.nnumas;

	if (!plat->cuda || index >= (unsigned)plat->cuda->ndevices)
		return NULL;
	return &plat->cuda->devices[index];
}

struct cuda_lane *cuda_lane(const struct worker *worker)
{
	const struct cuda_device *device = cuda_at(worker->node->plat, worker->memory);

	return device ? &device->lanes[worker->index] : NULL;
}

int cuda_thread_count(const struct plat *plat)
{
	return plat->cuda ? CUDA_COPIERS * plat->cuda->ndevices + plat->cuda->nthreads
			  : 0;
}

int cuda_is_thread(const struct plat *plat, pthread_t thread)
{
	const struct cuda *cuda = plat->cuda;

	for (int i = 0; cuda && i < cuda->ndevices; i++)
		for (int k = 0; k < CUDA_COPIERS; k++)
			if (pthread_equal(cuda->devices[i].copiers[k].thread, thread))
				return 1;
	return 0;
}

/* ---- pinned memory --------------------------------------------------- */

int plat_pin(struct plat *plat, void *ptr, size_t bytes)
{
	struct cuda *cuda = plat->cuda;
	char words[160];
	int rc;

	if (!cuda || !ptr || bytes == 0 || node_knobs(plat->node)->disable_pinning)
		return 0;
	cuda_enter(&cuda->devices[0]);
	rc = cuda->call.pin(ptr, bytes, CUDA_REGISTER_PORTABLE);
	cuda_leave(&cuda->devices[0]);
	if (rc == CUDA_HOST_ALREADY)
		return 0; /* By the application, who keeps it. */
	if (rc != CUDA_SUCCESS) {
		if (orr_cas(&cuda->told_unpinned, 0, 1))
			orr_complain(
				plat->node->rank,
				"%zu bytes of main memory cannot be pinned for CUDA %d "
				"(%s): %s; copies from and to them are slow: raise "
				"ulimit -l, pin less, or pin nothing "
				"(STARPU_DISABLE_PINNING=1); further ones are not "
				"told",
				bytes, cuda->each[0].id, cuda->each[0].model,
				cuda_words(&cuda->call, rc, words, sizeof(words)));
		return -ENOMEM;
	}
	orr_lock(&cuda->pinned_lock);
	table_put(&cuda->pinned, (uintptr_t)ptr, ptr);
	orr_unlock(&cuda->pinned_lock);
	return 0;
}

int plat_unpin(struct plat *plat, void *ptr)
{
	struct cuda *cuda = plat->cuda;
	void *found;
	int rc;

	if (!cuda || !ptr)
		return 0;
	orr_lock(&cuda->pinned_lock);
	found = table_remove(&cuda->pinned, (uintptr_t)ptr);
	orr_unlock(&cuda->pinned_lock);
	if (!found)
		return 0;
	cuda_enter(&cuda->devices[0]);
	rc = cuda->call.unpin(ptr);
	cuda_leave(&cuda->devices[0]);
	return rc == CUDA_SUCCESS ? 0 : -EINVAL;
}
