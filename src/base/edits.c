/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/edits.h"

#include <string.h>

static int least_of(int a, int b)
{
	return a < b ? a : b;
}

int edits_between(const char *a, const char *b)
{
	int row[EDITS_LONGEST + 1], length = (int)strlen(b);

	if (length > EDITS_LONGEST)
		return length;
	for (int j = 0; j <= length; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= length; j++) {
			int replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least_of(replaced, least_of(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}
