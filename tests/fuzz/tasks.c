/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "values.h"

/* tasks.c - kernels, and the many ways to submit a task. */

/* ---- kernels --------------------------------------------------------- */

struct ticket ticket_make(struct run *run, const struct op *op)
{
	return (struct ticket){run, op, (long)getpid(), op - run->program->ops};
}

/* A slave has the same program, elsewhere. */
struct ticket ticket_read(void *arg)
{
	struct ticket ticket;

	starpu_codelet_unpack_args(arg, &ticket);
	if (ticket.process == (long)getpid())
		return ticket;
	return ticket_make(stage_run(), &stage_run()->program->ops[ticket.index]);
}

/* Additions are to all values alike: a reader that sees two of them saw half of one. */
static void check_glance(const struct ticket *ticket, const struct view *view)
{
	for (unsigned i = 1; i < view_count(view); i++)
		if (*view_at(view, i) != *view_at(view, 0)) {
			run_bad(ticket->run, ticket->op, "half of an addition was seen",
				*view_at(view, i), *view_at(view, 0));
			return;
		}
}

static void use_scratch(const struct ticket *ticket, const struct view *view, int checks)
{
	uint64_t salt = ticket->op->salt;

	for (unsigned i = 0; i < view_count(view); i++) {
		if (checks && *view_at(view, i) != salt + i)
			run_bad(ticket->run, ticket->op, "scratch was disturbed",
				*view_at(view, i), salt + i);
		*view_at(view, i) = salt + i;
	}
}

static uint64_t hash_all(const struct op *op, const struct view *views)
{
	uint64_t hash = 0;

	for (int i = 0; i < op->nuses; i++)
		if (op->uses[i].mode != USE_W)
			hash = hash * 31 + view_hash(&views[i]);
	return hash;
}

/* While a task runs, nobody else writes to its data. */
static void check_alone(const struct ticket *ticket, const struct view *views)
{
	const struct op *op = ticket->op;
	unsigned rounds = op->choice[4] % 4 ? op->choice[4] / 4 % 2 : op->choice[4] % 9;
	uint64_t before = hash_all(op, views), after;

	for (unsigned i = 0; i < rounds; i++)
		stage_yield();
	after = hash_all(op, views);
	if (after != before)
		run_bad(ticket->run, op, "hash of its data while a task runs", after,
			before);
}

static void compute(void *buffers[], void *arg)
{
	struct ticket ticket = ticket_read(arg);
	const struct op *op;
	struct view *views;

	/* All cores of a context without a policy call the kernel of each task. */
	if (starpu_combined_worker_get_rank() > 0)
		return;
	op = ticket.op;
	views = calloc((size_t)op->nuses + 1, sizeof(*views));
	for (int i = 0; i < op->nuses; i++) {
		views[i] = view_of_buffer(buffers[i]);
		if (op->uses[i].mode == USE_SCRATCH)
			use_scratch(&ticket, &views[i], 0);
		if (op->uses[i].mode == USE_GLANCE)
			check_glance(&ticket, &views[i]);
	}
	check_alone(&ticket, views);
	values_compute(op, views);
	for (int i = 0; i < op->nuses; i++)
		if (op->uses[i].mode == USE_SCRATCH)
			use_scratch(&ticket, &views[i], 1);
	free(views);
}

/* As one of several calls at a time, or alone. */
static void compute_together(void *buffers[], void *arg)
{
	struct ticket ticket = ticket_read(arg);

	if (teams_enter(&ticket))
		compute(buffers, arg);
	teams_leave(&ticket);
}

static int accepts(unsigned workerid, struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return workerid % 2 == 0;
}

static struct starpu_codelet *parallel_codelet(const struct op *op)
{
	static struct starpu_codelet codelets[] = {
		{.type = STARPU_SPMD,
		 .max_parallelism = INT_MAX,
		 .cpu_funcs = {compute_together},
		 .cuda_funcs = {compute_together},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .model = &starpu_perfmodel_nop,
		 .name = "together"},
		{.type = STARPU_SPMD,
		 .max_parallelism = 2,
		 .cpu_funcs = {compute_together},
		 .cuda_funcs = {compute_together},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .model = &starpu_perfmodel_nop,
		 .name = "two"},
		{.type = STARPU_FORKJOIN,
		 .max_parallelism = INT_MAX,
		 .cpu_funcs = {compute},
		 .cuda_funcs = {compute},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .model = &starpu_perfmodel_nop,
		 .name = "forks"},
	};

