/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* generate.c - programs from seeds: what they have in common, and those of one node. */

unsigned rng_below(struct rng *rng, unsigned n)
{
	rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(((rng->state >> 33) ^ (rng->state >> 45)) % n);
}

static int one_in(struct rng *rng, unsigned n)
{
	return rng_below(rng, n) == 0;
}

/* ---- features -------------------------------------------------------- */

static const struct {
	const char *name;
	int preset;
} feature_table[] = {
#define FUZZ_ROW(name, text, preset) {text, preset},
	FUZZ_FEATURES(FUZZ_ROW)
#undef FUZZ_ROW
};

uint64_t features_preset(void)
{
	uint64_t features = 0;

	for (int i = 0; i < NFEATURES; i++)
		features |= (uint64_t)feature_table[i].preset << i;
	return features;
}

uint64_t feature_named(const char *name)
{
	if (!strcmp(name, "all"))
		return ~(uint64_t)0 >> (64 - NFEATURES);
	for (int i = 0; i < NFEATURES; i++)
		if (!strcmp(name, feature_table[i].name))
			return (uint64_t)1 << i;
	return 0;
}

int has_feature(const struct program *program, enum feature feature)
{
	return (program->features >> feature) & 1;
}

/* ---- data ------------------------------------------------------------ */

static unsigned side(struct program *program, struct rng *rng)
{
	/* Some are larger than what travels in one message. */
	if (one_in(rng, 8))
		return program->distributed ? 2100 + rng_below(rng, 3000)
					    : 1 + rng_below(rng, 3000);
	return 1 + rng_below(rng, 9);
}

void generate_shape(struct program *program, struct rng *rng, int lane,
		    struct shape *shape)
{
	const struct lane *where = &program->lanes[lane];
	unsigned large = side(program, rng), small[3];

	for (int i = 0; i < 3; i++)
		small[i] = 1 + rng_below(rng, 7);
	*shape = (struct shape){.kind = (unsigned char)rng_below(rng, 3),
				.homed = !one_in(rng, 3),
				.nx = 1,
				.ny = 1,
				.ld = 1,
				.first = rng_below(rng, 100000)};
	shape->owner = (int)rng_below(rng, (unsigned)where->nranks);
	if (one_in(rng, 9))
		shape->owner = OWNER_EACH;
	if (where->distributed)
		shape->homed = 1;
	if (shape->kind == SHAPE_VECTOR)
		shape->nx = shape->ld = large;
	if (shape->kind == SHAPE_MATRIX) {
		shape->nx = small[0];
		shape->ny = large > 100 ? large / 7 : small[1];
		shape->ld = shape->nx + small[2] % 3;
	}
}

static void generate_data(struct program *program, struct rng *rng, int lane)
{
	struct lane *where = &program->lanes[lane];

	int many = one_in(rng, 10) && has_feature(program, FEATURE_MANY);

	where->ndata = many ? MAX_DATA : 3 + (int)rng_below(rng, 9);
	for (int i = 0; i < where->ndata; i++) {
		struct shape *shape = &where->shapes[i];

		generate_shape(program, rng, lane, shape);
		if (!where->distributed && has_feature(program, FEATURE_UNORDERED) &&
		    one_in(rng, 4)) {
			shape->order = one_in(rng, 2) ? LOOSE : LOOSE_HANDLE;
			shape->homed = 1;
		}
	}
}

/* ---- operations ------------------------------------------------------ */

struct op *program_add(struct program *program, struct rng *rng, int kind, int lane)
{
	struct op *op;

	if (program->nops == program->capacity) {
		program->capacity = program->capacity ? 2 * program->capacity : 64;
		program->ops = realloc(program->ops,
				       (size_t)program->capacity * sizeof(*program->ops));
		if (!program->ops)
			abort();
	}
	op = &program->ops[program->nops];
	*op = (struct op){.id = program->nops++,
			  .kind = (unsigned char)kind,
			  .lane = (unsigned char)lane};
	for (int i = 0; i < NCHOICES; i++)
		op->choice[i] = rng_below(rng, 1u << 19);
	op->salt = 1 + rng_below(rng, 1000000);
	op->node = (int)rng_below(rng, (unsigned)program->lanes[lane].nranks);
	op->workers = 1 | rng_below(rng, 256);
	return op;
}

