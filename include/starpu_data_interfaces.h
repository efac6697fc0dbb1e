/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Data interfaces: what a handle's content looks like on each memory node, and
 * the predefined kinds.  Registration may
 * be done by any thread of an initialised library.  Sizes are in bytes; numbers of
 * elements and leading dimensions are in elements.
 */

#ifndef STARPU_DATA_INTERFACES_H
#define STARPU_DATA_INTERFACES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_cuda.h>
#include <starpu_data.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_multiformat_data_interface_ops;

enum starpu_data_interface_id {
	STARPU_UNKNOWN_INTERFACE_ID = -1,
	STARPU_MATRIX_INTERFACE_ID = 0,
	STARPU_BLOCK_INTERFACE_ID = 1,
	STARPU_VECTOR_INTERFACE_ID = 2,
	STARPU_CSR_INTERFACE_ID = 3,
	STARPU_BCSR_INTERFACE_ID = 4,
	STARPU_VARIABLE_INTERFACE_ID = 5,
	STARPU_VOID_INTERFACE_ID = 6,
	STARPU_MULTIFORMAT_INTERFACE_ID = 7,
	STARPU_COO_INTERFACE_ID = 8,
	STARPU_TENSOR_INTERFACE_ID = 9,
	STARPU_NDIM_INTERFACE_ID = 10,
	STARPU_MAX_INTERFACE_ID = 11
};

/**
 * Copies between two kinds of memory.  They return 0 when done, or -EAGAIN, as what they
 * called may have told them; another value ends the program with a message.  A missing
 * one falls back on any_to_any, whose async_data is NULL: it copies before it returns, as
 * starpu_interface_copy() does.  can_copy is asked before values go from one
 * device's memory to another's, and says 0 when they have to stop in main memory; it is
 * called under locks and must not use data.
 */
struct starpu_data_copy_methods {
	int (*can_copy)(void *src_interface, unsigned src_node, void *dst_interface,
			unsigned dst_node, unsigned handling_node);
	int (*ram_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*ram_to_cuda)(void *src_interface, unsigned src_node, void *dst_interface,
			   unsigned dst_node);
	int (*ram_to_hip)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*ram_to_opencl)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*ram_to_max_fpga)(void *src_interface, unsigned src_node,
			       void *dst_interface, unsigned dst_node);
	int (*cuda_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			   unsigned dst_node);
	int (*cuda_to_cuda)(void *src_interface, unsigned src_node, void *dst_interface,
			    unsigned dst_node);
	int (*hip_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*hip_to_hip)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*opencl_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*opencl_to_opencl)(void *src_interface, unsigned src_node,
				void *dst_interface, unsigned dst_node);
	int (*max_fpga_to_ram)(void *src_interface, unsigned src_node,
			       void *dst_interface, unsigned dst_node);
#ifdef STARPU_CUDA_DECLARED_
	/* They start copies on the stream, and return -EAGAIN; or 0, when done. */
	int (*ram_to_cuda_async)(void *src_interface, unsigned src_node,
				 void *dst_interface, unsigned dst_node,
				 starpu_cudaStream_t stream);
	int (*cuda_to_ram_async)(void *src_interface, unsigned src_node,
				 void *dst_interface, unsigned dst_node,
				 starpu_cudaStream_t stream);
	int (*cuda_to_cuda_async)(void *src_interface, unsigned src_node,
				  void *dst_interface, unsigned dst_node,
				  starpu_cudaStream_t stream);
#else
	/* Without CUDA's headers: placeholders. */
	int (*ram_to_cuda_async)(void);
	int (*cuda_to_ram_async)(void);
	int (*cuda_to_cuda_async)(void);
#endif
	/* Placeholders: the library is built without these devices. */
	int (*ram_to_hip_async)(void);
	int (*hip_to_ram_async)(void);
	int (*hip_to_hip_async)(void);
	int (*ram_to_opencl_async)(void);
	int (*opencl_to_ram_async)(void);
	int (*opencl_to_opencl_async)(void);
	int (*ram_to_max_fpga_async)(void *src_interface, unsigned src_node,
				     void *dst_interface, unsigned dst_node);
	int (*max_fpga_to_ram_async)(void *src_interface, unsigned src_node,
				     void *dst_interface, unsigned dst_node);
	int (*any_to_any)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node, void *async_data);
};

