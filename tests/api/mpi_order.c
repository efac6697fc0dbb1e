/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Messages of any size may be received in any order; independent tasks may be inserted
 * in any order.
 */
#include <pthread.h>
#include <sched.h>

#include <orrery.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { NSIZES = 5, NMESSAGES = 24, TAGS = 7 };

static const size_t sizes[NSIZES] = {1, 1000, EAGER + 1, 100000, 1 << 20};

struct message {
	size_t bytes;
	unsigned char *at;
	starpu_data_handle_t handle;
};

static struct message message_new(size_t bytes, unsigned seed, int is_filled_now)
{
	struct message message = {.bytes = bytes};

	message.at = is_filled_now ? filled(bytes, seed) : calloc(1, bytes);
	message.handle = vector(message.at, bytes);
	return message;
}

static void message_free(struct message *message, unsigned seed)
{
	starpu_data_unregister(message->handle);
	CLAIM(is_filled(message->at, message->bytes, seed));
	free(message->at);
}

static void add_thrice(void *buffers[], void *arg)
{
	long *to = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void)arg;
	*to = (3 * *to + *(long *)STARPU_VARIABLE_GET_PTR(buffers[1])) % 1000003;
}

static struct starpu_codelet adding_cl = {.cpu_funcs = {add_thrice},
					  .nbuffers = 2,
					  .modes = {STARPU_RW, STARPU_R},
					  .model = &starpu_perfmodel_nop};

/* In a ring, each with a blocking send before its receive. */
static void all_send_before_they_receive(void)
{
	int to = (RANK + 1) % claim_size, from = (RANK + claim_size - 1) % claim_size;

	start();
	for (int i = 0; i < NSIZES; i++) {
		struct message sent = message_new(sizes[i], (unsigned)RANK, 1);
		struct message received = message_new(sizes[i], 0, 0);

		starpu_mpi_send(sent.handle, to, TAG, WORLD);
		starpu_mpi_recv(received.handle, from, TAG, WORLD, MPI_STATUS_IGNORE);
		message_free(&sent, (unsigned)RANK);
		message_free(&received, (unsigned)from);
	}
	stop();
}

static void to_itself_before_the_receive(void)
{
	start();
	for (int i = 0; i < NSIZES; i++) {
		struct message sent = message_new(sizes[i], 3, 1);
		struct message received = message_new(sizes[i], 0, 0);

		starpu_mpi_send(sent.handle, RANK, TAG, WORLD);
		starpu_mpi_recv(received.handle, RANK, TAG, WORLD, MPI_STATUS_IGNORE);
		message_free(&sent, 3);
		message_free(&received, 3);
	}
	stop();
}

/* Rank 0 waits for each send; rank 1 receives what came last first. */
static void receives_in_reverse(void)
{
	struct message messages[NSIZES];

	start();
	for (int i = 0; i < NSIZES && RANK < 2; i++)
		messages[i] = message_new(sizes[i], (unsigned)i, RANK == 0);
	for (int i = 0; i < NSIZES && RANK == 0; i++)
		starpu_mpi_send(messages[i].handle, 1, TAG + i, WORLD);
	for (int i = NSIZES - 1; i >= 0 && RANK == 1; i--)
		starpu_mpi_recv(messages[i].handle, 0, TAG + i, WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < NSIZES && RANK < 2; i++)
		message_free(&messages[i], (unsigned)i);
	stop();
}

