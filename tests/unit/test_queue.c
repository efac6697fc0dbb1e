/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Ready jobs leave by priority, then by arrival, whatever kind they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <starpu.h>

#include "core/task/codelet.h"
#include "core/sched/queue.h"
#include "core/task/task.h"
#include "fake.h"

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static int even_on_second(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)nimpl;
	return worker == 2 || (intptr_t)task->cl_arg % 2 == 0;
}

static struct starpu_codelet cpu = {.cpu_funcs = {nothing}};
static struct starpu_codelet gpu = {.cuda_funcs = {nothing}};
static struct starpu_codelet both = {.cpu_funcs = {nothing}, .cuda_funcs = {nothing}};
static struct starpu_codelet picky = {.cpu_funcs = {nothing},
				      .can_execute = even_on_second};
static struct starpu_codelet *const codelets[] = {&cpu, &both, &gpu, &picky};

enum { NCODELETS = 4, GPU = 0, FIRST_CPU = 1, SECOND_CPU = 2 };

static struct node *node;
static struct queue queue;

static int open_queue(void **state)
{
	struct starpu_conf conf;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ngpus = 1;
	starpu_conf_init(&conf);
	assert_int_equal(starpu_init(&conf), 0);
	node = plat_self();
	queue_init(&queue, 0);
	return 0;
}

static int close_queue(void **state)
{
	(void)state;
	queue_free(&queue);
	starpu_shutdown();
	fake_stop();
	return 0;
}

static struct starpu_task *make(struct starpu_codelet *cl, int number, int priority)
{
	struct starpu_task *task = task_create(node);

	task->cl = cl;
	task->cl_arg = (void *)(intptr_t)number;
	task->priority = priority;
	task_job(node, task)->where = codelet_where(cl);
	return task;
}

static void push(struct starpu_codelet *cl, int number, int priority)
{
	queue_push(&queue, task_job(node, make(cl, number, priority)));
}

/* The number of the task that the worker gets, or -1. */
static int pop(int worker)
{
	struct job *job = queue_pop(&queue, &node->workers[worker]);
	int number = job ? (int)(intptr_t)job->task->cl_arg : -1;

	if (job)
		task_destroy(job->task);
	return number;
}

static void priorities_then_arrival(void **state)
{
	(void)state;
	push(&cpu, 0, 1);
	push(&both, 1, 1);
	for (int i = 2; i < 12; i++)
		push(i % 2 ? &both : &cpu, i, 5);
	push(&cpu, 12, 9);
	push(&both, 13, -3);
	assert_int_equal(pop(FIRST_CPU), 12);
	for (int i = 2; i < 12; i++)
		assert_int_equal(pop(FIRST_CPU), i);
	assert_int_equal(pop(FIRST_CPU), 0);
	assert_int_equal(pop(FIRST_CPU), 1);
	assert_int_equal(pop(FIRST_CPU), 13);
	assert_int_equal(pop(FIRST_CPU), -1);
}

/* The list of one priority runs empty and begins again with jobs in the heap. */
static void a_list_that_begins_again(void **state)
{
	(void)state;
	push(&cpu, 0, 9);
	push(&cpu, 1, 5); /* to the heap */
	assert_int_equal(pop(FIRST_CPU), 0);
	push(&cpu, 2, 5); /* to the list */
	push(&cpu, 3, 7); /* to the heap */
	assert_int_equal(pop(FIRST_CPU), 3);
	assert_int_equal(pop(FIRST_CPU), 1);
	assert_int_equal(pop(FIRST_CPU), 2);
}

static void filtered_ones_keep_their_rank(void **state)
{
	(void)state;
	push(&picky, 0, 0);
	push(&picky, 2, 9);
	push(&cpu, 4, 100);
	push(&picky, 6, 3);
	push(&cpu, 8, 3);
	push(&picky, 10, 3);
	assert_int_equal(pop(FIRST_CPU), 4);
	assert_int_equal(pop(FIRST_CPU), 2);
	assert_int_equal(pop(FIRST_CPU), 6);
	assert_int_equal(pop(FIRST_CPU), 8);
	assert_int_equal(pop(FIRST_CPU), 10);
	assert_int_equal(pop(FIRST_CPU), 0);
	assert_int_equal(pop(FIRST_CPU), -1);
}

