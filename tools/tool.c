/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

void tool_init(void)
{
	int ret;

	setenv("STARPU_SILENT", "1", 0);
	ret = starpu_init(NULL);
	if (ret == 0)
		return;
	tool_refuse("starpu_init() returns %d: %s", ret,
		    ret == -ENODEV
			    ? "this machine has no core for a worker; see \"orrery "
			      "doctor\""
			    : "see the message before");
}

void tool_help(const char *usage)
{
	fputs(usage, stdout);
	exit(EXIT_SUCCESS);
}

void tool_version(const char *name)
{
	printf("%s (Orrery) %d.%d.%d\n", name, ORRERY_VERSION_MAJOR, ORRERY_VERSION_MINOR,
	       ORRERY_VERSION_PATCH);
	exit(EXIT_SUCCESS);
}

void tool_misused(const char *usage)
{
	fprintf(stderr, "Incorrect usage, aborting\n%s", usage);
	exit(EXIT_FAILURE);
}

void tool_refuse(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "[orrery] ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(EXIT_FAILURE);
}
