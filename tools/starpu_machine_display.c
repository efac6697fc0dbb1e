/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Prints the workers that the library finds, and the links between their memories. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "tool.h"

static const char usage[] =
	"Show the processing units that StarPU can use,\n"
	"and the bandwidth and affinity measured between the memory nodes.\n\n"
	"Usage: starpu_machine_display [OPTION]\n\n"
	"Options:\n"
	"\t-h, --help       display this help and exit\n"
	"\t-v, --version    output version information and exit\n"
	"\t-i, --info       display the name of the files containing the information\n"
	"\t-f, --force      force bus sampling and show measures\n";

static const struct option words[] = {{"help", 0, NULL, 'h'},
				      {"version", 0, NULL, 'v'},
				      {"info", 0, NULL, 'i'},
				      {"force", 0, NULL, 'f'},
				      {NULL, 0, NULL, 0}};

static void show_workers(void)
{
	static const enum starpu_worker_archtype types[] = {
		STARPU_CPU_WORKER, STARPU_CUDA_WORKER, STARPU_OPENCL_WORKER};

	printf("StarPU has found :\n");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		starpu_worker_display_names(stdout, types[i]);
}

int main(int argc, char **argv)
{
	int word, info = 0;

	while ((word = getopt_long(argc, argv, "hvif", words, NULL)) != -1) {
		switch (word) {
		case 'i':
			info = 1;
			break;
		case 'f':
			setenv("STARPU_BUS_CALIBRATE", "1", 1);
			break;
		case 'h':
			tool_help(usage);
		case 'v':
			tool_version("starpu_machine_display");
		default:
			tool_misused(usage);
		}
	}
	if (optind < argc)
		tool_misused(usage);
	tool_init();
	if (info) {
		starpu_bus_print_filenames(stdout);
	} else {
		show_workers();
		printf("\ntopology ... (hwloc logical indexes)\n");
		starpu_topology_print(stdout);
		printf("\nbandwidth (MB/s) and latency (us)...\n");
		starpu_bus_print_bandwidth(stdout);
		if (starpu_cuda_worker_get_count() > 0) {
			printf("\n");
			starpu_bus_print_affinity(stdout);
		}
	}
	starpu_shutdown();
	return EXIT_SUCCESS;
}