	return &codelets[op->choice[1] / 256 % 3];
}

struct starpu_codelet *tasks_codelet(const struct lane_run *lane, const struct op *op)
{
	static struct starpu_perfmodel history = {.type = STARPU_HISTORY_BASED,
						  .symbol = "fuzz_compute"};
	static struct starpu_codelet codelets[] = {
		{.cpu_funcs = {compute},
		 .cpu_funcs_name = {"compute"},
		 .cuda_funcs = {compute},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .model = &starpu_perfmodel_nop,
		 .name = "compute"},
		{.cpu_funcs = {compute},
		 .cpu_funcs_name = {"compute"},
		 .cuda_funcs = {compute},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .model = &history,
		 .name = "measured"},
		{.cpu_funcs = {compute},
		 .cpu_funcs_name = {"compute"},
		 .cuda_funcs = {compute},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = STARPU_VARIABLE_NBUFFERS,
		 .can_execute = accepts,
		 .model = &starpu_perfmodel_nop,
		 .name = "picky"},
	};

	if (crowds_is_parallel(op) && !(op->flags & (TASK_PICKY | TASK_MODEL)) &&
	    has_feature(lane->run->program, FEATURE_TEAMS))
		return parallel_codelet(op);
	if ((op->flags & TASK_PICKY) && !(op->flags & TASK_WORKER))
		return &codelets[2];
	return op->flags & TASK_MODEL ? &codelets[1] : &codelets[0];
}

static void set_neutral(void *buffers[], void *arg)
{
	struct view view = view_of_buffer(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < view_count(&view); i++)
		*view_at(&view, i) = 0;
}

static void combine(void *buffers[], void *arg)
{
	struct view into = view_of_buffer(buffers[0]), from = view_of_buffer(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < view_count(&into); i++) {
		if (i % 64 == 0)
			stage_yield();
		*view_at(&into, i) += *view_at(&from, i);
	}
}

struct starpu_codelet *tasks_reduction(int combines)
{
	static struct starpu_codelet codelets[] = {
		{.cpu_funcs = {set_neutral},
		 .cpu_funcs_name = {"set_neutral"},
		 .cuda_funcs = {set_neutral},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = 1,
		 .modes = {STARPU_W},
		 .model = &starpu_perfmodel_nop,
		 .name = "neutral"},
		{.cpu_funcs = {combine},
		 .cpu_funcs_name = {"combine"},
		 .cuda_funcs = {combine},
		 .cuda_flags = {STARPU_CUDA_ASYNC},
		 .nbuffers = 2,
		 .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
		 .model = &starpu_perfmodel_nop,
		 .name = "combine"},
	};

	return &codelets[combines];
}

/* ---- arguments ------------------------------------------------------- */

static enum starpu_data_access_mode access_of(const struct lane_run *lane,
					      const struct use *use)
{
	int distributed = lane->lane->distributed;
	int reduces = has_feature(lane->run->program, FEATURE_REDUX);

	switch (use->mode) {
	case USE_R:
		return distributed && use->variant == 0 ? STARPU_R | STARPU_SSEND
							: STARPU_R;
	case USE_GLANCE:
		return STARPU_R;
	case USE_W:
		return STARPU_W;
	case USE_COMMUTE:
		return STARPU_RW | STARPU_COMMUTE;
	case USE_REDUX:
		if (distributed && use->variant < 2)
			return STARPU_MPI_REDUX;
		return use->variant == 1 ? STARPU_REDUX | STARPU_COMMUTE : STARPU_REDUX;
	case USE_ADD:
		if (use->variant == 3 && reduces)
			return STARPU_REDUX;
		return use->variant < 2 ? STARPU_RW | STARPU_COMMUTE : STARPU_RW;
	case USE_SCRATCH:
		return STARPU_SCRATCH;
	default:
		return STARPU_RW;
	}
}

