/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What goes wrong with CUDA devices, on the stand-in for CUDA, which is no GPU: each
 * ends, or goes on, with a message that names the task, the device and CUDA's own words.
 */
#include "../bad/dying.h"
#include "on_device.h"

#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

enum { N = 1 << 15, MANY = 40 };

static double x[MANY][N];

static void touch(const struct launch *launch)
{
	*(double *)standin_at(launch->ptr[0]) += 1;
}

static void touch_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = touch,
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0])}});
}

static struct starpu_codelet toucher = {.cuda_funcs = {touch_cuda},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.name = "toucher"};

/* The life that dying.h has begun had no devices. */
static void start(const char *variable, const char *value)
{
	starpu_shutdown();
	unsetenv("STARPU_NCUDA");
	setenv(variable, value, 1);
	if (starpu_init(NULL) != 0)
		_exit(77);
}

static void use_all(void)
{
	for (int i = 0; i < MANY; i++) {
		starpu_data_handle_t handle;

		starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x[i], N,
					    sizeof(double));
		starpu_task_insert(&toucher, STARPU_RW, handle, 0);
		starpu_data_unregister_submit(handle);
	}
	starpu_task_wait_for_all();
	starpu_shutdown();
}

static void nothing(void)
{
}

/* The driver has ended by then, and the library looks what became of a kernel. */
static void until_it_is_asked(void)
{
	while (standin_count(STANDIN_LATE_CALLS) == 0)
		sched_yield();
	usleep(1000);
}

static void leave_while_a_kernel_runs(void)
{
	starpu_data_handle_t handle;

	atexit(until_it_is_asked);
	start("STARPU_CUDA_PIPELINE", "2");
	standin_hold(STANDIN_KERNEL, STANDIN_QUEUED, 2);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x[0], N,
				    sizeof(double));
	starpu_task_insert(&toucher, STARPU_RW, handle, 0);
	exit(0);
}

static starpu_data_handle_t kept;

static void take_values_back(void)
{
	starpu_data_unregister(kept);
}

static void wait_after_the_driver(void)
{
	setenv("ORRERY_WATCHDOG", "0.5", 1);
	atexit(take_values_back);
	start("STARPU_CUDA_PIPELINE", "2");
	starpu_vector_data_register(&kept, STARPU_MAIN_RAM, (uintptr_t)x[0], N,
				    sizeof(double));
	starpu_task_insert(&toucher, STARPU_RW, kept, 0);
	starpu_task_wait_for_all();
	exit(0);
}

static starpu_data_handle_t first_handle(void)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x[0], N,
				    sizeof(double));
	return handle;
}

/* ---- at init ------------------------------------------------------------ */

static void expect_devices(unsigned n)
{
	if (starpu_cuda_worker_get_count() != n)
		abort();
	starpu_shutdown();
}

