/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map_scene.h"

#include <time.h>

/*
 * The Locality-Aware Mapping Algorithm on small machines, where a reader can follow it,
 * and on all orders of its letters.
 */

#define TWO_BY_FOUR "pack:2 core:4 pu:1"

/* The ranks of each node, on the machine, or the beginning of the refusal. */
static void expect(const char *machine, struct map_texts texts, int np,
		   const char *expected)
{
	struct scene scene;

	scene_machine(&scene, machine);
	if (scene_map(&scene, &texts, np) == 0) {
		assert_string_equal(scene_report(&scene, report_ranks), expected);
	} else {
		scene.says.text[strnlen(scene.says.text, strlen(expected))] = '\0';
		assert_string_equal(scene.says.text, expected);
	}
	scene_end(&scene);
}

static void expect_bindings(const char *machine, struct map_texts texts, int np,
			    const char *expected)
{
	struct scene scene;

	scene_machine(&scene, machine);
	assert_int_equal(scene_map(&scene, &texts, np), 0);
	assert_string_equal(scene_report(&scene, report_bindings), expected);
	scene_end(&scene);
}

#define TEXTS(...)                                                                       \
	(struct map_texts)                                                               \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

static void test_by_socket(void **state)
{
	(void)state;
	expect("1*" TWO_BY_FOUR, TEXTS(.map_by = "socket", .bind_to = "core"), 8,
	       "n0 [0 2 4 6][1 3 5 7]\n");
	expect("1*" TWO_BY_FOUR,
	       TEXTS(.map_by = "socket", .bind_to = "core", .order = "s"), 8,
	       "n0 [0 1 2 3][4 5 6 7]\n");
}

static void test_by_core(void **state)
{
	(void)state;
	expect("1*" TWO_BY_FOUR, TEXTS(.map_by = "core"), 8, "n0 [0 1 2 3][4 5 6 7]\n");
	expect("1*" TWO_BY_FOUR, TEXTS(.map_by = "slot"), 8, "n0 [0 1 2 3][4 5 6 7]\n");
	expect("1*" TWO_BY_FOUR, TEXTS(.map = "csbnh"), 8, "n0 [0 1 2 3][4 5 6 7]\n");
}

static void test_by_node(void **state)
{
	(void)state;
	expect("2*" TWO_BY_FOUR, TEXTS(.map = "nbsch"), 4,
	       "n0 [0 . . .][2 . . .]\nn1 [1 . . .][3 . . .]\n");
	expect("2*" TWO_BY_FOUR, TEXTS(.map_by = "node"), 4,
	       "n0 [0 . . .][2 . . .]\nn1 [1 . . .][3 . . .]\n");
}

static void test_limit_by_socket(void **state)
{
	(void)state;
	expect("2*" TWO_BY_FOUR, TEXTS(.limits = "1:s", .bind = "1c"), 4,
	       "n0 [0 . . .][1 . . .]\nn1 [2 . . .][3 . . .]\n");
	expect("2*" TWO_BY_FOUR, TEXTS(.limits = "1:s", .bind = "1c"), 5,
	       "mapped 4 of 5: ");
	expect("2*" TWO_BY_FOUR, TEXTS(.limits = "1:s", .bind = "1c", .oversubscribe = 1),
	       5, "n0 [0,4 . . .][1 . . .]\nn1 [2 . . .][3 . . .]\n");
}

static void test_two_limits(void **state)
{
	(void)state;
	expect("2*" TWO_BY_FOUR, TEXTS(.limits = "1:s,2:n", .bind = "1c"), 4,
	       "n0 [0 . . .][1 . . .]\nn1 [2 . . .][3 . . .]\n");
	expect("2*pack:4 core:2 pu:1", TEXTS(.limits = "1:s,2:n", .bind = "1c"), 4,
	       "n0 [0 .][1 .][. .][. .]\nn1 [2 .][3 .][. .][. .]\n");
}

static void test_limit_by_core(void **state)
{
	struct map_texts texts = {.map = "csbnh", .bind = "1h", .limits = "1:c"};
	struct scene scene;

	(void)state;
	expect("1*pack:2 core:2 pu:2", texts, 5, "mapped 4 of 5: ");
	texts.limits = NULL;
	expect_bindings("1*pack:2 core:2 pu:2", texts, 5,
			"rank 0 n0 [B./..][../..]\nrank 1 n0 [../B.][../..]\n"
			"rank 2 n0 [../..][B./..]\nrank 3 n0 [../..][../B.]\n"
			"rank 4 n0 [.B/..][../..]\n");
	texts.bind = "1c";
	scene_machine(&scene, "1*pack:2 core:2 pu:2");
	assert_int_equal(scene_map(&scene, &texts, 5), 0);
	assert_int_equal(scene.job.nshared, 1); /* core 0 twice */
	scene_end(&scene);
}

