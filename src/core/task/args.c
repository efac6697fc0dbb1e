/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/node.h"
#include "core/task/transaction.h"

enum { KEY_MAX = STARPU_SHIFTED_MODE_MAX >> STARPU_MODE_SHIFT };

/* See args_operands(). */
static const char key_operands[KEY_MAX][3] = {
	[1] = "pz",  [2] = "p",   [3] = "pp",  [4] = "p",   [10] = "l", [11] = "i",
	[12] = "d",  [13] = "u",  [14] = "p",  [15] = "p",  [16] = "p", [17] = "p",
	[18] = "i",  [19] = "l",  [20] = "l",  [21] = "u",  [22] = "u", [24] = "p",
	[25] = "pz", [26] = "pz", [27] = "up", [28] = "i",  [29] = "p", [30] = "i",
	[31] = "up", [32] = "i",  [33] = "up", [34] = "u",  [35] = "p", [36] = "u",
	[37] = "p",  [38] = "pp", [39] = "p",  [40] = "p",  [41] = "p", [42] = "p",
	[43] = "p",  [44] = "i",  [45] = "p",  [46] = "p",  [47] = "p", [48] = "p",
	[49] = "p",  [50] = "p",  [51] = "p",  [52] = "pi",
};

void args_die_unknown_key(int rank, int key)
{
	orr_die(rank,
		"task_insert: unrecognised argument %d (%#x); each argument is a "
		"STARPU_* key followed by its operands of exactly the documented types, "
		"and the list ends with 0",
		key, (unsigned)key);
}

/* ---- scanning: placement and transfers only -------------------------- */

static struct starpu_data_descr *grow_buffers(struct arg_list *args)
{
	size_t n = (size_t)args->nbuffers;
	struct starpu_data_descr *more = orr_alloc(2 * (n + 1) * sizeof(*more));

	memcpy(more, args->buffers, n * sizeof(*more));
	free(args->allocated);
	args->room = 2 * (args->nbuffers + 1);
	args->buffers = args->allocated = more;
	return more;
}

/* It is said who executes. */
static void note_node(struct arg_list *args)
{
	if (!args->has_node)
		args->nbefore_node = args->nbuffers;
	args->has_node = 1;
}

static void scan_buffer(struct arg_list *args, starpu_data_handle_t handle, unsigned mode)
{
	struct starpu_data_descr *buffers =
		args->allocated ? args->allocated : args->inline_buffers;

	if (args->nbuffers == args->room)
		buffers = grow_buffers(args);
	buffers[args->nbuffers].handle = handle;
	buffers[args->nbuffers++].mode = (enum starpu_data_access_mode)mode;
}

static int is_key(int key)
{
	return key > 0 && !(key & ((1 << STARPU_MODE_SHIFT) - 1)) &&
	       key < STARPU_SHIFTED_MODE_MAX;
}

const char *args_operands(int key)
{
	return is_key(key) ? key_operands[key >> STARPU_MODE_SHIFT] : "";
}

static void skip_operands(const char *operands, va_list *list)
{
	for (; *operands; operands++)
		ARGS_SKIP_OPERAND(*operands, *list);
}

/* Item i of an array of handles, which is buffer nbuffers of cl, or of descriptions. */
static struct starpu_data_descr item(int key, const void *array, int i,
				     const struct starpu_codelet *cl, int nbuffers)
{
	if (key == STARPU_DATA_MODE_ARRAY)
		return ((const struct starpu_data_descr *)array)[i];
	return (struct starpu_data_descr){
		.handle = ((const starpu_data_handle_t *)array)[i],
		.mode = STARPU_CODELET_GET_MODE(cl, nbuffers)};
}

