/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Tables of operations: the predefined ones, copies of them that the program changed,
 * and interfaces of the program's own.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

#ifndef STARPU_SIMGRID
#include <malloc.h> /* SMPI's headers and this one exclude each other */
#endif

int claim_failures;

static void start(void)
{
	claim_start(2);
}

static void double_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	uint32_t n = STARPU_VECTOR_GET_NX(buffers[0]);

	(void)arg;
	for (uint32_t i = 0; i < n; i++)
		x[i] *= 2;
}

static struct starpu_codelet double_it = {.cpu_funcs = {double_cpu},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .model = &starpu_perfmodel_nop,
					  .name = "double"};

/* ---- predefined ------------------------------------------------------ */

static size_t text_of(starpu_data_handle_t handle, char *text, size_t size)
{
	FILE *f = tmpfile();
	size_t n;

	starpu_data_get_interface_ops(handle)->display(handle, f);
	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return n;
}

static void check_complete(struct starpu_data_interface_ops *ops, int has_content)
{
	CLAIM(ops->register_data_handle != NULL);
	CLAIM(ops->allocate_data_on_node != NULL);
	CLAIM(ops->free_data_on_node != NULL);
	CLAIM(ops->copy_methods != NULL && ops->copy_methods->any_to_any != NULL);
	CLAIM(ops->get_size != NULL);
	CLAIM(ops->footprint != NULL);
	CLAIM(ops->compare != NULL);
	CLAIM(ops->display != NULL);
	CLAIM(ops->describe != NULL);
	CLAIM(ops->pack_data != NULL && ops->peek_data != NULL);
	CLAIM(ops->unpack_data != NULL);
	CLAIM(ops->name != NULL && strncmp(ops->name, "STARPU_", 7) == 0);
	CLAIM_EQ(ops->to_pointer != NULL, has_content);
}

static void predefined_tables_are_complete(void)
{
	check_complete(&starpu_interface_variable_ops, 1);
	check_complete(&starpu_interface_vector_ops, 1);
	check_complete(&starpu_interface_matrix_ops, 1);
	check_complete(&starpu_interface_block_ops, 1);
	check_complete(&starpu_interface_tensor_ops, 1);
	check_complete(&starpu_interface_ndim_ops, 1);
	check_complete(&starpu_interface_csr_ops, 1);
	check_complete(&starpu_interface_bcsr_ops, 1);
	check_complete(&starpu_interface_coo_ops, 1);
	check_complete(&starpu_interface_void_ops, 0);
}

static void shapes_are_compared_and_shown(void)
{
	static int memory[64];
	starpu_data_handle_t a, b, c, m, n, none;
	struct starpu_data_interface_ops *ops = &starpu_interface_vector_ops;
	char text[64];

	start();
	starpu_vector_data_register(&a, STARPU_MAIN_RAM, (uintptr_t)memory, 8, 4);
	starpu_vector_data_register(&b, -1, 0, 8, 4);
	starpu_vector_data_register_allocsize(&c, -1, 0, 4, 4, 32);
	starpu_matrix_data_register(&m, STARPU_MAIN_RAM, (uintptr_t)memory, 8, 4, 2, 4);
	starpu_matrix_data_register(&n, -1, 0, 4, 4, 2, 4);
	starpu_void_data_register(&none);
#define ON_RAM(handle) starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(b)), 1);
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(c)), 0);
	CLAIM_EQ(ops->alloc_compare(ON_RAM(a), ON_RAM(c)), 1);
	CLAIM(ops->footprint(a) != ops->footprint(c));
	CLAIM_EQ(ops->alloc_footprint(a), ops->alloc_footprint(c));
	CLAIM_EQ(starpu_interface_matrix_ops.compare(ON_RAM(m), ON_RAM(n)), 1);
	CLAIM(text_of(m, text, sizeof(text)) > 0);
	CLAIM(strstr(text, "4") && strstr(text, "2"));
	CLAIM(text_of(none, text, sizeof(text)) > 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(c);
	starpu_data_unregister(m);
	starpu_data_unregister(n);
	starpu_data_unregister(none);
	starpu_shutdown();
}

/* ---- blocks ---------------------------------------------------------- */

enum { NX = 3, NY = 4, NZ = 5, LDY = 6, LDZ = 30, NCELLS = LDZ * NZ };

