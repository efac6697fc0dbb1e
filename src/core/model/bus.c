/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/bus.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/newfile.h"
#include "core/model/model_store.h"
#include "core/data/routes.h"
#include "core/model/sampling.h"

typedef double link_measure(struct node *node, unsigned from, unsigned to);

double bus_latency_us(struct node *node, unsigned from, unsigned to)
{
	return from == to ? 0 : 1e6 * routes_expected_s(node, from, to, 0);
}

double bus_bandwidth(struct node *node, unsigned from, unsigned to)
{
	const size_t bytes = 1 << 24;
	double seconds;

	if (from == to)
		return 0;
	seconds = routes_expected_s(node, from, to, bytes) -
		  routes_expected_s(node, from, to, 0);
	return seconds > 0 ? bytes / seconds * 1e-6 : INFINITY;
}

/* ---- the files ------------------------------------------------------- */

static void put_config(struct node *node, FILE *out)
{
	static const struct {
		const char *name;
		enum starpu_node_kind kind;
	} kinds[] = {{"NUMA", STARPU_CPU_RAM},          {"CUDA", STARPU_CUDA_RAM},
		     {"OpenCL", STARPU_OPENCL_RAM},     {"FPGA", STARPU_MAX_FPGA_RAM},
		     {"Disk", STARPU_DISK_RAM},         {"MPI_MS", STARPU_MPI_MS_RAM},
		     {"TCPIP_MS", STARPU_TCPIP_MS_RAM}, {"HIP", STARPU_HIP_RAM}};

	fprintf(out, "# Current configuration\n%d # Number of CPUs\n",
		node->machine->devices[STARPU_CPU_WORKER].count);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int n = 0;

		for (int k = 0; k < node_nmemories(node); k++)
			n += node->memories[k].kind == kinds[i].kind;
		fprintf(out, "%d # Number of %s nodes\n", n, kinds[i].name);
	}
}

static void put_name(const struct node *node, int memory, FILE *out)
{
	const struct memory *of = &node->memories[memory];

	fprintf(out, "%s %d", of->name, of->devid);
}

/* A device's main memories, the nearest first. */
static void put_nearest(struct node *node, unsigned memory, FILE *out)
{
	const size_t bytes = 1 << 24;
	unsigned left = (1u << node->nmains) - 1;

	fprintf(out, "%d\t", node->memories[memory].devid);
	while (left) {
		unsigned nearest = routes_nearest(node, left, memory, bytes);

		fprintf(out, "%u\t", nearest);
		left &= ~(1u << nearest);
	}
	fputc('\n', out);
}

static void put_affinity(struct node *node, FILE *out)
{
	fputs("# GPU\t", out);
	for (int i = 0; i < node->nmains; i++)
		fprintf(out, "NUMA%d%c", i, i + 1 < node->nmains ? '\t' : '\n');
	for (int i = node->nmains; i < node_nmemories(node); i++)
		if (device_of_memory(node->memories[i].kind))
			put_nearest(node, (unsigned)i, out);
}

/* As many rows and columns as there may be nodes. */
static void put_table(struct node *node, FILE *out, link_measure *measure)
{
	fputs("# ", out);
	for (int i = 0; i < node_nmemories(node); i++) {
		fputs("to ", out);
		put_name(node, i, out);
		fputc('\t', out);
	}
	fputc('\n', out);
	for (int from = 0; from < STARPU_MAXNODES; from++)
		for (int to = 0; to < STARPU_MAXNODES; to++) {
			int both =
				from < node_nmemories(node) && to < node_nmemories(node);

			fprintf(out, "%e%c",
				both ? measure(node, (unsigned)from, (unsigned)to)
				     : (double)NAN,
				to + 1 < STARPU_MAXNODES ? '\t' : '\n');
		}
}

static void put_latency(struct node *node, FILE *out)
{
	put_table(node, out, bus_latency_us);
}

static void put_bandwidth(struct node *node, FILE *out)
{
	put_table(node, out, bus_bandwidth);
}

/* What SimGrid 4 and 3 read. */
static void put_platform(struct node *node, FILE *out, int version)
{
	const char *speed = version == 4 ? "speed" : "power",
		   *unit = version == 4 ? "f" : "";
	const char dash = version == 4 ? '-' : '_';

	fprintf(out,
		"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM '%s'>\n"
		"<platform version=\"%d\">\n<config id=\"General\">\n"
		"<prop id=\"network/TCP%cgamma\" value=\"-1\"></prop>\n"
		"<prop id=\"network/latency%cfactor\" value=\"1\"></prop>\n"
		"<prop id=\"network/bandwidth%cfactor\" value=\"1\"></prop>\n"
		"<prop id=\"network/crosstraffic\" value=\"0\"></prop>\n"
		"<prop id=\"network/weight%cS\" value=\"0.0\"></prop>\n</config>\n"
		"<AS id=\"AS0\" routing=\"Full\">\n<host id=\"MAIN\" %s=\"1%s\"/>\n",
		version == 4 ? "https://simgrid.org/simgrid.dtd"
			     : "http://simgrid.gforge.inria.fr/simgrid.dtd",
		version, dash, dash, dash, dash, speed, unit);
	for (int i = 0; i < node->machine->devices[STARPU_CPU_WORKER].count; i++)
		fprintf(out, "<host id=\"CPU%d\" %s=\"2000000000%s\"/>\n", i, speed,
			unit);
	fprintf(out, "<host id=\"RAM\" %s=\"1%s\"/>\n</AS>\n</platform>\n", speed, unit);
}

