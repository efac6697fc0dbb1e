/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What programs call before the first initialisation and after the last shutdown.  The
 * claims run in this order, on one rank or several.
 */
#include <string.h>

#include "mpi_claim.h"

int claim_failures, claim_rank, claim_size;

enum { NCPUS = 2, TAG_BEFORE = 7, TAG_AFTER = 8, TAG_REMOVED = 9 };

static int last_id, ran;

static void note_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	ran = 1;
}

static struct starpu_codelet note = {
	.cpu_funcs = {note_cpu}, .model = &starpu_perfmodel_nop, .name = "note"};

static int choose_last(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
	(void)me;
	(void)descr;
	(void)nb_data;
	return nb_nodes - 1;
}

/* True whenever no life is going on. */
static void check_idle(void)
{
	struct starpu_codelet cl;
	struct starpu_task task;
	void *memory = NULL;
	double before_us;

	CLAIM_EQ(starpu_is_initialized(), 0);
	CLAIM_EQ(starpu_worker_get_id(), -1);
	CLAIM_EQ(starpu_worker_get_local_memory_node(), STARPU_MAIN_RAM);
	CLAIM(starpu_task_get_current() == NULL);
	CLAIM_EQ(starpu_task_nsubmitted(), 0);
	CLAIM_EQ(starpu_task_nready(), 0);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM_EQ(starpu_task_wait_for_n_submitted(0), 0);
	CLAIM_EQ(starpu_task_wait_for_no_ready(), 0);
	CLAIM_EQ(starpu_memory_get_total(STARPU_MAIN_RAM), -1);
	CLAIM_EQ(starpu_memory_get_available(STARPU_MAIN_RAM), -1);
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
	CLAIM_EQ(starpu_malloc(&memory, 100), 0);
	CLAIM(memory != NULL);
	starpu_free_noflag(memory, 100);
	starpu_codelet_init(&cl);
	starpu_task_init(&task);
	starpu_task_clean(&task);
	CLAIM(starpu_sched_get_predefined_policies() != NULL);
	CLAIM_EQ(starpu_sched_get_min_priority(), 0);
	CLAIM_EQ(starpu_sched_get_max_priority(), 0);
	before_us = starpu_timing_now();
	starpu_usleep(2000);
	CLAIM(starpu_timing_now() - before_us >= 1999);
	starpu_tag_remove(1234);
	starpu_tag_restart(1234);
	CLAIM(starpu_tag_get_task(1234) == NULL);
}

static void nothing_exists_before_the_first_life(void)
{
	int ids[8];
	char name[16] = "x";

	check_idle();
	CLAIM_EQ(starpu_worker_get_count(), 0);
	CLAIM_EQ(starpu_cpu_worker_get_count(), 0);
	CLAIM_EQ(starpu_cuda_worker_get_count(), 0);
	CLAIM_EQ(starpu_worker_get_count_by_type(STARPU_CPU_WORKER), 0);
	CLAIM_EQ(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 8), 0);
	CLAIM_EQ(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), -1);
	CLAIM_EQ(starpu_worker_get_by_devid(STARPU_CPU_WORKER, 0), -1);
	CLAIM_EQ(starpu_worker_get_devids(STARPU_CPU_WORKER, ids, 8), 0);
	CLAIM_EQ(starpu_memory_nodes_get_count(), 0);
	CLAIM_EQ(starpu_memory_nodes_get_numa_count(), 0);
	CLAIM_EQ(starpu_node_get_kind(STARPU_MAIN_RAM), STARPU_UNUSED);
	starpu_worker_get_name(0, name, sizeof(name));
	CLAIM_EQ(strlen(name), 0);
	CLAIM_EQ(starpu_profiling_status_get(), STARPU_PROFILING_DISABLE);
	CLAIM_EQ(starpu_data_get_default_sequential_consistency_flag(), 1);
	CLAIM_EQ(starpu_mpi_world_size(), 0);
}

static void the_mpi_layer_answers_before_the_first_life(void)
{
	size_t bytes[1] = {77};

	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 1);
	CLAIM_EQ(starpu_mpi_cache_set(0), 0);
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 0);
	CLAIM_EQ(starpu_mpi_cache_set(1), 0);
	CLAIM_EQ(starpu_mpi_coop_sends_get_use(), 1);
	CLAIM_EQ(starpu_mpi_node_selection_get_current_policy(), 0);
	CLAIM_EQ(starpu_mpi_get_communication_tag(), 42);
	starpu_mpi_comm_stats_disable();
	starpu_mpi_comm_stats_retrieve(bytes);
	CLAIM_EQ(bytes[0], 77);
	starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
	/* The account goes on from here: see below. */
	CLAIM_EQ(starpu_mpi_tags_allocate(10), 0);
}

