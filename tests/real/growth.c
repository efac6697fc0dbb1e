/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What many of a kind cost: growth SCENE N does one thing N times, and growth.py counts
 * the instructions.  Without arguments: the names of the scenes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

static double bytes[1024];

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static void zero(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void add(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
		*(double *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static void call(void *arg)
{
	(void)arg;
}

static struct starpu_codelet empty = {.cpu_funcs = {nothing}, .name = "empty"};
static struct starpu_codelet any = {
	.cpu_funcs = {nothing}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "any"};
static struct starpu_codelet neutral = {
	.cpu_funcs = {zero}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet sum = {
	.cpu_funcs = {add}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};

static starpu_data_handle_t variable(int i)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM,
				      (uintptr_t)&bytes[i % 1024], sizeof(double));
	return handle;
}

static starpu_data_handle_t *variables(int n)
{
	starpu_data_handle_t *handles = calloc((size_t)n, sizeof(*handles));

	for (int i = 0; handles && i < n; i++)
		handles[i] = variable(i);
	return handles ? handles : (abort(), NULL);
}

static void unregister(starpu_data_handle_t *handles, int n)
{
	for (int i = 0; i < n; i++)
		starpu_data_unregister(handles[i]);
	free(handles);
}

static void use(starpu_data_handle_t handle, unsigned mode)
{
	starpu_task_insert(&any, mode, handle, 0);
}

/* ---- plans ----------------------------------------------------------- */

static starpu_data_handle_t vector(void)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, 1024,
				    sizeof(double));
	return handle;
}

static starpu_data_handle_t (*plan(starpu_data_handle_t whole, int n))[2]
{
	struct starpu_data_filter half = {.filter_func = starpu_vector_filter_block,
					  .nchildren = 2};
	starpu_data_handle_t(*parts)[2] = calloc((size_t)n, sizeof(*parts));

	for (int i = 0; i < n; i++)
		starpu_data_partition_plan(whole, &half, parts[i]);
	return parts;
}

/* One after the other is opened and closed, and cleaned in the order of planning. */
static void plans(int n)
{
	starpu_data_handle_t whole = vector(), (*parts)[2] = plan(whole, n);

	for (int i = 0; i < n; i++) {
		starpu_data_partition_submit(whole, 2, parts[i]);
		starpu_data_unpartition_submit(whole, 2, parts[i], -1);
	}
	for (int i = 0; i < n; i++)
		starpu_data_partition_clean(whole, 2, parts[i]);
	free(parts);
	starpu_data_unregister(whole);
}

/* Tasks open and close them. */
static void plans_used(int n)
{
	starpu_data_handle_t whole = vector(), (*parts)[2] = plan(whole, n);

	for (int i = 0; i < n; i++) {
		use(parts[i][0], STARPU_R);
		use(parts[(i * 7) % n][1], STARPU_RW);
		if (starpu_data_partition_get_nplans(whole) != n)
			abort();
	}
	for (int i = 0; i < n; i++)
		use(parts[i][1], STARPU_R);
	use(whole, STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_data_partition_clean(whole, 2, parts[i]);
	free(parts);
	starpu_data_unregister(whole);
}

/* One plan of many parts, each cut again. */
static void nested(int n)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = (unsigned)n};
	starpu_data_handle_t whole, *parts = calloc((size_t)n, sizeof(*parts));
	starpu_data_handle_t(*inner)[2] = calloc((size_t)n, sizeof(*inner));
	struct starpu_data_filter half = {.filter_func = starpu_vector_filter_block,
					  .nchildren = 2};

	starpu_vector_data_register(&whole, -1, 0, 2 * (uint32_t)n, sizeof(double));
	starpu_data_partition_plan(whole, &filter, parts);
	for (int i = 0; i < n; i++)
		starpu_data_partition_plan(parts[i], &half, inner[i]);
	for (int i = 0; i < n; i++)
		use(inner[i][0], STARPU_W);
	for (int i = 0; i < n; i++)
		starpu_data_partition_clean(parts[i], 2, inner[i]);
	starpu_data_partition_clean(whole, (unsigned)n, parts);
	starpu_data_unregister(whole);
	free(parts);
	free(inner);
}

/* ---- data ------------------------------------------------------------ */

static void handles(int n)
{
	unregister(variables(n), n);
}

