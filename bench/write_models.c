/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Makes models of kernels of what bench/calibrate_gpu has measured.
 *
 * usage: write_models KERNELS.csv DESCRIPTION DIR HOST
 *	DESCRIPTION	a text that each model begins with
 *	DIR		where DIR/SYMBOL.HOST are written
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_writer.h"

enum { COLUMNS = 8, MOST_SYMBOLS = 32, TEXT_BYTES = 4096 };

struct models {
	struct writer each[MOST_SYMBOLS];
	char symbols[MOST_SYMBOLS][64];
	int n;
};

static struct writer *model_of(struct models *models, const char *symbol)
{
	int i = 0;

	while (i < models->n && strcmp(models->symbols[i], symbol))
		i++;
	if (i == MOST_SYMBOLS)
		return NULL;
	if (i == models->n) {
		snprintf(models->symbols[i], sizeof(models->symbols[i]), "%s", symbol);
		models->each[models->n++].symbol = models->symbols[i];
	}
	return &models->each[i];
}

/* 0; -1: it is no line of the table. */
static int add_line(struct models *models, const char *line)
{
	struct writer_size size;
	struct writer *model;
	char symbol[64];

	if (sscanf(line, "%63[^,],%d,%d,%zu,%lg,%lg,%lg,%d", symbol, &size.tile,
		   &size.ntiles, &size.elem_bytes, &size.flops, &size.median_us,
		   &size.deviation_us, &size.nsample) != COLUMNS ||
	    !(size.median_us > 0) || size.tile < 1 || size.nsample < 1)
		return -1;
	model = model_of(models, symbol);
	if (!model || model->nsizes == WRITER_MAX_SIZES)
		return -1;
	model->sizes[model->nsizes++] = size;
	return 0;
}

/* Lines without a line feed were not finished. */
static int read_table(struct models *models, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];
	int number = 0;

	if (!f) {
		perror(path);
		return -1;
	}
	while (fgets(line, sizeof line, f) && strchr(line, '\n'))
		if (number++ > 0 && add_line(models, line)) {
			fprintf(stderr,
				"%s:%d: expected symbol, tile, operands, bytes of an "
				"element, flops, median, deviation and runs\n",
				path, number);
			fclose(f);
			return -1;
		}
	fclose(f);
	if (models->n == 0)
		fprintf(stderr, "%s: no kernel was measured\n", path);
	return models->n > 0 ? 0 : -1;
}

static int read_text(char *text, size_t room, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f) {
		perror(path);
		return -1;
	}
	n = fread(text, 1, room - 1, f);
	text[n] = '\0';
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	static struct models models;
	static char comment[TEXT_BYTES];
	int failed = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: %s KERNELS.csv DESCRIPTION DIR HOST\n", argv[0]);
		return 2;
	}
	if (read_table(&models, argv[1]) || read_text(comment, sizeof comment, argv[2]))
		return 1;
	for (int i = 0; i < models.n; i++) {
		struct writer *model = &models.each[i];

		model->dir = argv[3];
		model->host = argv[4];
		model->comment = comment;
		model->arch_type = 1; /* a CUDA device */
		failed |= writer_write(model);
	}
	return failed != 0;
}
