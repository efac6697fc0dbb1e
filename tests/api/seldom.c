/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Forms of functions and macros that programs use less often than their neighbours. */
#include <starpu_scheduler.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

/* ---- acquisitions ------------------------------------------------------ */

static char heard[32];

static void hear(void *arg)
{
	strcat(heard, arg);
}

static starpu_data_handle_t begin_with(long *value)
{
	starpu_data_handle_t handle;

	claim_start(2);
	heard[0] = '\0';
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)value,
				      sizeof(*value));
	return handle;
}

static int hear_on(starpu_data_handle_t handle, int node,
		   enum starpu_data_access_mode mode, const char *name, int is_ordered)
{
	return starpu_data_acquire_on_node_cb_sequential_consistency(
		handle, node, mode, hear, (void *)(uintptr_t)name, is_ordered);
}

/* A reader that ignores the order comes before a writer that keeps it; one that keeps it,
 * behind.  A writer that ignores it waits for those who hold the data, only. */
static void order_is_ignored_when_told(void)
{
	long value = 5;
	starpu_data_handle_t handle = begin_with(&value);

	starpu_data_acquire(handle, STARPU_R);
	CLAIM_EQ(starpu_data_acquire_cb(handle, STARPU_W, hear, "w"), 0);
	CLAIM_EQ(starpu_data_acquire_cb_sequential_consistency(handle, STARPU_R, hear,
							       "r", 0),
		 0);
	CLAIM(strcmp(heard, "r") == 0);
	CLAIM_EQ(hear_on(handle, STARPU_MAIN_RAM, STARPU_R, "n", 0), 0);
	CLAIM(strcmp(heard, "rn") == 0);
	CLAIM_EQ(starpu_data_acquire_cb_sequential_consistency(handle, STARPU_R, hear,
							       "o", 1),
		 0);
	CLAIM_EQ(hear_on(handle, STARPU_ACQUIRE_NO_NODE, STARPU_W, "x", 0), 0);
	CLAIM(strcmp(heard, "rn") == 0);
	for (int i = 0; i < 3; i++)
		starpu_data_release(handle);
	CLAIM(strcmp(heard, "rnx") == 0);
	starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
	CLAIM(strcmp(heard, "rnxw") == 0);
	starpu_data_release(handle);
	CLAIM(strcmp(heard, "rnxwo") == 0);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* What is said of the data holds for acquisitions that would keep the order. */
static void unordered_data_stay_so(void)
{
	long value = 5;
	starpu_data_handle_t handle = begin_with(&value);

	starpu_data_set_sequential_consistency_flag(handle, 0);
	starpu_data_acquire(handle, STARPU_R);
	starpu_data_acquire_cb(handle, STARPU_W, hear, "w");
	starpu_data_acquire_cb_sequential_consistency(handle, STARPU_R, hear, "r", 1);
	CLAIM(strcmp(heard, "r") == 0);
	starpu_data_release(handle);
	starpu_data_release(handle);
	CLAIM(strcmp(heard, "rw") == 0);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* ---- parts --------------------------------------------------------------- */

static starpu_data_handle_t part_of(starpu_data_handle_t handle, unsigned depth, ...)
{
	va_list list;

	va_start(list, depth);
	handle = starpu_data_vget_sub_data(handle, depth, list);
	va_end(list);
	return handle;
}

static void cut(starpu_data_handle_t handle, unsigned nfilters, ...)
{
	va_list list;

	va_start(list, nfilters);
	starpu_data_vmap_filters(handle, nfilters, list);
	va_end(list);
}

static void parts_come_from_lists(void)
{
	struct starpu_data_filter four = {.filter_func = starpu_vector_filter_block,
					  .nchildren = 4};
	struct starpu_data_filter two = {.filter_func = starpu_vector_filter_block,
					 .nchildren = 2};
	float values[64];
	starpu_data_handle_t vector;

	claim_start(1);
	starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)values, 64,
				    sizeof(float));
	CLAIM(part_of(vector, 0) == vector);
	cut(vector, 2, &four, &two);
	CLAIM_EQ(starpu_data_get_nb_children(vector), 4);
	CLAIM_EQ(starpu_data_get_nb_children(part_of(vector, 1, 3)), 2);
	CLAIM(part_of(vector, 2, 2, 1) ==
	      starpu_data_get_child(starpu_data_get_child(vector, 2), 1));
	CLAIM_EQ(starpu_vector_get_nx(part_of(vector, 2, 2, 1)), 8);
	CLAIM_EQ(starpu_vector_get_local_ptr(part_of(vector, 2, 2, 1)),
		 (uintptr_t)&values[40]);
	starpu_data_unpartition(vector, STARPU_MAIN_RAM);
	starpu_data_unregister(vector);
	starpu_shutdown();
}

