!> Worlds and tensors.
!>
!> Nothing is destroyed by itself: call destroy() of what was created, before MPI_Finalize. A procedure that makes a tensor
!> destroys what its variable had before; assignment (b = a) copies the elements, and is collective. All procedures are
!> collective that are not marked local: every rank of the world calls them, with the same arguments but for keys and values.
!>
!> Values are of the tensor's element type, arrays of any rank and sections of them. Numbers (fill, alpha, beta) may be of any
!> type, if the element type has them exactly. With `status` an error is returned, the same on all ranks, and what was to change
!> is as it was; without it the program stops.
module arges_tensors
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
    use arges_errors
    use arges_interfaces
    implicit none
    private

    !> Ranks that tensors are spread over.
    type, public :: arges_world
        type(c_ptr) :: handle = c_null_ptr  !< of arges.h; null: no world
    contains
        procedure :: create => world_create
        procedure :: create_on_device => world_create_on_device
        procedure :: create_dry_run => world_create_dry_run
        procedure :: destroy => world_destroy
        procedure :: size => world_size
        procedure :: rank => world_rank
        procedure :: agree => world_agree
        procedure :: memory_limit => world_memory_limit
        procedure :: set_memory_limit => world_set_memory_limit
        procedure :: memory => world_memory
        procedure :: reset_peak => world_reset_peak
        procedure :: report => world_report
        procedure, private :: world_assign
        generic :: assignment(=) => world_assign
    end type

    !> A dense or sparse tensor.
    type, public :: arges_tensor
        type(c_ptr) :: handle = c_null_ptr  !< of arges.h; null: no tensor
    contains
        procedure, private :: create_short, create_long
        generic :: create => create_short, create_long
        procedure :: destroy => tensor_destroy
        procedure :: convert => tensor_convert
        procedure :: to_dense => tensor_to_dense
        procedure :: to_sparse => tensor_to_sparse
        procedure :: with_symmetry => tensor_with_symmetry
        procedure, private :: slice_short, slice_long
        generic :: slice => slice_short, slice_long
        procedure, private :: set_slice_short, set_slice_long
        generic :: set_slice => set_slice_short, set_slice_long
        procedure :: order => tensor_order
        procedure :: extents => tensor_extents
        procedure :: element_type => tensor_element_type
        procedure :: is_sparse => tensor_is_sparse
        procedure :: world => tensor_world
        procedure :: size => tensor_size
        procedure :: stored => tensor_stored
        procedure, private :: key_short, key_long
        generic :: key => key_short, key_long
        procedure :: index => tensor_index
        procedure :: fill => tensor_fill
        procedure :: fill_random => tensor_fill_random
        procedure :: write => tensor_write
        procedure :: accumulate => tensor_accumulate
        procedure :: read => tensor_read
        procedure :: set => tensor_set
        procedure :: gather => tensor_gather
        procedure, private :: pairs_float32, pairs_float64, pairs_complex64, pairs_complex128, pairs_int16, pairs_int32, &
            pairs_int64, pairs_bool
        generic :: local_pairs => pairs_float32, pairs_float64, pairs_complex64, pairs_complex128, pairs_int16, pairs_int32, &
            pairs_int64, pairs_bool
        procedure :: sum => tensor_sum
        procedure :: norm => tensor_norm
        procedure :: norm_max => tensor_norm_max
        procedure :: dot => tensor_dot
        procedure, private :: tensor_assign
        generic :: assignment(=) => tensor_assign
    end type

    public :: take

