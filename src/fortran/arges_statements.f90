!> Statements: products and sums of tensors by labels, as described in arges.h. Labels are letters, one for each dimension
!> ('abij'); with a comma, names ('a1,a2,i1').
module arges_statements
    use, intrinsic :: iso_c_binding
    use arges_errors
    use arges_interfaces
    use arges_tensors
    implicit none
    private

    public :: arges_contract, arges_einsum

    !> A left-hand side, and terms to assign to it; it keeps its tensors. Statements are not copied.
    type, public :: arges_statement
        type(c_ptr) :: handle = c_null_ptr  !< of arges.h; null: no statement
        type(arges_world), private :: world
        integer(c_int), private :: element = arges_float64
    contains
        procedure :: create => statement_create
        procedure :: destroy => statement_destroy
        procedure :: add => statement_add
        procedure :: add_product => statement_add_product
        procedure :: where => statement_where
        procedure :: vouch => statement_vouch
        procedure :: run => statement_run
        procedure :: explain => statement_explain
        procedure :: divide => statement_divide
        procedure, private :: statement_assign
        generic :: assignment(=) => statement_assign
    end type

contains

    !> c = alpha a b + beta c by labels, as call arges_contract(Z, 'abij', V, 'abef', T, 'efij', alpha=0.5_real64): labels that c
    !> lacks are summed. Without b: c = alpha a + beta c. alpha is 1 and beta 0 without. Collective.
    subroutine arges_contract(c, c_labels, a, a_labels, b, b_labels, alpha, beta, status, message)
        type(arges_tensor), intent(in) :: c, a
        character(*), intent(in) :: c_labels, a_labels
        type(arges_tensor), intent(in), optional :: b
        character(*), intent(in), optional :: b_labels
        type(*), intent(in), optional :: alpha(..), beta(..)
        include 'outcome.inc'
        character(:), allocatable :: own_labels
        type(c_ptr) :: second

        second = c_null_ptr
        if (present(b)) second = b%handle
        call to_c(b_labels, own_labels)
        code = c_f_contract(alpha, a%handle, trim(a_labels)//c_null_char, second, own_labels, beta, c%handle, &
               trim(c_labels)//c_null_char)
        include 'end_call.inc'
    end subroutine

    !> Product of any number of tensors, e.g. call arges_einsum('ijk,ja,ka->ia', [X, A, B], Y); order, fusion and grid are chosen
    !> for the whole. Collective.
    subroutine arges_einsum(text, operands, result, status, message)
        character(*), intent(in) :: text
        type(arges_tensor), intent(in) :: operands(:)
        type(arges_tensor), intent(inout) :: result
        include 'outcome.inc'
        type(c_ptr) :: made
        integer :: i

        code = c_einsum(trim(text)//c_null_char, size(operands, kind=c_int), [(operands(i)%handle, i=1, size(operands))], made)
        if (code == arges_ok) call take(result, made)
        include 'end_call.inc'
    end subroutine

    !> A statement without terms. Local.
    subroutine statement_create(self, left, labels, status, message)
        class(arges_statement), intent(inout) :: self
        type(arges_tensor), intent(in) :: left
        character(*), intent(in) :: labels
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_statement_create(left%handle, trim(labels)//c_null_char, made)
        if (code == arges_ok) then
            call self%destroy()
            self%handle = made
            self%element = left%element_type()
            call left%world(self%world)
        end if
        include 'end_call.inc'
    end subroutine

    !> Destroys the statement. Local.
    subroutine statement_destroy(self)
        class(arges_statement), intent(inout) :: self
        integer(c_int) :: code

        code = c_statement_destroy(self%handle)
        self%handle = c_null_ptr
        call self%world%destroy()
    end subroutine

    !> Two variables of one statement would destroy it twice.
    subroutine statement_assign(self, other)
        class(arges_statement), intent(inout) :: self
        type(arges_statement), intent(in) :: other

        if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'arges: a statement is not copied; create another'
    end subroutine

    !> Adds alpha a b, or without b alpha a. Local.
    !> projection: arges_antisymmetrized or another; conjugate_a, conjugate_b: the complex conjugate is meant
    subroutine statement_add(self, a, a_labels, b, b_labels, alpha, projection, conjugate_a, conjugate_b, status, message)
        class(arges_statement), intent(inout) :: self
        type(arges_tensor), intent(in) :: a
        character(*), intent(in) :: a_labels
        type(arges_tensor), intent(in), optional :: b
        character(*), intent(in), optional :: b_labels
        type(*), intent(in), optional :: alpha(..)
        integer(c_int), intent(in), optional :: projection
        logical, intent(in), optional :: conjugate_a, conjugate_b
        include 'outcome.inc'
        logical :: is_conjugated(2)
        integer :: longest

        is_conjugated = .false.
        if (present(conjugate_a)) is_conjugated(1) = conjugate_a
        if (present(conjugate_b)) is_conjugated(2) = conjugate_b
        if (present(b) .and. present(b_labels)) then
            longest = max(len(a_labels), len(b_labels))
            block
                character(longest) :: labels(2)

                labels(1) = a_labels
                labels(2) = b_labels
                code = added(self, [a, b], labels, alpha, projection, is_conjugated)
            end block
        else if (present(b) .or. present(b_labels)) then
            code = c_world_agree(c_null_ptr, arges_invalid_argument, &
                                     'arges_statement%add: b and b_labels go together'//c_null_char)
        else
            code = added(self, [a], [a_labels], alpha, projection, is_conjugated(:1))
        end if
        include 'end_call.inc'
    end subroutine

    !> Adds alpha times a product of any number of tensors; of none, the number. Local.
    subroutine statement_add_product(self, factors, labels, alpha, projection, conjugated, status, message)
        class(arges_statement), intent(inout) :: self
        type(arges_tensor), intent(in) :: factors(:)
        character(*), intent(in) :: labels(:)
        type(*), intent(in), optional :: alpha(..)
        integer(c_int), intent(in), optional :: projection
        logical, intent(in), optional :: conjugated(:)
        include 'outcome.inc'

        code = added(self, factors, labels, alpha, projection, conjugated)
        include 'end_call.inc'
    end subroutine

    integer(c_int) function added(self, factors, labels, alpha, projection, conjugated) result(code)
        class(arges_statement), intent(inout) :: self
        type(arges_tensor), intent(in) :: factors(:)
        character(*), intent(in) :: labels(:)
        type(*), intent(in), optional :: alpha(..)
        integer(c_int), intent(in), optional :: projection
        logical, intent(in), optional :: conjugated(:)
        character(kind=c_char), target :: texts(len(labels) + 1, size(factors))
        integer(c_int) :: is_conjugated(size(factors)), fitted
        logical :: fits
        integer :: f, i

        fits = size(labels) == size(factors)
        if (present(conjugated)) fits = fits .and. size(conjugated) == size(factors)
        if (.not. fits) then
            code = c_world_agree(c_null_ptr, arges_invalid_argument, &
                                     'arges_statement%add_product: one text of labels for each factor'//c_null_char)
            return
        end if
        texts = c_null_char
        do f = 1, size(factors)
            do i = 1, len_trim(labels(f))
                texts(i, f) = labels(f) (i:i)
            end do
        end do
        is_conjugated = 0
        if (present(conjugated)) where (conjugated) is_conjugated = 1
        fitted = arges_as_it_is
        if (present(projection)) fitted = projection
        code = c_f_statement_add(self%handle, self%element, alpha, size(factors, kind=c_int), &
                                     [(factors(f)%handle, f=1, size(factors))], [(c_loc(texts(1, f)), f=1, size(factors))], &
                                     is_conjugated, fitted)
    end function

    !> Restricts all terms to the elements that a sparse tensor stores, or does not store (complement). Local.
    subroutine statement_where(self, mask, labels, complement, status, message)
        class(arges_statement), intent(inout) :: self
        type(arges_tensor), intent(in) :: mask
        character(*), intent(in) :: labels
        logical, intent(in), optional :: complement
        include 'outcome.inc'
        integer(c_int) :: is_complement

        is_complement = 0
        if (present(complement)) is_complement = merge(1_c_int, 0_c_int, complement)
        code = c_statement_where(self%handle, mask%handle, trim(labels)//c_null_char, is_complement)
        include 'end_call.inc'
    end subroutine

    !> Vouches for labels that may look mistyped in all terms: those of the output that a term does not depend on, and those that
    !> occur once and are summed. Local.
    subroutine statement_vouch(self, repeated, summed, status, message)
        class(arges_statement), intent(inout) :: self
        character(*), intent(in), optional :: repeated, summed
        include 'outcome.inc'
        character(:), allocatable :: own_repeated, own_summed

        call to_c(repeated, own_repeated)
        call to_c(summed, own_summed)
        code = c_statement_vouch(self%handle, own_repeated, own_summed)
        include 'end_call.inc'
    end subroutine

    !> left = terms + beta * left; beta is 0 without. May run many times; plans are kept. Collective.
    subroutine statement_run(self, beta, status, message)
        class(arges_statement), intent(in) :: self
        type(*), intent(in), optional :: beta(..)
        include 'outcome.inc'

        code = c_f_statement_run(self%handle, self%world%handle, self%element, beta)
        include 'end_call.inc'
    end subroutine

    !> The plan as text: grid, bytes per step and rank, memory. Local.
    subroutine statement_explain(self, text, beta, status, message)
        class(arges_statement), intent(in) :: self
        character(:), allocatable, intent(out) :: text
        type(*), intent(in), optional :: beta(..)
        include 'outcome.inc'
        type(c_ptr) :: plan

        code = c_f_statement_explain(self%handle, self%element, beta, plan)
        if (code == arges_ok) then
            text = text_of(plan)
            call c_free(plan)
        end if
        include 'end_call.inc'
    end subroutine

    !> Divides the left-hand side by the sum of the terms, element by element. Collective.
    subroutine statement_divide(self, status, message)
        class(arges_statement), intent(in) :: self
        include 'outcome.inc'

        code = c_statement_divide(self%handle)
        include 'end_call.inc'
    end subroutine

end module arges_statements
