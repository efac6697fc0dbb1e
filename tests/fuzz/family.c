/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "family.h"

#include <stdlib.h>
#include <string.h>

#include "kin.h"

enum { MAX_USES = 3 };

struct family {
	struct kin kin;
	const struct family_wish *wish;
	int reduces;        /* the datum has methods: it has always a value, 0 if nobody
			     * wrote */
	int was_wiped;      /* a value that nobody asked for is not made neutral */
	struct work *works; /* of all tasks, to be freed */
};

/* What a task, or an acquisition, does to each of its data. */
struct work {
	struct work *next;
	struct family *family;
	starpu_data_handle_t handle; /* of an acquisition */
	int nuses;
	struct {
		enum kin_deed deed;
		uint64_t expected;
		unsigned salt;
	} uses[MAX_USES];
	struct starpu_data_descr descr[MAX_USES];
};

static unsigned below(struct family *family, unsigned n)
{
	return kin_below(&family->kin, n);
}

static void look(struct family *family, const char *what, uint64_t seen,
		 uint64_t expected)
{
	if (seen != expected)
		family->wish->bad(family->wish->arg, what, seen, expected);
}

/* ---- kernels --------------------------------------------------------- */

static void do_work(struct work *work, int i, const struct kin_array *array,
		    const char *what)
{
	enum kin_deed deed = work->uses[i].deed;

	if (deed == KIN_SEE || deed == KIN_CHANGE)
		look(work->family, what, kin_hash(array), work->uses[i].expected);
	kin_do(array, deed, work->uses[i].salt);
}

static void family_kernel(void *buffers[], void *arg)
{
	struct work *work;

	starpu_codelet_unpack_args(arg, &work);
	for (int i = 0; i < work->nuses; i++) {
		struct kin_array array = kin_of_buffer(buffers[i]);

		do_work(work, i, &array, "value in a task on a part");
	}
}

#define CODELET(what, kernel, n, text, ...)                                              \
	static struct starpu_codelet what = {.nbuffers = n,                              \
					     .model = &starpu_perfmodel_nop,             \
					     .name = text,                               \
					     __VA_ARGS__}

CODELET(on_cpu, family_kernel, STARPU_VARIABLE_NBUFFERS, "family",
	.cpu_funcs = {family_kernel});
CODELET(on_gpu, family_kernel, STARPU_VARIABLE_NBUFFERS, "family on a GPU",
	.cuda_funcs = {family_kernel});
CODELET(anywhere, family_kernel, STARPU_VARIABLE_NBUFFERS, "family anywhere",
	.cpu_funcs = {family_kernel}, .cuda_funcs = {family_kernel});
CODELET(neutral, kin_neutral_kernel, 1, "neutral", .cpu_funcs = {kin_neutral_kernel},
	.cuda_funcs = {kin_neutral_kernel}, .modes = {STARPU_W});
CODELET(combine, kin_combine_kernel, 3, "combine", .cpu_funcs = {kin_combine_kernel},
	.cuda_funcs = {kin_combine_kernel},
	.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R, STARPU_SCRATCH});

static struct starpu_codelet *any_codelet(struct family *family)
{
	static struct starpu_codelet *const codelets[] = {&on_cpu, &on_gpu, &anywhere};
	unsigned choice = below(family, 3);

	return family->wish->uses_gpus ? codelets[choice] : &on_cpu;
}

/* ---- uses ------------------------------------------------------------ */

static enum starpu_data_access_mode mode_of(enum kin_deed deed, int reduces)
{
	static const enum starpu_data_access_mode modes[] = {
		[KIN_SEE] = STARPU_R,
		[KIN_SET] = STARPU_W,
		[KIN_CHANGE] = STARPU_RW,
		[KIN_ADD] = STARPU_RW | STARPU_COMMUTE,
		[KIN_SCRIBBLE] = STARPU_SCRATCH};

	return deed == KIN_ADD && reduces ? STARPU_REDUX : modes[deed];
}

static enum kin_deed any_deed(struct family *family)
{
	static const enum kin_deed deeds[] = {KIN_SEE,    KIN_SEE, KIN_SET,
					      KIN_CHANGE, KIN_ADD, KIN_ADD};

	return deeds[below(family, 6)];
}

static struct work *new_work(struct family *family)
{
	struct work *work = calloc(1, sizeof(*work));

	work->family = family;
	work->next = family->works;
	family->works = work;
	return work;
}

static int writes(enum kin_deed deed)
{
	return deed == KIN_SET || deed == KIN_CHANGE || deed == KIN_ADD;
}

