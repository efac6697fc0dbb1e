/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "family.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_ELEMENTS = 48,
	MAX_PLANS = 16,
	MAX_PARTS = 4,
	MAX_MEMBERS = 1 + MAX_PLANS * MAX_PARTS
};

/* The vector, or a part at any depth. */
struct member {
	starpu_data_handle_t handle;
	unsigned first, n; /* of the vector's elements */
	int plan;          /* that it is of, or -1 */
};

struct family_plan {
	int parent; /* a member */
	int first;  /* member of its parts */
	unsigned n;
	starpu_data_handle_t parts[MAX_PARTS];
};

struct family {
	const struct family_wish *wish;
	uint64_t state;
	unsigned n;
	unsigned *memory; /* the application's, or NULL */
	unsigned model[MAX_ELEMENTS];
	int nmembers, nplans;
	struct member members[MAX_MEMBERS];
	struct family_plan plans[MAX_PLANS];
	struct work *works; /* of all tasks, to be freed */
};

/* What a task does to each of its data. */
struct work {
	struct work *next;
	struct family *family;
	int nuses;
	struct {
		uint64_t expected;
		unsigned salt;
		int reads, writes;
	} uses[2];
};

static unsigned below(struct family *family, unsigned n)
{
	family->state = family->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(((family->state >> 33) ^ (family->state >> 45)) % n);
}

static uint64_t hash(const unsigned *x, unsigned n)
{
	uint64_t sum = n;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 1099511628211u + x[i];
	return sum;
}

static void write_values(unsigned *x, unsigned n, int reads, unsigned salt)
{
	for (unsigned i = 0; i < n; i++)
		x[i] = (reads ? x[i] * 3 : i) + salt;
}

static void look(struct family *family, const char *what, uint64_t seen,
		 uint64_t expected)
{
	if (seen != expected)
		family->wish->bad(family->wish->arg, what, seen, expected);
}

/* ---- uses ------------------------------------------------------------ */

static void family_kernel(void *buffers[], void *arg)
{
	struct work *work;

	starpu_codelet_unpack_args(arg, &work);
	for (int i = 0; i < work->nuses; i++) {
		unsigned *x = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[i]);
		unsigned n = STARPU_VECTOR_GET_NX(buffers[i]);

		if (work->uses[i].reads)
			look(work->family, "value in a task on a part", hash(x, n),
			     work->uses[i].expected);
		if (work->uses[i].writes)
			write_values(x, n, work->uses[i].reads, work->uses[i].salt);
	}
}

static struct starpu_codelet *codelet_of(const struct family *family, unsigned choice)
{
	static struct starpu_codelet on_cpu = {.cpu_funcs = {family_kernel},
					       .nbuffers = STARPU_VARIABLE_NBUFFERS,
					       .model = &starpu_perfmodel_nop,
					       .name = "family"};
	static struct starpu_codelet on_gpu = {.cuda_funcs = {family_kernel},
					       .nbuffers = STARPU_VARIABLE_NBUFFERS,
					       .model = &starpu_perfmodel_nop,
					       .name = "family on a GPU"};

	return family->wish->uses_gpus && choice % 3 ? &on_gpu : &on_cpu;
}

/* Note what the use sees, and do to the model what it does. */
static void add_use(struct family *family, struct work *work, const struct member *member,
		    enum starpu_data_access_mode mode)
{
	unsigned *x = family->model + member->first;
	int i = work->nuses++;

	work->uses[i].expected = hash(x, member->n);
	work->uses[i].reads = (mode & STARPU_R) != 0;
	work->uses[i].writes = (mode & STARPU_W) != 0;
	work->uses[i].salt = below(family, 1000000);
	if (mode & STARPU_W)
		write_values(x, member->n, work->uses[i].reads, work->uses[i].salt);
}

static struct work *new_work(struct family *family)
{
	struct work *work = calloc(1, sizeof(*work));

	work->family = family;
	work->next = family->works;
	family->works = work;
	return work;
}

