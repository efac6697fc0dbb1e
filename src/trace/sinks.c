/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "trace/sinks.h"

#include <stdlib.h>

#include "base/check.h"

struct sinks *sinks_open(const struct sinks_wish *wish, struct events *events)
{
	struct sinks *sinks = orr_alloc(sizeof(*sinks));

	orr_lock_init(&sinks->lock);
	if (*wish->utilisation) {
		sinks->row =
			utilisation_open(wish->shared, wish->utilisation, wish->title);
		events_add_sink(events, utilisation_sink(sinks->row));
	}
	if (*wish->records.directory) {
		sinks->records = records_open(&wish->records);
		events_add_sink(events, records_sink(sinks->records));
	}
	return sinks;
}

void sinks_close(struct sinks *sinks)
{
	if (!sinks)
		return;
	if (sinks->row)
		utilisation_close(sinks->row);
	if (sinks->records)
		records_close(sinks->records);
	profile_free(sinks->profile);
	free(sinks->links);
	free(sinks);
}