/* The sender loops around a test, and sends what is awaited only afterwards. */
static void tests_are_a_wait(void)
{
	struct message first = {0}, second = {0};
	starpu_mpi_req request;
	int flag = 0;

	start();
	if (RANK < 2) {
		first = message_new(100000, 1, RANK == 0);
		second = message_new(100000, 2, RANK == 0);
	}
	if (RANK == 0) {
		starpu_mpi_isend(first.handle, &request, 1, TAG, WORLD);
		while (!flag)
			starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
		starpu_mpi_send(second.handle, 1, TAG + 1, WORLD);
	} else if (RANK == 1) {
		starpu_mpi_recv(second.handle, 0, TAG + 1, WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_recv(first.handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	}
	if (RANK < 2) {
		message_free(&first, 1);
		message_free(&second, 2);
	}
	stop();
}

/*
 * Rank 0 loops around a test of what rank 1 sends only after its send to rank 2, which
 * first waits for rank 0.
 */
static void test_in_vain(int pause_us)
{
	struct message large = {0}, small = {0};
	starpu_mpi_req request;
	int flag = 0;

	start();
	if (RANK == 1 || RANK == 2)
		large = message_new(100000, 1, RANK == 1);
	if (RANK < 3)
		small = message_new(8, 2, RANK == 1);
	if (RANK == 0) {
		starpu_mpi_irecv(small.handle, &request, 1, TAG, WORLD);
		while (!flag) {
			starpu_mpi_test(&request, &flag, MPI_STATUS_IGNORE);
			if (pause_us > 0)
				starpu_usleep((float)pause_us);
		}
		starpu_mpi_send(small.handle, 2, TAG, WORLD);
	} else if (RANK == 1) {
		starpu_mpi_send(large.handle, 2, TAG, WORLD);
		starpu_mpi_send(small.handle, 0, TAG, WORLD);
	} else if (RANK == 2) {
		starpu_mpi_recv(small.handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_recv(large.handle, 1, TAG, WORLD, MPI_STATUS_IGNORE);
	}
	if (RANK == 1 || RANK == 2)
		message_free(&large, 1);
	if (RANK < 3)
		message_free(&small, 2);
	stop();
}

static void tests_while_others_wait(void)
{
	if (claim_size < 3)
		return;
	test_in_vain(0);
	test_in_vain(10);
}

static unsigned draw(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*seed >> 33) % n;
}

static void shuffle(int *order, int n, uint64_t *seed)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)draw(seed, (unsigned)i + 1), kept = order[i];

		order[i] = order[k];
		order[k] = kept;
	}
}

/* Message i of a pair has tag i / TAGS and is the (i % TAGS)-th of its tag. */
static void post_all(struct message *messages, int peer, int is_send, uint64_t *seed)
{
	int ntags = (NMESSAGES + TAGS - 1) / TAGS, order[NMESSAGES];

	shuffle(order, ntags, seed);
	for (int t = 0; t < ntags; t++)
		for (int k = 0; k < TAGS && order[t] * TAGS + k < NMESSAGES; k++) {
			starpu_data_handle_t handle =
				messages[order[t] * TAGS + k].handle;
			int tag = TAG + order[t], priority = (int)draw(seed, 5);

			if (is_send && draw(seed, 3) == 0)
				starpu_mpi_send_prio(handle, peer, tag, priority, WORLD);
			else if (is_send)
				starpu_mpi_isend_detached_prio(
					handle, peer, tag, priority, WORLD, NULL, NULL);
			else
				starpu_mpi_irecv_detached_prio(
					handle, peer, tag, priority, WORLD, NULL, NULL);
		}
}

/* Both directions of a pair, in orders that each side draws for itself. */
static void random_orders(void)
{
	int peer = RANK ^ 1;

	for (uint64_t round = 0; round < 5; round++) {
		struct message sent[NMESSAGES], received[NMESSAGES];
		uint64_t seed = round * 100 + (uint64_t)RANK, common = round;

		start();
		for (int i = 0; i < NMESSAGES && peer < claim_size; i++) {
			size_t bytes = sizes[draw(&common, NSIZES)];

			sent[i] = message_new(bytes, (unsigned)(RANK + i), 1);
			received[i] = message_new(bytes, 0, 0);
		}
		if (peer < claim_size) {
			post_all(sent, peer, 1, &seed);
			post_all(received, peer, 0, &seed);
		}
		starpu_mpi_wait_for_all(WORLD);
		for (int i = 0; i < NMESSAGES && peer < claim_size; i++) {
			message_free(&sent[i], (unsigned)(RANK + i));
			message_free(&received[i], (unsigned)(peer + i));
		}
		stop();
	}
}

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[1]) +=
		*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .cpu_funcs_name = {"add_cpu"},
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static starpu_data_handle_t of_rank(long *at, int owner, int tag)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				      RANK == owner ? (uintptr_t)at : 0, sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