/* Element (i, j, k), what it is counted from; -1 outside. */
static int cell_of(int at)
{
	int i = at % LDY, j = at % LDZ / LDY, k = at / LDZ;

	return i < NX && j < NY ? i + NX * (j + NY * k) : -1;
}

static void number_cpu(void *buffers[], void *arg)
{
	void *block = buffers[0];
	int *x = (int *)STARPU_BLOCK_GET_PTR(block);
	uint32_t nx = STARPU_BLOCK_GET_NX(block), ny = STARPU_BLOCK_GET_NY(block);

	(void)arg;
	STARPU_BLOCK_CHECK(block);
	for (uint32_t k = 0; k < STARPU_BLOCK_GET_NZ(block); k++)
		for (uint32_t j = 0; j < ny; j++)
			for (uint32_t i = 0; i < nx; i++)
				x[i + j * STARPU_BLOCK_GET_LDY(block) +
				  k * STARPU_BLOCK_GET_LDZ(block)] =
					(int)(i + nx * (j + ny * k));
}

static struct starpu_codelet number = {.cpu_funcs = {number_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &starpu_perfmodel_nop,
				       .name = "number"};

static void blocks_are_described(void)
{
	static int cells[NCELLS];
	struct starpu_data_interface_ops *ops = &starpu_interface_block_ops;
	starpu_data_handle_t a, b, other;
	uint32_t hash = starpu_hash_crc32c_be(NX, 0);
	char text[64];

	start();
	starpu_block_data_register(&a, STARPU_MAIN_RAM, (uintptr_t)cells, LDY, LDZ, NX,
				   NY, NZ, sizeof(int));
	starpu_block_data_register(&b, -1, 0, NX, NX * NY, NX, NY, NZ, sizeof(int));
	starpu_block_data_register(&other, -1, 0, NX, NX * NZ, NX, NZ, NY, sizeof(int));
	CLAIM_EQ(starpu_data_get_interface_id(a), STARPU_BLOCK_INTERFACE_ID);
	CLAIM_EQ(starpu_block_get_nx(a), NX);
	CLAIM_EQ(starpu_block_get_ny(a), NY);
	CLAIM_EQ(starpu_block_get_nz(a), NZ);
	CLAIM_EQ(starpu_block_get_elemsize(a), sizeof(int));
	CLAIM_EQ(starpu_block_get_local_ldy(a), LDY);
	CLAIM_EQ(starpu_block_get_local_ldz(a), LDZ);
	CLAIM_EQ(starpu_block_get_local_ptr(a), (uintptr_t)cells);
	CLAIM_EQ(starpu_data_get_size(a), NX * NY * NZ * sizeof(int));
	CLAIM_EQ(ops->compare(ON_RAM(a), ON_RAM(b)), 1);
	CLAIM_EQ(ops->compare(ON_RAM(b), ON_RAM(other)), 0);
	hash = starpu_hash_crc32c_be(NZ, starpu_hash_crc32c_be(NY, hash));
	CLAIM_EQ(ops->footprint(a), hash);
	CLAIM_EQ(ops->footprint(b), hash);
	ops->describe(ON_RAM(a), text, sizeof(text));
	CLAIM(strcmp(text, "B3x4x5x4") == 0);
	text_of(a, text, sizeof(text));
	CLAIM(strcmp(text, "3\t4\t5\t") == 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(other);
	starpu_shutdown();
}

/* Where rows and planes lie apart nothing between them is touched; what the library
 * allocates is contiguous. */
static void blocks_keep_what_lies_between(void)
{
	static int cells[NCELLS];
	starpu_data_handle_t apart, dense;
	starpu_ssize_t count = 0;
	void *packed;
	int *x;

	start();
	for (int i = 0; i < NCELLS; i++)
		cells[i] = -1;
	starpu_block_data_register(&apart, STARPU_MAIN_RAM, (uintptr_t)cells, LDY, LDZ,
				   NX, NY, NZ, sizeof(int));
	starpu_block_data_register(&dense, -1, 0, LDY, LDZ, NX, NY, NZ, sizeof(int));
	CLAIM_EQ(starpu_task_insert(&number, STARPU_W, dense, 0), 0);
	CLAIM_EQ(starpu_data_cpy(apart, dense, 0, NULL, NULL), 0);
	starpu_data_acquire(dense, STARPU_RW);
	CLAIM_EQ(starpu_block_get_local_ldy(dense), NX);
	CLAIM_EQ(starpu_block_get_local_ldz(dense), NX * NY);
	x = (int *)starpu_block_get_local_ptr(dense);
	for (int i = 0; i < NX * NY * NZ; i++) {
		CLAIM_EQ(x[i], i);
		x[i] = 0;
	}
	starpu_data_acquire(apart, STARPU_RW);
	for (int i = 0; i < NCELLS; i++)
		CLAIM_EQ(cells[i], cell_of(i));
	CLAIM_EQ(starpu_data_pack(apart, &packed, &count), 0);
	CLAIM_EQ(count, NX * NY * NZ * sizeof(int));
	CLAIM_EQ(starpu_data_peek(dense, packed, (size_t)count), 0);
	for (int i = 0; i < NX * NY * NZ; i++)
		CLAIM_EQ(x[i], i);
	for (int i = 0; i < NCELLS; i++)
		cells[i] = -2;
	CLAIM_EQ(starpu_data_peek(apart, packed, (size_t)count - 1), -EINVAL);
	CLAIM_EQ(starpu_data_unpack(apart, packed, (size_t)count), 0);
	for (int i = 0; i < NCELLS; i++)
		CLAIM_EQ(cells[i], cell_of(i) < 0 ? -2 : cell_of(i));
	starpu_data_release(apart);
	starpu_data_release(dense);
	starpu_data_unregister(apart);
	starpu_data_unregister(dense);
	starpu_shutdown();
}

/* ---- copied and changed ---------------------------------------------- */

static int nallocated, nfreed, npacked;

static starpu_ssize_t counted_allocate(void *interface, unsigned node)
{
	nallocated++;
	return starpu_interface_vector_ops.allocate_data_on_node(interface, node);
}

static void counted_free(void *interface, unsigned node)
{
	nfreed++;
	starpu_interface_vector_ops.free_data_on_node(interface, node);
}

static int counted_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
			starpu_ssize_t *count)
{
	npacked++;
	return starpu_interface_vector_ops.pack_data(handle, node, ptr, count);
}

/* As the predefined one, called through a function of the program's. */
static void own_register(starpu_data_handle_t handle, int home_node, void *interface)
{
	starpu_interface_vector_ops.register_data_handle(handle, home_node, interface);
}

static void use_counted(struct starpu_data_interface_ops *ops)
{
	struct starpu_vector_interface vector = {.id = STARPU_VECTOR_INTERFACE_ID,
						 .nx = 4,
						 .elemsize = sizeof(int),
						 .allocsize = 4 * sizeof(int)};
	int values[4] = {1, 2, 3, 4}, *got;
	starpu_data_handle_t at_home, homeless, same;
	starpu_ssize_t count;
	void *packed;

	nallocated = nfreed = npacked = 0;
	starpu_data_register(&homeless, -1, &vector, ops);
	vector.ptr = vector.dev_handle = (uintptr_t)values;
	starpu_data_register(&at_home, STARPU_MAIN_RAM, &vector, ops);
	CLAIM_EQ(starpu_data_get_interface_id(at_home), ops->interfaceid);
	CLAIM_EQ(starpu_vector_get_nx(at_home), 4);
	CLAIM_EQ(starpu_data_get_size(at_home), sizeof(values));
	CLAIM_EQ(starpu_vector_get_local_ptr(at_home), (uintptr_t)values);
	starpu_data_register_same(&same, at_home);
	CLAIM_EQ(STARPU_VECTOR_GET_PTR(starpu_data_get_interface_on_node(same, 0)), 0);
	CLAIM_EQ(starpu_task_insert(&double_it, STARPU_RW, at_home, 0), 0);

	starpu_data_acquire(homeless, STARPU_W);
	CLAIM_EQ(nallocated, 1);
	got = (int *)starpu_data_get_local_ptr(homeless);
	memset(got, 0, sizeof(values));
	starpu_data_release(homeless);
	starpu_data_acquire(at_home, STARPU_R);
	CLAIM_EQ(values[3], 8);
	CLAIM_EQ(starpu_data_pack(at_home, &packed, &count), 0);
	starpu_data_release(at_home);
	CLAIM_EQ(count, sizeof(values));
	starpu_data_acquire(homeless, STARPU_W);
	CLAIM_EQ(starpu_data_unpack(homeless, packed, (size_t)count), 0);
	CLAIM_EQ(got[3], 8);
	starpu_data_release(homeless);
	starpu_data_unregister(same);
	starpu_data_unregister(homeless);
	starpu_data_unregister(at_home);
	CLAIM_EQ(nallocated, 1);
	CLAIM_EQ(nfreed, 1);
}

static void copied_tables_are_the_programs(void)
{
	struct starpu_data_interface_ops ops = starpu_interface_vector_ops;

	start();
	ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
	ops.allocate_data_on_node = counted_allocate;
	ops.free_data_on_node = counted_free;
	ops.pack_data = counted_pack;
	ops.name = (char *)"counted";
	starpu_data_register_ops(&ops);
	CLAIM(ops.interfaceid >= STARPU_MAX_INTERFACE_ID);
	use_counted(&ops);
	CLAIM_EQ(npacked, 1);
	ops.register_data_handle = own_register;
	use_counted(&ops);
	starpu_shutdown();
}

static void predefined_tables_may_be_changed(void)
{
	struct starpu_data_interface_ops before = starpu_interface_vector_ops;
	int values[2] = {5, 6};
	starpu_data_handle_t handle;
	starpu_ssize_t count = 0;

	start();
	starpu_interface_vector_ops.get_max_size = before.get_size;
	starpu_interface_vector_ops.name = (char *)"renamed";
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, 2,
				    sizeof(int));
	CLAIM(strcmp(starpu_data_get_interface_ops(handle)->name, "renamed") == 0);
	CLAIM_EQ(starpu_task_insert(&double_it, STARPU_RW, handle, 0), 0);
	starpu_data_acquire(handle, STARPU_R);
	CLAIM_EQ(values[1], 12);
	CLAIM_EQ(starpu_data_pack(handle, NULL, &count), 0);
	CLAIM_EQ(count, sizeof(values));
	starpu_data_release(handle);
	starpu_data_unregister(handle);
	starpu_interface_vector_ops = before;
	starpu_shutdown();
}

