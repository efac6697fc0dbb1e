/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ft_restore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/data/duplicate.h"
#include "core/interface/interface.h"
#include "mpi/assembly.h"
#include "mpi/finish.h"
#include "mpi/ft.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

static const char *const WHAT = "orrery_mpi_checkpoint_restore";

struct restore {
	struct ft_template *template;
	struct mpi *mpi;
	const struct ft_loss *loss;
	const struct ft_checkpoint *from;
	char *gone;         /* by rank: what it had of the checkpoint is lost */
	struct ft_map *map; /* of ranks from now on */
	int64_t number;
	int nlosses;                    /* of this rank, that it has told the others of */
	starpu_data_handle_t *received; /* variables of this rank */
	int nreceived;
};

/* ---- do all want the same? ------------------------------------------------ */

/* What each rank says. */
struct wish {
	int64_t id, n, latest, lost; /* is this rank lost, and not replaced? */
	uint64_t entries, losses;    /* hashes */
};

static uint64_t hash_entries(const struct ft_template *template)
{
	uint64_t hash = 0;

	for (int i = 0; i < template->n; i++) {
		const struct ft_entry *entry = &template->entries[i];

		hash = table_mix(hash + (entry->kind == FT_DATA
						 ? 2 * (uint64_t)entry->handle->tag
						 : 2 * (uint64_t)entry->tag + 1));
	}
	return hash;
}

static uint64_t hash_losses(const struct ft_loss *loss)
{
	uint64_t hash = (uint64_t)loss->n;

	for (int i = 0; i < loss->n; i++)
		hash = table_mix(hash + ((uint64_t)loss->lost[i] << 32) +
				 (uint64_t)loss->spares[i]);
	return hash;
}

static int is_among(const int *ranks, int n, int rank)
{
	for (int i = 0; i < n; i++)
		if (ranks[i] == rank)
			return 1;
	return 0;
}

static int check_losses(const struct restore *restore)
{
	const struct ft_loss *loss = restore->loss;
	const struct mpi *mpi = restore->mpi;

	for (int i = 0; i < loss->n; i++) {
		int lost = loss->lost[i], spare = loss->spares[i];

		if (lost < 0 || lost >= mpi->size || spare < 0 || spare >= mpi->size)
			orr_complain(mpi->rank,
				     "%s: rank %d is lost and rank %d takes its place: "
				     "expected ranks from 0 to %d",
				     WHAT, lost, spare, mpi->size - 1);
		else if (is_among(loss->lost, i, lost))
			orr_complain(
				mpi->rank,
				"%s: rank %d is named twice; name each lost rank once",
				WHAT, lost);
		else if (spare != lost && is_among(loss->lost, loss->n, spare))
			orr_complain(
				mpi->rank,
				"%s: rank %d, which shall take the place of rank %d, "
				"is lost, too; name a rank that lives, or rank %d "
				"itself when it was started again",
				WHAT, spare, lost, lost);
		else
			continue;
		return -EINVAL;
	}
	return 0;
}

static int differ(const struct mpi *mpi, int rank, const char *what, int64_t here,
		  int64_t there)
{
	orr_complain(mpi->rank,
		     "%s: %s differ: %lld on rank %d, %lld on rank %d; all ranks must "
		     "make the same call",
		     WHAT, what, (long long)here, mpi->rank, (long long)there, rank);
	return -EINVAL;
}

static int compare(const struct restore *restore, const struct wish *all)
{
	const struct mpi *mpi = restore->mpi;
	const struct wish *own = &all[mpi->rank];

	for (int rank = 0; rank < mpi->size; rank++) {
		const struct wish *other = &all[rank];

		if (other->id != own->id)
			return differ(mpi, rank, "the templates", own->id, other->id);
		if (other->n != own->n)
			return differ(mpi, rank, "the numbers of entries", own->n,
				      other->n);
		if (other->entries != own->entries)
			return differ(mpi, rank, "the entries (a hash)",
				      (int64_t)own->entries, (int64_t)other->entries);
		if (other->losses != own->losses)
			return differ(mpi, rank, "the lost ranks (a hash)",
				      (int64_t)own->losses, (int64_t)other->losses);
		if (other->latest != own->latest)
			return differ(mpi, rank, "the last checkpoints", own->latest,
				      other->latest);
	}
	for (int rank = 0; rank < mpi->size; rank++) {
		if (!all[rank].lost ||
		    is_among(restore->loss->lost, restore->loss->n, rank))
			continue;
		if (mpi->rank == 0)
			orr_complain(mpi->rank,
				     "%s: rank %d is lost, but not named; ask "
				     "orrery_mpi_lost_ranks()",
				     WHAT, rank);
		return -EINVAL;
	}
	return 0;
}