static void nobody_gets_what_he_cannot_run(void **state)
{
	static uint32_t second_only[1] = {1u << SECOND_CPU};
	struct starpu_task *task = make(&cpu, 7, 50);

	(void)state;
	push(&picky, 1, 9);
	push(&gpu, 2, 8);
	push(&cpu, 3, 1);
	task->workerids = second_only;
	task->workerids_len = 1;
	queue_push(&queue, task_job(node, task));
	assert_int_equal(pop(FIRST_CPU), 3);
	assert_int_equal(pop(FIRST_CPU), -1);
	assert_int_equal(pop(GPU), 2);
	assert_int_equal(pop(GPU), -1);
	assert_int_equal(pop(SECOND_CPU), 7);
	assert_int_equal(pop(SECOND_CPU), 1);
	assert_int_equal(queue.length, 0);
}

static void priorities_may_be_ignored(void **state)
{
	(void)state;
	queue.ignores_priority = 1;
	for (int i = 0; i < 20; i += 2)
		push(i % 4 ? &picky : &both, i, (i * 7) % 5);
	for (int i = 0; i < 20; i += 2)
		assert_int_equal(pop(FIRST_CPU), i);
}

/* All of them, those of a kind in their order; the queue can be used again. */
static void drained_at_once(void **state)
{
	static const int expected[] = {3, 1, 5, 4};
	struct ready jobs = {0};
	struct job *job;
	int n = 0, ncpu = 0;

	(void)state;
	push(&gpu, 0, 9);
	push(&cpu, 1, 0);
	push(&picky, 2, 100);
	push(&cpu, 3, 5);
	push(&cpu, 4, -1);
	push(&cpu, 5, 0);
	queue_drain(&queue, &jobs);
	assert_int_equal(queue.length, 0);
	for (int worker = 0; worker < 3; worker++)
		assert_int_equal(pop(worker), -1);
	for (; (job = jobs.first); n++) {
		jobs.first = job->next;
		if (job->task->cl == &cpu)
			assert_int_equal((intptr_t)job->task->cl_arg, expected[ncpu++]);
		task_destroy(job->task);
	}
	assert_int_equal(n, 6);
	assert_int_equal(ncpu, 4);
	push(&cpu, 6, 0);
	assert_int_equal(pop(FIRST_CPU), 6);
}

static unsigned draw(unsigned *random, unsigned n)
{
	*random = *random * 1103515245u + 12345u;
	return (*random >> 8) % n;
}

struct entry {
	int kind, priority, is_in;
};

static int can_take(const struct entry *entry, int number, int worker)
{
	if (worker == GPU)
		return entry->kind == 1 || entry->kind == 2;
	return entry->kind == 0 || entry->kind == 1 ||
	       (entry->kind == 3 && (worker == SECOND_CPU || number % 2 == 0));
}

/* Against a list that is searched from its beginning each time.  From so many on, the
 * jobs have different priorities. */
static void as_a_list(int nequal)
{
	enum { N = 3000 };
	static struct entry entries[N];
	unsigned random = 7;
	int npushed = 0, npopped = 0;

	while (npopped < N) {
		int worker = (int)draw(&random, 3), best = -1;

		if (npushed < N && draw(&random, 2)) {
			struct entry *entry = &entries[npushed];

			*entry = (struct entry){.kind = (int)draw(&random, NCODELETS),
						.is_in = 1};
			if (npushed >= nequal)
				entry->priority = (int)draw(&random, 5) - 2;
			push(codelets[entry->kind], npushed++, entry->priority);
			continue;
		}
		for (int i = 0; i < npushed; i++)
			if (entries[i].is_in && can_take(&entries[i], i, worker) &&
			    (best < 0 || (!queue.ignores_priority &&
					  entries[i].priority > entries[best].priority)))
				best = i;
		assert_int_equal(pop(worker), best);
		if (best >= 0)
			entries[best].is_in = 0;
		npopped += best >= 0;
	}
	assert_int_equal(queue.length, 0);
}

static void as_a_simple_list(void **state)
{
	(void)state;
	as_a_list(0);
}

static void as_a_simple_list_of_one_priority_at_first(void **state)
{
	(void)state;
	as_a_list(1000);
}

static void as_a_simple_list_without_priorities(void **state)
{
	(void)state;
	queue.ignores_priority = 1;
	as_a_list(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_queue, close_queue)
	const struct CMUnitTest tests[] = {
		TEST(priorities_then_arrival),
		TEST(a_list_that_begins_again),
		TEST(filtered_ones_keep_their_rank),
		TEST(nobody_gets_what_he_cannot_run),
		TEST(priorities_may_be_ignored),
		TEST(as_a_simple_list),
		TEST(as_a_simple_list_of_one_priority_at_first),
		TEST(as_a_simple_list_without_priorities),
		TEST(drained_at_once),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
