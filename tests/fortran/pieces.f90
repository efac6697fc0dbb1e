! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Parts of vectors, matrices and blocks in Fortran, cut in all ways that its modules have,
! with the filters' constructors and with their functions; hints about data; reductions;
! arbiters; memory.
! mpirun -n 1 pieces

module pieces_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

  real(c_double), pointer :: memory(:)

contains

  ! To the variable, 1000 for each element and the elements themselves are added.
  recursive subroutine total_of(x, ldy, ldz, nx, ny, nz, result)
    type(c_ptr), intent(in) :: x, result
    integer(c_int), intent(in) :: ldy, ldz, nx, ny, nz
    real(c_double), pointer :: elements(:), total
    integer :: j, k, from

    call c_f_pointer(x, elements, (/ ldz * (nz - 1) + ldy * (ny - 1) + nx /))
    call c_f_pointer(result, total)
    do k = 0, nz - 1
      do j = 0, ny - 1
        from = k * ldz + j * ldy
        total = total + 1000 * nx + sum(elements(from + 1:from + nx))
      end do
    end do
  end subroutine total_of

  recursive subroutine total_vector(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg

    if (c_associated(cl_arg)) error stop "total_vector: no argument was given"
    call total_of(fstarpu_vector_get_ptr(buffers, 0), 0, 0, &
                  fstarpu_vector_get_nx(buffers, 0), 1, 1, fstarpu_variable_get_ptr(buffers, 1))
  end subroutine total_vector

  recursive subroutine total_matrix(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg

    if (c_associated(cl_arg)) error stop "total_matrix: no argument was given"
    call total_of(fstarpu_matrix_get_ptr(buffers, 0), fstarpu_matrix_get_ld(buffers, 0), 0, &
                  fstarpu_matrix_get_nx(buffers, 0), fstarpu_matrix_get_ny(buffers, 0), 1, &
                  fstarpu_variable_get_ptr(buffers, 1))
  end subroutine total_matrix

  recursive subroutine total_block(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg

    if (c_associated(cl_arg)) error stop "total_block: no argument was given"
    call total_of(fstarpu_block_get_ptr(buffers, 0), fstarpu_block_get_ldy(buffers, 0), &
                  fstarpu_block_get_ldz(buffers, 0), fstarpu_block_get_nx(buffers, 0), &
                  fstarpu_block_get_ny(buffers, 0), fstarpu_block_get_nz(buffers, 0), &
                  fstarpu_variable_get_ptr(buffers, 1))
  end subroutine total_block

  include "kernels.inc"

  recursive subroutine nothing(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg

    if (.not. c_associated(buffers) .or. c_associated(cl_arg)) error stop "nothing: arguments"
  end subroutine nothing

  ! Parts of a filter of the program's: the vector's elements by twos.
  recursive function by_twos(filter, handle) bind(C) result(parts)
    type(c_ptr), value, intent(in) :: filter, handle
    integer(c_int) :: parts

    if (.not. c_associated(filter) .or. .not. c_associated(handle)) error stop "by_twos: nothing"
    parts = 6
  end function by_twos

  ! They are of their parent's kind.
  recursive function of_parents_kind(filter, part) bind(C) result(ops)
    type(c_ptr), value, intent(in) :: filter
    integer(c_int), value, intent(in) :: part
    type(c_ptr) :: ops

    if (.not. c_associated(filter) .or. part < 0 .or. part > 5) error stop "a part of nothing"
    ops = C_NULL_PTR
  end function of_parents_kind
end module pieces_kernels

program pieces
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use pieces_kernels
  implicit none

  integer(c_int), parameter :: home = 0
  integer(c_size_t), parameter :: bytes = 8
  real(c_double), target :: x(14), m(6, 5), b(6, 5, 4)
  type(c_ptr) :: of_vectors, of_matrices, of_blocks, adding, zero, joining
  integer :: i

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  of_vectors = codelet_of("total_vector", c_funloc(total_vector), FSTARPU_R)
  call fstarpu_codelet_add_buffer(of_vectors, FSTARPU_RW)
  of_matrices = codelet_of("total_matrix", c_funloc(total_matrix), FSTARPU_R)
  call fstarpu_codelet_add_buffer(of_matrices, FSTARPU_RW)
  of_blocks = codelet_of("total_block", c_funloc(total_block), FSTARPU_R)
  call fstarpu_codelet_add_buffer(of_blocks, FSTARPU_RW)
  adding = codelet_of("add_one", c_funloc(add_one), FSTARPU_RW)
  zero = codelet_of("zero", c_funloc(set_zero), FSTARPU_W)
  joining = codelet_of("join", c_funloc(add_to), FSTARPU_RW .ior. FSTARPU_COMMUTE)
  call fstarpu_codelet_add_buffer(joining, FSTARPU_R)
  x = (/ (i, i = 1, 14) /)
  m = reshape((/ (i, i = 1, 30) /), shape(m))
  b = reshape((/ (i, i = 1, 120) /), shape(b))
  call vectors()
  call matrices()
  call blocks()
  call sparse()
  call views()
  call hints()
  call arrangements()
  call of_the_program()
  call fstarpu_codelet_free(of_vectors)
  call fstarpu_codelet_free(of_matrices)
  call fstarpu_codelet_free(of_blocks)
  call fstarpu_codelet_free(adding)
  call fstarpu_codelet_free(zero)
  call fstarpu_codelet_free(joining)
  call fstarpu_shutdown()
  print "(a)", "all pieces are right"

contains

  include "expect.inc"
  include "codelet_of.inc"

  ! Cut with the filter, which goes; each part has as many elements and that sum.
  subroutine cut(what, root, codelet, filter, nparts, sizes, sums, shadow)
    character(*), intent(in) :: what
    type(c_ptr), intent(in) :: root, codelet
    type(c_ptr), value, intent(in) :: filter
    integer, intent(in) :: nparts, sizes(nparts)
    real(c_double), intent(in) :: sums(nparts)
    integer, optional, intent(in) :: shadow
    real(c_double), target :: totals(nparts)
    type(c_ptr) :: results(nparts)

    totals = 0
    call fstarpu_data_filter_set_nchildren(filter, nparts)
    if (present(shadow)) &
      call fstarpu_data_filter_set_filter_arg_ptr(filter, fstarpu_int_to_cptr(shadow))
    call fstarpu_data_partition(root, filter)
    call expect(what, fstarpu_data_get_nb_children(root), nparts)
    do i = 1, nparts
      call fstarpu_variable_data_register(results(i), home, c_loc(totals(i)), bytes)
      call fstarpu_task_insert((/ codelet, FSTARPU_R, fstarpu_data_get_child(root, i - 1), &
                                  FSTARPU_RW, results(i), C_NULL_PTR /))
      call fstarpu_data_unregister(results(i))
      call expect(what, nint(totals(i), c_int), 1000 * sizes(i) + nint(sums(i), c_int))
    end do
    call fstarpu_data_unpartition(root, home)
    call fstarpu_data_filter_free(filter)
  end subroutine cut

  type(c_ptr) function filter_of(func)
    type(c_funptr), value, intent(in) :: func

    filter_of = fstarpu_data_filter_allocate()
    call fstarpu_data_filter_set_filter_func(filter_of, func)
  end function filter_of

  subroutine vectors()
    integer(c_int32_t), target :: lengths(3) = (/ 1, 4, 7 /)
    type(c_ptr) :: root, with_shadow, filter
    integer :: way
    real(c_double) :: thirds(3), with_neighbours(3)

    call fstarpu_vector_data_register(root, home, c_loc(x), 12, bytes)
    call fstarpu_vector_data_register(with_shadow, home, c_loc(x), 14, bytes)
    thirds = (/ (sum(x(4 * i - 3:4 * i)), i = 1, 3) /)
    with_neighbours = (/ (sum(x(4 * i - 3:4 * i + 2)), i = 1, 3) /)
    call cut("blocks", root, of_vectors, fstarpu_df_alloc_vector_filter_block(), 3, &
             (/ 4, 4, 4 /), thirds)
    call cut("blocks", root, of_vectors, filter_of(c_funloc(fstarpu_vector_filter_block)), 3, &
             (/ 4, 4, 4 /), thirds)
    call cut("blocks and shadows", with_shadow, of_vectors, &
             fstarpu_df_alloc_vector_filter_block_shadow(), 3, (/ 6, 6, 6 /), &
             with_neighbours, 1)
    call cut("blocks and shadows", with_shadow, of_vectors, &
             filter_of(c_funloc(fstarpu_vector_filter_block_shadow)), 3, (/ 6, 6, 6 /), &
             with_neighbours, 1)
    do way = 1, 2
      filter = C_NULL_PTR
      if (way == 1) filter = fstarpu_df_alloc_vector_filter_list()
      if (way == 2) filter = filter_of(c_funloc(fstarpu_vector_filter_list))
      call fstarpu_data_filter_set_filter_arg_ptr(filter, c_loc(lengths))
      call cut("a list", root, of_vectors, filter, 3, (/ 1, 4, 7 /), &
               (/ x(1), sum(x(2:5)), sum(x(6:12)) /))
    end do
    filter = filter_of(c_funloc(fstarpu_vector_divide_in_2))
    call fstarpu_data_filter_set_filter_arg(filter, 5)
    call cut("two", root, of_vectors, filter, 2, (/ 5, 7 /), (/ sum(x(1:5)), sum(x(6:12)) /))
    call fstarpu_data_unregister(root)
    call fstarpu_data_unregister(with_shadow)
  end subroutine vectors

  ! 6 x 5 elements; without the border, 4 of the rows or 3 of the columns.
  subroutine matrices()
    type(c_ptr) :: root, wide, high
    integer :: way
    type(c_ptr) :: filter

    call fstarpu_matrix_data_register(root, home, c_loc(m), 6, 6, 5, bytes)
    call fstarpu_matrix_data_register(wide, home, c_loc(m), 6, 6, 5, bytes)
    call fstarpu_matrix_data_register(high, home, c_loc(m), 6, 6, 5, bytes)
    do way = 1, 2
      filter = fstarpu_df_alloc_matrix_filter_block()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_matrix_filter_block))
      call cut("rows", root, of_matrices, filter, 3, (/ 10, 10, 10 /), &
               (/ sum(m(1:2, :)), sum(m(3:4, :)), sum(m(5:6, :)) /))
      filter = fstarpu_df_alloc_matrix_filter_vertical_block()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_matrix_filter_vertical_block))
      call cut("columns", root, of_matrices, filter, 2, (/ 18, 12 /), &
               (/ sum(m(:, 1:3)), sum(m(:, 4:5)) /))
      filter = fstarpu_df_alloc_matrix_filter_block_shadow()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_matrix_filter_block_shadow))
      call cut("rows and shadows", wide, of_matrices, filter, 2, (/ 20, 20 /), &
               (/ sum(m(1:4, :)), sum(m(3:6, :)) /), 1)
      filter = fstarpu_df_alloc_matrix_filter_vertical_block_shadow()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                          c_funloc(fstarpu_matrix_filter_vertical_block_shadow))
      call cut("columns and shadows", high, of_matrices, filter, 3, (/ 18, 18, 18 /), &
               (/ sum(m(:, 1:3)), sum(m(:, 2:4)), sum(m(:, 3:5)) /), 1)
    end do
    call fstarpu_data_unregister(root)
    call fstarpu_data_unregister(wide)
    call fstarpu_data_unregister(high)
  end subroutine matrices

  subroutine blocks()
    type(c_ptr) :: root, filter
    integer :: way

    call fstarpu_block_data_register(root, home, c_loc(b), 6, 30, 6, 5, 4, bytes)
    do way = 1, 2
      filter = fstarpu_df_alloc_block_filter_block()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_block_filter_block))
      call cut("along x", root, of_blocks, filter, 2, (/ 60, 60 /), &
               (/ sum(b(1:3, :, :)), sum(b(4:6, :, :)) /))
      filter = fstarpu_df_alloc_block_filter_vertical_block()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_block_filter_vertical_block))
      call cut("along y", root, of_blocks, filter, 2, (/ 72, 48 /), &
               (/ sum(b(:, 1:3, :)), sum(b(:, 4:5, :)) /))
      filter = fstarpu_df_alloc_block_filter_block_shadow()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                                  c_funloc(fstarpu_block_filter_block_shadow))
      call cut("along x with shadows", root, of_blocks, filter, 2, (/ 80, 80 /), &
               (/ sum(b(1:4, :, :)), sum(b(3:6, :, :)) /), 1)
      filter = fstarpu_df_alloc_block_filter_vertical_block_shadow()
      if (way == 2) call fstarpu_data_filter_set_filter_func(filter, &
                                          c_funloc(fstarpu_block_filter_vertical_block_shadow))
      call cut("along y with shadows", root, of_blocks, filter, 3, (/ 72, 72, 72 /), &
               (/ sum(b(:, 1:3, :)), sum(b(:, 2:4, :)), sum(b(:, 3:5, :)) /), 1)
    end do
    call cut("along z", root, of_blocks, filter_of(c_funloc(fstarpu_block_filter_depth_block)), &
             4, (/ 30, 30, 30, 30 /), (/ (sum(b(:, :, i)), i = 1, 4) /))
    call cut("along z with shadows", root, of_blocks, &
             filter_of(c_funloc(fstarpu_block_filter_depth_block_shadow)), 2, (/ 90, 90 /), &
             (/ sum(b(:, :, 1:3)), sum(b(:, :, 2:4)) /), 1)
    call fstarpu_data_unregister(root)
  end subroutine blocks

  ! Fortran cannot register sparse matrices: who gets them from C has filters for them.
  subroutine sparse()
    call fstarpu_data_filter_free(fstarpu_df_alloc_bcsr_filter_canonical_block())
    call fstarpu_data_filter_free(fstarpu_df_alloc_csr_filter_vertical_block())
  end subroutine sparse

  ! Parts that are read while the whole is read as well; then the whole is written.
  subroutine views()
    real(c_double), target :: total
    type(c_ptr) :: root, filter, result, children(3)

    total = 0
    call fstarpu_vector_data_register(root, home, c_loc(x), 12, bytes)
    call fstarpu_variable_data_register(result, home, c_loc(total), bytes)
    filter = fstarpu_df_alloc_vector_filter_block()
    call fstarpu_data_filter_set_nchildren(filter, 3)
    call fstarpu_data_partition_plan(root, filter, children)
    call fstarpu_data_partition_readonly_submit(root, 3, children)
    call fstarpu_task_insert((/ of_vectors, FSTARPU_R, children(2), FSTARPU_RW, result, &
                                C_NULL_PTR /))
    call fstarpu_task_insert((/ of_vectors, FSTARPU_R, root, FSTARPU_RW, result, C_NULL_PTR /))
    call fstarpu_data_unpartition_submit(root, 3, children, home)
    call fstarpu_data_partition_submit(root, 3, children)
    call fstarpu_data_unpartition_readonly_submit(root, 3, children, home)
    call fstarpu_task_insert((/ of_vectors, FSTARPU_R, root, FSTARPU_RW, result, C_NULL_PTR /))
    call fstarpu_task_insert((/ of_vectors, FSTARPU_R, children(3), FSTARPU_RW, result, &
                                C_NULL_PTR /))
    call fstarpu_data_unpartition_submit(root, 3, children, home)
    call fstarpu_data_partition_clean(root, 3, children)
    call fstarpu_data_filter_free(filter)
    call fstarpu_data_unregister(root)
    call fstarpu_data_unregister(result)
    call expect("views", nint(total, c_int), &
                1000 * 32 + nint(2 * sum(x(1:12)) + sum(x(5:8)) + sum(x(9:12)), c_int))
  end subroutine views

  ! What changes no value.
  subroutine hints()
    real(c_double), target :: v
    type(c_ptr) :: handle, nobodys

    v = 1
    call fstarpu_variable_data_register(handle, home, c_loc(v), bytes)
    call fstarpu_variable_data_register(nobodys, -1, C_NULL_PTR, bytes)
    call expect("at home", fstarpu_data_is_on_node(handle, home), 1)
    call expect("nowhere", fstarpu_data_is_on_node(nobodys, home), 0)
    call expect("no room", fstarpu_data_test_if_allocated_on_node(nobodys, home), 0)
    call fstarpu_data_request_allocation(nobodys, home)
    call fstarpu_task_wait_for_all()
    call expect("room", fstarpu_data_test_if_allocated_on_node(nobodys, home), 1)
    call expect("no value", fstarpu_data_is_on_node(nobodys, home), 0)
    call fstarpu_data_advise_as_important(handle, 1)
    call fstarpu_data_fetch_on_node(handle, home, 0)
    call fstarpu_data_prefetch_on_node(handle, home, 1)
    call fstarpu_data_prefetch_on_node_prio(handle, home, 1, 3)
    call fstarpu_data_idle_prefetch_on_node(handle, home, 1)
    call fstarpu_data_idle_prefetch_on_node_prio(handle, home, 1, 3)
    call fstarpu_data_wont_use(handle)
    call fstarpu_memchunk_tidy(home)
    call fstarpu_task_insert((/ adding, FSTARPU_RW, handle, C_NULL_PTR /))
    call fstarpu_data_acquire(handle, FSTARPU_R)
    call expect("a value", nint(v, c_int), 2)
    call fstarpu_data_release_on_node(handle, home)
    call fstarpu_data_unregister(handle)
    call fstarpu_task_insert((/ zero, FSTARPU_W, nobodys, C_NULL_PTR /))
    call fstarpu_task_wait_for_all()
    call expect("written", fstarpu_data_is_on_node(nobodys, home), 1)
    call fstarpu_data_invalidate(nobodys)
    call expect("invalid", fstarpu_data_is_on_node(nobodys, home), 0)
    call fstarpu_task_insert((/ zero, FSTARPU_W, nobodys, C_NULL_PTR /))
    call fstarpu_data_invalidate_submit(nobodys)
    call fstarpu_task_wait_for_all()
    call expect("invalid", fstarpu_data_is_on_node(nobodys, home), 0)
    call fstarpu_data_unregister_submit(nobodys)
  end subroutine hints

  ! Reductions in one node, arbiters, memory of the library's, data without a value.
  subroutine arrangements()
    real(c_double), target :: v
    type(c_ptr) :: handle, arbiter, other, empty, on_empty, reducing
    integer(c_intptr_t) :: address
    integer(c_int), target :: sequential = 0

    v = 5
    reducing = codelet_of("reduce", c_funloc(add_one), FSTARPU_REDUX)
    call fstarpu_variable_data_register(handle, home, c_loc(v), bytes)
    call fstarpu_data_set_reduction_methods(handle, joining, zero)
    do i = 1, 20
      call fstarpu_task_insert((/ reducing, FSTARPU_REDUX, handle, C_NULL_PTR /))
    end do
    call fstarpu_data_unregister(handle)
    call fstarpu_codelet_free(reducing)
    call expect("reduced", nint(v, c_int), 25)

    arbiter = fstarpu_arbiter_create()
    other = fstarpu_arbiter_create()
    call fstarpu_arbiter_destroy(other)
    address = fstarpu_malloc_on_node(home, bytes)
    if (address == 0) error stop "no memory"
    call c_f_pointer(ip_to_p(address), memory, (/ 1 /))
    memory(1) = 7
    call fstarpu_variable_data_register(handle, home, ip_to_p(address), bytes)
    call fstarpu_data_assign_arbiter(handle, arbiter)
    do i = 1, 20
      call fstarpu_task_insert((/ adding, FSTARPU_RW, handle, FSTARPU_SEQUENTIAL_CONSISTENCY, &
                                  c_loc(sequential), C_NULL_PTR /))
    end do
    call fstarpu_task_wait_for_all()
    call fstarpu_data_unregister(handle)
    call fstarpu_data_arbiter_destroy(arbiter)
    call expect("arbitrated", nint(memory(1), c_int), 27)
    call fstarpu_free_on_node(home, address, bytes)

    call fstarpu_void_data_register(empty)
    on_empty = codelet_of("nothing", c_funloc(nothing), FSTARPU_W)
    call fstarpu_task_insert((/ on_empty, FSTARPU_W, empty, C_NULL_PTR /))
    call fstarpu_data_unregister(empty)
    call fstarpu_codelet_free(on_empty)
  end subroutine arrangements

  ! The number of parts and their kinds, as a function of the program says them.
  subroutine of_the_program()
    type(c_ptr) :: root, filter
    real(c_double), target :: total
    type(c_ptr) :: result, descr, one

    total = 0
    call fstarpu_vector_data_register(root, home, c_loc(x), 12, bytes)
    call fstarpu_variable_data_register(result, home, c_loc(total), bytes)
    filter = fstarpu_df_alloc_vector_filter_block()
    call fstarpu_data_filter_set_get_nchildren_func(filter, c_funloc(by_twos))
    call fstarpu_data_filter_set_get_child_ops_func(filter, c_funloc(of_parents_kind))
    call fstarpu_data_map_filters(root, 1, (/ filter /))
    call expect("parts of twos", fstarpu_data_get_nb_children(root), 6)
    descr = fstarpu_data_descr_array_alloc(2)
    one = fstarpu_data_descr_alloc()
    call fstarpu_data_descr_set(one, result, FSTARPU_RW)
    call fstarpu_data_descr_free(one)
    call fstarpu_data_descr_set(descr, fstarpu_data_get_child(root, 5), FSTARPU_R)
    call fstarpu_data_descr_array_set(descr, 1, result, FSTARPU_RW)
    call insert_described(descr)
    call fstarpu_data_descr_array_free(descr)
    call fstarpu_data_unpartition(root, home)
    call fstarpu_data_filter_free(filter)
    call fstarpu_data_unregister(root)
    call fstarpu_data_unregister(result)
    call expect("the last of them", nint(total, c_int), 2000 + 11 + 12)
  end subroutine of_the_program

  subroutine insert_described(descr)
    type(c_ptr), intent(in) :: descr
    integer(c_int), target :: length

    length = 2
    call fstarpu_task_insert((/ of_vectors, FSTARPU_DATA_MODE_ARRAY, descr, c_loc(length), &
                                C_NULL_PTR /))
  end subroutine insert_described
end program pieces
