/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/decimal.h"
#include "core/data/data_ops.h"
#include "core/data/duplicate.h"
#include "core/interface/interface.h"
#include "core/wait.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

static const char *const WHAT = "a checkpoint";

/* On the stack of a thread that waits for what was submitted up to limit. */
struct ft_waiter {
	struct ft_waiter *next;
	uint64_t limit;
	struct plat_gate gate;
};

/* ---- who keeps what --------------------------------------------------- */

int ft_keeper(const struct ft_template *template, const struct ft_entry *entry, int owner,
	      const struct ft_map *map)
{
	int size = template->mpi->size;
	int keeper = entry->kind == FT_DATA ? entry->backup : entry->backup_of(owner);

	keeper = ft_stand_in(map, keeper);
	/* The owner may have changed since: then the next rank, of those that live. */
	for (int i = 0;
	     i < size && (keeper == owner || ft_stand_in(map, keeper) != keeper); i++)
		keeper = (keeper + 1) % size;
	return keeper == owner || ft_stand_in(map, keeper) != keeper ? FT_NOBODY : keeper;
}

int64_t ft_tag(const struct ft_entry *entry, int64_t number)
{
	int64_t tag = entry->kind == FT_DATA ? entry->handle->tag : entry->tag;

	return (int64_t)((uint64_t)tag + 0x9e3779b97f4a7c15ULL * (uint64_t)(number + 1));
}

int ft_comm(struct mpi *mpi, const struct ft_entry *entry)
{
	return comm_inner(&mpi->comms,
			  entry->kind == FT_DATA ? INNER_DATA : INNER_VALUES);
}

/* ---- buffers ----------------------------------------------------------- */

static starpu_data_handle_t copy_of(struct mpi *mpi, const struct ft_entry *entry,
				    void *bytes)
{
	starpu_data_handle_t copy;

	if (entry->kind == FT_DATA)
		copy = data_register(mpi->node, -1, entry->handle->interface,
				     entry->handle->ops);
	else
		copy = interface_register_bytes(mpi->node, bytes, entry->bytes);
	copy->flags |= DATUM_SEQUENTIAL;
	return copy;
}

static void add_part(struct ft_checkpoint *checkpoint, int *room, int entry, int is_own,
		     int peer)
{
	if (checkpoint->nparts == *room) {
		*room = *room ? 2 * *room : 16;
		checkpoint->parts = orr_realloc(
			checkpoint->parts, (size_t)*room * sizeof(*checkpoint->parts));
	}
	checkpoint->parts[checkpoint->nparts++] =
		(struct ft_part){.entry = entry, .is_own = is_own, .peer = peer};
}

static void plan_datum(struct ft_checkpoint *checkpoint, int *room, int i)
{
	const struct ft_template *template = checkpoint->template;
	const struct ft_entry *entry = &template->entries[i];
	int owner = entry->handle->owner, me = template->mpi->rank;
	int keeper = ft_keeper(template, entry, owner, checkpoint->map);

	checkpoint->places[i] = (struct ft_place){owner, keeper};
	if (me == owner)
		add_part(checkpoint, room, i, 1, keeper);
	else if (me == keeper)
		add_part(checkpoint, room, i, 0, owner);
}

/* Each rank has its own, also one that was replaced: its process goes on. */
static void plan_value(struct ft_checkpoint *checkpoint, int *room, int i)
{
	const struct ft_template *template = checkpoint->template;
	const struct ft_entry *entry = &template->entries[i];
	const struct ft_map *map = checkpoint->map;
	int me = template->mpi->rank;

	for (int rank = 0; rank < template->mpi->size; rank++) {
		if (rank == me)
			add_part(checkpoint, room, i, 1,
				 ft_keeper(template, entry, me, map));
		else if (ft_keeper(template, entry, rank, map) == me)
			add_part(checkpoint, room, i, 0, rank);
	}
}

/* Without buffers. */
static struct ft_checkpoint *plan(struct ft_template *template)
{
	struct ft_checkpoint *checkpoint = orr_alloc(sizeof(*checkpoint));
	int room = 0;

