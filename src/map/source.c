/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/source.h"

#include <errno.h>
#include <hwloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "map/devices.h"

enum { MAX_PUS = 1 << 20, MAX_LOAD_S = 60 };

/* ---- hwloc's topology ---- */

static int is_synthetic(const char *text)
{
	hwloc_obj_type_t type;
	const char *colon = strchr(text, ':'), *at = text;
	char word[32];

	while (*at == ' ')
		at++;
	if (!colon || colon - at >= (long)sizeof(word) || strchr(text, '/'))
		return 0;
	snprintf(word, sizeof(word), "%.*s", (int)(colon - at), at);
	word[strcspn(word, "(")] = '\0';
	return hwloc_type_sscanf(word, &type, NULL, 0) == 0;
}

static int make_topology(hwloc_topology_t *topology)
{
	if (hwloc_topology_init(topology) < 0)
		return -1;
	hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_GROUP,
				       HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	return 0;
}

static void try_file(const char *path)
{
	const int deaths[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM};
	hwloc_topology_t topology;

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
		signal(deaths[i], SIG_DFL);
	alarm(MAX_LOAD_S);
	if (make_topology(&topology) == 0 && hwloc_topology_set_xml(topology, path) == 0)
		hwloc_topology_load(topology);
	_exit(0);
}

/* hwloc may not survive a damaged file, so a child of ours tries it first. */
static int survives(const char *path)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return 1;
	if (child == 0)
		try_file(path);
	return waitpid(child, &status, 0) != child || WIFEXITED(status);
}

static int set_file(hwloc_topology_t topology, const char *path, struct map_says *says)
{
	if (access(path, R_OK) != 0)
		return map_refuse(says,
				  "topology file %s cannot be read: %s; make one with "
				  "\"lstopo FILE.xml\", or describe the machine, such as "
				  "\"pack:2 core:4 pu:2\"",
				  path, strerror(errno));
	return survives(path) ? hwloc_topology_set_xml(topology, path) : -1;
}

static int set_source(hwloc_topology_t topology, const char *text, struct map_says *says)
{
	if (strcmp(text, "live") == 0)
		return 0;
	if (is_synthetic(text))
		return hwloc_topology_set_synthetic(topology, text);
	return set_file(topology, text, says);
}

static int load(hwloc_topology_t *topology, const char *text, struct map_says *says)
{
	setenv("HWLOC_HIDE_ERRORS", "2", 1);
	if (make_topology(topology) < 0)
		return map_refuse(says, "hwloc cannot be used: %s", strerror(errno));
	if (set_source(*topology, text, says) == 0 && hwloc_topology_load(*topology) == 0)
		return 0;
	hwloc_topology_destroy(*topology);
	if (says->text[0])
		return -EINVAL;
	return map_refuse(
		says,
		is_synthetic(text)
			? "topology \"%s\" is not understood; expected types and "
			  "counts as hwloc writes them, such as \"pack:2 numa:1 "
			  "l3:1 core:4 pu:2\""
			: "topology file %s is damaged or no XML of hwloc; make "
			  "it anew with \"lstopo FILE.xml\"",
		text);
}

/* ---- One level ---- */

/* Pieces of the row of PUs. */
struct pieces {
	int n, *firsts, *counts;
};

/* The PUs of a set in the row; 0: they do not stand together, or there are none. */
static int row_of(hwloc_topology_t topology, hwloc_const_cpuset_t set, int *first)
{
	int count =
		set ? hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU)
		    : 0;
	hwloc_obj_t pu, last;

	if (count <= 0)
		return 0;
	pu = hwloc_get_obj_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU, 0);
	last = hwloc_get_obj_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU,
						   (unsigned)count - 1);
	*first = (int)pu->logical_index;
	return (int)last->logical_index == *first + count - 1 ? count : 0;
}

