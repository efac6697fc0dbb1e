/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/model_show.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "core/device.h"
#include "core/model/sampling.h"
#include "core/node.h"

struct model_file *model_show_file(struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *state = model->state;

	if (!state)
		return NULL;
	for (int i = 0; !state->only && i < state->nanswers; i++)
		if (state->answers[i].file)
			return state->answers[i].file;
	return state->only;
}

/* ---- which ----------------------------------------------------------- */

/* How long a name of the type the text begins with, "cuda" of "CUDA1"; 0: with none. */
static size_t begins_with(const char *text, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	return length && strncasecmp(name, text, length) == 0 &&
			       strchr(":_0123456789 ", text[length])
		       ? length
		       : 0;
}

/* As files are commented, or as the library calls it: FPGA is max_fpga there. */
static size_t is_type(const char *text, enum starpu_worker_archtype type)
{
	const struct device_type *row = device_type(type);
	size_t length = begins_with(text, model_type_name(type));

	return length ? length : begins_with(text, row ? row->name : NULL);
}

/* Is it what the text names, "cuda", "cuda1", "cuda_1", "cpu:2", or a combination as it
 * is listed, "cuda1_impl0" of "cuda1_impl0 (Comb2)"? */
static int is_named(const struct starpu_perfmodel_device *device, const char *text,
		    int implementation)
{
	size_t length = is_type(text, device->type);
	const char *at = text + length;
	int number, used = 0;

	if (!length)
		return 0;
	if (sscanf(at, "%*1[_]%d%n", &number, &used) == 1 ||
	    sscanf(at, "%d%n", &number, &used) == 1) {
		if (device->devid != number)
			return 0;
		at += used;
	}
	if (sscanf(at, "_impl%d%n", &number, &used) == 1) {
		if (implementation != number)
			return 0;
		at += used;
	}
	if (sscanf(at, ":%d%n", &number, &used) == 1)
		return !at[used] && (!number || device->ncores == number);
	return !*at || strncmp(at, " (Comb", 6) == 0;
}

static int is_chosen(const struct model_choice *choice,
		     const struct starpu_perfmodel_arch *arch, int implementation)
{
	if (choice->arch && !model_same_arch(choice->arch, arch))
		return 0;
	return !choice->type ||
	       (arch->ndevices == 1 &&
		is_named(&arch->devices[0], choice->type, implementation));
}

/* ---- text ------------------------------------------------------------ */

static void show_entry(const struct starpu_perfmodel_history_entry *entry,
		       const char *parameter, FILE *out)
{
	if (!parameter)
		fprintf(out, "%08x\t%-15lu\t%-15e\t%-15e\t%-15e\t%u\n", entry->footprint,
			(unsigned long)entry->size, entry->flops, entry->mean,
			entry->deviation, entry->nsample);
	else
		fprintf(out, "%-15e\n",
			strcmp(parameter, "mean") == 0 ? entry->mean : entry->deviation);
}

static void show_entries(const struct model_arch *known,
			 const struct model_choice *choice, FILE *out)
{
	if (!choice->parameter && known->nentries)
		fprintf(out, "# hash\t\tsize\t\tflops\t\tmean (us)\tstddev (us)\t\tn\n");
	for (const struct starpu_perfmodel_history_list *l = known->known.list; l;
	     l = l->next)
		if (!choice->footprint || l->entry->footprint == *choice->footprint)
			show_entry(l->entry, choice->parameter, out);
}

static void show_fits(const struct starpu_perfmodel_regression_model *fit, FILE *out)
{
	if (!isnan(fit->alpha) || fit->nsample)
		fprintf(out, "\tRegression : #sample = %u\n", fit->nsample);
	if (!isnan(fit->alpha))
		fprintf(out,
			"\tLinear: y = alpha size ^ beta\n\t\talpha = %e\n"
			"\t\tbeta = %e\n",
			fit->alpha, fit->beta);
	if (!isnan(fit->a))
		fprintf(out,
			"\tNon-Linear: y = a size ^b + c\n\t\ta = %e\n\t\tb = %e\n"
			"\t\tc = %e\n",
			fit->a, fit->b, fit->c);
	if (fit->ncoeff == 0 || !fit->coeff)
		return;
	fprintf(out, "\tMultiple linear: y = ");
	for (unsigned i = 0; i < fit->ncoeff; i++)
		fprintf(out, i ? " + %e x%u" : "%e", fit->coeff[i], i);
	fprintf(out, "\n");
}

/* 0, or -EINVAL: it is no parameter. */
static int show_parameter(const struct model_arch *known,
			  const struct model_choice *choice, FILE *out)
{
	const struct starpu_perfmodel_regression_model *fit = &known->known.regression;
	const struct {
		const char *name;
		double value;
	} fits[] = {{"a", fit->a},
		    {"b", fit->b},
		    {"c", fit->c},
		    {"alpha", fit->alpha},
		    {"beta", fit->beta}};

	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
		if (strcmp(choice->parameter, fits[i].name) == 0) {
			fprintf(out, "%e\n", fits[i].value);
			return 0;
		}
	if (strcmp(choice->parameter, "mean") != 0 &&
	    strcmp(choice->parameter, "stddev") != 0)
		return -EINVAL;
	show_entries(known, choice, out);
	return 0;
}

