/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/process.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STAT_STARTTIME = 22 }; /* field of /proc/self/stat: see proc(5) */

/* Seconds from the boot of the host to the start of the process; 0 when unknown. */
static double started_s(void)
{
	char text[1024];
	FILE *file = fopen("/proc/self/stat", "r");
	unsigned long long ticks = 0;
	char *field;

	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* The name may hold blanks: count from its closing parenthesis (field 2). */
	field = strrchr(text, ')');
	for (int i = 2; field && i < STAT_STARTTIME; i++)
		field = strchr(field + 1, ' ');
	if (!field || sscanf(field, "%llu", &ticks) != 1)
		return 0;
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

double process_wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - started_s();
}

unsigned long long process_peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (unsigned long long)usage.ru_maxrss * 1024;
}

int process_is_first_stack(const void *at)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long low, high;
	char line[512];
	int is = 0;

	while (maps && !is && fgets(line, sizeof(line), maps))
		is = strstr(line, "[stack]") &&
		     sscanf(line, "%lx-%lx", &low, &high) == 2 &&
		     low <= (unsigned long)at && (unsigned long)at < high;
	if (maps)
		fclose(maps);
	return is;
}
