/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "plat/net.h"

/*
 * What an MPI datatype describes, read back from MPI: so that such values travel on any
 * transport, in place where strides can say it, and no thread needs MPI to pack them.
 */

/* What MPI was told about a type. */
struct contents {
	int combiner;
	int nints, naddresses, ntypes;
	int *ints;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

static int is_named(MPI_Datatype type)
{
	int nints, naddresses, ntypes, combiner = MPI_COMBINER_NAMED;

	MPI_Type_get_envelope(type, &nints, &naddresses, &ntypes, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

/* 1: contents_free() is due. */
static int contents_get(struct contents *contents, MPI_Datatype type)
{
	memset(contents, 0, sizeof(*contents));
	if (MPI_Type_get_envelope(type, &contents->nints, &contents->naddresses,
				  &contents->ntypes, &contents->combiner) != MPI_SUCCESS)
		return 0;
	if (contents->combiner == MPI_COMBINER_NAMED)
		return 1;
	contents->ints = calloc((size_t)contents->nints + 1, sizeof(int));
	contents->addresses = calloc((size_t)contents->naddresses + 1, sizeof(MPI_Aint));
	contents->types = calloc((size_t)contents->ntypes + 1, sizeof(MPI_Datatype));
	if (contents->ints && contents->addresses && contents->types &&
	    MPI_Type_get_contents(type, contents->nints, contents->naddresses,
				  contents->ntypes, contents->ints, contents->addresses,
				  contents->types) == MPI_SUCCESS)
		return 1;
	free(contents->ints);
	free(contents->addresses);
	free(contents->types);
	return 0;
}

static void contents_free(struct contents *contents)
{
	for (int i = 0; contents->types && i < contents->ntypes; i++)
		if (!is_named(contents->types[i]))
			MPI_Type_free(&contents->types[i]);
	free(contents->ints);
	free(contents->addresses);
	free(contents->types);
}

static struct place *place_of(MPI_Datatype type);

/* A pair with a hole is left to the application. */
static struct place *place_of_named(MPI_Datatype type)
{
	MPI_Aint least, extent;
	int bytes;

	MPI_Type_size(type, &bytes);
	MPI_Type_get_extent(type, &least, &extent);
	return least == 0 && extent == bytes ? place_block((size_t)bytes) : NULL;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint least, extent;

	MPI_Type_get_extent(type, &least, &extent);
	return extent;
}

static struct place *repeat(struct place *inner, int count, MPI_Aint stride)
{
	return inner ? place_repeat(inner, (size_t)count, stride) : NULL;
}

/* ints: how many blocks, of how many elements. */
static struct place *place_of_vector(const struct contents *contents, MPI_Aint stride)
{
	MPI_Datatype inner = contents->types[0];
	struct place *block =
		repeat(place_of(inner), contents->ints[1], extent_of(inner));

	return repeat(block, contents->ints[0], stride);
}

/* Block i of those that a list describes: ints[0] is how many there are. */
struct block {
	int length;
	MPI_Aint at;
	MPI_Datatype type;
};

/* SMPI calls a struct by the name of an indexed type, so what is there counts. */
static struct block block_of(const struct contents *contents, int i)
{
	const int *ints = contents->ints;
	struct block block;
	int n = ints[0];
	int are_alike = contents->combiner == MPI_COMBINER_INDEXED_BLOCK ||
			contents->combiner == MPI_COMBINER_HINDEXED_BLOCK;

	block.type = contents->types[contents->ntypes == n ? i : 0];
	block.length = are_alike ? ints[1] : ints[1 + i];
	if (contents->naddresses == n)
		block.at = contents->addresses[i];
	else
		block.at = ints[are_alike ? 2 + i : 1 + n + i] * extent_of(block.type);
	return block;
}

static struct place *place_of_blocks(const struct contents *contents)
{
	int n = contents->ints[0];
	struct place *place = place_members((size_t)n);

	for (int i = 0; i < n; i++) {
		struct block block = block_of(contents, i);
		struct place *member =
			repeat(place_of(block.type), block.length, extent_of(block.type));

		if (!member) {
			place_free(place);
			return NULL;
		}
		place_set(place, (size_t)i, block.at, member);
	}
	return place;
}

/* ints: how many dimensions, their sizes, those of the part, where it starts, order. */
static struct place *place_of_subarray(const struct contents *contents)
{
	int n = contents->ints[0];
	const int *sizes = contents->ints + 1, *parts = sizes + n, *starts = parts + n;
	int first_is_inner = contents->ints[1 + 3 * n] == MPI_ORDER_FORTRAN;
	MPI_Aint stride = extent_of(contents->types[0]), offset = 0;
	struct place *part = place_of(contents->types[0]), *place;

	for (int i = 0; part && i < n; i++) {
		int dim = first_is_inner ? i : n - 1 - i;

		part = repeat(part, parts[dim], stride);
		offset += starts[dim] * stride;
		stride *= sizes[dim];
	}
	if (!part)
		return NULL;
	place = place_members(1);
	place_set(place, 0, offset, part);
	return place;
}

static struct place *place_of_contents(const struct contents *contents, MPI_Datatype type)
{
	switch (contents->combiner) {
	case MPI_COMBINER_NAMED:
		return place_of_named(type);
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return place_of(contents->types[0]);
	case MPI_COMBINER_CONTIGUOUS:
		return repeat(place_of(contents->types[0]), contents->ints[0],
			      extent_of(contents->types[0]));
	case MPI_COMBINER_VECTOR:
		return place_of_vector(contents,
				       contents->ints[2] * extent_of(contents->types[0]));
	case MPI_COMBINER_HVECTOR:
		return place_of_vector(contents, contents->addresses[0]);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_STRUCT:
		return place_of_blocks(contents);
	case MPI_COMBINER_SUBARRAY:
		return place_of_subarray(contents);
	default: /* Distributed arrays, and those of Fortran's kinds. */
		return NULL;
	}
}

static struct place *place_of(MPI_Datatype type)
{
	struct contents contents;
	struct place *place;

	if (!contents_get(&contents, type))
		return NULL;
	place = place_of_contents(&contents, type);
	contents_free(&contents);
	return place;
}

struct place *types_mpi_place(const struct net_type *type)
{
	MPI_Datatype mpi;

	memcpy(&mpi, &type->mpi, sizeof(mpi));
	return place_of(mpi);
}
