/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Performance models: footprints, the file format, fits, and what is expected. */
#include "model_scene.h"

/* Sizes 320 and 960 measured on one CPU core. */
static const char cpu_file[] = "# comment\n45\n\n1\n1\n 0\n0\n1\n1\n2\n"
			       "0 0 0 0 nan nan 0 0 0\n"
			       "nan nan nan\n0\n"
			       "cea37d6d 409600 1e6 1000 1 1 1 20\n"
			       "617e5fe6 3686400 27e6 27000 1 1 1 20\n";

#define GPU_FILE(n)                                                                      \
	"45\n1\n1\n1\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"                               \
	"nan nan nan\n0\ncea37d6d 409600 1e6 50 1 1 1 " n "\n"

static struct model_estimate expect(struct scene *s, int worker)
{
	return model_expect(&s->workers[worker], &s->task, 0);
}

/* ---- Footprints ------------------------------------------------------ */

static void hash_matches_the_published_vector(void **state)
{
	uint32_t word = 0x12345678;

	(void)state;
	assert_int_equal(hash_crc32c_be_n("123456789", 9, 0), 0xc052a8c8);
	assert_int_equal(hash_crc32c_be(word, 77), hash_crc32c_be_n(&word, 4, 77));
}

static void footprints_match_existing_calibrations(void **state)
{
	static const struct {
		uint32_t nx;
		unsigned nbuffers;
		uint32_t footprint;
	} vectors[] = {
		{320, 1, 0xcea37d6d}, {320, 2, 0x2c1922b7}, {320, 3, 0xd46431bb},
		{960, 1, 0x617e5fe6}, {960, 2, 0xff82dda0}, {960, 3, 0x24c84a50},
		{32, 1, 0xe5a07e31},  {32, 3, 0x6e96d715},
	};
	struct scene *s = *state;

	for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		set_task(s, vectors[i].nbuffers, vectors[i].nx, 4);
		assert_int_equal(model_footprint(&s->model, &s->task),
				 vectors[i].footprint);
	}
}

static size_t size_seven(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 7;
}

static uint32_t footprint_five(struct starpu_task *task)
{
	(void)task;
	return 5;
}

static void the_model_may_choose_the_footprint(void **state)
{
	struct scene *s = *state;
	size_t seven = 7;

	set_task(s, 2, 320, 4);
	s->codelet.modes[1] = STARPU_R | STARPU_NOFOOTPRINT;
	assert_int_equal(model_footprint(&s->model, &s->task), 0xcea37d6d);
	s->model.size_base = size_seven;
	assert_int_equal(model_footprint(&s->model, &s->task),
			 hash_crc32c_be_n(&seven, sizeof seven, 0));
	s->model.footprint = footprint_five;
	assert_int_equal(model_footprint(&s->model, &s->task), 5);
}

/* ---- Files ----------------------------------------------------------- */

static void a_file_survives_writing_and_reading(void **state)
{
	struct scene *s = *state;
	struct model_data data = {0}, again = {0};
	char path[128];
	const char *first = write_model(s, "a.x", cpu_file);
	struct starpu_perfmodel_history_entry *entry;

	assert_int_equal(model_data_read(&data, first, 0), 0);
	assert_int_equal(model_data_type(&data), STARPU_HISTORY_BASED);
	snprintf(path, sizeof path, "%s/b.x", s->dir);
	assert_int_equal(model_data_write(&data, path, 0), 0);
	assert_int_equal(model_data_read(&again, path, 0), 0);
	entry = model_arch_entry(model_data_add(&again, &s->workers[2].arch, 0),
				 0x617e5fe6, 0);
	assert_non_null(entry);
	assert_int_equal(entry->size, 3686400);
	assert_int_equal(entry->nsample, 20);
	assert_true(entry->mean == 27000 && entry->flops == 27e6);
	model_data_clear(&data);
	model_data_clear(&again);
}

