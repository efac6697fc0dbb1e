/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "core/model/model_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "core/model/model_fit.h"

/* Files have seven digits of a sum. */
#define SAME 1e-6

enum { NAP_NS = 1000000 };

/* ---- files ------------------------------------------------------------ */

struct model_version model_version_of(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return (struct model_version){0};
	return (struct model_version){.device = status.st_dev,
				      .inode = status.st_ino,
				      .bytes = status.st_size,
				      .seconds = status.st_mtim.tv_sec,
				      .nanoseconds = status.st_mtim.tv_nsec};
}

int model_version_is(const struct model_version *a, const struct model_version *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* The process that has the lock, as the system says; 0: it does not. */
static long holder_of(int fd)
{
	char line[256], *at;
	FILE *file = fopen("/proc/locks", "r");
	struct stat status;
	unsigned long long inode;
	long pid = 0, found = 0;

	while (file && fstat(fd, &status) == 0 && !found &&
	       fgets(line, sizeof(line), file)) {
		at = strstr(line, "FLOCK");
		if (at && !strstr(line, "->") &&
		    sscanf(at, "FLOCK %*s %*s %ld %*x:%*x:%llu", &pid, &inode) == 2 &&
		    inode == status.st_ino)
			found = pid;
	}
	if (file)
		fclose(file);
	return found;
}

/* Not by what the simulation has in place of the C library's pauses. */
static void nap(void)
{
	struct timespec pause = {.tv_nsec = NAP_NS};

	syscall(SYS_nanosleep, &pause, NULL);
}

/* Who has it needs milliseconds, and may be stopped (SIGSTOP) or on a machine that is
 * gone: what is measured is worth no run. */
static int take(int fd, const char *name, double limit_s, int rank)
{
	double waited_s = 0;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EINTR && errno != EWOULDBLOCK)
			return -1;
		if (limit_s > 0 && waited_s > limit_s) {
			orr_complain(
				rank,
				"%s has been locked for %.3g s by process %ld, which "
				"is stopped or stands still: models are written "
				"without it, and what others measure at this time "
				"may be missing; end that process",
				name, waited_s, holder_of(fd));
			return -EBUSY;
		}
		nap();
		waited_s += 1e-9 * NAP_NS;
	}
	return 0;
}

/* Files are replaced, so that a lock on one of them would be on what it was.  StarPU
 * lists all that is beside them: it is above. */
int model_merge_lock(const char *path, double limit_s, int rank)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) + 1 : 0;
	char *name = orr_alloc(length + sizeof "../.lock");
	int fd, ret;

	memcpy(name, path, length);
	memcpy(name + length, "../.lock", sizeof "../.lock");
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	ret = fd >= 0 ? take(fd, name, limit_s, rank) : fd;
	free(name);
	if (fd >= 0 && ret < 0)
		close(fd);
	return ret < 0 ? ret : fd;
}

void model_merge_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* ---- entries ---------------------------------------------------------- */

static struct model_all sums_of(const struct starpu_perfmodel_history_entry *known)
{
	return (struct model_all){known->nsample, known->sum, known->sum2};
}

static struct model_all plus(struct model_all a, struct model_all b)
{
	return (struct model_all){a.nsample + b.nsample, a.sum + b.sum, a.sum2 + b.sum2};
}

/* Of what was measured since: fading leaves no more than there is. */
static struct model_all since(struct model_all now, struct model_all before)
{
	if (now.nsample <= before.nsample)
		return (struct model_all){0};
	return (struct model_all){now.nsample - before.nsample,
				  fmax(now.sum - before.sum, 0),
				  fmax(now.sum2 - before.sum2, 0)};
}

