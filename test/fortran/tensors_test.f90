!> Tensors, their elements, linear algebra, files and errors from Fortran.
program tensors_test
    use, intrinsic :: iso_c_binding, only: c_bool
    use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
    use arges
    use checks
    use mpi
    implicit none

    type(arges_world) :: world
    integer :: code

    call MPI_Init(code)
    call world%create(MPI_COMM_WORLD)
    call test_world()
    call test_element_types()
    call test_elements()
    call test_sections()
    call test_parts()
    call test_copies()
    call test_sparse()
    call test_matrices()
    call test_files()
    call test_errors()
    call world%destroy()
    call finish_tests('fortran tensors')

contains

    subroutine test_world()
        type(arges_world) :: other, dry
        integer :: ranks, rank, status
        integer(int64) :: in_use, peak
        character(:), allocatable :: message

        call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
        call expect(world%size() == ranks .and. world%rank() == rank, 'size and rank of the world')
        other = world
        call world%destroy()
        call expect(other%size() == ranks, 'another handle of a world')
        world = other
        call other%destroy()
        call world%set_memory_limit(1000000000_int64 + rank)
        call expect(world%memory_limit() == 1000000000_int64, 'the smallest limit counts')
        call world%reset_peak()
        call world%memory(in_use, peak)
        call expect(in_use >= 0 .and. peak >= in_use, 'memory')
        call dry%create_on_device(MPI_COMM_WORLD, 'none')
        call expect(dry%size() == ranks, 'a world on the host')
        call dry%destroy()
        call dry%create_on_device(MPI_COMM_WORLD, 'opencl', status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'use cuda or none', 'a device that is not known')
        call dry%create_dry_run(8, torus='2x2x2')
        call expect(dry%size() == 8, 'a dry run')
        call dry%destroy()
        call dry%create_dry_run(8, ranks_per_node=4)
        call expect(dry%size() == 8, 'a dry run of nodes')
        call dry%destroy()
        call dry%create_dry_run(8, torus='2x2x3', status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'torus', 'a torus that does not fit')
    end subroutine

    subroutine test_element_types()
        integer, parameter :: n = 5
        real(real32) :: r4(n), r4_back(n), r4_sum
        real(real64) :: r8(n), r8_back(n), r8_sum
        complex(real32) :: c4(n), c4_back(n), c4_sum
        complex(real64) :: c8(n), c8_back(n), c8_sum
        integer(int16) :: i2(n), i2_back(n), i2_sum
        integer(int32) :: i4(n), i4_back(n), i4_sum
        integer(int64) :: i8(n), i8_back(n), i8_sum
        logical(c_bool) :: l1(n), l1_back(n), l1_sum
        integer(int64), allocatable :: keys(:)
        real(real32), allocatable :: r4_here(:)
        real(real64), allocatable :: r8_here(:)
        complex(real32), allocatable :: c4_here(:)
        complex(real64), allocatable :: c8_here(:)
        integer(int16), allocatable :: i2_here(:)
        integer(int32), allocatable :: i4_here(:)
        integer(int64), allocatable :: i8_here(:)
        logical(c_bool), allocatable :: l1_here(:)
        type(arges_tensor) :: T
        integer :: i

        i4 = [(i, i=1, n)]
        i2 = int(i4, int16)
        i8 = i4 + 10000000000_int64
        r4 = i4 / 4.0_real32
        r8 = i4 / 3.0_real64
        c4 = cmplx(r4, -r4, real32)
        c8 = cmplx(r8, 2 * r8, real64)
        l1 = [(mod(i, 2) == 0, i=1, n)]

        call T%create(world, arges_float32, [n])
        call T%set(r4)
        call T%gather(r4_back)
        call T%sum(r4_sum)
        call T%local_pairs(keys, r4_here)
        call expect(all(r4 == r4_back) .and. abs(r4_sum - sum(r4)) < 1e-5 .and. all(r4_here == r4(keys + 1)), 'real32')
        call T%create(world, arges_float64, [n])
        call T%set(r8)
        call T%gather(r8_back)
        call T%sum(r8_sum)
        call T%local_pairs(keys, r8_here)
        call expect(all(r8 == r8_back) .and. abs(r8_sum - sum(r8)) < 1e-12 .and. all(r8_here == r8(keys + 1)), 'real64')
        call T%create(world, arges_complex64, [n])
        call T%set(c4)
        call T%gather(c4_back)
        call T%sum(c4_sum)
        call T%local_pairs(keys, c4_here)
        call expect(all(c4 == c4_back) .and. abs(c4_sum - sum(c4)) < 1e-5 .and. all(c4_here == c4(keys + 1)), 'complex(real32)')
        call T%create(world, arges_complex128, [n])
        call T%set(c8)
        call T%gather(c8_back)
        call T%sum(c8_sum)
        call T%local_pairs(keys, c8_here)
        call expect(all(c8 == c8_back) .and. abs(c8_sum - sum(c8)) < 1e-12 .and. all(c8_here == c8(keys + 1)), 'complex(real64)')
        call T%dot(T, c8_sum)
        call expect(abs(c8_sum - sum(conjg(c8) * c8)) < 1e-10, 'a scalar product')
        call T%create(world, arges_int16, [n])
        call T%set(i2)
        call T%gather(i2_back)
        call T%sum(i2_sum)
        call T%local_pairs(keys, i2_here)
        call expect(all(i2 == i2_back) .and. i2_sum == sum(i2) .and. all(i2_here == i2(keys + 1)), 'int16')
        call T%create(world, arges_int32, [n])
        call T%set(i4)
        call T%gather(i4_back)
        call T%sum(i4_sum)
        call T%local_pairs(keys, i4_here)
        call expect(all(i4 == i4_back) .and. i4_sum == sum(i4) .and. all(i4_here == i4(keys + 1)), 'int32')
        call T%create(world, arges_int64, [n])
        call T%set(i8)
        call T%gather(i8_back)
        call T%sum(i8_sum)
        call T%local_pairs(keys, i8_here)
        call expect(all(i8 == i8_back) .and. i8_sum == sum(i8) .and. all(i8_here == i8(keys + 1)), 'int64')
        call T%create(world, arges_bool, [n])
        call T%set(l1)
        call T%gather(l1_back)
        call T%sum(l1_sum)
        call T%local_pairs(keys, l1_here)
        call expect(logical(all(l1 .eqv. l1_back) .and. l1_sum .and. all(l1_here .eqv. l1(keys + 1))), 'logical(c_bool)')
        call T%destroy()
    end subroutine

    !> Keys, numbers of other types, and what several ranks give.
    subroutine test_elements()
        type(arges_tensor) :: T
        real(real64) :: values(2), elements(3, 4)
        integer(int64) :: keys(2), indices(2)

        call T%create(world, arges_float64, [3, 4], name='T')
        keys = [T%key([2, 1]), T%key([3_int64, 4_int64])]
        call expect(all(keys == [1_int64, 11_int64]), 'keys')
        indices = T%index(keys(2))
        call expect(all(indices == [3, 4]), 'indices')
        if (world%rank() == 0) then
            call T%write(keys, [1.5_real64, -2.0_real64])
        else
            call T%write(keys(1:0), values(1:0))
        end if
        call T%read(keys(2:1:-1), values)
        call expect(all(values == [-2.0_real64, 1.5_real64]), 'written values')
        call T%accumulate(keys(1:1), [1.0_real64], alpha=2, beta=3.0_real32)
        call T%gather(elements)
        call expect(elements(2, 1) == 4.5_real64 + 2 * world%size() .and. count(elements /= 0) == 2, 'accumulated values')
        call T%fill(7)
        call T%gather(elements)
        call expect(all(elements == 7), 'fill with an integer')
        call T%fill(0.25_real32)
        call expect(abs(T%norm() - 0.25_real64 * sqrt(12.0_real64)) < 1e-14 .and. T%norm_max() == 0.25_real64, 'norms')
        call T%fill_random(3, -1.0_real64, 1.0_real64)
        call expect(T%norm() > 0 .and. T%norm_max() <= 1, 'random values')
        call expect(T%order() == 2 .and. T%size() == 12 .and. T%stored() == 12 .and. .not. T%is_sparse(), 'the form of a tensor')
        call expect(all(T%extents() == [3, 4]) .and. T%element_type() == arges_float64, 'extents and type')
        call T%destroy()
        call expect(T%order() == -1, 'no tensor')
    end subroutine

    !> Sections of arrays go in and out.
    subroutine test_sections()
        type(arges_tensor) :: T
        integer(int32) :: large(6, 8), back(6, 8), line(12), i, j
        integer(int64) :: keys(3)

        large = reshape([((10 * i + j, i=1, 6), j=1, 8)], [6, 8])
        call T%create(world, arges_int32, [3, 4])
        call T%set(large(2:6:2, 8:1:-2))
        back = 0
        call T%gather(back(1:3, 5:8))
        call expect(all(back(1:3, 5:8) == large(2:6:2, 8:1:-2)) .and. count(back /= 0) == 12, 'sections of arrays')
        call T%gather(line)
        call expect(all(line == reshape(large(2:6:2, 8:1:-2), [12])), 'an array of one dimension')
        keys = [0, 4, 8]
        back = 0
        call T%read(keys, back(1:5:2, 3))
        call expect(all(back(1:5:2, 3) == [28, 46, 64]) .and. count(back /= 0) == 3, 'values to a section')
        if (world%rank() == 0) then
            call T%write(keys, large(1, 1:5:2))
        else
            call T%write(keys(1:0), large(1:0, 1))
        end if
        call T%read(keys, back(1:3, 1))
        call expect(all(back(1:3, 1) == large(1, 1:5:2)), 'values of a section')
        call T%destroy()
    end subroutine

    subroutine test_parts()
        type(arges_tensor) :: T, part, symmetric
        integer(int64) :: elements(4, 4), few(2, 3), i, j

        elements = reshape([((i * j, i=1_int64, 4_int64), j=1_int64, 4_int64)], [4, 4])
        call T%create(world, arges_int64, [4, 4])
        call T%set(elements)
        call T%slice([2, 1], [3, 3], part)
        call part%gather(few)
        call expect(all(few == elements(2:3, 1:3)), 'a slice')
        call T%set_slice([1, 2], part)
        elements(1:2, 2:4) = few
        call T%gather(elements)
        call expect(all(elements(1:2, 2:4) == few), 'a slice that is set')
        elements = reshape([((i * j, i=1_int64, 4_int64), j=1_int64, 4_int64)], [4, 4])
        call T%set(elements)
        call T%with_symmetry(symmetric, 'ij', 'sym(i,j)')
        call expect(symmetric%stored() == 10, 'a symmetric tensor')
        call symmetric%with_symmetry(part)
        call part%gather(elements)
        call expect(part%stored() == 16 .and. all(elements == transpose(elements)) .and. all(elements(:, 3) == [3, 6, 9, 12]), &
                    'an unpacked tensor')
        call T%destroy()
        call part%destroy()
        call symmetric%destroy()
    end subroutine

    !> Assignment copies the elements; a variable that is made anew gives up what it had.
    subroutine test_copies()
        type(arges_tensor) :: a, b, none
        real(real32) :: elements(2)
        real(real64) :: wide(2)
        integer(int64) :: before, after, peak, i

        call a%create(world, arges_float32, [2])
        call a%fill(1)
        b = a
        call b%fill(2)
        a = a
        call a%gather(elements)
        call expect(all(elements == 1), 'a copy has elements of its own')
        call a%convert(arges_float64, b)
        call b%gather(wide)
        call expect(all(wide == 1), 'a converted tensor')
        b = none
        call expect(b%order() == -1, 'no tensor is copied')
        call world%memory(before, peak)
        do i = 1, 100
            call b%create(world, arges_float32, [2])
        end do
        call b%destroy()
        call world%memory(after, peak)
        call expect(before == after, 'variables give up what they had')
        call a%destroy()
    end subroutine

    subroutine test_sparse()
        type(arges_tensor) :: S, dense, again
        real(real64) :: elements(3), total
        integer(int64), allocatable :: keys(:)
        real(real64), allocatable :: values(:)

        call S%create(world, arges_float64, [3], sparse=.true.)
        call S%write([1_int64], [2.0_real64], duplicates=arges_sum)
        call S%to_dense(dense)
        call dense%gather(elements)
        call expect(all(elements == [0, 2 * world%size(), 0]), 'a sparse tensor')
        call expect(S%is_sparse() .and. S%stored() == 1, 'its form')
        call S%local_pairs(keys, values)
        call expect(size(keys) <= 1 .and. all(keys == 1), 'its pairs')
        call dense%to_sparse(again)
        call again%sum(total)
        call expect(total == 2 * world%size(), 'a sparse tensor of a dense one')
        call dense%to_sparse(again, cutoff=100.0_real64)
        call expect(again%stored() == 0, 'a cutoff')
        call S%destroy()
        call dense%destroy()
        call again%destroy()
    end subroutine

    subroutine test_matrices()
        type(arges_tensor) :: A, B, Q, R, U, Vh, L, X, product, vectors
        real(real64), allocatable :: s(:), values(:)
        real(real64) :: expected(2, 3, 4), found(2, 3, 4), total

        call A%create(world, arges_float64, [2, 3, 4])
        call A%fill_random(1, -1.0_real64, 1.0_real64)
        call A%gather(expected)
        call arges_qr(A, 'abi->ab|i', Q, R)
        call product%create(world, arges_float64, [2, 3, 4])
        call arges_contract(product, 'abi', Q, 'abk', R, 'ki')
        call product%gather(found)
        call expect(maxval(abs(found - expected)) < 1e-12, 'QR')
        call arges_svd(A, 'ab|i', U, s, Vh, rank=2)
        call expect(size(s) == 2 .and. all(U%extents() == [2, 3, 2]) .and. all(Vh%extents() == [2, 4]), 'a truncated SVD')
        call arges_svd(A, 'ab|i', s=s)
        call expect(abs(sum(s**2) - sum(expected**2)) < 1e-12, 'singular values')
        call arges_einsum('ki,kj->ij', [R, R], product)
        call arges_eigh(product, 'i|j', values, vectors)
        call expect(maxval(abs(values(4:1:-1) - s**2)) < 1e-12 .and. all(vectors%extents() == [4, 4]), 'eigenvalues')
        call arges_cholesky(product, 'i|j', L)
        call arges_einsum('ik,jk', [L, L], X)
        call arges_contract(X, 'ij', product, 'ij', alpha=-1, beta=1)
        call expect(X%norm() < 1e-12, 'Cholesky')
        call B%create(world, arges_float64, [4, 2])
        call B%fill_random(2, -1.0_real64, 1.0_real64)
        call arges_solve_positive(product, 'i|j', B, 'i|k', X)
        call arges_contract(B, 'ik', product, 'ij', X, 'jk', alpha=-1, beta=1)
        call expect(B%norm() < 1e-11, 'a positive definite system')
        call A%slice([1, 1, 1], [2, 3, 1], B)
        call arges_least_squares(A, 'ab|i', B, 'ab|k', X)
        call X%sum(total)
        call expect(abs(total - 1) < 1e-12 .and. abs(X%norm() - 1) < 1e-12, 'least squares')
        call A%destroy()
        call B%destroy()
        call Q%destroy()
        call R%destroy()
        call U%destroy()
        call Vh%destroy()
        call L%destroy()
        call X%destroy()
        call product%destroy()
        call vectors%destroy()
    end subroutine

    subroutine test_files()
        type(arges_tensor) :: A, B
        type(arges_checkpoint) :: checkpoint
        real(real32) :: before(3, 3), after(3, 3)
        real(real64) :: energy
        integer(int64) :: iteration
        integer :: length
        character(1000) :: folder

        call get_environment_variable('ARGES_TEST_FOLDER', folder, length)
        call expect(length > 0, 'ARGES_TEST_FOLDER names a folder')
        call A%create(world, arges_float32, [3, 3], 'ij', 'antisym(i,j)')
        call A%fill_random(5, -1.0_real64, 1.0_real64)
        call A%gather(before)
        call arges_write_npy(A, trim(folder)//'/a.npy')
        call arges_read_tensor(world, trim(folder)//'/a.npy', arges_float32, B)
        call B%gather(after)
        call expect(all(before == after), 'a .npy file')
        call checkpoint%create(world, trim(folder)//'/a.h5')
        call checkpoint%add('A', A)
        call checkpoint%set('iteration', 12_int64)
        call checkpoint%set('energy', -0.5_real64)
        call checkpoint%commit()
        call checkpoint%destroy()
        call arges_checkpoint_read(world, trim(folder)//'/a.h5', 'A', B)
        call B%gather(after)
        call expect(all(before == after) .and. B%stored() == 3, 'a tensor of a checkpoint')
        call arges_checkpoint_value(world, trim(folder)//'/a.h5', 'iteration', iteration)
        call arges_checkpoint_value(world, trim(folder)//'/a.h5', 'energy', energy)
        call expect(iteration == 12 .and. energy == -0.5_real64, 'values of a checkpoint')
        call A%to_sparse(B)
        call arges_write_sparse(B, trim(folder)//'/a.tns')
        call arges_read_sparse(world, trim(folder)//'/a.tns', arges_float32, A)
        call A%to_dense(B)
        call B%gather(after)
        call expect(all(before == after), 'a .tns file')
        call A%destroy()
        call B%destroy()
    end subroutine

    !> A wrong call on the last rank is an error of all, and things go on.
    subroutine test_errors()
        type(arges_tensor) :: T, none
        integer :: status
        integer(int64) :: keys(1)
        real(real64) :: right(2), short(1)
        real(real32) :: narrow(2)
        character(:), allocatable :: message
        logical :: is_last

        is_last = world%rank() == world%size() - 1
        call T%create(world, arges_float64, [2], name='T')
        call T%fill(1)
        keys = 0
        if (is_last) keys = 2
        call T%write(keys, [1.0_real64], status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'key', 'a key out of range')
        if (is_last) then
            call T%gather(narrow, status=status, message=message)
        else
            call T%gather(right, status=status, message=message)
        end if
        call expect_status(status, arges_invalid_argument, message, 'float32', 'an array of another type')
        if (is_last) then
            call T%gather(short, status=status, message=message)
        else
            call T%gather(right, status=status, message=message)
        end if
        call expect_status(status, arges_invalid_argument, message, '1 values where there must be 2', 'an array that is too short')
        if (is_last) then
            call T%fill((0.0, 1.0), status=status, message=message)
        else
            call T%fill(0.0, status=status, message=message)
        end if
        call expect_status(status, arges_invalid_argument, message, 'exactly', 'an imaginary number in a real tensor')
        if (is_last) then
            call T%slice([1, 1], [2, 2], none, status=status, message=message)
        else
            call T%slice([1], [2], none, status=status, message=message)
        end if
        call expect_status(status, arges_invalid_argument, message, 'each dimension', 'a slice with too many indices')
        call world%agree(merge(arges_error, arges_ok, is_last), 'my own', status, message)
        call expect_status(status, arges_error, message, 'my own', 'an error of the caller')
        call none%fill(1, status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'null', 'no tensor')
        call T%fill(.true., status=status, message=message)
        call expect_status(status, arges_invalid_argument, message, 'not a number', 'a logical that is no element')
        call T%create(world, arges_float64, [100000, 100000], status=status, message=message)
        call expect_status(status, arges_out_of_memory, message, 'limit', 'a tensor that is too large')
        call T%gather(right, status=status, message=message)
        call expect(status == arges_ok .and. message == '' .and. all(right == 1), 'things go on: '//message)
        call T%destroy()
    end subroutine

end program tensors_test
