/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_LETTERS_H
#define ORR_TESTS_LETTERS_H

/*
 * letters.h - messages of the scenes, which have a number for a head.
 */
#include "scenes.h"

/* A message that tells its actor when it was sent. */
struct letter {
	struct net_message message; /* first */
	struct actor *actor;
	int is_being_sent;
};

/* 0 or a negative errno; actor_ended() when it has been sent.  The lock is held. */
int letter_send(struct letter *letter, struct actor *actor, int peer);
void letter_head(struct letter *letter, int number);
int letter_number(const void *head);

#endif
