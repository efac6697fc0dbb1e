/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <starpu.h>

#include "../api/claim.h"
#include "real/real.h"

/* Freed blocks of main memory that wait for their next use. */
int claim_failures;

enum { LARGE = 1 << 20, MANY = 200 };

static void *page_block(size_t bytes)
{
	void *ptr = NULL;

	CLAIM_EQ(posix_memalign(&ptr, SPARE_PAGE_BYTES, bytes), 0);
	return ptr;
}

static void begin(struct spares *spares)
{
	*spares = (struct spares){0};
	orr_lock_init(&spares->lock);
}

static void a_size_gets_its_own(void)
{
	struct spares spares;
	void *large = page_block(LARGE), *larger = page_block(2 * LARGE);

	begin(&spares);
	CLAIM_EQ(spares_keep(&spares, large, LARGE), 1);
	CLAIM_EQ(spares_keep(&spares, larger, 2 * LARGE), 1);
	CLAIM(!spares_take(&spares, LARGE + 1));
	CLAIM(!spares_take(&spares, 64));
	CLAIM(spares_take(&spares, LARGE) == large);
	CLAIM(!spares_take(&spares, LARGE));
	CLAIM(spares_take(&spares, 2 * LARGE) == larger);
	free(large);
	free(larger);
	spares_free(&spares);
}

/* As many bytes as MOST_LARGE_BYTES say; those freed last stay. */
static void the_oldest_go(void)
{
	struct spares spares;
	void *last = NULL;
	int n = 0;

	begin(&spares);
	for (int i = 0; i < MANY; i++) {
		last = page_block(LARGE);
		CLAIM_EQ(spares_keep(&spares, last, LARGE), 1);
		CLAIM(spares.large_bytes <= 64ul << 20);
	}
	CLAIM(spares_take(&spares, LARGE) == last);
	free(last);
	for (void *ptr; (ptr = spares_take(&spares, LARGE)); n++)
		free(ptr);
	CLAIM_EQ(n, 63);
	CLAIM_EQ(spares.large_bytes, 0);
	spares_free(&spares);
}

static void a_wrong_size_is_not_kept(void)
{
	struct spares spares;
	void *small = page_block(SPARE_PAGE_BYTES);

	begin(&spares);
	CLAIM_EQ(spares_keep(&spares, small, LARGE), 0);
	CLAIM_EQ(spares_keep(&spares, (char *)small + 64, SPARE_LARGE_BYTES), 0);
	CLAIM_EQ(spares_keep(&spares, small, 128ul << 20), 0);
	free(small);
}

static void touch(void *buffers[], void *arg)
{
	char *bytes = (char *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (int i = 0; i < LARGE; i += SPARE_PAGE_BYTES)
		bytes[i] = 1;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Each page of memory that malloc() has from the system anew is a fault. */
static void data_that_come_and_go_touch_no_new_pages(void)
{
	struct starpu_codelet codelet = {
		.cpu_funcs = {touch}, .nbuffers = 1, .modes = {STARPU_W}};
	long before = 0;

	CLAIM_EQ(starpu_init(NULL), 0);
	for (int i = -1; i < MANY; i++) {
		starpu_data_handle_t handle;

		if (i == 0)
			before = faults();
		starpu_vector_data_register(&handle, -1, 0, LARGE, 1);
		starpu_task_insert(&codelet, STARPU_W, handle, 0);
		starpu_data_unregister_no_coherency(handle);
	}
	CLAIM(faults() - before < MANY * (LARGE / SPARE_PAGE_BYTES) / 4);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"a_size_gets_its_own", a_size_gets_its_own},
	{"the_oldest_go", the_oldest_go},
	{"a_wrong_size_is_not_kept", a_wrong_size_is_not_kept},
	{"data_that_come_and_go_touch_no_new_pages",
	 data_that_come_and_go_touch_no_new_pages},
	{0},
};

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 77; /* Nothing is kept. */
#endif
	return claims_run(claims, 0);
}
