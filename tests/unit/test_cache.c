/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/data/data_ops.h"
#include "mpi/afar.h"
#include "mpi_world.h"

/* ---- what the cache notes -------------------------------------------- */

/* A list, then a bitmap: the set says the same at all sizes. */
static void destinations_are_noted_once(void **state)
{
	enum { N = WORLD_MAX };
	starpu_data_handle_t handle;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(N);
	mpi = world_mpi(0);
	handle = world_vector(0, &value, 1);
	registry_register(mpi, handle, 3, 0, 0, "test");
	for (int rank = 1; rank < N; rank++) {
		int noted = rank * 37 % N;

		assert_false(cache_has_sent(mpi, handle, noted));
		assert_false(cache_note_sent(mpi, handle, noted));
		assert_true(cache_note_sent(mpi, handle, noted));
		assert_int_equal(handle->sent->count, rank);
	}
	assert_false(cache_has_sent(mpi, handle, 0));
	cache_clear(mpi, handle);
	assert_null(handle->sent);
	assert_false(handle->flags & DATUM_SENT);
	assert_false(cache_has_sent(mpi, handle, 37));
	assert_false(cache_note_sent(mpi, handle, 37));
	world_forget(0, handle);
	assert_true(list_is_empty(&mpi->cache.cached));
	world_close();
}

/* Its last user may end, and free it, while all that is noted is gone over. */
static void what_ends_is_not_noted_any_more(void **state)
{
	starpu_data_handle_t handle;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(2);
	mpi = world_mpi(0);
	handle = world_vector(0, &value, 1);
	registry_register(mpi, handle, 3, 0, 0, "test");
	fake_select(0);
	assert_int_equal(starpu_data_acquire(handle, STARPU_R), 0);
	cache_note_sent(mpi, handle, 1);
	reduce_note(mpi, 0, handle, 1, "test");
	starpu_data_unregister_submit(handle);
	assert_true(list_is_empty(&mpi->cache.cached));
	assert_true(list_is_empty(&mpi->reductions.due));
	assert_ptr_equal(registry_find(mpi, 3), handle);
	starpu_data_release(handle);
	assert_null(registry_find(mpi, 3));
	world_close();
}

static void off_means_never(void **state)
{
	starpu_data_handle_t handle;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(2);
	mpi = world_mpi(0);
	handle = world_vector(0, &value, 1);
	registry_register(mpi, handle, 3, 0, 0, "test");
	assert_false(cache_note_sent(mpi, handle, 1));
	cache_set(mpi, 0);
	assert_null(handle->sent);
	assert_false(cache_note_sent(mpi, handle, 1));
	assert_false(cache_note_sent(mpi, handle, 1));
	cache_set(mpi, 1);
	assert_false(cache_note_sent(mpi, handle, 1));
	assert_true(cache_note_sent(mpi, handle, 1));
	world_forget(0, handle);
	world_close();
}

/* ---- tags ------------------------------------------------------------ */

/* Tags come and go in any order; a tag may be set again, or changed and given on. */
static void tags_are_found_again(void **state)
{
	enum { N = 1000 };
	static starpu_data_handle_t handles[N];
	struct registry *registry;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(1);
	mpi = world_mpi(0);
	registry = &mpi->registry;
	for (int i = 0; i < N; i++) {
		handles[i] = world_vector(0, &value, 1);
		registry_register(mpi, handles[i], (int64_t)i * 4096, 0, 0, "test");
		registry_register(mpi, handles[i], (int64_t)i * 4096, 0, 0, "test");
	}
	assert_int_equal(registry->count, N);
	for (int i = 0; i < N; i++)
		registry_register(mpi, handles[i], i + ((int64_t)1 << 50), OWNER_UNSET, 0,
				  "test");
	for (int i = 0; i < N; i += 2)
		world_forget(0, handles[i]);
	assert_int_equal(registry->count, N / 2);
	for (int i = 0; i < N; i += 2) {
		handles[i] = world_vector(0, &value, 1);
		registry_register(mpi, handles[i], (int64_t)(i + 1) * 4096, 0, 0, "test");
	}
	for (int i = 0; i < N; i++)
		world_forget(0, handles[i]);
	assert_int_equal(registry->count, 0);
	world_close();
}

