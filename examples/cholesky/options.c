/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"Tiled Cholesky factorisation A = L L^T of a symmetric positive definite "
	"matrix,\n"
	"distributed over a grid of P x Q nodes in blocks of one tile.\n"
	"\n"
	"  --nb N           tiles in a row of the matrix (default 8)\n"
	"  --tile N         rows of a tile (default 256)\n"
	"  -p N, -q N       grid of nodes (default: nearly square, all nodes)\n"
	"  --double         double precision instead of single\n"
	"  --prune          each node inserts only the tasks that concern it\n"
	"  --check          check the result (default where values are computed)\n"
	"  --no-check       do not\n"
	"  --no-priorities  all tasks are equal\n"
	"  --seed N         of the random matrix (default 1)\n"
	"  --help           this text\n"
	"\n"
	"STARPU_SCHED, STARPU_NCPU and the other variables of the runtime apply.  In a\n"
	"simulation values are computed only with ORRERY_EXECUTE=1.\n";

struct number {
	const char *name;
	int *value;
	int min;
};

/* The number after option name, if argv[*i] is that option: 1; 0: it is not. */
static int read_number(const struct number *number, int argc, char **argv, int *i)
{
	char *end;
	long value;

	if (strcmp(argv[*i], number->name))
		return 0;
	if (*i + 1 >= argc)
		return -1;
	errno = 0;
	value = strtol(argv[++*i], &end, 10);
	if (errno || end == argv[*i] || *end || value < number->min || value > INT_MAX)
		return -1;
	*number->value = value;
	return 1;
}

static int read_switch(struct options *options, const char *word)
{
	if (!strcmp(word, "--double"))
		options->is_double = 1;
	else if (!strcmp(word, "--prune"))
		options->prune = 1;
	else if (!strcmp(word, "--check"))
		options->check = 1;
	else if (!strcmp(word, "--no-check"))
		options->check = 0;
	else if (!strcmp(word, "--no-priorities"))
		options->priorities = 0;
	else
		return 0;
	return 1;
}

/* The most square grid of all nodes that the user's choice leaves. */
static int choose_grid(struct options *options, int size)
{
	if (!options->p && !options->q) {
		options->p = sqrt(size);
		while (size % options->p)
			options->p--;
	}
	if (!options->p)
		options->p = size > options->q ? size / options->q : 1;
	if (!options->q)
		options->q = size > options->p ? size / options->p : 1;
	return (long)options->p * options->q == size ? 0 : -1;
}

int options_read(struct options *options, int argc, char **argv, int size, int say)
{
	const struct number numbers[] = {
		{"--nb", &options->nb, 1},     {"--tile", &options->tile, 1},
		{"-p", &options->p, 1},        {"-q", &options->q, 1},
		{"--seed", &options->seed, 0},
	};

	*options = (struct options){
		.nb = 8, .tile = 256, .check = 1, .priorities = 1, .seed = 1};
	for (int i = 1; i < argc; i++) {
		int known = read_switch(options, argv[i]), at = i;

		if (!strcmp(argv[i], "--help")) {
			if (say)
				fputs(help, stdout);
			return 1;
		}
		for (unsigned k = 0; !known && k < sizeof numbers / sizeof *numbers; k++)
			known = read_number(&numbers[k], argc, argv, &i);
		if (known > 0)
			continue;
		if (say)
			fprintf(stderr, "cholesky: %s %s, see --help\n", argv[at],
				known ? "needs a number" : "is not an option");
		return -1;
	}
	if (choose_grid(options, size)) {
		if (say)
			fprintf(stderr,
				"cholesky: a grid of %d x %d needs %ld nodes, there are "
				"%d: "
				"change -p and -q, or the number of nodes\n",
				options->p, options->q, (long)options->p * options->q,
				size);
		return -1;
	}
	return 0;
}