static void handles_submit(int n)
{
	starpu_data_handle_t *all = variables(n);

	for (int i = 0; i < n; i++)
		use(all[i], STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_data_unregister_submit(all[i]);
	free(all);
}

static void temporaries(int n)
{
	for (int i = 0; i < n; i++) {
		starpu_data_handle_t handle;

		starpu_vector_data_register(&handle, -1, 0, 1 + (uint32_t)i,
					    sizeof(double));
		use(handle, STARPU_W);
		starpu_data_unregister_submit(handle);
	}
}

static void acquires(int n)
{
	starpu_data_handle_t handle = variable(0);

	starpu_data_acquire(handle, STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_data_acquire_cb(handle, STARPU_R, call, NULL);
	starpu_data_release(handle);
	for (int i = 0; i < n; i++)
		starpu_data_release(handle);
	starpu_data_unregister(handle);
}

static void held(int n)
{
	starpu_data_handle_t *all = variables(n);

	for (int i = 0; i < n; i++)
		starpu_data_acquire(all[i], STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_data_release(all[i]);
	unregister(all, n);
}

static void tasks_on(int n, unsigned mode, unsigned other)
{
	starpu_data_handle_t handle = variable(0);

	starpu_data_acquire(handle, STARPU_RW);
	for (int i = 0; i < n; i++)
		use(handle, i & 1 ? mode : other);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
}

static void readers(int n)
{
	tasks_on(n, STARPU_R, STARPU_R);
}

static void writers(int n)
{
	tasks_on(n, STARPU_RW, STARPU_R);
}

static void commuting(int n)
{
	tasks_on(n, STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE);
}

static void arbiters(int n)
{
	starpu_data_handle_t *all = variables(n);
	starpu_arbiter_t *arbiter = calloc((size_t)n, sizeof(starpu_arbiter_t));

	for (int i = 0; arbiter && i < n; i++) {
		arbiter[i] = starpu_arbiter_create();
		starpu_data_assign_arbiter(all[i], arbiter[i]);
	}
	for (int i = 0; i < n; i++)
		starpu_task_insert(&any, STARPU_RW | STARPU_COMMUTE, all[i],
				   STARPU_RW | STARPU_COMMUTE, all[(i * 7 + 1) % n], 0);
	starpu_task_wait_for_all();
	unregister(all, n);
	for (int i = 0; arbiter && i < n; i++)
		starpu_arbiter_destroy(arbiter[i]);
	free(arbiter);
}

static void arbiter(int n)
{
	starpu_data_handle_t *all = variables(n);
	starpu_arbiter_t one = starpu_arbiter_create();

	for (int i = 0; i < n; i++)
		starpu_data_assign_arbiter(all[i], one);
	starpu_data_acquire(all[0], STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_task_insert(&any, STARPU_RW | STARPU_COMMUTE, all[0],
				   STARPU_RW | STARPU_COMMUTE, all[(i + 1) % n], 0);
	starpu_data_release(all[0]);
	starpu_task_wait_for_all();
	unregister(all, n);
	starpu_arbiter_destroy(one);
}

static void reductions(int n)
{
	starpu_data_handle_t handle = variable(0);

	starpu_data_set_reduction_methods(handle, &sum, &neutral);
	for (int i = 0; i < n; i++)
		use(handle, STARPU_REDUX);
	starpu_data_unregister(handle);
}

static void many_reductions(int n)
{
	starpu_data_handle_t *all = variables(n);

	for (int i = 0; i < n; i++) {
		starpu_data_set_reduction_methods(all[i], &sum, &neutral);
		use(all[i], STARPU_REDUX);
	}
	unregister(all, n);
}

static void copies(int n)
{
	starpu_data_handle_t *all = variables(n);

	for (int i = 0; i < n; i++)
		starpu_data_cpy(all[i], all[0], 1, NULL, NULL);
	for (int i = 0; i < n; i++)
		starpu_data_prefetch_on_node(all[i], STARPU_MAIN_RAM, 1);
	starpu_task_wait_for_all();
	unregister(all, n);
}

static void duplicates(int n)
{
	starpu_data_handle_t source = variable(0), *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; i < n; i++)
		starpu_data_dup_ro(&all[i], source, 1);
	use(source, STARPU_RW);
	starpu_task_wait_for_all();
	unregister(all, n);
	starpu_data_unregister(source);
}

/* One task on many data, which are all named twice. */
static void wide(int n)
{
	starpu_data_handle_t *all = variables(n);
	struct starpu_data_descr *descr = calloc(2 * (size_t)n, sizeof(*descr));

	for (int i = 0; i < 2 * n; i++)
		descr[i] = (struct starpu_data_descr){.handle = all[i % n],
						      .mode = STARPU_R};
	starpu_task_insert(&any, STARPU_DATA_MODE_ARRAY, descr, 2 * n, 0);
	starpu_task_wait_for_all();
	free(descr);
	unregister(all, n);
}

/* ---- main memory and a disk that are full ----------------------------- */

static void *plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static void *object(void *base, size_t size)
{
	(void)size;
	return base;
}

static void end_object(void *base, void *obj, size_t size)
{
	(void)base, (void)obj, (void)size;
}

static int read_bytes(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	(void)base, (void)obj, (void)buf, (void)offset, (void)size;
	return 0;
}

static int write_bytes(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	(void)base, (void)obj, (void)buf, (void)offset, (void)size;
	return 0;
}

/* Values that nobody looks at, so the disk keeps none. */
static struct starpu_disk_ops nowhere = {.plug = plug,
					 .unplug = call,
					 .alloc = object,
					 .free = end_object,
					 .read = read_bytes,
					 .write = write_bytes};

/* Values of which the disk has room for a half, and the limit for an eighth, are written
 * and read. */
static void full(int n)
{
	uint32_t kib = 2 * STARPU_DISK_SIZE_MIN / 1024 / (uint32_t)n;
	starpu_data_handle_t *all = calloc((size_t)n, sizeof(*all));

	if (starpu_disk_register(&nowhere, bytes, STARPU_DISK_SIZE_MIN) < 0)
		abort();
	for (int i = 0; all && i < n; i++)
		starpu_vector_data_register(&all[i], -1, 0, kib ? kib : 1, 1024);
	for (int k = 0; all && k < 3; k++)
		for (int i = 0; i < n; i++) {
			use(all[i], k ? STARPU_R : STARPU_W);
			starpu_task_wait_for_all();
		}
	unregister(all, n);
}

/* ---- tasks ----------------------------------------------------------- */

static struct starpu_task *task_new(void)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &empty;
	return task;
}

static void submit(struct starpu_task *task)
{
	if (starpu_task_submit(task))
		abort();
}

static void tasks(int n)
{
	for (int i = 0; i < n; i++)
		submit(task_new());
	starpu_task_wait_for_all();
}

static void held_tasks(int n)
{
	starpu_pause();
	for (int i = 0; i < n; i++) {
		struct starpu_task *task = task_new();

		task->priority = i;
		submit(task);
	}
	starpu_resume();
	starpu_task_wait_for_all();
}

static void many_to_one(int n)
{
	struct starpu_task **all = calloc((size_t)n, sizeof(struct starpu_task *));
	struct starpu_task *last = task_new();

	for (int i = 0; all && i < n; i++)
		all[i] = task_new();
	for (int i = 0; all && i < n; i++)
		starpu_task_declare_deps_array(last, 1, &all[i]);
	submit(last);
	for (int i = 0; all && i < n; i++)
		submit(all[i]);
	starpu_task_wait_for_all();
	free(all);
}

static void one_to_many(int n)
{
	struct starpu_task *first = task_new();

	for (int i = 0; i < n; i++) {
		struct starpu_task *task = task_new();

		starpu_task_declare_deps_array(task, 1, &first);
		submit(task);
	}
	submit(first);
	starpu_task_wait_for_all();
}

static void tags(int n)
{
	for (int i = 0; i < n; i++) {
		struct starpu_task *task = task_new();

		task->use_tag = 1;
		task->tag_id = (starpu_tag_t)i;
		if (i)
			starpu_tag_declare_deps((starpu_tag_t)i, 1,
						(starpu_tag_t)(i - 1));
		submit(task);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < n; i++)
		starpu_tag_remove((starpu_tag_t)i);
}

static void tag_waits(int n)
{
	starpu_tag_t *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; all && i < n; i++) {
		struct starpu_task *task = task_new();

		all[i] = 1000000 + (starpu_tag_t)i;
		task->use_tag = 1;
		task->tag_id = all[i];
		submit(task);
	}
	starpu_tag_wait_array((unsigned)n, all);
	free(all);
}

static void ends(int n)
{
	struct starpu_task *task = task_new();

	for (int i = 0; i < n; i++)
		starpu_task_end_dep_add(task, 1);
	submit(task);
	for (int i = 0; i < n; i++)
		starpu_task_end_dep_release(task);
	starpu_task_wait_for_all();
}

static void callbacks(int n)
{
	for (int i = 0; i < n; i++) {
		struct starpu_task *task = task_new();

		task->callback_func = call;
		task->prologue_callback_func = call;
		submit(task);
	}
	starpu_task_wait_for_all();
}

static void waited(int n)
{
	struct starpu_task **all = calloc((size_t)n, sizeof(struct starpu_task *));

	for (int i = 0; all && i < n; i++) {
		all[i] = task_new();
		all[i]->detach = 0;
		submit(all[i]);
	}
	for (int i = n; all && i-- > 0;)
		if (starpu_task_wait(all[i]))
			abort();
	free(all);
}

static void bundles(int n)
{
	starpu_task_bundle_t bundle;

	starpu_task_bundle_create(&bundle);
	for (int i = 0; i < n; i++) {
		struct starpu_task *task = task_new();

		starpu_task_bundle_insert(bundle, task);
		submit(task);
	}
	starpu_task_bundle_close(bundle);
	starpu_task_wait_for_all();
}

static void codelets(int n)
{
	struct starpu_codelet *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; all && i < n; i++) {
		all[i] = empty;
		all[i].checked = 0;
		starpu_task_insert(&all[i], 0);
	}
	starpu_task_wait_for_all();
	free(all);
}