/* Of nested objects of one type, and of those with the same PUs, the first one counts. */
static void add_piece(struct pieces *pieces, int first, int count)
{
	int n = pieces->n;

	if (count == 0 ||
	    (n > 0 && first < pieces->firsts[n - 1] + pieces->counts[n - 1]))
		return;
	pieces->firsts[n] = first;
	pieces->counts[n] = count;
	pieces->n++;
}

static hwloc_obj_type_t type_of(enum map_level level)
{
	static const hwloc_obj_type_t types[NLEVELS] = {
		[LEVEL_NODE] = HWLOC_OBJ_MACHINE,   [LEVEL_BOARD] = HWLOC_OBJ_GROUP,
		[LEVEL_SOCKET] = HWLOC_OBJ_PACKAGE, [LEVEL_NUMA] = HWLOC_OBJ_NUMANODE,
		[LEVEL_L3] = HWLOC_OBJ_L3CACHE,     [LEVEL_L2] = HWLOC_OBJ_L2CACHE,
		[LEVEL_L1] = HWLOC_OBJ_L1CACHE,     [LEVEL_CORE] = HWLOC_OBJ_CORE,
		[LEVEL_THREAD] = HWLOC_OBJ_PU,
	};

	return types[level];
}

/* A group is a board when it holds sockets. */
static int is_board(hwloc_topology_t topology, hwloc_obj_t group)
{
	return hwloc_get_nbobjs_inside_cpuset_by_type(topology, group->cpuset,
						      HWLOC_OBJ_PACKAGE) > 0;
}

/* Sorts pieces: from left to right, the larger ones first. */
static int compare_rows(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return x[0] != y[0] ? x[0] - y[0] : y[1] - x[1];
}

/* Adds the rows of the objects at one depth of the topology; how many there are now. */
static int list_depth(hwloc_topology_t topology, int depth, int (*rows)[2], int n)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_depth(topology, depth, object))) {
		int first = 0;

		if (object->type == HWLOC_OBJ_GROUP && !is_board(topology, object))
			continue;
		rows[n][1] = row_of(topology, object->cpuset, &first);
		rows[n++][0] = first;
	}
	return n;
}

/* Rows of all objects of a type, sorted; groups stand at several depths. */
static int list_rows(hwloc_topology_t topology, hwloc_obj_type_t type, int (*rows)[2])
{
	int n = 0;

	if (type == HWLOC_OBJ_NUMANODE)
		n = list_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE, rows, n);
	for (int depth = 0; depth < hwloc_topology_get_depth(topology); depth++)
		if (hwloc_get_depth_type(topology, depth) == type)
			n = list_depth(topology, depth, rows, n);
	qsort(rows, (size_t)n, sizeof(*rows), compare_rows);
	return n;
}

static size_t count_objects(hwloc_topology_t topology)
{
	size_t n = hwloc_get_nbobjs_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE);

	for (int depth = 0; depth < hwloc_topology_get_depth(topology); depth++)
		n += hwloc_get_nbobjs_by_depth(topology, depth);
	return n;
}

/* A machine without cores or sockets of its own has one of each thread, or of all. */
static void find_pieces(hwloc_topology_t topology, enum map_level level,
			struct pieces *pieces)
{
	int(*rows)[2] = orr_alloc(count_objects(topology) * sizeof(*rows)), n = 0;

	if (level != LEVEL_GPU && level != LEVEL_NIC)
		n = list_rows(topology, type_of(level), rows);
	if (n == 0 && level == LEVEL_CORE)
		n = list_rows(topology, HWLOC_OBJ_PU, rows);
	if (n == 0 && level == LEVEL_SOCKET)
		n = list_rows(topology, HWLOC_OBJ_MACHINE, rows);
	for (int i = 0; i < n; i++)
		add_piece(pieces, rows[i][0], rows[i][1]);
	free(rows);
}

/* ---- The tree ---- */

