/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Prints the names that STARPU_SCHED may have, a line each. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#include "tool.h"

static const char usage[] = "Display all schedulers.\n\n"
			    "Usage: starpu_sched_display [OPTION]\n\n"
			    "Options:\n"
			    "\t-h, --help       display this help and exit\n"
			    "\t-v, --version    output version information and exit\n";

static const struct option words[] = {
	{"help", 0, NULL, 'h'}, {"version", 0, NULL, 'v'}, {NULL, 0, NULL, 0}};

int main(int argc, char **argv)
{
	struct starpu_sched_policy **policies;
	int word;

	while ((word = getopt_long(argc, argv, "hv", words, NULL)) != -1) {
		switch (word) {
		case 'h':
			tool_help(usage);
		case 'v':
			tool_version("starpu_sched_display");
		default:
			tool_misused(usage);
		}
	}
	if (optind < argc)
		tool_misused(usage);
	policies = starpu_sched_get_predefined_policies();
	for (; *policies; policies++)
		printf("%s\n", (*policies)->policy_name);
	return EXIT_SUCCESS;
}
