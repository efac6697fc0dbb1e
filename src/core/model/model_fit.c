/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

/* A kernel that took so many times its mean was interrupted: another thread had its core,
 * for which a simulation charges by itself.  Slower modes of a machine are below: 2 where
 * two cores share units, 6 where others use the memory. */
#define GROSS 10

/* Enough samples, and sizes that differ by more than a tenth. */
static int has_range(const struct starpu_perfmodel_regression_model *fit,
		     unsigned minimum)
{
	return fit->nsample >= minimum && fit->minx < 9 * fit->maxx / 10;
}

static int in_range(const struct starpu_perfmodel_regression_model *fit, size_t bytes)
{
	return bytes >= 0.9 * fit->minx && bytes <= 1.1 * fit->maxx;
}

double model_fit_power(const struct starpu_perfmodel_regression_model *fit, size_t bytes,
		       unsigned minimum)
{
	if (!has_range(fit, minimum) || !in_range(fit, bytes))
		return NAN;
	return fit->alpha * pow(bytes, fit->beta);
}

double model_fit_nonlinear(const struct starpu_perfmodel_regression_model *fit,
			   size_t bytes, unsigned minimum)
{
	if (!has_range(fit, minimum) || !in_range(fit, bytes))
		return NAN;
	return fit->a * pow(bytes, fit->b) + fit->c;
}

static int compare_points(const void *a, const void *b)
{
	const struct model_point *x = a, *y = b;

	return (x->ln_bytes > y->ln_bytes) - (x->ln_bytes < y->ln_bytes);
}

static double on_line(const struct model_point *p, const struct model_point *q, double x)
{
	double slope = (q->ln_seconds - p->ln_seconds) / (q->ln_bytes - p->ln_bytes);

	return p->ln_seconds + slope * (x - p->ln_bytes);
}

/* Of measured sizes between others, and of the outermost, what their neighbours say. */
static void note_errors(struct model_arch *arch)
{
	const struct model_point *p = arch->points;
	size_t n = arch->npoints;
	double sum = 0, first, last;

	arch->off_inside = arch->off_outside = NAN;
	if (n < 3)
		return;
	for (size_t i = 1; i + 1 < n; i++) {
		double off =
			on_line(&p[i - 1], &p[i + 1], p[i].ln_bytes) - p[i].ln_seconds;

		sum += off * off;
	}
	first = on_line(&p[1], &p[2], p[0].ln_bytes) - p[0].ln_seconds;
	last = on_line(&p[n - 3], &p[n - 2], p[n - 1].ln_bytes) - p[n - 1].ln_seconds;
	arch->off_inside = sqrt(sum / (n - 2));
	arch->off_outside = sqrt((first * first + last * last) / 2);
}

/* Sort the measured sizes; entries of one size count as their mean. */
static void make_points(struct model_arch *arch)
{
	struct model_point *points =
		orr_alloc((arch->nentries + 1) * sizeof *arch->points);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < arch->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = arch->entries[i];

		double us = model_fit_mean(model_entry_of(e));

		if (e->size && us > 0)
			points[n++] = (struct model_point){.ln_bytes = log(e->size),
							   .ln_seconds = log(us * 1e-6)};
	}
	qsort(points, n, sizeof *points, compare_points);
	for (size_t i = 0, next; i < n; i = next) {
		double sum = 0;

		for (next = i; next < n && points[next].ln_bytes == points[i].ln_bytes;
		     next++)
			sum += points[next].ln_seconds;
		points[kept].ln_bytes = points[i].ln_bytes;
		points[kept++].ln_seconds = sum / (next - i);
	}
	arch->points = points;
	arch->npoints = kept;
	note_errors(arch);
}

double model_fit_between(struct model_arch *arch, size_t bytes)
{
	double x = log(bytes ? bytes : 1);
	const struct model_point *p;
	size_t n;

	if (!arch->points)
		make_points(arch);
	p = arch->points;
	n = arch->npoints;
	if (n < 2 || x < p[0].ln_bytes - M_LN2 || x > p[n - 1].ln_bytes + M_LN2)
		return NAN;
	for (; n > 2 && x > p[1].ln_bytes; n--)
		p++;
	return 1e6 * exp(on_line(&p[0], &p[1], x));
}

/* How far x is outside, in gaps between the two outermost sizes; 0: it is inside. */
static double gaps_outside(const struct model_arch *arch, double x)
{
	const struct model_point *p = arch->points, *last = &p[arch->npoints - 1];

	if (x < p[0].ln_bytes)
		return (p[0].ln_bytes - x) / (p[1].ln_bytes - p[0].ln_bytes);
	if (x > last->ln_bytes)
		return (x - last->ln_bytes) / (last->ln_bytes - last[-1].ln_bytes);
	return 0;
}