/* Two pairs of data; each rank begins with another pair. */
static void independent_tasks_in_any_order(void)
{
	starpu_data_handle_t handles[2][2];
	long values[2][2] = {{1, 1}, {1, 1}};

	start();
	for (int pair = 0; pair < 2; pair++)
		for (int i = 0; i < 2; i++)
			handles[pair][i] =
				of_rank(&values[pair][i], i, TAG + 2 * pair + i);
	for (int turn = 0; turn < 2; turn++) {
		starpu_data_handle_t *pair = handles[(turn + RANK) % 2];

		for (int i = 0; i < 5; i++)
			starpu_mpi_task_insert(WORLD, &add, STARPU_R, pair[i % 2],
					       STARPU_RW, pair[1 - i % 2], 0);
	}
	starpu_mpi_wait_for_all(WORLD);
	for (int pair = 0; pair < 2; pair++)
		for (int i = 0; i < 2; i++)
			starpu_data_unregister(handles[pair][i]);
	for (int pair = 0; pair < 2 && RANK < 2; pair++)
		CLAIM_EQ(values[pair][RANK], RANK == 0 ? 8 : 13);
	stop();
}

/* What all must take alike is agreed on, whatever the environment of each says. */
static void environments_may_differ(void)
{
	struct message message;

	if (orrery_is_simulated())
		return; /* All ranks have one environment. */
	setenv("ORRERY_MPI_EAGER", RANK % 2 ? "64" : "16384", 1);
	setenv("STARPU_MPI_CACHE", RANK % 2 ? "0" : "1", 1);
	start();
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 0);
	for (int from = 0; from < 2 && RANK < 2; from++) {
		message = message_new(10000, (unsigned)from, RANK == from);
		if (RANK == from)
			starpu_mpi_send(message.handle, 1 - RANK, TAG, WORLD);
		else
			starpu_mpi_recv(message.handle, from, TAG, WORLD,
					MPI_STATUS_IGNORE);
		message_free(&message, (unsigned)from);
	}
	stop();
	unsetenv("ORRERY_MPI_EAGER");
	unsetenv("STARPU_MPI_CACHE");
}

