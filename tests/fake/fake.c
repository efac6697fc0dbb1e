/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "fake.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/disk/disk.h"
#include "core/interface/methods.h"
#include "fake_impl.h"

enum { FREED_BYTE = 0xdd };

/* The only writable state; NULL between fake_stop() and fake_start(). */
static struct fake *the_fake;

struct fake *fake_get(void)
{
	ORR_ASSERT(the_fake); /* fake_start() comes first. */
	return the_fake;
}

/* ---- the test's side ------------------------------------------------- */

void fake_start(int nnodes, double latency_s, double bytes_per_s)
{
	ORR_ASSERT(!the_fake && nnodes > 0);
	the_fake = orr_alloc(sizeof(*the_fake));
	the_fake->machine = (struct fake_machine){.ncpus = 2,
						  .nnumas = 1,
						  .link_bytes_per_s = 1e10,
						  .link_latency_s = 1e-6,
						  .task_s = 1e-6};
	the_fake->nnodes = nnodes;
	the_fake->latency_s = latency_s;
	the_fake->bytes_per_s = bytes_per_s;
	the_fake->nodes = orr_alloc((size_t)nnodes * sizeof(struct node *));
	the_fake->nets_opened = orr_alloc((size_t)nnodes * sizeof(int));
}

void fake_stop(void)
{
	struct fake *fake = fake_get();

	world_end();
	heap_free(&fake->calendar);
	while (fake->events)
		fake_event_free(fake->events);
	fake_nets_free(fake);
	fake_mpi_free(fake);
	free(fake->nodes);
	free(fake->nets_opened);
	free(fake);
	the_fake = NULL;
}

struct fake_machine *fake_machine(void)
{
	return &fake_get()->machine;
}

void fake_select(int node)
{
	ORR_ASSERT(node >= 0 && node < fake_get()->nnodes);
	the_fake->selected = node;
}

int fake_selected(void)
{
	return fake_get()->selected;
}

double fake_now_s(void)
{
	return fake_get()->now_s;
}

int fake_step(void)
{
	struct fake *fake = fake_get();
	struct heap_entry *entry = heap_pop(&fake->calendar);
	struct plat_timer *timer;
	int selected = fake->selected;

	if (!entry)
		return 0;
	timer = ORR_CONTAINER(entry, struct plat_timer, entry);
	fake->now_s = entry->date_s;
	if (timer->plat)
		fake->selected = timer->plat->index;
	timer->fire(timer);
	fake->selected = selected;
	return 1;
}

int fake_run_until(double until_s)
{
	struct fake *fake = fake_get();
	int nevents = 0;

	while (fake->calendar.count > 0 && heap_first_date_s(&fake->calendar) <= until_s)
		nevents += fake_step();
	return nevents;
}

int fake_run(void)
{
	return fake_run_until(INFINITY);
}

/* ---- events ---------------------------------------------------------- */

void *fake_event_new(size_t bytes)
{
	struct fake *fake = fake_get();
	struct fake_event *event = orr_alloc(bytes);

	event->next = fake->events;
	if (event->next)
		event->next->prev = event;
	fake->events = event;
	return event;
}

void fake_event_free(void *ptr)
{
	struct fake_event *event = ptr;

	if (event->next)
		event->next->prev = event->prev;
	if (event->prev)
		event->prev->next = event->next;
	else
		fake_get()->events = event->next;
	free(event);
}

void fake_event_at(struct plat *plat, void *ptr, double date_s,
		   void (*fire)(struct plat_timer *timer))
{
	struct fake_event *event = ptr;

	event->timer.plat = plat;
	event->timer.fire = fire;
	heap_push(&fake_get()->calendar, &event->timer.entry, date_s);
}

void plat_after(struct plat *plat, struct plat_timer *timer, double delay_s)
{
	struct fake *fake = fake_get();

	timer->plat = plat;
	heap_push(&fake->calendar, &timer->entry,
		  fake->now_s + (delay_s > 0 ? delay_s : 0) + fake_jitter_s(fake));
}

