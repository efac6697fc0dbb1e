/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Values under pressure: random programs on a fake machine whose GPUs, and some of whose
 * main memories, have real memory, too little of it, with or without disks that take what
 * has no room, some of which refuse now and then.  Kernels, copies and the application
 * take times drawn from the seed, so that evictions, writers and the end of data meet in
 * every order.  What each access must see is known when it is submitted; the accounting
 * of room is checked on the way.
 *
 * usage: test_coherency [FIRST_SEED [COUNT]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <starpu.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "core/data/data.h"
#include "core/data/kept.h"
#include "fake.h"

enum {
	MAX_DATA = 12,
	MAX_USED = 4, /* data of a task, and a scratch */
	MAX_INTS = 64,
	NSTEPS = 150,
	FIRST = 1,
	COUNT = 1000,
	GONE = -1 /* instead of a value: there is none */
};

struct datum {
	starpu_data_handle_t handle;
	int *memory; /* the application's, or NULL */
	int home;    /* where that is, or -1 */
	unsigned n;
	int value; /* of all elements, after what has been submitted; or GONE */
};

/* What a task or an acquisition does to each of its data. */
struct use {
	int expected, written; /* GONE: not looked at, not written */
	unsigned n;
};

struct work {
	int nuses, scratch; /* scratch: index of its buffer, or -1 */
	struct use uses[MAX_USED];
};

/* An acquisition with a callback, released by a timer. */
struct held {
	struct plat_timer timer;
	starpu_data_handle_t handle;
	int memory;
	struct use use;
};

static struct {
	unsigned long seed, state;
	unsigned max_ints; /* of one task's data together */
	int is_plain;      /* no hints but prefetches */
	int is_storm;      /* few data, written on GPUs again and again */
	int ndata, next_value, nheld, nbad;
	int ndisks, refusals; /* a disk refuses one write in so many; 0: none */
	struct node *node;
	struct datum data[MAX_DATA];
	starpu_data_handle_t scratch;
	unsigned nscratch;
} world;

static unsigned draw(unsigned n)
{
	world.state = world.state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)((world.state >> 33) % n);
}

static void bad(const char *what, int seen, int expected)
{
	if (world.nbad++ < 5)
		printf("seed %lu: %s: %d, expected %d\n", world.seed, what, seen,
		       expected);
}

static void use_values(const char *what, int *values, const struct use *use)
{
	for (unsigned i = 0; use->expected != GONE && i < use->n; i++)
		if (values[i] != use->expected) {
			bad(what, values[i], use->expected);
			break;
		}
	for (unsigned i = 0; use->written != GONE && i < use->n; i++)
		values[i] = use->written;
}

/* ---- tasks ----------------------------------------------------------- */

/* Each buffer is where its codelet says. */
static void check_places(struct starpu_task *task)
{
	int local = (int)starpu_worker_get_memory_node((unsigned)starpu_worker_get_id());

	for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		int wish = task->cl->specific_nodes ? STARPU_CODELET_GET_NODE(task->cl, i)
						    : STARPU_SPECIFIC_NODE_LOCAL;
		int node = starpu_task_get_current_data_node(i);

		if (wish >= 0 && node != wish)
			bad("a buffer lies in", node, wish);
		if (wish == STARPU_SPECIFIC_NODE_LOCAL && node != local)
			bad("a buffer lies in", node, local);
		if (wish == STARPU_SPECIFIC_NODE_CPU && node >= world.node->nmains)
			bad("a buffer lies in", node, 0);
	}
}

static void kernel(void *buffers[], void *arg)
{
	const struct work *work = arg;

	check_places(starpu_task_get_current());
	if (work->scratch >= 0)
		memset((void *)STARPU_VECTOR_GET_PTR(buffers[work->scratch]), 0xee,
		       STARPU_VECTOR_GET_NX(buffers[work->scratch]) * sizeof(int));
	for (int i = 0; i < work->nuses; i++)
		use_values("a task reads", (int *)STARPU_VECTOR_GET_PTR(buffers[i]),
			   &work->uses[i]);
}

static double cost_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)task;
	(void)implementation;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 30 : 10;
}

static double task_s(const struct worker *worker, const struct job *job)
{
	(void)worker;
	(void)job;
	return 1e-6 * draw(60);
}

