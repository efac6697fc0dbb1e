/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Where dmda sends tasks, on a fake machine whose times are those of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <starpu.h>

#include "core/worker.h"
#include "fake.h"

enum { MAX_WORKERS = 6, NTASKS = 200, TILE = 1000 };

static struct {
	double cpu_us, gpu_us; /* what models say */
	double true_gpu_us;    /* what it takes; 0: as the model says */
	int slow_device;       /* this GPU takes more, by factor */
	double factor;
	double gpu_j;     /* on a CPU it is 1 */
	double second_us; /* what implementation 1 takes on a CPU; 0: as the first */
	int executed[MAX_WORKERS];
	int nsecond; /* runs of it */
	int norder;
	char order[NTASKS]; /* names of tasks that write down theirs */
	double last_end_s, link_free_s;
} world;

static double by_arch_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned implementation)
{
	(void)task;
	if (arch->devices[0].type == STARPU_CPU_WORKER)
		return implementation > 0 ? world.second_us : world.cpu_us;
	return world.gpu_us *
	       (arch->devices[0].devid == world.slow_device ? world.factor : 1);
}

static double by_worker_us(struct starpu_task *task, unsigned worker,
			   unsigned implementation)
{
	(void)task;
	(void)implementation;
	if (starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER)
		return world.cpu_us;
	return world.gpu_us * (starpu_worker_get_devid((int)worker) == world.slow_device
				       ? world.factor
				       : 1);
}

static double task_s(const struct worker *worker, const struct job *job)
{
	double gpu_us = world.true_gpu_us > 0 ? world.true_gpu_us : world.gpu_us;

	if (worker->type == STARPU_CPU_WORKER)
		return 1e-6 * (job->implementation ? world.second_us : world.cpu_us);
	return 1e-6 * gpu_us * (worker->devid == world.slow_device ? world.factor : 1);
}

/* Copies go one after the other. */
static double copy_s(const struct plat_copy *copy)
{
	double begin_s = fmax(fake_now_s(), world.link_free_s);

	world.link_free_s = begin_s + 1e-8 * (double)copy->bytes;
	return world.link_free_s - fake_now_s();
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	world.executed[starpu_worker_get_id()]++;
	world.last_end_s = fake_now_s();
}

static void second_kernel(void *buffers[], void *arg)
{
	world.nsecond++;
	kernel(buffers, arg);
}

static void named_kernel(void *buffers[], void *arg)
{
	kernel(buffers, arg);
	world.order[world.norder++] = *(const char *)arg;
	world.order[world.norder] = 0;
}

static double joules(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		     unsigned implementation)
{
	(void)task;
	(void)implementation;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 1 : world.gpu_j;
}

static struct starpu_perfmodel energy = {
	.type = STARPU_PER_ARCH, .arch_cost_function = joules, .symbol = "energy"};
static struct starpu_perfmodel per_arch = {
	.type = STARPU_PER_ARCH, .arch_cost_function = by_arch_us, .symbol = "arch"};
static struct starpu_perfmodel per_worker = {.type = STARPU_PER_WORKER,
					     .worker_cost_function = by_worker_us,
					     .symbol = "worker"};
static struct starpu_codelet read_it = {.cpu_funcs = {kernel},
					.cuda_funcs = {kernel},
					.nbuffers = 1,
					.modes = {STARPU_R},
					.model = &per_arch};
static struct starpu_codelet free_it = {
	.cpu_funcs = {kernel}, .cuda_funcs = {kernel}, .model = &per_arch};
static struct starpu_codelet twice = {
	.cpu_funcs = {kernel, second_kernel}, .cuda_funcs = {kernel}, .model = &per_arch};
static struct starpu_codelet on_cpu = {.cpu_funcs = {kernel},
				       .nbuffers = 1,
				       .modes = {STARPU_RW | STARPU_COMMUTE},
				       .model = &per_arch};