/* ---- buffers --------------------------------------------------------------- */

static void values_are_packed_where_told(void)
{
	float values[4 * 3], other[2 * 3];
	starpu_data_handle_t matrix, dense;
	starpu_ssize_t count = 0;
	void *packed = NULL;

	claim_start(1);
	for (int i = 0; i < 12; i++)
		values[i] = (float)i;
	memset(other, 0, sizeof(other));
	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)values, 4, 2, 3,
				    sizeof(float));
	starpu_matrix_data_register(&dense, STARPU_MAIN_RAM, (uintptr_t)other, 2, 2, 3,
				    sizeof(float));
	CLAIM_EQ(starpu_matrix_get_ny(matrix), 3);
	starpu_data_acquire(matrix, STARPU_RW);
	starpu_data_acquire(dense, STARPU_RW);
	CLAIM_EQ(starpu_data_pack_node(matrix, STARPU_MAIN_RAM, &packed, &count), 0);
	CLAIM_EQ(count, (long long)sizeof(other));
	CLAIM_EQ(((float *)packed)[5], 9);
	CLAIM_EQ(starpu_data_peek_node(dense, STARPU_MAIN_RAM, packed, (size_t)count), 0);
	CLAIM(memcmp(other, packed, sizeof(other)) == 0);
	values[9] = values[2] = -1;
	CLAIM_EQ(starpu_data_unpack_node(matrix, STARPU_MAIN_RAM, packed, (size_t)count),
		 0);
	CLAIM_EQ(values[9], 9);
	CLAIM_EQ(values[2], -1);
	starpu_data_release(dense);
	starpu_data_release(matrix);
	starpu_data_unregister(dense);
	starpu_data_unregister(matrix);
	starpu_shutdown();
}

static void resize_vector(void *buffers[], void *arg)
{
	CLAIM_EQ(STARPU_VECTOR_GET_ALLOCSIZE(buffers[0]), 256);
	STARPU_VECTOR_SET_NX(buffers[0], (uint32_t)(uintptr_t)arg);
}

static void resize_matrix(void *buffers[], void *arg)
{
	(void)arg;
	CLAIM_EQ(STARPU_MATRIX_GET_ALLOCSIZE(buffers[0]), 256);
	CLAIM_EQ(STARPU_MATRIX_GET_ELEMSIZE(buffers[0]), 8);
	CLAIM_EQ(STARPU_MATRIX_GET_OFFSET(buffers[0]), 0);
	STARPU_MATRIX_SET_NX(buffers[0], 2);
	STARPU_MATRIX_SET_NY(buffers[0], 5);
}

static void resize_now(starpu_data_handle_t handle, void (*kernel)(void *[], void *),
		       uintptr_t arg)
{
	struct starpu_codelet cl = {.cpu_funcs = {kernel},
				    .model = &starpu_perfmodel_nop,
				    .nbuffers = 1,
				    .modes = {STARPU_RW}};
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->handles[0] = handle;
	task->cl_arg = (void *)arg;
	task->synchronous = 1;
	CLAIM_EQ(starpu_task_submit(task), 0);
}