/**
 * Operations of one kind of data.  Mandatory: register_data_handle,
 * allocate_data_on_node, free_data_on_node, copy_methods, get_size, footprint,
 * interface_size; pack_data and unpack_data to travel between nodes.  The table must
 * stay as it is while data of this kind are registered.
 *
 * Buffers in devices, and those of main memory that a limit counts, are kept when they
 * are not needed, for other data with the same table, bytes and alloc_footprint that
 * alloc_compare takes for the same, and freed when others need the memory: the
 * table's operations may be called until the library shuts down.  dontcache declines; so
 * does unregister_data_handle without cache_data_on_node.
 *
 * There are no remote devices: pack_meta, unpack_meta and free_meta are for the
 * application's own use.
 */
struct starpu_data_interface_ops {
	/* Fill the interface of every memory node, from
	 * starpu_data_get_interface_on_node(), which are zero or what init() made of
	 * them; pointers on home_node only. */
	void (*register_data_handle)(starpu_data_handle_t handle, int home_node,
				     void *data_interface);
	/* Last of all, with the structs of all memories as they were left. */
	void (*unregister_data_handle)(starpu_data_handle_t handle);
	/* Bytes allocated, or -ENOMEM. */
	starpu_ssize_t (*allocate_data_on_node)(void *data_interface, unsigned node);
	void (*free_data_on_node)(void *data_interface, unsigned node);
	/* cached is a copy of the struct of a buffer that is to be kept: what src has of
	 * it is cached's from now on.  NULL: the copy suffices. */
	void (*cache_data_on_node)(void *cached_interface, void *src_interface,
				   unsigned node);
	/* Opposite, to a struct without a buffer: pointers, and what depends on how it
	 * was allocated.  NULL: all of cached is copied. */
	void (*reuse_data_on_node)(void *dst_data_interface, const void *cached_interface,
				   unsigned node);
	/*
	 * With starpu_map_enabled(), instead of memory of its own in another main memory
	 * (NUMA node): make dst the struct of the application's memory in src, as seen
	 * from dst_node; 0, or negative: that cannot be, so that it is allocated and
	 * copied to.  update_map() is called instead of a copy between the two, NULL: it
	 * has nothing to do; unmap_data() once nothing uses the data any more.
	 */
	int (*map_data)(void *src_interface, unsigned src_node, void *dst_interface,
			unsigned dst_node);
	int (*unmap_data)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*update_map)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	void (*init)(void *data_interface);
	const struct starpu_data_copy_methods *copy_methods;
	void *(*handle_to_pointer)(starpu_data_handle_t handle, unsigned node);
	void *(*to_pointer)(void *data_interface, unsigned node);
	/* Called when the data's turn has come, by who reads, writes or moves them: it
	 * may look at what this rank's copy holds now. */
	size_t (*get_size)(starpu_data_handle_t handle);
	size_t (*get_alloc_size)(starpu_data_handle_t handle);
	/* The same on all ranks at any time: what all must decide alike (how
	 * contributions are reduced, who executes) depends on it. */
	size_t (*get_max_size)(starpu_data_handle_t handle);
	uint32_t (*footprint)(starpu_data_handle_t handle);
	/* The same for what a buffer is like; NULL: as footprint. */
	uint32_t (*alloc_footprint)(starpu_data_handle_t handle);
	/* 1 when both have the same shape. */
	int (*compare)(void *data_interface_a, void *data_interface_b);
	/* 1 when a buffer of one serves the other, asked under a lock; NULL: as compare.
	 */
	int (*alloc_compare)(void *data_interface_a, void *data_interface_b);
	void (*display)(starpu_data_handle_t handle, FILE *f);
	starpu_ssize_t (*describe)(void *data_interface, char *buf, size_t size);
	enum starpu_data_interface_id interfaceid;
	size_t interface_size;
	/* Values have another format on each type of device, as get_mf_ops() says: copies
	 * move the format of their source, and starpu_data_interfaces_multiformat.h says
	 * what happens then. */
	char is_multiformat;
	char dontcache;
	struct starpu_multiformat_data_interface_ops *(*get_mf_ops)(void *data_interface);
	/* Allocate *ptr and serialise; ptr NULL asks for the size only. */
	int (*pack_data)(starpu_data_handle_t handle, unsigned node, void **ptr,
			 starpu_ssize_t *count);
	int (*peek_data)(starpu_data_handle_t handle, unsigned node, void *ptr,
			 size_t count);
	/* As peek_data, then free ptr. */
	int (*unpack_data)(starpu_data_handle_t handle, unsigned node, void *ptr,
			   size_t count);
	int (*pack_meta)(void *data_interface, void **ptr, starpu_ssize_t *count);
	int (*unpack_meta)(void **data_interface, void *ptr, starpu_ssize_t *count);
	int (*free_meta)(void *data_interface);
	char *name;
};

