/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>

#include "base/table.h"
#include "core/interface/methods.h"
#include "links.h"

/*
 * pcie.c - copies between the memories of one node.
 *
 * Links: the host side in each direction (host_bw), for each GPU its own link in each
 * direction (pcie_bw) and its peer link in each direction (nvlink_bw), and for each of
 * several main memories a link in each direction to the others (numa_bw).  GPUs of
 * several kinds have links of their kind's; a GPU without peer links has none to those
 * that do.  Instead of peer links a node may have some between GPUs that it names
 * (links.h).  The host side
 * may be one link for both directions (host_shared), and be crossed by copies between
 * peers, too (host_peers; twice counts as two copies).  Copies
 * wait the latency, then share the links max-min fairly, by progressive filling over
 * the paths of the node's few copies.  What comes of it depends on nothing but how many
 * copies move on each path, so it is remembered.  One event per node.
 */
enum { HOST_TO_GPU, GPU_TO_HOST, HOST_LINKS }; /* host sides */
enum { GPU_IN, GPU_OUT, PEER_IN, PEER_OUT, GPU_LINKS };
enum { NUMA_IN, NUMA_OUT, NUMA_LINKS };
enum { PATH_LINKS = 6, MOST_CROSSINGS = 2 };

/* A device is asked for memory in chunks, of which buffers are parts; they are kept. */
#define CHUNK_BYTES (32.0 * (1 << 20))

/* What is left below this many bytes is rounding. */
#define ROUNDING_BYTES 0.01

/* A part of a date that is more than what doubles resolve there. */
#define RESOLVED_PART 0x1p-50

/* Fillings are remembered when they have few paths, and once a node has had so many. */
enum { MEMOS = 1024, MEMO_PATHS = 6, FILLINGS_WITHOUT_MEMOS = 1024 };

struct link {
	double bytes_per_s; /* INFINITY: no limit */
	double left;        /* while filling */
	int ncopies;        /* while filling: not yet rated; else 0 */
};

/* From one memory to another. */
struct path {
	int n;
	short links[PATH_LINKS];
	double latency_s, bytes_per_s; /* of a copy that has all links for itself */
	/* The copies that move here, which get one rate, < 0 while filling: not yet; and
	 * the other such paths. */
	int ncopies;
	double rate;
	struct path *next, **at;
	uint64_t mark; /* in pcie->pattern, for each copy */
};

/* The rates of the paths on which copies move. */
struct memo {
	uint64_t pattern;
	int n;
	short paths[MEMO_PATHS];
	double rates[MEMO_PATHS];
};

/* In copy->backend. */
struct transfer {
	struct plat_copy *next;
	double left_bytes, rate; /* rate 0: does not move yet */
	double start_s;          /* when the latency is over */
};

_Static_assert(sizeof(struct transfer) <= sizeof(((struct plat_copy *)0)->backend),
	       "a copy must have room for its transfer");

struct gpu {
	int id; /* in the machine, which may have some that are not chosen */
	double latency_s;
	int has_peer_links;
	double driver_until_s;           /* see pcie_work() */
	double used_bytes, chunks_bytes; /* see pcie_book() */
};

struct pcie {
	struct plat_timer event;
	struct plat_copy *first, *last; /* in flight, in the order of start */
	double updated_s, numa_latency_s;
	unsigned nmains, ngpus, nthere; /* GPUs that have memories here, and all */
	int has_shared_host, ncrossings, costs, nlinks;
	const struct links *between; /* certain GPUs: the last of the links; or NULL */
	int stages_peers; /* copies between GPUs without peer links stop in main memory */
	double queue_s, malloc_s, limit_bytes_per_s; /* 0: no limit */
	struct link *links;                          /* NULL before the first copy */
	struct path *paths;  /* by both memories; NULL before the first copy */
	struct path *moving; /* those on which copies move */
	/* The marks of these paths, once for each copy, tell how many move where: now,
	 * and when rates were last shared out. */
	uint64_t pattern, rated;
	struct memo *memos;
	int nfillings;
	short *shared; /* links that copies share, by number; scratch */
	struct gpu gpus[];
};

