! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Tasks, codelets, contexts and tools of Fortran's that its other tests do not call: what
! becomes of a task, any number of buffers, callbacks of contexts, pauses.
! mpirun -n 1 lives

module lives_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  ! All buffers are variables.
  recursive subroutine add_one(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    integer(c_int), pointer :: x

    if (c_associated(cl_arg)) error stop "add_one: no argument was given"
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), x)
    x = x + 1
    if (fstarpu_worker_get_id() < 0) error stop "no worker"
    if (fstarpu_worker_get_bindid(fstarpu_worker_get_id()) < -1) error stop "no core"
    if (fstarpu_combined_worker_get_id() /= -1) error stop "a worker of several"
    if (fstarpu_combined_worker_get_size() /= 1) error stop "how many cores compute"
    if (fstarpu_combined_worker_get_rank() /= 0) error stop "which of them"
  end subroutine add_one

  ! The last of eleven is the sum of those before.
  recursive subroutine sum_up(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    integer(c_int), pointer :: x, total
    integer :: i

    if (c_associated(cl_arg)) error stop "sum_up: no argument was given"
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 10), total)
    total = 0
    do i = 0, 9
      call c_f_pointer(fstarpu_variable_get_ptr(buffers, i), x)
      total = total + x
    end do
  end subroutine sum_up

  recursive subroutine count_close(ctx, arg) bind(C)
    integer(c_int), value, intent(in) :: ctx
    type(c_ptr), value, intent(in) :: arg
    integer(c_int), pointer :: counter

    if (ctx <= 0) error stop "the first context has ended"
    call c_f_pointer(arg, counter)
    counter = counter + 1
  end subroutine count_close

  recursive subroutine count_call(arg) bind(C)
    type(c_ptr), value, intent(in) :: arg
    integer(c_int), pointer :: counter

    call c_f_pointer(arg, counter)
    counter = counter + 1
  end subroutine count_call

  recursive function compute_there(arg) bind(C) result(answer)
    type(c_ptr), value, intent(in) :: arg
    type(c_ptr) :: answer

    call count_call(arg)
    answer = arg
  end function compute_there
end module lives_kernels

