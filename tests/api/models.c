/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Performance models that a program makes by functions. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>

#include "claim.h"

/* SMPI has macros of these names, which the header does not go with. */
#undef malloc
#undef calloc
#undef realloc
#include <malloc.h>

int claim_failures;

static char top[] = "/tmp/orrery-models-XXXXXX";

static void start(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 2;
	if (starpu_init(&conf) != 0)
		exit(77);
}

static double five_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned nimpl)
{
	(void)task;
	CLAIM_EQ(arch->ndevices, 1);
	CLAIM_EQ(arch->devices[0].type, STARPU_CPU_WORKER);
	return 5 + nimpl;
}

static double elsewhere_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			   unsigned nimpl)
{
	(void)task;
	(void)arch;
	(void)nimpl;
	return 11;
}

static size_t thousand(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		       unsigned nimpl)
{
	(void)task;
	(void)arch;
	(void)nimpl;
	return 1000;
}

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_perfmodel model;
static struct starpu_codelet cl = {.cpu_funcs = {nothing, nothing}, .model = &model};

static struct starpu_task *task_of(enum starpu_perfmodel_type type)
{
	struct starpu_task *task = starpu_task_create();

	memset(&model, 0, sizeof(model));
	model.type = type;
	task->cl = &cl;
	return task;
}