	checkpoint->template = template;
	checkpoint->map = template->maps;
	checkpoint->places =
		orr_alloc((size_t) template->n * sizeof(*checkpoint->places));
	for (int i = 0; i < template->n; i++)
		if (template->entries[i].kind == FT_DATA)
			plan_datum(checkpoint, &room, i);
		else
			plan_value(checkpoint, &room, i);
	return checkpoint;
}

static void make_buffers(struct ft_checkpoint *checkpoint)
{
	struct ft_template *template = checkpoint->template;

	for (int i = 0; i < checkpoint->nparts; i++) {
		struct ft_part *part = &checkpoint->parts[i];
		const struct ft_entry *entry = &template->entries[part->entry];

		part->checkpoint = checkpoint;
		if (entry->kind == FT_VALUE)
			part->bytes = orr_alloc(entry->bytes);
		part->copy = copy_of(template->mpi, entry, part->bytes);
	}
}

static void checkpoint_free(struct ft_checkpoint *checkpoint)
{
	for (int i = 0; i < checkpoint->nparts; i++) {
		if (!checkpoint->parts[i].copy)
			continue;
		data_unregister(checkpoint->template->mpi->node,
				checkpoint->parts[i].copy, 0);
		free(checkpoint->parts[i].bytes);
	}
	free(checkpoint->parts);
	free(checkpoint->places);
	free(checkpoint);
}

static int has_same_parts(const struct ft_checkpoint *a, const struct ft_checkpoint *b)
{
	if (a->nparts != b->nparts)
		return 0;
	for (int i = 0; i < a->nparts; i++)
		if (a->parts[i].entry != b->parts[i].entry ||
		    a->parts[i].is_own != b->parts[i].is_own ||
		    a->parts[i].peer != b->parts[i].peer)
			return 0;
	return 1;
}

static struct ft_checkpoint *take_idle(struct ft_template *template)
{
	struct ft *ft = template->mpi->ft;
	struct ft_checkpoint *idle = NULL;

	orr_lock(&ft->lock);
	if (!list_is_empty(&template->idle)) {
		idle = LIST_ENTRY(template->idle.next, struct ft_checkpoint, link);
		list_remove(&idle->link);
	}
	orr_unlock(&ft->lock);
	return idle;
}

/* With the buffers of one that is not needed any more, where they fit. */
static struct ft_checkpoint *checkpoint_new(struct ft_template *template)
{
	struct ft_checkpoint *checkpoint = plan(template);
	struct ft_checkpoint *idle = take_idle(template);
	struct ft_part *parts = checkpoint->parts;

	if (!idle) {
		make_buffers(checkpoint);
		return checkpoint;
	}
	if (has_same_parts(checkpoint, idle)) {
		checkpoint->parts = idle->parts;
		idle->parts = parts; /* which have no buffers */
		for (int i = 0; i < checkpoint->nparts; i++)
			checkpoint->parts[i].checkpoint = checkpoint;
	} else {
		make_buffers(checkpoint);
	}
	checkpoint_free(idle);
	return checkpoint;
}

/* ---- templates ----------------------------------------------------------- */

struct ft_template *ft_template_new(struct mpi *mpi, int id, int domain)
{
	struct ft_template *template = orr_alloc(sizeof(*template));

	template->mpi = mpi;
	template->id = id;
	template->domain = domain;
	list_init(&template->flying);
	list_init(&template->idle);
	list_push_back(&mpi->ft->templates, &template->link);
	return template;
}

struct ft_template *ft_template_find(struct mpi *mpi, int id)
{
	struct list *all = &mpi->ft->templates;

	for (struct list *link = all->next; link != all; link = link->next) {
		struct ft_template *template = LIST_ENTRY(link, struct ft_template, link);

		if (template->id == id)
			return template;
	}
	return NULL;
}

static int refuse(const struct ft_template *template, const char *what,
		  const char *expected)
{
	orr_complain(template->mpi->rank,
		     "checkpoint template %d, entry %d: %s; expected %s", template->id,
		     template->n, what, expected);
	return -EINVAL;
}

