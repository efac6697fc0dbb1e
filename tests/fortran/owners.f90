! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Data that ranks own, in Fortran: who owns them and who sends them, what is remembered of
! them, reductions, tasks in two halves, policies that choose a rank.
! mpirun -n 3 owners

module owners_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

  ! What a policy is told of each piece of data.
  type, bind(C) :: described
    type(c_ptr) :: handle
    integer(c_int) :: mode
  end type described

contains

  include "kernels.inc"

  ! The first is the sum of both.
  ! The first is ten times the number of this rank, which comes with the task.
  recursive subroutine sign_it(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: x
    integer(c_int), target :: number

    call fstarpu_unpack_arg(cl_arg, (/ c_loc(number) /))
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), x)
    x = x + 10 * number
  end subroutine sign_it

  recursive subroutine count_call(arg) bind(C)
    type(c_ptr), value, intent(in) :: arg
    integer(c_int), pointer :: counter

    call c_f_pointer(arg, counter)
    counter = counter + 1
  end subroutine count_call

  ! Of a task with two pieces of data, the last rank.
  recursive function choose_last(me, nranks, data, ndata) bind(C) result(rank)
    integer(c_int), value, intent(in) :: me, nranks, ndata
    type(described), intent(in) :: data(*)
    integer(c_int) :: rank

    if (me < 0 .or. me >= nranks .or. ndata /= 2) error stop "a policy is told nonsense"
    if (data(1)%mode /= p_to_ip(FSTARPU_RW) .or. data(2)%mode /= p_to_ip(FSTARPU_R)) &
      error stop "a policy is told of other modes"
    if (.not. c_associated(data(1)%handle)) error stop "a policy is told of no data"
    rank = nranks - 1
  end function choose_last
end module owners_kernels

program owners
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use owners_kernels
  implicit none

  integer(c_size_t), parameter :: bytes = 8
  integer(c_int), target :: world, rank
  integer(c_int) :: nranks, last, ret
  integer(c_int64_t) :: next_tag = 1
  type(c_ptr) :: adding, zero, joining, summing, signing

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop "fstarpu_mpi_init failed"
  world = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  if (fstarpu_mpi_comm_size(world, nranks) /= 0) error stop "the number of ranks"
  last = nranks - 1
  adding = codelet_of("add_one", c_funloc(add_one), FSTARPU_RW)
  zero = codelet_of("zero", c_funloc(set_zero), FSTARPU_W)
  joining = codelet_of("join", c_funloc(add_to), FSTARPU_RW .ior. FSTARPU_COMMUTE)
  call fstarpu_codelet_add_buffer(joining, FSTARPU_R)
  summing = codelet_of("sum", c_funloc(add_to), FSTARPU_RW)
  call fstarpu_codelet_add_buffer(summing, FSTARPU_R)
  signing = codelet_of("sign", c_funloc(sign_it), FSTARPU_REDUX)
  call ownership()
  call copies()
  call remembered()
  call sources()
  call reductions()
  call halves()
  call policies()
  call cooperation()
  call fstarpu_codelet_free(adding)
  call fstarpu_codelet_free(zero)
  call fstarpu_codelet_free(joining)
  call fstarpu_codelet_free(summing)
  call fstarpu_codelet_free(signing)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  print "(a, i0, a)", "rank ", rank, " has what it expects"

