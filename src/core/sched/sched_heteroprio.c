/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Buckets of alike tasks; each type of workers looks at them in an order of its own
 * (heteroprio: Agullo, Bramas, Coulaud, Darve, Messner, Takahashi, 2014).
 *
 * By hand the priority of a task is the number of its bucket, and the application says in
 * which order the types look.  By itself (Beaumont, Eyraud-Dubois, Kumar, 2016) the
 * bucket tells how many times faster accelerators are than cores, by the models:
 * accelerators begin with what gains most, cores with what gains least; in a bucket the
 * order is by priority.
 *
 * What some workers run faster, slower ones take when the faster have so much to do that
 * the slower end it before: n tasks for w workers of the fastest type take n / w times as
 * long as one of them.
 */
#include "core/sched/sched_heteroprio.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/nearness.h"
#include "core/model/model.h"
#include "core/outside.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"
#include "core/task/task.h"

/* Of buckets by acceleration: that of none, and how many to a factor of two. */
enum { MIDDLE = HETEROPRIO_BUCKETS / 2, PER_OCTAVE = 4 };

/* A place in a bucket, at one memory. */
struct shelf {
	struct queue common;    /* nobody is faster, or the fastest cannot run it */
	struct queue contested; /* the fastest can */
};

struct bucket {
	unsigned fastest; /* types, as in starpu_task.where; 0: nobody */
	float slowness[STARPU_NARCH];
	int ncontested;        /* tasks that the fastest can run, */
	double contested_s;    /* and how long it would take one of them */
	struct shelf *shelves; /* by memory of workers; NULL: nothing was ever here */
};

struct heteroprio {
	struct sched base;
	struct orr_lock lock; /* of all below, and around the queues */
	int njobs;            /* atomic */
	unsigned nshelves;
	unsigned char is_by_hand, is_told, is_local;
	int seen_changes; /* of the set of workers, by: */
	int nworkers[STARPU_NARCH];
	struct worker *first[STARPU_NARCH];
	double waiting_s[2]; /* by itself: contested work of accelerators, of cores */
	int npriorities[STARPU_NARCH];
	unsigned char order[STARPU_NARCH][HETEROPRIO_BUCKETS];
	struct bucket buckets[HETEROPRIO_BUCKETS];
};

static struct heteroprio *heteroprio_of(const struct sched *sched)
{
	return ORR_CONTAINER(sched, struct heteroprio, base);
}

static unsigned mask_of(int type)
{
	return (unsigned)STARPU_WORKER_TO_MASK(type);
}

static struct sched *heteroprio_open(struct node *node)
{
	struct heteroprio *hp = orr_alloc(sizeof(*hp));

	orr_lock_init(&hp->lock);
	hp->seen_changes = -1;
	hp->nshelves = 1;
	for (int i = 0; i < node->nworkers; i++)
		if (node->workers[i].memory >= hp->nshelves)
			hp->nshelves = node->workers[i].memory + 1;
	hp->is_by_hand = !node_knobs(node)->heteroprio_auto;
	hp->is_local = (unsigned char)node_knobs(node)->heteroprio_locality;
	for (int type = 0; type < STARPU_NARCH; type++) {
		hp->npriorities[type] = HETEROPRIO_BUCKETS;
		for (int i = 0; i < HETEROPRIO_BUCKETS; i++)
			hp->order[type][i] = (unsigned char)i;
	}
	for (int i = MIDDLE + 1; i < HETEROPRIO_BUCKETS; i++) {
		hp->buckets[i].fastest = ~mask_of(STARPU_CPU_WORKER);
		hp->buckets[2 * MIDDLE - i].fastest = mask_of(STARPU_CPU_WORKER);
	}
	hp->buckets[0].fastest = mask_of(STARPU_CPU_WORKER);
	return &hp->base;
}

