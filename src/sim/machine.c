/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/host.h>

#include "sim.h"

/*
 * machine.c - a node's machine, from the <prop> elements of its host or cluster.
 * Numbers are in bytes, bytes per second, seconds and GFlop/s, without a unit.
 */
static const double most_units = 1e6, most_bytes = 1e18, most = 1e30;

static void copy_text(char *text, size_t bytes, const char *property)
{
	snprintf(text, bytes, "%s", property ? property : "");
}

static int read_number(struct plat *plat, const char *name, double limit, double *value)
{
	const char *text = sg_host_get_property_value(plat->host, name);
	char *end;
	double number;

	if (!text)
		return 0;
	number = strtod(text, &end);
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

double machine_property(struct plat *plat, const char *name, double absent)
{
	double value = absent;

	/* Checked by machine_read(), which named what is wrong. */
	if (read_number(plat, name, most, &value) < 0)
		return absent;
	return value;
}

/* One main memory, unless the user wants to know of several. */
static void read_numas(struct plat *plat, int n, double bytes)
{
	struct plat_machine *machine = &plat->machine;

	machine->nnumas = node_knobs(plat->node)->use_numa && n > 1 ? n : 1;
	for (int i = 0; i < machine->nnumas; i++)
		machine->numas[i] = (struct plat_numa){.os_index = i, .bytes = bytes};
}

static void say_nature(struct plat_machine *machine)
{
	machine->predicts = 1;
	machine->leaps = 1;
	machine->ends_standstills = 1;
	machine->one_environment = 1;
	machine->takes_turns = 1;
}

int machine_read(struct plat *plat)
{
	struct plat_machine *machine = &plat->machine;
	struct plat_devices *cpu = &machine->devices[STARPU_CPU_WORKER],
			    *gpu = &machine->devices[STARPU_CUDA_WORKER];
	double cpus = sg_host_core_count(plat->host), gpus = 0;
	double peaks[4] = {0}, unused, numas = 1, numa_bytes = 0;
	const struct {
		const char *name;
		double limit, *value;
	} numbers[] = {
		{"cpus", most_units, &cpus},
		{"gpus", most_units, &gpus},
		{"gpu_mem_bytes", most_bytes, &gpu->memory_bytes},
		{"pcie_bw", most, &gpu->link_bytes_per_s},
		{"pcie_lat", most, &gpu->link_latency_s},
		{"host_bw", most, &unused},
		{"nvlink_bw", most, &unused},
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
		{"gpu_peak_sp_gflops", most, &peaks[2]},
		{"gpu_peak_dp_gflops", most, &peaks[3]},
		{"cpu_speedup", most, &cpu->speedup},
		{"gpu_speedup", most, &gpu->speedup},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (read_number(plat, numbers[i].name, numbers[i].limit,
				numbers[i].value) < 0)
			return -ENODEV;
	cpu->count = (int)cpus;
	read_numas(plat, (int)numas, numa_bytes);
	/* The library uses no more of them. */
	gpu->count = (int)(gpus < STARPU_MAXCUDADEVS ? gpus : STARPU_MAXCUDADEVS);
	for (int i = 0; i < 2; i++) {
		cpu->peak_flops_per_s[i] = peaks[i] * 1e9;
		gpu->peak_flops_per_s[i] = peaks[2 + i] * 1e9;
	}
	cpu->worker = gpu->worker = &sim_worker_driver;
	cpu->memory = &main_memory_driver;
	gpu->memory = &gpu_memory_driver;
	say_nature(machine);
	machine->executes = node_knobs(plat->node)->execute;
	/* A GPU's kernels cannot run here: what really computes does so on CPU workers.
	 */
	if (machine->executes)
		gpu->count = 0;
	copy_text(cpu->model, sizeof(cpu->model),
		  sg_host_get_property_value(plat->host, "cpu_model"));
	copy_text(gpu->model, sizeof(gpu->model),
		  sg_host_get_property_value(plat->host, "gpu_model"));
	copy_text(machine->hostname, sizeof(machine->hostname),
		  sg_host_get_name(plat->host));
	return 0;
}