/* Note what the use sees, and do to the model what it does. */
static void add_use(struct work *work, int member, enum kin_deed deed)
{
	struct family *family = work->family;
	const struct kin_member *used = &family->kin.members[member];
	int i = work->nuses++;

	work->uses[i].deed = deed;
	work->uses[i].expected = kin_hash(&used->model);
	work->uses[i].salt = below(family, 1000000);
	work->descr[i].handle = work->handle = used->handle;
	work->descr[i].mode = mode_of(deed, family->reduces && below(family, 4));
	if (deed == KIN_SET && kin_is_sparse(&family->kin, member))
		work->descr[i].mode = STARPU_RW;
	if (deed != KIN_SCRIBBLE)
		kin_do(&used->model, deed, work->uses[i].salt);
}

/* A member that can be used; those that starpu_data_partition() cut cannot. */
static int any_member(struct family *family)
{
	int member;

	do
		member = (int)below(family, (unsigned)family->kin.nmembers);
	while (kin_is_partitioned(&family->kin, member));
	return member;
}

static int priority(struct family *family)
{
	return (int)below(family, 5) - 2;
}

static void submit(struct work *work)
{
	struct family *family = work->family;
	int ret = starpu_task_insert(
		any_codelet(family), STARPU_DATA_MODE_ARRAY, work->descr, work->nuses,
		STARPU_PRIORITY, priority(family), STARPU_VALUE, &work, sizeof(work), 0);

	look(family, "starpu_task_insert() of a part", (uint64_t)(unsigned)ret, 0);
}

/* Have the views changed by the task, or say that nothing is to be changed. */
static void insert_one(struct family *family, int member, enum kin_deed deed)
{
	struct work *work = new_work(family);

	add_use(work, member, deed);
	if (kin_allows(&family->kin, member, writes(deed)) && below(family, 4) == 0)
		work->descr[0].mode |= STARPU_NOPLAN;
	kin_reach(&family->kin, member, writes(deed));
	submit(work);
}

/* Two data at once: both read, or parts of the same partition; and scratch. */
static void insert_two(struct family *family)
{
	int one = any_member(family), two = any_member(family),
	    three = any_member(family);
	int plan = family->kin.members[one].plan;
	int are_siblings = plan >= 0 && plan == family->kin.members[two].plan;
	enum kin_deed first = any_deed(family), second = any_deed(family);
	struct work *work;

	if (one == two)
		return;
	if (!are_siblings)
		first = second = KIN_SEE;
	work = new_work(family);
	add_use(work, one, first);
	add_use(work, two, below(family, 6) ? second : KIN_SCRIBBLE);
	if (three != one && three != two && below(family, 4) == 0)
		add_use(work, three, KIN_SCRIBBLE);
	for (int to_write = 1; to_write >= 0; to_write--) {
		if (writes(first) == to_write)
			kin_reach(&family->kin, one, to_write);
		if (work->uses[1].deed != KIN_SCRIBBLE && writes(second) == to_write)
			kin_reach(&family->kin, two, to_write);
	}
	submit(work);
}

/* ---- acquisitions ---------------------------------------------------- */

static void visit(struct work *work)
{
	struct kin_array array = kin_of_buffer(
		starpu_data_get_interface_on_node(work->handle, STARPU_MAIN_RAM));

	do_work(work, 0, &array, "value of an acquired part");
}

static void acquired(void *arg)
{
	struct work *work = arg;

	visit(work);
	starpu_data_release_on_node(work->handle, STARPU_MAIN_RAM);
}

static void acquire(struct family *family, int member)
{
	static const enum kin_deed deeds[] = {KIN_SEE, KIN_SEE, KIN_SET, KIN_CHANGE};
	struct work *work = new_work(family);
	enum kin_deed deed = deeds[below(family, 4)];
	enum starpu_data_access_mode mode;

	add_use(work, member, deed);
	mode = work->descr[0].mode;
	kin_reach(&family->kin, member, writes(deed));
	if (below(family, 2)) {
		starpu_data_acquire_on_node_cb(work->handle, STARPU_MAIN_RAM, mode,
					       acquired, work);
		return;
	}
	starpu_data_acquire_on_node(work->handle, STARPU_MAIN_RAM, mode);
	visit(work);
	if (writes(deed) && below(family, 3) == 0)
		starpu_data_release_to_on_node(work->handle, STARPU_R, STARPU_MAIN_RAM);
	starpu_data_release_on_node(work->handle, STARPU_MAIN_RAM);
}

static void try_to_acquire(struct family *family, int member)
{
	starpu_data_handle_t handle = family->kin.members[member].handle;

	kin_reach(&family->kin, member, 0);
	if (starpu_data_acquire_try(handle, STARPU_R) == 0)
		starpu_data_release(handle);
}

