! The particle-particle ladder of CCD from Fortran: Z(abij) = 1/2 V(abef) T(efij) with antisymmetric tensors, of which one element of
! each orbit is stored. Compile: mpifort first_contraction.f90 $(pkg-config --cflags --libs arges-fortran), and run on any number of
! ranks. An error stops the program on all ranks, unless a call is given `status`.
program first_contraction
    use, intrinsic :: iso_fortran_env, only: real64
    use arges
    use mpi
    implicit none

    integer, parameter :: o = 4, v = 6
    type(arges_world) :: world
    type(arges_tensor) :: W, T, Z
    real(real64) :: values(2), norm, elements(v, v, o, o)
    integer :: code

    call MPI_Init(code)
    call world%create(MPI_COMM_WORLD)

    call W%create(world, arges_float64, [v, v, v, v], 'abef', 'antisym(a,b) antisym(e,f)', name='V')
    call T%create(world, arges_float64, [v, v, o, o], 'abij', 'antisym(a,b) antisym(i,j)', name='T')
    call Z%create(world, arges_float64, [v, v, o, o], 'abij', 'antisym(a,b) antisym(i,j)', name='Z')
    call W%fill_random(1, -0.5_real64, 0.5_real64)
    call T%fill_random(2, -0.5_real64, 0.5_real64)

    call arges_contract(Z, 'abij', W, 'abef', T, 'efij', alpha=0.5_real64)

    ! Any rank may ask for any elements; sign and order follow from the symmetry. Indices count from 1.
    call Z%read([Z%key([2, 1, 1, 3]), Z%key([1, 2, 1, 3])], values)
    call Z%gather(elements)
    norm = Z%norm()
    if (world%rank() == 0) then
        print '(a,i0,a)', 'Z has ', size(elements), ' elements'
        print '(3(a,f13.10))', '|Z| = ', norm, ', Z(2,1,1,3) = ', values(1), ', Z(1,2,1,3) = ', values(2)
        print '(a,f13.10)', 'the largest element is ', maxval(elements)
    end if

    call W%destroy()
    call T%destroy()
    call Z%destroy()
    call world%destroy()
    call MPI_Finalize(code)
end program first_contraction