static struct starpu_codelet on_gpu = {.cuda_funcs = {kernel},
				       .nbuffers = 1,
				       .modes = {STARPU_RW | STARPU_COMMUTE},
				       .model = &per_arch};
static struct starpu_codelet write_it = {
	.cuda_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_W}, .model = &per_arch};
static struct starpu_codelet read_on_cpu = {
	.cpu_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_R}, .model = &per_arch};
static struct starpu_codelet named = {.cuda_funcs = {named_kernel},
				      .nbuffers = 1,
				      .modes = {STARPU_R},
				      .model = &per_arch};
static struct starpu_codelet free_on_gpu = {.cuda_funcs = {kernel}, .model = &per_arch};
static struct starpu_codelet frugal = {.cpu_funcs = {kernel},
				       .cuda_funcs = {kernel},
				       .model = &per_arch,
				       .energy_model = &energy};
static char bytes[TILE];

static void start_with(int ncpus, int ngpus, const char *policy)
{
	struct starpu_conf conf;

	fake_start(1, 1e-6, 1e9);
	fake_machine()->ncpus = ncpus;
	fake_machine()->ngpus = ngpus;
	fake_machine()->duration_s = task_s;
	fake_machine()->link_bytes_per_s = 1e8; /* A tile takes 10 us. */
	fake_machine()->link_latency_s = 0;
	fake_machine()->copy_s = copy_s;
	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	assert_int_equal(starpu_init(&conf), 0);
	for (int i = 0; i < MAX_WORKERS; i++)
		world.executed[i] = 0;
	world.slow_device = -1;
	world.true_gpu_us = world.link_free_s = world.second_us = 0;
	world.nsecond = world.norder = 0;
}

static void start(int ngpus, const char *policy)
{
	start_with(1, ngpus, policy);
}

static void stop(void)
{
	starpu_shutdown();
	fake_stop();
}

static void insert(struct starpu_codelet *cl, int worker)
{
	assert_int_equal(starpu_task_insert(cl, STARPU_EXECUTE_ON_WORKER, worker, 0), 0);
}

static void the_fast_device_gets_more(void **state)
{
	(void)state;
	start(1, "dmda");
	world.gpu_us = 10;
	world.cpu_us = 90;
	for (int i = 0; i < NTASKS; i++)
		insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 9 * NTASKS / 10);
	assert_int_equal(world.executed[1], NTASKS / 10);
	stop();
}

/* The value has to come from main memory: nearer is faster. */
static void transfers_count(void **state)
{
	starpu_data_handle_t tile;

	(void)state;
	start(1, "dmda");
	world.gpu_us = 10;
	world.cpu_us = 15;
	starpu_vector_data_register(&tile, STARPU_MAIN_RAM, (uintptr_t)bytes, TILE, 1);
	assert_int_equal(starpu_task_insert(&read_it, STARPU_R, tile, 0), 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[1], 1);
	assert_int_equal(starpu_data_prefetch_on_node(tile, 1, 0), 0);
	assert_int_equal(starpu_task_insert(&read_it, STARPU_R, tile, 0), 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 1);
	starpu_data_unregister(tile);
	stop();
}

