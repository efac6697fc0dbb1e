/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "clan.h"

#include <stdlib.h>
#include <string.h>

#include "kin.h"

enum { MAX_USES = 2, MAX_DEPTH = 6 };

struct clan {
	struct kin kin;
	const struct clan_wish *wish;
	int reduces;
	int64_t next_tag;
	int owner[KIN_MEMBERS];
	/* Of each element: the rank where it is up to date, as a part of which member. */
	int at[KIN_ELEMENTS], as[KIN_ELEMENTS];
	struct labour *labours; /* of all tasks, to be freed */
};

/* What a task does to each of its data. */
struct labour {
	struct labour *next;
	struct clan *clan;
	int nuses;
	struct {
		enum kin_deed deed;
		uint64_t expected;
		unsigned salt;
	} uses[MAX_USES];
	struct starpu_data_descr descr[MAX_USES];
};

static unsigned below(struct clan *clan, unsigned n)
{
	return kin_below(&clan->kin, n);
}

static void look(struct clan *clan, const char *what, uint64_t seen, uint64_t expected)
{
	if (seen != expected)
		clan->wish->bad(clan->wish->arg, what, seen, expected);
}

/* ---- kernels --------------------------------------------------------- */

static void clan_kernel(void *buffers[], void *arg)
{
	struct labour *labour;

	starpu_codelet_unpack_args(arg, &labour);
	for (int i = 0; i < labour->nuses; i++) {
		struct kin_array array = kin_of_buffer(buffers[i]);
		enum kin_deed deed = labour->uses[i].deed;

		if (deed == KIN_SEE || deed == KIN_CHANGE)
			look(labour->clan, "value in a task on a part between nodes",
			     kin_hash(&array), labour->uses[i].expected);
		kin_do(&array, deed, labour->uses[i].salt);
	}
}

static struct starpu_codelet codelet = {.cpu_funcs = {clan_kernel},
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.model = &starpu_perfmodel_nop,
					.name = "clan"};
static struct starpu_codelet neutral = {.cpu_funcs = {kin_neutral_kernel},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "neutral"};
static struct starpu_codelet combine = {
	.cpu_funcs = {kin_combine_kernel},
	.nbuffers = 3,
	.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R, STARPU_SCRATCH},
	.model = &starpu_perfmodel_nop,
	.name = "combine"};

/* ---- where the elements are ------------------------------------------ */

static int element(const struct clan *clan, int member, unsigned i)
{
	return (int)(kin_at(&clan->kin.members[member].model, i) - clan->kin.model);
}

static unsigned size(const struct clan *clan, int member)
{
	return kin_count(&clan->kin.members[member].model);
}

/* The member's owner has all of it now. */
static void settle(struct clan *clan, int member)
{
	for (unsigned i = 0; i < size(clan, member); i++) {
		clan->at[element(clan, member, i)] = clan->owner[member];
		clan->as[element(clan, member, i)] = member;
	}
}

/* Has a rank all of it? */
static int is_at(const struct clan *clan, int member, int rank)
{
	for (unsigned i = 0; i < size(clan, member); i++)
		if (clan->at[element(clan, member, i)] != rank)
			return 0;
	return 1;
}

static void migrate(struct clan *clan, int member, int rank)
{
	starpu_mpi_data_migrate(clan->wish->comm, clan->kin.members[member].handle, rank);
	clan->owner[member] = rank;
	settle(clan, member);
}

/*
 * A rank gets all of it: what was written as another member moves with that one, which
 * has to be whole where it is owned before.  1 when it is there.
 */
static int bring(struct clan *clan, int member, int rank, int depth)
{
	for (unsigned i = 0; depth > 0 && i < size(clan, member); i++) {
		int e = element(clan, member, i), as = clan->as[e];

		if (clan->at[e] == rank)
			continue;
		if (!is_at(clan, as, clan->owner[as]) &&
		    !bring(clan, as, clan->owner[as], depth - 1))
			return 0;
		if (clan->at[e] != rank)
			migrate(clan, as, rank);
	}
	return is_at(clan, member, rank);
}

static int bring_home(struct clan *clan, int member)
{
	return bring(clan, member, clan->owner[member], MAX_DEPTH);
}

/* ---- tasks ----------------------------------------------------------- */

static int writes(enum kin_deed deed)
{
	return deed != KIN_SEE;
}

static enum starpu_data_access_mode mode_of(struct clan *clan, enum kin_deed deed)
{
	static const enum starpu_data_access_mode modes[] = {[KIN_SEE] = STARPU_R,
							     [KIN_SET] = STARPU_W,
							     [KIN_CHANGE] = STARPU_RW,
							     [KIN_ADD] = STARPU_RW |
									 STARPU_COMMUTE};
	unsigned choice = below(clan, 3);

	if (deed != KIN_ADD || !clan->reduces || choice == 0)
		return modes[deed];
	return choice == 1 ? STARPU_REDUX : STARPU_MPI_REDUX;
}

static enum kin_deed any_deed(struct clan *clan)
{
	static const enum kin_deed deeds[] = {KIN_SEE,    KIN_SEE, KIN_SEE, KIN_SET,
					      KIN_CHANGE, KIN_ADD, KIN_ADD};