static struct transfer *transfer_of(struct plat_copy *copy)
{
	return (struct transfer *)(void *)copy->backend;
}

static int is_gpu(const struct pcie *pcie, unsigned memory)
{
	return memory >= pcie->nmains;
}

static int gpu_links(const struct pcie *pcie, unsigned memory)
{
	return HOST_LINKS + GPU_LINKS * (int)(memory - pcie->nmains);
}

static int numa_links(const struct pcie *pcie, unsigned memory)
{
	return HOST_LINKS + GPU_LINKS * (int)pcie->ngpus + NUMA_LINKS * (int)memory;
}

/* The main memory beside a memory: GPUs that follow each other are near to one. */
static unsigned beside(const struct pcie *pcie, unsigned memory)
{
	if (!is_gpu(pcie, memory) || pcie->nmains == 1)
		return is_gpu(pcie, memory) ? 0 : memory;
	return (unsigned)pcie->gpus[memory - pcie->nmains].id * pcie->nmains /
	       pcie->nthere;
}

/* NULL: these two have no links of their own. */
static const struct links_way *way_between(const struct pcie *pcie, unsigned from,
					   unsigned to)
{
	if (!pcie->between || from == to || !is_gpu(pcie, from) || !is_gpu(pcie, to))
		return NULL;
	return links_way(pcie->between, pcie->gpus[from - pcie->nmains].id,
			 pcie->gpus[to - pcie->nmains].id);
}

static int is_between_peers(const struct pcie *pcie, unsigned from, unsigned to)
{
	if (pcie->between)
		return way_between(pcie, from, to) != NULL;
	return is_gpu(pcie, from) && is_gpu(pcie, to) &&
	       pcie->gpus[from - pcie->nmains].has_peer_links &&
	       pcie->gpus[to - pcie->nmains].has_peer_links;
}

static int host_link(const struct pcie *pcie, int direction)
{
	return pcie->has_shared_host ? HOST_TO_GPU : direction;
}

/* By peer links, or those of two GPUs. */
static int find_direct(const struct pcie *pcie, unsigned from, unsigned to, short *path)
{
	const struct links_way *way = way_between(pcie, from, to);
	int first = pcie->nlinks - (way ? pcie->between->n : 0), n = 0;
	int ncrossings = pcie->ncrossings;

	if (!way) {
		path[n++] = (short)(gpu_links(pcie, from) + PEER_OUT);
		path[n++] = (short)(gpu_links(pcie, to) + PEER_IN);
	} else {
		path[n++] = (short)(first + way->out);
		if (way->in != way->out)
			path[n++] = (short)(first + way->in);
	}
	if (way && way->ncrossings >= 0)
		ncrossings = way->ncrossings;
	for (int i = 0; i < ncrossings; i++)
		path[n++] = (short)host_link(pcie, i % 2 ? HOST_TO_GPU : GPU_TO_HOST);
	return n;
}

static int find_path(const struct pcie *pcie, unsigned from, unsigned to, short *path)
{
	int in = gpu_links(pcie, to), out = gpu_links(pcie, from), n = 0;
	unsigned leaves = beside(pcie, from), enters = beside(pcie, to);

	if (is_between_peers(pcie, from, to))
		return find_direct(pcie, from, to, path);
	if (is_gpu(pcie, from)) {
		path[n++] = (short)(out + GPU_OUT);
		path[n++] = (short)host_link(pcie, GPU_TO_HOST);
	}
	if (leaves != enters) {
		path[n++] = (short)(numa_links(pcie, leaves) + NUMA_OUT);
		path[n++] = (short)(numa_links(pcie, enters) + NUMA_IN);
	}
	if (is_gpu(pcie, to)) {
		path[n++] = (short)host_link(pcie, HOST_TO_GPU);
		path[n++] = (short)(in + GPU_IN);
	}
	return n;
}

