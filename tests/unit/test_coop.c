/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mpi_world.h"

/* Cooperative sends: one owner, many readers. */
enum { NODES = 16, N = 50000, LITTLE = 70, TAG = 5 };

static struct {
	int n, from[N], to[NODES][N];
	starpu_data_handle_t handle[NODES];
	int nputs[NODES], nended, nlate;
	const struct net_ops *ops;
	struct net_ops counting;
} scene;

static int count_put(struct net *net, struct net_bulk *bulk)
{
	scene.nputs[net->rank]++;
	return scene.ops->put(net, bulk);
}

static void fill(int round)
{
	for (int i = 0; i < N; i++)
		scene.from[i] = i + 1000000 * round;
}

static void open_scene(int n)
{
	memset(&scene, 0, sizeof(scene));
	scene.n = n;
	world_open(NODES);
	scene.ops = world_mpi(0)->net->ops;
	scene.counting = *scene.ops;
	scene.counting.put = count_put;
	fill(1);
	for (int i = 0; i < NODES; i++) {
		world_mpi(i)->net->ops = &scene.counting;
		scene.handle[i] =
			world_vector(i, i ? scene.to[i] : scene.from, (unsigned)n);
	}
}

static void close_scene(void)
{
	fake_run();
	for (int i = 0; i < NODES; i++) {
		assert_int_equal(world_mpi(i)->engine.npending, 0);
		assert_int_equal(world_mpi(i)->engine.coop.groups.count, 0);
		world_mpi(i)->net->ops = scene.ops;
		world_forget(i, scene.handle[i]);
	}
	world_close();
}

static void ended(void *arg)
{
	(void)arg;
	scene.nended++;
}

static void send_to(int rank, int priority)
{
	struct post what = {.kind = REQUEST_SEND,
			    .handle = scene.handle[0],
			    .peer = rank,
			    .priority = priority,
			    .tag = TAG};

	world_post_detached(0, &what, ended, NULL);
}

static void receive_at(int rank)
{
	struct post what = {
		.kind = REQUEST_RECEIVE, .handle = scene.handle[rank], .tag = TAG};

	world_post_detached(rank, &what, ended, NULL);
}

static void broadcast(void)
{
	for (int i = 1; i < NODES; i++)
		send_to(i, 0);
	for (int i = 1; i < NODES; i++)
		receive_at(i);
}

static int nputs_of_others(void)
{
	int n = 0;

	for (int i = 1; i < NODES; i++)
		n += scene.nputs[i];
	return n;
}

static void receivers_pass_it_on(void **state)
{
	double began_s, one_s = N * sizeof(int) / 1e9;

	(void)state;
	open_scene(N);
	began_s = fake_now_s();
	broadcast();
	fake_run();
	assert_int_equal(scene.nended, 2 * (NODES - 1));
	for (int i = 1; i < NODES; i++)
		assert_memory_equal(scene.to[i], scene.from, sizeof(scene.from));
	assert_int_equal(scene.nputs[0] + nputs_of_others(), NODES - 1);
	assert_true(nputs_of_others() >= NODES / 2 - 1);
	/* 2, 6, 14, then all have it: alone, the owner takes twice as many rounds. */
	assert_true(fake_now_s() - began_s < 4.5 * one_s);
	close_scene();
}

static void who_does_not_want_them_sends_all(void **state)
{
	(void)state;
	open_scene(N);
	world_mpi(0)->lasting->use_coop_sends = 0;
	broadcast();
	fake_run();
	assert_int_equal(scene.nputs[0], NODES - 1);
	for (int i = 1; i < NODES; i++)
		assert_memory_equal(scene.to[i], scene.from, sizeof(scene.from));
	close_scene();
}

/* Whoever gets it has a payload of its own that moves. */
static void who_has_others_to_send_keeps_none(void **state)
{
	(void)state;
	open_scene(N);
	for (int i = 1; i < NODES; i++)
		world_mpi(i)->engine.large.nputs++;
	broadcast();
	fake_run();
	assert_int_equal(scene.nended, 2 * (NODES - 1));
	assert_int_equal(scene.nputs[0], NODES - 1);
	for (int i = 1; i < NODES; i++) {
		assert_memory_equal(scene.to[i], scene.from, sizeof(scene.from));
		world_mpi(i)->engine.large.nputs--;
	}
	close_scene();
}

/* 15 of 80 kB are 1.2 MB, and 15 of 160 kB 2.4: from 2.1 on they are shared. */
static void a_few_copies_of_little_are_sent_by_their_owner(void **state)
{
	(void)state;
	setenv("ORRERY_MPI_COOP_BYTES", "65536", 1);
	for (int n = 20000; n <= 40000; n += 20000) {
		open_scene(n);
		coop_expect(world_mpi(0), scene.handle[0], NODES - 1);
		broadcast();
		fake_run();
		assert_int_equal(scene.nended, 2 * (NODES - 1));
		assert_int_equal(nputs_of_others() > 0, n == 40000);
		close_scene();
	}
	setenv("ORRERY_MPI_COOP_BYTES", "0", 1);
}

