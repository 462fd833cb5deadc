!> Checks of a test program: what fails is printed, and makes the program fail on all ranks.
module checks
    use, intrinsic :: iso_fortran_env, only: error_unit
    use mpi
    implicit none
    private

    public :: expect, expect_status, finish_tests

    integer :: passed = 0, failed = 0

contains

    !> Notes whether something holds.
    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        integer :: rank, code

        if (holds) then
            passed = passed + 1
            return
        end if
        failed = failed + 1
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
        write (error_unit, '(a,i0,2a)') 'rank ', rank, ': failed: ', what
    end subroutine

    !> Notes whether a call said what it should, with a message that has a word.
    subroutine expect_status(status, wanted, message, word, what)
        integer, intent(in) :: status, wanted
        character(*), intent(in) :: message, word, what

        call expect(status == wanted .and. index(message, word) > 0, what//': '//message)
    end subroutine

    !> Prints how many checks passed on all ranks; ends with an error if one failed anywhere.
    subroutine finish_tests(name)
        character(*), intent(in) :: name
        integer :: mine(2), all(2), rank, code

        mine = [passed, failed]
        call MPI_Allreduce(mine, all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
        if (rank == 0) write (*, '(2a,i0,a,i0,a)') name, ': ', all(1), ' passed, ', all(2), ' failed'
        call MPI_Finalize(code)
        if (all(2) > 0 .or. all(1) == 0) error stop 1
    end subroutine

end module checks
