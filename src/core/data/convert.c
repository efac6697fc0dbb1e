/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/convert.h"

#include <stdio.h>

#include "base/check.h"
#include "core/task/codelet.h"
#include "core/task/task.h"

static enum starpu_node_kind kind_of(const struct copy_state *copy)
{
	return copy->datum->node->memories[copy->memory].kind;
}

static const struct starpu_multiformat_data_interface_ops *
formats_of(const struct copy_state *copy)
{
	return copy->datum->ops->get_mf_ops(copy->interface);
}

/* What lies on a disk is in the format of the processors. */
static int has_own_format(enum starpu_node_kind kind)
{
	return kind == STARPU_CUDA_RAM || kind == STARPU_OPENCL_RAM ||
	       kind == STARPU_HIP_RAM;
}

static int has_format_of(enum starpu_node_kind one, enum starpu_node_kind other)
{
	return one == other || (!has_own_format(one) && !has_own_format(other));
}

/* They have not the same format; NULL: the application gave none. */
static struct starpu_codelet *
codelet_between(const struct starpu_multiformat_data_interface_ops *formats,
		enum starpu_node_kind source, enum starpu_node_kind target)
{
	if (source == STARPU_CUDA_RAM)
		return formats->cuda_to_cpu_cl;
	if (source == STARPU_OPENCL_RAM)
		return formats->opencl_to_cpu_cl;
	if (target == STARPU_CUDA_RAM)
		return formats->cpu_to_cuda_cl;
	return target == STARPU_OPENCL_RAM ? formats->cpu_to_opencl_cl : NULL;
}

struct starpu_codelet *convert_codelet(const struct copy_state *from,
				       const struct copy_state *to)
{
	enum starpu_node_kind source = kind_of(from), target = kind_of(to);
	struct starpu_codelet *cl;
	char what[128];

	if (has_format_of(source, target))
		return NULL;
	cl = codelet_between(formats_of(from), source, target);
	if (!cl)
		orr_die(to->datum->node->rank,
			"%s goes from memory node %u to %u, and its formats (struct "
			"starpu_multiformat_data_interface_ops) have no codelet that "
			"converts it; give one, or keep its tasks from there (where)",
			data_describe(to->datum, what, sizeof(what)), from->memory,
			to->memory);
	return cl;
}

struct starpu_codelet *convert_expected(starpu_data_handle_t datum,
					enum starpu_node_kind target)
{
	struct starpu_codelet *cl = NULL;

	if (!datum->ops->is_multiformat)
		return NULL;
	orr_lock(&datum->lock);
	if (data_body(datum)->valid) {
		unsigned memory = (unsigned)__builtin_ctzll(datum->body->valid);
		const struct copy_state *from = data_find_copy(datum, memory);

		if (!has_format_of(kind_of(from), target))
			cl = codelet_between(formats_of(from), kind_of(from), target);
	}
	orr_unlock(&datum->lock);
	return cl;
}

/* The size of the data is that of the processors' format. */
size_t convert_bytes(const struct copy_state *from)
{
	const struct starpu_multiformat_data_interface_ops *formats = formats_of(from);
	size_t bytes = data_bytes(from->datum), here = formats->cpu_elemsize;
	enum starpu_node_kind kind = kind_of(from);

	if (kind == STARPU_CUDA_RAM)
		here = formats->cuda_elemsize;
	else if (kind == STARPU_OPENCL_RAM)
		here = formats->opencl_elemsize;
	return formats->cpu_elemsize ? bytes / formats->cpu_elemsize * here : bytes;
}

/* ---- the job ---------------------------------------------------------- */

static void describe(const struct job *job, char *text, size_t bytes)
{
	snprintf(text, bytes, "the conversion \"%.80s\"", task_name(job->task));
}

static const struct job_ops convert_ops = {.describe = describe};

int convert_is_job(const struct job *job)
{
	return job->ops == &convert_ops;
}

/* One that has nothing to do, or any. */
static struct worker *choose_worker(const struct copy_state *to,
				    const struct starpu_codelet *cl)
{
	struct node *node = to->datum->node;
	struct worker *chosen = NULL;
	char what[128];

	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];

		if (worker->memory != to->memory || worker->kind->memory != kind_of(to) ||
		    !codelet_kernel(cl, worker->kind, 0))
			continue;
		if (!chosen || (orr_load(&worker->parked) && !orr_load(&chosen->parked)))
			chosen = worker;
	}
	if (!chosen)
		orr_die(node->rank,
			"%s has come to memory node %u in a format that codelet \"%s\" "
			"converts there, and no worker can run it: give it an "
			"implementation for the workers there are",
			data_describe(to->datum, what, sizeof(what)), to->memory,
			cl->name ? cl->name : "(without a name)");
	return chosen;
}

void convert_start(const struct copy_state *to, struct starpu_codelet *cl,
		   struct plat_copy *copy)
{
	struct worker *worker = choose_worker(to, cl);
	struct starpu_task *task = task_create(worker->node);
	struct job *job = task_job(worker->node, task);

	job->ops = &convert_ops;
	job->worker = worker;
	task->cl = cl;
	task->handles[0] = to->datum;
	task->interfaces[0] = to->interface;
	task->callback_arg = copy;
	worker_run_aside(worker, job);
}

void convert_executed(struct worker *worker, struct job *job)
{
	struct plat_copy *copy = job->task->callback_arg;

	worker->busy_s += job->duration_s;
	task_destroy(job->task);
	copy->done(copy);
}
