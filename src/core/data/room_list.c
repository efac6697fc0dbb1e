/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/room_list.h"

/*
 * room_list.c - the copies of a memory one by one: who uses them, which are idle.
 *
 * used_bytes is the sum of what is in use (pinned_bytes), of what is leaving
 * (leaving_bytes) and of the idle copies: in the list, least recently used first, or
 * apart when they had nowhere to go.
 */

static struct memory *memory_of(const struct copy_state *copy)
{
	return &copy->datum->node->memories[copy->memory];
}

/* ---- the list of idle copies; the memory is locked ------------------- */

static void link_newest(struct memory *memory, struct copy_state *copy)
{
	copy->newer = NULL;
	copy->older = memory->newest;
	if (memory->newest)
		memory->newest->newer = copy;
	else
		memory->oldest = copy;
	memory->newest = copy;
}

static void link_oldest(struct memory *memory, struct copy_state *copy)
{
	copy->older = NULL;
	copy->newer = memory->oldest;
	if (memory->oldest)
		memory->oldest->older = copy;
	else
		memory->newest = copy;
	memory->oldest = copy;
}

static void link_stuck(struct memory *memory, struct copy_state *copy)
{
	copy->room = ROOM_STUCK;
	copy->newer = NULL;
	copy->older = memory->stuck_last;
	if (memory->stuck)
		memory->stuck_last->newer = copy;
	else
		memory->stuck = copy;
	memory->stuck_last = copy;
}

static void unlink_stuck(struct memory *memory, struct copy_state *copy)
{
	if (copy->older)
		copy->older->newer = copy->newer;
	else
		memory->stuck = copy->newer;
	if (copy->newer)
		copy->newer->older = copy->older;
	else
		memory->stuck_last = copy->older;
}

static int is_idle(const struct copy_state *copy)
{
	return copy->room == ROOM_IDLE || copy->room == ROOM_STUCK;
}

static void unlink_copy(struct memory *memory, struct copy_state *copy)
{
	if (copy->room == ROOM_STUCK) {
		unlink_stuck(memory, copy);
		return;
	}
	if (copy->older)
		copy->older->newer = copy->newer;
	else
		memory->oldest = copy->newer;
	if (copy->newer)
		copy->newer->older = copy->older;
	else
		memory->newest = copy->older;
}

/* Something of a disk is idle, stale, or gone: what had nowhere to go may have now. */
static void note_change(struct node *node, const struct memory *memory)
{
	if (memory->kind == STARPU_DISK_RAM)
		orr_add(&node->nspill_changes, 1);
}

void room_list_unstick(struct memory *memory, unsigned most)
{
	struct copy_state *copy = memory->stuck, *before;

	if (!copy || most == 0)
		return;
	while (--most > 0 && copy->newer)
		copy = copy->newer;
	/* The first of them is the oldest in the end. */
	for (; copy; copy = before) {
		before = copy->older;
		unlink_stuck(memory, copy);
		copy->room = ROOM_IDLE;
		link_oldest(memory, copy);
	}
}

/* ---- one copy -------------------------------------------------------- */

void room_measure(struct copy_state *copy, size_t bytes)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	if (copy->room == ROOM_NONE)
		copy->bytes = bytes;
	orr_unlock(&memory->lock);
}

void room_list_use(struct memory *memory, struct copy_state *copy)
{
	ORR_ASSERT(!copy->is_users);
	switch (copy->room) {
	case ROOM_NONE:
		memory->used_bytes += copy->bytes;
		memory->pinned_bytes += copy->bytes;
		break;
	case ROOM_IDLE:
	case ROOM_STUCK:
		unlink_copy(memory, copy);
		memory->pinned_bytes += copy->bytes;
		break;
	case ROOM_LEAVING:
		memory->leaving_bytes -= copy->bytes;
		memory->pinned_bytes += copy->bytes;
		break;
	default:
		ORR_ASSERT(copy->room == ROOM_USED);
	}
	copy->room = ROOM_USED;
	copy->refs++;
}

void room_use(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	if (copy->is_users)
		return;
	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room != ROOM_NONE);
	room_list_use(memory, copy);
	orr_unlock(&memory->lock);
}

/* The memory is locked. */
static int is_free(const struct memory *memory, size_t bytes)
{
	return !memory->capacity_bytes ||
	       (!memory->waiting && memory->used_bytes + bytes <= memory->capacity_bytes);
}

int room_is_free(struct node *node, unsigned index, size_t bytes)
{
	struct memory *memory = &node->memories[index];
	int is;

	orr_lock(&memory->lock);
	is = is_free(memory, bytes);
	orr_unlock(&memory->lock);
	return is;
}

int room_try(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int fits;

	if (copy->is_users)
		return 1;
	orr_lock(&memory->lock);
	fits = is_free(memory, copy->bytes);
	if (copy->room == ROOM_GOING)
		fits = 0;
	else if (copy->room != ROOM_NONE)
		fits = 1;
	if (fits)
		room_list_use(memory, copy);
	orr_unlock(&memory->lock);
	return fits;
}

int room_is_held(const struct access *access)
{
	return access && access->job->ops->is_held;
}

