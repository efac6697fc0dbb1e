/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Public structures keep the order of fields, and constants the values, that
 * programs rely on (positional initialisers, arrays indexed by an enumeration).
 * Only compiled.
 */

#define BUILDING_STARPU /* no warnings for the deprecated fields */

#include <stddef.h>

#include <starpu.h>
#include <starpu_mpi.h>

#define FOLLOWS(type, first, second)                                                     \
	STARPU_STATIC_ASSERT(offsetof(struct type, first) < offsetof(struct type, second))
#define IS(constant, value) STARPU_STATIC_ASSERT((long long)(constant) == (value))

FOLLOWS(starpu_codelet, where, can_execute);
FOLLOWS(starpu_codelet, can_execute, type);
FOLLOWS(starpu_codelet, type, max_parallelism);
FOLLOWS(starpu_codelet, max_parallelism, cpu_func);
FOLLOWS(starpu_codelet, cpu_func, cuda_func);
FOLLOWS(starpu_codelet, cuda_func, opencl_func);
FOLLOWS(starpu_codelet, opencl_func, cpu_funcs);
FOLLOWS(starpu_codelet, cpu_funcs, cuda_funcs);
FOLLOWS(starpu_codelet, cuda_funcs, cuda_flags);
FOLLOWS(starpu_codelet, cuda_flags, hip_funcs);
FOLLOWS(starpu_codelet, hip_funcs, hip_flags);
FOLLOWS(starpu_codelet, hip_flags, opencl_funcs);
FOLLOWS(starpu_codelet, opencl_funcs, opencl_flags);
FOLLOWS(starpu_codelet, opencl_flags, max_fpga_funcs);
FOLLOWS(starpu_codelet, max_fpga_funcs, cpu_funcs_name);
FOLLOWS(starpu_codelet, cpu_funcs_name, bubble_func);
FOLLOWS(starpu_codelet, bubble_func, bubble_gen_dag_func);
FOLLOWS(starpu_codelet, bubble_gen_dag_func, nbuffers);
FOLLOWS(starpu_codelet, nbuffers, modes);
FOLLOWS(starpu_codelet, modes, dyn_modes);
FOLLOWS(starpu_codelet, dyn_modes, specific_nodes);
FOLLOWS(starpu_codelet, specific_nodes, nodes);
FOLLOWS(starpu_codelet, nodes, dyn_nodes);
FOLLOWS(starpu_codelet, dyn_nodes, model);
FOLLOWS(starpu_codelet, model, energy_model);
FOLLOWS(starpu_codelet, energy_model, per_worker_stats);
FOLLOWS(starpu_codelet, per_worker_stats, name);
FOLLOWS(starpu_codelet, name, color);
FOLLOWS(starpu_codelet, color, callback_func);
FOLLOWS(starpu_codelet, callback_func, flags);
FOLLOWS(starpu_codelet, flags, perf_counter_sample);
FOLLOWS(starpu_codelet, perf_counter_sample, perf_counter_values);
FOLLOWS(starpu_codelet, perf_counter_values, checked);

FOLLOWS(starpu_codelet_pack_arg_data, arg_buffer, arg_buffer_size);
FOLLOWS(starpu_codelet_pack_arg_data, arg_buffer_size, arg_buffer_used);
FOLLOWS(starpu_codelet_pack_arg_data, arg_buffer_used, current_offset);
FOLLOWS(starpu_codelet_pack_arg_data, current_offset, nargs);

FOLLOWS(starpu_conf, magic, will_use_mpi);
FOLLOWS(starpu_conf, will_use_mpi, sched_policy_name);
FOLLOWS(starpu_conf, sched_policy_name, sched_policy);
FOLLOWS(starpu_conf, sched_policy, sched_policy_callback);
FOLLOWS(starpu_conf, sched_policy_callback, precedence_over_environment_variables);
FOLLOWS(starpu_conf, precedence_over_environment_variables, ncpus);
FOLLOWS(starpu_conf, ncpus, reserve_ncpus);
FOLLOWS(starpu_conf, reserve_ncpus, ncuda);
FOLLOWS(starpu_conf, ncuda, nhip);
FOLLOWS(starpu_conf, nhip, nopencl);
FOLLOWS(starpu_conf, nopencl, nmax_fpga);
FOLLOWS(starpu_conf, nmax_fpga, nmpi_ms);
FOLLOWS(starpu_conf, nmpi_ms, ntcpip_ms);
FOLLOWS(starpu_conf, ntcpip_ms, use_explicit_workers_bindid);
FOLLOWS(starpu_conf, use_explicit_workers_bindid, workers_bindid);
FOLLOWS(starpu_conf, workers_bindid, use_explicit_workers_cuda_gpuid);
FOLLOWS(starpu_conf, use_explicit_workers_cuda_gpuid, workers_cuda_gpuid);
FOLLOWS(starpu_conf, workers_cuda_gpuid, use_explicit_workers_hip_gpuid);
FOLLOWS(starpu_conf, use_explicit_workers_hip_gpuid, workers_hip_gpuid);
FOLLOWS(starpu_conf, workers_hip_gpuid, use_explicit_workers_opencl_gpuid);
FOLLOWS(starpu_conf, use_explicit_workers_opencl_gpuid, workers_opencl_gpuid);
FOLLOWS(starpu_conf, workers_opencl_gpuid, use_explicit_workers_max_fpga_deviceid);
FOLLOWS(starpu_conf, use_explicit_workers_max_fpga_deviceid, workers_max_fpga_deviceid);
FOLLOWS(starpu_conf, workers_max_fpga_deviceid, max_fpga_load);
FOLLOWS(starpu_conf, max_fpga_load, use_explicit_workers_mpi_ms_deviceid);
FOLLOWS(starpu_conf, use_explicit_workers_mpi_ms_deviceid, workers_mpi_ms_deviceid);
FOLLOWS(starpu_conf, workers_mpi_ms_deviceid, bus_calibrate);
FOLLOWS(starpu_conf, bus_calibrate, calibrate);
FOLLOWS(starpu_conf, calibrate, data_locality_enforce);
FOLLOWS(starpu_conf, data_locality_enforce, single_combined_worker);
FOLLOWS(starpu_conf, single_combined_worker, disable_asynchronous_copy);
FOLLOWS(starpu_conf, disable_asynchronous_copy, disable_asynchronous_cuda_copy);
FOLLOWS(starpu_conf, disable_asynchronous_cuda_copy, disable_asynchronous_hip_copy);
FOLLOWS(starpu_conf, disable_asynchronous_hip_copy, disable_asynchronous_opencl_copy);
FOLLOWS(starpu_conf, disable_asynchronous_opencl_copy, disable_asynchronous_mpi_ms_copy);
FOLLOWS(starpu_conf, disable_asynchronous_mpi_ms_copy,
	disable_asynchronous_tcpip_ms_copy);