double plat_now_s(struct plat *plat)
{
	(void)plat;
	return fake_get()->now_s;
}

/* ---- life ------------------------------------------------------------ */

static const struct memory_driver shared_driver;

int plat_may_open(void)
{
	return 0;
}

int plat_open(struct plat **plat_out, struct node *node)
{
	struct fake *fake = fake_get();
	const struct fake_machine *machine = &fake->machine;
	struct plat *plat = orr_alloc(sizeof(*plat));

	plat->node = node;
	plat->index = fake->selected;
	plat->machine = (struct plat_machine){.executes = 1,
					      .leaps = 1,
					      .one_environment = 1,
					      .takes_turns = 1,
					      .nnumas = machine->nnumas};
	for (int i = 0; i < machine->nnumas; i++)
		plat->machine.numas[i] = (struct plat_numa){
			.os_index = i, .bytes = i ? machine->numa_bytes : 0};
	plat->machine.devices[STARPU_CPU_WORKER] =
		(struct plat_devices){.count = machine->ncpus,
				      .worker = &fake_worker_driver,
				      .memory = plat_main_memory(),
				      .model = "fake CPU"};
	plat->machine.devices[STARPU_CUDA_WORKER] = (struct plat_devices){
		.count = machine->ngpus,
		.worker = &fake_worker_driver,
		.memory =
			machine->gpu_left_bytes > 0 ? &shared_driver : plat_main_memory(),
		.model = "fake GPU",
		.memory_bytes = machine->gpu_memory_bytes,
		.pace = {.link_bytes_per_s = machine->link_bytes_per_s,
			 .link_latency_s = machine->link_latency_s}};
	if (machine->disk_bytes > 0)
		plat->machine.memories[plat->machine.nmemories++] =
			(struct plat_memory){.driver = &fake_disk_driver,
					     .kind = STARPU_DISK_RAM,
					     .name = "Disk",
					     .bytes = machine->disk_bytes};
	plat->machine.kernels_wait = fake_get()->chance != 0;
	snprintf(plat->machine.hostname, sizeof(plat->machine.hostname), "fake");
	plat->memory_used_bytes = orr_alloc(
		(size_t)(machine->nnumas + machine->ngpus + plat->machine.nmemories) *
		sizeof(*plat->memory_used_bytes));
	*plat_out = plat;
	return 0;
}

void plat_close(struct plat *plat)
{
	struct heap *calendar = &fake_get()->calendar;

	/* Timers of a closed node are forgotten; the fake's own events end by then. */
	for (size_t i = 0; i < calendar->count;) {
		struct heap_entry *entry = calendar->keys[i].entry;

		if (ORR_CONTAINER(entry, struct plat_timer, entry)->plat != plat) {
			i++;
			continue;
		}
		heap_remove(calendar, entry);
		i = 0;
	}
	free(plat->memory_used_bytes);
	free(plat);
}

const struct plat_machine *plat_machine(const struct plat *plat)
{
	return &plat->machine;
}

struct node *plat_node(const struct plat *plat)
{
	return plat->node;
}

/* The process is the test's. */
void plat_leave(int code)
{
	(void)code;
}

struct node *plat_self(void)
{
	return the_fake ? the_fake->nodes[the_fake->selected] : NULL;
}

void plat_set_self(struct node *node)
{
	fake_get()->nodes[the_fake->selected] = node;
}

struct world **plat_world(void)
{
	return &fake_get()->world;
}

int plat_is_simulated(void)
{
	return 0; /* Kernels run, and time is what the test makes it. */
}

uint64_t plat_seat(void)
{
	return the_fake ? (uint64_t)the_fake->selected : 0;
}

double plat_clock_s(void)
{
	return the_fake ? the_fake->now_s : 0;
}

/* The process is the test's: its end is no node's. */
void plat_at_end(struct plat *plat, void (*last)(struct node *node))
{
	(void)plat;
	(void)last;
}

