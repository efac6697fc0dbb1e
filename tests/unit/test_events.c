/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What the hooks tell, in which order, and what the sinks get of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include <starpu.h>

#include "core/event.h"
#include "mpi_world.h"
#include "one_node.h"

enum { MAX_HEARD = 100000, GPU = 1, GPU_BYTES = 100 };

/* A sink that remembers everything. */
static struct {
	struct event_sink sink;
	int n, ncalls;
	struct event heard[MAX_HEARD];
} ear;

static void hear(struct event_sink *sink, int ring, const struct event *records,
		 unsigned n)
{
	(void)sink;
	(void)ring;
	ear.ncalls++;
	assert_true(ear.n + (int)n <= MAX_HEARD);
	memcpy(&ear.heard[ear.n], records, n * sizeof(*records));
	ear.n += (int)n;
}

static void listen(struct node *node, uint64_t kinds)
{
	ear.sink = (struct event_sink){.kinds = kinds, .take = hear};
	ear.n = ear.ncalls = 0;
	events_add_sink(&node->events, &ear.sink);
	events_begin(node, 0);
}

/* The next record of a kind from *at on, which goes behind it; NULL: there is none. */
static const struct event *find(int *at, enum event_kind kind)
{
	while (*at < ear.n)
		if (ear.heard[(*at)++].kind == kind)
			return &ear.heard[*at - 1];
	return NULL;
}

static const struct event *expect(int *at, enum event_kind kind)
{
	const struct event *event = find(at, kind);

	if (!event)
		fail_msg("no event of kind %d in its place", (int)kind);
	return event;
}

static int count(enum event_kind kind)
{
	int at = 0, n = 0;

	while (find(&at, kind))
		n++;
	return n;
}

/* The text of a key, which was told before. */
static void expect_text(uint64_t key, const char *text)
{
	char told[256] = "";

	for (int i = 0; i < ear.n; i++)
		if (ear.heard[i].kind == EVENT_TEXT && ear.heard[i].id == key)
			memcpy(told + ear.heard[i].n, &ear.heard[i].value, 8);
	assert_string_equal(told, text);
}

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet plain = {.cpu_funcs = {nothing}, .name = "a plain codelet"};

static void submit(struct starpu_codelet *cl)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	assert_int_equal(starpu_task_submit(task), 0);
}

/* ---- a task ---------------------------------------------------------- */

static void test_life_of_a_task(void **state)
{
	static const enum event_kind life[] = {
		EVENT_OPENED,         EVENT_WORKER,        EVENT_TASK_SUBMITTED,
		EVENT_TASK_PUSHED,    EVENT_WORKER_BUSY,   EVENT_TASK_TAKEN,
		EVENT_TASK_FETCHING,  EVENT_TASK_STARTED,  EVENT_TASK_ENDED,
		EVENT_TASK_RELEASING, EVENT_TASK_RELEASED, EVENT_TASK_CALLING,
		EVENT_TASK_TERMINATED};
	const struct event *event;
	int at = 0;

	(void)state;
	listen(one.node, EVENT_ALL);
	submit(&plain);
	starpu_task_wait_for_all();
	events_drain(one.node);
	for (size_t i = 0; i < sizeof(life) / sizeof(life[0]); i++) {
		event = expect(&at, life[i]);
		if (life[i] >= EVENT_TASK_SUBMITTED && life[i] <= EVENT_TASK_TERMINATED)
			assert_int_equal(event->id, 1);
		if (life[i] == EVENT_TASK_SUBMITTED)
			assert_int_equal(event->worker, EVENT_NO_WORKER);
		if (life[i] == EVENT_TASK_STARTED) {
			assert_true(event->worker < 2);
			expect_text(event->value, "a plain codelet");
		}
		if (life[i] == EVENT_TASK_ENDED)
			assert_true(event_date_s(event->value) == event->date_s - 1e-6);
	}
	expect(&at, EVENT_WORKER_IDLE);
}

