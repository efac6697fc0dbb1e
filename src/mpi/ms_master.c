/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "core/interface/methods.h"
#include "core/model/model.h"
#include "core/task/task.h"
#include "core/task/transaction.h"
#include "mpi/ms.h"
#include "mpi/ms_execute.h"

/* Until something has been measured: what is usual for a network. */
static const double assumed_latency_s = 1e-5, assumed_s_per_byte = 1e-9;
/* Of the new figure in the mean; copies that say something of the rate. */
static const double newest_part = 0.125, newest_task_part = 0.25;
enum { RATE_BYTES = 1 << 16 };
/* Freed blocks of this size give their pages back. */
enum { FREE_BYTES = 1 << 20 };
enum { MAX_KEYS = 1 << 20 };
/* What a slave's worker has to do while a command travels, and an answer. */
enum { BACKLOG_NS = 200000 };

/* A slave as its master sees it. */
struct remote {
	int rank;
	struct ms_hello hello;
	struct arena *arena; /* its addresses that are given out */
};

struct ms_master {
	struct plat_machine machine; /* the node's, and the slaves */
	struct plat_device *seats;   /* of the slaves' workers */
	int *task_ns;                /* of each; atomic */
	struct remote *remotes;      /* in the order of ranks */
	int nremotes, nused;
	int nhellos, nbyes;   /* that are still to come */
	struct orr_lock lock; /* of the arenas, keys and figures */
	uint32_t *free_keys;
	uint32_t nfree_keys, nkeys, capacity;
	double latency_s, s_per_byte;
};

/* A copy under way. */
struct copying {
	struct plat_copy *copy;
	struct ms *ms;
	int left; /* atomic: pieces */
	double start_s;
	size_t bytes;
};

/* ---- keys ------------------------------------------------------------ */

static uint32_t take_key(struct ms *ms)
{
	struct ms_master *master = ms->master;
	uint32_t key;

	orr_lock(&master->lock);
	key = master->nfree_keys > 0 ? master->free_keys[--master->nfree_keys]
				     : master->nkeys++;
	orr_unlock(&master->lock);
	if (key >= MAX_KEYS)
		orr_die(ms->net->rank,
			"more than %d copies between master and slaves at a time: use "
			"larger data, or limit the tasks submitted "
			"(STARPU_LIMIT_MAX_SUBMITTED_TASKS)",
			(int)MAX_KEYS);
	return key;
}

static void give_key(struct ms *ms, uint32_t key)
{
	struct ms_master *master = ms->master;

	orr_lock(&master->lock);
	if (master->nfree_keys == master->capacity) {
		master->capacity = master->capacity ? 2 * master->capacity : 16;
		master->free_keys = orr_realloc(
			master->free_keys, master->capacity * sizeof(*master->free_keys));
	}
	master->free_keys[master->nfree_keys++] = key;
	orr_unlock(&master->lock);
}

/* ---- memory ---------------------------------------------------------- */

static struct remote *remote_of(struct plat *plat, unsigned memory)
{
	struct node *node = plat_node(plat);

	if (memory >= (unsigned)node_nmemories(node) ||
	    node->memories[memory].kind != STARPU_MPI_MS_RAM)
		return NULL;
	return &node->ms->master->remotes[node->memories[memory].devid];
}

static void *ms_allocate(struct plat *plat, unsigned memory, size_t bytes)
{
	struct remote *remote = remote_of(plat, memory);
	struct ms_master *master = plat_node(plat)->ms->master;
	void *block;

	orr_lock(&master->lock);
	block = arena_get(remote->arena, bytes ? bytes : 1);
	orr_unlock(&master->lock);
	return block;
}

static void ms_release(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct remote *remote = remote_of(plat, memory);
	struct ms *ms = plat_node(plat)->ms;
	struct ms_head head = {
		.kind = MS_FREE, .address = (uintptr_t)ptr, .bytes = bytes};

	if (!ptr)
		return;
	orr_lock(&ms->master->lock);
	arena_put(remote->arena, ptr, bytes ? bytes : 1, 0);
	orr_unlock(&ms->master->lock);
	if (bytes >= FREE_BYTES)
		ms_send(ms, remote->rank, &head, NULL, 0);
}

