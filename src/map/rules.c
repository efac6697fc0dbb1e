/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/rules.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 1000000 };

#define LETTERS "n, b, s, N, L3, L2, L1, c, h, or g and i for GPUs and network interfaces"

/*
 * The simple forms.  The letters in the second column always loop; the further ones of
 * the third do when the binding or a limit names them.
 */
static const struct {
	enum map_level by;
	const char *always, *full;
} forms[] = {
	{LEVEL_CORE, "csbnh", "csL1L2L3Nbnh"},
	{LEVEL_SOCKET, "sbnch", "sL1L2L3Nbnch"},
	{LEVEL_NUMA, "Nbnsch", "NbnsL3L2L1ch"},
	{LEVEL_NODE, "nbsch", "nbsNL3L2L1ch"},
	{LEVEL_BOARD, "bnsch", "bnsNL3L2L1ch"},
	{LEVEL_THREAD, "hcsbn", "hcL1L2L3Nsbn"},
	{LEVEL_L3, "L3sNbnL2L1ch", "L3sNbnL2L1ch"},
	{LEVEL_L2, "L2sNbnL1ch", "L2L3sNbnL1ch"},
	{LEVEL_L1, "L1sNbnch", "L1L2L3sNbnch"},
	{LEVEL_GPU, "gnch", "gnsNL3L2L1ch"},
	{LEVEL_NIC, "inch", "insNL3L2L1ch"},
};

static int read_loops(struct map_rules *rules, const char *text, struct map_says *says)
{
	const char *at = text;
	int seen[NLEVELS] = {0};

	while (*at) {
		int position = (int)(at - text) + 1;
		const char *letter = at;
		enum map_level level = level_parse(&at);

		if (level == NLEVELS && *letter == 'L')
			return map_refuse(says,
					  "map \"%s\": letter L at position %d lacks its "
					  "digit; expected L1, L2 or L3",
					  text, position);
		if (level == NLEVELS)
			return map_refuse(says,
					  "map \"%s\": unknown letter '%c' at position "
					  "%d; expected " LETTERS,
					  text, *letter, position);
		if (seen[level])
			return map_refuse(
				says,
				"map \"%s\": letter %s stands at position %d and "
				"again at position %d; give each letter once",
				text, level_letter(level), seen[level], position);
		seen[level] = position;
		rules->loops[rules->nloops++] = level;
	}
	return 0;
}

static int has_loop(const struct map_rules *rules, enum map_level level)
{
	for (int i = 0; i < rules->nloops; i++)
		if (rules->loops[i] == level)
			return 1;
	return 0;
}

static int is_named(const struct map_rules *rules, enum map_level level)
{
	return rules->bind == level || rules->limits[level] > 0;
}

static int holds_level(const char *letters, enum map_level level)
{
	while (*letters)
		if (level_parse(&letters) == level)
			return 1;
	return 0;
}

static int read_form(struct map_rules *rules, const char *word, struct map_says *says)
{
	enum map_level by = strcmp(word, "slot") == 0 ? LEVEL_CORE : level_of_word(word);

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *at = forms[i].full;

		if (forms[i].by != by)
			continue;
		while (*at) {
			enum map_level level = level_parse(&at);

			if (holds_level(forms[i].always, level) || is_named(rules, level))
				rules->loops[rules->nloops++] = level;
		}
		if (!has_loop(rules, rules->bind))
			rules->loops[rules->nloops++] = rules->bind;
		rules->by = by;
		rules->mapped_to = strcmp(word, "slot") == 0 ? LEVEL_NODE : by;
		return 0;
	}
	return map_refuse(says, "--map-by is \"%s\"; expected one of %s", word,
			  level_words());
}

/* A number of decimal digits; 0: there is none, or it is too large. */
static int read_count(const char **at)
{
	char *end;
	long value;

	if (**at < '0' || **at > '9')
		return 0;
	value = strtol(*at, &end, 10);
	*at = end;
	return value > 0 && value <= MAX_NUMBER ? (int)value : 0;
}

static int read_bind(struct map_rules *rules, const char *text, struct map_says *says)
{
	const char *at = text;

	rules->nbind = read_count(&at);
	if (!rules->nbind)
		return map_refuse(says,
				  "bind \"%s\": no number at position 1; expected a "
				  "number from 1 to %d and a letter, such as 2c",
				  text, MAX_NUMBER);
	rules->bind = level_parse(&at);
	if (rules->bind == NLEVELS)
		return map_refuse(
			says, "bind \"%s\": no letter at position %d; expected " LETTERS,
			text, (int)(at - text) + 1);
	if (*at)
		return map_refuse(says,
				  "bind \"%s\": \"%s\" at position %d is too much; "
				  "expected one number and one letter, such as 2c",
				  text, at, (int)(at - text) + 1);
	return 0;
}

