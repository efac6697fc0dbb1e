/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Damaged model files: whatever a file holds, reading it ends, with a model or with an
 * error, and what was accepted can be written and is accepted again.
 *
 * usage: test_model_mutations [FIRST COUNT]
 */
#define _GNU_SOURCE /* memfd_create() */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/model/model_file.h"
#include "core/model/model_fit.h"

enum { ROOM = 1 << 20, SECONDS = 20 };

static uint64_t chance;

static size_t draw(size_t n)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(((chance >> 33) ^ (chance >> 47)) % n);
}

/* ---- a sound file to begin with -------------------------------------- */

static void fill(struct model_data *data)
{
	struct starpu_perfmodel_device devices[2] = {
		{.type = STARPU_CPU_WORKER, .devid = 0, .ncores = 1},
		{.type = STARPU_CUDA_WORKER, .devid = 1, .ncores = 1}};

	for (unsigned i = 0; i < 4; i++) {
		struct starpu_perfmodel_arch arch = {.ndevices = 1,
						     .devices = &devices[i % 2]};
		struct model_arch *known = model_data_add(data, &arch, i / 2);
		struct starpu_perfmodel_regression_model *fit = &known->known.regression;

		fit->ncoeff = i;
		fit->coeff = i ? calloc(i, sizeof(double)) : NULL;
		for (uint32_t k = 0; k < 5; k++) {
			struct starpu_perfmodel_history_entry *entry =
				model_arch_entry(known, 77 * k + i, 1);

			entry->size = 1000 * (k + 1);
			entry->mean = 12.5 * (k + 1);
			entry->nsample = 10;
			entry->sum = entry->mean * 10;
			entry->sum2 = entry->sum * entry->mean;
			if (k % 2)
				model_entry_of(entry)->all =
					(struct model_all){12, 1.5 * entry->sum, 1e6};
		}
	}
}

/* ---- damage ---------------------------------------------------------- */

static const char *const words[] = {"nan",
				    "-nan",
				    "inf",
				    "-inf",
				    "-1",
				    "0",
				    "1",
				    "2",
				    "99999999999",
				    "18446744073709551615",
				    "18446744073709551616",
				    "-9223372036854775808",
				    "4294967296",
				    "1e308",
				    "1e-320",
				    "0x7f",
				    "abc",
				    "",
				    "#",
				    "44",
				    "45",
				    "46",
				    "1048576",
				    "1048577",
				    "\n",
				    "\r\n",
				    "\t",
				    "1000000000",
				    "ffffffff",
				    "100000000",
				    "1 2 3 4 5 6 7 8 9 10"};

struct text {
	char *at;
	size_t n;
};

/* Put length bytes in the place of those from begin to end. */
static void replace(struct text *text, size_t begin, size_t end, const char *with,
		    size_t length)
{
	if (text->n + length >= ROOM)
		return;
	memmove(text->at + begin + length, text->at + end, text->n - end);
	memcpy(text->at + begin, with, length);
	text->n = text->n - (end - begin) + length;
}

static int is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void replace_word(struct text *text, size_t at)
{
	const char *word = words[draw(sizeof(words) / sizeof(words[0]))];
	size_t end;

	while (at < text->n && is_space(text->at[at]))
		at++;
	while (at > 0 && !is_space(text->at[at - 1]))
		at--;
	for (end = at; end < text->n && !is_space(text->at[end]);)
		end++;
	replace(text, at, end, word, strlen(word));
}

static void change_line(struct text *text, size_t at, int twice)
{
	char line[4096];
	size_t end;

	while (at > 0 && text->at[at - 1] != '\n')
		at--;
	for (end = at; end < text->n && text->at[end] != '\n';)
		end++;
	if (end < text->n)
		end++;
	if (end - at > sizeof(line))
		return;
	memcpy(line, text->at + at, end - at);
	replace(text, at, twice ? at : end, line, twice ? end - at : 0);
}

static void damage(struct text *text)
{
	for (size_t left = 1 + draw(6); left > 0 && text->n > 2; left--) {
		size_t at = draw(text->n);

		switch (draw(8)) {
		case 0:
			text->at[at] = (char)draw(256);
			break;
		case 1:
			text->n = at;
			break;
		case 2:
			change_line(text, at, 0);
			break;
		case 3:
			change_line(text, at, 1);
			break;
		case 4:
			text->at[at] = '\0';
			break;
		default:
			replace_word(text, at);
			break;
		}
	}
}

/* ---- one file -------------------------------------------------------- */

/* What asks of a model does not choke on what was read. */
static void ask(const struct model_data *data)
{
	for (size_t i = 0; i < data->ncombinations; i++) {
		struct model_combination *combination = data->combinations[i];

		if (model_data_find(data, &combination->arch) == NULL)
			abort();
		for (unsigned k = 0; k < STARPU_MAXIMPLEMENTATIONS; k++)
			if (combination->implementations[k])
				(void)model_arch_entry(combination->implementations[k],
						       77, 0);
	}
	(void)model_data_type(data);
}

static int put(int fd, const struct text *text)
{
	return ftruncate(fd, 0) == 0 &&
	       pwrite(fd, text->at, text->n, 0) == (ssize_t)text->n;
}

/* 1 when the file was accepted, 0 when not, -1 when something is wrong. */
static int try_file(const char *path, int fd, const struct text *text, const char *copy)
{
	struct model_data data = {0}, again = {0};
	int ok = 0;

	if (!put(fd, text))
		return -1;
	alarm(SECONDS);
	if (model_data_read(&data, path, -1) == 0) {
		ask(&data);
		ok = 1;
		if (model_data_write(&data, copy, -1) ||
		    model_data_read(&again, copy, -1) ||
		    again.ncombinations != data.ncombinations)
			ok = -1;
	}
	alarm(0);
	model_data_clear(&data);
	model_data_clear(&again);
	return ok;
}

static size_t sound_file(const char *path, char *bytes)
{
	struct model_data data = {0};
	FILE *file;
	size_t n;

	fill(&data);
	if (model_data_write(&data, path, -1))
		return 0;
	model_data_clear(&data);
	file = fopen(path, "r");
	n = fread(bytes, 1, ROOM / 2, file);
	fclose(file);
	return n;
}

int main(int argc, char **argv)
{
	char dir[] = "/dev/shm/orrery-mutations-XXXXXX", copy[64], path[64];
	long first = argc > 1 ? atol(argv[1]) : 1,
	     count = argc > 2 ? atol(argv[2]) : 5000;
	char *sound = malloc(ROOM), *bytes = malloc(ROOM);
	long naccepted = 0, nwrong = 0;
	int fd = memfd_create("model", 0);
	size_t n;

	if (!mkdtemp(dir) || fd < 0)
		return 77;
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = sound_file(copy, sound);
	if (!freopen("/dev/null", "w", stderr))
		return 77;
	for (long i = first; i < first + count; i++) {
		struct text text = {bytes, n};
		int ok;

		chance = (uint64_t)i * 0x9e3779b97f4a7c15u + 1;
		memcpy(bytes, sound, n);
		damage(&text);
		ok = try_file(path, fd, &text, copy);
		naccepted += ok > 0;
		nwrong += ok < 0;
		if (ok < 0)
			printf("file %ld is accepted, but not after it was written\n", i);
	}
	unlink(copy);
	rmdir(dir);
	printf("%s %ld damaged model files are read or refused (%ld read)\n",
	       nwrong || !n ? "FAIL" : "PASS", count, naccepted);
	free(sound);
	free(bytes);
	return nwrong || !n;
}