FOLLOWS(starpu_conf, disable_asynchronous_tcpip_ms_copy,
	disable_asynchronous_max_fpga_copy);
FOLLOWS(starpu_conf, disable_asynchronous_max_fpga_copy, enable_map);
FOLLOWS(starpu_conf, enable_map, cuda_opengl_interoperability);
FOLLOWS(starpu_conf, cuda_opengl_interoperability, n_cuda_opengl_interoperability);
FOLLOWS(starpu_conf, n_cuda_opengl_interoperability, not_launched_drivers);
FOLLOWS(starpu_conf, not_launched_drivers, n_not_launched_drivers);
FOLLOWS(starpu_conf, n_not_launched_drivers, trace_buffer_size);
FOLLOWS(starpu_conf, trace_buffer_size, global_sched_ctx_min_priority);
FOLLOWS(starpu_conf, global_sched_ctx_min_priority, global_sched_ctx_max_priority);
FOLLOWS(starpu_conf, global_sched_ctx_max_priority, callback_worker_going_to_sleep);
FOLLOWS(starpu_conf, callback_worker_going_to_sleep, callback_worker_waking_up);
FOLLOWS(starpu_conf, callback_worker_waking_up, catch_signals);
FOLLOWS(starpu_conf, catch_signals, start_perf_counter_collection);
FOLLOWS(starpu_conf, start_perf_counter_collection, driver_spinning_backoff_min);
FOLLOWS(starpu_conf, driver_spinning_backoff_min, driver_spinning_backoff_max);
FOLLOWS(starpu_conf, driver_spinning_backoff_max, cuda_only_fast_alloc_other_memnodes);

FOLLOWS(starpu_data_copy_methods, can_copy, ram_to_ram);
FOLLOWS(starpu_data_copy_methods, ram_to_ram, ram_to_cuda);
FOLLOWS(starpu_data_copy_methods, ram_to_cuda, ram_to_hip);
FOLLOWS(starpu_data_copy_methods, ram_to_hip, ram_to_opencl);
FOLLOWS(starpu_data_copy_methods, ram_to_opencl, ram_to_max_fpga);
FOLLOWS(starpu_data_copy_methods, ram_to_max_fpga, cuda_to_ram);
FOLLOWS(starpu_data_copy_methods, cuda_to_ram, cuda_to_cuda);
FOLLOWS(starpu_data_copy_methods, cuda_to_cuda, hip_to_ram);
FOLLOWS(starpu_data_copy_methods, hip_to_ram, hip_to_hip);
FOLLOWS(starpu_data_copy_methods, hip_to_hip, opencl_to_ram);
FOLLOWS(starpu_data_copy_methods, opencl_to_ram, opencl_to_opencl);
FOLLOWS(starpu_data_copy_methods, opencl_to_opencl, max_fpga_to_ram);
FOLLOWS(starpu_data_copy_methods, max_fpga_to_ram, ram_to_cuda_async);
FOLLOWS(starpu_data_copy_methods, ram_to_cuda_async, cuda_to_ram_async);
FOLLOWS(starpu_data_copy_methods, cuda_to_ram_async, cuda_to_cuda_async);
FOLLOWS(starpu_data_copy_methods, cuda_to_cuda_async, ram_to_hip_async);
FOLLOWS(starpu_data_copy_methods, ram_to_hip_async, hip_to_ram_async);
FOLLOWS(starpu_data_copy_methods, hip_to_ram_async, hip_to_hip_async);
FOLLOWS(starpu_data_copy_methods, hip_to_hip_async, ram_to_opencl_async);
FOLLOWS(starpu_data_copy_methods, ram_to_opencl_async, opencl_to_ram_async);
FOLLOWS(starpu_data_copy_methods, opencl_to_ram_async, opencl_to_opencl_async);
FOLLOWS(starpu_data_copy_methods, opencl_to_opencl_async, ram_to_max_fpga_async);
FOLLOWS(starpu_data_copy_methods, ram_to_max_fpga_async, max_fpga_to_ram_async);
FOLLOWS(starpu_data_copy_methods, max_fpga_to_ram_async, any_to_any);

FOLLOWS(starpu_data_descr, handle, mode);

FOLLOWS(starpu_data_filter, filter_func, nchildren);
FOLLOWS(starpu_data_filter, nchildren, get_nchildren);
FOLLOWS(starpu_data_filter, get_nchildren, get_child_ops);
FOLLOWS(starpu_data_filter, get_child_ops, filter_arg);
FOLLOWS(starpu_data_filter, filter_arg, filter_arg_ptr);

