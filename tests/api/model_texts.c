/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Where models are kept, what is printed of them, and what links between memories take.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "claim.h"

int claim_failures;

enum { TEXT_BYTES = 1 << 14, NSIZES = 3 };

static char directory[] = "/tmp/orrery-model-texts-XXXXXX";
static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED, .symbol = "texts"};

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static size_t size_of(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return (size_t)(uintptr_t)task->cl_arg;
}

static uint32_t footprint_of(struct starpu_task *task)
{
	return (uint32_t)(uintptr_t)task->cl_arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {nothing, nothing}, .model = &model};

static struct starpu_perfmodel_arch *cpu(void)
{
	return starpu_worker_get_perf_archtype(
		starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
}

/* Of 1, 2 and 3 bytes, in this order. */
static void measure(unsigned implementation)
{
	for (uintptr_t bytes = 1; bytes <= NSIZES; bytes++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &cl;
		task->cl_arg = (void *)bytes;
		task->destroy = 0;
		starpu_perfmodel_update_history_n(&model, task, cpu(), 0, implementation,
						  100.0 * (double)bytes, 20);
		starpu_task_destroy(task);
	}
}

/* Without what earlier claims have measured. */
static void begin(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/codelets/45/texts.here", directory);
	unlink(path);
	claim_start(2);
	memset(&model, 0, sizeof(model));
	model.type = STARPU_HISTORY_BASED;
	model.symbol = "texts";
	model.size_base = size_of;
	model.footprint = footprint_of;
	measure(0);
}

static char *text_of(FILE *file, char text[TEXT_BYTES])
{
	size_t n;

	rewind(file);
	n = fread(text, 1, TEXT_BYTES - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* ---- texts ----------------------------------------------------------- */

#define HEAD "# performance model for cpu0_impl0 (Comb0)\n"
#define HASH "# hash\t\tsize\t\tflops\t\tmean (us)\tstddev (us)\t\tn\n"
#define ROW(size)                                                                        \
	"0000000" #size "\t" #size "              \t0.000000e+00   \t" #size             \
	".000000e+02   \t0.000000e+00   \t20\n"

static void is_printed(unsigned implementation, char *parameter, uint32_t *footprint,
		       const char *expected)
{
	char text[TEXT_BYTES];
	FILE *file = tmpfile();

	starpu_perfmodel_print(&model, cpu(), implementation, parameter, footprint, file);
	text_of(file, text);
	if (strcmp(text, expected) != 0)
		printf("seen:\n%s\nexpected:\n%s\n", text, expected);
	CLAIM(strcmp(text, expected) == 0);
}

/* StarPU prints what came last first. */
static void the_last_is_printed_first(void)
{
	uint32_t two = 2, nine = 9;

	begin();
	is_printed(0, NULL, NULL, HEAD HASH ROW(3) ROW(2) ROW(1));
	is_printed(0, NULL, &two, HEAD HASH ROW(2));
	is_printed(0, NULL, &nine, HEAD HASH);
	is_printed(0, "mean", NULL,
		   HEAD "3.000000e+02   \n2.000000e+02   \n1.000000e+02   \n");
	is_printed(0, "stddev", &two, HEAD "0.000000e+00   \n");
	is_printed(0, "alpha", NULL, HEAD "nan\n");
	is_printed(1, NULL, NULL, "");
	starpu_shutdown();
}

static void all_that_is_named_is_printed(void)
{
	char text[TEXT_BYTES];
	FILE *file;

	begin();
	measure(1);
	file = tmpfile();
	CLAIM_EQ(starpu_perfmodel_print_all(&model, "cpu", NULL, NULL, file), 0);
	text_of(file, text);
	CLAIM(strncmp(text, HEAD HASH ROW(3) ROW(2) ROW(1),
		      strlen(HEAD HASH ROW(3) ROW(2) ROW(1))) == 0);
	CLAIM(strstr(text, "# performance model for cpu0_impl1 (Comb0)\n" HASH ROW(3)) !=
	      NULL);
	file = tmpfile();
	CLAIM(starpu_perfmodel_print_all(&model, "cuda", NULL, NULL, file) != 0);
	CLAIM_EQ(*text_of(file, text), '\0');
	file = tmpfile();
	starpu_perfmodel_dump_xml(file, &model);
	text_of(file, text);
	CLAIM(strstr(text, "<!-- symbol texts -->\n") != NULL);
	CLAIM(strstr(text, "      <entry footprint=\"00000003\" size=\"3\" "
			   "flops=\"0.000000e+00\" mean=\"3.000000e+02\" "
			   "deviation=\"0.000000e+00\" sum=\"6.000000e+03\" "
			   "sum2=\"1.800000e+06\" nsample=\"20\"/>\n"
			   "      <entry footprint=\"00000002\"") != NULL);
	starpu_shutdown();
}

static void parameters_of(struct starpu_task *task, double *parameters)
{
	parameters[0] = ((double *)task->cl_arg)[0];
	parameters[1] = ((double *)task->cl_arg)[1];
}

/* 5 + 2 M + 3 M N^2 */
static void products_have_names(void)
{
	static unsigned first[] = {1, 0}, second[] = {1, 2};
	static unsigned *combinations[] = {first, second};
	static const char *names[] = {"M", "N"};
	static struct starpu_perfmodel multiple = {
		.type = STARPU_MULTIPLE_REGRESSION_BASED,
		.symbol = "products",
		.parameters = parameters_of,
		.nparameters = 2,
		.parameters_names = names,
		.ncombinations = 2,
		.combinations = combinations};
	static struct starpu_codelet of_two = {.cpu_funcs = {nothing},
					       .model = &multiple};
	char text[TEXT_BYTES];
	FILE *file = tmpfile();

	claim_start(1);
	for (int i = 0; i < 20; i++) {
		double both[] = {1 + i, 1 + i * i % 7};
		struct starpu_task *task = starpu_task_create();

		task->cl = &of_two;
		task->cl_arg = both;
		task->destroy = 0;
		starpu_perfmodel_update_history(&multiple, task, cpu(), 0, 0,
						5 + 2 * both[0] +
							3 * both[0] * both[1] * both[1]);
		starpu_task_destroy(task);
	}
	starpu_save_history_based_model(&multiple);
	starpu_perfmodel_dump_xml(file, &multiple);
	text_of(file, text);
	CLAIM(strstr(text, "      <ml_regression constant=\"5.000000e+00\">\n"
			   "        <monomial name=\"M\" coef=\"2.000000e+00\"/>\n"
			   "        <monomial name=\"M*N^2\" coef=\"3.000000e+00\"/>\n"
			   "      </ml_regression>\n") != NULL);
	starpu_shutdown();
}

/* ---- places ---------------------------------------------------------- */

static void models_have_a_place(void)
{
	struct starpu_perfmodel read = {.type = STARPU_PERFMODEL_INVALID};
	char path[600], expected[600], text[TEXT_BYTES];
	FILE *file;

	begin();
	snprintf(expected, sizeof(expected), "%s/codelets/45/texts.here", directory);
	starpu_perfmodel_get_model_path("texts", path, sizeof(path));
	CLAIM_EQ(*path, '\0');
	starpu_save_history_based_model(&model);
	CLAIM_EQ(access(expected, R_OK), 0);
	starpu_perfmodel_get_model_path("texts", path, sizeof(path));
	CLAIM(strcmp(path, expected) == 0);
	starpu_perfmodel_get_model_path("texts", path, 8);
	CLAIM_EQ(strlen(path), 7);

	file = tmpfile();
	CLAIM_EQ(starpu_perfmodel_list(file), 0);
	CLAIM(strstr(text_of(file, text), "file: <texts.here>\n") != NULL);
	file = tmpfile();
	starpu_perfmodel_directory(file);
	snprintf(path, sizeof(path), "directory: <%s/codelets/45/>\n", directory);
	CLAIM(strstr(text_of(file, text), path) != NULL);

	CLAIM_EQ(starpu_perfmodel_load_file(expected, &read), 0);
	CLAIM_EQ(read.type, STARPU_HISTORY_BASED);
	file = tmpfile();
	CLAIM_EQ(starpu_perfmodel_print_all(&read, NULL, NULL, NULL, file), 0);
	CLAIM(strcmp(text_of(file, text), HEAD HASH ROW(3) ROW(2) ROW(1)) == 0);
	starpu_perfmodel_unload_model(&read);
	CLAIM(starpu_perfmodel_load_file("/nowhere/texts.here", &read) != 0);
	CLAIM(starpu_perfmodel_load_symbol("nothing", &read) != 0);
	starpu_shutdown();
}

static void devices_have_names(void)
{
	CLAIM(strcmp(starpu_perfmodel_get_archtype_name(STARPU_CPU_WORKER), "cpu") == 0);
	CLAIM(strcmp(starpu_perfmodel_get_archtype_name(STARPU_CUDA_WORKER), "cuda") ==
	      0);
}

/* ---- links ----------------------------------------------------------- */

static void links_are_predicted(void)
{
	int n;

	if (starpu_init(NULL) != 0)
		exit(77);
	n = (int)starpu_memory_nodes_get_count();
	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++) {
			unsigned a = (unsigned)from, b = (unsigned)to;
			double bytes_per_us = starpu_transfer_bandwidth(a, b);
			double us = starpu_transfer_latency(a, b);

			if (from == to) {
				CLAIM(bytes_per_us == 0 && us == 0);
				CLAIM(starpu_transfer_predict(a, b, 1 << 20) == 0);
				continue;
			}
			CLAIM(bytes_per_us > 0 && us >= 0);
			CLAIM(starpu_transfer_predict(a, b, 1 << 20) >=
			      us + 0.99 * (1 << 20) / bytes_per_us);
		}
	starpu_shutdown();
}

static void links_are_printed(void)
{
	char text[TEXT_BYTES], expected[256];
	FILE *file = tmpfile();

	if (starpu_init(NULL) != 0)
		exit(77);
	starpu_bus_print_bandwidth(file);
	text_of(file, text);
	CLAIM(strncmp(text, "from/to\tNUMA 0\t", strlen("from/to\tNUMA 0\t")) == 0);
	CLAIM(strstr(text, "\t\nNUMA 0\t0\t") != NULL);   /* MB/s */
	CLAIM(strstr(text, "\t\n\nNUMA 0\t0\t") != NULL); /* us */
	if (starpu_cuda_worker_get_count() > 0) {
		snprintf(expected, sizeof(expected), "\t\n\nNUMA 0\t0\t%.0f\t",
			 starpu_transfer_latency(0, 1));
		CLAIM(strstr(text, expected) != NULL);
		snprintf(expected, sizeof(expected), "\nNUMA 0\t0\t%.0f\t",
			 starpu_transfer_bandwidth(0, 1));
		CLAIM(strstr(text, expected) != NULL);
	}
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"the last measurement is printed first", the_last_is_printed_first},
	{"all that is named is printed", all_that_is_named_is_printed},
	{"products of parameters have names", products_have_names},
	{"models have a place", models_have_a_place},
	{"devices have names", devices_have_names},
	{"links are predicted", links_are_predicted},
	{"links are printed", links_are_printed},
	{NULL, NULL}};

int main(void)
{
	char command[64];
	int failed;

	if (!mkdtemp(directory))
		return 1;
	setenv("STARPU_PERF_MODEL_DIR", directory, 1);
	setenv("STARPU_HOSTNAME", "here", 1);
	failed = claims_run(claims, 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command) != 0 || failed;
}
