/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/model/model_own.h"
#include "core/model/model_samples.h"
#include "core/model/sampling.h"

#define CODELETS     "codelets/45/"
#define OLD_CODELETS "codelets/44/"

/* Of the watchdog, until who has the files locked counts as standing still. */
enum { LOCK_LIMITS = 6 };

enum { PATH_BYTES = SAMPLING_PATH_BYTES, HOST_BYTES = 512, MAX_HOSTS = 2 };

struct model_store {
	const struct knobs *knobs; /* borrowed from the world */
	struct orr_lock lock;      /* of files and states */
	struct model_file *files;
	struct table states; /* by the address of their node: lists of them */
	int told;            /* that measurements cannot be saved */
	int gave_up;         /* atomic: somebody keeps them locked */
	int nplaces;         /* made for measurements since the files were read; atomic */
};

struct model_store *model_store_new(const struct knobs *knobs)
{
	struct model_store *store = orr_alloc(sizeof *store);

	store->knobs = knobs;
	orr_lock_init(&store->lock);
	return store;
}

static void file_free(struct model_file *file)
{
	model_data_clear(&file->data);
	free(file->name);
	free(file);
}

/* Models are the application's and may be gone: only the states of open nodes may
 * be told, and model_store_save() did so as each closed. */
void model_store_free(struct model_store *store)
{
	struct _starpu_perfmodel_state *state, *next_state;
	struct model_file *next;
	size_t cursor = 0;

	if (!store)
		return;
	while ((state = table_next(&store->states, &cursor)))
		for (; state; state = next_state) {
			next_state = state->next;
			model_own_clear(state);
			free(state->answers);
			free(state);
		}
	table_free(&store->states);
	for (struct model_file *file = store->files; file; file = next) {
		next = file->next;
		file_free(file);
	}
	free(store);
}

/* ---- Directories and host names -------------------------------------- */

static int search_file(const struct knobs *knobs, const char *name, char *path)
{
	char below[PATH_BYTES + sizeof CODELETS];

	snprintf(below, sizeof below, CODELETS "%s", name);
	if (!sampling_find(knobs, below, path))
		return 0;
	snprintf(below, sizeof below, OLD_CODELETS "%s", name);
	return sampling_find(knobs, below, path);
}

static int new_file_path(const struct knobs *knobs, const char *name, char *path)
{
	char below[PATH_BYTES + sizeof CODELETS];

	snprintf(below, sizeof below, CODELETS "%s", name);
	return sampling_place(knobs, below, path);
}

/* Once for all files: they go to the same place. */
static void tell_unsaved(struct node *node, const char *path, int status)
{
	struct model_store *store = node->settings->models;

	if (store->told)
		return;
	store->told = 1;
	if (*path)
		orr_complain(
			node->rank,
			"performance models: %s: %s: measurements are not saved; models "
			"go to directories of your own only: set STARPU_PERF_MODEL_DIR",
			path, strerror(-status));
	else
		orr_complain(node->rank, "performance models: HOME does not exist: "
					 "measurements are not saved: set "
					 "STARPU_PERF_MODEL_DIR to a directory");
}

/* Word number node->rank of STARPU_MPI_HOSTNAMES. */
static void hostname_of_rank(const struct node *node, char *host)
{
	const char *at = node_knobs(node)->mpi_hostnames;
	size_t length;

	for (int i = 0;; i++) {
		at += strspn(at, " \t");
		length = strcspn(at, " \t");
		if (!length)
			orr_die(node->rank,
				"performance models: STARPU_MPI_HOSTNAMES has %d names, "
				"expected one for each of %d nodes: add the missing ones",
				i, node->size);
		if (i == node->rank)
			break;
		at += length;
	}
	snprintf(host, HOST_BYTES, "%.*s", (int)length, at);
}

/* The names under which models of this device are looked up, best first. */
static int host_names(const struct node *node,
		      const struct starpu_perfmodel_device *device,
		      char hosts[MAX_HOSTS][HOST_BYTES])
{
	const struct plat_machine *machine = node->machine;
	const char *model = device_model(node->machine, device);
	int n = 0;

	if (*node_knobs(node)->mpi_hostnames)
		hostname_of_rank(node, hosts[n++]);
	else if (*node_knobs(node)->hostname)
		snprintf(hosts[n++], HOST_BYTES, "%s", node_knobs(node)->hostname);
	if (machine->predicts && *model)
		snprintf(hosts[n++], HOST_BYTES, "%s", model);
	else if (!machine->predicts && !n)
		snprintf(hosts[n++], HOST_BYTES, "%.*s",
			 (int)strcspn(machine->hostname, "."), machine->hostname);
	return n;
}

