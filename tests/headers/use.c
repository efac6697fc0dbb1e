/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Macros and inline functions in the forms that programs use, as C11 and as
 * C++11, without a warning.  Only compiled.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* read-write locks, barriers, drand48 */
#endif

#include <starpu.h>
#include <starpu_mpi.h>
#include <starpu_task_list.h>

#ifdef __cplusplus
extern "C" {
#endif
int use_codelet(void);
int use_task(struct starpu_task *task, starpu_data_handle_t handle);
void use_kernel(void *buffers[], void *cl_arg);
void use_checks(int ret);
unsigned use_atomics(unsigned *counter, void **slot);
void use_threads(void);
void use_list(struct starpu_task *task);
double use_helpers(void);
int use_mpi(starpu_data_handle_t handle, struct starpu_codelet *cl);
#ifdef __cplusplus
}
#endif

/* A codelet in static memory, and copies of it: nothing is said about the
 * deprecated fields unless they are named. */
static struct starpu_codelet in_static_memory;

int use_codelet(void)
{
	struct starpu_codelet cl;
	struct starpu_codelet copy = in_static_memory;

	memset(&cl, 0, sizeof(cl));
	cl.where = STARPU_CPU | STARPU_CUDA;
	cl.cpu_funcs[0] = use_kernel;
	cl.cpu_funcs_name[0] = "use_kernel";
	cl.nbuffers = 2;
	cl.modes[0] = STARPU_R;
	cl.modes[1] = (enum starpu_data_access_mode)(STARPU_RW | STARPU_COMMUTE);
	copy = cl;
	STARPU_CODELET_SET_MODE(&cl, STARPU_W, 1);
	STARPU_CODELET_SET_NODE(&cl, STARPU_SPECIFIC_NODE_CPU, 0);
	return STARPU_CODELET_GET_MODE(&cl, 1) == STARPU_W &&
	       STARPU_CODELET_GET_NODE(&cl, 0) == STARPU_SPECIFIC_NODE_CPU &&
	       copy.nbuffers == 2;
}

#ifndef __cplusplus
/* Designated initialisers are C until C++20. */
struct starpu_codelet use_designated = {
	.cpu_funcs = {use_kernel},
	.cuda_flags = {STARPU_CUDA_ASYNC},
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
	.name = "designated",
};
struct starpu_perfmodel use_model = {
	.type = STARPU_HISTORY_BASED,
	.symbol = "use",
};
struct starpu_task use_static_task = STARPU_TASK_INITIALIZER;
struct starpu_opencl_program use_opencl; /* often outside of STARPU_USE_OPENCL */
#endif

int use_task(struct starpu_task *task, starpu_data_handle_t handle)
{
	unsigned i;

	task->status = STARPU_TASK_INVALID;
	for (i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
		STARPU_TASK_SET_HANDLE(task, handle, i);
		STARPU_TASK_SET_MODE(task, STARPU_R, i);
	}
	if (STARPU_TASK_GET_MODE(task, 0) & STARPU_W)
		return -EINVAL;
	if (task->status == STARPU_TASK_INIT && STARPU_TASK_GET_HANDLE(task, 0) == handle)
		return starpu_task_submit(task);
	task->priority = STARPU_MAX_PRIO;
	return starpu_task_insert(task->cl, STARPU_RW | STARPU_COMMUTE, handle,
				  STARPU_VALUE, &i, sizeof(i), STARPU_PRIORITY,
				  STARPU_DEFAULT_PRIO, STARPU_FLOPS, (double)1.0,
				  STARPU_EXECUTE_WHERE, STARPU_CPU, 0);
}

void use_kernel(void *buffers[], void *cl_arg)
{
	float *v = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned nx = STARPU_VECTOR_GET_NX(buffers[0]);
	double *m = (double *)STARPU_MATRIX_GET_PTR(buffers[1]);
	unsigned ld = STARPU_MATRIX_GET_LD(buffers[1]);
	int *x = (int *)STARPU_VARIABLE_GET_PTR(buffers[2]);
	unsigned i;

	STARPU_VECTOR_CHECK(buffers[0]);
	STARPU_MATRIX_CHECK(buffers[1]);
	STARPU_VARIABLE_CHECK(buffers[2]);
	STARPU_BLOCK_CHECK(buffers[3]);
	*x = (int)(STARPU_BLOCK_GET_LDZ(buffers[3]) + STARPU_BLOCK_GET_NZ(buffers[3]));
	starpu_codelet_unpack_args(cl_arg, x, NULL);
	for (i = 0; i < nx; i++)
		v[i] = (float)m[i * ld];
	STARPU_VECTOR_SET_NX(buffers[0], nx / 2);
	STARPU_MATRIX_SET_LD(buffers[1], ld);
}