static void fill_pus(hwloc_topology_t topology, int is_live, struct map_tree *tree)
{
	hwloc_const_cpuset_t seen = hwloc_topology_get_allowed_cpuset(topology);
	hwloc_bitmap_t allowed = hwloc_bitmap_dup(seen), bound = hwloc_bitmap_alloc();

	if (is_live && hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0)
		hwloc_bitmap_and(allowed, allowed, bound);
	for (int i = 0; i < tree->npus; i++) {
		hwloc_obj_t pu =
			hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)i);

		tree->pus[i] = (struct map_pu){
			.os = pu->os_index,
			.is_allowed = (char)hwloc_bitmap_isset(allowed, pu->os_index),
			.is_hidden = (char)!hwloc_bitmap_isset(seen, pu->os_index)};
	}
	hwloc_bitmap_free(allowed);
	hwloc_bitmap_free(bound);
}

static struct map_tree *make_tree(hwloc_topology_t topology, int is_live)
{
	int npus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	struct map_tree *tree = tree_make(npus);
	struct pieces pieces;
	size_t bytes = (count_objects(topology) + (size_t)npus) * sizeof(int);

	fill_pus(topology, is_live, tree);
	pieces.firsts = orr_alloc(bytes);
	pieces.counts = orr_alloc(bytes);
	for (int i = 0; i < NLEVELS; i++) {
		pieces.n = 0;
		if (i == LEVEL_GPU || i == LEVEL_NIC)
			pieces.n = devices_near(topology, i == LEVEL_GPU, pieces.firsts,
						pieces.counts);
		else
			find_pieces(topology, (enum map_level)i, &pieces);
		tree_cut(tree, (enum map_level)i, pieces.n, pieces.firsts, pieces.counts);
	}
	free(pieces.firsts);
	free(pieces.counts);
	return tree;
}

/* A host of a simulation: "host CORES GPUS". */
static struct map_tree *read_host(const char *text)
{
	int ncores, ngpus, length = 0;

	if (sscanf(text, "host %d %d%n", &ncores, &ngpus, &length) < 2 || text[length] ||
	    ncores < 1 || ncores > MAX_PUS || ngpus < 0 || ngpus > MAX_PUS)
		return NULL;
	return tree_simple(1, ncores, 1, ngpus);
}

int source_read(const char *text, struct map_tree **tree, struct map_says *says)
{
	hwloc_topology_t topology;

	*tree = read_host(text);
	if (*tree)
		return 0;
	if (load(&topology, text, says) < 0)
		return -EINVAL;
	*tree = make_tree(topology, strcmp(text, "live") == 0);
	hwloc_topology_destroy(topology);
	return 0;
}

/* ---- What a user allows ---- */

int source_allow(struct map_node *node, const char *text, struct map_says *says)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	const struct map_tree *tree = node->tree;
	int is_mask = strncmp(text, "0x", 2) == 0, known = 0, wanted;

	if (!*text ||
	    strspn(text, is_mask ? "0123456789abcdefABCDEFx," : "0123456789-,") !=
		    strlen(text) ||
	    (is_mask ? hwloc_bitmap_sscanf(set, text)
		     : hwloc_bitmap_list_sscanf(set, text)) < 0 ||
	    hwloc_bitmap_weight(set) <= 0) {
		hwloc_bitmap_free(set);
		return map_refuse(
			says,
			"cpuset \"%s\" is not understood; expected numbers of "
			"hardware threads such as 0-3,8, or a mask such as 0xff",
			text);
	}
	wanted = hwloc_bitmap_weight(set);
	free(node->allowed);
	node->allowed = orr_alloc((size_t)tree->npus);
	for (int i = 0; i < tree->npus; i++) {
		int is_set = hwloc_bitmap_isset(set, tree->pus[i].os);

		known += is_set;
		node->allowed[i] = (char)(is_set && tree->pus[i].is_allowed);
	}
	hwloc_bitmap_free(set);
	if (known < wanted)
		return map_refuse(says,
				  "cpuset \"%s\": node %s has only %d of its %d hardware "
				  "threads; name threads that the node has",
				  text, node->name, known, wanted);
	return 0;
}
