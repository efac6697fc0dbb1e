/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/api.h"
#include "base/check.h"
#include "core/data/redux.h"

static void refuse(struct node *node, const struct starpu_codelet *cl, const char *what)
	__attribute__((noreturn));

static void refuse(struct node *node, const struct starpu_codelet *cl, const char *what)
{
	orr_die(node->rank,
		"starpu_data_set_reduction_methods: codelet \"%s\": %s; expected a "
		"codelet that combines with buffers {STARPU_RW|STARPU_COMMUTE, "
		"STARPU_R}, or a third one of STARPU_SCRATCH, and one that initialises "
		"with {STARPU_W}",
		cl->name ? cl->name : "without name", what);
}

/* The application's codelet, which may be shared by nodes: written only where it says
 * nothing. */
static unsigned known_mode(struct starpu_codelet *cl, int i, unsigned usual)
{
	unsigned mode = STARPU_CODELET_GET_MODE(cl, i);

	if (!mode)
		STARPU_CODELET_SET_MODE(cl, (enum starpu_data_access_mode)usual, i);
	return mode ? mode : usual;
}

static void check_combine(struct node *node, struct starpu_codelet *cl)
{
	const unsigned usual = STARPU_RW | STARPU_COMMUTE;
	unsigned into;

	if (cl->nbuffers != 2 && cl->nbuffers != 3)
		refuse(node, cl, "it has neither 2 nor 3 buffers");
	if (cl->nbuffers == 3 && known_mode(cl, 2, STARPU_SCRATCH) != STARPU_SCRATCH)
		refuse(node, cl, "its third buffer is not STARPU_SCRATCH");
	into = known_mode(cl, 0, usual);
	if ((into & ~(unsigned)STARPU_COMMUTE) != STARPU_RW ||
	    known_mode(cl, 1, STARPU_R) != STARPU_R)
		refuse(node, cl, "its buffers have other modes");
	if (into == usual)
		return;
	if (!node->reduction_told)
		orr_complain(node->rank,
			     "starpu_data_set_reduction_methods: codelet \"%s\" declares "
			     "its first buffer without STARPU_COMMUTE; it is taken to "
			     "have it, since contributions are combined in any order",
			     cl->name ? cl->name : "without name");
	node->reduction_told = 1;
	STARPU_CODELET_SET_MODE(cl, (enum starpu_data_access_mode)usual, 0);
}

static void check_init(struct node *node, struct starpu_codelet *cl)
{
	if (cl->nbuffers != 1)
		refuse(node, cl, "it has not 1 buffer");
	if (known_mode(cl, 0, STARPU_W) != STARPU_W)
		refuse(node, cl, "its buffer has another mode");
}

void starpu_data_set_reduction_methods_with_args(starpu_data_handle_t handle,
						 struct starpu_codelet *redux_cl,
						 void *redux_cl_arg,
						 struct starpu_codelet *init_cl,
						 void *init_cl_arg)
{
	struct node *node = api_node(__func__);
	struct redux_methods methods = {.combine = redux_cl,
					.init = init_cl,
					.combine_arg = redux_cl_arg,
					.init_arg = init_cl_arg};

	api_check_handle(node, __func__, handle);
	if (redux_cl)
		check_combine(node, redux_cl);
	if (init_cl)
		check_init(node, init_cl);
	redux_set(handle, &methods);
}

void starpu_data_set_reduction_methods(starpu_data_handle_t handle,
				       struct starpu_codelet *redux_cl,
				       struct starpu_codelet *init_cl)
{
	starpu_data_set_reduction_methods_with_args(handle, redux_cl, NULL, init_cl,
						    NULL);
}
