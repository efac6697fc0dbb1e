/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Small functions and macros of the public headers that few programs use. */
#define _GNU_SOURCE /* drand48_r() */
#define STARPU_USE_DEPRECATED_API
#define STARPU_USE_DEPRECATED_ONE_ZERO_API
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu_hash.h>
#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>
#include <starpu_rand.h>
#include <starpu_sched_component.h>

#include "claim.h"

int claim_failures;

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {nothing},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .model = &starpu_perfmodel_nop};

/* ---- without the library ---------------------------------------------- */

/* The seed is the program's on a real machine, 0 in simulation, the variable's in both.
 */
static void seeds_and_numbers(void)
{
	unsigned short state[3] = {1, 2, 3}, same[3] = {1, 2, 3};
	struct drand48_data theirs;
	starpu_drand48_data ours;
	double number, expected;
	long integer, other;

	unsetenv("STARPU_RAND_SEED");
	CLAIM_EQ(starpu_seed(41 + 1), orrery_is_simulated() ? 0 : 42);
	setenv("STARPU_RAND_SEED", "7", 1);
	CLAIM_EQ(starpu_seed(42), 7);
	starpu_srand48(42);
	number = starpu_drand48();
	integer = starpu_lrand48();
	srand48(7);
	CLAIM(number == drand48());
	CLAIM_EQ(integer, lrand48());
	CLAIM(starpu_erand48(state) == erand48(same));
	CLAIM(!memcmp(state, same, sizeof(state)));
	starpu_srand48_r(42, &ours);
	srand48_r(7, &theirs);
	starpu_drand48_r(&ours, &number);
	drand48_r(&theirs, &expected);
	CLAIM(number == expected);
	starpu_lrand48_r(&ours, &integer);
	lrand48_r(&theirs, &other);
	CLAIM_EQ(integer, other);
	starpu_erand48_r(state, &ours, &number);
	erand48_r(same, &theirs, &expected);
	CLAIM(number == expected);
	unsetenv("STARPU_RAND_SEED");
}

STARPU_ATOMIC_SOMETHING(greatest, old > value ? old : value)
STARPU_ATOMIC_SOMETHINGL(least, old < value ? old : value)
STARPU_ATOMIC_SOMETHING64(sum, old + value)

static void atomic_operations(void)
{
	int word = 5, lock = 0;
	void *slot = NULL;
	unsigned most = 3;
	unsigned long low = 3;
	uint64_t big = 1ULL << 40;

	CLAIM_EQ(STARPU_VAL_EXCHANGE(&word, 9), 5);
	CLAIM(STARPU_BOOL_COMPARE_AND_SWAP_PTR(&slot, NULL, &word));
	CLAIM(!STARPU_BOOL_COMPARE_AND_SWAP_PTR(&slot, NULL, &lock));
	CLAIM(slot == &word);
	CLAIM_EQ(STARPU_TEST_AND_SET(&lock, 1), 0);
	CLAIM_EQ(STARPU_TEST_AND_SET(&lock, 1), 1);
	STARPU_RELEASE(&lock);
	CLAIM_EQ(lock, 0);
	CLAIM_EQ(starpu_atomic_greatest(&most, 2), 3);
	CLAIM_EQ(starpu_atomic_greatest(&most, 7), 7);
	CLAIM_EQ(starpu_atomic_leastl(&low, 2), 2);
	CLAIM(starpu_atomic_sum64(&big, 1) == (1ULL << 40) + 1);
	STARPU_SYNCHRONIZE();
	STARPU_RMB();
	STARPU_WMB();
}

static int four(int *ncalls)
{
	++*ncalls;
	return 4;
}