/* The outermost sizes were left out at a distance of one gap; a line goes on being off
 * beyond. */
double model_fit_between_error(struct model_arch *arch, size_t bytes)
{
	double gaps;

	if (!arch->points)
		make_points(arch);
	if (arch->npoints < 3)
		return NAN;
	gaps = gaps_outside(arch, log(bytes ? bytes : 1));
	return expm1(gaps > 0 ? arch->off_outside * fmax(1, gaps) : arch->off_inside);
}

/* Two of what it fits are spent on its coefficients. */
static double residual(struct model_arch *arch, unsigned minimum,
		       double (*fit)(const struct starpu_perfmodel_regression_model *,
				     size_t, unsigned))
{
	double sum = 0;

	if (!arch->points)
		make_points(arch);
	for (size_t i = 0; i < arch->npoints; i++) {
		const struct model_point *point = &arch->points[i];
		double us = fit(&arch->known.regression,
				(size_t)(exp(point->ln_bytes) + 0.5), minimum);
		double off = log(1e-6 * us) - point->ln_seconds;

		sum += off * off;
	}
	return arch->npoints < 3 ? NAN : expm1(sqrt(sum / (arch->npoints - 2)));
}

double model_fit_power_error(struct model_arch *arch, unsigned minimum)
{
	return residual(arch, minimum, model_fit_power);
}

double model_fit_nonlinear_error(struct model_arch *arch, unsigned minimum)
{
	return residual(arch, minimum, model_fit_nonlinear);
}

/* ---- all measurements ---------------------------------------------------- */

double model_fit_mean(const struct model_entry *entry)
{
	if (model_entry_leaves_out(entry))
		return entry->all.sum / entry->all.nsample;
	return entry->known.nsample ? entry->known.mean : NAN;
}

double model_fit_deviation(const struct model_entry *entry)
{
	const struct model_all *all = &entry->all;
	double n = all->nsample;

	if (!model_entry_leaves_out(entry))
		return entry->known.deviation;
	return sqrt(fabs(all->sum2 - all->sum * all->sum / n) / n);
}

static int is_gross(const struct starpu_perfmodel_history_entry *entry, double us)
{
	return entry->nsample && us >= GROSS * entry->mean;
}

static void add_to_all(struct model_all *all, const struct model_sample *sample)
{
	double us = sample->duration_us;

	all->nsample += sample->number;
	all->sum += us * sample->number;
	all->sum2 += us * us * sample->number;
}

/* Most samples were off.  The kernel may be another now, or the machine has two modes:
 * what came before counts half, or, when it was something else altogether, not. */
static void fade(struct model_entry *entry, int is_another)
{
	struct model_all *all = &entry->all, *seen = &entry->seen.all;
	unsigned kept = is_another ? 0 : all->nsample / 2;
	double part = kept ? (double)kept / all->nsample : 0;

	*all = (struct model_all){kept, part * all->sum, part * all->sum2};
	*seen = (struct model_all){(unsigned)(part * seen->nsample), part * seen->sum,
				   part * seen->sum2};
	entry->seen.starts_afresh = 1;
}

/* ---- measurements -------------------------------------------------------- */

/* 1: the entry was reset because most of its samples were off. */
static int add_to_entry(struct starpu_perfmodel_history_entry *entry,
			const struct model_sample *sample, unsigned max_error_percent)
{
	double limit = 1 + max_error_percent / 100., us = sample->duration_us, n;
	struct model_all *all = &model_entry_of(entry)->all;
	int gross = is_gross(entry, us);

	if (!gross)
		add_to_all(all, sample);
	if (entry->nsample && (us > entry->mean * limit || entry->mean > us * limit)) {
		entry->nerror += sample->number;
		if (entry->nerror < entry->nsample)
			return 0;
		entry->sum = entry->sum2 = entry->mean = entry->deviation = 0;
		entry->nsample = entry->nerror = 0;
		fade(model_entry_of(entry), gross);
		return 1;
	}
	entry->sum += us * sample->number;
	entry->sum2 += us * us * sample->number;
	entry->nsample += sample->number;
	n = entry->nsample;
	entry->mean = entry->sum / n;
	entry->deviation = sqrt(fabs(entry->sum2 - entry->sum * entry->sum / n) / n);
	if (entry->flops != sample->flops &&
	    !(fabs(entry->flops - sample->flops) <= 1e-5 * fabs(entry->flops)))
		entry->flops = NAN;
	return 0;
}

