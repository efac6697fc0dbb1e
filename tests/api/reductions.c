/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks that contribute to a reduction, and what comes before and after them. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 40, NVALUES = 5, FAR = 1 << 30 };

/* ---- kernels and tasks ------------------------------------------------ */

static int ninits, ncombinations;
static void *seen_init_arg, *seen_combine_arg;

static long *values_of(void *buffer)
{
	return (long *)STARPU_VECTOR_GET_PTR(buffer);
}

/* The sum in the first value, the least in the second, the union of bits in the others.
 */
static void init_kernel(void *buffers[], void *arg)
{
	long *x = values_of(buffers[0]);

	memset(x, 0, NVALUES * sizeof(*x));
	x[1] = FAR;
	__atomic_store_n(&seen_init_arg, arg, __ATOMIC_RELAXED);
	__atomic_add_fetch(&ninits, 1, __ATOMIC_SEQ_CST);
}

static void add_to(long *x, const long *y)
{
	x[0] += y[0];
	x[1] = y[1] < x[1] ? y[1] : x[1];
	for (int i = 2; i < NVALUES; i++)
		x[i] |= y[i];
}

static void combine_kernel(void *buffers[], void *arg)
{
	add_to(values_of(buffers[0]), values_of(buffers[1]));
	__atomic_store_n(&seen_combine_arg, arg, __ATOMIC_RELAXED);
	__atomic_add_fetch(&ncombinations, 1, __ATOMIC_SEQ_CST);
}

static void contribute_kernel(void *buffers[], void *arg)
{
	long i = (long)(intptr_t)arg;
	long more[NVALUES] = {i, FAR - i, 1L << (i % 60), 2, 1};

	add_to(values_of(buffers[0]), more);
}

static void contribute_twice_kernel(void *buffers[], void *arg)
{
	contribute_kernel(buffers, arg);
	contribute_kernel(buffers + 1, arg);
}

static void read_kernel(void *buffers[], void *arg)
{
	memcpy(arg, values_of(buffers[0]), NVALUES * sizeof(long));
}

static void set_kernel(void *buffers[], void *arg)
{
	long *x = values_of(buffers[0]);

	memset(x, 0, NVALUES * sizeof(*x));
	x[0] = (long)(intptr_t)arg;
	x[1] = FAR;
}

static struct starpu_codelet init = {.cpu_funcs = {init_kernel},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "init"};
static struct starpu_codelet combine = {.cpu_funcs = {combine_kernel},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "combine"};
static struct starpu_codelet contribute = {.cpu_funcs = {contribute_kernel},
					   .nbuffers = 1,
					   .modes = {STARPU_REDUX},
					   .model = &starpu_perfmodel_nop,
					   .name = "contribute"};
static struct starpu_codelet twice = {.cpu_funcs = {contribute_twice_kernel},
				      .nbuffers = 2,
				      .modes = {STARPU_REDUX, STARPU_REDUX},
				      .model = &starpu_perfmodel_nop,
				      .name = "twice"};
static struct starpu_codelet update = {.cpu_funcs = {contribute_kernel},
				       .nbuffers = 1,
				       .modes = {STARPU_RW | STARPU_COMMUTE},
				       .model = &starpu_perfmodel_nop,
				       .name = "update"};
static struct starpu_codelet reads = {.cpu_funcs = {read_kernel},
				      .nbuffers = 1,
				      .modes = {STARPU_R},
				      .model = &starpu_perfmodel_nop,
				      .name = "reads"};
static struct starpu_codelet sets = {.cpu_funcs = {set_kernel},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "sets"};

static void start(int ncpus)
{
	claim_start(ncpus);
	ninits = ncombinations = 0;
}

/* Without a value where x is NULL. */
static starpu_data_handle_t reduced(long *x)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, x ? STARPU_MAIN_RAM : -1, (uintptr_t)x, NVALUES,
				    sizeof(*x));
	starpu_data_set_reduction_methods(h, &combine, &init);
	return h;
}

