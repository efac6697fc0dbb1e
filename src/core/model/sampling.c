/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/sampling.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int visit(const char *dir, size_t length, sampling_visit *visitor, void *arg)
{
	char path[SAMPLING_PATH_BYTES];

	if (!length || length >= sizeof(path) - 1)
		return 0;
	snprintf(path, sizeof(path), "%.*s%s", (int)length, dir,
		 dir[length - 1] == '/' ? "" : "/");
	return visitor(arg, path);
}

int sampling_each(const struct knobs *knobs, sampling_visit *visitor, void *arg)
{
	static const char installed[] = ORRERY_DATADIR "/perfmodels";
	const char *at = knobs->perf_model_path, *home = home_directory(knobs);
	char dir[SAMPLING_PATH_BYTES];
	int ret =
		visit(knobs->perf_model_dir, strlen(knobs->perf_model_dir), visitor, arg);

	if (!ret && home) {
		snprintf(dir, sizeof dir, "%s/.starpu/sampling", home);
		ret = visit(dir, strlen(dir), visitor, arg);
	}
	while (!ret && *at) {
		size_t length = strcspn(at, ":,");

		ret = visit(at, length, visitor, arg);
		at += length;
		at += strspn(at, ":,");
	}
	return ret ? ret : visit(installed, strlen(installed), visitor, arg);
}

/* Below a directory: nothing that an application calls a model leads out of it. */
static void keep_below(char *name)
{
	for (char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
			memset(part, '_', 2);
	}
}

struct wanted {
	const char *name;
	char *path;
};

static int has_it(void *arg, const char *dir)
{
	const struct wanted *wanted = arg;

	if (snprintf(wanted->path, SAMPLING_PATH_BYTES, "%s%s", dir, wanted->name) >=
	    SAMPLING_PATH_BYTES)
		return 0;
	keep_below(wanted->path + strlen(dir));
	return !access(wanted->path, F_OK);
}

int sampling_find(const struct knobs *knobs, const char *name, char *path)
{
	struct wanted wanted = {name, path};

	return sampling_each(knobs, has_it, &wanted) ? 0 : -ENOENT;
}

/* ---- a model that is nowhere ----------------------------------------- */

struct absence {
	const char *symbol, *host;
	char *text;
	size_t bytes, length;
	char remedy[SAMPLING_PATH_BYTES]; /* "": none is known */
};

static void say(struct absence *absence, const char *before, const char *words)
{
	size_t room = absence->bytes - absence->length;
	int n = snprintf(absence->text + absence->length, room, "%s%s", before, words);

	absence->length += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* The model as another machine has it. */
static void look_for_others(struct absence *absence, const char *dir)
{
	size_t length = strlen(absence->symbol);
	char path[SAMPLING_PATH_BYTES];
	const struct dirent *entry;
	DIR *names;

	snprintf(path, sizeof(path), "%.*scodelets/45", SAMPLING_PATH_BYTES / 2, dir);
	names = opendir(path);
	while (names && !*absence->remedy && (entry = readdir(names)))
		if (!strncmp(entry->d_name, absence->symbol, length) &&
		    entry->d_name[length] == '.' && entry->d_name[length + 1])
			snprintf(absence->remedy, sizeof(absence->remedy),
				 "%.*s/%s is there: STARPU_HOSTNAME=%s takes it",
				 SAMPLING_PATH_BYTES / 2, path, entry->d_name,
				 entry->d_name + length + 1);
	if (names)
		closedir(names);
}

static int look_around(void *arg, const char *dir)
{
	static const char *const misplaced[] = {"", "45/", "44/"};
	struct absence *absence = arg;
	char path[SAMPLING_PATH_BYTES];

	say(absence, absence->text[absence->length - 1] == ':' ? " " : ", ", dir);
	if (access(dir, F_OK) < 0)
		say(absence, "", " (does not exist)");
	for (unsigned i = 0; i < sizeof(misplaced) / sizeof(misplaced[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s%.255s.%.255s",
			 SAMPLING_PATH_BYTES / 2, dir, misplaced[i], absence->symbol,
			 absence->host);
		if (!*absence->remedy && !access(path, F_OK))
			snprintf(absence->remedy, sizeof(absence->remedy),
				 "%.*s is there: name the directory in which it is below "
				 "codelets/45",
				 SAMPLING_PATH_BYTES / 2, path);
	}
	look_for_others(absence, dir);
	return 0;
}

void sampling_absent(const struct knobs *knobs, const char *symbol, const char *host,
		     char *text, size_t bytes)
{
	struct absence absence = {
		.symbol = symbol, .host = host, .text = text, .bytes = bytes};

	if (!*host) {
		say(&absence, "none, as the machine has no name for models: say ",
		    "cpu_model or gpu_model of its nodes, or set STARPU_HOSTNAME");
		return;
	}
	say(&absence, "none; looked for codelets/45/", symbol);
	say(&absence, strchr(symbol, '.') ? "" : ".", strchr(symbol, '.') ? "" : host);
	say(&absence, " in",
	    " STARPU_PERF_MODEL_DIR, STARPU_HOME and "
	    "STARPU_PERF_MODEL_PATH:");
	sampling_each(knobs, look_around, &absence);
	if (*absence.remedy)
		say(&absence, "; ", absence.remedy);
}

/* ---------------------------------------------------------------------- */

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
	keep_below(path + strlen(path) - strlen(name));
	for (slash = strchr(path + 1, '/'); slash && !status;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		status = enter_directory(path, slash - path > n, &shared);
		if (!status)
			*slash = '/';
	}
	return status;
}
