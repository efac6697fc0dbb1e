/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes between nodes of those who write callbacks, reductions, migrations and
 * communicators, one for each name; run.py says what must come of it.
 * usage: graphs CASE, on two to four ranks.
 */
#include "reduced.h"
#include "wrong.h"

#include <orrery_mpi.h>

static void receive(starpu_data_handle_t handle, int source, starpu_mpi_tag_t tag,
		    MPI_Comm comm)
{
	starpu_mpi_recv(handle, source, tag, comm, MPI_STATUS_IGNORE);
}

/* Ranks of one parity. */
static MPI_Comm half(void)
{
	MPI_Comm comm;

	MPI_Comm_split(WORLD, rank % 2, rank, &comm);
	starpu_mpi_comm_register(comm);
	return comm;
}

/* ---- callbacks ---------------------------------------------------------- */

static void sends_on(void *arg)
{
	starpu_mpi_isend_detached(*(starpu_data_handle_t *)arg, 0, TAG + 1, WORLD, NULL,
				  NULL);
}

/* The answer is sent by the callback of a receive whose message is never sent. */
static void answer_of_a_callback(void)
{
	static starpu_data_handle_t handle;

	handle = variable(&value);
	if (rank == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, sends_on, &handle);
	else if (rank == 0)
		receive(handle, 1, TAG + 1, WORLD);
	starpu_mpi_wait_for_all(WORLD);
}

/* The callback answers with the tag of the question. */
static void answer_with_other_tag(void)
{
	static starpu_data_handle_t handle;
	starpu_data_handle_t got = variable(&other_value);

	handle = variable(&value);
	if (rank == 1)
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, sends_on, &handle);
	if (rank == 0) {
		starpu_mpi_send(handle, 1, TAG, WORLD);
		receive(got, 1, TAG, WORLD);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

/* The tag that a receive unlocks is waited for, and another one was sent. */
static void tag_of_a_receive(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 1) {
		starpu_mpi_irecv_detached_unlock_tag(handle, 0, TAG, WORLD, 42);
		starpu_tag_wait(42);
	} else if (rank == 0) {
		starpu_mpi_issend_detached(handle, 1, TAG + 1, WORLD, NULL, NULL);
	}
	starpu_mpi_wait_for_all(WORLD);
}

/* ---- requests ----------------------------------------------------------- */

/* Each waits for the end of a synchronous send before it receives. */
static void ring_of_synchronous_sends(void)
{
	starpu_mpi_req req;

	starpu_mpi_issend(variable(&value), &req, (rank + 1) % size, TAG, WORLD);
	starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	receive(variable(&other_value), (rank + size - 1) % size, TAG, WORLD);
}

static void sends_what_it_holds(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0) {
		starpu_data_acquire(handle, STARPU_W);
		starpu_mpi_send(handle, 1, TAG, WORLD);
		starpu_data_release(handle);
	} else if (rank == 1) {
		receive(handle, 0, TAG, WORLD);
	}
}

/* A stencil whose last rank takes a step less. */
static void one_step_less(void)
{
	starpu_data_handle_t mine = variable(&value), left = variable(&other_value);
	int nsteps = rank == size - 1 ? 2 : 3;

	for (int step = 0; step < nsteps; step++) {
		starpu_mpi_isend_detached(mine, (rank + 1) % size, step, WORLD, NULL,
					  NULL);
		receive(left, (rank + size - 1) % size, step, WORLD);
	}
	starpu_mpi_barrier(WORLD);
}

static void from_anybody(void)
{
	receive(variable(&value), MPI_ANY_SOURCE, TAG, WORLD);
}

static void to_nobody(void)
{
	starpu_mpi_send(variable(&value), MPI_PROC_NULL, TAG, WORLD);
}

/* A task that waits for a task that is never submitted writes what is sent. */
static void sends_what_no_task_writes(void)
{
	starpu_data_handle_t handle = variable(&value);
	struct starpu_task *task, *first;

	if (rank == 0) {
		first = starpu_task_create();
		first->cl = &nothing;
		task = starpu_task_create();
		task->cl = &add;
		task->handles[0] = handle;
		starpu_task_declare_deps_array(task, 1, &first);
		if (starpu_task_submit(task) != 0)
			abort();
		starpu_mpi_send(handle, 1, TAG, WORLD);
	} else if (rank == 1) {
		receive(handle, 0, TAG, WORLD);
	}
}