static double latency_of(const struct pcie *pcie, unsigned from, unsigned to)
{
	const struct links_way *way = way_between(pcie, from, to);
	double latency_s = 0;

	if (way && way->latency_s >= 0)
		return way->latency_s;
	if (is_gpu(pcie, from))
		latency_s = pcie->gpus[from - pcie->nmains].latency_s;
	if (is_gpu(pcie, to))
		latency_s = fmax(latency_s, pcie->gpus[to - pcie->nmains].latency_s);
	if (pcie->nmains > 1 && beside(pcie, from) != beside(pcie, to) &&
	    !is_between_peers(pcie, from, to))
		latency_s += pcie->numa_latency_s;
	return latency_s;
}

static void set_links(struct pcie *pcie, int first, int n, double bytes_per_s)
{
	for (int i = first; i < first + n; i++)
		pcie->links[i].bytes_per_s = bytes_per_s > 0 ? bytes_per_s : INFINITY;
}

static const struct plat_pace *pace_of(const struct plat *plat, int id)
{
	const struct starpu_perfmodel_device device = {STARPU_CUDA_WORKER, id, 1};

	return device_pace(&plat->machine, &device);
}

static void make_links(struct pcie *pcie)
{
	struct plat *plat = pcie->event.plat;
	double limit = pcie->limit_bytes_per_s;
	int first;

	pcie->links = orr_alloc((size_t)pcie->nlinks * sizeof(*pcie->links));
	set_links(pcie, 0, HOST_LINKS,
		  limit > 0 ? limit : machine_property(plat, "host_bw", 0));
	for (unsigned i = 0; i < pcie->ngpus; i++) {
		const struct plat_pace *pace = pace_of(plat, pcie->gpus[i].id);

		first = gpu_links(pcie, pcie->nmains + i);
		set_links(pcie, first + GPU_IN, 2,
			  limit > 0 ? limit : pace->link_bytes_per_s);
		set_links(pcie, first + PEER_IN, 2,
			  limit > 0 ? limit : pace->peer_bytes_per_s);
	}
	if (pcie->nmains > 1)
		set_links(pcie, numa_links(pcie, 0), NUMA_LINKS * (int)pcie->nmains,
			  machine_property(plat, "numa_bw", 0));
	for (int i = 0; pcie->between && i < pcie->between->n; i++)
		set_links(pcie, pcie->nlinks - pcie->between->n + i, 1,
			  limit > 0 ? limit : pcie->between->bytes_per_s[i]);
}

static void find_paths(struct pcie *pcie)
{
	unsigned n = pcie->nmains + pcie->ngpus;

	make_links(pcie);
	pcie->paths = orr_alloc(n * n * sizeof(*pcie->paths));
	pcie->shared = orr_alloc((size_t)pcie->nlinks * sizeof(*pcie->shared));
	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++) {
			struct path *path = &pcie->paths[from * n + to];

			path->n = find_path(pcie, from, to, path->links);
			path->latency_s = latency_of(pcie, from, to);
			path->mark = table_mix(from * n + to + 1);
			path->bytes_per_s = INFINITY;
			for (int i = 0; i < path->n; i++)
				path->bytes_per_s =
					fmin(path->bytes_per_s,
					     pcie->links[path->links[i]].bytes_per_s);
		}
}

/* A node that copies nothing needs no room for it. */
static struct path *path_of(struct pcie *pcie, unsigned from, unsigned to)
{
	if (!pcie->paths)
		find_paths(pcie);
	return &pcie->paths[from * (pcie->nmains + pcie->ngpus) + to];
}

/* Take out of the count and the capacity of their links the copies of a path that got its
 * rate, one by one: the last bits are those of a sum over copies. */
static void fix_rate(struct pcie *pcie, struct path *path, double rate)
{
	path->rate = rate;
	for (int i = 0; i < path->n; i++) {
		struct link *link = &pcie->links[path->links[i]];

		for (int k = 0; k < path->ncopies; k++)
			link->left -= rate;
		link->ncopies -= path->ncopies;
	}
}

static double fair_share(const struct link *link)
{
	double least = 1e-9 * link->bytes_per_s;

	/* Never 0, whatever rounding left over: every copy must end. */
	return (link->left > least ? link->left : least) / link->ncopies;
}

