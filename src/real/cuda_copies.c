/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/check.h"
#include "core/interface/methods.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * cuda_copies.c - memories of devices, and copies to and from them.
 *
 * Who asks for a copy may have a datum locked, and to start one from memory that is not
 * pinned takes as long as the copy: so copiers start them, in the order in which they are
 * asked for.  A copier looks at the event of the oldest one: at first it yields between
 * two looks, then it naps, longer the longer nothing ends.
 */
enum { PROBE_BYTES = 1 << 22, PROBES = 2, PAGE_BYTES = 4096 };

#define COPIER_BUSY_S 50e-6

static const double assumed_latency_s = 10e-6;

static struct plat_copy **next_of(struct plat_copy *copy)
{
	return (struct plat_copy **)&copy->backend[0];
}

/* Recorded after its bytes. */
static void **event_of(struct plat_copy *copy)
{
	return &copy->backend[1];
}

/* ---- bytes of a device ------------------------------------------------ */

static void complain_full(struct cuda_device *device, int error, size_t bytes)
{
	size_t unused = 0, total = 0;
	char words[160];

	if (!orr_cas(&device->told_full, 0, 1))
		return;
	device->cuda->call.memory(&unused, &total);
	orr_complain(device->cuda->plat->node->rank,
		     "CUDA %d (%s): no %zu bytes: %s; %zu of %zu bytes are free: another "
		     "program, rank or library uses the device; values leave it until "
		     "what is left does (a limit spares the attempts: "
		     "STARPU_LIMIT_CUDA_MEM, in MiB)",
		     device->is->id, device->is->model, bytes,
		     cuda_words(&device->cuda->call, error, words, sizeof(words)), unused,
		     total);
}

static void *device_allocate(struct plat *plat, unsigned memory, size_t bytes)
{
	struct cuda_device *device = cuda_at(plat, memory);
	unsigned long long at = 0;
	int rc;

	cuda_enter(device);
	rc = device->cuda->call.allocate(&at, bytes ? bytes : 1);
	if (rc == CUDA_OUT_OF_MEMORY)
		complain_full(device, rc, bytes);
	else
		cuda_check(device, rc, "memory cannot be allocated");
	cuda_leave(device);
	return rc == CUDA_SUCCESS ? (void *)(uintptr_t)at : NULL;
}

static void device_release(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct cuda_device *device = plat ? cuda_at(plat, memory) : NULL;

	(void)bytes;
	if (!device || !ptr)
		return;
	cuda_enter(device);
	cuda_check(device, device->cuda->call.release((uintptr_t)ptr),
		   "memory cannot be freed");
	cuda_leave(device);
}

static int device_reaches(struct plat *plat, unsigned from, unsigned to)
{
	unsigned nmains = (unsigned)plat->machine.nnumas;
	const struct cuda *cuda = plat->cuda;

	if (from < nmains)
		return cuda_at(plat, to) != NULL;
	if (to < nmains)
		return cuda_at(plat, from) != NULL;
	if (!cuda_at(plat, from) || !cuda_at(plat, to))
		return 0;
	return from == to || (cuda->peers[from - nmains][to - nmains] &&
			      cuda->peers[to - nmains][from - nmains]);
}

/* ---- rows ------------------------------------------------------------- */

/* Rows of one length at a distance that does not change, in planes likewise: one copy. */
struct piece {
	char *to;
	const char *from;
	size_t bytes, rows, planes; /* planes is 0: there is nothing */
	ptrdiff_t to_pitch, from_pitch, to_plane, from_plane;
};

struct rows {
	const struct cuda_copy *copy;
	struct piece plane; /* to which rows may be added still */
	struct piece box;   /* planes that are complete, before it */
};

static int start_block(const struct cuda_copy *copy, const struct piece *piece)
{
	return copy->device->cuda->call.copy((uintptr_t)piece->to, (uintptr_t)piece->from,
					     piece->bytes, copy->stream);
}