/*
 * All kinds
 */

/**
 * Register data of any kind.  The interface structure is copied.
 *
 * @param home_node  node that holds the value now and gets it back at the end;
 *                   -1: no value yet, buffers are allocated when needed
 */
void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
			  void *data_interface, struct starpu_data_interface_ops *ops);

/**
 * Make a kind known before the first data of it: gives it a number when interfaceid is
 * STARPU_UNKNOWN_INTERFACE_ID, as starpu_data_register() does.  Any time.
 */
void starpu_data_register_ops(struct starpu_data_interface_ops *ops);

/** Register data of the kind and shape of handlesrc, without value or home. */
void starpu_data_register_same(starpu_data_handle_t *handledst,
			       starpu_data_handle_t handlesrc);

/**
 * Give the copy on a node memory of the application's: it stays there until the data are
 * unregistered, and its content is undefined until it is written.  The interface
 * structure of the node is the caller's to fill.  A node where the data have memory
 * already ends the program.
 */
void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node);

/** Address on a node; NULL: no buffer there, or the kind has no address. */
void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node);

/** Address on the caller's memory node; a missing buffer ends the process. */
void *starpu_data_get_local_ptr(starpu_data_handle_t handle);

/** The interface structure for a node; belongs to the handle. */
void *starpu_data_get_interface_on_node(starpu_data_handle_t handle,
					unsigned memory_node);

/** Kind of the data. */
enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle);

/** Bytes of the value. */
size_t starpu_data_get_size(starpu_data_handle_t handle);

/** Bytes of a buffer, at least those of the value. */
size_t starpu_data_get_alloc_size(starpu_data_handle_t handle);

/** Bytes that a value may grow to; -1 when the kind does not tell. */
starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle);

/** Home node, -1 when there is none. */
int starpu_data_get_home_node(starpu_data_handle_t handle);

/**
 * Write what the data are, and their first elements on a node (bytes, or hexadecimal
 * numbers), to a stream, in one line.  The caller must have acquired the data; a node
 * that the processor cannot read, or a simulation without values, shows none.  Of a kind
 * without pack_data it shows what display() writes.
 */
void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream);

/** A new number for interfaceid of a kind defined by the application; any time, never
 * the same twice. */
int starpu_data_interface_get_next_id(void);

/**
 * Serialise the copy on a node into a new buffer *ptr of *count bytes, to be
 * freed with starpu_free_on_node_flags(node, ptr, count, 0).  The caller must
 * have acquired the data; so must the callers of the five below.
 *
 * @return 0, or what the kind's operation returns
 */
int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node, void **ptr,
			  starpu_ssize_t *count);

/** The same on the caller's memory node. */
int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *count);

/** Set the copy on a node from count bytes that pack gave; ptr stays. */
int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr,
			  size_t count);

/** The same on the caller's memory node. */
int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count);

/** Set the copy on a node from count bytes that pack gave, and free ptr. */
int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node, void *ptr,
			    size_t count);

/** The same on the caller's memory node. */
int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count);

/*
 * For the operations of a kind: copies and buffers
 */

