/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/decimal.h"
#include "base/newfile.h"
#include "core/model/model_samples.h"

enum { VERSION_WRITTEN = 45, VERSION_WITHOUT_COEFFICIENTS = 44, MAX_DEVICES = 1024 };

static const char remedy[] =
	"remove the file or measure it again with STARPU_CALIBRATE=2";

/* A file being read, one line that says something at a time. */
struct scan {
	FILE *file;
	const char *path;
	int rank;
	unsigned long line; /* number of the current line, from 1 */
	char *text, *at;    /* the current line, and what is left of it */
	size_t capacity;
	struct all_line { /* the comment on the entry that follows */
		int is_there;
		unsigned long footprint;
		struct model_all all;
	} all;
};

/* What was found may be any bytes. */
static void scan_complain(struct scan *scan, const char *found, const char *expected,
			  const char *what_now)
{
	char text[41];
	size_t n = 0;

	for (; n < sizeof(text) - 1 && found[n]; n++)
		text[n] = isprint((unsigned char)found[n]) ? found[n] : '?';
	text[n] = '\0';
	orr_complain(scan->rank,
		     "performance model: %s, line %lu: found \"%s\", expected %s: %s",
		     scan->path, scan->line, text, expected, what_now);
}

static int scan_fail(struct scan *scan, const char *found, const char *expected)
{
	if (found)
		scan_complain(scan, found, expected, remedy);
	else
		orr_complain(scan->rank,
			     "performance model: %s ends after line %lu, expected %s: "
			     "the file is truncated, %s",
			     scan->path, scan->line, expected, remedy);
	return -EINVAL;
}

/*
 * What all measurements of an entry say, also those that StarPU's mean leaves out.  It is
 * a comment: StarPU reads the file, too, and a file that it has written has none.
 */
static const char all_mark[] = "# of all:";

static void scan_all(struct scan *scan)
{
	struct all_line *line = &scan->all;
	struct model_all *all = &line->all;
	locale_t before = decimal_begin();
	unsigned long nsample = 0;
	int n = sscanf(scan->at + sizeof all_mark - 1, "%8lx %19lu %lf %lf",
		       &line->footprint, &nsample, &all->sum, &all->sum2);

	decimal_end(before);
	all->nsample = (unsigned)nsample;
	line->is_there =
		n == 4 && nsample <= UINT_MAX && model_all_is_sound(all) ? 1 : -1;
}

/* Go to the next line that is neither blank nor a comment. 1, or 0 at the end. */
static int scan_next(struct scan *scan)
{
	scan->all.is_there = 0;
	while (getline(&scan->text, &scan->capacity, scan->file) >= 0) {
		scan->at = scan->text;
		if (!scan->line++ && !strncmp(scan->at, "\xEF\xBB\xBF", 3))
			scan->at += 3; /* the mark of an editor, no part of the text */
		scan->at += strspn(scan->at, " \t\r\n");
		if (*scan->at && *scan->at != '#')
			return 1;
		if (strncmp(scan->at, all_mark, sizeof all_mark - 1) == 0)
			scan_all(scan);
	}
	return 0;
}

static int scan_line(struct scan *scan, const char *expected)
{
	return scan_next(scan) ? 0 : scan_fail(scan, NULL, expected);
}

/* Take the next word off the line; NULL at its end. */
static char *scan_word(struct scan *scan)
{
	char *word = scan->at + strspn(scan->at, " \t\r\n");

	scan->at = word + strcspn(word, " \t\r\n");
	if (*scan->at)
		*scan->at++ = '\0';
	return *word ? word : NULL;
}

static int scan_real(struct scan *scan, double *value, const char *expected)
{
	char *word = scan_word(scan), *end = word;

	if (word)
		*value = decimal_read(word, &end);
	if (end == word || *end)
		return scan_fail(scan, word ? word : "end of the line", expected);
	return 0;
}

static int scan_integer(struct scan *scan, unsigned long *value, int base,
			const char *expected)
{
	char *word = scan_word(scan), *end = word;

	errno = 0;
	if (word && isxdigit((unsigned char)*word))
		*value = strtoul(word, &end, base);
	if (end == word || *end || errno)
		return scan_fail(scan, word ? word : "end of the line", expected);
	return 0;
}