static unsigned char pick_mode(struct program *program, struct rng *rng)
{
	static const unsigned char modes[] = {
		USE_R,  USE_R,       USE_R,       USE_R,       USE_W,     USE_RW,
		USE_RW, USE_COMMUTE, USE_COMMUTE, USE_SCRATCH, USE_REDUX, USE_REDUX};
	unsigned char mode = modes[rng_below(rng, sizeof(modes))];

	if (mode == USE_SCRATCH && !has_feature(program, FEATURE_SCRATCH))
		mode = USE_R;
	if (mode == USE_REDUX && !has_feature(program, FEATURE_REDUX))
		mode = USE_COMMUTE;
	return mode;
}

static unsigned char pick_loose_mode(struct program *program, struct rng *rng)
{
	int glances = one_in(rng, 3);

	return glances && has_feature(program, FEATURE_GLANCE) ? USE_GLANCE : USE_ADD;
}

static int only_loose(const struct op *op)
{
	return (op->flags & TASK_UNORDERED) != 0;
}

void generate_uses(struct program *program, struct rng *rng, struct op *op)
{
	const struct lane *lane = &program->lanes[op->lane];
	int many = one_in(rng, 15),
	    n = 1 + (int)rng_below(rng, !many              ? 5
					: lane->ndata > 20 ? MAX_USES
							   : 20);

	op->uses = calloc((size_t)n, sizeof(*op->uses));
	for (int i = 0; i < n; i++) {
		unsigned drawn = rng_below(rng, (unsigned)lane->ndata);
		/* Chance alone hardly draws more than 64 different ones. */
		struct use use = {.datum = (unsigned char)(n > 20 ? i : (int)drawn)};
		unsigned char mode = pick_mode(program, rng),
			      loose = pick_loose_mode(program, rng);

		use.variant = (unsigned char)rng_below(rng, 4);
		if (lane->shapes[use.datum].order != ORDERED)
			use.mode = loose;
		else if (!only_loose(op))
			use.mode = lane->distributed && program->threaded &&
						   mode == USE_REDUX
					   ? USE_COMMUTE
					   : mode;
		else
			continue;
		op->uses[op->nuses++] = use;
	}
}

/* Flags of a task, and with what probability, one in so many. */
static const struct {
	unsigned flag, one_in;
	enum feature feature; /* NFEATURES: always */
} task_flags[] = {
	{TASK_SYNC, 25, NFEATURES},         {TASK_KEPT, 15, NFEATURES},
	{TASK_TAGGED, 15, FEATURE_TAGS},    {TASK_AFTER, 10, FEATURE_DEPS},
	{TASK_WORKER, 12, FEATURE_WORKERS}, {TASK_WORKERS, 12, FEATURE_WORKERS},
	{TASK_PICKY, 12, FEATURE_WORKERS},  {TASK_MODEL, 4, NFEATURES},
	{TASK_CALLBACK, 2, NFEATURES},
};

static void add_task(struct program *program, struct rng *rng, int lane)
{
	struct op *op = program_add(program, rng, OP_TASK, lane);

	for (size_t i = 0; i < sizeof(task_flags) / sizeof(task_flags[0]); i++)
		if (one_in(rng, task_flags[i].one_in) &&
		    (task_flags[i].feature == NFEATURES ||
		     has_feature(program, task_flags[i].feature)))
			op->flags |= task_flags[i].flag;
	if ((op->flags & (TASK_KEPT | TASK_TAGGED | TASK_AFTER | TASK_WORKERS)) ||
	    one_in(rng, 10))
		op->flags |= TASK_BY_HAND;
	if (op->flags & TASK_KEPT)
		op->flags &= ~(unsigned)TASK_SYNC;
	if (has_feature(program, FEATURE_UNORDERED) && one_in(rng, 8))
		op->flags |= TASK_UNORDERED;
	else if (has_feature(program, FEATURE_ACCESS_ORDER) && one_in(rng, 4))
		op->flags |= TASK_EACH_ORDER;
	generate_uses(program, rng, op);
}