FOLLOWS(starpu_data_interface_ops, register_data_handle, unregister_data_handle);
FOLLOWS(starpu_data_interface_ops, unregister_data_handle, allocate_data_on_node);
FOLLOWS(starpu_data_interface_ops, allocate_data_on_node, free_data_on_node);
FOLLOWS(starpu_data_interface_ops, free_data_on_node, cache_data_on_node);
FOLLOWS(starpu_data_interface_ops, cache_data_on_node, reuse_data_on_node);
FOLLOWS(starpu_data_interface_ops, reuse_data_on_node, map_data);
FOLLOWS(starpu_data_interface_ops, map_data, unmap_data);
FOLLOWS(starpu_data_interface_ops, unmap_data, update_map);
FOLLOWS(starpu_data_interface_ops, update_map, init);
FOLLOWS(starpu_data_interface_ops, init, copy_methods);
FOLLOWS(starpu_data_interface_ops, copy_methods, handle_to_pointer);
FOLLOWS(starpu_data_interface_ops, handle_to_pointer, to_pointer);
FOLLOWS(starpu_data_interface_ops, to_pointer, get_size);
FOLLOWS(starpu_data_interface_ops, get_size, get_alloc_size);
FOLLOWS(starpu_data_interface_ops, get_alloc_size, get_max_size);
FOLLOWS(starpu_data_interface_ops, get_max_size, footprint);
FOLLOWS(starpu_data_interface_ops, footprint, alloc_footprint);
FOLLOWS(starpu_data_interface_ops, alloc_footprint, compare);
FOLLOWS(starpu_data_interface_ops, compare, alloc_compare);
FOLLOWS(starpu_data_interface_ops, alloc_compare, display);
FOLLOWS(starpu_data_interface_ops, display, describe);
FOLLOWS(starpu_data_interface_ops, describe, interfaceid);
FOLLOWS(starpu_data_interface_ops, interfaceid, interface_size);
FOLLOWS(starpu_data_interface_ops, interface_size, is_multiformat);
FOLLOWS(starpu_data_interface_ops, is_multiformat, dontcache);
FOLLOWS(starpu_data_interface_ops, dontcache, get_mf_ops);
FOLLOWS(starpu_data_interface_ops, get_mf_ops, pack_data);
FOLLOWS(starpu_data_interface_ops, pack_data, peek_data);
FOLLOWS(starpu_data_interface_ops, peek_data, unpack_data);
FOLLOWS(starpu_data_interface_ops, unpack_data, pack_meta);
FOLLOWS(starpu_data_interface_ops, pack_meta, unpack_meta);
FOLLOWS(starpu_data_interface_ops, unpack_meta, free_meta);
FOLLOWS(starpu_data_interface_ops, free_meta, name);

FOLLOWS(starpu_driver, type, id);

FOLLOWS(starpu_block_interface, id, ptr);
FOLLOWS(starpu_block_interface, ptr, dev_handle);
FOLLOWS(starpu_block_interface, dev_handle, offset);
FOLLOWS(starpu_block_interface, offset, nx);
FOLLOWS(starpu_block_interface, nx, ny);
FOLLOWS(starpu_block_interface, ny, nz);
FOLLOWS(starpu_block_interface, nz, ldy);
FOLLOWS(starpu_block_interface, ldy, ldz);
FOLLOWS(starpu_block_interface, ldz, elemsize);

FOLLOWS(starpu_matrix_interface, id, ptr);
FOLLOWS(starpu_matrix_interface, ptr, dev_handle);
FOLLOWS(starpu_matrix_interface, dev_handle, offset);
FOLLOWS(starpu_matrix_interface, offset, nx);
FOLLOWS(starpu_matrix_interface, nx, ny);
FOLLOWS(starpu_matrix_interface, ny, ld);
FOLLOWS(starpu_matrix_interface, ld, elemsize);
FOLLOWS(starpu_matrix_interface, elemsize, allocsize);

FOLLOWS(starpu_csr_interface, id, nnz);
FOLLOWS(starpu_csr_interface, nnz, nrow);
FOLLOWS(starpu_csr_interface, nrow, nzval);
FOLLOWS(starpu_csr_interface, nzval, colind);
FOLLOWS(starpu_csr_interface, colind, rowptr);
FOLLOWS(starpu_csr_interface, rowptr, ram_colind);
FOLLOWS(starpu_csr_interface, ram_colind, ram_rowptr);
FOLLOWS(starpu_csr_interface, ram_rowptr, firstentry);
FOLLOWS(starpu_csr_interface, firstentry, elemsize);

FOLLOWS(starpu_bcsr_interface, id, nnz);
FOLLOWS(starpu_bcsr_interface, nnz, nrow);
FOLLOWS(starpu_bcsr_interface, nrow, nzval);
FOLLOWS(starpu_bcsr_interface, nzval, colind);
FOLLOWS(starpu_bcsr_interface, colind, rowptr);
FOLLOWS(starpu_bcsr_interface, rowptr, ram_colind);
FOLLOWS(starpu_bcsr_interface, ram_colind, ram_rowptr);
FOLLOWS(starpu_bcsr_interface, ram_rowptr, firstentry);
FOLLOWS(starpu_bcsr_interface, firstentry, r);
FOLLOWS(starpu_bcsr_interface, r, c);
FOLLOWS(starpu_bcsr_interface, c, elemsize);

