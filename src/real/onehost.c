/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE /* process_vm_readv(), memfd_create() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "core/wait.h"
#include "real/onehost.h"
#include "real/real.h"

/*
 * onehost.c - payloads between ranks of one host, copied from place to place.
 *
 * Stands before the transport of MPI: what a get is to take from the memory of a peer
 * (net_ops.reaches) it copies by process_vm_readv(), all else it passes on; what lies
 * there with gaps: spread.c.  Ranks find out when they start who may: each tells its
 * process and where a secret lies in it, and who reads that secret there has found the
 * process, whatever namespaces there are.
 *
 * A core copies as fast as it can, so the sender's, when it has nothing to do, copies as
 * well.  Each rank has a row of slots in memory that the others map: an offer of each
 * receiver.  Units of it are claimed in order, a few at a time, by the receiver, which
 * copies here, and by the sender, which writes into the memory of the receiver; so the
 * receiver waits for no more than what the sender has begun.
 *
 * Receives that wait are such slots as well, before their announcement: see onehost.h.
 *
 * There, too, receivers leave notes for the sender (net_ops.tell): what it has to hear
 * once a value is copied costs it a line of the cache, a message of MPI's several.
 *
 * The order of what is copied is that of the messages before and behind it, and of the
 * words of the slot; who looks for races sees half of it.
 */
/* What the ranks of a host tell each other. */
struct hand {
	int rank, pid, wants;
	int fd; /* of its row, or -1 */
	uint64_t secret, at;
};

/* Of a bulk, in its backend. */
struct copying {
	struct slot *slot; /* NULL: nobody is offered anything */
	int is_berth;      /* slot */
	size_t unit_bytes;
	uint32_t nunits, nown;
	uint32_t next; /* slot: behind what was claimed here last */
	int status;
	struct layout *spread; /* where it lies at the sender; NULL: in one run */
};

_Static_assert(sizeof(struct copying) <= sizeof(((struct net_bulk *)0)->backend),
	       "it lies there");

static struct copying *copying_of(struct net_bulk *bulk)
{
	return (struct copying *)(void *)bulk->backend;
}

/* ---- copies ---------------------------------------------------------- */

int onehost_status(ssize_t moved, size_t bytes)
{
	if (moved < 0)
		return -errno;
	return (size_t)moved == bytes ? 0 : -EFAULT;
}

/* Rows that lie apart here, and in one run there. */
struct rows {
	int pid, n, status;
	char *from;
	size_t bytes;
	struct iovec to[NROWS];
};

static void read_rows(struct rows *rows)
{
	struct iovec from = {rows->from, rows->bytes};

	if (rows->n > 0 && rows->status == 0)
		rows->status = onehost_status(process_vm_readv(rows->pid, rows->to,
							       (unsigned long)rows->n,
							       &from, 1, 0),
					      rows->bytes);
	rows->from += rows->bytes;
	rows->bytes = 0;
	rows->n = 0;
}

static void add_row(void *arg, char *to, const char *from, size_t bytes)
{
	struct rows *rows = arg;

	(void)from;
	rows->to[rows->n++] = (struct iovec){to, bytes};
	rows->bytes += bytes;
	if (rows->n == NROWS)
		read_rows(rows);
}

static int read_run(int pid, const struct net_bulk *bulk, size_t at, size_t bytes)
{
	struct layout parts[LAYOUT_MAX_PARTS], run;
	struct rows rows = {.pid = pid, .from = (char *)(uintptr_t)bulk->from + at};
	int nparts = layout_cut(&bulk->layout, at, bytes, parts);
	char *from = rows.from;

	for (int i = 0; i < nparts; i++) {
		layout_flat(&run, from, layout_bytes(&parts[i]));
		from += run.block_bytes;
		layout_each_row(&parts[i], &run, add_row, &rows);
	}
	read_rows(&rows);
	return rows.status;
}

static int read_piece(struct onehost *onehost, struct net_bulk *bulk, size_t at,
		      size_t bytes)
{
	const struct layout *spread = copying_of(bulk)->spread;
	int pid = neighbour_of(onehost, bulk->peer)->pid;

	if (spread)
		return spread_read(onehost, pid, &bulk->layout, spread, at, bytes);
	return read_run(pid, bulk, at, bytes);
}

/* ---- offers ---------------------------------------------------------- */

