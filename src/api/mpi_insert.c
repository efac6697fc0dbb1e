/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "api/mpi_api.h"

#include "base/check.h"
#include "core/task/task.h"
#include "mpi/afar.h"
#include "mpi/plan.h"

static int insert_slowly(MPI_Comm comm, struct starpu_codelet *codelet,
			 struct arg_walk *args, enum afar seen) __attribute__((noinline));

static int insert_slowly(MPI_Comm comm, struct starpu_codelet *codelet,
			 struct arg_walk *args, enum afar seen)
{
	const char *func = "starpu_mpi_task_insert";
	struct mpi *mpi = api_mpi(func);

	return insert_closely(mpi, api_comm(mpi, comm, func), codelet, args, seen);
}

int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	struct node *node = plat_self_at_once();
	struct mpi *mpi = node ? node->mpi : NULL;
	struct arg_walk args, look;
	enum afar seen = AFAR_LONGER;
	int ret;

	/* One without codelet is counted apart. */
	if (mpi && codelet && api_comm_is_usual(mpi, comm)) {
		va_start(look.list, codelet);
		seen = insert_look(mpi, mpi->last_comm_index, look);
		va_end(look.list);
		if (seen == AFAR_PASSED)
			return 0;
	}
	va_start(args.list, codelet);
	ret = insert_slowly(comm, codelet, &args, seen);
	va_end(args.list);
	return ret;
}

/* The older name. */
int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...)
	__attribute__((alias("starpu_mpi_task_insert")));

int starpu_mpi_tasks_insert(MPI_Comm comm, struct starpu_codelet *codelet, int p,
			    int *nodes, ...)
{
	struct mpi *mpi = api_mpi(__func__);
	struct replicas replicas = {.ranks = nodes, .n = p, .func = __func__};
	va_list list;
	int ret;

	if (p > 0)
		api_given(__func__, "nodes", nodes);
	va_start(list, nodes);
	ret = insert_replicas(mpi, api_comm(mpi, comm, __func__), codelet, &replicas,
			      list);
	va_end(list);
	return ret;
}

/* As in StarPU, what the caller sets itself belongs to the task, unless it says
 * otherwise. */
static void own_arguments(struct starpu_task *task)
{
#define OWN(arg) task->arg##_free |= !task->arg
	OWN(cl_arg);
	OWN(callback_arg);
	OWN(prologue_callback_arg);
	OWN(prologue_callback_pop_arg);
#undef OWN
}

struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
					    va_list varg_list)
{
	struct mpi *mpi = api_mpi(__func__);
	struct starpu_task *task = NULL;

	insert_build(mpi, api_comm(mpi, comm, __func__), codelet, varg_list, &task);
	if (task)
		own_arguments(task);
	return task;
}

struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet,
					  ...)
{
	struct starpu_task *task;
	va_list list;

	va_start(list, codelet);
	task = starpu_mpi_task_build_v(comm, codelet, list);
	va_end(list);
	return task;
}

int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
				 va_list varg_list)
{
	struct mpi *mpi = api_mpi(__func__);

	return insert_post_build(mpi, api_comm(mpi, comm, __func__), codelet, varg_list);
}

int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	va_list list;
	int ret;

	va_start(list, codelet);
	ret = starpu_mpi_task_post_build_v(comm, codelet, list);
	va_end(list);
	return ret;
}

/* ---- tasks filled by hand -------------------------------------------- */

static const char *name_of(const struct starpu_task *task)
{
	if (task->name)
		return task->name;
	return task->cl && task->cl->name ? task->cl->name : "without name";
}

/* Only what is written, or not kept, leaves something to do. */
static int is_exchange_needed(const struct mpi *mpi, const struct exchange *exchange)
{
	for (int i = 0; i < exchange->ndata; i++)
		if (plan_replaces(exchange->data[i].mode) ||
		    (exchange->data[i].mode & (STARPU_REDUX | STARPU_MPI_REDUX)))
			return 1;
	return !mpi->cache.is_on;
}

static int exchange_before(MPI_Comm comm, struct exchange *exchange,
			   struct starpu_mpi_task_exchange_params *params,
			   const char *func)
{
	struct mpi *mpi = api_mpi(func);
	int index = api_comm(mpi, comm, func);
	int is_needed = is_exchange_needed(mpi, exchange);
	int ndata = is_needed ? exchange->ndata : 0, ret;

	insert_count_halves(mpi, ndata);
	ret = insert_before(mpi, index, exchange);
	if (ret < 0) {
		insert_count_halves(mpi, -ndata);
		return ret;
	}
	params->me = comm_at(&mpi->comms, index)->rank;
	params->xrank = exchange->executor;
	params->do_execute =
		exchange->executor == PLAN_EVERYWHERE || exchange->executor == params->me;
	params->priority = exchange->priority;
	params->exchange_needed = is_needed;
	return 0;
}