FOLLOWS(starpu_coo_interface, id, columns);
FOLLOWS(starpu_coo_interface, columns, rows);
FOLLOWS(starpu_coo_interface, rows, values);
FOLLOWS(starpu_coo_interface, values, nx);
FOLLOWS(starpu_coo_interface, nx, ny);
FOLLOWS(starpu_coo_interface, ny, n_values);
FOLLOWS(starpu_coo_interface, n_values, elemsize);
FOLLOWS(starpu_multiformat_interface, id, cpu_ptr);
FOLLOWS(starpu_multiformat_interface, cpu_ptr, cuda_ptr);
FOLLOWS(starpu_multiformat_interface, cuda_ptr, hip_ptr);
FOLLOWS(starpu_multiformat_interface, hip_ptr, opencl_ptr);
FOLLOWS(starpu_multiformat_interface, opencl_ptr, nx);
FOLLOWS(starpu_multiformat_interface, nx, ops);
FOLLOWS(starpu_multiformat_data_interface_ops, cpu_elemsize, opencl_elemsize);
FOLLOWS(starpu_multiformat_data_interface_ops, opencl_elemsize, cpu_to_opencl_cl);
FOLLOWS(starpu_multiformat_data_interface_ops, cpu_to_opencl_cl, opencl_to_cpu_cl);
FOLLOWS(starpu_multiformat_data_interface_ops, opencl_to_cpu_cl, cuda_elemsize);
FOLLOWS(starpu_multiformat_data_interface_ops, cuda_elemsize, cpu_to_cuda_cl);
FOLLOWS(starpu_multiformat_data_interface_ops, cpu_to_cuda_cl, cuda_to_cpu_cl);

FOLLOWS(starpu_ndim_interface, id, ptr);
FOLLOWS(starpu_ndim_interface, ptr, dev_handle);
FOLLOWS(starpu_ndim_interface, dev_handle, offset);
FOLLOWS(starpu_ndim_interface, offset, allocsize);
FOLLOWS(starpu_ndim_interface, allocsize, nn);
FOLLOWS(starpu_ndim_interface, nn, ldn);
FOLLOWS(starpu_ndim_interface, ldn, ndim);
FOLLOWS(starpu_ndim_interface, ndim, elemsize);

FOLLOWS(starpu_tensor_interface, id, ptr);
FOLLOWS(starpu_tensor_interface, ptr, dev_handle);
FOLLOWS(starpu_tensor_interface, dev_handle, offset);
FOLLOWS(starpu_tensor_interface, offset, nx);
FOLLOWS(starpu_tensor_interface, nx, ny);
FOLLOWS(starpu_tensor_interface, ny, nz);
FOLLOWS(starpu_tensor_interface, nz, nt);
FOLLOWS(starpu_tensor_interface, nt, ldy);
FOLLOWS(starpu_tensor_interface, ldy, ldz);
FOLLOWS(starpu_tensor_interface, ldz, ldt);
FOLLOWS(starpu_tensor_interface, ldt, elemsize);

FOLLOWS(starpu_perfmodel, type, cost_function);
FOLLOWS(starpu_perfmodel, cost_function, arch_cost_function);
FOLLOWS(starpu_perfmodel, arch_cost_function, worker_cost_function);
FOLLOWS(starpu_perfmodel, worker_cost_function, size_base);
FOLLOWS(starpu_perfmodel, size_base, footprint);
FOLLOWS(starpu_perfmodel, footprint, symbol);
FOLLOWS(starpu_perfmodel, symbol, path);
FOLLOWS(starpu_perfmodel, path, is_loaded);
FOLLOWS(starpu_perfmodel, is_loaded, benchmarking);
FOLLOWS(starpu_perfmodel, benchmarking, is_init);
FOLLOWS(starpu_perfmodel, is_init, parameters);
FOLLOWS(starpu_perfmodel, parameters, parameters_names);
FOLLOWS(starpu_perfmodel, parameters_names, nparameters);
FOLLOWS(starpu_perfmodel, nparameters, combinations);
FOLLOWS(starpu_perfmodel, combinations, ncombinations);
FOLLOWS(starpu_perfmodel, ncombinations, state);

FOLLOWS(starpu_perfmodel_arch, ndevices, devices);

FOLLOWS(starpu_perfmodel_device, type, devid);
FOLLOWS(starpu_perfmodel_device, devid, ncores);

FOLLOWS(starpu_perfmodel_history_entry, mean, deviation);
FOLLOWS(starpu_perfmodel_history_entry, deviation, sum);
FOLLOWS(starpu_perfmodel_history_entry, sum, sum2);
FOLLOWS(starpu_perfmodel_history_entry, sum2, nsample);
FOLLOWS(starpu_perfmodel_history_entry, nsample, nerror);
FOLLOWS(starpu_perfmodel_history_entry, nerror, footprint);
FOLLOWS(starpu_perfmodel_history_entry, footprint, size);
FOLLOWS(starpu_perfmodel_history_entry, size, flops);
FOLLOWS(starpu_perfmodel_history_entry, flops, duration);
FOLLOWS(starpu_perfmodel_history_entry, duration, tag);
FOLLOWS(starpu_perfmodel_history_entry, tag, parameters);

FOLLOWS(starpu_perfmodel_history_list, next, entry);

FOLLOWS(starpu_perfmodel_per_arch, cost_function, size_base);
FOLLOWS(starpu_perfmodel_per_arch, size_base, history);
FOLLOWS(starpu_perfmodel_per_arch, history, list);
FOLLOWS(starpu_perfmodel_per_arch, list, regression);
FOLLOWS(starpu_perfmodel_per_arch, regression, debug_path);

