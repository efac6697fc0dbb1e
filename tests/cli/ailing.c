/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/ailments.py, as amiss.c is for reasons.py: shapes of whole
 * applications, each slow for one known reason.  In a real run tasks compute about as
 * long as their models say, unless these are wrong.
 *
 * usage: ailing REASON; see cases[] below
 */
#include "shapes.h"

static int is(const char *reason)
{
	return strcmp(why, reason) == 0;
}

static double task_us(struct starpu_task *task)
{
	return task->flops > 0 ? task->flops : 1000;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	compute(task_us(starpu_task_get_current()));
}

/* The second GPU takes four times as long. */
static double cost(struct starpu_task *task, unsigned workerid, unsigned implementation)
{
	int slow = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 1);

	(void)implementation;
	return is("slowgpu") && (int)workerid == slow ? 4 * task_us(task) : task_us(task);
}

/* Says that the second worker takes a twentieth of the time. */
static double wrong_cost(struct starpu_task *task, unsigned workerid,
			 unsigned implementation)
{
	(void)implementation;
	return workerid == 1 ? task_us(task) / 20 : task_us(task);
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
					.worker_cost_function = cost};
static struct starpu_perfmodel wrong = {.type = STARPU_PER_WORKER,
					.worker_cost_function = wrong_cost};

#define CODELET(name_, cpu, gpu, model_, n, ...)                                         \
	static struct starpu_codelet name_ = {.cpu_funcs = {cpu},                        \
					      .cuda_funcs = {gpu},                       \
					      .nbuffers = (n),                           \
					      .modes = {__VA_ARGS__},                    \
					      .model = &model_,                          \
					      .name = #name_}
CODELET(update, kernel, NULL, model, 1, STARPU_RW);
CODELET(step, kernel, NULL, model, 2, STARPU_RW, STARPU_R);
CODELET(on_gpu, NULL, kernel, model, 1, STARPU_RW);
CODELET(gpu_step, NULL, kernel, model, 2, STARPU_RW, STARPU_R);
CODELET(panel, kernel, NULL, model, 1, STARPU_RW);
CODELET(prepare, kernel, NULL, model, 1, STARPU_W);
CODELET(misjudged, kernel, NULL, wrong, 1, STARPU_RW);
CODELET(gather, kernel, NULL, model, 2, STARPU_RW, STARPU_R);

#define INSERT(...) starpu_mpi_task_insert(MPI_COMM_WORLD, __VA_ARGS__, 0)

/* A factorisation whose panels have no kernel for GPUs. */
static void run_panel(void)
{
	int n = 24;

	for (int k = 0; k < n; k++) {
		INSERT(&panel, STARPU_RW, data[k], STARPU_FLOPS, 8000.0);
		for (int j = k + 1; j < n; j++)
			INSERT(&gpu_step, STARPU_RW, data[j], STARPU_R, data[k]);
	}
}

/* Cores prepare what GPUs need, and are too few for that. */
static void run_feed(void)
{
	for (int i = 0; i < 6 * NDATA; i++) {
		INSERT(&prepare, STARPU_W, data[i % NDATA], STARPU_FLOPS, 20000.0);
		INSERT(&on_gpu, STARPU_RW, data[i % NDATA]);
	}
}

static void run_slowgpu(void)
{
	for (int i = 0; i < 6 * NDATA; i++)
		INSERT(&on_gpu, STARPU_RW, data[i % NDATA]);
}

/* It reads its input before it submits anything. */
static void run_startup(void)
{
	starpu_usleep(500000);
	for (int i = 0; i < 2 * NDATA; i++)
		INSERT(&update, STARPU_RW, data[i % NDATA]);
}

/* It writes its output after all. */
static void run_output(void)
{
	for (int i = 0; i < 2 * NDATA; i++)
		INSERT(&update, STARPU_RW, data[i % NDATA]);
	starpu_task_wait_for_all();
	starpu_usleep(500000);
}

/* Tasks run elsewhere than their data are, and these go to and fro. */
static void run_misplaced(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < size; i++)
			INSERT(&update, STARPU_RW, data[i], STARPU_EXECUTE_ON_NODE,
			       (i + k) % size);
}