int tasks_descriptions(struct lane_run *lane, const struct op *op,
		       struct starpu_data_descr *descr)
{
	for (int i = 0; i < op->nuses; i++) {
		const struct use *use = &op->uses[i];
		struct live *live = &lane->live[use->datum];

		descr[i].handle = live->handle;
		descr[i].mode = access_of(lane, use);
		if (use->mode == USE_SCRATCH) {
			live->has_scratch_users = 1;
			if (lane->lane->distributed)
				descr[i].handle = lane->scratch;
		}
	}
	return op->nuses;
}

static void count_call(void *arg)
{
	struct ticket *ticket = arg;

	if (!ticket->run || !ticket->op)
		abort();
	teams_check(ticket->run, ticket->op);
	free(ticket);
}

static struct ticket *new_ticket(struct lane_run *lane, const struct op *op)
{
	struct ticket *ticket = malloc(sizeof(*ticket));

	*ticket = ticket_make(lane->run, op);
	return ticket;
}

static int priority_of(const struct op *op)
{
	return (int)(op->choice[2] % 7) - 3;
}

static int worker_of(const struct lane_run *lane, const struct op *op)
{
	return op->flags & TASK_WORKER ? (int)(op->choice[3] % lane->run->nworkers) : -1;
}

/* Fills order, MAX_USES long, for the submission; NULL: as the data say. */
static unsigned char *orders(const struct lane_run *lane, const struct op *op,
			     unsigned char *order)
{
	if (!(op->flags & TASK_EACH_ORDER))
		return NULL;
	for (int i = 0; i < op->nuses; i++)
		order[i] = lane->live[op->uses[i].datum].shape.order == ORDERED;
	return order;
}

/* ---- by hand --------------------------------------------------------- */

static void give_data(struct lane_run *lane, const struct op *op,
		      struct starpu_task *task)
{
	struct starpu_data_descr descr[MAX_USES];
	size_t n = (size_t)tasks_descriptions(lane, op, descr);
	int dynamic = n > STARPU_NMAXBUFS || op->choice[5] % 3 == 0;

	task->nbuffers = (int)n;
	if (dynamic) {
		task->dyn_handles = calloc(n, sizeof(*task->dyn_handles));
		task->dyn_modes = calloc(n, sizeof(*task->dyn_modes));
	}
	for (size_t i = 0; i < n; i++) {
		STARPU_TASK_SET_HANDLE(task, descr[i].handle, i);
		STARPU_TASK_SET_MODE(task, descr[i].mode, i);
	}
	if (op->flags & TASK_UNORDERED)
		task->sequential_consistency = 0;
}

static starpu_tag_t tag_of(const struct lane_run *lane, const struct op *op)
{
	starpu_tag_t tag = ((starpu_tag_t)(lane->index + 1) << 40) + (starpu_tag_t)op->id;

	return op->choice[6] % 5 ? tag : UINT64_MAX - tag;
}

static void give_tag(struct lane_run *lane, const struct op *op, struct starpu_task *task)
{
	starpu_tag_t deps[3];
	unsigned ndeps = lane->ntags ? op->choice[6] / 5 % 4 : 0;

	if (lane->ntags == MAX_TAGS)
		return;
	task->use_tag = 1;
	task->tag_id = tag_of(lane, op);
	for (unsigned i = 0; i < ndeps; i++)
		deps[i] = lane->tags[(op->choice[7] + 7 * i) % (unsigned)lane->ntags];
	if (ndeps)
		starpu_tag_declare_deps_array(task->tag_id, ndeps, deps);
	lane->tags[lane->ntags++] = task->tag_id;
}

void tasks_keep(struct lane_run *lane, struct starpu_task *task)
{
	if (lane->nkept == MAX_KEPT)
		tasks_wait_kept(lane);
	lane->kept[lane->nkept++] = task;
}

void tasks_wait_kept(struct lane_run *lane)
{
	for (int i = 0; i < lane->nkept; i++) {
		int ret = starpu_task_wait(lane->kept[i]);

		if (ret)
			run_bad(lane->run, NULL, "starpu_task_wait()", (uint64_t)ret, 0);
		starpu_task_destroy(lane->kept[i]);
	}
	lane->nkept = 0;
}

