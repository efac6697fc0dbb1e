/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Random graphs on simulated nodes whose GPUs, and some of whose main memories, have
 * little memory: each must end, give all memory back, and have the same dates whenever it
 * is run.  gpu.py makes the platforms.
 *
 * usage: gpu FIRST_SEED COUNT MAX_BYTES FEATURES
 * MAX_BYTES: of one task's data together.  FEATURES, letters: s scratch, p prefetch,
 * f fetch, a acquire on a GPU, i invalidate, u unregister_submit, b tasks bound to a
 * worker, w write-through, q prefetches with priorities, h other hints, l all data have
 * the library's memory only.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>

#define WORLD MPI_COMM_WORLD

enum { MAX_DATA = 24, MAX_USED = 5, FIRST_TAG = 100 };

struct datum {
	starpu_data_handle_t handle;
	unsigned bytes;
	int owner, is_temporary, has_value;
};

static struct {
	unsigned long state; /* of the generator, equal on all ranks */
	uint64_t digest;     /* of dates and order on this rank */
	unsigned max_bytes;
	const char *features;
	int rank, size, ngpus, ncpus, ndata;
	struct datum data[MAX_DATA];
	starpu_data_handle_t scratch;
	unsigned scratch_bytes;
} world;

static unsigned draw(unsigned n)
{
	world.state = world.state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)((world.state >> 33) % n);
}

static int has(char feature)
{
	return strchr(world.features, feature) != NULL;
}

static void note(double date, long what)
{
	uint64_t bits;

	memcpy(&bits, &date, sizeof(bits));
	world.digest ^= bits ^ (uint64_t)what * 0x9e3779b97f4a7c15u;
	world.digest *= 1099511628211u;
}

static void task_ended(void *arg)
{
	note(starpu_timing_now(), (long)(intptr_t)arg);
}

static double cost_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)implementation;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 50 + task->flops
							  : 5 + task->flops / 10;
}

#define KERNEL_CPU                                                                       \
	{                                                                                \
		(starpu_cpu_func_t)1                                                     \
	}
#define KERNEL_GPU                                                                       \
	{                                                                                \
		(starpu_cuda_func_t)1                                                    \
	}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = cost_us, .symbol = "fuzz_gpu"};
static struct starpu_codelet both = {.cpu_funcs = KERNEL_CPU,
				     .cuda_funcs = KERNEL_GPU,
				     .nbuffers = STARPU_VARIABLE_NBUFFERS,
				     .model = &model,
				     .name = "both"};
static struct starpu_codelet on_gpu = {.cuda_funcs = KERNEL_GPU,
				       .nbuffers = STARPU_VARIABLE_NBUFFERS,
				       .model = &model,
				       .name = "gpu"};
static struct starpu_codelet on_cpu = {.cpu_funcs = KERNEL_CPU,
				       .nbuffers = STARPU_VARIABLE_NBUFFERS,
				       .model = &model,
				       .name = "cpu"};

static void begin(int i)
{
	struct datum *datum = &world.data[i];
	void *memory = NULL;
	int home;

	datum->bytes = 1 + draw(world.max_bytes / 2);
	if (draw(3) == 0)
		datum->bytes = 1 + datum->bytes / 8;
	datum->owner = (int)draw((unsigned)world.size);
	datum->is_temporary = draw(4) == 0 || has('l');
	datum->has_value = !datum->is_temporary;
	home = datum->owner == world.rank && !datum->is_temporary;
	if (home)
		starpu_malloc(&memory, datum->bytes);
	starpu_vector_data_register(&datum->handle, home ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)memory, datum->bytes, 1);
	starpu_mpi_data_register(datum->handle, FIRST_TAG + i, datum->owner);
}

/* ---- tasks ----------------------------------------------------------- */