contains

  include "expect_ranks.inc"
  include "codelet_of.inc"

  ! A variable at x, where it is owned.
  subroutine register(handle, x, owner)
    type(c_ptr), intent(out) :: handle
    real(c_double), target, intent(in) :: x
    integer(c_int), intent(in) :: owner

    call fstarpu_variable_data_register(handle, merge(0, -1, owner == rank), c_loc(x), bytes)
    call fstarpu_mpi_data_register(handle, next_tag, owner)
    next_tag = next_tag + 1
  end subroutine register

  ! What a rank that has a value sees.
  subroutine expect_value(what, handle, expected)
    character(*), intent(in) :: what
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), intent(in) :: expected
    real(c_double), pointer :: seen

    call fstarpu_data_acquire(handle, FSTARPU_R)
    call c_f_pointer(fstarpu_data_get_local_ptr(handle), seen)
    call expect(what, nint(seen, c_int), expected)
    call fstarpu_data_release(handle)
  end subroutine expect_value

  subroutine insert(codelet, mode, handle)
    type(c_ptr), value, intent(in) :: codelet, mode, handle

    call fstarpu_mpi_insert_task((/ c_loc(world), codelet, mode, handle, C_NULL_PTR /))
  end subroutine insert

  subroutine ownership()
    real(c_double), target :: x, y
    type(c_ptr) :: moved, named

    x = 5; y = 7
    call fstarpu_variable_data_register(moved, 0, c_loc(x), bytes)
    call fstarpu_mpi_data_set_tag(moved, 2_c_int64_t**50)
    call fstarpu_mpi_data_set_rank(moved, last)
    call expect("an owner", fstarpu_mpi_data_get_rank(moved), last)
    if (fstarpu_mpi_data_get_tag(moved) /= 2_c_int64_t**50) error stop "a tag"
    call fstarpu_mpi_data_set_rank_comm(moved, 0, world)
    call expect("another", fstarpu_mpi_data_get_rank(moved), 0)
    call insert(adding, FSTARPU_RW, moved)
    call fstarpu_mpi_data_migrate(world, moved, last)
    call expect("a new one", fstarpu_mpi_data_get_rank(moved), last)
    call insert(adding, FSTARPU_RW, moved)
    call expect("a communicator", fstarpu_mpi_comm_register(world), 0)
    call fstarpu_variable_data_register(named, 0, c_loc(y), bytes)
    call fstarpu_mpi_data_register_comm(named, 3_c_int64_t**20, last, world)
    call fstarpu_mpi_data_set_rank(named, 0)
    if (fstarpu_mpi_data_get_tag(named) /= 3_c_int64_t**20) error stop "another tag"
    call insert(adding, FSTARPU_RW, named)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    if (rank == last) call expect_value("what has moved", moved, 7)
    call fstarpu_data_unregister(moved)
    call fstarpu_data_unregister(named)
    call expect("what stays", nint(y, c_int), merge(8, 7, rank == 0))
  end subroutine ownership

  subroutine copies()
    real(c_double), target :: x, y
    integer(c_int), target :: ncalls
    type(c_ptr) :: from, to

    x = 40; y = 50; ncalls = 0
    call register(from, x, 0)
    call register(to, y, last)
    call fstarpu_mpi_get_data_on_node(world, from, last)
    if (rank == last) call expect_value("brought", from, 40)
    call insert(adding, FSTARPU_RW, from)
    call fstarpu_mpi_get_data_on_node_detached(world, from, last, c_funloc(count_call), &
                                               c_loc(ncalls))
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call expect("a callback", ncalls, merge(1, 0, rank == last .and. last > 0))
    call insert(adding, FSTARPU_RW, from)
    call fstarpu_mpi_get_data_on_all_nodes_detached(world, from)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call expect_value("everywhere", from, 42)
    ncalls = 0
    call expect("a copy", fstarpu_mpi_data_cpy_priority(to, from, world, 1, &
                c_funloc(count_call), c_loc(ncalls), 3), 0)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    if (rank == last) call expect("copied", nint(y, c_int), 42)
    if (rank == last) call expect("a callback of a copy", ncalls, 1)
  end subroutine copies

  ! Bytes that the owner has sent to the last rank, which reads twice.
  subroutine remembered()
    real(c_double), target :: x, y
    integer(c_size_t) :: before(nranks), after(nranks)
    type(c_ptr) :: from, to
    integer :: round, expected

    if (nranks == 1) return
    x = 1; y = 0
    call register(from, x, 0)
    call register(to, y, last)
    call fstarpu_mpi_comm_stats_enable()
    do round = 1, 4
      ! Remembered; flushed; all is flushed; nothing is remembered.
      call expect("a setting", fstarpu_mpi_cache_set(merge(1, 0, round < 4)), 0)
      call expect("the cache", fstarpu_mpi_cache_is_enabled(), merge(1, 0, round < 4))
      call fstarpu_mpi_comm_stats_retrieve(before)
      call fstarpu_mpi_insert_task((/ c_loc(world), summing, FSTARPU_RW, to, FSTARPU_R, from, &
                                      C_NULL_PTR /))
      if (round == 2) call fstarpu_mpi_cache_flush(world, from)
      if (round == 3) call fstarpu_mpi_cache_flush_all_data(world)
      call fstarpu_mpi_insert_task((/ c_loc(world), summing, FSTARPU_RW, to, FSTARPU_R, from, &
                                      C_NULL_PTR /))
      call insert(adding, FSTARPU_RW, from)
      call expect("all", fstarpu_mpi_wait_for_all(world), 0)
      call fstarpu_mpi_comm_stats_retrieve(after)
      expected = merge(8, 16, round == 1)
      if (rank == 0) call expect("bytes", int(after(nranks) - before(nranks), c_int), expected)
    end do
    call fstarpu_mpi_comm_stats_disable()
    call expect("a setting", fstarpu_mpi_cache_set(1), 0)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    if (rank == last) call expect("sums", nint(y, c_int), 2 * (1 + 2 + 3 + 4))
  end subroutine remembered

  ! The last rank gets it from rank 1.
  subroutine sources()
    real(c_double), target :: x, y
    integer(c_size_t) :: amounts(nranks)
    type(c_ptr) :: from, to

    if (nranks < 3) return
    x = 6; y = 0
    call register(from, x, 0)
    call register(to, y, last)
    call fstarpu_mpi_data_set_source(from, last, 1)
    call expect("a source", fstarpu_mpi_data_get_source(from, last), 1)
    call fstarpu_mpi_comm_stats_enable()
    amounts = 0
    call fstarpu_mpi_comm_stats_retrieve(amounts)
    ret = int(amounts(nranks), c_int)
    call fstarpu_mpi_insert_task((/ c_loc(world), summing, FSTARPU_RW, to, FSTARPU_R, from, &
                                    C_NULL_PTR /))
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_mpi_comm_stats_retrieve(amounts)
    call expect("bytes from here", int(amounts(nranks), c_int) - ret, merge(8, 0, rank == 1))
    call fstarpu_mpi_comm_stats_disable()
    call fstarpu_mpi_data_reset_source(from, last)
    call expect("the owner", fstarpu_mpi_data_get_source(from, last), 0)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    if (rank == last) call expect("a value on its way", nint(y, c_int), 6)
  end subroutine sources

  ! Each rank contributes its number and one, in each of four ways.
  subroutine reductions()
    real(c_double), target :: x
    integer(c_int), target :: node, number
    type(c_ptr) :: sum
    integer :: way, from, expected

    x = 100; expected = 100
    call register(sum, x, last)
    call fstarpu_data_set_reduction_methods(sum, joining, zero)
    do way = 1, 4
      do from = 0, last
        node = from
        number = from + 1
        expected = expected + 10 * number
        call fstarpu_mpi_task_insert((/ c_loc(world), signing, FSTARPU_REDUX, sum, &
            FSTARPU_EXECUTE_ON_NODE, c_loc(node), &
            FSTARPU_VALUE, c_loc(number), FSTARPU_SZ_C_INT, C_NULL_PTR /))
      end do
      select case (way)
      case (1)
        call fstarpu_mpi_redux_data(world, sum)
      case (2)
        call fstarpu_mpi_redux_data_prio(world, sum, 2)
      case (3)
        call fstarpu_mpi_redux_data_tree(world, sum, 2)
      case (4)
        call fstarpu_mpi_redux_data_prio_tree(world, sum, 1, 2)
      end select
      call expect("all", fstarpu_mpi_wait_for_all(world), 0)
      if (rank == last) call expect_value("a sum", sum, expected)
    end do
    call fstarpu_data_unregister(sum)
    if (rank == last) call expect("a sum", nint(x, c_int), expected)
  end subroutine reductions

  ! Rank 0 writes what the last one owns, and submits the task by itself.
  subroutine halves()
    real(c_double), target :: x, y
    integer(c_int), target :: node
    type(c_ptr) :: task, to, from, list(9)

    x = 3; y = 4; node = 0
    call register(to, x, last)
    call register(from, y, last)
    list = (/ c_loc(world), summing, FSTARPU_RW, to, FSTARPU_R, from, &
              FSTARPU_EXECUTE_ON_NODE, c_loc(node), C_NULL_PTR /)
    task = fstarpu_mpi_task_build(list)
    if (c_associated(task) .neqv. rank == 0) error stop "a task of nobody"
    if (rank == 0) call expect("submission", fstarpu_task_submit(task), 0)
    call fstarpu_mpi_task_post_build(list)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_data_unregister(to)
    call fstarpu_data_unregister(from)
    if (rank == last) call expect("two halves", nint(x, c_int), 7)
  end subroutine halves

  subroutine policies()
    real(c_double), target :: x, y
    type(c_ptr) :: to, from
    integer(c_int) :: policy, before
    integer(c_int), target :: own

    x = 1; y = 2
    before = fstarpu_mpi_node_selection_get_current_policy()
    call expect("the same", fstarpu_mpi_data_selection_get_current_policy(), before)
    policy = fstarpu_mpi_node_selection_register_policy(c_funloc(choose_last))
    if (policy < 1) error stop "no policy"
    call register(to, x, 0)
    call register(from, y, 0)
    call expect("a choice", fstarpu_mpi_node_selection_set_current_policy(policy), 0)
    call expect("chosen", fstarpu_mpi_node_selection_get_current_policy(), policy)
    ! Both are owned by rank 0, whose task it would be otherwise.
    own = policy
    call fstarpu_mpi_task_insert((/ c_loc(world), summing, FSTARPU_NODE_SELECTION_POLICY, &
        c_loc(own), FSTARPU_RW, to, FSTARPU_R, from, C_NULL_PTR /))
    call expect("back", fstarpu_mpi_data_selection_set_current_policy( &
                fstarpu_int_to_cptr(before)), 0)
    call expect("back", fstarpu_mpi_node_selection_get_current_policy(), before)
    call expect("gone", fstarpu_mpi_node_selection_unregister_policy( &
                fstarpu_int_to_cptr(policy)), 0)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_data_unregister(to)
    call fstarpu_data_unregister(from)
    if (rank == 0) call expect("a value from elsewhere", nint(x, c_int), 3)
  end subroutine policies

  ! All others read what rank 0 sends to them.
  subroutine cooperation()
    real(c_double), target :: x, y
    type(c_ptr) :: from, to
    integer :: reader

    if (nranks < 3) return
    call fstarpu_mpi_coop_sends_set_use(0)
    call expect("no cooperation", fstarpu_mpi_coop_sends_get_use(), 0)
    call fstarpu_mpi_coop_sends_set_use(1)
    call expect("cooperation", fstarpu_mpi_coop_sends_get_use(), 1)
    x = 8; y = rank
    call register(from, x, 0)
    call fstarpu_variable_data_register(to, 0, c_loc(y), bytes)
    if (rank == 0) then
      call fstarpu_mpi_coop_sends_data_handle_nb_sends(from, last)
      do reader = 1, last
        call expect("to go", fstarpu_mpi_isend_detached(from, reader, 5_c_int64_t, world, &
                    C_NULL_FUNPTR, C_NULL_PTR), 0)
      end do
    else
      call expect("to come", fstarpu_mpi_recv(to, 0, 5_c_int64_t, world, C_NULL_PTR), 0)
    end if
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_data_unregister(from)
    call fstarpu_data_unregister(to)
    call expect("passed on", nint(y, c_int), merge(0, 8, rank == 0))
  end subroutine cooperation
end program owners
