/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Memory nodes on disks: files of the application's, values that go there and back. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claim.h"

int claim_failures;

enum { N = 5000, NX = 30, NY = 20, LD = 37 };

static char directory[64];

static void start(void)
{
	claim_start(2);
	snprintf(directory, sizeof(directory), "/tmp/orrery-disks-XXXXXX");
	CLAIM(mkdtemp(directory) != NULL);
}

/* Nothing is left behind. */
static void stop(void)
{
	starpu_shutdown();
	CLAIM_EQ(rmdir(directory), 0);
}

static void file_name(char *path, size_t bytes, const char *name)
{
	snprintf(path, bytes, "%s/%s", directory, name);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	char path[128];
	FILE *file;

	file_name(path, sizeof(path), name);
	file = fopen(path, "wb");
	CLAIM(file && fwrite(bytes, 1, n, file) == n);
	CLAIM_EQ(fclose(file), 0);
}

static void read_file(const char *name, void *bytes, size_t n)
{
	char path[128];
	FILE *file;

	file_name(path, sizeof(path), name);
	file = fopen(path, "rb");
	CLAIM(file && fread(bytes, 1, n, file) == n);
	fclose(file);
	CLAIM_EQ(unlink(path), 0);
}

static void add_vector(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += 7;
}

static void add_matrix(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);

	(void)arg;
	for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			x[i + j * STARPU_MATRIX_GET_LD(buffers[0])] += 7;
}

static struct starpu_codelet vectors = {.cpu_funcs = {add_vector},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &starpu_perfmodel_nop};
static struct starpu_codelet matrices = {.cpu_funcs = {add_matrix},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &starpu_perfmodel_nop};

static void is_a_memory_node(void)
{
	char name[32];
	int disk;

	start();
	disk = starpu_disk_register(&starpu_disk_unistd_ops, directory,
				    STARPU_DISK_SIZE_MIN);
	CLAIM_EQ(disk, (int)starpu_memory_nodes_get_count() - 1);
	CLAIM_EQ(starpu_node_get_kind((unsigned)disk), STARPU_DISK_RAM);
	CLAIM_EQ(starpu_memory_nodes_get_count_by_kind(STARPU_DISK_RAM), 1);
	starpu_memory_node_get_name((unsigned)disk, name, sizeof(name));
	CLAIM_EQ(strcmp(name, "Disk 0"), 0);
	CLAIM_EQ(starpu_memory_get_total((unsigned)disk), STARPU_DISK_SIZE_MIN);
	CLAIM_EQ(starpu_disk_register(&starpu_disk_stdio_ops, directory, -1), disk + 1);
	CLAIM_EQ(starpu_memory_get_total((unsigned)disk + 1), -1);
	stop();
}

/* Workers look at all memories for each value that they ask for or let go. */
static void comes_while_tasks_run(void)
{
	enum { NDATA = 8, NTASKS = 400 };
	static int x[NDATA][N];
	starpu_data_handle_t handles[NDATA];

	start();
	for (int i = 0; i < NDATA; i++) {
		memset(x[i], 0, sizeof(x[i]));
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)x[i],
					    N, sizeof(x[i][0]));
	}
	for (int t = 0; t < NTASKS; t++) {
		CLAIM_EQ(starpu_task_insert(&vectors, STARPU_RW, handles[t % NDATA], 0),
			 0);
		if (t % (NTASKS / 4) == NTASKS / 8)
			CLAIM(starpu_disk_register(&starpu_disk_unistd_ops, directory,
						   -1) > 0);
	}
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(handles[i]);
	for (int i = 0; i < NDATA; i++)
		CLAIM_EQ(x[i][N - 1], 7 * NTASKS / NDATA);
	stop();
}

static void try_driver(struct starpu_disk_ops *ops)
{
	static int x[N];
	starpu_data_handle_t handle;
	unsigned disk;
	void *there;

	start();
	disk = (unsigned)starpu_disk_register(ops, directory, -1);
	for (int i = 0; i < N; i++)
		x[i] = i;
	write_file("x", x, sizeof(x));
	there = starpu_disk_open(disk, (void *)"x", sizeof(x));
	CLAIM(there != NULL);
	starpu_vector_data_register(&handle, (int)disk, (uintptr_t)there, N, sizeof(int));
	CLAIM_EQ(starpu_task_insert(&vectors, STARPU_RW, handle, 0), 0);
	CLAIM_EQ(starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, STARPU_R), 0);
	CLAIM_EQ(((int *)starpu_data_get_local_ptr(handle))[N - 1], N - 1 + 7);
	starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
	starpu_data_unregister(handle);
	starpu_disk_close(disk, there, sizeof(x));
	read_file("x", x, sizeof(x));
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], i + 7);
	stop();
}

