/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Performance models of GPUs that are not alike, in one node. */
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

/* ---- A machine with four GPUs, and tasks on a square matrix --------------- */

struct scene {
	char dir[64];
	struct world world;
	struct settings settings;
	struct plat_machine machine;
	struct node node;
	struct worker worker;
	struct starpu_perfmodel model;
	struct starpu_codelet codelet;
	struct _starpu_data_state data;
	struct starpu_matrix_interface interface;
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

static void set_task(struct scene *s, uint32_t nx, double flops)
{
	s->codelet.nbuffers = 1;
	s->interface = (struct starpu_matrix_interface){
		.nx = nx, .ny = nx, .ld = nx, .elemsize = 4};
	s->data.ops = &matrix_ops;
	s->data.interface = &s->interface;
	s->task.handles[0] = &s->data;
	s->task.flops = flops;
}

static void set_worker(struct scene *s)
{
	struct worker *w = &s->worker;

	w->node = &s->node;
	w->type = STARPU_CUDA_WORKER;
	w->kind = device_type(w->type);
	w->like = w;
	w->device = (struct starpu_perfmodel_device){w->type, 0, 1};
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
	s->node.world = &s->world;
	s->node.settings = &s->settings;
	s->node.machine = &s->machine;
	s->node.workers = &s->worker;
	s->node.nworkers = 1;
	set_worker(s);
	s->model.type = STARPU_HISTORY_BASED;
	s->model.symbol = "kernel";
	s->codelet.model = &s->model;
	s->task.cl = &s->codelet;
	s->codelet.modes[0] = STARPU_R;
	set_task(s, 320, 0);
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

#define GPU_FILE(n)                                                                      \
	"45\n1\n1\n1\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"                               \
	"nan nan nan\n0\ncea37d6d 409600 1e6 50 1 1 1 " n "\n"

/* GPUs 0 and 2 are fast, 1 and 3 are slow. */
static void set_gpu_kinds(struct scene *s, const char *fast, const char *slow)
{
	static const struct plat_pace paces[2] = {{.peak_flops_per_s = {20e12, 10e12}},
						  {.peak_flops_per_s = {2e12, 1e12}}};
	static struct plat_device each[4];

	for (int i = 0; i < 4; i++) {
		each[i].id = i;
		each[i].pace = &paces[i % 2];
		strcpy(each[i].model, i % 2 ? slow : fast);
	}
	s->machine.devices[STARPU_CUDA_WORKER].count = 4;
	s->machine.devices[STARPU_CUDA_WORKER].each = each;
}

static struct model_estimate expect_of_gpu(struct scene *s, int devid)
{
	s->worker.device.devid = devid;
	return model_expect(&s->worker, &s->task, 0);
}

#define TWO_GPUS(first, second)                                                          \
	"45\n2\n1\n1\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"               \
	"cea37d6d 409600 1e6 " first " 1 1 1 20\n"                                       \
	"1\n1\n1\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"                      \
	"cea37d6d 409600 1e6 " second " 1 1 1 20\n"

static void each_gpu_has_its_own_model(void **state)
{
	struct scene *s = *state;

	set_gpu_kinds(s, "fastgpu", "slowgpu");
	write_model(s, "kernel.fastgpu", TWO_GPUS("50", "51"));
	write_model(s, "kernel.slowgpu", GPU_FILE("20"));
	assert_true(fabs(expect_of_gpu(s, 0).seconds - 50e-6) < 1e-12);
	/* The second of those that are called so; and the first of the others. */
	assert_true(fabs(expect_of_gpu(s, 2).seconds - 51e-6) < 1e-12);
	assert_true(fabs(expect_of_gpu(s, 1).seconds - 50e-6) < 1e-12);
	assert_true(fabs(expect_of_gpu(s, 3).seconds - 50e-6) < 1e-12);
}

/* Of a machine's file the numbers are the machine's; there the first of a kind speaks for
 * the others, and for nobody else. */
static void a_gpu_speaks_for_its_kind_alone(void **state)
{
	struct scene *s = *state;

	set_gpu_kinds(s, "machine", "machine");
	write_model(s, "kernel.machine", TWO_GPUS("50", "700"));
	assert_true(fabs(expect_of_gpu(s, 0).seconds - 50e-6) < 1e-12);
	assert_true(fabs(expect_of_gpu(s, 1).seconds - 700e-6) < 1e-12);
	assert_true(fabs(expect_of_gpu(s, 2).seconds - 50e-6) < 1e-12);
	assert_true(fabs(expect_of_gpu(s, 3).seconds - 700e-6) < 1e-12);
}

static void an_unmeasured_kind_has_its_own_roofline(void **state)
{
	struct scene *s = *state;
	double fast_s;

	set_gpu_kinds(s, "machine", "machine");
	write_model(s, "kernel.machine", GPU_FILE("20"));
	set_task(s, 320, 1e12);
	assert_int_equal(expect_of_gpu(s, 2).source, MODEL_HISTORY);
	assert_int_equal(expect_of_gpu(s, 3).source, MODEL_ROOFLINE);
	set_task(s, 4096, 1e12);
	fast_s = expect_of_gpu(s, 0).seconds;
	assert_true(expect_of_gpu(s, 1).seconds > 9 * fast_s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_gpu_has_its_own_model),
		TEST(a_gpu_speaks_for_its_kind_alone),
		TEST(an_unmeasured_kind_has_its_own_roofline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
