/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map_scene.h"

#include <unistd.h>

/* What src/map reads and writes: rules, topologies, rankfiles. */

static const char *source_dir(void)
{
	const char *top = getenv("ORRERY_SRC");

	return top ? top : ".";
}

/* ---- Rules ---- */

static void refuses_rules(struct map_texts texts, const char *expected)
{
	struct map_says says = {""};
	struct map_rules rules;

	assert_int_not_equal(rules_read(&rules, &texts, &says), 0);
	says.text[strnlen(says.text, strlen(expected))] = '\0';
	assert_string_equal(says.text, expected);
}

#define TEXTS(...)                                                                       \
	(struct map_texts)                                                               \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

static void test_bad_rules(void **state)
{
	(void)state;
	refuses_rules(TEXTS(.map = "csL"),
		      "map \"csL\": letter L at position 3 lacks its digit; expected L1, "
		      "L2 or L3");
	refuses_rules(TEXTS(.map = "csL4nh"), "map \"csL4nh\": letter L at position 3");
	refuses_rules(TEXTS(.map = "cc sbnh"),
		      "map \"cc sbnh\": letter c stands at position 1 and again at "
		      "position 2; ");
	refuses_rules(TEXTS(.map = "cs bnh"), "map \"cs bnh\": unknown letter ' ' at "
					      "position 3; expected n, b, s, N, L3");
	refuses_rules(TEXTS(.map = "csb"),
		      "map \"csb\" lacks the letter n (node) at position 4, its end; ");
	refuses_rules(TEXTS(.map = "csbn"), "map \"csbn\" lacks the letter h");
	refuses_rules(TEXTS(.map = ""), "map \"\" lacks the letter n");
	refuses_rules(TEXTS(.map = "csnh", .bind = "1N"),
		      "map \"csnh\" lacks the letter N");
	refuses_rules(TEXTS(.bind = "2"),
		      "bind \"2\": no letter at position 2; expected ");
	refuses_rules(TEXTS(.bind = "c"),
		      "bind \"c\": no number at position 1; expected ");
	refuses_rules(TEXTS(.bind = "0c"), "bind \"0c\": no number at position 1; ");
	refuses_rules(TEXTS(.bind = "1c2s"), "bind \"1c2s\": \"2s\" at position 3 is too "
					     "much; expected one number and one letter");
	refuses_rules(TEXTS(.limits = "1c"),
		      "mppr \"1c\": expected a number and a colon at "
		      "position 2");
	refuses_rules(TEXTS(.limits = "1:c,"), "mppr \"1:c,\": expected a number and a "
					       "colon at position 5");
	refuses_rules(TEXTS(.limits = "1:c,2:c"), "mppr \"1:c,2:c\": letter c is limited "
						  "twice");
	refuses_rules(TEXTS(.limits = "1:x"), "mppr \"1:x\": expected n, b, s");
	refuses_rules(TEXTS(.order = "r"), "order is \"r\"; expected n (natural)");
	refuses_rules(TEXTS(.map_by = "sokcet"),
		      "--map-by is \"sokcet\"; expected one of");
	refuses_rules(TEXTS(.bind_to = "cor"), "--bind-to is \"cor\"; expected none or");
	refuses_rules(TEXTS(.rank_by = "x"), "--rank-by is \"x\"; expected one of slot");
	refuses_rules(TEXTS(.map = "csnh", .map_by = "core"), "map and --map-by exclude");
	refuses_rules(TEXTS(.bind = "1c", .bind_to = "core"),
		      "bind and --bind-to exclude");
	refuses_rules(TEXTS(.order = "n", .rank_by = "core"),
		      "order and --rank-by exclude");
}

static void has_letters(struct map_texts texts, const char *expected)
{
	struct map_says says = {""};
	struct map_rules rules;
	char text[2 * NLEVELS + 1];

	assert_int_equal(rules_read(&rules, &texts, &says), 0);
	rules_letters(&rules, text);
	assert_string_equal(text, expected);
}

static void test_simple_forms(void **state)
{
	(void)state;
	has_letters(TEXTS(.map = NULL), "csbnh");
	has_letters(TEXTS(.map_by = "slot"), "csbnh");
	has_letters(TEXTS(.map_by = "core", .limits = "1:L1,1:L2,1:L3,1:N"),
		    "csL1L2L3Nbnh");
	has_letters(TEXTS(.map_by = "core", .bind_to = "numa"), "csNbnh");
	has_letters(TEXTS(.map_by = "socket"), "sbnch");
	has_letters(TEXTS(.map_by = "socket", .limits = "1:L1,1:L2,1:L3,1:N"),
		    "sL1L2L3Nbnch");
	has_letters(TEXTS(.map_by = "numa"), "Nbnsch");
	has_letters(TEXTS(.map_by = "node"), "nbsch");
	has_letters(TEXTS(.map_by = "hwthread"), "hcsbn");
	has_letters(TEXTS(.map_by = "l3cache"), "L3sNbnL2L1ch");
	has_letters(TEXTS(.map_by = "l2cache"), "L2sNbnL1ch");
	has_letters(TEXTS(.map_by = "l1cache"), "L1sNbnch");
	has_letters(TEXTS(.map_by = "gpu"), "gnch");
	has_letters(TEXTS(.map_by = "core", .bind = "1g"), "csbnhg");
}