/* Alone at first: only who is told knows that others will come. */
static void the_first_is_shared_when_more_are_expected(void **state)
{
	(void)state;
	for (int told = 0; told <= 1; told++) {
		const struct early *early;
		struct match_entry *entry = NULL;
		size_t cursor = 0;

		open_scene(N);
		if (told)
			coop_expect(world_mpi(0), scene.handle[0], 3);
		send_to(1, 0);
		fake_run();
		early = early_next(world_mpi(1), &cursor, &entry);
		assert_non_null(early);
		assert_int_equal(early->head.flags & WIRE_SHARED, told ? WIRE_SHARED : 0);
		for (int i = 2; i < NODES; i++)
			send_to(i, 0);
		for (int i = 1; i < NODES; i++)
			receive_at(i);
		fake_run();
		assert_int_equal(scene.nended, 2 * (NODES - 1));
		close_scene();
	}
}

static size_t (*their_size)(starpu_data_handle_t handle);
static int nasked;

static size_t ask(starpu_data_handle_t handle)
{
	struct engine *engine = &world_mpi(0)->engine;

	nasked++;
	assert_true(orr_trylock(&engine->lock));
	orr_unlock(&engine->lock);
	return their_size(handle);
}

/* It may be the application's, and call the library. */
static void no_interface_is_asked_under_the_lock(void **state)
{
	struct starpu_data_interface_ops asking, *theirs;

	(void)state;
	open_scene(N);
	theirs = scene.handle[0]->ops;
	their_size = theirs->get_size;
	asking = *theirs;
	asking.get_size = ask;
	asking.get_alloc_size = ask;
	scene.handle[0]->ops = &asking;
	nasked = 0;
	broadcast();
	fake_run();
	assert_int_equal(scene.nended, 2 * (NODES - 1));
	assert_true(nasked > 0);
	scene.handle[0]->ops = theirs;
	close_scene();
}

static int unpack_as_theirs(starpu_data_handle_t handle, unsigned node, void *packed,
			    size_t bytes)
{
	return scene.handle[0]->ops->unpack_data(handle, node, packed, bytes);
}

/* Their interface unpacks what comes as it is: the buffer is gone then, and nothing is
 * left in it for others. */
static void who_unpacks_keeps_nothing(void **state)
{
	struct starpu_data_interface_ops unpacking, *theirs;

	(void)state;
	open_scene(N);
	theirs = scene.handle[0]->ops;
	unpacking = *theirs;
	unpacking.unpack_data = unpack_as_theirs;
	for (int i = 1; i < NODES; i += 2)
		scene.handle[i]->ops = &unpacking;
	broadcast();
	fake_run();
	assert_int_equal(scene.nended, 2 * (NODES - 1));
	for (int i = 1; i < NODES; i++)
		assert_memory_equal(scene.to[i], scene.from, sizeof(scene.from));
	for (int i = 1; i < NODES; i += 2)
		assert_int_equal(scene.nputs[i], 0);
	assert_true(nputs_of_others() > 0);
	for (int i = 1; i < NODES; i++)
		scene.handle[i]->ops = theirs;
	close_scene();
}

/* ---- writers, late ones, several rounds ------------------------------ */

static void spoil(void *arg)
{
	int rank = *(int *)arg;

	fake_select(rank);
	/* What came is right, and nobody reads it from here any more. */
	for (int i = 0; i < N; i += 97)
		if (scene.to[rank][i] != scene.from[i])
			scene.nlate++;
	memset(scene.to[rank], -1, sizeof(scene.to[rank]));
	starpu_data_release(scene.handle[rank]);
}

static void writers_wait_until_it_has_been_passed_on(void **state)
{
	static int ranks[NODES];

	(void)state;
	for (unsigned long seed = 0; seed < 60; seed++) {
		open_scene(N);
		fake_shuffle(seed);
		broadcast();
		for (int i = 1; i < NODES; i++) {
			ranks[i] = i;
			fake_select(i);
			starpu_data_acquire_cb(scene.handle[i], STARPU_RW, spoil,
					       &ranks[i]);
		}
		fake_run();
		assert_int_equal(scene.nended, 2 * (NODES - 1));
		assert_int_equal(scene.nlate, 0);
		for (int i = 1; i < NODES; i++)
			assert_int_equal(scene.to[i][0], -1);
		close_scene();
	}
}

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 16) % below;
}

/* Receivers come at any time, in any order, and some twice. */
static void any_order(void **state)
{
	int npassed_on = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 150; seed++) {
		unsigned random = seed;
		int order[2 * NODES], n = 0;

		/* Small ones are there before who gets them knows who else wants them. */
		open_scene(seed % 2 ? N : LITTLE);
		fake_shuffle(seed);
		for (int i = 1; i < NODES; i++)
			for (unsigned k = draw(&random, 3); k > 0; k--)
				order[n++] = i;
		for (int i = 0; i < n; i++) {
			send_to(order[i], (int)draw(&random, 3));
			if (draw(&random, 4) == 0)
				fake_run_until(fake_now_s() + 1e-4);
		}
		while (n > 0) {
			int at = (int)draw(&random, (unsigned)n);

			receive_at(order[at]);
			order[at] = order[--n];
			if (draw(&random, 3) == 0)
				fake_run_until(fake_now_s() + 1e-4);
		}
		fake_run();
		for (int i = 1; i < NODES; i++)
			if (scene.to[i][1] != 0)
				assert_memory_equal(scene.to[i], scene.from,
						    (size_t)scene.n * sizeof(int));
		npassed_on += nputs_of_others();
		close_scene();
	}
	assert_true(npassed_on > 0);
}