static int start_rectangle(const struct cuda_copy *copy, const struct piece *piece)
{
	struct cuda_rectangle all = {.from_type = CUDA_MEMORY_DEVICE,
				     .to_type = CUDA_MEMORY_DEVICE,
				     .from_device = (uintptr_t)piece->from,
				     .to_device = (uintptr_t)piece->to,
				     .from_pitch = (size_t)piece->from_pitch,
				     .to_pitch = (size_t)piece->to_pitch,
				     .bytes = piece->bytes,
				     .rows = piece->rows};

	if (!copy->out) {
		all.from_type = CUDA_MEMORY_HOST;
		all.from_host = piece->from;
		all.from_device = 0;
	}
	if (!copy->in) {
		all.to_type = CUDA_MEMORY_HOST;
		all.to_host = piece->to;
		all.to_device = 0;
	}
	return copy->device->cuda->call.rectangle(&all, copy->stream);
}

/* Planes that follow each other at no distance of their own have rows for height. */
static struct cuda_box_end box_end(const struct cuda_device *device, const void *at,
				   ptrdiff_t pitch, ptrdiff_t plane)
{
	struct cuda_box_end end = {.type = CUDA_MEMORY_HOST,
				   .pitch = (size_t)pitch,
				   .height = (size_t)(plane / pitch)};

	if (!device) {
		end.host = at;
		return end;
	}
	end.type = CUDA_MEMORY_DEVICE;
	end.device = (uintptr_t)at;
	return end;
}

static int start_box(const struct cuda_copy *copy, const struct piece *piece)
{
	const struct cuda_calls *call = &copy->device->cuda->call;
	struct cuda_box box = {
		.from = box_end(copy->out, piece->from, piece->from_pitch,
				piece->from_plane),
		.to = box_end(copy->in, piece->to, piece->to_pitch, piece->to_plane),
		.bytes = piece->bytes,
		.rows = piece->rows,
		.planes = piece->planes};

	if (!copy->out || !copy->in || copy->out == copy->in)
		return call->box(&box, copy->stream);
	box.from.context = copy->out->context;
	box.to.context = copy->in->context;
	return call->peer_box(&box, copy->stream);
}

/* Of what a copy fails: "data 0x12 (M320x320x8) cannot be copied to it". */
static void check_copy(const struct cuda_copy *copy, int error, const char *how)
{
	char what[128] = "bytes", text[192];

	if (error == CUDA_SUCCESS)
		return;
	if (copy->owner)
		data_describe(copy->owner, what, sizeof(what));
	snprintf(text, sizeof(text), "%s %s %s", what, how,
		 copy->in ? "to it" : "from it");
	cuda_check(copy->device, error, text);
}

static void start_piece(const struct cuda_copy *copy, struct piece *piece)
{
	int is_between = copy->out && copy->in && copy->out != copy->in;

	if (piece->planes == 0)
		return;
	if (piece->rows == 1)
		check_copy(copy, start_block(copy, piece), "cannot be copied");
	else if (piece->planes == 1 && !is_between)
		check_copy(copy, start_rectangle(copy, piece),
			   "cannot be copied by rows");
	else
		check_copy(copy, start_box(copy, piece), "cannot be copied by planes");
	piece->planes = 0;
}

/* Would n of them, from from on, be where the next one is? */
static int is_next(const struct piece *first, const struct piece *next, size_t n,
		   ptrdiff_t to_distance, ptrdiff_t from_distance)
{
	return next->to - first->to == (ptrdiff_t)n * to_distance &&
	       next->from - first->from == (ptrdiff_t)n * from_distance;
}

static int can_be_plane(ptrdiff_t distance, ptrdiff_t pitch, size_t rows)
{
	return distance >= pitch * (ptrdiff_t)rows && distance % pitch == 0;
}

/* The plane is the next one of these: 1, and it is one of them. */
static int take_plane(struct piece *box, const struct piece *plane)
{
	if (box->planes == 0 || plane->rows == 1 || plane->bytes != box->bytes ||
	    plane->rows != box->rows || plane->to_pitch != box->to_pitch ||
	    plane->from_pitch != box->from_pitch)
		return 0;
	if (box->planes == 1) {
		box->to_plane = plane->to - box->to;
		box->from_plane = plane->from - box->from;
		if (!can_be_plane(box->to_plane, box->to_pitch, box->rows) ||
		    !can_be_plane(box->from_plane, box->from_pitch, box->rows))
			return 0;
	} else if (!is_next(box, plane, box->planes, box->to_plane, box->from_plane)) {
		return 0;
	}
	box->planes++;
	return 1;
}