/* ---- Sources ---- */

static void test_bad_sources(void **state)
{
	static const char *const texts[] = {"pack:x", "pack:2 cor:3",        "pack:0",
					    "",       "/nowhere/at/all.xml", "host 0 1",
					    "host 4", "/dev/null",           "/"};
	struct map_says says;
	struct map_tree *tree = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		says.text[0] = '\0';
		assert_int_not_equal(source_read(texts[i], &tree, &says), 0);
		assert_memory_equal(says.text, "topology ", 9);
		assert_null(tree);
	}
}

/* All beginnings of a good file are damaged ones, and changed bytes do no harm. */
static void test_damaged_files(void **state)
{
	char name[] = "/tmp/orrery-map-XXXXXX", path[600], whole[8192], copy[8192];
	FILE *file;
	size_t bytes;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/map/gpus.xml", source_dir());
	file = fopen(path, "r");
	assert_non_null(file);
	bytes = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	close(mkstemp(name));
	for (size_t at = 0; at < bytes; at += 97) {
		struct map_says says = {""};
		struct map_tree *tree = NULL;

		for (int cut = 0; cut < 2; cut++) {
			memcpy(copy, whole, bytes);
			copy[at] = '7';
			file = fopen(name, "w");
			fwrite(copy, 1, cut ? at : bytes, file);
			fclose(file);
			tree = NULL;
			if (source_read(name, &tree, &says) < 0)
				assert_memory_equal(says.text, "topology file", 13);
			tree_free(tree);
		}
	}
	unlink(name);
}

static void test_gpus_and_nics(void **state)
{
	struct map_texts texts = {.map_by = "gpu", .bind = "1g", .limits = "1:g"};
	char machine[600];
	struct scene scene;

	(void)state;
	snprintf(machine, sizeof(machine), "1*%s/tests/map/gpus.xml", source_dir());
	scene_machine(&scene, machine);
	assert_int_equal(scene_map(&scene, &texts, 3), 0);
	assert_string_equal(scene_report(&scene, report_bindings),
			    "rank 0 n0 [B/B/./.][./././.]\n"
			    "rank 1 n0 [././B/B][./././.]\n"
			    "rank 2 n0 [./././.][B/B/B/B]\n");
	scene_end_map(&scene);
	assert_int_not_equal(scene_map(&scene, &texts, 4), 0);
	assert_memory_equal(scene.says.text, "mapped 3 of 4", 13);
	scene_end_map(&scene);
	texts = (struct map_texts){.map_by = "nic", .bind_to = "core"};
	assert_int_equal(scene_map(&scene, &texts, 4), 0);
	assert_string_equal(scene_report(&scene, report_ranks),
			    "n0 [0 1 2 3][. . . .]\n");
	scene_end_map(&scene);
	assert_int_not_equal(scene_map(&scene, &texts, 5), 0); /* none is near it */
	scene_end(&scene);
}

static void test_bad_cpusets(void **state)
{
	static const char *const texts[] = {"",    "x",   "0-",    "3-1", "0,,", "-1",
					    "0xg", "0x0", "0-3 5", "8",   "0-8", "0x"};
	struct scene scene;

	(void)state;
	scene_machine(&scene, "1*pack:2 core:4 pu:1");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		scene.says.text[0] = '\0';
		assert_int_not_equal(
			source_allow(&scene.machine.nodes[0], texts[i], &scene.says), 0);
		assert_memory_equal(scene.says.text, "cpuset \"", 8);
	}
	scene_end(&scene);
}

/* ---- Rankfiles ---- */

static const char *write_file(const char *text)
{
	static char name[64];
	int fd;

	strcpy(name, "/tmp/orrery-map-XXXXXX");
	fd = mkstemp(name);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	return name;
}

static int read_rankfile(struct scene *scene, const char *text, int by_thread)
{
	struct map_texts texts = {.map = NULL};
	const char *name = write_file(text);
	int ret;

	scene_end_map(scene);
	assert_int_equal(scene_open(scene, &texts), 0);
	ret = rankfile_read(&scene->job, name, by_thread, &scene->says);
	unlink(name);
	return ret;
}

