/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Copies that an interface's method starts with starpu_interface_copy*() and async_data:
 * they end after the method has returned, and the value is there when all have.  To a
 * GPU where there is one (simulated), else to a file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "claim.h"

int claim_failures;

/* Five dimensions, as many ints apart at home; without gaps elsewhere. */
enum { NDIM = 5, CELLS = 2 * 3 * 2 * 3 * 2, HOME_CELLS = 1024 };

static const uint32_t extents[NDIM] = {2, 3, 2, 3, 2};

struct grid {
	uintptr_t cells;
	uint32_t ldn[NDIM];
};

/* What the method has seen since the last start. */
static struct {
	int ndims; /* which function it calls */
	int ncalls, nasync, nlate;
	const int *target; /* of the last piece */
} seen;

static void set_strides(struct grid *grid, int home)
{
	static const uint32_t gaps[NDIM] = {1, 4, 16, 64, 256};
	uint32_t stride = 1;

	for (int i = 0; i < NDIM; i++) {
		grid->ldn[i] = home ? gaps[i] : stride;
		stride *= extents[i];
	}
}

static void grid_register(starpu_data_handle_t handle, int home, void *interface)
{
	for (unsigned i = 0; i < STARPU_MAXNODES; i++) {
		struct grid *grid = starpu_data_get_interface_on_node(handle, i);

		*grid = *(struct grid *)interface;
		if ((int)i == home)
			continue;
		grid->cells = 0;
		set_strides(grid, 0);
	}
}

static starpu_ssize_t grid_allocate(void *interface, unsigned node)
{
	struct grid *grid = interface;

	grid->cells = starpu_malloc_on_node(node, CELLS * sizeof(int));
	return grid->cells ? (starpu_ssize_t)(CELLS * sizeof(int)) : -ENOMEM;
}

static void grid_free(void *interface, unsigned node)
{
	struct grid *grid = interface;

	starpu_free_on_node(node, grid->cells, CELLS * sizeof(int));
	grid->cells = 0;
}

static size_t grid_size(starpu_data_handle_t handle)
{
	(void)handle;
	return CELLS * sizeof(int);
}

static uint32_t grid_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return CELLS;
}

/* One end of a copy. */
struct end {
	struct grid *grid;
	unsigned node;
};

static size_t bytes_apart(const struct end *end, int dim)
{
	return end->grid->ldn[dim] * sizeof(int);
}

/* All of ndims dimensions from a cell on, by the function for so many. */
static int copy_from(const struct end *from, size_t x, const struct end *to, size_t y,
		     int ndims, void *async)
{
	uintptr_t source = from->grid->cells, target = to->grid->cells;
	uint32_t nn[NDIM];
	size_t row = extents[0] * sizeof(int);

	switch (ndims) {
	case 1:
		return starpu_interface_copy(source, x, from->node, target, y, to->node,
					     row, async);
	case 2:
		return starpu_interface_copy2d(source, x, from->node, target, y, to->node,
					       row, extents[1], bytes_apart(from, 1),
					       bytes_apart(to, 1), async);
	case 3:
		return starpu_interface_copy3d(
			source, x, from->node, target, y, to->node, row, extents[1],
			bytes_apart(from, 1), bytes_apart(to, 1), extents[2],
			bytes_apart(from, 2), bytes_apart(to, 2), async);
	case 4:
		return starpu_interface_copy4d(
			source, x, from->node, target, y, to->node, row, extents[1],
			bytes_apart(from, 1), bytes_apart(to, 1), extents[2],
			bytes_apart(from, 2), bytes_apart(to, 2), extents[3],
			bytes_apart(from, 3), bytes_apart(to, 3), async);
	default:
		memcpy(nn, extents, sizeof(nn));
		return starpu_interface_copynd(source, x, from->node, target, y, to->node,
					       sizeof(int), NDIM, nn, from->grid->ldn,
					       to->grid->ldn, async);
	}
}