static void heteroprio_close(struct sched *sched)
{
	struct heteroprio *hp = heteroprio_of(sched);

	for (int i = 0; i < HETEROPRIO_BUCKETS; i++) {
		struct shelf *shelves = hp->buckets[i].shelves;

		for (unsigned k = 0; shelves && k < hp->nshelves; k++) {
			queue_free(&shelves[k].common);
			queue_free(&shelves[k].contested);
		}
		free(shelves);
	}
	free(hp);
}

/* The numbers of buckets are priorities: all of them are allowed. */
static void allow_buckets(struct sched *sched)
{
	struct sched *outer = sched->outer;

	outer->min_priority = 0;
	if (outer->max_priority < HETEROPRIO_BUCKETS - 1 ||
	    outer->max_priority == INT_MAX)
		outer->max_priority = HETEROPRIO_BUCKETS - 1;
}

/* Of other schedulers, who creates them tells the application. */
static void heteroprio_opened(struct sched *sched)
{
	void (*callback)(unsigned) = sched->node->conf->sched_policy_callback;
	OUTSIDE(outside);

	if (heteroprio_of(sched)->is_by_hand)
		allow_buckets(sched);
	if (sched->id != 0 || !callback)
		return;
	outside_enter(&outside, sched->node, "sched_policy_callback");
	callback(0);
	outside_end(&outside);
}

/* ---- who is there, who may; hp is locked ------------------------------ */

static void count_workers(struct heteroprio *hp)
{
	int changes = orr_load(&hp->base.changes);

	if (hp->seen_changes == changes)
		return;
	hp->seen_changes = changes;
	memset(hp->nworkers, 0, sizeof(hp->nworkers));
	memset(hp->first, 0, sizeof(hp->first));
	SCHED_EACH_WORKER(worker, &hp->base)
	{
		if (hp->nworkers[worker->type]++ == 0)
			hp->first[worker->type] = worker;
	}
}

static int count_types(const struct heteroprio *hp, unsigned types)
{
	int n = 0;

	for (int type = 0; type < STARPU_NARCH; type++)
		if (types & mask_of(type))
			n += hp->nworkers[type];
	return n;
}

/* The k-th bucket at which the type of workers looks, or -1. */
static int bucket_at(const struct heteroprio *hp, int type, int k)
{
	if (k >= hp->npriorities[type])
		return -1;
	if (!hp->is_by_hand && type != STARPU_CPU_WORKER)
		return HETEROPRIO_BUCKETS - 1 - k;
	return hp->order[type][k];
}

static int looks_at(const struct heteroprio *hp, int type, int bucket)
{
	for (int k = 0; k < hp->npriorities[type]; k++)
		if (bucket_at(hp, type, k) == bucket)
			return 1;
	return 0;
}

static int side_of(unsigned types)
{
	return (types & mask_of(STARPU_CPU_WORKER)) != 0;
}

/* May workers of the type take what others run faster? */
static int may_take(const struct heteroprio *hp, const struct bucket *bucket, int type)
{
	int n = count_types(hp, bucket->fastest), steps;
	double each_s;

	if (n == 0 || bucket->fastest & mask_of(type))
		return 1;
	if (hp->is_by_hand)
		return (float)bucket->ncontested >= bucket->slowness[type] * (float)n;
	if (bucket->ncontested == 0)
		return 0;
	steps = abs((int)(bucket - hp->buckets) - MIDDLE);
	each_s = exp2((double)steps / PER_OCTAVE) * bucket->contested_s /
		 bucket->ncontested;
	return hp->waiting_s[side_of(bucket->fastest)] >= each_s * n;
}

/* ---- where a job waits; hp is locked ---------------------------------- */

/* Shorter than any task; 0 would be no time. */
#define LEAST_S 1e-9

static double expected_s(struct worker *worker, struct job *job)
{
	struct model_estimate estimate;
	unsigned implementation;

	if (!worker || !worker_can_run(worker, job->task, &implementation))
		return -1;
	estimate = model_expect(worker, job->task, implementation);
	return estimate.source == MODEL_NONE ? NAN : fmax(LEAST_S, estimate.seconds);
}