static int check_datum(const struct ft_template *template, const struct ft_entry *entry)
{
	const struct mpi *mpi = template->mpi;
	starpu_data_handle_t handle = entry->handle;
	char text[200], name[128];

	if (!data_is_registered(mpi->node, handle))
		return refuse(template, "the handle is NULL or unregistered",
			      "a registered one, on all ranks");
	data_describe(handle, name, sizeof(name));
	if (handle->owner < 0 || handle->tag < 0 || handle->comm != 0) {
		snprintf(text, sizeof(text), "%s has %s", name,
			 handle->owner == OWNER_PER_NODE ? "a value on each rank"
			 : handle->owner < 0             ? "no owner"
			 : handle->tag < 0               ? "no tag"
					   : "an owner in another communicator");
		return refuse(
			template, text,
			"data of starpu_mpi_data_register() with a rank and a tag, in "
			"the communicator of init");
	}
	if (entry->backup < 0 || entry->backup >= mpi->size ||
	    entry->backup == handle->owner) {
		snprintf(text, sizeof(text), "%s of rank %d is backed up on rank %d",
			 name, handle->owner, entry->backup);
		return refuse(template, text, "another rank of the communicator of init");
	}
	return 0;
}

static int check_value(const struct ft_template *template, const struct ft_entry *entry)
{
	char text[128];

	if (!entry->value || entry->bytes == 0 || !entry->backup_of || entry->tag < 0)
		return refuse(template,
			      "a value has no address, size, tag or function backup_of",
			      "STARPU_VALUE, pointer, int bytes > 0, tag >= 0, function");
	for (int rank = 0; rank < template->mpi->size; rank++) {
		int backup = entry->backup_of(rank);

		if (backup >= 0 && backup < template->mpi->size && backup != rank)
			continue;
		snprintf(text, sizeof(text),
			 "the value with tag %lld of rank %d is backed up on rank %d",
			 (long long)entry->tag, rank, backup);
		return refuse(template, text, "another rank of the communicator of init");
	}
	return 0;
}

/* Handles are even, tags are made odd. */
static uint64_t key_of(const struct ft_entry *entry)
{
	return entry->kind == FT_DATA ? (uint64_t)(uintptr_t)entry->handle
				      : 2 * (uint64_t)entry->tag + 1;
}

int ft_template_add(struct ft_template *template, const struct ft_entry *entry)
{
	int ret = entry->kind == FT_DATA ? check_datum(template, entry)
					 : check_value(template, entry);

	if (ret < 0)
		return ret;
	if (table_get(&template->known, key_of(entry)))
		return refuse(template, "the template has it already", "each value once");
	table_put(&template->known, key_of(entry), template);
	if (template->n == template->room) {
		template->room = template->room ? 2 * template->room : 16;
		template->entries =
			orr_realloc(template->entries,
				    (size_t) template->room * sizeof(*template->entries));
	}
	template->entries[template->n++] = *entry;
	return 0;
}

void ft_template_print(const struct ft_template *template)
{
	const struct mpi *mpi = template->mpi;
	char text[128];

	orr_complain(mpi->rank, "checkpoint template %d of domain %d: %d entries%s",
		     template->id, template->domain, template->n,
		     template->is_frozen ? "" : ", not frozen");
	for (int i = 0; i < template->n; i++) {
		const struct ft_entry *entry = &template->entries[i];

		if (entry->kind == FT_DATA)
			orr_complain(mpi->rank, "  %d: %s of rank %d, backup on rank %d",
				     i, data_describe(entry->handle, text, sizeof(text)),
				     entry->handle->owner, entry->backup);
		else
			orr_complain(mpi->rank,
				     "  %d: value with tag %lld of each rank, %zu bytes, "
				     "backup of this one on rank %d",
				     i, (long long)entry->tag, entry->bytes,
				     entry->backup_of(mpi->rank));
	}
}

/* ---- do the ranks mean the same? ------------------------------------------ */

static void die_differing(struct tree *tree)
{
	const int64_t *sum = tree->own.word;

	if (sum[0] == 0 && sum[1] == 0)
		return;
	if (sum[0] == 1 || sum[0] == -1)
		orr_die(tree->mpi->rank,
			"checkpoint template %s: the value with tag %lld is %s; all "
			"ranks must add the same entries, in the same order, before "
			"they freeze the template",
			tree->what, (long long)(sum[0] * sum[1]),
			sum[0] > 0 ? "sent by its owner, but no rank keeps the backup"
				   : "awaited by the rank that keeps the backup, but its "
				     "owner does not send it");
	orr_die(tree->mpi->rank,
		"checkpoint template %s: owners send %lld values %s than other ranks "
		"keep; all ranks must add the same entries, in the same order, before "
		"they freeze the template",
		tree->what, (long long)(sum[0] < 0 ? -sum[0] : sum[0]),
		sum[0] < 0 ? "less" : "more");
}