/* Dependencies of tags, default flag, profiling, policies, tags, and ids. */
static void what_is_set_before_holds_in_the_life(void)
{
	struct starpu_task *task = starpu_task_create();
	int id, policy;

	id = starpu_data_interface_get_next_id();
	CLAIM(id >= STARPU_MAX_INTERFACE_ID);
	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
		 STARPU_PROFILING_DISABLE);
	CLAIM_EQ(starpu_profiling_status_get(), STARPU_PROFILING_ENABLE);
	starpu_data_set_default_sequential_consistency_flag(0);
	policy = starpu_mpi_node_selection_register_policy(choose_last);
	CLAIM_EQ(starpu_mpi_node_selection_set_current_policy(policy), 0);
	starpu_tag_declare_deps(TAG_AFTER, 1, (starpu_tag_t)TAG_BEFORE);
	starpu_tag_declare_deps(TAG_REMOVED, 1, (starpu_tag_t)TAG_BEFORE);
	starpu_tag_remove(TAG_REMOVED);
	starpu_tag_notify_from_apps(TAG_BEFORE);
	starpu_tag_restart(TAG_BEFORE); /* takes the notification back */

	claim_init(NCPUS);
	CLAIM_EQ(starpu_profiling_status_get(), STARPU_PROFILING_ENABLE);
	CLAIM_EQ(starpu_data_get_default_sequential_consistency_flag(), 0);
	CLAIM_EQ(starpu_mpi_node_selection_get_current_policy(), policy);
	CLAIM_EQ(starpu_mpi_tags_get_next_value(), 10);
	CLAIM_EQ(starpu_mpi_tags_allocate(10), 10);
	CLAIM_EQ(starpu_mpi_tags_get_next_value(), 20);
	last_id = starpu_data_interface_get_next_id();
	CLAIM(last_id > id);

	task->cl = &note;
	task->use_tag = 1;
	task->tag_id = TAG_AFTER;
	task->destroy = 0;
	task->detach = 0;
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM(task->profiling_info != NULL);
	CLAIM_EQ(starpu_task_nready(), 0);
	CLAIM_EQ(ran, 0);
	starpu_tag_notify_from_apps(TAG_BEFORE);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM_EQ(ran, 1);
	starpu_task_destroy(task);
	CLAIM_EQ(starpu_mpi_cache_set(0), 0);
	starpu_mpi_shutdown();
}

static void the_last_life_is_remembered(void)
{
	int ids[8] = {-1, -1};

	check_idle();
	CLAIM_EQ(starpu_worker_get_count_by_type(STARPU_ANY_WORKER),
		 starpu_worker_get_count());
	CLAIM_EQ(starpu_cpu_worker_get_count(), NCPUS);
	CLAIM_EQ(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 8), NCPUS);
	CLAIM_EQ(ids[1], ids[0] + 1);
	CLAIM_EQ(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), ids[0]);
	CLAIM_EQ(starpu_memory_nodes_get_numa_count(), 1);
	CLAIM_EQ(starpu_node_get_kind(STARPU_MAIN_RAM), STARPU_CPU_RAM);
	CLAIM_EQ(starpu_profiling_status_set(STARPU_PROFILING_DISABLE),
		 STARPU_PROFILING_ENABLE);
	CLAIM_EQ(starpu_data_get_default_sequential_consistency_flag(), 0);
	starpu_data_set_default_sequential_consistency_flag(1);
	CLAIM_EQ(starpu_mpi_cache_is_enabled(), 0);
	CLAIM(starpu_mpi_node_selection_get_current_policy() > 0);
	CLAIM_EQ(starpu_mpi_node_selection_set_current_policy(0), 0);
	CLAIM_EQ(starpu_mpi_world_size(), claim_size);
	CLAIM_EQ(starpu_mpi_world_rank(), claim_rank);
	starpu_mpi_tags_free(0);
	CLAIM_EQ(starpu_mpi_tags_allocate(3), 0);
	starpu_mpi_tags_free(0);
	starpu_mpi_tags_free(10);
}

/* In a life: cores for threads, and what is not there says so. */
static void threads_get_cores(void)
{
	unsigned wish = 0, core;
	int ids[4];

	claim_init(1);
	CLAIM_EQ(starpu_get_next_bindid(STARPU_THREAD_ACTIVE, &wish, 1), 0);
	core = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0);
	CLAIM_EQ(starpu_bind_thread_on((int)core, STARPU_THREAD_ACTIVE, "mine"), 0);
	CLAIM_EQ(starpu_bind_thread_on(-1, 0, "nowhere"), -1);
	starpu_bind_thread_on_main();
	starpu_bind_thread_on_worker((unsigned)starpu_worker_get_count() - 1);
	starpu_bind_thread_on_cpu((int)core);
	CLAIM_EQ(starpu_combined_worker_get_count(), 0);
	CLAIM_EQ(starpu_combined_worker_get_size(), 1);
	CLAIM_EQ(starpu_combined_worker_get_rank(), 0);
	CLAIM_EQ(starpu_combined_worker_get_id(), -1);
	CLAIM_EQ(starpu_asynchronous_copy_disabled(), 0);
	CLAIM_EQ(starpu_asynchronous_copy_disabled_for(STARPU_CUDA_RAM), 0);
	CLAIM_EQ(starpu_memory_node_get_ids_by_type(STARPU_CPU_RAM, (unsigned *)ids, 4),
		 1);
	CLAIM_EQ(starpu_worker_get_type_from_string("CUDA"), STARPU_CUDA_WORKER);
	CLAIM_EQ(starpu_arch_mask_to_worker_archtype(STARPU_CPU), STARPU_CPU_WORKER);
	CLAIM_EQ(starpu_fxt_is_enabled(), 0);
	starpu_cublas_init();
	starpu_cublas_shutdown();
	starpu_mpi_shutdown();
}

static void interface_ids_never_repeat(void)
{
	int id = starpu_data_interface_get_next_id();

	CLAIM(id > last_id);
	for (int life = 0; life < 3; life++) {
		claim_init(1);
		CLAIM_EQ(starpu_data_interface_get_next_id(), id + 1 + life);
		CLAIM_EQ(starpu_mpi_cache_is_enabled(), 1);
		starpu_mpi_shutdown();
	}
}

static const struct claim claims[] = {
	{"nothing exists before the first life", nothing_exists_before_the_first_life},
	{"the MPI layer answers before the first life",
	 the_mpi_layer_answers_before_the_first_life},
	{"what is set before holds in the life", what_is_set_before_holds_in_the_life},
	{"the last life is remembered", the_last_life_is_remembered},
	{"threads get cores", threads_get_cores},
	{"interface ids never repeat", interface_ids_never_repeat},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
