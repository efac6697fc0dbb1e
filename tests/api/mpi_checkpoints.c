/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Checkpoints: what they keep, and that everything can go on from them. */
#include <errno.h>
#include <stdint.h>

#include <orrery_mpi.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { MAX_RANKS = 8, PER_RANK = 3, NDATA = MAX_RANKS * PER_RANK, LENGTH = 3000 };

static long values[NDATA][LENGTH];
static starpu_data_handle_t data[NDATA];
static starpu_mpi_checkpoint_template_t template;
static long step;      /* a variable of each rank, the same on all */
static double seed[7]; /* one that differs */

static int next_rank(int rank)
{
	return (rank + 1) % claim_size;
}

static int ndata(void)
{
	return PER_RANK * claim_size;
}

static unsigned length_of(int i)
{
	return i % 2 ? LENGTH : 3;
}

/* ---- tasks --------------------------------------------------------------- */

static void change_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]), by;

	starpu_codelet_unpack_args(arg, &by);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = 2 * x[i] + by;
}

static void add_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const long *y = (const long *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += y[0];
}

static struct starpu_codelet change = {.cpu_funcs = {change_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop,
				       .name = "change"};
static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW, STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

/* What the tasks do to the first elements, so that it is known. */
static long expected[NDATA];

static void advance(void)
{
	int n = ndata();

	step++;
	seed[RANK % 7] += 1;
	for (int i = 0; i < n; i++) {
		starpu_mpi_task_insert(WORLD, &change, STARPU_RW, data[i], STARPU_VALUE,
				       &step, sizeof(step), 0);
		expected[i] = 2 * expected[i] + step;
	}
	for (int i = 0; i < n; i++) {
		int from = (int)((i + 2 * step + 1) % n);

		from = from == i ? (i + 1) % n : from;
		starpu_mpi_task_insert(WORLD, &add, STARPU_RW, data[i], STARPU_R,
				       data[from], 0);
		expected[i] += expected[from];
	}
}

static void open_all(void)
{
	start();
	step = 0;
	for (int i = 0; i < 7; i++)
		seed[i] = RANK * 10 + i;
	for (int i = 0; i < ndata(); i++) {
		int is_here = i / PER_RANK == RANK;

		expected[i] = i;
		for (int j = 0; j < LENGTH; j++)
			values[i][j] = i;
		starpu_vector_data_register(&data[i], is_here ? STARPU_MAIN_RAM : -1,
					    is_here ? (uintptr_t)values[i] : 0,
					    length_of(i), sizeof(long));
		starpu_mpi_data_register(data[i], TAG + i, i / PER_RANK);
	}
	CLAIM_EQ(starpu_mpi_checkpoint_init(), 0);
}

static void make_template(void)
{
	CLAIM_EQ(starpu_mpi_checkpoint_template_create(&template, 5, 0), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(
			 &template, STARPU_VALUE, &step, (int)sizeof(step),
			 (starpu_mpi_tag_t)1, next_rank, STARPU_VALUE, seed,
			 (int)sizeof(seed), (starpu_mpi_tag_t)2, next_rank, 0),
		 0);
	for (int i = 0; i < ndata(); i++)
		CLAIM_EQ(
			starpu_mpi_checkpoint_template_add_entry(
				&template, STARPU_R, data[i], next_rank(i / PER_RANK), 0),
			0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_freeze(&template), 2 + ndata());
}

static void submit(void)
{
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(template, 0), 0);
}

static void expect_values(void)
{
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < ndata(); i++) {
		const long *x;

		if (starpu_mpi_data_get_rank(data[i]) != RANK)
			continue;
		starpu_data_acquire(data[i], STARPU_R);
		x = (const long *)starpu_data_get_local_ptr(data[i]);
		CLAIM_EQ(x[0], expected[i]);
		CLAIM_EQ(x[length_of(i) - 1], expected[i]);
		starpu_data_release(data[i]);
	}
}

static void close_all(void)
{
	CLAIM_EQ(starpu_mpi_checkpoint_shutdown(), 0);
	for (int i = 0; i < ndata(); i++)
		starpu_data_unregister(data[i]);
	stop();
}