static void insert(struct starpu_codelet *cl, unsigned mode, starpu_data_handle_t h,
		   long number)
{
	void *arg = (void *)(intptr_t)number;

	CLAIM_EQ(starpu_task_insert(cl, mode, h, STARPU_CL_ARGS_NFREE, arg, (size_t)0, 0),
		 0);
}

static void contribute_all(starpu_data_handle_t h, long from, long to)
{
	for (long i = from; i < to; i++)
		insert(&contribute, STARPU_REDUX, h, i);
}

static long sum(long from, long to)
{
	return (to - from) * (from + to - 1) / 2;
}

/* What a reader sees when contributions from to to are in, beside a first value. */
static void check(const long *x, long first, long from, long to)
{
	CLAIM_EQ(x[0], first + sum(from, to));
	CLAIM_EQ(x[1], to > from ? FAR - (to - 1) : FAR);
	CLAIM_EQ(x[4], to > from);
}

/* ---- claims ----------------------------------------------------------- */

/* With few tasks some workers have no part in it. */
static void contributions_meet_before_a_reader(void)
{
	long x[NVALUES] = {1000, FAR}, seen[NVALUES];

	for (int ncpus = 1; ncpus <= 3; ncpus++) {
		for (int n = 1; n <= NTASKS; n += NTASKS - 1) {
			starpu_data_handle_t h;

			start(ncpus);
			x[0] = 1000;
			x[1] = FAR;
			memset(x + 2, 0, 3 * sizeof(*x));
			h = reduced(x);
			contribute_all(h, 0, n);
			insert(&reads, STARPU_R, h, (long)(intptr_t)seen);
			starpu_task_wait_for_all();
			check(seen, 1000, 0, n);
			CLAIM(ninits >= 1 && ninits <= ncpus);
			CLAIM_EQ(ncombinations, ninits);
			starpu_data_unregister(h);
			check(x, 1000, 0, n);
			starpu_shutdown();
		}
	}
}

static void without_a_value_they_are_the_value(void)
{
	starpu_data_handle_t h;
	long seen[NVALUES];

	start(3);
	h = reduced(NULL);
	contribute_all(h, 0, NTASKS);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen);
	starpu_task_wait_for_all();
	check(seen, 0, 0, NTASKS);
	CLAIM_EQ(ncombinations, ninits - 1);
	starpu_data_unregister(h);
	starpu_shutdown();
}

static void groups_follow_each_other(void)
{
	long x[NVALUES] = {0, FAR}, seen[4][NVALUES];
	starpu_data_handle_t h;

	start(3);
	h = reduced(x);
	contribute_all(h, 0, 10);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[0]);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[1]);
	contribute_all(h, 10, 20);
	insert(&update, STARPU_RW | STARPU_COMMUTE, h, 20);
	contribute_all(h, 21, 30);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[2]);
	contribute_all(h, 30, 40);
	insert(&sets, STARPU_W, h, 7);
	contribute_all(h, 40, 50);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[3]);
	starpu_task_wait_for_all();
	check(seen[0], 0, 0, 10);
	check(seen[1], 0, 0, 10);
	check(seen[2], 0, 0, 30);
	CLAIM_EQ(seen[3][0], 7 + sum(40, 50));
	starpu_data_unregister(h);
	starpu_shutdown();
}

static void an_acquisition_sees_them_all(void)
{
	long x[NVALUES] = {0, FAR};
	starpu_data_handle_t h;

	start(2);
	h = reduced(x);
	for (int round = 1; round <= 3; round++) {
		contribute_all(h, (round - 1) * NTASKS, round * NTASKS);
		CLAIM_EQ(starpu_data_acquire(h, STARPU_R), 0);
		check(x, 0, 0, round * NTASKS);
		starpu_data_release(h);
	}
	contribute_all(h, 3 * NTASKS, 4 * NTASKS);
	starpu_task_wait_for_all();
	while (starpu_data_acquire_try(h, STARPU_RW) == -EAGAIN)
		starpu_task_wait_for_all();
	check(x, 0, 0, 4 * NTASKS);
	starpu_data_release(h);
	starpu_data_unregister(h);
	starpu_shutdown();
}