static int read_bind_to(struct map_rules *rules, const char *word, struct map_says *says)
{
	rules->nbind = 1;
	rules->bind = strcmp(word, "slot") == 0   ? LEVEL_CORE
		      : strcmp(word, "none") == 0 ? LEVEL_NODE
						  : level_of_word(word);
	if (rules->bind == NLEVELS)
		return map_refuse(says, "--bind-to is \"%s\"; expected none or one of %s",
				  word, level_words());
	return 0;
}

static int read_limits(struct map_rules *rules, const char *text, struct map_says *says)
{
	const char *at = text;

	for (;;) {
		int count = read_count(&at), position = (int)(at - text) + 1;
		enum map_level level;

		if (!count || *at != ':')
			return map_refuse(says,
					  "mppr \"%s\": expected a number and a colon at "
					  "position %d, such as 1:c or 1:s,2:n",
					  text, position);
		at++;
		level = level_parse(&at);
		if (level == NLEVELS || (*at && *at != ','))
			return map_refuse(
				says, "mppr \"%s\": expected " LETTERS " at position %d",
				text, position + 1);
		if (rules->limits[level])
			return map_refuse(says,
					  "mppr \"%s\": letter %s is limited twice, "
					  "again at position %d; give each letter once",
					  text, level_letter(level), position + 1);
		rules->limits[level] = count;
		if (!*at)
			return 0;
		at++;
	}
}

static int read_order(struct map_rules *rules, const struct map_texts *texts,
		      struct map_says *says)
{
	const char *order = texts->order, *by = texts->rank_by;

	if (order && by)
		return map_refuse(says,
				  "order and --rank-by exclude each other; give one");
	if (order && strcmp(order, "s") == 0)
		rules->order = ORDER_SEQUENTIAL;
	else if (order && strcmp(order, "n") != 0)
		return map_refuse(
			says, "order is \"%s\"; expected n (natural) or s (sequential)",
			order);
	if (!by)
		return 0;
	rules->order = strcmp(by, "slot") == 0 ? ORDER_SLOT : ORDER_BY;
	rules->rank_by = level_of_word(by);
	if (rules->order == ORDER_BY && rules->rank_by == NLEVELS)
		return map_refuse(says, "--rank-by is \"%s\"; expected one of %s", by,
				  level_words());
	return 0;
}

static int check_complete(const struct map_rules *rules, const char *text,
			  struct map_says *says)
{
	const enum map_level needed[] = {LEVEL_NODE, LEVEL_THREAD, rules->bind};

	for (int i = 0; i < 3; i++)
		if (!has_loop(rules, needed[i]))
			return map_refuse(says,
					  "map \"%s\" lacks the letter %s (%s) at "
					  "position %d, its end; expected n, h and the "
					  "letter of the binding",
					  text, level_letter(needed[i]),
					  level_name(needed[i]), (int)strlen(text) + 1);
	return 0;
}

int rules_read(struct map_rules *rules, const struct map_texts *texts,
	       struct map_says *says)
{
	int ret;

	*rules = (struct map_rules){.bind = LEVEL_NODE, .nbind = 1, .by = NLEVELS};
	rules->rank_by = NLEVELS;
	rules->mapped_to = LEVEL_THREAD;
	rules->oversubscribe = texts->oversubscribe;
	if (texts->map && texts->map_by)
		return map_refuse(says, "map and --map-by exclude each other; give one");
	if (texts->bind && texts->bind_to)
		return map_refuse(says,
				  "bind and --bind-to exclude each other; give one");
	ret = texts->bind      ? read_bind(rules, texts->bind, says)
	      : texts->bind_to ? read_bind_to(rules, texts->bind_to, says)
			       : 0;
	if (ret == 0 && texts->limits)
		ret = read_limits(rules, texts->limits, says);
	if (ret == 0)
		ret = read_order(rules, texts, says);
	if (ret < 0)
		return ret;
	if (!texts->map)
		return read_form(rules, texts->map_by ? texts->map_by : "core", says);
	ret = read_loops(rules, texts->map, says);
	return ret < 0 ? ret : check_complete(rules, texts->map, says);
}

void rules_letters(const struct map_rules *rules, char *text)
{
	*text = '\0';
	for (int i = 0; i < rules->nloops; i++)
		strcat(text, level_letter(rules->loops[i]));
}
