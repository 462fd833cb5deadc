!> The functions of arges.h and descriptors.h that the module arges calls.
module arges_interfaces
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_ptr
    implicit none
    public

    interface
        function arges_message() bind(C)
            import :: c_ptr
            type(c_ptr) :: arges_message
        end function
        subroutine arges_free(allocated) bind(C)
            import :: c_ptr
            type(c_ptr), value :: allocated
        end subroutine
        function text_length(text) bind(C, name='strlen')
            import :: c_ptr, c_int64_t
            type(c_ptr), value :: text
            integer(c_int64_t) :: text_length
        end function
        integer(c_int) function arges_world_create_f(comm, torus, world) bind(C)
            import :: c_char, c_int, c_ptr
            integer(c_int), value :: comm
            character(kind=c_char), intent(in), optional :: torus(*)
            type(c_ptr), intent(out) :: world
        end function
        integer(c_int) function arges_world_create_dry_run(ranks, torus, world) bind(C)
            import :: c_char, c_int, c_int64_t, c_ptr
            integer(c_int64_t), value :: ranks
            character(kind=c_char), intent(in), optional :: torus(*)
            type(c_ptr), intent(out) :: world
        end function
        integer(c_int) function arges_world_copy(world, copy) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: world
            type(c_ptr), intent(out) :: copy
        end function
        integer(c_int) function arges_world_destroy(world) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: world
        end function
        integer(c_int) function arges_world_size(world, size) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), intent(out) :: size
        end function
        integer(c_int) function arges_world_rank(world, rank) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), intent(out) :: rank
        end function
        integer(c_int) function arges_world_agree(world, status, message) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: world
            integer(c_int), value :: status
            character(kind=c_char), intent(in), optional :: message(*)
        end function
        integer(c_int) function arges_world_memory_limit(world, bytes) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), intent(out) :: bytes
        end function
        integer(c_int) function arges_world_set_memory_limit(world, bytes) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), value :: bytes
        end function
        integer(c_int) function arges_world_memory(world, in_use, peak) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), intent(out) :: in_use, peak
        end function
        integer(c_int) function arges_world_reset_peak(world) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: world
        end function
        integer(c_int) function arges_world_report(world, bytes_sent, messages, seconds) bind(C)
            import :: c_double, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int64_t), intent(out) :: bytes_sent, messages
            real(c_double), intent(out) :: seconds
        end function
        integer(c_int) function arges_tensor_create(world, element, order, extents, letters, symmetry, name, &
                tensor) bind(C)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int), value :: element, order
            integer(c_int64_t), intent(in) :: extents(*)
            character(kind=c_char), intent(in), optional :: letters(*), symmetry(*), name(*)
            type(c_ptr), intent(out) :: tensor
        end function
        integer(c_int) function arges_tensor_create_sparse(world, element, order, extents, letters, symmetry, &
                name, tensor) bind(C)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            integer(c_int), value :: element, order
            integer(c_int64_t), intent(in) :: extents(*)
            character(kind=c_char), intent(in), optional :: letters(*), symmetry(*), name(*)
            type(c_ptr), intent(out) :: tensor
        end function
        integer(c_int) function arges_tensor_copy(tensor, copy) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(c_ptr), intent(out) :: copy
        end function
        integer(c_int) function arges_tensor_convert(tensor, element, result) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int), value :: element
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_tensor_to_dense(tensor, result) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_tensor_to_sparse(tensor, cutoff, result) bind(C)
            import :: c_double, c_int, c_ptr
            type(c_ptr), value :: tensor
            real(c_double), value :: cutoff
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_tensor_destroy(tensor) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
        end function
        pure integer(c_int) function arges_tensor_order(tensor) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
        end function
        integer(c_int) function arges_tensor_extents(tensor, extents) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), intent(out) :: extents(*)
        end function
        integer(c_int) function arges_tensor_form(tensor, element, is_sparse) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int), intent(out) :: element, is_sparse
        end function
        integer(c_int) function arges_tensor_world(tensor, world) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(c_ptr), intent(out) :: world
        end function
        integer(c_int) function arges_tensor_size(tensor, full, stored) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), intent(out), optional :: full, stored
        end function
        integer(c_int) function arges_tensor_fill_random(tensor, seed, low, high) bind(C)
            import :: c_double, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), value :: seed
            real(c_double), value :: low, high
        end function
        integer(c_int) function arges_tensor_local_pairs(tensor, count, keys, values) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), intent(out) :: count
            type(c_ptr), intent(out) :: keys, values
        end function
        integer(c_int) function arges_tensor_slice(tensor, begin, end, result) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), intent(in) :: begin(*), end(*)
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_tensor_set_slice(tensor, begin, part) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor, part
            integer(c_int64_t), intent(in) :: begin(*)
        end function
        integer(c_int) function arges_tensor_with_symmetry(tensor, letters, symmetry, result) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tensor
            character(kind=c_char), intent(in), optional :: letters(*), symmetry(*)
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_tensor_norm(tensor, norm) bind(C)
            import :: c_double, c_int, c_ptr
            type(c_ptr), value :: tensor
            real(c_double), intent(out) :: norm
        end function
        integer(c_int) function arges_tensor_norm_max(tensor, norm) bind(C)
            import :: c_double, c_int, c_ptr
            type(c_ptr), value :: tensor
            real(c_double), intent(out) :: norm
        end function
        integer(c_int) function arges_f_fill(tensor, value) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(*), intent(in) :: value(..)
        end function
        integer(c_int) function arges_f_write(tensor, count, keys, values, duplicates) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), value :: count
            integer(c_int64_t), intent(in) :: keys(*)
            type(*), intent(in) :: values(..)
            integer(c_int), value :: duplicates
        end function
        integer(c_int) function arges_f_accumulate(tensor, count, keys, values, alpha, beta) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), value :: count
            integer(c_int64_t), intent(in) :: keys(*)
            type(*), intent(in) :: values(..)
            type(*), intent(in), optional :: alpha(..), beta(..)
        end function
        integer(c_int) function arges_f_read(tensor, count, keys, values) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tensor
            integer(c_int64_t), value :: count
            integer(c_int64_t), intent(in) :: keys(*)
            type(*), intent(inout) :: values(..)
        end function
        integer(c_int) function arges_f_gather(tensor, elements) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(*), intent(inout) :: elements(..)
        end function
        integer(c_int) function arges_f_set_array(tensor, elements) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(*), intent(in) :: elements(..)
        end function
        integer(c_int) function arges_f_sum(tensor, sum) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor
            type(*), intent(inout) :: sum(..)
        end function
        integer(c_int) function arges_f_dot(a, b, result) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: a, b
            type(*), intent(inout) :: result(..)
        end function
        integer(c_int) function arges_f_take(tensor, values, to) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: tensor, values
            type(*), intent(inout) :: to(..)
        end function
        integer(c_int) function arges_f_contract(alpha, a, a_labels, b, b_labels, beta, c, c_labels) bind(C)
            import :: c_char, c_int, c_ptr
            type(*), intent(in), optional :: alpha(..), beta(..)
            type(c_ptr), value :: a, b, c
            character(kind=c_char), intent(in) :: a_labels(*), c_labels(*)
            character(kind=c_char), intent(in), optional :: b_labels(*)
        end function
        integer(c_int) function arges_f_statement_add(statement, element, alpha, count, factors, labels, &
                conjugated, projection) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: statement
            integer(c_int), value :: element, count, projection
            type(*), intent(in), optional :: alpha(..)
            type(c_ptr), intent(in) :: factors(*), labels(*)
            integer(c_int), intent(in) :: conjugated(*)
        end function
        integer(c_int) function arges_f_statement_run(statement, world, element, beta) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: statement, world
            integer(c_int), value :: element
            type(*), intent(in), optional :: beta(..)
        end function
        integer(c_int) function arges_f_statement_explain(statement, element, beta, text) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: statement
            integer(c_int), value :: element
            type(*), intent(in), optional :: beta(..)
            type(c_ptr), intent(out) :: text
        end function
        integer(c_int) function c_einsum(text, count, operands, result) bind(C, name='arges_einsum')
            import :: c_char, c_int, c_ptr
            character(kind=c_char), intent(in) :: text(*)
            integer(c_int), value :: count
            type(c_ptr), intent(in) :: operands(*)
            type(c_ptr), intent(out) :: result
        end function
        integer(c_int) function arges_statement_create(left, labels, statement) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: left
            character(kind=c_char), intent(in) :: labels(*)
            type(c_ptr), intent(out) :: statement
        end function
        integer(c_int) function arges_statement_destroy(statement) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: statement
        end function
        integer(c_int) function arges_statement_where(statement, mask, labels, complement) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: statement, mask
            character(kind=c_char), intent(in) :: labels(*)
            integer(c_int), value :: complement
        end function
        integer(c_int) function arges_statement_vouch(statement, repeated, summed) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: statement
            character(kind=c_char), intent(in), optional :: repeated(*), summed(*)
        end function
        integer(c_int) function arges_statement_divide(statement) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: statement
        end function
        integer(c_int) function c_qr(a, labels, q, r) bind(C, name='arges_qr')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: a
            character(kind=c_char), intent(in) :: labels(*)
            type(c_ptr), intent(out), optional :: q, r
        end function
        integer(c_int) function c_svd(a, labels, rank, tolerance, u, count, s, vh) bind(C, name='arges_svd')
            import :: c_char, c_double, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: a
            character(kind=c_char), intent(in) :: labels(*)
            integer(c_int64_t), value :: rank
            real(c_double), value :: tolerance
            type(c_ptr), intent(out), optional :: u, vh
            integer(c_int64_t), intent(out) :: count
            type(c_ptr), intent(out) :: s
        end function
        integer(c_int) function c_eigh(a, labels, count, values, vectors) bind(C, name='arges_eigh')
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: a
            character(kind=c_char), intent(in) :: labels(*)
            integer(c_int64_t), intent(out) :: count
            type(c_ptr), intent(out) :: values
            type(c_ptr), intent(out), optional :: vectors
        end function
        integer(c_int) function c_cholesky(a, labels, l) bind(C, name='arges_cholesky')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: a
            character(kind=c_char), intent(in) :: labels(*)
            type(c_ptr), intent(out) :: l
        end function
        integer(c_int) function c_solve_positive(a, a_labels, b, b_labels, x) bind(C, name='arges_solve_positive')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: a, b
            character(kind=c_char), intent(in) :: a_labels(*), b_labels(*)
            type(c_ptr), intent(out) :: x
        end function
        integer(c_int) function c_least_squares(a, a_labels, b, b_labels, x) bind(C, name='arges_least_squares')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: a, b
            character(kind=c_char), intent(in) :: a_labels(*), b_labels(*)
            type(c_ptr), intent(out) :: x
        end function
        integer(c_int) function c_read_tensor(world, path, element, tensor) bind(C, name='arges_read_tensor')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: element
            type(c_ptr), intent(out) :: tensor
        end function
        integer(c_int) function c_write_npy(tensor, path) bind(C, name='arges_write_npy')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tensor
            character(kind=c_char), intent(in) :: path(*)
        end function
        integer(c_int) function c_read_sparse(world, path, element, tensor) bind(C, name='arges_read_sparse')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: element
            type(c_ptr), intent(out) :: tensor
        end function
        integer(c_int) function c_write_sparse(tensor, path) bind(C, name='arges_write_sparse')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tensor
            character(kind=c_char), intent(in) :: path(*)
        end function
        integer(c_int) function arges_checkpoint_create(world, path, checkpoint) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*)
            type(c_ptr), intent(out) :: checkpoint
        end function
        integer(c_int) function arges_checkpoint_add(checkpoint, name, tensor) bind(C)
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: checkpoint, tensor
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function arges_checkpoint_set_int64(checkpoint, name, number) bind(C)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: checkpoint
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), value :: number
        end function
        integer(c_int) function arges_checkpoint_set_float64(checkpoint, name, number) bind(C)
            import :: c_char, c_double, c_int, c_ptr
            type(c_ptr), value :: checkpoint
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), value :: number
        end function
        integer(c_int) function arges_checkpoint_commit(checkpoint) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: checkpoint
        end function
        integer(c_int) function arges_checkpoint_destroy(checkpoint) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: checkpoint
        end function
        integer(c_int) function c_checkpoint_read(world, path, name, tensor) bind(C, name='arges_checkpoint_read')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*), name(*)
            type(c_ptr), intent(out) :: tensor
        end function
        integer(c_int) function arges_checkpoint_read_int64(world, path, name, number) bind(C)
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*), name(*)
            integer(c_int64_t), intent(out) :: number
        end function
        integer(c_int) function arges_checkpoint_read_float64(world, path, name, number) bind(C)
            import :: c_char, c_double, c_int, c_ptr
            type(c_ptr), value :: world
            character(kind=c_char), intent(in) :: path(*), name(*)
            real(c_double), intent(out) :: number
        end function
    end interface

end module arges_interfaces