static double copy_s(const struct plat_copy *copy)
{
	assert_true(memory_is_main(world.node, copy->from) ||
		    memory_is_main(world.node, copy->to) ||
		    !fake_machine()->no_peer_copies);
	return 1e-6 * draw(draw(world.is_storm ? 2 : 6) ? 80 : 1000);
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "coherency"};
static struct starpu_codelet codelets[3] = {
	{.cpu_funcs = {kernel},
	 .cuda_funcs = {kernel},
	 .nbuffers = STARPU_VARIABLE_NBUFFERS,
	 .model = &model},
	{.cuda_funcs = {kernel}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .model = &model},
	{.cpu_funcs = {kernel}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .model = &model}};

/* Buffers in any memory but disks', whoever runs the kernel; in some programs. */
static void place_buffers(void)
{
	int is_spread = draw(3) == 0, least = STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;
	unsigned n = (unsigned)(world.node->nmains +
				world.node->nworkers_of[STARPU_CUDA_WORKER]);

	for (int i = 0; i < 3; i++) {
		codelets[i].specific_nodes = (unsigned)is_spread;
		for (int k = 0; k <= MAX_USED; k++)
			codelets[i].nodes[k] = least + (int)draw(n + (unsigned)-least);
	}
}

/* Choose how a datum is used, and note what it will be. */
static enum starpu_data_access_mode choose_use(struct datum *datum, struct use *use)
{
	static const enum starpu_data_access_mode modes[] = {STARPU_R, STARPU_RW,
							     STARPU_W};
	unsigned choice =
		datum->value == GONE || (world.is_storm && draw(4)) ? 2 : draw(3);

	use->n = datum->n;
	use->expected = modes[choice] & STARPU_R ? datum->value : GONE;
	use->written = GONE;
	if (modes[choice] & STARPU_W)
		use->written = datum->value = world.next_value++;
	return modes[choice];
}

static void submit_task(void)
{
	struct starpu_data_descr descrs[MAX_USED + 1];
	struct work *work = calloc(1, sizeof(*work));
	int n = 1 + (int)draw(world.is_storm ? 1 : MAX_USED), taken[MAX_DATA] = {0};
	unsigned ints = 0;

	work->scratch = -1;
	for (int i = 0; i < n; i++) {
		int d = (int)draw((unsigned)world.ndata), k = work->nuses;

		if (taken[d] || ints + world.data[d].n > world.max_ints)
			continue;
		taken[d] = 1;
		ints += world.data[d].n;
		descrs[k].handle = world.data[d].handle;
		descrs[k].mode = choose_use(&world.data[d], &work->uses[k]);
		work->nuses++;
	}
	n = work->nuses;
	if (draw(4) == 0 && ints + world.nscratch <= world.max_ints) {
		work->scratch = n;
		descrs[n].handle = world.scratch;
		descrs[n++].mode = STARPU_SCRATCH;
	}
	assert_int_equal(
		starpu_task_insert(
			&codelets[world.is_storm ? 1 : draw(3)], STARPU_DATA_MODE_ARRAY,
			descrs, n, STARPU_CL_ARGS, work, sizeof(*work), STARPU_PRIORITY,
			(int)draw(3), STARPU_EXECUTE_ON_WORKER,
			world.is_storm
				? (int)draw((unsigned)world.node
						    ->nworkers_of[STARPU_CUDA_WORKER])
				: -1,
			0),
		0);
}

/* ---- disks ------------------------------------------------------------ */

static void *disk_plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static int refuses(void)
{
	return world.refusals && draw((unsigned)world.refusals) == 0;
}

static void *disk_alloc(void *base, size_t size)
{
	(void)base;
	return refuses() ? NULL : calloc(1, size);
}

static void disk_free(void *base, void *object, size_t size)
{
	(void)base;
	(void)size;
	free(object);
}

static int disk_read(void *base, void *object, void *to, off_t offset, size_t size)
{
	(void)base;
	memcpy(to, (char *)object + offset, size);
	return 0;
}

static int disk_write(void *base, void *object, const void *from, off_t offset,
		      size_t size)
{
	(void)base;
	if (refuses()) {
		/* A short write: some of the bytes are there. */
		memcpy((char *)object + offset, from, size / 2);
		return size > 1 && draw(2) ? (int)(size / 2) : -ENOSPC;
	}
	memcpy((char *)object + offset, from, size);
	return 0;
}

static struct starpu_disk_ops disk_ops = {.plug = disk_plug,
					  .alloc = disk_alloc,
					  .free = disk_free,
					  .read = disk_read,
					  .write = disk_write};

