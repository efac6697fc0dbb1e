/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/waiting.h"

#include <stdlib.h>

#include "base/check.h"

static void order_free(struct waiting_order *order)
{
	heap_free(&order->heap);
	table_free(&order->keys);
	free(order);
}

void waiting_orders_free(struct waiting_orders *orders)
{
	struct waiting_order *next;

	for (struct waiting_order *order = orders->idle; order; order = next) {
		next = order->next;
		order_free(order);
	}
}

static struct waiting_order *order_get(struct waiting_orders *orders)
{
	struct waiting_order *order = orders->idle;

	if (!order)
		return orr_alloc(sizeof(*order));
	orders->idle = order->next;
	return order;
}

/* It is empty, and keeps its memory. */
static void order_put(struct waiting_orders *orders, struct waiting *waiting)
{
	ORR_ASSERT(waiting->order->keys.count == 0);
	waiting->order->next = orders->idle;
	orders->idle = waiting->order;
	waiting->order = NULL;
}

/* ---- keys ------------------------------------------------------------ */

/* What the table has instead of a pointer: how many, and the least of their priorities,
 * which is the last one's. */
static void *key_value(unsigned count, int priority)
{
	return (void *)(((uintptr_t)count << 32) | (uint32_t)priority);
}

static unsigned key_count(const void *value)
{
	return (unsigned)((uintptr_t)value >> 32);
}

static int key_priority(const void *value)
{
	return (int)(uint32_t)(uintptr_t)value;
}

/* ---- the order ------------------------------------------------------- */

static void sort_in(struct waiting_order *order, struct outgoing *item)
{
	struct net_message *message = item->what.message;
	const void *before = table_get(&order->keys, item->key);
	unsigned count = before ? key_count(before) : 0;

	if (before && key_priority(before) < item->priority)
		item->priority = key_priority(before);
	table_put(&order->keys, item->key, key_value(count + 1, item->priority));
	message->wait.item = item;
	message->wait.order.place = 0;
	item->is_sorted = 1;
	heap_push(&order->heap, &message->wait.order, -(double)item->priority);
}

/* All up to the first one without a key. */
static void sort(struct waiting *waiting, struct waiting_orders *orders)
{
	struct outgoing *item;

	if (!waiting->order)
		waiting->order = order_get(orders);
	while ((item = waiting->first) && item->key) {
		waiting->first = item->next;
		sort_in(waiting->order, item);
	}
	if (!waiting->first)
		waiting->is_mixed = 0;
	if (waiting->order->heap.count == 0)
		order_put(orders, waiting);
}

struct net_message *waiting_first_sorted(struct waiting *waiting,
					 struct waiting_orders *orders)
{
	sort(waiting, orders);
	if (!waiting->order)
		return waiting->first ? waiting->first->what.message : NULL;
	return ORR_CONTAINER(waiting->order->heap.keys[0].entry, struct net_message,
			     wait.order);
}

void waiting_take_sorted(struct waiting *waiting, struct waiting_orders *orders)
{
	struct waiting_order *order = waiting->order;
	struct heap_entry *entry = heap_pop(&order->heap);
	struct outgoing *item =
		ORR_CONTAINER(entry, struct net_message, wait.order)->wait.item;
	const void *same = table_get(&order->keys, item->key);

	item->is_sorted = 0;
	waiting->bytes -= net_message_bytes(item->what.message);
	if (key_count(same) > 1)
		table_put(&order->keys, item->key,
			  key_value(key_count(same) - 1, key_priority(same)));
	else
		table_remove(&order->keys, item->key);
	if (order->heap.count == 0)
		order_put(orders, waiting);
}

void waiting_raise(struct waiting *waiting, struct outgoing *item, int priority)
{
	struct heap_entry *entry = &item->what.message->wait.order;
	const void *same;

	if (priority <= item->priority)
		return;
	if (!item->is_sorted) {
		item->priority = priority;
		if (waiting && waiting->first)
			waiting->is_mixed = 1;
		return;
	}
	same = table_get(&waiting->order->keys, item->key);
	if (key_count(same) > 1)
		return;
	item->priority = priority;
	table_put(&waiting->order->keys, item->key, key_value(1, priority));
	heap_move_ordered(&waiting->order->heap, entry, -(double)priority, entry->order);
}

void waiting_free(struct waiting *waiting)
{
	if (waiting->order)
		order_free(waiting->order);
}