/* The dimensions from the outermost down to those that the function knows. */
static int copy_grid(const struct end *from, size_t x, const struct end *to, size_t y,
		     int ndims, void *async)
{
	int ret = 0;

	if (ndims == seen.ndims)
		return copy_from(from, x, to, y, ndims, async);
	for (uint32_t i = 0; i < extents[ndims - 1]; i++) {
		if (copy_grid(from, x, to, y, ndims - 1, async))
			ret = -EAGAIN;
		x += bytes_apart(from, ndims - 1);
		y += bytes_apart(to, ndims - 1);
	}
	return ret;
}

static int grid_copy(void *source, unsigned source_node, void *target,
		     unsigned target_node, void *async)
{
	struct end from = {source, source_node}, to = {target, target_node};
	int ret = copy_grid(&from, 0, &to, 0, NDIM, async);

	seen.ncalls++;
	seen.nasync += async != NULL;
	seen.nlate += ret == -EAGAIN;
	if (ret == -EAGAIN && starpu_node_get_kind(target_node) != STARPU_DISK_RAM)
		seen.target = (const int *)to.grid->cells + CELLS - 1;
	return ret;
}

static const struct starpu_data_copy_methods methods = {.any_to_any = grid_copy};

static struct starpu_data_interface_ops grid_ops = {
	.register_data_handle = grid_register,
	.allocate_data_on_node = grid_allocate,
	.free_data_on_node = grid_free,
	.copy_methods = &methods,
	.get_size = grid_size,
	.footprint = grid_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct grid),
	.name = (char *)"grid",
};

/* ---- scenes ---------------------------------------------------------- */

static char directory[64];

/* The memory that copies go to. */
static unsigned start(int ndims, int synchronous)
{
	struct starpu_conf conf;
	unsigned id;

	memset(&seen, 0, sizeof(seen));
	seen.ndims = ndims;
	starpu_conf_init(&conf);
	conf.disable_asynchronous_copy = synchronous;
	if (starpu_init(&conf) != 0)
		exit(77);
	if (starpu_memory_node_get_ids_by_type(STARPU_CUDA_RAM, &id, 1) > 0)
		return id;
	snprintf(directory, sizeof(directory), "/tmp/orrery-late-XXXXXX");
	CLAIM(mkdtemp(directory) != NULL);
	return (unsigned)starpu_disk_register(&starpu_disk_unistd_ops, directory, -1);
}

static void stop(void)
{
	starpu_shutdown();
	if (directory[0])
		CLAIM_EQ(rmdir(directory), 0);
	directory[0] = '\0';
}

static int is_valid(starpu_data_handle_t handle, unsigned memory)
{
	int valid;

	starpu_data_query_status(handle, (int)memory, NULL, &valid, NULL);
	return valid;
}

static void fill(int *cells, int n)
{
	for (int i = 0; i < n; i++)
		cells[i] = i;
}

/* What is not the value's is as it was. */
static void check_home(const int *cells, int factor)
{
	int bad = 0;

	for (int i = 0; i < HOME_CELLS; i++) {
		int rest = i, inside = 1;

		for (int d = 0; d < NDIM; d++, rest /= 4)
			inside &= rest % 4 < (int)extents[d];
		bad += cells[i] != (inside ? factor * i : i);
	}
	CLAIM_EQ(bad, 0);
}

static void scale(void *buffers[], void *arg)
{
	const struct grid *grid = buffers[0];
	int *cells = (int *)grid->cells;

	(void)arg;
	CLAIM(seen.ncalls == 1);
	for (int i = 0; i < CELLS; i++)
		cells[i] *= 3;
}

static struct starpu_codelet scales = {.cuda_funcs = {scale},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop,
				       .name = "scale"};

