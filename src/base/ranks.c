/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/ranks.h"

#include <stdio.h>

/* What the longest end of the text takes, and one range. */
enum { END_BYTES = 48, RANGE_BYTES = 32 };

struct naming {
	char *text;
	size_t bytes, used;
	int nshown, is_full;
};

/* Two in a row are listed, more are a range. */
static void add_range(struct naming *naming, int first, int last)
{
	char range[RANGE_BYTES];
	int n = snprintf(range, sizeof(range),
			 last == first       ? "%s%d"
			 : last == first + 1 ? "%s%d, %d"
					     : "%s%d to %d",
			 naming->nshown > 0 ? ", " : "", first, last);

	naming->is_full |= naming->used + (size_t)n + END_BYTES > naming->bytes;
	if (naming->is_full)
		return;
	naming->used += (size_t)snprintf(naming->text + naming->used,
					 naming->bytes - naming->used, "%s", range);
	naming->nshown += last - first + 1;
}

int ranks_name(char *text, size_t bytes, int nranks,
	       int (*is_in)(const void *arg, int rank), const void *arg)
{
	struct naming naming = {.text = text, .bytes = bytes};
	int n = 0;

	*text = '\0';
	for (int rank = 0; rank < nranks; rank++)
		n += is_in(arg, rank) != 0;
	if (n == 0)
		return 0;
	naming.used = (size_t)snprintf(text, bytes, n == 1 ? "rank " : "ranks ");
	for (int rank = 0; rank < nranks; rank++) {
		int first = rank;

		if (!is_in(arg, rank))
			continue;
		while (rank + 1 < nranks && is_in(arg, rank + 1))
			rank++;
		add_range(&naming, first, rank);
	}
	if (naming.nshown < n)
		naming.used += (size_t)snprintf(text + naming.used, bytes - naming.used,
						" and %d more", n - naming.nshown);
	snprintf(text + naming.used, bytes - naming.used, " (of %d)", nranks);
	return n;
}