static enum starpu_data_access_mode choose_mode(struct datum *datum)
{
	static const enum starpu_data_access_mode modes[] = {
		STARPU_R, STARPU_RW, STARPU_RW | STARPU_COMMUTE, STARPU_W};
	unsigned choice = draw(4);

	if (!datum->has_value)
		choice = 3;
	if (choice > 0)
		datum->has_value = 1;
	return modes[choice];
}

static struct starpu_codelet *choose_codelet(void)
{
	unsigned kind = draw(4);

	if (!world.ngpus)
		return &on_cpu;
	if (!world.ncpus)
		return &on_gpu;
	return kind < 2 ? &both : kind == 2 ? &on_gpu : &on_cpu;
}

static void insert(int t)
{
	struct starpu_data_descr descrs[MAX_USED + 1];
	struct starpu_codelet *cl = choose_codelet();
	int n = 0, taken[MAX_DATA] = {0}, nwanted = 1 + (int)draw(MAX_USED);
	int worker = (int)draw(8), priority = (int)draw(5), scratch = draw(4) == 0;
	double flops = draw(100);
	unsigned bytes = 0;

	for (int i = 0; i < nwanted; i++) {
		int d = (int)draw((unsigned)world.ndata);

		if (taken[d] || bytes + world.data[d].bytes > world.max_bytes)
			continue;
		taken[d] = 1;
		bytes += world.data[d].bytes;
		descrs[n].handle = world.data[d].handle;
		descrs[n++].mode = choose_mode(&world.data[d]);
	}
	if (n == 0)
		return;
	if (has('s') && scratch && bytes + world.scratch_bytes <= world.max_bytes) {
		descrs[n].handle = world.scratch;
		descrs[n++].mode = STARPU_SCRATCH;
	}
	if (!has('b') || cl != &both || worker >= world.ngpus + world.ncpus)
		worker = -1;
	starpu_mpi_task_insert(WORLD, cl, STARPU_DATA_MODE_ARRAY, descrs, n, STARPU_FLOPS,
			       flops, STARPU_PRIORITY, priority, STARPU_EXECUTE_ON_NODE,
			       t % world.size, STARPU_EXECUTE_ON_WORKER, worker,
			       STARPU_CALLBACK_WITH_ARG_NFREE, task_ended,
			       (void *)(intptr_t)t, 0);
}

/* ---- what else happens ----------------------------------------------- */

/* Of a GPU, or a further main memory; 0: there is none. */
static unsigned other_memory(int t)
{
	unsigned n = starpu_memory_nodes_get_count() - 1;

	return n ? 1 + (unsigned)t % n : 0;
}

/* On the rank that owns the datum. */
static void touch(struct datum *datum, unsigned op, int t)
{
	unsigned memory = other_memory(t);

	if (op == 0 && has('p') && memory)
		starpu_data_prefetch_on_node(datum->handle, memory, 1);
	if (op == 1 && has('f') && memory)
		starpu_data_fetch_on_node(datum->handle, memory, 0);
	if (op == 2) {
		starpu_data_acquire(datum->handle, STARPU_R);
		note(starpu_timing_now(), t);
		starpu_data_release(datum->handle);
	}
	if (op == 3 && has('a') && memory) {
		starpu_data_acquire_on_node(datum->handle, (int)memory, STARPU_RW);
		starpu_data_release_on_node(datum->handle, (int)memory);
	}
}

static void replace(int d)
{
	starpu_mpi_cache_flush(WORLD, world.data[d].handle);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	starpu_data_unregister_submit(world.data[d].handle);
	starpu_task_wait_for_all();
	starpu_mpi_barrier(WORLD);
	begin(d);
}