static void no_driver(void)
{
	setenv("ORRERY_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
	start("STARPU_NCUDA", "2");
	expect_devices(0);
}

static void another_library(void)
{
	setenv("ORRERY_CUDA_LIBRARY", "libm.so.6", 1);
	start("STARPU_NCUDA", "2");
	expect_devices(0);
}

static void no_device(void)
{
	setenv("STANDIN_FAIL", "cuInit:1:100", 1);
	start("STARPU_NCUDA", "1");
	expect_devices(0);
}

static void too_many(void)
{
	start("STARPU_NCUDA", "3");
	expect_devices(2);
}

static void wrong_numbers(void)
{
	start("STARPU_WORKERS_CUDAID", "1 7 one");
	expect_devices(1);
}

static void one_is_taken(void)
{
	setenv("STANDIN_FAIL", "cuDevicePrimaryCtxRetain:-1:46", 1);
	start("STARPU_WORKERS_CUDAID", "0 1");
	expect_devices(1);
}

static void damaged_library(void)
{
	char path[] = "/tmp/libcuda-XXXXXX";
	int file = mkstemp(path);

	if (file < 0 || write(file, "no library", 10) != 10)
		_exit(77);
	close(file);
	setenv("ORRERY_CUDA_LIBRARY", path, 1);
	start("STARPU_NCUDA", "2");
	unlink(path);
	expect_devices(0);
}

/* Each may use the other's memory, says the machine, and then it refuses. */
static void peers_refused(void)
{
	starpu_data_handle_t handle;

	setenv("STANDIN_FAIL", "cuCtxEnablePeerAccess:1:46", 1);
	start("STARPU_NCUDA", "2");
	handle = first_handle();
	for (int i = 0; i < 8; i++)
		starpu_task_insert(&toucher, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
				   i % 2, 0);
	starpu_data_unregister(handle);
	if (x[0][0] != 8)
		abort();
	starpu_shutdown();
}

/* ---- kernels and copies --------------------------------------------------- */

static void a_kernel_fails(void)
{
	setenv("STARPU_WORKERS_CUDAID", "1", 1);
	start("STANDIN_FAIL_RUN", "30:700");
	use_all();
}

static void break_down(const struct launch *launch)
{
	(void)launch;
	standin_fail(700);
}

static void broken_cuda(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	launch_here((struct launch){.func = break_down});
}

/* Nothing else is on the device. */
static void the_first_kernel_fails(void)
{
	start("STARPU_NCUDA", "1");
	toucher.cuda_funcs[0] = broken_cuda;
	toucher.nbuffers = 0;
	starpu_task_insert(&toucher, 0);
	starpu_task_wait_for_all();
}

static void report_in_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	STARPU_CUDA_REPORT_ERROR((cudaError_t)700);
}

static void report_cublas_in_kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	STARPU_CUBLAS_REPORT_ERROR(13);
}

static void a_kernel_reports(void)
{
	toucher.cuda_funcs[0] = report_in_kernel;
	start("STARPU_NCUDA", "1");
	use_all();
}

static void a_kernel_reports_cublas(void)
{
	toucher.cuda_funcs[0] = report_cublas_in_kernel;
	start("STARPU_NCUDA", "1");
	use_all();
}

static void a_copy_fails(void)
{
	setenv("STARPU_CUDA_PIPELINE", "0", 1);
	setenv("STANDIN_FAIL", "cuMemcpyAsync:25:700", 1);
	start("STARPU_NCUDA", "1");
	use_all();
}

static void the_device_is_lost(void)
{
	setenv("STANDIN_FAIL", "cuEventRecord:40:214", 1);
	start("STARPU_NCUDA", "1");
	use_all();
}

/* After the one that measures, the device gives no memory: to none, and to a second. */
static void others_have_the_device(void)
{
	setenv("STANDIN_FAIL", "cuMemAlloc_v2:2:2", 1);
	start("STARPU_NCUDA", "1");
	use_all();
}

static void others_use_the_device(void)
{
	setenv("STANDIN_FAIL", "cuMemAlloc_v2:3:2", 1);
	start("STARPU_NCUDA", "1");
	use_all();
}

static void a_task_is_larger_than_the_device(void)
{
	starpu_data_handle_t handle;

	start("STARPU_LIMIT_CUDA_MEM", "1");
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x[0], 8 * N,
				    sizeof(double));
	starpu_task_insert(&toucher, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
}

/* ---- programs --------------------------------------------------------------- */