/* Names are told once. */
static void test_texts(void **state)
{
	int ntexts;

	(void)state;
	listen(one.node, EVENT_ALL);
	submit(&plain);
	starpu_task_wait_for_all();
	events_drain(one.node);
	ntexts = count(EVENT_TEXT);
	submit(&plain);
	starpu_task_wait_for_all();
	event_tell_text(one.node, EVENT_USER_TEXT, "hello, this is longer");
	events_drain(one.node);
	assert_int_equal(count(EVENT_TEXT), ntexts + 3);
	expect_text(ear.heard[ear.n - 1].value, "hello, this is longer");
}

/* ---- copies and memory ----------------------------------------------- */

static struct starpu_codelet on_gpu = {
	.cuda_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}};

static void insert(starpu_data_handle_t handle)
{
	assert_int_equal(starpu_task_insert(&on_gpu, STARPU_RW, handle, 0), 0);
	starpu_task_wait_for_all();
}

/* A GPU with room for one of two data: the first has to leave for the second. */
static void test_copies_and_evictions(void **state)
{
	static char values[2][GPU_BYTES];
	starpu_data_handle_t handles[2];
	const struct event *event;
	uint64_t first;
	int at = 0;

	(void)state;
	fake_start(1, 1e-6, 1e9);
	fake_machine()->ngpus = 1;
	fake_machine()->gpu_memory_bytes = GPU_BYTES;
	assert_int_equal(starpu_init(NULL), 0);
	listen(plat_self(), EVENT_ALL);
	for (int i = 0; i < 2; i++) {
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)values[i], GPU_BYTES, 1);
		insert(handles[i]);
	}
	events_drain(plat_self());
	event = expect(&at, EVENT_ALLOCATED);
	assert_int_equal(event->n, GPU);
	first = event->id;
	assert_int_equal(event->value, GPU_BYTES);
	assert_int_equal(expect(&at, EVENT_COPY_BEGINS)->n, 0 << 16 | GPU);
	assert_int_equal(expect(&at, EVENT_COPY_ENDS)->value, GPU_BYTES);
	assert_int_equal(expect(&at, EVENT_TASK_STARTED)->worker, 0);
	event = expect(&at, EVENT_EVICTED);
	assert_int_equal(event->id, first);
	assert_int_equal(expect(&at, EVENT_COPY_BEGINS)->n, GPU << 16 | 0);
	expect(&at, EVENT_COPY_ENDS);
	assert_int_equal(expect(&at, EVENT_FREED)->id, first);
	assert_int_not_equal(expect(&at, EVENT_ALLOCATED)->id, first);
	expect(&at, EVENT_TASK_STARTED);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	assert_int_equal(count(EVENT_ALLOCATED), count(EVENT_FREED));
	assert_int_equal(count(EVENT_COPY_BEGINS), count(EVENT_COPY_ENDS));
	fake_stop();
}

/* ---- requests and messages ------------------------------------------- */

/* One vector from rank 0 to rank 1, who listens. */
static void transfer(int listener, unsigned n, int may_push)
{
	int *values[2] = {calloc(n, sizeof(int)), calloc(n, sizeof(int))};
	starpu_data_handle_t handles[2];
	struct request *requests[2];

	world_open(2);
	world_mpi(0)->net->may_push = may_push;
	listen(world_nodes[listener], EVENT_ALL);
	for (int i = 0; i < 2; i++)
		handles[i] = world_vector(i, values[i], n);
	requests[1] = world_post(1, REQUEST_RECEIVE, handles[1], 0, 77);
	requests[0] = world_post(0, REQUEST_SEND, handles[0], 1, 77);
	for (int i = 0; i < 2; i++) {
		fake_select(i);
		assert_int_equal(finish_wait(requests[i]), 0);
	}
	fake_run();
	for (int i = 0; i < 2; i++)
		world_forget(i, handles[i]);
	fake_select(listener);
	events_drain(world_nodes[listener]);
	world_close();
	free(values[0]);
	free(values[1]);
}

static void expect_request(const enum event_kind *kinds, int n, int is_receive, int peer)
{
	int at = 0;

	for (int i = 0; i < n; i++) {
		const struct event *event = expect(&at, kinds[i]);

		assert_int_equal(event->n, peer);
		if (kinds[i] == EVENT_MESSAGE_SENT || kinds[i] == EVENT_MESSAGE_RECEIVED)
			continue;
		assert_int_equal(event->flag, is_receive);
		if (kinds[i] == EVENT_REQUEST_POSTED)
			assert_int_equal(event->value, 77);
	}
}

