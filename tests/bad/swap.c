/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What goes wrong with the disk that takes what has no room in memory; swap.py runs it
 * with STARPU_LIMIT_CPU_MEM and STARPU_DISK_SWAP.
 *
 * usage: swap MIB [vanish | small]: fills vectors of 1 MiB, checks them; vanish: its
 * files are removed between; small: vectors of 1 KiB.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <unistd.h>

enum { INTS = 1 << 18, SMALL_INTS = 1 << 8, MOST = 1 << 16 };

static starpu_data_handle_t data[MOST];
static int nwrong, ints = INTS;

static void fill(void *buffers[], void *arg)
{
	int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int i = 0; i < ints; i++)
		values[i] = first + i;
}

static void look(void *buffers[], void *arg)
{
	const int *values = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int i = 0; i < ints; i++)
		if (values[i] != first + i)
			__atomic_add_fetch(&nwrong, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet fills = {
	.cpu_funcs = {fill}, .nbuffers = 1, .modes = {STARPU_W}, .name = "fill"};
static struct starpu_codelet looks = {
	.cpu_funcs = {look}, .nbuffers = 1, .modes = {STARPU_R}, .name = "look"};

static void insert(struct starpu_codelet *cl, enum starpu_data_access_mode mode, int n)
{
	for (int i = 0; i < n; i++)
		starpu_task_insert(cl, mode, data[i], STARPU_VALUE, &i, sizeof i, 0);
	starpu_task_wait_for_all();
}

static void vanish(void)
{
	const char *path = getenv("STARPU_DISK_SWAP");
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;

	if (argc > 2 && strcmp(argv[2], "small") == 0) {
		ints = SMALL_INTS;
		n *= INTS / SMALL_INTS;
	}
	if (n < 1 || n > MOST || starpu_init(NULL) != 0)
		return 77;
	printf("swap node: %s\n", starpu_disk_swap_node >= 0 ? "there" : "none");
	fflush(stdout);
	for (int i = 0; i < n; i++)
		starpu_vector_data_register(&data[i], -1, 0, (uint32_t)ints, sizeof(int));
	insert(&fills, STARPU_W, n);
	if (argc > 2 && strcmp(argv[2], "vanish") == 0)
		vanish();
	insert(&looks, STARPU_R, n);
	for (int i = 0; i < n; i++)
		starpu_data_unregister(data[i]);
	starpu_shutdown();
	printf("ends well, %d wrong\n", nwrong);
	return nwrong > 0;
}