static struct starpu_perfmodel_arch *cpu(void)
{
	return starpu_worker_get_perf_archtype(
		starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
}

static void a_function_by_devices_wins(void)
{
	struct starpu_task *task;

	start();
	task = task_of(STARPU_PER_ARCH);
	starpu_perfmodel_init(&model);
	CLAIM(isnan(starpu_task_expected_length(task, cpu(), 0)));
	CLAIM_EQ(starpu_perfmodel_set_per_devices_cost_function(
			 &model, 0, five_us, STARPU_CPU_WORKER, 0, 1, -1),
		 0);
	CLAIM_EQ(starpu_task_expected_length(task, cpu(), 0), 5);
	CLAIM(isnan(starpu_task_expected_length(task, cpu(), 1)));
	model.arch_cost_function = elsewhere_us;
	CLAIM_EQ(starpu_task_expected_length(task, cpu(), 0), 5);
	CLAIM_EQ(starpu_task_expected_length(task, cpu(), 1), 11);
	starpu_perfmodel_get_model_per_arch(&model, cpu(), 1)->cost_function = five_us;
	CLAIM_EQ(starpu_task_expected_length(task, cpu(), 1), 6);
	CLAIM(starpu_perfmodel_get_model_per_devices(&model, 0, STARPU_CPU_WORKER, 0, 1,
						     -1)
		      ->cost_function == five_us);
	starpu_perfmodel_deinit(&model);
	CLAIM_EQ(starpu_task_expected_length(task, cpu(), 0), 11);
	starpu_task_destroy(task);
	starpu_shutdown();
	start();
	starpu_perfmodel_set_per_devices_cost_function(&model, 0, five_us,
						       STARPU_CPU_WORKER, 0, 1, -1);
	starpu_shutdown();
	CLAIM(model.state == NULL);
}

static void a_size_by_devices_wins(void)
{
	const size_t bytes = 1000;
	struct starpu_task *task;
	uint32_t alone;

	start();
	task = task_of(STARPU_REGRESSION_BASED);
	alone = starpu_task_footprint(&model, task, cpu(), 0);
	starpu_perfmodel_set_per_devices_size_base(&model, 0, thousand, STARPU_CPU_WORKER,
						   0, 1, -1);
	CLAIM_EQ(starpu_task_footprint(&model, task, cpu(), 0),
		 starpu_hash_crc32c_be_n(&bytes, sizeof(bytes), 0));
	CLAIM_EQ(starpu_task_footprint(&model, task, cpu(), 1), alone);
	for (unsigned i = 0; i < 40; i++)
		starpu_perfmodel_update_history(&model, task, cpu(), 0, 0, 7);
	CLAIM_EQ(starpu_perfmodel_get_model_per_arch(&model, cpu(), 0)->regression.maxx,
		 1000);
	starpu_task_destroy(task);
	starpu_perfmodel_deinit(&model);
	starpu_shutdown();
}

static void combinations_have_numbers(void)
{
	struct starpu_perfmodel_device devices[2] = {{STARPU_CPU_WORKER, 0, 1},
						     {STARPU_CUDA_WORKER, 77, 1}};
	struct starpu_perfmodel_arch *arch;
	char name[64], tiny[5];
	int before;

	start();
	before = starpu_perfmodel_get_narch_combs();
	CLAIM_EQ(starpu_perfmodel_arch_comb_get(1, devices), 0);
	CLAIM_EQ(starpu_perfmodel_arch_comb_get(2, devices), -1);
	CLAIM_EQ(starpu_perfmodel_arch_comb_add(2, devices), before);
	CLAIM_EQ(starpu_perfmodel_arch_comb_add(2, devices), before);
	CLAIM_EQ(starpu_perfmodel_get_narch_combs(), before + 1);
	arch = starpu_perfmodel_arch_comb_fetch(before);
	CLAIM_EQ(arch->ndevices, 2);
	CLAIM_EQ(arch->devices[1].devid, 77);
	CLAIM(starpu_perfmodel_arch_comb_fetch(before + 1) == NULL);
	starpu_perfmodel_get_arch_name(cpu(), name, sizeof(name), 0);
	CLAIM(strcmp(name, "cpu0_impl0 (Comb0)") == 0);
	starpu_perfmodel_get_arch_name(cpu(), tiny, sizeof(tiny), 0);
	CLAIM(strcmp(tiny, "cpu0") == 0);
	starpu_shutdown();
}

/* ---- without starpu_init() ------------------------------------------- */

/* What a model's list of combinations says; empty when it is not there. */
static void list_combs(char *text, size_t bytes)
{
	struct starpu_perfmodel read = {.type = STARPU_PERFMODEL_INVALID};
	FILE *file = tmpfile();
	size_t n = 0;

	CLAIM(file != NULL);
	if (starpu_perfmodel_load_symbol("measured", &read) == 0) {
		CLAIM_EQ(starpu_perfmodel_list_combs(file, &read), 0);
		CLAIM_EQ(starpu_perfmodel_unload_model(&read), 0);
		rewind(file);
		n = fread(text, 1, bytes - 1, file);
	}
	text[n] = '\0';
	fclose(file);
}

static void measure(struct starpu_perfmodel *measured)
{
	struct starpu_codelet work = {.cpu_funcs = {nothing}, .model = measured};
	struct starpu_task *task = starpu_task_create();
	struct starpu_perfmodel_arch *arch = cpu();
	char path[512] = "", text[64] = "";
	FILE *file = tmpfile();

	task->cl = &work;
	starpu_perfmodel_update_history_n(measured, task, arch, 0, 0, 250, 20);
	CLAIM_EQ(starpu_perfmodel_print_estimations(
			 measured, starpu_task_footprint(measured, task, arch, 0), file),
		 0);
	rewind(file);
	CLAIM(fgets(text, sizeof(text), file) &&
	      strstr(text, "2.500000e+02 2.500000e+02"));
	starpu_perfmodel_debugfilepath(measured, arch, path, sizeof(path), 0);
	CLAIM(strstr(path, "/debug/measured.") && strstr(path, ".cpu0_impl0 ("));
	task->destroy = 0;
	starpu_task_destroy(task);
	fclose(file);
}

/* What the file would be refused for never comes into it. */
static void what_nobody_measures_is_refused(void)
{
	struct starpu_perfmodel saved = {.type = STARPU_HISTORY_BASED, .symbol = "sound"};
	struct starpu_codelet work = {.cpu_funcs = {nothing}, .model = &saved};
	const double wild[] = {INFINITY, NAN, 1e300, 2e15};
	struct starpu_task *task;

	for (int life = 0; life < 2; life++) {
		start();
		task = starpu_task_create();
		task->cl = &work;
		for (int i = 0; i < 4; i++)
			starpu_perfmodel_update_history_n(&saved, task, cpu(), 0, 0,
							  wild[i], 20);
		if (life == 0)
			starpu_perfmodel_update_history_n(&saved, task, cpu(), 0, 0, 250,
							  20);
		CLAIM_EQ(starpu_task_expected_length(task, cpu(), 0), 250);
		task->destroy = 0;
		starpu_task_destroy(task);
		starpu_shutdown();
	}
}

/* A model without a symbol has nowhere to keep what it has learnt. */
static void learn_and_forget(unsigned n)
{
	struct starpu_codelet work = {.cpu_funcs = {nothing}};
	struct starpu_task *task = starpu_task_create();

	task->cl = &work;
	for (unsigned i = 0; i < n; i++) {
		struct starpu_perfmodel passing = {.type = STARPU_HISTORY_BASED};

		starpu_perfmodel_update_history_n(&passing, task, cpu(), 0, 0, 250, 20);
		starpu_perfmodel_deinit(&passing);
	}
	task->destroy = 0;
	starpu_task_destroy(task);
}

static void models_without_symbols_leave_nothing(void)
{
	size_t before;

	start();
	learn_and_forget(10);
	before = mallinfo2().uordblks;
	learn_and_forget(1000);
	/* They took 1,328 bytes each; workers that begin take some, too. */
	CLAIM(mallinfo2().uordblks < before + 500000);
	starpu_shutdown();
}

/* Also when what other runs measured is not to be used. */
static void saved_and_read(const char *symbol)
{
	struct starpu_perfmodel saved = {.type = STARPU_HISTORY_BASED, .symbol = symbol};
	struct starpu_perfmodel read = {.type = STARPU_PERFMODEL_INVALID};
	struct starpu_codelet work = {.cpu_funcs = {nothing}, .model = &saved};
	struct starpu_task *task;

	setenv("STARPU_CALIBRATE", "2", 1);
	start();
	task = starpu_task_create();
	task->cl = &work;
	starpu_perfmodel_update_history_n(&saved, task, cpu(), 0, 0, 250, 20);
	starpu_save_history_based_model(&saved);
	CLAIM_EQ(starpu_perfmodel_load_symbol(symbol, &read), 0);
	CLAIM_EQ(read.type, STARPU_HISTORY_BASED);
	CLAIM_EQ(starpu_perfmodel_unload_model(&read), 0);
	task->destroy = 0;
	starpu_task_destroy(task);
	starpu_perfmodel_deinit(&saved);
	starpu_shutdown();
	unsetenv("STARPU_CALIBRATE");
}

static void what_was_saved_is_read(void)
{
	saved_and_read("saved");
}

static void exists(const char *below, int expected)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, below);
	CLAIM_EQ(access(path, F_OK) == 0, expected);
}

