/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>

#include "base/decimal.h"
#include "sim.h"

/*
 * machine.c - a node's machine, from the <prop> elements of its host or cluster.
 * Numbers are in bytes, bytes per second, seconds and GFlop/s, without a unit.
 *
 * A cluster has the same properties for all its hosts.  Where its nodes are of several
 * kinds, kinds="cpu:0-99;gpu:100-149" names those with these numbers, the ones at the end
 * of their names, and gpu.NAME goes before NAME for them.  GPUs of several kinds in a
 * node: see gpus.c.
 */
static const double most_units = 1e6, most_bytes = MACHINE_MOST_BYTES,
		    most = MACHINE_MOST;

static void copy_text(char *text, size_t bytes, const char *property)
{
	snprintf(text, bytes, "%s", property ? property : "");
}

/* The last number in a name, or -1. */
static long number_in(const char *name)
{
	const char *end = name + strlen(name), *first;

	while (end > name && (end[-1] < '0' || end[-1] > '9'))
		end--;
	for (first = end; first > name && first[-1] >= '0' && first[-1] <= '9';)
		first--;
	return first < end ? strtol(first, NULL, 10) : -1;
}

void machine_kind_in(const char *kinds, long number, char kind[MACHINE_KIND_BYTES])
{
	const char *at = kinds;
	long first, last;

	for (; at && *at; at += strcspn(at, ";"), at += *at == ';')
		if (sscanf(at, "%62[^:;]:%ld-%ld", kind, &first, &last) == 3 &&
		    first <= number && number <= last)
			return;
	kind[0] = 0;
}

int machine_kinds_are_valid(const char *kinds)
{
	char kind[MACHINE_KIND_BYTES];
	long first, last;

	for (const char *at = kinds; *at; at += *at == ';') {
		size_t length = strcspn(at, ";");
		int used = 0;

		if (sscanf(at, "%62[^:;.]:%ld-%ld%n", kind, &first, &last, &used) != 3 ||
		    (size_t)used != length || first < 0 || last < first)
			return 0;
		at += length;
	}
	return *kinds != 0;
}

/* "" for a host whose cluster has one kind of nodes, or which is of none. */
static void kind_of(struct plat *plat, char kind[MACHINE_KIND_BYTES])
{
	machine_kind_in(sg_host_get_property_value(plat->host, "kinds"),
			number_in(sg_host_get_name(plat->host)), kind);
}

/* Of that name behind those of kinds, as far as these are not "". */
static const char *named(struct plat *plat, const char *node, const char *gpu,
			 const char *name)
{
	char full[3 * MACHINE_KIND_BYTES];

	snprintf(full, sizeof(full), "%s%s%s%s%s", node, *node ? "." : "", gpu,
		 *gpu ? "." : "", name);
	return sg_host_get_property_value(plat->host, full);
}

const char *machine_text_of(struct plat *plat, const char *gpu, const char *name)
{
	char kind[MACHINE_KIND_BYTES];
	const char *text = NULL;

	kind_of(plat, kind);
	if (kind[0] && gpu[0])
		text = named(plat, kind, gpu, name);
	if (!text && gpu[0])
		text = named(plat, "", gpu, name);
	if (!text && kind[0])
		text = named(plat, kind, "", name);
	return text ? text : sg_host_get_property_value(plat->host, name);
}

int machine_number(struct plat *plat, const char *gpu, const char *name, double limit,
		   double *value)
{
	const char *text = machine_text_of(plat, gpu, name);
	char *end;
	double number;

	if (!text)
		return 0;
	number = decimal_read(text, &end);
	if (end == text || *end || !(number >= 0 && number <= limit)) {
		orr_complain(
			plat->node->rank,
			"platform file: property \"%s\" of host %s is \"%s\": expected "
			"a number from 0 to %g in bytes, seconds or GFlop/s, without a "
			"unit",
			name, sg_host_get_name(plat->host), text, limit);
		return -ENODEV;
	}
	*value = number;
	return 0;
}

static int read_number(struct plat *plat, const char *name, double limit, double *value)
{
	return machine_number(plat, "", name, limit, value);
}

double machine_property(struct plat *plat, const char *name, double absent)
{
	double value = absent;

	/* Checked by machine_read(), which named what is wrong. */
	if (read_number(plat, name, most, &value) < 0)
		return absent;
	return value;
}