FOLLOWS(starpu_perfmodel_regression_model, sumlny, sumlnx);
FOLLOWS(starpu_perfmodel_regression_model, sumlnx, sumlnx2);
FOLLOWS(starpu_perfmodel_regression_model, sumlnx2, minx);
FOLLOWS(starpu_perfmodel_regression_model, minx, maxx);
FOLLOWS(starpu_perfmodel_regression_model, maxx, sumlnxlny);
FOLLOWS(starpu_perfmodel_regression_model, sumlnxlny, alpha);
FOLLOWS(starpu_perfmodel_regression_model, alpha, beta);
FOLLOWS(starpu_perfmodel_regression_model, beta, valid);
FOLLOWS(starpu_perfmodel_regression_model, valid, a);
FOLLOWS(starpu_perfmodel_regression_model, a, b);
FOLLOWS(starpu_perfmodel_regression_model, b, c);
FOLLOWS(starpu_perfmodel_regression_model, c, nl_valid);
FOLLOWS(starpu_perfmodel_regression_model, nl_valid, nsample);
FOLLOWS(starpu_perfmodel_regression_model, nsample, coeff);
FOLLOWS(starpu_perfmodel_regression_model, coeff, ncoeff);
FOLLOWS(starpu_perfmodel_regression_model, ncoeff, multi_valid);

FOLLOWS(starpu_profiling_bus_info, start_time, total_time);
FOLLOWS(starpu_profiling_bus_info, total_time, transferred_bytes);
FOLLOWS(starpu_profiling_bus_info, transferred_bytes, transfer_count);

FOLLOWS(starpu_profiling_task_info, submit_time, push_start_time);
FOLLOWS(starpu_profiling_task_info, push_start_time, push_end_time);
FOLLOWS(starpu_profiling_task_info, push_end_time, pop_start_time);
FOLLOWS(starpu_profiling_task_info, pop_start_time, pop_end_time);
FOLLOWS(starpu_profiling_task_info, pop_end_time, acquire_data_start_time);
FOLLOWS(starpu_profiling_task_info, acquire_data_start_time, acquire_data_end_time);
FOLLOWS(starpu_profiling_task_info, acquire_data_end_time, start_time);
FOLLOWS(starpu_profiling_task_info, start_time, end_time);
FOLLOWS(starpu_profiling_task_info, end_time, release_data_start_time);
FOLLOWS(starpu_profiling_task_info, release_data_start_time, release_data_end_time);
FOLLOWS(starpu_profiling_task_info, release_data_end_time, callback_start_time);
FOLLOWS(starpu_profiling_task_info, callback_start_time, callback_end_time);
FOLLOWS(starpu_profiling_task_info, callback_end_time, workerid);
FOLLOWS(starpu_profiling_task_info, workerid, used_cycles);
FOLLOWS(starpu_profiling_task_info, used_cycles, stall_cycles);
FOLLOWS(starpu_profiling_task_info, stall_cycles, energy_consumed);

FOLLOWS(starpu_profiling_worker_info, start_time, total_time);
FOLLOWS(starpu_profiling_worker_info, total_time, executing_time);
FOLLOWS(starpu_profiling_worker_info, executing_time, callback_time);
FOLLOWS(starpu_profiling_worker_info, callback_time, waiting_time);
FOLLOWS(starpu_profiling_worker_info, waiting_time, sleeping_time);
FOLLOWS(starpu_profiling_worker_info, sleeping_time, scheduling_time);
FOLLOWS(starpu_profiling_worker_info, scheduling_time, all_executing_time);
FOLLOWS(starpu_profiling_worker_info, all_executing_time, all_callback_time);
FOLLOWS(starpu_profiling_worker_info, all_callback_time, all_waiting_time);
FOLLOWS(starpu_profiling_worker_info, all_waiting_time, all_sleeping_time);
FOLLOWS(starpu_profiling_worker_info, all_sleeping_time, all_scheduling_time);
FOLLOWS(starpu_profiling_worker_info, all_scheduling_time, executed_tasks);
FOLLOWS(starpu_profiling_worker_info, executed_tasks, used_cycles);
FOLLOWS(starpu_profiling_worker_info, used_cycles, stall_cycles);
FOLLOWS(starpu_profiling_worker_info, stall_cycles, energy_consumed);
FOLLOWS(starpu_profiling_worker_info, energy_consumed, flops);

FOLLOWS(starpu_sched_ctx_iterator, cursor, value);
FOLLOWS(starpu_sched_ctx_iterator, value, possible_value);
FOLLOWS(starpu_sched_ctx_iterator, possible_value, visited);
FOLLOWS(starpu_sched_ctx_iterator, visited, possibly_parallel);

FOLLOWS(starpu_sched_policy, init_sched, deinit_sched);
FOLLOWS(starpu_sched_policy, deinit_sched, push_task);
FOLLOWS(starpu_sched_policy, push_task, simulate_push_task);
FOLLOWS(starpu_sched_policy, simulate_push_task, push_task_notify);
FOLLOWS(starpu_sched_policy, push_task_notify, pop_task);
FOLLOWS(starpu_sched_policy, pop_task, submit_hook);
FOLLOWS(starpu_sched_policy, submit_hook, pre_exec_hook);
FOLLOWS(starpu_sched_policy, pre_exec_hook, post_exec_hook);
FOLLOWS(starpu_sched_policy, post_exec_hook, do_schedule);
FOLLOWS(starpu_sched_policy, do_schedule, add_workers);
FOLLOWS(starpu_sched_policy, add_workers, remove_workers);
FOLLOWS(starpu_sched_policy, remove_workers, prefetches);
FOLLOWS(starpu_sched_policy, prefetches, policy_name);
FOLLOWS(starpu_sched_policy, policy_name, policy_description);
FOLLOWS(starpu_sched_policy, policy_description, worker_type);