static int ms_reaches(struct plat *plat, unsigned from, unsigned to)
{
	const struct node *node = plat_node(plat);

	return (memory_is_main(node, from) || remote_of(plat, from)) &&
	       (memory_is_main(node, to) || remote_of(plat, to));
}

static double ms_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	struct ms_master *master = plat_node(plat)->ms->master;
	double seconds;

	if (from == to)
		return 0;
	orr_lock(&master->lock);
	seconds = master->latency_s + (double)bytes * master->s_per_byte;
	orr_unlock(&master->lock);
	return seconds;
}

/* ---- copies ---------------------------------------------------------- */

static void learn(struct ms_master *master, size_t bytes, double seconds)
{
	double *mean = bytes < RATE_BYTES ? &master->latency_s : &master->s_per_byte;

	orr_lock(&master->lock);
	if (bytes >= RATE_BYTES)
		seconds = (seconds - master->latency_s) / (double)bytes;
	if (seconds > 0)
		*mean = (1 - newest_part) * *mean + newest_part * seconds;
	orr_unlock(&master->lock);
}

/* One piece less, or all have been started.  1: that was the last. */
static int leave_copying(struct copying *copying)
{
	struct ms *ms = copying->ms;

	if (orr_add(&copying->left, -1) > 0)
		return 0;
	learn(ms->master, copying->bytes, plat_now_s(ms->node->plat) - copying->start_s);
	free(copying);
	return 1;
}

static void piece_ended(struct copying *copying)
{
	struct plat_copy *copy = copying->copy;

	if (leave_copying(copying))
		copy->done(copy);
}

/* A small piece travels with the command. */
static int write_piece(struct copying *copying, const struct remote *to,
		       const struct layout *source, const struct layout *target)
{
	struct ms *ms = copying->ms;
	struct ms_head head = {.kind = MS_WRITE, .cookie = (uintptr_t)copying};
	size_t bytes = layout_bytes(source);
	char *body;

	if (!ms->node->machine->executes ||
	    sizeof(*target) + bytes > ms->net->eager_bytes)
		return 0;
	body = orr_alloc(sizeof(*target) + bytes);
	memcpy(body, target, sizeof(*target));
	layout_gather(body + sizeof(*target), source);
	ms_awaits(ms, 1);
	ms_send(ms, to->rank, &head, body, sizeof(*target) + bytes);
	free(body);
	return 1;
}

/* The master's half, or the command to a slave to start its own. */
static void start_half(struct copying *copying, const struct remote *remote,
		       const struct ms_head *head, const struct layout *layout)
{
	int is_get = head->kind == MS_GET;
	struct ms_bulk *bulk;

	if (remote) {
		ms_send(copying->ms, remote->rank, head, layout, sizeof(*layout));
		return;
	}
	bulk = ms_bulk_new(copying->ms, head->peer, head->key, layout);
	bulk->cookie = is_get ? head->cookie : 0;
	ms_bulk_start(bulk, is_get ? OUTGOING_GET : OUTGOING_PUT);
}

static int rank_of(const struct ms *ms, const struct remote *remote)
{
	return remote ? remote->rank : ms->net->rank;
}

/* Between any two ranks; NULL: the master. */
static void move_piece(struct copying *copying, const struct remote *from,
		       const struct remote *to, const struct layout *source,
		       const struct layout *target)
{
	struct ms *ms = copying->ms;
	struct ms_head head = {.kind = MS_GET,
			       .key = take_key(ms),
			       .peer = rank_of(ms, from),
			       .cookie = (uintptr_t)copying};

	ms_awaits(ms, 1);
	start_half(copying, to, &head, target);
	head.kind = MS_PUT;
	head.peer = rank_of(ms, to);
	start_half(copying, from, &head, source);
}

