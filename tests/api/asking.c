/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What policies and programs ask about workers, tasks and queues, and seldom do. */
#include <schedulers/starpu_scheduler_toolbox.h>
#include <string.h>

#include "claim.h"

int claim_failures;

static int nran;

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	(void)STARPU_ATOMIC_ADD(&nran, 1);
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 100;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .symbol = "asked", .cost_function = cost_us};
static struct starpu_codelet codelet = {
	.cpu_funcs = {work}, .model = &model, .name = "named"};

/* ---- workers --------------------------------------------------------- */

static void kinds_have_names(void)
{
	static const struct {
		enum starpu_worker_archtype type;
		const char *text, *variable;
	} kinds[] = {
		{STARPU_CPU_WORKER, "CPU", "CPU"},
		{STARPU_CUDA_WORKER, "CUDA", "CUDA"},
		{STARPU_OPENCL_WORKER, "OpenCL", "OPENCL"},
		{STARPU_MAX_FPGA_WORKER, "FPGA", "FPGA"},
		{STARPU_MPI_MS_WORKER, "MPI_MS", "MPI_MS"},
		{STARPU_TCPIP_MS_WORKER, "TCPIP_MS", "TCPIP_MS"},
		{STARPU_HIP_WORKER, "HIP", "HIP"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		enum starpu_worker_archtype type = kinds[i].type;

		CLAIM(starpu_worker_archtype_is_valid(type));
		CLAIM(strcmp(starpu_worker_get_type_as_string(type), kinds[i].text) == 0);
		CLAIM(strcmp(starpu_worker_get_type_as_env_var(type),
			     kinds[i].variable) == 0);
		CLAIM_EQ(starpu_memory_node_get_worker_archtype(
				 starpu_worker_get_memory_node_kind(type)),
			 type);
	}
	/* Value 3 is nobody's any more. */
	CLAIM(!starpu_worker_archtype_is_valid((enum starpu_worker_archtype)3));
	CLAIM(!starpu_worker_archtype_is_valid(STARPU_NARCH));
	CLAIM_EQ(starpu_worker_get_memory_node_kind(STARPU_CPU_WORKER), STARPU_CPU_RAM);
	CLAIM_EQ(starpu_worker_get_memory_node_kind(STARPU_CUDA_WORKER), STARPU_CUDA_RAM);
}

/* Lines with what, in what a function has written. */
static int count_lines(FILE *file, const char *what)
{
	char line[256];
	int n = 0;

	rewind(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, what) != NULL;
	return n;
}

static void workers_are_listed(void)
{
	FILE *file = tmpfile();
	unsigned ctx;

	claim_start(3);
	starpu_worker_wait_for_initialisation();
	CLAIM_EQ(starpu_hip_worker_get_count(), 0);
	CLAIM_EQ(starpu_opencl_worker_get_count(), 0);
	CLAIM_EQ(starpu_tcpip_ms_worker_get_count(), 0);
	for (int i = 0; i < (int)starpu_worker_get_count(); i++)
		CLAIM_EQ(starpu_worker_get_devnum(i), starpu_worker_get_devid(i));
	starpu_worker_display_all(file);
	CLAIM_EQ(count_lines(file, "CPU 2"), 1);
	fclose(file);
	file = tmpfile();
	starpu_worker_display_names(file, STARPU_CPU_WORKER);
	CLAIM_EQ(count_lines(file, "CPU 0") + count_lines(file, "CPU 2"), 2);
	fclose(file);
	file = tmpfile();
	starpu_worker_display_count(file, STARPU_CPU_WORKER);
	CLAIM_EQ(count_lines(file, "3"), 1);
	fclose(file);
	ctx = starpu_sched_ctx_create(
		(int[]){starpu_worker_get_by_type(STARPU_CPU_WORKER, 1)}, 1, "one",
		STARPU_SCHED_CTX_POLICY_NAME, "eager", STARPU_SCHED_CTX_CUDA_NSMS, 6, 0);
	CLAIM_EQ(starpu_sched_ctx_get_nsms(ctx), 6);
	CLAIM_EQ(starpu_sched_ctx_get_nsms(0), 0);
	file = tmpfile();
	starpu_sched_ctx_display_workers(ctx, file);
	CLAIM_EQ(count_lines(file, "CPU 1"), 1);
	fclose(file);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* ---- tasks ----------------------------------------------------------- */

static void tasks_have_names_and_implementations(void)
{
	struct starpu_task *task = starpu_task_create();
	struct starpu_codelet plain = {.cpu_funcs = {work}, .name = "plain"};

	claim_start(1);
	task->cl = &codelet;
	CLAIM(strcmp(starpu_task_get_name(task), "named") == 0);
	CLAIM(strcmp(starpu_task_get_model_name(task), "asked") == 0);
	task->name = "own";
	CLAIM(strcmp(starpu_task_get_name(task), "own") == 0);
	task->cl = &plain;
	CLAIM(strcmp(starpu_task_get_model_name(task), "plain") == 0);
	CLAIM_EQ(starpu_task_get_implementation(task), 0);
	task->destroy = 0;
	starpu_task_destroy(task);
	CLAIM(strcmp(starpu_task_status_get_as_string(STARPU_TASK_BLOCKED_ON_DATA),
		     "STARPU_TASK_BLOCKED_ON_DATA") == 0);
	CLAIM(strcmp(starpu_task_status_get_as_string(STARPU_TASK_STOPPED),
		     "STARPU_TASK_STOPPED") == 0);
	starpu_shutdown();
}

static void called(void *arg)
{
	*(int *)arg = 1;
}

static void a_task_may_be_a_callback(void)
{
	int is_called = 0;

	claim_start(1);
	starpu_create_callback_task(called, &is_called);
	starpu_task_wait_for_all();
	CLAIM_EQ(is_called, 1);
	starpu_shutdown();
}

static void few_tasks_of_a_context_remain(void)
{
	int id;
	unsigned ctx;

	claim_start(1);
	id = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	ctx = starpu_sched_ctx_create(&id, 1, "one", STARPU_SCHED_CTX_POLICY_NAME,
				      "eager", 0);
	nran = 0;
	for (int i = 0; i < 20; i++)
		CLAIM_EQ(starpu_task_insert(&codelet, STARPU_SCHED_CTX, ctx, 0), 0);
	CLAIM_EQ(starpu_task_wait_for_n_submitted_in_ctx(ctx, 4), 0);
	CLAIM(starpu_task_nsubmitted() <= 4);
	CLAIM_EQ(starpu_task_wait_for_all_in_ctx(ctx), 0);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

static void lists_of_tasks(void)
{
	struct starpu_task task[5];
	struct starpu_task_list list, other;

	starpu_task_list_init(&list);
	starpu_task_list_init(&other);
	CLAIM(!starpu_task_list_pop_front(&list) && !starpu_task_list_pop_back(&list));
	for (int i = 0; i < 5; i++) {
		starpu_task_init(&task[i]);
		starpu_task_list_push_back(i < 3 ? &list : &other, &task[i]);
	}
	CLAIM(starpu_task_list_front(&list) == &task[0]);
	CLAIM(starpu_task_list_ismember(&list, &task[2]));
	CLAIM(!starpu_task_list_ismember(&list, &task[3]));
	starpu_task_list_move(&list, &other);
	CLAIM(starpu_task_list_empty(&other));
	CLAIM(starpu_task_list_next(&task[2]) == &task[3]);
	CLAIM(starpu_task_list_pop_back(&list) == &task[4]);
	starpu_task_list_move(&other, &list);
	CLAIM(starpu_task_list_empty(&list));
	for (int i = 0; i < 4; i++)
		CLAIM(starpu_task_list_pop_front(&other) == &task[i]);
	CLAIM(starpu_task_list_empty(&other));
}

/* ---- a policy of the application's ------------------------------------- */

static int nseen_by_init, nseen_by_come, nfollowing, nlone;
static struct starpu_task_list waiting[STARPU_NMAX_SCHED_CTXS]; /* of each context */
static starpu_pthread_mutex_t mutex[STARPU_NMAX_SCHED_CTXS];

static int count_collection(unsigned ctx)
{
	struct starpu_worker_collection *workers =
		starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	int n = 0;

	workers->init_iterator(workers, &it);
	for (; workers->has_next(workers, &it); n++)
		workers->get_next(workers, &it);
	return n;
}

static void seeing_init(unsigned ctx)
{
	nseen_by_init = count_collection(ctx);
	starpu_task_list_init(&waiting[ctx]);
	STARPU_PTHREAD_MUTEX_INIT(&mutex[ctx], NULL);
}

static void seeing_come(unsigned ctx, int *ids, unsigned n)
{
	(void)ids;
	nseen_by_come = count_collection(ctx);
	CLAIM_EQ(nseen_by_come, n);
}

static int seeing_push(struct starpu_task *task)
{
	unsigned ctx = task->sched_ctx;

	STARPU_PTHREAD_MUTEX_LOCK(&mutex[ctx]);
	starpu_task_list_push_back(&waiting[ctx], task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex[ctx]);
	return starpu_push_task_end(task);
}

static struct starpu_task *seeing_pop(unsigned ctx)
{
	struct starpu_task *task;

	STARPU_PTHREAD_MUTEX_LOCK(&mutex[ctx]);
	task = starpu_task_list_pop_front(&waiting[ctx]);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex[ctx]);
	return task;
}

/* What add_workers() is told of, init_sched() has not seen yet, in no context. */
static void a_policy_begins_without_workers(void)
{
	struct starpu_sched_policy seeing = {.init_sched = seeing_init,
					     .add_workers = seeing_come,
					     .push_task = seeing_push,
					     .pop_task = seeing_pop,
					     .policy_name = "seeing",
					     .policy_description = "counts workers"};
	struct starpu_conf conf;
	unsigned ctx;

	starpu_conf_init(&conf);
	conf.sched_policy_name = NULL;
	conf.sched_policy = &seeing;
	conf.ncuda = 0;
	if (starpu_init(&conf) != 0)
		exit(77);
	CLAIM_EQ(nseen_by_init, 0);
	CLAIM_EQ(nseen_by_come, starpu_worker_get_count());
	CLAIM_EQ(count_collection(0), starpu_worker_get_count());
	CLAIM_EQ(starpu_sched_set_min_priority(-7), 0);
	CLAIM_EQ(starpu_sched_get_min_priority(), -7);
	CLAIM_EQ(starpu_task_insert(&codelet, 0), 0);
	starpu_task_wait_for_all();
	ctx = starpu_sched_ctx_create((int[]){0}, 1, "one",
				      STARPU_SCHED_CTX_POLICY_STRUCT, &seeing, 0);
	CLAIM_EQ(nseen_by_init, 0);
	CLAIM_EQ(nseen_by_come, 1);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* ---- parallel tasks ---------------------------------------------------- */

static void lead(void *buffers[], void *arg)
{
	int id = starpu_worker_get_id();
	int size, *ids;

	(void)buffers;
	(void)arg;
	if (starpu_combined_worker_get_description(starpu_combined_worker_get_id(), &size,
						   &ids) != 0)
		return;
	for (int i = 0; i < size; i++) {
		nfollowing += starpu_worker_is_slave_somewhere(ids[i]) != 0;
		CLAIM_EQ(starpu_worker_is_blocked_in_parallel(ids[i]), ids[i] != id);
		nlone += ids[i] == id && !starpu_worker_is_slave_somewhere(ids[i]);
	}
}

static void others_follow_who_leads(void)
{
	struct starpu_codelet parallel = {.cpu_funcs = {lead},
					  .type = STARPU_FORKJOIN,
					  .max_parallelism = 3,
					  .model = &model,
					  .flags = STARPU_CODELET_SIMGRID_EXECUTE};
	struct starpu_task *task = starpu_task_create();
	int ids[3], team;

	claim_start(3);
	starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 3);
	team = starpu_combined_worker_assign_workerid(3, ids);
	CLAIM(team >= (int)starpu_worker_get_count());
	task->cl = &parallel;
	task->execute_on_a_specific_worker = 1;
	task->workerid = (unsigned)team;
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(nfollowing, 2);
	CLAIM_EQ(nlone, 1);
	for (int i = 0; i < 3; i++)
		CLAIM_EQ(starpu_worker_is_slave_somewhere(ids[i]), 0);
	starpu_shutdown();
}

/* ---- queues for policies ----------------------------------------------- */

static void counts_of_a_queue(void)
{
	starpu_st_fifo_taskq_t fifo;
	struct starpu_task tasks[2];

	claim_start(1);
	fifo = starpu_st_fifo_taskq_create();
	starpu_st_fifo_exp_start_set(fifo, 10);
	starpu_st_fifo_exp_len_set(fifo, 4);
	starpu_st_fifo_exp_len_inc(fifo, 2.5);
	starpu_st_fifo_exp_end_set(fifo, starpu_st_fifo_exp_start_get(fifo) +
						 starpu_st_fifo_exp_len_get(fifo));
	CLAIM(starpu_st_fifo_exp_end_get(fifo) == 16.5);
	starpu_st_fifo_pipeline_len_set(fifo, 1);
	starpu_st_fifo_pipeline_len_inc(fifo, 0.25);
	CLAIM(starpu_st_fifo_pipeline_len_get(fifo) == 1.25);
	starpu_st_fifo_ntasks_inc(fifo, 3);
	starpu_st_fifo_nprocessed_inc(fifo, 5);
	CLAIM_EQ(starpu_st_fifo_ntasks_get(fifo), 3);
	CLAIM_EQ(starpu_st_fifo_nprocessed_get(fifo), 5);
	starpu_st_fifo_ntasks_per_priority_get(fifo)[7] = 2;
	starpu_st_fifo_exp_len_per_priority_get(fifo)[STARPU_ST_NPRIORITIES - 1] = 1;
	CLAIM_EQ(starpu_st_fifo_ntasks_per_priority_get(fifo)[7], 2);
	starpu_st_fifo_taskq_destroy(fifo);
	fifo = starpu_st_fifo_taskq_create();
	for (int i = 0; i < 2; i++) {
		starpu_task_init(&tasks[i]);
		tasks[i].priority = i;
		CLAIM_EQ(starpu_st_fifo_taskq_push_back_task(fifo, &tasks[i]), 0);
	}
	CLAIM_EQ(starpu_st_fifo_ntasks_get(fifo), 2);
	CLAIM(starpu_st_fifo_taskq_pop_local_task(fifo) == &tasks[0]);
	CLAIM(starpu_st_fifo_taskq_pop_local_task(fifo) == &tasks[1]);
	CLAIM_EQ(starpu_st_fifo_ntasks_get(fifo), 0);
	starpu_st_fifo_taskq_destroy(fifo);
	starpu_shutdown();
}

/* Of a task with two data in main memory, as seen from there and from a GPU, if there is
 * one. */
static void what_is_not_ready(void)
{
	static char bytes[2][64];
	struct starpu_codelet both = {.cpu_funcs = {work},
				      .cuda_funcs = {work},
				      .nbuffers = 2,
				      .modes = {STARPU_R, STARPU_RW}};
	struct starpu_st_prio_deque deque;
	starpu_data_handle_t handles[2];
	size_t missing, unasked, roomless;
	struct starpu_task tasks[2];
	int cpu, gpu;

	claim_start(1);
	cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
	starpu_st_prio_deque_init(&deque);
	for (int i = 0; i < 2; i++) {
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)bytes[i], 64, 1);
		starpu_task_init(&tasks[i]);
		tasks[i].cl = &both;
		starpu_st_prio_deque_push_back_task(&deque, &tasks[i]);
	}
	for (int i = 0; i < 4; i++)
		tasks[i / 2].handles[i % 2] = handles[i % 2];
	CLAIM_EQ(starpu_st_non_ready_buffers_count(&tasks[0], (unsigned)cpu), 0);
	starpu_st_non_ready_buffers_size(&tasks[0], (unsigned)cpu, &missing, &unasked,
					 &roomless);
	CLAIM_EQ(missing + unasked + roomless, 0);
	if (gpu >= 0) {
		CLAIM_EQ(starpu_st_non_ready_buffers_count(&tasks[0], (unsigned)gpu), 2);
		starpu_st_non_ready_buffers_size(&tasks[0], (unsigned)gpu, &missing,
						 &unasked, &roomless);
		CLAIM_EQ(missing, 128);
		CLAIM_EQ(unasked, 128);
		CLAIM_EQ(roomless, 128);
	}
	CLAIM(starpu_st_prio_deque_deque_first_ready_task(&deque, (unsigned)cpu) ==
	      &tasks[0]);
	CLAIM(starpu_st_prio_deque_deque_first_ready_task(&deque, (unsigned)cpu) ==
	      &tasks[1]);
	CLAIM(!starpu_st_prio_deque_deque_first_ready_task(&deque, (unsigned)cpu));
	starpu_st_prio_deque_destroy(&deque);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
}