/* The bucket by acceleration; what models do not know is as fast everywhere. */
static int bucket_by_models(struct heteroprio *hp, struct job *job)
{
	double cpu_s = expected_s(hp->first[STARPU_CPU_WORKER], job), other_s = -1;
	double bucket;

	job->predicted_s = 0;
	for (int type = 0; type < STARPU_NARCH; type++) {
		double its_s = -1;

		if (type != STARPU_CPU_WORKER)
			its_s = expected_s(hp->first[type], job);
		if (!(its_s < 0))
			other_s = other_s < 0 ? its_s : fmin(other_s, its_s);
	}
	if (cpu_s < 0 && other_s < 0)
		return MIDDLE;
	if (cpu_s < 0)
		return HETEROPRIO_BUCKETS - 1;
	if (other_s < 0)
		return hp->nworkers[STARPU_CPU_WORKER] == count_types(hp, ~0u) ? MIDDLE
									       : 0;
	if (isnan(cpu_s) || isnan(other_s))
		return MIDDLE;
	job->predicted_s = fmin(cpu_s, other_s);
	bucket = MIDDLE + rint(PER_OCTAVE * log2(cpu_s / other_s));
	return (int)fmax(1, fmin(bucket, HETEROPRIO_BUCKETS - 2));
}

static int is_filtered(const struct job *job)
{
	return job->task->cl->can_execute || job->task->workerids;
}

static void check_bucket(const struct heteroprio *hp, const struct job *job, int bucket)
{
	for (int type = 0; type < STARPU_NARCH; type++)
		if (job->where & mask_of(type) && looks_at(hp, type, bucket))
			return;
	orr_die(job->node->rank,
		"task \"%s\" has priority %d, which heteroprio takes for the number of "
		"its bucket, and no type of workers that can run it looks at that one; "
		"name the bucket in starpu_heteroprio_set_mapping(), and as many "
		"priorities in starpu_heteroprio_set_nb_prios()",
		task_name(job->task), job->task->priority);
}

static int choose_bucket(struct heteroprio *hp, struct job *job)
{
	int bucket;

	if (!hp->is_by_hand)
		return is_filtered(job) ? MIDDLE : bucket_by_models(hp, job);
	bucket = job->task->priority;
	if (bucket < 0)
		bucket = 0;
	if (bucket >= HETEROPRIO_BUCKETS)
		bucket = HETEROPRIO_BUCKETS - 1;
	check_bucket(hp, job, bucket);
	job->predicted_s = 0;
	return bucket;
}

/* Of a memory of workers that can run it the one that lacks least, of equal ones where
 * fewest tasks wait. */
static unsigned choose_memory(const struct heteroprio *hp, const struct bucket *bucket,
			      const struct job *job)
{
	size_t least = SIZE_MAX;
	unsigned best = 0;
	int fewest = 0;

	if (!hp->is_local)
		return 0;
	SCHED_EACH_WORKER(worker, &hp->base)
	{
		struct shelf *shelf = &bucket->shelves[worker->memory];
		int n = queue_length(&shelf->common) + queue_length(&shelf->contested);
		size_t lacks;

		if (!(job->where & mask_of((int)worker->type)) ||
		    (worker->memory == best && least != SIZE_MAX))
			continue;
		lacks = nearness_lacks_bytes(job, worker->memory);
		if (lacks > least || (lacks == least && n >= fewest))
			continue;
		best = worker->memory;
		least = lacks;
		fewest = n;
	}
	return best;
}

static struct bucket *bucket_open(struct heteroprio *hp, int number)
{
	struct bucket *bucket = &hp->buckets[number];

	if (bucket->shelves)
		return bucket;
	bucket->shelves = orr_alloc_lines(hp->nshelves * sizeof(bucket->shelves[0]));
	for (unsigned i = 0; i < hp->nshelves; i++) {
		queue_init(&bucket->shelves[i].common, hp->is_by_hand);
		queue_init(&bucket->shelves[i].contested, hp->is_by_hand);
	}
	return bucket;
}