static void check_array(int rank, int key, const void *array, int n,
			const struct starpu_codelet *cl)
{
	if (key == STARPU_DATA_ARRAY && n > 0 && !cl)
		orr_die(rank,
			"task_insert: STARPU_DATA_ARRAY without a codelet, which is to "
			"say how the handles are accessed; expected "
			"STARPU_DATA_MODE_ARRAY, or a struct starpu_codelet with "
			"modes[]");
	if (n > 0 ? !array : n < 0)
		orr_die(rank,
			"task_insert: %s is followed by %s and the number %d; expected "
			"an array, and how many handles it holds: 0 or more",
			key == STARPU_DATA_ARRAY ? "STARPU_DATA_ARRAY"
						 : "STARPU_DATA_MODE_ARRAY",
			array ? "an array" : "NULL", n);
}

static void scan_array(struct arg_list *args, int key, void *array, int n)
{
	/* The first accesses, and mostly all: they are read where they are. */
	if (key == STARPU_DATA_MODE_ARRAY && args->nbuffers == 0 && n > 0) {
		args->buffers = array;
		args->nbuffers = args->room = n;
		return;
	}
	for (int i = 0; i < n; i++) {
		struct starpu_data_descr descr =
			item(key, array, i, args->codelet, args->nbuffers);

		scan_buffer(args, descr.handle, descr.mode);
	}
}

static void scan_item(void *context, int key, ...);

static void scan_key(struct arg_list *args, int rank, int key, va_list *list)
{
	void *array;
	int node, n;

	switch (key) {
	case STARPU_NONE:
		(void)va_arg(*list, starpu_data_handle_t);
		break;
	case STARPU_PRIORITY:
		args->priority = va_arg(*list, int);
		break;
	case STARPU_EXECUTE_ON_NODE:
		node = va_arg(*list, int);
		if (node != -1) {
			args->execute_on_node = node;
			note_node(args);
		}
		break;
	case STARPU_EXECUTE_ON_DATA:
		args->on_data = va_arg(*list, starpu_data_handle_t);
		note_node(args);
		break;
	case STARPU_NODE_SELECTION_POLICY:
		args->policy = va_arg(*list, int);
		break;
	case STARPU_TAG_ONLY:
		args->iteration = va_arg(*list, starpu_tag_t);
		args->has_iteration = 1;
		break;
	case STARPU_DATA_ARRAY:
	case STARPU_DATA_MODE_ARRAY:
		array = va_arg(*list, void *);
		n = va_arg(*list, int);
		check_array(rank, key, array, n, args->codelet);
		scan_array(args, key, array, n);
		break;
	case ARGS_IN_ARRAY:
		args_walk_array(rank, va_arg(*list, void **), scan_item, args);
		break;
	default:
		if (!is_key(key))
			args_die_unknown_key(rank, key);
		skip_operands(key_operands[key >> STARPU_MODE_SHIFT], list);
	}
}

void args_scan(struct arg_list *args, int rank, va_list list)
{
	va_list copy;
	int key;

	va_copy(copy, list);
	while ((key = va_arg(copy, int)) != 0) {
		if (args_is_access(key))
			scan_buffer(args, va_arg(copy, starpu_data_handle_t),
				    (unsigned)key);
		else
			scan_key(args, rank, key, &copy);
	}
	va_end(copy);
}

static void scan_item(void *context, int key, ...)
{
	struct arg_list *args = context;
	va_list list;

	va_start(list, key);
	if (args_is_access(key))
		scan_buffer(args, va_arg(list, starpu_data_handle_t), (unsigned)key);
	else
		scan_key(args, ORR_NO_RANK, key, &list);
	va_end(list);
}

void args_end(struct arg_list *args)
{
	free(args->allocated);
}

/* ---- packing --------------------------------------------------------- */

static void packer_reserve(struct packer *packer, size_t bytes)
{
	if (packer->used + bytes <= packer->capacity)
		return;
	packer->capacity = 2 * packer->capacity + bytes + 64;
	packer->buffer = orr_realloc(packer->buffer, packer->capacity);
}

void packer_add(struct packer *packer, const void *value, size_t bytes)
{
	if (!packer->used)
		packer->used = sizeof(int);
	packer_reserve(packer, sizeof(size_t) + bytes);
	memcpy(packer->buffer + packer->used, &bytes, sizeof(bytes));
	if (bytes)
		memcpy(packer->buffer + packer->used + sizeof(bytes), value, bytes);
	packer->used += sizeof(bytes) + bytes;
	packer->count++;
}