/**
 * Copy size bytes between nodes.  Offsets, sizes and strides of this and the next three
 * are in bytes.  From a copy method the nodes are those of the method.
 *
 * @param async_data what the method any_to_any was given, or NULL
 * @return 0: it is done; -EAGAIN: it goes on after the method has returned -EAGAIN, and
 *         the data are there when all that the method started has ended.  So it is with
 *         async_data from and to devices and disks; starpu_asynchronous_copy_disabled()
 *         prevents it.
 */
int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
			  uintptr_t dst, size_t dst_offset, unsigned dst_node,
			  size_t size, void *async_data);

/** Copy numblocks blocks of blocksize bytes that start every ld_src, ld_dst bytes. */
int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks, size_t ld_src,
			    size_t ld_dst, void *async_data);

/** Copy that, numblocks2 times, every ld2_src, ld2_dst bytes. */
int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks1, size_t ld1_src,
			    size_t ld1_dst, size_t numblocks2, size_t ld2_src,
			    size_t ld2_dst, void *async_data);

/** Copy that, numblocks3 times, every ld3_src, ld3_dst bytes. */
int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks1, size_t ld1_src,
			    size_t ld1_dst, size_t numblocks2, size_t ld2_src,
			    size_t ld2_dst, size_t numblocks3, size_t ld3_src,
			    size_t ld3_dst, void *async_data);

/** Copy an array of ndim dimensions of nn[i] elements each, ldn_src[i] and ldn_dst[i]
 * elements apart; the first dimension is contiguous. */
int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t elemsize, size_t ndim, uint32_t *nn, uint32_t *ldn_src,
			    uint32_t *ldn_dst, void *async_data);

/**
 * For map_data: where the size bytes at src + src_offset of one node are seen from
 * another.  Main memories see each other's; devices have none of it.
 *
 * @param ret set to 0; or to -EIO, and the result is 0: they cannot be seen from there
 */
uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset, unsigned src_node,
			       unsigned dst_node, size_t size, int *ret);

/** For unmap_data: dst of dst_node, which starpu_interface_map() returned, is used no
 * more.  0, or -EIO when these nodes see nothing of each other. */
int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node,
			   uintptr_t dst, unsigned dst_node, size_t size);

/** For update_map: make what was written on one side of a map visible on the other.  The
 * same results. */
int starpu_interface_update_map(uintptr_t src, size_t src_offset, unsigned src_node,
				uintptr_t dst, size_t dst_offset, unsigned dst_node,
				size_t size);

/** Before and after a call of a driver that starts a copy: a call of more than 0.3 s is
 * complained about.  start is set to a date in microseconds. */
void starpu_interface_start_driver_copy_async(unsigned src_node, unsigned dst_node,
					      double *start);
void starpu_interface_end_driver_copy_async(unsigned src_node, unsigned dst_node,
					    double start);

/** Say that size bytes are copied between two nodes: for StarPU's traces, no effect. */
void starpu_interface_data_copy(unsigned src_node, unsigned dst_node, size_t size);

/** Allocate size bytes on a node with STARPU_MALLOC_ flags; 0 when there is no room. */
uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags);

/** The same with the node's usual flags, initially PINNED and COUNT. */
uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size);

/** Set the usual flags of a node, before anything is allocated on it. */
void starpu_malloc_on_node_set_default_flags(unsigned node, int flags);

/** Free what starpu_malloc_on_node_flags gave; size and flags must be the same. */
void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags);

/** Free what starpu_malloc_on_node gave; size must be the same. */
void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size);

/*
 * Variable: size bytes
 */

struct starpu_variable_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	size_t elemsize;
};

/** Register size bytes at ptr; home_node as for starpu_data_register. */
void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
				   uintptr_t ptr, size_t size);

/** Bytes of the variable. */
size_t starpu_variable_get_elemsize(starpu_data_handle_t handle);

/** Address on the caller's memory node. */
uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle);

/** Give the copy on a node memory at ptr, as starpu_data_ptr_register; offset is 0 and
 * dev_handle is ptr where addresses are addresses. */
void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node,
				  uintptr_t ptr, uintptr_t dev_handle, size_t offset);

