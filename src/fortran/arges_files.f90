!> Tensors in files. All procedures are collective.
module arges_files
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use arges_errors
    use arges_interfaces
    use arges_tensors
    implicit none
    private

    public :: arges_read_tensor, arges_write_npy, arges_read_sparse, arges_write_sparse, arges_checkpoint_read, &
        arges_checkpoint_value

    !> A checkpoint that is written: it has its name from commit() on. Checkpoints are not copied.
    type, public :: arges_checkpoint
        type(c_ptr) :: handle = c_null_ptr  !< of arges.h; null: no checkpoint
    contains
        procedure :: create => checkpoint_create
        procedure :: add => checkpoint_add
        procedure, private :: set_int64, set_float64
        generic :: set => set_int64, set_float64
        procedure :: commit => checkpoint_commit
        procedure :: destroy => checkpoint_destroy
        procedure, private :: checkpoint_assign
        generic :: assignment(=) => checkpoint_assign
    end type

    !> An integer or a number of a checkpoint.
    interface arges_checkpoint_value
        module procedure value_int64, value_float64
    end interface

contains

    !> Reads a dense tensor of a .npy or HDF5 file ('file.h5:/group/name'); axis d is dimension d.
    subroutine arges_read_tensor(world, path, element, tensor, status, message)
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path
        integer(c_int), intent(in) :: element
        type(arges_tensor), intent(inout) :: tensor
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_read_tensor(world%handle, trim(path)//c_null_char, element, made)
        if (code == arges_ok) call take(tensor, made)
        include 'end_call.inc'
    end subroutine

    !> Writes a dense floating-point tensor as .npy.
    subroutine arges_write_npy(tensor, path, status, message)
        type(arges_tensor), intent(in) :: tensor
        character(*), intent(in) :: path
        include 'outcome.inc'

        code = c_write_npy(tensor%handle, trim(path)//c_null_char)
        include 'end_call.inc'
    end subroutine

    !> Reads a sparse tensor: .tns, .tns.gz, MatrixMarket, .atns, SPLATT's .bin.
    subroutine arges_read_sparse(world, path, element, tensor, status, message)
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path
        integer(c_int), intent(in) :: element
        type(arges_tensor), intent(inout) :: tensor
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_read_sparse(world%handle, trim(path)//c_null_char, element, made)
        if (code == arges_ok) call take(tensor, made)
        include 'end_call.inc'
    end subroutine

    !> Writes a sparse tensor in the form that the name asks for.
    subroutine arges_write_sparse(tensor, path, status, message)
        type(arges_tensor), intent(in) :: tensor
        character(*), intent(in) :: path
        include 'outcome.inc'

        code = c_write_sparse(tensor%handle, trim(path)//c_null_char)
        include 'end_call.inc'
    end subroutine

    !> Starts a checkpoint.
    subroutine checkpoint_create(self, world, path, status, message)
        class(arges_checkpoint), intent(inout) :: self
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_checkpoint_create(world%handle, trim(path)//c_null_char, made)
        if (code == arges_ok) then
            call self%destroy()
            self%handle = made
        end if
        include 'end_call.inc'
    end subroutine

    !> Adds a dense floating-point tensor.
    subroutine checkpoint_add(self, name, tensor, status, message)
        class(arges_checkpoint), intent(in) :: self
        character(*), intent(in) :: name
        type(arges_tensor), intent(in) :: tensor
        include 'outcome.inc'

        code = c_checkpoint_add(self%handle, trim(name)//c_null_char, tensor%handle)
        include 'end_call.inc'
    end subroutine

    !> Keeps an integer, as the number of iterations; that of rank 0 counts.
    subroutine set_int64(self, name, number, status, message)
        class(arges_checkpoint), intent(in) :: self
        character(*), intent(in) :: name
        integer(int64), intent(in) :: number
        include 'outcome.inc'

        code = c_checkpoint_set_int64(self%handle, trim(name)//c_null_char, number)
        include 'end_call.inc'
    end subroutine

    !> Keeps a number, as an energy; that of rank 0 counts.
    subroutine set_float64(self, name, number, status, message)
        class(arges_checkpoint), intent(in) :: self
        character(*), intent(in) :: name
        real(real64), intent(in) :: number
        include 'outcome.inc'

        code = c_checkpoint_set_float64(self%handle, trim(name)//c_null_char, number)
        include 'end_call.inc'
    end subroutine

    !> Completes the file.
    subroutine checkpoint_commit(self, status, message)
        class(arges_checkpoint), intent(in) :: self
        include 'outcome.inc'

        code = c_checkpoint_commit(self%handle)
        include 'end_call.inc'
    end subroutine

    !> Destroys the handle; a file that was not committed is discarded.
    subroutine checkpoint_destroy(self)
        class(arges_checkpoint), intent(inout) :: self
        integer(c_int) :: code

        code = c_checkpoint_destroy(self%handle)
        self%handle = c_null_ptr
    end subroutine

    !> Two variables of one checkpoint would destroy it twice.
    subroutine checkpoint_assign(self, other)
        class(arges_checkpoint), intent(inout) :: self
        type(arges_checkpoint), intent(in) :: other

        if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'arges: a checkpoint is not copied'
    end subroutine

    !> Reads a tensor of a checkpoint, with its symmetry and its type.
    subroutine arges_checkpoint_read(world, path, name, tensor, status, message)
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path, name
        type(arges_tensor), intent(inout) :: tensor
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_checkpoint_read(world%handle, trim(path)//c_null_char, trim(name)//c_null_char, made)
        if (code == arges_ok) call take(tensor, made)
        include 'end_call.inc'
    end subroutine

    !> Reads an integer of a checkpoint.
    subroutine value_int64(world, path, name, number, status, message)
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path, name
        integer(int64), intent(out) :: number
        include 'outcome.inc'

        code = c_checkpoint_read_int64(world%handle, trim(path)//c_null_char, trim(name)//c_null_char, number)
        include 'end_call.inc'
    end subroutine

    !> Reads a number of a checkpoint.
    subroutine value_float64(world, path, name, number, status, message)
        type(arges_world), intent(in) :: world
        character(*), intent(in) :: path, name
        real(real64), intent(out) :: number
        include 'outcome.inc'

        code = c_checkpoint_read_float64(world%handle, trim(path)//c_null_char, trim(name)//c_null_char, number)
        include 'end_call.inc'
    end subroutine

end module arges_files
