/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Inserted tasks that wait for data: when they run they are what they were inserted as,
 * whatever the runtime keeps of them meanwhile, and a simulation keeps little. */
/* SMPI has macros of these names, which the header does not go with. */
#undef malloc
#undef calloc
#undef realloc
#include <malloc.h>
#include <orrery.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NDATA = 12, NKINDS = 9, NTASKS = 300, NWAITING = 20000, MOST_BYTES = 576 };

/* What a task is inserted with; nbuffers of the data from first on, behind the gate. */
struct wish {
	int nbuffers, first, priority, color, starts, callbacks, epilogues;
	double flops;
};

static starpu_data_handle_t gate, data[NDATA];
static struct wish wishes[NTASKS];
static double numbers[NDATA];

static void check(void *buffers[], void *arg)
{
	struct wish *wish = arg;
	struct starpu_task *task = starpu_task_get_current();

	wish->starts++;
	CLAIM_EQ(STARPU_TASK_GET_NBUFFERS(task), wish->nbuffers + 1);
	CLAIM(STARPU_TASK_GET_HANDLE(task, 0) == gate);
	for (int i = 0; i < wish->nbuffers; i++) {
		CLAIM(STARPU_TASK_GET_HANDLE(task, i + 1) == data[wish->first + i]);
		CLAIM(STARPU_TASK_GET_MODE(task, i + 1) == (i ? STARPU_R : STARPU_RW));
		CLAIM(STARPU_VECTOR_GET_PTR(buffers[i + 1]) ==
		      (uintptr_t)&numbers[wish->first + i]);
	}
	CLAIM(task->flops == wish->flops);
	CLAIM_EQ(task->priority, wish->priority);
	CLAIM_EQ(task->color, wish->color);
	CLAIM(task->cl_arg == wish);
	CLAIM_EQ(task->status, STARPU_TASK_RUNNING);
	CLAIM_EQ(strcmp(task->name, wish->nbuffers % 2 ? "odd" : "even"), 0);
	CLAIM(task->detach && task->destroy && task->sequential_consistency);
}

static void called_back(void *arg)
{
	struct wish *wish = arg;

	wish->callbacks++;
	CLAIM(starpu_task_get_current()->cl_arg == wish);
}

static void at_epilogue(void *arg)
{
	(*(struct wish **)arg)->epilogues++;
}

static struct starpu_codelet variable = {.cpu_funcs = {check},
					 .nbuffers = STARPU_VARIABLE_NBUFFERS,
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "variable"};
static struct starpu_codelet few = {.cpu_funcs = {check},
				    .nbuffers = 3,
				    .modes = {STARPU_R, STARPU_RW, STARPU_R},
				    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				    .name = "few"};
static struct starpu_codelet counts = {.cpu_funcs = {check}, .nbuffers = 3};

static void begin(void)
{
	claim_start(4);
	starpu_vector_data_register(&gate, -1, 0, 1, sizeof(double));
	for (int i = 0; i < NDATA; i++)
		starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
					    (uintptr_t)&numbers[i], 1, sizeof(double));
	CLAIM_EQ(starpu_data_acquire(gate, STARPU_W), 0);
}

static void end(void)
{
	starpu_data_unregister(gate);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
	starpu_shutdown();
}

static void insert(struct wish *wish)
{
	struct starpu_data_descr uses[NDATA + 1] = {{gate, STARPU_R}};
	int is_few = wish->nbuffers == 2;
	struct wish **owned = malloc(sizeof(struct wish *)); /* The task frees it. */

	*owned = wish;
	for (int i = 0; i < wish->nbuffers; i++)
		uses[i + 1] = (struct starpu_data_descr){data[wish->first + i],
							 i ? STARPU_R : STARPU_RW};
	CLAIM_EQ(starpu_task_insert(is_few ? &few : &variable, STARPU_CL_ARGS_NFREE, wish,
				    sizeof(*wish), STARPU_DATA_MODE_ARRAY, uses,
				    wish->nbuffers + 1, STARPU_PRIORITY, wish->priority,
				    STARPU_FLOPS, wish->flops, STARPU_TASK_COLOR,
				    wish->color, STARPU_NAME,
				    wish->nbuffers % 2 ? "odd" : "even",
				    STARPU_CALLBACK_WITH_ARG_NFREE, called_back, wish,
				    STARPU_EPILOGUE_CALLBACK, at_epilogue,
				    STARPU_EPILOGUE_CALLBACK_ARG, owned, 0),
		 0);
}

/* From one to more data than a task has places for, of fixed and variable numbers. */
static void they_are_as_inserted(void)
{
	begin();
	for (int i = 0; i < NTASKS; i++) {
		wishes[i] = (struct wish){.nbuffers = i % (NKINDS + 1),
					  .first = i % (NDATA - NKINDS),
					  .color = i,
					  .flops = 1e3 * i};
		insert(&wishes[i]);
	}
	for (int i = 0; i < NTASKS; i++)
		CLAIM_EQ(wishes[i].starts, 0);
	starpu_data_release(gate);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		CLAIM_EQ(wishes[i].starts, 1);
		CLAIM_EQ(wishes[i].callbacks, 1);
		CLAIM_EQ(wishes[i].epilogues, 1);
	}
	end();
}

/* Who keeps the pointer of a task may look at it while it waits. */
static void pointers_stay(void)
{
	struct starpu_task *built[2];

	begin();
	wishes[0] = (struct wish){.nbuffers = 2, .color = 5};
	for (int i = 0; i < 2; i++) {
		built[i] = starpu_task_build(
			&few, STARPU_CL_ARGS_NFREE, &wishes[0], sizeof(wishes[0]),
			STARPU_R, gate, STARPU_RW, data[0], STARPU_R, data[1],
			STARPU_TASK_COLOR, 5, STARPU_NAME, "even", 0);
		built[i]->destroy = built[i]->detach = 0;
	}
	built[0]->destroy = built[0]->detach = 1;
	for (int i = 0; i < 2; i++)
		CLAIM_EQ(starpu_task_submit(built[i]), 0);
	CLAIM_EQ(built[0]->color, 5);
	CLAIM_EQ(built[0]->status, STARPU_TASK_BLOCKED);
	built[1]->destroy = built[1]->detach = 1;
	starpu_data_release(gate);
	starpu_task_wait_for_all();
	CLAIM_EQ(wishes[0].starts, 2);
	end();
}

static void a_waiting_task_is_small(void)
{
	size_t before, each;

	begin();
	insert(&wishes[0]);
	before = mallinfo2().uordblks;
	for (int i = 0; i < NWAITING; i++)
		starpu_task_insert(&counts, STARPU_R, gate, STARPU_R, data[0], STARPU_R,
				   data[1], STARPU_PRIORITY, 0, STARPU_FLOPS, 1e6, 0);
	each = (mallinfo2().uordblks - before) / NWAITING;
	printf("a task that waits takes %zu bytes\n", each);
	CLAIM(each <= MOST_BYTES);
	starpu_data_release(gate);
	starpu_task_wait_for_all();
	end();
}

int main(void)
{
	struct claim claims[] = {
		{"tasks that wait are what they were inserted as", they_are_as_inserted},
		{"a task that the program knows stays where it is", pointers_stay},
		{"a simulated task that waits is small", a_waiting_task_is_small},
		{NULL, NULL}};

	if (!orrery_is_simulated())
		claims[2].name = NULL;
	return claims_run(claims, 0);
}