/* ---- the program's own ----------------------------------------------- */

struct pair {
	int *a, *b;
	int n;
	int memory; /* which one's struct this is, as registered */
};

static int nregistered, ninitialised, nunregistered;

static void pair_init(void *interface)
{
	struct pair *pair = interface;

	pair->memory = -7;
	ninitialised++;
}

static void pair_register(starpu_data_handle_t handle, int home_node, void *interface)
{
	nregistered++;
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		struct pair *pair =
			starpu_data_get_interface_on_node(handle, (unsigned)i);

		CLAIM_EQ(pair->memory, -7);
		*pair = *(struct pair *)interface;
		pair->memory = i;
		if (i != home_node)
			pair->a = pair->b = NULL;
	}
}

static void pair_unregister(starpu_data_handle_t handle)
{
	(void)handle;
	nunregistered++;
}

static starpu_ssize_t pair_allocate(void *interface, unsigned node)
{
	struct pair *pair = interface;
	size_t bytes = (size_t)pair->n * sizeof(int);

	pair->a = (int *)starpu_malloc_on_node(node, bytes);
	pair->b = (int *)starpu_malloc_on_node(node, bytes);
	return pair->a && pair->b ? (starpu_ssize_t)(2 * bytes) : -ENOMEM;
}

static void pair_free(void *interface, unsigned node)
{
	struct pair *pair = interface;
	size_t bytes = (size_t)pair->n * sizeof(int);

	starpu_free_on_node(node, (uintptr_t)pair->a, bytes);
	starpu_free_on_node(node, (uintptr_t)pair->b, bytes);
	pair->a = pair->b = NULL;
}