/* One model, a footprint for each size. */
static void footprints(int n)
{
	static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
						.symbol = "growth"};
	struct starpu_codelet codelet = {.cpu_funcs = {nothing},
					 .nbuffers = 1,
					 .modes = {STARPU_W},
					 .model = &model};

	for (int i = 0; i < n; i++) {
		starpu_data_handle_t handle;

		starpu_vector_data_register(&handle, -1, 0, 1 + (uint32_t)i,
					    sizeof(double));
		starpu_task_insert(&codelet, STARPU_W, handle, 0);
		starpu_data_unregister_submit(handle);
	}
	starpu_task_wait_for_all();
}

static void models(int n)
{
	struct starpu_perfmodel *all = calloc((size_t)n, sizeof(*all));
	struct starpu_codelet *codelet = calloc((size_t)n, sizeof(*codelet));
	char(*names)[32] = calloc((size_t)n, sizeof(*names));

	for (int i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "growth-%d", i);
		all[i] = (struct starpu_perfmodel){.type = STARPU_REGRESSION_BASED,
						   .symbol = names[i]};
		codelet[i] = empty;
		codelet[i].model = &all[i];
		starpu_task_insert(&codelet[i], 0);
	}
	starpu_task_wait_for_all();
	/* They live as long as the library. */
}