/* Of what is not offered there are none. */
static struct slot *free_slot(const struct onehost *onehost, struct row *row)
{
	for (int i = 0; i < NSLOTS; i++) {
		struct slot *slot = &row->slots[onehost->place * NSLOTS + i];

		if (load_small(&slot->nunits) == 0)
			return slot;
	}
	return NULL;
}

/* While the words change there is no piece to be claimed, and who has seen one of them
 * changed sees that, too. */
static void fill_slot(struct slot *slot, uint32_t number, const struct net_bulk *bulk,
		      const struct copying *copying)
{
	uint64_t high = (uint64_t)number << 32;

	set(&slot->claim, high | UINT32_MAX);
	set(&slot->from, bulk->from);
	set(&slot->to, (uintptr_t)bulk->layout.base);
	set(&slot->bytes, layout_bytes(&bulk->layout));
	set(&slot->unit_bytes, copying->unit_bytes);
	set_small(&slot->nwritten, 0);
	set_small(&slot->has_failed, 0);
	set_small(&slot->nunits, copying->nunits);
	set(&slot->claim, high);
}

/* Two calls of the system instead of one are worth it when the sender mostly helps. */
static int is_worth_it(struct neighbour *sender)
{
	if (sender->is_unable)
		return 0;
	return sender->nunhelped < NUNHELPED || ++sender->nskipped % NSKIPPED == 0;
}

static void offer(struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	struct neighbour *sender = neighbour_of(onehost, bulk->peer);

	if (!sender->row || bulk->is_spread || !layout_is_flat(&bulk->layout) ||
	    copying->nunits < LEAST_OFFERED || !is_worth_it(sender))
		return;
	copying->slot = free_slot(onehost, sender->row);
	if (!copying->slot)
		return;
	fill_slot(copying->slot, ++onehost->noffers, bulk, copying);
	__atomic_add_fetch(&sender->row->nopen, 1, __ATOMIC_RELEASE);
}

/* All units are claimed, and all those of the sender are there. */
static void close_offer(struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	struct neighbour *sender = neighbour_of(onehost, bulk->peer);

	sender->nunhelped = copying->nown < copying->nunits ? 0 : sender->nunhelped + 1;
	set_small(&copying->slot->nunits, 0);
	if (!copying->is_berth)
		__atomic_sub_fetch(&sender->row->nopen, 1, __ATOMIC_RELAXED);
	copying->slot = NULL;
}

/* By who does all of it. */
static uint32_t at_most(size_t nunits, size_t unit_bytes)
{
	size_t most = POLL_BYTES / unit_bytes;

	return (uint32_t)(nunits < most ? nunits : most > 0 ? most : 1);
}

/* Who is helped claims little, so that both end at about the same time. */
static uint32_t share_of(uint32_t nunits, uint32_t nleft)
{
	uint32_t share = nunits / SHARES;

	if (share < LEAST_CLAIMED)
		share = LEAST_CLAIMED;
	if (share > MOST_CLAIMED)
		share = MOST_CLAIMED;
	return share < nleft ? share : nleft;
}

/* The sender has claimed units since the last claim here.  Who began before its receiver,
 * at a berth, may be at work with what it had before that.  first: of what is left. */
static int is_helped(const struct copying *copying, uint32_t first)
{
	const struct slot *slot = copying->slot;

	if (!slot || first == 0 || first != copying->next)
		return slot != NULL;
	return copying->is_berth && load_small(&slot->nwritten) != first - copying->nown;
}

/* The receiver's next units: how many, from *first on; 0: all are claimed.  Where nobody
 * has claimed any since the last time, nobody helps. */