/* All ranks return the same, when their arguments are the same. */
static int meet(struct restore *restore)
{
	const struct ft_template *template = restore->template;
	struct mpi *mpi = restore->mpi;
	struct wish own = {
		.id = template->id,
		.n = template->n,
		.latest = template->latest ? (int64_t) template->latest->sequence : 0,
		.lost = ft_is_lost(mpi),
		.entries = hash_entries(template)};
	struct wish *all;
	int is_wrong = check_losses(restore), ret;

	restore->nlosses = (int)own.lost;
	own.losses = is_wrong ? UINT64_MAX : hash_losses(restore->loss);
	all = orr_alloc((size_t)mpi->size * sizeof(*all));
	ret = assembly_hear(mpi, &own, all, sizeof(own), WHAT);
	if (ret == 0)
		ret = is_wrong ? is_wrong : compare(restore, all);
	free(all);
	if (ret == 0 && !template->latest) {
		if (mpi->rank == 0)
			orr_complain(
				mpi->rank,
				"%s: no checkpoint of template %d is complete; wait "
				"for the first one with orrery_mpi_checkpoint_wait() "
				"before anything can be lost",
				WHAT, template->id);
		ret = -ENOENT;
	}
	return ret;
}

/* ---- is everything there? --------------------------------------------------- */

static int complain_gone(const struct restore *restore, int entry, int owner, int keeper)
{
	const struct ft_entry *what = &restore->template->entries[entry];

	if (restore->mpi->rank == 0)
		orr_complain(
			0,
			"%s: the value with tag %lld was on rank %d and its backup on "
			"rank %d, and both are lost; ranks that may be lost together "
			"must not keep each other's backups",
			WHAT,
			(long long)(what->kind == FT_DATA ? what->handle->tag
							  : what->tag),
			owner, keeper);
	return -ENODATA;
}

static int is_gone(const struct restore *restore, int rank)
{
	return rank == FT_NOBODY || restore->gone[rank];
}

static int check_there(const struct restore *restore)
{
	const struct ft_template *template = restore->template;
	const struct ft_checkpoint *from = restore->from;

	for (int i = 0; i < template->n; i++) {
		const struct ft_entry *entry = &template->entries[i];
		const struct ft_place *place = &from->places[i];

		if (entry->kind == FT_DATA) {
			if (is_gone(restore, place->owner) &&
			    is_gone(restore, place->keeper))
				return complain_gone(restore, i, place->owner,
						     place->keeper);
			continue;
		}
		for (int rank = 0; rank < restore->mpi->size; rank++) {
			int keeper;

			if (!restore->gone[rank])
				continue;
			keeper = ft_keeper(template, entry, rank, from->map);
			if (is_gone(restore, keeper))
				return complain_gone(restore, i, rank, keeper);
		}
	}
	return 0;
}

/* Who is in a rank's place after the losses. */
static int successor(const struct ft_loss *loss, int rank)
{
	for (int i = 0; i < loss->n; i++)
		if (loss->lost[i] == rank)
			return loss->spares[i];
	return rank;
}

/* By rank: whose part of the template's latest checkpoint is lost. */
static char *gone_after(const struct ft_template *template, const struct ft_loss *loss)
{
	size_t n = (size_t) template->mpi->size;
	char *gone = orr_alloc(n);

	if (template->gone)
		memcpy(gone, template->gone, n);
	for (int i = 0; i < loss->n; i++)
		gone[loss->lost[i]] = 1;
	return gone;
}

static struct ft_map *map_after(const struct ft_template *template,
				const struct ft_loss *loss)
{
	size_t n = (size_t) template->mpi->size;
	struct ft_map *map = orr_alloc(sizeof(*map) + n * sizeof(int));

	for (int rank = 0; rank < (int)n; rank++)
		map->rank[rank] = successor(loss, ft_stand_in(template->maps, rank));
	return map;
}

static void note_losses(struct restore *restore)
{
	restore->gone = gone_after(restore->template, restore->loss);
	restore->map = map_after(restore->template, restore->loss);
}

/* ---- values ----------------------------------------------------------------- */

/* This rank's half of a value's way from who keeps its backup. */
static void carry(const struct restore *restore, const struct ft_entry *entry,
		  starpu_data_handle_t at, int from, int to)
{
	struct mpi *mpi = restore->mpi;
	struct post post = {.kind = mpi->rank == from ? REQUEST_SEND : REQUEST_RECEIVE,
			    .handle = at,
			    .comm = ft_comm(mpi, entry),
			    .peer = mpi->rank == from ? to : from,
			    .tag = ft_tag(entry, restore->number),
			    .what = WHAT};

	engine_post(mpi, &post);
}