static enum starpu_data_access_mode any_mode(struct family *family)
{
	static const enum starpu_data_access_mode modes[] = {STARPU_R, STARPU_R, STARPU_W,
							     STARPU_RW};

	return modes[below(family, 4)];
}

static void insert(struct family *family, const struct member *one,
		   enum starpu_data_access_mode mode, const struct member *two,
		   enum starpu_data_access_mode other)
{
	struct work *work = new_work(family);
	struct starpu_codelet *codelet = codelet_of(family, below(family, 3));
	int ret;

	add_use(family, work, one, mode);
	if (two)
		add_use(family, work, two, other);
	if (two)
		ret = starpu_task_insert(codelet, mode, one->handle, other, two->handle,
					 STARPU_VALUE, &work, sizeof(work), 0);
	else
		ret = starpu_task_insert(codelet, mode, one->handle, STARPU_VALUE, &work,
					 sizeof(work), 0);
	look(family, "starpu_task_insert() of a part", (uint64_t)ret, 0);
}

static const struct member *any_member(struct family *family)
{
	return &family->members[below(family, (unsigned)family->nmembers)];
}

/* Two data at once: both read, or parts of the same partition. */
static void insert_two(struct family *family)
{
	const struct member *one = any_member(family), *two = any_member(family);

	if (one == two)
		insert(family, one, any_mode(family), NULL, STARPU_R);
	else if (one->plan >= 0 && one->plan == two->plan)
		insert(family, one, any_mode(family), two, any_mode(family));
	else
		insert(family, one, STARPU_R, two, STARPU_R);
}

static void acquire(struct family *family, const struct member *member)
{
	enum starpu_data_access_mode mode = any_mode(family);
	unsigned *x = family->model + member->first, *seen, salt = below(family, 1000);

	starpu_data_acquire_on_node(member->handle, STARPU_MAIN_RAM, mode);
	seen = (unsigned *)starpu_vector_get_local_ptr(member->handle);
	if (mode & STARPU_R)
		look(family, "value of an acquired part", hash(seen, member->n),
		     hash(x, member->n));
	if (mode & STARPU_W) {
		write_values(seen, member->n, mode & STARPU_R, salt);
		write_values(x, member->n, mode & STARPU_R, salt);
	}
	starpu_data_release_on_node(member->handle, STARPU_MAIN_RAM);
}

/* ---- partitions ------------------------------------------------------ */

static int add_member(struct family *family, starpu_data_handle_t handle, unsigned first,
		      int plan)
{
	family->members[family->nmembers] =
		(struct member){handle, first, starpu_vector_get_nx(handle), plan};
	return family->nmembers++;
}

static void plan(struct family *family, int parent, int depth)
{
	struct family_plan *made = &family->plans[family->nplans];
	unsigned n = family->members[parent].n, first = family->members[parent].first;
	unsigned nparts = 1 + below(family, n < MAX_PARTS ? n : MAX_PARTS);
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = nparts};

	if (family->nplans == MAX_PLANS)
		return;
	starpu_data_partition_plan(family->members[parent].handle, &f, made->parts);
	made->parent = parent;
	made->n = nparts;
	made->first = family->nmembers;
	for (unsigned i = 0; i < nparts; i++) {
		int part = add_member(family, made->parts[i], first, family->nplans);

		first += family->members[part].n;
	}
	family->nplans++;
	for (unsigned i = 0; depth > 0 && i < nparts; i++)
		if (below(family, 3) == 0)
			plan(family, made->first + (int)i, depth - 1);
}

static void plan_all(struct family *family)
{
	for (unsigned i = 0, n = 1 + below(family, 3); i < n; i++)
		plan(family, 0, 2);
}

/* Inner ones come after those that they are in. */
static void clean_all(struct family *family)
{
	while (family->nplans > 0) {
		struct family_plan *last = &family->plans[--family->nplans];

		starpu_data_partition_clean(family->members[last->parent].handle, last->n,
					    last->parts);
	}
	family->nmembers = 1;
}