/* Nothing else closes the group. */
static void unregistering_brings_them_home(void)
{
	long x[NVALUES] = {5, FAR};
	starpu_data_handle_t h;

	start(3);
	h = reduced(x);
	contribute_all(h, 0, NTASKS);
	starpu_data_unregister(h);
	check(x, 5, 0, NTASKS);
	/* And where nobody wants them they are gone, not in the way. */
	h = reduced(NULL);
	contribute_all(h, 0, NTASKS);
	starpu_data_unregister_submit(h);
	h = reduced(NULL);
	contribute_all(h, 0, NTASKS);
	starpu_data_unregister_no_coherency(h);
	h = reduced(NULL);
	contribute_all(h, 0, NTASKS);
	starpu_data_invalidate_submit(h);
	contribute_all(h, 0, 3);
	starpu_data_acquire(h, STARPU_R);
	CLAIM_EQ(((long *)starpu_data_get_local_ptr(h))[0], 3);
	starpu_data_release(h);
	starpu_data_unregister(h);
	starpu_shutdown();
}

static void what_nobody_wrote_is_neutral(void)
{
	starpu_data_handle_t h;
	long seen[2][NVALUES] = {{0}};

	start(2);
	h = reduced(NULL);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[0]);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[1]);
	starpu_task_wait_for_all();
	CLAIM_EQ(seen[0][1], FAR);
	CLAIM_EQ(seen[1][1], FAR);
	CLAIM_EQ(ninits, 1);
	starpu_data_invalidate_submit(h);
	insert(&update, STARPU_RW | STARPU_COMMUTE, h, 3);
	insert(&update, STARPU_RW | STARPU_COMMUTE, h, 4);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen[0]);
	starpu_task_wait_for_all();
	CLAIM_EQ(seen[0][0], 7);
	CLAIM_EQ(ninits, 2);
	starpu_data_invalidate(h);
	starpu_data_acquire(h, STARPU_R);
	starpu_data_release(h);
	CLAIM_EQ(ninits, 3);
	starpu_data_unregister(h);
	starpu_shutdown();
}

static void one_task_contributes_to_many(void)
{
	long x[NVALUES] = {0, FAR}, y[NVALUES] = {100, FAR};
	starpu_data_handle_t h, g;

	start(3);
	h = reduced(x);
	g = reduced(y);
	for (intptr_t i = 0; i < NTASKS; i++)
		CLAIM_EQ(starpu_task_insert(&twice, STARPU_REDUX, h, STARPU_REDUX, g,
					    STARPU_CL_ARGS_NFREE, (void *)i, (size_t)0,
					    0),
			 0);
	/* Twice to the same one: both buffers are one. */
	for (intptr_t i = 0; i < NTASKS; i++)
		starpu_task_insert(&twice, STARPU_REDUX, h, STARPU_REDUX, h,
				   STARPU_CL_ARGS_NFREE, (void *)i, (size_t)0, 0);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	CLAIM_EQ(x[0], 3 * sum(0, NTASKS));
	CLAIM_EQ(y[0], 100 + sum(0, NTASKS));
	starpu_shutdown();
}

/* Of a codelet of updates that says nothing of what is beside them. */
static void one_of_the_modes_comes_from_the_call(void)
{
	struct starpu_codelet half = twice;
	long x[NVALUES] = {0, FAR}, y[NVALUES] = {0, FAR};
	starpu_data_handle_t h, other;

	start(2);
	h = reduced(x);
	other = reduced(y);
	half.modes[0] = STARPU_RW | STARPU_COMMUTE;
	half.modes[1] = (enum starpu_data_access_mode)0;
	for (int i = 0; i < 2; i++)
		CLAIM_EQ(starpu_task_insert(&half, STARPU_REDUX, h, STARPU_RW, other,
					    STARPU_CL_ARGS_NFREE, (void *)(intptr_t)3,
					    (size_t)0, 0),
			 0);
	starpu_data_unregister(h);
	starpu_data_unregister(other);
	CLAIM(x[0] == 6 && y[0] == 6);
	starpu_shutdown();
}