static void test_several_cores(void **state)
{
	struct map_texts texts = {.map = "csbnh", .bind = "2c", .limits = "1:c"};
	struct scene scene;

	(void)state;
	expect_bindings("1*pack:1 core:8 pu:1", TEXTS(.map = "csbnh", .bind = "2c"), 4,
			"rank 0 n0 [B/B/./././././.]\nrank 1 n0 [././B/B/./././.]\n"
			"rank 2 n0 [././././B/B/./.]\nrank 3 n0 [././././././B/B]\n");
	expect_bindings("1*pack:2 core:3 pu:1", texts, 2,
			"rank 0 n0 [B/B/.][././.]\nrank 1 n0 [././B][B/./.]\n");
	expect("1*pack:2 core:3 pu:1", texts, 3, "mapped 2 of 3: ");
	texts.limits = NULL;
	scene_machine(&scene, "1*pack:2 core:3 pu:1");
	assert_int_equal(scene_map(&scene, &texts, 3), 0);
	assert_int_equal(scene.job.nshared, 1);
	assert_int_equal(scene.job.shared[0], 1);
	assert_int_equal(scene.job.shared[1], 2);
	scene_end(&scene);
}

static void test_different_nodes(void **state)
{
	const char *machine = "1*pack:2 core:4 pu:1;1*pack:1 core:2 pu:1";

	(void)state;
	expect(machine, TEXTS(.map = "csbnh"), 10, "n0 [0 1 2 3][4 5 6 7]\nn1 [8 9]\n");
	expect(machine, TEXTS(.map = "sbnch"), 4, "n0 [0 3 . .][1 . . .]\nn1 [2 .]\n");
	expect(machine, TEXTS(.map = "csbnh"), 11, "mapped 10 of 11: ");
}

static void test_threads_in_turn(void **state)
{
	(void)state;
	expect_bindings("1*pack:2 numa:1 core:6 pu:2",
			TEXTS(.map = "sNbnch", .bind = "1h", .limits = "1:c,5:s"), 10,
			"rank 0 n0 [B./../../../../..][../../../../../..]\n"
			"rank 1 n0 [../../../../../..][B./../../../../..]\n"
			"rank 2 n0 [../B./../../../..][../../../../../..]\n"
			"rank 3 n0 [../../../../../..][../B./../../../..]\n"
			"rank 4 n0 [../../B./../../..][../../../../../..]\n"
			"rank 5 n0 [../../../../../..][../../B./../../..]\n"
			"rank 6 n0 [../../../B./../..][../../../../../..]\n"
			"rank 7 n0 [../../../../../..][../../../B./../..]\n"
			"rank 8 n0 [../../../../B./..][../../../../../..]\n"
			"rank 9 n0 [../../../../../..][../../../../B./..]\n");
}

static void test_numa_bindings(void **state)
{
	(void)state;
	expect_bindings("1*pack:2 numa:1 core:4 pu:1",
			TEXTS(.map = "Ncsbnh", .bind = "1N"), 2,
			"rank 0 n0 [B/B/B/B][./././.]\nrank 1 n0 [./././.][B/B/B/B]\n");
	/* A cache of its own does not hide a core, nor a NUMA node a socket. */
	expect("1*pack:2 numa:1 l2:4 core:1 pu:1", TEXTS(.map = "csL1L2L3Nbnh"), 4,
	       "n0 [0 1 2 3][. . . .]\n");
	expect("2*pack:2 numa:1 core:2 pu:1", TEXTS(.map_by = "numa"), 4,
	       "n0 [0 .][1 .]\nn1 [2 .][3 .]\n");
	/* A socket in a NUMA node, and the other way round. */
	expect("1*numa:2 pack:2 core:1 pu:1", TEXTS(.map = "Ncsbnh"), 4,
	       "n0 [0][2][1][3]\n");
	expect("1*pack:2 numa:2 core:1 pu:1", TEXTS(.map = "Ncsbnh"), 4,
	       "n0 [0 1][2 3]\n");
}

static void test_boards(void **state)
{
	(void)state;
	expect("1*group:2 pack:2 core:1 pu:1", TEXTS(.map_by = "board"), 4,
	       "n0 [0][2][1][3]\n");
}

/* The second application goes on where the first one ended; so does the sweep. */
static void test_applications(void **state)
{
	struct map_texts texts = {.map = "csbnh"};
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*" TWO_BY_FOUR);
	assert_int_equal(scene_map(&scene, &texts, 3), 0);
	assert_int_equal(map_application(&scene.job, 6, &scene.says), 0);
	assert_string_equal(scene_report(&scene, report_ranks),
			    "n0 [0 1 2 3][4 5 6 7]\nn1 [8 . . .][. . . .]\n");
	assert_int_not_equal(map_application(&scene.job, 8, &scene.says), 0);
	assert_memory_equal(scene.says.text, "mapped 7 of 8: ", 15);
	scene_end(&scene);
}