static void submit_by_hand(struct lane_run *lane, struct op *op)
{
	struct starpu_task *task = starpu_task_create();
	struct ticket ticket = ticket_make(lane->run, op);
	unsigned char order[MAX_USES];
	int kept = (op->flags & TASK_KEPT) != 0, team = crowds_team(lane, op), ret;

	starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &ticket,
				 sizeof(ticket), 0);
	task->cl = tasks_codelet(lane, op);
	task->cl_arg_free = 1;
	task->priority = priority_of(op);
	task->synchronous = (op->flags & TASK_SYNC) != 0;
	give_data(lane, op, task);
	task->handles_sequential_consistency = orders(lane, op, order);
	task->sched_ctx = crowds_context(lane, op);
	if (team >= 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)team;
	} else if (op->flags & TASK_WORKER) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)worker_of(lane, op);
	} else if (op->flags & TASK_WORKERS) {
		task->workerids = &op->workers;
		task->workerids_len = 1;
	}
	if (op->flags & TASK_CALLBACK) {
		task->callback_func = count_call;
		task->callback_arg = new_ticket(lane, op);
	}
	if (kept)
		task->detach = task->destroy = 0;
	if (op->flags & TASK_TAGGED)
		give_tag(lane, op, task);
	if ((op->flags & TASK_AFTER) && lane->nkept)
		starpu_task_declare_deps_array(
			task, 1, &lane->kept[op->choice[8] % (unsigned)lane->nkept]);
	ret = starpu_task_submit(task);
	if (ret)
		run_bad(lane->run, op, "starpu_task_submit()", (uint64_t)ret, 0);
	if (kept)
		tasks_keep(lane, task);
}

/* ---- inserted -------------------------------------------------------- */

static void insert(struct lane_run *lane, const struct op *op)
{
	struct starpu_data_descr descr[MAX_USES];
	struct ticket ticket = ticket_make(lane->run, op);
	unsigned char order[MAX_USES], *each_order = orders(lane, op, order);
	int n = tasks_descriptions(lane, op, descr);
	int ret;

	if (op->flags & TASK_CALLBACK)
		ret = starpu_task_insert(
			tasks_codelet(lane, op), STARPU_DATA_MODE_ARRAY, descr, n,
			STARPU_VALUE, &ticket, sizeof(ticket), STARPU_PRIORITY,
			priority_of(op), STARPU_TASK_SYNCHRONOUS,
			(op->flags & TASK_SYNC) != 0, STARPU_EXECUTE_ON_WORKER,
			worker_of(lane, op), STARPU_SEQUENTIAL_CONSISTENCY,
			!(op->flags & TASK_UNORDERED),
			STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, each_order,
			STARPU_SCHED_CTX, crowds_context(lane, op),
			STARPU_CALLBACK_WITH_ARG_NFREE, count_call, new_ticket(lane, op),
			0);
	else
		ret = starpu_task_insert(
			tasks_codelet(lane, op), STARPU_DATA_MODE_ARRAY, descr, n,
			STARPU_VALUE, &ticket, sizeof(ticket), STARPU_PRIORITY,
			priority_of(op), STARPU_TASK_SYNCHRONOUS,
			(op->flags & TASK_SYNC) != 0, STARPU_SEQUENTIAL_CONSISTENCY,
			!(op->flags & TASK_UNORDERED),
			STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, each_order,
			STARPU_SCHED_CTX, crowds_context(lane, op),
			STARPU_EXECUTE_ON_WORKER, worker_of(lane, op), 0);
	if (ret)
		run_bad(lane->run, op, "starpu_task_insert()", (uint64_t)ret, 0);
}

int run_task_op(struct lane_run *lane, struct op *op)
{
	if (op->kind != OP_TASK)
		return 0;
	if (lane->lane->distributed)
		tasks_insert_mpi(lane, op);
	else if (op->flags & TASK_BY_HAND)
		submit_by_hand(lane, op);
	else
		insert(lane, op);
	return 1;
}