static void put(struct heteroprio *hp, struct bucket *bucket, struct job *job)
{
	struct shelf *shelf = &bucket->shelves[choose_memory(hp, bucket, job)];

	if (is_filtered(job) || !(job->where & bucket->fastest)) {
		queue_push(&shelf->common, job);
		return;
	}
	bucket->ncontested++;
	bucket->contested_s += job->predicted_s;
	hp->waiting_s[side_of(bucket->fastest)] += job->predicted_s;
	queue_push(&shelf->contested, job);
}

/* Who sleeps, and would take a job from the bucket; the fastest rather than others. */
static struct worker *sleeper(const struct heteroprio *hp, const struct bucket *bucket,
			      unsigned where)
{
	struct worker *best = NULL;

	if (orr_load(&hp->base.node->nidle) == 0)
		return NULL;
	SCHED_EACH_WORKER(worker, &hp->base)
	{
		unsigned type = mask_of((int)worker->type);

		if (!(where & type) || !worker_sleeps(worker) ||
		    !looks_at(hp, (int)worker->type, (int)(bucket - hp->buckets)) ||
		    !may_take(hp, bucket, (int)worker->type))
			continue;
		if (!best || (bucket->fastest & type &&
			      !(bucket->fastest & mask_of((int)best->type))))
			best = worker;
	}
	return best;
}

static struct worker *heteroprio_push(struct sched *sched, struct job *job)
{
	struct heteroprio *hp = heteroprio_of(sched);
	int filtered = is_filtered(job);
	struct worker *worker = NULL;
	struct bucket *bucket;

	orr_lock(&hp->lock);
	count_workers(hp);
	bucket = bucket_open(hp, choose_bucket(hp, job));
	put(hp, bucket, job);
	orr_store(&hp->njobs, hp->njobs + 1);
	/* As sched_push() does; of those that are walked, any may be the one. */
	orr_fence();
	if (!filtered)
		worker = sleeper(hp, bucket, job->where);
	orr_unlock(&hp->lock);
	return worker;
}

/* ---- what a worker takes; hp is locked -------------------------------- */

static struct job *take(struct heteroprio *hp, struct bucket *bucket,
			struct worker *worker, int is_contested)
{
	unsigned n = hp->nshelves;
	struct job *job = NULL;

	/* Its own memory first. */
	for (unsigned i = 0; i < n && !job; i++) {
		struct shelf *shelf = &bucket->shelves[(worker->memory + i) % n];

		job = queue_pop(is_contested ? &shelf->contested : &shelf->common,
				worker);
	}
	if (!job || !is_contested)
		return job;
	hp->waiting_s[side_of(bucket->fastest)] -= job->predicted_s;
	bucket->contested_s -= job->predicted_s;
	if (--bucket->ncontested == 0)
		bucket->contested_s = 0; /* No rounding stays. */
	return job;
}

static struct job *heteroprio_pop(struct sched *sched, struct worker *worker)
{
	struct heteroprio *hp = heteroprio_of(sched);
	struct job *job = NULL;
	int number;

	if (orr_load(&hp->njobs) == 0)
		return NULL;
	orr_lock(&hp->lock);
	count_workers(hp);
	for (int k = 0; !job && (number = bucket_at(hp, (int)worker->type, k)) >= 0;
	     k++) {
		struct bucket *bucket = &hp->buckets[number];

		if (!bucket->shelves)
			continue;
		job = take(hp, bucket, worker, 0);
		if (!job && bucket->ncontested > 0 &&
		    may_take(hp, bucket, (int)worker->type))
			job = take(hp, bucket, worker, 1);
	}
	if (job)
		orr_store(&hp->njobs, hp->njobs - 1);
	if (hp->njobs == 0)
		hp->waiting_s[0] = hp->waiting_s[1] = 0;
	orr_unlock(&hp->lock);
	return job;
}

/* Nothing lies at one worker; but others may take now what was for the faster ones. */
static void heteroprio_remove_worker(struct sched *sched, struct worker *worker,
				     struct ready *left)
{
	(void)worker;
	(void)left;
	if (orr_load(&heteroprio_of(sched)->njobs) == 0)
		return;
	orr_fence();
	workers_wake(sched, ~0u, 1);
}

