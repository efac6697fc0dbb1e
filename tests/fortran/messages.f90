! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors
!
! Messages between two ranks in all forms that Fortran has, their statuses, callbacks and
! tags, gatherings, communicators, statistics.
! mpirun -n 2 messages

module messages_kernels
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  implicit none

contains

  recursive subroutine double_it(buffers, cl_arg) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_arg
    real(c_double), pointer :: x

    if (c_associated(cl_arg)) error stop "double_it: no argument was given"
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), x)
    x = 2 * x
  end subroutine double_it

  ! Of a request that has ended: count in the integer that was given.
  recursive subroutine count_call(arg) bind(C)
    type(c_ptr), value, intent(in) :: arg
    integer(c_int), pointer :: counter

    call c_f_pointer(arg, counter)
    counter = counter + 1
  end subroutine count_call
end module messages_kernels

program messages
  use, intrinsic :: iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use messages_kernels
  implicit none

  integer, parameter :: n = 6
  integer(c_size_t), parameter :: bytes = 8
  ! mine is what this rank sends, theirs what it receives.
  real(c_double), target :: mine(n), theirs(n)
  type(c_ptr) :: sent(n), received(n), doubling
  integer(c_int) :: world, rank, other, i

  if (fstarpu_init(C_NULL_PTR) /= 0) stop 77
  call expect("the start", fstarpu_mpi_init(1), 0)
  world = fstarpu_mpi_world_comm()
  call expect("a rank", fstarpu_mpi_comm_rank(world, rank), 0)
  call expect("the same", rank, fstarpu_mpi_world_rank())
  other = 1 - rank
  if (fstarpu_mpi_world_size() /= 2) then
    i = fstarpu_mpi_shutdown()
    stop 77
  end if
  doubling = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(doubling, C_CHAR_"double" // C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(doubling, c_funloc(double_it))
  call fstarpu_codelet_add_buffer(doubling, FSTARPU_RW)
  call fstarpu_codelet_set_flags(doubling, FSTARPU_CODELET_SIMGRID_EXECUTE)
  do i = 1, n
    call fstarpu_variable_data_register(sent(i), 0, c_loc(mine(i)), bytes)
    call fstarpu_variable_data_register(received(i), 0, c_loc(theirs(i)), bytes)
  end do
  call requests()
  call blocking()
  call detached()
  call out_of_turn()
  call notified()
  call gathered()
  call counted()
  call numbers()
  do i = 1, n
    call fstarpu_data_unregister(sent(i))
    call fstarpu_data_unregister(received(i))
  end do
  call fstarpu_codelet_free(doubling)
  call expect("the end", fstarpu_mpi_shutdown_comm(world), 0)
  call fstarpu_shutdown()
  print "(a, i0, a)", "rank ", rank, " has what it expects"

contains

  include "expect_ranks.inc"

  ! Values of this round, which the others can tell from those of another one.
  subroutine renew(round)
    integer, intent(in) :: round

    do i = 1, n
      call fstarpu_data_acquire(sent(i), FSTARPU_W)
      mine(i) = value_of(rank, round, i)
      call fstarpu_data_release(sent(i))
    end do
  end subroutine renew

  real(c_double) function value_of(owner, round, which)
    integer, intent(in) :: owner, round, which

    value_of = 1000 * owner + 10 * round + which
  end function value_of

  ! What has come from the other rank, times factor.
  subroutine expect_all(what, round, factor)
    character(*), intent(in) :: what
    integer, intent(in) :: round, factor

    do i = 1, n
      call fstarpu_data_acquire(received(i), FSTARPU_R)
      call expect(what, nint(theirs(i), c_int), &
                  factor * nint(value_of(other, round, i), c_int))
      call fstarpu_data_release(received(i))
    end do
  end subroutine expect_all

  integer(c_int64_t) function tag(which)
    integer, intent(in) :: which

    tag = 2_c_int64_t**40 + which
  end function tag

  subroutine requests()
    type(c_ptr) :: sends(4), receives(4), status
    integer(c_int), target :: done

    call renew(1)
    status = fstarpu_mpi_status_alloc()
    do i = 1, 4
      sends(i) = fstarpu_mpi_req_alloc()
      receives(i) = fstarpu_mpi_req_alloc()
    end do
    call expect("isend", fstarpu_mpi_isend(sent(1), sends(1), other, tag(1), world), 0)
    call expect("isend", fstarpu_mpi_isend_prio(sent(2), sends(2), other, tag(2), 3, world), 0)
    call expect("issend", fstarpu_mpi_issend(sent(3), sends(3), other, tag(3), world), 0)
    call expect("issend", fstarpu_mpi_issend_prio(sent(4), sends(4), other, tag(4), -1, &
                world), 0)
    do i = 1, 4
      call expect("irecv", fstarpu_mpi_irecv(received(i), receives(i), other, tag(i), world), &
                  0)
    end do
    do i = 1, 3
      call expect("a receive", fstarpu_mpi_wait(receives(i), status), 0)
      call expect("a send", fstarpu_mpi_wait(sends(i), C_NULL_PTR), 0)
    end do
    done = 0
    do while (done == 0)
      call expect("a test", fstarpu_mpi_test(receives(4), c_loc(done), status), 0)
    end do
    call expect("the last send", fstarpu_mpi_wait(sends(4), C_NULL_PTR), 0)
    do i = 5, n
      call expect("a small send", fstarpu_mpi_isend(sent(i), sends(1), other, tag(i), world), &
                  0)
      call expect("its receive", fstarpu_mpi_recv(received(i), other, tag(i), world, status), &
                  0)
      call expect("and its end", fstarpu_mpi_wait(sends(1), status), 0)
    end do
    do i = 1, 4
      call fstarpu_mpi_req_free(sends(i))
      call fstarpu_mpi_req_free(receives(i))
    end do
    call fstarpu_mpi_status_free(status)
    call expect_all("requests", 1, 1)
  end subroutine requests

  ! One rank speaks first.
  subroutine blocking()
    type(c_ptr) :: status
    integer :: turn

    call renew(2)
    status = fstarpu_mpi_status_alloc()
    do turn = 0, 1
      do i = 1, n / 2
        if (turn == rank) then
          call expect("send", fstarpu_mpi_send(sent(i), other, tag(i), world), 0)
          call expect("send", fstarpu_mpi_send_prio(sent(i + n / 2), other, tag(i), 2, world), &
                      0)
        else
          call expect("recv", fstarpu_mpi_recv(received(i), other, tag(i), world, &
                      C_NULL_PTR), 0)
          call expect("recv", fstarpu_mpi_recv_prio(received(i + n / 2), other, tag(i), 4, &
                      world, merge(status, C_NULL_PTR, i == 1)), 0)
        end if
      end do
    end do
    call fstarpu_mpi_status_free(status)
    call expect_all("blocking calls", 2, 1)
  end subroutine blocking

  ! A task follows each message that has come.
  subroutine detached()
    integer(c_int), target :: nsent, nreceived
    type(c_funptr) :: callback

    call renew(3)
    nsent = 0; nreceived = 0
    callback = c_funloc(count_call)
    call expect("to come", fstarpu_mpi_irecv_detached(received(1), other, tag(1), world, &
                callback, c_loc(nreceived)), 0)
    call expect("to come", fstarpu_mpi_recv_detached(received(2), other, tag(2), world, &
                callback, c_loc(nreceived)), 0)
    call expect("to come", fstarpu_mpi_irecv_detached_prio(received(3), other, tag(3), 7, &
                world, callback, c_loc(nreceived)), 0)
    call expect("to come", fstarpu_mpi_irecv_detached_sequential_consistency(received(4), &
                other, tag(4), world, callback, c_loc(nreceived), 1), 0)
    call expect("to come", fstarpu_mpi_recv_detached_sequential_consistency(received(5), &
                other, tag(5), world, callback, c_loc(nreceived), 1), 0)
    call expect("to come", fstarpu_mpi_irecv_detached(received(6), other, tag(6), world, &
                C_NULL_FUNPTR, C_NULL_PTR), 0)
    do i = 1, n
      call fstarpu_task_insert((/ doubling, FSTARPU_RW, received(i), C_NULL_PTR /))
    end do
    call expect("to go", fstarpu_mpi_isend_detached(sent(1), other, tag(1), world, callback, &
                c_loc(nsent)), 0)
    call expect("to go", fstarpu_mpi_isend_detached_prio(sent(2), other, tag(2), 5, world, &
                callback, c_loc(nsent)), 0)
    call expect("to go", fstarpu_mpi_issend_detached(sent(3), other, tag(3), world, callback, &
                c_loc(nsent)), 0)
    call expect("to go", fstarpu_mpi_issend_detached_prio(sent(4), other, tag(4), -5, world, &
                callback, c_loc(nsent)), 0)
    do i = 5, n
      call expect("to go", fstarpu_mpi_isend_detached(sent(i), other, tag(i), world, &
                  C_NULL_FUNPTR, C_NULL_PTR), 0)
    end do
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call expect("callbacks of sends", nsent, 4)
    call expect("callbacks of receives", nreceived, 5)
    call expect_all("detached messages", 3, 2)
  end subroutine detached

  ! Without order on its data, a receive waits for no acquisition that came before.
  subroutine out_of_turn()
    integer(c_int), target :: nreceived

    call renew(4)
    nreceived = 0
    do i = 1, n
      call fstarpu_task_insert((/ doubling, FSTARPU_RW, sent(i), C_NULL_PTR /))
      call expect("to go", fstarpu_mpi_isend_detached(sent(i), other, tag(i), world, &
                  C_NULL_FUNPTR, C_NULL_PTR), 0)
      call expect("to come", fstarpu_mpi_irecv_detached_sequential_consistency(received(i), &
                  other, tag(i), world, c_funloc(count_call), c_loc(nreceived), 0), 0)
    end do
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call expect("callbacks", nreceived, n)
    call expect("a barrier", fstarpu_mpi_barrier(world), 0)
    call expect_all("messages out of turn", 4, 2)
  end subroutine out_of_turn

  ! Tags of tasks that messages notify.
  subroutine notified()
    integer(c_int64_t), target :: first = 91, second = 92, third = 93, fourth = 94
    integer(c_int64_t), target :: fifth = 95, sixth = 96, last = 99
    integer(c_int) :: others(3), comms(3), prios(3) = (/ 4, 0, -4 /)

    call renew(5)
    others = other
    comms = world
    ! The task waits for all that comes.
    call fstarpu_tag_declare_deps_array(99, 3, (/ 92_c_int64_t, 94_c_int64_t, 96_c_int64_t /))
    call fstarpu_task_insert((/ doubling, FSTARPU_TAG, c_loc(last), FSTARPU_RW, sent(1), &
                                C_NULL_PTR /))
    call expect("array to come", fstarpu_mpi_irecv_array_detached_unlock_tag(3, received(1:3), &
                others, (/ tag(1), tag(2), tag(3) /), comms, c_loc(second)), 0)
    call expect("to come", fstarpu_mpi_irecv_detached_unlock_tag(received(4), other, tag(4), &
                world, c_loc(fourth)), 0)
    call expect("array to come", fstarpu_mpi_recv_array_detached_unlock_tag(1, received(5:5), &
                others, (/ tag(5) /), comms, c_loc(sixth)), 0)
    call expect("to go", fstarpu_mpi_isend_array_detached_unlock_tag_prio(2, sent(2:3), &
                others, (/ tag(2), tag(3) /), prios, comms, c_loc(first)), 0)
    call expect("to go", fstarpu_mpi_isend_array_detached_unlock_tag(1, sent(4:4), others, &
                (/ tag(4) /), comms, c_loc(third)), 0)
    call expect("to go", fstarpu_mpi_isend_detached_unlock_tag(sent(5), other, tag(5), world, &
                c_loc(fifth)), 0)
    call expect("tags of sends", fstarpu_tag_wait_array(3, (/ 91_c_int64_t, 93_c_int64_t, &
                95_c_int64_t /)), 0)
    call expect("two tags", fstarpu_tag_wait_array(2, (/ 94_c_int64_t, 96_c_int64_t /)), 0)
    call expect("the task waits", fstarpu_task_nsubmitted(), 1)
    call expect("a barrier", fstarpu_mpi_barrier(world), 0)
    ! What it writes goes with a message of its own.
    call expect("to go", fstarpu_mpi_isend_detached_unlock_tag_prio(sent(6), other, tag(1), &
                9, world, c_loc(first)), 0)
    call expect("the task", fstarpu_tag_wait(99_c_int64_t), 0)
    call expect("to come", fstarpu_mpi_recv_detached_unlock_tag(received(6), other, tag(6), &
                world, c_loc(last)), 0)
    call expect("to go", fstarpu_mpi_isend_detached_unlock_tag(sent(1), other, tag(6), world, &
                c_loc(third)), 0)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call fstarpu_data_acquire(received(6), FSTARPU_R)
    call expect("of the task", nint(theirs(6), c_int), 2 * nint(value_of(other, 5, 1), c_int))
    call fstarpu_data_release(received(6))
    call fstarpu_data_acquire(received(1), FSTARPU_R)
    call expect("of the array", nint(theirs(1), c_int), nint(value_of(other, 5, 6), c_int))
    call fstarpu_data_release(received(1))
    do i = 91, 99
      if (i /= 97 .and. i /= 98) call fstarpu_tag_remove(int(i, c_int64_t))
    end do
  end subroutine notified

  ! Rank 0 gives its data to their owners, and gets them back: one callback when all that a
  ! rank sends has left, one when all that it receives has come.
  subroutine gathered()
    real(c_double), target :: x(4)
    integer(c_int), target :: nsent, nreceived
    integer(c_int) :: owner
    type(c_ptr) :: handles(4)

    x = merge(10, -1, rank == 0) * (/ 1, 2, 3, 4 /)
    nsent = 0; nreceived = 0
    do i = 1, 4
      owner = merge(0, 1, i == 2)
      call fstarpu_variable_data_register(handles(i), 0, c_loc(x(i)), bytes)
      call fstarpu_mpi_data_register(handles(i), int(100 + i, c_int64_t), owner)
    end do
    call expect("scattered", fstarpu_mpi_scatter_detached(handles, 4, 0, world, &
                c_funloc(count_call), c_loc(nsent), c_funloc(count_call), c_loc(nreceived)), 0)
    do i = 1, 4
      if (fstarpu_mpi_data_get_rank(handles(i)) == rank) &
        call fstarpu_task_insert((/ doubling, FSTARPU_RW, handles(i), C_NULL_PTR /))
    end do
    call expect("gathered", fstarpu_mpi_gather_detached(handles, 4, 0, world, &
                c_funloc(count_call), c_loc(nsent), c_funloc(count_call), c_loc(nreceived)), 0)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
    call expect("callbacks of sends", nsent, 1)
    call expect("callbacks of receives", nreceived, 1)
    do i = 1, 4
      call fstarpu_data_unregister(handles(i))
    end do
    do i = 1, 4
      if (rank == 0 .or. i /= 2) call expect("gathered", nint(x(i), c_int), 20 * i)
    end do
  end subroutine gathered

  ! Bytes by destination.
  subroutine counted()
    integer(c_size_t) :: amounts(2), later(2)

    call renew(6)
    call fstarpu_mpi_comm_stats_enable()
    call expect("to come", fstarpu_mpi_irecv_detached(received(1), other, tag(1), world, &
                C_NULL_FUNPTR, C_NULL_PTR), 0)
    call expect("send", fstarpu_mpi_send(sent(1), other, tag(1), world), 0)
    call fstarpu_mpi_comm_stats_retrieve(amounts)
    call expect("to the other", int(amounts(other + 1), c_int), int(bytes, c_int))
    call expect("to itself", int(amounts(rank + 1), c_int), 0)
    call fstarpu_mpi_comm_stats_disable()
    call expect("to come", fstarpu_mpi_irecv_detached(received(2), other, tag(2), world, &
                C_NULL_FUNPTR, C_NULL_PTR), 0)
    call expect("send", fstarpu_mpi_send(sent(2), other, tag(2), world), 0)
    call fstarpu_mpi_comm_amounts_retrieve(later)
    call expect("not counted", int(later(other + 1) - amounts(other + 1), c_int), 0)
    call expect("all", fstarpu_mpi_wait_for_all(world), 0)
  end subroutine counted

  ! Numbers that the library hands out and keeps.
  subroutine numbers()
    integer(c_int64_t) :: start, further

    start = fstarpu_mpi_tags_allocate(10_c_int64_t)
    if (start < 0) error stop "no tags"
    further = fstarpu_mpi_tags_get_next_value()
    if (further >= start .and. further < start + 10) error stop "a tag twice"
    call fstarpu_mpi_tags_free(start)
    i = fstarpu_mpi_get_communication_tag()
    call fstarpu_mpi_set_communication_tag(77_c_int64_t)
    call expect("a tag of messages", fstarpu_mpi_get_communication_tag(), 77)
    call fstarpu_mpi_set_communication_tag(int(i, c_int64_t))
    if (fstarpu_mpi_get_thread_cpuid() < -1) error stop "a core of no thread"
  end subroutine numbers
end program messages