#define STARPU_VARIABLE_CHECK(interface)                                                 \
	STARPU_ASSERT_MSG(STARPU_VARIABLE_FIELD_(interface, id) ==                       \
				  STARPU_VARIABLE_INTERFACE_ID,                          \
			  "the data is not a variable")
#define STARPU_VARIABLE_FIELD_(interface, field)                                         \
	(((struct starpu_variable_interface *)(interface))->field)
#define STARPU_VARIABLE_GET_PTR(interface) STARPU_VARIABLE_FIELD_(interface, ptr)
/** The address, as StarPU has it, and not the field of that name. */
#define STARPU_VARIABLE_GET_DEV_HANDLE(interface) STARPU_VARIABLE_FIELD_(interface, ptr)

#define STARPU_VARIABLE_GET_OFFSET(interface) STARPU_VARIABLE_FIELD_(interface, offset)
#define STARPU_VARIABLE_GET_ELEMSIZE(interface)                                          \
	STARPU_VARIABLE_FIELD_(interface, elemsize)

/*
 * Vector: nx contiguous elements
 */

struct starpu_vector_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	size_t elemsize;
	uint32_t slice_base;
	size_t allocsize;
};

/** Register nx elements at ptr; home_node as for starpu_data_register. */
void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t nx, size_t elemsize);

/** The same with buffers of allocsize bytes, at least nx * elemsize. */
void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t nx, size_t elemsize,
					   size_t allocsize);

/** Number of elements. */
uint32_t starpu_vector_get_nx(starpu_data_handle_t handle);

/** Bytes of an element. */
size_t starpu_vector_get_elemsize(starpu_data_handle_t handle);

/** Bytes of a buffer. */
size_t starpu_vector_get_allocsize(starpu_data_handle_t handle);

/** Address on the caller's memory node. */
uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle);

/** The same as starpu_variable_ptr_register. */
void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset);

#define STARPU_VECTOR_CHECK(interface)                                                   \
	STARPU_ASSERT_MSG(STARPU_VECTOR_FIELD_(interface, id) ==                         \
				  STARPU_VECTOR_INTERFACE_ID,                            \
			  "the data is not a vector")
#define STARPU_VECTOR_FIELD_(interface, field)                                           \
	(((struct starpu_vector_interface *)(interface))->field)
#define STARPU_VECTOR_GET_PTR(interface) STARPU_VECTOR_FIELD_(interface, ptr)
#define STARPU_VECTOR_GET_DEV_HANDLE(interface)                                          \
	STARPU_VECTOR_FIELD_(interface, dev_handle)
#define STARPU_VECTOR_GET_OFFSET(interface)    STARPU_VECTOR_FIELD_(interface, offset)
#define STARPU_VECTOR_GET_NX(interface)        STARPU_VECTOR_FIELD_(interface, nx)
#define STARPU_VECTOR_GET_ELEMSIZE(interface)  STARPU_VECTOR_FIELD_(interface, elemsize)
#define STARPU_VECTOR_GET_ALLOCSIZE(interface) STARPU_VECTOR_FIELD_(interface, allocsize)
#define STARPU_VECTOR_GET_SLICE_BASE(interface)                                          \
	STARPU_VECTOR_FIELD_(interface, slice_base)
#define STARPU_VECTOR_SET_NX(interface, newnx)                                           \
	do {                                                                             \
		STARPU_VECTOR_FIELD_(interface, nx) = (newnx);                           \
	} while (0)

/*
 * Matrix: ny columns of nx elements, column c starts ld * c elements further
 */

struct starpu_matrix_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t ld;
	size_t elemsize;
	size_t allocsize;
};

/** Register nx by ny elements at ptr; home_node as for starpu_data_register. */
void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t ld, uint32_t nx, uint32_t ny,
				 size_t elemsize);

/** The same with buffers of allocsize bytes, at least nx * ny * elemsize. */
void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t ld, uint32_t nx,
					   uint32_t ny, size_t elemsize,
					   size_t allocsize);

/** Elements of a column. */
uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle);

/** Number of columns. */
uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle);

/** Leading dimension on the caller's memory node. */
uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle);

/** Address on the caller's memory node. */
uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle);

