/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>

#include "base/decimal.h"
#include "core/choice.h"
#include "links.h"

/*
 * gpus.c - a node's GPUs, from the properties of its host.
 *
 * All are alike, unless gpu_kinds="fast:0-1;slow:2-2" names those with these numbers:
 * NAME.gpu_model and the like then go before gpu_model for them.  GPUs of one kind share
 * its pace, by which models and classes tell them apart.
 */
struct gpu_kind {
	struct gpu_kind *next;
	char name[MACHINE_KIND_BYTES], model[64];
	double memory_bytes;
	struct plat_pace pace;
};

/* One of word:part:seconds, with ; between; -EINVAL: it is none. */
static int read_kernel(struct plat_kernel *kernel, const char **text)
{
	size_t length = strcspn(*text, ":;");
	char *end;

	if (length == 0 || length >= sizeof(kernel->word) || (*text)[length] != ':')
		return -EINVAL;
	memcpy(kernel->word, *text, length);
	kernel->word[length] = 0;
	*text += length + 1;
	kernel->efficiency = decimal_read(*text, &end);
	if (end == *text || *end != ':' ||
	    !(kernel->efficiency > 0 && kernel->efficiency <= 1))
		return -EINVAL;
	*text = end + 1;
	kernel->root_s = decimal_read(*text, &end);
	if (end == *text || (*end && *end != ';') ||
	    !(kernel->root_s >= 0 && kernel->root_s < 1))
		return -EINVAL;
	*text = *end ? end + 1 : end;
	return 0;
}

/* 0 or -ENODEV. */
static int read_names(struct plat *plat, const char *kind, const char *name,
		      struct plat_kernels *kernels)
{
	const char *text = machine_text_of(plat, kind, name), *at = text;

	if (!text)
		return 0;
	while (*at && kernels->n < PLAT_MAX_KERNELS &&
	       read_kernel(&kernels->each[kernels->n], &at) == 0)
		kernels->n++;
	if (!*at && kernels->n > 0)
		return 0;
	orr_complain(plat->node->rank,
		     "platform file: property \"%s\" of host %s is \"%s\": expected "
		     "up to %d of word:part:seconds, with ; between, part above 0 and "
		     "at most 1: \"potrf:0.4:2e-6;trsm:0.4:3e-7\"",
		     name, sg_host_get_name(plat->host), text, PLAT_MAX_KERNELS);
	return -ENODEV;
}

/* Nodes of which nothing is said have none.  0 or -ENODEV. */
static int read_kernels(struct plat *plat, const char *kind, struct plat_pace *pace)
{
	struct plat_gpu_kernels kernels = {0};

	if (read_names(plat, kind, "gpu_kernels", &kernels.slow) < 0 ||
	    read_names(plat, kind, "gpu_launches", &kernels.launches) < 0 ||
	    machine_number(plat, kind, "gpu_launch", 1, &kernels.launch_s) < 0 ||
	    machine_number(plat, kind, "gpu_gap", 1, &kernels.gap_s) < 0)
		return -ENODEV;
	if (kernels.slow.n > 0 || kernels.launch_s > 0) {
		pace->kernels = orr_alloc(sizeof(kernels));
		*pace->kernels = kernels;
	}
	return 0;
}