/* Main memory with a limit, and disks of any size. */
static void add_disks(void)
{
	static const double factors[] = {1, 1, 1.5, 3, 0};
	size_t bytes = world.max_ints * sizeof(int);

	world.ndisks = draw(2) ? 0 : 1 + (int)draw(2);
	world.refusals = draw(3) ? 0 : 2 + (int)draw(20);
	for (int i = 0; i < world.ndisks; i++) {
		int disk = starpu_disk_register(&disk_ops, &world, -1);

		world.node->memories[disk].capacity_bytes =
			(size_t)((double)bytes * 2 * factors[draw(5)]);
	}
	if (!world.ndisks)
		return;
	world.node->memories[0].is_booked = 0;
	world.node->memories[0].capacity_bytes =
		(size_t)((double)bytes * (1 + factors[draw(5)]));
}

static unsigned draw_memory(void)
{
	return draw((unsigned)world.node->nmemories);
}

static int is_disk(unsigned memory)
{
	return world.node->memories[memory].kind == STARPU_DISK_RAM;
}

/* ---- the application's own accesses ---------------------------------- */

static int *values_at(starpu_data_handle_t handle, int memory)
{
	struct starpu_vector_interface *vector =
		starpu_data_get_interface_on_node(handle, (unsigned)memory);

	return (int *)vector->ptr;
}

static void acquire(struct datum *datum, int memory)
{
	struct use use;
	enum starpu_data_access_mode mode = choose_use(datum, &use);

	assert_int_equal(starpu_data_acquire_on_node(datum->handle, memory, mode), 0);
	use_values("an acquisition reads", values_at(datum->handle, memory), &use);
	starpu_data_release_on_node(datum->handle, memory);
}

static void let_go(struct plat_timer *timer)
{
	struct held *held = ORR_CONTAINER(timer, struct held, timer);

	use_values("an acquisition reads", values_at(held->handle, held->memory),
		   &held->use);
	starpu_data_release_on_node(held->handle, held->memory);
	world.nheld--;
	free(held);
}

static void hold(void *arg)
{
	struct held *held = arg;

	held->timer.fire = let_go;
	plat_after(world.node->plat, &held->timer, 1e-6 * draw(200));
}

static void acquire_for_a_while(struct datum *datum, int memory)
{
	struct held *held = calloc(1, sizeof(*held));
	enum starpu_data_access_mode mode = choose_use(datum, &held->use);

	held->handle = datum->handle;
	held->memory = memory;
	world.nheld++;
	assert_int_equal(
		starpu_data_acquire_on_node_cb(datum->handle, memory, mode, hold, held),
		0);
}

/* ---- data that come and go ------------------------------------------- */

static void begin(struct datum *datum)
{
	unsigned most = world.max_ints / 2;

	datum->n = 1 + draw(draw(3) ? most : (most + 3) / 4);
	datum->memory = NULL;
	datum->home = -1;
	datum->value = GONE;
	if (draw(3)) {
		datum->home = (int)draw((unsigned)world.node->nmains);
		datum->memory = malloc(datum->n * sizeof(int));
		datum->value = world.next_value++;
		for (unsigned i = 0; i < datum->n; i++)
			datum->memory[i] = datum->value;
	}
	starpu_vector_data_register(&datum->handle, datum->home, (uintptr_t)datum->memory,
				    datum->n, sizeof(int));
}

static void end(struct datum *datum, int with_value)
{
	struct use use = {with_value ? datum->value : GONE, GONE, datum->n};

	if (with_value)
		starpu_data_unregister(datum->handle);
	else
		starpu_data_unregister_no_coherency(datum->handle);
	if (!datum->memory)
		return;
	use_values("unregistering brings", datum->memory, &use);
	free(datum->memory);
}

/* Memory of the application must outlive the users, so only temporary data. */
static void end_later(struct datum *datum)
{
	if (datum->memory)
		return;
	starpu_data_unregister_submit(datum->handle);
	begin(datum);
}

/* ---- what must always hold ------------------------------------------- */

struct account {
	size_t used, pinned, leaving, held;
	int idle;
};

static int is_idle(const struct copy_state *copy)
{
	return copy->room == ROOM_IDLE || copy->room == ROOM_STUCK;
}

static void add_copy(struct account *account, const struct copy_state *copy)
{
	if (copy->room == ROOM_NONE)
		return;
	account->used += copy->bytes;
	if (copy->room == ROOM_USED)
		account->pinned += copy->bytes;
	else if (!is_idle(copy))
		account->leaving += copy->bytes;
	account->idle += is_idle(copy);
	assert_int_equal(copy->refs > 0, !is_idle(copy));
}

