/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_DATA_PRINT_H
#define ORR_API_DATA_PRINT_H

/*
 * data_print.h - what is in the memories of a node, and which data, as text.
 */
#include <stdio.h>

struct node;

/* Data that were never used are not among them. */
void data_print_all(struct node *node, FILE *stream);

#endif