void packer_end(struct packer *packer, void **buffer, size_t *bytes)
{
	if (!packer->used)
		packer->used = sizeof(int);
	packer_reserve(packer, 0);
	memcpy(packer->buffer, &packer->count, sizeof(int));
	*buffer = packer->buffer;
	*bytes = packer->used;
	*packer = (struct packer){0};
}

/* ---- buffers of a task ----------------------------------------------- */

/* Where the task's own arrays hold the modes, not the codelet. */
static int modes_are_the_tasks(const struct starpu_codelet *cl)
{
	return !cl || cl->nbuffers == STARPU_VARIABLE_NBUFFERS ||
	       (cl->nbuffers > STARPU_NMAXBUFS && !cl->dyn_modes);
}

static void grow_room(const struct starpu_codelet *cl, struct starpu_task *task,
		      int *allocated, int wanted)
{
	int own_modes = modes_are_the_tasks(cl);

	wanted = wanted < 2 * *allocated ? 2 * *allocated : wanted;
	if (!task->dyn_handles) {
		task->dyn_handles =
			orr_alloc((size_t)wanted * sizeof(*task->dyn_handles));
		memcpy(task->dyn_handles, task->handles, sizeof(task->handles));
		if (own_modes) {
			task->dyn_modes =
				orr_alloc((size_t)wanted * sizeof(*task->dyn_modes));
			memcpy(task->dyn_modes, task->modes, sizeof(task->modes));
		}
	} else {
		task->dyn_handles = orr_realloc(
			task->dyn_handles, (size_t)wanted * sizeof(*task->dyn_handles));
		if (own_modes)
			task->dyn_modes =
				orr_realloc(task->dyn_modes,
					    (size_t)wanted * sizeof(*task->dyn_modes));
	}
	*allocated = wanted;
}

void args_make_room(struct starpu_codelet *cl, struct starpu_task *task, int *allocated,
		    int current, int room)
{
	int wanted = current + room;

	if (wanted > STARPU_NMAXBUFS && wanted > *allocated)
		grow_room(cl, task, allocated, wanted);
}

/* The codelet's modes, for this task alone. */
static enum starpu_data_access_mode *own_modes(struct starpu_codelet *cl,
					       struct starpu_task *task)
{
	if (!task->dyn_modes) {
		task->dyn_modes =
			orr_alloc((size_t)cl->nbuffers * sizeof(*task->dyn_modes));
		for (int i = 0; i < cl->nbuffers; i++)
			task->dyn_modes[i] = STARPU_CODELET_GET_MODE(cl, i);
	}
	return task->dyn_modes;
}

/* What a contribution between nodes is in each of them. */
static unsigned local_mode(unsigned mode)
{
	const unsigned update = STARPU_RW | STARPU_COMMUTE;

	return mode & STARPU_MPI_REDUX ? (mode & ~(unsigned)STARPU_MPI_REDUX) | update
				       : mode;
}

static const char *name_mode(unsigned mode, char text[128])
{
	static const struct {
		unsigned bits;
		const char *name;
	} names[] = {{STARPU_RW, "RW"},       {STARPU_R, "R"},
		     {STARPU_W, "W"},         {STARPU_SCRATCH, "SCRATCH"},
		     {STARPU_REDUX, "REDUX"}, {STARPU_COMMUTE, "COMMUTE"}};
	size_t used = 0;

	snprintf(text, 128, "access mode %#x", mode);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!names[i].bits || (mode & names[i].bits) != names[i].bits)
			continue;
		used += (size_t)snprintf(text + used, 128 - used, "%sSTARPU_%s",
					 used ? "|" : "", names[i].name);
		mode &= ~names[i].bits;
	}
	return text;
}