FOLLOWS(starpu_task, name, file);
FOLLOWS(starpu_task, file, line);
FOLLOWS(starpu_task, line, cl);
FOLLOWS(starpu_task, cl, where);
FOLLOWS(starpu_task, where, nbuffers);
FOLLOWS(starpu_task, nbuffers, dyn_handles);
FOLLOWS(starpu_task, dyn_handles, dyn_interfaces);
FOLLOWS(starpu_task, dyn_interfaces, dyn_modes);
FOLLOWS(starpu_task, dyn_modes, handles);
FOLLOWS(starpu_task, handles, interfaces);
FOLLOWS(starpu_task, interfaces, modes);
FOLLOWS(starpu_task, modes, handles_sequential_consistency);
FOLLOWS(starpu_task, handles_sequential_consistency, cl_arg);
FOLLOWS(starpu_task, cl_arg, cl_arg_size);
FOLLOWS(starpu_task, cl_arg_size, cl_ret);
FOLLOWS(starpu_task, cl_ret, cl_ret_size);
FOLLOWS(starpu_task, cl_ret_size, epilogue_callback_func);
FOLLOWS(starpu_task, epilogue_callback_func, epilogue_callback_arg);
FOLLOWS(starpu_task, epilogue_callback_arg, callback_func);
FOLLOWS(starpu_task, callback_func, callback_arg);
FOLLOWS(starpu_task, callback_arg, prologue_callback_func);
FOLLOWS(starpu_task, prologue_callback_func, prologue_callback_arg);
FOLLOWS(starpu_task, prologue_callback_arg, prologue_callback_pop_func);
FOLLOWS(starpu_task, prologue_callback_pop_func, prologue_callback_pop_arg);
FOLLOWS(starpu_task, prologue_callback_pop_arg, transaction);
FOLLOWS(starpu_task, transaction, trs_epoch);
FOLLOWS(starpu_task, trs_epoch, tag_id);
FOLLOWS(starpu_task, tag_id, mf_skip);
FOLLOWS(starpu_task, mf_skip, failed);
FOLLOWS(starpu_task, failed, scheduled);
FOLLOWS(starpu_task, scheduled, prefetched);
FOLLOWS(starpu_task, prefetched, workerid);
FOLLOWS(starpu_task, workerid, workerorder);
FOLLOWS(starpu_task, workerorder, workerids);
FOLLOWS(starpu_task, workerids, workerids_len);
FOLLOWS(starpu_task, workerids_len, priority);
FOLLOWS(starpu_task, priority, status);
FOLLOWS(starpu_task, status, magic);
FOLLOWS(starpu_task, magic, type);
FOLLOWS(starpu_task, type, color);
FOLLOWS(starpu_task, color, sched_ctx);
FOLLOWS(starpu_task, sched_ctx, hypervisor_tag);
FOLLOWS(starpu_task, hypervisor_tag, possibly_parallel);
FOLLOWS(starpu_task, possibly_parallel, bundle);
FOLLOWS(starpu_task, bundle, profiling_info);
FOLLOWS(starpu_task, profiling_info, flops);
FOLLOWS(starpu_task, flops, predicted);
FOLLOWS(starpu_task, predicted, predicted_transfer);
FOLLOWS(starpu_task, predicted_transfer, predicted_start);
FOLLOWS(starpu_task, predicted_start, prev);
FOLLOWS(starpu_task, prev, next);
FOLLOWS(starpu_task, next, starpu_private);
FOLLOWS(starpu_task, starpu_private, omp_task);
FOLLOWS(starpu_task, omp_task, bubble_parent);
FOLLOWS(starpu_task, bubble_parent, bubble_func);
FOLLOWS(starpu_task, bubble_func, bubble_func_arg);
FOLLOWS(starpu_task, bubble_func_arg, bubble_gen_dag_func);
FOLLOWS(starpu_task, bubble_gen_dag_func, bubble_gen_dag_func_arg);
FOLLOWS(starpu_task, bubble_gen_dag_func_arg, nb_termination_call_required);
FOLLOWS(starpu_task, nb_termination_call_required, sched_data);

FOLLOWS(starpu_task_list, head, tail);

FOLLOWS(starpu_variable_interface, id, ptr);
FOLLOWS(starpu_variable_interface, ptr, dev_handle);
FOLLOWS(starpu_variable_interface, dev_handle, offset);
FOLLOWS(starpu_variable_interface, offset, elemsize);

FOLLOWS(starpu_vector_interface, id, ptr);
FOLLOWS(starpu_vector_interface, ptr, dev_handle);
FOLLOWS(starpu_vector_interface, dev_handle, offset);
FOLLOWS(starpu_vector_interface, offset, nx);
FOLLOWS(starpu_vector_interface, nx, elemsize);
FOLLOWS(starpu_vector_interface, elemsize, slice_base);
FOLLOWS(starpu_vector_interface, slice_base, allocsize);

FOLLOWS(starpu_worker_collection, workerids, collection_private);
FOLLOWS(starpu_worker_collection, collection_private, nworkers);
FOLLOWS(starpu_worker_collection, nworkers, unblocked_workers);
FOLLOWS(starpu_worker_collection, unblocked_workers, nunblocked_workers);
FOLLOWS(starpu_worker_collection, nunblocked_workers, masters);
FOLLOWS(starpu_worker_collection, masters, nmasters);
FOLLOWS(starpu_worker_collection, nmasters, present);
FOLLOWS(starpu_worker_collection, present, is_unblocked);
FOLLOWS(starpu_worker_collection, is_unblocked, is_master);
FOLLOWS(starpu_worker_collection, is_master, type);
FOLLOWS(starpu_worker_collection, type, has_next);
FOLLOWS(starpu_worker_collection, has_next, get_next);
FOLLOWS(starpu_worker_collection, get_next, add);
FOLLOWS(starpu_worker_collection, add, remove);
FOLLOWS(starpu_worker_collection, remove, init);
FOLLOWS(starpu_worker_collection, init, deinit);
FOLLOWS(starpu_worker_collection, deinit, init_iterator);
FOLLOWS(starpu_worker_collection, init_iterator, init_iterator_for_parallel_tasks);

