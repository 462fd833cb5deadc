! The smallest program in Fortran against an installed Arges, built by scripts/check_install.sh.
program consumer
    use arges
    use mpi
    implicit none

    type(arges_world) :: world
    type(arges_tensor) :: A
    double precision :: norm
    integer :: code

    call MPI_Init(code)
    call world%create(MPI_COMM_WORLD)
    call A%create(world, arges_float64, [3, 3])
    call A%fill_random(1, -0.5d0, 0.5d0)
    norm = A%norm()
    if (world%rank() == 0) print '(a,f0.6)', 'norm ', norm
    call A%destroy()
    call world%destroy()
    call MPI_Finalize(code)
end program consumer
