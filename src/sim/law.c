/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xbt/config.h>

#include "base/decimal.h"
#include "wire.h"

static int parse_piece(struct wire_piece *piece, const char **text)
{
	const char *at = *text;
	char *end;

	*piece = (struct wire_piece){0};
	piece->above_bytes = decimal_read(at, &end);
	if (end == at || *end != ':')
		return -EINVAL;
	for (int i = 0; *end == ':'; i++) {
		double value;

		at = end + 1;
		value = decimal_read(at, &end);
		if (end == at)
			return -EINVAL;
		if (i < 2)
			piece->value[i] = value;
	}
	if (*end && *end != ';')
		return -EINVAL;
	*text = *end ? end + 1 : end;
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct wire_piece *pa = a, *pb = b;

	return (pa->above_bytes > pb->above_bytes) - (pa->above_bytes < pb->above_bytes);
}

int pieces_parse(struct wire_pieces *pieces, const char *text)
{
	pieces->n = 0;
	while (*text) {
		if (pieces->n == WIRE_MAX_PIECES ||
		    parse_piece(&pieces->piece[pieces->n], &text) < 0)
			return -EINVAL;
		pieces->n++;
	}
	qsort(pieces->piece, (size_t)pieces->n, sizeof(pieces->piece[0]), compare_pieces);
	return 0;
}

double pieces_at(const struct wire_pieces *pieces, double bytes, double absent)
{
	const struct wire_piece *piece = NULL;

	for (int i = 0; i < pieces->n && bytes > pieces->piece[i].above_bytes; i++)
		piece = &pieces->piece[i];
	return piece ? piece->value[0] + piece->value[1] * bytes : absent;
}

void law_read_pieces(struct wire_pieces *pieces, const char *name, const char *given)
{
	char option[2048];
	const char *text = given;

	pieces->n = 0;
	if (!text && kernel_config(name, option, sizeof(option)) == 0)
		text = option;
	if (text && pieces_parse(pieces, text) < 0)
		orr_die(ORR_NO_RANK,
			"SimGrid's %s is \"%s\": expected up to %d of size:factor, with "
			"; between, as \"0:0.8;65536:0.95\"; correct it in the <config> "
			"of the platform or on the command line",
			name, text, WIRE_MAX_PIECES);
}

/* Of a piece SimGrid takes the first value: factors have no slope, as costs have. */
static void read_factor(struct wire_pieces *pieces, const char *name)
{
	law_read_pieces(pieces, name, NULL);
	for (int i = 0; i < pieces->n; i++)
		pieces->piece[i].value[1] = 0;
}

static void set_factor(struct wire_pieces *pieces, double factor)
{
	pieces->n = 1;
	pieces->piece[0] = (struct wire_piece){.value = {factor, 0}};
}

void law_read(struct wire_law *law)
{
	char model[64] = "";

	kernel_config("network/model", model, sizeof(model));
	if (strcmp(model, "SMPI") == 0 || strcmp(model, "IB") == 0) {
		read_factor(&law->bandwidth_factor, "smpi/bw-factor");
		read_factor(&law->latency_factor, "smpi/lat-factor");
	} else {
		set_factor(&law->bandwidth_factor,
			   sg_cfg_get_double("network/bandwidth-factor"));
		set_factor(&law->latency_factor,
			   sg_cfg_get_double("network/latency-factor"));
	}
	law->tcp_gamma = sg_cfg_get_double("network/TCP-gamma");
	law->weight_s = sg_cfg_get_double("network/weight-S");
	law->crosstraffic = sg_cfg_get_boolean("network/crosstraffic");
}