/* ---- between ranks, to itself ---------------------------------------- */

static void mpi_handles(int n)
{
	starpu_data_handle_t *all = variables(n);

	for (int i = 0; i < n; i++)
		starpu_mpi_data_register(all[i], i, 0);
	for (int i = 0; i < n; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &any, STARPU_RW, all[i], 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	unregister(all, n);
}

static void exchange(int n, int is_one_tag)
{
	starpu_data_handle_t *from = variables(n), *to = variables(n);

	for (int i = 0; i < n; i++)
		starpu_mpi_irecv_detached(to[i], 0, is_one_tag ? 7 : i, MPI_COMM_WORLD,
					  NULL, NULL);
	for (int i = 0; i < n; i++)
		starpu_mpi_isend_detached(from[i], 0, is_one_tag ? 7 : i, MPI_COMM_WORLD,
					  NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	unregister(from, n);
	unregister(to, n);
}

static void messages(int n)
{
	exchange(n, 0);
}

static void one_tag(int n)
{
	exchange(n, 1);
}

static void early(int n)
{
	starpu_data_handle_t *from = variables(n), *to = variables(n);

	for (int i = 0; i < n; i++)
		starpu_mpi_isend_detached(from[i], 0, i, MPI_COMM_WORLD, NULL, NULL);
	for (int i = n; i-- > 0;)
		starpu_mpi_irecv_detached(to[i], 0, i, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	unregister(from, n);
	unregister(to, n);
}

static void requests(int n)
{
	starpu_data_handle_t *from = variables(n), *to = variables(n);
	starpu_mpi_req *all = calloc(2 * (size_t)n, sizeof(*all));

	for (int i = 0; all && i < n; i++) {
		starpu_mpi_irecv(to[i], &all[2 * i], 0, i, MPI_COMM_WORLD);
		starpu_mpi_isend(from[i], &all[2 * i + 1], 0, i, MPI_COMM_WORLD);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 2 * n; all && i-- > 0;)
		starpu_mpi_wait(&all[i], MPI_STATUS_IGNORE);
	free(all);
	unregister(from, n);
	unregister(to, n);
}

static void tag_ranges(int n)
{
	int64_t *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; i < n; i++)
		all[i] = starpu_mpi_tags_allocate(1 + i % 3);
	for (int i = 0; i < n; i += 2)
		starpu_mpi_tags_free(all[i]);
	for (int i = 0; i < n; i += 2)
		all[i] = starpu_mpi_tags_allocate(1 + i % 3);
	for (int i = 0; i < n; i++)
		starpu_mpi_tags_free(all[i]);
	free(all);
}

/* ---- between two ranks, one of which is not there -------------------- */

/* The parts of one cut are sent, which those of another one make old. */
static void kin(int n)
{
	struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
					    .nchildren = (unsigned)n};
	starpu_data_handle_t whole, result = variable(0), *parts[2];

	starpu_vector_data_register(&whole, -1, 0, (uint32_t)n, sizeof(double));
	starpu_mpi_data_register(whole, 0, 0);
	starpu_mpi_data_register(result, 1, 1);
	for (int k = 0; k < 2; k++) {
		parts[k] = calloc((size_t)n, sizeof(*parts[k]));
		starpu_data_partition_plan(whole, &filter, parts[k]);
		for (int i = 0; i < n; i++)
			starpu_mpi_data_register(parts[k][i], 2 + k * n + i, 0);
	}
	starpu_mpi_task_insert(MPI_COMM_WORLD, &any, STARPU_W, whole, 0);
	for (int i = 0; i < n; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &any, STARPU_RW, result, STARPU_R,
				       parts[0][i], 0);
	for (int i = 0; i < n; i++)
		if (!starpu_mpi_cached_send(parts[0][i], 1))
			abort();
	for (int i = 0; i < n; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &any, STARPU_RW, parts[1][i], 0);
	for (int i = 0; i < n; i++)
		if (starpu_mpi_cached_send(parts[0][i], 1))
			abort();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int k = 0; k < 2; k++) {
		starpu_data_partition_clean(whole, (unsigned)n, parts[k]);
		free(parts[k]);
	}
	starpu_data_unregister(whole);
	starpu_data_unregister(result);
}