static size_t pair_size(starpu_data_handle_t handle)
{
	struct pair *pair = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return 2 * (size_t)pair->n * sizeof(int);
}

static uint32_t pair_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be((uint32_t)pair_size(handle), 0);
}

static int pair_copy(void *from, unsigned from_node, void *to, unsigned to_node,
		     void *async_data)
{
	struct pair *x = from, *y = to;
	size_t bytes = (size_t)x->n * sizeof(int);
	int ret = starpu_interface_copy((uintptr_t)x->a, 0, from_node, (uintptr_t)y->a, 0,
					to_node, bytes, async_data);

	return starpu_interface_copy((uintptr_t)x->b, 0, from_node, (uintptr_t)y->b, 0,
				     to_node, bytes, async_data) ||
			       ret
		       ? -EAGAIN
		       : 0;
}

static const struct starpu_data_copy_methods pair_methods = {.any_to_any = pair_copy};

static struct starpu_data_interface_ops pair_ops = {
	.register_data_handle = pair_register,
	.unregister_data_handle = pair_unregister,
	.allocate_data_on_node = pair_allocate,
	.free_data_on_node = pair_free,
	.init = pair_init,
	.copy_methods = &pair_methods,
	.get_size = pair_size,
	.footprint = pair_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct pair),
	.name = (char *)"pair",
};