static double read_all_s(const char *policy)
{
	starpu_data_handle_t tiles[NTASKS];
	double start_s;

	start(1, policy);
	start_s = fake_now_s();
	for (int i = 0; i < NTASKS; i++) {
		starpu_vector_data_register(&tiles[i], STARPU_MAIN_RAM, (uintptr_t)bytes,
					    TILE, 1);
		assert_int_equal(starpu_task_insert(&read_it, STARPU_R, tiles[i], 0), 0);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		starpu_data_unregister(tiles[i]);
	stop();
	return world.last_end_s - start_s;
}

/* The GPU computes in no time, but each of its tasks needs 10 us of its link. */
static void transfers_queue(void **state)
{
	(void)state;
	world.gpu_us = 1;
	world.cpu_us = 12;
	assert_true(read_all_s("dmda") < 1.02 * read_all_s("eager"));
}

/* Each GPU has a link of its own, and a core waits for what it has asked for: what comes
 * from three GPUs goes to three cores. */
static void transfers_to_main_memory_keep_their_core(void **state)
{
	enum { NGPUS = 3 };
	starpu_data_handle_t tiles[NGPUS];

	(void)state;
	start_with(NGPUS, NGPUS, "dmda");
	world.gpu_us = 1;
	world.cpu_us = 2;
	for (int i = 0; i < NGPUS; i++) {
		starpu_vector_data_register(&tiles[i], -1, 0, TILE, 1);
		assert_int_equal(starpu_task_insert(&write_it, STARPU_W, tiles[i],
						    STARPU_EXECUTE_ON_WORKER, i, 0),
				 0);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NGPUS; i++)
		assert_int_equal(starpu_task_insert(&read_on_cpu, STARPU_R, tiles[i], 0),
				 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NGPUS; i++)
		assert_int_equal(world.executed[NGPUS + i], 1);
	for (int i = 0; i < NGPUS; i++)
		starpu_data_unregister(tiles[i]);
	stop();
}

/* Several tasks that read one tile have it brought once. */
static void what_is_promised_is_not_brought_again(void **state)
{
	starpu_data_handle_t tile;

	(void)state;
	start(1, "dmda");
	world.gpu_us = 1;
	world.cpu_us = 25;
	starpu_vector_data_register(&tile, STARPU_MAIN_RAM, (uintptr_t)bytes, TILE, 1);
	for (int i = 0; i < 10; i++)
		assert_int_equal(starpu_task_insert(&read_it, STARPU_R, tile, 0), 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 10);
	starpu_data_unregister(tile);
	stop();
}

/* The model is wrong about the GPU; what waits for it tells. */
static void it_corrects_itself(void **state)
{
	(void)state;
	start(1, "dmda");
	world.gpu_us = 10;
	world.true_gpu_us = 1000;
	world.cpu_us = 50;
	for (int i = 0; i < NTASKS; i++) {
		insert(&free_it, -1);
		fake_run_until(fake_now_s() + 50e-6);
	}
	starpu_task_wait_for_all();
	assert_true(world.executed[1] > NTASKS / 2);
	stop();
}

/* A task that is bound to the GPU keeps it busy all the same. */
static void bound_tasks_count(void **state)
{
	(void)state;
	start(1, "dmda");
	world.gpu_us = 100;
	world.cpu_us = 150;
	insert(&free_it, 0);
	fake_run_until(fake_now_s() + 1e-6);
	insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 1);
	assert_int_equal(world.executed[1], 1);
	stop();
}

/* So it does while it waits, and no longer than that. */
static void bound_tasks_count_from_their_push_on(void **state)
{
	(void)state;
	start(1, "dmda");
	world.gpu_us = 100;
	world.cpu_us = 150;
	for (int i = 0; i < 3; i++)
		insert(&free_it, 0);
	insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 3);
	assert_int_equal(world.executed[1], 1);
	insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 4);
	stop();
}

/* A task that gets its datum only at its second turn is pushed twice, and counts once. */
static void hindered(int worker)
{
	starpu_data_handle_t tile;

	start(1, "dmda");
	world.gpu_us = 100;
	world.cpu_us = 150;
	starpu_vector_data_register(&tile, STARPU_MAIN_RAM, (uintptr_t)bytes, TILE, 1);
	assert_int_equal(starpu_task_insert(&on_cpu, STARPU_RW | STARPU_COMMUTE, tile, 0),
			 0);
	fake_run_until(fake_now_s() + 1e-6);
	assert_int_equal(starpu_task_insert(&on_gpu, STARPU_RW | STARPU_COMMUTE, tile,
					    STARPU_EXECUTE_ON_WORKER, worker, 0),
			 0);
	fake_run_until(fake_now_s() + 1e-6);
	assert_int_equal(world.executed[0], 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 1);
	insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 2);
	starpu_data_unregister(tile);
	stop();
}