/* Each evaluates its condition once. */
static void conditions_and_texts(void)
{
	char text[8] = "";
	int n = 0;

	CLAIM_EQ(STARPU_UNLIKELY(four(&n)), 1);
	CLAIM_EQ(STARPU_LIKELY(four(&n)), 1);
	STARPU_ASSERT(n++ == 2);
	STARPU_ASSERT_MSG(n++ == 3, "%d", n);
	STARPU_ASSERT_MSG_ALWAYS(n++ == 4, "%d", n);
	STARPU_ASSERT_ACCESSIBLE(text);
	STARPU_SIMGRID_ASSERT(n == 5);
	STARPU_CHECK_RETURN_VALUE(n++ - 5, "names");
	STARPU_CHECK_RETURN_VALUE_IS(n++, 6, "names");
	CLAIM_EQ(n, 7);
	CLAIM_EQ(STARPU_MIN(3, -2), -2);
	CLAIM_EQ(STARPU_MAX(3, -2), 3);
	CLAIM(STARPU_GNUC_PREREQ(4, 0) && !STARPU_GNUC_PREREQ(1000, 0));
	starpu_strerror_r(2, text, sizeof(text));
	CLAIM_EQ(strlen(text), sizeof(text) - 1);
	CLAIM(!strncmp(text, strerror(2), sizeof(text) - 1));
	CLAIM(STARPU_POISON_PTR != NULL);
	CLAIM_EQ(STARPU_WORKER_TO_MASK(STARPU_CPU_WORKER), STARPU_CPU);
	CLAIM_EQ(STARPU_WORKER_TO_MASK(STARPU_CUDA_WORKER), STARPU_CUDA);
	CLAIM_EQ(starpu_crc32_string("ab", 0), starpu_hash_crc32c_be_n("ab", 2, 0));
	CLAIM_EQ(starpu_crc32_be(1, 2), starpu_hash_crc32c_be(1, 2));
}

static void sets_are_emptied(void)
{
	struct starpu_bitmap set;

	starpu_bitmap_init(&set);
	for (int i = 0; i < STARPU_NMAXWORKERS; i += 3)
		starpu_bitmap_set(&set, i);
	starpu_bitmap_unset_all(&set);
	CLAIM_EQ(starpu_bitmap_cardinal(&set), 0);
	CLAIM_EQ(starpu_bitmap_first(&set), -1);
	CLAIM(!starpu_bitmap_get(&set, -1) && !starpu_bitmap_get(&set, 1 << 20));
}

/* ---- locks in zeroed memory -------------------------------------------- */

static void locks_in_zeroed_memory(void)
{
	struct {
		starpu_pthread_mutex_t mutex;
		starpu_pthread_cond_t cond;
		starpu_pthread_rwlock_t rwlock;
	} *locks = calloc(1, sizeof(*locks));

	claim_start(1);
	STARPU_PTHREAD_MUTEX_INIT0(&locks->mutex, NULL);
	STARPU_PTHREAD_COND_INIT0(&locks->cond, NULL);
	STARPU_PTHREAD_RWLOCK_INIT0(&locks->rwlock, NULL);
	STARPU_PTHREAD_MUTEX_LOCK_SCHED(&locks->mutex);
	CLAIM_EQ(STARPU_PTHREAD_MUTEX_TRYLOCK_SCHED(&locks->mutex), EBUSY);
	STARPU_PTHREAD_COND_SIGNAL(&locks->cond);
	STARPU_PTHREAD_COND_BROADCAST(&locks->cond);
	STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(&locks->mutex);
	CLAIM_EQ(STARPU_PTHREAD_MUTEX_TRYLOCK_SCHED(&locks->mutex), 0);
	starpu_pthread_mutex_check_sched(&locks->mutex, __FILE__, __LINE__);
	STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(&locks->mutex);
	STARPU_PTHREAD_RWLOCK_WRLOCK(&locks->rwlock);
	CLAIM_EQ(STARPU_PTHREAD_RWLOCK_TRYRDLOCK(&locks->rwlock), EBUSY);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&locks->rwlock);
	STARPU_PTHREAD_RWLOCK_DESTROY(&locks->rwlock);
	STARPU_PTHREAD_COND_DESTROY(&locks->cond);
	STARPU_PTHREAD_MUTEX_DESTROY(&locks->mutex);
	free(locks);
	starpu_shutdown();
}

