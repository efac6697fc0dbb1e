! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 The Orrery authors

! Fortran's clock shows simulated time, in both of its kinds; "stop" ends a rank.
! ranks [stop | text | code | error | number | exit]
program ranks
	use iso_c_binding
	use fstarpu_mod
	use fstarpu_mpi_mod
	implicit none
	interface
		subroutine starpu_sleep(seconds) bind(C)
			use iso_c_binding
			real(c_float), value :: seconds
		end subroutine
	end interface
	integer(c_int) :: status
	integer(4) :: before_ms, after_ms, per_s
	integer(8) :: before_ns, after_ns, rate
	character(8) :: ending

	status = fstarpu_init(C_NULL_PTR)
	status = fstarpu_mpi_init(1)
	call system_clock(before_ms, per_s)
	call system_clock(before_ns, rate)
	call starpu_sleep(2.0)
	call system_clock(after_ms)
	call system_clock(after_ns)
	if (fstarpu_mpi_world_rank() == 0) print "(a, f0.3, a, f0.3)", "slept ", &
		real(after_ms - before_ms) / per_s, " and ", real(after_ns - before_ns) / rate
	status = fstarpu_mpi_shutdown()
	call fstarpu_shutdown()
	call get_command_argument(1, ending)
	if (ending /= "") print "(a)", "ends"
	select case (ending)
	case ("stop")
		stop
	case ("text")
		stop "here"
	case ("code")
		stop 5
	case ("error")
		error stop "wrong"
	case ("number")
		error stop 6
	case ("exit")
		call exit(7)
	end select
	if (ending /= "") print "(a)", "goes on"
end program