/* Every beginning of a file is refused, without a crash; a wrong word as well. */
static void damaged_files_are_refused(void **state)
{
	struct scene *s = *state;
	struct model_data data = {0};
	size_t last = strlen(cpu_file) - strlen(" 20\n");
	char text[sizeof cpu_file];
	unsigned long seed = 12345;

	for (size_t n = 13; n <= last; n++) {
		int rc;

		memcpy(text, cpu_file, n);
		text[n] = '\0';
		rc = model_data_read(&data, write_model(s, "t.x", text), 0);
		assert_int_equal(rc, -EINVAL);
		assert_int_equal(data.ncombinations, 0);
	}
	for (int round = 0; round < 500; round++) {
		memcpy(text, cpu_file, sizeof text);
		for (int i = 0; i < 3; i++) {
			seed = seed * 6364136223846793005UL + 1442695040888963407UL;
			text[(seed >> 33) % (sizeof text - 1)] = 1 + (seed >> 20) % 255;
		}
		model_data_read(&data, write_model(s, "t.x", text), 0);
	}
	model_data_clear(&data);
}

static void absent_and_empty_files_differ(void **state)
{
	struct scene *s = *state;
	struct model_data data = {0};

	assert_int_equal(model_data_read(&data, "/nonexistent/file", 0), -ENOENT);
	assert_int_equal(model_data_read(&data, write_model(s, "e.x", "# only\n\n"), 0),
			 -ENODATA);
	assert_int_equal(model_data_read(&data, write_model(s, "v.x", "99\n0\n"), 0),
			 -EINVAL);
	assert_int_equal(model_data_read(&data, s->dir, 0), -EISDIR);
}

/* ---- What is expected ------------------------------------------------ */

static void a_measured_size_takes_its_mean(void **state)
{
	struct scene *s = *state;
	struct model_estimate e;

	write_model(s, "kernel.somecpu", cpu_file);
	e = expect(s, 2);
	assert_int_equal(e.source, MODEL_HISTORY);
	assert_true(fabs(e.seconds - 1e-3) < 1e-12);
	assert_int_equal(e.nsample, 20);
}

static void a_size_between_is_interpolated(void **state)
{
	struct scene *s = *state;
	struct model_estimate e;

	write_model(s, "kernel.somecpu", cpu_file);
	set_task(s, 1, 640, 4); /* twice the order, so eight times the time */
	e = expect(s, 2);
	assert_int_equal(e.source, MODEL_REGRESSION);
	assert_true(fabs(e.seconds - 8e-3) < 1e-5);
	set_task(s, 1, 1280, 4); /* within twice the largest size */
	e = expect(s, 2);
	assert_int_equal(e.source, MODEL_REGRESSION);
	assert_true(fabs(e.seconds - 64e-3) < 1e-4);
	set_task(s, 1, 4096, 4); /* far away, and this CPU declares no peak */
	assert_int_equal(expect(s, 2).source, MODEL_NONE);
}

static void without_a_calibration_the_roofline_stands(void **state)
{
	struct scene *s = *state;
	struct model_estimate single, twice;

	assert_int_equal(expect(s, 0).source, MODEL_NONE);
	s->task.flops = 1e9;
	single = expect(s, 0);
	assert_int_equal(single.source, MODEL_ROOFLINE);
	assert_true(single.seconds > 1e9 / 10e12 && single.seconds < 3e9 / 10e12);
	set_task(s, 1, 320, 8);
	twice = expect(s, 0);
	assert_true(twice.seconds > 1.5 * single.seconds);
	assert_true(roofline_law_s(STARPU_CUDA_WORKER, 1e13, 1e15, NULL) <
		    1e15 / 1e13 / 0.79);
}

/* Kernels that go column by column are as slow as the machine says of their names. */
static void named_kernels_have_a_law_of_their_own(void **state)
{
	static struct plat_gpu_kernels kernels = {
		.slow = {2, {{"trsm", 0.4, 3e-7}, {"kern", 0.5, 2e-6}}}};
	struct scene *s = *state;
	double plain_s, named_s;

	s->task.flops = 1e9;
	plain_s = expect(s, 0).seconds;
	s->machine.devices[STARPU_CUDA_WORKER].pace.kernels = &kernels;
	named_s = expect(s, 0).seconds;
	assert_int_equal(expect(s, 0).source, MODEL_ROOFLINE);
	/* 20 us / 0.8 to start, 1e9 / (10e12 x 0.5), and 1,000 columns. */
	assert_true(fabs(named_s - (25e-6 + 200e-6 + 2000e-6)) < 1e-9);
	s->model.symbol = "other";
	assert_true(expect(s, 0).seconds == plain_s);
	s->model.symbol = NULL;
	s->codelet.name = "my_trsm";
	assert_true(roofline_seconds(&s->workers[0], &s->task) > plain_s);
	s->codelet.name = NULL;
	assert_true(fabs(roofline_seconds(&s->workers[0], &s->task) - plain_s) < 1e-12);
	s->model.symbol = "kernel";
	s->machine.devices[STARPU_CUDA_WORKER].pace.kernels = NULL;
}