static void refuse(struct starpu_codelet *cl)
{
	starpu_data_handle_t handle = first_handle();

	if (starpu_task_insert(cl, STARPU_RW, handle, 0) != -ENODEV)
		abort();
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void nowhere_to_run(void)
{
	refuse(&toucher);
}

static void no_function(void)
{
	static struct starpu_codelet hollow = {.where = STARPU_CUDA,
					       .nbuffers = 1,
					       .modes = {STARPU_RW},
					       .name = "hollow"};

	start("STARPU_NCUDA", "1");
	refuse(&hollow);
}

static void a_stream_for_nobody(void)
{
	start("STARPU_NCUDA", "1");
	starpu_cuda_get_local_stream();
}

static void a_device_without_worker(void)
{
	start("STARPU_NCUDA", "1");
	starpu_cuda_set_device(1);
}

/* A kernel that is to run beside a copy, in a program that has none. */
static void nothing_beside(void)
{
	setenv("STANDIN_PATIENCE_S", "0", 1);
	start("STARPU_NCUDA", "1");
	standin_hold(STANDIN_KERNEL, STANDIN_FROM_DEVICE, 1);
	starpu_task_insert(&toucher, STARPU_RW, first_handle(), 0);
	starpu_task_wait_for_all();
}

static void a_copy_within_main_memory(void)
{
	start("STARPU_NCUDA", "1");
	starpu_cuda_copy_async_sync(x[0], 0, x[1], 0, 8, NULL, cudaMemcpyDefault);
}

static void report_cuda(void)
{
	start("STARPU_NCUDA", "1");
	STARPU_CUDA_REPORT_ERROR((cudaError_t)700);
}

static void report_cublas(void)
{
	STARPU_CUBLAS_REPORT_ERROR(13);
}

static void no_handle(void)
{
	start("STARPU_NCUDA", "1");
	starpu_cublas_get_local_handle();
}

static void no_handle_without_device(void)
{
	start("STARPU_NCUDA", "0");
	starpu_cublas_init();
	starpu_cublas_get_local_handle();
}

static void cublas_refuses(void)
{
	setenv("STANDIN_FAIL", "cublasCreate_v2:1:3", 1);
	start("STARPU_NCUDA", "1");
	starpu_cublas_init();
}

static void report_cusolver(void)
{
	STARPU_CUSOLVER_REPORT_ERROR(10);
}

static void too_many_workers(void)
{
	setenv("STANDIN_DEVICES", "3", 1);
	setenv("STARPU_NCPU", "1", 1);
	start("STARPU_NWORKER_PER_CUDA", "16");
	expect_devices(30);
}

static void both_kinds_of_threads(void)
{
	setenv("STARPU_CUDA_THREAD_PER_WORKER", "1", 1);
	start("STARPU_CUDA_THREAD_PER_DEV", "1");
}

static void too_large_to_pin(void)
{
	setenv("STANDIN_FAIL", "cuMemHostRegister_v2:1:2", 1);
	start("STARPU_NCUDA", "1");
	if (starpu_memory_pin(x, sizeof(x)) != -ENOMEM)
		abort();
	/* Told once, and the program goes on. */
	use_all();
}

static void nothing_is_pinned(void)
{
	setenv("STANDIN_FAIL", "cuMemHostRegister_v2:1:2", 1);
	setenv("STARPU_DISABLE_PINNING", "1", 1);
	start("STARPU_NCUDA", "1");
	if (starpu_memory_pin(x, sizeof(x)) != 0)
		abort();
	starpu_shutdown();
}

#define LIVES 1

static const struct dying mistakes[] = {
	{"no driver", {"/nowhere/libcuda.so.1", "going on without"}, no_driver, LIVES},
	{"another library", {"libm.so.6", "no function cuInit"}, another_library, LIVES},
	{"a damaged library",
	 {"/tmp/libcuda-", "install the driver of the GPU"},
	 damaged_library,
	 LIVES},
	{"no device", {"CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES"}, no_device, LIVES},
	{"too many devices", {"3 CUDA workers asked for", "with 2"}, too_many, LIVES},
	{"wrong numbers of devices",
	 {"7 is not the number", "one is not the number"},
	 wrong_numbers,
	 LIVES},
	{"a device that cannot be used",
	 {"CUDA 0 (Stand-in 0) cannot be used", "CUDA_ERROR_DEVICE_UNAVAILABLE"},
	 one_is_taken,
	 LIVES},
	{"an operation of a device fails",
	 {"CUDA 1 (Stand-in 1)", "CUDA_ERROR_ILLEGAL_ADDRESS, 700"},
	 a_kernel_fails,
	 0},
	{"a kernel fails",
	 {"task \"toucher\"", "CUDA_ERROR_ILLEGAL_ADDRESS, 700"},
	 the_first_kernel_fails,
	 0},
	{"a kernel tells CUDA's error",
	 {"in task \"toucher\" on CUDA 0 (Stand-in 0)", "an illegal memory access"},
	 a_kernel_reports,
	 0},
	{"a kernel tells cuBLAS's status",
	 {"in task \"toucher\" on CUDA 0 (Stand-in 0)", "a kernel failed"},
	 a_kernel_reports_cublas,
	 0},
	{"a copy fails",
	 {"(V32768x8) cannot be copied", "illegal memory"},
	 a_copy_fails,
	 0},
	{"devices that may not see each other",
	 {"CUDA 1 (Stand-in 1) may not see the memory of CUDA 0", "by main memory"},
	 peers_refused,
	 LIVES},
	{"a device is lost",
	 {"uncorrectable ECC error (CUDA_ERROR_ECC_UNCORRECTABLE, 214)", "dmesg"},
	 the_device_is_lost,
	 0},
	{"others have all of the device",
	 {"out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)",
	  "needs 262144 bytes in memory node 1, whose device refuses more"},
	 others_have_the_device,
	 0},
	{"others leave room for a value",
	 {"no 262144 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)",
	  "values leave it until what is left does"},
	 others_use_the_device,
	 LIVES},
	{"a task that is larger than the device",
	 {"task \"toucher\" (1) needs 2097152 bytes in memory node ",
	  "which has 1048576: use smaller pieces, "
	  "raise the limit (STARPU_LIMIT_CUDA_MEM)"},
	 a_task_is_larger_than_the_device,
	 0},
	{"a codelet for devices without one",
	 {"\"toucher\"", "shall run on CUDA, and workers here are CPU"},
	 nowhere_to_run,
	 LIVES},
	{"a codelet without a function",
	 {"\"hollow\"", "functions for none"},
	 no_function,
	 LIVES},
	{"a stream for nobody",
	 {"starpu_cuda_get_local_stream", "called by no worker"},
	 a_stream_for_nobody,
	 0},
	{"a device without a worker",
	 {"starpu_cuda_set_device", "device 1 has no worker"},
	 a_device_without_worker,
	 0},
	{"a kernel that is to run beside something",
	 {"standin: stuck: one of the kernels is to run beside 1 more",
	  "the program starts none before it has ended"},
	 nothing_beside,
	 0},
	{"a copy within main memory",
	 {"from memory node 0 to 0", "expected a CUDA device's"},
	 a_copy_within_main_memory,
	 0},
	{"an error of CUDA's is reported",
	 {"faults.c", "an illegal memory access"},
	 report_cuda,
	 0},
	{"a status of cuBLAS's is reported", {"13", "a kernel failed"}, report_cublas, 0},
	{"a status of cuSOLVER's is reported",
	 {"10", "a pivot is zero"},
	 report_cusolver,
	 0},
	{"a handle before its library",
	 {"starpu_cublas_get_local_handle", "nobody has asked for one"},
	 no_handle,
	 0},
	{"a handle without a device",
	 {"no handle of cuBLAS", "no worker has a GPU"},
	 no_handle_without_device,
	 0},
	{"cuBLAS refuses",
	 {"starpu_cublas_init: cuBLAS has status 3", "Stand-in 0"},
	 cublas_refuses,
	 0},
	{"too many workers of devices",
	 {"STARPU_NWORKER_PER_CUDA is 16 for 3 devices", "going on with 10"},
	 too_many_workers,
	 LIVES},
	{"threads for workers and for devices",
	 {"STARPU_CUDA_THREAD_PER_WORKER is 1", "expected one of them"},
	 both_kinds_of_threads,
	 0},
	{"leaving while a kernel runs", {"", ""}, leave_while_a_kernel_runs, LIVES},
	{"waiting when the driver has ended",
	 {"CUDA's driver has ended before", "atexit()"},
	 wait_after_the_driver,
	 0},
	{"memory that cannot be pinned",
	 {"cannot be pinned", "ulimit -l"},
	 too_large_to_pin,
	 LIVES},
	{"nothing is pinned where that is said", {"", ""}, nothing_is_pinned, LIVES}};

int main(void)
{
	standin_use();
	setenv("STARPU_NCUDA", "0", 1);
	return dying_run(mistakes, sizeof(mistakes) / sizeof(mistakes[0]), nothing);
}