static void nothing(struct tree *tree)
{
	(void)tree;
}

static void check_over(struct tree *tree)
{
	free((char *)(uintptr_t)tree->what);
	free(tree);
}

/*
 * Each value is sent once and awaited once: over all ranks, sends less receives are
 * nothing, and so are their tags.  Before the first checkpoint, which would wait for
 * ever.
 */
static void check_parts(struct ft_template *template, const struct ft_checkpoint *plan)
{
	struct tree *tree = orr_alloc(sizeof(*tree));
	char id[32];

	for (int i = 0; i < plan->nparts; i++) {
		const struct ft_part *part = &plan->parts[i];
		const struct ft_entry *entry = &template->entries[part->entry];
		int sign = part->is_own ? part->peer != FT_NOBODY : -1;

		tree->own.word[0] += sign;
		tree->own.word[1] +=
			sign * (entry->kind == FT_DATA ? entry->handle->tag : entry->tag);
	}
	snprintf(id, sizeof(id), "%d", template->id);
	tree->what = orr_strdup(id);
	tree->mpi = template->mpi;
	tree->number = template->mpi->ft->ntrees++;
	tree->at_root = die_differing;
	tree->answered = nothing;
	tree->over = check_over;
	tree_begin(tree, 0);
}

/* ---- a checkpoint ----------------------------------------------------------- */

enum { WORD_LOST, WORD_COMPLETE = WORD_LOST };

/* Not needed any more; ft is locked. */
static void retire(struct ft_checkpoint *checkpoint)
{
	checkpoint->is_retired = 1;
	if (checkpoint->is_over)
		list_push_back(&checkpoint->template->idle, &checkpoint->link);
}

/* ft is locked. */
static void complete(struct ft_checkpoint *checkpoint)
{
	struct ft_template *template = checkpoint->template;

	if (template->latest && template->latest->sequence > checkpoint->sequence) {
		retire(checkpoint);
		return;
	}
	if (template->latest)
		retire(template->latest);
	template->latest = checkpoint;
	free(template->gone);
	template->gone = NULL;
}