/* A codelet of updates serves contributions, too; so does a list of modes of the task. */
static void modes_come_from_the_call(void)
{
	struct starpu_codelet any = contribute, both = contribute;
	long x[NVALUES] = {0, FAR};
	starpu_data_handle_t h;
	struct starpu_task *task;

	start(2);
	h = reduced(x);
	any.nbuffers = STARPU_VARIABLE_NBUFFERS;
	any.modes[0] = STARPU_NONE;
	both.modes[0] = (enum starpu_data_access_mode)(STARPU_REDUX | STARPU_COMMUTE);
	for (long i = 0; i < NTASKS; i++) {
		struct starpu_data_descr descr = {h, STARPU_REDUX};

		insert(&update, STARPU_REDUX, h, i);
		insert(&both, STARPU_REDUX | STARPU_COMMUTE, h, i);
		CLAIM_EQ(starpu_task_insert(&any, STARPU_DATA_MODE_ARRAY, &descr, 1,
					    STARPU_CL_ARGS_NFREE, (void *)(intptr_t)i,
					    (size_t)0, 0),
			 0);
		task = starpu_task_create();
		task->cl = &any;
		task->cl_arg = (void *)(intptr_t)i;
		task->nbuffers = 1;
		task->dyn_handles = malloc(sizeof(h));
		task->dyn_modes = malloc(sizeof(*task->dyn_modes));
		task->dyn_handles[0] = h;
		task->dyn_modes[0] = STARPU_REDUX;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	CLAIM_EQ(update.modes[0], STARPU_RW | STARPU_COMMUTE);
	starpu_data_unregister(h);
	CLAIM_EQ(x[0], 4 * sum(0, NTASKS));
	/* All of them with private copies: at most one start for each worker. */
	CLAIM(ninits <= 2);
	starpu_shutdown();
}

static void arguments_reach_the_codelets(void)
{
	int one, two;
	starpu_data_handle_t h;
	long seen[NVALUES];

	start(1);
	starpu_vector_data_register(&h, -1, 0, NVALUES, sizeof(long));
	starpu_data_set_reduction_methods_with_args(h, &combine, &one, &init, &two);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen);
	starpu_task_wait_for_all();
	CLAIM(seen_init_arg == &two);
	contribute_all(h, 0, NTASKS);
	insert(&reads, STARPU_R, h, (long)(intptr_t)seen);
	starpu_task_wait_for_all();
	CLAIM(seen_combine_arg == &one);
	/* The workers' buffers are set outside of tasks. */
	CLAIM(seen_init_arg == NULL);
	starpu_data_unregister(h);
	starpu_shutdown();
}

/* Out of order they are updates, of a value or of the neutral element. */
static void out_of_order_they_update(void)
{
	long x[NVALUES] = {9, FAR}, seen[NVALUES];
	starpu_data_handle_t h, g;

	start(3);
	h = reduced(x);
	g = reduced(NULL);
	starpu_data_set_sequential_consistency_flag(h, 0);
	starpu_data_set_sequential_consistency_flag(g, 0);
	contribute_all(h, 0, NTASKS);
	contribute_all(g, 0, NTASKS);
	starpu_task_wait_for_all();
	insert(&reads, STARPU_R, g, (long)(intptr_t)seen);
	starpu_task_wait_for_all();
	check(seen, 0, 0, NTASKS);
	CLAIM_EQ(ncombinations, 0);
	CLAIM_EQ(ninits, 1);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	check(x, 9, 0, NTASKS);
	starpu_shutdown();
}

/* What codelets leave open is filled in. */
static void modes_of_the_methods_are_completed(void)
{
	struct starpu_codelet c = combine, i = init;
	long x[NVALUES] = {0, FAR};
	starpu_data_handle_t h;

	start(2);
	c.modes[0] = c.modes[1] = i.modes[0] = (enum starpu_data_access_mode)0;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)x, NVALUES,
				    sizeof(*x));
	starpu_data_set_reduction_methods(h, &c, &i);
	CLAIM_EQ(c.modes[0], STARPU_RW | STARPU_COMMUTE);
	CLAIM_EQ(c.modes[1], STARPU_R);
	CLAIM_EQ(i.modes[0], STARPU_W);
	contribute_all(h, 0, NTASKS);
	starpu_data_unregister(h);
	check(x, 0, 0, NTASKS);
	starpu_shutdown();
}