static void a_machine_can_be_faster_than_its_models(void **state)
{
	struct scene *s = *state;
	struct model_estimate before, after;

	s->task.flops = 1e9;
	before = expect(s, 0);
	s->machine.devices[STARPU_CUDA_WORKER].pace.speedup = 4;
	after = expect(s, 0);
	assert_int_equal(after.source, before.source);
	assert_true(fabs(after.seconds * 4 - before.seconds) < 1e-12);
	s->machine.devices[STARPU_CPU_WORKER].pace.speedup = 2;
	assert_true(expect(s, 0).seconds == after.seconds);
}

/* A changed copy of a predefined table has a number of its own, and yet elements. */
static void copied_tables_have_elements(void **state)
{
	struct starpu_data_interface_ops copied = starpu_interface_matrix_ops, own;
	struct scene *s = *state;
	double single_s;

	s->task.flops = 1e9;
	set_task(s, 1, 320, 4);
	single_s = expect(s, 0).seconds;
	copied.interfaceid = STARPU_MAX_INTERFACE_ID + 1;
	set_task(s, 1, 320, 8);
	s->data[0].ops = &copied;
	assert_true(expect(s, 0).seconds > 1.5 * single_s);
	own = copied;
	own.register_data_handle = NULL; /* Any struct may be behind it. */
	s->data[0].ops = &own;
	assert_true(expect(s, 0).seconds == single_s);
}

static void one_simulated_gpu_speaks_for_all(void **state)
{
	struct scene *s = *state;

	write_model(s, "kernel.somegpu", GPU_FILE("1"));
	assert_int_equal(expect(s, 0).source, MODEL_HISTORY);
	assert_int_equal(expect(s, 1).source, MODEL_HISTORY);
	assert_true(expect(s, 1).seconds == expect(s, 0).seconds);
}

/* Whatever its number was where it was measured. */
static void the_measured_gpu_need_not_be_the_first(void **state)
{
	struct scene *s = *state;

	write_model(s, "kernel.somegpu",
		    "45\n2\n"
		    "1\n1\n3\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
		    "nan nan nan\n0\ncea37d6d 409600 1e6 70 1 1 1 1\n"
		    "1\n1\n2\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
		    "nan nan nan\n0\ncea37d6d 409600 1e6 60 1 1 1 1\n");
	for (int i = 0; i < 2; i++)
		assert_true(fabs(expect(s, i).seconds - 60e-6) < 1e-15);
}

static void the_host_name_is_asked_first(void **state)
{
	static char hosts[] = "zero one  two";
	struct scene *s = *state;

	s->settings.knobs.mpi_hostnames = hosts;
	s->node.rank = 2;
	write_model(s, "kernel.somecpu", cpu_file);
	write_model(s, "kernel.two", GPU_FILE("5"));
	assert_true(fabs(expect(s, 0).seconds - 50e-6) < 1e-15);
	/* The file of that host has no CPU, so the CPU's own name is next. */
	assert_int_equal(expect(s, 2).source, MODEL_HISTORY);
}

static void a_broken_file_makes_the_model_unusable(void **state)
{
	struct scene *s = *state;

	write_model(s, "kernel.somegpu", "45\n1\n1\n1\n");
	s->task.flops = 1e9;
	assert_int_equal(expect(s, 0).source, MODEL_NONE);
}

static double twelve_us(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 12;
}

static double by_worker(struct starpu_task *task, unsigned workerid, unsigned nimpl)
{
	(void)task;
	return 1 + workerid + nimpl;
}

static double by_arch(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 3 : NAN;
}