static void add_use(struct program *program, struct rng *rng, struct op *op)
{
	static const unsigned char modes[] = {USE_R, USE_W, USE_RW};

	op->nuses = 1;
	op->uses = calloc(1, sizeof(*op->uses));
	op->uses->datum =
		(unsigned char)rng_below(rng, (unsigned)program->lanes[op->lane].ndata);
	op->uses->mode = modes[rng_below(rng, 3)];
}

/* What else a lane of one node does, by weight; the rest are tasks. */
static const struct {
	unsigned char kind, weight, uses;
	enum feature feature;
} local_table[] = {
	{OP_ACQUIRE, 5, 1, NFEATURES},        {OP_ACQUIRE_CB, 5, 1, NFEATURES},
	{OP_TRY, 3, 1, FEATURE_TRY},          {OP_INVALIDATE, 1, 1, NFEATURES},
	{OP_PREFETCH, 2, 1, NFEATURES},       {OP_STATUS, 2, 1, NFEATURES},
	{OP_RENEW, 4, 1, NFEATURES},          {OP_WAIT_ALL, 1, 0, NFEATURES},
	{OP_WAIT_N, 2, 0, NFEATURES},         {OP_WAIT_KEPT, 2, 0, NFEATURES},
	{OP_WAIT_TAG, 2, 0, FEATURE_TAGS},    {OP_CHAIN, 5, 0, FEATURE_CHAINS},
	{OP_REPEAT, 3, 0, FEATURE_REPEAT},    {OP_PAUSE, 2, 0, FEATURE_PAUSE},
	{OP_GATE, 3, 0, FEATURE_TAGS},        {OP_EMPTY, 3, 1, NFEATURES},
	{OP_END_DEP, 3, 0, FEATURE_END_DEPS}, {OP_FAMILY, 3, 0, FEATURE_PARTITIONS},
	{OP_CROWD, 5, 0, FEATURE_CONTEXTS},
};

static void generate_local(struct program *program, struct rng *rng, int lane)
{
	unsigned at = rng_below(rng, 120);

	if (has_feature(program, FEATURE_MEDLEY) && rng_below(rng, 2)) {
		program_add(program, rng, OP_MEDLEY, lane);
		return;
	}
	for (size_t i = 0; i < sizeof(local_table) / sizeof(local_table[0]); i++) {
		struct op *op;

		if (at >= local_table[i].weight) {
			at -= local_table[i].weight;
			continue;
		}
		if (local_table[i].feature != NFEATURES &&
		    !has_feature(program, local_table[i].feature))
			break;
		op = program_add(program, rng, local_table[i].kind, lane);
		if (local_table[i].uses)
			add_use(program, rng, op);
		if (op->kind == OP_RENEW)
			generate_shape(program, rng, lane, &op->shape);
		return;
	}
	add_task(program, rng, lane);
}

/* ---- the program ----------------------------------------------------- */

static void set_env(struct program *program, const char *name, const char *value)
{
	char(*pair)[48] = program->env[program->nenv];

	if (program->nenv++ == MAX_ENV)
		abort(); /* raise it */
	snprintf(pair[0], sizeof(pair[0]), "%s", name);
	snprintf(pair[1], sizeof(pair[1]), "%s", value);
}

static void set_number(struct program *program, const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	set_env(program, name, text);
}