	return deeds[below(clan, 7)];
}

static struct labour *new_labour(struct clan *clan)
{
	struct labour *labour = calloc(1, sizeof(*labour));

	labour->clan = clan;
	labour->next = clan->labours;
	clan->labours = labour;
	return labour;
}

/* 0 when what it needs cannot be brought together. */
static int add_use(struct labour *labour, int member, enum kin_deed deed)
{
	struct clan *clan = labour->clan;
	const struct kin_member *used = &clan->kin.members[member];
	unsigned salt = below(clan, 1000000);
	enum starpu_data_access_mode mode = mode_of(clan, deed);
	int i = labour->nuses;
	if (deed != KIN_SET && !bring_home(clan, member))
		return 0;
	labour->nuses++;
	labour->uses[i].deed = deed;
	labour->uses[i].expected = kin_hash(&used->model);
	labour->uses[i].salt = salt;
	labour->descr[i].handle = used->handle;
	labour->descr[i].mode = mode;
	kin_do(&used->model, deed, salt);
	if (writes(deed))
		settle(clan, member);
	return 1;
}

static int any_member(struct clan *clan)
{
	int member;

	do
		member = (int)below(clan, (unsigned)clan->kin.nmembers);
	while (kin_is_partitioned(&clan->kin, member));
	return member;
}

static int any_rank(struct clan *clan)
{
	return (int)below(clan, (unsigned)clan->wish->nranks);
}

static void submit(struct labour *labour, int node)
{
	struct clan *clan = labour->clan;
	int ret = starpu_mpi_task_insert(clan->wish->comm, &codelet,
					 STARPU_DATA_MODE_ARRAY, labour->descr,
					 labour->nuses, STARPU_VALUE, &labour,
					 sizeof(labour), STARPU_EXECUTE_ON_NODE, node, 0);

	look(clan, "starpu_mpi_task_insert() of a part", (uint64_t)(unsigned)ret, 0);
}

static void insert(struct clan *clan, int member, enum kin_deed deed)
{
	struct labour *labour = new_labour(clan);
	int anywhere = deed == KIN_SEE || below(clan, 2), node = any_rank(clan);

	if (add_use(labour, member, deed))
		submit(labour, anywhere ? node : clan->owner[member]);
}

/* Both read, or parts of the same partition. */
static void insert_two(struct clan *clan)
{
	int one = any_member(clan), two = any_member(clan), node = any_rank(clan);
	int plan = clan->kin.members[one].plan;
	enum kin_deed first = any_deed(clan), second = any_deed(clan);
	struct labour *labour;

	if (one == two)
		return;
	if (plan < 0 || plan != clan->kin.members[two].plan)
		first = second = KIN_SEE;
	/* What the second needs may move what the first is. */
	if (!bring_home(clan, one) || !bring_home(clan, two) ||
	    !is_at(clan, one, clan->owner[one]))
		return;
	labour = new_labour(clan);
	if (add_use(labour, one, first) && add_use(labour, two, second))
		submit(labour, node);
}

/* ---- other operations ------------------------------------------------ */

static void announce(struct clan *clan, int member)
{
	clan->owner[member] = any_rank(clan);
	starpu_mpi_data_register_comm(clan->kin.members[member].handle, clan->next_tag++,
				      clan->owner[member], clan->wish->comm);
}

static void announce_from(struct clan *clan, int member)
{
	for (; member < clan->kin.nmembers; member++)
		announce(clan, member);
}

static void plan(struct clan *clan)
{
	int from = clan->kin.nmembers;

	/* Tags are few. */
	if (clan->next_tag - clan->wish->first_tag > 800)
		return;
	kin_plan(&clan->kin, any_member(clan), 1);
	announce_from(clan, from);
}

static void wander(struct clan *clan, int member, int rank)
{
	if (!kin_is_partitioned(&clan->kin, member) && bring_home(clan, member))
		migrate(clan, member, rank);
}

static void get(struct clan *clan, int member)
{
	MPI_Comm comm = clan->wish->comm;
	starpu_data_handle_t handle = clan->kin.members[member].handle;

	if (!bring_home(clan, member))
		return;
	if (below(clan, 2))
		starpu_mpi_get_data_on_all_nodes_detached(comm, handle);
	else
		starpu_mpi_get_data_on_node_detached(comm, handle, any_rank(clan), NULL,
						     NULL);
}

static void reduce(struct clan *clan, int member)
{
	starpu_data_handle_t handle = clan->kin.members[member].handle;

	if (clan->reduces)
		starpu_mpi_redux_data_tree(clan->wish->comm, handle, (int)below(clan, 4));
}

/* Before somebody looks who is no task. */
static void reduce_all(struct clan *clan)
{
	for (int i = 0; i < clan->kin.nmembers; i++)
		reduce(clan, i);
}