static void sum_cpu(void *buffers[], void *arg)
{
	struct pair *in = buffers[0], *out = buffers[1], *room = buffers[2];

	(void)arg;
	for (int i = 0; i < in->n; i++) {
		room->a[i] = in->a[i];
		room->b[i] = in->b[i];
	}
	for (int i = 0; i < in->n; i++) {
		out->a[i] = room->a[i] + room->b[i];
		out->b[i] = room->a[i] - room->b[i];
	}
}

static struct starpu_codelet sum = {.cpu_funcs = {sum_cpu},
				    .nbuffers = 3,
				    .modes = {STARPU_R, STARPU_W, STARPU_SCRATCH},
				    .model = &starpu_perfmodel_nop,
				    .name = "sum"};

static void own_interfaces_are_registered_once(void)
{
	int a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
	struct pair given = {.a = a, .b = b, .n = 3};
	starpu_data_handle_t in, out, room;
	struct pair *seen;

	start();
	nregistered = ninitialised = nunregistered = 0;
	starpu_data_register(&in, STARPU_MAIN_RAM, &given, &pair_ops);
	CLAIM_EQ(nregistered, 1);
	CLAIM_EQ(ninitialised, STARPU_MAXNODES);
	seen = starpu_data_get_interface_on_node(in, STARPU_MAIN_RAM);
	CLAIM(seen->a == a && seen->memory == STARPU_MAIN_RAM);
	for (unsigned i = 1; i < starpu_memory_nodes_get_count(); i++) {
		seen = starpu_data_get_interface_on_node(in, i);
		CLAIM(seen->a == NULL && seen->n == 3);
		CLAIM_EQ(seen->memory, i);
	}
	starpu_data_register_same(&out, in);
	starpu_data_register_same(&room, out);
	CLAIM_EQ(nregistered, 3);
	seen = starpu_data_get_interface_on_node(out, STARPU_MAIN_RAM);
	CLAIM(seen->a == NULL && seen->b == NULL && seen->n == 3);
	CLAIM_EQ(starpu_task_insert(&sum, STARPU_R, in, STARPU_W, out, STARPU_SCRATCH,
				    room, 0),
		 0);
	starpu_data_acquire(out, STARPU_R);
	seen = starpu_data_get_interface_on_node(out, STARPU_MAIN_RAM);
	CLAIM_EQ(seen->a[2], 33);
	CLAIM_EQ(seen->b[2], -27);
	starpu_data_release(out);
	starpu_data_unregister(in);
	starpu_data_unregister(out);
	starpu_data_unregister(room);
	CLAIM_EQ(nregistered, 3);
	CLAIM_EQ(nunregistered, 3);
	starpu_shutdown();
}

/* ---- structs that own something for each memory ---------------------- */

struct owning {
	int n, *label; /* of this struct alone */
	int *values;
};

static int nlabels;

static void owning_register(starpu_data_handle_t handle, int home_node, void *interface)
{
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		struct owning *own =
			starpu_data_get_interface_on_node(handle, (unsigned)i);

		*own = *(struct owning *)interface;
		own->label = malloc(sizeof(int));
		*own->label = i;
		nlabels++;
		if (i != home_node)
			own->values = NULL;
	}
}

static void owning_unregister(starpu_data_handle_t handle)
{
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		struct owning *own =
			starpu_data_get_interface_on_node(handle, (unsigned)i);

		CLAIM_EQ(*own->label, i);
		*own->label = -1;
		free(own->label);
		nlabels--;
	}
}

static starpu_ssize_t owning_allocate(void *interface, unsigned node)
{
	struct owning *own = interface;
	size_t bytes = (size_t)own->n * sizeof(int);

	own->values = (int *)starpu_malloc_on_node(node, bytes);
	return own->values ? (starpu_ssize_t)bytes : -ENOMEM;
}

