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

static void copy_text(char *text, size_t bytes, const char *property)
{
	snprintf(text, bytes, "%s", property ? property : "");
}

static int read_number(struct plat *plat, const char *name, double *value)
{
	const char *text = sg_host_get_property_value(plat->host, name);
	char *end;
	double number;

	if (!text)
		return 0;
	number = strtod(text, &end);
	if (end == text || *end || !(number >= 0)) {
		orr_complain(
			plat->node->rank,
			"platform file: property \"%s\" of host %s is \"%s\": expected "
			"a number >= 0 in bytes, seconds or GFlop/s, without a unit",
			name, sg_host_get_name(plat->host), text);
		return -ENODEV;
	}
	*value = number;
	return 0;
}

double machine_property(struct plat *plat, const char *name, double absent)
{
	double value = absent;

	/* Checked by machine_read(), which named what is wrong. */
	if (read_number(plat, name, &value) < 0)
		return absent;
	return value;
}

int machine_read(struct plat *plat)
{
	struct plat_machine *machine = &plat->machine;
	double cpus = sg_host_core_count(plat->host), gpus = 0;
	double peaks[4] = {0}, unused;
	const struct {
		const char *name;
		double *value;
	} numbers[] = {
		{"cpus", &cpus},
		{"gpus", &gpus},
		{"gpu_mem_bytes", &machine->gpu_memory_bytes},
		{"pcie_bw", &machine->gpu_link_bytes_per_s},
		{"pcie_lat", &machine->gpu_link_latency_s},
		{"host_bw", &unused},
		{"nvlink_bw", &unused},
		{"cpu_peak_sp_gflops", &peaks[0]},
		{"cpu_peak_dp_gflops", &peaks[1]},
		{"gpu_peak_sp_gflops", &peaks[2]},
		{"gpu_peak_dp_gflops", &peaks[3]},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (read_number(plat, numbers[i].name, numbers[i].value) < 0)
			return -ENODEV;
	machine->ncpus = (int)cpus;
	machine->ngpus = (int)gpus;
	for (int i = 0; i < 2; i++) {
		machine->cpu_peak_flops_per_s[i] = peaks[i] * 1e9;
		machine->gpu_peak_flops_per_s[i] = peaks[2 + i] * 1e9;
	}
	machine->simulated = 1;
	machine->executes = node_knobs(plat->node)->execute;
	/* A GPU's kernels cannot run here: what really computes does so on CPU workers.
	 */
	if (machine->executes)
		machine->ngpus = 0;
	copy_text(machine->cpu_model, sizeof(machine->cpu_model),
		  sg_host_get_property_value(plat->host, "cpu_model"));
	copy_text(machine->gpu_model, sizeof(machine->gpu_model),
		  sg_host_get_property_value(plat->host, "gpu_model"));
	copy_text(machine->hostname, sizeof(machine->hostname),
		  sg_host_get_name(plat->host));
	return 0;
}