/* Two GPUs and more write the same data by turns. */
static void run_pingpong(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < 8; i++)
			INSERT(&gpu_step, STARPU_RW, data[i], STARPU_R,
			       data[(i + 1 + k) % 8]);
}

/* A few large blocks: whoever waits for one waits for its copies, too. */
static void run_blocks(void)
{
	for (int k = 0; k < 16; k++)
		INSERT(&gpu_step, STARPU_RW, data[k % 4], STARPU_R, data[(k + 3) % 4],
		       STARPU_FLOPS, 3000.0);
}

/* Cores and GPUs do. */
static void run_alternate(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < 8; i++) {
			INSERT(&update, STARPU_RW, data[i]);
			INSERT(&on_gpu, STARPU_RW, data[i]);
		}
}

/* All are ready when they are inserted: those that become ready as others end are given
 * to the first worker while the second has a long queue, and both have enough to do. */
static void run_wrongmodel(void)
{
	for (int i = 0; i < NDATA; i++) {
		INSERT(&misjudged, STARPU_RW, data[i]);
		INSERT(&misjudged, STARPU_RW, extra[i]);
	}
}

/* A triangle: ever fewer tasks in each step. */
static void run_tail(void)
{
	int n = 24;

	for (int k = 0; k < n; k++)
		for (int j = k + 1; j < n; j++)
			INSERT(&step, STARPU_RW, data[j], STARPU_R, data[k]);
}

/* All that is computed at once is added one after the other. */
static void run_sum(void)
{
	for (int i = 0; i < NDATA; i++)
		INSERT(&update, STARPU_RW, data[i]);
	for (int i = 0; i < NDATA; i++)
		INSERT(&gather, STARPU_RW, extra[0], STARPU_R, data[i]);
}

/* Steps of a simulation, all of which end before the next begins; one task is longer. */
static void run_bulk(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < NDATA; i++)
			INSERT(&update, STARPU_RW, data[i], STARPU_FLOPS,
			       i == 0 ? 20000.0 : 1000.0);
		starpu_task_wait_for_all();
		starpu_mpi_barrier(MPI_COMM_WORLD);
	}
}

/* What all have computed is fetched by each rank in each step. */
static void run_collects(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < NDATA; i++)
			INSERT(&update, STARPU_RW, data[i]);
		for (int i = 0; i < NDATA; i++)
			starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD,
								  data[i]);
	}
}

/* A stencil of which one part has a slow link. */
static void run_stencil(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < NDATA; i++)
			INSERT(&step, STARPU_RW, k % 2 ? extra[i] : data[i], STARPU_R,
			       k % 2 ? data[(i + 1) % NDATA] : extra[(i + 1) % NDATA]);
}

/* The chain comes last in each round, since all tasks are equal. */
static void run_equal(void)
{
	for (int k = 0; k < 40; k++) {
		for (int i = 0; i < 12; i++)
			INSERT(&step, STARPU_RW, extra[i], STARPU_R, data[0]);
		INSERT(&update, STARPU_RW, data[0]);
	}
}

static const struct shape cases[] = {
	{"panel", run_panel, 1},         {"feed", run_feed, 0},
	{"slowgpu", run_slowgpu, 0},     {"startup", run_startup, 0},
	{"output", run_output, 0},       {"misplaced", run_misplaced, 1},
	{"pingpong", run_pingpong, 8},   {"blocks", run_blocks, 16},
	{"alternate", run_alternate, 8}, {"wrongmodel", run_wrongmodel, 0},
	{"tail", run_tail, 0},           {"sum", run_sum, 0},
	{"bulk", run_bulk, 0},           {"collects", run_collects, 1},
	{"stencil", run_stencil, 1},     {"equal", run_equal, 0}};

static int owner(int i)
{
	return i % size;
}

int main(int argc, char **argv)
{
	return shape_run(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), owner);
}