/* Hints, on the rank that owns the datum: dates change, and nothing else. */
static void hint(struct datum *datum, unsigned kind, int t)
{
	unsigned memory = other_memory(t);

	if (kind == 0 && has('w'))
		starpu_data_set_wt_mask(datum->handle, (uint32_t)t % 8);
	if (kind == 1 && has('q') && datum->has_value)
		starpu_data_prefetch_on_node_prio(datum->handle, memory, 1, t % 5);
	if (kind == 2 && has('q') && datum->has_value)
		starpu_data_idle_prefetch_on_node_prio(datum->handle, memory, 1, t % 5);
	if (kind == 3 && has('h'))
		starpu_data_advise_as_important(datum->handle, (unsigned)t % 2);
	if (kind == 4 && has('h'))
		starpu_data_request_allocation(datum->handle, memory);
	if (kind == 5 && has('h'))
		starpu_memchunk_tidy(memory);
}

static void invalidate(struct datum *datum)
{
	starpu_mpi_cache_flush(WORLD, datum->handle);
	starpu_data_invalidate_submit(datum->handle);
	datum->has_value = 0;
}

static void act(int t)
{
	unsigned op = draw(30);
	int d = (int)draw((unsigned)world.ndata);
	struct datum *datum = &world.data[d];

	if (op <= 3 && datum->owner == world.rank && datum->has_value &&
	    !datum->is_temporary)
		touch(datum, op, t);
	else if (op == 4)
		starpu_mpi_cache_flush(WORLD, datum->handle);
	else if (op == 5)
		starpu_mpi_cache_flush_all_data(WORLD);
	else if (op == 6 && has('u'))
		replace(d);
	else if (op == 7)
		starpu_mpi_wait_for_all(WORLD);
	else if (op == 8 && datum->has_value)
		starpu_mpi_get_data_on_all_nodes_detached(WORLD, datum->handle);
	else if (op == 9)
		starpu_data_wont_use(datum->handle);
	else if (op == 10 && has('i') && datum->is_temporary)
		invalidate(datum);
	else if (op >= 11 && op <= 14 && datum->owner == world.rank)
		hint(datum, (unsigned)t % 6, t);
}

static int play(unsigned long seed)
{
	int ntasks, nbad = 0;

	world.state = seed * 0x9e3779b97f4a7c15ul + 77;
	world.digest = 1;
	if (starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL) != 0)
		return 1;
	starpu_mpi_comm_rank(WORLD, &world.rank);
	starpu_mpi_comm_size(WORLD, &world.size);
	world.ngpus = (int)starpu_cuda_worker_get_count();
	world.ncpus = (int)starpu_cpu_worker_get_count();
	world.ndata = 4 + (int)draw(MAX_DATA - 4);
	for (int i = 0; i < world.ndata; i++)
		begin(i);
	world.scratch_bytes = 1 + draw(world.max_bytes / 4);
	starpu_vector_data_register(&world.scratch, -1, 0, world.scratch_bytes, 1);
	ntasks = 30 + (int)draw(150);
	for (int t = 0; t < ntasks; t++) {
		insert(t);
		act(t);
	}
	starpu_mpi_wait_for_all(WORLD);
	note(orrery_virtual_time(), 0);
	for (int i = 0; i < world.ndata; i++)
		starpu_data_unregister(world.data[i].handle);
	starpu_data_unregister(world.scratch);
	for (unsigned i = 1; i < starpu_memory_nodes_get_count(); i++)
		nbad += starpu_memory_get_used(i) != 0;
	printf("seed %lu rank %d date %.17g digest %016llx%s\n", seed, world.rank,
	       orrery_virtual_time(), (unsigned long long)world.digest,
	       nbad ? ": memory is still in use" : "");
	starpu_mpi_shutdown();
	return nbad;
}

int main(int argc, char **argv)
{
	int level, nbad = 0;

	if (argc < 5)
		return 2;
	world.max_bytes = (unsigned)strtoul(argv[3], NULL, 10);
	world.features = argv[4];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	for (unsigned long i = 0; i < strtoul(argv[2], NULL, 10); i++)
		nbad += play(strtoul(argv[1], NULL, 10) + i);
	MPI_Finalize();
	return nbad != 0;
}
