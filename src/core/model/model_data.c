/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/model/model_samples.h"

static void arch_free(struct model_arch *arch)
{
	struct starpu_perfmodel_history_list *next;

	if (!arch)
		return;
	for (size_t i = 0; i < arch->nentries; i++)
		free(arch->entries[i]);
	for (struct starpu_perfmodel_history_list *l = arch->known.list; l; l = next) {
		next = l->next;
		free(l);
	}
	table_free(&arch->by_footprint);
	free(arch->entries);
	free(arch->points);
	model_samples_free(arch->samples);
	free(arch->known.regression.coeff);
	free(arch);
}

void model_data_clear(struct model_data *data)
{
	for (size_t i = 0; i < data->ncombinations; i++) {
		struct model_combination *combination = data->combinations[i];

		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++)
			arch_free(combination->implementations[k]);
		free(combination->arch.devices);
		free(combination);
	}
	free(data->combinations);
	*data = (struct model_data){0};
}

static int same_device(const struct starpu_perfmodel_device *a,
		       const struct starpu_perfmodel_device *b)
{
	return a->type == b->type && a->devid == b->devid && a->ncores == b->ncores;
}

int model_same_arch(const struct starpu_perfmodel_arch *a,
		    const struct starpu_perfmodel_arch *b)
{
	if (a->ndevices != b->ndevices)
		return 0;
	for (int i = 0; i < a->ndevices; i++) {
		int found = 0;

		for (int j = 0; j < b->ndevices && !found; j++)
			found = same_device(&a->devices[i], &b->devices[j]);
		if (!found)
			return 0;
	}
	return 1;
}

struct model_combination *model_data_find(const struct model_data *data,
					  const struct starpu_perfmodel_arch *arch)
{
	for (size_t i = 0; i < data->ncombinations; i++)
		if (model_same_arch(&data->combinations[i]->arch, arch))
			return data->combinations[i];
	return NULL;
}

static struct model_combination *add_combination(struct model_data *data,
						 const struct starpu_perfmodel_arch *arch)
{
	struct model_combination *combination = orr_alloc(sizeof *combination);
	size_t bytes = arch->ndevices * sizeof *arch->devices;

	combination->arch.ndevices = arch->ndevices;
	combination->arch.devices = orr_alloc(bytes ? bytes : 1);
	if (bytes)
		memcpy(combination->arch.devices, arch->devices, bytes);
	data->combinations =
		orr_realloc(data->combinations,
			    (data->ncombinations + 1) * sizeof *data->combinations);
	data->combinations[data->ncombinations++] = combination;
	return combination;
}

struct model_arch *model_data_add(struct model_data *data,
				  const struct starpu_perfmodel_arch *arch,
				  unsigned implementation)
{
	struct model_combination *combination = model_data_find(data, arch);
	struct model_arch **place;

	ORR_ASSERT(implementation < STARPU_MAXIMPLEMENTATIONS);
	if (!combination)
		combination = add_combination(data, arch);
	place = &combination->implementations[implementation];
	if (!*place) {
		*place = orr_alloc(sizeof **place);
		(*place)->known.regression.alpha = (*place)->known.regression.beta = NAN;
		(*place)->known.regression.a = (*place)->known.regression.b = NAN;
		(*place)->known.regression.c = NAN;
	}
	return *place;
}

struct starpu_perfmodel_history_entry *model_arch_entry(struct model_arch *arch,
							uint32_t footprint, int add)
{
	struct starpu_perfmodel_history_entry *entry =
		table_get(&arch->by_footprint, footprint);
	struct starpu_perfmodel_history_list *link;

	if (entry || !add)
		return entry;
	entry = orr_alloc(sizeof(struct model_entry));
	entry->footprint = footprint;
	if (arch->nentries == arch->capacity) {
		arch->capacity = arch->capacity ? 2 * arch->capacity : 8;
		arch->entries = orr_realloc(arch->entries,
					    arch->capacity * sizeof *arch->entries);
	}
	arch->entries[arch->nentries++] = entry;
	table_put(&arch->by_footprint, footprint, entry);
	link = orr_alloc(sizeof *link);
	link->entry = entry;
	link->next = arch->known.list;
	arch->known.list = link;
	return entry;
}

int model_all_is_sound(const struct model_all *all)
{
	return all->nsample > 0 && all->sum >= 0 && isfinite(all->sum) &&
	       all->sum2 >= 0 && isfinite(all->sum2);
}

int model_entry_leaves_out(const struct model_entry *entry)
{
	const struct model_all *all = &entry->all;

	return model_all_is_sound(all) &&
	       (all->nsample != entry->known.nsample || all->sum != entry->known.sum);
}

static enum starpu_perfmodel_type arch_type(const struct model_arch *arch)
{
	const struct starpu_perfmodel_regression_model *fit = &arch->known.regression;

	if (fit->ncoeff && !isnan(fit->coeff[0]))
		return STARPU_MULTIPLE_REGRESSION_BASED;
	if (!isnan(fit->a) && !isnan(fit->b) && !isnan(fit->c))
		return STARPU_NL_REGRESSION_BASED;
	if (!isnan(fit->alpha) && !isnan(fit->beta))
		return STARPU_REGRESSION_BASED;
	return arch->nentries ? STARPU_HISTORY_BASED : STARPU_PERFMODEL_INVALID;
}

enum starpu_perfmodel_type model_data_type(const struct model_data *data)
{
	enum starpu_perfmodel_type type = STARPU_PERFMODEL_INVALID;

	for (size_t i = 0; i < data->ncombinations; i++)
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
			const struct model_arch *arch =
				data->combinations[i]->implementations[k];
			enum starpu_perfmodel_type t =
				arch ? arch_type(arch) : STARPU_PERFMODEL_INVALID;

			if (t > type)
				type = t;
		}
	return type;
}
