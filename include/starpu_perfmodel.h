/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Performance models: how long a codelet takes on each kind of worker.  Times
 * are in microseconds.  A static model needs only its type, its symbol and its
 * functions, everything else zero; the first task that uses it loads it.
 */

#ifndef STARPU_PERFMODEL_H
#define STARPU_PERFMODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_task_dep.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;
struct starpu_perfmodel_history_table;

/** Part of an architecture: ncores cores of one device. */
struct starpu_perfmodel_device {
	enum starpu_worker_archtype type;
	int devid;
	int ncores;
};

/** An architecture: the devices that run one task together, usually one. */
struct starpu_perfmodel_arch {
	int ndevices;
	struct starpu_perfmodel_device *devices;
};

/** Measurements with one footprint on one architecture. */
struct starpu_perfmodel_history_entry {
	double mean;      /* microseconds */
	double deviation; /* microseconds */
	double sum;
	double sum2; /* sum of the squares */
	unsigned nsample;
	unsigned nerror; /* measurements too far from the mean */
	uint32_t footprint;
	size_t size; /* bytes */
	double flops;
	double duration;
	starpu_tag_t tag;
	double *parameters;
};

struct starpu_perfmodel_history_list {
	struct starpu_perfmodel_history_list *next;
	struct starpu_perfmodel_history_entry *entry;
};

/**
 * Fits of the duration by the size x: alpha * x^beta (valid), a * x^b + c
 * (nl_valid), and a polynomial of the parameters (multi_valid).
 */
struct starpu_perfmodel_regression_model {
	double sumlny;
	double sumlnx;
	double sumlnx2;
	unsigned long minx;
	unsigned long maxx;
	double sumlnxlny;
	double alpha;
	double beta;
	unsigned valid;
	double a;
	double b;
	double c;
	unsigned nl_valid;
	unsigned nsample;
	double *coeff;
	unsigned ncoeff;
	unsigned multi_valid;
};

/** Duration of a task on an architecture, in microseconds. */
typedef double (*starpu_perfmodel_per_arch_cost_function)(
	struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl);

/** Size of a task on an architecture, for a regression. */
typedef size_t (*starpu_perfmodel_per_arch_size_base)(struct starpu_task *task,
						      struct starpu_perfmodel_arch *arch,
						      unsigned nimpl);

/** What a model knows about one implementation on one architecture. */
struct starpu_perfmodel_per_arch {
	starpu_perfmodel_per_arch_cost_function cost_function;
	starpu_perfmodel_per_arch_size_base size_base;
	struct starpu_perfmodel_history_table *history;
	struct starpu_perfmodel_history_list *list;
	struct starpu_perfmodel_regression_model regression;
	char debug_path[256];
};

#define starpu_per_arch_perfmodel starpu_perfmodel_per_arch

enum starpu_perfmodel_type {
	STARPU_PERFMODEL_INVALID = 0,
	STARPU_PER_WORKER,          /* worker_cost_function */
	STARPU_PER_ARCH,            /* a function by devices, else arch_cost_function */
	STARPU_COMMON,              /* cost_function over the worker's speed */
	STARPU_HISTORY_BASED,       /* mean of the same footprint */
	STARPU_REGRESSION_BASED,    /* alpha * size^beta */
	STARPU_NL_REGRESSION_BASED, /* a * size^b + c */
	STARPU_MULTIPLE_REGRESSION_BASED /* a sum of products of powers of parameters */
};

/** Private state of a model. */
typedef struct _starpu_perfmodel_state *starpu_perfmodel_state_t;

struct starpu_perfmodel {
	enum starpu_perfmodel_type type;
	double (*cost_function)(struct starpu_task *, unsigned nimpl);
	double (*arch_cost_function)(struct starpu_task *,
				     struct starpu_perfmodel_arch *arch, unsigned nimpl);
	double (*worker_cost_function)(struct starpu_task *, unsigned workerid,
				       unsigned nimpl);
	size_t (*size_base)(struct starpu_task *, unsigned nimpl);
	uint32_t (*footprint)(struct starpu_task *);
	const char *symbol; /* names the file; belongs to the application */
	char *path;
	unsigned is_loaded;
	unsigned benchmarking;
	unsigned is_init;
	/**
	 * STARPU_MULTIPLE_REGRESSION_BASED: a task is expected to take coeff[0] + sum
	 * over i of coeff[i + 1] * product over k of parameters[k]^combinations[i][k]
	 * microseconds, 1e-5 where that is negative.  The function fills nparameters (1
	 * to 64) values; several workers call it at once.  At most 255 combinations, 0:
	 * tasks are measured only.  They are added to codelets/tmp/SYMBOL.out where the
	 * models are: a line of parameters_names (or P1, P2, ...) and Duration, then one
	 * for each task.  Fitted by least squares to all lines once there are more than
	 * coefficients, and STARPU_CALIBRATE_MINIMUM.
	 */
	void (*parameters)(struct starpu_task *task, double *parameters);
	const char **parameters_names;
	unsigned nparameters;
	unsigned **combinations; /* ncombinations times nparameters exponents */
	unsigned ncombinations;
	starpu_perfmodel_state_t state;
};

