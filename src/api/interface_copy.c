/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* For the copy methods of an application's interface: memories that the host can reach.
 */
#include <errno.h>

#include "api/api.h"
#include "base/check.h"
#include "base/layout.h"
#include "core/data/mapped.h"
#include "core/interface/methods.h"

static struct layout block_at(uintptr_t at, size_t offset, size_t bytes)
{
	struct layout layout;

	layout_flat(&layout, (char *)at + offset, bytes);
	return layout;
}

int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks1, size_t ld1_src,
			    size_t ld1_dst, size_t numblocks2, size_t ld2_src,
			    size_t ld2_dst, size_t numblocks3, size_t ld3_src,
			    size_t ld3_dst, void *async_data)
{
	struct layout from = block_at(src, src_offset, blocksize);
	struct layout to = block_at(dst, dst_offset, blocksize);

	layout_repeat(&from, numblocks1, ld1_src);
	layout_repeat(&from, numblocks2, ld2_src);
	layout_repeat(&from, numblocks3, ld3_src);
	layout_repeat(&to, numblocks1, ld1_dst);
	layout_repeat(&to, numblocks2, ld2_dst);
	layout_repeat(&to, numblocks3, ld3_dst);
	if (layout_bytes(&from) == 0) /* Nothing may lie at NULL. */
		return 0;
	if (async_data)
		api_node("starpu_interface_copy");
	return methods_start_piece(async_data, src_node, dst_node, &from, &to);
}

int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks1, size_t ld1_src,
			    size_t ld1_dst, size_t numblocks2, size_t ld2_src,
			    size_t ld2_dst, void *async_data)
{
	return starpu_interface_copy4d(src, src_offset, src_node, dst, dst_offset,
				       dst_node, blocksize, numblocks1, ld1_src, ld1_dst,
				       numblocks2, ld2_src, ld2_dst, 1, 0, 0, async_data);
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t blocksize, size_t numblocks, size_t ld_src,
			    size_t ld_dst, void *async_data)
{
	return starpu_interface_copy3d(src, src_offset, src_node, dst, dst_offset,
				       dst_node, blocksize, numblocks, ld_src, ld_dst, 1,
				       0, 0, async_data);
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
			  uintptr_t dst, size_t dst_offset, unsigned dst_node,
			  size_t size, void *async_data)
{
	return starpu_interface_copy2d(src, src_offset, src_node, dst, dst_offset,
				       dst_node, size, 1, 0, 0, async_data);
}

/* The outermost dimension is walked here, until the rest is one that copy4d knows. */
int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node,
			    uintptr_t dst, size_t dst_offset, unsigned dst_node,
			    size_t elemsize, size_t ndim, uint32_t *nn, uint32_t *ldn_src,
			    uint32_t *ldn_dst, void *async_data)
{
	size_t last = ndim - 1, n[4] = {1, 1, 1, 1}, from[4] = {0}, to[4] = {0};
	int ret = 0;

	if (ndim > 4) {
		for (size_t i = 0; i < nn[last]; i++)
			if (starpu_interface_copynd(
				    src, src_offset + i * ldn_src[last] * elemsize,
				    src_node, dst,
				    dst_offset + i * ldn_dst[last] * elemsize, dst_node,
				    elemsize, last, nn, ldn_src, ldn_dst, async_data))
				ret = -EAGAIN;
		return ret;
	}
	for (size_t i = 0; i < ndim; i++) {
		n[i] = nn[i];
		from[i] = ldn_src[i] * elemsize;
		to[i] = ldn_dst[i] * elemsize;
	}
	return starpu_interface_copy4d(src, src_offset, src_node, dst, dst_offset,
				       dst_node, n[0] * elemsize, n[1], from[1], to[1],
				       n[2], from[2], to[2], n[3], from[3], to[3],
				       async_data);
}

static const struct node *check_memories(const char *func, unsigned from, unsigned to)
{
	const struct node *node = api_node(func);
	unsigned n = (unsigned)node_nmemories(node);

	if (from >= n || to >= n)
		orr_die(node->rank, "%s: from memory node %u to %u; expected 0 to %u",
			func, from, to, n - 1);
	return node;
}

/* ---- maps ------------------------------------------------------------ */

static int sees(const char *func, unsigned from, unsigned to)
{
	return mapped_is_possible(check_memories(func, from, to), from, to) ? 0 : -EIO;
}

uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset, unsigned src_node,
			       unsigned dst_node, size_t size, int *ret)
{
	(void)size;
	api_given(__func__, "ret", ret);
	*ret = sees(__func__, src_node, dst_node);
	return *ret == 0 ? src + src_offset : 0;
}

int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node,
			   uintptr_t dst, unsigned dst_node, size_t size)
{
	(void)src;
	(void)src_offset;
	(void)dst;
	(void)size;
	return sees(__func__, src_node, dst_node);
}

int starpu_interface_update_map(uintptr_t src, size_t src_offset, unsigned src_node,
				uintptr_t dst, size_t dst_offset, unsigned dst_node,
				size_t size)
{
	(void)src;
	(void)src_offset;
	(void)dst;
	(void)dst_offset;
	(void)size;
	return sees(__func__, src_node, dst_node);
}

/* ---- calls of drivers ------------------------------------------------- */

/* A call of a driver that takes so long was no asynchronous one. */
#define SLOW_CALL_S 0.3

void starpu_interface_start_driver_copy_async(unsigned src_node, unsigned dst_node,
					      double *start)
{
	api_given(__func__, "start", start);
	*start = plat_now_s(check_memories(__func__, src_node, dst_node)->plat) * 1e6;
}

void starpu_interface_end_driver_copy_async(unsigned src_node, unsigned dst_node,
					    double start)
{
	const struct node *node = check_memories(__func__, src_node, dst_node);
	double elapsed_s = plat_now_s(node->plat) - start / 1e6;

	if (elapsed_s > SLOW_CALL_S)
		orr_complain(node->rank,
			     "the start of a copy from memory node %u to %u took %.3f s; "
			     "expected a call that returns before the copy is done",
			     src_node, dst_node, elapsed_s);
}

void starpu_interface_data_copy(unsigned src_node, unsigned dst_node, size_t size)
{
	(void)size;
	check_memories(__func__, src_node, dst_node);
}