static void models_stay_in_their_directory(void)
{
	saved_and_read("../../outside");
	exists("outside", 0);
	exists("codelets/45/__/__/outside", 1);
	saved_and_read("ends/..");
	exists("codelets/45/ends/__", 1);
	saved_and_read("inner/of..dots");
	exists("codelets/45/inner/of..dots", 1);
}

static void models_without_workers(void)
{
	static struct starpu_perfmodel measured = {.type = STARPU_HISTORY_BASED,
						   .symbol = "measured"};
	char text[256];

	start();
	measure(&measured);
	/* Not the one that is open. */
	starpu_perfmodel_initialize();
	starpu_perfmodel_free_sampling();
	CLAIM(starpu_is_initialized());
	starpu_save_history_based_model(&measured);
	starpu_shutdown();

	for (int i = 0; i < 2; i++) {
		starpu_perfmodel_initialize();
		CLAIM(!starpu_is_initialized());
		list_combs(text, sizeof(text));
		CLAIM(strstr(text, "cpu") != NULL);
		starpu_perfmodel_free_sampling();
		list_combs(text, sizeof(text));
		CLAIM_EQ(text[0], '\0');
	}
}

/* ---- measurements that a program gives ------------------------------- */

enum { NGIVEN = 20 };

static struct starpu_perfmodel one_model = {.type = STARPU_HISTORY_BASED,
					    .symbol = "given"};
static struct starpu_perfmodel same_model = {.type = STARPU_HISTORY_BASED,
					     .symbol = "given"};
