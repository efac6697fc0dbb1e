/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Each operation of an application's interface is called when its moment has come, and no
 * other one: they count their calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/data/data.h"
#include "one_node.h"

enum operation {
	REGISTER,
	UNREGISTER,
	ALLOCATE,
	FREE,
	CACHE,
	REUSE,
	INIT,
	COPY,
	TO_POINTER,
	GET_SIZE,
	GET_ALLOC_SIZE,
	GET_MAX_SIZE,
	FOOTPRINT,
	ALLOC_FOOTPRINT,
	COMPARE,
	ALLOC_COMPARE,
	DISPLAY,
	DESCRIBE,
	PACK,
	PEEK,
	UNPACK,
	OPERATIONS
};

static int calls[OPERATIONS];

/* Since the last look. */
static int take(enum operation operation)
{
	int n = calls[operation];

	calls[operation] = 0;
	return n;
}

static void expect_none_of(int n, const enum operation *operations)
{
	for (int i = 0; i < n; i++)
		if (calls[operations[i]])
			fail_msg("operation %d was called", operations[i]);
}

#define EXPECT_NONE_OF(...)                                                              \
	expect_none_of((int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                \
		       (const enum operation[]){__VA_ARGS__})

/* ---- the interface ---------------------------------------------------- */

struct cell {
	int *value;
	int initialised;
};

static void cell_init(void *interface)
{
	calls[INIT]++;
	assert_int_equal(((struct cell *)interface)->initialised, 0);
	((struct cell *)interface)->initialised = 1;
}

static void cell_register(starpu_data_handle_t handle, int home, void *interface)
{
	calls[REGISTER]++;
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		struct cell *cell =
			starpu_data_get_interface_on_node(handle, (unsigned)i);

		assert_int_equal(cell->initialised, 1);
		cell->value = i == home ? ((struct cell *)interface)->value : NULL;
	}
}

static void cell_unregister(starpu_data_handle_t handle)
{
	(void)handle;
	calls[UNREGISTER]++;
}

static starpu_ssize_t cell_allocate(void *interface, unsigned node)
{
	calls[ALLOCATE]++;
	((struct cell *)interface)->value =
		(int *)starpu_malloc_on_node(node, sizeof(int));
	return sizeof(int);
}

static void cell_free(void *interface, unsigned node)
{
	struct cell *cell = interface;

	calls[FREE]++;
	starpu_free_on_node(node, (uintptr_t)cell->value, sizeof(int));
	cell->value = NULL;
}

static void cell_cache(void *cached, void *interface, unsigned node)
{
	(void)node;
	calls[CACHE]++;
	((struct cell *)cached)->value = ((struct cell *)interface)->value;
	((struct cell *)interface)->value = NULL;
}

static void cell_reuse(void *interface, const void *cached, unsigned node)
{
	(void)node;
	calls[REUSE]++;
	((struct cell *)interface)->value = ((const struct cell *)cached)->value;
}

static int cell_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		     void *async_data)
{
	calls[COPY]++;
	return starpu_interface_copy((uintptr_t)((struct cell *)from)->value, 0,
				     from_node, (uintptr_t)((struct cell *)to)->value, 0,
				     to_node, sizeof(int), async_data);
}

static void *cell_pointer(void *interface, unsigned node)
{
	(void)node;
	calls[TO_POINTER]++;
	return ((struct cell *)interface)->value;
}

#define SIZE_OF_CELL(name, OPERATION)                                                    \
	static size_t cell_##name(starpu_data_handle_t handle)                           \
	{                                                                                \
		(void)handle;                                                            \
		calls[OPERATION]++;                                                      \
		return sizeof(int);                                                      \
	}

SIZE_OF_CELL(size, GET_SIZE)
SIZE_OF_CELL(alloc_size, GET_ALLOC_SIZE)
SIZE_OF_CELL(max_size, GET_MAX_SIZE)

static uint32_t cell_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	calls[FOOTPRINT]++;
	return 1;
}

static uint32_t cell_alloc_footprint(starpu_data_handle_t handle)
{
	(void)handle;
	calls[ALLOC_FOOTPRINT]++;
	return 2;
}

static int cell_compare(void *a, void *b)
{
	(void)a;
	(void)b;
	calls[COMPARE]++;
	return 1;
}

static int cell_alloc_compare(void *a, void *b)
{
	(void)a;
	(void)b;
	calls[ALLOC_COMPARE]++;
	return 1;
}

static void cell_display(starpu_data_handle_t handle, FILE *f)
{
	(void)handle;
	(void)f;
	calls[DISPLAY]++;
}

static starpu_ssize_t cell_describe(void *interface, char *text, size_t bytes)
{
	(void)interface;
	calls[DESCRIBE]++;
	return snprintf(text, bytes, "cell");
}

static int *value_on(starpu_data_handle_t handle, unsigned node)
{
	return ((struct cell *)starpu_data_get_interface_on_node(handle, node))->value;
}

static int cell_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
		     starpu_ssize_t *count)
{
	calls[PACK]++;
	*count = sizeof(int);
	if (!ptr)
		return 0;
	*ptr = (void *)starpu_malloc_on_node_flags(node, sizeof(int), 0);
	memcpy(*ptr, value_on(handle, node), sizeof(int));
	return 0;
}

static int cell_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	calls[PEEK]++;
	memcpy(value_on(handle, node), ptr, count);
	return 0;
}

