/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/api.h"
#include "core/task/transaction.h"

struct starpu_transaction *
starpu_transaction_open(int (*do_start_func)(void *buffer, void *arg), void *do_start_arg)
{
	api_given(__func__, "do_start_func", (const void *)(uintptr_t)do_start_func);
	return transaction_open(api_node(__func__), do_start_func, do_start_arg);
}

void starpu_transaction_next_epoch(struct starpu_transaction *p_trs, void *do_start_arg)
{
	api_given(__func__, "p_trs", p_trs);
	transaction_next(api_node(__func__), p_trs, do_start_arg);
}

void starpu_transaction_close(struct starpu_transaction *p_trs)
{
	api_given(__func__, "p_trs", p_trs);
	transaction_close(api_node(__func__), p_trs);
}