static void test_small_transfer(void **state)
{
	static const enum event_kind send[] = {EVENT_REQUEST_POSTED, EVENT_REQUEST_READY,
					       EVENT_REQUEST_MOVING, EVENT_MESSAGE_SENT,
					       EVENT_REQUEST_MOVED,  EVENT_REQUEST_DONE};
	static const enum event_kind receive[] = {
		EVENT_REQUEST_POSTED, EVENT_REQUEST_READY, EVENT_MESSAGE_RECEIVED,
		EVENT_REQUEST_MOVED, EVENT_REQUEST_DONE};
	int at = 0;

	(void)state;
	transfer(0, 4, 0);
	expect_request(send, 6, 0, 1);
	assert_int_equal(expect(&at, EVENT_MESSAGE_SENT)->value, 4 * sizeof(int));
	assert_int_equal(count(EVENT_NET_BUSY), 1);
	transfer(1, 4, 0);
	expect_request(receive, 5, 1, 0);
}

static void test_large_transfer(void **state)
{
	static const enum event_kind send[] = {
		EVENT_REQUEST_POSTED, EVENT_REQUEST_READY,    EVENT_REQUEST_ANNOUNCED,
		EVENT_MESSAGE_SENT,   EVENT_MESSAGE_RECEIVED, EVENT_REQUEST_GRANTED,
		EVENT_REQUEST_MOVING, EVENT_REQUEST_MOVED,    EVENT_REQUEST_DONE};
	static const enum event_kind receive[] = {
		EVENT_REQUEST_POSTED, EVENT_REQUEST_READY, EVENT_MESSAGE_RECEIVED,
		EVENT_REQUEST_MOVING, EVENT_MESSAGE_SENT,  EVENT_REQUEST_MOVED,
		EVENT_REQUEST_DONE};
	int at = 0;

	(void)state;
	transfer(0, 1000, 0);
	expect_request(send, 9, 0, 1);
	assert_int_equal(expect(&at, EVENT_REQUEST_MOVED)->value, 1000 * sizeof(int));
	transfer(1, 1000, 0);
	expect_request(receive, 7, 1, 0);
}

/* Nobody tells the sender when it begins to move. */
static void test_pushed_transfer(void **state)
{
	static const enum event_kind send[] = {
		EVENT_REQUEST_POSTED, EVENT_REQUEST_READY, EVENT_REQUEST_ANNOUNCED,
		EVENT_MESSAGE_SENT,   EVENT_REQUEST_MOVED, EVENT_REQUEST_DONE};
	static const enum event_kind receive[] = {
		EVENT_REQUEST_POSTED, EVENT_REQUEST_READY, EVENT_MESSAGE_RECEIVED,
		EVENT_REQUEST_MOVING, EVENT_REQUEST_MOVED, EVENT_REQUEST_DONE};

	(void)state;
	transfer(0, 1000, 1);
	expect_request(send, 6, 0, 1);
	transfer(1, 1000, 1);
	expect_request(receive, 6, 1, 0);
}

/* ---- rings ----------------------------------------------------------- */

/* Full rings are given to the sinks: nothing is lost, and the order stays. */
static void test_rings_that_fill(void **state)
{
	enum { MANY = 5000 };
	uint64_t last = 0;
	int at = 0;

	(void)state;
	listen(one.node, EVENT_ALL);
	for (int i = 0; i < MANY; i++)
		submit(&plain);
	assert_true(ear.ncalls > 3);
	starpu_task_wait_for_all();
	events_drain(one.node);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(expect(&at, EVENT_TASK_SUBMITTED)->id, ++last);
	assert_int_equal(count(EVENT_TASK_STARTED), MANY);
	assert_int_equal(count(EVENT_TASK_TERMINATED), MANY);
	for (int i = 1; i < ear.n; i++)
		assert_true(ear.heard[i].date_s >= ear.heard[i - 1].date_s);
}

/* Without sinks no hook writes anything, nor looks at the clock for it. */
static void test_off(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		submit(&plain);
	starpu_task_wait_for_all();
	assert_int_equal(one.node->events.on, 0);
	for (int i = 0; i < one.node->events.nrings; i++) {
		assert_null(one.node->events.rings[i].records);
		assert_int_equal(one.node->events.rings[i].nwritten, 0);
		assert_int_equal(one.node->events.rings[i].texts.count, 0);
	}
}