static void buffers_are_larger_than_values(void)
{
	double values[32] = {0};
	starpu_data_handle_t handle;

	claim_start(1);
	starpu_vector_data_register_allocsize(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
					      4, 8, sizeof(values));
	CLAIM_EQ(starpu_vector_get_allocsize(handle), sizeof(values));
	CLAIM_EQ(starpu_data_get_size(handle), 32);
	for (uintptr_t nx = 20; nx > 0; nx -= 10) {
		resize_now(handle, resize_vector, nx);
		CLAIM_EQ(starpu_vector_get_nx(handle), nx);
		CLAIM_EQ(starpu_data_get_size(handle), 8 * nx);
		CLAIM_EQ(starpu_vector_get_allocsize(handle), sizeof(values));
	}
	starpu_data_unregister(handle);

	starpu_matrix_data_register_allocsize(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
					      4, 4, 4, 8, sizeof(values));
	CLAIM_EQ(starpu_matrix_get_allocsize(handle), sizeof(values));
	CLAIM_EQ(starpu_data_get_alloc_size(handle), sizeof(values));
	CLAIM_EQ(starpu_data_get_size(handle), 128);
	resize_now(handle, resize_matrix, 0);
	CLAIM(starpu_matrix_get_nx(handle) == 2 && starpu_matrix_get_ny(handle) == 5);
	CLAIM_EQ(starpu_data_get_size(handle), 80);
	starpu_data_unregister(handle);

	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, 8, 4, 4,
				    8);
	CLAIM_EQ(starpu_matrix_get_allocsize(handle), 128);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void look_at_blocks(void *buffers[], void *arg)
{
	CLAIM_EQ(STARPU_BCSR_GET_NNZ(buffers[0]), 3);
	CLAIM_EQ(STARPU_BCSR_GET_NROW(buffers[0]), 2);
	CLAIM_EQ(STARPU_BCSR_GET_FIRSTENTRY(buffers[0]), 1);
	CLAIM_EQ(STARPU_BCSR_GET_R(buffers[0]), 2);
	CLAIM_EQ(STARPU_BCSR_GET_C(buffers[0]), 3);
	CLAIM_EQ(STARPU_BCSR_GET_ELEMSIZE(buffers[0]), 4);
	CLAIM_EQ((uintptr_t)STARPU_BCSR_GET_COLIND_DEV_HANDLE(buffers[0]),
		 (uintptr_t)STARPU_BCSR_GET_COLIND(buffers[0]));
	CLAIM_EQ((uintptr_t)STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(buffers[0]),
		 (uintptr_t)STARPU_BCSR_GET_ROWPTR(buffers[0]));
	CLAIM_EQ(STARPU_BLOCK_GET_ELEMSIZE(buffers[1]), 8);
	CLAIM_EQ(STARPU_BLOCK_GET_OFFSET(buffers[1]), 0);
	CLAIM_EQ(STARPU_BLOCK_GET_LDY(buffers[1]), 2);
	CLAIM_EQ(STARPU_BLOCK_GET_LDZ(buffers[1]), 6);
	CLAIM_EQ(STARPU_BLOCK_GET_DEV_HANDLE(buffers[1]),
		 STARPU_BLOCK_GET_PTR(buffers[1]));
	++*(int *)arg;
}

static void kernels_read_shapes(void)
{
	struct starpu_codelet cl = {.cpu_funcs = {look_at_blocks},
				    .model = &starpu_perfmodel_nop,
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_R}};
	uint32_t colind[3] = {1, 2, 1}, rowptr[3] = {1, 3, 4};
	float nonzeros[3 * 2 * 3] = {0};
	double cube[2 * 3 * 4] = {0};
	starpu_data_handle_t sparse, block;
	struct starpu_task *task;
	int nlooks = 0;

	claim_start(1);
	starpu_bcsr_data_register(&sparse, STARPU_MAIN_RAM, 3, 2, (uintptr_t)nonzeros,
				  colind, rowptr, 1, 2, 3, sizeof(float));
	starpu_block_data_register(&block, STARPU_MAIN_RAM, (uintptr_t)cube, 2, 6, 2, 3,
				   4, sizeof(double));
	task = starpu_task_create();
	task->cl = &cl;
	task->handles[0] = sparse;
	task->handles[1] = block;
	task->cl_arg = &nlooks;
	task->synchronous = 1;
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(nlooks, 1);
	starpu_data_unregister(sparse);
	starpu_data_unregister(block);
	starpu_shutdown();
}