/* Rank 1 waits for the end of the send outside of the library, with nothing pending. */
static void receiver_in_a_barrier_of_mpi(void)
{
	const char *transport = getenv("ORRERY_TRANSPORT");
	struct message message;

	if (orrery_is_simulated() && transport && strcmp(transport, "mpi") == 0)
		return; /* It advances a rank inside the library only. */
	start();
	if (RANK < 2)
		message = message_new(1000000, 4, RANK == 0);
	if (RANK == 0)
		starpu_mpi_send(message.handle, 1, TAG, WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (RANK == 1)
		starpu_mpi_recv(message.handle, 0, TAG, WORLD, MPI_STATUS_IGNORE);
	if (RANK < 2)
		message_free(&message, 4);
	stop();
}

static int choose_last(int me, int size, struct starpu_data_descr *data, int ndata)
{
	(void)me;
	(void)data;
	(void)ndata;
	return size - 1;
}

/* More than there is room for at once: those of a life go with it. */
static void policies_go_with_their_life(void)
{
	for (int life = 0; life < 30; life++) {
		start();
		CLAIM_EQ(starpu_mpi_node_selection_register_policy(choose_last), 1);
		stop();
	}
}

/* What a rank sends to itself is no message to another node. */
static void own_messages_do_not_count(void)
{
	struct message sent, received;
	struct orrery_stats stats;

	start();
	sent = message_new(1000, 1, 1);
	received = message_new(1000, 0, 0);
	starpu_mpi_isend_detached(sent.handle, RANK, TAG, WORLD, NULL, NULL);
	starpu_mpi_recv(received.handle, RANK, TAG, WORLD, MPI_STATUS_IGNORE);
	orrery_get_stats(&stats);
	CLAIM_EQ(stats.messages_sent, 0);
	CLAIM_EQ(stats.bytes_sent, 0);
	message_free(&sent, 1);
	message_free(&received, 1);
	stop();
}

enum { NURGENT = 300, URGENT_TAGS = 150 };

static int arrived[NURGENT], narrived;

static void note_arrival(void *arg)
{
	arrived[narrived++] = *(int *)arg;
}

/* Two messages of each tag, of which the second is more urgent. */
static int urgency(int i)
{
	return (i * 37) % URGENT_TAGS + 1000 * (i >= URGENT_TAGS);
}

/* Rank 0 posts everything before it polls, where that is up to it: then they leave by
 * priority.  The more urgent of one tag arrives second, whatever happens. */
static void check_arrivals(void)
{
	int at[NURGENT];
	int is_in_turn = getenv("ORRERY_MPI_EXPLICIT") != NULL;

	CLAIM_EQ(narrived, NURGENT);
	for (int i = 0; i < NURGENT; i++)
		at[arrived[i]] = i;
	for (int i = 0; i < URGENT_TAGS; i++) {
		CLAIM(at[i] < at[i + URGENT_TAGS]);
		for (int k = 0; k < URGENT_TAGS && is_in_turn; k++)
			CLAIM(urgency(i) <= urgency(k) || at[i] < at[k]);
	}
}

static void the_urgent_small_ones_leave_first(void)
{
	static int values[NURGENT], numbers[NURGENT];
	starpu_data_handle_t handles[NURGENT];

	start();
	narrived = 0;
	for (int i = 0; i < NURGENT && RANK < 2; i++) {
		numbers[i] = i;
		values[i] = RANK == 0 ? i : -1;
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(values[i]));
		if (RANK == 1)
			starpu_mpi_irecv_detached(handles[i], 0, TAG + i % URGENT_TAGS,
						  WORLD, note_arrival, &numbers[i]);
	}
	starpu_mpi_barrier(WORLD);
	for (int i = 0; i < NURGENT && RANK == 0; i++)
		starpu_mpi_isend_detached_prio(handles[i], 1, TAG + i % URGENT_TAGS,
					       urgency(i), WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < NURGENT && RANK < 2; i++) {
		starpu_data_unregister(handles[i]);
		CLAIM_EQ(values[i], i);
	}
	if (RANK == 1)
		check_arrivals();
	stop();
}

enum { NREADERS = 400 };

static starpu_data_handle_t read_there[NREADERS + 1];
static int ninserted, nread;