static void die_other_mode(const struct starpu_task *task, int i, unsigned mode,
			   unsigned known)
{
	starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
	const struct node *node = handle ? handle->node : NULL;
	char what[128], given[128], declared[128];

	orr_die(node ? node->rank : ORR_NO_RANK,
		"task \"%s\": buffer %d (%s) is given as %s, but the codelet declares "
		"%s: make them agree",
		task_name(task), i, data_describe(handle, what, sizeof(what)),
		name_mode(mode, given), name_mode(known, declared));
}

/* The codelet says another mode than the call. */
static void settle_mode(struct starpu_codelet *cl, struct starpu_task *task, int i,
			unsigned mode)
{
	/* What does not say how the datum is accessed. */
	const unsigned ignored = ARGS_MPI_BITS | STARPU_LOCALITY | STARPU_NOFOOTPRINT |
				 STARPU_NOPLAN | STARPU_UNMAP,
		       update = STARPU_RW | STARPU_COMMUTE;
	unsigned known = STARPU_CODELET_GET_MODE(cl, i);

	known = local_mode(known) & ~ignored;
	mode = local_mode(mode) & ~ignored;
	if (known == mode)
		return;
	if (known != update || mode != STARPU_REDUX)
		die_other_mode(task, i, mode, known);
	/* A codelet of updates serves contributions, too. */
	own_modes(cl, task)[i] = STARPU_REDUX;
}

static void set_codelet_mode(struct starpu_codelet *cl, struct starpu_task *task, int i,
			     unsigned mode)
{
	unsigned known;

	if (i >= cl->nbuffers)
		return; /* end_build() tells both numbers. */
	known = STARPU_CODELET_GET_MODE(cl, i);
	if (!known) {
		mode = local_mode(mode);
		STARPU_CODELET_SET_MODE(cl, (enum starpu_data_access_mode)mode, i);
		if (task->dyn_modes) /* settle_mode()'s copy of what is missing here */
			task->dyn_modes[i] = (enum starpu_data_access_mode)mode;
	} else if (known != mode) {
		settle_mode(cl, task, i, mode);
	}
}

void args_add_buffer(struct starpu_codelet *cl, struct starpu_task *task, int *allocated,
		     int *current, unsigned mode, starpu_data_handle_t handle)
{
	int i = *current;

	args_make_room(cl, task, allocated, i, 1);
	STARPU_TASK_SET_HANDLE(task, handle, i);
	mode &= ~(unsigned)ARGS_MPI_BITS;
	if (!modes_are_the_tasks(cl))
		set_codelet_mode(cl, task, i, mode);
	else if (task->dyn_modes)
		task->dyn_modes[i] = (enum starpu_data_access_mode)mode;
	else
		task->modes[i] = (enum starpu_data_access_mode)mode;
	*current = i + 1;
}

/* ---- building a task ------------------------------------------------- */

struct build {
	struct node *node;
	struct starpu_task *task;
	struct starpu_codelet *cl;
	int nbuffers, allocated;
	int nnodes; /* of STARPU_NODE_ARRAY */
	struct packer packer;
	int has_cl_args;
};

static void add_buffer(struct build *build, unsigned mode, starpu_data_handle_t handle)
{
	args_add_buffer(build->cl, build->task, &build->allocated, &build->nbuffers, mode,
			handle);
}

/* The task's own arrays have room for all, and take the modes. */
static int are_taken_as_they_are(const struct build *build, int key, int n)
{
	return key == STARPU_DATA_MODE_ARRAY && !build->task->dyn_handles &&
	       !build->task->dyn_modes && build->nbuffers + n <= STARPU_NMAXBUFS &&
	       modes_are_the_tasks(build->cl);
}

static void copy_array(struct build *build, const struct starpu_data_descr *array, int n)
{
	starpu_data_handle_t *handles = &build->task->handles[build->nbuffers];
	enum starpu_data_access_mode *modes = &build->task->modes[build->nbuffers];

	for (int i = 0; i < n; i++) {
		handles[i] = array[i].handle;
		modes[i] = array[i].mode & ~(unsigned)ARGS_MPI_BITS;
	}
	if (n > 0)
		build->nbuffers += n;
}