/* Rate the paths by the link with the least share; 0 when all of them have a rate. */
static int fill_tightest(struct pcie *pcie, struct path *paths, int nshared)
{
	int tightest = -1;
	double least = INFINITY;

	for (int i = 0; i < nshared; i++) {
		const struct link *link = &pcie->links[pcie->shared[i]];
		double share = link->ncopies > 0 ? fair_share(link) : INFINITY;

		if (share < least) {
			least = share;
			tightest = pcie->shared[i];
		}
	}
	if (tightest < 0)
		return 0;
	for (struct path *path = paths; path; path = path->next)
		for (int i = 0; i < path->n && path->rate < 0; i++)
			if (path->links[i] == tightest)
				fix_rate(pcie, path, least);
	return 1;
}

/* Of equal shares the first link's counts. */
static int add_shared(struct pcie *pcie, int nshared, short number, int ncopies)
{
	struct link *link = &pcie->links[number];
	int at = nshared;

	link->ncopies += ncopies;
	if (link->ncopies > ncopies)
		return nshared;
	link->left = link->bytes_per_s;
	for (; at > 0 && pcie->shared[at - 1] > number; at--)
		pcie->shared[at] = pcie->shared[at - 1];
	pcie->shared[at] = number;
	return nshared + 1;
}

static void fill(struct pcie *pcie)
{
	int nshared = 0;

	for (struct path *path = pcie->moving; path; path = path->next) {
		path->rate = -1;
		for (int i = 0; i < path->n; i++)
			nshared =
				add_shared(pcie, nshared, path->links[i], path->ncopies);
	}
	while (fill_tightest(pcie, pcie->moving, nshared))
		;
	for (int i = 0; i < nshared; i++)
		pcie->links[pcie->shared[i]].ncopies = 0;
	/* Links without a limit cost their latency only. */
	for (struct path *path = pcie->moving; path; path = path->next)
		if (path->rate < 0)
			path->rate = INFINITY;
}

static void remember(const struct pcie *pcie, struct memo *memo)
{
	int n = 0;

	for (const struct path *path = pcie->moving; path; path = path->next) {
		if (n == MEMO_PATHS)
			return;
		n++;
	}
	memo->pattern = pcie->pattern;
	memo->n = 0;
	for (const struct path *path = pcie->moving; path; path = path->next) {
		memo->paths[memo->n] = (short)(path - pcie->paths);
		memo->rates[memo->n++] = path->rate;
	}
}

/* The rates of all paths on which copies move. */
static void share_links(struct pcie *pcie)
{
	struct memo *memo;

	if (pcie->pattern == pcie->rated)
		return;
	pcie->rated = pcie->pattern;
	if (!pcie->memos) {
		fill(pcie);
		if (++pcie->nfillings == FILLINGS_WITHOUT_MEMOS)
			pcie->memos = orr_alloc(MEMOS * sizeof(*pcie->memos));
		return;
	}
	memo = &pcie->memos[pcie->pattern % MEMOS];
	if (memo->pattern == pcie->pattern) {
		for (int i = 0; i < memo->n; i++)
			pcie->paths[memo->paths[i]].rate = memo->rates[i];
		return;
	}
	fill(pcie);
	remember(pcie, memo);
}

/* Give each copy the rate of its path, and find the next event. */
static void schedule(struct pcie *pcie)
{
	double next_s = INFINITY;

	for (struct plat_copy *c = pcie->first; c; c = transfer_of(c)->next) {
		struct transfer *t = transfer_of(c);
		double date_s = t->start_s;

		if (date_s <= pcie->updated_s) {
			t->rate = path_of(pcie, c->from, c->to)->rate;
			date_s = pcie->updated_s + t->left_bytes / t->rate;
		}
		if (date_s < next_s)
			next_s = date_s;
	}
	if (next_s < INFINITY)
		calendar_move(pcie->event.plat->sim, &pcie->event, next_s);
	else
		calendar_remove(pcie->event.plat->sim, &pcie->event);
}

static void begin_moving(struct pcie *pcie, const struct plat_copy *copy)
{
	struct path *path = path_of(pcie, copy->from, copy->to);

	pcie->pattern += path->mark;
	if (path->ncopies++ > 0)
		return;
	path->next = pcie->moving;
	path->at = &pcie->moving;
	if (path->next)
		path->next->at = &path->next;
	pcie->moving = path;
}

