/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Each key of the argument lists of starpu_mpi_task_insert() and its like: it counts on
 * the rank that executes, here the last one, and the others pass it over.
 */
#include "mpi_distributed.h"

int claim_failures, claim_rank, claim_size;

#define LAST  (claim_size - 1)
#define THERE (RANK == LAST)

static long value;
static starpu_data_handle_t handle;
static int worker, got_int;
static double got_double;

static void begin(void)
{
	start();
	value = 0;
	handle = distributed(&value, 1, LAST);
}

static void end(void)
{
	starpu_data_unregister(handle);
	stop();
}

/* So many tasks have run since the last call, and nowhere else. */
static void expect_runs(int n)
{
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, THERE ? n : 0);
	nruns = 0;
}

static int *allocated(int number)
{
	int *at = malloc(sizeof *at);

	*at = number;
	return at;
}

/* ---- codelets -------------------------------------------------------- */

static void note_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	worker = starpu_worker_get_id();
	count(&nruns);
}

static void unpack_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	starpu_codelet_unpack_args(arg, &got_int, &got_double);
	count(&nruns);
}

static void raw_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	got_int = *(int *)arg;
	count(&nruns);
}

#define CODELET(id)                                                                      \
	static struct starpu_codelet id = {.cpu_funcs = {id##_cpu},                      \
					   .nbuffers = 1,                                \
					   .modes = {STARPU_RW},                         \
					   .model = &starpu_perfmodel_nop,               \
					   .name = #id}
CODELET(note);
CODELET(unpack);
CODELET(raw);
static struct starpu_codelet no_data = {
	.cpu_funcs = {note_cpu}, .model = &starpu_perfmodel_nop, .name = "no_data"};

/* ---- arguments ------------------------------------------------------- */

static void arguments_are_those_of_the_call(void)
{
	int number = 5, kept = 9, expected = THERE ? -EINVAL : 0;
	double real = 2.5;

	begin();
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &unpack, STARPU_VALUE, &number,
					sizeof number, STARPU_RW, handle, STARPU_VALUE,
					&real, sizeof real, 0),
		 0);
	number = 6;
	real = 0;
	expect_runs(1);
	CLAIM(!THERE || (got_int == 5 && got_double == 2.5));
	starpu_mpi_task_insert(WORLD, &raw, STARPU_RW, handle, STARPU_CL_ARGS_NFREE,
			       &kept, sizeof kept, 0);
	expect_runs(1);
	CLAIM_EQ(got_int, THERE ? 9 : 0);
	starpu_mpi_task_insert(WORLD, &raw, STARPU_RW, handle, STARPU_CL_ARGS,
			       allocated(11), sizeof(int), 0);
	expect_runs(1);
	CLAIM_EQ(got_int, THERE ? 11 : 0);
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &raw, STARPU_RW, handle,
					STARPU_CL_ARGS_NFREE, &kept, sizeof kept,
					STARPU_VALUE, &number, sizeof number, 0),
		 expected);
	expect_runs(0);
	end();
}

enum { CALLBACK, PROLOGUE, POP, EPILOGUE, NKINDS };

static int sums[NKINDS];

#define ADDS(kind)                                                                       \
	static void add_##kind(void *arg)                                                \
	{                                                                                \
		__atomic_add_fetch(&sums[kind], *(int *)arg, __ATOMIC_SEQ_CST);          \
	}
ADDS(CALLBACK)
ADDS(PROLOGUE)
ADDS(POP)
ADDS(EPILOGUE)

static void expect_sums(int callback, int prologue, int pop, int epilogue)
{
	int expected[NKINDS] = {callback, prologue, pop, epilogue};

	for (int i = 0; i < NKINDS; i++)
		CLAIM_EQ(sums[i], THERE ? expected[i] : 0);
	memset(sums, 0, sizeof sums);
}