static void who_comes_twice_counts_once(void **state)
{
	(void)state;
	hindered(-1);
	hindered(0);
}

static void the_fastest_implementation_runs(void **state)
{
	(void)state;
	start(1, "dmda");
	world.gpu_us = 50;
	world.cpu_us = 100;
	world.second_us = 20;
	insert(&twice, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[1], 1);
	assert_int_equal(world.nsecond, 1);
	insert(&twice, 1);
	starpu_task_wait_for_all();
	assert_int_equal(world.nsecond, 2);
	world.second_us = 200;
	insert(&twice, 1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[1], 3);
	assert_int_equal(world.nsecond, 2);
	stop();
}

/* The first one's duration is known, the second one's has to be measured. */
static void what_is_not_measured_runs(void **state)
{
	static struct starpu_perfmodel history = {.type = STARPU_HISTORY_BASED,
						  .symbol = "dmda_history"};
	struct starpu_task *task;

	(void)state;
	start(0, "dmda");
	world.cpu_us = world.second_us = 100;
	twice.model = &history;
	task = starpu_task_create();
	task->cl = &twice;
	for (int i = 0; i < 20; i++)
		starpu_perfmodel_update_history(
			&history, task, starpu_worker_get_perf_archtype(0, 0), 0, 0, 100);
	assert_int_equal(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 1);
	assert_int_equal(world.nsecond, 1);
	twice.model = &per_arch;
	stop();
}

static void uneven_gpus(struct starpu_perfmodel *model)
{
	setenv("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "0", 1);
	start(2, "dmda");
	world.gpu_us = 10;
	world.cpu_us = 1e6;
	world.slow_device = 1;
	world.factor = 9;
	free_it.model = model;
	for (int i = 0; i < NTASKS; i++)
		insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], 9 * NTASKS / 10);
	assert_int_equal(world.executed[1], NTASKS / 10);
	free_it.model = &per_arch;
	stop();
	unsetenv("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA");
}

static void each_device_has_its_duration(void **state)
{
	(void)state;
	uneven_gpus(&per_arch);
	uneven_gpus(&per_worker);
}

static void unknown_tasks_are_dealt(void **state)
{
	(void)state;
	start(1, "dmda");
	free_it.model = NULL;
	world.gpu_us = world.cpu_us = 10;
	for (int i = 0; i < NTASKS; i++)
		insert(&free_it, -1);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[0], NTASKS / 2);
	free_it.model = &per_arch;
	stop();
}