/* ---- tasks ------------------------------------------------------------------ */

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static int only_second_of_last(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	return worker == 1 && nimpl == 1;
}

static struct starpu_codelet plain = {.cpu_funcs = {nothing, nothing},
				      .model = &starpu_perfmodel_nop};
static struct starpu_codelet choosy = {.cpu_funcs = {nothing, nothing},
				       .can_execute = only_second_of_last,
				       .model = &starpu_perfmodel_nop};

static struct starpu_task *task_of(struct starpu_codelet *cl)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->destroy = 0;
	task->detach = 0;
	return task;
}

/* As long as there is the task: its end leaves it, but not its memory's. */
static void tags_know_their_tasks(void)
{
	struct starpu_task *task;

	claim_start(1);
	CLAIM(starpu_tag_get_task(41) == NULL);
	starpu_tag_notify_from_apps(41);
	CLAIM(starpu_tag_get_task(41) == NULL);
	task = task_of(&plain);
	task->use_tag = 1;
	task->tag_id = 42;
	CLAIM(starpu_tag_get_task(42) == NULL);
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM(starpu_tag_get_task(42) == task);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM(starpu_tag_get_task(42) == task);
	starpu_tag_restart(42);
	CLAIM(starpu_tag_get_task(42) == task);
	starpu_task_destroy(task);
	CLAIM(starpu_tag_get_task(42) == NULL);
	starpu_tag_remove(42);
	CLAIM(starpu_tag_get_task(42) == NULL);
	starpu_shutdown();
}