static int restore(int lost, int spare)
{
	return orrery_mpi_checkpoint_restore(template, &lost, &spare, 1);
}

/* ---- claims ---------------------------------------------------------------- */

static void all_go_back_together(void)
{
	long kept[NDATA];

	open_all();
	make_template();
	advance();
	submit();
	memcpy(kept, expected, sizeof(kept));
	advance(); /* The checkpoint is a cut before these tasks. */
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	expect_values();
	seed[0] = -5;
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, NULL, NULL, 0), 0);
	memcpy(expected, kept, sizeof(kept));
	CLAIM_EQ(step, 1);
	for (int i = 0; i < 7; i++)
		CLAIM_EQ((long)seed[i], RANK * 10 + i + (i == RANK % 7));
	expect_values();
	advance();
	advance();
	expect_values();
	close_all();
}

/* The last one that is complete, whatever was submitted since. */
static void a_lost_rank_is_replaced(int lost, int spare)
{
	long kept[NDATA];
	int ranks[2];

	open_all();
	make_template();
	for (int i = 0; i < 3; i++) {
		advance();
		submit();
	}
	memcpy(kept, expected, sizeof(kept));
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	CLAIM_EQ(orrery_mpi_lost_ranks(ranks, 2), 0);
	advance();
	if (RANK == lost)
		CLAIM_EQ(orrery_mpi_lose(), 0);
	submit();
	advance();
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 1), -EOWNERDEAD);
	CLAIM_EQ(orrery_mpi_lost_ranks(ranks, 2), 1);
	CLAIM_EQ(ranks[0], lost);
	/* What the lost rank has is not used. */
	if (RANK == lost) {
		step = -1;
		memset(seed, 0, sizeof(seed));
	}
	CLAIM_EQ(restore(lost, spare), 0);
	CLAIM_EQ(orrery_mpi_lost_ranks(NULL, 0), 0);
	memcpy(expected, kept, sizeof(kept));
	CLAIM_EQ(step, 3);
	if (RANK == spare)
		CLAIM_EQ((long)seed[(lost + 1) % 7], lost * 10 + (lost + 1) % 7);
	for (int i = 0; i < ndata(); i++)
		CLAIM_EQ(starpu_mpi_data_get_rank(data[i]),
			 i / PER_RANK == lost ? spare : i / PER_RANK);
	expect_values();
	advance();
	submit();
	advance();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	expect_values();
	close_all();
}

static void a_process_was_started_again(void)
{
	a_lost_rank_is_replaced(claim_size - 1, claim_size - 1);
	a_lost_rank_is_replaced(0, 0);
}

static void another_rank_takes_its_place(void)
{
	/* Also the one that keeps its backups, where there are two only. */
	a_lost_rank_is_replaced(0, claim_size - 1);
	a_lost_rank_is_replaced(1, 0);
}

static void losses_may_follow_each_other(void)
{
	open_all();
	make_template();
	for (int round = 0; round < 4; round++) {
		int lost = round % claim_size;
		long kept[NDATA];

		advance();
		memcpy(kept, expected, sizeof(kept));
		submit();
		CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
		advance();
		if (RANK == lost)
			orrery_mpi_lose();
		CLAIM_EQ(restore(lost, lost), 0);
		memcpy(expected, kept, sizeof(kept));
		CLAIM_EQ(step, round + 1);
		expect_values();
	}
	close_all();
}

/* Owners at the checkpoint count, not those before or after. */
static void data_that_moved_come_back(void)
{
	int last = claim_size - 1;

	open_all();
	make_template();
	advance();
	for (int i = 0; i < PER_RANK; i++) /* also to who keeps the backups */
		starpu_mpi_data_migrate(WORLD, data[i], 1);
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	for (int i = 0; i < PER_RANK; i++)
		starpu_mpi_data_migrate(WORLD, data[i], last);
	for (int i = 0; i < ndata(); i++)
		starpu_mpi_task_insert(WORLD, &change, STARPU_RW, data[i], STARPU_VALUE,
				       &step, sizeof(step), 0);
	CLAIM_EQ(restore(1, 1), 0);
	for (int i = 0; i < PER_RANK; i++)
		CLAIM_EQ(starpu_mpi_data_get_rank(data[i]), 1);
	expect_values();
	close_all();
}

