/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef TESTS_UNIT_MODEL_SCENE_H
#define TESTS_UNIT_MODEL_SCENE_H

/* What the tests of performance models begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/model/hash.h"
#include "core/model/model_fit.h"
#include "core/model/model_query.h"
#include "core/model/model_store.h"
#include "core/model/roofline.h"

/* ---- A machine with one CPU and two GPUs, and tasks on square matrices ---- */

struct scene {
	char dir[64];
	struct world world;
	struct settings settings;
	struct plat_machine machine;
	struct node node;
	struct worker workers[3];
	struct starpu_perfmodel model;
	struct starpu_codelet codelet;
	struct _starpu_data_state data[3];
	struct starpu_matrix_interface interfaces[3];
	struct starpu_task task;
};

static uint32_t matrix_footprint(starpu_data_handle_t handle)
{
	const struct starpu_matrix_interface *m = handle->interface;

	return hash_crc32c_be(m->nx, m->ny);
}

static size_t matrix_size(starpu_data_handle_t handle)
{
	const struct starpu_matrix_interface *m = handle->interface;

	return (size_t)m->nx * m->ny * m->elemsize;
}

static struct starpu_data_interface_ops matrix_ops = {
	.interfaceid = STARPU_MATRIX_INTERFACE_ID,
	.footprint = matrix_footprint,
	.get_size = matrix_size,
};

static void set_task(struct scene *s, unsigned nbuffers, uint32_t nx, size_t elemsize)
{
	s->codelet.nbuffers = nbuffers;
	for (unsigned i = 0; i < nbuffers; i++) {
		s->interfaces[i] = (struct starpu_matrix_interface){
			.nx = nx, .ny = nx, .ld = nx, .elemsize = elemsize};
		s->data[i].ops = &matrix_ops;
		s->data[i].interface = &s->interfaces[i];
		s->task.handles[i] = &s->data[i];
	}
}

static void set_worker(struct scene *s, int id, enum starpu_worker_archtype type,
		       int devid)
{
	struct worker *w = &s->workers[id];

	w->node = &s->node;
	w->id = id;
	w->type = type;
	w->kind = device_type(type);
	w->like = w;
	w->device = (struct starpu_perfmodel_device){type, devid, 1};
	w->arch = (struct starpu_perfmodel_arch){1, &w->device};
}

/* Texts are the scene's, or empty. */
static void set_knobs(struct scene *s)
{
	static char none[1];
	struct knobs *knobs = &s->settings.knobs;

	*knobs = (struct knobs){.calibrate_minimum = 10,
				.history_max_error = 50,
				.homogeneous_cpu = 1,
				.silent = 1,
				.perf_model_dir = s->dir,
				.perf_model_path = none,
				.home = s->dir,
				.starpu_home = none,
				.xdg_cache_home = none,
				.hostname = none,
				.mpi_hostnames = none};
}

static int open_scene(void **state)
{
	struct scene *s = orr_alloc_lines(sizeof *s);

	strcpy(s->dir, "/tmp/orrery-model-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	set_knobs(s);
	s->settings.models = model_store_new(&s->settings.knobs);
	s->machine.predicts = 1;
	strcpy(s->machine.devices[STARPU_CPU_WORKER].model, "somecpu");
	strcpy(s->machine.devices[STARPU_CUDA_WORKER].model, "somegpu");
	s->machine.devices[STARPU_CUDA_WORKER].pace.peak_flops_per_s[0] = 10e12;
	s->machine.devices[STARPU_CUDA_WORKER].pace.peak_flops_per_s[1] = 5e12;
	s->node.world = &s->world;
	s->node.settings = &s->settings;
	s->node.machine = &s->machine;
	s->node.workers = s->workers;
	s->node.nworkers = 3;
	set_worker(s, 0, STARPU_CUDA_WORKER, 0);
	set_worker(s, 1, STARPU_CUDA_WORKER, 1);
	set_worker(s, 2, STARPU_CPU_WORKER, 0);
	s->model.type = STARPU_HISTORY_BASED;
	s->model.symbol = "kernel";
	s->codelet.model = &s->model;
	s->task.cl = &s->codelet;
	for (int i = 0; i < 3; i++)
		s->codelet.modes[i] = STARPU_R;
	set_task(s, 1, 320, 4);
	*state = s;
	return 0;
}

static int close_scene(void **state)
{
	struct scene *s = *state;
	char command[128];

	model_store_save(s->settings.models, &s->node);
	assert_null(s->model.state);
	model_store_free(s->settings.models);
	snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
	assert_int_equal(system(command), 0);
	free(s);
	return 0;
}

/* Write text to the model file of that name; its path, valid until the next call. */
static const char *write_model(struct scene *s, const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/codelets", s->dir);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/codelets/45", s->dir);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/codelets/45/%s", s->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

#endif
