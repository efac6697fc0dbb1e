/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/level.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *letter, *name, *word;
} levels[NLEVELS] = {
	[LEVEL_NODE] = {"n", "node", "node"},
	[LEVEL_BOARD] = {"b", "board", "board"},
	[LEVEL_SOCKET] = {"s", "socket", "socket"},
	[LEVEL_NUMA] = {"N", "NUMA node", "numa"},
	[LEVEL_GPU] = {"g", "GPU", "gpu"},
	[LEVEL_NIC] = {"i", "network interface", "nic"},
	[LEVEL_L3] = {"L3", "L3 cache", "l3cache"},
	[LEVEL_L2] = {"L2", "L2 cache", "l2cache"},
	[LEVEL_L1] = {"L1", "L1 cache", "l1cache"},
	[LEVEL_CORE] = {"c", "core", "core"},
	[LEVEL_THREAD] = {"h", "hardware thread", "hwthread"},
};

int map_refuse(struct map_says *says, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(says->text, sizeof(says->text), format, args);
	va_end(args);
	return -EINVAL;
}

const char *level_letter(enum map_level level)
{
	return levels[level].letter;
}

const char *level_name(enum map_level level)
{
	return levels[level].name;
}

enum map_level level_of_word(const char *word)
{
	for (int i = 0; i < NLEVELS; i++)
		if (strcmp(word, levels[i].word) == 0)
			return (enum map_level)i;
	return NLEVELS;
}

const char *level_words(void)
{
	return "slot, hwthread, core, l1cache, l2cache, l3cache, numa, socket, "
	       "board, node, gpu, nic";
}

enum map_level level_parse(const char **at)
{
	for (int i = 0; i < NLEVELS; i++) {
		size_t length = strlen(levels[i].letter);

		if (strncmp(*at, levels[i].letter, length) == 0) {
			*at += length;
			return (enum map_level)i;
		}
	}
	return NLEVELS;
}
