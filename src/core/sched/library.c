/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "core/sched/library.h"

#include <dlfcn.h>
#include <stdint.h>

#include "base/check.h"

typedef struct starpu_sched_policy *(*find_t)(const char *name);
typedef struct starpu_sched_policy **(*list_t)(void);

static const char find_name[] = "starpu_get_sched_lib_policy",
		  list_name[] = "starpu_get_sched_lib_policies";

/* SimGrid opens programs privately, and so our functions, which a library finds that is
 * not linked with us only when everybody may. */
static void show_ours(void)
{
	Dl_info ours;
	void *object;

	if (!dladdr((void *)(uintptr_t)library_open, &ours) || !ours.dli_fname)
		return;
	object = dlopen(ours.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
	if (object)
		dlclose(object);
}

void library_open(struct node *node)
{
	const char *path = node_knobs(node)->sched_lib;

	if (!path || !*path)
		return;
	node->sched_library = dlopen(path, RTLD_NOW);
	if (!node->sched_library) {
		show_ours();
		node->sched_library = dlopen(path, RTLD_NOW);
	}
	if (!node->sched_library) {
		orr_complain(node->rank,
			     "STARPU_SCHED_LIB: %s; expected a library of scheduling "
			     "policies; going on without it",
			     dlerror());
		return;
	}
	if (!dlsym(node->sched_library, find_name) &&
	    !dlsym(node->sched_library, list_name))
		orr_complain(node->rank,
			     "STARPU_SCHED_LIB: library \"%s\" exports neither %s() nor "
			     "%s(), so none of its policies is found",
			     path, find_name, list_name);
}

struct starpu_sched_policy *library_find(const struct node *node, const char *name)
{
	find_t find;

	if (!node->sched_library)
		return NULL;
	find = (find_t)(uintptr_t)dlsym(node->sched_library, find_name);
	return find ? find(name) : NULL;
}

void library_list(const struct node *node, FILE *file)
{
	struct starpu_sched_policy **policies;
	list_t list;

	if (!node->sched_library)
		return;
	list = (list_t)(uintptr_t)dlsym(node->sched_library, list_name);
	policies = list ? list() : NULL;
	for (; policies && *policies; policies++)
		fprintf(file, "  %-8s %s\n", (*policies)->policy_name,
			(*policies)->policy_description ? (*policies)->policy_description
							: "");
}