/* n handles, in the codelet's modes or with their own. */
static void add_array(struct build *build, int key, va_list *list)
{
	void *array = va_arg(*list, void *);
	int n = va_arg(*list, int);

	check_array(build->node->rank, key, array, n, build->cl);
	if (are_taken_as_they_are(build, key, n)) {
		copy_array(build, array, n);
		return;
	}
	for (int i = 0; i < n; i++) {
		struct starpu_data_descr descr =
			item(key, array, i, build->cl, build->nbuffers);

		add_buffer(build, descr.mode, descr.handle);
	}
}

static void set_arg(void **arg, void *value)
{
	*arg = value;
}

/* The memories of the buffers, by their numbers. */
static void set_nodes(struct build *build, const int *nodes, int n)
{
	struct starpu_task *task = build->task;

	if (n > 0 ? !nodes : n < 0)
		orr_die(build->node->rank,
			"task_insert: STARPU_NODE_ARRAY is followed by %s and the number "
			"%d; expected an array, and how many memory nodes it holds: one "
			"for each buffer",
			nodes ? "an array" : "NULL", n);
	if (n > STARPU_NMAXBUFS)
		task->dyn_nodes = orr_realloc(task->dyn_nodes,
					      (size_t)n * sizeof(*task->dyn_nodes));
	for (int i = 0; i < n; i++)
		STARPU_TASK_SET_NODE(task, nodes[i], i);
	task->specific_nodes = n > 0;
	build->nnodes = n;
}

/* Keys that carry data, arguments or dependencies; 0 when key is none of them. */
static int fill_structure(struct build *build, int key, va_list *list)
{
	struct starpu_task *task = build->task;
	void *value;
	size_t bytes;
	unsigned n;

	switch (key) {
	case STARPU_NONE:
		(void)va_arg(*list, void *);
		return 1;
	case STARPU_DATA_ARRAY:
	case STARPU_DATA_MODE_ARRAY:
		add_array(build, key, list);
		return 1;
	case STARPU_VALUE:
		value = va_arg(*list, void *);
		bytes = va_arg(*list, size_t);
		packer_add(&build->packer, value, bytes);
		return 1;
	case STARPU_CL_ARGS:
	case STARPU_CL_ARGS_NFREE:
		task->cl_arg = va_arg(*list, void *);
		task->cl_arg_size = va_arg(*list, size_t);
		task->cl_arg_free = key == STARPU_CL_ARGS;
		build->has_cl_args = 1;
		return 1;
	case STARPU_TASK_DEPS_ARRAY:
		n = va_arg(*list, unsigned);
		task_declare_deps(build->node, task, n,
				  va_arg(*list, struct starpu_task **));
		return 1;
	case STARPU_TASK_END_DEPS_ARRAY:
		n = va_arg(*list, unsigned);
		task_declare_end_deps(build->node, task, n,
				      va_arg(*list, struct starpu_task **));
		return 1;
	case STARPU_TASK_END_DEP:
		orr_add(&task_job(build->node, task)->end_deps, va_arg(*list, int));
		return 1;
	case STARPU_TASK_WORKERIDS:
		task->workerids_len = va_arg(*list, unsigned);
		task->workerids = va_arg(*list, uint32_t *);
		return 1;
	case STARPU_NODE_ARRAY:
		value = va_arg(*list, int *);
		set_nodes(build, value, va_arg(*list, int));
		return 1;
	default:
		return 0;
	}
}

