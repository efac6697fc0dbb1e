/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "../api/claim.h"
#include "real/notes.h"

/* Notes that one takes and several put. */
int claim_failures;

enum { NWRITERS = 4, EACH = 20000 };

static int put(struct notes *notes, int from, uint64_t number)
{
	return notes_put(notes, from, &number, sizeof(number));
}

static int take(struct notes *notes, uint64_t *ntaken, int *from, uint64_t *number)
{
	char text[NOTE_BYTES];
	size_t bytes;

	if (!notes_take(notes, ntaken, from, text, &bytes))
		return 0;
	CLAIM_EQ(bytes, sizeof(*number));
	memcpy(number, text, sizeof(*number));
	return 1;
}

/* Each place is used many times, by queues of any length. */
static void there_is_room_for_so_many(void)
{
	static struct notes notes;
	uint64_t ntaken = 0, number, nput = 0;
	int from;

	CLAIM_EQ(take(&notes, &ntaken, &from, &number), 0);
	for (int length = 1; length <= NOTES; length++) {
		for (int i = 0; i < length; i++)
			CLAIM_EQ(put(&notes, length, nput++), 1);
		if (length == NOTES)
			CLAIM_EQ(put(&notes, 0, 0), 0);
		for (int i = length; i > 0; i--) {
			CLAIM_EQ(take(&notes, &ntaken, &from, &number), 1);
			CLAIM_EQ(from, length);
			CLAIM_EQ(number, nput - (uint64_t)i);
		}
		CLAIM_EQ(take(&notes, &ntaken, &from, &number), 0);
	}
}

static void long_ones_are_refused(void)
{
	static struct notes notes;
	char text[NOTE_BYTES + 1] = "", taken[NOTE_BYTES];
	uint64_t ntaken = 0;
	size_t bytes = 0;
	int from;

	CLAIM_EQ(notes_put(&notes, 1, text, sizeof(text)), 0);
	CLAIM_EQ(notes_take(&notes, &ntaken, &from, taken, &bytes), 0);
	CLAIM_EQ(notes_put(&notes, 1, text, NOTE_BYTES), 1);
	CLAIM_EQ(notes_take(&notes, &ntaken, &from, taken, &bytes), 1);
	CLAIM_EQ(bytes, NOTE_BYTES);
}

struct writer {
	pthread_t thread;
	struct notes *notes;
	int id;
};

static void *write_all(void *arg)
{
	const struct writer *writer = arg;

	for (uint64_t i = 0; i < EACH; i++)
		while (!put(writer->notes, writer->id, i))
			sched_yield();
	return NULL;
}

static void none_is_lost_or_overtaken(void)
{
	static struct notes notes;
	struct writer writers[NWRITERS];
	uint64_t next[NWRITERS] = {0}, ntaken = 0, number;
	int from;

	for (int i = 0; i < NWRITERS; i++) {
		writers[i] = (struct writer){.notes = &notes, .id = i};
		pthread_create(&writers[i].thread, NULL, write_all, &writers[i]);
	}
	while (ntaken < NWRITERS * EACH) {
		if (!take(&notes, &ntaken, &from, &number)) {
			sched_yield();
			continue;
		}
		CLAIM_EQ(number, next[from]);
		next[from]++;
	}
	for (int i = 0; i < NWRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	CLAIM_EQ(take(&notes, &ntaken, &from, &number), 0);
}

static const struct claim claims[] = {
	{"there_is_room_for_so_many", there_is_room_for_so_many},
	{"long_ones_are_refused", long_ones_are_refused},
	{"none_is_lost_or_overtaken", none_is_lost_or_overtaken},
	{NULL, NULL}};

int main(void)
{
	return claims_run(claims, 0);
}