static void partition_now(struct family *family)
{
	struct starpu_data_filter f[2] = {{.filter_func = starpu_vector_filter_block},
					  {.filter_func = starpu_vector_filter_block}};
	unsigned nfilters = 1 + below(family, 2), first = 0;

	clean_all(family);
	f[0].nchildren = 1 + below(family, 3);
	f[1].nchildren = 1 + below(family, 2);
	starpu_data_map_filters(family->members[0].handle, (int)nfilters, &f[0], &f[1]);
	for (unsigned i = 0; i < f[0].nchildren * (nfilters == 2 ? f[1].nchildren : 1);
	     i++) {
		starpu_data_handle_t root = family->members[0].handle, part;
		int at;

		part = nfilters == 1
			       ? starpu_data_get_sub_data(root, 1, (int)i)
			       : starpu_data_get_sub_data(root, 2,
							  (int)(i / f[1].nchildren),
							  (int)(i % f[1].nchildren));
		at = add_member(family, part, first, 0);
		first += family->members[at].n;
	}
	for (unsigned i = 0, n = below(family, 8); i < n; i++)
		insert(family,
		       &family->members[1 +
					below(family, (unsigned)family->nmembers - 1)],
		       any_mode(family), NULL, STARPU_R);
	family->nmembers = 1;
	starpu_data_unpartition(family->members[0].handle,
				below(family, (unsigned)family->wish->nmemories));
	plan_all(family);
}

/* ---- the program ----------------------------------------------------- */

static void invalidate(struct family *family)
{
	starpu_data_invalidate_submit(family->members[0].handle);
	insert(family, &family->members[0], STARPU_W, NULL, STARPU_R);
}

static void share(struct family *family)
{
	const struct family_plan *any;

	if (!family->nplans)
		return;
	any = &family->plans[below(family, (unsigned)family->nplans)];
	starpu_data_unpartition_readonly_submit(family->members[any->parent].handle,
						any->n,
						(starpu_data_handle_t *)any->parts, -1);
}

static void step(struct family *family)
{
	unsigned what = below(family, 40);

	if (what < 22) {
		insert(family, any_member(family), any_mode(family), NULL, STARPU_R);
	} else if (what < 29) {
		insert_two(family);
	} else if (what < 33) {
		acquire(family, any_member(family));
	} else if (what < 35) {
		starpu_data_prefetch_on_node(
			any_member(family)->handle,
			below(family, (unsigned)family->wish->nmemories),
			below(family, 2));
	} else if (what == 35) {
		invalidate(family);
	} else if (what == 36) {
		share(family);
	} else if (what == 37) {
		clean_all(family);
		plan_all(family);
	} else if (what == 38) {
		partition_now(family);
	} else {
		starpu_task_wait_for_all();
	}
}

static void begin(struct family *family)
{
	starpu_data_handle_t handle;

	family->n = 6 + below(family, MAX_ELEMENTS - 5);
	if (below(family, 2)) {
		family->memory = malloc(family->n * sizeof(*family->memory));
		for (unsigned i = 0; i < family->n; i++)
			family->model[i] = family->memory[i] = below(family, 100000);
	}
	starpu_vector_data_register(&handle, family->memory ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)family->memory, family->n,
				    sizeof(*family->memory));
	add_member(family, handle, 0, -1);
	plan_all(family);
	if (!family->memory)
		insert(family, &family->members[0], STARPU_W, NULL, STARPU_R);
}

static void end(struct family *family)
{
	starpu_data_handle_t whole = family->members[0].handle;

	clean_all(family);
	if (!family->memory) {
		starpu_data_acquire(whole, STARPU_R);
		look(family, "value of the whole",
		     hash((unsigned *)starpu_vector_get_local_ptr(whole), family->n),
		     hash(family->model, family->n));
		starpu_data_release(whole);
	}
	starpu_data_unregister(whole);
	if (family->memory)
		look(family, "value of the whole at home",
		     hash(family->memory, family->n), hash(family->model, family->n));
	free(family->memory);
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
	family->state = wish->seed * 2654435761u + 1;
	begin(family);
	for (unsigned i = 0, n = 5 + below(family, 40); i < n; i++)
		step(family);
	end(family);
	free(family);
}
