/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "fake.h"
#include "scenes.h"

/* The scenes on the fake: one thread plays all nodes in turn. */

static int play_scene(struct actor *actors, int size, const struct scene *scene)
{
	int nfailed = 0;

	for (int i = 0; i < size; i++) {
		fake_select(i);
		actor_prepare(&actors[i], scene);
	}
	for (int i = 0; i < size; i++) {
		fake_select(i);
		actor_start(&actors[i]);
	}
	for (int i = 0; i < size; i++) {
		fake_select(i);
		actor_finish(&actors[i]);
		if (!actors[i].why[0])
			continue;
		printf("FAIL %s: rank %d of %d: %s\n", scene->name, i, size,
		       actors[i].why);
		nfailed++;
	}
	if (!nfailed)
		printf("PASS %s (%d nodes)\n", scene->name, size);
	return nfailed;
}

static int play(int size)
{
	const struct scene *lists[] = {plat_scenes, net_scenes, bulk_scenes};
	struct actor *actors = orr_alloc_lines((size_t)size * sizeof(*actors));
	int nfailed = 0;

	fake_start(size, 1e-6, 1e9);
	for (int i = 0; i < size; i++) {
		fake_select(i);
		if (actor_open(&actors[i], i, size, NULL) < 0)
			orr_die(i, "the fake does not open");
	}
	for (int list = 0; list < 3; list++)
		for (const struct scene *scene = lists[list]; scene->name; scene++)
			if (scene->min_nodes <= size)
				nfailed += play_scene(actors, size, scene);
	for (int i = 0; i < size; i++) {
		fake_select(i);
		actor_close(&actors[i]);
	}
	fake_stop();
	free(actors);
	return nfailed;
}

int main(void)
{
	return play(1) + play(2) + play(5) ? 1 : 0;
}
