!> Linear algebra of matricizations: labels with a bar, 'ab|ij' has rows (a, b) and columns (i, j); 'abij->bi|aj' names the
!> dimensions first. Dense floating-point tensors. All procedures are collective; results that are not given are not computed.
module arges_matrices
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: real64
    use arges_errors
    use arges_interfaces
    use arges_tensors
    implicit none
    private

    public :: arges_qr, arges_svd, arges_eigh, arges_cholesky, arges_solve_positive, arges_least_squares

contains

    !> a = q r.
    subroutine arges_qr(a, labels, q, r, status, message)
        type(arges_tensor), intent(in) :: a
        character(*), intent(in) :: labels
        type(arges_tensor), intent(inout), optional :: q, r
        include 'outcome.inc'
        type(c_ptr), allocatable :: own_q, own_r

        if (present(q)) allocate (own_q)
        if (present(r)) allocate (own_r)
        code = c_qr(a%handle, trim(labels)//c_null_char, own_q, own_r)
        if (code == arges_ok .and. present(q)) call take(q, own_q)
        if (code == arges_ok .and. present(r)) call take(r, own_r)
        include 'end_call.inc'
    end subroutine

    !> a = u diag(s) vh. rank: keep at most so many singular values; tolerance: cut as many as leave |a - u s vh| <= tolerance |a|.
    subroutine arges_svd(a, labels, u, s, vh, rank, tolerance, status, message)
        type(arges_tensor), intent(in) :: a
        character(*), intent(in) :: labels
        type(arges_tensor), intent(inout), optional :: u, vh
        real(real64), allocatable, intent(out), optional :: s(:)
        integer, intent(in), optional :: rank
        real(real64), intent(in), optional :: tolerance
        include 'outcome.inc'
        type(c_ptr), allocatable :: own_u, own_vh
        type(c_ptr) :: values
        integer(c_int64_t) :: count, own_rank
        real(c_double) :: own_tolerance

        own_rank = 0
        own_tolerance = 0
        if (present(rank)) own_rank = rank
        if (present(tolerance)) own_tolerance = tolerance
        if (present(u)) allocate (own_u)
        if (present(vh)) allocate (own_vh)
        code = c_svd(a%handle, trim(labels)//c_null_char, own_rank, own_tolerance, own_u, count, values, own_vh)
        if (code == arges_ok) then
            call take_numbers(values, count, s)
            if (present(u)) call take(u, own_u)
            if (present(vh)) call take(vh, own_vh)
        end if
        include 'end_call.inc'
    end subroutine

    !> Eigenvalues, ascending, and vectors of a symmetric (Hermitian) matrix.
    subroutine arges_eigh(a, labels, values, vectors, status, message)
        type(arges_tensor), intent(in) :: a
        character(*), intent(in) :: labels
        real(real64), allocatable, intent(out), optional :: values(:)
        type(arges_tensor), intent(inout), optional :: vectors
        include 'outcome.inc'
        type(c_ptr), allocatable :: own_vectors
        type(c_ptr) :: own_values
        integer(c_int64_t) :: count

        if (present(vectors)) allocate (own_vectors)
        code = c_eigh(a%handle, trim(labels)//c_null_char, count, own_values, own_vectors)
        if (code == arges_ok) then
            call take_numbers(own_values, count, values)
            if (present(vectors)) call take(vectors, own_vectors)
        end if
        include 'end_call.inc'
    end subroutine

    !> a = l l^H.
    subroutine arges_cholesky(a, labels, l, status, message)
        type(arges_tensor), intent(in) :: a
        character(*), intent(in) :: labels
        type(arges_tensor), intent(inout) :: l
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_cholesky(a%handle, trim(labels)//c_null_char, made)
        if (code == arges_ok) call take(l, made)
        include 'end_call.inc'
    end subroutine

    !> a x = b for a positive definite a.
    subroutine arges_solve_positive(a, a_labels, b, b_labels, x, status, message)
        type(arges_tensor), intent(in) :: a, b
        character(*), intent(in) :: a_labels, b_labels
        type(arges_tensor), intent(inout) :: x
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_solve_positive(a%handle, trim(a_labels)//c_null_char, b%handle, trim(b_labels)//c_null_char, made)
        if (code == arges_ok) call take(x, made)
        include 'end_call.inc'
    end subroutine

    !> The x of least norm that makes |a x - b| least.
    subroutine arges_least_squares(a, a_labels, b, b_labels, x, status, message)
        type(arges_tensor), intent(in) :: a, b
        character(*), intent(in) :: a_labels, b_labels
        type(arges_tensor), intent(inout) :: x
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_least_squares(a%handle, trim(a_labels)//c_null_char, b%handle, trim(b_labels)//c_null_char, made)
        if (code == arges_ok) call take(x, made)
        include 'end_call.inc'
    end subroutine

    !> Numbers of C as an array of Fortran.
    subroutine take_numbers(from, count, numbers)
        type(c_ptr), intent(in) :: from
        integer(c_int64_t), intent(in) :: count
        real(real64), allocatable, intent(out), optional :: numbers(:)
        real(c_double), pointer :: own(:)

        call c_f_pointer(from, own, [count])
        if (present(numbers)) then
            allocate (numbers(count))
            numbers = own
        end if
        call c_free(from)
    end subroutine

end module arges_matrices
