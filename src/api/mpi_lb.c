/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu_mpi_lb.h>

#include "api/mpi_api.h"

void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *conf)
{
	struct mpi *mpi = api_mpi(__func__);
	const struct knobs *knobs = node_knobs(mpi->node);
	int is_replaced = *knobs->mpi_lb != 0;
	struct lb_wish wish = {
		.policy = is_replaced ? knobs->mpi_lb : lb_policy_name,
		.given_by = is_replaced ? "STARPU_MPI_LB" : "the program",
		.threshold = knobs->lb_sleep_threshold,
		.threshold_us = knobs->lb_time_threshold_us,
		.ratio = knobs->lb_wakeup_ratio,
	};

	api_blocking_node(__func__);
	if (conf)
		wish.calls = (struct lb_calls){conf->get_neighbors,
					       conf->get_data_unit_to_migrate};
	lb_open(mpi, &wish);
}

void starpu_mpi_lb_shutdown(void)
{
	struct mpi *mpi = api_mpi_or_null();

	if (!mpi || !mpi->balances)
		return;
	api_blocking_node(__func__);
	lb_close(mpi);
}