/* ---- calls ------------------------------------------------------------ */

static int ncalls[STARPU_NMAXWORKERS];

static void note_call(void *arg)
{
	CLAIM(arg == ncalls);
	(void)STARPU_ATOMIC_ADD(&ncalls[starpu_worker_get_id_check()], 1);
}

/* Each worker of the kinds once, under a name. */
static void all_workers_are_called(void)
{
	starpu_drivers_preinit();
	claim_start(2);
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		ncalls[i] = 0;
	starpu_execute_on_each_worker_ex(note_call, ncalls, STARPU_CPU, "called");
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		CLAIM_EQ(ncalls[i], starpu_worker_get_type((int)i) == STARPU_CPU_WORKER);
	starpu_execute_on_each_worker_ex(note_call, ncalls, STARPU_CPU | STARPU_CUDA,
					 "called");
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		CLAIM_EQ(ncalls[i],
			 1 + (starpu_worker_get_type((int)i) == STARPU_CPU_WORKER));
	starpu_shutdown();
}

/* A queue in memory of the policy's own. */
static void a_queue_begins_empty(void)
{
	struct starpu_st_fifo_taskq queue;
	struct starpu_task task;

	claim_start(1);
	memset(&queue, 0xa5, sizeof(queue));
	starpu_st_fifo_taskq_init(&queue);
	CLAIM(starpu_st_fifo_taskq_empty(&queue));
	CLAIM_EQ(starpu_st_fifo_ntasks_get(&queue), 0);
	CLAIM_EQ(starpu_st_fifo_nprocessed_get(&queue), 0);
	CLAIM(starpu_st_fifo_exp_len_get(&queue) == 0);
	starpu_task_init(&task);
	task.cl = &codelet;
	CLAIM_EQ(starpu_st_fifo_taskq_push_task(&queue, &task), 0);
	CLAIM(!starpu_st_fifo_taskq_empty(&queue));
	CLAIM(starpu_st_fifo_taskq_pop_local_task(&queue) == &task);
	CLAIM(starpu_st_fifo_taskq_empty(&queue));
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"kinds_have_names", kinds_have_names},
	{"workers_are_listed", workers_are_listed},
	{"tasks_have_names_and_implementations", tasks_have_names_and_implementations},
	{"a_task_may_be_a_callback", a_task_may_be_a_callback},
	{"few_tasks_of_a_context_remain", few_tasks_of_a_context_remain},
	{"lists_of_tasks", lists_of_tasks},
	{"a_policy_begins_without_workers", a_policy_begins_without_workers},
	{"others_follow_who_leads", others_follow_who_leads},
	{"counts_of_a_queue", counts_of_a_queue},
	{"what_is_not_ready", what_is_not_ready},
	{"all_workers_are_called", all_workers_are_called},
	{"a_queue_begins_empty", a_queue_begins_empty},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	(void)argv;
	return claims_run(claims, argc > 1);
}
