/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/disk/disk.h"
#include "sim.h"

/*
 * disks.c - copies between main memory and disks.
 *
 * A disk is two links of its own, one for what is read and one for what is written.  A
 * copy waits the latency, then for those before it on its link, then takes its bytes by
 * the bandwidth.  Bytes move at the end, when there are any.
 */
enum { READS, WRITES, DIRECTIONS };

struct sim_disk {
	double bytes_per_s[DIRECTIONS], latency_s;
	double free_s[DIRECTIONS]; /* when the last copy that was started ends */
};

struct disk_copying {
	struct plat_timer end; /* first */
	struct plat_copy *copy;
};

static int direction_of(const struct plat *plat, unsigned to)
{
	return disk_at(plat->node, to) ? WRITES : READS;
}

static struct sim_disk *disk_of(struct plat *plat, unsigned from, unsigned to)
{
	unsigned memory = direction_of(plat, to) == WRITES ? to : from;

	return plat->disks[plat->node->memories[memory].devid];
}

static void move_bytes(struct plat *plat, struct plat_copy *copy)
{
	if (plat->machine.executes && !disk_copy(plat->node, copy))
		disk_copy_alone(plat->node, copy);
}

static void on_end(struct plat_timer *timer)
{
	struct plat_copy *copy = ((struct disk_copying *)timer)->copy;
	struct plat *plat = timer->plat;

	free(timer);
	move_bytes(plat, copy);
	copy->done(copy);
}

static void *disk_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	return disk_allocate(plat->node, memory, bytes);
}

static void disk_release(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct disk_object *object = disk_forget(plat->node, memory, ptr);

	(void)bytes;
	if (object)
		disk_remove(object->disk, object);
}

/* Between two disks, and from and to GPUs, by way of main memory. */
static int disk_reaches(struct plat *plat, unsigned from, unsigned to)
{
	const struct memory *memories = plat->node->memories;

	return from == to || memories[from].kind == STARPU_CPU_RAM ||
	       memories[to].kind == STARPU_CPU_RAM;
}

static int disk_start(struct plat *plat, struct plat_copy *copy)
{
	struct sim_disk *disk = disk_of(plat, copy->from, copy->to);
	int direction = direction_of(plat, copy->to);
	struct disk_copying *copying;
	double start_s;

	if (!node_knobs(plat->node)->transfer_cost) {
		move_bytes(plat, copy);
		return 1;
	}
	start_s = fmax(plat_now_s(plat) + disk->latency_s, disk->free_s[direction]);
	disk->free_s[direction] =
		start_s + (double)copy->bytes / disk->bytes_per_s[direction];
	copying = orr_alloc(sizeof(*copying));
	copying->copy = copy;
	copying->end.plat = plat;
	copying->end.fire = on_end;
	calendar_add(plat->sim, &copying->end, disk->free_s[direction]);
	return 0;
}

static double disk_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	const struct sim_disk *disk = disk_of(plat, from, to);

	if (from == to || !node_knobs(plat->node)->transfer_cost)
		return 0;
	return disk->latency_s +
	       (double)bytes / disk->bytes_per_s[direction_of(plat, to)];
}

static const struct memory_driver disk_driver = {.allocate = disk_alloc,
						 .release = disk_release,
						 .reaches = disk_reaches,
						 .copy = disk_start,
						 .expected_s = disk_expected_s,
						 .is_steady = 1};

int plat_find_disk(struct plat *plat, int number, struct plat_memory *memory)
{
	const struct knobs *knobs = node_knobs(plat->node);
	int ndisks = (int)machine_property(plat, "disks", PLAT_MAX_MEMORIES);
	struct sim_disk *disk;

	if (number >= ndisks || number >= PLAT_MAX_MEMORIES) {
		orr_complain(plat->node->rank,
			     "starpu_disk_register: the simulated machine has %d disks "
			     "(property \"disks\" of its host in the platform file)",
			     ndisks);
		return -ENOENT;
	}
	memory->driver = &disk_driver;
	if (plat->disks[number])
		return 0;
	disk = orr_alloc(sizeof(*disk));
	disk->bytes_per_s[READS] =
		machine_property(plat, "disk_read_bw", knobs->disk_bytes_per_s);
	disk->bytes_per_s[WRITES] =
		machine_property(plat, "disk_write_bw", knobs->disk_bytes_per_s);
	disk->latency_s = machine_property(plat, "disk_lat", knobs->disk_latency_s);
	plat->disks[number] = disk;
	return 0;
}

void disks_close(struct plat *plat)
{
	for (int i = 0; i < PLAT_MAX_MEMORIES; i++)
		free(plat->disks[i]);
}