/* Bounds, since scratch and data whose end has been submitted are not seen. */
static void check_room(void)
{
	for (int m = 0; m < world.node->nmemories; m++) {
		const struct memory *memory = &world.node->memories[m];
		struct account account = {0};
		int nidle = 0;

		for (int i = 0; i < world.ndata; i++) {
			starpu_data_handle_t handle = world.data[i].handle;

			if (!memory->is_booked && handle->body &&
			    data_find_copy(handle, (unsigned)m))
				add_copy(&account, data_find_copy(handle, (unsigned)m));
		}
		/* The application's acquisitions do not wait in main memory. */
		assert_true(!memory->capacity_bytes ||
			    memory_is_main(world.node, (unsigned)m) ||
			    memory->used_bytes <= memory->capacity_bytes);
		assert_true(account.used <= memory->used_bytes);
		assert_true(account.pinned <= memory->pinned_bytes);
		assert_true(account.leaving <= memory->leaving_bytes);
		for (const struct copy_state *c = memory->oldest; c; c = c->newer)
			nidle++;
		for (const struct copy_state *c = memory->stuck; c; c = c->newer)
			nidle++;
		assert_true(account.idle <= nidle);
	}
}

/* Copies that are valid together are equal. */
static void check_copies(void)
{
	for (int i = 0; i < world.ndata; i++) {
		const struct datum *datum = &world.data[i];
		const struct data_body *body = datum->handle->body;
		const int *first = NULL;

		if (!body || body->nholders < 0)
			continue;
		for (int m = 0; m < world.node->nmemories; m++) {
			const int *values;

			if (!(body->valid & memory_bit((unsigned)m)) ||
			    is_disk((unsigned)m))
				continue;
			values = values_at(datum->handle, m);
			if (!first)
				first = values;
			if (memcmp(first, values, datum->n * sizeof(int)) != 0)
				bad("two valid copies", values[0], first[0]);
		}
	}
}

static void check_empty(void)
{
	for (int m = 0; m < world.node->nmemories; m++) {
		const struct memory *memory = &world.node->memories[m];

		if (memory->is_booked)
			continue;
		assert_int_equal(memory->used_bytes, 0);
		assert_int_equal(memory->pinned_bytes, 0);
		assert_int_equal(memory->leaving_bytes, 0);
		assert_int_equal(memory->held_bytes, 0);
		assert_null(memory->oldest);
		assert_null(memory->stuck);
		assert_null(memory->waiting);
		assert_null(memory->wishes);
		assert_int_equal(memory->nfetching_ahead, 0);
		assert_int_equal(memory->ncopies, 0);
		assert_true(kept_bytes(memory) <= memory->capacity_bytes);
	}
}

/* ---- hints ----------------------------------------------------------- */

/* They change when copies move and who leaves, and no value. */
static void give_hint(struct datum *datum, unsigned memory)
{
	switch (draw(8)) {
	case 0:
	case 1:
		starpu_data_set_wt_mask(datum->handle,
					draw(3) ? draw(1u << world.node->nmemories) : 0);
		break;
	case 2:
		starpu_data_advise_as_important(datum->handle, draw(2));
		break;
	case 3:
		starpu_data_request_allocation(datum->handle, memory);
		break;
	case 4:
		starpu_memchunk_tidy(memory);
		break;
	case 5:
		starpu_data_wont_use(datum->handle);
		break;
	case 6:
		starpu_data_evict_from_node(datum->handle, memory);
		break;
	default:
		if (datum->value != GONE)
			starpu_data_idle_prefetch_on_node_prio(datum->handle, memory, 1,
							       (int)draw(4));
	}
}

/* ---- one program ----------------------------------------------------- */

static void act(void)
{
	struct datum *datum = &world.data[draw((unsigned)world.ndata)];
	unsigned memory = draw_memory();
	unsigned choice = draw(world.is_storm ? 400 : 40);

	/* There are no bytes to look at, and what may fail is not asked for. */
	if (is_disk(memory) &&
	    (world.refusals || choice == 0 || choice == 7 || choice == 8))
		memory = STARPU_MAIN_RAM;
	switch (choice) {
	case 0:
		acquire(datum, (int)memory);
		break;
	case 1:
		end(datum, datum->value != GONE);
		begin(datum);
		break;
	case 2:
		end(datum, 0);
		begin(datum);
		break;
	case 3:
		end_later(datum);
		break;
	case 4:
		starpu_data_invalidate_submit(datum->handle);
		datum->value = GONE;
		break;
	case 5:
		starpu_data_deinitialize_submit(datum->handle);
		datum->value = GONE;
		break;
	case 6:
		assert_int_equal(starpu_task_wait_for_all(), 0);
		break;
	case 7:
	case 8:
		acquire_for_a_while(datum, (int)memory);
		break;
	case 9:
	case 10:
		if (datum->value != GONE)
			starpu_data_prefetch_on_node_prio(datum->handle, memory,
							  draw(4) > 0, (int)draw(4));
		break;
	case 11:
		if (datum->value != GONE)
			starpu_data_fetch_on_node(datum->handle, memory, draw(2));
		break;
	case 12:
	case 13:
	case 14:
		if (!world.is_plain)
			give_hint(datum, memory);
		break;
	default:
		submit_task();
	}
	for (unsigned n = draw(12); n > 0 && choice > 6; n--)
		fake_step();
}

