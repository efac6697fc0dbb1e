/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Checkpoints in memory: templates name values, a submission keeps what they are at this
 * place in the order of tasks, on the rank that owns each and on another one.  What is
 * done with them after a loss is in orrery_mpi.h, which StarPU does not have.
 *
 * All ranks of the communicator given at init make the same calls in the same order, with
 * the same entries; ranks that do not, end the program with a message that names what
 * differs.  Each value takes memory for a snapshot where it is and for a backup
 * elsewhere, twice while a newer checkpoint is on its way.
 *
 * Functions return 0, or -EINVAL with a message, and may not be called from a task or a
 * callback.
 */

#ifndef STARPU_MPI_FT_H
#define STARPU_MPI_FT_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/** Start; after starpu_mpi_init() and its like.  -EINVAL: it has been started. */
int starpu_mpi_checkpoint_init(void);

/** Wait for all tasks and transfers, and free templates and checkpoints.  Before the data
 * that they name are unregistered.  Also done by starpu_mpi_shutdown(). */
int starpu_mpi_checkpoint_shutdown(void);

/**
 * Make a template without entries.
 *
 * @param cp_template  out
 * @param cp_id        names it in messages; no other template has it
 * @param cp_domain    names it as well; without effect
 */
int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template,
					  int cp_id, int cp_domain);

/**
 * Add entries to a template that is not frozen, up to a 0 at the end of the list:
 *
 *  - STARPU_R, starpu_data_handle_t, int backup_rank: data with an owner and a tag, in
 * the communicator given at init; backup_rank is another rank than the owner;
 *  - STARPU_VALUE, void *ptr, int bytes, starpu_mpi_tag_t tag, int (*backup_of)(int
 * rank): a variable that each rank has; tag, at least 0, is of no other such entry;
 *    backup_of() says who keeps the backup of a rank's, for all ranks;
 *  - STARPU_DATA_ARRAY, starpu_data_handle_t *, int n, int backup_rank: as STARPU_R for
 *    each.
 *
 * -EINVAL: an entry is wrong or there already; those before it were added.
 */
int starpu_mpi_checkpoint_template_add_entry(
	starpu_mpi_checkpoint_template_t *cp_template, ...);

/** No more entries.  Returns how many there are; -EINVAL: none, or it is frozen. */
int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template);

/** The three in one. */
int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...);

/**
 * Take a checkpoint, asynchronously: data are as the tasks submitted before leave them,
 * variables as they are now.  When all backups are there, the one before is discarded.
 * Owners may have changed since the template was frozen; a rank that now owns what it is
 * to back up leaves that to the next one.
 *
 * @param prio  of copies and messages, as in starpu_mpi_isend_prio()
 */
int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template,
					  int prio);

/** Tell the entries on stderr. */
int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template);

/** Submissions have their effect, which is the preset; or none, until it is turned on. */
int starpu_mpi_ft_turn_on(void);
int starpu_mpi_ft_turn_off(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_MPI_FT_H */