/* ---- data and tasks ----------------------------------------------------- */

static void what_data_say_of_themselves(void)
{
	starpu_data_handle_t number, vector, matrix, own;
	double values[12] = {0};
	int marks[2];

	claim_start(1);
	starpu_variable_data_register(&number, STARPU_MAIN_RAM, (uintptr_t)values, 8);
	starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)values, 3, 8);
	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)values, 3, 2, 4,
				    8);
	starpu_vector_data_register(&own, -1, 0, 3, 2);
	CLAIM_EQ(starpu_variable_get_elemsize(number), 8);
	CLAIM_EQ(starpu_vector_get_elemsize(vector), 8);
	CLAIM_EQ(starpu_matrix_get_elemsize(matrix), 8);
	CLAIM_EQ(starpu_matrix_get_local_ptr(matrix), (uintptr_t)values);
	CLAIM_EQ(starpu_data_get_home_node(vector), STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_data_get_home_node(own), -1);
	CLAIM_EQ(starpu_data_get_interface_id(number), STARPU_VARIABLE_INTERFACE_ID);
	CLAIM_EQ(starpu_handle_get_interface_id(matrix), STARPU_MATRIX_INTERFACE_ID);
	CLAIM_EQ(starpu_handle_get_size(vector), 24);
	CLAIM(starpu_handle_to_pointer(vector, STARPU_MAIN_RAM) == values);
	CLAIM(starpu_data_get_user_data(vector) == NULL);
	CLAIM(starpu_data_get_sched_data(vector) == NULL);
	starpu_data_set_user_data(vector, &marks[0]);
	starpu_data_set_sched_data(vector, &marks[1]);
	CLAIM(starpu_data_get_user_data(vector) == &marks[0]);
	CLAIM(starpu_data_get_sched_data(vector) == &marks[1]);
	CLAIM(starpu_data_get_user_data(matrix) == NULL);
	starpu_data_unregister(number);
	starpu_data_unregister(vector);
	starpu_data_unregister(matrix);
	starpu_data_unregister(own);
	starpu_shutdown();
}