/* There, changed by a task where there is a GPU, and back. */
static void take_there(int ndims, int synchronous)
{
	static int cells[HOME_CELLS];
	struct grid given = {.cells = (uintptr_t)cells};
	unsigned memory = start(ndims, synchronous);
	starpu_data_handle_t handle;
	int is_gpu = starpu_node_get_kind(memory) == STARPU_CUDA_RAM;

	fill(cells, HOME_CELLS);
	set_strides(&given, 1);
	starpu_data_register(&handle, STARPU_MAIN_RAM, &given, &grid_ops);
	CLAIM_EQ(starpu_data_prefetch_on_node(handle, memory, 1), 0);
	CLAIM(!is_gpu || !is_valid(handle, memory));
	/* Its bytes follow its start, unless they had to be there at once. */
	if (is_gpu && !synchronous) {
		CLAIM_EQ(seen.nlate, 1);
		CLAIM(*seen.target != 853);
	}
	CLAIM_EQ(starpu_data_fetch_on_node(handle, memory, 0), 0);
	CLAIM(is_valid(handle, memory));
	if (is_gpu) {
		CLAIM_EQ(starpu_task_insert(&scales, STARPU_RW, handle, 0), 0);
		CLAIM_EQ(starpu_task_wait_for_all(), 0);
	}
	starpu_data_unregister(handle);
	check_home(cells, is_gpu ? 3 : 1);
	CLAIM_EQ(seen.ncalls, is_gpu ? 2 : 1);
	CLAIM_EQ(seen.nasync, synchronous ? 0 : seen.ncalls);
	CLAIM_EQ(seen.nlate, seen.nasync);
	stop();
}

static void pieces_of_all_dimensions(void)
{
	for (int ndims = 1; ndims <= NDIM; ndims++)
		take_there(ndims, 0);
}

static void who_asks_gets_them_at_once(void)
{
	take_there(2, 1);
}

/* A value that begins in a file. */
static void from_a_file(void)
{
	int cells[CELLS], bad = 0;
	struct grid given;
	starpu_data_handle_t handle;
	unsigned disk = start(3, 0);
	FILE *file;
	char path[128];

	if (starpu_node_get_kind(disk) != STARPU_DISK_RAM) {
		stop();
		return;
	}
	snprintf(path, sizeof(path), "%s/x", directory);
	fill(cells, CELLS);
	file = fopen(path, "wb");
	CLAIM(file && fwrite(cells, sizeof(cells), 1, file) == 1 && fclose(file) == 0);
	set_strides(&given, 0);
	given.cells = (uintptr_t)starpu_disk_open(disk, (void *)"x", sizeof(cells));
	starpu_data_register(&handle, (int)disk, &given, &grid_ops);
	starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, STARPU_R);
	CLAIM_EQ(seen.nlate, 1);
	for (int i = 0; i < CELLS; i++)
		bad += ((int *)((struct grid *)starpu_data_get_interface_on_node(
					handle, STARPU_MAIN_RAM))
				->cells)[i] != i;
	CLAIM_EQ(bad, 0);
	starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
	starpu_data_unregister(handle);
	starpu_disk_close(disk, (void *)given.cells, sizeof(cells));
	CLAIM_EQ(unlink(path), 0);
	stop();
}

/* Called by the application, without async_data, and within main memory. */
static void within_main_memory_they_are_done(void)
{
	static int x[HOME_CELLS], y[CELLS];
	struct grid source = {.cells = (uintptr_t)x}, target = {.cells = (uintptr_t)y};
	int bad = 0;

	start(NDIM, 0);
	fill(x, HOME_CELLS);
	set_strides(&source, 1);
	set_strides(&target, 0);
	for (seen.ndims = 1; seen.ndims <= NDIM; seen.ndims++) {
		memset(y, 0, sizeof(y));
		CLAIM_EQ(grid_copy(&source, 0, &target, 0, NULL), 0);
		for (int i = 0; i < CELLS; i++) {
			int rest = i, at = 0;

			for (int d = 0; d < NDIM; d++) {
				at += rest % (int)extents[d] * (int)source.ldn[d];
				rest /= (int)extents[d];
			}
			bad += y[i] != at;
		}
	}
	CLAIM_EQ(bad, 0);
	stop();
}

int main(void)
{
	static const struct claim claims[] = {
		{"pieces of 1 to 5 dimensions end later", pieces_of_all_dimensions},
		{"who asks for it has them done at once", who_asks_gets_them_at_once},
		{"values come from files in pieces", from_a_file},
		{"within main memory they are done", within_main_memory_they_are_done},
		{NULL, NULL},
	};

	return claims_run(claims, 0);
}