program lives
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use lives_kernels
  implicit none

  integer(c_int), parameter :: home = 0
  integer(c_size_t), parameter :: bytes = 4
  integer(c_int), target :: v(11)
  type(c_ptr) :: conf, adding, handles(11)
  integer :: i

  ! A second initialisation gives all fields their defaults again.
  conf = fstarpu_conf_allocate()
  call fstarpu_conf_set_ncpu(conf, 0)
  call fstarpu_conf_init(conf)
  call fstarpu_conf_set_ncpu(conf, 2)
  call fstarpu_conf_set_ncuda(conf, 0)
  call fstarpu_conf_set_nhip(conf, 0)
  call fstarpu_conf_set_nopencl(conf, 0)
  call fstarpu_conf_set_sched_policy_name(conf, C_CHAR_"prio" // C_NULL_CHAR)
  call fstarpu_fxt_autostart_profiling(0)
  if (fstarpu_init(conf) /= 0) stop 77
  call fstarpu_conf_free(conf)
  call expect("workers", fstarpu_worker_get_count(), 2)
  adding = codelet_of("add_one", c_funloc(add_one))
  call fstarpu_codelet_add_buffer(adding, FSTARPU_RW)
  v = 0
  do i = 1, 11
    call fstarpu_variable_data_register(handles(i), home, c_loc(v(i)), bytes)
  end do
  call single_tasks()
  call waited_for()
  call other_functions()
  call called_back()
  call tag_twice()
  call many_buffers()
  call other_devices()
  call contexts()
  call tools()
  do i = 1, 11
    call fstarpu_data_unregister(handles(i))
  end do
  call fstarpu_codelet_display_stats(adding)
  call fstarpu_codelet_free(adding)
  call fstarpu_shutdown()
  print "(a)", "all lives have ended"

contains

  include "expect.inc"

  type(c_ptr) function codelet_of(name, func)
    character(*), intent(in) :: name
    type(c_funptr), value, intent(in) :: func

    codelet_of = fstarpu_codelet_allocate()
    call fstarpu_codelet_init(codelet_of)
    call fstarpu_codelet_set_name(codelet_of, name // C_NULL_CHAR)
    call fstarpu_codelet_add_cpu_func(codelet_of, func)
    call fstarpu_codelet_set_flags(codelet_of, FSTARPU_CODELET_SIMGRID_EXECUTE)
  end function codelet_of

  ! Tasks without codelets, whose order tells what has become of them.
  subroutine single_tasks()
    type(c_ptr) :: first, second, copy

    first = fstarpu_task_create()
    second = fstarpu_task_create()
    call fstarpu_task_declare_deps_array(second, 1, (/ first /))
    call expect("submission", fstarpu_task_submit(second), 0)
    call fstarpu_do_schedule()
    call expect("its context", fstarpu_sched_ctx_get_ctx_for_task(second), 0)
    copy = fstarpu_task_dup(first)
    if (.not. c_associated(copy) .or. c_associated(copy, first)) error stop "no copy"
    call fstarpu_task_destroy(copy)
    call expect("submission", fstarpu_task_submit(first), 0)
    call fstarpu_task_wait_for_all()
    ! One that is never submitted.
    first = fstarpu_task_create()
    call fstarpu_task_clean(first)
    call fstarpu_task_destroy(first)
    call expect("submitted", fstarpu_task_nsubmitted(), 0)
  end subroutine single_tasks

  ! Tasks by hand, which are waited for one by one.
  subroutine waited_for()
    type(c_ptr) :: tasks(2)
    type(c_ptr) :: data(2)
    integer(c_int), target :: x(2)
    integer(c_int), parameter :: home = 0
    integer :: i

    x = (/ 4, 7 /)
    do i = 1, 2
      call fstarpu_variable_data_register(data(i), home, c_loc(x(i)), c_sizeof(x(i)))
      tasks(i) = fstarpu_task_create()
      call fstarpu_task_set_codelet(tasks(i), adding)
      call fstarpu_task_set_handle(tasks(i), 0, data(i))
      call fstarpu_task_set_detach(tasks(i), 0)
      call fstarpu_task_set_destroy(tasks(i), 0)
      call expect("finished before", fstarpu_task_finished(tasks(i)), 0)
      call expect("submission", fstarpu_task_submit(tasks(i)), 0)
    end do
    call expect("wait", fstarpu_task_wait(tasks(1)), 0)
    call expect("finished", fstarpu_task_finished(tasks(1)), 1)
    call expect("wait for all", fstarpu_task_wait_array(tasks, 2), 0)
    call expect("finished, too", fstarpu_task_finished(tasks(2)), 1)
    ! Once more.
    call expect("submission", fstarpu_task_submit(tasks(1)), 0)
    call expect("wait", fstarpu_task_wait(tasks(1)), 0)
    do i = 1, 2
      call fstarpu_task_destroy(tasks(i))
      call fstarpu_data_unregister(data(i))
    end do
    call expect("the first", x(1), 6)
    call expect("the second", x(2), 8)
  end subroutine waited_for

  ! As fstarpu_task_create() gives them; the counters of contexts are as they were.
  subroutine other_functions()
    type(c_ptr) :: task, kept
    integer(c_int) :: major, minor, release

    call fstarpu_get_version(major, minor, release)
    call expect("version", major, 1)
    call expect("blocked", fstarpu_worker_is_blocked(0), 0)
    if (fstarpu_cpu_worker_get_count() < 1) error stop "no cores"
    task = fstarpu_task_create()
    kept = fstarpu_sched_ctx_get_policy_data(0)
    call fstarpu_sched_ctx_set_policy_data(0, task)
    if (.not. c_associated(fstarpu_sched_ctx_get_policy_data(0), task)) error stop "data of a policy"
    call fstarpu_sched_ctx_set_policy_data(0, kept)
    call fstarpu_sched_ctx_list_task_counters_increment_all(task, 0)
    call fstarpu_sched_ctx_list_task_counters_decrement_all(task, 0)
    call fstarpu_sched_ctx_list_task_counters_reset_all(task, 0)
    call fstarpu_task_init(task)
    call fstarpu_task_destroy(task)
  end subroutine other_functions

  subroutine called_back()
    integer(c_int), target :: ncalls(3)

    ncalls = 0
    call fstarpu_pause()
    call fstarpu_task_insert((/ adding, FSTARPU_RW, handles(1), &
        FSTARPU_PROLOGUE_CALLBACK, ip_of(c_funloc(count_call)), &
        FSTARPU_PROLOGUE_CALLBACK_ARG_NFREE, c_loc(ncalls(1)), &
        FSTARPU_CALLBACK, ip_of(c_funloc(count_call)), &
        FSTARPU_CALLBACK_ARG_NFREE, c_loc(ncalls(2)), C_NULL_PTR /))
    call fstarpu_task_insert((/ adding, FSTARPU_RW, handles(1), &
        FSTARPU_CALLBACK_WITH_ARG_NFREE, ip_of(c_funloc(count_call)), c_loc(ncalls(3)), &
        C_NULL_PTR /))
    call expect("while it pauses", fstarpu_task_nsubmitted(), 2)
    call fstarpu_resume()
    call fstarpu_task_wait_for_n_submitted_in_ctx(0, 0)
    call expect("before", ncalls(1), 1)
    call expect("after", ncalls(2), 1)
    call expect("after the second", ncalls(3), 1)
    call expect("both", v(1), 2)
  end subroutine called_back

  type(c_ptr) function ip_of(func)
    type(c_funptr), value, intent(in) :: func

    ip_of = transfer(func, C_NULL_PTR)
  end function ip_of

  subroutine tag_twice()
    integer(c_int64_t), target :: id = 17

    do i = 1, 2
      if (i == 2) call fstarpu_tag_restart(17_c_int64_t)
      call fstarpu_task_insert((/ adding, FSTARPU_RW, handles(2), FSTARPU_TAG, c_loc(id), &
                                  C_NULL_PTR /))
      call expect("a tag", fstarpu_tag_wait(17_c_int64_t), 0)
      call expect("after its task", v(2), i)
    end do
    call fstarpu_tag_remove(17_c_int64_t)
  end subroutine tag_twice

  ! More than a codelet has room for, each with its mode or as many as come.
  subroutine many_buffers()
    type(c_ptr) :: summing, any_number, descrs
    integer(c_int), target :: length

    length = 11
    summing = codelet_of("sum_up", c_funloc(sum_up))
    do i = 1, 10
      call fstarpu_codelet_add_buffer(summing, FSTARPU_R)
    end do
    call fstarpu_codelet_add_buffer(summing, FSTARPU_W)
    any_number = codelet_of("sum_any", c_funloc(sum_up))
    call fstarpu_codelet_set_variable_nbuffers(any_number)
    descrs = fstarpu_data_descr_array_alloc(11)
    do i = 1, 11
      call fstarpu_data_acquire(handles(i), FSTARPU_W)
      v(i) = i
      call fstarpu_data_release(handles(i))
      if (i < 11) call fstarpu_data_descr_array_set(descrs, i - 1, handles(i), FSTARPU_R)
    end do
    call fstarpu_data_descr_array_set(descrs, 10, handles(11), FSTARPU_W)
    call fstarpu_task_insert((/ summing, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(length), &
                                C_NULL_PTR /))
    call fstarpu_task_wait_for_all()
    call expect("each with its mode", v(11), 55)
    v(11) = 0
    call fstarpu_task_insert((/ any_number, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(length), &
                                C_NULL_PTR /))
    call fstarpu_task_wait_for_all()
    call expect("any number", v(11), 55)
    call fstarpu_data_descr_array_free(descrs)
    call fstarpu_codelet_free(summing)
    call fstarpu_codelet_free(any_number)
  end subroutine many_buffers

  ! What is said of devices that are not there.
  subroutine other_devices()
    type(c_ptr) :: everywhere, energy

    everywhere = codelet_of("everywhere", c_funloc(add_one))
    call fstarpu_codelet_set_nbuffers(everywhere, 0)
    call fstarpu_codelet_add_buffer(everywhere, FSTARPU_RW)
    call fstarpu_codelet_add_cuda_func(everywhere, c_funloc(add_one))
    call fstarpu_codelet_add_cuda_flags(everywhere, FSTARPU_CUDA_ASYNC)
    call fstarpu_codelet_add_hip_func(everywhere, c_funloc(add_one))
    call fstarpu_codelet_add_hip_flags(everywhere, FSTARPU_HIP_ASYNC)
    call fstarpu_codelet_add_opencl_func(everywhere, c_funloc(add_one))
    call fstarpu_codelet_add_opencl_flags(everywhere, FSTARPU_OPENCL_ASYNC)
    energy = fstarpu_perfmodel_allocate()
    call fstarpu_perfmodel_set_symbol(energy, C_CHAR_"lives_energy" // C_NULL_CHAR)
    call fstarpu_perfmodel_set_type(energy, FSTARPU_HISTORY_BASED)
    call fstarpu_codelet_set_energy_model(everywhere, energy)
    call fstarpu_task_insert((/ everywhere, FSTARPU_RW, handles(3), C_NULL_PTR /))
    call fstarpu_task_wait_for_all()
    call expect("on a CPU", v(3), 4)
    call fstarpu_codelet_free(everywhere)
    call fstarpu_perfmodel_free(energy)
    call expect("copies", fstarpu_asynchronous_copy_disabled(), 0)
    call expect("copies", fstarpu_asynchronous_cuda_copy_disabled(), 0)
    call expect("copies", fstarpu_asynchronous_hip_copy_disabled(), 0)
    call expect("copies", fstarpu_asynchronous_opencl_copy_disabled(), 0)
  end subroutine other_devices

  subroutine contexts()
    integer(c_int), target :: ctx, nclosed
    type(c_ptr) :: answer

    nclosed = 0
    ctx = fstarpu_sched_ctx_create_inside_interval(C_CHAR_"prio" // C_NULL_CHAR, &
        C_CHAR_"lives" // C_NULL_CHAR, 1, 1, 0, 0, 1)
    if (ctx <= 0) error stop "no context"
    call expect("its workers", fstarpu_sched_ctx_get_nworkers(ctx), 1)
    call expect("shared", fstarpu_sched_ctx_get_nshared_workers(ctx, 0), 1)
    call expect("in two", fstarpu_sched_ctx_overlapping_ctxs_on_worker(0) + &
                fstarpu_sched_ctx_overlapping_ctxs_on_worker(1), 1)
    call expect("its level", fstarpu_sched_ctx_get_hierarchy_level(ctx), 0)
    call expect("its priority", fstarpu_sched_ctx_get_priority(0, ctx), 0)
    call expect("no worker", fstarpu_sched_ctx_worker_get_id(ctx), -1)
    call expect("no rank", fstarpu_sched_ctx_get_worker_rank(ctx), -1)
    call expect("no master", fstarpu_sched_ctx_worker_is_master_for_child_ctx(0, 0), &
                fstarpu_sched_ctx_worker_is_master_for_child_ctx(1, 0))
    i = fstarpu_sched_ctx_master_get_context(0)
    if (abs(fstarpu_sched_ctx_get_nready_flops(ctx)) > 0) error stop "work of no task"
    call fstarpu_sched_ctx_list_task_counters_increment(ctx, 0)
    call fstarpu_sched_ctx_list_task_counters_decrement(ctx, 0)
    call fstarpu_sched_ctx_list_task_counters_reset(ctx, 0)
    call fstarpu_sched_ctx_call_pushed_task_cb(0, ctx)
    call fstarpu_sched_ctx_register_close_callback(ctx, c_funloc(count_close), c_loc(nclosed))
    answer = fstarpu_sched_ctx_exec_parallel_code(c_funloc(compute_there), c_loc(v(4)), ctx)
    if (.not. c_associated(answer, c_loc(v(4)))) error stop "another answer"
    call expect("there", v(4), 5)
    call fstarpu_task_insert((/ adding, FSTARPU_RW, handles(5), FSTARPU_SCHED_CTX, c_loc(ctx), &
                                C_NULL_PTR /))
    call fstarpu_task_wait_for_n_submitted_in_ctx(ctx, 0)
    call fstarpu_sched_ctx_finished_submit(ctx)
    call fstarpu_sched_ctx_delete_worker_collection(ctx)
    call fstarpu_sched_ctx_delete(ctx)
    call expect("its task", v(5), 6)
    call expect("closed", nclosed, 1)
    call expect("priorities", fstarpu_sched_set_min_priority(-9), 0)
    call expect("priorities", fstarpu_sched_set_max_priority(9), 0)
    call expect("the least", fstarpu_sched_get_min_priority(), -9)
    call expect("the greatest", fstarpu_sched_get_max_priority(), 9)
  end subroutine contexts

  subroutine tools()
    if (p_to_ip(fstarpu_csizet_to_cptr(77_c_size_t)) /= 77) error stop "a size as a pointer"
    if (p_to_ip(fstarpu_int_to_cptr(-1)) /= -1) error stop "a number as a pointer"
    call fstarpu_set_constants()
    call fstarpu_usleep(10.0)
    call fstarpu_fxt_start_profiling()
    call fstarpu_trace_user_event(5_c_long)
    call fstarpu_fxt_stop_profiling()
    call fstarpu_topology_print()
    call fstarpu_display_stats()
  end subroutine tools
end program lives
