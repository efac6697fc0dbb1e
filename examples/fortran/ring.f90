! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! A token goes round the ranks; a task on each adds one to it.
! mpirun -n 3 ring

module ring_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  recursive subroutine increment(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    integer(c_int), pointer :: token

    if (c_associated(cl_arg)) error stop "increment: no argument was given"
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), token)
    token = token + 1
  end subroutine increment
end module ring_kernels

program ring
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use ring_kernels
  implicit none

  integer(c_int), parameter :: laps = 3
  integer(c_int), target :: token
  integer(c_int) :: rank, ranks, world, lap, ret
  integer(c_int64_t) :: tag
  type(c_ptr) :: handle, codelet

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop "fstarpu_mpi_init failed"
  rank = fstarpu_mpi_world_rank()
  ranks = fstarpu_mpi_world_size()
  world = fstarpu_mpi_world_comm()

  codelet = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(codelet, C_CHAR_"increment" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(codelet, c_funloc(increment))
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_RW)
  call fstarpu_codelet_set_flags(codelet, FSTARPU_CODELET_SIMGRID_EXECUTE)

  token = 0
  call fstarpu_variable_data_register(handle, 0, c_loc(token), c_sizeof(token))
  do lap = 0, laps - 1
    tag = lap * ranks + rank
    if (ranks > 1 .and. (lap > 0 .or. rank > 0)) then
      ret = fstarpu_mpi_recv(handle, modulo(rank - 1, ranks), tag, world, C_NULL_PTR)
      if (ret /= 0) error stop "the token did not come"
    end if
    call fstarpu_task_insert((/ codelet, FSTARPU_RW, handle, C_NULL_PTR /))
    if (ranks > 1 .and. (lap < laps - 1 .or. rank < ranks - 1)) then
      ret = fstarpu_mpi_isend_detached(handle, modulo(rank + 1, ranks), tag + 1, world, &
                                       C_NULL_FUNPTR, C_NULL_PTR)
    end if
  end do
  ret = fstarpu_mpi_wait_for_all(world)
  call fstarpu_data_unregister(handle)
  call fstarpu_codelet_free(codelet)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()

  if (rank == ranks - 1) then
    print "(a, i0, a, i0)", "the token is ", token, ", expected ", laps * ranks
    if (token /= laps * ranks) error stop 1
  end if
end program ring
