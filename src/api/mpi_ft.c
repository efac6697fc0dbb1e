/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Checkpoints, and what is done with them. */
#include <orrery_mpi.h>

#include <errno.h>

#include "api/mpi_api.h"

#include "base/check.h"
#include "mpi/finish.h"
#include "mpi/ft.h"
#include "mpi/ft_restore.h"

static struct ft_template *inner(starpu_mpi_checkpoint_template_t cp_template)
{
	return (struct ft_template *)(void *)cp_template;
}

/* NULL with a message when checkpoints were not started. */
static struct mpi *started(const char *func)
{
	struct mpi *mpi = api_mpi(func);

	api_blocking_node(func);
	if (mpi->ft)
		return mpi;
	orr_complain(mpi->rank, "%s: call starpu_mpi_checkpoint_init() first", func);
	return NULL;
}

static struct ft_template *known(const char *func,
				 starpu_mpi_checkpoint_template_t cp_template)
{
	struct mpi *mpi = started(func);

	if (!mpi)
		return NULL;
	if (cp_template)
		return inner(cp_template);
	orr_complain(mpi->rank,
		     "%s: the template is NULL; make one with "
		     "starpu_mpi_checkpoint_template_create()",
		     func);
	return NULL;
}

static struct ft_template *unfrozen(const char *func,
				    starpu_mpi_checkpoint_template_t cp_template)
{
	struct ft_template *template = known(func, cp_template);

	if (!template || !template->is_frozen)
		return template;
	orr_complain(template->mpi->rank,
		     "%s: checkpoint template %d is frozen; make another one", func,
		     template->id);
	return NULL;
}

static struct ft_template *frozen(const char *func,
				  starpu_mpi_checkpoint_template_t cp_template)
{
	struct ft_template *template = known(func, cp_template);

	if (!template || template->is_frozen)
		return template;
	orr_complain(template->mpi->rank,
		     "%s: checkpoint template %d is not frozen; call "
		     "starpu_mpi_checkpoint_template_freeze() on all ranks",
		     func, template->id);
	return NULL;
}

/* ---- start and end ----------------------------------------------------- */

int starpu_mpi_checkpoint_init(void)
{
	struct mpi *mpi = api_mpi(__func__);
	int ret = ft_open(mpi);

	if (ret < 0)
		orr_complain(mpi->rank,
			     "%s: it has been called; call "
			     "starpu_mpi_checkpoint_shutdown() before it is again",
			     __func__);
	return ret;
}

int starpu_mpi_checkpoint_shutdown(void)
{
	struct mpi *mpi = started(__func__);
	int ret;

	if (!mpi)
		return -EINVAL;
	ret = finish_wait_all(mpi, NULL);
	if (ret == 0)
		ft_close(mpi);
	return ret;
}

static int turn(const char *func, int is_off)
{
	struct mpi *mpi = started(func);

	if (!mpi)
		return -EINVAL;
	mpi->ft->is_off = is_off;
	return 0;
}

int starpu_mpi_ft_turn_on(void)
{
	return turn(__func__, 0);
}

int starpu_mpi_ft_turn_off(void)
{
	return turn(__func__, 1);
}

/* ---- templates ------------------------------------------------------------ */

int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template,
					  int cp_id, int cp_domain)
{
	struct mpi *mpi = started(__func__);

	api_given(__func__, "cp_template", cp_template);
	if (!mpi)
		return -EINVAL;
	if (ft_template_find(mpi, cp_id)) {
		orr_complain(mpi->rank,
			     "%s: there is a template %d already; give each a number of "
			     "its own",
			     __func__, cp_id);
		return -EINVAL;
	}
	*cp_template = (void *)ft_template_new(mpi, cp_id, cp_domain);
	return 0;
}

static int add_data(struct ft_template *template, starpu_data_handle_t *handles, int n,
		    int backup)
{
	int ret = 0;

	for (int i = 0; i < n && ret == 0; i++)
		ret = ft_template_add(template, &(struct ft_entry){.kind = FT_DATA,
								   .handle = handles[i],
								   .backup = backup});
	return ret;
}

