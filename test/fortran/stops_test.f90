!> An error stops the program where no status is asked for: with the argument `unasked` there is one.
program stops_test
    use arges
    use checks
    use mpi
    implicit none

    type(arges_world) :: world
    type(arges_tensor) :: A
    integer :: code

    call MPI_Init(code)
    call world%create(MPI_COMM_WORLD)
    call A%create(world, arges_float64, [2, 2])
    if (command_argument_count() > 0) call arges_contract(A, 'ij', A, 'ijk')
    call expect(A%order() == 2, 'a tensor')
    call A%destroy()
    call world%destroy()
    call finish_tests('fortran stops')
end program stops_test