static void functions_of_the_user_are_asked(void **state)
{
	struct scene *s = *state;

	s->model.type = STARPU_COMMON;
	assert_int_equal(expect(s, 2).source, MODEL_NONE);
	s->model.cost_function = twelve_us;
	assert_true(fabs(expect(s, 2).seconds - 12e-6) < 1e-15);
	assert_true(fabs(expect(s, 0).seconds - 12e-6 / 13.33) < 1e-15);
	s->model.type = STARPU_PER_WORKER;
	s->model.worker_cost_function = by_worker;
	assert_true(fabs(expect(s, 1).seconds - 2e-6) < 1e-15);
	s->model.type = STARPU_PER_ARCH;
	s->model.arch_cost_function = by_arch;
	assert_true(fabs(expect(s, 2).seconds - 3e-6) < 1e-15);
	assert_int_equal(expect(s, 0).source, MODEL_NONE);
}

/* ---- Measurements ---------------------------------------------------- */

static void measurements_are_kept_and_saved(void **state)
{
	struct scene *s = *state;
	struct starpu_perfmodel *model = &s->model;
	struct model_data data = {0};
	struct starpu_perfmodel_history_entry *entry;
	char path[128];

	s->machine.predicts = 0;
	strcpy(s->machine.hostname, "here.domain");
	s->node.calibrate = 1;
	for (int i = 0; i < 11; i++) /* the first is discarded */
		model_record(&s->workers[2], &s->task, 0, i ? 2e-6 : 1e-3);
	assert_int_equal(expect(s, 2).source, MODEL_HISTORY);
	assert_true(fabs(expect(s, 2).seconds - 2e-6) < 1e-15);
	model_record(&s->workers[2], &s->task, 0, 4e-6); /* too far from the mean */
	assert_true(fabs(expect(s, 2).seconds - 2e-6) < 1e-15);
	model_save(&s->node, model);
	snprintf(path, sizeof path, "%s/codelets/45/kernel.here", s->dir);
	assert_int_equal(model_data_read(&data, path, 0), 0);
	entry = model_arch_entry(model_data_add(&data, &s->workers[2].arch, 0),
				 0xcea37d6d, 0);
	assert_non_null(entry);
	assert_int_equal(entry->nsample, 10);
	assert_true(fabs(entry->sum - 20) < 1e-3);
	model_data_clear(&data);
}

/* Of a job whose turn has come the answers are remembered, until there are others. */
static void what_was_said_holds_until_something_changes(void **state)
{
	struct scene *s = *state;
	struct job job = {.state = JOB_READY};
	double first_s;

	write_model(s, "kernel.somecpu", cpu_file);
	s->node.calibrate = 1;
	s->task.starpu_private = &job;
	first_s = expect(s, 2).seconds;
	assert_true(fabs(first_s - 1e-3) < 1e-12);
	assert_true(expect(s, 2).seconds == first_s);
	assert_true(job.shape != 0);
	for (int i = 0; i < 2; i++) /* the first is discarded */
		model_record(&s->workers[2], &s->task, 0, 1.2e-3);
	assert_true(expect(s, 2).seconds != first_s);
	/* It is submitted again, with other data. */
	job.shape = 0;
	set_task(s, 1, 960, 4);
	assert_true(fabs(expect(s, 2).seconds - 27e-3) < 1e-12);
	/* The roofline asks for the operations, too. */
	for (int i = 1; i <= 2; i++) {
		job.shape = 0;
		s->task.flops = i * 1e9;
		assert_int_equal(expect(s, 0).source, MODEL_ROOFLINE);
		assert_true(fabs(expect(s, 0).seconds /
					 roofline_seconds(&s->workers[0], &s->task) -
				 1) < 1e-12);
	}
}

static void too_few_real_measurements_force_a_calibration(void **state)
{
	struct scene *s = *state;

	s->machine.predicts = 0;
	assert_int_equal(expect(s, 2).source, MODEL_NONE);
	assert_int_equal(s->model.benchmarking, 1);
	for (int i = 0; i < 5; i++)
		model_record(&s->workers[2], &s->task, 0, 2e-6);
	assert_int_equal(expect(s, 2).source, MODEL_NONE);
	for (int i = 0; i < 6; i++)
		model_record(&s->workers[2], &s->task, 0, 2e-6);
	assert_int_equal(expect(s, 2).source, MODEL_HISTORY);
}

