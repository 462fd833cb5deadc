!> Status, element types and choices of Arges, and how calls end.
module arges_errors
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use arges_interfaces
    implicit none
    private

    !> What a call says.
    public :: arges_ok, arges_invalid_argument, arges_out_of_memory, arges_unsupported, arges_mpi_error, arges_error
    !> Element types: real(real32), real(real64), complex(real32), complex(real64), integer(int16), integer(int32), integer(int64),
    !> logical(c_bool).
    public :: arges_float32, arges_float64, arges_complex64, arges_complex128, arges_int16, arges_int32, arges_int64, arges_bool
    !> How a term is fitted to the symmetry of the left-hand side.
    public :: arges_as_it_is, arges_antisymmetrized, arges_symmetrized, arges_canonical
    !> What to do with several values for one element of a sparse tensor.
    public :: arges_refuse, arges_sum, arges_keep_first

    public :: finish, message_of, text_of, to_c

    interface
        integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Ends a call: its status goes to the caller. Without `status` an error stops the program, on all ranks.
    !> (Messages of deferred length are not handed on from one optional argument to another, which gfortran 12 gets wrong: so
    !> procedures include outcome.inc and end_call.inc.)
    subroutine finish(code, status)
        integer(c_int), intent(in) :: code
        integer, intent(out), optional :: status

        if (present(status)) then
            status = code
        else if (code /= arges_ok) then
            write (error_unit, '(2a)') 'arges: ', message_of(code)
            error stop 1
        end if
    end subroutine

    !> The message of the latest call.
    function message_of(code) result(text)
        integer(c_int), intent(in) :: code
        character(:), allocatable :: text

        text = ''
        if (code /= arges_ok) text = text_of(c_message())
    end function

    !> A text of C.
    function text_of(pointer) result(text)
        type(c_ptr), intent(in) :: pointer
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i

        if (.not. c_associated(pointer)) then
            text = ''
            return
        end if
        call c_f_pointer(pointer, letters, [c_strlen(pointer)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function

    !> A text for C, without trailing blanks; none, if there is none.
    subroutine to_c(text, own)
        character(*), intent(in), optional :: text
        character(:), allocatable, intent(out) :: own

        if (present(text)) own = trim(text)//c_null_char
    end subroutine

end module arges_errors