/* The next line begins with a number between 0 and max. */
static int scan_limited(struct scan *scan, unsigned long *value, unsigned long max,
			const char *expected)
{
	char found[24];
	int rc = scan_line(scan, expected);

	if (!rc)
		rc = scan_integer(scan, value, 10, expected);
	if (rc || *value <= max)
		return rc;
	snprintf(found, sizeof found, "%lu", *value);
	return scan_fail(scan, found, expected);
}

/* Nothing but a comment is left on the line. */
static int scan_end(struct scan *scan, const char *expected)
{
	char *word = scan_word(scan);

	return word && *word != '#' ? scan_fail(scan, word, expected) : 0;
}

/* A line that holds one number between 0 and max. */
static int scan_number(struct scan *scan, unsigned long *value, unsigned long max,
		       const char *expected)
{
	int rc = scan_limited(scan, value, max, expected);

	return rc ? rc : scan_end(scan, expected);
}

static int read_fits(struct scan *scan, struct starpu_perfmodel_regression_model *fit)
{
	static const char sums[] = "\"sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx "
				   "maxx\" of the regression";
	static const char nonlinear[] = "\"a b c\" of the non-linear regression";
	double *const reals[] = {&fit->sumlnx,    &fit->sumlnx2, &fit->sumlny,
				 &fit->sumlnxlny, &fit->alpha,   &fit->beta};
	double *const abc[] = {&fit->a, &fit->b, &fit->c};
	unsigned long nsample;
	int rc = scan_line(scan, sums);

	for (unsigned i = 0; !rc && i < 6; i++)
		rc = scan_real(scan, reals[i], sums);
	if (!rc)
		rc = scan_integer(scan, &nsample, 10, sums);
	if (!rc)
		rc = scan_integer(scan, &fit->minx, 10, sums);
	if (!rc)
		rc = scan_integer(scan, &fit->maxx, 10, sums);
	if (!rc)
		rc = scan_end(scan, sums);
	if (!rc)
		rc = scan_line(scan, nonlinear);
	for (unsigned i = 0; !rc && i < 3; i++)
		rc = scan_real(scan, abc[i], nonlinear);
	if (!rc)
		rc = scan_end(scan, nonlinear);
	if (!rc)
		fit->nsample = nsample;
	return rc;
}

static int read_coefficients(struct scan *scan,
			     struct starpu_perfmodel_regression_model *fit)
{
	static const char expected[] = "the number of coefficients of a multiple "
				       "regression, then as many numbers";
	unsigned long n;
	int rc = scan_limited(scan, &n, 1 << 20, expected);

	if (rc || !n)
		return rc ? rc : scan_end(scan, expected);
	free(fit->coeff);
	fit->coeff = orr_alloc(n * sizeof *fit->coeff);
	fit->ncoeff = n;
	for (unsigned long i = 0; !rc && i < n; i++)
		rc = scan_real(scan, &fit->coeff[i], expected);
	return rc ? rc : scan_end(scan, expected);
}

/* Old files lack the flops, so the words of the line are counted first. */
static unsigned scan_count(const struct scan *scan)
{
	const char *at = scan->at;
	unsigned n = 0;

	while (*(at += strspn(at, " \t\r\n"))) {
		at += strcspn(at, " \t\r\n");
		n++;
	}
	return n;
}

/* A number is one that can have been measured. */
static int check_real(struct scan *scan, double value, double max, const char *expected)
{
	char found[32];

	if (value >= 0 && value <= max)
		return 0;
	snprintf(found, sizeof found, "%g", value);
	return scan_fail(scan, found, expected);
}

static int check_32_bits(struct scan *scan, unsigned long value, const char *format,
			 const char *expected)
{
	char found[32];

	if (value <= UINT32_MAX)
		return 0;
	snprintf(found, sizeof found, format, value);
	return scan_fail(scan, found, expected);
}

/* Where nothing was measured, StarPU has written any numbers. */
static int check_entry(struct scan *scan, struct starpu_perfmodel_history_entry *e)
{
	int rc;

	if (!e->nsample)
		return 0;
	/* Tasks of other flops had this footprint, too: NaN. */
	rc = isnan(e->flops) ? 0
			     : check_real(scan, e->flops, DBL_MAX, "flops of 0 or more");
	if (!rc)
		rc = check_real(scan, e->mean, MODEL_MAX_US,
				"a mean of 0 to 1e15 us, since n says that it was "
				"measured");
	if (!rc)
		rc = check_real(scan, e->sum, DBL_MAX, "a sum of 0 or more us");
	if (!rc)
		rc = check_real(scan, e->sum2, DBL_MAX, "a sum2 of 0 or more us^2");
	if (!rc && isnan(e->deviation))
		e->deviation = sqrt(fmax(e->sum2 / e->nsample - e->mean * e->mean, 0));
	return rc ? rc
		  : check_real(scan, e->deviation, MODEL_MAX_US,
			       "a deviation of 0 to 1e15 us");
}