static void regressions_find_the_law(void **state)
{
	struct scene *s = *state;

	s->machine.predicts = 0;
	strcpy(s->machine.hostname, "here");
	s->node.calibrate = 1;
	s->model.type = STARPU_NL_REGRESSION_BASED;
	for (uint32_t nx = 100; nx <= 1000; nx += 100) {
		set_task(s, 1, nx, 4);
		for (int i = 0; i < 3; i++) /* 5 us and 10 ns for 4 bytes */
			model_record(&s->workers[2], &s->task, 0, 5e-6 + 1e-8 * nx * nx);
	}
	set_task(s, 1, 550, 4);
	assert_int_equal(expect(s, 2).source, MODEL_REGRESSION);
	assert_true(fabs(expect(s, 2).seconds / (5e-6 + 1e-8 * 550 * 550) - 1) < 0.02);
	set_task(s, 1, 5000, 4);
	assert_int_equal(expect(s, 2).source, MODEL_NONE);
	s->model.type = STARPU_REGRESSION_BASED;
	set_task(s, 1, 550, 4);
	assert_true(fabs(expect(s, 2).seconds / (5e-6 + 1e-8 * 550 * 550) - 1) < 0.2);
}

static void free_arch(struct model_arch *arch)
{
	for (size_t i = 0; i < arch->nentries; i++)
		free(arch->entries[i]);
	free(arch->entries);
	free(arch->known.list);
	table_free(&arch->by_footprint);
}

static void an_unstable_history_starts_afresh(void **state)
{
	struct model_arch arch = {0};
	struct model_sample sample = {
		.footprint = 1, .bytes = 10, .duration_us = 1, .number = 1};
	int resets = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		model_fit_add(&arch, STARPU_HISTORY_BASED, &sample, 50);
	assert_int_equal(arch.entries[0]->nsample, 3);
	sample.duration_us = 100;
	for (int i = 0; i < 3; i++)
		resets += model_fit_add(&arch, STARPU_HISTORY_BASED, &sample, 50);
	assert_int_equal(resets, 1);
	assert_int_equal(arch.entries[0]->nsample, 0);
	model_fit_add(&arch, STARPU_HISTORY_BASED, &sample, 50);
	assert_true(arch.entries[0]->mean == 100);
	free_arch(&arch);
}

/* A machine whose cores have two modes, and an interruption: StarPU's mean is that of a
 * mode, a sum of tasks goes by the mean of all but what was interrupted. */
static void the_mean_of_all_has_what_starpus_leaves_out(void **state)
{
	static const double durations_us[] = {99, 10, 10, 10, 30, 100, 10, 99};
	struct model_arch arch = {0};
	const struct model_entry *entry;

	(void)state;
	for (size_t i = 0; i < sizeof durations_us / sizeof *durations_us; i++)
		model_fit_add(&arch, STARPU_HISTORY_BASED,
			      &(struct model_sample){.footprint = 1,
						     .bytes = 10,
						     .duration_us = durations_us[i],
						     .number = 1},
			      50);
	entry = model_entry_of(arch.entries[0]);
	assert_int_equal(entry->known.nsample, 4);
	assert_true(entry->known.mean == 10);
	assert_int_equal(entry->all.nsample, 6);
	assert_true(model_fit_mean(entry) == (4 * 10 + 30 + 99) / 6.);
	assert_true(fabs(model_fit_deviation(entry) - 32.5) < 0.1);
	free_arch(&arch);
}

