/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Data that two threads use at once, and nobody has before; their home is a disk. */
#include <pthread.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { ROUNDS = 6000, DELAYS = 200 };

static struct {
	starpu_data_handle_t handle;
	unsigned disk;
	int value;
	int nrounds, nused, ends; /* atomic */
} shared;

static int get(int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void *plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static void *take(void *base, size_t size)
{
	(void)base;
	return calloc(1, size);
}

static void give(void *base, void *object, size_t size)
{
	(void)base;
	(void)size;
	free(object);
}

static void *open_object(void *base, void *pos, size_t size)
{
	(void)base;
	(void)size;
	return pos;
}

static int read_object(void *base, void *object, void *to, off_t offset, size_t size)
{
	(void)base;
	memcpy(to, (char *)object + offset, size);
	return 0;
}

static int write_object(void *base, void *object, const void *from, off_t offset,
			size_t size)
{
	(void)base;
	memcpy((char *)object + offset, from, size);
	return 0;
}

static struct starpu_disk_ops ops = {.plug = plug,
				     .alloc = take,
				     .free = give,
				     .open = open_object,
				     .read = read_object,
				     .write = write_object};

static void use(void)
{
	const struct starpu_variable_interface *there =
		starpu_data_get_interface_on_node(shared.handle, shared.disk);

	CLAIM(there->ptr != 0);
	CLAIM_EQ(starpu_data_acquire_on_node(shared.handle, STARPU_MAIN_RAM, STARPU_R),
		 0);
	CLAIM_EQ(*(int *)starpu_data_get_local_ptr(shared.handle), shared.value);
	starpu_data_release_on_node(shared.handle, STARPU_MAIN_RAM);
}

static void *use_all(void *arg)
{
	int nseen = 0;

	for (; !get(&shared.ends); nseen++) {
		while (get(&shared.nrounds) == nseen)
			if (get(&shared.ends))
				return arg;
		use();
		__atomic_add_fetch(&shared.nused, 1, __ATOMIC_SEQ_CST);
	}
	return arg;
}

static void use_with_the_other(int round)
{
	int object = round;
	void *there = starpu_disk_open(shared.disk, &object, sizeof(object));

	shared.value = round;
	starpu_variable_data_register(&shared.handle, (int)shared.disk, (uintptr_t)there,
				      sizeof(object));
	__atomic_add_fetch(&shared.nrounds, 1, __ATOMIC_SEQ_CST);
	for (volatile int i = 0; i < round % DELAYS; i++)
		continue;
	use();
	while (get(&shared.nused) <= round)
		continue;
	starpu_data_unregister(shared.handle);
	starpu_disk_close(shared.disk, there, sizeof(object));
}

static void two_threads_find_the_value(void)
{
	static int base;
	pthread_t other;

	if (starpu_init(NULL) != 0)
		exit(77);
	shared.disk = (unsigned)starpu_disk_register(&ops, &base, -1);
	pthread_create(&other, NULL, use_all, NULL);
	for (int round = 0; round < ROUNDS && !claim_failures; round++)
		use_with_the_other(round);
	__atomic_store_n(&shared.ends, 1, __ATOMIC_SEQ_CST);
	pthread_join(other, NULL);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"two_threads_find_the_value", two_threads_find_the_value}, {NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