static void test_ranks_by(void **state)
{
	const char *machine = "2*" TWO_BY_FOUR;

	(void)state;
	expect(machine, TEXTS(.map = "nsch", .rank_by = "slot"), 8,
	       "n0 [0 2 . .][1 3 . .]\nn1 [4 6 . .][5 7 . .]\n");
	expect(machine, TEXTS(.map = "csnh", .rank_by = "socket"), 16,
	       "n0 [0 2 4 6][1 3 5 7]\nn1 [8 10 12 14][9 11 13 15]\n");
	expect(machine, TEXTS(.map = "csnh", .rank_by = "node"), 16,
	       "n0 [0 2 4 6][8 10 12 14]\nn1 [1 3 5 7][9 11 13 15]\n");
	expect(machine, TEXTS(.map = "nsch", .rank_by = "core"), 4,
	       "n0 [0 . . .][1 . . .]\nn1 [2 . . .][3 . . .]\n");
	/* Letters map to a thread, simple forms to an object and "slot" to a node: each
	 * core takes the first process, in order of mapping, that may be on it. */
	expect(machine, TEXTS(.map = "scnh", .bind = "1c", .rank_by = "core"), 4,
	       "n0 [0 1 . .][2 3 . .]\nn1 [. . . .][. . . .]\n");
	expect(machine, TEXTS(.map_by = "slot", .bind = "1c", .rank_by = "socket"), 12,
	       "n0 [0 1 2 3][4 5 6 7]\nn1 [8 9 10 11][. . . .]\n");
	expect("1*" TWO_BY_FOUR,
	       TEXTS(.map_by = "socket", .bind = "1c", .rank_by = "core"), 6,
	       "n0 [0 1 2 .][3 4 5 .]\n");
	expect("1*" TWO_BY_FOUR, TEXTS(.map_by = "node", .bind = "1c", .rank_by = "core"),
	       6, "n0 [0 2 4 .][1 3 5 .]\n");
	expect(machine, TEXTS(.rank_by = "l2cache"), 4, "--rank-by names L2");
}

static void test_cpusets(void **state)
{
	struct map_texts texts = {.map = "csbnh", .bind_to = "socket"};
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*" TWO_BY_FOUR);
	assert_int_equal(source_allow(&scene.machine.nodes[0], "2-3,5,7", &scene.says),
			 0);
	assert_int_equal(source_allow(&scene.machine.nodes[1], "0x81", &scene.says), 0);
	assert_int_equal(scene_map(&scene, &texts, 6), 0);
	assert_string_equal(scene_report(&scene, report_ranks),
			    "n0 [. . 0 1][. 2 . 3]\nn1 [4 . . .][. . . 5]\n");
	assert_string_equal(scene_report(&scene, report_bindings),
			    "rank 0 n0 [././B/B][./././.]\nrank 1 n0 [././B/B][./././.]\n"
			    "rank 2 n0 [./././.][./B/./B]\nrank 3 n0 [./././.][./B/./B]\n"
			    "rank 4 n1 [B/././.][./././.]\n"
			    "rank 5 n1 [./././.][./././B]\n");
	scene_end_map(&scene);
	texts.oversubscribe = 1; /* but never where it may not */
	assert_int_equal(scene_map(&scene, &texts, 7), 0);
	assert_string_equal(scene_report(&scene, report_ranks),
			    "n0 [. . 0,6 1][. 2 . 3]\nn1 [4 . . .][. . . 5]\n");
	scene_end(&scene);
}

static void test_levels_that_lack(void **state)
{
	(void)state;
	expect("2*" TWO_BY_FOUR, TEXTS(.bind = "1L3"), 2,
	       "bind names L3 (L3 cache), and no");
	expect("2*" TWO_BY_FOUR, TEXTS(.limits = "1:b"), 2,
	       "mppr names b (board), and no");
	expect("2*" TWO_BY_FOUR, TEXTS(.map_by = "l2cache"), 2, "--map-by names L2");
	expect("2*" TWO_BY_FOUR, TEXTS(.map_by = "gpu"), 2, "--map-by names g (GPU)");
	expect("2*" TWO_BY_FOUR, TEXTS(.map = "gcnh"), 2, "map names g (GPU)");
	expect("2*" TWO_BY_FOUR, TEXTS(.bind = "9c"), 2,
	       "mapped 0 of 2: no node has 9 consecutive objects");
	/* Among letters, a level that is not there counts as one. */
	expect("1*" TWO_BY_FOUR, TEXTS(.map = "L1L2L3csbnNh"), 8,
	       "n0 [0 1 2 3][4 5 6 7]\n");
}

