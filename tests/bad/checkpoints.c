/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with checkpoints, one for each name; run.py says what must come of it.
 * usage: checkpoints CASE, on two ranks.
 */
#include <stdio.h>
#include <string.h>

#include <orrery_mpi.h>

enum { NDATA = 4, TAG = 7 };

static const char *name;
static int rank;
static long values[NDATA], variable;
static starpu_data_handle_t data[NDATA];
static starpu_mpi_checkpoint_template_t template;

static int is(const char *other)
{
	return strcmp(name, other) == 0;
}

static int other_rank(int of)
{
	return is("value_on_itself") ? of : 1 - of;
}

static void add(int i, int backup)
{
	starpu_mpi_checkpoint_template_add_entry(&template, STARPU_R, data[i], backup, 0);
}

/* As many entries on both ranks, unless the case says something else. */
static void add_all(void)
{
	int n = NDATA;

	if (is("entry_on_one_rank") && rank == 1)
		n--;
	if (is("entries_on_one_rank") && rank == 1)
		n = 1;
	for (int i = 0; i < n; i++)
		add(i, is("backup_on_itself") ? 0 : is("backup_beyond") ? 2 : 1);
	starpu_mpi_checkpoint_template_add_entry(&template, STARPU_VALUE, &variable,
						 (int)sizeof(variable),
						 (starpu_mpi_tag_t)3, other_rank, 0);
}

static void restore(void)
{
	int lost = 0, spare = is("lost_differ") ? rank : 0;

	if (is("restored_on_one_rank") && rank == 1)
		return;
	orrery_mpi_checkpoint_restore(template, &lost, &spare, 1);
}

static void make(void)
{
	for (int i = 0; i < NDATA; i++) {
		starpu_variable_data_register(&data[i], rank == 0 ? STARPU_MAIN_RAM : -1,
					      rank == 0 ? (uintptr_t)&values[i] : 0,
					      sizeof(values[i]));
		if (!is("without_owner"))
			starpu_mpi_data_register(data[i], TAG + i, 0);
	}
	if (!is("not_started"))
		starpu_mpi_checkpoint_init();
	if (starpu_mpi_checkpoint_template_create(&template, 1, 0) < 0)
		return;
	add_all();
	if (!is("not_frozen"))
		starpu_mpi_checkpoint_template_freeze(&template);
	if (is("never_submitted"))
		restore();
	if (is("data_ended"))
		starpu_data_unregister(data[0]);
	if (starpu_mpi_checkpoint_template_submit(template, 0) < 0)
		return;
	orrery_mpi_checkpoint_wait(template, 0);
	if (is("lost_differ") || is("restored_on_one_rank"))
		restore();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: checkpoints CASE\n");
		return 64;
	}
	name = argv[1];
	MPI_Init(&argc, &argv);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		return 70;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	make();
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