/* What came before a fresh start counts half; nothing where it was ten times off. */
static void a_fresh_start_fades_the_mean_of_all(void **state)
{
	struct model_sample sample = {
		.footprint = 1, .bytes = 10, .duration_us = 10, .number = 1};

	(void)state;
	for (int far = 0; far < 2; far++) {
		struct model_arch arch = {0};

		sample.duration_us = 10;
		for (int i = 0; i < 5; i++)
			model_fit_add(&arch, STARPU_HISTORY_BASED, &sample, 50);
		sample.duration_us = far ? 1000 : 20;
		for (int i = 0; i < 5; i++)
			model_fit_add(&arch, STARPU_HISTORY_BASED, &sample, 50);
		assert_int_equal(arch.entries[0]->nsample, 1);
		/* Four of 10 and of 20, halved, and one of 20. */
		assert_int_equal(model_entry_of(arch.entries[0])->all.nsample,
				 far ? 1 : 5);
		assert_true(model_fit_mean(model_entry_of(arch.entries[0])) ==
			    (far ? 1000 : 16));
		free_arch(&arch);
	}
}

#define OF_ALL(footprint, sums)                                                          \
	"45\n1\n1\n0\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"               \
	"# of all: " footprint " " sums "\ncea37d6d 409600 1e6 1000 1 20000 2e7 20\n"

/* Schedulers of real runs go on with StarPU's mean; the comment outlives a rewriting. */
static void a_simulation_takes_the_mean_of_all(void **state)
{
	struct scene *s = *state;
	struct model_data data = {0};
	char path[128];
	const char *first = write_model(s, "a.x", OF_ALL("cea37d6d", "25 4e4 65625000"));

	snprintf(path, sizeof path, "%s/codelets/45/kernel.somecpu", s->dir);
	assert_int_equal(model_data_read(&data, first, 0), 0);
	assert_int_equal(model_data_write(&data, path, 0), 0);
	model_data_clear(&data);
	assert_true(fabs(expect(s, 2).seconds - 1.6e-3) < 1e-12);
	assert_int_equal(expect(s, 2).nsample, 25);
	assert_true(fabs(expect(s, 2).deviation_s - 255e-6) < 1e-6);
	s->machine.predicts = 0;
	strcpy(s->machine.devices[STARPU_CPU_WORKER].model, "");
	s->settings.knobs.hostname = "somecpu";
	assert_int_equal(model_data_read(&data, path, 0), 0);
	assert_true(model_data_find(&data, &s->workers[2].arch)
			    ->implementations[0]
			    ->entries[0]
			    ->mean == 1000);
	model_data_clear(&data);
	model_state_drop(&s->node, &s->model);
	assert_true(fabs(expect(s, 2).seconds - 1e-3) < 1e-12);
}

static void a_damaged_mean_of_all_is_refused(void **state)
{
	static const char *const texts[] = {
		OF_ALL("cea37d6d", "25 4e4"), OF_ALL("cea37d6d", "0 4e4 6e7"),
		OF_ALL("cea37d6d", "25 nan 6e7"), OF_ALL("cea37d6e", "25 4e4 6e7")};
	struct scene *s = *state;
	struct model_data data = {0};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(
			model_data_read(&data, write_model(s, "t.x", texts[i]), 0),
			-EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_matches_the_published_vector),
		TEST(footprints_match_existing_calibrations),
		TEST(the_model_may_choose_the_footprint),
		TEST(a_file_survives_writing_and_reading),
		TEST(damaged_files_are_refused),
		TEST(absent_and_empty_files_differ),
		TEST(a_measured_size_takes_its_mean),
		TEST(a_size_between_is_interpolated),
		TEST(without_a_calibration_the_roofline_stands),
		TEST(named_kernels_have_a_law_of_their_own),
		TEST(a_machine_can_be_faster_than_its_models),
		TEST(copied_tables_have_elements),
		TEST(one_simulated_gpu_speaks_for_all),
		TEST(the_measured_gpu_need_not_be_the_first),
		TEST(the_host_name_is_asked_first),
		TEST(a_broken_file_makes_the_model_unusable),
		TEST(functions_of_the_user_are_asked),
		TEST(measurements_are_kept_and_saved),
		TEST(what_was_said_holds_until_something_changes),
		TEST(too_few_real_measurements_force_a_calibration),
		TEST(regressions_find_the_law),
		cmocka_unit_test(an_unstable_history_starts_afresh),
		cmocka_unit_test(the_mean_of_all_has_what_starpus_leaves_out),
		cmocka_unit_test(a_fresh_start_fades_the_mean_of_all),
		TEST(a_simulation_takes_the_mean_of_all),
		TEST(a_damaged_mean_of_all_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