static void files_of_streams(void)
{
	try_driver(&starpu_disk_stdio_ops);
}

static void files_of_descriptors(void)
{
	try_driver(&starpu_disk_unistd_ops);
}

/* Not every file system lets programs past the cache. */
static void files_past_the_cache(void)
{
	int disk;

	start();
	disk = starpu_disk_register(&starpu_disk_unistd_o_direct_ops, directory, -1);
	stop();
	if (disk != -ENOENT)
		try_driver(&starpu_disk_unistd_o_direct_ops);
}

static void parts_lie_in_the_file(void)
{
	static int x[LD * NY];
	struct starpu_data_filter filter = {.filter_func = starpu_matrix_filter_block,
					    .nchildren = 3};
	starpu_data_handle_t handle;
	unsigned disk;
	void *there;

	start();
	disk = (unsigned)starpu_disk_register(&starpu_disk_unistd_ops, directory, -1);
	for (int i = 0; i < LD * NY; i++)
		x[i] = i;
	write_file("x", x, sizeof(x));
	there = starpu_disk_open(disk, (void *)"x", sizeof(x));
	starpu_matrix_data_register(&handle, (int)disk, (uintptr_t)there, LD, NX, NY,
				    sizeof(int));
	starpu_data_partition(handle, &filter);
	for (int i = 0; i < 3; i++)
		starpu_task_insert(&matrices, STARPU_RW,
				   starpu_data_get_sub_data(handle, 1, i), 0);
	starpu_data_unpartition(handle, (int)disk);
	starpu_data_unregister(handle);
	starpu_disk_close(disk, there, sizeof(x));
	read_file("x", x, sizeof(x));
	for (int i = 0; i < LD * NY; i++)
		CLAIM_EQ(x[i], i + (i % LD < NX ? 7 : 0));
	stop();
}

/* An interface that only knows how to copy in memory, and says nothing of its layout. */
struct pair_interface {
	int *first, *second;
};

static void pair_register(starpu_data_handle_t handle, int home, void *interface)
{
	(void)home;
	for (int i = 0; i < STARPU_MAXNODES; i++)
		memcpy(starpu_data_get_interface_on_node(handle, (unsigned)i), interface,
		       sizeof(struct pair_interface));
}

static starpu_ssize_t pair_allocate(void *interface, unsigned node)
{
	struct pair_interface *pair = interface;

	pair->first = (int *)starpu_malloc_on_node(node, N * sizeof(int));
	pair->second = (int *)starpu_malloc_on_node(node, N * sizeof(int));
	return pair->first && pair->second ? 2 * N * (starpu_ssize_t)sizeof(int)
					   : -ENOMEM;
}

static void pair_free(void *interface, unsigned node)
{
	struct pair_interface *pair = interface;

	starpu_free_on_node(node, (uintptr_t)pair->first, N * sizeof(int));
	starpu_free_on_node(node, (uintptr_t)pair->second, N * sizeof(int));
}

static int pair_copy(void *from, unsigned from_node, void *to, unsigned to_node)
{
	(void)from_node;
	(void)to_node;
	memcpy(((struct pair_interface *)to)->first,
	       ((struct pair_interface *)from)->first, N * sizeof(int));
	memcpy(((struct pair_interface *)to)->second,
	       ((struct pair_interface *)from)->second, N * sizeof(int));
	return 0;
}

static size_t pair_size(starpu_data_handle_t handle)
{
	(void)handle;
	return 2 * N * sizeof(int);
}

static uint32_t pair_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	return 1;
}

static const struct starpu_data_copy_methods pair_methods = {.ram_to_ram = pair_copy};
static struct starpu_data_interface_ops pair_ops = {
	.register_data_handle = pair_register,
	.allocate_data_on_node = pair_allocate,
	.free_data_on_node = pair_free,
	.copy_methods = &pair_methods,
	.get_size = pair_size,
	.footprint = pair_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct pair_interface),
};

static void fill_pair(void *buffers[], void *arg)
{
	struct pair_interface *pair = buffers[0];

	(void)arg;
	for (int i = 0; i < N; i++) {
		pair->first[i] = i;
		pair->second[i] = -i;
	}
}

static void check_pair(void *buffers[], void *arg)
{
	const struct pair_interface *pair = buffers[0];

	(void)arg;
	for (int i = 0; i < N; i++) {
		CLAIM_EQ(pair->first[i], i);
		CLAIM_EQ(pair->second[i], -i);
	}
}

static struct starpu_codelet fills = {.cpu_funcs = {fill_pair},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &starpu_perfmodel_nop};
static struct starpu_codelet checks = {.cpu_funcs = {check_pair},
				       .nbuffers = 1,
				       .modes = {STARPU_R},
				       .model = &starpu_perfmodel_nop};