static int nscratches;

/* By way of the third buffer, which has a worker's memory and no value. */
static void combine_by_scratch_kernel(void *buffers[], void *arg)
{
	long *x = values_of(buffers[0]), *y = values_of(buffers[2]);

	CLAIM_EQ(STARPU_VECTOR_GET_NX(buffers[2]), NVALUES);
	CLAIM(y != x && y != values_of(buffers[1]));
	memcpy(y, values_of(buffers[1]), NVALUES * sizeof(*y));
	add_to(x, y);
	(void)arg;
	__atomic_add_fetch(&nscratches, 1, __ATOMIC_SEQ_CST);
}

static void combinations_may_want_scratch(void)
{
	struct starpu_codelet c = combine;
	long x[NVALUES] = {0, FAR};
	starpu_data_handle_t h;

	start(2);
	c.cpu_funcs[0] = combine_by_scratch_kernel;
	c.nbuffers = 3;
	nscratches = 0;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)x, NVALUES,
				    sizeof(*x));
	starpu_data_set_reduction_methods(h, &c, &init);
	CLAIM_EQ(c.modes[2], STARPU_SCRATCH);
	contribute_all(h, 0, NTASKS);
	starpu_data_unregister(h);
	check(x, 0, 0, NTASKS);
	CLAIM(nscratches >= 1);
	starpu_shutdown();
}

/* The runtime's own tasks wait for nobody's permission. */
static void few_tasks_at_a_time_are_enough(void)
{
	long x[NVALUES] = {0, FAR};
	starpu_data_handle_t h;

	start(3);
	starpu_set_limit_max_submitted_tasks(1);
	starpu_set_limit_min_submitted_tasks(0);
	h = reduced(x);
	for (int round = 1; round <= 5; round++) {
		contribute_all(h, (round - 1) * 10, round * 10);
		starpu_data_acquire(h, STARPU_R);
		check(x, 0, 0, round * 10);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	starpu_shutdown();
}

/* A copy has modes of its own, where the call changed the codelet's. */
static void copies_have_their_modes(void)
{
	long x[NVALUES] = {1};
	struct starpu_task *task, *copy;
	starpu_data_handle_t h;

	start(2);
	h = reduced(x);
	task = starpu_task_build(&update, STARPU_REDUX, h, STARPU_CL_ARGS_NFREE,
				 (void *)(intptr_t)5, (size_t)0, 0);
	copy = starpu_task_dup(task);
	CLAIM(task->dyn_modes != NULL && copy->dyn_modes != task->dyn_modes);
	CLAIM_EQ(STARPU_TASK_GET_MODE(copy, 0), STARPU_REDUX);
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(starpu_task_submit(copy), 0);
	starpu_data_unregister(h);
	CLAIM_EQ(x[0], 1 + 5 + 5);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"contributions meet before a reader",
		 contributions_meet_before_a_reader},
		{"without a value they are the value",
		 without_a_value_they_are_the_value},
		{"groups follow each other", groups_follow_each_other},
		{"an acquisition sees them all", an_acquisition_sees_them_all},
		{"unregistering brings them home", unregistering_brings_them_home},
		{"what nobody wrote is neutral", what_nobody_wrote_is_neutral},
		{"one task contributes to many", one_task_contributes_to_many},
		{"modes come from the call", modes_come_from_the_call},
		{"one of the modes comes from the call",
		 one_of_the_modes_comes_from_the_call},
		{"copies have their modes", copies_have_their_modes},
		{"arguments reach the codelets", arguments_reach_the_codelets},
		{"out of order they update", out_of_order_they_update},
		{"modes of the methods are completed",
		 modes_of_the_methods_are_completed},
		{"combinations may want scratch", combinations_may_want_scratch},
		{"few tasks at a time are enough", few_tasks_at_a_time_are_enough},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