void use_checks(int ret)
{
	char text[64];

	STARPU_ASSERT(ret >= 0);
	STARPU_ASSERT_ACCESSIBLE(text);
	STARPU_SIMGRID_ASSERT(ret >= 0);
	STARPU_ASSERT_MSG(ret == 0, "%s is %d", "ret", ret);
	STARPU_ASSERT_MSG(ret == 0, "no values");
	STARPU_CHECK_RETURN_VALUE_IS(ret, 0, "%s(%d)", "use", 3);
	starpu_strerror_r(ret, text, sizeof(text));
	/* Between if and else programs write it without braces and semicolon. */
	if (ret)
		STARPU_CHECK_RETURN_VALUE(ret, "use(%d)", 3)
	else
		STARPU_ABORT_MSG("%s", text);
}

STARPU_ATOMIC_SOMETHING(greatest, old > value ? old : value)

unsigned use_atomics(unsigned *counter, void **slot)
{
	unsigned n = STARPU_ATOMIC_ADD(counter, 1) + STARPU_ATOMIC_OR(counter, 4);

	while (STARPU_TEST_AND_SET(counter, 1))
		STARPU_RMB();
	STARPU_WMB();
	STARPU_RELEASE(counter);
	STARPU_SYNCHRONIZE();
	n += STARPU_VAL_COMPARE_AND_SWAP(counter, 0, 1);
	n += STARPU_VAL_EXCHANGE(counter, 2);
	if (STARPU_BOOL_COMPARE_AND_SWAP_PTR(slot, NULL, STARPU_POISON_PTR))
		return STARPU_MIN(n, 3U);
	return STARPU_MAX(n, starpu_atomic_greatest(counter, n));
}

static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;

#ifndef STARPU_SIMGRID
static void *thread_main(void *arg)
{
	STARPU_PTHREAD_BARRIER_WAIT((starpu_pthread_barrier_t *)arg);
	return NULL;
}

static void use_posix_only(void)
{
	starpu_pthread_t thread;
	starpu_pthread_barrier_t barrier;
	starpu_pthread_rwlock_t lock;
	starpu_pthread_key_t key;

	STARPU_PTHREAD_BARRIER_INIT(&barrier, NULL, 2);
	STARPU_PTHREAD_CREATE(&thread, NULL, thread_main, &barrier);
	STARPU_PTHREAD_BARRIER_WAIT(&barrier);
	STARPU_PTHREAD_JOIN(thread, NULL);
	STARPU_PTHREAD_BARRIER_DESTROY(&barrier);
	STARPU_PTHREAD_RWLOCK_INIT(&lock, NULL);
	STARPU_PTHREAD_RWLOCK_WRLOCK(&lock);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&lock);
	STARPU_PTHREAD_RWLOCK_DESTROY(&lock);
	STARPU_PTHREAD_KEY_CREATE(&key, NULL);
	STARPU_PTHREAD_SETSPECIFIC(key, &lock);
	STARPU_PTHREAD_KEY_DELETE(key);
}
#endif

void use_threads(void)
{
	STARPU_PTHREAD_MUTEX_INIT(&mutex, NULL);
	STARPU_PTHREAD_COND_INIT(&cond, NULL);
	if (STARPU_PTHREAD_MUTEX_TRYLOCK(&mutex) == EBUSY)
		STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_COND_SIGNAL(&cond);
	STARPU_PTHREAD_COND_BROADCAST(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	STARPU_PTHREAD_COND_DESTROY(&cond);
	STARPU_PTHREAD_MUTEX_DESTROY(&mutex);
#ifndef STARPU_SIMGRID
	use_posix_only();
#endif
}

void use_list(struct starpu_task *task)
{
	struct starpu_task_list list;
	struct starpu_task *t;

	starpu_task_list_init(&list);
	starpu_task_list_push_back(&list, task);
	for (t = starpu_task_list_begin(&list); t != starpu_task_list_end(&list);
	     t = starpu_task_list_next(t))
		STARPU_ASSERT(starpu_task_list_ismember(&list, t));
	while (!starpu_task_list_empty(&list))
		(void)starpu_task_list_pop_front(&list);
}

double use_helpers(void)
{
	struct timespec a, b, c;
	unsigned short state[3] = {0, 0, 0};

	starpu_timespec_clear(&a);
	starpu_timespec_clear(&b);
	starpu_timespec_accumulate(&a, &b);
	starpu_timespec_sub(&a, &b, &c);
	if (starpu_timespec_cmp(&a, &b, <=))
		starpu_srand48(starpu_getenv_number_default("SEED", 1));
	return starpu_drand48() + starpu_erand48(state) +
	       (double)starpu_getenv_float_default("F", 1.0f) +
	       starpu_worker_get_id_check();
}

int use_mpi(starpu_data_handle_t handle, struct starpu_codelet *cl)
{
	starpu_mpi_data_register(handle, 1, 0);
	starpu_mpi_data_set_rank(handle, 1);
	starpu_data_set_tag(handle, starpu_data_get_tag(handle) + 1);
	starpu_mpi_checkpoint_init();
	return starpu_mpi_task_insert(MPI_COMM_WORLD, cl, STARPU_W | STARPU_SSEND, handle,
				      STARPU_EXECUTE_ON_NODE, 0, 0);
}
