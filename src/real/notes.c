/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "real/notes.h"

#include <string.h>

/* The place of the note number at, when that may be put there. */
static uint64_t free_turn(uint64_t at)
{
	return 2 * (at / NOTES);
}

/* Who moves next on has the place behind it. */
static struct note *take_place(struct notes *notes, uint64_t *at)
{
	*at = __atomic_load_n(&notes->next, __ATOMIC_RELAXED);
	for (;;) {
		struct note *note = &notes->of[*at % NOTES];
		uint64_t now;

		if (__atomic_load_n(&note->turn, __ATOMIC_ACQUIRE) != free_turn(*at)) {
			now = __atomic_load_n(&notes->next, __ATOMIC_RELAXED);
			if (now == *at)
				return NULL;
			*at = now;
			continue;
		}
		if (__atomic_compare_exchange_n(&notes->next, at, *at + 1, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return note;
	}
}

int notes_put(struct notes *notes, int from, const void *text, size_t bytes)
{
	struct note *note;
	uint64_t at;

	note = bytes <= NOTE_BYTES ? take_place(notes, &at) : NULL;
	if (!note)
		return 0;
	note->from = from;
	note->bytes = (uint32_t)bytes;
	memcpy(note->text, text, bytes);
	__atomic_store_n(&note->turn, free_turn(at) + 1, __ATOMIC_RELEASE);
	return 1;
}

int notes_take(struct notes *notes, uint64_t *ntaken, int *from, void *text,
	       size_t *bytes)
{
	struct note *note = &notes->of[*ntaken % NOTES];
	uint64_t full = free_turn(*ntaken) + 1;

	if (__atomic_load_n(&note->turn, __ATOMIC_ACQUIRE) != full)
		return 0;
	*from = note->from;
	*bytes = note->bytes < NOTE_BYTES ? note->bytes : NOTE_BYTES;
	memcpy(text, note->text, *bytes);
	__atomic_store_n(&note->turn, full + 1, __ATOMIC_RELEASE);
	++*ntaken;
	return 1;
}
