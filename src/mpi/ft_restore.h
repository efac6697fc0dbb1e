/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_FT_RESTORE_H
#define ORR_MPI_FT_RESTORE_H

/*
 * ft_restore.h - back to the last checkpoint that is complete.
 *
 * All ranks wait for everything, then agree on what is restored and for whom; nothing
 * changes unless all can.  Survivors copy from their snapshots; the values of a rank that
 * was lost go from the ranks that keep their backups to the rank that takes its place,
 * which owns them from then on.  A new checkpoint makes everything exist twice again.
 */
struct ft_template;
struct mpi;

/* Rank lost[i] has lost its memory, rank spares[i] takes its place: another one, or
 * itself. */
struct ft_loss {
	const int *lost, *spares;
	int n;
};

/* Blocks; all ranks.  0; -EINVAL, -ENOENT, -ENODATA with a message and without effect;
 * -EOWNERDEAD: restored, but one more rank was lost meanwhile; -EDEADLK. */
int ft_restore(struct ft_template *template, const struct ft_loss *loss);

/* Blocks; all ranks: those that are lost and were not replaced, in ranks, of which there
 * is room for most.  How many there are, or -EDEADLK. */
int ft_lost_ranks(struct mpi *mpi, int *ranks, int most);

#endif
