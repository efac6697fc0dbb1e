/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/policy.h"

#include <errno.h>

#include "base/check.h"
#include "core/outside.h"
#include "mpi/mpi.h"

void policies_begin(struct policies *policies)
{
	policies->lasting = 0;
	for (unsigned i = 1; i < POLICY_MAX; i++)
		if (policies->funcs[i])
			policies->lasting |= 1u << i;
}

void policies_end(struct policies *policies)
{
	for (unsigned i = 1; i < POLICY_MAX; i++)
		if (!(policies->lasting >> i & 1))
			policies->funcs[i] = NULL;
	if (!policy_exists(policies, policies->current))
		policies->current = POLICY_MOST_R_DATA;
}

int policy_exists(const struct policies *policies, int policy)
{
	return policy == POLICY_MOST_R_DATA ||
	       (policy > 0 && policy < POLICY_MAX && policies->funcs[policy]);
}

int policy_add(struct policies *policies, policy_chooser func)
{
	for (int i = 1; i < POLICY_MAX; i++) {
		if (!policies->funcs[i]) {
			policies->funcs[i] = func;
			return i;
		}
	}
	return -ENOSPC;
}

/* What ranks may not agree about is still better than nothing: most interfaces of
 * applications have one size. */
static size_t bytes_of(starpu_data_handle_t handle)
{
	long agreed = data_agreed_bytes(handle);

	return agreed >= 0 ? (size_t)agreed : data_bytes(handle);
}

static size_t bytes_of_owner(const struct starpu_data_descr *data, int ndata, int owner)
{
	size_t bytes = 0;

	for (int i = 0; i < ndata; i++) {
		if (!data[i].handle || data[i].handle->owner != owner)
			continue;
		if (data[i].mode & STARPU_R)
			bytes += bytes_of(data[i].handle);
		if (data[i].mode & STARPU_W)
			bytes += bytes_of(data[i].handle);
	}
	return bytes;
}

int policy_most_data(struct starpu_data_descr *data, int ndata)
{
	size_t most = 0;
	int best = 0;

	/* Quadratic in the few data of a task, rather than linear in the ranks. */
	for (int i = 0; i < ndata; i++) {
		int owner = data[i].handle ? data[i].handle->owner : OWNER_UNSET;
		size_t bytes = owner >= 0 ? bytes_of_owner(data, ndata, owner) : 0;

		if (bytes > most || (bytes == most && bytes > 0 && owner < best)) {
			most = bytes;
			best = owner;
		}
	}
	return best;
}

int policy_counts_bytes(const struct mpi *mpi, int policy)
{
	if (policy == POLICY_CURRENT)
		policy = mpi->lasting->policies.current;
	return policy == POLICY_MOST_R_DATA;
}

int policy_select(struct mpi *mpi, int policy, int comm, struct starpu_data_descr *data,
		  int ndata)
{
	const struct mpi_comm *members = comm_at(&mpi->comms, comm);
	OUTSIDE(outside);
	int choice;

	if (policy == POLICY_CURRENT)
		policy = mpi->lasting->policies.current;
	if (!policy_exists(&mpi->lasting->policies, policy))
		orr_die(mpi->rank,
			"node selection policy %d is not registered; call "
			"starpu_mpi_node_selection_register_policy() first, on all ranks",
			policy);
	if (policy == POLICY_MOST_R_DATA)
		return policy_most_data(data, ndata);
	outside_enter(&outside, mpi->node, "a node selection policy");
	choice = mpi->lasting->policies.funcs[policy](members->rank, members->size, data,
						      ndata);
	outside_end(&outside);
	if (choice < 0 || choice >= members->size)
		orr_die(mpi->rank,
			"node selection policy %d chose rank %d: expected 0 to %d",
			policy, choice, members->size - 1);
	return choice;
}