static void file_name(const char *symbol, const char *host, char *name)
{
	if (strchr(symbol, '.'))
		snprintf(name, PATH_BYTES, "%s", symbol);
	else
		snprintf(name, PATH_BYTES, "%s.%s", symbol, host);
}

/* ---- Files ----------------------------------------------------------- */

static struct model_file *file_new(struct model_store *store, const char *name)
{
	struct model_file *file = orr_alloc(sizeof *file);

	orr_lock_init(&file->lock);
	file->name = name ? orr_strdup(name) : NULL;
	file->status = -ENOENT;
	file->next = store->files;
	store->files = file;
	return file;
}

/* The file of that name, read when it was not yet.  The store is locked: at worst
 * the other threads of a starting program wait for the disk. */
static struct model_file *file_get(struct node *node, const char *name)
{
	struct model_store *store = node->settings->models;
	struct model_file *file = store->files;
	char path[PATH_BYTES];

	while (file && (!file->name || strcmp(file->name, name)))
		file = file->next;
	if (file)
		return file;
	file = file_new(store, name);
	if (search_file(node_knobs(node), name, path))
		return file;
	/* Before it is read: what comes meanwhile is looked at when it is written. */
	file->version = model_version_of(path);
	if (node->calibrate == 2 && !node->machine->predicts)
		return file;
	file->status = model_data_read(&file->data, path, node->rank);
	model_merge_seen(&file->data);
	if (file->status == -ENODATA)
		file->status = -ENOENT;
	return file;
}

/* Fit what was measured and keep it, for later runs. */
static void save_samples(struct node *node, const struct model_data *data)
{
	const struct knobs *knobs = node_knobs(node);

	for (size_t i = 0; i < data->ncombinations; i++)
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
			struct model_arch *arch =
				data->combinations[i]->implementations[k];

			if (arch && arch->samples)
				model_samples_save(arch->samples, &arch->known.regression,
						   knobs->calibrate_minimum,
						   knobs->silent);
		}
}

/* Once is enough to wait for who stands still. */
static int lock_files(struct node *node, const char *path)
{
	struct model_store *store = node->settings->models;
	double limit_s = LOCK_LIMITS * store->knobs->watchdog_s;
	int lock;

	if (orr_load(&store->gave_up))
		return -1;
	lock = model_merge_lock(path, limit_s, node->rank);
	if (lock == -EBUSY)
		orr_store(&store->gave_up, 1);
	return lock;
}

/* Others that measure under this name, as ranks of this host, may have written it. */
static int merge_and_write(struct node *node, struct model_file *file, const char *path)
{
	const struct knobs *knobs = node_knobs(node);
	int lock = lock_files(node, path), status = 0;
	struct model_version version = model_version_of(path), none = {0};
	struct model_data theirs = {0};

	if (!model_version_is(&version, &none) &&
	    !model_version_is(&version, &file->version))
		status = model_data_read(&theirs, path, node->rank);
	model_merge(&file->data, &theirs, (unsigned)knobs->history_max_error,
		    (unsigned)knobs->calibrate_minimum);
	model_data_clear(&theirs);
	if (!status || status == -ENODATA || status == -ENOENT)
		status = model_data_write(&file->data, path, node->rank);
	file->version = model_version_of(path);
	model_merge_unlock(lock);
	model_merge_seen(&file->data);
	return status;
}

static void file_save(struct node *node, struct model_file *file)
{
	char path[PATH_BYTES] = "";

	orr_lock(&file->lock);
	if (file->dirty)
		save_samples(node, &file->data);
	if (file->dirty && file->name && (!file->status || file->status == -ENOENT)) {
		int status = new_file_path(node_knobs(node), file->name, path);

		if (status < 0)
			tell_unsaved(node, path, status);
		else if (!merge_and_write(node, file, path))
			file->status = 0;
		file->dirty = 0;
	}
	orr_unlock(&file->lock);
}

/* ---- States ---------------------------------------------------------- */

