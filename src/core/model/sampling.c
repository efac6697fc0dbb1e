/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int try_directory(const char *dir, size_t length, const char *name, char *path)
{
	const char *slash = length && dir[length - 1] == '/' ? "" : "/";

	if (!length)
		return 0;
	if (length + strlen(name) + 2 >= SAMPLING_PATH_BYTES - 1)
		return 0;
	snprintf(path, SAMPLING_PATH_BYTES, "%.*s%s%s", (int)length, dir, slash, name);
	return !access(path, F_OK);
}

/* The first of StarPU's places that exists: none is made, and there is no other. */
static const char *home_directory(const struct knobs *knobs)
{
	const char *homes[] = {knobs->xdg_cache_home, knobs->starpu_home, knobs->home};
	struct stat stat_of;

	for (unsigned i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (*homes[i] && !stat(homes[i], &stat_of) && S_ISDIR(stat_of.st_mode))
			return homes[i];
	return NULL;
}

int sampling_find(const struct knobs *knobs, const char *name, char *path)
{
	static const char installed[] = ORRERY_DATADIR "/perfmodels";
	char dir[SAMPLING_PATH_BYTES];
	const char *at = knobs->perf_model_path, *home = home_directory(knobs);

	if (try_directory(knobs->perf_model_dir, strlen(knobs->perf_model_dir), name,
			  path))
		return 0;
	if (home) {
		snprintf(dir, sizeof dir, "%s/.starpu/sampling", home);
		if (try_directory(dir, strlen(dir), name, path))
			return 0;
	}
	while (*at) {
		size_t length = strcspn(at, ":,");

		if (try_directory(at, length, name, path))
			return 0;
		at += length;
		at += strspn(at, ":,");
	}
	return try_directory(installed, strlen(installed), name, path) ? 0 : -ENOENT;
}

/*
 * Make the directory path when make is set, and look at it.  Below one that everybody
 * may write to (*shared), what somebody else has put is refused, and symbolic links are.
 */
static int enter_directory(const char *path, int make, int *shared)
{
	struct stat stat_of;

	if (make && mkdir(path, 0777) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &stat_of) < 0)
		return -errno;
	if (*shared && S_ISLNK(stat_of.st_mode))
		return -ELOOP;
	if (*shared && stat_of.st_uid != geteuid() && stat_of.st_uid != 0)
		return -EPERM;
	if (S_ISLNK(stat_of.st_mode) && stat(path, &stat_of) < 0)
		return -errno;
	if (!S_ISDIR(stat_of.st_mode))
		return -ENOTDIR;
	*shared = (stat_of.st_mode & S_IWOTH) != 0;
	return 0;
}

int sampling_place(const struct knobs *knobs, const char *name, char *path)
{
	const char *home = home_directory(knobs);
	const char *base = *knobs->perf_model_dir ? knobs->perf_model_dir : home;
	int n = 0, shared = 0, status = 0;
	char *slash;

	if (base && strlen(base) + strlen(name) + 64 >= SAMPLING_PATH_BYTES) {
		snprintf(path, SAMPLING_PATH_BYTES, "%.80s...", base);
		return -ENAMETOOLONG;
	}
	if (*knobs->perf_model_dir)
		snprintf(path, SAMPLING_PATH_BYTES, "%s/%s", knobs->perf_model_dir, name);
	else if (home)
		n = snprintf(path, SAMPLING_PATH_BYTES, "%s", home);
	else
		return -ENOENT;
	if (n > 0)
		snprintf(path + n, SAMPLING_PATH_BYTES - n, "/.starpu/sampling/%s", name);
	for (slash = strchr(path + 1, '/'); slash && !status;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		status = enter_directory(path, slash - path > n, &shared);
		if (!status)
			*slash = '/';
	}
	return status;
}