/* What is allocated on other ranks is the program's to free: none is there. */
static void callbacks_are_called_where_it_is_executed(void)
{
	int ten = 10;

	begin();
	if (!THERE) {
		starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, 0);
	} else {
		starpu_mpi_task_insert(
			WORLD, &note, STARPU_RW, handle, STARPU_CALLBACK_WITH_ARG,
			add_CALLBACK, allocated(1), STARPU_PROLOGUE_CALLBACK,
			add_PROLOGUE, STARPU_PROLOGUE_CALLBACK_ARG, allocated(2),
			STARPU_PROLOGUE_CALLBACK_POP, add_POP,
			STARPU_PROLOGUE_CALLBACK_POP_ARG, allocated(3),
			STARPU_EPILOGUE_CALLBACK, add_EPILOGUE,
			STARPU_EPILOGUE_CALLBACK_ARG, allocated(4), 0);
	}
	expect_runs(1);
	expect_sums(1, 2, 3, 4);
	starpu_mpi_task_insert(
		WORLD, &note, STARPU_RW, handle, STARPU_CALLBACK, add_CALLBACK,
		STARPU_CALLBACK_ARG_NFREE, &ten, STARPU_PROLOGUE_CALLBACK, add_PROLOGUE,
		STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &ten, STARPU_PROLOGUE_CALLBACK_POP,
		add_POP, STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, &ten, 0);
	starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle,
			       STARPU_CALLBACK_WITH_ARG_NFREE, add_CALLBACK, &ten, 0);
	expect_runs(2);
	expect_sums(20, 10, 10, 0);
	end();
}

/* ---- order and place ------------------------------------------------- */

enum { ITS_TAG = 77 };

static void tags_and_synchronous_tasks_are_awaited(void)
{
	begin();
	starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, STARPU_TAG,
			       (starpu_tag_t)4000000000ULL, 0);
	if (THERE) {
		starpu_tag_wait(4000000000ULL);
		CLAIM_EQ(nruns, 1);
		starpu_tag_remove(4000000000ULL);
	}
	expect_runs(1);
	starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, STARPU_TASK_SYNCHRONOUS,
			       1, 0);
	CLAIM_EQ(nruns, THERE);
	end();
}

static void workers_are_named(void)
{
	uint32_t second = 1u << 1;

	begin();
	starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
			       1, STARPU_WORKER_ORDER, 1u, 0);
	expect_runs(1);
	CLAIM_EQ(worker, THERE);
	starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
			       -1, STARPU_TASK_WORKERIDS, 1u, &second,
			       STARPU_EXECUTE_WHERE, (unsigned long long)STARPU_CPU, 0);
	expect_runs(1);
	CLAIM_EQ(worker, THERE);
	end();
}

/* A task before it and one that waits for its end, both built and not submitted yet. */
static void tasks_wait_for_tasks(void)
{
	struct starpu_task *before, *after;

	begin();
	before = starpu_mpi_task_build(WORLD, &no_data, STARPU_EXECUTE_ON_NODE, LAST, 0);
	after = starpu_mpi_task_build(WORLD, &no_data, STARPU_EXECUTE_ON_NODE, LAST, 0);
	CLAIM_EQ(before != NULL, THERE);
	CLAIM_EQ(after != NULL, THERE);
	if (THERE)
		starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle,
				       STARPU_TASK_DEPS_ARRAY, 1u, &before,
				       STARPU_TASK_END_DEPS_ARRAY, 1u, &after,
				       STARPU_TASK_END_DEP, 0, 0);
	else
		starpu_mpi_task_insert(WORLD, &note, STARPU_RW, handle, 0);
	CLAIM_EQ(nruns, 0);
	if (THERE) {
		CLAIM_EQ(starpu_task_submit(before), 0);
		CLAIM_EQ(starpu_task_submit(after), 0);
	}
	for (int i = 0; i < 2; i++)
		starpu_mpi_task_post_build(WORLD, &no_data, STARPU_EXECUTE_ON_NODE, LAST,
					   0);
	expect_runs(3);
	end();
}