struct _starpu_perfmodel_state *model_state(struct node *node,
					    struct starpu_perfmodel *model)
{
	struct model_store *store = node->settings->models;
	struct _starpu_perfmodel_state *state = orr_load_ptr((void **)&model->state);

	if (state)
		return state;
	orr_lock(&store->lock);
	state = model->state;
	if (!state) {
		state = orr_alloc(sizeof *state);
		state->model = model;
		state->node = node;
		orr_lock_init(&state->lock);
		state->next = table_put(&store->states, (uintptr_t)node, state);
		model->is_init = 1;
		/* Another model may have been here. */
		orr_add((int *)&node->settings->nmodel_changes, 1);
		orr_swap_ptr((void **)&model->state, state);
	}
	orr_unlock(&store->lock);
	return state;
}

/* A file without a name is found by its model only.  The store is locked. */
static void forget_own_file(struct model_store *store,
			    struct _starpu_perfmodel_state *state)
{
	struct model_file **at = &store->files, *file = state->only;

	state->only = NULL;
	if (!file || file->name)
		return;
	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	file_free(file);
}

static void state_free(struct _starpu_perfmodel_state *state)
{
	state->model->state = NULL;
	state->model->is_init = state->model->is_loaded = 0;
	model_own_clear(state);
	free(state->answers);
	free(state);
}

void model_state_drop(struct node *node, struct starpu_perfmodel *model)
{
	struct model_store *store;
	struct _starpu_perfmodel_state *first, **at = &first;
	uintptr_t owner;

	if (!model->state)
		return;
	owner = (uintptr_t)model->state->node;
	store = model->state->node->settings->models;
	model_save(node, model);
	orr_lock(&store->lock);
	first = table_remove(&store->states, owner);
	while (*at && *at != model->state)
		at = &(*at)->next;
	ORR_ASSERT(*at);
	*at = model->state->next;
	forget_own_file(store, model->state);
	state_free(model->state);
	if (first)
		table_put(&store->states, owner, first);
	orr_unlock(&store->lock);
}

void model_store_save(struct model_store *store, struct node *node)
{
	struct _starpu_perfmodel_state *state, *next;

	for (struct model_file *file = store->files; file; file = file->next)
		file_save(node, file);
	for (state = table_remove(&store->states, (uintptr_t)node); state; state = next) {
		next = state->next;
		state_free(state);
	}
}

/* ---- Answers --------------------------------------------------------- */

/* The measured device of that kind with the lowest number, which is 0 mostly, in the file
 * of that name. */
static struct model_combination *first_like(const struct node *node,
					    const struct model_data *data,
					    const struct starpu_perfmodel_device *device,
					    const char *name)
{
	struct model_combination *first = NULL;

	for (size_t i = 0; i < data->ncombinations; i++) {
		struct model_combination *one = data->combinations[i];
		const struct starpu_perfmodel_device *its = one->arch.devices;

		if (one->arch.ndevices == 1 && its->type == device->type &&
		    its->ncores == device->ncores &&
		    device_may_speak(node->machine, device, name, its->devid) &&
		    (!first || its->devid < first->arch.devices->devid))
			first = one;
	}
	return first;
}

/*
 * The combination that speaks for arch in the file of that name.  A simulated machine
 * may have more devices of a kind than the measured one: the first device then speaks for
 * all.
 */
static struct model_combination *speaks_for(const struct node *node,
					    const struct model_data *data,
					    const struct starpu_perfmodel_arch *arch,
					    const char *name)
{
	struct starpu_perfmodel_device device = arch->devices[0];
	struct starpu_perfmodel_arch there = {.ndevices = 1, .devices = &device};
	struct model_combination *found;

	if (arch->ndevices != 1 || !node->machine->predicts)
		return model_data_find(data, arch);
	device.devid = device_number(node->machine, &arch->devices[0], name);
	found = model_data_find(data, &there);
	return found ? found : first_like(node, data, &arch->devices[0], name);
}

static void consult(struct node *node, struct model_file *file, const char *name,
		    const struct starpu_perfmodel_arch *arch, struct model_answer *answer)
{
	struct model_combination *combination;
	int number = device_number(node->machine, &arch->devices[0], name);

	if (file->status && file->status != -ENOENT)
		answer->broken = 1;
	combination = speaks_for(node, &file->data, arch, name);
	if (!combination)
		return;
	answer->known = combination->implementations[answer->implementation];
	answer->stands_in = combination->arch.ndevices == 1 && arch->ndevices == 1
				    ? combination->arch.devices->devid != number
				    : !model_same_arch(&combination->arch, arch);
	answer->file = answer->known ? file : NULL;
}

