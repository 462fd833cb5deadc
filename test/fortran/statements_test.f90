!> Random contractions from Fortran against loops over all labels, with the communicator of mpi_f08; statements of several terms.
program statements_test
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08, only: MPI_COMM_WORLD, MPI_Init
    use arges
    use checks
    implicit none

    type(arges_world) :: world

    call MPI_Init()
    call world%create(MPI_COMM_WORLD%MPI_VAL)
    call test_random_contractions()
    call test_antisymmetric()
    call test_statement()
    call test_masks()
    call test_labels()
    call world%destroy()
    call finish_tests('fortran statements')

contains

    !> A random number from 0 to n - 1, the same on all ranks.
    integer function random_below(n)
        integer, intent(in) :: n
        integer(int64), save :: state = 12345

        state = mod(state * 6364136 + 1442695, 2147483647_int64)
        random_below = int(mod(state / 7, int(n, int64)))
    end function

    !> D = alpha A B + beta C over labels that are free, summed, batched or on one side only.
    subroutine test_random_contractions()
        integer, parameter :: most = 6
        integer :: trial, extents(most), l, a_labels(most), b_labels(most), c_labels(most), na, nb, nc, which
        complex(real64) :: alpha, beta
        complex(real64), allocatable :: a(:), b(:), c(:), expected(:), found(:)
        type(arges_tensor) :: A_tensor, B_tensor, C_tensor
        character(120) :: what

        do trial = 1, 60
            na = 0
            nb = 0
            nc = 0
            do l = 1, most
                extents(l) = 1 + random_below(4)
                which = random_below(5)
                if (which /= 1) call append(a_labels, na, l)
                if (which /= 0) call append(b_labels, nb, l)
                if (which < 2 .or. which == 4) call append(c_labels, nc, l)
                ! 0: A and C, 1: B and C, 2, 3: A and B, 4: all three
            end do
            call shuffle(a_labels(:na))
            call shuffle(b_labels(:nb))
            call shuffle(c_labels(:nc))
            a = values(product(extents(a_labels(:na))))
            b = values(product(extents(b_labels(:nb))))
            c = values(product(extents(c_labels(:nc))))
            alpha = cmplx(1 + random_below(3), random_below(2), real64)
            beta = random_below(3)
            expected = contracted(alpha, a, a_labels(:na), b, b_labels(:nb), beta, c, c_labels(:nc), extents)
            call A_tensor%create(world, arges_complex128, extents(a_labels(:na)))
            call B_tensor%create(world, arges_complex128, extents(b_labels(:nb)))
            call C_tensor%create(world, arges_complex128, extents(c_labels(:nc)))
            call A_tensor%set(a)
            call B_tensor%set(b)
            call C_tensor%set(c)
            call arges_contract(C_tensor, letters(c_labels(:nc)), A_tensor, letters(a_labels(:na)), B_tensor, &
                                letters(b_labels(:nb)), alpha, beta)
            if (allocated(found)) deallocate (found)
            allocate (found(size(c)))
            call C_tensor%gather(found)
            write (what, '(a,i0,6a)') 'contraction ', trial, ': ', letters(a_labels(:na)), ' ', letters(b_labels(:nb)), ' ', &
                letters(c_labels(:nc))
            call expect(all(found == expected), what)
        end do
        call A_tensor%destroy()
        call B_tensor%destroy()
        call C_tensor%destroy()
    end subroutine

    subroutine append(list, n, l)
        integer, intent(inout) :: list(:), n
        integer, intent(in) :: l

        n = n + 1
        list(n) = l
    end subroutine

    subroutine shuffle(list)
        integer, intent(inout) :: list(:)
        integer :: i, j, kept

        do i = size(list), 2, -1
            j = 1 + random_below(i)
            kept = list(i)
            list(i) = list(j)
            list(j) = kept
        end do
    end subroutine

    !> Small integers, so that sums are exact in every order.
    function values(n)
        integer, intent(in) :: n
        complex(real64) :: values(n)
        integer :: i

        do i = 1, n
            values(i) = cmplx(random_below(7) - 3, random_below(7) - 3, real64)
        end do
    end function

    function letters(labels) result(text)
        integer, intent(in) :: labels(:)
        character(size(labels)) :: text
        integer :: i

        do i = 1, size(labels)
            text(i:i) = achar(iachar('a') + labels(i) - 1)
        end do
    end function

    !> The same by loops.
    function contracted(alpha, a, a_labels, b, b_labels, beta, c, c_labels, extents) result(d)
        complex(real64), intent(in) :: alpha, a(:), b(:), beta, c(:)
        integer, intent(in) :: a_labels(:), b_labels(:), c_labels(:), extents(:)
        complex(real64) :: d(size(c))
        integer :: x(size(extents)), step, rest, l

        d = beta * c
        do step = 0, product(extents) - 1
            rest = step
            do l = 1, size(extents)
                x(l) = mod(rest, extents(l))
                rest = rest / extents(l)
            end do
            associate (target => place(c_labels, x, extents))
                d(target) = d(target) + alpha * a(place(a_labels, x, extents)) * b(place(b_labels, x, extents))
            end associate
        end do
    end function

    !> Place in an array, first index fastest.
    integer function place(labels, x, extents)
        integer, intent(in) :: labels(:), x(:), extents(:)
        integer :: i

        place = 0
        do i = size(labels), 1, -1
            place = place * extents(labels(i)) + x(labels(i))
        end do
        place = place + 1
    end function

    !> Z = P(ij) F T with antisymmetric tensors, against arrays.
    subroutine test_antisymmetric()
        integer, parameter :: o = 3, v = 4
        type(arges_tensor) :: F, T, Z
        type(arges_statement) :: statement
        real(real64) :: f_array(o, o), t_array(v, v, o, o), z_array(v, v, o, o), expected(v, v, o, o)
        integer :: a, b, i, j

        call F%create(world, arges_float64, [o, o])
        call F%fill_random(1, -1.0_real64, 1.0_real64)
        call T%create(world, arges_float64, [v, v, o, o], 'abij', 'antisym(a,b) antisym(i,j)')
        call T%fill_random(2, -1.0_real64, 1.0_real64)
        call Z%create(world, arges_float64, [v, v, o, o], 'abij', 'antisym(a,b) antisym(i,j)')
        call expect(Z%stored() == 6 * 3, 'packed elements')
        call statement%create(Z, 'abij')
        call statement%add(F, 'mi', T, 'abmj', alpha=-1, projection=arges_antisymmetrized)
        call statement%run()
        call F%gather(f_array)
        call T%gather(t_array)
        call Z%gather(z_array)
        do a = 1, v
            do b = 1, v
                do i = 1, o
                    do j = 1, o
                        expected(a, b, i, j) = -sum(f_array(:, i) * t_array(a, b, :, j)) + sum(f_array(:, j) * t_array(a, b, :, i))
                    end do
                end do
            end do
        end do
        call expect(maxval(abs(z_array - expected)) < 1e-13, 'an antisymmetrized term')
        call statement%destroy()
        call F%destroy()
        call T%destroy()
        call Z%destroy()
    end subroutine

    subroutine test_statement()
        type(arges_tensor) :: A, B, C
        type(arges_statement) :: statement
        complex(real64) :: elements(2, 2)
        character(:), allocatable :: text, message
        integer :: status

        call A%create(world, arges_complex128, [2, 2])
        call B%create(world, arges_complex128, [2, 2])
        call C%create(world, arges_complex128, [2, 2])
        call A%fill((0.0_real64, 1.0_real64))
        call B%fill(2)
        call statement%create(C, 'ij')
        call statement%add(A, 'ik', B, 'kj', alpha=3, conjugate_a=.true.)
        call statement%add(B, 'ji')
        call statement%add_product([A, A, A], ['ik', 'kl', 'lj'], conjugated=[.true., .false., .false.])
        call statement%run()
        call C%gather(elements)
        call expect(all(elements == cmplx(2, -12 + 4, real64)), 'three terms')
        call statement%run(beta=(0.0_real64, 1.0_real64))
        call C%gather(elements)
        call expect(all(elements == cmplx(10, -6, real64)), 'beta')
        call statement%explain(text)
        call expect(index(text, 'per rank') > 0, 'a plan: '//text)
        call statement%divide()
        call C%gather(elements)
        call expect(all(abs(elements - cmplx(10, -6, real64) / cmplx(2, -8, real64)) < 1e-15), 'division')
        call statement%add(A, 'ik', alpha=1, status=status, message=message)
        call statement%run(status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'label', 'a label that may be mistyped')
        call statement%add_product([A, B], ['ik'], status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'each factor', 'labels for one factor of two')
        call statement%destroy()
        call A%destroy()
        call B%destroy()
        call C%destroy()
    end subroutine

    subroutine test_masks()
        type(arges_tensor) :: A, mask, C
        type(arges_statement) :: statement
        real(real64) :: elements(2, 2)

        call A%create(world, arges_float64, [2, 2])
        call A%fill(1)
        call C%create(world, arges_float64, [2, 2])
        call mask%create(world, arges_bool, [2, 2], sparse=.true.)
        call mask%write([mask%key([2, 1])], [logical(.true., 1)], duplicates=arges_keep_first)
        call statement%create(C, 'ij')
        call statement%add(A, 'ik', A, 'kj')
        call statement%where(mask, 'ij')
        call statement%run()
        call C%gather(elements)
        call expect(all(elements == reshape([0, 2, 0, 0], [2, 2])), 'a mask')
        call statement%destroy()
        call A%destroy()
        call mask%destroy()
        call C%destroy()
    end subroutine

    !> Names, labels that are vouched for, and einsum.
    subroutine test_labels()
        type(arges_tensor) :: x, y, z
        type(arges_statement) :: statement
        real(real64) :: elements(3), number

        call x%create(world, arges_float64, [2])
        call y%create(world, arges_float64, [3])
        call x%fill(2)
        call statement%create(y, 'row,')
        call statement%add(x, 'summed,')
        call statement%vouch(repeated='row,', summed='summed,')
        call statement%run()
        call y%gather(elements)
        call expect(all(elements == 4), 'names of labels')
        call arges_einsum('i,i,j->', [x, x, y], z)
        call z%gather(number)
        call expect(number == 96, 'an einsum without labels')
        call statement%destroy()
        call x%destroy()
        call y%destroy()
        call z%destroy()
    end subroutine

end program statements_test
