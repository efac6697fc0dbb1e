/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Codelets that Fortran programs make, with more buffers than there is room for modes. */
#include <malloc.h>
#include <stdint.h>

#include <starpu.h>

#include "claim.h"

int claim_failures;

/* The module's; modes are values of pointers. */
struct starpu_codelet *fstarpu_codelet_allocate(void);
void fstarpu_codelet_free(struct starpu_codelet *cl);
void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers);
void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl);
void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, void *mode);

static void add(struct starpu_codelet *cl, enum starpu_data_access_mode mode)
{
	fstarpu_codelet_add_buffer(cl, (void *)(uintptr_t)mode);
}

static void claim_mode(struct starpu_codelet *cl, int i,
		       enum starpu_data_access_mode expected)
{
	CLAIM_EQ((int)STARPU_CODELET_GET_MODE(cl, i), (int)expected);
}

/* Those that nobody has said are 0, whatever the memory held before. */
static void unsaid_modes_are_none(void)
{
	struct starpu_codelet *cl = fstarpu_codelet_allocate();
	int many = STARPU_NMAXBUFS + 20;

	mallopt(M_PERTURB, 0x5a);
	add(cl, STARPU_R);
	fstarpu_codelet_set_nbuffers(cl, many);
	add(cl, STARPU_W);
	fstarpu_codelet_set_nbuffers(cl, 2 * many);
	add(cl, STARPU_RW);
	CLAIM_EQ(cl->nbuffers, 2 * many + 1);
	for (int i = 0; i <= 2 * many; i++)
		claim_mode(cl, i,
			   i == 0          ? STARPU_R
			   : i == many     ? STARPU_W
			   : i == 2 * many ? STARPU_RW
					   : (enum starpu_data_access_mode)0);
	fstarpu_codelet_set_variable_nbuffers(cl);
	CLAIM_EQ(cl->nbuffers, STARPU_VARIABLE_NBUFFERS);
	fstarpu_codelet_set_nbuffers(cl, many);
	add(cl, STARPU_W);
	claim_mode(cl, many, STARPU_W);
	fstarpu_codelet_free(cl);
}

/* One after the other, across the bound. */
static void modes_are_added_one_by_one(void)
{
	struct starpu_codelet *cl = fstarpu_codelet_allocate();

	for (int i = 0; i < 3 * STARPU_NMAXBUFS; i++)
		add(cl, i % 3 ? STARPU_R : STARPU_RW);
	CLAIM_EQ(cl->nbuffers, 3 * STARPU_NMAXBUFS);
	for (int i = 0; i < 3 * STARPU_NMAXBUFS; i++)
		claim_mode(cl, i, i % 3 ? STARPU_R : STARPU_RW);
	/* Fewer again: what is added then counts. */
	fstarpu_codelet_set_nbuffers(cl, 2);
	add(cl, STARPU_W);
	claim_mode(cl, 2, STARPU_W);
	fstarpu_codelet_free(cl);
}

int main(void)
{
	static const struct claim claims[] = {
		{"modes that nobody has said are none", unsaid_modes_are_none},
		{"modes are added one by one", modes_are_added_one_by_one},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