static void generate_env(struct program *program, struct rng *rng)
{
	static const char *const policies[] = {
		"eager",         "prio",         "lws",
		"dmda",          "dmdas",        "heteroprio",
		"graph_test",    "modular-prio", "modular-eager-prefetching",
		"modular-ws",    "modular-heft", "modular-random-prio-prefetching",
		"modular-dmdas", "modular-heft2"};
	const unsigned npolicies = sizeof(policies) / sizeof(policies[0]);
	static const char *const eager[] = {"0", "64", "16384", "100000"};
	static const char *const packets[] = {"0", "200", "4000", "1048576"};
	unsigned max = 1 + rng_below(rng, 12), min = rng_below(rng, max);
	int limited = one_in(rng, 4) && has_feature(program, FEATURE_THROTTLE);

	program->ncpus = 1 + (int)rng_below(rng, program->distributed ? 3 : 4);
	set_number(program, "STARPU_NCPU", (unsigned)program->ncpus);
	set_env(program, "STARPU_SCHED", policies[rng_below(rng, npolicies)]);
	set_number(program, "STARPU_CALIBRATE", one_in(rng, 3));
	set_number(program, "STARPU_PROFILING", one_in(rng, 3));
	set_number(program, "STARPU_PREFETCH", !one_in(rng, 3));
	set_number(program, "STARPU_MPI_CACHE", !one_in(rng, 4));
	set_number(program, "STARPU_MPI_NDETACHED_SEND", rng_below(rng, 4));
	set_number(program, "STARPU_MPI_PRIORITIES", !one_in(rng, 4));
	set_env(program, "ORRERY_MPI_EAGER", eager[rng_below(rng, 4)]);
	set_env(program, "ORRERY_MPI_PACKET", packets[rng_below(rng, 4)]);
	set_env(program, "ORRERY_MPI_COOP_BYTES", one_in(rng, 2) ? "0" : "65536");
	set_env(program, "ORRERY_MPI_PUT_BYTES", one_in(rng, 2) ? "0" : "4194304");
	set_env(program, "LB_HEAT_TIME_THRESHOLD", "0");
	set_number(program, "LB_HEAT_SLEEP_THRESHOLD", 1 + (unsigned)(program->seed % 4));
	set_env(program, "LB_HEAT_WAKEUP_RATIO", program->seed % 3 ? "0.5" : "0");
	if (one_in(rng, 2))
		max += 16, min = max - 2;
	program->limited = limited && !program->distributed;
	set_env(program, "STARPU_LIMIT_MAX_SUBMITTED_TASKS", "");
	set_env(program, "STARPU_LIMIT_MIN_SUBMITTED_TASKS", "");
	if (!program->limited)
		return;
	program->nenv -= 2;
	set_number(program, "STARPU_LIMIT_MAX_SUBMITTED_TASKS", max);
	set_number(program, "STARPU_LIMIT_MIN_SUBMITTED_TASKS", min);
}

static void generate_spill(struct program *program)
{
	struct rng rng = {program->seed * 0x2545f4914f6cdd1du + 77};

	if (!has_feature(program, FEATURE_SPILL) || !one_in(&rng, 3)) {
		set_env(program, "STARPU_LIMIT_CPU_MEM", "");
		return;
	}
	set_env(program, "STARPU_LIMIT_CPU_MEM", "64");
	program->spill_bytes = 8 + rng_below(&rng, one_in(&rng, 2) ? 1000 : 100000);
	program->ndisks = 1 + (int)rng_below(&rng, SPILL_DISKS);
	if (one_in(&rng, 3))
		program->spill_refusals = 2 + rng_below(&rng, 30);
}

/* Some programs run with bounds of the engine that hardly anybody sets. */
static void generate_bounds(struct program *program)
{
	static const struct {
		const char *name, *value[3];
	} bounds[] = {{"ORRERY_MPI_WINDOW", {"1", "2", "64"}},
		      {"ORRERY_MPI_WINDOW_BYTES", {"1", "10000", "1073741824"}},
		      {"ORRERY_MPI_EARLY_BYTES", {"0", "20000", "1073741824"}},
		      {"ORRERY_MPI_PIECE", {"100", "777", "1073741824"}},
		      {"STARPU_MPI_REDUX_ARITY_THRESHOLD", {"1", "-1", "1024"}},
		      {"ORRERY_MPI_DIRECT", {"0", "1", "2"}},
		      {"ORRERY_MPI_BESIDE", {"0", "10000", "262144"}}};
	struct rng rng = {program->seed * 0x2545f4914f6cdd1du + 79};
	int odd = one_in(&rng, 3);

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		unsigned which = odd ? rng_below(&rng, 3) : 2;

		set_env(program, bounds[i].name, bounds[i].value[which]);
		if (!strcmp(bounds[i].name, "ORRERY_MPI_EARLY_BYTES"))
			program->lacks_room = which != 2;
	}
}