/* ft is locked. */
static void wake_waiters(struct ft_template *template)
{
	struct ft_waiter **at = &template->waiters, *waiter;
	uint64_t first = UINT64_MAX;

	for (struct list *link = template->flying.next; link != &template->flying;
	     link = link->next) {
		uint64_t sequence =
			LIST_ENTRY(link, struct ft_checkpoint, link)->sequence;

		first = sequence < first ? sequence : first;
	}
	while ((waiter = *at)) {
		if (first <= waiter->limit) {
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		plat_gate_open(template->mpi->node->plat, &waiter->gate);
	}
}

static void lost_or_not(struct tree *tree)
{
	tree->own.word[WORD_LOST] = ft_is_lost(tree->mpi);
}

static void agree(struct tree *tree)
{
	tree->own.word[WORD_COMPLETE] = tree->own.word[WORD_LOST] == 0;
}

static void agreed(struct tree *tree)
{
	struct ft_checkpoint *checkpoint = (struct ft_checkpoint *)(void *)tree;
	struct ft_template *template = checkpoint->template;
	struct ft *ft = tree->mpi->ft;

	orr_lock(&ft->lock);
	list_remove(&checkpoint->link);
	if (tree->own.word[WORD_COMPLETE]) {
		complete(checkpoint);
	} else {
		if (!template->failed || checkpoint->sequence < template->failed)
			template->failed = checkpoint->sequence;
		retire(checkpoint);
	}
	wake_waiters(template);
	orr_unlock(&ft->lock);
}

static void over(struct tree *tree)
{
	struct ft_checkpoint *checkpoint = (struct ft_checkpoint *)(void *)tree;
	struct ft *ft = tree->mpi->ft;

	orr_lock(&ft->lock);
	checkpoint->is_over = 1;
	if (checkpoint->is_retired)
		list_push_back(&checkpoint->template->idle, &checkpoint->link);
	orr_unlock(&ft->lock);
}

static void backup_came(void *arg)
{
	tree_step(&((struct ft_part *)arg)->checkpoint->tree);
}

static void take_snapshot(const struct ft_part *part, int priority)
{
	const struct ft_template *template = part->checkpoint->template;
	const struct ft_entry *entry = &template->entries[part->entry];
	struct copy_wish wish = {.asynchronous = 1, .priority = priority};
	char text[128];

	if (entry->kind == FT_VALUE) {
		/* The one before may still be on its way. */
		data_acquire(template->mpi->node, part->copy, STARPU_MAIN_RAM, STARPU_W);
		memcpy(part->bytes, entry->value, entry->bytes);
		data_release(part->copy, STARPU_MAIN_RAM, STARPU_NONE);
	} else if (duplicate_copy(template->mpi->node, part->copy, entry->handle, &wish) <
		   0) {
		orr_die(template->mpi->rank,
			"%s: no worker of this rank can copy %s; it needs one for the "
			"memory where the value is",
			WHAT, data_describe(entry->handle, text, sizeof(text)));
	}
}

static void post_part(struct ft_part *part, int priority)
{
	struct ft_checkpoint *checkpoint = part->checkpoint;
	struct ft_template *template = checkpoint->template;
	const struct ft_entry *entry = &template->entries[part->entry];
	struct post post = {.kind = part->is_own ? REQUEST_SEND : REQUEST_RECEIVE,
			    .handle = part->copy,
			    .comm = ft_comm(template->mpi, entry),
			    .peer = part->peer,
			    .tag = ft_tag(entry, checkpoint->number),
			    .priority = priority,
			    .what = WHAT};

	if (part->is_own) {
		take_snapshot(part, priority);
		if (part->peer == FT_NOBODY)
			return;
	} else {
		post.callback = backup_came;
		post.arg = part;
	}
	engine_post(template->mpi, &post);
}

/* What waits to be reduced belongs to the value. */
static void settle_all(const struct ft_template *template)
{
	struct mpi *mpi = template->mpi;

	for (int i = 0; i < template->n; i++) {
		starpu_data_handle_t handle = template->entries[i].handle;

		if (template->entries[i].kind != FT_DATA)
			continue;
		if (!data_is_registered(mpi->node, handle))
			orr_die(mpi->rank,
				"checkpoint template %d, entry %d: the data was "
				"unregistered; end the checkpoints "
				"(starpu_mpi_checkpoint_shutdown()) before",
				template->id, i);
		kin_settle(mpi, handle);
		if (data_flags(handle) & DATUM_CONTRIBUTED)
			reduce_settle(mpi, handle);
	}
}

void ft_submit(struct ft_template *template, int priority)
{
	struct mpi *mpi = template->mpi;
	struct ft *ft = mpi->ft;
	struct ft_checkpoint *checkpoint;
	int nbackups = 0;

	if (ft->is_off || mpi->is_fake)
		return;
	settle_all(template);
	checkpoint = checkpoint_new(template);
	if (!template->is_checked)
		check_parts(template, checkpoint);
	template->is_checked = 1;
	checkpoint->sequence = ++template->nsubmitted;
	checkpoint->number = ft->ntrees++;
	for (int i = 0; i < checkpoint->nparts; i++)
		nbackups += !checkpoint->parts[i].is_own;
	checkpoint->tree = (struct tree){.mpi = mpi,
					 .number = checkpoint->number,
					 .what = WHAT,
					 .climbs = lost_or_not,
					 .at_root = agree,
					 .answered = agreed,
					 .over = over};
	orr_lock(&ft->lock);
	list_push_back(&template->flying, &checkpoint->link);
	orr_unlock(&ft->lock);
	tree_begin(&checkpoint->tree, nbackups + 1);
	for (int i = 0; i < checkpoint->nparts; i++)
		post_part(&checkpoint->parts[i], priority);
	tree_step(&checkpoint->tree);
}

/* Nothing will open its gate. */
static int forget_waiter(struct ft_template *template, const struct ft_waiter *waiter,
			 int ret)
{
	struct ft *ft = template->mpi->ft;
	struct ft_waiter **at = &template->waiters;

	orr_lock(&ft->lock);
	while (*at && *at != waiter)
		at = &(*at)->next;
	if (*at)
		*at = waiter->next;
	orr_unlock(&ft->lock);
	return ret;
}

int ft_wait(struct ft_template *template, int nahead)
{
	struct mpi *mpi = template->mpi;
	struct ft *ft = mpi->ft;
	struct ft_waiter waiter;
	int ret;

	if (template->nsubmitted <= (uint64_t)nahead)
		return 0;
	waiter.limit = template->nsubmitted - (uint64_t)nahead;
	plat_gate_init(&waiter.gate);
	orr_lock(&ft->lock);
	waiter.next = template->waiters;
	template->waiters = &waiter;
	wake_waiters(template);
	orr_unlock(&ft->lock);
	ret = wait_at(mpi->node, &waiter.gate, WAIT_TRANSFER, WHAT);
	if (ret < 0)
		return forget_waiter(template, &waiter, ret);
	orr_lock(&ft->lock);
	if (template->failed && template->failed <= waiter.limit)
		ret = -EOWNERDEAD;
	orr_unlock(&ft->lock);
	return ret;
}

/* ---- losses ------------------------------------------------------------------ */

void ft_lose(struct mpi *mpi)
{
	orr_lock(&mpi->ft->lock);
	mpi->ft->nlost_here++;
	orr_unlock(&mpi->ft->lock);
}

int ft_is_lost(struct mpi *mpi)
{
	struct ft *ft = mpi->ft;
	double now_s = plat_now_s(mpi->node->plat) - mpi->node->start_s;
	int n;

	orr_lock(&ft->lock);
	while (ft->nlost < ft->nlosses && ft->lose_s[ft->nlost] <= now_s) {
		ft->nlost++;
		ft->nlost_here++;
	}
	n = ft->nlost_here;
	orr_unlock(&ft->lock);
	return n;
}

static int by_date(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* RANK@SECONDS, separated by commas: those of this rank. */
static void read_losses(struct mpi *mpi)
{
	const char *text = node_knobs(mpi->node)->mpi_lose;
	struct ft *ft = mpi->ft;

	for (const char *at = text; *at;) {
		char *end, *date;
		long rank = strtol(at, &end, 10);
		double s = *end == '@' ? decimal_read(end + 1, &date) : -1;

		if (end == at || *end != '@' || date == end + 1 || !(s >= 0) ||
		    rank < 0 || rank >= mpi->size || (*date && *date != ','))
			orr_die(mpi->rank,
				"ORRERY_MPI_LOSE is \"%s\": expected RANK@SECONDS, "
				"several with commas, ranks from 0 to %d",
				text, mpi->size - 1);
		if (rank == mpi->rank) {
			ft->lose_s = orr_realloc(ft->lose_s, (size_t)(ft->nlosses + 1) *
								     sizeof(double));
			ft->lose_s[ft->nlosses++] = s;
		}
		at = *date ? date + 1 : date;
	}
	if (ft->nlosses > 1)
		qsort(ft->lose_s, (size_t)ft->nlosses, sizeof(double), by_date);
}

/* ---- start and end ----------------------------------------------------------- */

int ft_open(struct mpi *mpi)
{
	if (mpi->ft)
		return -EINVAL;
	mpi->ft = orr_alloc(sizeof(*mpi->ft));
	orr_lock_init(&mpi->ft->lock);
	list_init(&mpi->ft->templates);
	read_losses(mpi);
	return 0;
}

static void template_free(struct ft_template *template)
{
	struct ft_checkpoint *checkpoint;
	struct ft_map *map;

	while ((checkpoint = take_idle(template)))
		checkpoint_free(checkpoint);
	if (template->latest)
		checkpoint_free(template->latest);
	ORR_ASSERT(list_is_empty(&template->flying));
	while ((map = template->maps)) {
		template->maps = map->older;
		free(map);
	}
	list_remove(&template->link);
	table_free(&template->known);
	free(template->gone);
	free(template->entries);
	free(template);
}

void ft_close(struct mpi *mpi)
{
	struct ft *ft = mpi->ft;

	if (!ft)
		return;
	while (!list_is_empty(&ft->templates))
		template_free(LIST_ENTRY(ft->templates.next, struct ft_template, link));
	mpi->ft = NULL;
	free(ft->lose_s);
	free(ft);
}
