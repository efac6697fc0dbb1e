/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Measures the links between memories again, and writes them to the bus files. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "tool.h"

static const char usage[] = "Force a bus calibration.\n\n"
			    "Usage: starpu_calibrate_bus [OPTION]\n\n"
			    "Options:\n"
			    "\t-h, --help       display this help and exit\n"
			    "\t-v, --version    output version information and exit\n";

static const struct option words[] = {
	{"help", 0, NULL, 'h'}, {"version", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};

int main(int argc, char **argv)
{
	int word;

	while ((word = getopt_long(argc, argv, "hvf", words, NULL)) != -1) {
		switch (word) {
		case 'f':
			break; /* of old: it is always forced */
		case 'h':
			tool_help(usage);
		case 'v':
			tool_version("starpu_calibrate_bus");
		default:
			tool_misused(usage);
		}
	}
	if (optind < argc)
		tool_misused(usage);
	setenv("STARPU_BUS_CALIBRATE", "1", 1);
	tool_init();
	starpu_shutdown();
	return EXIT_SUCCESS;
}