static void count_reader(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	__atomic_add_fetch(&nread, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet reader_cl = {.cpu_funcs = {count_reader},
					  .nbuffers = 1,
					  .modes = {STARPU_R},
					  .model = &starpu_perfmodel_nop,
					  .name = "reader"};

static void insert_reader(int i, int priority)
{
	starpu_mpi_task_insert(WORLD, &reader_cl, STARPU_R, read_there[i],
			       STARPU_PRIORITY, priority, STARPU_EXECUTE_ON_NODE, 1, 0);
}

static void *insert_readers(void *unused)
{
	for (int i = 0; i < NREADERS; i++) {
		insert_reader(i, 1);
		__atomic_store_n(&ninserted, i, __ATOMIC_RELAXED);
	}
	return unused;
}

/* The first that hurries a transfer looks at all there are, of which another thread is
 * posting one. */
static void one_hurries_while_another_posts(void)
{
	pthread_t other;

	if (orrery_is_simulated() || getenv("ORRERY_MPI_EXPLICIT"))
		return;
	start();
	nread = ninserted = 0;
	for (int i = 0; i <= NREADERS; i++) {
		starpu_vector_data_register(&read_there[i], -1, 0, EAGER + 1, 1);
		starpu_mpi_data_register(read_there[i], TAG + i, 0);
		if (RANK == 0)
			starpu_data_acquire(read_there[i], STARPU_W);
	}
	insert_reader(NREADERS, 1);
	CLAIM_EQ(pthread_create(&other, NULL, insert_readers, NULL), 0);
	while (__atomic_load_n(&ninserted, __ATOMIC_RELAXED) < NREADERS / 2)
		sched_yield();
	insert_reader(NREADERS, 2);
	pthread_join(other, NULL);
	for (int i = 0; i <= NREADERS && RANK == 0; i++)
		starpu_data_release(read_there[i]);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i <= NREADERS; i++)
		starpu_data_unregister(read_there[i]);
	CLAIM_EQ(nread, RANK == 1 ? NREADERS + 2 : 0);
	stop();
}

static void meet(int step)
{
	if (step % 4 == 1)
		starpu_mpi_wait_for_all(WORLD);
	if (step % 4 < 3)
		starpu_mpi_barrier(WORLD);
	if (step % 4 == 1)
		starpu_mpi_wait_for_all(WORLD);
	if (step % 4 == 2)
		starpu_mpi_barrier(WORLD);
	if (step % 4 == 2)
		starpu_task_wait_for_all();
}

/* What a grant asks for is sent, also when the barrier's end is what the same poll saw
 * last. */
static void barriers_among_transfers(void)
{
	enum { NSTEPS = 400, NVALUES = 6 };
	starpu_data_handle_t handles[NVALUES];
	long values[NVALUES], expected[NVALUES];

	start();
	for (int i = 0; i < NVALUES; i++) {
		int is_own = i % claim_size == RANK;

		values[i] = expected[i] = i;
		starpu_variable_data_register(&handles[i], is_own ? STARPU_MAIN_RAM : -1,
					      is_own ? (uintptr_t)&values[i] : 0,
					      sizeof(long));
		starpu_mpi_data_register(handles[i], TAG + i, i % claim_size);
	}
	for (int step = 0; step < NSTEPS; step++) {
		for (int i = 0; i < NVALUES; i++) {
			int from = (i + step % (NVALUES - 1) + 1) % NVALUES;

			starpu_mpi_task_insert(WORLD, &adding_cl, STARPU_RW, handles[i],
					       STARPU_R, handles[from], 0);
			expected[i] = (3 * expected[i] + expected[from]) % 1000003;
		}
		meet(step);
	}
	for (int i = 0; i < NVALUES; i++)
		starpu_data_unregister(handles[i]);
	for (int i = RANK; i < NVALUES; i += claim_size)
		CLAIM_EQ(values[i], expected[i]);
	stop();
}

static const struct claim claims[] = {
	{"barriers among transfers", barriers_among_transfers},
	{"all send before they receive", all_send_before_they_receive},
	{"to itself before the receive", to_itself_before_the_receive},
	{"receives in reverse", receives_in_reverse},
	{"tests are a wait", tests_are_a_wait},
	{"tests while others wait", tests_while_others_wait},
	{"random orders", random_orders},
	{"one hurries while another posts", one_hurries_while_another_posts},
	{"order by priority", the_urgent_small_ones_leave_first},
	{"independent tasks in any order", independent_tasks_in_any_order},
	{"environments may differ", environments_may_differ},
	{"own messages do not count", own_messages_do_not_count},
	{"receiver in a barrier of MPI", receiver_in_a_barrier_of_mpi},
	{"policies go with their life", policies_go_with_their_life},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