void plat_catch_signals(struct plat *plat, int is_wanted)
{
	(void)plat;
	(void)is_wanted;
}

/* ---- waiting --------------------------------------------------------- */

void fake_lock_held(int more)
{
	if (the_fake)
		the_fake->nlocks += more;
}

void plat_gate_init(struct plat_gate *gate)
{
	gate->is_open = 0;
}

/* Nothing will happen any more: 1 when a node knows better. */
int fake_unstick(void)
{
	struct fake *fake = the_fake;
	int selected = fake->selected, count = 0;

	for (int i = 0; i < fake->nnodes; i++) {
		struct node *node = fake->nodes[i];

		fake->selected = i;
		if (node && node->on_stuck)
			count += node->on_stuck(node);
	}
	fake->selected = selected;
	return count > 0;
}

int plat_gate_wait(struct plat *plat, struct plat_gate *gate)
{
	(void)plat;
	if (fake_get()->running)
		return fake_main_waits(fake_get(), gate);
	while (!gate->is_open)
		if (!fake_step() && !fake_unstick())
			return -EDEADLK;
	return 0;
}

void plat_gate_open(struct plat *plat, struct plat_gate *gate)
{
	(void)plat;
	gate->is_open = 1;
	fake_gate_opened(fake_get(), gate);
}

struct sleep {
	struct plat_timer timer; /* first */
	struct plat_gate gate;
};

static void wake_up(struct plat_timer *timer)
{
	struct sleep *sleep = (struct sleep *)timer;

	plat_gate_open(timer->plat, &sleep->gate);
}

void plat_sleep(struct plat *plat, double seconds)
{
	struct sleep sleep = {.timer = {.fire = wake_up}};

	plat_gate_init(&sleep.gate);
	plat_after(plat, &sleep.timer, seconds);
	plat_gate_wait(plat, &sleep.gate);
}

void plat_looked(struct plat *plat)
{
	(void)plat;
}

void plat_pause(struct plat *plat)
{
	plat_sleep(plat, 1e-6);
}

void plat_unstick(struct plat *plat)
{
	(void)plat;
	fake_unstick();
}

/* The calendar drives the network. */
void plat_set_poll(struct plat *plat, int (*poll)(void *arg), void *arg)
{
	(void)plat;
	(void)poll;
	(void)arg;
}

void plat_poll_kick(struct plat *plat)
{
	(void)plat;
}

/* ---- memory ---------------------------------------------------------- */

static int is_main(const struct plat *plat, unsigned memory)
{
	return memory < (unsigned)plat->machine.nnumas;
}

static void *memory_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	const struct fake_machine *machine = fake_machine();
	double limit_bytes = machine->gpu_left_bytes > 0 ? machine->gpu_left_bytes
							 : machine->gpu_memory_bytes;
	double used_bytes;

	/* Of main memories, core knows who has how much. */
	if (memory == PLAT_INTERLEAVED || is_main(plat, memory))
		return orr_alloc(bytes);
	used_bytes = plat->memory_used_bytes[memory] + (double)bytes;

	if (limit_bytes > 0 && used_bytes > limit_bytes)
		return NULL;
	plat->memory_used_bytes[memory] = used_bytes;
	return orr_alloc(bytes);
}

static void memory_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	if (plat && !is_main(plat, memory))
		plat->memory_used_bytes[memory] -= (double)bytes;
	if (ptr)
		memset(ptr, FREED_BYTE, bytes); /* Who still reads it, sees it. */
	free(ptr);
}

static double copy_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	const struct plat_pace *gpus = &plat->machine.devices[STARPU_CUDA_WORKER].pace;
	double seconds = gpus->link_latency_s + (double)bytes / gpus->link_bytes_per_s;

	if (from == to)
		return 0;
	/* All GPUs are near to the last main memory. */
	if (is_main(plat, from) != is_main(plat, to))
		seconds *= plat->machine.nnumas - (int)(is_main(plat, from) ? from : to);
	return seconds;
}

