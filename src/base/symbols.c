/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "base/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* What is looked for in the files, one after the other. */
struct search {
	uintptr_t address; /* or 0: the file that place names */
	struct symbol_place place;
	void *found;
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

static int look_constant(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;
	int is_constant = 0;

	(void)bytes;
	if (!has(info, search->address))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		int is_readable = part->p_type == PT_LOAD && !(part->p_flags & PF_W);

		/* The latter is closed once the addresses in it are known. */
		if (is_readable || part->p_type == PT_GNU_RELRO)
			is_constant |= search->address - info->dlpi_addr - part->p_vaddr <
				       part->p_memsz;
	}
	search->found = is_constant ? (void *)search->address : NULL;
	return 1;
}

int symbols_is_constant(const void *address)
{
	struct search search = {.address = (uintptr_t)address};

	dl_iterate_phdr(look_constant, &search);
	return search.found != NULL;
}

void *symbols_named(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}
