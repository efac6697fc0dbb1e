/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Models say how far off they are between measured sizes.  Of real calibrations one size
 * after another is left out: what the rest says of it is off by less than one standard
 * error in most cases, by less than two in nearly all.
 *
 * The shipped models, and those under $ORR_TEST_DATA.
 */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/model/model_file.h"
#include "core/model/model_fit.h"

struct tally {
	int total, within_one, within_two;
};

/* All sizes but those of entry number without. */
static void copy_without(struct model_data *data, const struct model_arch *arch,
			 size_t without)
{
	struct starpu_perfmodel_device device = {.type = STARPU_CPU_WORKER, .ncores = 1};
	struct starpu_perfmodel_arch cpu = {.ndevices = 1, .devices = &device};
	struct model_arch *copy = model_data_add(data, &cpu, 0);

	for (size_t i = 0; i < arch->nentries; i++)
		if (arch->entries[i]->size != arch->entries[without]->size)
			*model_arch_entry(copy, arch->entries[i]->footprint, 1) =
				*arch->entries[i];
}

static void leave_out(struct tally *tally, const struct model_arch *arch, size_t i)
{
	const struct starpu_perfmodel_history_entry *entry = arch->entries[i];
	struct starpu_perfmodel_device device = {.type = STARPU_CPU_WORKER, .ncores = 1};
	struct starpu_perfmodel_arch cpu = {.ndevices = 1, .devices = &device};
	struct model_data data = {0};
	struct model_arch *rest;
	double us, error, off;

	copy_without(&data, arch, i);
	rest = model_data_add(&data, &cpu, 0);
	us = model_fit_between(rest, entry->size);
	error = model_fit_between_error(rest, entry->size);
	if (entry->nsample && entry->mean > 0 && us > 0 && !isnan(error)) {
		off = fabs(us / entry->mean - 1);
		tally->total++;
		tally->within_one += off <= error;
		tally->within_two += off <= 2 * error;
	}
	model_data_clear(&data);
}

static void try_file(struct tally *tally, const char *path)
{
	struct model_data data = {0};

	if (!model_data_read(&data, path, -1))
		for (size_t i = 0; i < data.ncombinations; i++)
			for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
				const struct model_arch *arch =
					data.combinations[i]->implementations[k];

				for (size_t j = 0; arch && j < arch->nentries; j++)
					leave_out(tally, arch, j);
			}
	model_data_clear(&data);
}

static int try_directory(const char *dir)
{
	struct tally tally = {0};
	struct dirent *entry;
	DIR *stream = opendir(dir);
	char path[PATH_MAX];
	int good;

	while (stream && (entry = readdir(stream))) {
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] != '.')
			try_file(&tally, path);
	}
	if (stream)
		closedir(stream);
	good = tally.total > 50 && tally.within_one >= 0.6 * tally.total &&
	       tally.within_two >= 0.8 * tally.total;
	printf("%s %d sizes left out of models: %d within one standard error, %d within "
	       "two\n",
	       good ? "PASS" : "FAIL", tally.total, tally.within_one, tally.within_two);
	return good;
}

int main(void)
{
	const char *data = getenv("ORR_TEST_DATA"), *source = getenv("ORRERY_SRC");
	char dir[PATH_MAX / 2];
	int good;

	snprintf(dir, sizeof dir, "%s/perfmodels/codelets/45", source ? source : ".");
	good = try_directory(dir);
	if (data) {
		snprintf(dir, sizeof dir, "%s/starpu-sampling/codelets/45", data);
		good = try_directory(dir) && good;
	}
	return !good;
}
