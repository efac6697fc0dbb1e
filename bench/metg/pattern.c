/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const patterns[] = {"trivial", "stencil", "fft", "random", "all"};

static int is_pattern(const char *word)
{
	for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (!strcmp(word, patterns[i]))
			return 1;
	return 0;
}

static int is_possible(const struct metg *m)
{
	int is_all = !strcmp(m->pattern, "all");
	int needs_power = !strcmp(m->pattern, "fft");

	return is_pattern(m->pattern) && m->inputs >= 1 && m->inputs <= 4 &&
	       m->width >= m->size && (!is_all || m->width <= MAX_INPUTS) &&
	       (!needs_power || !(m->width & (m->width - 1))) && m->steps >= 1 &&
	       m->repeats >= 1 && m->to_us > 0 && m->from_us >= m->to_us && m->factor > 1;
}

static int read_word(struct metg *m, const char *name, const char *word)
{
	struct {
		const char *name;
		int *whole;
		double *number;
	} all[] = {
		{"--inputs", &m->inputs, NULL},   {"--width", &m->width, NULL},
		{"--steps", &m->steps, NULL},     {"--repeats", &m->repeats, NULL},
		{"--from-us", NULL, &m->from_us}, {"--to-us", NULL, &m->to_us},
		{"--factor", NULL, &m->factor},
	};

	if (!strcmp(name, "--pattern")) {
		m->pattern = word;
		return 0;
	}
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		char *end;
		double value = strtod(word, &end);

		if (strcmp(name, all[i].name) || end == word || *end)
			continue;
		if (all[i].whole)
			*all[i].whole = (int)value;
		else
			*all[i].number = value;
		return 0;
	}
	return -1;
}

int metg_read(struct metg *m, int argc, char **argv)
{
	m->pattern = "stencil";
	m->inputs = 3;
	m->width = 4 * m->size;
	m->steps = 50;
	m->repeats = 1;
	m->from_us = 64;
	m->to_us = 8;
	m->factor = 2;
	for (int i = 1; i < argc; i += 2)
		if (i + 1 >= argc || read_word(m, argv[i], argv[i + 1])) {
			if (!m->rank)
				fprintf(stderr,
					"%s: %s is no option with its value; there are "
					"--pattern, --inputs, --width, --steps, "
					"--repeats, --from-us, --to-us, --factor\n",
					argv[0], argv[i]);
			return -1;
		}
	if (is_possible(m))
		return 0;
	if (!m->rank)
		fprintf(stderr,
			"%s: expected a pattern (trivial, stencil, fft, random, all), "
			"1 to 4 inputs, at least %d columns, for fft a power of two, for "
			"all at most %d, and times of which the first is the longest\n",
			argv[0], m->size, MAX_INPUTS);
	return -1;
}

static unsigned long hash(unsigned long x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15UL;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9UL;
	return x ^ (x >> 32);
}

static int one_input(const struct metg *m, int step, int column, int k)
{
	int w = m->width, stage = 0;

	if (*m->pattern == 's') /* itself, then by turns to the left and right */
		return (column + w + (k % 2 ? (k + 1) / 2 : -k / 2)) % w;
	if (*m->pattern == 'r')
		return (int)(hash(((unsigned long)step * w + column) * 4 + k) %
			     (unsigned)w);
	while (2 << stage <= w)
		stage++;
	if (stage > 0 && k & 1)
		column ^= 1 << step % stage;
	if (stage > 0 && k & 2)
		column ^= 1 << (step + 1) % stage;
	return column;
}

static int is_new(const int *inputs, int n, int column)
{
	for (int i = 0; i < n; i++)
		if (inputs[i] == column)
			return 0;
	return 1;
}

int metg_inputs(const struct metg *m, int step, int column, int inputs[MAX_INPUTS])
{
	int n = 0;

	if (*m->pattern == 't' || step == 0)
		return 0;
	if (*m->pattern == 'a') {
		for (n = 0; n < m->width; n++)
			inputs[n] = n;
		return n;
	}
	for (int k = 0; k < m->inputs; k++) {
		int input = one_input(m, step, column, k);

		if (is_new(inputs, n, input))
			inputs[n++] = input;
	}
	return n;
}

int metg_owner(const struct metg *m, int column)
{
	return (int)((long)column * m->size / m->width);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

void metg_spin(double us)
{
	double end_us = now_us() + us;

	while (now_us() < end_us)
		;
}