static void put_platform_3(struct node *node, FILE *out)
{
	put_platform(node, out, 3);
}

static void put_platform_4(struct node *node, FILE *out)
{
	put_platform(node, out, 4);
}

/* The first is the one that is looked for, so it is written last. */
static const struct bus_file {
	const char *suffix;
	void (*put)(struct node *node, FILE *out);
} bus_files[] = {{"config", put_config},           {"affinity", put_affinity},
		 {"latency", put_latency},         {"bandwidth", put_bandwidth},
		 {"platform.xml", put_platform_3}, {"platform.v4.xml", put_platform_4}};

enum { NFILES = sizeof(bus_files) / sizeof(bus_files[0]), NAME_BYTES = 600 };

/* 0; -ENOENT: the machine has no name. */
static int name_of(const struct node *node, const struct bus_file *file, char *name)
{
	char host[NAME_BYTES - 32];

	model_store_host(node, host, sizeof(host));
	snprintf(name, NAME_BYTES, "bus/%s.%s", host, file->suffix);
	return *host ? 0 : -ENOENT;
}

static int write_one(struct node *node, const struct bus_file *file, char *path)
{
	struct newfile newfile;
	char name[NAME_BYTES];
	int status;

	name_of(node, file, name);
	status = sampling_place(node_knobs(node), name, path);
	if (status == 0)
		status = newfile_open(&newfile, path);
	if (status < 0)
		return status;
	file->put(node, newfile.file);
	return newfile_close(&newfile);
}

void bus_files_make(struct node *node)
{
	char name[NAME_BYTES], path[SAMPLING_PATH_BYTES] = "";
	int wanted = node->conf->bus_calibrate > 0, status = 0;

	/* Ranks do not know their names yet. */
	if (node->machine->predicts || *node_knobs(node)->mpi_hostnames ||
	    name_of(node, &bus_files[0], name) < 0)
		return;
	if (!wanted && sampling_find(node_knobs(node), name, path) == 0)
		return;
	for (int i = NFILES - 1; i >= 0 && status == 0; i--)
		status = write_one(node, &bus_files[i], path);
	if (status < 0 && wanted)
		orr_complain(
			node->rank,
			"STARPU_BUS_CALIBRATE: the bus files are not written: %s: %s",
			*path ? path : "HOME does not exist", strerror(-status));
}

void bus_files_list(struct node *node, FILE *out)
{
	/* The three that StarPU lists come first: bandwidth, affinity, latency. */
	static const int order[NFILES] = {3, 1, 2, 0, 4, 5};
	char name[NAME_BYTES], path[SAMPLING_PATH_BYTES];

	for (int i = 0; i < NFILES; i++) {
		name_of(node, &bus_files[order[i]], name);
		if (sampling_find(node_knobs(node), name, path) == 0)
			fprintf(out, "%9s: <%s>\n", bus_files[order[i]].suffix, path);
	}
}

/* ---- for people ------------------------------------------------------ */

/* StarPU's lines, whole numbers; the files have all digits. */
static void print_table(struct node *node, FILE *out, link_measure *measure)
{
	for (int from = 0; from < node_nmemories(node); from++) {
		put_name(node, from, out);
		for (int to = 0; to < node_nmemories(node); to++)
			fprintf(out, "\t%.0f",
				measure(node, (unsigned)from, (unsigned)to));
		fputs("\t\n", out);
	}
}

void bus_print_links(struct node *node, FILE *out)
{
	fputs("from/to\t", out);
	for (int i = 0; i < node_nmemories(node); i++) {
		put_name(node, i, out);
		fputc('\t', out);
	}
	fputc('\n', out);
	print_table(node, out, bus_bandwidth);
	fputc('\n', out);
	print_table(node, out, bus_latency_us);
}

void bus_print_affinity(struct node *node, FILE *out)
{
	enum starpu_node_kind kind = STARPU_CPU_RAM;

	fputs("# GPU\tNUMA in preference order (logical index)\n", out);
	for (int i = node->nmains; i < node_nmemories(node); i++) {
		const struct memory *memory = &node->memories[i];

		if (!device_of_memory(memory->kind))
			continue;
		if (memory->kind != kind)
			fprintf(out, "# %s\n", memory->name);
		kind = memory->kind;
		put_nearest(node, (unsigned)i, out);
	}
}