static void start_piece(void *arg, const struct layout *from, const struct layout *to)
{
	struct copying *copying = arg;
	struct ms *ms = copying->ms;
	struct remote *source_of = remote_of(ms->node->plat, copying->copy->from),
		      *target_of = remote_of(ms->node->plat, copying->copy->to);
	struct layout source = *from, target = *to;

	/* Values that do not exist have a size only. */
	if (!ms->node->machine->executes)
		source.base = target.base = NULL;
	copying->bytes += layout_bytes(from);
	orr_add(&copying->left, 1);
	if (source_of || !write_piece(copying, target_of, &source, &target))
		move_piece(copying, source_of, target_of, &source, &target);
}

static int ms_copy(struct plat *plat, struct plat_copy *copy)
{
	struct node *node = plat_node(plat);
	struct copying *copying;

	methods_start(node, copy);
	if (!copy->pieces)
		return 1;
	copying = orr_alloc(sizeof(*copying));
	copying->copy = copy;
	copying->ms = node->ms;
	copying->start_s = plat_now_s(plat);
	copying->left = 1; /* Until all have been started. */
	methods_take_pieces(copy, start_piece, copying);
	return leave_copying(copying);
}

/* Threads may have data locked, and events of a simulation cannot wait. */
static void ms_move(struct plat *plat, unsigned from, unsigned to,
		    const struct layout *source, const struct layout *target)
{
	(void)target;
	orr_die(plat_node(plat)->rank,
		"%zu bytes are to be copied from memory node %u to %u at once, but a "
		"slave's bytes travel by messages: give starpu_interface_copy*() the "
		"async_data of any_to_any, and return what it returns; to pack or to "
		"look at a value, acquire it in main memory",
		layout_bytes(source), from, to);
}

static const struct memory_driver memory_driver = {.allocate = ms_allocate,
						   .release = ms_release,
						   .reaches = ms_reaches,
						   .copy = ms_copy,
						   .expected_s = ms_expected_s,
						   .move = ms_move,
						   .is_far = 1};

/* ---- execution ------------------------------------------------------- */

/* A body that grows. */
struct body {
	char *bytes;
	size_t n, capacity;
};

static void add(struct body *body, const void *bytes, size_t n)
{
	size_t end = body->n + ms_aligned(n);

	if (end > body->capacity) {
		body->capacity = 2 * end;
		body->bytes = orr_realloc(body->bytes, body->capacity);
	}
	if (n)
		memcpy(body->bytes + body->n, bytes, n);
	memset(body->bytes + body->n + n, 0, ms_aligned(n) - n);
	body->n = end;
}

static void add_buffer(struct body *body, const struct starpu_data_interface_ops *ops,
		       void *interface)
{
	struct ms_buffer buffer = {.bytes = ops->interface_size};
	starpu_ssize_t count = 0;
	void *packed = NULL;

	if (!ops->pack_meta || !ops->unpack_meta) {
		add(body, &buffer, sizeof(buffer));
		add(body, interface, ops->interface_size);
		return;
	}
	ops->pack_meta(interface, &packed, &count);
	buffer.bytes = (uint64_t)count;
	buffer.unpack = symbols_place((const void *)ops->unpack_meta);
	buffer.free = symbols_place((const void *)ops->free_meta);
	add(body, &buffer, sizeof(buffer));
	add(body, packed, (size_t)count);
	free(packed);
}

static kernel_t kernel_of(const struct worker *worker, const struct job *job)
{
	const struct starpu_codelet *cl = job->task->cl;

	return worker->kind == &device_remote_gpu ? cl->cuda_funcs[job->implementation]
						  : cl->cpu_funcs[job->implementation];
}

/* An argument without a size can only be a number. */
static void look_at_argument(const struct worker *worker, const struct starpu_task *task)
{
	struct settings *settings = worker->node->settings;

	if (!task->cl_arg || task->cl_arg_size || settings->argument_told ||
	    worker->node->machine->one_environment)
		return;
	settings->argument_told = 1;
	orr_complain(worker->node->rank,
		     "task \"%s\" has a cl_arg without cl_arg_size: its slave gets the "
		     "pointer itself, which points to nothing there; set cl_arg_size",
		     task_name(task) ? task_name(task) : "");
}

