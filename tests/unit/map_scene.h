/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_MAP_SCENE_H
#define ORR_TESTS_MAP_SCENE_H

/*
 * map_scene.h - for tests of src/map: machines in a line of text, maps as text.
 *
 * A machine is "COUNT*TOPOLOGY; COUNT*TOPOLOGY ...", topologies as hwloc's synthetic
 * descriptions.  Nodes are named n0, n1, ...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "map/lama.h"
#include "map/rankfile.h"
#include "map/report.h"
#include "map/source.h"

struct scene {
	struct map_machine machine;
	struct map_rules rules;
	struct map_job job;
	struct map_says says;
	char *text; /* of the last report */
};

static inline void scene_machine(struct scene *scene, const char *machine)
{
	char copy[1024], name[16], *save = NULL;

	*scene = (struct scene){0};
	snprintf(copy, sizeof(copy), "%s", machine);
	for (char *kind = strtok_r(copy, ";", &save); kind;
	     kind = strtok_r(NULL, ";", &save)) {
		char *topology;
		int count = (int)strtol(kind, &topology, 10);
		struct map_tree *tree = NULL;

		assert_int_equal(source_read(topology + 1, &tree, &scene->says), 0);
		machine_add_tree(&scene->machine, tree);
		for (int i = 0; i < count; i++) {
			snprintf(name, sizeof(name), "n%d", scene->machine.nnodes);
			machine_add_node(&scene->machine, name);
		}
	}
}

/* Reads the rules and opens the job; 0 or an error, whose sentence is in says. */
static inline int scene_open(struct scene *scene, const struct map_texts *texts)
{
	int ret;

	scene->says.text[0] = '\0';
	ret = rules_read(&scene->rules, texts, &scene->says);
	return ret < 0 ? ret
		       : map_open(&scene->job, &scene->machine, &scene->rules,
				  &scene->says);
}

/* Opens, maps np processes (0: as many as fit) and ranks them. */
static inline int scene_map(struct scene *scene, const struct map_texts *texts, int np)
{
	int ret = scene_open(scene, texts);

	if (ret == 0)
		ret = np ? map_application(&scene->job, np, &scene->says)
			 : map_fill(&scene->job, &scene->says);
	if (ret == 0)
		map_rank(&scene->job);
	return ret;
}

static inline const char *scene_report(struct scene *scene,
				       void (*report)(const struct map_job *, FILE *))
{
	size_t bytes;
	FILE *out;

	free(scene->text);
	scene->text = NULL;
	out = open_memstream(&scene->text, &bytes);
	report(&scene->job, out);
	fclose(out);
	return scene->text;
}

static inline void scene_end_map(struct scene *scene)
{
	map_close(&scene->job);
}

static inline void scene_end(struct scene *scene)
{
	map_close(&scene->job);
	machine_free(&scene->machine);
	free(scene->text);
}

#endif