static void copy_here(const struct restore *restore, starpu_data_handle_t to,
		      const struct ft_part *part)
{
	struct copy_wish wish = {.asynchronous = 1};

	if (duplicate_copy(restore->mpi->node, to, part->copy, &wish) < 0)
		orr_die(restore->mpi->rank,
			"%s: no worker of this rank can copy a value back; it needs one "
			"for the memory where the snapshot is",
			WHAT);
}

/* Copies of what came after the checkpoint are of a past that never was. */
static void forget_value(struct mpi *mpi, starpu_data_handle_t handle)
{
	reduce_forget(mpi, handle);
	cache_clear(mpi, handle);
	kin_clear(mpi, handle);
	if (orr_load_ptr((void **)&handle->body))
		data_invalidate_submit(mpi->node, handle);
}

static void restore_datum(struct restore *restore, int i, const struct ft_part *part)
{
	struct mpi *mpi = restore->mpi;
	const struct ft_entry *entry = &restore->template->entries[i];
	starpu_data_handle_t handle = entry->handle;
	const struct ft_place *place = &restore->from->places[i];
	int is_lost = restore->gone[place->owner];
	int owner = is_lost ? restore->map->rank[place->owner] : place->owner;
	int source = is_lost ? place->keeper : place->owner;

	forget_value(mpi, handle);
	registry_register(mpi, handle, TAG_UNSET, owner, 0, WHAT);
	if (mpi->rank == source && source == owner)
		copy_here(restore, handle, part);
	else if (mpi->rank == source)
		carry(restore, entry, part->copy, source, owner);
	else if (mpi->rank == owner)
		carry(restore, entry, handle, source, owner);
}

/* The variable itself, for a message. */
static void receive_value(struct restore *restore, const struct ft_entry *entry, int from)
{
	starpu_data_handle_t handle =
		interface_register_bytes(restore->mpi->node, entry->value, entry->bytes);

	carry(restore, entry, handle, from, restore->mpi->rank);
	restore->received =
		orr_realloc(restore->received, (size_t)(restore->nreceived + 1) *
						       sizeof(*restore->received));
	restore->received[restore->nreceived++] = handle;
}

/* A lost variable goes from its backup, which is part on the rank that keeps it. */
static void deliver(struct restore *restore, const struct ft_part *part, int i,
		    int keeper, int to)
{
	const struct ft_entry *entry = &restore->template->entries[i];
	int me = restore->mpi->rank;

	if (me == keeper && keeper == to)
		memcpy(entry->value, part->bytes, entry->bytes);
	else if (me == keeper)
		carry(restore, entry, part->copy, keeper, to);
	else if (me == to)
		receive_value(restore, entry, keeper);
}

static const struct ft_part *part_of_rank(const struct ft_part *part, int nparts,
					  int entry, int rank)
{
	for (int i = 0; i < nparts && part[i].entry == entry; i++)
		if (!part[i].is_own && part[i].peer == rank)
			return &part[i];
	return NULL;
}

static void restore_value(struct restore *restore, int i, const struct ft_part *part,
			  int nparts)
{
	const struct ft_entry *entry = &restore->template->entries[i];

	for (int k = 0; k < nparts && part[k].entry == i; k++)
		if (part[k].is_own && !restore->gone[restore->mpi->rank])
			memcpy(entry->value, part[k].bytes, entry->bytes);
	for (int rank = 0; rank < restore->mpi->size; rank++) {
		const struct ft_part *backup = part_of_rank(part, nparts, i, rank);
		int keeper, spare = restore->map->rank[rank];

		if (!restore->gone[rank])
			continue;
		keeper = ft_keeper(restore->template, entry, rank, restore->from->map);
		/* To the process that goes on, and to the spare instead of its own. */
		deliver(restore, backup, i, keeper, rank);
		if (spare != rank)
			deliver(restore, backup, i, keeper, spare);
	}
}

static void restore_all(struct restore *restore)
{
	const struct ft_checkpoint *from = restore->from;
	const struct ft_template *template = restore->template;
	int at = 0;

	for (int i = 0; i < template->n; i++) {
		while (at < from->nparts && from->parts[at].entry < i)
			at++;
		if (template->entries[i].kind == FT_DATA)
			restore_datum(restore, i, &from->parts[at]);
		else
			restore_value(restore, i, &from->parts[at], from->nparts - at);
	}
}

/* What was in its memory is not used by mistake. */
static void lose_parts(const struct ft_template *template)
{
	const struct ft_checkpoint *latest = template->latest;

	for (int i = 0; latest && i < latest->nparts; i++) {
		const struct ft_part *part = &latest->parts[i];

		if (part->bytes)
			memset(part->bytes, 0xa5, template->entries[part->entry].bytes);
		data_invalidate_submit(template->mpi->node, part->copy);
	}
}