/* No row is added to the plane any more. */
static void end_plane(struct rows *rows)
{
	struct piece *box = &rows->box, *plane = &rows->plane;

	if (plane->planes == 0)
		return;
	if (!take_plane(box, plane)) {
		start_piece(rows->copy, box);
		*box = *plane;
		box->to_plane = plane->to_pitch * (ptrdiff_t)plane->rows;
		box->from_plane = plane->from_pitch * (ptrdiff_t)plane->rows;
	}
	plane->planes = 0;
}

static int can_be_pitch(const struct cuda_copy *copy, ptrdiff_t pitch, size_t bytes)
{
	return pitch >= (ptrdiff_t)bytes && (size_t)pitch <= copy->device->pitch_most;
}

/* The row lies where the next one of the plane would: 1, and it is one of them. */
static int take_row(struct rows *rows, const struct piece *row)
{
	struct piece *plane = &rows->plane;

	if (plane->planes == 0 || row->bytes != plane->bytes)
		return 0;
	if (plane->rows == 1) {
		plane->to_pitch = row->to - plane->to;
		plane->from_pitch = row->from - plane->from;
		if (!can_be_pitch(rows->copy, plane->to_pitch, row->bytes) ||
		    !can_be_pitch(rows->copy, plane->from_pitch, row->bytes))
			return 0;
	} else if (!is_next(plane, row, plane->rows, plane->to_pitch,
			    plane->from_pitch)) {
		return 0;
	}
	plane->rows++;
	return 1;
}

static void add_row(void *arg, char *to, const char *from, size_t bytes)
{
	struct rows *rows = arg;
	struct piece row = {
		.to = to, .from = from, .bytes = bytes, .rows = 1, .planes = 1};

	if (take_row(rows, &row))
		return;
	end_plane(rows);
	rows->plane = row;
}

void cuda_start_rows(const struct cuda_copy *copy)
{
	struct rows rows = {.copy = copy};

	layout_each_row(copy->to, copy->from, add_row, &rows);
	end_plane(&rows);
	start_piece(copy, &rows.box);
}

/* Whose context and streams a copy uses. */
static struct cuda_copier *copier_of(struct plat *plat, unsigned from, unsigned to)
{
	struct cuda_device *device = cuda_at(plat, to);

	if (device)
		return &device->copiers[CUDA_TO_DEVICE];
	return &cuda_at(plat, from)->copiers[CUDA_FROM_DEVICE];
}

static void device_move(struct plat *plat, unsigned from, unsigned to,
			const struct layout *source, const struct layout *target)
{
	struct cuda_copier *copier = copier_of(plat, from, to);
	struct cuda_device *device = copier->device;

	cuda_enter(device);
	cuda_start_rows(&(struct cuda_copy){.device = device,
					    .out = cuda_at(plat, from),
					    .in = cuda_at(plat, to),
					    .from = source,
					    .to = target,
					    .stream = copier->stream});
	cuda_check(device, device->cuda->call.wait(copier->stream), "a copy failed");
	cuda_leave(device);
}

/* ---- the copiers ------------------------------------------------------ */

static void start_part(void *arg, const struct layout *from, const struct layout *to)
{
	struct cuda_copy *part = arg;

	part->from = from;
	part->to = to;
	cuda_start_rows(part);
}

static void *get_event(struct cuda_copier *copier)
{
	struct cuda_device *device = copier->device;
	void *event;

	if (copier->nevents > 0)
		return copier->events[--copier->nevents];
	cuda_check(device, device->cuda->call.event(&event, CUDA_EVENT_UNTIMED),
		   "no event for a copy");
	return event;
}

static void put_event(struct cuda_copier *copier, void *event)
{
	if (copier->nevents == copier->events_room) {
		copier->events_room = 2 * copier->events_room + 16;
		copier->events =
			orr_realloc(copier->events, (size_t)copier->events_room *
							    sizeof(*copier->events));
	}
	copier->events[copier->nevents++] = event;
}

