/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Fibres of the program's own, with stacks of their own, submit tasks and wait for them
 * in turns; kernels and callbacks use fibres, too, and jump inside themselves. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <starpu.h>
#include <starpu_mpi.h>

enum { NFIBRES = 3, NROUNDS = 4, STACK_BYTES = 256 << 10 };

struct fibre {
	ucontext_t context, back;
	char *stack;
	void (*run)(struct fibre *fibre);
	starpu_data_handle_t handle;
	long value;
	int number, has_ended;
};

static int njumps, ncallbacks, ninner;

static void begin(unsigned high, unsigned low)
{
	struct fibre *fibre = (struct fibre *)(((uintptr_t)high << 32) | low);

	fibre->run(fibre);
	fibre->has_ended = 1;
	swapcontext(&fibre->context, &fibre->back);
}

static void make(struct fibre *fibre, void (*run)(struct fibre *fibre))
{
	memset(fibre, 0, sizeof(*fibre));
	fibre->run = run;
	fibre->stack = malloc(STACK_BYTES);
	getcontext(&fibre->context);
	fibre->context.uc_stack.ss_sp = fibre->stack;
	fibre->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&fibre->context, (void (*)(void))begin, 2,
		    (unsigned)((uintptr_t)fibre >> 32), (unsigned)(uintptr_t)fibre);
}

static void resume(struct fibre *fibre)
{
	swapcontext(&fibre->back, &fibre->context);
}

static void yield(struct fibre *fibre)
{
	swapcontext(&fibre->context, &fibre->back);
}

/* ---- jumps that stay inside -------------------------------------------- */

static void jump(jmp_buf place)
{
	longjmp(place, 1);
}

static void jump_inside(void)
{
	jmp_buf place;

	if (setjmp(place) == 0)
		jump(place);
	else
		(void)STARPU_ATOMIC_ADD(&njumps, 1);
}

/* ---- fibres of a kernel, and of a callback ------------------------------- */

static void look_at_the_library(struct fibre *fibre)
{
	for (int i = 0; i < 3; i++) {
		jump_inside();
		if (starpu_is_initialized() && starpu_worker_get_count() > 0)
			(void)STARPU_ATOMIC_ADD(&ninner, 1);
		yield(fibre);
	}
}

static void use_a_fibre(void)
{
	struct fibre fibre;

	make(&fibre, look_at_the_library);
	while (!fibre.has_ended)
		resume(&fibre);
	free(fibre.stack);
}

static void add_cpu(void *buffers[], void *arg)
{
	long *value = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void)arg;
	jump_inside();
	use_a_fibre();
	++*value;
}

static void count(void *arg)
{
	(void)arg;
	jump_inside();
	use_a_fibre();
	(void)STARPU_ATOMIC_ADD(&ncallbacks, 1);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "fibres"};
static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .cpu_funcs_name = {"add_cpu"},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				    .model = &model};
static struct starpu_codelet nowhere = {.where = STARPU_NOWHERE};

/* ---- fibres of main ----------------------------------------------------- */

static void round_of(struct fibre *fibre)
{
	struct starpu_task *task = starpu_task_create();

	starpu_task_insert(&add, STARPU_RW, fibre->handle, STARPU_CALLBACK, count, 0);
	yield(fibre);
	/* Its callback is called here. */
	starpu_task_insert(&nowhere, STARPU_CALLBACK, count, 0);
	task->cl = &add;
	task->handles[0] = fibre->handle;
	task->detach = 0;
	if (starpu_task_submit(task) != 0)
		exit(77);
	jump_inside();
	yield(fibre);
	if (starpu_task_wait(task) != 0)
		exit(1);
	starpu_data_acquire(fibre->handle, STARPU_R);
	yield(fibre);
	starpu_data_release(fibre->handle);
}

static void work(struct fibre *fibre)
{
	starpu_variable_data_register(&fibre->handle, STARPU_MAIN_RAM,
				      (uintptr_t)&fibre->value, sizeof(fibre->value));
	for (int i = 0; i < NROUNDS; i++)
		round_of(fibre);
	starpu_data_unregister(fibre->handle);
	starpu_task_wait_for_all();
}

static int check(const char *what, long seen, long expected)
{
	if (seen == expected)
		return 0;
	fprintf(stderr, "%s: %ld, expected %ld\n", what, seen, expected);
	return 1;
}

int main(int argc, char **argv)
{
	struct fibre fibres[NFIBRES];
	int failed = 0, nleft = NFIBRES;

	(void)argc;
	(void)argv;
	if (starpu_init(NULL) != 0)
		return 77;
	for (int i = 0; i < NFIBRES; i++) {
		make(&fibres[i], work);
		fibres[i].number = i;
	}
	while (nleft > 0) {
		nleft = 0;
		for (int i = 0; i < NFIBRES; i++)
			if (!fibres[i].has_ended) {
				resume(&fibres[i]);
				nleft++;
			}
		jump_inside();
	}
	for (int i = 0; i < NFIBRES; i++) {
		failed |= check("value", fibres[i].value, 2 * NROUNDS);
		free(fibres[i].stack);
	}
	failed |= check("callbacks", ncallbacks, 2 * NROUNDS * NFIBRES);
	failed |= check("looks", ninner, 3 * 4 * NROUNDS * NFIBRES);
	starpu_shutdown();
	return failed;
}