static void test_unwanted_kinds(void **state)
{
	(void)state;
	listen(one.node, EVENT_BIT(EVENT_TASK_ENDED));
	submit(&plain);
	starpu_task_wait_for_all();
	events_drain(one.node);
	assert_int_equal(ear.n, 1);
	assert_int_equal(ear.heard[0].kind, EVENT_TASK_ENDED);
}

static void call_back(void *arg)
{
	(void)arg;
}

/* Dates for the task alone: no records. */
static void test_stamps(void **state)
{
	struct starpu_task *task = starpu_task_create();
	struct starpu_profiling_task_info info = {.workerid = -1};

	(void)state;
	task->cl = &plain;
	task->profiling_info = &info;
	task->callback_func = call_back;
	task->destroy = 0;
	task->detach = 0;
	fake_run(); /* from 0 on */
	starpu_usleep(5);
	assert_int_equal(starpu_task_submit(task), 0);
	assert_int_equal(starpu_task_wait(task), 0);
	assert_true(info.submit_time.tv_nsec >= 4999);
	assert_true(starpu_timing_timespec_delay_us(&info.start_time, &info.end_time) >
		    0.99);
	assert_true(starpu_timespec_cmp(&info.callback_end_time, &info.end_time, >=));
	assert_in_range(info.workerid, 0, 1);
	assert_null(one.node->events.rings[0].records);
	task->profiling_info = NULL;
	starpu_task_destroy(task);
}

static void test_pauses(void **state)
{
	int at = 0;

	(void)state;
	listen(one.node, EVENT_ALL);
	events_pause(one.node, 1);
	submit(&plain);
	starpu_task_wait_for_all();
	events_pause(one.node, 0);
	submit(&plain);
	starpu_task_wait_for_all();
	events_drain(one.node);
	expect(&at, EVENT_PAUSED);
	expect(&at, EVENT_RESUMED);
	assert_int_equal(expect(&at, EVENT_TASK_SUBMITTED)->id, 2);
	assert_int_equal(count(EVENT_TASK_SUBMITTED), 1);
}

/* ---- the table of utilisation ---------------------------------------- */

/* A prompt sink hears each event where threads take turns; the table adds up to the
 * time of all tasks. */
static void test_utilisation(void **state)
{
	char path[] = "/tmp/orrery-test-events-XXXXXX", line[256];
	double busy_s = 0, makespan_s = 0;
	int fd = mkstemp(path);
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	setenv("ORRERY_TRACE", path, 1);
	one_open(2, 0, "eager");
	for (int i = 0; i < 1000; i++)
		submit(&plain);
	starpu_task_wait_for_all();
	one_close();
	unsetenv("ORRERY_TRACE");
	close(fd);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		double t0_s, t1_s, one_s;

		sscanf(line, "# makespan_s=%lf nodes=1 cpus_per_node=2", &makespan_s);
		if (sscanf(line, "0,cpu,%lf,%lf,%lf", &t0_s, &t1_s, &one_s) == 3) {
			busy_s += one_s;
			assert_true(one_s <= 2.0001 * (t1_s - t0_s) + 1e-12);
		}
	}
	fclose(file);
	remove(path);
	assert_true(makespan_s > 4.99e-4 && makespan_s < 5.1e-4);
	assert_true(busy_s > 0.9999e-3 && busy_s < 1.0001e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life_of_a_task, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(test_texts, one_setup, one_teardown),
		cmocka_unit_test(test_copies_and_evictions),
		cmocka_unit_test(test_small_transfer),
		cmocka_unit_test(test_large_transfer),
		cmocka_unit_test(test_pushed_transfer),
		cmocka_unit_test_setup_teardown(test_rings_that_fill, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(test_off, one_setup, one_teardown),
		cmocka_unit_test_setup_teardown(test_unwanted_kinds, one_setup,
						one_teardown),
		cmocka_unit_test_setup_teardown(test_stamps, one_setup, one_teardown),
		cmocka_unit_test_setup_teardown(test_pauses, one_setup, one_teardown),
		cmocka_unit_test(test_utilisation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
