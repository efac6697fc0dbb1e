/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* live.c - the data of a lane, registered. */

#define PADDING 0x5555555555555555u

struct view view_of_buffer(void *buffer)
{
	const struct starpu_variable_interface *any = buffer;
	struct view view = {.nx = 1, .ny = 1, .ld = 1};

	switch (any->id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		view.values = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffer);
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		view.values = (uint64_t *)STARPU_VECTOR_GET_PTR(buffer);
		view.nx = view.ld = (unsigned)STARPU_VECTOR_GET_NX(buffer);
		break;
	default:
		view.values = (uint64_t *)STARPU_MATRIX_GET_PTR(buffer);
		view.nx = (unsigned)STARPU_MATRIX_GET_NX(buffer);
		view.ny = (unsigned)STARPU_MATRIX_GET_NY(buffer);
		view.ld = (unsigned)STARPU_MATRIX_GET_LD(buffer);
		break;
	}
	return view;
}

int live_is_here(const struct lane_run *lane, const struct live *live)
{
	return !lane->lane->distributed || live->shape.owner == OWNER_EACH ||
	       live->shape.owner == lane->rank;
}

static void open_home(struct lane_run *lane, struct live *live)
{
	const struct shape *shape = &live->shape;
	size_t count = (size_t)shape->ld * shape->ny + 1;

	live->home = (struct view){.nx = shape->nx, .ny = shape->ny, .ld = shape->ld};
	if (!shape->homed || !live_is_here(lane, live))
		return;
	live->home.values = malloc(count * sizeof(uint64_t));
	if (!live->home.values)
		abort();
	for (size_t i = 0; i < count; i++)
		live->home.values[i] = PADDING;
	view_fill(&live->home, shape);
}

void live_register(struct lane_run *lane, struct live *live, const struct shape *shape)
{
	struct view *home = &live->home;
	uintptr_t values;
	int node;

	*live = (struct live){.shape = *shape};
	open_home(lane, live);
	node = home->values ? STARPU_MAIN_RAM : -1;
	values = (uintptr_t)home->values;
	if (shape->kind == SHAPE_VARIABLE)
		starpu_variable_data_register(&live->handle, node, values, 8);
	else if (shape->kind == SHAPE_VECTOR)
		starpu_vector_data_register(&live->handle, node, values, home->nx, 8);
	else
		starpu_matrix_data_register(&live->handle, node, values,
					    values ? home->ld : home->nx, home->nx,
					    home->ny, 8);
	if (has_feature(lane->run->program, FEATURE_REDUX))
		starpu_data_set_reduction_methods(live->handle, tasks_reduction(1),
						  tasks_reduction(0));
	if (shape->order == LOOSE_HANDLE)
		starpu_data_set_sequential_consistency_flag(live->handle, 0);
}

static void check_padding(struct lane_run *lane, const struct live *live)
{
	const struct view *home = &live->home;

	for (unsigned row = 0; row < home->ny; row++)
		for (unsigned i = home->nx; i < home->ld; i++)
			if (home->values[(size_t)row * home->ld + i] != PADDING)
				run_bad(lane->run, NULL, "padding was written", row, i);
}

void live_unregister(struct lane_run *lane, struct live *live)
{
	starpu_data_unregister(live->handle);
	live->handle = NULL;
	if (live->home.values)
		check_padding(lane, live);
}

struct view live_local_view(const struct live *live)
{
	struct view view = {
		.nx = live->home.nx, .ny = live->home.ny, .ld = live->home.nx};

	/* A callback may run on a GPU's worker, whose memory is another. */
	view.values = starpu_data_handle_to_pointer(live->handle, STARPU_MAIN_RAM);
	if (live->shape.kind == SHAPE_MATRIX)
		view.ld = STARPU_MATRIX_GET_LD(
			starpu_data_get_interface_on_node(live->handle, STARPU_MAIN_RAM));
	return view;
}

uint64_t live_acquired_hash(struct live *live)
{
	struct view view;
	uint64_t hash;

	starpu_data_acquire(live->handle, STARPU_R);
	view = live_local_view(live);
	hash = view_hash(&view);
	starpu_data_release(live->handle);
	return hash;
}