static void start(struct cuda_copier *copier, struct plat_copy *copy)
{
	struct cuda_device *device = copier->device;
	struct plat *plat = device->cuda->plat;
	struct cuda_copy part = {.device = device,
				 .out = cuda_at(plat, copy->from),
				 .in = cuda_at(plat, copy->to),
				 .stream = copier->stream,
				 .owner = copy->owner};

	copy->stream = copier->stream;
	methods_start(plat->node, copy);
	methods_take_pieces(copy, start_part, &part);
	*event_of(copy) = get_event(copier);
	check_copy(&part, device->cuda->call.record(*event_of(copy), copier->stream),
		   "cannot be copied");
	*next_of(copy) = NULL;
	*(copier->flying ? next_of(copier->last_flying) : &copier->flying) = copy;
	copier->last_flying = copy;
}

/* End those that have ended.  How many. */
static int end_some(struct cuda_copier *copier)
{
	struct cuda_device *device = copier->device;
	int n = 0;

	while (copier->flying) {
		struct plat_copy *copy = copier->flying;
		int rc = device->cuda->call.query(*event_of(copy));

		if (rc == CUDA_NOT_READY)
			break;
		check_copy(
			&(struct cuda_copy){.device = device,
					    .in = cuda_at(device->cuda->plat, copy->to),
					    .owner = copy->owner},
			rc, "could not be copied");
		copier->flying = *next_of(copy);
		put_event(copier, *event_of(copy));
		copy->done(copy);
		orr_add(&device->cuda->npending, -1);
		n++;
	}
	return n;
}

/* Wait for what is new, so long at most; 0: without limit.  The mutex is locked. */
static void rest(struct cuda_copier *copier, double seconds)
{
	struct timespec until;

	if (seconds <= 0) {
		pthread_cond_wait(&copier->changed, &copier->mutex);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(seconds * 1e9);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&copier->changed, &copier->mutex, &until);
}

/* What waits, all of it; rests while there is nothing to start and nothing ended. */
static struct plat_copy *take_waiting(struct cuda_copier *copier, double silence_s)
{
	double nap_s = wait_nap_s(silence_s, COPIER_BUSY_S);
	struct plat_copy *copies;

	pthread_mutex_lock(&copier->mutex);
	if (!copier->first && !copier->stopping && (!copier->flying || nap_s > 0))
		rest(copier, copier->flying ? nap_s : 0);
	copies = copier->first;
	copier->first = NULL;
	pthread_mutex_unlock(&copier->mutex);
	return copies;
}

static int is_over(struct cuda_copier *copier)
{
	int stopping;

	pthread_mutex_lock(&copier->mutex);
	stopping = copier->stopping && !copier->first;
	pthread_mutex_unlock(&copier->mutex);
	return stopping && !copier->flying;
}

static void *copier_main(void *arg)
{
	struct cuda_copier *copier = arg;
	struct plat *plat = copier->device->cuda->plat;
	double heard_s = plat_now_s(plat);

	prctl(PR_SET_NAME, "orr-cuda", 0, 0, 0);
	plat_caller(plat)->is_runtime = 1;
	cuda_check(copier->device,
		   copier->device->cuda->call.set(copier->device->context),
		   "a copier cannot enter its context");
	while (!is_over(copier)) {
		struct plat_copy *copies =
			take_waiting(copier, plat_now_s(plat) - heard_s);
		int n = 0;

		for (; copies; n++) {
			struct plat_copy *copy = copies;

			copies = *next_of(copy);
			start(copier, copy);
		}
		if (end_some(copier) + n > 0)
			heard_s = plat_now_s(plat);
		else
			sched_yield();
	}
	copier->device->cuda->call.set(NULL);
	return NULL;
}

static int device_copy(struct plat *plat, struct plat_copy *copy)
{
	struct cuda_copier *copier = copier_of(plat, copy->from, copy->to);

	orr_add(&plat->cuda->npending, 1);
	*next_of(copy) = NULL;
	pthread_mutex_lock(&copier->mutex);
	*(copier->first ? next_of(copier->last) : &copier->first) = copy;
	copier->last = copy;
	pthread_cond_signal(&copier->changed);
	pthread_mutex_unlock(&copier->mutex);
	return 0;
}