/* Their data are in use, so the payloads are taken in, by who can keep nothing then. */
static void who_is_not_ready_keeps_nothing(void **state)
{
	struct request *send;

	(void)state;
	open_scene(N);
	for (int i = 1; i < NODES; i++) {
		fake_select(i);
		assert_int_equal(starpu_data_acquire(scene.handle[i], STARPU_R), 0);
	}
	broadcast();
	send = world_post(0, REQUEST_SEND, scene.handle[0], 1, TAG);
	receive_at(1);
	assert_int_equal(finish_wait(send), 0);
	for (int i = 1; i < NODES; i++) {
		fake_select(i);
		starpu_data_release(scene.handle[i]);
	}
	fake_run();
	assert_int_equal(scene.nended, 2 * (NODES - 1) + 1);
	for (int i = 1; i < NODES; i++)
		assert_memory_equal(scene.to[i], scene.from, sizeof(scene.from));
	close_scene();
}

static void a_second_value_follows(void **state)
{
	(void)state;
	for (unsigned long seed = 0; seed < 60; seed++) {
		open_scene(N);
		fake_shuffle(seed);
		for (int round = 1; round <= 3; round++) {
			broadcast();
			fake_select(0);
			assert_int_equal(starpu_data_acquire(scene.handle[0], STARPU_RW),
					 0);
			fill(round + 1);
			starpu_data_release(scene.handle[0]);
		}
		fake_run();
		assert_int_equal(scene.nended, 3 * 2 * (NODES - 1));
		for (int i = 1; i < NODES; i++)
			for (int k = 0; k < N; k += 101)
				assert_int_equal(scene.to[i][k], k + 3000000);
		close_scene();
	}
}

/* It gets the value several times, so what it keeps serves none of those that wait. */
static void one_receiver_many_times(void **state)
{
	enum { TIMES = 12 };
	static int to[TIMES][N];
	starpu_data_handle_t more[TIMES];

	(void)state;
	open_scene(N);
	for (int i = 0; i < TIMES; i++) {
		struct post what = {.kind = REQUEST_RECEIVE, .tag = TAG};

		what.handle = more[i] = world_vector(1, to[i], N);
		world_post_detached(1, &what, ended, NULL);
		send_to(1, 0);
	}
	fake_run();
	assert_int_equal(scene.nended, 2 * TIMES);
	for (int i = 0; i < TIMES; i++) {
		assert_memory_equal(to[i], scene.from, sizeof(scene.from));
		world_forget(1, more[i]);
	}
	close_scene();
}

/* Nothing is left of sends that were announced and did not come, whether the datum has a
 * tag or not; it may be announced anew, or no more. */
static void what_did_not_come_is_forgotten(void **state)
{
	struct mpi *mpi;

	(void)state;
	open_scene(N);
	mpi = world_mpi(0);
	for (int i = 0; i < 3; i++) {
		starpu_data_handle_t handle = world_vector(0, scene.from, LITTLE);

		fake_select(0);
		if (i == 2)
			registry_register(mpi, handle, TAG, OWNER_UNSET, 0, __func__);
		coop_expect(mpi, handle, NODES);
		coop_expect(mpi, handle, 2);
		assert_int_equal(mpi->engine.coop.nexpecting, 1);
		if (i == 1)
			coop_expect(mpi, handle, 0);
		world_forget(0, handle);
		assert_int_equal(mpi->engine.coop.groups.count, 0);
		assert_int_equal(mpi->engine.coop.nexpecting, 0);
	}
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receivers_pass_it_on),
		cmocka_unit_test(who_does_not_want_them_sends_all),
		cmocka_unit_test(who_has_others_to_send_keeps_none),
		cmocka_unit_test(a_few_copies_of_little_are_sent_by_their_owner),
		cmocka_unit_test(the_first_is_shared_when_more_are_expected),
		cmocka_unit_test(no_interface_is_asked_under_the_lock),
		cmocka_unit_test(who_unpacks_keeps_nothing),
		cmocka_unit_test(writers_wait_until_it_has_been_passed_on),
		cmocka_unit_test(any_order),
		cmocka_unit_test(who_is_not_ready_keeps_nothing),
		cmocka_unit_test(a_second_value_follows),
		cmocka_unit_test(one_receiver_many_times),
		cmocka_unit_test(what_did_not_come_is_forgotten),
	};

	setenv("ORRERY_MPI_COOP_BYTES", "0", 1);
	setenv("STARPU_MPI_NDETACHED_SEND", "2", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