static void add_task(struct body *body, const struct worker *worker,
		     const struct job *job)
{
	struct starpu_task *task = job->task;
	const struct starpu_codelet *cl = task->cl;
	const char *name = cl->cpu_funcs_name[job->implementation];
	kernel_t kernel = kernel_of(worker, job);
	struct ms_execute execute = {.kernel = symbols_place((const void *)kernel),
				     .job = job,
				     .address = (uintptr_t)kernel,
				     .argument = (uintptr_t)task->cl_arg,
				     .nbuffers = STARPU_TASK_GET_NBUFFERS(task),
				     .flags = (uint32_t)cl->flags,
				     .implementation = job->implementation};

	look_at_argument(worker, task);
	execute.argument_bytes = task->cl_arg ? task->cl_arg_size : 0;
	execute.name_bytes = name ? (uint32_t)strlen(name) + 1 : 0;
	add(body, &execute, sizeof(execute));
	add(body, name, execute.name_bytes);
	add(body, task->cl_arg, execute.argument_bytes);
	for (unsigned i = 0; i < execute.nbuffers; i++)
		add_buffer(body, STARPU_TASK_GET_HANDLE(task, i)->ops,
			   task_interfaces(task)[i]);
}

static int ms_execute(struct worker *worker, struct job *job)
{
	struct ms *ms = worker->node->ms;
	const struct remote *remote = &ms->master->remotes[worker->devid];
	struct ms_head head = {.kind = MS_EXECUTE,
			       .cookie = (uintptr_t)job,
			       .worker = worker->id,
			       .peer = worker->index};
	struct body body = {0};

	worker->began_s = plat_now_s(worker->node->plat);
	/* Its slave knows nothing of transactions. */
	if (transaction_skips(job->task)) {
		job->duration_s = 0;
		plat_worker_ended(worker, job);
		return 0;
	}
	add_task(&body, worker, job);
	ms_awaits(ms, 1);
	ms_send(ms, remote->rank, &head, body.bytes, body.n);
	free(body.bytes);
	return 0;
}

/* Mean duration of its tasks; -1: none has ended. */
static int *task_ns(const struct worker *worker)
{
	struct node *node = worker->node;

	return &node->ms->master
			->task_ns[worker->id - node->first_worker_of[worker->type]];
}

/* A slave executes the commands for one of its workers one after the other. */
static int ms_may_queue(const struct worker *worker)
{
	(void)worker;
	return 1;
}

/*
 * Beside the task that runs and the next one, a worker takes tasks for BACKLOG_NS: more
 * of them would be kept from others.
 */
static int ms_may_take(const struct worker *worker)
{
	int ns = orr_load(task_ns(worker));

	return worker->npipeline < 2 ||
	       (ns >= 0 && (int64_t)worker->npipeline * ns < BACKLOG_NS);
}

static const struct worker_driver worker_driver = {.execute = ms_execute,
						   .may_queue = ms_may_queue,
						   .may_take = ms_may_take,
						   .is_remote = 1};

static void learn_duration(const struct worker *worker, double seconds)
{
	int *mean = task_ns(worker), old = orr_load(mean);
	double ns = fmin(seconds * 1e9, INT_MAX);

	orr_store(mean, (int)(old < 0 ? ns : old + newest_task_part * (ns - old)));
}

static void executed(struct ms *ms, struct worker *worker, const struct ms_executed *what)
{
	struct job *job = (struct job *)(uintptr_t)what->cookie;

	job->duration_s = what->duration_s;
	if (!ms->node->machine->predicts && job->task->cl->model &&
	    !node_knobs(ms->node)->disable_kernels)
		model_record(worker, job->task, job->implementation, job->duration_s);
	learn_duration(worker, job->duration_s);
	ms_awaits(ms, -1);
	plat_worker_ended(worker, job);
}

/* ---- what slaves say ------------------------------------------------- */