int cuda_copiers_open(struct cuda_device *device)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	for (int i = 0; i < CUDA_COPIERS; i++) {
		struct cuda_copier *copier = &device->copiers[i];

		copier->device = device;
		pthread_mutex_init(&copier->mutex, NULL);
		pthread_cond_init(&copier->changed, &attr);
		copier->has_thread =
			pthread_create(&copier->thread, NULL, copier_main, copier) == 0;
	}
	pthread_condattr_destroy(&attr);
	if (device->copiers[0].has_thread && device->copiers[1].has_thread)
		return 0;
	orr_complain(device->cuda->plat->node->rank,
		     "the system refuses a thread for copies of CUDA %d (ulimit -u or "
		     "-v, cgroup pids.max); going on without this device",
		     device->is->id);
	return -EAGAIN;
}

static void close_copier(struct cuda_copier *copier)
{
	pthread_mutex_lock(&copier->mutex);
	copier->stopping = 1;
	pthread_cond_signal(&copier->changed);
	pthread_mutex_unlock(&copier->mutex);
	if (copier->has_thread)
		pthread_join(copier->thread, NULL);
	pthread_cond_destroy(&copier->changed);
	pthread_mutex_destroy(&copier->mutex);
}

void cuda_copiers_close(struct cuda_device *device)
{
	for (int i = 0; i < CUDA_COPIERS; i++) {
		struct cuda_copier *copier = &device->copiers[i];

		if (!copier->device)
			continue;
		close_copier(copier);
		cuda_enter(device);
		while (copier->nevents > 0)
			device->cuda->call.end_event(copier->events[--copier->nevents]);
		cuda_leave(device);
		free(copier->events);
	}
}

/* ---- how fast --------------------------------------------------------- */

static double measure(struct cuda_device *device, uintptr_t to, uintptr_t from)
{
	const struct cuda_calls *call = &device->cuda->call;
	struct plat *plat = device->cuda->plat;
	double best_s = INFINITY;

	for (int i = 0; i < PROBES; i++) {
		double start_s = plat_now_s(plat);

		if (call->copy(to, from, PROBE_BYTES, device->lanes->stream) !=
			    CUDA_SUCCESS ||
		    call->wait(device->lanes->stream) != CUDA_SUCCESS)
			return 0;
		best_s = fmin(best_s, plat_now_s(plat) - start_s);
	}
	return PROBE_BYTES / fmax(best_s, 1e-9);
}

/* What cannot be measured is not known; the copies that matter tell what is wrong. */
void cuda_measure(struct cuda_device *device)
{
	const struct cuda_calls *call = &device->cuda->call;
	unsigned long long there;
	void *here = NULL;

	if (posix_memalign(&here, PAGE_BYTES, PROBE_BYTES))
		return;
	memset(here, 0, PROBE_BYTES);
	cuda_enter(device);
	if (call->allocate(&there, PROBE_BYTES) == CUDA_SUCCESS) {
		int is_pinned = call->pin(here, PROBE_BYTES, 0) == CUDA_SUCCESS;

		device->bytes_per_s[CUDA_TO_DEVICE] =
			measure(device, (uintptr_t)there, (uintptr_t)here);
		device->bytes_per_s[CUDA_FROM_DEVICE] =
			measure(device, (uintptr_t)here, (uintptr_t)there);
		if (is_pinned)
			call->unpin(here);
		call->release(there);
	}
	cuda_leave(device);
	free(here);
}

/* Between devices as fast as to the slower one, which links of their own exceed. */
static double device_expected_s(struct plat *plat, unsigned from, unsigned to,
				size_t bytes)
{
	const struct cuda_device *in = cuda_at(plat, to), *out = cuda_at(plat, from);
	double rate = INFINITY;

	if (from == to)
		return 0;
	if (in)
		rate = fmin(rate, in->bytes_per_s[CUDA_TO_DEVICE]);
	if (out)
		rate = fmin(rate, out->bytes_per_s[CUDA_FROM_DEVICE]);
	return assumed_latency_s + (rate > 0 ? (double)bytes / rate : 0);
}

const struct memory_driver cuda_memory = {.allocate = device_allocate,
					  .release = device_release,
					  .reaches = device_reaches,
					  .copy = device_copy,
					  .expected_s = device_expected_s,
					  .move = device_move,
					  .may_refuse = 1,
					  .nahead = 2};