/* ---- a driver of the application's: objects in memory, asynchronous ---- */

static int nobjects, nrequests;

static void *own_plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static void *own_alloc(void *base, size_t size)
{
	CLAIM(base == &nobjects);
	__atomic_add_fetch(&nobjects, 1, __ATOMIC_RELAXED);
	return malloc(size);
}

static void own_free(void *base, void *obj, size_t size)
{
	CLAIM(base == &nobjects && size >= 1);
	__atomic_add_fetch(&nobjects, -1, __ATOMIC_RELAXED);
	free(obj);
}

static int own_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	(void)base;
	memcpy((char *)obj + offset, buf, size);
	return 0;
}

static void *own_async_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	(void)base;
	memcpy(buf, (char *)obj + offset, size);
	__atomic_add_fetch(&nrequests, 1, __ATOMIC_RELAXED);
	return malloc(1);
}

static int own_test(void *request)
{
	return request != NULL;
}

static struct starpu_disk_ops own_ops = {.plug = own_plug,
					 .alloc = own_alloc,
					 .free = own_free,
					 .write = own_write,
					 .async_read = own_async_read,
					 .test_request = own_test,
					 .free_request = free};

/* The value is on the disk only, then comes back. */
static void send_and_fetch(struct starpu_disk_ops *ops, void *parameter)
{
	starpu_data_handle_t pair, vector;
	struct pair_interface none = {NULL, NULL};
	unsigned disk;

	start();
	disk = (unsigned)starpu_disk_register(ops, parameter ? parameter : directory, -1);
	starpu_data_register(&pair, -1, &none, &pair_ops);
	starpu_vector_data_register(&vector, -1, 0, N, sizeof(int));
	starpu_task_insert(&fills, STARPU_W, pair, 0);
	CLAIM_EQ(starpu_data_prefetch_on_node(pair, disk, 0), 0);
	starpu_data_acquire_on_node(vector, (int)disk, STARPU_W);
	starpu_data_release_on_node(vector, (int)disk);
	starpu_task_insert(&checks, STARPU_R, pair, 0);
	starpu_data_unregister(pair);
	starpu_data_unregister(vector);
	if (ops != &own_ops)
		stop();
	else
		starpu_shutdown();
}

/* Whoever shuts down without having waited for them. */
static void parts_on_their_way_are_waited_for(void)
{
	static const struct starpu_data_filter halves = {
		.filter_func = starpu_vector_filter_block, .nchildren = 2};
	starpu_data_handle_t handle, parts[2];
	int *x = calloc(N, sizeof(*x)), node;

	start();
	node = starpu_disk_register(&starpu_disk_unistd_ops, directory, -1);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, N,
				    sizeof(*x));
	starpu_data_partition_plan(handle, (struct starpu_data_filter *)&halves, parts);
	CLAIM_EQ(starpu_data_acquire_on_node(handle, node, STARPU_RW), 0);
	starpu_data_release_on_node(handle, node);
	for (int i = 0; i < 2; i++)
		CLAIM_EQ(starpu_task_insert(&vectors, STARPU_RW, parts[i], 0), 0);
	starpu_data_partition_clean(handle, 2, parts);
	starpu_data_unregister_submit(handle);
	stop();
	CLAIM(x[0] == 7 && x[N - 1] == 7);
	free(x);
}

static void own_interfaces_go_there(void)
{
	send_and_fetch(&starpu_disk_unistd_ops, NULL);
	send_and_fetch(&starpu_disk_stdio_ops, NULL);
}

static void own_drivers_work(void)
{
	send_and_fetch(&own_ops, &nobjects);
	CLAIM_EQ(nobjects, 0);
	CLAIM_EQ(rmdir(directory), 0);
}

/* ---- small objects --------------------------------------------------- */

enum { OBJECTS = 300, ROOM = 1 << 16 };

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2; /* itself and its parent */
}

static void fill_bytes(char *bytes, size_t n, int first)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(first + (int)i);
}

static size_t object_bytes(int i)
{
	return 1 + (size_t)i * 211;
}

/* Round after round in the places of the one before. */
static void write_and_read_all(struct starpu_disk_ops *ops, void *base, int first)
{
	static char bytes[ROOM], back[ROOM];
	void *objects[OBJECTS];

	for (int i = 0; i < OBJECTS; i++) {
		objects[i] = ops->alloc(base, object_bytes(i));
		fill_bytes(bytes, object_bytes(i), first + i);
		CLAIM_EQ(ops->write(base, objects[i], bytes, 0, object_bytes(i)), 0);
	}
	for (int i = 0; i < OBJECTS; i++) {
		fill_bytes(bytes, object_bytes(i), first + i);
		CLAIM_EQ(ops->read(base, objects[i], back, 0, object_bytes(i)), 0);
		CLAIM_EQ(memcmp(bytes, back, object_bytes(i)), 0);
	}
	CLAIM_EQ(count_entries(directory), 0);
	/* In parentheses: SMPI has a macro of that name. */
	for (int i = 0; i < OBJECTS; i++)
		(ops->free)(base, objects[i], object_bytes(i));
}