static struct starpu_codelet one_cl = {.cpu_funcs = {nothing}, .model = &one_model};
static struct starpu_codelet same_cl = {.cpu_funcs = {nothing}, .model = &same_model};

static int is_near(double seen, double expected)
{
	return fabs(seen - expected) < 1e-6 * expected;
}

static double expected_us(struct starpu_codelet *codelet, int cpu_worker)
{
	int id = starpu_worker_get_by_type(STARPU_CPU_WORKER, cpu_worker);
	struct starpu_task *task = starpu_task_create();
	double us;

	task->cl = codelet;
	task->destroy = 0;
	us = starpu_task_worker_expected_length(task, (unsigned)id, 0, 0);
	starpu_task_destroy(task);
	return us;
}

static void give(struct starpu_codelet *codelet, int cpu_worker, double us)
{
	int id = starpu_worker_get_by_type(STARPU_CPU_WORKER, cpu_worker);
	struct starpu_task *task = starpu_task_create();

	task->cl = codelet;
	task->destroy = 0;
	starpu_perfmodel_update_history_n(codelet->model, task,
					  starpu_worker_get_perf_archtype(id, 0),
					  (unsigned)id, 0, us, NGIVEN);
	starpu_task_destroy(task);
}

static void run_one(double us)
{
	double before_us;

	if (!orrery_is_simulated())
		return;
	before_us = starpu_timing_now();
	CLAIM_EQ(starpu_task_insert(&one_cl, 0), 0);
	starpu_task_wait_for_all();
	CLAIM(fabs(starpu_timing_now() - before_us - us) < 0.1 * us);
}

static void measurements_are_seen(void)
{
	start();
	CLAIM(isnan(expected_us(&one_cl, 0)));
	CLAIM(isnan(expected_us(&same_cl, 0)));
	give(&one_cl, 0, 1000);
	CLAIM(is_near(expected_us(&one_cl, 0), 1000));
	CLAIM(is_near(expected_us(&one_cl, 1), 1000));
	CLAIM(is_near(expected_us(&same_cl, 1), 1000));
	run_one(1000);
	give(&same_cl, 1, 1200);
	CLAIM(is_near(expected_us(&one_cl, 0), 1100));
	for (int i = 0; i < 10; i++)
		give(&one_cl, 0, 1200);
	CLAIM(expected_us(&one_cl, 0) > 1180);
	run_one(expected_us(&one_cl, 0));
	starpu_shutdown();
}

/* Where the first device speaks for all of its kind until they speak for themselves. */
static void devices_learn_apart(void)
{
	static struct starpu_perfmodel own = {.type = STARPU_HISTORY_BASED,
					      .symbol = "given_apart"};
	struct starpu_codelet codelet = {.cpu_funcs = {nothing}, .model = &own};

	setenv("STARPU_PERF_MODEL_HOMOGENEOUS_CPU", "0", 1);
	start();
	CLAIM(isnan(expected_us(&codelet, 1)));
	give(&codelet, 0, 100);
	CLAIM(orrery_is_simulated() ? is_near(expected_us(&codelet, 1), 100)
				    : isnan(expected_us(&codelet, 1)));
	give(&codelet, 1, 110);
	CLAIM(is_near(expected_us(&codelet, 0), 100));
	CLAIM(is_near(expected_us(&codelet, 1), 110));
	starpu_shutdown();
	unsetenv("STARPU_PERF_MODEL_HOMOGENEOUS_CPU");
}

static void a_life_follows_models(void)
{
	starpu_perfmodel_initialize();
	CLAIM(!starpu_is_initialized());
	start();
	CLAIM(starpu_is_initialized());
	CLAIM_EQ(starpu_cpu_worker_get_count(), 2);
	starpu_perfmodel_free_sampling();
	starpu_shutdown();
	CLAIM(!starpu_is_initialized());
	starpu_perfmodel_initialize();
	starpu_perfmodel_free_sampling();
	starpu_perfmodel_free_sampling();
	CLAIM(!starpu_is_initialized());
}

static int first_cpu;