static void what_cannot_be_restored_stays(void)
{
	int both[2] = {0, 1}, spares[2] = {0, 1}, bad[2] = {0, 0};

	open_all();
	make_template();
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, NULL, NULL, 0), -ENOENT);
	advance();
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	advance();
	CLAIM_EQ(restore(claim_size, 0), -EINVAL);
	CLAIM_EQ(restore(0, -1), -EINVAL);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, bad, spares, 2), -EINVAL);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, both, (int[]){1, 1}, 2),
		 -EINVAL);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, both, NULL, 2), -EINVAL);
	/* Rank 1 keeps the backups of rank 0. */
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, both, spares, 2), -ENODATA);
	if (RANK == 0)
		orrery_mpi_lose();
	CLAIM_EQ(restore(1, 1), -EINVAL); /* Rank 0 is lost and not named. */
	expect_values();
	CLAIM_EQ(step, 2);
	close_all();
}

static void what_is_turned_off_has_no_effect(void)
{
	open_all();
	make_template();
	advance();
	CLAIM_EQ(starpu_mpi_ft_turn_off(), 0);
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, NULL, NULL, 0), -ENOENT);
	CLAIM_EQ(starpu_mpi_ft_turn_on(), 0);
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_restore(template, NULL, NULL, 0), 0);
	expect_values();
	close_all();
}

/* Two on their way at once, and entries as arrays; nobody waits. */
static void templates_are_independent(void)
{
	starpu_mpi_checkpoint_template_t other = NULL;
	int me_first = 0;

	open_all();
	make_template();
	CLAIM_EQ(starpu_mpi_checkpoint_template_register(&other, 6, 1, STARPU_DATA_ARRAY,
							 data, me_first + PER_RANK, 1, 0),
		 0);
	for (int i = 0; i < 10; i++) {
		advance();
		submit();
		CLAIM_EQ(starpu_mpi_checkpoint_template_submit(other, 3), 0);
	}
	for (int i = 0; i < 5; i++)
		submit();
	CLAIM_EQ(starpu_mpi_checkpoint_template_print(other), 0);
	expect_values();
	CLAIM_EQ(orrery_mpi_checkpoint_restore(other, NULL, NULL, 0), 0);
	CLAIM_EQ(restore(1, 1), 0);
	expect_values();
	close_all();
}

/* Restoring one of them tells the others who is lost, and who takes its place. */
static void a_loss_is_one_of_all_templates(void)
{
	starpu_mpi_checkpoint_template_t other = NULL;
	int spare = claim_size - 1;
	long kept[NDATA];

	open_all();
	make_template();
	CLAIM_EQ(starpu_mpi_checkpoint_template_register(&other, 6, 1, STARPU_DATA_ARRAY,
							 data, PER_RANK, 1, 0),
		 0);
	advance();
	submit();
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(other, 0), 0);
	memcpy(kept, expected, sizeof(kept));
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_wait(other, 0), 0);
	if (RANK == 0)
		CLAIM_EQ(orrery_mpi_lose(), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(other, 0), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_wait(other, 0), -EOWNERDEAD);
	CLAIM_EQ(restore(0, spare), 0);
	CLAIM_EQ(orrery_mpi_checkpoint_wait(other, 0), 0);
	advance();
	CLAIM_EQ(orrery_mpi_checkpoint_restore(other, NULL, NULL, 0), 0);
	memcpy(expected, kept, PER_RANK * sizeof(kept[0]));
	for (int i = 0; i < PER_RANK; i++)
		CLAIM_EQ(starpu_mpi_data_get_rank(data[i]), spare);
	expect_values();
	close_all();
}

/* ---- lost again while its values come back ------------------------------------ */

static int loses_again; /* when the next value is unpacked */

static int unpack_and_lose(starpu_data_handle_t handle, unsigned memory, void *ptr,
			   size_t count)
{
	if (loses_again)
		CLAIM_EQ(orrery_mpi_lose(), 0);
	loses_again = 0;
	return starpu_interface_vector_ops.unpack_data(handle, memory, ptr, count);
}