static void open_world(void)
{
	static const char *const policies[] = {"eager", "prio",       "lws",       "dmda",
					       "dmdas", "heteroprio", "graph_test"};
	static const char *const depths[] = {"0", "1", "2", "3"};
	static const char *const percents[] = {"0", "0", "10", "40"};
	static const double factors[] = {1, 1, 1.25, 2, 3.5};
	struct starpu_conf conf;
	struct fake_machine *machine;

	setenv("STARPU_CUDA_PIPELINE", depths[draw(4)], 1);
	setenv("STARPU_PREFETCH", draw(4) ? "1" : "0", 1);
	setenv("STARPU_MINIMUM_AVAILABLE_MEM", percents[draw(4)], 1);
	setenv("STARPU_TARGET_AVAILABLE_MEM", percents[draw(4)], 1);
	if (draw(2)) /* Buffers of main memory are kept. */
		setenv("STARPU_LIMIT_CPU_MEM", "1", 1);
	else
		unsetenv("STARPU_LIMIT_CPU_MEM");
	fake_start(1, 1e-6, 1e9);
	machine = fake_machine();
	machine->ncpus = 1 + (int)draw(2);
	machine->ngpus = 1 + (int)draw(3);
	machine->no_peer_copies = (int)draw(2);
	machine->nnumas = draw(2) ? 1 : 1 + (int)draw(4);
	machine->ncpus += machine->nnumas - 1;
	world.max_ints = 8 + draw(MAX_INTS - 8);
	machine->numa_bytes = draw(2) ? 0
				      : (double)(size_t)(world.max_ints * sizeof(int) *
							 factors[draw(5)]);
	machine->gpu_memory_bytes =
		(double)(size_t)(world.max_ints * sizeof(int) * factors[draw(5)]);
	/* Others use them, too; a task's data fit. */
	if (draw(3) == 0)
		machine->gpu_left_bytes = (double)(world.max_ints * sizeof(int));
	machine->duration_s = task_s;
	machine->copy_s = copy_s;
	starpu_conf_init(&conf);
	conf.sched_policy_name = policies[draw(7)];
	conf.enable_map = (int)draw(2);
	assert_int_equal(starpu_init(&conf), 0);
	world.node = plat_self();
	add_disks();
	place_buffers();
}

static void play(unsigned long seed)
{
	world.seed = seed;
	world.state = seed * 0x9e3779b97f4a7c15ul + 1;
	world.next_value = 1;
	world.nbad = world.nheld = 0;
	draw(2);
	world.is_plain = draw(3) == 0;
	world.is_storm = draw(3) == 0;
	world.ndata = 3 + (int)draw(world.is_storm ? 3 : MAX_DATA - 2);
	open_world();
	for (int i = 0; i < world.ndata; i++)
		begin(&world.data[i]);
	world.nscratch = 1 + draw(world.max_ints / 4);
	starpu_vector_data_register(&world.scratch, -1, 0, world.nscratch, sizeof(int));
	for (int i = 0; i < NSTEPS; i++) {
		act();
		check_room();
		check_copies();
	}
	assert_int_equal(starpu_task_wait_for_all(), 0);
	for (int i = 0; i < world.ndata; i++)
		end(&world.data[i], world.data[i].value != GONE);
	starpu_data_unregister(world.scratch);
	fake_run();
	assert_int_equal(world.nheld, 0);
	check_empty();
	starpu_shutdown();
	fake_stop();
	assert_int_equal(world.nbad, 0);
}

static unsigned long first_seed = FIRST, nseeds = COUNT;

static void values_survive_pressure(void **state)
{
	(void)state;
	for (unsigned long i = 0; i < nseeds; i++)
		play(first_seed + i);
}

static void name_seed(int signal)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "seed %lu: signal %d\n", world.seed, signal);

	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_survive_pressure),
	};

	if (argc > 1)
		first_seed = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		nseeds = strtoul(argv[2], NULL, 10);
	signal(SIGABRT, name_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