/* ---- other operations ------------------------------------------------ */

static void hint(struct family *family, int member)
{
	starpu_data_handle_t handle = family->kin.members[member].handle;
	unsigned node = below(family, (unsigned)family->wish->nmemories);

	switch (below(family, 5)) {
	case 0:
		starpu_data_prefetch_on_node(handle, node, 0);
		break;
	case 1:
		starpu_data_prefetch_on_node(handle, node, 1);
		break;
	case 2:
		starpu_data_idle_prefetch_on_node(handle, node, 1);
		break;
	case 3:
		starpu_data_wont_use(handle);
		break;
	default:
		starpu_data_evict_from_node(handle, node);
		break;
	}
}

/* Of what is reduced it leaves the neutral element, else somebody has to write. */
static void invalidate(struct family *family, int member)
{
	const struct kin_array *model = &family->kin.members[member].model;

	if (kin_is_sparse(&family->kin, member))
		return;
	family->was_wiped = 1;
	kin_reach(&family->kin, member, 1);
	if (below(family, 2))
		starpu_data_invalidate_submit(family->kin.members[member].handle);
	else
		starpu_data_deinitialize_submit(family->kin.members[member].handle);
	for (unsigned i = 0, n = kin_count(model); i < n; i++)
		*kin_at(model, i) = 0;
	if (!family->reduces)
		insert_one(family, member, KIN_SET);
}

static int has_shape_of(const struct kin_array *one, const struct kin_array *two)
{
	return one->ndims == two->ndims &&
	       memcmp(one->n, two->n, one->ndims * sizeof(one->n[0])) == 0;
}

/* From a part to another one of the same partition. */
static void copy(struct family *family)
{
	int from = any_member(family), to = any_member(family);
	const struct kin_member *source = &family->kin.members[from],
				*target = &family->kin.members[to];

	if (from == to || kin_is_sparse(&family->kin, from) || source->plan < 0 ||
	    source->plan != target->plan || !has_shape_of(&source->model, &target->model))
		return;
	kin_reach(&family->kin, to, 1);
	kin_reach(&family->kin, from, 0);
	starpu_data_cpy(target->handle, source->handle, (int)below(family, 2), NULL,
			NULL);
	for (unsigned i = 0, n = kin_count(&source->model); i < n; i++)
		*kin_at(&target->model, i) = *kin_at(&source->model, i);
}

/* ---- plans ----------------------------------------------------------- */

static void count_call(void *arg)
{
	(void)arg;
}

static void open_by_hand(struct family *family, int plan, int in_order)
{
	struct kin_plan *chosen = &family->kin.plans[plan];
	starpu_data_handle_t parent = family->kin.members[chosen->parent].handle;
	int to_write = (int)below(family, 2);

	kin_open(&family->kin, plan, to_write);
	if (to_write)
		starpu_data_partition_submit_sequential_consistency(
			parent, chosen->n, chosen->parts, in_order);
	else
		starpu_data_partition_readonly_submit_sequential_consistency(
			parent, chosen->n, chosen->parts, in_order);
}

static void close_by_hand(struct family *family, int plan, int in_order)
{
	struct kin_plan *chosen = &family->kin.plans[plan];
	starpu_data_handle_t parent = family->kin.members[chosen->parent].handle;

	kin_close(&family->kin, plan);
	starpu_data_unpartition_submit_sequential_consistency_cb(
		parent, chosen->n, chosen->parts, -(int)below(family, 2), in_order,
		below(family, 2) ? count_call : NULL, NULL);
}

static void change_open(struct family *family, int plan)
{
	struct kin_plan *chosen = &family->kin.plans[plan];
	starpu_data_handle_t parent = family->kin.members[chosen->parent].handle;

	if (chosen->view == KIN_READ) {
		kin_open(&family->kin, plan, 1);
		starpu_data_partition_readwrite_upgrade_submit(parent, chosen->n,
							       chosen->parts);
	} else if (below(family, 2)) {
		kin_downgrade(&family->kin, plan);
		starpu_data_partition_readonly_downgrade_submit(parent, chosen->n,
								chosen->parts);
	} else {
		kin_share(&family->kin, chosen->parent);
		starpu_data_unpartition_readonly_submit(parent, chosen->n, chosen->parts,
							-1);
	}
}

