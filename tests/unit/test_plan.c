/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <starpu.h>

#include "mpi/plan.h"
#include "mpi/registry.h"

/* Plays tests/golden/plan.txt: the format is explained there. */

enum { MAX_USES = 8, TEXT_BYTES = 256 };

struct player {
	unsigned holders[128]; /* by datum's letter: bits of ranks */
	char data[MAX_USES];
};

struct line {
	struct plan_use uses[MAX_USES];
	char data[MAX_USES];
	int nuses, node;
	char expected[TEXT_BYTES];
};

static int holds(void *arg, int use, int rank)
{
	struct player *player = arg;
	unsigned *holders = &player->holders[(int)player->data[use]];
	int had = *holders >> rank & 1;

	*holders |= 1u << rank;
	return had;
}

static unsigned mode_of(const char *text)
{
	static const struct {
		const char *text;
		unsigned mode;
	} modes[] = {{"RW:", STARPU_RW},   {"R:", STARPU_R},
		     {"W:", STARPU_W},     {"S:", STARPU_SCRATCH},
		     {"X:", STARPU_REDUX}, {"E:", STARPU_RW | STARPU_MPI_SAME}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strncmp(text, modes[i].text, strlen(modes[i].text)) == 0)
			return modes[i].mode;
	return 0;
}

static int owner_of(char datum)
{
	if (datum == '?')
		return OWNER_UNSET;
	return datum >= 'a' ? OWNER_PER_NODE : datum - 'A';
}

static void add_word(char *text, const char *word)
{
	if (*text)
		strncat(text, " ", TEXT_BYTES - strlen(text) - 1);
	strncat(text, word, TEXT_BYTES - strlen(text) - 1);
}

/* 0 when there is nothing on the line. */
static int parse(struct line *line, char *text)
{
	int is_input = 1;

	memset(line, 0, sizeof(*line));
	line->node = -1;
	for (char *word = strtok(text, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		unsigned mode = mode_of(word);

		if (is_input && word[0] == '@') {
			line->node = atoi(word + 1);
		} else if (is_input && mode) {
			assert_true(line->nuses < MAX_USES);
			line->data[line->nuses] = strchr(word, ':')[1];
			line->uses[line->nuses].mode = mode;
			line->uses[line->nuses].owner = owner_of(line->data[line->nuses]);
			line->nuses++;
		} else {
			is_input = 0;
			add_word(line->expected, word);
		}
	}
	return line->nuses > 0 || line->expected[0];
}

static const char *name_of(int executor, char *text)
{
	switch (executor) {
	case PLAN_EVERYWHERE:
		return "everywhere";
	case PLAN_CONFLICT:
		return "conflict";
	case PLAN_MIXED:
		return "mixed";
	case PLAN_UNOWNED:
		return "unowned";
	default:
		sprintf(text, "%d", executor);
		return text;
	}
}

static void add_moves(char *text, const struct line *line, const struct plan_move *moves,
		      int nmoves)
{
	char word[64];

	for (int i = 0; i < nmoves; i++) {
		snprintf(word, sizeof(word), "%c:%d>%d", line->data[moves[i].use],
			 moves[i].from, moves[i].to);
		add_word(text, word);
	}
}

static int place(const struct plan_use *uses, int nuses)
{
	int at = PLAN_OPEN;

	for (int i = 0; i < nuses; i++)
		at = plan_join(at, uses[i].owner, uses[i].mode);
	return plan_joined(at);
}

static void play_line(struct player *player, const struct line *line, char *text)
{
	int executor = line->node >= 0 ? line->node : place(line->uses, line->nuses);
	struct plan_move moves[MAX_USES];
	char number[32];
	int nmoves;

	text[0] = 0;
	add_word(text, name_of(executor, number));
	if (executor < 0)
		return;
	memcpy(player->data, line->data, sizeof(player->data));
	nmoves = plan_before(moves, line->uses, line->nuses, executor, holds, player);
	add_moves(text, line, moves, nmoves);
	nmoves = plan_after(moves, line->uses, line->nuses, executor);
	if (nmoves > 0)
		add_word(text, "|");
	add_moves(text, line, moves, nmoves);
	for (int i = 0; i < line->nuses; i++)
		if (plan_replaces(line->uses[i].mode) ||
		    (line->uses[i].mode & STARPU_REDUX))
			player->holders[(int)line->data[i]] = 0;
}

static FILE *open_golden(void)
{
	const char *source = getenv("ORRERY_SRC");
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/golden/plan.txt", source ? source : ".");
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s cannot be read: run from the source folder, or set "
			 "ORRERY_SRC",
			 path);
	return file;
}

static void golden_plans(void **state)
{
	struct player player = {.holders = {0}};
	struct line line;
	char input[TEXT_BYTES], text[TEXT_BYTES];
	int number = 0, nfailed = 0, nplayed = 0;
	FILE *file = open_golden();

	(void)state;
	while (fgets(input, sizeof(input), file)) {
		number++;
		input[strcspn(input, "#")] = 0;
		if (!parse(&line, input))
			continue;
		if (strcmp(line.expected, "new") == 0) {
			memset(&player, 0, sizeof(player));
			continue;
		}
		nplayed++;
		play_line(&player, &line, text);
		if (strcmp(text, line.expected) == 0)
			continue;
		print_error("tests/golden/plan.txt:%d: plan is \"%s\", expected \"%s\"\n",
			    number, text, line.expected);
		nfailed++;
	}
	fclose(file);
	assert_int_equal(nfailed, 0);
	assert_true(nplayed > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
