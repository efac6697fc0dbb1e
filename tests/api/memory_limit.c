/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Counting against STARPU_LIMIT_CPU_MEM, which list.txt sets to 1 (MiB). */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

#define MIB  ((size_t)1 << 20)
#define HALF (MIB / 2)

static const int counted = (int)STARPU_MALLOC_COUNT;
static const int overflowing = (int)(STARPU_MALLOC_COUNT | STARPU_MALLOC_NORECLAIM);

static void start(void)
{
	if (starpu_init(NULL) != 0)
		exit(77);
	CLAIM_EQ(starpu_memory_get_total(STARPU_MAIN_RAM), MIB);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), MIB);
}

static void counted_memory_has_a_limit(void)
{
	void *a, *b;

	start();
	CLAIM_EQ(starpu_malloc_flags(&a, MIB, counted), 0);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), 0);
	CLAIM_EQ(starpu_malloc_flags(&b, HALF, counted), -ENOMEM);
	CLAIM(b == NULL);
	CLAIM_EQ(starpu_malloc_on_node(STARPU_MAIN_RAM, HALF), 0);
	CLAIM_EQ(starpu_malloc_flags(&b, HALF, 0), 0); /* not counted */
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), MIB);
	starpu_free_flags(b, HALF, 0);
	CLAIM_EQ(starpu_malloc_flags(&b, HALF, overflowing), 0);
	CLAIM(b != NULL);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), -(starpu_ssize_t)HALF);
	starpu_free_flags(b, HALF, overflowing);
	starpu_free_flags(a, MIB, counted);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	starpu_shutdown();
}

static void bytes_are_booked_without_memory(void)
{
	start();
	CLAIM_EQ(starpu_memory_allocate(STARPU_MAIN_RAM, MIB, 0), 0);
	CLAIM_EQ(starpu_memory_allocate(STARPU_MAIN_RAM, 1, 0), -ENOMEM);
	CLAIM_EQ(starpu_memory_allocate(STARPU_MAIN_RAM, 1, (int)STARPU_MEMORY_OVERFLOW),
		 0);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), MIB + 1);
	starpu_memory_deallocate(STARPU_MAIN_RAM, MIB + 1);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), MIB);
	starpu_shutdown();
}

static void data_count_while_they_have_memory(void)
{
	starpu_data_handle_t handle;
	int mine[4] = {0};

	start();
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)mine, 4,
				    sizeof(int));
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	starpu_data_unregister(handle);
	starpu_vector_data_register(&handle, -1, 0, 1000, 8);
	starpu_data_acquire(handle, STARPU_W);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 8000);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	starpu_shutdown();
}

static void give_back(void *arg)
{
	starpu_memory_deallocate(STARPU_MAIN_RAM, *(size_t *)arg);
}

/* The main thread waits for what a callback gives back. */
static void waiting_ends_when_there_is_room(void)
{
	static size_t bytes = HALF;
	struct starpu_task *task = NULL;
	void *memory;

	start();
	CLAIM_EQ(starpu_memory_allocate(STARPU_MAIN_RAM, MIB, 0), 0);
	for (int i = 0; i < 2; i++) {
		task = starpu_task_create();
		task->callback_func = give_back;
		task->callback_arg = &bytes;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	CLAIM_EQ(starpu_malloc_flags(&memory, MIB, counted | (int)STARPU_MEMORY_WAIT), 0);
	CLAIM(memory != NULL);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), 0);
	starpu_free_flags(memory, MIB, counted);
	starpu_memory_wait_available(STARPU_MAIN_RAM, MIB);
	starpu_shutdown();
}

static void too_much_is_refused(void)
{
	starpu_data_handle_t handle;
	static char mine[2 * MIB];

	start();
	starpu_vector_data_register(&handle, -1, 0, 2 * MIB, 1);
	CLAIM_EQ(starpu_data_acquire(handle, STARPU_W), -ENOMEM);
	starpu_data_unregister(handle);
	/* What the application brings is not the library's to count. */
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)mine, 2 * MIB,
				    1);
	CLAIM_EQ(starpu_data_acquire(handle, STARPU_RW), 0);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* ---- hooks ----------------------------------------------------------- */

static int nhooked, nfreed;
static size_t hooked_bytes;

static int hook_malloc(unsigned dst_node, void **A, size_t dim, int flags)
{
	(void)flags;
	CLAIM_EQ(dst_node, STARPU_MAIN_RAM);
	nhooked++;
	*A = dim > 100 * MIB ? NULL : malloc(dim);
	if (*A)
		hooked_bytes += dim;
	return *A ? 0 : -ENOMEM;
}

static int hook_free(unsigned dst_node, void *A, size_t dim, int flags)
{
	(void)flags;
	CLAIM_EQ(dst_node, STARPU_MAIN_RAM);
	nfreed++;
	hooked_bytes -= dim;
	free(A);
	return 0;
}

static void hooks_allocate_and_free(void)
{
	starpu_data_handle_t handle;
	void *a;

	starpu_malloc_set_hooks(hook_malloc, hook_free);
	CLAIM_EQ(starpu_malloc(&a, 100), 0);
	CLAIM_EQ(nhooked, 1);
	start();
	starpu_free_noflag(a, 100);
	CLAIM_EQ(nfreed, 1);
	starpu_vector_data_register(&handle, -1, 0, 1000, 8);
	starpu_data_acquire(handle, STARPU_W);
	CLAIM_EQ(hooked_bytes, 8000);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 8000);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	CLAIM_EQ(starpu_malloc_flags(&a, 101 * MIB, 0), -ENOMEM);
	CLAIM(a == NULL);
	/* Kept for other data until now. */
	starpu_malloc_set_hooks(NULL, NULL);
	CLAIM_EQ(hooked_bytes, 0);
	CLAIM_EQ(starpu_malloc(&a, 100), 0);
	starpu_free_noflag(a, 100);
	CLAIM_EQ(nhooked, 3);
	starpu_shutdown();
}

static void alignment_is_as_asked(void)
{
	void *a, *b;

	start();
	starpu_malloc_set_align(4096);
	CLAIM_EQ(starpu_malloc(&a, 100), 0);
	CLAIM_EQ(starpu_malloc(&b, 100), 0);
	CLAIM_EQ((uintptr_t)a % 4096, 0);
	CLAIM_EQ((uintptr_t)b % 4096, 0);
	starpu_free_noflag(a, 100);
	starpu_free_noflag(b, 100);
	starpu_shutdown();
}

static void sizes_do_not_wrap(void)
{
	int flags[] = {0, STARPU_MALLOC_COUNT};
	void *a;

	start();
	starpu_malloc_set_align(4096);
	for (int i = 0; i < 2; i++)
		for (size_t less = 1; less <= 8192; less *= 2) {
			a = &flags;
			CLAIM_EQ(starpu_malloc_flags(&a, (size_t)-1 - less + 1, flags[i]),
				 -ENOMEM);
			CLAIM(a == NULL);
		}
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"counted memory has a limit", counted_memory_has_a_limit},
	{"bytes are booked without memory", bytes_are_booked_without_memory},
	{"data count while they have memory", data_count_while_they_have_memory},
	{"waiting ends when there is room", waiting_ends_when_there_is_room},
	{"too much is refused", too_much_is_refused},
	{"hooks allocate and free", hooks_allocate_and_free},
	{"alignment is as asked", alignment_is_as_asked},
	{"sizes do not wrap", sizes_do_not_wrap},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