/* It has no value afterwards, and gets one again. */
static void values_are_taken_away(void)
{
	starpu_data_handle_t data;
	int value = 4;

	claim_start(1);
	starpu_variable_data_register(&data, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_data_deinitialize(data);
	CLAIM_EQ(starpu_data_is_on_node(data, STARPU_MAIN_RAM), 0);
	starpu_data_acquire(data, STARPU_W);
	value = 5;
	starpu_data_release(data);
	starpu_data_acquire(data, STARPU_R);
	CLAIM_EQ(value, 5);
	starpu_data_release(data);
	starpu_data_unregister(data);
	starpu_shutdown();
}

static int unpacked[3];

static void unpack_some(void *buffers[], void *arg)
{
	char rest[256];

	(void)buffers;
	memset(rest, 0, sizeof(rest));
	starpu_codelet_unpack_args_and_copyleft(arg, rest, sizeof(rest), &unpacked[0],
						NULL);
	starpu_codelet_unpack_args(rest, &unpacked[1], &unpacked[2]);
}

static void called(void *arg)
{
	++*(int *)arg;
}

static void arguments_are_left_for_others(void)
{
	struct starpu_codelet some = {.cpu_funcs = {unpack_some},
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				      .model = &starpu_perfmodel_nop};
	int a = 1, b = 2, c = 3, ncalls = 0;

	claim_start(1);
	CLAIM_EQ(starpu_insert_task(&some, STARPU_VALUE, &a, sizeof(a), STARPU_VALUE, &b,
				    sizeof(b), STARPU_VALUE, &c, sizeof(c),
				    STARPU_CALLBACK, called, STARPU_CALLBACK_ARG_NFREE,
				    &ncalls, 0),
		 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(ncalls, 1);
	CLAIM_EQ(unpacked[0], 1);
	CLAIM_EQ(unpacked[1], 2);
	CLAIM_EQ(unpacked[2], 3);
	starpu_shutdown();
}

static void iterations_and_handles(void)
{
	starpu_data_handle_t data, many[STARPU_NMAXBUFS + 1];
	struct starpu_task task;

	claim_start(1);
	starpu_void_data_register(&data);
	starpu_task_init(&task);
	CLAIM(STARPU_TASK_GET_HANDLES(&task) == task.handles);
	STARPU_TASK_SET_HANDLE(&task, data, 0);
	CLAIM(task.handles[0] == data);
	task.dyn_handles = many;
	STARPU_TASK_SET_HANDLE(&task, data, STARPU_NMAXBUFS);
	CLAIM(STARPU_TASK_GET_HANDLES(&task) == many && many[STARPU_NMAXBUFS] == data);
	task.dyn_handles = NULL;
	starpu_task_clean(&task);
	starpu_iteration_push(3);
	starpu_iteration_push(1);
	CLAIM_EQ(starpu_task_insert(&cl, STARPU_RW, data, 0), 0);
	starpu_iteration_pop();
	starpu_iteration_pop();
	starpu_task_wait_for_all();
	starpu_data_unregister(data);
	starpu_shutdown();
}

/* ---- texts ---------------------------------------------------------------- */

static FILE *caught;
static int caught_fd, kept_fd;

static void catch (int fd)
{
	fflush(NULL);
	caught = tmpfile();
	caught_fd = fd;
	kept_fd = dup(fd);
	dup2(fileno(caught), fd);
}

/* How many lines have been written since. */
static int lines_caught(const char *with)
{
	char line[512];
	int n = 0;

	fflush(NULL);
	dup2(kept_fd, caught_fd);
	close(kept_fd);
	rewind(caught);
	while (fgets(line, sizeof(line), caught))
		n += strstr(line, with) != NULL;
	fclose(caught);
	return n;
}

static void texts_are_written(void)
{
	int scope = starpu_perf_knob_scope_per_worker;

	setenv("STARPU_WORKER_STATS", "1", 1);
	claim_start(2);
	catch (1);
	starpu_display_bindings();
	CLAIM(lines_caught("") >= (int)starpu_worker_get_count());
	catch (2);
	starpu_display_stats();
	CLAIM_EQ(lines_caught("task(s)"), starpu_worker_get_count());
	catch (2);
	starpu_perf_knob_list_avail((enum starpu_perf_knob_scope)scope);
	CLAIM_EQ(lines_caught("starpu."),
		 starpu_perf_knob_nb((enum starpu_perf_knob_scope)scope));
	catch (2);
	starpu_bus_print_filenames(stderr);
	CLAIM(lines_caught("") >= 0);
	catch (2);
	starpu_shutdown();
	CLAIM(lines_caught("task(s)") > 0);
	unsetenv("STARPU_WORKER_STATS");
}

/* ---- kinds of numbers -------------------------------------------------------- */

static void knobs_of_all_kinds(void)
{
	int alpha, cap, enabled;
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = "dmda";
	conf.ncpus = 1;
	if (starpu_init(&conf) != 0)
		exit(77);
	alpha = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_scheduler,
					    "starpu.dmda.s_alpha_knob");
	cap = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_scheduler,
					  "starpu.task.s_max_priority_cap_knob");
	enabled = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
					      "starpu.worker.w_enable_worker_knob");
	starpu_perf_knob_set_per_scheduler_double_value(alpha, "dmda", 2);
	CLAIM(starpu_perf_knob_get_per_scheduler_float_value(alpha, "dmda") == 2.0F);
	starpu_perf_knob_set_per_scheduler_int64_value(cap, "dmda", 4);
	CLAIM_EQ(starpu_perf_knob_get_per_scheduler_int64_value(cap, "dmda"), 4);
	CLAIM_EQ(starpu_perf_knob_get_per_worker_int64_value(enabled, 0), 1);
	starpu_shutdown();
}