/* 0 or -ENODEV. */
static int read_kind(struct plat *plat, struct gpu_kind *kind)
{
	struct plat_pace *pace = &kind->pace;
	const char *model = machine_text_of(plat, kind->name, "gpu_model");
	double peaks[2] = {0};
	const struct {
		const char *name;
		double limit, *value;
	} numbers[] = {
		{"gpu_mem_bytes", MACHINE_MOST_BYTES, &kind->memory_bytes},
		{"pcie_bw", MACHINE_MOST, &pace->link_bytes_per_s},
		{"pcie_lat", MACHINE_MOST, &pace->link_latency_s},
		{"nvlink_bw", MACHINE_MOST, &pace->peer_bytes_per_s},
		{"gpu_peak_sp_gflops", MACHINE_MOST, &peaks[0]},
		{"gpu_peak_dp_gflops", MACHINE_MOST, &peaks[1]},
		{"gpu_speedup", MACHINE_MOST, &pace->speedup},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (machine_number(plat, kind->name, numbers[i].name, numbers[i].limit,
				   numbers[i].value) < 0)
			return -ENODEV;
	for (int i = 0; i < 2; i++)
		pace->peak_flops_per_s[i] = peaks[i] * 1e9;
	snprintf(kind->model, sizeof(kind->model), "%s", model ? model : "");
	return read_kernels(plat, kind->name, pace);
}

/* The one with that name, read when it was not yet; NULL: that is wrong. */
static struct gpu_kind *find_kind(struct plat *plat, const char *name)
{
	struct gpu_kind *kind = plat->gpu_kinds;

	while (kind && strcmp(kind->name, name) != 0)
		kind = kind->next;
	if (kind)
		return kind;
	kind = orr_alloc(sizeof(*kind));
	snprintf(kind->name, sizeof(kind->name), "%s", name);
	kind->next = plat->gpu_kinds;
	plat->gpu_kinds = kind;
	return read_kind(plat, kind) < 0 ? NULL : kind;
}

/* All of which text says nothing are as those of a node whose GPUs are alike. */
static int read_each(struct plat *plat, const char *text, int count)
{
	struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	struct plat_device *each = orr_alloc((size_t)count * sizeof(*each));

	gpus->each = each;
	for (int i = 0; i < count; i++) {
		char name[MACHINE_KIND_BYTES];
		const struct gpu_kind *kind = NULL;

		machine_kind_in(text, i, name);
		if (name[0] && !(kind = find_kind(plat, name)))
			return -ENODEV;
		each[i].id = i;
		each[i].pace = kind ? &kind->pace : &gpus->pace;
		each[i].memory_bytes = kind ? kind->memory_bytes : gpus->memory_bytes;
		each[i].total_bytes = each[i].memory_bytes;
		memcpy(each[i].model, kind ? kind->model : gpus->model,
		       sizeof(each[i].model));
	}
	if (!gpus->model[0])
		memcpy(gpus->model, each[0].model, sizeof(gpus->model));
	return 0;
}

static int complain_kinds(struct plat *plat, const char *text)
{
	orr_complain(
		plat->node->rank,
		"platform file: property \"gpu_kinds\" of host %s is \"%s\": expected "
		"the numbers of each kind's GPUs: \"fast:0-1;slow:2-2\"",
		sg_host_get_name(plat->host), text);
	return -ENODEV;
}

/* What all GPUs have for all others, and what some have for some.  0 or -ENODEV. */
static int read_links(struct plat *plat, int count)
{
	const struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	int have_peers = gpus->pace.peer_bytes_per_s > 0;

	if (links_read(plat, count) < 0)
		return -ENODEV;
	plat->machine.ways_differ = plat->links != NULL;
	for (const struct gpu_kind *kind = plat->gpu_kinds; kind; kind = kind->next)
		have_peers |= kind->pace.peer_bytes_per_s > 0;
	if (!plat->links || !have_peers)
		return 0;
	orr_complain(
		plat->node->rank,
		"platform file: host %s has the properties \"gpu_links\" and "
		"\"nvlink_bw\": expected one of them; name all GPUs of the latter in a "
		"group of the former, or leave it out",
		sg_host_get_name(plat->host));
	return -ENODEV;
}

static int read_all(struct plat *plat, int count)
{
	struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	const char *text = machine_text(plat, "gpu_kinds");
	struct gpu_kind all = {.next = NULL};

	if (read_kind(plat, &all) < 0)
		return -ENODEV;
	gpus->memory_bytes = all.memory_bytes;
	gpus->pace = all.pace;
	memcpy(gpus->model, all.model, sizeof(gpus->model));
	if (text && !machine_kinds_are_valid(text))
		return complain_kinds(plat, text);
	if (count > 0 && (text || choice_is_made(plat->node)) &&
	    read_each(plat, text, count) < 0)
		return -ENODEV;
	return read_links(plat, count);
}

/* Brings the row of that number to the place of another one, which takes its. */
static void bring_row(struct plat_device *each, int place, int id)
{
	struct plat_device other = each[place];
	int at = place;

	while (each[at].id != id)
		at++;
	each[place] = each[at];
	each[at] = other;
}

/* Those that the user has chosen come first, and the others have no workers.  Nodes of
 * one environment make one mistake together, which the first says. */
static void choose(struct plat *plat)
{
	struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	struct plat_device *each = (struct plat_device *)(uintptr_t)gpus->each;
	struct choice choice;

	choice_make(plat->node, gpus->count, plat->sim->choice_told++ > 0, &choice);
	for (int i = 0; i < choice.n; i++)
		bring_row(each, i, choice.ids[i]);
	gpus->nothers = gpus->count - choice.n;
	gpus->count = choice.n;
}

int gpus_read(struct plat *plat, int count)
{
	if (read_all(plat, count) < 0) {
		gpus_close(plat);
		return -ENODEV;
	}
	if (count > 0 && choice_is_made(plat->node))
		choose(plat);
	return 0;
}

void gpus_close(struct plat *plat)
{
	struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	struct gpu_kind *next;

	for (; plat->gpu_kinds; plat->gpu_kinds = next) {
		next = plat->gpu_kinds->next;
		free(plat->gpu_kinds->pace.kernels);
		free(plat->gpu_kinds);
	}
	free((void *)(uintptr_t)gpus->each);
	gpus->each = NULL;
	free(gpus->pace.kernels);
	gpus->pace.kernels = NULL;
}