/* The file that new measurements of the model go to. */
static struct model_file *
file_to_write(struct node *node, struct _starpu_perfmodel_state *state, const char *host)
{
	char name[PATH_BYTES];

	if (state->only)
		return state->only;
	if (!state->model->symbol || !*state->model->symbol || !host)
		return state->only = file_new(node->settings->models, NULL);
	file_name(state->model->symbol, host, name);
	return file_get(node, name);
}

/* Ask the files; the store is locked. */
static void ask_files(struct node *node, struct _starpu_perfmodel_state *state,
		      const struct starpu_perfmodel_arch *arch,
		      struct model_answer *answer)
{
	char hosts[MAX_HOSTS][HOST_BYTES], name[PATH_BYTES];
	const char *symbol = state->model->symbol;
	int n;

	if (state->only) {
		consult(node, state->only, "", arch, answer);
		return;
	}
	if (!symbol || !*symbol)
		return;
	n = host_names(node, &arch->devices[0], hosts);
	for (int i = 0; i < n && !answer->known; i++) {
		file_name(symbol, hosts[i], name);
		consult(node, file_get(node, name), hosts[i], arch, answer);
	}
	if (answer->known)
		answer->broken = 0;
}

static void add_place(struct node *node, struct _starpu_perfmodel_state *state,
		      const struct starpu_perfmodel_arch *arch,
		      struct model_answer *answer)
{
	char hosts[MAX_HOSTS][HOST_BYTES];
	int n = host_names(node, &arch->devices[0], hosts);
	struct model_file *file = file_to_write(node, state, n ? hosts[0] : NULL);

	if (file->status && file->status != -ENOENT) {
		answer->broken = 1;
		return;
	}
	orr_lock(&file->lock);
	answer->known = model_data_add(&file->data, arch, answer->implementation);
	answer->file = file;
	answer->stands_in = 0;
	orr_unlock(&file->lock);
	orr_store(&node->settings->models->nplaces, node->settings->models->nplaces + 1);
}

static struct model_answer *remembered(struct _starpu_perfmodel_state *state,
				       const struct model_answer *question)
{
	for (int i = 0; i < state->nanswers; i++) {
		struct model_answer *a = &state->answers[i];

		if (a->type == question->type && a->devid == question->devid &&
		    a->ncores == question->ncores &&
		    a->implementation == question->implementation)
			return a;
	}
	return NULL;
}

static void remember(struct _starpu_perfmodel_state *state,
		     const struct model_answer *answer)
{
	struct model_answer *old = remembered(state, answer);

	if (old) {
		*old = *answer;
		return;
	}
	if (state->nanswers == state->capacity) {
		state->capacity = state->capacity ? 2 * state->capacity : 2;
		state->answers = orr_realloc(state->answers,
					     state->capacity * sizeof *state->answers);
	}
	state->answers[state->nanswers++] = *answer;
}

/* Measurements need a place of their own. */
static int is_place(const struct model_answer *answer)
{
	return answer->broken || (answer->known && !answer->stands_in);
}

/* What was not there may have come since, by another model or another node. */
static int is_current(const struct node *node, const struct model_answer *answer)
{
	return is_place(answer) ||
	       answer->nplaces == orr_load(&node->settings->models->nplaces);
}

/* Workers of a homogeneous kind share the measurements of its first device. */
static int shared_devid(const struct node *node,
			const struct starpu_perfmodel_device *device)
{
	const struct device_type *type = device_type(device->type);

	return type && device_is_homogeneous(type, node_knobs(node)) ? 0 : device->devid;
}