static void bundles_take_a_task_twice(void)
{
	starpu_task_bundle_t bundle, other;
	starpu_data_handle_t handle;
	struct starpu_task *task;
	long value = 0;

	handle = begin_with(&value);
	starpu_task_bundle_create(&bundle);
	starpu_task_bundle_create(&other);
	task = task_of(&plain);
	CLAIM_EQ(starpu_task_bundle_insert(bundle, task), 0);
	CLAIM_EQ(starpu_task_bundle_insert(bundle, task), 0);
	CLAIM_EQ(starpu_task_bundle_insert(other, task), -EINVAL);
	CLAIM_EQ(starpu_task_bundle_remove(bundle, task), 0);
	CLAIM_EQ(starpu_task_bundle_remove(bundle, task), -ENOENT);
	CLAIM_EQ(starpu_task_bundle_insert(other, task), 0);
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM(task->bundle == NULL);
	CLAIM_EQ(starpu_task_bundle_insert(other, task), -EINVAL);
	starpu_task_destroy(task);
	starpu_task_bundle_close(bundle);
	starpu_task_bundle_close(other);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void ask_each(struct starpu_task *task, int first, int second)
{
	unsigned mask = 0, nimpl = 9;

	CLAIM_EQ(starpu_worker_can_execute_task(0, task, 0), first);
	CLAIM_EQ(starpu_worker_can_execute_task_impl(0, task, NULL), first);
	CLAIM_EQ(starpu_worker_can_execute_task_first_impl(0, task, NULL), first);
	CLAIM_EQ(starpu_worker_can_execute_task(1, task, 1), second);
	CLAIM_EQ(starpu_worker_can_execute_task(1, task, 2), 0);
	CLAIM_EQ(starpu_worker_can_execute_task_impl(1, task, &mask), second);
	CLAIM_EQ(starpu_worker_can_execute_task_first_impl(1, task, &nimpl), second);
	CLAIM_EQ(mask, !second ? 0 : task->cl == &choosy ? 2 : 3);
	CLAIM_EQ(nimpl, !second ? 9 : task->cl == &choosy);
}

/* What a scheduler of the program's asks before it gives a task to a worker. */
static void workers_know_what_they_can_execute(void)
{
	uint32_t last[] = {2}, none[] = {0};
	struct starpu_task *task;

	claim_start(2);
	task = task_of(&plain);
	ask_each(task, 1, 1);
	task->workerids = last;
	task->workerids_len = 1;
	ask_each(task, 0, 1);
	task->workerids = none;
	ask_each(task, 0, 0);
	task->workerids = last;
	task->cl = &choosy;
	ask_each(task, 0, 1);
	task->workerids = NULL;
	task->workerids_len = 0;
	ask_each(task, 0, 1);
	task->where = STARPU_CUDA;
	ask_each(task, 0, 0);
	task->where = -1;
	task->cl = &plain;
	task->execute_on_a_specific_worker = 1;
	task->workerid = 1;
	ask_each(task, 1, 1);
	task->cl = NULL;
	CLAIM_EQ(starpu_worker_can_execute_task_first_impl(1, task, NULL), 0);
	starpu_task_destroy(task);
	starpu_shutdown();
}

/* ---- the environment ------------------------------------------------------------ */

static int size_of(const char *text)
{
	setenv("SELDOM_SIZE", text, 1);
	return starpu_get_env_size_default("SELDOM_SIZE", 99);
}

static int number_of(const char *text)
{
	setenv("SELDOM_NUMBER", text, 1);
	CLAIM(strcmp(starpu_getenv("SELDOM_NUMBER"), text) == 0);
	CLAIM_EQ(starpu_getenv_number_default("SELDOM_NUMBER", 7),
		 starpu_get_env_number("SELDOM_NUMBER"));
	return starpu_getenv_number("SELDOM_NUMBER");
}

static float real_of(const char *text)
{
	setenv("SELDOM_REAL", text, 1);
	return starpu_get_env_float_default("SELDOM_REAL", 2.5F);
}

static void variables_are_numbers(void)
{
	CLAIM_EQ(number_of("5"), 5);
	CLAIM_EQ(number_of(" +4"), 4);
	CLAIM_EQ(number_of("010"), 10);
	CLAIM_EQ(number_of(""), 0);
	unsetenv("SELDOM_NUMBER");
	CLAIM(starpu_getenv("SELDOM_NUMBER") == NULL);
	CLAIM_EQ(starpu_get_env_number("SELDOM_NUMBER"), -1);
	CLAIM_EQ(starpu_get_env_number_default("SELDOM_NUMBER", -9), -9);
	CLAIM(real_of("-1.5e1") == -15);
	CLAIM(real_of("") == 0);
	unsetenv("SELDOM_REAL");
	CLAIM(starpu_getenv_float_default("SELDOM_REAL", -0.5F) == -0.5F);
	CLAIM_EQ(size_of("5"), 5120);
	CLAIM_EQ(size_of("5B"), 5);
	CLAIM_EQ(size_of("2k"), 2048);
	CLAIM_EQ(size_of("2kB"), 2048);
	CLAIM_EQ(size_of(" 3 m "), 3 << 20);
	CLAIM_EQ(size_of("1G"), 1 << 30);
	CLAIM_EQ(size_of("0"), 0);
	CLAIM_EQ(size_of(""), 99);
	CLAIM_EQ(size_of("  "), 99);
	unsetenv("SELDOM_SIZE");
	CLAIM_EQ(starpu_getenv_size_default("SELDOM_SIZE", 98), 98);
}

/* ---- words of memory ----------------------------------------------------------- */

STARPU_ATOMIC_SOMETHING(most, old > value ? old : value)
STARPU_ATOMIC_SOMETHINGL(most, old > value ? old : value)
STARPU_ATOMIC_SOMETHING64(most, old > value ? old : value)

/* Sums and what is made with SOMETHING give the new value, the others the old one. */
static void words_change_in_one_step(void)
{
	unsigned word = 3;
	unsigned long wide = 1;
	uint64_t big = 1;
	void *pointer = &word;

	CLAIM_EQ(STARPU_ATOMIC_ADD(&word, 4), 7);
	CLAIM_EQ(STARPU_ATOMIC_OR(&word, 8), 7);
	CLAIM_EQ(word, 15);
	CLAIM_EQ(STARPU_ATOMIC_ADDL(&wide, 1UL << 40), (1LL << 40) + 1);
	CLAIM_EQ(STARPU_ATOMIC_ORL(&wide, 6), (1LL << 40) + 1);
	CLAIM_EQ(wide, (1LL << 40) + 7);
	CLAIM_EQ(STARPU_ATOMIC_ADD64(&big, UINT64_C(1) << 50), (1LL << 50) + 1);
	CLAIM_EQ(STARPU_ATOMIC_OR64(&big, 2), (1LL << 50) + 1);
	CLAIM_EQ(big, (1LL << 50) + 3);
	CLAIM_EQ(STARPU_BOOL_COMPARE_AND_SWAP(&word, 15, 1), 1);
	CLAIM_EQ(STARPU_BOOL_COMPARE_AND_SWAP32(&word, 15, 2), 0);
	CLAIM_EQ(STARPU_VAL_COMPARE_AND_SWAP32(&word, 1, 2), 1);
	CLAIM_EQ(STARPU_VAL_COMPARE_AND_SWAP(&word, 1, 9), 2);
	CLAIM_EQ(STARPU_VAL_EXCHANGE32(&word, 77), 2);
	CLAIM_EQ(STARPU_BOOL_COMPARE_AND_SWAP64(&big, (1LL << 50) + 3, 4), 1);
	CLAIM_EQ(STARPU_VAL_COMPARE_AND_SWAP64(&big, 5, 6), 4);
	CLAIM_EQ(STARPU_VAL_EXCHANGE64(&big, UINT64_C(1) << 60), 4);
	CLAIM_EQ(STARPU_VAL_EXCHANGEL(&wide, 9), (1LL << 40) + 7);
	CLAIM(STARPU_VAL_COMPARE_AND_SWAP_PTR(&pointer, (void *)&word, (void *)&big) ==
	      &word);
	CLAIM(pointer == &big);
	CLAIM_EQ(STARPU_TEST_AND_SET(&word, 1), 77);
	STARPU_RELEASE(&word);
	CLAIM_EQ(word, 0);
	CLAIM_EQ(starpu_atomic_most(&word, 6), 6);
	CLAIM_EQ(starpu_atomic_most(&word, 5), 6);
	CLAIM_EQ(starpu_atomic_mostl(&wide, 1UL << 41), 1LL << 41);
	CLAIM_EQ(starpu_atomic_most64(&big, 1), 1LL << 60);
}

/* One of many threads finds the bit not set. */
enum { NTHREADS = 4, NBITS = 256 };
static unsigned bits[NBITS];
static int nfirst;

static void *set_bits(void *arg)
{
	for (int i = 0; i < NBITS; i++)
		if (!(STARPU_ATOMIC_OR(&bits[i], 2) & 2))
			STARPU_ATOMIC_ADD(&nfirst, 1);
	return arg;
}

static void one_is_first(void)
{
	starpu_pthread_t threads[NTHREADS];

	claim_start(1);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, set_bits, NULL);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(threads[i], NULL);
	CLAIM_EQ(nfirst, NBITS);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"order is ignored when told", order_is_ignored_when_told},
	{"unordered data stay so", unordered_data_stay_so},
	{"parts come from lists", parts_come_from_lists},
	{"values are packed where told", values_are_packed_where_told},
	{"buffers are larger than values", buffers_are_larger_than_values},
	{"kernels read shapes", kernels_read_shapes},
	{"tags know their tasks", tags_know_their_tasks},
	{"bundles take a task twice", bundles_take_a_task_twice},
	{"workers know what they can execute", workers_know_what_they_can_execute},
	{"variables are numbers", variables_are_numbers},
	{"words change in one step", words_change_in_one_step},
	{"one is first", one_is_first},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