static void test_rankfile_in(void **state)
{
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:2 core:4 pu:2");
	assert_int_equal(read_rankfile(&scene,
				       "# a comment\n\nrank 2=n1 slot=0,7,2-3\n"
				       "rank 0=n0 slot=1:0-2 # more\n  rank 1 = +n1 "
				       "slot=0:*;1:3\n",
				       0),
			 0);
	assert_string_equal(scene_report(&scene, report_bindings),
			    "rank 0 n0 [../../../..][BB/BB/BB/..]\n"
			    "rank 1 n1 [BB/BB/BB/BB][../../../BB]\n"
			    "rank 2 n1 [BB/../BB/BB][../../../BB]\n");
	assert_string_equal(scene_report(&scene, report_rankfile),
			    "rank 0=n0 slot=4-6\nrank 1=n1 slot=0-3,7\n"
			    "rank 2=n1 slot=0,2-3,7\n");
	assert_int_equal(read_rankfile(&scene, "rank 0=n0 slot=1,4-6\n", 1), 0);
	assert_string_equal(scene_report(&scene, report_bindings),
			    "rank 0 n0 [.B/../BB/B.][../../../..]\n");
	scene_end(&scene);
}

static void test_bad_rankfiles(void **state)
{
	static const char *const texts[] = {
		"",
		"rank 0\n",
		"rank 0=n0\n",
		"rank 0=n0 slot=\n",
		"rank 0=n0 slot=x\n",
		"rank 0=n0 slot=8\n",
		"rank 0=n0 slot=2:0\n",
		"rank 0=n0 slot=0:4\n",
		"rank 0=n0 slot=3-1\n",
		"rank 0=n0 slot=1 2\n",
		"rank 0=n9 slot=0\n",
		"rank 0=+n2 slot=0\n",
		"rank -1=n0 slot=0\n",
		"rank 99999999=n0 slot=0\n",
		"rank 1=n0 slot=0\n",
		"rank 0=n0 slot=0\nrank 0=n0 slot=1\n",
		"rank 0=n0 slot=0,\n",
		"rank 0=n0 slot=99999999999999999999\n",
	};
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:2 core:4 pu:1");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_not_equal(read_rankfile(&scene, texts[i], 0), 0);
		assert_true(strlen(scene.says.text) > 30);
	}
	assert_int_not_equal(rankfile_read(&scene.job, "/nowhere/x", 0, &scene.says), 0);
	assert_memory_equal(scene.says.text, "rankfile /nowhere/x cannot be read", 34);
	scene_end(&scene);
}

/* Written and read again, a map is the same. */
static void test_rankfile_round_trip(void **state)
{
	static const char *const binds[] = {"1c", "2c", "1h", "1s", "3h", "1n"};
	struct scene scene;
	char *bindings, *rankfile;

	(void)state;
	scene_machine(&scene, "2*pack:2 core:4 pu:2;1*pack:1 core:3 pu:2");
	for (size_t i = 0; i < sizeof(binds) / sizeof(binds[0]); i++) {
		struct map_texts texts = {.map = "snch", .bind = binds[i]};

		assert_int_equal(scene_map(&scene, &texts, 6), 0);
		bindings = strdup(scene_report(&scene, report_bindings));
		rankfile = strdup(scene_report(&scene, report_rankfile));
		assert_int_equal(
			read_rankfile(&scene, rankfile, report_splits_cores(&scene.job)),
			0);
		assert_string_equal(scene_report(&scene, report_bindings), bindings);
		scene_end_map(&scene);
		free(bindings);
		free(rankfile);
	}
	scene_end(&scene);
}

static void test_tables(void **state)
{
	struct map_texts texts = {.map = "nsch", .bind = "2c"};
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:2 core:4 pu:2");
	assert_int_equal(scene_map(&scene, &texts, 3), 0);
	assert_string_equal(scene_report(&scene, report_table),
			    "rank,node,socket,core,thread,cpus\n0,n0,0,0,0,\"0-3\"\n"
			    "1,n1,0,0,0,\"0-3\"\n2,n0,1,4,8,\"8-11\"\n");
	assert_string_equal(scene_report(&scene, report_hosts), "n0\nn1\nn0\n");
	assert_string_equal(scene_report(&scene, report_picture),
			    "kind 0:2 0:2 0:2 0:2 1:2 1:2 1:2 1:2\nnode 0 n0\nnode 0 n1\n"
			    "rank 0 0 0-1\nrank 1 0 0-1\nrank 0 4 4-5\n");
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_rules),
		cmocka_unit_test(test_simple_forms),
		cmocka_unit_test(test_bad_sources),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_gpus_and_nics),
		cmocka_unit_test(test_bad_cpusets),
		cmocka_unit_test(test_rankfile_in),
		cmocka_unit_test(test_bad_rankfiles),
		cmocka_unit_test(test_rankfile_round_trip),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