static void heard_executed(struct ms *ms, const struct ms_event *event)
{
	const struct ms_executed *what = (const void *)event->body;

	for (size_t n = event->bytes / sizeof(*what); n > 0; n--)
		executed(ms, &ms->node->workers[event->head.worker], what++);
}

static void heard_hello(struct ms *ms, const struct ms_event *event)
{
	struct ms_master *master = ms->master;
	/* The master's rank is none of theirs. */
	int i = event->peer < ms->net->rank ? event->peer : event->peer - 1;

	memcpy(&master->remotes[i].hello, event->body, sizeof(struct ms_hello));
	master->remotes[i].rank = event->peer;
	if (--master->nhellos == 0)
		plat_gate_open(ms->node->plat, &ms->gate);
}

static void handle(struct ms *ms, struct ms_event *event)
{
	struct ms_head *head = &event->head;

	switch ((enum ms_kind)head->kind) {
	case MS_HELLO:
		heard_hello(ms, event);
		break;
	case MS_EXECUTED:
		heard_executed(ms, event);
		break;
	case MS_DONE:
	case MS_MOVED:
		if (head->bytes || head->kind == MS_MOVED)
			give_key(ms, head->key);
		ms_awaits(ms, -1);
		if (head->cookie)
			piece_ended((struct copying *)(uintptr_t)head->cookie);
		break;
	case MS_BYE:
		ms_awaits(ms, -1);
		if (--ms->master->nbyes == 0)
			plat_gate_open(ms->node->plat, &ms->gate);
		break;
	default:
		orr_die(ms->net->rank,
			"rank %d, a slave, sends command %d; all ranks must run the same "
			"version of the library",
			event->peer, head->kind);
	}
}

/* ---- life ------------------------------------------------------------ */

static void describe(struct node *node, void (*say)(void *arg, const char *line),
		     void *arg)
{
	char line[128];

	snprintf(line, sizeof(line), "%d slaves owe %d answers (copies and tasks)",
		 node->ms->master->nused, orr_load(&node->ms->nawaited));
	say(arg, line);
}

int ms_master_lost(const struct ms *ms)
{
	const struct ms_master *master = ms->master;

	for (int i = 0; master && i < master->nused; i++)
		if (ms_is_lost(ms, master->remotes[i].rank))
			return master->remotes[i].rank;
	return -1;
}

/* How many seats there are room for, beside the node's own workers. */
static int seats_left(const struct node *node)
{
	return STARPU_NMAXWORKERS - device_count(node, STARPU_CPU_WORKER) -
	       device_count(node, STARPU_CUDA_WORKER);
}

/* Worker number index of a slave. */
static void fill_seat(struct plat_device *seat, const struct remote *remote, int slave,
		      int index)
{
	const struct ms_hello *hello = &remote->hello;
	struct node *there = hello->node;
	int is_gpu = index >= hello->ncpus;
	enum starpu_worker_archtype type =
		is_gpu ? STARPU_CUDA_WORKER : STARPU_CPU_WORKER;

	*seat = (struct plat_device){.id = slave, .index = index};
	seat->memory_bytes = (double)hello->memory_bytes;
	seat->kind = is_gpu ? &device_remote_gpu : NULL;
	memcpy(seat->model, hello->model, sizeof(seat->model));
	snprintf(seat->bus, sizeof(seat->bus), "rank %d", remote->rank);
	if (there)
		seat->like = &there->workers[there->first_worker_of[type] +
					     (is_gpu ? index - hello->ncpus : index)];
}

static int fill_seats(struct ms_master *master, const struct node *node, int most)
{
	int n = 0, whole = 0;

	for (int i = 0; i < master->nused; i++) {
		const struct remote *remote = &master->remotes[i];
		int nseats = remote->hello.ncpus + remote->hello.ngpus;

		whole += nseats;
		for (int k = 0; k < nseats && n < most; k++)
			fill_seat(&master->seats[n++], remote, i, k);
	}
	if (n < whole)
		orr_complain(node->rank,
			     "the slaves have %d cores and GPUs, but a node has at most "
			     "%d workers: %d are used; STARPU_NMPIMSTHREADS limits those "
			     "of each slave",
			     whole, (int)STARPU_NMAXWORKERS, n);
	return n;
}

