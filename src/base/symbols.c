/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "base/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* What is looked for in the files, one after the other. */
struct search {
	uintptr_t address; /* or 0: the file that place names */
	struct symbol_place place;
	void *found;
	struct symbols_part part;
};

/* Another version of a file has other sizes, as a rule. */
static uint64_t object_id(const struct dl_phdr_info *info)
{
	const char *name = strrchr(info->dlpi_name, '/');
	uint64_t id = 0xcbf29ce484222325u;

	for (name = name ? name + 1 : info->dlpi_name; *name; name++)
		id = (id ^ (unsigned char)*name) * 0x100000001b3u;
	for (int i = 0; i < info->dlpi_phnum; i++)
		id = (id ^ info->dlpi_phdr[i].p_memsz) * 0x100000001b3u;
	return id ? id : 1;
}

static int has(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t first = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && address >= first &&
		    address < first + part->p_memsz)
			return 1;
	}
	return 0;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;

	(void)bytes;
	if (search->address && has(info, search->address)) {
		search->place.object = object_id(info);
		search->place.offset = search->address - info->dlpi_addr;
		return 1;
	}
	if (!search->address && object_id(info) == search->place.object) {
		search->found = (void *)(info->dlpi_addr + search->place.offset);
		return 1;
	}
	return 0;
}

struct symbol_place symbols_place(const void *address)
{
	struct search search = {.address = (uintptr_t)address};

	if (address)
		dl_iterate_phdr(look, &search);
	return search.place;
}

void *symbols_at(struct symbol_place place)
{
	struct search search = {.place = place};

	if (place.object)
		dl_iterate_phdr(look, &search);
	return search.found;
}

/* What is closed once the addresses in it are known lies in a part that can be written.
 */
static void leave_out(struct symbols_part *part, const struct symbols_part *closed,
		      uintptr_t address)
{
	uintptr_t end = part->first + part->bytes,
		  closed_end = closed->first + closed->bytes;

	if (closed_end <= part->first || closed->first >= end)
		return;
	if (address - closed->first < closed->bytes)
		*part = *closed;
	else if (address < closed->first)
		part->bytes = closed->first - part->first;
	else
		*part = (struct symbols_part){closed_end, end - closed_end, 0};
}

static int look_part(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;
	struct symbols_part closed = {0};

	(void)bytes;
	if (!has(info, search->address))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		struct symbols_part part = {info->dlpi_addr + header->p_vaddr,
					    header->p_memsz, 1};

		if (header->p_type == PT_GNU_RELRO)
			closed = part;
		part.is_constant = !(header->p_flags & PF_W);
		if (header->p_type == PT_LOAD &&
		    search->address - part.first < part.bytes)
			search->part = part;
	}
	if (!search->part.is_constant)
		leave_out(&search->part, &closed, search->address);
	return 1;
}

struct symbols_part symbols_part_of(const void *address)
{
	struct search search = {.address = (uintptr_t)address};

	dl_iterate_phdr(look_part, &search);
	return search.part;
}

void *symbols_named(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

void symbols_name(const void *address, char *text, size_t bytes)
{
	const char *file;
	Dl_info place;

	if (!dladdr(address, &place) || !place.dli_fname) {
		snprintf(text, bytes, "at %p", address);
		return;
	}
	file = strrchr(place.dli_fname, '/');
	file = file ? file + 1 : place.dli_fname;
	if (place.dli_sname && place.dli_saddr == address)
		snprintf(text, bytes, "%s() (%s)", place.dli_sname, file);
	else
		snprintf(text, bytes, "a function at %s+0x%lx", file,
			 (unsigned long)((const char *)address -
					 (const char *)place.dli_fbase));
}