static void lose_parts_of_all(const struct restore *restore)
{
	struct list *all = &restore->mpi->ft->templates;

	if (!is_among(restore->loss->lost, restore->loss->n, restore->mpi->rank))
		return;
	for (struct list *link = all->next; link != all; link = link->next)
		lose_parts(LIST_ENTRY(link, struct ft_template, link));
}

/* ---- all of it ---------------------------------------------------------------- */

static int wait_restored(struct restore *restore)
{
	struct mpi *mpi = restore->mpi;
	int ret = finish_wait_all(mpi, NULL);

	for (int i = 0; i < restore->nreceived && ret == 0; i++)
		data_unregister(mpi->node, restore->received[i], 1);
	free(restore->received);
	return ret < 0 ? ret : mpi_barrier(mpi, 0);
}

static void count_left(const struct restore *restore)
{
	int nleft = 0, last = 0;

	for (int rank = 0; rank < restore->mpi->size; rank++)
		if (restore->map->rank[rank] == rank) {
			nleft++;
			last = rank;
		}
	if (nleft == 1 && restore->mpi->rank == 0)
		orr_complain(
			0,
			"%s: rank %d is the last one that was not replaced by another: "
			"what it loses from now on has no backup",
			WHAT, last);
}

/* From now on others are in the place of who was lost; locked. */
static void replace(struct ft_template *template, const struct ft_loss *loss, char *gone,
		    struct ft_map *map)
{
	for (int i = 0; i < template->n; i++)
		template->entries[i].backup =
			successor(loss, template->entries[i].backup);
	free(template->gone);
	template->gone = gone;
	map->older = template->maps;
	template->maps = map;
	template->failed = 0;
}

/* A rank that is lost has lost its part of the checkpoints of other templates, too. */
static void replace_in_all(struct restore *restore)
{
	const struct ft_loss *loss = restore->loss;
	struct ft *ft = restore->mpi->ft;
	struct list *all = &ft->templates;

	orr_lock(&ft->lock);
	replace(restore->template, loss, restore->gone, restore->map);
	for (struct list *link = all->next; loss->n > 0 && link != all;
	     link = link->next) {
		struct ft_template *other = LIST_ENTRY(link, struct ft_template, link);

		if (other != restore->template)
			replace(other, loss, gone_after(other, loss),
				map_after(other, loss));
	}
	if (is_among(loss->lost, loss->n, restore->mpi->rank))
		ft->nlost_here -= restore->nlosses;
	orr_unlock(&ft->lock);
}

static int complain_fake(const struct mpi *mpi)
{
	orr_complain(mpi->rank,
		     "%s: STARPU_MPI_FAKE_SIZE pretends that there are other ranks, so "
		     "that there are no checkpoints",
		     WHAT);
	return -ENOENT;
}

/* What ranks contributed to data that share bytes with these must not be added to them
 * once they are back. */
static int wait_for_now(struct ft_template *template)
{
	struct mpi *mpi = template->mpi;

	for (int i = 0; i < template->n; i++)
		if (template->entries[i].kind == FT_DATA)
			kin_settle(mpi, template->entries[i].handle);
	return finish_wait_all(mpi, NULL);
}

int ft_restore(struct ft_template *template, const struct ft_loss *loss)
{
	struct mpi *mpi = template->mpi;
	struct restore restore = {.template = template, .mpi = mpi, .loss = loss};
	int ret = mpi->is_fake ? complain_fake(mpi) : wait_for_now(template);

	if (ret == 0)
		ret = meet(&restore);
	if (ret < 0)
		return ret;
	restore.from = template->latest;
	restore.number = mpi->ft->ntrees++;
	note_losses(&restore);
	ret = check_there(&restore);
	if (ret < 0) {
		free(restore.gone);
		free(restore.map);
		return ret;
	}
	lose_parts_of_all(&restore);
	restore_all(&restore);
	ret = wait_restored(&restore);
	count_left(&restore);
	replace_in_all(&restore);
	if (ret < 0)
		return ret;
	ft_submit(template, 0);
	return ft_wait(template, 0);
}

int ft_lost_ranks(struct mpi *mpi, int *ranks, int most)
{
	int own = ft_is_lost(mpi), n = 0, ret, *all;

	if (mpi->is_fake)
		return 0;
	all = orr_alloc((size_t)mpi->size * sizeof(*all));
	ret = assembly_hear(mpi, &own, all, sizeof(own), "orrery_mpi_lost_ranks");
	for (int rank = 0; rank < mpi->size; rank++) {
		if (!all[rank])
			continue;
		if (n < most)
			ranks[n] = rank;
		n++;
	}
	free(all);
	return ret < 0 ? ret : n;
}
