! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Calls between nodes that the examples do not show: handles left out where they do not
! matter, values of several kinds, tasks that several ranks execute, private data, copies,
! sources.
! mpirun -n 3 calls

module calls_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

  integer(c_int), parameter :: n = 20

  type, bind(C) :: particle
    real(c_double) :: x(3)
    integer(c_int) :: moves
  end type particle

contains

  ! particles, and how far they move along each axis
  recursive subroutine move(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    type(particle), pointer :: particles(:)
    real(c_float), pointer :: way(:, :, :)
    real(c_float), target :: factor
    complex(c_double), target :: turn
    integer(c_int64_t), target :: large
    integer :: i

    call fstarpu_unpack_arg(cl_arg, (/ c_loc(factor), c_loc(turn), c_loc(large) /))
    if (turn /= (1, 2) .or. large /= 2_c_int64_t**40) error stop "move: wrong values"
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), particles, &
                     (/ fstarpu_vector_get_nx(buffers, 0) /))
    call c_f_pointer(fstarpu_block_get_ptr(buffers, 1), way, &
                     (/ fstarpu_block_get_nx(buffers, 1), &
                        fstarpu_block_get_ny(buffers, 1), &
                        fstarpu_block_get_nz(buffers, 1) /))
    do i = 1, size(particles)
      particles(i)%x = particles(i)%x + factor * way(1, 2, 3)
      particles(i)%moves = particles(i)%moves + 1
    end do
  end subroutine move

  recursive subroutine count_up(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    integer(c_int), pointer :: counter

    if (c_associated(cl_arg)) error stop "count_up: no argument was given"
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), counter)
    counter = counter + 1
  end subroutine count_up
end module calls_kernels

program calls
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use calls_kernels
  implicit none

  type(particle), target :: here(n), there(n)
  real(c_float), target :: way(2, 2, 3), factor = 0.5_c_float
  complex(c_double), target :: turn = (1, 2)
  integer(c_int64_t), target :: large = 2_c_int64_t**40
  integer(c_int), target :: own, world, nranks, node
  integer(c_int), target, allocatable :: all_ranks(:)
  integer(c_int) :: rank, last, i, ret
  type(c_ptr) :: codelet, counting, from, to, block, counter
  type(particle), pointer :: seen(:)

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop "fstarpu_mpi_init failed"
  world = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  nranks = fstarpu_mpi_world_size()
  last = nranks - 1
  all_ranks = (/ (i, i = 0, last) /)

  codelet = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(codelet, C_CHAR_"move" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(codelet, c_funloc(move))
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_RW)
  call fstarpu_codelet_add_buffer(codelet, FSTARPU_R)
  call fstarpu_codelet_set_flags(codelet, FSTARPU_CODELET_SIMGRID_EXECUTE)
  counting = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(counting, C_CHAR_"count" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(counting, c_funloc(count_up))
  call fstarpu_codelet_add_buffer(counting, FSTARPU_RW)
  call fstarpu_codelet_set_flags(counting, FSTARPU_CODELET_SIMGRID_EXECUTE)

  here = (/ (particle((/ real(i, c_double), 0.0_c_double, -1.0_c_double /), i), i = 1, n) /)
  there = here
  way = 4
  own = 0
  call fstarpu_vector_data_register(from, home(0), c_loc(here), n, c_sizeof(here(1)))
  call fstarpu_vector_data_register(to, home(last), c_loc(there), n, c_sizeof(here(1)))
  call fstarpu_block_data_register(block, home(last), c_loc(way), 2, 4, 2, 2, 3, &
                                   c_sizeof(factor))
  call fstarpu_variable_data_register(counter, 0, c_loc(own), c_sizeof(own))
  call fstarpu_mpi_data_register(from, 1_c_int64_t, 0)
  call fstarpu_mpi_data_register(to, 2_c_int64_t, last)
  call fstarpu_mpi_data_register(block, 3_c_int64_t, last)
  call fstarpu_mpi_data_register(counter, 4_c_int64_t, FSTARPU_MPI_PER_NODE)

  ! All ranks move what rank 0 has, each with the same result.
  call fstarpu_mpi_tasks_insert((/ c_loc(world), codelet, c_loc(nranks), c_loc(all_ranks), &
      FSTARPU_RW, from, FSTARPU_R, block, FSTARPU_VALUE, c_loc(factor), FSTARPU_SZ_C_FLOAT, &
      FSTARPU_VALUE, c_loc(turn), FSTARPU_SZ_COMPLEX8, &
      FSTARPU_VALUE, c_loc(large), FSTARPU_SZ_INT8, C_NULL_PTR /))
  call fstarpu_data_acquire(from, FSTARPU_R)
  call c_f_pointer(fstarpu_data_get_local_ptr(from), seen, (/ n /))
  if (seen(7)%moves /= 8 .or. seen(7)%x(2) /= 2) error stop "a replica is wrong"
  call fstarpu_data_release(from)
  if (fstarpu_mpi_data_get_source(from, last) /= 0) error stop "the source is not the owner"
  ret = fstarpu_mpi_data_cpy(to, from, world, 1_c_int, C_NULL_FUNPTR, C_NULL_PTR)

  ! Each rank has a counter; then the node of a task is named, and the others have nothing.
  call fstarpu_mpi_task_insert((/ c_loc(world), counting, FSTARPU_RW, counter, C_NULL_PTR /))
  node = last
  call fstarpu_mpi_task_insert((/ c_loc(world), codelet, FSTARPU_EXECUTE_ON_NODE, c_loc(node), &
      FSTARPU_RW, merge(to, C_NULL_PTR, rank == last), &
      FSTARPU_R, merge(block, C_NULL_PTR, rank == last), &
      FSTARPU_VALUE, c_loc(factor), FSTARPU_SZ_C_FLOAT, &
      FSTARPU_VALUE, c_loc(turn), FSTARPU_SZ_COMPLEX8, &
      FSTARPU_VALUE, c_loc(large), FSTARPU_SZ_INT8, C_NULL_PTR /))
  ! Who does not know the node has no part in it either, and says nothing.
  call fstarpu_mpi_task_insert((/ c_loc(world), counting, &
      FSTARPU_RW, merge(counter, C_NULL_PTR, rank == 0), C_NULL_PTR /))
  ret = fstarpu_mpi_wait_for_all_in_ctx(world, 0_c_int)
  if (ret /= 0) error stop "waiting failed"
  call fstarpu_data_unregister(from)
  call fstarpu_data_unregister(to)
  call fstarpu_data_unregister(block)
  call fstarpu_data_unregister(counter)
  call fstarpu_codelet_free(codelet)
  call fstarpu_codelet_free(counting)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()

  if (own /= merge(2, 1, rank == 0)) error stop "a counter is wrong"
  if (rank == 0 .and. here(9)%moves /= 10) error stop "what the owner has is wrong"
  if (rank == last .and. there(9)%moves /= 11) error stop "the copy is wrong"
  print "(a, i0, a)", "rank ", rank, " has what it expects"

contains

  ! Where a rank's data lie that rank owner owns.
  integer(c_int) function home(owner)
    integer(c_int), intent(in) :: owner

    home = merge(0, -1, rank == owner)
  end function home
end program calls