struct copy_event {
	struct fake_event event; /* first */
	struct plat_copy *copy;
};

static void copy_ends(struct plat_timer *timer)
{
	struct plat_copy *copy = ((struct copy_event *)timer)->copy;
	struct node *node = timer->plat->node;

	fake_event_free(timer);
	if (copy->pieces)
		methods_end(copy);
	else
		methods_copy(node, copy);
	copy->done(copy);
}

static double copy_s(struct plat *plat, const struct plat_copy *copy)
{
	const struct fake_machine *machine = &fake_get()->machine;
	double seconds = machine->copy_s ? machine->copy_s(copy)
					 : copy_expected_s(plat, copy->from, copy->to,
							   copy->bytes);

	return seconds + fake_jitter_s(fake_get());
}

/* The hardware reads and writes at any time between start and end: here at both. */
static int copy_start(struct plat *plat, struct plat_copy *copy)
{
	struct copy_event *event = fake_event_new(sizeof(*event));

	methods_start(plat->node, copy);
	event->copy = copy;
	fake_event_at(plat, event, fake_get()->now_s + copy_s(plat, copy), copy_ends);
	return 0;
}

static int copy_reaches(struct plat *plat, unsigned from, unsigned to)
{
	const struct plat_machine *machine = &plat->machine;
	unsigned n =
		(unsigned)(machine->nnumas + machine->devices[STARPU_CUDA_WORKER].count);

	if (from >= n || to >= n)
		return 0;
	return is_main(plat, from) || is_main(plat, to) || from == to ||
	       !fake_machine()->no_peer_copies;
}

static int disk_reaches(struct plat *plat, unsigned from, unsigned to)
{
	return is_main(plat, from) || is_main(plat, to) || from == to;
}

/* A disk of starpu_disk_register(): its objects are the driver's. */
static void *object_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	return disk_allocate(plat->node, memory, bytes);
}

static void object_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct disk_object *object = disk_forget(plat->node, memory, ptr);

	(void)bytes;
	if (object)
		disk_remove(object->disk, object);
}

static void object_copy_ends(struct plat_timer *timer)
{
	struct plat_copy *copy = ((struct copy_event *)timer)->copy;
	struct node *node = timer->plat->node;

	fake_event_free(timer);
	if (!disk_copy(node, copy))
		disk_copy_alone(node, copy);
	copy->done(copy);
}

static int object_copy_start(struct plat *plat, struct plat_copy *copy)
{
	struct copy_event *event = fake_event_new(sizeof(*event));

	if (!disk_copy(plat->node, copy))
		disk_copy_alone(plat->node, copy);
	event->copy = copy;
	fake_event_at(plat, event, fake_get()->now_s + copy_s(plat, copy),
		      object_copy_ends);
	return 0;
}

static const struct memory_driver object_driver = {.allocate = object_alloc,
						   .release = object_free,
						   .reaches = disk_reaches,
						   .copy = object_copy_start,
						   .expected_s = copy_expected_s};

int plat_find_disk(struct plat *plat, int number, struct plat_memory *memory)
{
	(void)plat;
	(void)number;
	memory->driver = &object_driver;
	return 0;
}

static const struct memory_driver memory_driver = {.allocate = memory_alloc,
						   .release = memory_free,
						   .reaches = copy_reaches,
						   .copy = copy_start,
						   .expected_s = copy_expected_s};

static const struct memory_driver shared_driver = {.allocate = memory_alloc,
						   .release = memory_free,
						   .reaches = copy_reaches,
						   .copy = copy_start,
						   .expected_s = copy_expected_s,
						   .may_refuse = 1};

const struct memory_driver fake_disk_driver = {.allocate = memory_alloc,
					       .release = memory_free,
					       .reaches = disk_reaches,
					       .copy = copy_start,
					       .expected_s = copy_expected_s};

const struct memory_driver *plat_main_memory(void)
{
	return &memory_driver;
}