/* The owner changes it without a task, and tells so. */
static void write_at_home(struct clan *clan, int member)
{
	const struct kin_member *used = &clan->kin.members[member];
	unsigned salt = below(clan, 1000);

	if (!bring_home(clan, member))
		return;
	reduce_all(clan);
	starpu_mpi_cache_flush(clan->wish->comm, used->handle);
	if (clan->owner[member] == clan->wish->rank) {
		struct kin_array array;

		starpu_data_acquire(used->handle, STARPU_RW);
		array = kin_of_buffer(
			starpu_data_get_interface_on_node(used->handle, STARPU_MAIN_RAM));
		look(clan, "value of a part at its owner", kin_hash(&array),
		     kin_hash(&used->model));
		kin_do(&array, KIN_CHANGE, salt);
		starpu_data_release(used->handle);
	}
	kin_do(&used->model, KIN_CHANGE, salt);
	settle(clan, member);
}

/* All values are the whole's, whose owner has them. */
static int gather(struct clan *clan)
{
	if (!bring_home(clan, 0))
		return 0;
	for (int i = 0; i < KIN_ELEMENTS; i++)
		clan->as[i] = 0;
	return 1;
}

static void step(struct clan *clan)
{
	unsigned what = below(clan, 40);

	if (what < 22)
		insert(clan, any_member(clan), any_deed(clan));
	else if (what < 28)
		insert_two(clan);
	else if (what < 30)
		wander(clan, clan->as[below(clan, clan->kin.count)], any_rank(clan));
	else if (what < 32)
		starpu_mpi_cache_flush(clan->wish->comm,
				       clan->kin.members[any_member(clan)].handle);
	else if (what < 34)
		get(clan, any_member(clan));
	else if (what < 35)
		reduce(clan, any_member(clan));
	else if (what < 37)
		write_at_home(clan, any_member(clan));
	else if (what < 39)
		plan(clan);
	else if (clan->wish->is_alone)
		starpu_task_wait_for_all();
}

static void steps(struct clan *clan, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step(clan);
}

/* ---- the program ----------------------------------------------------- */

/* With starpu_data_partition() on all ranks, for some steps. */
static void partition_for_a_while(struct clan *clan)
{
	struct kin *kin = &clan->kin;
	int owner = clan->owner[0];

	if (!gather(clan))
		return;
	kin_clean(kin, 0);
	kin_partition(kin, 0);
	for (int i = 1; i < kin->nmembers; i++) {
		clan->owner[i] = owner;
		starpu_mpi_data_register_comm(kin->members[i].handle, clan->next_tag++,
					      owner, clan->wish->comm);
		settle(clan, i);
	}
	/* What is in no part stays where it is, and nobody asks for it. */
	steps(clan, below(clan, 12));
	for (int i = 1; i < kin->nmembers; i++)
		if (kin->members[i].plan == 0)
			bring(clan, i, owner, MAX_DEPTH);
	/* Members that overlap may hinder each other: then all is written anew. */
	for (int i = 1; i < kin->nmembers && !gather(clan); i++)
		if (kin->members[i].plan == 0)
			insert(clan, i, KIN_SET);
	if (!gather(clan))
		abort();
	kin_clean(kin, 1);
	starpu_data_unpartition(kin->members[0].handle, STARPU_MAIN_RAM);
	kin->nplans = 0;
	kin->nmembers = 1;
}

static void begin(struct clan *clan)
{
	int has_memory = (int)below(clan, 2), owner = any_rank(clan);
	starpu_data_handle_t whole;

	kin_begin(&clan->kin, has_memory && owner == clan->wish->rank);
	whole = clan->kin.members[0].handle;
	clan->owner[0] = owner;
	starpu_mpi_data_register_comm(whole, clan->next_tag++, owner, clan->wish->comm);
	settle(clan, 0);
	clan->reduces = below(clan, 2) && clan->wish->reduces;
	if (clan->reduces)
		starpu_data_set_reduction_methods(whole, &combine, &neutral);
	for (unsigned i = 0, n = 1 + below(clan, 3); i < n; i++)
		kin_plan(&clan->kin, any_member(clan), 1);
	announce_from(clan, 1);
	if (!has_memory)
		insert(clan, 0, KIN_SET);
}

static void end(struct clan *clan)
{
	starpu_data_handle_t whole = clan->kin.members[0].handle;
	int is_there = gather(clan);

	reduce_all(clan);
	kin_clean(&clan->kin, 0);
	if (is_there && clan->owner[0] == clan->wish->rank)
		look(clan, "value of the whole at its owner", kin_hash_acquired(whole),
		     kin_hash(&clan->kin.members[0].model));
	starpu_data_unregister(whole);
	free(clan->kin.memory);
	while (clan->labours) {
		struct labour *labour = clan->labours;

		clan->labours = labour->next;
		free(labour);
	}
}

void clan_run(const struct clan_wish *wish)
{
	struct clan *clan = calloc(1, sizeof(*clan));

	clan->wish = wish;
	clan->kin.state = wish->seed * 2654435761u + 1;
	clan->next_tag = wish->first_tag;
	begin(clan);
	for (unsigned i = 0, n = 1 + below(clan, 3); i < n; i++) {
		steps(clan, below(clan, 20));
		if (below(clan, 3) == 0)
			partition_for_a_while(clan);
	}
	end(clan);
	free(clan);
}
