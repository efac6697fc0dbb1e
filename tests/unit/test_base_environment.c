/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/environment.h"
#include "base/knobs.h"

enum { SAID_BYTES = 1 << 14 };

/* What is said while the variable has the value; the caller's to free. */
static char *said_with(const char *name, const char *value)
{
	char *said = calloc(1, SAID_BYTES);
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	setenv(name, value, 1);
	dup2(fileno(file), STDERR_FILENO);
	environment_complain();
	dup2(saved, STDERR_FILENO);
	close(saved);
	unsetenv(name);
	rewind(file);
	assert_true(fread(said, 1, SAID_BYTES - 1, file) < SAID_BYTES - 1);
	fclose(file);
	return said;
}

static void assert_says(const char *name, const char *value, const char *what)
{
	char *said = said_with(name, value);

	if (what)
		assert_non_null(strstr(said, what));
	else
		assert_null(strstr(said, name));
	free(said);
}

static void knobs_are_no_news(void **state)
{
	(void)state;
	for (int i = 0; knobs_name(i); i++) {
		const char *before = getenv(knobs_name(i));
		char *kept = before ? strdup(before) : NULL;

		assert_says(knobs_name(i), "1", NULL);
		if (kept)
			setenv(knobs_name(i), kept, 1);
		free(kept);
	}
}

static void the_nearest_is_named(void **state)
{
	(void)state;
	assert_says("STARPU_SCHDE", "dmda", "is STARPU_SCHED meant?");
	assert_says("ORRERY_EVENT", "x", "is ORRERY_EVENTS meant?");
	assert_says("STARPU_CALIBRAET", "1", "is STARPU_CALIBRATE meant?");
	assert_says("LB_HEAT_TIME_TRESHOLD", "9", "is LB_HEAT_TIME_THRESHOLD meant?");
}

static void what_is_like_nothing_is_said_without(void **state)
{
	char *said = said_with("STARPU_XYLOPHONES_AND_HARPSICHORDS", "1");

	(void)state;
	assert_non_null(
		strstr(said, "STARPU_XYLOPHONES_AND_HARPSICHORDS=1 has no effect"));
	assert_null(strstr(said, "meant"));
	free(said);
}

static void what_is_needless_is_passed_over(void **state)
{
	(void)state;
	assert_says("STARPU_MPI_MEM_LATE", "1", NULL);
	assert_says("STARPU_MPI_NMAD_IDLE_HOOKS", "SINGLE", NULL);
	assert_says("STARPU_NHIP", "0", NULL);
	assert_says("STARPU_NHIP", "-1", NULL);
	assert_says("STARPU_NHIP", "", NULL);
	assert_says("SOMETHING_ELSE", "1", NULL);
}

static void what_is_missed_is_said(void **state)
{
	(void)state;
	assert_says("STARPU_NHIP", "2", "STARPU_NHIP=2 has no effect: devices other");
	assert_says("STARPU_DARTS_ANYTHING", "7",
		    "STARPU_DARTS_ANYTHING=7 has no effect");
	assert_says("STARPU_FXT_TRACE", "1", NULL);
}

static void names_may_be_long(void **state)
{
	char name[400] = "STARPU_";

	(void)state;
	memset(name + strlen(name), 'N', sizeof(name) - strlen(name) - 1);
	assert_says(name, "1", NULL);
}

static int has_row(const char *manual, const char *name)
{
	char row[100];
	const char *first;

	snprintf(row, sizeof(row), "\n| %s |", name);
	first = strstr(manual, row);
	return first != NULL;
}

static void the_manual_has_no_knob(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	environment_print_manual(out);
	fclose(out);
	assert_non_null(strstr(text, "\n| STARPU_NHIP |"));
	for (int i = 0; knobs_name(i); i++)
		assert_false(has_row(text, knobs_name(i)));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knobs_are_no_news),
		cmocka_unit_test(the_nearest_is_named),
		cmocka_unit_test(what_is_like_nothing_is_said_without),
		cmocka_unit_test(what_is_needless_is_passed_over),
		cmocka_unit_test(what_is_missed_is_said),
		cmocka_unit_test(names_may_be_long),
		cmocka_unit_test(the_manual_has_no_knob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
