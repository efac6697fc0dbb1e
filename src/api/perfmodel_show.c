/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>

#include <starpu.h>

#include "api/api.h"
#include "base/check.h"
#include "base/signals.h"
#include "core/model/model_query.h"
#include "core/model/model_show.h"
#include "core/model/sampling.h"
#include "core/node.h"

/* Ends the program before starpu_init(): what is shown is the library's. */
static struct node *showing_node(const char *func, struct starpu_perfmodel *model)
{
	api_given(func, "model", model);
	return api_node(func);
}

void starpu_perfmodel_directory(FILE *output)
{
	model_show_directories(node_knobs(api_node(__func__)), output);
}

int starpu_perfmodel_list(FILE *output)
{
	return model_show_files(node_knobs(api_node(__func__)), output) ? 1 : 0;
}

void starpu_perfmodel_print(struct starpu_perfmodel *model,
			    struct starpu_perfmodel_arch *arch, unsigned nimpl,
			    char *parameter, uint32_t *footprint, FILE *output)
{
	struct model_choice choice = {.arch = arch,
				      .implementation = (int)nimpl,
				      .parameter = parameter,
				      .footprint = footprint};

	if (model_show(showing_node(__func__, model), model, &choice, output) < 0)
		orr_abort();
}

int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch,
			       char *parameter, uint32_t *footprint, FILE *output)
{
	struct node *node = showing_node(__func__, model);
	struct model_choice choice = {.type = arch,
				      .implementation = -1,
				      .parameter = parameter,
				      .footprint = footprint};
	int n = model_show(node, model, &choice, output);

	if (n < 0)
		orr_abort();
	if (n == 0 && arch)
		orr_complain(node->rank,
			     "%s: the model %s knows no architecture %s; "
			     "starpu_perfmodel_list_combs() says which it knows",
			     __func__, model->symbol ? model->symbol : "", arch);
	return n == 0 && arch;
}

int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model)
{
	showing_node(__func__, model);
	return model_show_combinations(model, output) == 0;
}

void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model)
{
	showing_node(__func__, model);
	model_show_xml(model, output);
}

int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model, uint32_t footprint,
				       FILE *output)
{
	struct node *node = showing_node(__func__, model);

	for (int i = 0; i < node->nworkers; i++) {
		struct starpu_perfmodel_arch *arch =
			starpu_worker_get_perf_archtype(i, STARPU_NMAX_SCHED_CTXS);
		double us = starpu_perfmodel_history_based_expected_perf(model, arch,
									 footprint);

		fprintf(output, "%s%e", i ? " " : "", isnan(us) ? INFINITY : us);
	}
	return 0;
}

void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, char *path,
				    size_t maxlen, unsigned nimpl)
{
	struct node *node = showing_node(__func__, model);
	char host[256], name[128], below[1024], found[SAMPLING_PATH_BYTES];

	if (maxlen == 0)
		return;
	*path = '\0';
	if (!model->symbol)
		return;
	model_store_host(node, host, sizeof(host));
	starpu_perfmodel_get_arch_name(arch, name, sizeof(name), nimpl);
	snprintf(below, sizeof(below), "debug/%.500s.%s.%s.debug", model->symbol, host,
		 name);
	if (sampling_place(node_knobs(node), below, found) == 0)
		snprintf(path, maxlen, "%s", found);
}