static int show_arch(const struct model_combination *combination, size_t number,
		     unsigned implementation, const struct model_choice *choice,
		     FILE *out)
{
	const struct model_arch *known = combination->implementations[implementation];

	fprintf(out, "# performance model for ");
	model_print_arch(out, &combination->arch);
	fprintf(out, "_impl%u (Comb%zu)\n", implementation, number);
	if (choice->parameter)
		return show_parameter(known, choice, out);
	if (!choice->footprint)
		show_fits(&known->known.regression, out);
	show_entries(known, choice, out);
	return 0;
}

static int show_data(const struct model_data *data, const struct model_choice *choice,
		     FILE *out)
{
	int n = 0, ret;

	for (size_t i = 0; i < data->ncombinations; i++) {
		const struct model_combination *combination = data->combinations[i];

		for (int k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
			if (!combination->implementations[k] ||
			    (choice->implementation >= 0 &&
			     choice->implementation != k) ||
			    !is_chosen(choice, &combination->arch, k))
				continue;
			ret = show_arch(combination, i, (unsigned)k, choice, out);
			if (ret)
				return ret;
			n++;
		}
	}
	return n;
}

int model_show(struct node *node, struct starpu_perfmodel *model,
	       const struct model_choice *choice, FILE *out)
{
	struct model_file *file = model_show_file(model);
	int ret;

	if (!file)
		return 0;
	orr_lock(&file->lock);
	ret = show_data(&file->data, choice, out);
	orr_unlock(&file->lock);
	if (ret < 0)
		orr_complain(
			node->rank,
			"performance model %s: it has no parameter %s; there are a, b, "
			"c, alpha, beta, mean and stddev",
			model->symbol ? model->symbol : "(without a symbol)",
			choice->parameter);
	return ret;
}

static void print_lower(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(tolower((unsigned char)*text), out);
}

int model_show_combinations(struct starpu_perfmodel *model, FILE *out)
{
	struct model_file *file = model_show_file(model);
	int n = 0;

	fprintf(out, "Model <%s>\n", model->symbol ? model->symbol : "");
	if (!file)
		return 0;
	orr_lock(&file->lock);
	for (size_t i = 0; i < file->data.ncombinations; i++, n++) {
		const struct starpu_perfmodel_arch *arch =
			&file->data.combinations[i]->arch;

		fprintf(out, "\tComb %zu: %d device%s\n", i, arch->ndevices,
			arch->ndevices == 1 ? "" : "s");
		for (int d = 0; d < arch->ndevices; d++) {
			const struct device_type *row =
				device_type(arch->devices[d].type);

			fprintf(out, "\t\tDevice %d: type: ", d);
			print_lower(row && row->name ? row->name : "unknown", out);
			fprintf(out, " - devid: %d - ncores: %d\n",
				arch->devices[d].devid, arch->devices[d].ncores);
		}
	}
	orr_unlock(&file->lock);
	return n;
}

/* ---- XML ------------------------------------------------------------- */

/* "M*K^2", as the application names its parameters; a tool knows only a file: "x2". */
static void xml_monomial(const struct starpu_perfmodel *model, unsigned i, FILE *out)
{
	int n = 0;

	if (!model->combinations || !model->parameters_names ||
	    i > model->ncombinations) {
		fprintf(out, "x%u", i);
		return;
	}
	for (unsigned k = 0; k < model->nparameters; k++) {
		unsigned power = model->combinations[i - 1][k];
		const char *name = model->parameters_names[k];

		if (!power)
			continue;
		fprintf(out, "%s%s", n++ ? "*" : "", name ? name : "?");
		if (power > 1)
			fprintf(out, "^%u", power);
	}
	if (!n)
		fputc('1', out);
}

static void xml_multiple(const struct starpu_perfmodel *model,
			 const struct starpu_perfmodel_regression_model *fit, FILE *out)
{
	if (!fit->ncoeff || !fit->coeff)
		return;
	fprintf(out, "      <ml_regression constant=\"%e\"%s>\n", fit->coeff[0],
		fit->ncoeff > 1 ? "" : "/");
	for (unsigned i = 1; i < fit->ncoeff; i++) {
		fprintf(out, "        <monomial name=\"");
		xml_monomial(model, i, out);
		fprintf(out, "\" coef=\"%e\"/>\n", fit->coeff[i]);
	}
	if (fit->ncoeff > 1)
		fprintf(out, "      </ml_regression>\n");
}