contains

    !> All ranks of a communicator: MPI_COMM_WORLD of mpi and mpif.h, MPI_COMM_WORLD%MPI_VAL of mpi_f08.
    !> torus: shape of the machine as '4x4x2'; detected without it
    subroutine world_create(self, comm, torus, status, message)
        class(arges_world), intent(inout) :: self
        integer, intent(in) :: comm
        character(*), intent(in), optional :: torus
        include 'outcome.inc'
        character(:), allocatable :: own_torus
        type(c_ptr) :: made

        call to_c(torus, own_torus)
        code = c_world_create_f(int(comm, c_int), own_torus, made)
        if (code == arges_ok) call replace_world(self, made)
        include 'end_call.inc'
    end subroutine

    !> Likewise with the elements of dense tensors on a device: 'cuda', or 'none' for the host.
    !> device_memory: bytes that each rank may hold there; its part of what is free without it
    subroutine world_create_on_device(self, comm, device, device_memory, torus, status, message)
        class(arges_world), intent(inout) :: self
        integer, intent(in) :: comm
        character(*), intent(in) :: device
        integer(int64), intent(in), optional :: device_memory
        character(*), intent(in), optional :: torus
        include 'outcome.inc'
        character(:), allocatable :: own_device, own_torus
        integer(c_int64_t) :: bytes
        type(c_ptr) :: made

        call to_c(device, own_device)
        call to_c(torus, own_torus)
        bytes = 0
        if (present(device_memory)) bytes = device_memory
        code = c_world_create_on_device_f(int(comm, c_int), own_device, bytes, own_torus, made)
        if (code == arges_ok) call replace_world(self, made)
        include 'end_call.inc'
    end subroutine

    !> Imaginary ranks for planning: statements are planned and not executed. Local.
    subroutine world_create_dry_run(self, ranks, torus, status, message, ranks_per_node, machine_file, coordinates_file)
        class(arges_world), intent(inout) :: self
        integer, intent(in) :: ranks
        character(*), intent(in), optional :: torus, machine_file, coordinates_file
        integer, intent(in), optional :: ranks_per_node
        include 'outcome.inc'
        character(:), allocatable :: own_torus, own_machine, own_coordinates
        integer(c_int64_t) :: per_node
        type(c_ptr) :: made

        call to_c(torus, own_torus)
        call to_c(machine_file, own_machine)
        call to_c(coordinates_file, own_coordinates)
        per_node = 0
        if (present(ranks_per_node)) per_node = ranks_per_node
        code = c_world_create_dry_run(int(ranks, c_int64_t), own_torus, per_node, own_machine, own_coordinates, made)
        if (code == arges_ok) call replace_world(self, made)
        include 'end_call.inc'
    end subroutine

    subroutine replace_world(self, made)
        class(arges_world), intent(inout) :: self
        type(c_ptr), intent(in) :: made

        call self%destroy()
        self%handle = made
    end subroutine

    !> Another handle of the same world. Local.
    subroutine world_assign(self, other)
        class(arges_world), intent(inout) :: self
        type(arges_world), intent(in) :: other
        type(c_ptr) :: made

        made = c_null_ptr
        if (c_associated(other%handle)) call finish(c_world_copy(other%handle, made))
        call replace_world(self, made)
    end subroutine

    !> Destroys the handle; tensors keep their world. Local.
    subroutine world_destroy(self)
        class(arges_world), intent(inout) :: self
        integer(c_int) :: code

        code = c_world_destroy(self%handle)
        self%handle = c_null_ptr
    end subroutine

    !> Number of ranks. Local.
    integer function world_size(self)
        class(arges_world), intent(in) :: self
        integer(c_int64_t) :: number

        number = 0
        call finish(c_world_size(self%handle, number))
        world_size = int(number)
    end function

    !> The calling rank, from 0. Local.
    integer function world_rank(self)
        class(arges_world), intent(in) :: self
        integer(c_int64_t) :: number

        number = 0
        call finish(c_world_rank(self%handle, number))
        world_rank = int(number)
    end function

    !> Returns arges_ok on all ranks if all give it, else the status and message of the lowest rank that gives another.
    subroutine world_agree(self, own_status, own_message, status, message)
        class(arges_world), intent(in) :: self
        integer, intent(in) :: own_status
        character(*), intent(in), optional :: own_message
        include 'outcome.inc'
        character(:), allocatable :: text

        call to_c(own_message, text)
        code = c_world_agree(self%handle, int(own_status, c_int), text)
        include 'end_call.inc'
    end subroutine

    !> Limit in bytes on what tensors and operations hold on one rank. Local.
    integer(int64) function world_memory_limit(self)
        class(arges_world), intent(in) :: self

        world_memory_limit = 0
        call finish(c_world_memory_limit(self%handle, world_memory_limit))
    end function

    !> Sets it; the smallest value of the ranks counts.
    subroutine world_set_memory_limit(self, bytes, status, message)
        class(arges_world), intent(inout) :: self
        integer(int64), intent(in) :: bytes
        include 'outcome.inc'

        code = c_world_set_memory_limit(self%handle, bytes)
        include 'end_call.inc'
    end subroutine

    !> Bytes of tensors on this rank now, and the most that tensors and planned work have taken since the last reset. Local.
    subroutine world_memory(self, in_use, peak)
        class(arges_world), intent(in) :: self
        integer(int64), intent(out) :: in_use, peak

        in_use = 0
        peak = 0
        call finish(c_world_memory(self%handle, in_use, peak))
    end subroutine

    !> Starts a new measurement of the peak. Local.
    subroutine world_reset_peak(self)
        class(arges_world), intent(inout) :: self

        call finish(c_world_reset_peak(self%handle))
    end subroutine

    !> What the latest statement took over all ranks: payload bytes and messages sent, seconds of the slowest rank.
    subroutine world_report(self, bytes_sent, messages, seconds)
        class(arges_world), intent(in) :: self
        integer(int64), intent(out) :: bytes_sent, messages
        real(real64), intent(out) :: seconds

        call finish(c_world_report(self%handle, bytes_sent, messages, seconds))
    end subroutine

    !> Puts a tensor that was made in place of what the variable had.
    subroutine take(self, made)
        class(arges_tensor), intent(inout) :: self
        type(c_ptr), intent(in) :: made

        call self%destroy()
        self%handle = made
    end subroutine

    !> Zeros; of a sparse tensor no element is stored. element: arges_float64 or another; letters: one for each dimension, for
    !> symmetry, as 'antisym(a,b) sym(i,j)'; name: for messages
    subroutine create_long(self, world, element, extents, letters, symmetry, name, sparse, status, message)
        class(arges_tensor), intent(inout) :: self
        type(arges_world), intent(in) :: world
        integer(c_int), intent(in) :: element
        integer(int64), intent(in) :: extents(:)
        character(*), intent(in), optional :: letters, symmetry, name
        logical, intent(in), optional :: sparse
        include 'outcome.inc'

        code = created(self, world, element, extents, letters, symmetry, name, sparse)
        include 'end_call.inc'
    end subroutine

    !> Likewise.
    subroutine create_short(self, world, element, extents, letters, symmetry, name, sparse, status, message)
        class(arges_tensor), intent(inout) :: self
        type(arges_world), intent(in) :: world
        integer(c_int), intent(in) :: element
        integer(int32), intent(in) :: extents(:)
        character(*), intent(in), optional :: letters, symmetry, name
        logical, intent(in), optional :: sparse
        include 'outcome.inc'

        code = created(self, world, element, int(extents, int64), letters, symmetry, name, sparse)
        include 'end_call.inc'
    end subroutine

    integer(c_int) function created(self, world, element, extents, letters, symmetry, name, sparse) result(code)
        class(arges_tensor), intent(inout) :: self
        type(arges_world), intent(in) :: world
        integer(c_int), intent(in) :: element
        integer(int64), intent(in) :: extents(:)
        character(*), intent(in), optional :: letters, symmetry, name
        logical, intent(in), optional :: sparse
        character(:), allocatable :: own_letters, own_symmetry, own_name
        type(c_ptr) :: made
        logical :: is_sparse

        is_sparse = .false.
        if (present(sparse)) is_sparse = sparse
        call to_c(letters, own_letters)
        call to_c(symmetry, own_symmetry)
        call to_c(name, own_name)
        if (is_sparse) then
            code = c_tensor_create_sparse(world%handle, element, size(extents, kind=c_int), extents, own_letters, &
                                              own_symmetry, own_name, made)
        else
            code = c_tensor_create(world%handle, element, size(extents, kind=c_int), extents, own_letters, own_symmetry, &
                                       own_name, made)
        end if
        if (code == arges_ok) call take(self, made)
    end function

    !> A copy with elements of its own.
    subroutine tensor_assign(self, other)
        class(arges_tensor), intent(inout) :: self
        type(arges_tensor), intent(in) :: other
        type(c_ptr) :: made

        if (c_associated(self%handle, other%handle)) return
        made = c_null_ptr
        if (c_associated(other%handle)) call finish(c_tensor_copy(other%handle, made))
        call take(self, made)
    end subroutine

    !> Destroys the tensor. Local.
    subroutine tensor_destroy(self)
        class(arges_tensor), intent(inout) :: self
        integer(c_int) :: code

        code = c_tensor_destroy(self%handle)
        self%handle = c_null_ptr
    end subroutine

    !> The elements in another type, rounded where it holds less.
    subroutine tensor_convert(self, element, result, status, message)
        class(arges_tensor), intent(in) :: self
        integer(c_int), intent(in) :: element
        type(arges_tensor), intent(inout) :: result
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_tensor_convert(self%handle, element, made)
        if (code == arges_ok) call take(result, made)
        include 'end_call.inc'
    end subroutine

    !> A sparse tensor in dense form.
    subroutine tensor_to_dense(self, result, status, message)
        class(arges_tensor), intent(in) :: self
        type(arges_tensor), intent(inout) :: result
        include 'outcome.inc'
        type(c_ptr) :: made

        code = c_tensor_to_dense(self%handle, made)
        if (code == arges_ok) call take(result, made)
        include 'end_call.inc'
    end subroutine

    !> The elements of a dense tensor that are not zero, or those whose magnitude is over a cutoff.
    subroutine tensor_to_sparse(self, result, cutoff, status, message)
        class(arges_tensor), intent(in) :: self
        type(arges_tensor), intent(inout) :: result
        real(real64), intent(in), optional :: cutoff
        include 'outcome.inc'
        type(c_ptr) :: made
        real(real64) :: own_cutoff

        own_cutoff = -1
        if (present(cutoff)) own_cutoff = cutoff
        code = c_tensor_to_sparse(self%handle, own_cutoff, made)
        if (code == arges_ok) call take(result, made)
        include 'end_call.inc'
    end subroutine

    !> The elements under another symmetry: one of each orbit is taken, or all are unpacked (without letters and symmetry).
    subroutine tensor_with_symmetry(self, result, letters, symmetry, status, message)
        class(arges_tensor), intent(in) :: self
        type(arges_tensor), intent(inout) :: result
        character(*), intent(in), optional :: letters, symmetry
        include 'outcome.inc'
        character(:), allocatable :: own_letters, own_symmetry
        type(c_ptr) :: made

        call to_c(letters, own_letters)
        call to_c(symmetry, own_symmetry)
        code = c_tensor_with_symmetry(self%handle, own_letters, own_symmetry, made)
        if (code == arges_ok) call take(result, made)
        include 'end_call.inc'
    end subroutine

    include 'tensor_parts.inc'
    include 'tensor_elements.inc'

end module arges_tensors