/* Of a history model, two workers of which only one was ever measured. */
static void who_is_not_measured_goes_first(void **state)
{
	static struct starpu_perfmodel history = {.type = STARPU_HISTORY_BASED,
						  .symbol = "dmda_unmeasured"};
	struct starpu_task *task;

	(void)state;
	start(1, "dmda");
	world.cpu_us = world.gpu_us = 100;
	free_it.model = &history;
	task = starpu_task_create();
	task->cl = &free_it;
	for (int i = 0; i < 20; i++)
		starpu_perfmodel_update_history(
			&history, task, starpu_worker_get_perf_archtype(0, 0), 0, 0, 1);
	assert_int_equal(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	assert_int_equal(world.executed[1], 1);
	free_it.model = &per_arch;
	stop();
}

/* A GPU runs tasks a to e, submitted in this order while another one keeps it busy; b and
 * d read a tile that it has, a and c have the same tile, d and e are urgent. */
static const char *order_under(const char *policy)
{
	static const char urgency[] = {0, 0, 0, 1, 1};
	static char names[] = "abcde";
	starpu_data_handle_t tiles[4];

	setenv("STARPU_CUDA_PIPELINE", "0", 1);
	start(1, policy);
	world.gpu_us = 10;
	for (int i = 0; i < 4; i++)
		starpu_vector_data_register(&tiles[i], STARPU_MAIN_RAM, (uintptr_t)bytes,
					    TILE, 1);
	assert_int_equal(starpu_data_prefetch_on_node(tiles[1], 1, 0), 0);
	insert(&free_it, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
			starpu_task_insert(&named, STARPU_R,
					   tiles[(const int[]){0, 1, 0, 1, 2}[i]],
					   STARPU_CL_ARGS_NFREE, &names[i], (size_t)1,
					   STARPU_PRIORITY, urgency[i], 0),
			0);
	starpu_task_wait_for_all();
	for (int i = 0; i < 4; i++)
		starpu_data_unregister(tiles[i]);
	stop();
	unsetenv("STARPU_CUDA_PIPELINE");
	return world.order;
}

static void each_has_its_order(void **state)
{
	(void)state;
	setenv("STARPU_PREFETCH", "0", 1);
	assert_string_equal(order_under("dm"), "abcde");
	assert_string_equal(order_under("dmda"), "abcde");
	assert_string_equal(order_under("dmdap"), "deabc");
	/* c has the tile of a when that has run. */
	assert_string_equal(order_under("dmdar"), "bdace");
	assert_string_equal(order_under("dmdas"), "debac");
	assert_string_equal(order_under("dmdasd"), "debac");
	unsetenv("STARPU_PREFETCH");
}

/* Ten tasks wait for the GPU: what is more urgent than they are will not wait for them.
 */
static int urgent_runs_on_gpu(const char *policy)
{
	start(1, policy);
	world.gpu_us = 10;
	world.cpu_us = 40;
	for (int i = 0; i < 10; i++)
		insert(&free_on_gpu, -1);
	assert_int_equal(starpu_task_insert(&free_it, STARPU_PRIORITY, 1, 0), 0);
	starpu_task_wait_for_all();
	stop();
	return world.executed[1] == 0;
}

static void the_urgent_expects_to_overtake(void **state)
{
	(void)state;
	assert_int_equal(urgent_runs_on_gpu("dmdas"), 0);
	assert_int_equal(urgent_runs_on_gpu("dmdasd"), 1);
}

static int runs_on_gpu(const char *gamma, const char *idle_w, double gpu_j)
{
	setenv("STARPU_SCHED_GAMMA", gamma, 1);
	setenv("STARPU_IDLE_POWER", idle_w, 1);
	start(1, "dmda");
	unsetenv("STARPU_SCHED_GAMMA");
	unsetenv("STARPU_IDLE_POWER");
	world.gpu_us = 100;
	world.cpu_us = 300;
	world.gpu_j = gpu_j;
	insert(&frugal, -1);
	starpu_task_wait_for_all();
	stop();
	return world.executed[0];
}

static void energy_has_its_price(void **state)
{
	(void)state;
	assert_int_equal(runs_on_gpu("100", "0", 2), 1); /* 100 + 200 us, or 300 + 100 */
	assert_int_equal(runs_on_gpu("100", "0", 5), 0); /* 100 + 500 us */
	assert_int_equal(runs_on_gpu("0", "0", 5), 1);
	/* 200 us later, at 20 kW: 4 J of those that wait. */
	assert_int_equal(runs_on_gpu("100", "20000", 5), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fast_device_gets_more),
		cmocka_unit_test(transfers_count),
		cmocka_unit_test(transfers_queue),
		cmocka_unit_test(transfers_to_main_memory_keep_their_core),
		cmocka_unit_test(what_is_promised_is_not_brought_again),
		cmocka_unit_test(it_corrects_itself),
		cmocka_unit_test(bound_tasks_count),
		cmocka_unit_test(bound_tasks_count_from_their_push_on),
		cmocka_unit_test(who_comes_twice_counts_once),
		cmocka_unit_test(the_fastest_implementation_runs),
		cmocka_unit_test(what_is_not_measured_runs),
		cmocka_unit_test(each_device_has_its_duration),
		cmocka_unit_test(unknown_tasks_are_dealt),
		cmocka_unit_test(who_is_not_measured_goes_first),
		cmocka_unit_test(each_has_its_order),
		cmocka_unit_test(the_urgent_expects_to_overtake),
		cmocka_unit_test(energy_has_its_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