static double by_worker(struct starpu_task *task, unsigned worker, unsigned nimpl)
{
	(void)task;
	return (int)worker == first_cpu ? 1 : 3 + 2 * (double)nimpl;
}

static double unknown(struct starpu_task *task, unsigned worker, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return (int)worker == first_cpu ? 1 : NAN;
}

static int only_on_the_second(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	return (int)worker == first_cpu + 1 && nimpl == 1;
}

/* 2 tasks in 3/4 of the time that one takes on the first worker, and 1/4 of the other. */
static void workers_have_a_harmonic_mean(void)
{
	struct starpu_perfmodel joules = {.type = STARPU_PER_WORKER,
					  .worker_cost_function = by_worker};
	struct starpu_task *task;
	int second;
	unsigned ctx;

	start();
	first_cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	second = first_cpu + 1;
	task = task_of(STARPU_PER_WORKER);
	model.worker_cost_function = by_worker;
	CLAIM_EQ(1000 * starpu_task_expected_length_average(task, 0), 1500);
	CLAIM_EQ(starpu_task_expected_energy_average(task, 0), 0); /* No model. */
	cl.energy_model = &joules;
	CLAIM_EQ(1000 * starpu_task_expected_energy_average(task, 0), 1500);
	cl.energy_model = NULL;
	ctx = starpu_sched_ctx_create(&second, 1, "second", STARPU_SCHED_CTX_POLICY_NAME,
				      "eager", 0);
	CLAIM_EQ(starpu_task_expected_length_average(task, ctx), 3);
	cl.can_execute = only_on_the_second;
	CLAIM_EQ(starpu_task_expected_length_average(task, 0), 5);
	cl.can_execute = NULL;
	model.worker_cost_function = unknown;
	CLAIM(isnan(starpu_task_expected_length_average(task, 0)));
	cl.cpu_funcs[0] = cl.cpu_funcs[1] = NULL;
	cl.where = STARPU_CUDA;
	CLAIM(isnan(starpu_task_expected_length_average(task, 0)));
	cl.cpu_funcs[0] = cl.cpu_funcs[1] = nothing;
	cl.where = 0;
	starpu_sched_ctx_delete(ctx);
	starpu_task_destroy(task);
	starpu_shutdown();
}

/* Nor does anybody look at it later: its memory may be somebody else's. */
static void what_cannot_be_loaded_is_forgotten(void)
{
	struct starpu_perfmodel read, after;

	start();
	for (int i = 0; i < 2; i++) {
		read = (struct starpu_perfmodel){.type = STARPU_PERFMODEL_INVALID};
		CLAIM(i ? starpu_perfmodel_load_symbol("nothing", &read)
			: starpu_perfmodel_load_file("/nowhere/nothing", &read));
		CLAIM(!read.state && !read.is_loaded);
		memset(&read, 0x55, sizeof(read));
	}
	starpu_shutdown();
	memset(&after, 0x55, sizeof(after));
	CLAIM_EQ(memcmp(&read, &after, sizeof(after)), 0);
}

static const struct claim claims[] = {
	{"workers have a harmonic mean", workers_have_a_harmonic_mean},
	{"a function by devices wins", a_function_by_devices_wins},
	{"a size by devices wins", a_size_by_devices_wins},
	{"combinations have numbers", combinations_have_numbers},
	{"starpu_init() follows starpu_perfmodel_initialize()", a_life_follows_models},
	{"what was saved is read", what_was_saved_is_read},
	{"models stay in their directory", models_stay_in_their_directory},
	{"what nobody measures is refused", what_nobody_measures_is_refused},
	{"models without symbols leave nothing", models_without_symbols_leave_nothing},
	{"what cannot be loaded is forgotten", what_cannot_be_loaded_is_forgotten},
	{"models are read without starpu_init()", models_without_workers},
	{"the next estimate sees what was measured", measurements_are_seen},
	{"devices that differ learn apart", devices_learn_apart},
	{NULL, NULL},
};

int main(void)
{
	char command[64];
	int failed;

	if (!mkdtemp(top))
		return 1;
	setenv("STARPU_PERF_MODEL_DIR", top, 1);
	failed = claims_run(claims, 0);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command) != 0 || failed;
}
