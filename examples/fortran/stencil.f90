! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Heat along a rod, in cells that the ranks own in turn: each cell takes the mean of
! itself and its neighbours, by tasks that all ranks insert.
! mpirun -n 2 stencil

module stencil_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  function cell(buffers, i)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer :: cell

    call c_f_pointer(fstarpu_variable_get_ptr(buffers, i), cell)
  end function cell

  ! left, centre, right, and the new centre
  recursive subroutine relax(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: new

    if (c_associated(cl_arg)) error stop "relax: no argument was given"
    new => cell(buffers, 3)
    new = (cell(buffers, 0) + cell(buffers, 1) + cell(buffers, 2)) / 3
  end subroutine relax
end module stencil_kernels

program stencil
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use stencil_kernels
  implicit none

  integer(c_int), parameter :: ncells = 12, nsteps = 20
  real(c_double), target :: rod(0:ncells + 1, 0:1)
  real(c_double) :: expected(0:ncells + 1, 0:1)
  type(c_ptr) :: handles(0:ncells + 1, 0:1), codelet
  integer(c_int), target :: world
  integer(c_int) :: rank, ranks, owner, i, step, old, ret
  integer(c_int64_t) :: tag
  logical :: is_right

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop "fstarpu_mpi_init failed"
  world = fstarpu_mpi_world_comm()
  ret = fstarpu_mpi_comm_rank(world, rank)
  ret = fstarpu_mpi_comm_size(world, ranks)

  codelet = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(codelet, C_CHAR_"relax" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(codelet, c_funloc(relax))
  do i = 1, 3
    call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
  end do
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_W)
  call fstarpu_codelet_set_flags(codelet, FSTARPU_CODELET_SIMGRID_EXECUTE)

  rod = 0
  rod(0, :) = 100
  expected = rod
  do old = 0, 1
    do i = 0, ncells + 1
      owner = modulo(i, ranks)
      tag = 2 * i + old
      if (owner == rank) then
        call fstarpu_variable_data_register(handles(i, old), 0, c_loc(rod(i, old)), &
                                            c_sizeof(rod(i, old)))
      else
        call fstarpu_variable_data_register(handles(i, old), -1, C_NULL_PTR, &
                                            c_sizeof(rod(i, old)))
      end if
      call fstarpu_mpi_data_register(handles(i, old), tag, owner)
    end do
  end do

  do step = 0, nsteps - 1
    old = modulo(step, 2)
    do i = 1, ncells
      call fstarpu_mpi_task_insert((/ c_loc(world), codelet, &
          FSTARPU_R, handles(i - 1, old), FSTARPU_R, handles(i, old), &
          FSTARPU_R, handles(i + 1, old), FSTARPU_W, handles(i, 1 - old), C_NULL_PTR /))
      expected(i, 1 - old) = sum(expected(i - 1:i + 1, old)) / 3
    end do
  end do
  ret = fstarpu_mpi_wait_for_all(world)
  do old = 0, 1
    do i = 0, ncells + 1
      call fstarpu_data_unregister(handles(i, old))
    end do
  end do
  call fstarpu_codelet_free(codelet)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()

  is_right = all(abs(rod(rank::ranks, :) - expected(rank::ranks, :)) < 1.0e-12_c_double)
  print "(a, i0, a, l1)", "rank ", rank, " has the right cells: ", is_right
  if (.not. is_right) error stop 1
end program stencil