static void owning_free(void *interface, unsigned node)
{
	struct owning *own = interface;

	starpu_free_on_node(node, (uintptr_t)own->values, (size_t)own->n * sizeof(int));
	own->values = NULL;
}

static size_t owning_size(starpu_data_handle_t handle)
{
	return (size_t)((struct owning *)ON_RAM(handle))->n * sizeof(int);
}

static uint32_t owning_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be((uint32_t)owning_size(handle), 0);
}

static int nmoved;

static int owning_move(void *from, unsigned from_node, void *to, unsigned to_node)
{
	struct owning *x = from, *y = to;

	nmoved++;
	return starpu_interface_copy((uintptr_t)x->values, 0, from_node,
				     (uintptr_t)y->values, 0, to_node,
				     (size_t)x->n * sizeof(int), NULL);
}

static const struct starpu_data_copy_methods owning_methods = {.ram_to_ram = owning_move};

static struct starpu_data_interface_ops owning_ops = {
	.register_data_handle = owning_register,
	.unregister_data_handle = owning_unregister,
	.allocate_data_on_node = owning_allocate,
	.free_data_on_node = owning_free,
	.copy_methods = &owning_methods,
	.get_size = owning_size,
	.footprint = owning_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct owning),
	.name = (char *)"owning",
};

/* Also for memories that do not exist here, and for handles that were never used. */
static void what_registration_made_is_ended_once(void)
{
	int values[2] = {3, 4};
	struct owning given = {.n = 2, .values = values};
	starpu_data_handle_t idle, used, copy;

	start();
	nlabels = nmoved = 0;
	starpu_data_register(&idle, STARPU_MAIN_RAM, &given, &owning_ops);
	starpu_data_register(&used, STARPU_MAIN_RAM, &given, &owning_ops);
	starpu_data_register_same(&copy, used);
	CLAIM_EQ(nlabels, 3 * STARPU_MAXNODES);
	CLAIM_EQ(starpu_data_cpy(copy, used, 0, NULL, NULL), 0);
	CLAIM_EQ(nmoved, 1);
	starpu_data_acquire(copy, STARPU_R);
	CLAIM_EQ(((struct owning *)ON_RAM(copy))->values[1], 4);
	starpu_data_release(copy);
	starpu_data_unregister(used);
	starpu_data_unregister_submit(copy);
	starpu_task_wait_for_all();
	starpu_data_unregister(idle);
	starpu_shutdown();
	CLAIM_EQ(nlabels, 0);
}

#ifndef STARPU_SIMGRID
/* Handles that are only registered come from pools: nothing else is allocated. */
static void own_interfaces_cost_what_they_use(void)
{
	enum { N = 20000, MOST_BYTES = 64 };
	int a[3] = {0}, b[3] = {0};
	struct pair given = {.a = a, .b = b, .n = 3};
	starpu_data_handle_t *handles = malloc(N * sizeof(*handles));
	struct mallinfo2 before, after;
	size_t each;
	struct starpu_data_interface_ops ops = pair_ops;

	ops.unregister_data_handle = NULL; /* Who has one finds all structs again. */
	start();
	before = mallinfo2();
	for (int i = 0; i < N; i++)
		starpu_data_register(&handles[i], STARPU_MAIN_RAM, &given, &ops);
	after = mallinfo2();
	each = (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / N;
	/* With GPUs, pair_register() gives each of them a struct that is different. */
	CLAIM(starpu_memory_nodes_get_count() > 1 || each <= MOST_BYTES);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	free(handles);
}

#endif

static const struct claim claims[] = {
	{"predefined tables are complete", predefined_tables_are_complete},
	{"shapes are compared and shown", shapes_are_compared_and_shown},
	{"blocks are described", blocks_are_described},
	{"blocks keep what lies between", blocks_keep_what_lies_between},
	{"copied tables are the program's", copied_tables_are_the_programs},
	{"predefined tables may be changed", predefined_tables_may_be_changed},
	{"own interfaces are registered once", own_interfaces_are_registered_once},
	{"what registration made is ended once", what_registration_made_is_ended_once},
#ifndef STARPU_SIMGRID
	{"own interfaces cost what they use", own_interfaces_cost_what_they_use},
#endif
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
