/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

/*
 * fuzz.c - runs random programs and compares what they compute with the oracle.
 *
 * usage: fuzz [--mpi] [--ranks N] [--slaves N] [--print] [--keep LIST]
 *             [--with NAME,...] [--without NAME,...] [--set NAME=VALUE,...]
 *             [--timeout SECONDS] FIRST COUNT
 *
 * --ranks says how many play on the fake, where seeds draw 2 to 5 else.
 * What is set goes before the settings that programs have drawn.
 * Prints "seed N" before each and a BAD line for each difference; status 1 if any.
 */
struct options {
	int distributed; /* more than 1: so many ranks */
	int slaves, prints, timeout_s;
	const char *keep, *settings;
	uint64_t features;
	uint64_t first;
	long count;
};

static uint64_t features_of(const char *list)
{
	char text[512], *rest = text, *name;
	uint64_t features = 0;

	snprintf(text, sizeof(text), "%s", list);
	while ((name = strsep(&rest, ",")))
		if (*name) {
			uint64_t bit = feature_named(name);

			if (!bit) {
				fprintf(stderr, "fuzz: there is no feature %s\n", name);
				exit(2);
			}
			features |= bit;
		}
	return features;
}

static int usage(void)
{
	fprintf(stderr, "usage: fuzz [--mpi] [--ranks N] [--slaves N] [--print] "
			"[--keep LIST] [--with NAME,...] [--without NAME,...] "
			"[--set NAME=VALUE,...] [--timeout SECONDS] FIRST COUNT\n");
	return 2;
}

static int read_options(int argc, char **argv, struct options *options)
{
	int i = 1;

	*options = (struct options){.features = features_preset(), .timeout_s = 60};
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--mpi"))
			options->distributed |= 1;
		else if (!strcmp(argv[i], "--ranks"))
			options->distributed = atoi(value), i++;
		else if (!strcmp(argv[i], "--slaves"))
			options->slaves = atoi(value), i++;
		else if (!strcmp(argv[i], "--print"))
			options->prints = 1;
		else if (!strcmp(argv[i], "--keep"))
			options->keep = value, i++;
		else if (!strcmp(argv[i], "--without"))
			options->features &= ~features_of(value), i++;
		else if (!strcmp(argv[i], "--with"))
			options->features |= features_of(value), i++;
		else if (!strcmp(argv[i], "--set"))
			options->settings = value, i++;
		else if (!strcmp(argv[i], "--timeout"))
			options->timeout_s = atoi(value), i++;
		else
			return usage();
	}
	if (argc - i != 2)
		return usage();
	options->first = strtoull(argv[i], NULL, 10);
	options->count = strtol(argv[i + 1], NULL, 10);
	return 0;
}

static void too_late(int signal_number)
{
	static const char text[] = "BAD: it hangs\n";

	(void)signal_number;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(4);
	_exit(3);
}

struct game {
	const struct options *options;
	uint64_t seed;
};

static struct program *make(const struct game *game, int rank)
{
	const struct options *options = game->options;
	struct request request = {.seed = game->seed,
				  .distributed = options->distributed,
				  .nranks = stage_ranks(game->seed, options->distributed),
				  .rank = rank,
				  .slaves = options->slaves,
				  .features = options->features,
				  .keep = options->keep};
	struct program *program = program_make(&request);

	oracle_run(program);
	return program;
}

static int play(void *arg, int rank)
{
	struct program *program = make(arg, rank);
	int nbad = run_program(program);

	program_free(program);
	return nbad;
}

static void set_from(const char *settings)
{
	char text[1024], *rest = text, *setting, *value;

	snprintf(text, sizeof(text), "%s", settings ? settings : "");
	while ((setting = strsep(&rest, ","))) {
		value = strchr(setting, '=');
		if (!value)
			continue;
		*value = '\0';
		setenv(setting, value + 1, 1);
	}
}

static void set_environment(const struct program *program)
{
	for (int i = 0; i < program->nenv; i++) {
		if (*program->env[i][1])
			setenv(program->env[i][0], program->env[i][1], 1);
		else
			unsetenv(program->env[i][0]);
	}
}

/* One life for each process, but on the fake: slaves end with it. */
static void set_slaves(uint64_t seed, int most)
{
	char slaves[16], workers[16];

	snprintf(slaves, sizeof(slaves), "%d", stage_slaves(seed, most));
	snprintf(workers, sizeof(workers), "%d", 1 + (int)(seed / 3 % 3));
	setenv("STARPU_NMPI_MS", slaves, 1);
	setenv("STARPU_NMPIMSTHREADS", workers, 1);
	setenv("ORRERY_MPI_EAGER", seed % 4 ? "16384" : seed % 8 ? "200" : "0", 1);
}

static int run_seed(const struct options *options, uint64_t seed)
{
	struct game game = {options, seed};
	int is_told = stage_is_told(options->distributed), nbad = 0;
	struct program *program = make(&game, 0);

	set_environment(program);
	if (options->slaves)
		set_slaves(seed, options->slaves);
	set_from(options->settings);
	if (options->prints && is_told)
		program_print(program, stdout);
	if (!options->prints) {
		if (is_told)
			printf("seed %llu\n", (unsigned long long)seed);
		fflush(stdout);
		alarm((unsigned)options->timeout_s);
		nbad = options->slaves
			       ? stage_play_slaves(seed, options->slaves, play, &game)
			       : stage_play(seed, options->distributed, play, &game);
		alarm(0);
	}
	program_free(program);
	return nbad;
}

int main(int argc, char **argv)
{
	struct options options;
	int nbad = 0, status = read_options(argc, argv, &options), is_told;

	if (status)
		return status;
	stage_open(options.distributed, &argc, &argv);
	signal(SIGALRM, too_late);
	setenv("STARPU_SILENT", "1", 1);
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	for (long i = 0; i < options.count; i++)
		nbad += run_seed(&options, options.first + (uint64_t)i);
	is_told = stage_is_told(options.distributed);
	if (is_told && !options.prints)
		printf("fuzz: %ld programs from seed %llu, %d bad\n", options.count,
		       (unsigned long long)options.first, nbad);
	stage_close(options.distributed);
	return nbad != 0;
}