/* enum starpu_codelet_type */
IS(STARPU_SEQ, 0);
IS(STARPU_SPMD, 1);
IS(STARPU_FORKJOIN, 2);

/* enum starpu_task_status */
IS(STARPU_TASK_INIT, 0);
IS(STARPU_TASK_BLOCKED, 1);
IS(STARPU_TASK_READY, 2);
IS(STARPU_TASK_RUNNING, 3);
IS(STARPU_TASK_FINISHED, 4);
IS(STARPU_TASK_BLOCKED_ON_TAG, 5);
IS(STARPU_TASK_BLOCKED_ON_TASK, 6);
IS(STARPU_TASK_BLOCKED_ON_DATA, 7);
IS(STARPU_TASK_STOPPED, 8);

/* enum starpu_data_access_mode */
IS(STARPU_R, 1);
IS(STARPU_W, 2);
IS(STARPU_RW, 3);
IS(STARPU_SCRATCH, 4);
IS(STARPU_REDUX, 8);
IS(STARPU_COMMUTE, 16);
IS(STARPU_SSEND, 32);
IS(STARPU_LOCALITY, 64);
IS(STARPU_MPI_REDUX, 128);
IS(STARPU_NOPLAN, 256);
IS(STARPU_UNMAP, 512);
IS(STARPU_NOFOOTPRINT, 1024);
IS(STARPU_NONE, 2048);
IS(STARPU_MPI_SAME, 8192);
IS(STARPU_ACCESS_MODE_MAX, 16384);

/* enum starpu_is_prefetch */
IS(STARPU_FETCH, 0);
IS(STARPU_TASK_PREFETCH, 1);
IS(STARPU_PREFETCH, 2);
IS(STARPU_IDLEFETCH, 3);
IS(STARPU_NFETCH, 4);

/* enum starpu_data_interface_id */
IS(STARPU_UNKNOWN_INTERFACE_ID, -1);
IS(STARPU_MATRIX_INTERFACE_ID, 0);
IS(STARPU_BLOCK_INTERFACE_ID, 1);
IS(STARPU_VECTOR_INTERFACE_ID, 2);
IS(STARPU_CSR_INTERFACE_ID, 3);
IS(STARPU_BCSR_INTERFACE_ID, 4);
IS(STARPU_VARIABLE_INTERFACE_ID, 5);
IS(STARPU_VOID_INTERFACE_ID, 6);
IS(STARPU_MULTIFORMAT_INTERFACE_ID, 7);
IS(STARPU_COO_INTERFACE_ID, 8);
IS(STARPU_TENSOR_INTERFACE_ID, 9);
IS(STARPU_NDIM_INTERFACE_ID, 10);
IS(STARPU_MAX_INTERFACE_ID, 11);

/* enum starpu_node_kind */
IS(STARPU_UNUSED, 0);
IS(STARPU_CPU_RAM, 1);
IS(STARPU_CUDA_RAM, 2);
IS(STARPU_OPENCL_RAM, 3);
IS(STARPU_MAX_FPGA_RAM, 4);
IS(STARPU_DISK_RAM, 5);
IS(STARPU_MPI_MS_RAM, 6);
IS(STARPU_TCPIP_MS_RAM, 7);
IS(STARPU_HIP_RAM, 8);
IS(STARPU_MAX_RAM, 8);
IS(STARPU_NRAM, 9);

/* enum starpu_worker_archtype */
IS(STARPU_CPU_WORKER, 0);
IS(STARPU_CUDA_WORKER, 1);
IS(STARPU_OPENCL_WORKER, 2);
IS(STARPU_MAX_FPGA_WORKER, 4);
IS(STARPU_MPI_MS_WORKER, 5);
IS(STARPU_TCPIP_MS_WORKER, 6);
IS(STARPU_HIP_WORKER, 7);
IS(STARPU_NARCH, 8);
IS(STARPU_ANY_WORKER, 255);

/* enum starpu_worker_collection_type */
IS(STARPU_WORKER_TREE, 0);
IS(STARPU_WORKER_LIST, 1);

/* enum starpu_perfmodel_type */
IS(STARPU_PERFMODEL_INVALID, 0);
IS(STARPU_PER_WORKER, 1);
IS(STARPU_PER_ARCH, 2);
IS(STARPU_COMMON, 3);
IS(STARPU_HISTORY_BASED, 4);
IS(STARPU_REGRESSION_BASED, 5);
IS(STARPU_NL_REGRESSION_BASED, 6);
IS(STARPU_MULTIPLE_REGRESSION_BASED, 7);