/* Of rank 0; rank 1 keeps its backup. */
static starpu_data_handle_t packed_vector(long *at, struct starpu_data_interface_ops *ops)
{
	struct starpu_vector_interface vector = {.nx = LENGTH,
						 .elemsize = sizeof(long),
						 .allocsize = LENGTH * sizeof(long)};
	starpu_data_handle_t handle;

	*ops = starpu_interface_vector_ops;
	ops->interfaceid = starpu_data_interface_get_next_id();
	ops->peek_data = NULL;
	ops->unpack_data = unpack_and_lose;
	vector.id = ops->interfaceid;
	vector.ptr = vector.dev_handle = RANK == 0 ? (uintptr_t)at : 0;
	starpu_data_register(&handle, RANK == 0 ? STARPU_MAIN_RAM : -1, &vector, ops);
	starpu_mpi_data_register(handle, TAG + NDATA, 0);
	return handle;
}

/* What the first restoration brought is lost, too: it says so, and the next one has it.
 */
static void a_rank_is_lost_while_it_is_restored(void)
{
	static struct starpu_data_interface_ops ops;
	static long at[LENGTH];
	int none = 0;

	start();
	at[0] = at[LENGTH - 1] = 7;
	data[0] = packed_vector(at, &ops);
	CLAIM_EQ(starpu_mpi_checkpoint_init(), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_register(&template, 5, 0, STARPU_R,
							 data[0], 1, 0),
		 0);
	submit();
	CLAIM_EQ(orrery_mpi_checkpoint_wait(template, 0), 0);
	if (RANK == 0)
		CLAIM_EQ(orrery_mpi_lose(), 0);
	loses_again = RANK == 0;
	CLAIM_EQ(restore(0, 0), -EOWNERDEAD);
	CLAIM_EQ(orrery_mpi_lost_ranks(&none, 1), 1);
	CLAIM_EQ(restore(0, 0), 0);
	CLAIM_EQ(orrery_mpi_lost_ranks(NULL, 0), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_shutdown(), 0);
	starpu_data_unregister(data[0]);
	CLAIM_EQ(RANK != 0 || (at[0] == 7 && at[LENGTH - 1] == 7), 1);
	stop();
}

static void mistakes_have_a_code(void)
{
	starpu_mpi_checkpoint_template_t bad = NULL;
	starpu_data_handle_t unowned;
	long value = 0;

	open_all();
	starpu_variable_data_register(&unowned, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	CLAIM_EQ(starpu_mpi_checkpoint_init(), -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_create(&bad, 1, 0), 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_create(&template, 1, 0), -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_freeze(&bad), -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(bad, 0), -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, unowned, 1, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, NULL, 1, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, data[0], 0, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, data[0],
							  claim_size, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(
			 &bad, STARPU_VALUE, NULL, 8, (starpu_mpi_tag_t)1, next_rank, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_W, data[0], 1, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, data[0], 1, 0),
		 0);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, data[0], 1, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_freeze(&bad), 1);
	CLAIM_EQ(starpu_mpi_checkpoint_template_add_entry(&bad, STARPU_R, data[1], 1, 0),
		 -EINVAL);
	CLAIM_EQ(starpu_mpi_checkpoint_template_submit(NULL, 0), -EINVAL);
	CLAIM_EQ(orrery_mpi_checkpoint_wait(bad, -1), -EINVAL);
	starpu_data_unregister(unowned);
	close_all();
}

static const struct claim claims[] = {
	{"all go back together", all_go_back_together},
	{"a process was started again", a_process_was_started_again},
	{"another rank takes its place", another_rank_takes_its_place},
	{"losses may follow each other", losses_may_follow_each_other},
	{"data that moved come back", data_that_moved_come_back},
	{"what cannot be restored stays", what_cannot_be_restored_stays},
	{"what is turned off has no effect", what_is_turned_off_has_no_effect},
	{"templates are independent", templates_are_independent},
	{"a loss is one of all templates", a_loss_is_one_of_all_templates},
	{"a rank is lost while it is restored", a_rank_is_lost_while_it_is_restored},
	{"mistakes have a code", mistakes_have_a_code},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