/* ---- which ----------------------------------------------------------- */

static const struct scene {
	const char *name;
	void (*run)(int n);
	int uses_mpi; /* 2: as one rank of two */
} scenes[] = {
	{"plans", plans, 0},
	{"plans_used", plans_used, 0},
	{"nested", nested, 0},
	{"handles", handles, 0},
	{"unregisters", handles_submit, 0},
	{"temporaries", temporaries, 0},
	{"acquires", acquires, 0},
	{"held", held, 0},
	{"readers", readers, 0},
	{"writers", writers, 0},
	{"commuting", commuting, 0},
	{"arbiters", arbiters, 0},
	{"arbiter", arbiter, 0},
	{"reductions", reductions, 0},
	{"many_reductions", many_reductions, 0},
	{"copies", copies, 0},
	{"duplicates", duplicates, 0},
	{"wide", wide, 0},
	{"full", full, 0},
	{"tasks", tasks, 0},
	{"held_tasks", held_tasks, 0},
	{"many_to_one", many_to_one, 0},
	{"one_to_many", one_to_many, 0},
	{"tags", tags, 0},
	{"tag_waits", tag_waits, 0},
	{"ends", ends, 0},
	{"callbacks", callbacks, 0},
	{"waited", waited, 0},
	{"bundles", bundles, 0},
	{"codelets", codelets, 0},
	{"footprints", footprints, 0},
	{"models", models, 0},
	{"mpi_handles", mpi_handles, 1},
	{"messages", messages, 1},
	{"one_tag", one_tag, 1},
	{"early", early, 1},
	{"requests", requests, 1},
	{"tag_ranges", tag_ranges, 1},
	{"kin", kin, 2},
};

int main(int argc, char **argv)
{
	const struct scene *scene = scenes,
			   *end = &scenes[sizeof(scenes) / sizeof(*scenes)];
	int rc;

	if (argc < 3) {
		for (; scene < end; scene++)
			puts(scene->name);
		return 0;
	}
	while (scene < end && strcmp(scene->name, argv[1]) != 0)
		scene++;
	if (scene == end)
		return 2;
	if (scene->uses_mpi == 2)
		setenv("STARPU_MPI_FAKE_SIZE", "2", 1);
	if (scene->run == full)
		setenv("STARPU_LIMIT_CPU_MEM", "4", 1);
	rc = scene->uses_mpi ? starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL)
			     : starpu_init(NULL);
	if (rc)
		return 77;
	scene->run(atoi(argv[2]));
	if (scene->uses_mpi)
		starpu_mpi_shutdown();
	else
		starpu_shutdown();
	return 0;
}