static void make_machine(struct ms *ms)
{
	struct ms_master *master = ms->master;
	struct node *node = ms->node;
	struct plat_devices *devices = &master->machine.devices[STARPU_MPI_MS_WORKER];
	int most = seats_left(node);

	master->machine = *node->machine;
	master->seats = orr_alloc((size_t)most * sizeof(*master->seats));
	master->task_ns = orr_alloc((size_t)most * sizeof(*master->task_ns));
	for (int i = 0; i < most; i++)
		master->task_ns[i] = -1;
	*devices = (struct plat_devices){.worker = &worker_driver,
					 .memory = &memory_driver,
					 .each = master->seats};
	devices->count = fill_seats(master, node, most);
	memcpy(devices->model, master->remotes[0].hello.model, sizeof(devices->model));
	for (int i = 0; i < master->nused; i++)
		master->remotes[i].arena =
			arena_at((void *)(uintptr_t)master->remotes[i].hello.base,
				 master->remotes[i].hello.arena_bytes);
	node->machine = &master->machine;
}

static void master_close(struct node *node)
{
	struct ms *ms = node->ms;
	struct ms_master *master = ms->master;
	struct ms_head head = {.kind = MS_END};

	plat_gate_init(&ms->gate);
	master->nbyes = master->nremotes;
	ms_awaits(ms, master->nremotes);
	for (int i = 0; i < master->nremotes; i++)
		ms_send(ms, master->remotes[i].rank, &head, NULL, 0);
	plat_gate_wait(node->plat, &ms->gate);
	node->on_close = NULL;
	ms_close(ms);
	for (int i = 0; i < master->nused; i++)
		arena_free(master->remotes[i].arena);
	free(master->remotes);
	free(master->free_keys);
	free(master->seats);
	free(master->task_ns);
	node->machine = plat_machine(node->plat);
	free(master);
}

/* How many of those that there are the node may have. */
static int count_used(const struct node *node, int nwanted, int nthere)
{
	const struct plat_machine *machine = node->machine;
	int most = NODE_MAX_MEMORIES - machine->nnumas - machine->nmemories -
		   device_count(node, STARPU_CUDA_WORKER);
	int n = nwanted < 0 || nwanted > nthere ? nthere : nwanted;

	if (nwanted > nthere)
		orr_complain(
			node->rank,
			"%d slaves are asked for (STARPU_NMPI_MS, conf.nmpi_ms), but "
			"the program has %d ranks beside the master: it has %d; "
			"start it with mpirun -np %d",
			nwanted, nthere, nthere, nwanted + 1);
	if (n > most)
		orr_complain(
			node->rank,
			"%d slaves are more memory nodes than the %d that a node may "
			"have: %d are used",
			n, (int)NODE_MAX_MEMORIES, most);
	return n > most ? most : n;
}

int ms_master_open(struct node *node, void *arg)
{
	const struct ms_config *config = arg;
	struct ms_master *master;
	int ret = ms_open(node, config, handle);

	if (ret < 0)
		return ret;
	master = orr_alloc(sizeof(*master));
	orr_lock_init(&master->lock);
	master->nremotes = master->nhellos = config->net.size - 1;
	master->nused = count_used(node, config->nwanted, master->nremotes);
	master->remotes = orr_alloc((size_t)master->nremotes * sizeof(*master->remotes));
	master->latency_s = assumed_latency_s;
	master->s_per_byte = assumed_s_per_byte;
	node->ms->master = master;
	ms_awaits(node->ms, 1);
	ms_start(node->ms);
	plat_gate_wait(node->plat, &node->ms->gate);
	ms_awaits(node->ms, -1);
	make_machine(node->ms);
	node->on_close = master_close;
	node->on_describe = describe;
	return 0;
}