/* Callbacks and their arguments; 0 when key is none of them. */
static int fill_callback(struct starpu_task *task, int key, va_list *list)
{
	typedef void (*callback_func)(void *);

#define CALLBACK(KEY, field)                                                             \
	case KEY:                                                                        \
		task->field = va_arg(*list, callback_func);                              \
		return 1
#define ARGUMENT(KEY, field, owned)                                                      \
	case KEY:                                                                        \
		set_arg(&task->field, va_arg(*list, void *));                            \
		task->field##_free = owned;                                              \
		return 1
	switch (key) {
		CALLBACK(STARPU_CALLBACK, callback_func);
		ARGUMENT(STARPU_CALLBACK_ARG, callback_arg, 1);
		ARGUMENT(STARPU_CALLBACK_ARG_NFREE, callback_arg, 0);
		CALLBACK(STARPU_PROLOGUE_CALLBACK, prologue_callback_func);
		ARGUMENT(STARPU_PROLOGUE_CALLBACK_ARG, prologue_callback_arg, 1);
		ARGUMENT(STARPU_PROLOGUE_CALLBACK_ARG_NFREE, prologue_callback_arg, 0);
		CALLBACK(STARPU_PROLOGUE_CALLBACK_POP, prologue_callback_pop_func);
		ARGUMENT(STARPU_PROLOGUE_CALLBACK_POP_ARG, prologue_callback_pop_arg, 1);
		ARGUMENT(STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE,
			 prologue_callback_pop_arg, 0);
		CALLBACK(STARPU_EPILOGUE_CALLBACK, epilogue_callback_func);
		ARGUMENT(STARPU_EPILOGUE_CALLBACK_ARG, epilogue_callback_arg, 1);
	case STARPU_CALLBACK_WITH_ARG:
	case STARPU_CALLBACK_WITH_ARG_NFREE:
		task->callback_func = va_arg(*list, callback_func);
		task->callback_arg = va_arg(*list, void *);
		task->callback_arg_free = key == STARPU_CALLBACK_WITH_ARG;
		return 1;
	default:
		return 0;
	}
#undef CALLBACK
#undef ARGUMENT
}

/* Plain fields; 0 when key is none of them. */
static int fill_field(struct starpu_task *task, int key, va_list *list)
{
	int worker;

#define FIELD(KEY, field, type)                                                          \
	case KEY:                                                                        \
		task->field = (__typeof__(task->field + 0))va_arg(*list, type);          \
		return 1
	switch (key) {
		FIELD(STARPU_PRIORITY, priority, int);
		FIELD(STARPU_HYPERVISOR_TAG, hypervisor_tag, int);
		FIELD(STARPU_FLOPS, flops, double);
		FIELD(STARPU_SCHED_CTX, sched_ctx, unsigned);
		FIELD(STARPU_EXECUTE_WHERE, where, unsigned long long);
		FIELD(STARPU_TAG_ONLY, tag_id, starpu_tag_t);
		FIELD(STARPU_POSSIBLY_PARALLEL, possibly_parallel, unsigned);
		FIELD(STARPU_WORKER_ORDER, workerorder, unsigned);
		FIELD(STARPU_NAME, name, const char *);
		FIELD(STARPU_TASK_COLOR, color, int);
		FIELD(STARPU_HANDLES_SEQUENTIAL_CONSISTENCY,
		      handles_sequential_consistency, unsigned char *);
		FIELD(STARPU_TASK_PROFILING_INFO, profiling_info,
		      struct starpu_profiling_task_info *);
		FIELD(STARPU_TASK_SCHED_DATA, sched_data, void *);
		FIELD(STARPU_TASK_FILE, file, const char *);
		FIELD(STARPU_TASK_LINE, line, int);
	case STARPU_TASK_SYNCHRONOUS:
		task->synchronous = va_arg(*list, int) != 0;
		return 1;
	case STARPU_SEQUENTIAL_CONSISTENCY:
		task->sequential_consistency = va_arg(*list, unsigned) != 0;
		return 1;
	case STARPU_TASK_NO_SUBMITORDER:
		task->no_submitorder = va_arg(*list, unsigned) != 0;
		return 1;
	case STARPU_TAG:
		task->tag_id = va_arg(*list, starpu_tag_t);
		task->use_tag = 1;
		return 1;
	case STARPU_EXECUTE_ON_WORKER:
		worker = va_arg(*list, int);
		if (worker != -1) {
			task->workerid = (unsigned)worker;
			task->execute_on_a_specific_worker = 1;
		}
		return 1;
	default:
		return 0;
	}
#undef FIELD
}