/** Bytes of an element. */
size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle);

/** Bytes of a buffer. */
size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle);

/** The same as starpu_variable_ptr_register, with strides in elements. */
void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ld);

#define STARPU_MATRIX_CHECK(interface)                                                   \
	STARPU_ASSERT_MSG(STARPU_MATRIX_FIELD_(interface, id) ==                         \
				  STARPU_MATRIX_INTERFACE_ID,                            \
			  "the data is not a matrix")
#define STARPU_MATRIX_FIELD_(interface, field)                                           \
	(((struct starpu_matrix_interface *)(interface))->field)
#define STARPU_MATRIX_GET_PTR(interface) STARPU_MATRIX_FIELD_(interface, ptr)
#define STARPU_MATRIX_GET_DEV_HANDLE(interface)                                          \
	STARPU_MATRIX_FIELD_(interface, dev_handle)
#define STARPU_MATRIX_GET_OFFSET(interface)    STARPU_MATRIX_FIELD_(interface, offset)
#define STARPU_MATRIX_GET_NX(interface)        STARPU_MATRIX_FIELD_(interface, nx)
#define STARPU_MATRIX_GET_NY(interface)        STARPU_MATRIX_FIELD_(interface, ny)
#define STARPU_MATRIX_GET_LD(interface)        STARPU_MATRIX_FIELD_(interface, ld)
#define STARPU_MATRIX_GET_ELEMSIZE(interface)  STARPU_MATRIX_FIELD_(interface, elemsize)
#define STARPU_MATRIX_GET_ALLOCSIZE(interface) STARPU_MATRIX_FIELD_(interface, allocsize)
#define STARPU_MATRIX_SET_NX(interface, newnx)                                           \
	do {                                                                             \
		STARPU_MATRIX_FIELD_(interface, nx) = (newnx);                           \
	} while (0)
#define STARPU_MATRIX_SET_NY(interface, newny)                                           \
	do {                                                                             \
		STARPU_MATRIX_FIELD_(interface, ny) = (newny);                           \
	} while (0)
#define STARPU_MATRIX_SET_LD(interface, newld)                                           \
	do {                                                                             \
		STARPU_MATRIX_FIELD_(interface, ld) = (newld);                           \
	} while (0)

/*
 * Block: nz planes of ny rows of nx elements; row j starts ldy * j, plane k ldz * k
 * elements further
 */

struct starpu_block_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t nz;
	uint32_t ldy;
	uint32_t ldz;
	size_t elemsize;
};

/**
 * Register nx by ny by nz elements at ptr; home_node as for starpu_data_register.
 * Buffers of other nodes are contiguous, so ldy and ldz differ between nodes.
 */
void starpu_block_data_register(starpu_data_handle_t *handle, int home_node,
				uintptr_t ptr, uint32_t ldy, uint32_t ldz, uint32_t nx,
				uint32_t ny, uint32_t nz, size_t elemsize);

/** Elements of a row. */
uint32_t starpu_block_get_nx(starpu_data_handle_t handle);

/** Rows of a plane. */
uint32_t starpu_block_get_ny(starpu_data_handle_t handle);

/** Number of planes. */
uint32_t starpu_block_get_nz(starpu_data_handle_t handle);

/** Elements from one row to the next on the caller's memory node. */
uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle);

/** Elements from one plane to the next on the caller's memory node. */
uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle);

/** Address on the caller's memory node. */
uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle);

/** Bytes of an element. */
size_t starpu_block_get_elemsize(starpu_data_handle_t handle);

/** The same as starpu_variable_ptr_register, with strides in elements. */
void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			       uintptr_t dev_handle, size_t offset, uint32_t ldy,
			       uint32_t ldz);

#define STARPU_BLOCK_CHECK(interface)                                                    \
	STARPU_ASSERT_MSG(STARPU_BLOCK_FIELD_(interface, id) ==                          \
				  STARPU_BLOCK_INTERFACE_ID,                             \
			  "the data is not a block")
#define STARPU_BLOCK_FIELD_(interface, field)                                            \
	(((struct starpu_block_interface *)(interface))->field)
