/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "real/real.h"

/*
 * energy.c - what the packages of cores have used, by the counters that Linux shows of
 * RAPL: a directory for each package with the files name ("package-0"), energy_uj and
 * max_energy_range_uj, at which the counter begins anew.
 */

static int read_number(const char *directory, const char *file,
		       unsigned long long *number)
{
	char path[1024];
	FILE *stream;
	int n;

	snprintf(path, sizeof(path), "%.900s/%s", directory, file);
	stream = fopen(path, "r");
	if (!stream)
		return -ENODEV;
	n = fscanf(stream, "%llu", number);
	fclose(stream);
	return n == 1 ? 0 : -ENODEV;
}

static int is_package(const char *directory)
{
	char path[1024], name[32] = "";
	FILE *stream;

	snprintf(path, sizeof(path), "%.900s/name", directory);
	stream = fopen(path, "r");
	if (!stream)
		return 0;
	if (!fgets(name, sizeof(name), stream))
		*name = '\0';
	fclose(stream);
	return strncmp(name, "package", strlen("package")) == 0;
}

/* What the counter has run through since the first look, also when it began anew: without
 * a range from where it was at the last look. */
static double run_through_uj(struct meter *meter, unsigned long long now,
			     unsigned long long range)
{
	if (meter->has_looked && now < meter->last_uj)
		meter->sum_uj +=
			(double)(range > meter->last_uj ? range - meter->last_uj : 0) +
			(double)now;
	else if (meter->has_looked)
		meter->sum_uj += (double)(now - meter->last_uj);
	meter->last_uj = now;
	meter->has_looked = 1;
	return meter->sum_uj;
}

static int sum_packages(struct plat *plat, const glob_t *found, double *joules)
{
	int npackages = 0;

	*joules = 0;
	for (size_t i = 0; i < found->gl_pathc && npackages < MAX_METERS; i++) {
		const char *directory = found->gl_pathv[i];
		unsigned long long now, range = 0;

		if (!is_package(directory) || read_number(directory, "energy_uj", &now))
			continue;
		read_number(directory, "max_energy_range_uj", &range);
		*joules += 1e-6 * run_through_uj(&plat->meters[npackages++], now, range);
	}
	return npackages > 0 ? 0 : -ENODEV;
}

int plat_energy_j(struct plat *plat, const struct worker *of, double *joules)
{
	const char *top = node_knobs(plat->node)->powercap;
	char pattern[1024];
	glob_t found;
	int ret;

	if (of)
		return -ENODEV;
	/* The same counters are there by other ways, too: intel-rapl-mmio:0. */
	snprintf(pattern, sizeof(pattern), "%.900s/intel-rapl:*",
		 *top ? top : "/sys/class/powercap");
	if (glob(pattern, 0, NULL, &found) != 0)
		return -ENODEV;
	ret = sum_packages(plat, &found, joules);
	globfree(&found);
	return ret;
}