/** A model for tasks that do nothing: 1e-6 microseconds everywhere. */
extern struct starpu_perfmodel starpu_perfmodel_nop;

/**
 * Let a program use models that does not call starpu_init(): from here on all of this
 * header may be called, as of a machine with one CPU worker.  starpu_init() and
 * starpu_perfmodel_free_sampling() end it: load models again then.  Does nothing while
 * the library is initialised.
 */
void starpu_perfmodel_initialize(void);

/** The end of starpu_perfmodel_initialize(); after starpu_init() it does nothing, since
 * starpu_shutdown() will. */
void starpu_perfmodel_free_sampling(void);

/** Give the model its private state; a second call does nothing. */
void starpu_perfmodel_init(struct starpu_perfmodel *model);

/** Free the private state; returns 0. */
int starpu_perfmodel_deinit(struct starpu_perfmodel *model);

/** Load a model from a file; 0, or 1 when it cannot be read or the library is not
 * initialised. */
int starpu_perfmodel_load_file(const char *filename, struct starpu_perfmodel *model);

/** Load the model named symbol for this machine; 0, or 1 when there is none or the
 * library is not initialised. */
int starpu_perfmodel_load_symbol(const char *symbol, struct starpu_perfmodel *model);

/** Free what one of the two functions above loaded; returns 0. */
int starpu_perfmodel_unload_model(struct starpu_perfmodel *model);

/**
 * Measure the energy of what comes until starpu_energy_stop(): of the machine's packages
 * of cores (Linux: the counters of Intel's and AMD's RAPL below ORRERY_POWERCAP, which
 * often only root may read).  archi: STARPU_CPU_WORKER; workerid: -1 or a CPU worker,
 * since cores have no meters of their own.  One measurement of a rank at a time.
 *
 * In simulation a device's meter counts what its tasks use by the energy models of their
 * codelets, evenly over each one's duration, and STARPU_IDLE_POWER of each worker that
 * waits: of all CPU workers of the rank, or of the device of worker workerid of type
 * archi.
 *
 * 0; -ENODEV, with a message, where nothing can be measured: on a real machine other
 * devices, and no readable counters; -EBUSY when one has begun.  Any thread.
 */
int starpu_energy_start(int workerid, enum starpu_worker_archtype archi);
/**
 * The end of it: model learns what one of ntasks tasks like task has used, in joules, by
 * implementation nimpl.  The machine's other loads and its idle power count, too: keep it
 * busy with these tasks alone, for longer than the counters' steps of about 1 ms.
 *
 * 0; -ENODEV as above, or when nothing was used; -EINVAL, with a message, without a start
 * of the same device or for ntasks 0.
 */
int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task,
		       unsigned nimpl, unsigned ntasks, int workerid,
		       enum starpu_worker_archtype archi);

/** Write the model's file; one that cannot be written gives a message. */
void starpu_save_history_based_model(struct starpu_perfmodel *model);

/** Write the path of the file of symbol to path; empty when there is none or the library
 * is not initialised. */
void starpu_perfmodel_get_model_path(const char *symbol, char *path, size_t maxlen);

/** The architecture of a worker; belongs to the library. */
struct starpu_perfmodel_arch *starpu_worker_get_perf_archtype(int workerid,
							      unsigned sched_ctx_id);

/**
 * Add a measurement, in microseconds (of an energy model: joules), that worker cpuid made
 * of task with implementation nimpl on arch, which says for which kind of workers it
 * counts (see starpu_worker_get_perf_archtype(); cpuid does not).  Estimates see it from
 * then on, and so do, in simulation, the tasks that begin later, which take what their
 * models say.
 *
 * As with tasks, the first measurement of a size in a STARPU_HISTORY_BASED model only
 * makes room for it, and one that is off by more than STARPU_HISTORY_MAX_ERROR does not
 * count until most are.  measured must be above 0, else nothing is learnt and a message
 * says so.  Any thread.
 */
void starpu_perfmodel_update_history(struct starpu_perfmodel *model,
				     struct starpu_task *task,
				     struct starpu_perfmodel_arch *arch, unsigned cpuid,
				     unsigned nimpl, double measured);

/** The same for number measurements whose mean this is; when there are several, all of
 * them count. */
void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model,
				       struct starpu_task *task,
				       struct starpu_perfmodel_arch *arch, unsigned cpuid,
				       unsigned nimpl, double average_measured,
				       unsigned number);

/** Mean, in microseconds, of the measurements with a footprint; NaN: none. */
double starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
						    struct starpu_perfmodel_arch *arch,
						    uint32_t footprint);