/* 1: it was the last one. */
static int end_use(struct memory *memory, struct copy_state *copy,
		   const struct access *access)
{
	ORR_ASSERT(copy->room == ROOM_USED && copy->refs > 0);
	if (room_is_held(access) && --copy->holds == 0)
		memory->held_bytes -= copy->bytes;
	if (--copy->refs > 0)
		return 0;
	memory->pinned_bytes -= copy->bytes;
	return 1;
}

static void make_idle(struct memory *memory, struct copy_state *copy, int stale)
{
	copy->room = ROOM_IDLE;
	if (stale)
		link_oldest(memory, copy);
	else
		link_newest(memory, copy);
	note_change(copy->datum->node, memory);
}

void room_unuse(struct copy_state *copy, const struct access *access, int stale)
{
	struct memory *memory = memory_of(copy);

	if (copy->is_users)
		return;
	orr_lock(&memory->lock);
	if (end_use(memory, copy, access))
		make_idle(memory, copy, stale);
	orr_unlock(&memory->lock);
}

/* Without users nobody gives it a buffer or takes one away. */
void room_list_unuse(struct memory *memory, struct copy_state *copy,
		     const struct access *access, int stale)
{
	if (!end_use(memory, copy, access))
		return;
	if (copy->allocated) {
		make_idle(memory, copy, stale);
	} else {
		copy->room = ROOM_NONE;
		memory->used_bytes -= copy->bytes;
	}
}

void room_abandon(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	if (copy->is_users)
		return;
	orr_lock(&memory->lock);
	room_list_unuse(memory, copy, NULL, 1);
	orr_unlock(&memory->lock);
}

void room_hold(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	room_list_use(memory, copy);
	if (copy->holds++ == 0)
		memory->held_bytes += copy->bytes;
	orr_unlock(&memory->lock);
}

void room_let(struct copy_state *copy, int stale)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	if (--copy->holds == 0)
		memory->held_bytes -= copy->bytes;
	orr_unlock(&memory->lock);
	room_unuse(copy, NULL, stale);
}

void room_demote(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	if (is_idle(copy)) {
		unlink_copy(memory, copy);
		copy->room = ROOM_IDLE;
		link_oldest(memory, copy);
		note_change(copy->datum->node, memory);
	}
	orr_unlock(&memory->lock);
}

static enum copy_room room_of(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	enum copy_room room;

	orr_lock(&memory->lock);
	room = copy->room;
	orr_unlock(&memory->lock);
	return room;
}

int room_is_leaving(struct copy_state *copy)
{
	return room_of(copy) == ROOM_LEAVING;
}

int room_is_taken(struct copy_state *copy)
{
	return room_of(copy) != ROOM_NONE;
}

int room_is_stuck(struct copy_state *copy)
{
	return room_of(copy) == ROOM_STUCK;
}

int room_is_idle(struct copy_state *copy)
{
	enum copy_room room = room_of(copy);

	return room == ROOM_IDLE || room == ROOM_STUCK;
}

void room_list_let_leave(struct memory *memory, struct copy_state *copy)
{
	unlink_copy(memory, copy);
	copy->room = ROOM_LEAVING;
	copy->refs++;
	memory->leaving_bytes += copy->bytes;
}

int room_expel(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int expelled;

	orr_lock(&memory->lock);
	expelled = is_idle(copy);
	if (expelled) {
		room_list_let_leave(memory, copy);
	}
	orr_unlock(&memory->lock);
	return expelled;
}

int room_stay(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int stays;

	orr_lock(&memory->lock);
	stays = copy->room == ROOM_LEAVING;
	if (stays) {
		ORR_ASSERT(copy->refs == 1);
		memory->leaving_bytes -= copy->bytes;
		copy->refs = 0;
		link_stuck(memory, copy);
	}
	orr_unlock(&memory->lock);
	return stays;
}

int room_let_go(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int goes;

	orr_lock(&memory->lock);
	goes = copy->room == ROOM_LEAVING;
	if (goes)
		copy->room = ROOM_GOING;
	orr_unlock(&memory->lock);
	return goes;
}

int room_take(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);
	int taken;

	orr_lock(&memory->lock);
	taken = is_idle(copy);
	if (taken) {
		unlink_copy(memory, copy);
		memory->leaving_bytes += copy->bytes;
		copy->refs++;
		copy->room = ROOM_GOING;
	}
	orr_unlock(&memory->lock);
	return taken;
}

void room_close(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room == ROOM_USED && copy->refs == 1);
	memory->pinned_bytes -= copy->bytes;
	memory->leaving_bytes += copy->bytes;
	copy->room = ROOM_GOING;
	if (copy->holds)
		memory->held_bytes -= copy->bytes;
	orr_unlock(&memory->lock);
}

void room_gone(struct copy_state *copy)
{
	struct memory *memory = memory_of(copy);

	orr_lock(&memory->lock);
	ORR_ASSERT(copy->room == ROOM_GOING && copy->refs == 1);
	copy->room = ROOM_NONE;
	copy->refs = 0;
	memory->used_bytes -= copy->bytes;
	memory->leaving_bytes -= copy->bytes;
	if (memory->kind == STARPU_DISK_RAM)
		orr_store(&memory->refuses, 0);
	note_change(copy->datum->node, memory);
	orr_unlock(&memory->lock);
}