/* One main memory, with the room of all, unless the user wants to know of several. */
static void read_numas(struct plat *plat, int n, double bytes)
{
	struct plat_machine *machine = &plat->machine;

	machine->nnumas = node_knobs(plat->node)->use_numa && n > 1 ? n : 1;
	if (machine->nnumas == 1 && n > 1)
		bytes *= n;
	for (int i = 0; i < machine->nnumas; i++)
		machine->numas[i] = (struct plat_numa){.os_index = i, .bytes = bytes};
}

/* Who works beside the workers, and where; what that costs.  0 or -ENODEV. */
static int read_software(struct plat *plat)
{
	static const char *const at_most_1[] = {
		"copies_messages", "submit_cost", "submit_datum_cost", "insert_cost",
		"post_cost",       "push_cost",   "fetch_cost",        "wake_cost",
		"main_wake_cost",  "poll_wait",   "switch_cost",       "page_cost",
		"exchange_cost",   "lone_copy"};
	double unused;

	for (size_t i = 0; i < sizeof(at_most_1) / sizeof(at_most_1[0]); i++)
		if (read_number(plat, at_most_1[i], 1, &unused) < 0)
			return -ENODEV;
	plat->lends_cores = machine_property(plat, "spare_cores", 1) < 1;
	plat->copies_messages = machine_property(plat, "copies_messages", 0) > 0;
	return costs_read(plat);
}

const char *machine_text(struct plat *plat, const char *name)
{
	return machine_text_of(plat, "", name);
}

static void say_nature(struct plat *plat)
{
	struct plat_machine *machine = &plat->machine;

	machine->executes = node_knobs(plat->node)->execute;
	machine->predicts = 1;
	machine->steals_as_starpu = node_knobs(plat->node)->starpu_stealing;
	machine->leaps = 1;
	machine->ends_standstills = 1;
	machine->one_environment = 1;
	machine->is_first = 1;
	machine->takes_turns = 1;
}

int machine_read(struct plat *plat)
{
	struct plat_machine *machine = &plat->machine;
	struct plat_devices *cpu = &machine->devices[STARPU_CPU_WORKER],
			    *gpu = &machine->devices[STARPU_CUDA_WORKER];
	double cpus = sg_host_core_count(plat->host), gpus = 0;
	double peaks[2] = {0}, unused, numas = 1, numa_bytes = 0;
	const struct {
		const char *name;
		double limit, *value;
	} numbers[] = {
		{"cpus", most_units, &cpus},
		{"gpus", STARPU_MAXCUDADEVS, &gpus},
		{"spare_cores", most_units, &unused},
		{"host_bw", most, &unused},
		{"host_shared", 1, &unused},
		{"host_peers", 2, &unused},
		{"peer_access", 1, &unused},
		{"disks", most_units, &unused},
		{"disk_read_bw", most, &unused},
		{"disk_write_bw", most, &unused},
		{"disk_lat", most, &unused},
		{"numa_nodes", STARPU_MAXNUMANODES, &numas},
		{"numa_bw", most, &unused},
		{"numa_lat", most, &unused},
		{"numa_mem_bytes", most_bytes, &numa_bytes},
		{"cpu_peak_sp_gflops", most, &peaks[0]},
		{"cpu_peak_dp_gflops", most, &peaks[1]},
		{"cpu_speedup", most, &cpu->pace.speedup},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (read_number(plat, numbers[i].name, numbers[i].limit,
				numbers[i].value) < 0)
			return -ENODEV;
	cpu->count = (int)cpus;
	/* The library uses no more of them. */
	gpu->count = (int)(gpus < STARPU_MAXCUDADEVS ? gpus : STARPU_MAXCUDADEVS);
	if (gpus_read(plat, gpu->count) < 0)
		return -ENODEV;
	if (read_software(plat) < 0) {
		gpus_close(plat);
		return -ENODEV;
	}
	sim_cores_read(plat);
	read_numas(plat, (int)numas, numa_bytes);
	for (int i = 0; i < 2; i++)
		cpu->pace.peak_flops_per_s[i] = peaks[i] * 1e9;
	cpu->worker = gpu->worker = &sim_worker_driver;
	cpu->memory = &main_memory_driver;
	gpu->memory = &gpu_memory_driver;
	say_nature(plat);
	/* A GPU's kernels cannot run here: what really computes runs on CPU workers. */
	if (machine->executes)
		gpu->count = 0;
	copy_text(cpu->model, sizeof(cpu->model), machine_text(plat, "cpu_model"));
	copy_text(machine->hostname, sizeof(machine->hostname),
		  sg_host_get_name(plat->host));
	return 0;
}
