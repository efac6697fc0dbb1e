/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/list.h"

struct item {
	int number;
	struct list link;
};

static int pop_front(struct list *head)
{
	struct list *link = list_pop_front(head);

	return link ? LIST_ENTRY(link, struct item, link)->number : -1;
}

static int pop_back(struct list *head)
{
	struct list *link = list_pop_back(head);

	return link ? LIST_ENTRY(link, struct item, link)->number : -1;
}

static void empty_gives_nothing(void **state)
{
	struct list head;

	(void)state;
	list_init(&head);
	assert_true(list_is_empty(&head));
	assert_null(list_pop_front(&head));
	assert_null(list_pop_back(&head));
}

static void both_ends_work(void **state)
{
	struct item items[4] = {
		{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};
	struct list head;

	(void)state;
	list_init(&head);
	list_push_back(&head, &items[1].link);
	list_push_back(&head, &items[2].link);
	list_push_front(&head, &items[0].link);
	list_insert_after(&items[2].link, &items[3].link);
	assert_false(list_is_empty(&head));
	assert_int_equal(pop_front(&head), 0);
	assert_int_equal(pop_back(&head), 3);
	assert_int_equal(pop_front(&head), 1);
	assert_int_equal(pop_back(&head), 2);
	assert_int_equal(pop_front(&head), -1);
	assert_true(list_is_empty(&head));
}

static void removal_leaves_the_others(void **state)
{
	struct item items[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
	struct list head;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 3; i++)
		list_push_back(&head, &items[i].link);
	list_remove(&items[1].link);
	assert_null(items[1].link.next);
	assert_null(items[1].link.prev);
	assert_int_equal(pop_front(&head), 0);
	list_push_back(&head, &items[1].link);
	assert_int_equal(pop_front(&head), 2);
	assert_int_equal(pop_front(&head), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_gives_nothing),
		cmocka_unit_test(both_ends_work),
		cmocka_unit_test(removal_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
