/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_LIST_H
#define ORR_BASE_LIST_H

/*
 * list.h - intrusive doubly linked list with a sentinel.
 *
 * A link is on at most one list.  A zeroed link is on none, but a head must be
 * initialised.
 */
#include "base/check.h"

struct list {
	struct list *prev, *next;
};

#define LIST_ENTRY(link, type, member) ORR_CONTAINER(link, type, member)

static inline void list_init(struct list *head)
{
	head->prev = head->next = head;
}

static inline int list_is_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_insert_after(struct list *where, struct list *link)
{
	link->prev = where;
	link->next = where->next;
	where->next->prev = link;
	where->next = link;
}

static inline void list_push_back(struct list *head, struct list *link)
{
	list_insert_after(head->prev, link);
}

static inline void list_push_front(struct list *head, struct list *link)
{
	list_insert_after(head, link);
}

static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = NULL;
}

/* The first link, taken off the list, or NULL. */
static inline struct list *list_pop_front(struct list *head)
{
	struct list *link = head->next;

	if (link == head)
		return NULL;
	list_remove(link);
	return link;
}

/* The last link, taken off the list, or NULL. */
static inline struct list *list_pop_back(struct list *head)
{
	struct list *link = head->prev;

	if (link == head)
		return NULL;
	list_remove(link);
	return link;
}

#endif