/* Data that come and go, in any order: each tag leads to its own, the others to none. */
static void tags_that_ended_are_not_found(void **state)
{
	enum { N = 300, STEPS = 30000 };
	static starpu_data_handle_t handles[N];
	struct registry *registry;
	unsigned random = 1;
	struct mpi *mpi;
	int value = 0;

	(void)state;
	world_open(1);
	mpi = world_mpi(0);
	registry = &mpi->registry;
	for (int step = 0; step < STEPS; step++) {
		int tag = (int)((random = random * 1103515245U + 12345U) >> 16) % N;

		assert_ptr_equal(registry_find(mpi, tag), handles[tag]);
		if (handles[tag]) {
			world_forget(0, handles[tag]);
			handles[tag] = NULL;
		} else {
			handles[tag] = world_vector(0, &value, 1);
			registry_register(mpi, handles[tag], tag, 0, 0, "test");
		}
		assert_ptr_equal(registry_find(mpi, tag), handles[tag]);
	}
	/* Half of them at a time: the table is no larger than they need. */
	assert_true(registry->mask < 1024);
	for (int tag = 0; tag < N; tag++)
		if (handles[tag])
			world_forget(0, handles[tag]);
	for (int tag = 0; tag < N; tag++)
		assert_null(registry_find(mpi, tag));
	assert_int_equal(registry->count, 0);
	assert_int_equal(registry->nleft, 0);
	world_close();
}

static void ranges_fill_holes(void **state)
{
	struct tag_ranges tags;

	(void)state;
	tag_ranges_init(&tags);
	assert_int_equal(tag_ranges_take(&tags, 10), 0);
	assert_int_equal(tag_ranges_take(&tags, 5), 10);
	assert_int_equal(tag_ranges_take(&tags, 7), 15);
	assert_int_equal(tag_ranges_give(&tags, 10), 0);
	assert_int_equal(tag_ranges_give(&tags, 10), -EINVAL);
	assert_int_equal(tag_ranges_take(&tags, 6), 22);
	assert_int_equal(tag_ranges_take(&tags, 5), 10);
	assert_int_equal(tag_ranges_take(&tags, INT64_MAX), -ENOSPC);
	assert_true(tag_ranges_take(&tags, INT64_MAX - 28) == 28);
	assert_int_equal(tag_ranges_take(&tags, 2), -ENOSPC);
	tag_ranges_free(&tags);
}

/* The first of so many zeros in a row, which become ones. */
static int take_in_map(char *map, int ntags, int count)
{
	int nfree = 0;

	for (int i = 0; i < ntags; i++) {
		nfree = map[i] ? 0 : nfree + 1;
		if (nfree < count)
			continue;
		memset(&map[i - count + 1], 1, (size_t)count);
		return i - count + 1;
	}
	return -1;
}

static void ranges_are_the_first_that_fit(void **state)
{
	enum { NTAGS = 4096, NRANGES = 128 };
	static char map[NTAGS];
	int first[NRANGES], count[NRANGES], n = 0;
	struct tag_ranges tags;

	(void)state;
	tag_ranges_init(&tags);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned draw = (unsigned)(table_mix(step + 1) >> 32);
		int i = n ? (int)(draw % (unsigned)n) : 0;

		/* Waves: they get many, then few. */
		if (n < NRANGES &&
		    (n == 0 || (draw >> 8) % 8 < (step / 500) % 2 * 4 + 2)) {
			count[n] = 1 + (int)((draw >> 16) % 12);
			first[n] = take_in_map(map, NTAGS, count[n]);
			assert_int_equal(tag_ranges_take(&tags, count[n]), first[n]);
			n++;
			continue;
		}
		assert_int_equal(tag_ranges_give(&tags, first[i]), 0);
		assert_int_equal(tag_ranges_give(&tags, first[i]), -EINVAL);
		memset(&map[first[i]], 0, (size_t)count[i]);
		first[i] = first[--n];
		count[i] = count[n];
	}
	tag_ranges_free(&tags);
}

/* ---- insertion on several nodes -------------------------------------- */