/* ---- communicators ------------------------------------------------------ */

static void world_rank_in_half(void)
{
	MPI_Comm comm = half();

	starpu_mpi_send(variable(&value), size - 1, TAG, comm);
}

static void barriers_differ(void)
{
	MPI_Comm comm = half();

	starpu_mpi_barrier(rank == 0 ? WORLD : comm);
	starpu_mpi_barrier(rank == 0 ? comm : WORLD);
	starpu_mpi_barrier(WORLD);
	if (rank == 0)
		starpu_mpi_barrier(WORLD);
}

static void halves_meet(void)
{
	MPI_Comm comm = half();
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_issend_detached(handle, 1, TAG, comm, NULL, NULL);
	else if (rank == 1)
		receive(handle, 0, TAG, comm);
	starpu_mpi_wait_for_all(WORLD);
}

/* ---- reductions, migrations, trees -------------------------------------- */

static starpu_data_handle_t reduced(void)
{
	starpu_data_handle_t handle = owned(&value, 1, 0);

	starpu_data_set_reduction_methods(handle, &sum, &zero);
	for (int on = 0; on < size; on++)
		starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, handle,
				       STARPU_EXECUTE_ON_NODE, on, 0);
	return handle;
}

static void trees_differ(void)
{
	starpu_data_handle_t handle = reduced();

	starpu_mpi_redux_data_tree(WORLD, handle, rank == 0 ? 2 : 4);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

/* One rank leaves its contribution out. */
static void contribution_left_out(void)
{
	starpu_data_handle_t handle = owned(&value, 1, 0);

	starpu_data_set_reduction_methods(handle, &sum, &zero);
	for (int on = 0; on < size - (rank == size - 1); on++)
		starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, handle,
				       STARPU_EXECUTE_ON_NODE, on, 0);
	starpu_mpi_redux_data(WORLD, handle);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

static void migrated_on_one_only(void)
{
	starpu_data_handle_t from = owned(&value, 1, 0), to = owned(&other_value, 2, 0);

	if (rank == 0)
		starpu_mpi_data_migrate(WORLD, from, 1);
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

static void migrated_nowhere(void)
{
	starpu_mpi_data_migrate(WORLD, owned(&value, 1, 0), size);
}

static void spread_by_some(void)
{
	starpu_data_handle_t handle = many_bytes();

	starpu_mpi_data_register(handle, 1, 0);
	if (rank != size - 1)
		starpu_mpi_get_data_on_all_nodes_detached(WORLD, handle);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

static void roots_differ(void)
{
	starpu_data_handle_t handles[2] = {owned(&value, 1, 0),
					   owned(&other_value, 2, 1)};

	starpu_mpi_gather_detached(handles, 2, rank % 2, WORLD, NULL, NULL, NULL, NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

/* One rank submits the task by starpu_task_insert(). */
static void inserted_locally(void)
{
	starpu_data_handle_t from = owned(&value, 1, 0), to = owned(&other_value, 2, 1);

	if (rank == 1)
		starpu_task_insert(&copy, STARPU_R, from, STARPU_RW, to, 0);
	else
		starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

/* ---- polling ------------------------------------------------------------ */

static int has_come;

static void comes(void *arg)
{
	(void)arg;
	has_come = 1;
}

/* A loop of the program's own progress, for a message that is not sent; on real machines
 * for 4 s. */
static void progress_for_ever(void)
{
	starpu_data_handle_t got = variable(&value), sent = variable(&other_value);

	starpu_mpi_irecv_detached(got, 1 - rank, TAG, WORLD, comes, NULL);
#ifdef STARPU_SIMGRID
	while (!has_come)
		orrery_mpi_progress();
#else
	for (struct span span = {0}; !has_come && span_lasts(&span);)
		orrery_mpi_progress();
#endif
	starpu_mpi_send(sent, 1 - rank, TAG, WORLD);
	starpu_mpi_wait_for_all(WORLD);
}

/* Threads of the program's that wait for what callbacks tell them. */
enum { NCREWS = 3 };

struct crew {
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
	starpu_data_handle_t sent, got;
	long values[2];
	int number, has_come;
};

static void crew_hears(void *arg)
{
	struct crew *crew = arg;

	STARPU_PTHREAD_MUTEX_LOCK(&crew->mutex);
	crew->has_come = 1;
	STARPU_PTHREAD_COND_SIGNAL(&crew->cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&crew->mutex);
}

static void *crew_waits(void *arg)
{
	struct crew *crew = arg;

	starpu_mpi_isend_detached(crew->sent, (rank + 1) % size, crew->number, WORLD,
				  NULL, NULL);
	starpu_mpi_irecv_detached(crew->got, (rank + size - 1) % size, crew->number,
				  WORLD, crew_hears, crew);
	STARPU_PTHREAD_MUTEX_LOCK(&crew->mutex);
	while (!crew->has_come)
		STARPU_PTHREAD_COND_WAIT(&crew->cond, &crew->mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&crew->mutex);
	return NULL;
}

static int crews_hear(struct crew *crews)
{
	int all = 1;

	for (int i = 0; i < NCREWS; i++) {
		STARPU_PTHREAD_MUTEX_LOCK(&crews[i].mutex);
		all = all && crews[i].has_come;
		STARPU_PTHREAD_MUTEX_UNLOCK(&crews[i].mutex);
	}
	return all;
}

/* Nobody is in a call of the library that looks for messages, as starpu_sleep() does, for
 * 4 s; then the main is. */
static void crews_wait(void)
{
	static struct crew crews[NCREWS];
	starpu_pthread_t threads[NCREWS];
	struct timespec moment = {0, 50000000};

	for (int i = 0; i < NCREWS; i++) {
		crews[i].number = i;
		STARPU_PTHREAD_MUTEX_INIT(&crews[i].mutex, NULL);
		STARPU_PTHREAD_COND_INIT(&crews[i].cond, NULL);
		crews[i].sent = variable(&crews[i].values[0]);
		crews[i].got = variable(&crews[i].values[1]);
		STARPU_PTHREAD_CREATE(&threads[i], NULL, crew_waits, &crews[i]);
	}
	for (struct span span = {0}; !crews_hear(crews) && span_lasts(&span);)
		nanosleep(&moment, NULL);
	while (!crews_hear(crews))
		orrery_mpi_progress();
	for (int i = 0; i < NCREWS; i++) {
		STARPU_PTHREAD_JOIN(threads[i], NULL);
		starpu_data_unregister(crews[i].sent);
		starpu_data_unregister(crews[i].got);
	}
}

/* ---- threads ------------------------------------------------------------ */

struct pair {
	starpu_data_handle_t from, to;
};

static void *inserts_back(void *arg)
{
	const struct pair *pair = arg;

	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, pair->to, STARPU_RW, pair->from,
			       0);
	return NULL;
}

static void insert_forth(const struct pair *pair)
{
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, pair->from, STARPU_RW, pair->to,
			       0);
}

/* What the thread of rank 0 writes its main reads afterwards, that of rank 1 before. */
static void threads_in_two_orders(void)
{
	struct pair pair = {owned(&value, 1, 0), owned(&other_value, 2, 1)};
	starpu_pthread_t thread;

	if (rank == 1)
		insert_forth(&pair);
	STARPU_PTHREAD_CREATE(&thread, NULL, inserts_back, &pair);
	STARPU_PTHREAD_JOIN(thread, NULL);
	if (rank == 0)
		insert_forth(&pair);
	insert_forth(&pair);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	starpu_data_unregister(pair.from);
	starpu_data_unregister(pair.to);
}

static const struct scene scenes[] = {
	SCENE(answer_of_a_callback),
	SCENE(answer_with_other_tag),
	SCENE(tag_of_a_receive),
	SCENE(ring_of_synchronous_sends),
	SCENE(sends_what_it_holds),
	SCENE(one_step_less),
	SCENE(from_anybody),
	SCENE(to_nobody),
	SCENE(sends_what_no_task_writes),
	SCENE(world_rank_in_half),
	SCENE(barriers_differ),
	SCENE(halves_meet),
	SCENE(trees_differ),
	SCENE(contribution_left_out),
	SCENE(migrated_on_one_only),
	SCENE(migrated_nowhere),
	SCENE(spread_by_some),
	SCENE(roots_differ),
	SCENE(inserted_locally),
	SCENE(progress_for_ever),
	SCENE(crews_wait),
	SCENE(threads_in_two_orders),
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof scenes / sizeof scenes[0]);
}