static int is_same(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static int is_seen(const struct model_seen *seen,
		   const struct starpu_perfmodel_history_entry *theirs)
{
	return theirs->nsample == seen->known.nsample &&
	       is_same(theirs->sum, seen->known.sum);
}

static void set_sums(struct starpu_perfmodel_history_entry *entry, struct model_all sums)
{
	double n = sums.nsample;

	entry->nsample = sums.nsample;
	entry->sum = sums.sum;
	entry->sum2 = sums.sum2;
	entry->mean = n > 0 ? sums.sum / n : 0;
	entry->deviation =
		n > 0 ? sqrt(fabs(sums.sum2 - sums.sum * sums.sum / n) / n) : 0;
}

/* Both together, or the one of more measurements. */
static struct model_all agreed(struct model_all a, struct model_all b, double limit)
{
	double x, y;

	if (!a.nsample || !b.nsample)
		return a.nsample ? a : b;
	x = a.sum / a.nsample;
	y = b.sum / b.nsample;
	if (x <= y * limit && y <= x * limit)
		return plus(a, b);
	return a.nsample > b.nsample ? a : b;
}

static void merge_entry(struct model_entry *ours, const struct model_entry *theirs,
			double limit)
{
	struct starpu_perfmodel_history_entry *known = &ours->known;
	struct model_all own = sums_of(known);

	if (is_seen(&ours->seen, &theirs->known))
		return;
	if (!ours->seen.starts_afresh)
		own = since(own, ours->seen.known);
	set_sums(known, agreed(own, sums_of(&theirs->known), limit));
	if (isnan(theirs->known.flops))
		known->flops = NAN;
	ours->all = plus(since(ours->all, ours->seen.all), theirs->all);
}

static void copy_entry(struct model_arch *ours, const struct model_entry *theirs)
{
	struct starpu_perfmodel_history_entry *known =
		model_arch_entry(ours, theirs->known.footprint, 1);

	known->size = theirs->known.size;
	known->flops = theirs->known.flops;
	set_sums(known, sums_of(&theirs->known));
	model_entry_of(known)->all = theirs->all;
}

/* ---- regressions ------------------------------------------------------ */

static void merge_sums(struct model_arch *ours,
		       const struct starpu_perfmodel_regression_model *theirs)
{
	struct starpu_perfmodel_regression_model *fit = &ours->known.regression;
	const struct model_seen_fit *seen = &ours->seen;

	if (!theirs->nsample ||
	    (theirs->nsample == seen->nsample && is_same(theirs->sumlny, seen->sumlny)))
		return;
	if (!fit->nsample || theirs->minx < fit->minx)
		fit->minx = theirs->minx;
	if (!fit->nsample || theirs->maxx > fit->maxx)
		fit->maxx = theirs->maxx;
	fit->sumlnx += theirs->sumlnx - seen->sumlnx;
	fit->sumlnx2 += theirs->sumlnx2 - seen->sumlnx2;
	fit->sumlny += theirs->sumlny - seen->sumlny;
	fit->sumlnxlny += theirs->sumlnxlny - seen->sumlnxlny;
	fit->nsample += theirs->nsample - seen->nsample;
}

static void copy_coefficients(struct starpu_perfmodel_regression_model *ours,
			      const struct starpu_perfmodel_regression_model *theirs)
{
	if (ours->ncoeff || !theirs->ncoeff)
		return;
	ours->coeff = orr_alloc(theirs->ncoeff * sizeof *ours->coeff);
	memcpy(ours->coeff, theirs->coeff, theirs->ncoeff * sizeof *ours->coeff);
	ours->ncoeff = theirs->ncoeff;
}

static int has_nonlinear(const struct starpu_perfmodel_regression_model *fit)
{
	return !isnan(fit->a) && !isnan(fit->b) && !isnan(fit->c);
}

static void merge_fit(struct model_arch *ours, const struct model_arch *theirs,
		      unsigned minimum)
{
	struct starpu_perfmodel_regression_model *fit = &ours->known.regression;
	int nonlinear = has_nonlinear(fit) || has_nonlinear(&theirs->known.regression);

	merge_sums(ours, &theirs->known.regression);
	copy_coefficients(fit, &theirs->known.regression);
	if (fit->nsample)
		model_fit_solve(ours,
				nonlinear ? STARPU_NL_REGRESSION_BASED
					  : STARPU_REGRESSION_BASED,
				minimum);
}

/* ---- all -------------------------------------------------------------- */

static void merge_arch(struct model_arch *ours, const struct model_arch *theirs,
		       double limit, unsigned minimum)
{
	for (size_t i = 0; i < theirs->nentries; i++) {
		const struct model_entry *entry = model_entry_of(theirs->entries[i]);
		struct starpu_perfmodel_history_entry *own =
			model_arch_entry(ours, entry->known.footprint, 0);

		if (own)
			merge_entry(model_entry_of(own), entry, limit);
		else
			copy_entry(ours, entry);
	}
	free(ours->points);
	ours->points = NULL;
	merge_fit(ours, theirs, minimum);
}

void model_merge(struct model_data *ours, const struct model_data *theirs,
		 unsigned max_error_percent, unsigned minimum)
{
	for (size_t i = 0; i < theirs->ncombinations; i++) {
		const struct model_combination *combination = theirs->combinations[i];

		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++)
			if (combination->implementations[k])
				merge_arch(model_data_add(ours, &combination->arch, k),
					   combination->implementations[k],
					   1 + max_error_percent / 100., minimum);
	}
}

static void arch_seen(struct model_arch *arch)
{
	const struct starpu_perfmodel_regression_model *fit = &arch->known.regression;

	arch->seen = (struct model_seen_fit){
		.nsample = fit->nsample,
		.sumlnx = fit->sumlnx,
		.sumlnx2 = fit->sumlnx2,
		.sumlny = fit->sumlny,
		.sumlnxlny = fit->sumlnxlny,
	};
	for (size_t i = 0; i < arch->nentries; i++) {
		struct model_entry *entry = model_entry_of(arch->entries[i]);

		entry->seen = (struct model_seen){.known = sums_of(&entry->known),
						  .all = entry->all};
	}
}

void model_merge_seen(struct model_data *data)
{
	for (size_t i = 0; i < data->ncombinations; i++)
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++)
			if (data->combinations[i]->implementations[k])
				arch_seen(data->combinations[i]->implementations[k]);
}
