! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Mistakes between two nodes in Fortran, whose calls of MPI have entries of their own;
! run.py says what must come of each.
! usage: in_fortran CASE

program in_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use fstarpu_mod
  use fstarpu_mpi_mod
  implicit none

  integer(c_int64_t), parameter :: tag = 7
  integer(c_int64_t), target :: value = 1
  integer(c_int) :: rank, ret
  integer :: provided, ierror
  character(len=32) :: name
  type(c_ptr) :: handle

  call get_command_argument(1, name)
  call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  if (fstarpu_mpi_init(0) /= 0) error stop "fstarpu_mpi_init failed"
  rank = fstarpu_mpi_world_rank()
  call fstarpu_variable_data_register(handle, 0, c_loc(value), c_sizeof(value))
  select case (name)
  case ("fortran_waits_in_mpi")
    call waits_in_mpi()
  case ("fortran_receives_first")
    ret = fstarpu_mpi_recv(handle, 1 - rank, tag, MPI_COMM_WORLD, C_NULL_PTR)
    ret = fstarpu_mpi_send(handle, 1 - rank, tag, MPI_COMM_WORLD)
  case ("fortran_ends_mpi")
    call mpi_finalize(ierror)
  case default
    error stop "usage: in_fortran CASE"
  end select
  call fstarpu_data_unregister(handle)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  call mpi_finalize(ierror)
  if (rank == 0) print "(a)", "ends well"

contains

  ! Rank 0 in MPI, for what comes behind what rank 1 waits for, for 4 s, of which a pause of
  ! the whole machine takes a tenth of one at most.
  subroutine waits_in_mpi()
    integer :: buffer(1)
    integer(c_int), target :: flag
    integer(c_int64_t) :: before, now, spent, rate
    type(c_ptr), target :: request

    flag = 0
    buffer = 0
    if (rank == 0) then
      call mpi_recv(buffer, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      ret = fstarpu_mpi_send(handle, 1, tag, MPI_COMM_WORLD)
      return
    end if
    ret = fstarpu_mpi_irecv(handle, c_loc(request), 0, tag, MPI_COMM_WORLD)
    call system_clock(before, rate)
    spent = 0
    do while (flag == 0 .and. spent < 4 * rate)
      ret = fstarpu_mpi_test(c_loc(request), c_loc(flag), C_NULL_PTR)
      call system_clock(now)
      spent = spent + min(now - before, rate / 10)
      before = now
    end do
    call mpi_send(buffer, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, ierror)
    ret = fstarpu_mpi_wait(c_loc(request), C_NULL_PTR)
  end subroutine waits_in_mpi
end program in_fortran