/* A line without an end may have lost digits of its last number. */
static int check_whole(struct scan *scan, int has_end,
		       const struct starpu_perfmodel_history_entry *e)
{
	if (has_end || fabs(e->mean * e->nsample - e->sum) <= 0.01 * e->sum)
		return 0;
	return scan_fail(scan, NULL, "the rest of that line");
}

/* Without a comment all measurements are those of the line. */
static int take_all(struct scan *scan, struct model_entry *entry)
{
	const struct starpu_perfmodel_history_entry *known = &entry->known;
	const struct all_line *line = &scan->all;

	entry->all = (struct model_all){known->nsample, known->sum, known->sum2};
	if (line->is_there == 0)
		return 0;
	if (line->is_there < 0 || line->footprint != known->footprint)
		return scan_fail(scan, "a comment \"# of all:\" of something else",
				 "before this entry \"# of all: footprint n sum sum2\"");
	entry->all = line->all;
	return 0;
}

static int read_entry(struct scan *scan, struct model_arch *arch)
{
	static const char expected[] =
		"\"footprint size flops mean deviation sum sum2 n\"";
	struct starpu_perfmodel_history_entry *entry, e = {0};
	double *const reals[] = {&e.mean, &e.deviation, &e.sum, &e.sum2};
	unsigned long footprint, size, nsample;
	int rc = scan_line(scan, expected), with_flops, has_end;

	if (rc)
		return rc;
	with_flops = scan_count(scan) != 7;
	has_end = strchr(scan->at, '\n') != NULL;
	rc = scan_integer(scan, &footprint, 16, expected);
	if (!rc)
		rc = scan_integer(scan, &size, 10, expected);
	if (!rc && with_flops)
		rc = scan_real(scan, &e.flops, expected);
	for (unsigned i = 0; !rc && i < 4; i++)
		rc = scan_real(scan, reals[i], expected);
	if (!rc)
		rc = scan_integer(scan, &nsample, 10, expected);
	if (!rc)
		rc = scan_end(scan, expected);
	if (!rc)
		rc = check_32_bits(scan, footprint, "%lx", "a footprint of 32 bits");
	if (!rc)
		rc = check_32_bits(scan, nsample, "%lu",
				   "a number of measurements of 32 bits");
	if (rc)
		return rc;
	e.footprint = footprint;
	e.size = size;
	e.nsample = nsample;
	rc = check_whole(scan, has_end, &e);
	if (!rc)
		rc = check_entry(scan, &e);
	if (rc)
		return rc;
	entry = model_arch_entry(arch, e.footprint, 1);
	*entry = e;
	return take_all(scan, model_entry_of(entry));
}

/* One implementation.  Those beyond our limit go to a scratch and are dropped. */
static int read_implementation(struct scan *scan, struct model_arch *arch,
			       unsigned long version)
{
	unsigned long nentries;
	int rc = scan_number(scan, &nentries, 1UL << 32, "the number of entries");

	if (!rc)
		rc = read_fits(scan, &arch->known.regression);
	if (!rc && version > VERSION_WITHOUT_COEFFICIENTS)
		rc = read_coefficients(scan, &arch->known.regression);
	for (unsigned long i = 0; !rc && i < nentries; i++)
		rc = read_entry(scan, arch);
	return rc;
}

static int read_devices(struct scan *scan, struct starpu_perfmodel_arch *arch)
{
	unsigned long ndevices, type, devid, ncores;
	int rc = scan_number(scan, &ndevices, MAX_DEVICES, "a number of devices");

	if (rc)
		return rc;
	arch->devices = orr_alloc((ndevices + 1) * sizeof *arch->devices);
	arch->ndevices = ndevices;
	for (unsigned long i = 0; i < ndevices; i++) {
		rc = scan_number(scan, &type, 100, "a device type (CPU 0, CUDA 1, ...)");
		if (!rc)
			rc = scan_number(scan, &devid, MAX_DEVICES, "a device number");
		if (!rc)
			rc = scan_number(scan, &ncores, 1 << 20, "a number of cores");
		if (rc)
			return rc;
		arch->devices[i] = (struct starpu_perfmodel_device){
			.type = type, .devid = devid, .ncores = ncores};
	}
	return 0;
}

