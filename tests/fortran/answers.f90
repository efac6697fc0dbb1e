! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! What functions of one node answer to Fortran: workers, parts, lists of data, tags, tasks,
! models, contexts.
! mpirun -n 1 answers

module answers_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  recursive subroutine increment(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: x(:)

    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), x, &
                     (/ fstarpu_vector_get_nx(buffers, 0) /))
    x = x + 1
    if (c_associated(cl_arg)) error stop "increment: no argument was given"
    if (.not. c_associated(fstarpu_task_get_current())) error stop "no current task"
    if (fstarpu_worker_get_id() < 0) error stop "a task without a worker"
  end subroutine increment

  ! The second is the sum of itself and the first.
  recursive subroutine add(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: x(:), y(:)

    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), x, &
                     (/ fstarpu_vector_get_nx(buffers, 0) /))
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 1), y, &
                     (/ fstarpu_vector_get_nx(buffers, 1) /))
    y = y + x
    if (c_associated(cl_arg)) error stop "add: no argument was given"
  end subroutine add

  ! Element (i, j, k, l) of a tensor becomes 1000 l + 100 k + 10 j + i.
  recursive subroutine fill_tensor(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: x(:)
    integer :: i, j, k, l, at

    if (c_associated(cl_arg)) error stop "fill_tensor: no argument was given"
    call c_f_pointer(fstarpu_tensor_get_ptr(buffers, 0), x, &
        (/ fstarpu_tensor_get_ldt(buffers, 0) * fstarpu_tensor_get_nt(buffers, 0) /))
    do l = 1, fstarpu_tensor_get_nt(buffers, 0)
      do k = 1, fstarpu_tensor_get_nz(buffers, 0)
        do j = 1, fstarpu_tensor_get_ny(buffers, 0)
          do i = 1, fstarpu_tensor_get_nx(buffers, 0)
            at = i + (j - 1) * fstarpu_tensor_get_ldy(buffers, 0) + &
                 (k - 1) * fstarpu_tensor_get_ldz(buffers, 0) + &
                 (l - 1) * fstarpu_tensor_get_ldt(buffers, 0)
            x(at) = 1000 * l + 100 * k + 10 * j + i
          end do
        end do
      end do
    end do
  end subroutine fill_tensor
end module answers_kernels

program answers
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use answers_kernels
  implicit none

  integer, parameter :: n = 12
  integer(c_int), parameter :: home = 0
  integer(c_size_t), parameter :: bytes = 8
  type(c_ptr) :: conf, one, two

  conf = fstarpu_conf_allocate()
  call fstarpu_conf_set_ncpu(conf, 2)
  call fstarpu_conf_set_ncuda(conf, 0)
  call fstarpu_conf_set_nopencl(conf, 0)
  call fstarpu_conf_set_sched_policy_name(conf, C_CHAR_"prio" // C_NULL_CHAR)
  call fstarpu_conf_set_min_prio(conf, -3)
  call fstarpu_conf_set_max_prio(conf, 4)
  call expect("initialised before", fstarpu_is_initialized(), 0)
  if (fstarpu_init(conf) /= 0) stop 77
  call fstarpu_conf_free(conf)
  call expect("initialised after", fstarpu_is_initialized(), 1)
  call expect("least priority", fstarpu_sched_get_min_priority(), -3)
  call expect("greatest priority", fstarpu_sched_get_max_priority(), 4)

  one = codelet_of("increment", c_funloc(increment))
  call fstarpu_codelet_add_buffer(one, FSTARPU_RW)
  two = codelet_of("add", c_funloc(add))
  call fstarpu_codelet_add_buffer(two, FSTARPU_R)
  call fstarpu_codelet_add_buffer(two, FSTARPU_RW)
  call workers()
  call places()
  call parts()
  call plans()
  call lists()
  call tensors()
  call tags()
  call tasks()
  call models()
  call contexts()
  call fstarpu_codelet_free(one)
  call fstarpu_codelet_free(two)
  call fstarpu_shutdown()
  print "(a)", "all answers are right"

contains

  include "expect.inc"

  subroutine expect_all(what, seen, expected)
    character(*), intent(in) :: what
    real(c_double), intent(in) :: seen(:), expected(:)
    integer :: i

    do i = 1, size(expected)
      call expect(what, nint(seen(i), c_int), nint(expected(i), c_int))
    end do
  end subroutine expect_all

  type(c_ptr) function codelet_of(name, func)
    character(*), intent(in) :: name
    type(c_funptr), value, intent(in) :: func

    codelet_of = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(codelet_of, name // C_NULL_CHAR)
    call fstarpu_codelet_add_cpu_func(codelet_of, func)
    call fstarpu_codelet_set_flags(codelet_of, FSTARPU_CODELET_SIMGRID_EXECUTE)
    call fstarpu_codelet_set_where(codelet_of, FSTARPU_CPU)
  end function codelet_of

  subroutine workers()
    integer(c_int) :: ids(4)
    character(kind=c_char) :: text(64)

    call expect("workers", fstarpu_worker_get_count(), 2)
    call expect("combined workers", fstarpu_combined_worker_get_count(), 0)
    call expect("workers with CUDA", fstarpu_cuda_worker_get_count(), 0)
    call expect("workers with HIP", fstarpu_hip_worker_get_count(), 0)
    call expect("workers with OpenCL", fstarpu_opencl_worker_get_count(), 0)
    call expect("workers of a type", fstarpu_worker_get_count_by_type(FSTARPU_CPU_WORKER), 2)
    call expect("of all types", fstarpu_worker_get_count_by_type(FSTARPU_ANY_WORKER), 2)
    call expect("of CUDA", fstarpu_worker_get_count_by_type(FSTARPU_CUDA_WORKER), 0)
    ids = -9
    call expect("their ids", fstarpu_worker_get_ids_by_type(FSTARPU_CPU_WORKER, ids, 4), 2)
    call expect("the first", ids(1), 0)
    call expect("the second", ids(2), 1)
    call expect("no third", ids(3), -9)
    call expect("by type", fstarpu_worker_get_by_type(FSTARPU_CPU_WORKER, 1), 1)
    call expect("no such", fstarpu_worker_get_by_type(FSTARPU_CPU_WORKER, 2), -1)
    call expect("by device", fstarpu_worker_get_by_devid(FSTARPU_CPU_WORKER, &
                fstarpu_worker_get_devid(1)), 1)
    call expect("type", int(p_to_ip(fstarpu_worker_get_type(1)), c_int), &
                int(p_to_ip(FSTARPU_CPU_WORKER), c_int))
    call fstarpu_worker_get_type_as_string(FSTARPU_CPU_WORKER, text, 64_c_size_t)
    if (any(text(1:4) /= (/ "C", "P", "U", C_NULL_CHAR /))) error stop "the name of a type"
    text = "x"
    call fstarpu_worker_get_name(0, text, 4_c_size_t)
    if (text(4) /= C_NULL_CHAR .or. text(5) /= "x") error stop "a name was not cut"
    call expect("outside of tasks", fstarpu_worker_get_id(), -1)
    call expect("a memory", fstarpu_worker_get_memory_node(1), home)
    call expect("memories", fstarpu_memory_nodes_get_count(), 1)
    call expect("combined", fstarpu_worker_is_combined_worker(0), 0)
    call expect("slave", fstarpu_worker_is_slave_somewhere(0), 0)
    if (c_associated(fstarpu_task_get_current())) error stop "a task runs here"
  end subroutine workers

  ! Bytes that the program has, given to data that had none.
  subroutine places()
    real(c_double), target :: x(n), m(4, 3), b(4, 3, 2), v
    type(c_ptr) :: vector, matrix, block, variable, same

    x = 5; m = 6; b = 7; v = 8
    call fstarpu_vector_data_register(vector, -1, C_NULL_PTR, n, bytes)
    call fstarpu_matrix_data_register(matrix, -1, C_NULL_PTR, 4, 4, 3, bytes)
    call fstarpu_block_data_register(block, -1, C_NULL_PTR, 4, 12, 4, 3, 2, bytes)
    call fstarpu_variable_data_register(variable, -1, C_NULL_PTR, bytes)
    call fstarpu_vector_ptr_register(vector, home, c_loc(x), c_loc(x), 0_c_size_t)
    call fstarpu_matrix_ptr_register(matrix, home, c_loc(m), c_loc(m), 0_c_size_t, 4)
    call fstarpu_block_ptr_register(block, home, c_loc(b), c_loc(b), 0_c_size_t, 4, 12)
    call fstarpu_variable_ptr_register(variable, home, c_loc(v), c_loc(v), 0_c_size_t)
    if (.not. c_associated(fstarpu_data_handle_to_pointer(vector, home), c_loc(x))) &
      error stop "the vector lies elsewhere"
    if (.not. c_associated(fstarpu_data_get_local_ptr(matrix), c_loc(m))) &
      error stop "the matrix lies elsewhere"
    if (.not. c_associated(fstarpu_data_handle_to_pointer(block, home), c_loc(b))) &
      error stop "the block lies elsewhere"
    if (.not. c_associated(fstarpu_data_handle_to_pointer(variable, home), c_loc(v))) &
      error stop "the variable lies elsewhere"
    call fstarpu_data_register_same(same, vector)
    call fstarpu_data_unregister(same)
    call fstarpu_data_unregister_no_coherency(vector)
    call fstarpu_data_unregister_no_coherency(matrix)
    call fstarpu_data_unregister_no_coherency(block)
    call fstarpu_data_unregister_no_coherency(variable)
  end subroutine places

  subroutine parts()
    real(c_double), target :: x(n)
    integer(c_int64_t), target :: lengths(3) = (/ 2, 3, 7 /)
    type(c_ptr) :: root, filter
    integer :: i

    x = (/ (i, i = 1, n) /)
    call fstarpu_vector_data_register(root, home, c_loc(x), n, bytes)
    filter = fstarpu_df_alloc_vector_filter_block()
    call fstarpu_data_filter_set_nchildren(filter, 3)
    call fstarpu_data_partition(root, filter)
    call expect("parts", fstarpu_data_get_nb_children(root), 3)
    call fstarpu_task_insert((/ one, FSTARPU_RW, fstarpu_data_get_child(root, 1), &
                                C_NULL_PTR /))
    call fstarpu_data_unpartition(root, home)
    call fstarpu_data_filter_free(filter)
    ! Lengths in an array of C's long.
    filter = fstarpu_data_filter_allocate()
    call fstarpu_data_filter_set_filter_func(filter, c_funloc(fstarpu_vector_filter_list_long))
    call fstarpu_data_filter_set_nchildren(filter, 3)
    call fstarpu_data_filter_set_filter_arg_ptr(filter, c_loc(lengths))
    call fstarpu_data_partition(root, filter)
    call fstarpu_task_insert((/ one, FSTARPU_RW, fstarpu_data_get_sub_data(root, 1, (/ 0 /)), &
                                C_NULL_PTR /))
    call fstarpu_data_unpartition(root, home)
    call fstarpu_data_filter_free(filter)
    ! The first 5 and the others.
    filter = fstarpu_df_alloc_vector_filter_divide_in_2()
    call fstarpu_data_filter_set_nchildren(filter, 2)
    call fstarpu_data_filter_set_filter_arg(filter, 5)
    call fstarpu_data_partition(root, filter)
    call fstarpu_task_insert((/ one, FSTARPU_RW, fstarpu_data_get_child(root, 1), &
                                C_NULL_PTR /))
    call fstarpu_data_unpartition(root, home)
    call fstarpu_data_filter_free(filter)
    call expect("parts that are gone", fstarpu_data_get_nb_children(root), 0)
    call fstarpu_data_unregister(root)
    call expect_all("parts", x, real((/ 2, 3, 3, 4, 6, 8, 9, 10, 10, 11, 12, 13 /), c_double))
  end subroutine parts

  subroutine plans()
    real(c_double), target :: x(n), y(n / 3)
    type(c_ptr) :: root, filter, sum, children(3)

    x = 0; y = 0
    call fstarpu_vector_data_register(root, home, c_loc(x), n, bytes)
    call fstarpu_vector_data_register(sum, home, c_loc(y), n / 3, bytes)
    filter = fstarpu_df_alloc_vector_filter_block()
    call fstarpu_data_filter_set_nchildren(filter, 3)
    call fstarpu_data_partition_plan(root, filter, children)
    call fstarpu_task_insert((/ one, FSTARPU_RW, root, C_NULL_PTR /))
    call fstarpu_data_partition_submit(root, 3, children)
    call fstarpu_task_insert((/ one, FSTARPU_RW, children(2), C_NULL_PTR /))
    call fstarpu_data_unpartition_submit(root, 3, children, home)
    call fstarpu_data_partition_readonly_submit(root, 3, children)
    call fstarpu_task_insert((/ two, FSTARPU_R, children(1), FSTARPU_RW, sum, C_NULL_PTR /))
    call fstarpu_data_partition_readwrite_upgrade_submit(root, 3, children)
    call fstarpu_task_insert((/ one, FSTARPU_RW, children(3), C_NULL_PTR /))
    call fstarpu_task_insert((/ two, FSTARPU_R, children(3), FSTARPU_RW, sum, C_NULL_PTR /))
    call fstarpu_data_unpartition_submit(root, 3, children, home)
    call fstarpu_data_partition_clean(root, 3, children)
    call fstarpu_data_filter_free(filter)
    call fstarpu_data_unregister(root)
    call fstarpu_data_unregister(sum)
    call expect_all("planned parts", x, real((/ 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2 /), c_double))
    call expect_all("their sum", y, real((/ 3, 3, 3, 3 /), c_double))
  end subroutine plans

  subroutine lists()
    real(c_double), target :: x(n), y(n)
    integer(c_int), target :: length = 2
    type(c_ptr) :: from, to, handles, descrs

    x = 3; y = 4
    call fstarpu_vector_data_register(from, home, c_loc(x), n, bytes)
    call fstarpu_vector_data_register(to, home, c_loc(y), n, bytes)
    call fstarpu_data_set_name(to, C_CHAR_"to" // C_NULL_CHAR)
    handles = fstarpu_data_handle_array_alloc(2)
    call fstarpu_data_handle_array_set(handles, 0, from)
    call fstarpu_data_handle_array_set(handles, 1, to)
    call fstarpu_task_insert((/ two, FSTARPU_DATA_ARRAY, handles, c_loc(length), C_NULL_PTR /))
    descrs = fstarpu_data_descr_array_alloc(2)
    call fstarpu_data_descr_array_set(descrs, 0, to, FSTARPU_R)
    call fstarpu_data_descr_array_set(descrs, 1, from, FSTARPU_RW)
    call fstarpu_insert_task((/ two, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(length), &
                                C_NULL_PTR /))
    call fstarpu_task_wait_for_all()
    call fstarpu_data_handle_array_free(handles)
    call fstarpu_data_descr_array_free(descrs)
    call expect("a copy", fstarpu_data_cpy(to, from, 0, C_NULL_FUNPTR, C_NULL_PTR), 0)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    call expect_all("the first of lists", x(1:1), (/ 10.0_c_double /))
    call expect_all("the second of lists", y(n:n), (/ 10.0_c_double /))
  end subroutine lists

  subroutine tensors()
    real(c_double), target :: x(6, 5, 4, 3)
    type(c_ptr) :: tensor, numbering

    x = -1
    numbering = codelet_of("number", c_funloc(fill_tensor))
    call fstarpu_codelet_add_buffer(numbering, FSTARPU_RW)
    call fstarpu_tensor_data_register(tensor, home, c_loc(x), 6, 30, 120, 5, 4, 3, 2, bytes)
    call fstarpu_task_insert((/ numbering, FSTARPU_RW, tensor, C_NULL_PTR /))
    call fstarpu_data_unregister(tensor)
    call fstarpu_codelet_free(numbering)
    call expect_all("a tensor", (/ x(5, 4, 3, 2), x(1, 2, 3, 1), x(6, 1, 1, 1), &
                    x(1, 1, 1, 3) /), real((/ 2345, 1321, -1, -1 /), c_double))
  end subroutine tensors

  subroutine tags()
    real(c_double), target :: x(n), y(n)
    integer(c_int64_t), target :: first = 71, last = 72
    type(c_ptr) :: from, to

    x = 1; y = 1
    call fstarpu_vector_data_register(from, home, c_loc(x), n, bytes)
    call fstarpu_vector_data_register(to, home, c_loc(y), n, bytes)
    ! The task with tag 72 waits for two tags; the second one is the program's.
    call fstarpu_tag_declare_deps_array(72, 2, (/ 71_c_int64_t, 73_c_int64_t /))
    call fstarpu_task_insert((/ one, FSTARPU_RW, to, FSTARPU_TAG, c_loc(last), C_NULL_PTR /))
    call fstarpu_task_insert((/ one, FSTARPU_RW, from, FSTARPU_TAG, c_loc(first), &
                                C_NULL_PTR /))
    call expect("a tag", fstarpu_tag_wait(71_c_int64_t), 0)
    call expect("tasks that wait", fstarpu_task_nsubmitted(), 1)
    if (.not. c_associated(fstarpu_tag_get_task(72_c_int64_t))) error stop "a tag has no task"
    call expect("ready tasks", fstarpu_task_nready(), 0)
    call expect("none are ready", fstarpu_task_wait_for_no_ready(), 0)
    call fstarpu_tag_notify_from_apps(73_c_int64_t)
    call expect("tags", fstarpu_tag_wait_array(2, (/ 71_c_int64_t, 72_c_int64_t /)), 0)
    call fstarpu_task_wait_for_all()
    call fstarpu_tag_remove(71_c_int64_t)
    call fstarpu_tag_remove(72_c_int64_t)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    call expect_all("tagged tasks", (/ x(1), y(n) /), (/ 2.0_c_double, 2.0_c_double /))
  end subroutine tags

  ! Tasks without codelets take their time in no worker.
  subroutine tasks()
    type(c_ptr) :: before, between, after

    before = fstarpu_task_create()
    between = fstarpu_task_create()
    after = fstarpu_task_create()
    call fstarpu_task_set_implementation(after, 1)
    call expect("implementation", fstarpu_task_get_implementation(after), 1)
    call fstarpu_task_set_implementation(after, 0)
    call fstarpu_task_declare_deps_array(after, 2, (/ before, between /))
    call expect("submission", fstarpu_task_submit(after), 0)
    call expect("submission", fstarpu_task_submit(before), 0)
    call expect("submitted", fstarpu_task_nsubmitted(), 1)
    call fstarpu_task_wait_for_n_submitted(1)
    call expect("submission", fstarpu_task_submit_to_ctx(between, 0), 0)
    call fstarpu_task_wait_for_all_in_ctx(0)
    call expect("submitted", fstarpu_task_nsubmitted(), 0)
  end subroutine tasks

  subroutine models()
    real(c_double), target :: x(n)
    type(c_ptr) :: model, measured, handle
    integer :: i

    x = 0
    model = fstarpu_perfmodel_allocate()
    call fstarpu_perfmodel_set_symbol(model, C_CHAR_"answers_other" // C_NULL_CHAR)
    call fstarpu_perfmodel_set_symbol(model, C_CHAR_"answers_increment" // C_NULL_CHAR)
    call fstarpu_perfmodel_set_type(model, FSTARPU_HISTORY_BASED)
    measured = codelet_of("measured", c_funloc(increment))
    call fstarpu_codelet_add_buffer(measured, FSTARPU_RW)
    call fstarpu_codelet_set_model(measured, model)
    call fstarpu_vector_data_register(handle, home, c_loc(x), n, bytes)
    do i = 1, 5
      call fstarpu_task_insert((/ measured, FSTARPU_RW, handle, C_NULL_PTR /))
    end do
    call fstarpu_data_unregister(handle)
    call fstarpu_codelet_free(measured)
    call fstarpu_perfmodel_free(model)
    call expect_all("measured tasks", x(n:n), (/ 5.0_c_double /))
  end subroutine models

  subroutine contexts()
    real(c_double), target :: x(n)
    integer(c_int), target :: ctx
    integer(c_int) :: ids(1) = (/ 1 /)
    type(c_ptr) :: handle

    x = 0
    ctx = fstarpu_sched_ctx_create(ids, 1, C_CHAR_"answers" // C_NULL_CHAR, (/ C_NULL_PTR /))
    if (ctx <= 0) error stop "no context"
    call expect("its workers", fstarpu_sched_ctx_get_nworkers(ctx), 1)
    call expect("contains 1", fstarpu_sched_ctx_contains_worker(1, ctx), 1)
    call expect("contains 0", fstarpu_sched_ctx_contains_worker(0, ctx), 0)
    call expect("contains CPUs", fstarpu_sched_ctx_contains_type_of_worker( &
                int(p_to_ip(FSTARPU_CPU_WORKER), c_int), ctx), 1)
    call expect("contains CUDA", fstarpu_sched_ctx_contains_type_of_worker( &
                int(p_to_ip(FSTARPU_CUDA_WORKER), c_int), ctx), 0)
    call fstarpu_sched_ctx_set_inheritor(ctx, 0)
    call expect("inheritor", fstarpu_sched_ctx_get_inheritor(ctx), 0)
    call expect("priority", fstarpu_sched_ctx_set_min_priority(ctx, -2), 0)
    call expect("priority", fstarpu_sched_ctx_set_max_priority(ctx, 9), 0)
    call expect("least", fstarpu_sched_ctx_get_min_priority(ctx), -2)
    call expect("greatest", fstarpu_sched_ctx_get_max_priority(ctx), 9)
    call expect("least was given", fstarpu_sched_ctx_min_priority_is_set(ctx), 0)
    call expect("greatest was given", fstarpu_sched_ctx_max_priority_is_set(ctx), 0)
    call fstarpu_sched_ctx_set_user_data(ctx, c_loc(x))
    if (.not. c_associated(fstarpu_sched_ctx_get_user_data(ctx), c_loc(x))) &
      error stop "the program's pointer of a context"
    call fstarpu_sched_ctx_add_workers((/ 0_c_int /), 1, ctx)
    call expect("with another", fstarpu_sched_ctx_get_nworkers(ctx), 2)
    call fstarpu_sched_ctx_remove_workers((/ 0_c_int /), 1, ctx)
    call fstarpu_vector_data_register(handle, home, c_loc(x), n, bytes)
    call fstarpu_task_insert((/ one, FSTARPU_RW, handle, FSTARPU_SCHED_CTX, c_loc(ctx), &
                                C_NULL_PTR /))
    call fstarpu_sched_ctx_set_context(c_loc(ctx))
    call expect("the context of a thread", fstarpu_sched_ctx_get_context(), ctx)
    call fstarpu_task_insert((/ one, FSTARPU_RW, handle, C_NULL_PTR /))
    call fstarpu_task_wait_for_all_in_ctx(ctx)
    call expect("ready in a context", fstarpu_sched_ctx_get_nready_tasks(ctx), 0)
    call fstarpu_sched_ctx_set_context(C_NULL_PTR)
    call fstarpu_sched_ctx_finished_submit(ctx)
    call fstarpu_sched_ctx_delete(ctx)
    call fstarpu_data_unregister(handle)
    call expect_all("tasks of a context", x(1:1), (/ 2.0_c_double /))
  end subroutine contexts
end program answers