/* ---- kinds of components ------------------------------------------------------ */

static int (*const kinds[])(struct starpu_sched_component *) = {
	starpu_sched_component_is_fifo,
	starpu_sched_component_is_prio,
	starpu_sched_component_is_work_stealing,
	starpu_sched_component_is_random,
	starpu_sched_component_is_eager,
	starpu_sched_component_is_eager_prio,
	starpu_sched_component_is_eager_calibration,
	starpu_sched_component_is_mct,
	starpu_sched_component_is_heft,
	starpu_sched_component_is_heteroprio,
	starpu_sched_component_is_perfmodel_select,
	starpu_sched_component_is_stage,
	starpu_sched_component_is_userchoice,
	starpu_sched_component_is_simple_worker,
	starpu_sched_component_is_combined_worker,
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]), SELECTS = 10, NMADE = 13 };

/* Each is of its kind and of no other. */
static void components_know_their_kind(void)
{
	struct starpu_sched_component_perfmodel_select_data three;
	struct starpu_sched_component_heteroprio_data batches = {NULL, 1};
	struct starpu_sched_component *made[NMADE], *best;
	struct starpu_sched_tree *tree;

	claim_start(1);
	tree = starpu_sched_tree_create(0);
	made[0] = starpu_sched_component_fifo_create(tree, NULL);
	made[1] = starpu_sched_component_prio_create(tree, NULL);
	made[2] = starpu_sched_component_work_stealing_create(tree, NULL);
	made[3] = starpu_sched_component_random_create(tree, NULL);
	made[4] = starpu_sched_component_eager_create(tree, NULL);
	made[5] = starpu_sched_component_eager_prio_create(tree, NULL);
	made[6] = starpu_sched_component_eager_calibration_create(tree, NULL);
	made[7] = starpu_sched_component_mct_create(tree, NULL);
	made[8] = starpu_sched_component_heft_create(tree, NULL);
	made[9] = starpu_sched_component_heteroprio_create(tree, &batches);
	three.calibrator_component = made[6];
	three.no_perfmodel_component = made[4];
	three.perfmodel_component = made[7];
	made[SELECTS] = starpu_sched_component_perfmodel_select_create(tree, &three);
	made[11] = starpu_sched_component_stage_create(tree, NULL);
	made[12] = starpu_sched_component_userchoice_create(tree, NULL);
	best = starpu_sched_component_best_implementation_create(tree, NULL);
	for (int i = 0; i < NMADE; i++)
		for (int kind = 0; kind < NKINDS; kind++)
			CLAIM_EQ(kinds[kind](made[i]) != 0, kind == i);
	for (int kind = 0; kind < NKINDS; kind++)
		CLAIM_EQ(kinds[kind](best), 0);
	for (int i = 0; i < NMADE; i++)
		CLAIM_EQ(starpu_sched_component_is_worker(made[i]), 0);
	for (int i = 0; i < NMADE; i++)
		starpu_sched_component_destroy(made[i]);
	starpu_sched_component_destroy(best);
	tree->root = NULL;
	starpu_sched_tree_destroy(tree);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"seeds_and_numbers", seeds_and_numbers},
	{"atomic_operations", atomic_operations},
	{"conditions_and_texts", conditions_and_texts},
	{"sets_are_emptied", sets_are_emptied},
	{"locks_in_zeroed_memory", locks_in_zeroed_memory},
	{"what_data_say_of_themselves", what_data_say_of_themselves},
	{"values_are_taken_away", values_are_taken_away},
	{"arguments_are_left_for_others", arguments_are_left_for_others},
	{"iterations_and_handles", iterations_and_handles},
	{"texts_are_written", texts_are_written},
	{"knobs_of_all_kinds", knobs_of_all_kinds},
	{"components_know_their_kind", components_know_their_kind},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
