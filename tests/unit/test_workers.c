/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <starpu.h>

#include "said.h"

/* How many workers a node has that is larger than the library knows. */

static unsigned there;

static void live(void *rank)
{
	(void)rank;
	fake_machine()->ncpus = STARPU_MAXCPUS + 44;
	assert_int_equal(starpu_init(NULL), 0);
	there = starpu_cpu_worker_get_count();
	starpu_shutdown();
}

static void workers_are_no_more_than_are_supported(void **state)
{
	static char said[SAID_BYTES];

	(void)state;
	say_all(1, live, said);
	assert_int_equal(there, STARPU_MAXCPUS);
	if (!strstr(said, "300 CPU workers asked for (STARPU_NCPU, STARPU_NCUDA, or as "
			  "many as there are): at most 256 are supported, and so many "
			  "run"))
		fail_msg("that 256 run is not said; what is: %s", said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_are_no_more_than_are_supported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