/* keys of starpu_task_insert */
IS(STARPU_MODE_SHIFT, 17);
IS(STARPU_VALUE, 1LL << 17);
IS(STARPU_CALLBACK, 2LL << 17);
IS(STARPU_CALLBACK_WITH_ARG, 3LL << 17);
IS(STARPU_CALLBACK_ARG, 4LL << 17);
IS(STARPU_PRIORITY, 5LL << 17);
IS(STARPU_EXECUTE_ON_NODE, 6LL << 17);
IS(STARPU_EXECUTE_ON_DATA, 7LL << 17);
IS(STARPU_DATA_ARRAY, 8LL << 17);
IS(STARPU_DATA_MODE_ARRAY, 9LL << 17);
IS(STARPU_TAG, 10LL << 17);
IS(STARPU_HYPERVISOR_TAG, 11LL << 17);
IS(STARPU_FLOPS, 12LL << 17);
IS(STARPU_SCHED_CTX, 13LL << 17);
IS(STARPU_PROLOGUE_CALLBACK, 14LL << 17);
IS(STARPU_PROLOGUE_CALLBACK_ARG, 15LL << 17);
IS(STARPU_PROLOGUE_CALLBACK_POP, 16LL << 17);
IS(STARPU_PROLOGUE_CALLBACK_POP_ARG, 17LL << 17);
IS(STARPU_EXECUTE_ON_WORKER, 18LL << 17);
IS(STARPU_EXECUTE_WHERE, 19LL << 17);
IS(STARPU_TAG_ONLY, 20LL << 17);
IS(STARPU_POSSIBLY_PARALLEL, 21LL << 17);
IS(STARPU_WORKER_ORDER, 22LL << 17);
IS(STARPU_NODE_SELECTION_POLICY, 23LL << 17);
IS(STARPU_NAME, 24LL << 17);
IS(STARPU_CL_ARGS, 25LL << 17);
IS(STARPU_CL_ARGS_NFREE, 26LL << 17);
IS(STARPU_TASK_DEPS_ARRAY, 27LL << 17);
IS(STARPU_TASK_COLOR, 28LL << 17);
IS(STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, 29LL << 17);
IS(STARPU_TASK_SYNCHRONOUS, 30LL << 17);
IS(STARPU_TASK_END_DEPS_ARRAY, 31LL << 17);
IS(STARPU_TASK_END_DEP, 32LL << 17);
IS(STARPU_TASK_WORKERIDS, 33LL << 17);
IS(STARPU_SEQUENTIAL_CONSISTENCY, 34LL << 17);
IS(STARPU_TASK_PROFILING_INFO, 35LL << 17);
IS(STARPU_TASK_NO_SUBMITORDER, 36LL << 17);
IS(STARPU_CALLBACK_ARG_NFREE, 37LL << 17);
IS(STARPU_CALLBACK_WITH_ARG_NFREE, 38LL << 17);
IS(STARPU_PROLOGUE_CALLBACK_ARG_NFREE, 39LL << 17);
IS(STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, 40LL << 17);
IS(STARPU_TASK_SCHED_DATA, 41LL << 17);
IS(STARPU_TRANSACTION, 42LL << 17);
IS(STARPU_TASK_FILE, 43LL << 17);
IS(STARPU_TASK_LINE, 44LL << 17);
IS(STARPU_EPILOGUE_CALLBACK, 45LL << 17);
IS(STARPU_EPILOGUE_CALLBACK_ARG, 46LL << 17);
IS(STARPU_BUBBLE_FUNC, 47LL << 17);
IS(STARPU_BUBBLE_FUNC_ARG, 48LL << 17);
IS(STARPU_BUBBLE_GEN_DAG_FUNC, 49LL << 17);
IS(STARPU_BUBBLE_GEN_DAG_FUNC_ARG, 50LL << 17);
IS(STARPU_BUBBLE_PARENT, 51LL << 17);
IS(STARPU_NODE_ARRAY, 52LL << 17);
IS(STARPU_SHIFTED_MODE_MAX, 53LL << 17);

/* others */
IS(STARPU_NOWHERE, 1);
IS(STARPU_CPU, 2);
IS(STARPU_CUDA, 4);
IS(STARPU_OPENCL, 8);
IS(STARPU_MAX_FPGA, 32);
IS(STARPU_MPI_MS, 64);
IS(STARPU_TCPIP_MS, 128);
IS(STARPU_HIP, 256);
IS(STARPU_CODELET_SIMGRID_EXECUTE, 1);
IS(STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT, 2);
IS(STARPU_CODELET_NOPLANS, 4);
IS(STARPU_MAIN_RAM, 0);
IS(STARPU_VARIABLE_NBUFFERS, -1);
IS(STARPU_SPECIFIC_NODE_LOCAL, -1);
IS(STARPU_SPECIFIC_NODE_CPU, -2);
IS(STARPU_SPECIFIC_NODE_SLOW, -3);
IS(STARPU_SPECIFIC_NODE_FAST, -4);
IS(STARPU_SPECIFIC_NODE_LOCAL_OR_CPU, -5);
IS(STARPU_SPECIFIC_NODE_NONE, -6);
IS(STARPU_ACQUIRE_NO_NODE, -1);
IS(STARPU_ACQUIRE_NO_NODE_LOCK_ALL, -2);
IS(STARPU_MALLOC_PINNED, 2);
IS(STARPU_MALLOC_COUNT, 4);
IS(STARPU_MALLOC_NORECLAIM, 8);
IS(STARPU_MEMORY_WAIT, 16);
IS(STARPU_MEMORY_OVERFLOW, 32);
IS(STARPU_MALLOC_SIMULATION_FOLDED, 64);
IS(STARPU_MALLOC_SIMULATION_UNIQUE, 128);
IS(STARPU_TASK_TYPE_INTERNAL, 1);
IS(STARPU_TASK_TYPE_DATA_ACQUIRE, 2);
IS(STARPU_PROFILING_DISABLE, 0);
IS(STARPU_PROFILING_ENABLE, 1);
IS(STARPU_DEFAULT_PRIO, 0);
IS(STARPU_THREAD_ACTIVE, 1);
IS(STARPU_NS_PER_S, 1000000000);
IS(STARPU_MPI_PER_NODE, -2);
IS(STARPU_MPI_NODE_SELECTION_CURRENT_POLICY, -1);
IS(STARPU_MPI_NODE_SELECTION_MOST_R_DATA, 0);