/* ---- fields ---------------------------------------------------------- */

static void check_fields(const struct starpu_task *task, unsigned char *orders)
{
	CLAIM(task->flops == 1e9);
	CLAIM_EQ(task->priority, 3);
	CLAIM_EQ(task->tag_id, ITS_TAG);
	CLAIM_EQ(task->use_tag, 0);
	CLAIM_EQ(task->hypervisor_tag, 5);
	CLAIM_EQ(task->where, STARPU_CPU);
	CLAIM(strcmp(task->name, "named") == 0);
	CLAIM_EQ(task->color, 0x123456);
	CLAIM(task->handles_sequential_consistency == orders);
	CLAIM_EQ(task->sequential_consistency, 1);
	CLAIM(task->sched_data == &value);
	CLAIM_EQ(task->no_submitorder, 1);
	CLAIM(strcmp(task->file, "file.c") == 0);
	CLAIM_EQ(task->line, 12);
	CLAIM_EQ(task->sched_ctx, 0);
	CLAIM_EQ(task->execute_on_a_specific_worker, 0);
	CLAIM_EQ(STARPU_TASK_GET_NBUFFERS(task), 1);
}

static void built_tasks_have_what_keys_say(void)
{
	unsigned char orders[1] = {1};
	struct starpu_task *task;

	begin();
	task = starpu_mpi_task_build(
		WORLD, &note, STARPU_FLOPS, 1e9, STARPU_PRIORITY, 3, STARPU_RW, handle,
		STARPU_TAG_ONLY, (starpu_tag_t)ITS_TAG, STARPU_HYPERVISOR_TAG, 5,
		STARPU_EXECUTE_WHERE, (unsigned long long)STARPU_CPU,
		STARPU_POSSIBLY_PARALLEL, 0u, STARPU_NAME, "named", STARPU_TASK_COLOR,
		0x123456, STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, orders,
		STARPU_SEQUENTIAL_CONSISTENCY, 1u, STARPU_TASK_PROFILING_INFO, NULL,
		STARPU_TASK_NO_SUBMITORDER, 1u, STARPU_TASK_SCHED_DATA, &value,
		STARPU_TASK_FILE, "file.c", STARPU_TASK_LINE, 12, STARPU_NONE, handle,
		STARPU_SCHED_CTX, 0u, STARPU_TASK_SYNCHRONOUS, 0,
		STARPU_EXECUTE_ON_WORKER, -1, STARPU_TRANSACTION, NULL, 0);
	CLAIM_EQ(task != NULL, THERE);
	if (task) {
		check_fields(task, orders);
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_mpi_task_post_build(WORLD, &note, STARPU_RW, handle, STARPU_PRIORITY, 3,
				   0);
	expect_runs(1);
	end();
}

/* As StarPU 1.3.10 presets it; starpu_task_build() does not. */
static void arguments_set_later_belong_to_the_task(void)
{
	struct starpu_task *task;
	int ten = 10;

	begin();
	task = starpu_mpi_task_build(WORLD, &raw, STARPU_RW, handle, STARPU_CALLBACK,
				     add_CALLBACK, STARPU_CALLBACK_ARG_NFREE, &ten, 0);
	if (task) {
		CLAIM_EQ(task->cl_arg_free, 1);
		CLAIM_EQ(task->callback_arg_free, 0);
		CLAIM_EQ(task->prologue_callback_arg_free, 1);
		CLAIM_EQ(task->prologue_callback_pop_arg_free, 1);
		task->cl_arg = allocated(21);
		task->cl_arg_size = sizeof(int);
		task->prologue_callback_func = add_PROLOGUE;
		task->prologue_callback_arg = allocated(2);
		task->prologue_callback_pop_func = add_POP;
		task->prologue_callback_pop_arg = allocated(3);
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_mpi_task_post_build(WORLD, &raw, STARPU_RW, handle, 0);
	expect_runs(1);
	CLAIM(!THERE || got_int == 21);
	expect_sums(10, 2, 3, 0);
	end();
}

static void without_a_worker_a_built_task_is_refused(void)
{
	static struct starpu_codelet elsewhere = {.where = STARPU_CUDA,
						  .nbuffers = 1,
						  .modes = {STARPU_RW},
						  .name = "elsewhere"};
	struct starpu_task *task;

	begin();
	task = starpu_mpi_task_build(WORLD, &elsewhere, STARPU_RW, handle, 0);
	CLAIM_EQ(task != NULL, THERE);
	if (task) {
		CLAIM_EQ(starpu_task_submit(task), -ENODEV);
		task->destroy = 0;
		starpu_task_destroy(task);
	}
	starpu_mpi_task_post_build(WORLD, &elsewhere, STARPU_RW, handle, 0);
	expect_runs(0);
	end();
}

/* ---- modes and places ------------------------------------------------ */

/* A codelet without modes takes those of the list; how a value travels, and whether it
 * counts for models, makes no other mode. */
static void modes_come_from_the_list(void)
{
	static struct starpu_codelet open = {.cpu_funcs = {note_cpu},
					     .nbuffers = 2,
					     .model = &starpu_perfmodel_nop,
					     .name = "open"};
	long theirs = 4;
	starpu_data_handle_t other;

	begin();
	other = distributed(&theirs, 2, 0);
	starpu_mpi_task_insert(WORLD, &open, STARPU_RW, handle, STARPU_R, other, 0);
	expect_runs(1);
	if (THERE) {
		CLAIM_EQ(open.modes[0], STARPU_RW);
		CLAIM_EQ(open.modes[1], STARPU_R);
	}
	starpu_mpi_task_insert(WORLD, &open, STARPU_RW | STARPU_NOFOOTPRINT, handle,
			       STARPU_R | STARPU_SSEND, other, 0);
	expect_runs(1);
	starpu_data_unregister(other);
	end();
}

/* Scratch data have no say, and stay where they are. */
static void scratch_data_choose_nobody(void)
{
	static struct starpu_codelet scratch = {.cpu_funcs = {note_cpu},
						.nbuffers = 2,
						.modes = {STARPU_SCRATCH, STARPU_RW},
						.model = &starpu_perfmodel_nop,
						.name = "scratch"};
	starpu_data_handle_t buffer;

	begin();
	starpu_vector_data_register(&buffer, -1, 0, 1000, 1);
	starpu_mpi_data_register(buffer, 2, 0);
	count_bytes();
	for (int i = 0; i < 3; i++)
		starpu_mpi_task_insert(WORLD, &scratch, STARPU_SCRATCH, buffer, STARPU_RW,
				       handle, 0);
	expect_runs(3);
	CLAIM_EQ(bytes_sent(), 0);
	starpu_data_unregister(buffer);
	end();
}

static void nothing_to_choose_by_means_rank_0(void)
{
	begin();
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &no_data, 0), 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nruns, RANK == 0);
	end();
}

static const struct claim claims[] = {
	{"arguments are those of the call", arguments_are_those_of_the_call},
	{"callbacks are called where it is executed",
	 callbacks_are_called_where_it_is_executed},
	{"tags and synchronous tasks are awaited",
	 tags_and_synchronous_tasks_are_awaited},
	{"workers are named", workers_are_named},
	{"tasks wait for tasks", tasks_wait_for_tasks},
	{"built tasks have what keys say", built_tasks_have_what_keys_say},
	{"arguments set later belong to the task",
	 arguments_set_later_belong_to_the_task},
	{"without a worker a built task is refused",
	 without_a_worker_a_built_task_is_refused},
	{"modes come from the list", modes_come_from_the_list},
	{"scratch data choose nobody", scratch_data_choose_nobody},
	{"nothing to choose by means rank 0", nothing_to_choose_by_means_rank_0},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