static void end_moving(struct pcie *pcie, const struct plat_copy *copy)
{
	struct path *path = path_of(pcie, copy->from, copy->to);

	pcie->pattern -= path->mark;
	if (--path->ncopies > 0)
		return;
	*path->at = path->next;
	if (path->next)
		path->next->at = path->at;
}

/* A copy moves for a time: 1 when nothing is left, or what is takes less than time can
 * resolve. */
static int has_ended(struct transfer *t, double elapsed_s, double now_s)
{
	if (isinf(t->rate))
		t->left_bytes = 0;
	else
		t->left_bytes -= t->rate * elapsed_s;
	return t->left_bytes <= ROUNDING_BYTES ||
	       (t->left_bytes <= t->rate * now_s * RESOLVED_PART &&
		now_s + t->left_bytes / t->rate <= now_s);
}

/* Let time pass; returns the copies that have ended, linked. */
static struct plat_copy *advance(struct pcie *pcie, double now_s)
{
	struct plat_copy *ended = NULL, **end = &ended, **at = &pcie->first;
	double elapsed_s = now_s - pcie->updated_s;

	pcie->updated_s = now_s;
	pcie->last = NULL;
	while (*at) {
		struct plat_copy *copy = *at;
		struct transfer *t = transfer_of(copy);

		if (t->rate > 0 && has_ended(t, elapsed_s, now_s)) {
			end_moving(pcie, copy);
			*at = t->next;
			t->next = NULL;
			*end = copy;
			end = &t->next;
			continue;
		}
		if (t->rate <= 0 && t->start_s <= now_s)
			begin_moving(pcie, copy);
		pcie->last = copy;
		at = &t->next;
	}
	return ended;
}

/* Whose copy it is has waited. */
static void expect_end(const struct plat_copy *copy)
{
	orr_bring(copy->owner);
	orr_bring(copy + 1);
}

static void on_event(struct plat_timer *event)
{
	struct pcie *pcie = ORR_CONTAINER(event, struct pcie, event);
	struct sim *sim = event->plat->sim;
	struct plat_copy *ended = advance(pcie, sim->now_s);

	for (struct plat_copy *copy = ended; copy; copy = transfer_of(copy)->next)
		expect_end(copy);
	share_links(pcie);
	schedule(pcie);
	while (ended) {
		struct plat_copy *copy = ended;

		ended = transfer_of(copy)->next;
		methods_end(copy);
		copy->done(copy);
	}
}

struct pcie *pcie_new(struct plat *plat)
{
	const struct plat_devices *gpus = &plat->machine.devices[STARPU_CUDA_WORKER];
	int nmains = plat->machine.nnumas;
	struct pcie *pcie =
		orr_alloc(sizeof(*pcie) + (size_t)gpus->count * sizeof(struct gpu));
	const struct knobs *knobs = node_knobs(plat->node);

	pcie->event.plat = plat;
	pcie->event.fire = on_event;
	pcie->numa_latency_s = machine_property(plat, "numa_lat", 0);
	pcie->nmains = (unsigned)nmains;
	pcie->ngpus = (unsigned)gpus->count;
	pcie->nthere = (unsigned)(gpus->count + gpus->nothers);
	pcie->stages_peers = machine_property(plat, "peer_access", 1) < 1;
	pcie->has_shared_host = machine_property(plat, "host_shared", 0) > 0;
	pcie->ncrossings =
		(int)fmin(machine_property(plat, "host_peers", 0), MOST_CROSSINGS);
	pcie->costs = knobs->transfer_cost;
	pcie->limit_bytes_per_s = 1e6 * knobs->limit_bandwidth;
	pcie->malloc_s = knobs->cuda_malloc_cost ? knobs->cuda_malloc_s : 0;
	pcie->queue_s = knobs->cuda_queue_cost ? knobs->cuda_queue_s : 0;
	pcie->between = plat->links;
	pcie->nlinks = HOST_LINKS + GPU_LINKS * gpus->count +
		       (nmains > 1 ? NUMA_LINKS * nmains : 0) +
		       (pcie->between ? pcie->between->n : 0);
	for (int i = 0; i < gpus->count; i++) {
		struct gpu *gpu = &pcie->gpus[i];

		gpu->id = gpus->each ? gpus->each[i].id : i;
		gpu->latency_s = pace_of(plat, gpu->id)->link_latency_s;
		gpu->has_peer_links = pace_of(plat, gpu->id)->peer_bytes_per_s > 0;
	}
	return pcie;
}