/* Without order only what needs no other change, and no neutral element. */
static void change_view(struct family *family)
{
	int plan = (int)below(family, (unsigned)family->kin.nplans + 1);
	int in_order = !family->kin.is_by_hand && (below(family, 4) || family->reduces);

	if (plan == family->kin.nplans || family->kin.plans[plan].is_synchronous)
		return;
	if (!in_order && !kin_is_alone(&family->kin, plan))
		return;
	if (!in_order)
		starpu_task_wait_for_all();
	if (family->kin.plans[plan].view == KIN_CLOSED)
		open_by_hand(family, plan, in_order);
	else if (below(family, 2))
		close_by_hand(family, plan, in_order);
	else
		change_open(family, plan);
	if (!in_order)
		starpu_task_wait_for_all();
}

static void plan_all(struct family *family)
{
	for (unsigned i = 0, n = 1 + below(family, 3); i < n; i++)
		kin_plan(&family->kin, any_member(family), 2);
}

/* ---- the program ----------------------------------------------------- */

static void step(struct family *family)
{
	unsigned what = below(family, 46);

	if (what < 20)
		insert_one(family, any_member(family), any_deed(family));
	else if (what < 27)
		insert_two(family);
	else if (what < 31)
		acquire(family, any_member(family));
	else if (what < 34)
		hint(family, any_member(family));
	else if (what < 41)
		change_view(family);
	else if (what == 41)
		invalidate(family, any_member(family));
	else if (what == 42)
		copy(family);
	else if (what == 43)
		try_to_acquire(family, any_member(family));
	else if (what == 44)
		kin_plan(&family->kin, any_member(family), 1);
	else
		starpu_task_wait_for_all();
}

/* Uses that the views allow, one at a time. */
static void step_by_hand(struct family *family)
{
	int member = any_member(family);
	enum kin_deed deed = any_deed(family);

	if (below(family, 3) == 0)
		change_view(family);
	else if (kin_allows(&family->kin, member, writes(deed)))
		insert_one(family, member, deed);
	starpu_task_wait_for_all();
}

static void steps(struct family *family, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (family->kin.is_by_hand)
			step_by_hand(family);
		else
			step(family);
	}
}

/* Cut it, and the parts again, with starpu_data_partition(); for some steps. */
static void partition_for_a_while(struct family *family)
{
	struct kin *kin = &family->kin;
	int planned, n;

	kin_clean(kin, 0);
	kin_partition(kin, 0);
	for (n = kin->nmembers; n > 1 && below(family, 2); n--)
		kin_partition(kin, n - 1);
	planned = kin->nplans;
	steps(family, below(family, 15));
	kin_clean(kin, planned);
	starpu_data_unpartition(kin->members[0].handle,
				below(family, (unsigned)family->wish->nmemories));
	kin->nplans = 0;
	kin->nmembers = 1;
}

static void begin(struct family *family)
{
	starpu_data_handle_t handle;

	if (below(family, 5) == 0)
		kin_begin_sparse(&family->kin);
	else
		kin_begin(&family->kin, (int)below(family, 2));
	family->kin.is_by_hand = below(family, 8) == 0;
	family->reduces = below(family, 2) && !kin_is_sparse(&family->kin, 0);
	handle = family->kin.members[0].handle;
	if (family->kin.is_by_hand)
		starpu_data_set_sequential_consistency_flag(handle, 0);
	if (family->reduces && below(family, 2))
		starpu_data_set_reduction_methods(handle, &combine, &neutral);
	plan_all(family);
	if (family->reduces)
		starpu_data_set_reduction_methods(handle, &combine, &neutral);
	if (!family->kin.memory)
		insert_one(family, 0, KIN_SET);
	if (family->kin.is_by_hand)
		starpu_task_wait_for_all();
}

static void end(struct family *family)
{
	starpu_data_handle_t whole = family->kin.members[0].handle;
	uint64_t expected = kin_hash(&family->kin.members[0].model);

	kin_clean(&family->kin, 0);
	if (!family->kin.memory || family->was_wiped)
		look(family, "value of the whole", kin_hash_acquired(whole), expected);
	starpu_data_unregister(whole);
	if (family->kin.memory)
		look(family, "value of the whole at home", kin_hash_memory(&family->kin),
		     expected);
	free(family->kin.memory);
	starpu_task_wait_for_all();
	while (family->works) {
		struct work *work = family->works;

		family->works = work->next;
		free(work);
	}
}

void family_run(const struct family_wish *wish)
{
	struct family *family = calloc(1, sizeof(*family));

	family->wish = wish;
	family->kin.state = wish->seed * 2654435761u + 1;
	begin(family);
	for (unsigned i = 0, n = 1 + below(family, 4); i < n; i++) {
		steps(family, below(family, 20));
		if (family->kin.is_by_hand || below(family, 2))
			continue;
		if (below(family, 3) == 0)
			partition_for_a_while(family);
		else
			kin_clean(&family->kin, 0);
		plan_all(family);
	}
	end(family);
	free(family);
}