static int read_combination(struct scan *scan, struct model_data *data,
			    unsigned long version)
{
	struct starpu_perfmodel_arch devices = {0};
	struct model_data dropped = {0};
	unsigned long nimplementations;
	int rc = read_devices(scan, &devices);

	if (!rc)
		rc = scan_number(scan, &nimplementations, 1 << 20,
				 "the number of implementations");
	for (unsigned long k = 0; !rc && k < nimplementations; k++) {
		int kept = k < STARPU_MAXIMPLEMENTATIONS;

		rc = read_implementation(
			scan,
			model_data_add(kept ? data : &dropped, &devices, kept ? k : 0),
			version);
	}
	model_data_clear(&dropped);
	free(devices.devices);
	return rc;
}

static int read_all(struct scan *scan, struct model_data *data)
{
	static const char expected[] = "45, the version of the format";
	unsigned long version, ncombinations;
	char found[24];
	int rc;

	if (!scan_next(scan)) {
		orr_complain(scan->rank, "performance model: %s is empty: ignored",
			     scan->path);
		return -ENODATA;
	}
	rc = scan_integer(scan, &version, 10, expected);
	if (!rc)
		rc = scan_end(scan, expected);
	if (rc)
		return rc;
	if (version != VERSION_WRITTEN && version != VERSION_WITHOUT_COEFFICIENTS) {
		snprintf(found, sizeof found, "%lu", version);
		return scan_fail(scan, found, expected);
	}
	rc = scan_number(scan, &ncombinations, 1 << 20, "the number of combinations");
	for (unsigned long i = 0; !rc && i < ncombinations; i++)
		rc = read_combination(scan, data, version);
	/* StarPU writes over what was there, and may leave its end. */
	if (!rc && scan_next(scan))
		scan_complain(
			scan, scan_word(scan),
			"the end of the file, after as many combinations and "
			"implementations as it says that it has",
			"the rest is not used; correct these numbers, or measure it "
			"again with STARPU_CALIBRATE=2");
	return rc;
}

/* A file system without locks must not hide the models on it. */
void model_file_lock(FILE *file, int type)
{
	struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET};

	while (fcntl(fileno(file), F_SETLKW, &lock) < 0 && errno == EINTR)
		;
}

int model_data_read(struct model_data *data, const char *path, int rank)
{
	struct scan scan = {.path = path, .rank = rank};
	struct stat status;
	int rc;

	model_data_clear(data);
	scan.file = fopen(path, "r");
	if (!scan.file && errno == ENOENT)
		return -ENOENT;
	if (!scan.file || fstat(fileno(scan.file), &status) || !S_ISREG(status.st_mode)) {
		rc = scan.file ? -EISDIR : -errno;
		orr_complain(rank,
			     "performance model: %s cannot be read (%s), expected a "
			     "readable file: check its permissions",
			     path, scan.file ? "not a regular file" : strerror(-rc));
		if (scan.file)
			fclose(scan.file);
		return rc;
	}
	model_file_lock(scan.file, F_RDLCK); /* StarPU writes in place. */
	rc = read_all(&scan, data);
	free(scan.text);
	fclose(scan.file);
	if (rc)
		model_data_clear(data);
	return rc;
}

static const char rule[] = "##########";

const char *model_type_name(unsigned type)
{
	static const char *const names[] = {"cpu",      "cuda",   "opencl",   "mic",
					    "max_fpga", "mpi_ms", "tcpip_ms", "hip"};

	return type < sizeof names / sizeof *names ? names[type] : "device";
}

void model_print_arch(FILE *f, const struct starpu_perfmodel_arch *arch)
{
	for (int i = 0; i < arch->ndevices; i++)
		fprintf(f, "%s%s%d", i ? "_" : "", model_type_name(arch->devices[i].type),
			arch->devices[i].devid);
}

