/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>

#include "sim/pthreads.h"

/*
 * locals.c - the thread-local variables of simulated threads; see pthreads.h.
 *
 * The dynamic linker gives each object that has such variables a block for each thread of
 * the system.  The blocks of mains, kernels and callbacks of a rank are these; a
 * simulated thread begins with the values that a new thread has, and exchanges them with
 * those in the block whenever it comes and goes.
 */
struct block {
	char *at, *others; /* while the thread runs: what the block had before */
	size_t bytes;
};

struct locals {
	int n;
	struct block blocks[];
};

/* ---- objects --------------------------------------------------------------- */

static int has_our_name(const char *name)
{
	static const char *const ours[] = {"liborrery", "libstarpu", "libsimgrid"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strncmp(name, ours[i], strlen(ours[i])) == 0)
			return 1;
	return 0;
}

/* Addresses in a dynamic section are the object's own until the dynamic linker has moved
 * them, which it does not everywhere. */
static int needs_us(const ElfW(Dyn) * dynamic, ElfW(Addr) base)
{
	const char *texts = NULL;

	for (const ElfW(Dyn) *at = dynamic; at->d_tag != DT_NULL; at++)
		if (at->d_tag == DT_STRTAB)
			texts = (const char *)(at->d_un.d_ptr < base
						       ? at->d_un.d_ptr + base
						       : at->d_un.d_ptr);
	for (const ElfW(Dyn) *at = dynamic; texts && at->d_tag != DT_NULL; at++)
		if (at->d_tag == DT_NEEDED && has_our_name(texts + at->d_un.d_val))
			return 1;
	return 0;
}

int object_calls_us(const void *code)
{
	struct link_map *object = NULL;
	Dl_info info;

	return dladdr1(code, &info, (void **)&object, RTLD_DL_LINKMAP) && object &&
	       needs_us(object->l_ld, object->l_addr);
}

static int has_name(const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_SONAME)
			return 1;
	return 0;
}

int object_has_name(const void *code)
{
	struct link_map *object = NULL;
	Dl_info info;

	return !dladdr1(code, &info, (void **)&object, RTLD_DL_LINKMAP) || !object ||
	       has_name(object->l_ld);
}

int object_is_same(const void *address, const void *other)
{
	Dl_info info, its;

	return dladdr(address, &info) && dladdr(other, &its) &&
	       info.dli_fbase == its.dli_fbase;
}

/* ---- their variables ------------------------------------------------------- */

/* As the ABI of thread-local storage has it. */
struct tls_place {
	unsigned long module, offset;
};

void *__tls_get_addr(struct tls_place *place);

struct search {
	uintptr_t code;
	struct locals *locals;
	struct found {
		size_t module, bytes, image_bytes;
		const void *image;
	} * found;
	int n;
};

static const ElfW(Phdr) * header_of(const struct dl_phdr_info *object, ElfW(Word) type)
{
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == type)
			return &object->dlpi_phdr[i];
	return NULL;
}

static int has_code(const struct dl_phdr_info *object, uintptr_t code)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && code >= begin &&
		    code - begin < part->p_memsz)
			return 1;
	}
	return 0;
}

/* Programs have no names of their own; other ranks' copies of this one are not wanted. */
static int is_wanted(const struct dl_phdr_info *object, uintptr_t code)
{
	const ElfW(Phdr) *part = header_of(object, PT_DYNAMIC);
	const ElfW(Dyn) * dynamic;

	if (has_code(object, code))
		return 1;
	if (!part)
		return 0;
	dynamic = (const void *)(object->dlpi_addr + part->p_vaddr);
	return has_name(dynamic) && needs_us(dynamic, object->dlpi_addr);
}

static int look_at(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const ElfW(Phdr) *part = header_of(object, PT_TLS);
	struct search *search = arg;

	(void)bytes;
	if (!part || part->p_memsz == 0 || !object->dlpi_tls_modid ||
	    !is_wanted(object, search->code))
		return 0;
	search->found = orr_realloc(search->found,
				    (size_t)(search->n + 1) * sizeof(*search->found));
	search->found[search->n++] =
		(struct found){object->dlpi_tls_modid, part->p_memsz, part->p_filesz,
			       (const void *)(object->dlpi_addr + part->p_vaddr)};
	return 0;
}

static void fill(struct block *block, const struct found *found)
{
	struct tls_place place = {found->module, 0};

	block->at = __tls_get_addr(&place);
	block->bytes = found->bytes;
	block->others = orr_alloc(found->bytes);
	memcpy(block->others, found->image, found->image_bytes);
}

struct locals *locals_new(const void *code)
{
	struct search search = {.code = (uintptr_t)code};
	struct locals *locals = NULL;

	if (posix_shares_thread())
		dl_iterate_phdr(look_at, &search);
	if (search.n > 0)
		locals = orr_alloc(sizeof(*locals) +
				   (size_t)search.n * sizeof(locals->blocks[0]));
	for (int i = 0; i < search.n; i++)
		fill(&locals->blocks[locals->n++], &search.found[i]);
	free(search.found);
	return locals;
}

/* ---- coming and going ------------------------------------------------------ */

static void exchange(struct block *block)
{
	char part[256];

	for (size_t done = 0, n; done < block->bytes; done += n) {
		n = block->bytes - done < sizeof(part) ? block->bytes - done
						       : sizeof(part);
		memcpy(part, block->at + done, n);
		memcpy(block->at + done, block->others + done, n);
		memcpy(block->others + done, part, n);
	}
}

static void exchange_all(struct locals *locals)
{
	for (int i = 0; i < locals->n; i++)
		exchange(&locals->blocks[i]);
}

struct locals *sim_leave_locals(void)
{
	const struct sim_thread *thread;
	struct locals *locals;

	if (sim_is_stranger() || sim_get()->in_kernel)
		return NULL;
	thread = sg_actor_self_get_data();
	locals = thread && thread->posix ? thread->posix->locals : NULL;
	if (locals)
		exchange_all(locals);
	return locals;
}

void sim_enter_locals(struct locals *locals)
{
	exchange_all(locals);
}

void locals_begin(struct locals *locals)
{
	if (!locals)
		return;
	exchange_all(locals);
	sim_get()->nlocals++;
}

void locals_end(struct locals *locals)
{
	if (!locals)
		return;
	exchange_all(locals);
	sim_get()->nlocals--;
	for (int i = 0; i < locals->n; i++)
		free(locals->blocks[i].others);
	free(locals);
}