static void increment(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static void add(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VECTOR_GET_PTR(buffers[1]) +=
		*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl_increment = {.cpu_funcs = {increment},
					     .nbuffers = 1,
					     .modes = {STARPU_RW},
					     .name = "increment"};
static struct starpu_codelet cl_add = {
	.cpu_funcs = {add}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "add"};

static int insert(int rank, struct starpu_codelet *cl, ...)
{
	struct mpi *mpi = world_mpi(rank);
	struct arg_walk args;
	int ret;

	va_start(args.list, cl);
	ret = insert_task(mpi, 0, cl, &args);
	va_end(args.list);
	return ret;
}

enum { NRANKS = 3 };

struct graph {
	int values[NRANKS];
	starpu_data_handle_t handles[NRANKS][NRANKS]; /* by rank, then datum */
};

/* Datum i is owned by rank i. */
static void graph_open(struct graph *graph)
{
	memset(graph, 0, sizeof(*graph));
	world_open(NRANKS);
	for (int rank = 0; rank < NRANKS; rank++) {
		for (int i = 0; i < NRANKS; i++) {
			int *value = i == rank ? &graph->values[i] : NULL;

			graph->handles[rank][i] = world_vector(rank, value, 1);
			registry_register(world_mpi(rank), graph->handles[rank][i],
					  10 + i, i, 0, "test");
		}
	}
}

static void graph_close(struct graph *graph)
{
	fake_run();
	for (int rank = 0; rank < NRANKS; rank++)
		for (int i = 0; i < NRANKS; i++)
			world_forget(rank, graph->handles[rank][i]);
	world_close();
}

static unsigned long messages(void)
{
	unsigned long count = 0;

	for (int rank = 0; rank < NRANKS; rank++)
		count += world_nodes[rank]->messages_sent;
	return count;
}

static void all_add(struct graph *graph, int from, int to)
{
	for (int rank = 0; rank < NRANKS; rank++)
		assert_int_equal(insert(rank, &cl_add, STARPU_R,
					graph->handles[rank][from], STARPU_RW,
					graph->handles[rank][to], 0),
				 0);
}

static void all_increment(struct graph *graph, int datum, int node)
{
	for (int rank = 0; rank < NRANKS; rank++)
		assert_int_equal(insert(rank, &cl_increment, STARPU_RW,
					graph->handles[rank][datum],
					STARPU_EXECUTE_ON_NODE, node, 0),
				 0);
}

/* A value travels once to each reader, until it is written; without cache, each time. */
static void a_value_travels_once(void **state)
{
	struct graph graph;

	(void)state;
	graph_open(&graph);
	all_increment(&graph, 0, -1);
	for (int i = 0; i < 5; i++)
		all_add(&graph, 0, 1);
	fake_run();
	assert_int_equal(messages(), 1);
	all_increment(&graph, 0, -1);
	all_add(&graph, 0, 1);
	all_add(&graph, 0, 2);
	fake_run();
	assert_int_equal(messages(), 3);
	assert_int_equal(graph.values[1], 7);
	assert_int_equal(graph.values[2], 2);
	for (int rank = 0; rank < NRANKS; rank++)
		cache_set(world_mpi(rank), 0);
	all_add(&graph, 0, 1);
	all_add(&graph, 0, 1);
	fake_run();
	assert_int_equal(messages(), 5);
	assert_int_equal(graph.values[1], 11);
	graph_close(&graph);
}

/* A task executed elsewhere sends what it wrote home. */
static void writes_go_home(void **state)
{
	struct graph graph;

	(void)state;
	graph_open(&graph);
	all_increment(&graph, 0, 2);
	all_increment(&graph, 0, 1);
	all_increment(&graph, 0, 1);
	fake_run();
	assert_int_equal(graph.values[0], 3);
	assert_int_equal(messages(), 6);
	/* Nobody counts as a holder, and the copies are of the past. */
	assert_false(graph.handles[0][0]->flags & DATUM_SENT);
	assert_false(graph.handles[1][0]->flags & DATUM_RECEIVED);
	assert_true(graph.handles[1][0]->flags & DATUM_OUTDATED);
	/* The next one comes to the same memory, since it is small. */
	assert_true(data_body(graph.handles[1][0])->main.allocated);
	graph_close(&graph);
}

/* A small value that is written elsewhere is none for who reads it, and no hindrance for
 * the next one, which overwrites it. */
static void a_value_of_the_past_is_none(void **state)
{
	starpu_data_handle_t copy;
	struct graph graph;

	(void)state;
	graph_open(&graph);
	copy = graph.handles[1][0];
	for (int round = 1; round <= 4; round++) {
		all_increment(&graph, 0, -1);
		all_add(&graph, 0, 1);
		fake_run();
		assert_true(data_body(copy)->has_value);
		assert_false(copy->flags & DATUM_OUTDATED);
		all_increment(&graph, 0, -1);
		fake_run();
		assert_true(copy->flags & DATUM_OUTDATED);
		if (round % 2)
			continue;
		data_settle_outdated(copy, round == 2 ? STARPU_R : STARPU_W);
		fake_run();
		assert_false(copy->flags & DATUM_OUTDATED);
		assert_int_equal(data_body(copy)->has_value, round != 2);
	}
	assert_int_equal(graph.values[1], 1 + 3 + 5 + 7);
	graph_close(&graph);
}

/* After a flush, a value is fetched again, and the copies' memory is free. */
static void a_flush_forgets(void **state)
{
	struct graph graph;

	(void)state;
	graph_open(&graph);
	all_add(&graph, 0, 1);
	fake_run();
	assert_true(data_body(graph.handles[1][0])->main.allocated);
	for (int rank = 0; rank < NRANKS; rank++)
		cache_flush(world_mpi(rank), graph.handles[rank][0]);
	fake_run();
	assert_false(data_body(graph.handles[1][0])->main.allocated);
	all_add(&graph, 0, 1);
	fake_run();
	assert_int_equal(messages(), 2);
	graph_close(&graph);
}

/* Who became the owner keeps what it wrote, though it had received the value before. */
static void a_new_owner_keeps_its_value(void **state)
{
	struct graph graph;

	(void)state;
	graph_open(&graph);
	graph.values[0] = 5;
	all_add(&graph, 0, 1);
	for (int rank = 0; rank < NRANKS; rank++)
		registry_register(world_mpi(rank), graph.handles[rank][0], TAG_UNSET, 1,
				  0, "test");
	all_increment(&graph, 0, -1);
	all_add(&graph, 0, 2);
	fake_run();
	assert_int_equal(graph.values[2], 6);
	graph_close(&graph);
}

/* A rank that a task does not concern may know none of its data. */
static void null_where_it_does_not_matter(void **state)
{
	struct graph graph;
	starpu_data_handle_t *mine;

	(void)state;
	graph_open(&graph);
	mine = graph.handles[2];
	assert_int_equal(insert(2, &cl_add, STARPU_R, NULL, STARPU_RW, mine[1], 0), 0);
	assert_int_equal(insert(2, &cl_add, STARPU_R, mine[0], STARPU_RW, NULL, 0),
			 -EINVAL);
	assert_int_equal(insert(2, &cl_add, STARPU_EXECUTE_ON_NODE, 1, STARPU_R, NULL,
				STARPU_RW, NULL, 0),
			 0);
	assert_int_equal(insert(2, &cl_add, STARPU_R, NULL, STARPU_RW, NULL,
				STARPU_EXECUTE_ON_NODE, 1, 0),
			 -EINVAL);
	assert_int_equal(messages(), 0);
	graph_close(&graph);
}

static int choose_last(int me, int size, struct starpu_data_descr *data, int ndata)
{
	(void)me;
	(void)data;
	(void)ndata;
	return size - 1;
}

static void policies_choose(void **state)
{
	struct graph graph;
	struct starpu_data_descr data[3];

	(void)state;
	graph_open(&graph);
	for (int i = 0; i < 3; i++)
		data[i] = (struct starpu_data_descr){graph.handles[0][i], STARPU_R};
	assert_int_equal(policy_most_data(data, 3), 0);
	data[1].mode = STARPU_RW;
	assert_int_equal(policy_most_data(data, 3), 1);
	data[2].mode = STARPU_RW;
	assert_int_equal(policy_most_data(data, 3), 1);
	assert_int_equal(policy_most_data(data, 0), 0);
	for (int rank = 0; rank < NRANKS; rank++) {
		int policy = policy_add(&world_mpi(rank)->lasting->policies, choose_last);

		assert_int_equal(policy, 1);
		assert_int_equal(insert(rank, &cl_add, STARPU_R, graph.handles[rank][0],
					STARPU_RW, graph.handles[rank][1],
					STARPU_NODE_SELECTION_POLICY, policy, 0),
				 0);
		assert_int_equal(policy_select(world_mpi(rank), policy, 0, data, 3), 2);
	}
	graph_close(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destinations_are_noted_once),
		cmocka_unit_test(what_ends_is_not_noted_any_more),
		cmocka_unit_test(off_means_never),
		cmocka_unit_test(tags_are_found_again),
		cmocka_unit_test(tags_that_ended_are_not_found),
		cmocka_unit_test(ranges_fill_holes),
		cmocka_unit_test(ranges_are_the_first_that_fit),
		cmocka_unit_test(a_value_travels_once),
		cmocka_unit_test(writes_go_home),
		cmocka_unit_test(a_value_of_the_past_is_none),
		cmocka_unit_test(a_flush_forgets),
		cmocka_unit_test(a_new_owner_keeps_its_value),
		cmocka_unit_test(null_where_it_does_not_matter),
		cmocka_unit_test(policies_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