static uint32_t claim(struct copying *copying, uint32_t *first)
{
	size_t unit_bytes = copying->unit_bytes;
	uint64_t word = copying->slot ? load(&copying->slot->claim) : copying->next;
	uint32_t n, nleft;

	do {
		*first = (uint32_t)word;
		if (*first >= copying->nunits)
			return 0;
		nleft = copying->nunits - *first;
		n = is_helped(copying, *first) ? share_of(copying->nunits, nleft)
					       : at_most(nleft, unit_bytes);
	} while (copying->slot &&
		 !__atomic_compare_exchange_n(&copying->slot->claim, &word, word + n, 0,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	copying->next = *first + n;
	copying->nown += n;
	return n;
}

/* ---- the receiver ---------------------------------------------------- */

size_t onehost_unit_bytes(const struct onehost *onehost, size_t bytes)
{
	size_t least = bytes / MAX_UNITS + 1;

	return onehost->unit_bytes < least ? least : onehost->unit_bytes;
}

static void begin(struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	size_t bytes = layout_bytes(&bulk->layout);

	*copying = (struct copying){.unit_bytes = onehost_unit_bytes(onehost, bytes)};
	copying->nunits = units_of(bytes, copying->unit_bytes);
	if (!bulk->is_spread)
		return;
	copying->spread =
		spread_layout(neighbour_of(onehost, bulk->peer)->pid, bulk->from, bytes);
	if (!copying->spread)
		copying->status = -EFAULT;
}

/* A sender that has not begun yet may not know of it, as it does of offers. */
static void take_berth(const struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	struct slot *slot = berth_slot(onehost, bulk->peer, bulk->berth);

	if (berth_withdraw(slot))
		return;
	copying->slot = slot;
	copying->is_berth = 1;
}

static int onehost_get(struct net *net, struct net_bulk *bulk)
{
	struct onehost *onehost = onehost_of(net);

	if (!bulk->from)
		return onehost->inner->get(net, bulk);
	ORR_ASSERT(neighbour_of(onehost, bulk->peer)->pid);
	begin(onehost, bulk);
	if (bulk->berth)
		take_berth(onehost, bulk);
	bulk->next = NULL;
	*onehost->last = bulk;
	onehost->last = &bulk->next;
	return 0;
}

/* Nothing of it is under way any more.  1: it has ended. */
static int ends(struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	struct slot *slot = copying->slot;
	int has_failed = 0;

	if (slot) {
		uint32_t nwritten = load_small(&slot->nwritten);

		if (copying->nown + nwritten < copying->nunits)
			return 0;
		has_failed = load_small(&slot->has_failed) != 0;
		close_offer(onehost, bulk);
	}
	if (!has_failed)
		return 1;
	/* What the sender could not write, this rank may be able to read. */
	copying->next = copying->nown = 0;
	__atomic_store_n(&neighbour_of(onehost, bulk->peer)->is_unable, 1,
			 __ATOMIC_RELAXED);
	return 0;
}

/* Copy what can be claimed.  Returns how many bytes, 0: nothing is left. */
static size_t copy_next(struct onehost *onehost, struct net_bulk *bulk)
{
	struct copying *copying = copying_of(bulk);
	uint32_t first, n = claim(copying, &first);
	size_t at = first * copying->unit_bytes, bytes = n * copying->unit_bytes;
	size_t left = layout_bytes(&bulk->layout) - at;
	int ret;

	if (n == 0)
		return 0;
	if (bytes > left)
		bytes = left;
	if (copying->status < 0)
		return bytes;
	ret = read_piece(onehost, bulk, at, bytes);
	if (ret < 0)
		copying->status = ret;
	orr_next(&onehost->net->npieces);
	return bytes;
}

static void take_out(struct onehost *onehost, struct net_bulk **at)
{
	struct net_bulk *bulk = *at;

	*at = bulk->next;
	if (!bulk->next)
		onehost->last = at;
	bulk->status = copying_of(bulk)->status;
	free(copying_of(bulk)->spread);
	onehost->net->has_more = 0;
	bulk->done(bulk);
}

/* The first in line as far as it goes; while the sender has the rest of it, the next. */
static int copy_some(struct onehost *onehost)
{
	struct net_bulk **at = &onehost->first;
	size_t bytes = 0;
	int nended = 0;

	while (*at && bytes < POLL_BYTES) {
		struct net_bulk *bulk = *at;
		struct copying *copying = copying_of(bulk);
		size_t more;

		if (!copying->slot && copying->next == 0)
			offer(onehost, bulk);
		more = copy_next(onehost, bulk);
		bytes += more;
		if (more > 0)
			continue;
		if (ends(onehost, bulk)) {
			take_out(onehost, at);
			nended++;
			break;
		}
		at = &bulk->next;
	}
	return nended + (bytes > 0);
}

/* ---- the sender ------------------------------------------------------ */

int onehost_is_idle(const struct onehost *onehost)
{
	struct node *node = onehost->plat->node;

	return node_nsubmitted(node) <= orr_load(&node->nblocked) && wait_is_any(node);
}

static int write_piece(int pid, uint64_t from, uint64_t to, size_t bytes)
{
	struct iovec here = {(void *)(uintptr_t)from, bytes};
	struct iovec there = {(void *)(uintptr_t)to, bytes};

	return onehost_status(process_vm_writev(pid, &here, 1, &there, 1, 0), bytes);
}

/* Who gets units has read what belongs to them. */
size_t onehost_write(int pid, struct slot *slot, const struct span *span, uint64_t *word)
{
	uint32_t first = (uint32_t)*word;
	uint32_t n = share_of(span->nunits, span->nunits - first);
	size_t at = first * span->unit_bytes, bytes = n * span->unit_bytes;

	if (!__atomic_compare_exchange_n(&slot->claim, word, *word + n, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return 0;
	if (bytes > span->bytes - at)
		bytes = span->bytes - at;
	if (write_piece(pid, span->from + at, span->to + at, bytes) < 0)
		set_small(&slot->has_failed, 1);
	__atomic_add_fetch(&slot->nwritten, n, __ATOMIC_RELEASE);
	*word = load(&slot->claim);
	return bytes;
}

/* Write some of what is offered there.  Returns how many bytes. */
static size_t help_with(const struct neighbour *receiver, struct slot *slot)
{
	size_t total = 0;
	uint64_t word = load(&slot->claim);

	while (total < POLL_BYTES) {
		struct span span = {.from = load(&slot->from),
				    .to = load(&slot->to),
				    .bytes = load(&slot->bytes),
				    .unit_bytes = load(&slot->unit_bytes),
				    .nunits = load_small(&slot->nunits)};

		if ((uint32_t)word >= span.nunits)
			break;
		total += onehost_write(receiver->pid, slot, &span, &word);
	}
	return total;
}

static int help(struct onehost *onehost, struct row *row)
{
	size_t total = 0;

	if (!onehost_is_idle(onehost))
		return 0;
	for (int i = 0; i < NSLOTS * onehost->n && total < POLL_BYTES; i++)
		if (i / NSLOTS != onehost->place)
			total += help_with(&onehost->neighbours[i / NSLOTS],
					   &row->slots[i]);
	return total > 0;
}

/* ---- notes ----------------------------------------------------------- */

static int onehost_tell(struct net *net, int peer, const void *head, size_t head_bytes)
{
	const struct onehost *onehost = onehost_of(net);
	struct row *row;

	if (onehost->places[peer] < 0)
		return 0;
	row = neighbour_of(onehost, peer)->row;
	return row && load_small(&row->is_read) &&
	       notes_put(&row->notes, net->rank, head, head_bytes);
}

static int hear(struct onehost *onehost, struct row *own)
{
	struct net *net = onehost->net;
	char head[NOTE_BYTES];
	size_t bytes;
	int peer, n = 0;

	while (n < NOTES &&
	       notes_take(&own->notes, &onehost->ntaken, &peer, head, &bytes)) {
		net->has_more = 0;
		net->deliver(net, peer, head, bytes, NULL, 0);
		n++;
	}
	return n;
}

/* ---- the table ------------------------------------------------------- */

static int onehost_poll(struct net *net)
{
	struct onehost *onehost = onehost_of(net);
	struct row *own = onehost->neighbours[onehost->place].row;
	int total = own ? hear(onehost, own) : 0;

	total += onehost->inner->poll(net);
	if (onehost->first)
		total += copy_some(onehost);
	if (own && load_small(&own->nopen) > 0)
		total += help(onehost, own);
	if (own && load(&onehost->leads->used))
		total += berths_help(onehost, own) > 0;
	return total;
}

static int onehost_reaches(const struct net *net, int peer)
{
	const struct onehost *onehost = onehost_of(net);

	return onehost->places[peer] >= 0 && neighbour_of(onehost, peer)->pid;
}

static void onehost_free(struct onehost *onehost)
{
	for (int i = 0; i < onehost->n; i++)
		if (onehost->neighbours[i].row)
			munmap(onehost->neighbours[i].row, onehost->row_bytes);
	if (onehost->leads)
		berths_close(onehost);
	free(onehost->neighbours);
	free(onehost->places);
	free(onehost->gathered);
	free(onehost);
}

static void onehost_close(struct net *net)
{
	struct onehost *onehost = onehost_of(net);

	ORR_ASSERT(!onehost->first);
	onehost->inner->close(net);
	onehost_free(onehost);
}

/* ---- who reaches whom ------------------------------------------------ */

static int finds_secret(const struct hand *hand)
{
	uint64_t seen = 0;
	struct iovec here = {&seen, sizeof(seen)};
	struct iovec there = {(void *)(uintptr_t)hand->at, sizeof(seen)};

	return process_vm_readv(hand->pid, &here, 1, &there, 1, 0) == sizeof(seen) &&
	       seen == hand->secret;
}

/* A row for as many ranks as there may be: pages that nobody uses do not exist. */
static int make_row(size_t bytes)
{
	int fd = memfd_create("orrery", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static struct row *map_row(const struct hand *hand, size_t bytes)
{
	char path[64];
	void *row = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", hand->pid, hand->fd);
	fd = hand->fd < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	row = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return row == MAP_FAILED ? NULL : row;
}

static void meet(struct onehost *onehost, const struct hand *hands)
{
	for (int i = 0; i < onehost->n; i++) {
		struct neighbour *neighbour = &onehost->neighbours[i];
		int is_own = i == onehost->place;

		neighbour->place = i;
		onehost->places[hands[i].rank] = i;
		if (!is_own && hands[i].wants && finds_secret(&hands[i]))
			neighbour->pid = hands[i].pid;
		if (is_own || neighbour->pid)
			neighbour->row = map_row(&hands[i], onehost->row_bytes);
		if (is_own && neighbour->row)
			set_small(&neighbour->row->is_read, 1);
	}
}

/* Only those that reach us as well. */
static void agree(struct onehost *onehost, const struct net_config *config)
{
	size_t n = (size_t)onehost->n;
	char *own = orr_alloc(n), *all;
	void *rows;
	int place;

	for (size_t i = 0; i < n; i++)
		own[i] = onehost->neighbours[i].pid != 0;
	real_mpi_near(config->comm, own, n, &rows, &place);
	all = rows;
	for (size_t i = 0; i < n; i++)
		if (!all[i * n + (size_t)onehost->place])
			onehost->neighbours[i].pid = 0;
	free(rows);
	free(own);
}

static int reaches_any(const struct onehost *onehost)
{
	for (int i = 0; i < onehost->n; i++)
		if (onehost->neighbours[i].pid)
			return 1;
	return 0;
}

static void stand_before(struct onehost *onehost, struct net *net)
{
	berths_open(onehost);
	onehost->net = net;
	onehost->inner = net->ops;
	onehost->ops = *net->ops;
	onehost->ops.get = onehost_get;
	onehost->ops.poll = onehost_poll;
	onehost->ops.reaches = onehost_reaches;
	onehost->ops.takes = spread_takes;
	onehost->ops.tell = onehost_tell;
	if (onehost->neighbours[onehost->place].row)
		onehost->ops.ahead = &berths_ahead;
	onehost->ops.close = onehost_close;
	net->ops = &onehost->ops;
}

void onehost_open(struct plat *plat, const struct net_config *config, struct net *net)
{
	struct onehost *onehost = orr_alloc(sizeof(*onehost));
	int mode = node_knobs(plat->node)->mpi_direct;
	struct hand own = {.rank = config->rank, .pid = getpid(), .wants = mode > 0};
	void *hands;

	onehost->plat = plat;
	onehost->last = &onehost->first;
	onehost->size = config->size;
	onehost->row_bytes = sizeof(struct row) +
			     (size_t)config->size * NSLOTS * sizeof(struct slot) +
			     berths_row_bytes(config->size);
	onehost->unit_bytes = UNIT_BYTES;
	if (config->piece_bytes && config->piece_bytes < UNIT_BYTES)
		onehost->unit_bytes = config->piece_bytes;
	if (getrandom(&onehost->secret, sizeof(onehost->secret), GRND_NONBLOCK) < 0)
		own.wants = 0;
	own.secret = onehost->secret;
	own.at = (uintptr_t)&onehost->secret;
	own.fd = mode > 1 ? make_row(onehost->row_bytes) : -1;
	onehost->n =
		real_mpi_near(config->comm, &own, sizeof(own), &hands, &onehost->place);
	onehost->neighbours =
		orr_alloc((size_t)onehost->n * sizeof(*onehost->neighbours));
	onehost->places = orr_alloc((size_t)config->size * sizeof(int));
	memset(onehost->places, 0xff, (size_t)config->size * sizeof(int));
	if (own.wants)
		meet(onehost, hands);
	agree(onehost, config);
	if (own.fd >= 0)
		close(own.fd);
	free(hands);
	if (reaches_any(onehost))
		stand_before(onehost, net);
	else
		onehost_free(onehost);
}