static void xml_arch(const struct starpu_perfmodel *model, const struct model_arch *known,
		     FILE *out)
{
	const struct starpu_perfmodel_regression_model *fit = &known->known.regression;

	if (!isnan(fit->a))
		fprintf(out,
			"      <!-- time = a size ^b + c -->\n"
			"      <nl_regression a=\"%e\" b=\"%e\" c=\"%e\"/>\n",
			fit->a, fit->b, fit->c);
	else if (!isnan(fit->alpha))
		fprintf(out,
			"      <!-- time = alpha size ^ beta -->\n"
			"      <l_regression sumlnx=\"%e\" sumlnx2=\"%e\" sumlny=\"%e\" "
			"sumlnxlny=\"%e\" alpha=\"%e\" beta=\"%e\" nsample=\"%u\" "
			"minx=\"%lu\" maxx=\"%lu\"/>\n",
			fit->sumlnx, fit->sumlnx2, fit->sumlny, fit->sumlnxlny,
			fit->alpha, fit->beta, fit->nsample, fit->minx, fit->maxx);
	xml_multiple(model, fit, out);
	for (const struct starpu_perfmodel_history_list *l = known->known.list; l;
	     l = l->next) {
		const struct starpu_perfmodel_history_entry *entry = l->entry;

		fprintf(out,
			"      <entry footprint=\"%08x\" size=\"%lu\" flops=\"%e\" "
			"mean=\"%e\" deviation=\"%e\" sum=\"%e\" sum2=\"%e\" "
			"nsample=\"%u\"/>\n",
			entry->footprint, (unsigned long)entry->size, entry->flops,
			entry->mean, entry->deviation, entry->sum, entry->sum2,
			entry->nsample);
	}
}

static void xml_devices(const struct starpu_perfmodel_arch *arch, FILE *out)
{
	for (int d = 0; d < arch->ndevices; d++) {
		const struct starpu_perfmodel_device *device = &arch->devices[d];
		const struct device_type *row = device_type(device->type);

		fprintf(out, "    <device type=\"%s\" id=\"%d\"",
			row && row->in_variables ? row->in_variables : "unknown",
			device->devid);
		if (device->type == STARPU_CPU_WORKER)
			fprintf(out, " ncores=\"%d\"", device->ncores);
		fprintf(out, "/>\n");
	}
}

static void xml_combination(const struct starpu_perfmodel *model,
			    const struct model_combination *combination, size_t number,
			    FILE *out)
{
	fprintf(out, "  <combination>\n");
	xml_devices(&combination->arch, out);
	for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++) {
		if (!combination->implementations[k])
			continue;
		fprintf(out, "    <implementation id=\"%u\">\n      <!-- ", k);
		model_print_arch(out, &combination->arch);
		fprintf(out, "_impl%u (Comb%zu) -->\n", k, number);
		xml_arch(model, combination->implementations[k], out);
		fprintf(out, "    </implementation>\n");
	}
	fprintf(out, "  </combination>\n");
}

void model_show_xml(struct starpu_perfmodel *model, FILE *out)
{
	struct model_file *file = model_show_file(model);

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<!DOCTYPE StarPUPerfmodel SYSTEM \"starpu-perfmodel.dtd\">\n"
		"<!-- symbol %s -->\n<!-- All times in us -->\n"
		"<perfmodel version=\"45\">\n",
		model->symbol ? model->symbol : "");
	if (file) {
		orr_lock(&file->lock);
		for (size_t i = 0; i < file->data.ncombinations; i++)
			xml_combination(model, file->data.combinations[i], i, out);
		orr_unlock(&file->lock);
	}
	fprintf(out, "</perfmodel>\n");
}

/* ---- directories ----------------------------------------------------- */

struct listing {
	FILE *out;
	int nfound;
};

static const char below[] = "codelets/45/";

static int show_directory(void *arg, const char *dir)
{
	struct listing *listing = arg;
	char path[SAMPLING_PATH_BYTES + sizeof(below)];
	DIR *models;

	snprintf(path, sizeof(path), "%s%s", dir, below);
	models = opendir(path);
	if (!models)
		return 0;
	closedir(models);
	fprintf(listing->out, "directory: <%s>\n", path);
	listing->nfound++;
	return 0;
}

static int is_model(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int show_files(void *arg, const char *dir)
{
	struct listing *listing = arg;
	char path[SAMPLING_PATH_BYTES + sizeof(below)];
	struct dirent **entries;
	int n;

	snprintf(path, sizeof(path), "%s%s", dir, below);
	n = scandir(path, &entries, is_model, alphasort);
	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		fprintf(listing->out, "file: <%s>\n", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	listing->nfound++;
	return 0;
}

int model_show_directories(const struct knobs *knobs, FILE *out)
{
	struct listing listing = {out, 0};

	sampling_each(knobs, show_directory, &listing);
	return listing.nfound ? 0 : -ENOENT;
}

int model_show_files(const struct knobs *knobs, FILE *out)
{
	struct listing listing = {out, 0};

	sampling_each(knobs, show_files, &listing);
	return listing.nfound ? 0 : -ENOENT;
}