static int cell_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
		       size_t count)
{
	calls[UNPACK]++;
	memcpy(value_on(handle, node), ptr, count);
	starpu_free_on_node_flags(node, (uintptr_t)ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods cell_methods = {.any_to_any = cell_copy};

static const struct starpu_data_interface_ops cell_ops = {
	.register_data_handle = cell_register,
	.unregister_data_handle = cell_unregister,
	.allocate_data_on_node = cell_allocate,
	.free_data_on_node = cell_free,
	.cache_data_on_node = cell_cache,
	.reuse_data_on_node = cell_reuse,
	.init = cell_init,
	.copy_methods = &cell_methods,
	.to_pointer = cell_pointer,
	.get_size = cell_size,
	.get_alloc_size = cell_alloc_size,
	.get_max_size = cell_max_size,
	.footprint = cell_footprint,
	.alloc_footprint = cell_alloc_footprint,
	.compare = cell_compare,
	.alloc_compare = cell_alloc_compare,
	.display = cell_display,
	.describe = cell_describe,
	.pack_data = cell_pack,
	.peek_data = cell_peek,
	.unpack_data = cell_unpack,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct cell),
};

static void add_one(void *buffers[], void *arg)
{
	(void)arg;
	++*((struct cell *)buffers[0])->value;
}

static struct starpu_codelet on_gpu = {
	.cuda_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};

/* ---- their moments ----------------------------------------------------- */

/* Registered, used on the GPU, back home. */
static void go_there(struct starpu_data_interface_ops *ops, int *value)
{
	struct cell cell = {.value = value};
	starpu_data_handle_t handle;

	starpu_data_register(&handle, STARPU_MAIN_RAM, &cell, ops);
	assert_int_equal(take(REGISTER), 1);
	assert_int_equal(take(INIT), STARPU_MAXNODES);
	EXPECT_NONE_OF(UNREGISTER, ALLOCATE, FREE, CACHE, REUSE, COPY, DISPLAY, DESCRIBE);
	starpu_task_insert(&on_gpu, STARPU_RW, handle, 0);
	assert_int_equal(starpu_task_wait_for_all(), 0);
	assert_int_equal(take(COPY), 1);
	EXPECT_NONE_OF(FREE, CACHE, UNREGISTER, PACK, UNPACK);
	starpu_data_unregister(handle);
	assert_int_equal(take(COPY), 1);
	assert_int_equal(take(UNREGISTER), 1);
}

static void test_memory(void **state)
{
	struct starpu_data_interface_ops kept = cell_ops, freed = cell_ops;
	int value = 5;

	(void)state;
	memset(calls, 0, sizeof(calls));
	one_open(1, 1, "eager");
	freed.dontcache = 1;
	go_there(&freed, &value);
	assert_int_equal(take(ALLOCATE), 1);
	assert_int_equal(take(FREE), 1);
	EXPECT_NONE_OF(CACHE, REUSE);
	go_there(&kept, &value);
	assert_int_equal(take(ALLOCATE), 1);
	assert_int_equal(take(CACHE), 1);
	EXPECT_NONE_OF(FREE, REUSE);
	assert_true(take(ALLOC_FOOTPRINT) > 0);
	go_there(&kept, &value);
	assert_int_equal(take(REUSE), 1);
	assert_int_equal(take(CACHE), 1);
	assert_true(take(ALLOC_COMPARE) > 0);
	EXPECT_NONE_OF(FREE, ALLOCATE, COMPARE);
	assert_int_equal(value, 8);
	one_close();
	assert_int_equal(take(FREE), 1); /* What was kept. */
}

static void test_questions(void **state)
{
	struct starpu_data_interface_ops ops = cell_ops;
	int value = 5;
	struct cell cell = {.value = &value};
	starpu_data_handle_t handle, copy;
	starpu_ssize_t count;
	void *packed;
	char text[64];

	(void)state;
	one_open(1, 0, "eager");
	starpu_data_register(&handle, STARPU_MAIN_RAM, &cell, &ops);
	memset(calls, 0, sizeof(calls));
	assert_ptr_equal(starpu_data_handle_to_pointer(handle, STARPU_MAIN_RAM), &value);
	assert_int_equal(take(TO_POINTER), 1);
	assert_int_equal(starpu_data_get_size(handle), sizeof(int));
	assert_int_equal(starpu_data_get_alloc_size(handle), sizeof(int));
	assert_int_equal(starpu_data_get_max_size(handle), sizeof(int));
	assert_int_equal(take(GET_SIZE), 1);
	assert_int_equal(take(GET_ALLOC_SIZE), 1);
	assert_int_equal(take(GET_MAX_SIZE), 1);
	assert_string_equal(strstr(data_describe(handle, text, sizeof(text)), "cell"),
			    "cell)");
	assert_int_equal(take(DESCRIBE), 1);
	starpu_data_acquire(handle, STARPU_RW);
	assert_int_equal(starpu_data_pack(handle, &packed, &count), 0);
	value = 0;
	assert_int_equal(starpu_data_peek(handle, packed, (size_t)count), 0);
	assert_int_equal(value, 5);
	value = 0;
	assert_int_equal(starpu_data_unpack(handle, packed, (size_t)count), 0);
	assert_int_equal(value, 5);
	starpu_data_release(handle);
	assert_true(take(PACK) == 1 && take(PEEK) == 1 && take(UNPACK) == 1);
	starpu_data_register_same(&copy, handle);
	assert_int_equal(take(REGISTER), 1);
	assert_int_equal(starpu_data_cpy(copy, handle, 0, NULL, NULL), 0);
	assert_int_equal(take(COPY), 1);
	assert_int_equal(take(ALLOCATE), 1);
	EXPECT_NONE_OF(PACK, PEEK, UNPACK, DISPLAY);
	starpu_data_unregister(copy);
	starpu_data_unregister(handle);
	assert_int_equal(take(UNREGISTER), 2);
	one_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
