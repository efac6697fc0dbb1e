/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What is true of this backend before any node is open. */
#include <stdio.h>
#include <unistd.h>

#include "real/real.h"

int plat_is_simulated(void)
{
	return 0;
}

uint64_t plat_seat(void)
{
	return 0; /* One rank in a process. */
}

double plat_clock_s(void)
{
	return plat_now_s(NULL);
}

/* Two hosts may have one name, of STARPU_HOSTNAME; and a container may have a clock of
 * its own, which began when it did. */
void real_clock_name(char *name, size_t bytes)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	char boot[64] = "", space[48] = "";

	if (!file || fscanf(file, "%63s", boot) != 1)
		gethostname(boot, sizeof(boot) - 1);
	if (file)
		fclose(file);
	if (readlink("/proc/self/ns/time", space, sizeof(space) - 1) < 0)
		*space = '\0';
	snprintf(name, bytes, "%s %s", boot, space);
}
