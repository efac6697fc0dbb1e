/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * bare.c - what plat.h says of a machine with no operating system beneath it, no other
 * processes and no drivers of devices: a backend that plays its machine links this.
 */
#include <errno.h>

#include "plat/places.h"
#include "plat/plat.h"

void plat_yield(struct plat *plat)
{
	(void)plat;
}

enum plat_sight plat_sees(struct plat *plat, int rank)
{
	(void)plat;
	(void)rank;
	return PLAT_IS_FAR;
}

double plat_is_cut_s(struct plat *plat, int rank)
{
	(void)plat;
	(void)rank;
	return 0;
}

int plat_is_stopped(struct plat *plat, int rank)
{
	(void)plat;
	(void)rank;
	return 0;
}

int plat_has_ended(struct plat *plat, int rank)
{
	(void)plat;
	(void)rank;
	return 0;
}

enum plat_mpi_call plat_in_mpi(struct plat *plat, double *for_s)
{
	(void)plat;
	*for_s = 0;
	return PLAT_NO_CALL;
}

/* Nothing else runs on its cores. */
int plat_kept_s(struct plat *plat, const struct worker *of, double *ran_s, double *kept_s)
{
	(void)plat;
	(void)of;
	(void)ran_s;
	(void)kept_s;
	return -ENODEV;
}

int plat_bind_worker(struct worker *worker, int core)
{
	(void)worker;
	(void)core;
	return -1;
}

int plat_pin(struct plat *plat, void *ptr, size_t bytes)
{
	(void)plat;
	(void)ptr;
	(void)bytes;
	return 0;
}

int plat_unpin(struct plat *plat, void *ptr)
{
	(void)plat;
	(void)ptr;
	return 0;
}

void plat_library_open(struct plat *plat, enum plat_library library)
{
	(void)plat;
	(void)library;
}

void plat_library_close(struct plat *plat, enum plat_library library)
{
	(void)plat;
	(void)library;
}

void plat_cublas_stream(struct plat *plat)
{
	(void)plat;
}