void pcie_free(struct pcie *pcie)
{
	free(pcie->links);
	free(pcie->paths);
	free(pcie->memos);
	free(pcie->shared);
	free(pcie);
}

/* Between GPUs without links of their own, through the host's, unless they cannot reach
 * each other. */
int pcie_reaches(struct plat *plat, unsigned from, unsigned to)
{
	const struct pcie *pcie = plat->pcie;
	unsigned n = pcie->nmains + pcie->ngpus;

	/* There are memories behind those of GPUs, of disks. */
	if (from >= n || to >= n)
		return 0;
	return !pcie->stages_peers || !is_gpu(pcie, from) || !is_gpu(pcie, to) ||
	       is_between_peers(pcie, from, to);
}

void pcie_work(struct plat *plat, unsigned memory, double seconds)
{
	struct pcie *pcie = plat->pcie;
	double *until_s;

	if (!is_gpu(pcie, memory) || seconds <= 0)
		return;
	until_s = &pcie->gpus[memory - pcie->nmains].driver_until_s;
	*until_s = fmax(*until_s, plat_now_s(plat)) + seconds;
}

void pcie_book(struct plat *plat, unsigned memory, double bytes)
{
	struct pcie *pcie = plat->pcie;
	struct gpu *gpu = &pcie->gpus[memory - pcie->nmains];

	gpu->used_bytes += bytes;
	if (gpu->used_bytes <= gpu->chunks_bytes)
		return;
	gpu->chunks_bytes += fmax(CHUNK_BYTES, gpu->used_bytes - gpu->chunks_bytes);
	pcie_work(plat, memory, pcie->malloc_s);
}

double pcie_free_s(struct plat *plat, unsigned memory)
{
	const struct pcie *pcie = plat->pcie;

	return is_gpu(pcie, memory) ? pcie->gpus[memory - pcie->nmains].driver_until_s
				    : 0;
}

/* The driver of the GPU that gets the value launches the copy, else of that which has it;
 * memory of the other one that is allocated for it must be there, too. */
static double launch_s(struct plat *plat, const struct plat_copy *copy)
{
	unsigned memory = is_gpu(plat->pcie, copy->to) ? copy->to : copy->from;

	pcie_work(plat, memory, plat->pcie->queue_s);
	return fmax(plat_now_s(plat), pcie_free_s(plat, memory));
}

int pcie_copy(struct plat *plat, struct plat_copy *copy)
{
	struct pcie *pcie = plat->pcie;
	struct transfer *t = transfer_of(copy);

	if (copy->from == copy->to)
		return 1;
	/* Values are in main memories, if there are any. */
	if (!pcie->costs) {
		if (plat->machine.executes)
			methods_copy(plat->node, copy);
		return 1;
	}
	if (plat->machine.executes)
		methods_start(plat->node, copy);
	*t = (struct transfer){.left_bytes = (double)copy->bytes};
	t->start_s =
		launch_s(plat, copy) + path_of(pcie, copy->from, copy->to)->latency_s;
	*(pcie->last ? &transfer_of(pcie->last)->next : &pcie->first) = copy;
	pcie->last = copy;
	if (!calendar_has(&pcie->event) || pcie->event.entry.date_s > t->start_s) {
		calendar_move(plat->sim, &pcie->event, t->start_s);
	}
	return 0;
}

double pcie_expected_s(struct plat *plat, unsigned from, unsigned to, size_t bytes)
{
	struct pcie *pcie = plat->pcie;
	const struct path *path = path_of(pcie, from, to);

	if (from == to || !pcie->costs)
		return 0;
	return path->latency_s + (double)bytes / path->bytes_per_s;
}
