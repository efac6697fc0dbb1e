/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Data and memories, as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_profiling.h>

#include "api/api.h"
#include "api/data_print.h"
#include "base/check.h"
#include "core/data/kept.h"
#include "core/data/room.h"
#include "core/interface/interface.h"

/* ---- one datum ------------------------------------------------------- */

enum { SHOWN_ELEMENTS = 16 };

static void print_element(const unsigned char *at, size_t bytes, FILE *stream)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	if (bytes == sizeof(two)) {
		memcpy(&two, at, bytes);
		fprintf(stream, " %#x", two);
	} else if (bytes == sizeof(four)) {
		memcpy(&four, at, bytes);
		fprintf(stream, " %#x", four);
	} else if (bytes == sizeof(eight)) {
		memcpy(&eight, at, bytes);
		fprintf(stream, " %#llx", (unsigned long long)eight);
	} else {
		fputc(' ', stream);
		for (size_t i = 0; i < bytes && i < SHOWN_ELEMENTS; i++)
			fprintf(stream, "%02x", at[i]);
	}
}

/* What the interface says of itself, in its line. */
static void print_display(starpu_data_handle_t handle, FILE *stream)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return;
	handle->ops->display(handle, out);
	fclose(out);
	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	fprintf(stream, ": %s", text);
	free(text);
}

/* The value is packed for it. */
static void print_value(starpu_data_handle_t handle, unsigned memory, FILE *stream)
{
	size_t bytes = interface_element_bytes(handle), n;
	starpu_ssize_t count = 0;
	void *packed = NULL;

	if (bytes == 0)
		bytes = 1;
	if (handle->ops->pack_data(handle, memory, &packed, &count) != 0)
		return;
	n = (size_t)count / bytes;
	fputc(':', stream);
	for (size_t i = 0; i < n && i < SHOWN_ELEMENTS; i++)
		print_element((unsigned char *)packed + i * bytes, bytes, stream);
	if (n > SHOWN_ELEMENTS)
		fprintf(stream, " ... (%zu elements)", n);
	starpu_free_on_node_flags(memory, (uintptr_t)packed, (size_t)count, 0);
}

void starpu_data_print(starpu_data_handle_t handle, unsigned memory, FILE *stream)
{
	struct node *node = api_node(__func__);
	const char *name;
	char what[128];

	api_check_registered(node, __func__, handle);
	if (memory >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: memory node %u; expected 0 to %d", __func__,
			memory, node_nmemories(node) - 1);
	name = handle->ops->name;
	fprintf(stream, "%s %s in memory node %u", name ? name : "interface",
		data_describe(handle, what, sizeof(what)), memory);
	if (!starpu_data_test_if_allocated_on_node(handle, memory))
		fprintf(stream, ": no buffer");
	else if (!handle->ops->pack_data && handle->ops->display)
		print_display(handle, stream);
	else if (handle->ops->pack_data &&
		 node->memories[memory].kind == STARPU_CPU_RAM && node->machine->executes)
		print_value(handle, memory, stream);
	fputc('\n', stream);
}

/* ---- all of them ----------------------------------------------------- */

enum { LISTED_DATA = 100 };

struct listing {
	FILE *stream;
	int ndata;
};

/* The node's pools and the datum are locked: stream is a buffer. */
static void list_datum(void *arg, starpu_data_handle_t handle)
{
	struct listing *listing = arg;
	char what[128];

	if (listing->ndata++ >= LISTED_DATA)
		return;
	fprintf(listing->stream,
		"%s, %zu bytes:", data_describe(handle, what, sizeof(what)),
		data_bytes(handle));
	for (unsigned i = 0; i < (unsigned)node_nmemories(handle->node); i++) {
		const struct copy_state *copy = data_find_copy(handle, i);

		if (copy && copy->allocated)
			fprintf(listing->stream, " %u%s", i,
				handle->body->valid & memory_bit(i) ? "" : " (stale)");
	}
	fputc('\n', listing->stream);
}

static void list_memory(struct node *node, unsigned index, FILE *stream)
{
	struct memory *memory = &node->memories[index];
	char name[64];
	size_t kept;

	orr_lock(&memory->lock);
	kept = kept_bytes(memory);
	orr_unlock(&memory->lock);
	starpu_memory_node_get_name(index, name, sizeof(name));
	fprintf(stream, "memory node %u (%s): %zu bytes in use", index, name,
		starpu_memory_get_used(index));
	if (room_capacity(memory))
		fprintf(stream, " of %zu", room_capacity(memory));
	fprintf(stream, ", %zu kept for other data\n", kept);
}

void data_print_all(struct node *node, FILE *stream)
{
	struct listing listing = {0};
	char *text = NULL;
	size_t bytes;

	for (unsigned i = 0; i < (unsigned)node_nmemories(node); i++)
		list_memory(node, i, stream);
	listing.stream = open_memstream(&text, &bytes);
	if (!listing.stream)
		return;
	data_each(node, list_datum, &listing);
	fclose(listing.stream);
	fprintf(stream, "%d data, with the memory nodes where they have buffers\n%s",
		listing.ndata, text);
	if (listing.ndata > LISTED_DATA)
		fprintf(stream, "and %d more\n", listing.ndata - LISTED_DATA);
	free(text);
}

void starpu_data_display_memory_stats(void)
{
	data_print_all(api_node(__func__), stderr);
}