static void fill_item(void *context, int key, ...);

static void fill_other(struct build *build, int key, va_list *list)
{
	struct starpu_transaction *transaction;

	switch (key) {
	case ARGS_IN_ARRAY:
		args_walk_array(build->node->rank, va_arg(*list, void **), fill_item,
				build);
		return;
	case STARPU_EXECUTE_ON_NODE:
	case STARPU_NODE_SELECTION_POLICY:
		(void)va_arg(*list, int); /* For the MPI layer. */
		return;
	case STARPU_EXECUTE_ON_DATA:
		(void)va_arg(*list, void *);
		return;
	case STARPU_TRANSACTION:
		transaction = va_arg(*list, struct starpu_transaction *);
		if (transaction)
			transaction_join(build->node, transaction, build->task);
		return;
	case STARPU_BUBBLE_FUNC:
	case STARPU_BUBBLE_FUNC_ARG:
	case STARPU_BUBBLE_GEN_DAG_FUNC:
	case STARPU_BUBBLE_GEN_DAG_FUNC_ARG:
	case STARPU_BUBBLE_PARENT:
		if (va_arg(*list, void *))
			orr_die(build->node->rank,
				"task_insert: hierarchical tasks (key %d) are not "
				"offered by this version",
				key >> STARPU_MODE_SHIFT);
		return;
	default:
		args_die_unknown_key(build->node->rank, key);
	}
}

static int end_build(struct build *build)
{
	struct starpu_task *task = build->task;
	struct starpu_codelet *cl = build->cl;

	if (build->packer.count) {
		if (build->has_cl_args) {
			orr_complain(
				build->node->rank,
				"task \"%s\": STARPU_VALUE and STARPU_CL_ARGS cannot be "
				"given together",
				task_name(task));
			free(build->packer.buffer);
			return -EINVAL;
		}
		packer_end(&build->packer, &task->cl_arg, &task->cl_arg_size);
		task->cl_arg_free = 1;
	}
	if (!cl || cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
		task->nbuffers = build->nbuffers;
	else if (cl->nbuffers != build->nbuffers)
		orr_die(build->node->rank,
			"task \"%s\": incoherent number of buffers: the codelet has "
			"nbuffers %d, the argument list gives %d handles",
			task_name(task), cl->nbuffers, build->nbuffers);
	if (task->specific_nodes && build->nnodes != build->nbuffers)
		orr_die(build->node->rank,
			"task \"%s\": STARPU_NODE_ARRAY gives %d memory nodes, the "
			"argument list %d handles: expected one for each",
			task_name(task), build->nnodes, build->nbuffers);
	return 0;
}

static void fill_one(struct build *build, int key, va_list *list)
{
	if (args_is_access(key))
		add_buffer(build, (unsigned)key, va_arg(*list, starpu_data_handle_t));
	else if (!fill_structure(build, key, list) &&
		 !fill_callback(build->task, key, list) &&
		 !fill_field(build->task, key, list))
		fill_other(build, key, list);
}

static void fill_item(void *context, int key, ...)
{
	va_list list;

	va_start(list, key);
	fill_one(context, key, &list);
	va_end(list);
}

int args_fill_task(struct node *node, struct starpu_task *task, struct starpu_codelet *cl,
		   va_list list)
{
	struct build build = {.node = node, .task = task, .cl = cl};
	va_list copy;
	int key;

	task->cl = cl;
	va_copy(copy, list);
	while ((key = va_arg(copy, int)) != 0)
		fill_one(&build, key, &copy);
	va_end(copy);
	return end_build(&build);
}

int task_build_v(struct node *node, struct starpu_codelet *cl, va_list list,
		 const char *default_name, struct starpu_task **task_out)
{
	struct starpu_task *task = task_create_for(node, cl);
	int ret;

	/* A codelet's own name says more. */
	task->name = cl && cl->name ? NULL : default_name;
	ret = args_fill_task(node, task, cl, list);
	if (ret < 0) {
		task_destroy(task);
		return ret;
	}
	*task_out = task;
	return 0;
}