/* The operands of one key. */
static int add_entry(struct ft_template *template, int key, va_list *list)
{
	struct ft_entry entry = {.kind = FT_VALUE};
	starpu_data_handle_t handle, *handles;
	int n;

	switch (key) {
	case STARPU_R:
		handle = va_arg(*list, starpu_data_handle_t);
		return add_data(template, &handle, 1, va_arg(*list, int));
	case STARPU_DATA_ARRAY:
		handles = va_arg(*list, starpu_data_handle_t *);
		n = va_arg(*list, int);
		return add_data(template, handles, n, va_arg(*list, int));
	case STARPU_VALUE:
		entry.value = va_arg(*list, void *);
		n = va_arg(*list, int);
		entry.bytes = n > 0 ? (size_t)n : 0;
		entry.tag = va_arg(*list, starpu_mpi_tag_t);
		entry.backup_of = va_arg(*list, int (*)(int));
		return ft_template_add(template, &entry);
	default:
		orr_complain(template->mpi->rank,
			     "checkpoint template %d: unrecognised argument %d (%#x); "
			     "expected STARPU_R, STARPU_VALUE or STARPU_DATA_ARRAY with "
			     "their operands, and 0 at the end",
			     template->id, key, (unsigned)key);
		return -EINVAL;
	}
}

static int add_entries(struct ft_template *template, va_list *list)
{
	int ret = 0, key;

	while (ret == 0 && (key = va_arg(*list, int)) != 0)
		ret = add_entry(template, key, list);
	return ret;
}

int starpu_mpi_checkpoint_template_add_entry(
	starpu_mpi_checkpoint_template_t *cp_template, ...)
{
	struct ft_template *template;
	va_list list;
	int ret;

	api_given(__func__, "cp_template", cp_template);
	template = unfrozen(__func__, *cp_template);
	if (!template)
		return -EINVAL;
	va_start(list, cp_template);
	ret = add_entries(template, &list);
	va_end(list);
	return ret;
}

int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template)
{
	struct ft_template *template;

	api_given(__func__, "cp_template", cp_template);
	template = unfrozen(__func__, *cp_template);
	if (!template)
		return -EINVAL;
	if (template->n == 0) {
		orr_complain(template->mpi->rank,
			     "%s: checkpoint template %d has no entries; add some with "
			     "starpu_mpi_checkpoint_template_add_entry()",
			     __func__, template->id);
		return -EINVAL;
	}
	template->is_frozen = 1;
	return template->n;
}

int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...)
{
	va_list list;
	int ret = starpu_mpi_checkpoint_template_create(cp_template, cp_id, cp_domain);

	if (ret < 0)
		return ret;
	va_start(list, cp_domain);
	ret = add_entries(inner(*cp_template), &list);
	va_end(list);
	if (ret == 0)
		ret = starpu_mpi_checkpoint_template_freeze(cp_template);
	return ret < 0 ? ret : 0;
}

int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
	struct ft_template *template = known(__func__, cp_template);

	if (!template)
		return -EINVAL;
	ft_template_print(template);
	return 0;
}

/* ---- checkpoints ------------------------------------------------------------ */

int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template,
					  int prio)
{
	struct ft_template *template = frozen(__func__, cp_template);

	if (!template)
		return -EINVAL;
	ft_submit(template, prio);
	return 0;
}

int orrery_mpi_checkpoint_wait(starpu_mpi_checkpoint_template_t cp_template, int nahead)
{
	struct ft_template *template = frozen(__func__, cp_template);

	if (!template)
		return -EINVAL;
	if (nahead < 0) {
		orr_complain(template->mpi->rank,
			     "%s: %d checkpoints need not be over: expected at least 0",
			     __func__, nahead);
		return -EINVAL;
	}
	return ft_wait(template, nahead);
}

int orrery_mpi_checkpoint_restore(starpu_mpi_checkpoint_template_t cp_template,
				  const int *lost, const int *spares, int n)
{
	struct ft_template *template = frozen(__func__, cp_template);
	struct ft_loss loss = {.lost = lost, .spares = spares, .n = n};

	if (!template)
		return -EINVAL;
	if (n < 0 || (n > 0 && (!lost || !spares))) {
		orr_complain(
			template->mpi->rank,
			"%s: %d ranks at %p are lost, %p take their places: expected "
			"two arrays of at least 0",
			__func__, n, (const void *)lost, (const void *)spares);
		return -EINVAL;
	}
	return ft_restore(template, &loss);
}

int orrery_mpi_lose(void)
{
	struct mpi *mpi = api_mpi(__func__);

	if (!mpi->ft) {
		orr_complain(mpi->rank, "%s: call starpu_mpi_checkpoint_init() first",
			     __func__);
		return -EINVAL;
	}
	ft_lose(mpi);
	return 0;
}

int orrery_mpi_lost_ranks(int *ranks, int most)
{
	struct mpi *mpi = started(__func__);

	return mpi ? ft_lost_ranks(mpi, ranks, ranks ? most : 0) : -EINVAL;
}
