/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/interface/interface.h"
#include "mpi/finish.h"
#include "mpi/mpi.h"

/* Messages up to this size have their contents also where values are not simulated. */
enum { PIECE_BYTES = 4096, ASSEMBLY_TAG = 0 };

/* One half of an exchange, of one piece. */
struct half {
	starpu_data_handle_t handle;
	struct request *request;
};

static struct half half_post(struct mpi *mpi, enum request_kind kind, int peer,
			     void *bytes, size_t nbytes, const char *what)
{
	struct post post = {.kind = kind,
			    .comm = comm_inner(&mpi->comms, INNER_WORDS),
			    .peer = peer,
			    .tag = ASSEMBLY_TAG,
			    .is_waited = 1,
			    .what = what};
	struct half half;

	half.handle = interface_register_bytes(mpi->node, bytes, nbytes);
	post.handle = half.handle;
	half.request = engine_post(mpi, &post);
	return half;
}

static int half_end(struct mpi *mpi, struct half *half)
{
	int ret = finish_wait(half->request);

	if (ret == 0)
		data_unregister(mpi->node, half->handle, 1);
	return ret;
}

/* Records go to the rank that is so far before this one, others come from behind. */
struct step {
	size_t distance;
	char *sent, *received;
	size_t nbytes; /* of both */
};

static int take_step(struct mpi *mpi, const struct step *step, const char *what)
{
	size_t n = (size_t)mpi->size, me = (size_t)mpi->rank;
	int to = (int)((me + n - step->distance) % n);
	int from = (int)((me + step->distance) % n), ret = 0;

	for (size_t done = 0; ret == 0 && done < step->nbytes; done += PIECE_BYTES) {
		size_t left = step->nbytes - done;
		size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;
		struct half in, out;

		in = half_post(mpi, REQUEST_RECEIVE, from, step->received + done, piece,
			       what);
		out = half_post(mpi, REQUEST_SEND, to, step->sent + done, piece, what);
		ret = half_end(mpi, &in);
		if (ret == 0)
			ret = half_end(mpi, &out);
	}
	return ret;
}

int assembly_hear(struct mpi *mpi, const void *own, void *all, size_t bytes,
		  const char *what)
{
	size_t n = (size_t)mpi->size, me = (size_t)mpi->rank;
	char *held = orr_alloc(n * bytes); /* of this rank, the next one, and so on */
	int ret = 0;

	memcpy(held, own, bytes);
	for (size_t nheld = 1; ret == 0 && nheld < n; nheld *= 2) {
		size_t more = n - nheld < nheld ? n - nheld : nheld;
		struct step step = {nheld, held, held + nheld * bytes, more * bytes};

		ret = take_step(mpi, &step, what);
	}
	for (size_t i = 0; ret == 0 && i < n; i++)
		memcpy((char *)all + (me + i) % n * bytes, held + i * bytes, bytes);
	free(held);
	return ret;
}