struct model_answer model_find(struct node *node, struct starpu_perfmodel *model,
			       const struct starpu_perfmodel_arch *arch,
			       unsigned implementation, int add)
{
	struct _starpu_perfmodel_state *state = model_state(node, model);
	struct starpu_perfmodel_device device = arch->devices[0];
	struct starpu_perfmodel_arch shared = {.ndevices = 1, .devices = &device};
	struct model_answer answer, *old;
	int remembers = state->node == node && arch->ndevices == 1;

	device.devid = shared_devid(node, &device);
	answer = (struct model_answer){.type = device.type,
				       .devid = device.devid,
				       .ncores = device.ncores,
				       .implementation = implementation};
	if (arch->ndevices != 1)
		shared = *arch;
	orr_lock(&state->lock);
	old = remembers ? remembered(state, &answer) : NULL;
	if (old && !is_current(node, old))
		old = NULL;
	if (old)
		answer = *old;
	if (!old || (add && !is_place(&answer))) {
		orr_lock(&node->settings->models->lock);
		if (!old)
			ask_files(node, state, &shared, &answer);
		if (add && !is_place(&answer))
			add_place(node, state, &shared, &answer);
		answer.nplaces = node->settings->models->nplaces;
		orr_unlock(&node->settings->models->lock);
		if (remembers)
			remember(state, &answer);
	}
	orr_unlock(&state->lock);
	return answer;
}

/* ---- For the public interface ---------------------------------------- */

/* The name of the file for a symbol that is somewhere, processors' first, and where. */
static int look_up(const struct node *node, const char *symbol, char *name, char *found)
{
	char hosts[MAX_HOSTS][HOST_BYTES], *dot;

	for (int t = DEVICE_TYPES - 1; t >= 0; t--) {
		struct starpu_perfmodel_device first = {device_order[t], 0, 1};
		int n = host_names(node, &first, hosts);

		for (int i = 0; i < n; i++) {
			file_name(symbol, hosts[i], name);
			if (!search_file(node_knobs(node), name, found))
				return 0;
		}
	}
	snprintf(name, PATH_BYTES, "%s", symbol);
	dot = strrchr(name, '.');
	if (!dot)
		return -ENOENT;
	*dot = '\0';
	return search_file(node_knobs(node), name, found);
}

int model_path(struct node *node, const char *symbol, char *path, size_t bytes)
{
	char name[PATH_BYTES], found[PATH_BYTES];
	int ret = look_up(node, symbol, name, found);

	if (!ret)
		snprintf(path, bytes, "%s", found);
	return ret;
}

void model_absent(const struct node *node, const struct starpu_perfmodel_device *device,
		  const char *symbol, char *text, size_t bytes)
{
	char hosts[MAX_HOSTS][HOST_BYTES] = {""};

	host_names(node, device, hosts);
	sampling_absent(node_knobs(node), symbol, hosts[0], text, bytes);
}

static int attach(struct node *node, struct starpu_perfmodel *model, const char *symbol,
		  const char *path)
{
	struct _starpu_perfmodel_state *state = model_state(node, model);
	struct model_store *store = node->settings->models;
	char name[PATH_BYTES], found[PATH_BYTES];
	struct model_file *file;

	if (symbol && look_up(node, symbol, name, found))
		return -ENOENT;
	orr_lock(&store->lock);
	/* A file given by its path is for reading: its name, which could be that of
	 * a calibration, must not be found by others. */
	file = symbol ? file_get(node, name) : file_new(store, NULL);
	if (!symbol)
		file->status = model_data_read(&file->data, path, node->rank);
	/* What the application has of a model's lists is the file's. */
	if (state->only != file && !state->has_own)
		forget_own_file(store, state);
	state->only = file;
	state->nanswers = 0;
	orr_add((int *)&node->settings->nmodel_changes, 1);
	orr_unlock(&store->lock);
	if (file->status)
		return file->status;
	if (model->type == STARPU_PERFMODEL_INVALID)
		model->type = model_data_type(&file->data);
	model->is_loaded = 1;
	return 0;
}

/* Nobody unloads what could not be loaded: it may be gone before the node is. */
int model_attach(struct node *node, struct starpu_perfmodel *model, const char *symbol,
		 const char *path)
{
	int was_known = orr_load_ptr((void **)&model->state) != NULL;
	int ret = attach(node, model, symbol, path);

	if (ret && !was_known)
		model_state_drop(node, model);
	return ret;
}

void model_save(struct node *node, struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *state = model->state;

	for (int i = 0; state && i < state->nanswers; i++)
		if (state->answers[i].file)
			file_save(node, state->answers[i].file);
}

void model_store_host(const struct node *node, char *host, size_t bytes)
{
	struct starpu_perfmodel_device core = {STARPU_CPU_WORKER, 0, 1};
	char hosts[MAX_HOSTS][HOST_BYTES];

	snprintf(host, bytes, "%s", host_names(node, &core, hosts) ? hosts[0] : "");
}
