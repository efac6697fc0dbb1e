/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map_scene.h"

#include <unistd.h>

#include "map/search.h"

/* A better order of the ranks: what is heavy comes near, and nothing gets worse. */

struct files {
	char names[3][32];
	int count;
};

static const char *write_file(struct files *files, const char *text)
{
	char *name = files->names[files->count++];
	int fd;

	strcpy(name, "/tmp/orrery-map-XXXXXX");
	fd = mkstemp(name);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	return name;
}

static void remove_files(struct files *files)
{
	while (files->count > 0)
		unlink(files->names[--files->count]);
}

static int search(struct scene *scene, const char *matrix, const char *distances,
		  struct search_result *result)
{
	struct files files = {.count = 0};
	struct search_files names = {.matrix = write_file(&files, matrix)};
	int ret;

	if (distances)
		names.distances = write_file(&files, distances);
	ret = map_search(&scene->job, &names, result, &scene->says);
	remove_files(&files);
	return ret;
}

/* Ranks 0 and 3, 1 and 2 talk: each pair gets a node. */
static void test_pairs_come_together(void **state)
{
	struct map_texts texts = {.map = "csnh"};
	struct search_result result;
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:1 core:2 pu:1");
	assert_int_equal(scene_map(&scene, &texts, 4), 0);
	assert_int_equal(search(&scene,
				"# some\nfrom,to,bytes\n0,3,100\n3,0,50\n1,2,70\n", NULL,
				&result),
			 0);
	assert_true(result.before == 10 * 220.0);
	assert_true(result.after == 1.5 * 220.0);
	assert_int_equal(scene.job.places[0].node, scene.job.places[3].node);
	assert_int_equal(scene.job.places[1].node, scene.job.places[2].node);
	scene_end(&scene);
}

/* Nodes 0 and 3 are near to each other, so are 1 and 2. */
static void test_distances_of_nodes_count(void **state)
{
	struct map_texts texts = {.map = "nch"};
	struct search_result result;
	struct scene scene;

	(void)state;
	scene_machine(&scene, "4*core:1 pu:1");
	assert_int_equal(scene_map(&scene, &texts, 4), 0);
	assert_int_equal(search(&scene, "0,1,10\n2,3,10\n",
				"0 9 9 1\n9 0 1 9\n9 1 0 9\n1 9 9 0\n", &result),
			 0);
	assert_true(result.after < result.before / 8);
	assert_int_equal(scene.job.places[0].node + scene.job.places[1].node, 3);
	scene_end(&scene);
}

/* A torus whose ranks are shuffled over 16 nodes of 16 cores; twice the same answer. */
static void test_grid(void **state)
{
	enum { SIDE = 16, N = SIDE * SIDE };
	struct map_texts texts = {.map = "csnh"};
	struct search_result result[2];
	char *matrix = malloc(N * 2 * 32), *at = matrix;
	struct scene scene;

	(void)state;
	for (int i = 0; i < N; i++) {
		int right = i / SIDE * SIDE + (i + 1) % SIDE, below = (i + SIDE) % N;

		at += sprintf(at, "%d,%d,8\n", i * 37 % N, right * 37 % N);
		at += sprintf(at, "%d,%d,8\n", i * 37 % N, below * 37 % N);
	}
	scene_machine(&scene, "16*pack:2 core:8 pu:1");
	for (int i = 0; i < 2; i++) {
		scene_end_map(&scene);
		assert_int_equal(scene_map(&scene, &texts, N), 0);
		assert_int_equal(search(&scene, matrix, NULL, &result[i]), 0);
	}
	/* Squares of 4 x 4 leave half of the edges within a node. */
	assert_true(result[0].after < 0.66 * result[0].before);
	assert_true(result[0].after == result[1].after);
	free(matrix);
	scene_end(&scene);
}

/* More ranks than are looked at one by one: rings of eight, each of which finds a node.
 */
static void test_many_ranks(void **state)
{
	enum { NODES = 640, CORES = 8, N = NODES * CORES };
	struct map_texts texts = {.map = "csnh"};
	char *matrix = malloc(N * 32), *at = matrix;
	struct search_result result;
	struct scene scene;

	(void)state;
	for (int i = 0; i < N; i++)
		at += sprintf(at, "%d,%d,8\n", i, (i + NODES) % N);
	scene_machine(&scene, "640*core:8 pu:1");
	assert_int_equal(scene_map(&scene, &texts, N), 0);
	assert_int_equal(search(&scene, matrix, NULL, &result), 0);
	assert_true(result.before == N * 8 * 10.0);
	assert_true(result.after == N * 8 * 1.5);
	free(matrix);
	scene_end(&scene);
}

static void test_nothing_gets_worse(void **state)
{
	struct map_texts texts = {.map = "csnh"};
	struct search_result result;
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:1 core:2 pu:1");
	assert_int_equal(scene_map(&scene, &texts, 4), 0);
	assert_int_equal(search(&scene, "0,1,10\n2,3,10\n1,1,99\n0,3,0\n", NULL, &result),
			 0);
	assert_true(result.after == result.before);
	assert_string_equal(scene_report(&scene, report_ranks), "n0 [0 1]\nn1 [2 3]\n");
	scene_end(&scene);
}

static void test_an_attempt_that_is_given(void **state)
{
	struct map_texts texts = {.map = "csnh"};
	struct files files = {.count = 0};
	struct search_files names = {.matrix = write_file(&files, "0,3,1\n1,2,1\n")};
	struct search_result result;
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:1 core:2 pu:1");
	assert_int_equal(scene_map(&scene, &texts, 4), 0);
	names.first = write_file(&files, "2\n0\n1\n3\n");
	assert_int_equal(map_search(&scene.job, &names, &result, &scene.says), 0);
	assert_string_equal(scene_report(&scene, report_ranks), "n0 [1 2]\nn1 [0 3]\n");
	names.first = write_file(&files, "0\n1\n1\n3\n");
	assert_int_not_equal(map_search(&scene.job, &names, &result, &scene.says), 0);
	remove_files(&files);
	scene_end(&scene);
}

static void test_bad_files(void **state)
{
	static const char *const texts[] = {
		"",         "from,to,bytes\n", "0,1\n",     "0,4,1\n",   "-1,0,1\n",
		"0,1,-5\n", "a,b,c\n",         "0,1,2,3\n", "0,1,nan\n", "0,1,inf\n"};
	static const char *const distances[] = {"", "0 1 1\n", "0 1 x 0\n", "0 -1 -1 0\n",
						"0 nan 1 0\n"};
	struct map_texts rules = {.map = "csnh"};
	struct search_result result;
	struct scene scene;

	(void)state;
	scene_machine(&scene, "2*pack:1 core:2 pu:1");
	assert_int_equal(scene_map(&scene, &rules, 4), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		scene.says.text[0] = '\0';
		assert_int_not_equal(search(&scene, texts[i], NULL, &result), 0);
		assert_true(strstr(scene.says.text, "expected") != NULL);
	}
	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++)
		assert_int_not_equal(search(&scene, "0,1,1\n", distances[i], &result), 0);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_come_together),
		cmocka_unit_test(test_distances_of_nodes_count),
		cmocka_unit_test(test_grid),
		cmocka_unit_test(test_many_ranks),
		cmocka_unit_test(test_nothing_gets_worse),
		cmocka_unit_test(test_an_attempt_that_is_given),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