static void add_to_regression(struct starpu_perfmodel_regression_model *fit,
			      const struct model_sample *sample)
{
	double x, y;

	if (!sample->bytes || sample->duration_us <= 0)
		return;
	x = log(sample->bytes);
	y = log(sample->duration_us);
	fit->sumlnx += x * sample->number;
	fit->sumlnx2 += x * x * sample->number;
	fit->sumlny += y * sample->number;
	fit->sumlnxlny += x * y * sample->number;
	if (!fit->nsample || sample->bytes < fit->minx)
		fit->minx = sample->bytes;
	if (!fit->nsample || sample->bytes > fit->maxx)
		fit->maxx = sample->bytes;
	fit->nsample += sample->number;
}

int model_fit_add(struct model_arch *arch, enum starpu_perfmodel_type type,
		  const struct model_sample *sample, unsigned max_error_percent)
{
	struct starpu_perfmodel_history_entry *entry =
		model_arch_entry(arch, sample->footprint, 0);
	int fresh = !entry, reset = 0;

	free(arch->points);
	arch->points = NULL;
	if (fresh) {
		entry = model_arch_entry(arch, sample->footprint, 1);
		entry->size = sample->bytes;
		entry->flops = sample->flops;
	}
	/* The first run of a kernel pays for page faults and cold caches. */
	if (!fresh || type != STARPU_HISTORY_BASED || sample->number != 1)
		reset = add_to_entry(entry, sample, max_error_percent);
	if (type == STARPU_REGRESSION_BASED || type == STARPU_NL_REGRESSION_BASED)
		add_to_regression(&arch->known.regression, sample);
	return reset;
}

/* Weighted sums of ln x and ln (y - c) over the entries, for a line through them. */
struct line {
	double n, x, y, xx, xy, yy;
};

static struct line line_through(const struct model_arch *arch, double c)
{
	struct line s = {0};

	for (size_t i = 0; i < arch->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = arch->entries[i];
		double x, y, n = e->nsample;

		if (!e->nsample || !e->size || e->mean <= c)
			continue;
		x = log(e->size);
		y = log(e->mean - c);
		s.n += n;
		s.x += n * x;
		s.y += n * y;
		s.xx += n * x * x;
		s.xy += n * x * y;
		s.yy += n * y * y;
	}
	return s;
}

static double line_slope(const struct line *s)
{
	return (s->n * s->xy - s->x * s->y) / (s->n * s->xx - s->x * s->x);
}

static double line_correlation(const struct line *s)
{
	double variances = (s->n * s->xx - s->x * s->x) * (s->n * s->yy - s->y * s->y);

	return variances > 0 ? fabs(s->n * s->xy - s->x * s->y) / sqrt(variances) : 0;
}

/* The constant is below every mean: a larger one would leave out measurements, and
 * the fewer there are, the better a line fits. */
static double largest_constant(const struct model_arch *arch)
{
	double smallest = INFINITY;

	for (size_t i = 0; i < arch->nentries; i++)
		if (arch->entries[i]->nsample && arch->entries[i]->mean < smallest)
			smallest = arch->entries[i]->mean;
	return isfinite(smallest) ? 0.999 * smallest : 0;
}

static void solve_nonlinear(struct model_arch *arch)
{
	struct starpu_perfmodel_regression_model *fit = &arch->known.regression;
	double low = 0, high = largest_constant(arch);
	struct line s;

	/* The correlation has one maximum: narrow the interval around it. */
	for (int i = 0; i < 100 && high - low > 1e-9 * high; i++) {
		double third = (high - low) / 3;
		struct line left = line_through(arch, low + third);
		struct line right = line_through(arch, high - third);

		if (line_correlation(&left) < line_correlation(&right))
			low += third;
		else
			high -= third;
	}
	s = line_through(arch, low);
	fit->c = low;
	fit->b = line_slope(&s);
	fit->a = exp((s.y - fit->b * s.x) / s.n);
	fit->nl_valid = isfinite(fit->a) && isfinite(fit->b);
}

void model_fit_solve(struct model_arch *arch, enum starpu_perfmodel_type type,
		     unsigned minimum)
{
	struct starpu_perfmodel_regression_model *fit = &arch->known.regression;
	double n = fit->nsample;

	fit->valid = fit->nl_valid = 0;
	if (!has_range(fit, minimum))
		return;
	fit->beta = (n * fit->sumlnxlny - fit->sumlnx * fit->sumlny) /
		    (n * fit->sumlnx2 - fit->sumlnx * fit->sumlnx);
	fit->alpha = exp((fit->sumlny - fit->beta * fit->sumlnx) / n);
	fit->valid = isfinite(fit->alpha) && isfinite(fit->beta);
	if (type == STARPU_NL_REGRESSION_BASED)
		solve_nonlinear(arch);
}