/* On one kind of node L3 lies in N, on the other N in L3: they cannot both loop. */
static void test_conflicts(void **state)
{
	const char *machine = "1*pack:1 numa:2 l3:1 core:2 pu:1;"
			      "1*pack:1 l3:1 numa:2 core:2 pu:1;"
			      "1*pack:1 numa:1 l3:2 core:2 pu:1";

	(void)state;
	expect(machine, TEXTS(.map = "NL3csnh"), 4, "map names ");
	expect(machine, TEXTS(.map = "L3csnh"), 2,
	       "n0 [0 . 1 .]\nn1 [. . . .]\nn2 [. . . .]\n");
	expect(machine, TEXTS(.map_by = "core"), 8,
	       "n0 [0 1 2 3]\nn1 [4 5 6 7]\nn2 [. . . .]\n");
}

static void test_simulated_hosts(void **state)
{
	(void)state;
	expect("1*host 8 2;1*host 4 1", TEXTS(.map_by = "gpu", .bind = "1g"), 3,
	       "n0 [0 . . . 1 . . .]\nn1 [2 . . .]\n");
	expect_bindings("1*host 5 2",
			TEXTS(.map_by = "gpu", .bind = "1g", .limits = "1:g"), 2,
			"rank 0 n0 [B/B/././.]\nrank 1 n0 [././B/B/B]\n");
}

/* ---- All orders ---- */

static int visited[64];

/* Each hardware thread once; natural and sequential order hold the same places. */
static void check_permutation(struct scene *scene, const char *map)
{
	struct map_texts texts = {.map = map};
	const struct map_job *job = &scene->job;

	assert_int_equal(scene_map(scene, &texts, 0), 0);
	memset(visited, 0, sizeof(visited));
	assert_int_equal(job->nplaces, 64);
	for (int i = 0; i < job->nplaces; i++)
		visited[job->places[i].node * 32 + job->places[i].pu]++;
	for (int i = 0; i < 64; i++)
		assert_int_equal(visited[i], 1);
	scene->job.rules = &(struct map_rules){.order = ORDER_SEQUENTIAL};
	map_rank(&scene->job);
	for (int i = 0; i < job->nplaces; i++)
		assert_int_equal(job->places[i].node * 32 + job->places[i].pu, i);
	map_close(&scene->job);
}

/* Heap's algorithm. */
static void test_all_orders(void **state)
{
	const char *letters[] = {"n", "b", "s", "N", "L3", "L2", "L1", "c", "h"};
	int count[9] = {0}, at = 1, total = 0;
	struct scene scene;
	char map[32];

	(void)state;
	scene_machine(&scene, "2*group:2 pack:1 numa:1 l3:2 l2:1 l1:2 core:2 pu:2");
	for (;;) {
		*map = '\0';
		for (int i = 0; i < 9; i++)
			strcat(map, letters[i]);
		check_permutation(&scene, map);
		total++;
		while (at < 9 && count[at] == at)
			count[at++] = 0;
		if (at == 9)
			break;
		{
			int other = at % 2 ? count[at] : 0;
			const char *letter = letters[other];

			letters[other] = letters[at];
			letters[at] = letter;
			count[at]++;
			at = 1;
		}
	}
	assert_int_equal(total, 362880);
	scene_end(&scene);
}

static void test_a_million_ranks(void **state)
{
	struct map_texts texts = {.map = "nsch", .bind = "1h"};
	struct scene scene;
	struct timespec from, to;

	(void)state;
	scene_machine(&scene, "4096*pack:2 core:64 pu:2");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	assert_int_equal(scene_map(&scene, &texts, 1 << 20), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_int_equal(scene.job.nplaces, 1 << 20);
	assert_int_equal(scene.job.places[4096].node, 0);
	assert_int_equal(scene.job.places[4096].pu, 128);
	print_message("a million ranks on 4,096 nodes: %.3f s\n",
		      (double)(to.tv_sec - from.tv_sec) +
			      1e-9 * (double)(to.tv_nsec - from.tv_nsec));
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_socket),
		cmocka_unit_test(test_by_core),
		cmocka_unit_test(test_by_node),
		cmocka_unit_test(test_limit_by_socket),
		cmocka_unit_test(test_two_limits),
		cmocka_unit_test(test_limit_by_core),
		cmocka_unit_test(test_several_cores),
		cmocka_unit_test(test_different_nodes),
		cmocka_unit_test(test_threads_in_turn),
		cmocka_unit_test(test_numa_bindings),
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_applications),
		cmocka_unit_test(test_ranks_by),
		cmocka_unit_test(test_cpusets),
		cmocka_unit_test(test_levels_that_lack),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_simulated_hosts),
		cmocka_unit_test(test_all_orders),
		cmocka_unit_test(test_a_million_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