static void write_arch(FILE *f, const struct model_arch *arch)
{
	const struct starpu_perfmodel_regression_model *fit = &arch->known.regression;

	fprintf(f, "# number of entries\n%zu\n", arch->nentries);
	fprintf(f,
		"# sumlnx\tsumlnx2\t\tsumlny\t\tsumlnxlny\talpha\t\tbeta\t\tn\tminx\t\t"
		"maxx\n");
	fprintf(f, "%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%u\t%-15lu\t%-15lu\n",
		fit->sumlnx, fit->sumlnx2, fit->sumlny, fit->sumlnxlny, fit->alpha,
		fit->beta, fit->nsample, fit->minx, fit->maxx);
	fprintf(f, "# a\t\tb\t\tc\n%-15e\t%-15e\t%-15e\n", fit->a, fit->b, fit->c);
	if (arch->samples && fit->ncoeff)
		fprintf(f, "# fitted to %zu measurements, standard deviation %.3g us\n",
			arch->samples->multi.nsample, arch->samples->deviation_us);
	fprintf(f, fit->ncoeff ? "# n\tintercept\tcoefficients\n"
			       : "# not multiple-regression-base\n");
	fprintf(f, "%u", fit->ncoeff);
	for (unsigned i = 0; i < fit->ncoeff; i++)
		fprintf(f, "\t%-15e", fit->coeff[i]);
	fprintf(f,
		"\n# hash\t\tsize\t\tflops\t\tmean (us)\tdev (us)\tsum\t\tsum2\t\tn\n");
	for (size_t i = 0; i < arch->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = arch->entries[i];
		const struct model_all *all = &model_entry_of(e)->all;

		if (model_entry_leaves_out(model_entry_of(e)))
			fprintf(f, "%s %08x %u %.9e %.9e\n", all_mark, e->footprint,
				all->nsample, all->sum, all->sum2);
		fprintf(f, "%08x\t%-15lu\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%u\n",
			e->footprint, (unsigned long)e->size, e->flops, e->mean,
			e->deviation, e->sum, e->sum2, e->nsample);
	}
}

static void write_combination(FILE *f, const struct model_combination *combination,
			      size_t index)
{
	static const struct model_arch nothing = {
		.known.regression = {
			.alpha = NAN, .beta = NAN, .a = NAN, .b = NAN, .c = NAN}};
	const struct starpu_perfmodel_arch *arch = &combination->arch;
	unsigned n = STARPU_MAXIMPLEMENTATIONS;

	fprintf(f, "\n%s%s\n# COMB_%zu\n# number of types devices\n%d\n", rule, rule,
		index, arch->ndevices);
	for (int i = 0; i < arch->ndevices; i++) {
		fprintf(f, "%s%s\n# DEV_%d\n", rule, rule, i);
		fprintf(f, "# device type (CPU - 0, CUDA - 1, OPENCL - 2)\n%d\n",
			(int)arch->devices[i].type);
		fprintf(f, "# DEV_%d\n# device id \n%d\n", i, arch->devices[i].devid);
		fprintf(f, "# DEV_%d\n# number of cores \n%d\n", i,
			arch->devices[i].ncores);
	}
	while (n > 0 && !combination->implementations[n - 1])
		n--;
	fprintf(f, "%s\n# number of implementations\n%u\n", rule, n);
	for (unsigned k = 0; k < n; k++) {
		const struct model_arch *known = combination->implementations[k];

		fprintf(f, "#####\n# Model for ");
		model_print_arch(f, arch);
		fprintf(f, "_impl%u (Comb%zu)\n", k, index);
		write_arch(f, known ? known : &nothing);
	}
}

static void write_all(FILE *f, const struct model_data *data)
{
	fprintf(f, "%s%s\n# Performance Model Version\n%d\n\n", rule, rule,
		VERSION_WRITTEN);
	fprintf(f, "%s%s\n# COMBs\n# number of combinations\n%zu\n", rule, rule,
		data->ncombinations);
	for (size_t i = 0; i < data->ncombinations; i++)
		write_combination(f, data->combinations[i], i);
}

int model_data_write(const struct model_data *data, const char *path, int rank)
{
	struct newfile newfile;
	int rc = newfile_open(&newfile, path);

	if (!rc) {
		write_all(newfile.file, data);
		rc = newfile_close(&newfile);
	}
	if (rc)
		orr_complain(rank,
			     "performance model: %s cannot be written (%s), expected "
			     "room and a writable directory: new measurements are lost, "
			     "what the file held before is kept; see "
			     "STARPU_PERF_MODEL_DIR",
			     path, strerror(-rc));
	return rc;
}