static int task_before(MPI_Comm comm, struct starpu_task *task,
		       struct starpu_data_descr *descrs,
		       struct starpu_mpi_task_exchange_params *params, int xrank)
{
	const char *func = "starpu_mpi_task_exchange_data_before_execution";
	int ndata = task->cl ? (int)STARPU_TASK_GET_NBUFFERS(task) : task->nbuffers;
	struct exchange exchange = {.data = descrs,
				    .ndata = ndata,
				    .priority = task->priority,
				    .executor = xrank,
				    .name = name_of(task)};
	struct mpi *mpi = api_mpi(func);
	int ret;

	for (int i = 0; i < ndata; i++) {
		descrs[i].handle = STARPU_TASK_GET_HANDLE(task, i);
		descrs[i].mode = (enum starpu_data_access_mode)task_mode(task, i);
	}
	ret = exchange_before(comm, &exchange, params, func);
	if (ret == 0 && params->do_execute && mpi->insertion.hook)
		mpi->insertion.hook(task);
	return ret;
}

int starpu_mpi_task_exchange_data_before_execution(
	MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
	struct starpu_mpi_task_exchange_params *params)
{
	return task_before(comm, task, descrs, params, OWNER_UNSET);
}

int starpu_mpi_task_exchange_data_before_execution_on_node(
	MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
	struct starpu_mpi_task_exchange_params *params, int xrank)
{
	return task_before(comm, task, descrs, params, xrank);
}

int starpu_mpi_task_exchange_data_after_execution(
	MPI_Comm comm, struct starpu_data_descr *descrs, unsigned nb_data,
	struct starpu_mpi_task_exchange_params params)
{
	struct mpi *mpi = api_mpi(__func__);
	struct exchange exchange = {.data = descrs,
				    .ndata = (int)nb_data,
				    .priority = params.priority,
				    .executor = params.xrank,
				    .name = "filled by hand"};

	if (params.exchange_needed)
		insert_count_halves(mpi, -exchange.ndata);
	insert_after(mpi, api_comm(mpi, comm, __func__), &exchange);
	return 0;
}

int starpu_mpi_exchange_data_before_execution(
	MPI_Comm comm, starpu_data_handle_t data, enum starpu_data_access_mode mode,
	struct starpu_mpi_task_exchange_params *params)
{
	struct starpu_data_descr descr = {.handle = data, .mode = mode};
	struct exchange exchange = {.data = &descr,
				    .ndata = 1,
				    .priority = params->priority,
				    .executor = params->xrank,
				    .name = "filled by hand"};

	return exchange_before(comm, &exchange, params, __func__);
}

int starpu_mpi_exchange_data_after_execution(
	MPI_Comm comm, starpu_data_handle_t data, enum starpu_data_access_mode mode,
	struct starpu_mpi_task_exchange_params params)
{
	struct starpu_data_descr descr = {.handle = data, .mode = mode};

	return starpu_mpi_task_exchange_data_after_execution(comm, &descr, 1, params);
}

static void set_hook(void (*hook)(struct starpu_task *task))
{
	struct mpi *mpi = api_mpi_or_null();

	mpi_lasting_of(lasting_get())->hook = hook;
	if (mpi)
		mpi->insertion.hook = hook;
}

int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *))
{
	if (mpi_lasting_of(lasting_get())->hook)
		orr_complain(api_rank(), "%s: the hook registered before is replaced",
			     __func__);
	set_hook(f);
	return 0;
}

int starpu_mpi_pre_submit_hook_unregister(void)
{
	set_hook(NULL);
	return 0;
}

/* ---- policies: the program's, in all lives of the library ------------ */

static struct policies *policies_now(void)
{
	return &mpi_lasting_of(lasting_get())->policies;
}

int starpu_mpi_node_selection_register_policy(
	starpu_mpi_select_node_policy_func_t policy_func)
{
	int policy;

	if (!policy_func)
		orr_die(api_rank(),
			"%s: the function is NULL; give one that returns a rank",
			__func__);
	policy = policy_add(policies_now(), policy_func);
	if (policy < 0)
		orr_die(api_rank(),
			"%s: %d policies are registered already, which is the limit; "
			"unregister one with "
			"starpu_mpi_node_selection_unregister_policy()",
			__func__, POLICY_MAX - 1);
	return policy;
}

static struct policies *check_policy(const char *func, int policy)
{
	struct policies *policies = policies_now();

	if (!policy_exists(policies, policy))
		orr_die(api_rank(),
			"%s: policy %d is not registered; give what "
			"starpu_mpi_node_selection_register_policy() returned",
			func, policy);
	return policies;
}

int starpu_mpi_node_selection_unregister_policy(int policy)
{
	struct policies *policies = check_policy(__func__, policy);

	if (policy == POLICY_MOST_R_DATA)
		orr_die(api_rank(), "%s: policy %d is predefined and stays", __func__,
			policy);
	policies->funcs[policy] = NULL;
	if (policies->current == policy)
		policies->current = POLICY_MOST_R_DATA;
	return 0;
}

int starpu_mpi_node_selection_get_current_policy(void)
{
	return policies_now()->current;
}

int starpu_mpi_node_selection_set_current_policy(int policy)
{
	check_policy(__func__, policy)->current = policy;
	return 0;
}
