/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Performance models of GPUs that are not alike, in one node. */
#include "model_scene.h"

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
	s->workers[1].device.devid = devid;
	return model_expect(&s->workers[1], &s->task, 0);
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
	set_task(s, 1, 320, 4);
	s->task.flops = 1e12;
	assert_int_equal(expect_of_gpu(s, 2).source, MODEL_HISTORY);
	assert_int_equal(expect_of_gpu(s, 3).source, MODEL_ROOFLINE);
	set_task(s, 1, 4096, 4);
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
