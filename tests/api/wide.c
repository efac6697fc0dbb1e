/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* More workers than a word has bits: contexts, workers that are named, moved and left. */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "claim.h"

int claim_failures;

enum { NWORKERS = 100, THIRD = NWORKERS / 3, NDATA = 150, NROUNDS = 4, NMOVED = 10 };

static int ran_on[STARPU_NMAXWORKERS], nran, noutside;

static void kernel(void *buffers[], void *arg)
{
	int id = starpu_worker_get_id_check(), ctx;

	STARPU_ATOMIC_ADD(&ran_on[id], 1);
	STARPU_ATOMIC_ADD(&nran, 1);
	if (arg) {
		starpu_codelet_unpack_args(arg, &ctx);
		if (!starpu_sched_ctx_contains_worker(id, (unsigned)ctx))
			STARPU_ATOMIC_ADD(&noutside, 1);
	}
	if (starpu_task_get_current()->cl->nbuffers)
		++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet codelet = {.cpu_funcs = {kernel},
					.cpu_funcs_name = {"kernel"}},
			     counting = {.cpu_funcs = {kernel},
					 .cpu_funcs_name = {"kernel"},
					 .nbuffers = 1,
					 .modes = {STARPU_RW}};

static void begin(void)
{
	claim_start(NWORKERS);
	CLAIM_EQ(starpu_worker_get_count(), NWORKERS);
	memset(ran_on, 0, sizeof(ran_on));
	nran = noutside = 0;
}

static void insert(unsigned ctx)
{
	int id = (int)ctx;

	CLAIM_EQ(starpu_task_insert(&codelet, STARPU_SCHED_CTX, ctx, STARPU_VALUE, &id,
				    sizeof(id), 0),
		 0);
}

static void count_in(starpu_data_handle_t datum, unsigned ctx)
{
	int id = (int)ctx;

	CLAIM_EQ(starpu_task_insert(&counting, STARPU_RW, datum, STARPU_SCHED_CTX, ctx,
				    STARPU_VALUE, &id, sizeof(id), 0),
		 0);
}

static void each_worker_is_named(void)
{
	begin();
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(starpu_task_insert(&codelet, STARPU_EXECUTE_ON_WORKER, i, 0), 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(ran_on[i], 1);
	starpu_shutdown();
}

/* The first ten go from the first context to the last one and back. */
static void move(int *ids, unsigned from, unsigned to)
{
	starpu_sched_ctx_remove_workers(ids, NMOVED, from);
	starpu_sched_ctx_add_workers(ids, NMOVED, to);
}

static void use_three(const unsigned *ctxs, int *ids)
{
	starpu_data_handle_t data[NDATA];
	int values[NDATA] = {0};

	for (int i = 0; i < NDATA; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof(int));
	for (int round = 0; round < NROUNDS; round++) {
		for (int i = 0; i < 3 * NDATA; i++)
			count_in(data[i % NDATA], ctxs[i / NDATA]);
		starpu_task_wait_for_all();
		move(ids, ctxs[0], ctxs[2]);
		for (int i = 0; i < NDATA; i++)
			insert(ctxs[i % 2 * 2]);
		starpu_task_wait_for_all();
		move(ids, ctxs[2], ctxs[0]);
	}
	for (int i = 0; i < NDATA; i++) {
		starpu_data_unregister(data[i]);
		CLAIM_EQ(values[i], 3 * NROUNDS);
	}
	CLAIM_EQ(nran, NROUNDS * 4 * NDATA);
	CLAIM_EQ(noutside, 0);
}

static void contexts_of(const char *policy)
{
	const int first[] = {0, THIRD, 2 * THIRD, NWORKERS};
	int ids[NWORKERS], *list;
	unsigned ctxs[3], nlisted;

	begin();
	for (int i = 0; i < NWORKERS; i++)
		ids[i] = i;
	for (int i = 0; i < 3; i++)
		ctxs[i] = starpu_sched_ctx_create(&ids[first[i]], first[i + 1] - first[i],
						  "third", STARPU_SCHED_CTX_POLICY_NAME,
						  policy, 0);
	use_three(ctxs, ids);
	nlisted = starpu_sched_ctx_get_workers_list(ctxs[2], &list);
	CLAIM_EQ(nlisted, NWORKERS - 2 * THIRD);
	for (unsigned i = 0; i < nlisted; i++)
		CLAIM(list[i] >= 2 * THIRD && list[i] < NWORKERS);
	free(list);
	CLAIM_EQ(starpu_sched_ctx_get_nshared_workers(ctxs[0], ctxs[2]), 0);
	CLAIM(starpu_sched_ctx_contains_worker(NWORKERS - 1, ctxs[2]));
	for (int i = 0; i < 3; i++)
		starpu_sched_ctx_delete(ctxs[i]);
	starpu_shutdown();
}

static void contexts_under_eager(void)
{
	contexts_of("eager");
}

static void contexts_under_lws(void)
{
	contexts_of("lws");
}

static void contexts_under_dmda(void)
{
	contexts_of("dmda");
}

static void contexts_under_modular_heft(void)
{
	contexts_of("modular-heft");
}

static void one_datum_visits_all_workers(void)
{
	starpu_data_handle_t datum;
	int value = 0;

	begin();
	starpu_variable_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(starpu_task_insert(&counting, STARPU_RW, datum,
					    STARPU_EXECUTE_ON_WORKER, NWORKERS - 1 - i,
					    0),
			 0);
	starpu_data_unregister(datum);
	CLAIM_EQ(value, NWORKERS);
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(ran_on[i], 1);
	starpu_shutdown();
}

int main(void)
{
	static const struct claim claims[] = {
		{"each_worker_is_named", each_worker_is_named},
		{"one_datum_visits_all_workers", one_datum_visits_all_workers},
		{"contexts_under_eager", contexts_under_eager},
		{"contexts_under_lws", contexts_under_lws},
		{"contexts_under_dmda", contexts_under_dmda},
		{"contexts_under_modular_heft", contexts_under_modular_heft},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