#define STARPU_BLOCK_GET_PTR(interface)        STARPU_BLOCK_FIELD_(interface, ptr)
#define STARPU_BLOCK_GET_DEV_HANDLE(interface) STARPU_BLOCK_FIELD_(interface, dev_handle)
#define STARPU_BLOCK_GET_OFFSET(interface)     STARPU_BLOCK_FIELD_(interface, offset)
#define STARPU_BLOCK_GET_NX(interface)         STARPU_BLOCK_FIELD_(interface, nx)
#define STARPU_BLOCK_GET_NY(interface)         STARPU_BLOCK_FIELD_(interface, ny)
#define STARPU_BLOCK_GET_NZ(interface)         STARPU_BLOCK_FIELD_(interface, nz)
#define STARPU_BLOCK_GET_LDY(interface)        STARPU_BLOCK_FIELD_(interface, ldy)
#define STARPU_BLOCK_GET_LDZ(interface)        STARPU_BLOCK_FIELD_(interface, ldz)
#define STARPU_BLOCK_GET_ELEMSIZE(interface)   STARPU_BLOCK_FIELD_(interface, elemsize)

/*
 * Tensor: nt blocks of nz planes of ny rows of nx elements; row j starts ldy * j, plane k
 * ldz * k, block l ldt * l elements further
 */

struct starpu_tensor_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t nz;
	uint32_t nt;
	uint32_t ldy;
	uint32_t ldz;
	uint32_t ldt;
	size_t elemsize;
};

/**
 * Register nx by ny by nz by nt elements at ptr; home_node as for starpu_data_register.
 * Buffers of other nodes are contiguous, so ldy, ldz and ldt differ between nodes.
 */
void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node,
				 uintptr_t ptr, uint32_t ldy, uint32_t ldz, uint32_t ldt,
				 uint32_t nx, uint32_t ny, uint32_t nz, uint32_t nt,
				 size_t elemsize);

/** Elements of a row, rows of a plane, planes of a block, blocks. */
uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle);

/** Elements from one row, plane or block to the next on the caller's memory node. */
uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle);

/** Address on the caller's memory node. */
uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle);

/** Bytes of an element. */
size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle);

/** The same as starpu_variable_ptr_register, with strides in elements. */
void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ldy,
				uint32_t ldz, uint32_t ldt);

#define STARPU_TENSOR_CHECK(interface)                                                   \
	STARPU_ASSERT_MSG(STARPU_TENSOR_FIELD_(interface, id) ==                         \
				  STARPU_TENSOR_INTERFACE_ID,                            \
			  "the data is not a tensor")
#define STARPU_TENSOR_FIELD_(interface, field)                                           \
	(((struct starpu_tensor_interface *)(interface))->field)
#define STARPU_TENSOR_GET_PTR(interface) STARPU_TENSOR_FIELD_(interface, ptr)
#define STARPU_TENSOR_GET_DEV_HANDLE(interface)                                          \
	STARPU_TENSOR_FIELD_(interface, dev_handle)
#define STARPU_TENSOR_GET_OFFSET(interface)   STARPU_TENSOR_FIELD_(interface, offset)
#define STARPU_TENSOR_GET_NX(interface)       STARPU_TENSOR_FIELD_(interface, nx)
#define STARPU_TENSOR_GET_NY(interface)       STARPU_TENSOR_FIELD_(interface, ny)
#define STARPU_TENSOR_GET_NZ(interface)       STARPU_TENSOR_FIELD_(interface, nz)
#define STARPU_TENSOR_GET_NT(interface)       STARPU_TENSOR_FIELD_(interface, nt)
#define STARPU_TENSOR_GET_LDY(interface)      STARPU_TENSOR_FIELD_(interface, ldy)
#define STARPU_TENSOR_GET_LDZ(interface)      STARPU_TENSOR_FIELD_(interface, ldz)
#define STARPU_TENSOR_GET_LDT(interface)      STARPU_TENSOR_FIELD_(interface, ldt)
#define STARPU_TENSOR_GET_ELEMSIZE(interface) STARPU_TENSOR_FIELD_(interface, elemsize)

