/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "letters.h"

#include <string.h>

static void letter_sent(struct net_message *message)
{
	struct letter *letter = (struct letter *)message;

	EXPECT(letter->actor, !letter->is_being_sent, "sent ran inside send");
	while (message) {
		struct net_message *next = message->next;

		actor_ended(letter->actor);
		message = next;
	}
}

static const struct net_sender sender = {letter_sent};

int letter_send(struct letter *letter, struct actor *actor, int peer)
{
	int ret;

	letter->actor = actor;
	letter->message.peer = peer;
	letter->message.sender = &sender;
	letter->is_being_sent = 1;
	ret = actor->net->ops->send(actor->net, &letter->message);
	letter->is_being_sent = 0;
	if (ret != 1)
		return ret;
	letter_sent(&letter->message);
	return 0;
}

void letter_head(struct letter *letter, int number)
{
	memcpy(letter->message.head, &number, sizeof(number));
	letter->message.head_bytes = sizeof(number);
}

int letter_number(const void *head)
{
	int number;

	memcpy(&number, head, sizeof(number));
	return number;
}