/*
 * Functions for some devices of a model, and combinations of devices by number.  These
 * need an initialised library; what they set holds until the model is unloaded or the
 * library ends.  Devices are given as type (enum starpu_worker_archtype), number, cores
 * of each and -1 after the last: STARPU_CPU_WORKER, 0, 1, -1 speaks for all processors,
 * unless STARPU_PERF_MODEL_HOMOGENEOUS_CPU is 0.
 */

/** Let func tell how long implementation impl takes on these devices, for models of type
 * STARPU_PER_ARCH; 0. */
int starpu_perfmodel_set_per_devices_cost_function(
	struct starpu_perfmodel *model, int impl,
	starpu_perfmodel_per_arch_cost_function func, ...);

/** Let func tell the size of a task on these devices, rather than size_base; 0. */
int starpu_perfmodel_set_per_devices_size_base(struct starpu_perfmodel *model, int impl,
					       starpu_perfmodel_per_arch_size_base func,
					       ...);

/** What the model knows of these devices: the functions may be set, the rest is for
 * reading, as of now; belongs to the model. */
struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl, ...);

/** The same for an architecture. */
struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_arch(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, unsigned impl);

/** Number of combinations of devices that are known, those of the workers at least. */
int starpu_perfmodel_get_narch_combs(void);

/** Number of a combination, which is made known when it was not. */
int starpu_perfmodel_arch_comb_add(int ndevices, struct starpu_perfmodel_device *devices);

/** Number of a combination, -1 when it is not known. */
int starpu_perfmodel_arch_comb_get(int ndevices, struct starpu_perfmodel_device *devices);

/** The combination of a number, NULL when there is none; belongs to the library. */
struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb);

/** "cpu", "cuda" and so on. */
const char *starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype);

/** Write the name of an implementation on an architecture, "cpu0_impl0 (Comb0)" for
 * instance, to archname. */
void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch, char *archname,
				    size_t maxlen, unsigned nimpl);

/*
 * Texts, in StarPU's formats; between starpu_init() and starpu_shutdown().  Combinations
 * of devices are numbered as in the model's file, times are in microseconds.
 */

/** Print the directories that have models, a line each. */
void starpu_perfmodel_directory(FILE *output);

/** Print the names of all files of models; 0, or 1 when there is no directory of them. */
int starpu_perfmodel_list(FILE *output);

/**
 * Print what is known of an implementation on an architecture: fits and measured sizes.
 *
 * @param parameter  only this: a, b, c, alpha, beta, mean or stddev; NULL: everything.
 *                   Another one ends the program with a message
 * @param footprint  only the size with this footprint; NULL: all
 */
void starpu_perfmodel_print(struct starpu_perfmodel *model,
			    struct starpu_perfmodel_arch *arch, unsigned nimpl,
			    char *parameter, uint32_t *footprint, FILE *output);

/** The same for all implementations on a type of devices, such as "cpu", "cuda", or
 * "cpu:4" for 4 cores together, on one device ("cuda1"), or of what
 * starpu_perfmodel_list_combs() lists ("cuda1_impl0"); NULL: all.  0, or 1 when the model
 * knows nothing of it. */
int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch,
			       char *parameter, uint32_t *footprint, FILE *output);

/** Print the mean of what was measured with this footprint on each worker, in
 * microseconds, with spaces between them; "inf" where nothing was.  0. */
int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model, uint32_t footprint,
				       FILE *output);

/** Write the path of the file in which a program may keep its own notes about an
 * implementation of a model: debug/SYMBOL.HOST.ARCHITECTURE.debug among the models; its
 * directory is made.  Empty when there is none, or for a model without a symbol. */
void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
				    struct starpu_perfmodel_arch *arch, char *path,
				    size_t maxlen, unsigned nimpl);

/** Print the combinations of devices that the model knows; 0, or 1 when it knows none. */
int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model);

/** Print the whole model as XML. */
void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model);

/** Bytes per microsecond (MB/s) from one memory node to another. */
double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node);

/** Microseconds before the first byte from one memory node reaches another. */
double starpu_transfer_latency(unsigned src_node, unsigned dst_node);

/** Microseconds for a copy of size bytes; 0 within a node. */
double starpu_transfer_predict(unsigned src_node, unsigned dst_node, size_t size);

/** Print bandwidths and latencies between the memory nodes; between starpu_init() and
 * starpu_shutdown(), like the two below. */
void starpu_bus_print_bandwidth(FILE *f);

/** Print which main memory is near to each accelerator. */
void starpu_bus_print_affinity(FILE *f);

/** Print the paths of this machine's bus files that exist, a line each.  A real machine
 * that has none gets them at initialisation; STARPU_BUS_CALIBRATE writes them again. */
void starpu_bus_print_filenames(FILE *f);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_PERFMODEL_H */
