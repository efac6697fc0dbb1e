! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! The product of two matrices by blocks: A is cut into rows, B into columns, C into both.
! product [blocks along a side [rows of a block]]

module product_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  ! Buffer i of a task as a matrix with its leading dimension.
  function matrix(buffers, i)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer :: matrix(:, :)

    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, i), matrix, &
                     (/ fstarpu_matrix_get_ld(buffers, i), &
                        fstarpu_matrix_get_ny(buffers, i) /))
  end function matrix

  recursive subroutine multiply(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), target :: factor
    real(c_double), pointer :: a(:, :), b(:, :), c(:, :)
    integer :: m, n

    call fstarpu_unpack_arg(cl_arg, (/ c_loc(factor) /))
    a => matrix(buffers, 0)
    b => matrix(buffers, 1)
    c => matrix(buffers, 2)
    m = fstarpu_matrix_get_nx(buffers, 2)
    n = fstarpu_matrix_get_nx(buffers, 1)
    c(1:m, :) = factor * matmul(a(1:m, :), b(1:n, :))
  end subroutine multiply
end module product_kernels

program product_by_blocks
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use product_kernels
  implicit none

  real(c_double), allocatable, target :: a(:, :), b(:, :), c(:, :)
  real(c_double), target :: factor = 2.0_c_double
  integer(c_int), target :: priority
  integer(c_int) :: blocks, side, n, i, j
  integer :: seed
  type(c_ptr) :: conf, codelet, handle_a, handle_b, handle_c, rows, columns, block_c
  logical :: is_right

  blocks = number(1, 4)
  side = number(2, 16)
  n = blocks * side
  allocate (a(n, n), b(n, n), c(n, n))
  seed = 1
  do j = 1, n
    do i = 1, n
      seed = modulo(seed * 75 + 74, 65537)
      a(i, j) = seed / 65536.0_c_double
      b(i, j) = 1.0_c_double - a(i, j) / j
    end do
  end do
  c = -1.0_c_double

  conf = fstarpu_conf_allocate()
  if (fstarpu_init(conf) /= 0) stop 77
  call fstarpu_conf_free(conf)

  codelet = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(codelet, C_CHAR_"multiply" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(codelet, c_funloc(multiply))
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_W)
  call fstarpu_codelet_set_flags(codelet, FSTARPU_CODELET_SIMGRID_EXECUTE)

  call fstarpu_matrix_data_register(handle_a, 0, c_loc(a), n, n, n, c_sizeof(a(1, 1)))
  call fstarpu_matrix_data_register(handle_b, 0, c_loc(b), n, n, n, c_sizeof(b(1, 1)))
  call fstarpu_matrix_data_register(handle_c, 0, c_loc(c), n, n, n, c_sizeof(c(1, 1)))
  rows = fstarpu_df_alloc_matrix_filter_block()
  call fstarpu_data_filter_set_nchildren(rows, blocks)
  columns = fstarpu_df_alloc_matrix_filter_vertical_block()
  call fstarpu_data_filter_set_nchildren(columns, blocks)
  call fstarpu_data_partition(handle_a, rows)
  call fstarpu_data_partition(handle_b, columns)
  call fstarpu_data_map_filters(handle_c, 2, (/ rows, columns /))

  do j = 0, blocks - 1
    do i = 0, blocks - 1
      block_c = fstarpu_data_get_sub_data(handle_c, 2, (/ i, j /))
      priority = i
      call fstarpu_task_insert((/ codelet, &
          FSTARPU_VALUE, c_loc(factor), FSTARPU_SZ_C_DOUBLE, &
          FSTARPU_PRIORITY, c_loc(priority), &
          FSTARPU_R, fstarpu_data_get_child(handle_a, i), &
          FSTARPU_R, fstarpu_data_get_child(handle_b, j), &
          FSTARPU_W, block_c, C_NULL_PTR /))
    end do
  end do
  call fstarpu_task_wait_for_all()

  call fstarpu_data_unpartition(handle_a, 0)
  call fstarpu_data_unpartition(handle_b, 0)
  call fstarpu_data_unpartition(handle_c, 0)
  call fstarpu_data_filter_free(rows)
  call fstarpu_data_filter_free(columns)
  call fstarpu_data_unregister(handle_a)
  call fstarpu_data_unregister(handle_b)
  call fstarpu_data_unregister(handle_c)
  call fstarpu_codelet_free(codelet)
  call fstarpu_shutdown()

  is_right = maxval(abs(c - factor * matmul(a, b))) < 1.0e-9_c_double * n
  print "(a, i0, a, i0, a, l1)", "product of ", n, " x ", n, " is right: ", is_right
  if (.not. is_right) error stop 1

contains

  ! Argument i of the command line, a number.
  integer(c_int) function number(i, default)
    integer, intent(in) :: i
    integer(c_int), intent(in) :: default
    character(len=20) :: text

    number = default
    if (command_argument_count() < i) return
    call get_command_argument(i, text)
    read (text, *) number
  end function number
end program product_by_blocks