/*
 * N-dimensional: nn[i] elements in dimension i, ldn[i] elements apart; none at all is one
 * element
 */

struct starpu_ndim_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	size_t allocsize;
	uint32_t *nn;
	uint32_t *ldn;
	size_t ndim;
	size_t elemsize;
};

/**
 * Register an array of ndim dimensions at ptr; home_node as for starpu_data_register.
 *
 * @param ldn  ndim strides in elements, the first is 1; copied; not read without a home
 * @param nn   ndim numbers of elements; copied
 *
 * Buffers of other nodes are contiguous, so ldn differs between nodes.  More than five
 * dimensions with gaps between them travel between ranks packed.
 */
void starpu_ndim_data_register(starpu_data_handle_t *handleptr, int home_node,
			       uintptr_t ptr, uint32_t *ldn, uint32_t *nn, size_t ndim,
			       size_t elemsize);

/** The numbers of elements, ndim of them; they belong to the handle. */
uint32_t *starpu_ndim_get_nn(starpu_data_handle_t handle);

/** Elements of dimension i, from 0. */
uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i);

/** The strides on the caller's memory node, ndim of them; they belong to the handle. */
uint32_t *starpu_ndim_get_local_ldn(starpu_data_handle_t handle);

/** The stride of dimension i on the caller's memory node. */
uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i);

/** Address on the caller's memory node. */
uintptr_t starpu_ndim_get_local_ptr(starpu_data_handle_t handle);

/** Number of dimensions. */
size_t starpu_ndim_get_ndim(starpu_data_handle_t handle);

/** Bytes of an element. */
size_t starpu_ndim_get_elemsize(starpu_data_handle_t handle);

/** The same as starpu_variable_ptr_register, with strides in elements. */
void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			      uintptr_t dev_handle, size_t offset, uint32_t *ldn);

#define STARPU_NDIM_CHECK(interface)                                                     \
	STARPU_ASSERT_MSG(STARPU_NDIM_FIELD_(interface, id) == STARPU_NDIM_INTERFACE_ID, \
			  "the data is not an array of n dimensions")
#define STARPU_NDIM_FIELD_(interface, field)                                             \
	(((struct starpu_ndim_interface *)(interface))->field)
#define STARPU_NDIM_GET_PTR(interface)        STARPU_NDIM_FIELD_(interface, ptr)
#define STARPU_NDIM_GET_DEV_HANDLE(interface) STARPU_NDIM_FIELD_(interface, dev_handle)
#define STARPU_NDIM_GET_OFFSET(interface)     STARPU_NDIM_FIELD_(interface, offset)
#define STARPU_NDIM_GET_NN(interface)         STARPU_NDIM_FIELD_(interface, nn)
#define STARPU_NDIM_GET_LDN(interface)        STARPU_NDIM_FIELD_(interface, ldn)
#define STARPU_NDIM_GET_NDIM(interface)       STARPU_NDIM_FIELD_(interface, ndim)
#define STARPU_NDIM_GET_ELEMSIZE(interface)   STARPU_NDIM_FIELD_(interface, elemsize)

/*
 * Void: no content, for dependencies only
 */

/** Register a handle without content. */
void starpu_void_data_register(starpu_data_handle_t *handle);

/**
 * Operations of the predefined interfaces.  The library never writes to them: a program
 * may copy them, and change them or its copies, before it registers data with them.  In
 * simulation all ranks share them.
 */
extern struct starpu_data_interface_ops starpu_interface_variable_ops;
extern struct starpu_data_interface_ops starpu_interface_vector_ops;
extern struct starpu_data_interface_ops starpu_interface_matrix_ops;
extern struct starpu_data_interface_ops starpu_interface_block_ops;
extern struct starpu_data_interface_ops starpu_interface_tensor_ops;
extern struct starpu_data_interface_ops starpu_interface_ndim_ops;
extern struct starpu_data_interface_ops starpu_interface_void_ops;

#ifdef __cplusplus
}
#endif

#include <starpu_data_interfaces_multiformat.h>
#include <starpu_data_interfaces_sparse.h>

#endif /* STARPU_DATA_INTERFACES_H */