/* As a file of its own does, also when it becomes one. */
static void change_an_object(struct starpu_disk_ops *ops, void *base)
{
	static char bytes[4 * ROOM];
	void *object = ops->alloc(base, 100), *whole;
	char back[8];
	size_t n;

	CLAIM_EQ(ops->write(base, object, "ab", 0, 2), 0);
	CLAIM_EQ(ops->write(base, object, "yz", 6, 2), 0);
	CLAIM_EQ(ops->read(base, object, back, 0, 8), 0);
	CLAIM_EQ(memcmp(back, "ab\0\0\0\0yz", 8), 0);
	CLAIM(ops->read(base, object, back, 1, 8) < 0);
	CLAIM_EQ(ops->full_write(base, object, bytes, 50), 0);
	CLAIM(ops->read(base, object, back, 43, 8) < 0);
	CLAIM_EQ(ops->write(base, object, "x", 0, 1), 0);
	CLAIM_EQ(ops->write(base, object, "end", 2 * ROOM, 3), 0);
	CLAIM_EQ(count_entries(directory), 1);
	CLAIM_EQ(ops->full_read(base, object, &whole, &n, STARPU_MAIN_RAM), 0);
	CLAIM_EQ(n, 2 * ROOM + 3);
	CLAIM(*(char *)whole == 'x' && !memcmp((char *)whole + 2 * ROOM, "end", 3));
	starpu_free_on_node(STARPU_MAIN_RAM, (uintptr_t)whole, n);
	(ops->free)(base, object, 100);
	CLAIM_EQ(count_entries(directory), 0);
}

static void share_with(struct starpu_disk_ops *ops)
{
	int nopen = count_entries("/proc/self/fd");
	void *base = ops->plug(directory, -1);

	for (int round = 0; round < 3; round++)
		write_and_read_all(ops, base, 7 * round);
	CLAIM(count_entries("/proc/self/fd") <= nopen + 2);
	change_an_object(ops, base);
	ops->unplug(base);
	CLAIM_EQ(count_entries("/proc/self/fd"), nopen);
}

static void small_objects_share_a_file(void)
{
	int disk;

	start();
	disk = starpu_disk_register(&starpu_disk_unistd_o_direct_ops, directory, -1);
	share_with(&starpu_disk_unistd_ops);
	share_with(&starpu_disk_stdio_ops);
	if (disk != -ENOENT)
		share_with(&starpu_disk_unistd_o_direct_ops);
	stop();
}

static void *no_plug(void *parameter, starpu_ssize_t size)
{
	(void)parameter;
	(void)size;
	return NULL;
}

static int no_bandwidth(unsigned node, void *base)
{
	(void)node;
	(void)base;
	return 0;
}

static void what_does_not_work_is_refused(void)
{
	struct starpu_disk_ops ops = own_ops;
	int n;

	start();
	n = (int)starpu_memory_nodes_get_count();
	CLAIM_EQ(starpu_disk_register(&starpu_disk_unistd_ops, (void *)"/dev/null/x", -1),
		 -ENOENT);
	ops.bandwidth = no_bandwidth;
	CLAIM_EQ(starpu_disk_register(&ops, &nobjects, -1), -ENOENT);
	ops.plug = no_plug;
	CLAIM_EQ(starpu_disk_register(&ops, &nobjects, -1), -ENOENT);
	CLAIM_EQ(starpu_memory_nodes_get_count(), n);
	n = starpu_disk_register(&starpu_disk_unistd_ops, directory, -1);
	CLAIM(starpu_disk_open((unsigned)n, (void *)"none", 100) == NULL);
	stop();
}

static const struct claim claims[] = {
	{"a disk is a memory node", is_a_memory_node},
	{"one comes while tasks run", comes_while_tasks_run},
	{"files, with streams", files_of_streams},
	{"files, with descriptors", files_of_descriptors},
	{"files, past the cache", files_past_the_cache},
	{"parts of a matrix lie in the file", parts_lie_in_the_file},
	{"parts on their way are waited for", parts_on_their_way_are_waited_for},
	{"interfaces of the application's go there", own_interfaces_go_there},
	{"a driver of the application's works", own_drivers_work},
	{"small objects share a file", small_objects_share_a_file},
	{"what does not work is refused", what_does_not_work_is_refused},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
