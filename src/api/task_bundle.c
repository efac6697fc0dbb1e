/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu.h>
#include <starpu_scheduler.h>

#include "api/api.h"
#include "core/task/bundle.h"

void starpu_task_bundle_create(starpu_task_bundle_t *bundle)
{
	api_given(__func__, "bundle", bundle);
	*bundle = bundle_new();
}

int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	api_given(__func__, "bundle", bundle);
	api_given(__func__, "task", task);
	return bundle_insert(bundle, task);
}

int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	api_given(__func__, "bundle", bundle);
	api_given(__func__, "task", task);
	return bundle_remove(bundle, task);
}

void starpu_task_bundle_close(starpu_task_bundle_t bundle)
{
	api_given(__func__, "bundle", bundle);
	bundle_close(bundle);
}

/* What is asked of each task: on an architecture, or of a memory. */
struct question {
	double (*ask)(const struct question *question, struct starpu_task *task);
	struct starpu_perfmodel_arch *arch;
	unsigned implementation, memory;
};

static double length_us(const struct question *question, struct starpu_task *task)
{
	return starpu_task_expected_length(task, question->arch,
					   question->implementation);
}

static double energy_j(const struct question *question, struct starpu_task *task)
{
	return starpu_task_expected_energy(task, question->arch,
					   question->implementation);
}

static double transfer_us(const struct question *question, struct starpu_task *task)
{
	return starpu_task_expected_data_transfer_time(question->memory, task);
}

static double sum(starpu_task_bundle_t bundle, const struct question *question)
{
	double all = 0;

	orr_lock(&bundle->lock);
	for (int i = 0; i < bundle->nslots; i++)
		if (bundle->tasks[i])
			all += question->ask(question, bundle->tasks[i]);
	orr_unlock(&bundle->lock);
	return all;
}

double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch,
					  unsigned nimpl)
{
	struct question question = {
		.ask = length_us, .arch = arch, .implementation = nimpl};

	api_given(__func__, "bundle", bundle);
	api_given(__func__, "arch", arch);
	return sum(bundle, &question);
}

double starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
						      unsigned memory_node)
{
	struct question question = {.ask = transfer_us, .memory = memory_node};

	api_given(__func__, "bundle", bundle);
	return sum(bundle, &question);
}

double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch,
					  unsigned nimpl)
{
	struct question question = {
		.ask = energy_j, .arch = arch, .implementation = nimpl};

	api_given(__func__, "bundle", bundle);
	api_given(__func__, "arch", arch);
	return sum(bundle, &question);
}