/* ---- what the application tells --------------------------------------- */

/* The first word of the application's ends the order by models; hp is locked. */
static int begin_by_hand(struct heteroprio *hp, unsigned type, unsigned bucket)
{
	if (type >= STARPU_NARCH || bucket >= HETEROPRIO_BUCKETS)
		return -EINVAL;
	if (hp->njobs > 0)
		return -EBUSY;
	if (hp->is_told)
		return 0;
	hp->is_told = hp->is_by_hand = 1;
	for (int i = 0; i < HETEROPRIO_BUCKETS; i++)
		hp->buckets[i].fastest = 0;
	/* Who is not told of looks at nothing. */
	memset(hp->npriorities, 0, sizeof(hp->npriorities));
	allow_buckets(&hp->base);
	return 0;
}

int heteroprio_set_npriorities(struct sched *sched, unsigned type, unsigned n)
{
	struct heteroprio *hp = heteroprio_of(sched);
	int ret;

	if (n > HETEROPRIO_BUCKETS)
		return -EINVAL;
	orr_lock(&hp->lock);
	ret = begin_by_hand(hp, type, 0);
	if (ret == 0)
		hp->npriorities[type] = (int)n;
	orr_unlock(&hp->lock);
	return ret;
}

int heteroprio_set_bucket(struct sched *sched, unsigned type, unsigned priority,
			  unsigned bucket)
{
	struct heteroprio *hp = heteroprio_of(sched);
	int ret;

	if (priority >= HETEROPRIO_BUCKETS)
		return -EINVAL;
	orr_lock(&hp->lock);
	ret = begin_by_hand(hp, type, bucket);
	if (ret == 0)
		hp->order[type][priority] = (unsigned char)bucket;
	orr_unlock(&hp->lock);
	return ret;
}

int heteroprio_set_fastest(struct sched *sched, unsigned type, unsigned bucket)
{
	struct heteroprio *hp = heteroprio_of(sched);
	int ret;

	orr_lock(&hp->lock);
	ret = begin_by_hand(hp, type, bucket);
	if (ret == 0)
		hp->buckets[bucket].fastest = mask_of((int)type);
	orr_unlock(&hp->lock);
	return ret;
}

int heteroprio_set_slowness(struct sched *sched, unsigned type, unsigned bucket,
			    float factor)
{
	struct heteroprio *hp = heteroprio_of(sched);
	int ret;

	if (!(factor >= 0))
		return -EINVAL;
	orr_lock(&hp->lock);
	ret = begin_by_hand(hp, type, bucket);
	if (ret == 0)
		hp->buckets[bucket].slowness[type] = factor;
	orr_unlock(&hp->lock);
	return ret;
}

void heteroprio_set_locality(struct sched *sched, int is_local)
{
	struct heteroprio *hp = heteroprio_of(sched);

	orr_lock(&hp->lock);
	hp->is_local = is_local != 0;
	orr_unlock(&hp->lock);
}

void heteroprio_print_groups(const struct sched *sched, FILE *out)
{
	const struct node *node = sched->node;

	for (int i = 0; i < node_nmemories(node); i++) {
		fprintf(out, "group %d, memory %s %d:", i, node->memories[i].name,
			node->memories[i].devid);
		SCHED_EACH_WORKER(worker, sched)
		{
			if (worker->memory == (unsigned)i)
				fprintf(out, " %d", worker->id);
		}
		fprintf(out, "\n");
	}
}

const struct sched_ops sched_heteroprio = {
	.object = {INNER_CALLS(heteroprio), .policy_name = "heteroprio",
		   .policy_description =
			   "buckets of alike tasks, in an order of their own "
			   "for each type of workers"},
	.least = INT_MIN,
	.most = INT_MAX,
	.open = heteroprio_open,
	.opened = heteroprio_opened,
	.close = heteroprio_close,
	.push = heteroprio_push,
	.pop = heteroprio_pop,
	.remove_worker = heteroprio_remove_worker,
};