/* Some programs run under the policies that choose teams. */
static void generate_policy(struct program *program)
{
	struct rng rng = {program->seed * 0x2545f4914f6cdd1du + 78};

	if (has_feature(program, FEATURE_TEAMS) && one_in(&rng, 4))
		set_env(program, "STARPU_SCHED", one_in(&rng, 2) ? "peager" : "pheft");
}

static void generate_lanes(struct program *program, struct rng *rng)
{
	int several = one_in(rng, 3), local = one_in(rng, 3), comms = one_in(rng, 3),
	    more = 1 + (int)rng_below(rng, 2);
	struct lane *lane;

	program->lanes[0] = (struct lane){.distributed = program->distributed,
					  .nranks = program->nranks};
	program->nlanes = 1;
	if (!program->distributed && several && has_feature(program, FEATURE_LANES)) {
		program->nlanes += more;
		for (int l = 1; l < program->nlanes; l++)
			program->lanes[l] = (struct lane){.nranks = 1};
	}
	if (program->distributed && local && has_feature(program, FEATURE_LOCAL_LANE))
		program->lanes[program->nlanes++] = (struct lane){.nranks = 1};
	program->threaded = program->distributed && several &&
			    has_feature(program, FEATURE_LANE_THREADS);
	if (program->threaded)
		program->lanes[program->nlanes++] = (struct lane){
			.distributed = 1, .only_transfers = 1, .nranks = program->nranks};
	if (program->distributed && comms && program->nranks > 1 &&
	    has_feature(program, FEATURE_COMMS)) {
		lane = &program->lanes[program->nlanes++];
		*lane = (struct lane){.distributed = 1, .in_comm = 1};
		lane->color = program->rank % 2;
		lane->nranks = (program->nranks + !lane->color) / 2;
	}
}

/* Only the operations that the text names stay. */
static void keep_named(struct program *program, const char *keep)
{
	char *kept = calloc((size_t)program->nops + 1, 1), *end;
	int n = 0;

	while (*keep) {
		long first = strtol(keep, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last && first < program->nops; first++)
			kept[first] = 1;
		keep = *end ? end + 1 : end;
	}
	for (int i = 0; i < program->nops; i++) {
		if (kept[program->ops[i].id])
			program->ops[n++] = program->ops[i];
		else
			free(program->ops[i].uses);
	}
	program->nops = n;
	free(kept);
}

struct program *program_make(const struct request *request)
{
	struct program *program = calloc(1, sizeof(*program));
	struct rng rng = {request->seed * 0x9e3779b97f4a7c15u + 12345};
	int nops;

	*program = (struct program){.seed = request->seed,
				    .distributed = request->distributed,
				    .nranks = request->nranks,
				    .rank = request->rank,
				    .slaves = request->slaves,
				    .features = request->features};
	for (int i = 0; i < 5; i++)
		rng_below(&rng, 2);
	generate_env(program, &rng);
	generate_spill(program);
	generate_policy(program);
	generate_bounds(program);
	generate_lanes(program, &rng);
	nops = 40 + (int)rng_below(&rng, 150);
	for (int l = 0; l < program->nlanes; l++)
		generate_data(program, &rng, l);
	for (int i = 0; i < nops; i++) {
		int lane = (int)rng_below(&rng, (unsigned)program->nlanes);

		if (program->lanes[lane].distributed)
			generate_distributed(program, &rng, lane);
		else
			generate_local(program, &rng, lane);
	}
	if (request->keep)
		keep_named(program, request->keep);
	return program;
}

void program_free(struct program *program)
{
	for (int i = 0; i < program->nops; i++)
		free(program->ops[i].uses);
	free(program->ops);
	free(program);
}
