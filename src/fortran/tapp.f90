!> The functions and constants of tapp.h, which describes them: products of two tensors in the memory of this process. Addresses of
!> elements are those of c_loc(array(...)), strides count elements, objects are integers of kind c_intptr_t. Link with
!> -larges_fortran -larges (pkg-config: arges-fortran).
module tapp
    use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int64_t, c_intptr_t, c_null_ptr, c_ptr, c_size_t
    implicit none
    private

    public :: TAPP_check_success, TAPP_explain_error, TAPP_create_handle, TAPP_destroy_handle, TAPP_create_executor, &
        TAPP_destroy_executor, TAPP_destroy_status, TAPP_attr_set, TAPP_attr_get, TAPP_attr_clear
    public :: TAPP_create_tensor_info, TAPP_destroy_tensor_info, TAPP_get_nmodes, TAPP_set_nmodes, TAPP_get_extents, &
        TAPP_set_extents, TAPP_get_strides, TAPP_set_strides
    public :: TAPP_create_tensor_product, TAPP_destroy_tensor_product, TAPP_execute_product, TAPP_execute_batched_product

    integer(c_int), parameter, public :: TAPP_F32 = 0, TAPP_F64 = 1, TAPP_C32 = 2, TAPP_C64 = 3, TAPP_F16 = 4, TAPP_BF16 = 5
    integer(c_int), parameter, public :: TAPP_FLOAT = TAPP_F32, TAPP_DOUBLE = TAPP_F64, TAPP_SCOMPLEX = TAPP_C32, &
        TAPP_DCOMPLEX = TAPP_C64
    integer(c_int), parameter, public :: TAPP_DEFAULT_PREC = -1, TAPP_F32F32_ACCUM_F32 = 0, TAPP_F64F64_ACCUM_F64 = 1, &
        TAPP_F16F16_ACCUM_F16 = 4, TAPP_F16F16_ACCUM_F32 = 5, TAPP_BF16BF16_ACCUM_F32 = 6
    integer(c_int), parameter, public :: TAPP_IDENTITY = 0, TAPP_CONJUGATE = 1
    type(c_ptr), parameter, public :: TAPP_IN_PLACE = c_null_ptr

    interface
        logical(c_bool) function TAPP_check_success(error) bind(C, name='TAPP_check_success')
            import :: c_bool, c_int
            integer(c_int), value :: error
        end function
        integer(c_size_t) function TAPP_explain_error(error, maxlen, message) bind(C, name='TAPP_explain_error')
            import :: c_char, c_int, c_size_t
            integer(c_int), value :: error
            integer(c_size_t), value :: maxlen
            character(kind=c_char), intent(inout), optional :: message(*)
        end function
        integer(c_int) function TAPP_create_handle(handle) bind(C, name='TAPP_create_handle')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), intent(out) :: handle
        end function
        integer(c_int) function TAPP_destroy_handle(handle) bind(C, name='TAPP_destroy_handle')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: handle
        end function
        integer(c_int) function TAPP_create_executor(exec) bind(C, name='TAPP_create_executor')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), intent(out) :: exec
        end function
        integer(c_int) function TAPP_destroy_executor(exec) bind(C, name='TAPP_destroy_executor')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: exec
        end function
        integer(c_int) function TAPP_destroy_status(status) bind(C, name='TAPP_destroy_status')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: status
        end function
        integer(c_int) function TAPP_attr_set(attr, key, value) bind(C, name='TAPP_attr_set')
            import :: c_int, c_intptr_t, c_ptr
            integer(c_intptr_t), value :: attr
            integer(c_int), value :: key
            type(c_ptr), value :: value
        end function
        integer(c_int) function TAPP_attr_get(attr, key, value) bind(C, name='TAPP_attr_get')
            import :: c_int, c_intptr_t, c_ptr
            integer(c_intptr_t), value :: attr
            integer(c_int), value :: key
            type(c_ptr), intent(out) :: value
        end function
        integer(c_int) function TAPP_attr_clear(attr, key) bind(C, name='TAPP_attr_clear')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: attr
            integer(c_int), value :: key
        end function
        integer(c_int) function TAPP_create_tensor_info(info, type, nmode, extents, strides) bind(C, name='TAPP_create_tensor_info')
            import :: c_int, c_int64_t, c_intptr_t
            integer(c_intptr_t), intent(out) :: info
            integer(c_int), value :: type, nmode
            integer(c_int64_t), intent(in) :: extents(*), strides(*)
        end function
        integer(c_int) function TAPP_destroy_tensor_info(info) bind(C, name='TAPP_destroy_tensor_info')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: info
        end function
        integer(c_int) function TAPP_get_nmodes(info) bind(C, name='TAPP_get_nmodes')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: info
        end function
        integer(c_int) function TAPP_set_nmodes(info, nmodes) bind(C, name='TAPP_set_nmodes')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: info
            integer(c_int), value :: nmodes
        end function
        subroutine TAPP_get_extents(info, extents) bind(C, name='TAPP_get_extents')
            import :: c_int64_t, c_intptr_t
            integer(c_intptr_t), value :: info
            integer(c_int64_t), intent(inout) :: extents(*)
        end subroutine
        integer(c_int) function TAPP_set_extents(info, extents) bind(C, name='TAPP_set_extents')
            import :: c_int, c_int64_t, c_intptr_t
            integer(c_intptr_t), value :: info
            integer(c_int64_t), intent(in) :: extents(*)
        end function
        subroutine TAPP_get_strides(info, strides) bind(C, name='TAPP_get_strides')
            import :: c_int64_t, c_intptr_t
            integer(c_intptr_t), value :: info
            integer(c_int64_t), intent(inout) :: strides(*)
        end subroutine
        integer(c_int) function TAPP_set_strides(info, strides) bind(C, name='TAPP_set_strides')
            import :: c_int, c_int64_t, c_intptr_t
            integer(c_intptr_t), value :: info
            integer(c_int64_t), intent(in) :: strides(*)
        end function
        integer(c_int) function TAPP_create_tensor_product(plan, handle, op_A, A, idx_A, op_B, B, idx_B, op_C, C, idx_C, &
                op_D, D, idx_D, prec) bind(C, name='TAPP_create_tensor_product')
            import :: c_int, c_int64_t, c_intptr_t
            integer(c_intptr_t), intent(out) :: plan
            integer(c_intptr_t), value :: handle, A, B, C, D
            integer(c_int), value :: op_A, op_B, op_C, op_D, prec
            integer(c_int64_t), intent(in) :: idx_A(*), idx_B(*), idx_C(*), idx_D(*)
        end function
        integer(c_int) function TAPP_destroy_tensor_product(plan) bind(C, name='TAPP_destroy_tensor_product')
            import :: c_int, c_intptr_t
            integer(c_intptr_t), value :: plan
        end function
        integer(c_int) function TAPP_execute_product(plan, exec, status, alpha, A, B, beta, C, D) &
                bind(C, name='TAPP_execute_product')
            import :: c_int, c_intptr_t, c_ptr
            integer(c_intptr_t), value :: plan, exec
            integer(c_intptr_t), intent(out), optional :: status
            type(c_ptr), value :: alpha, A, B, beta, C, D
        end function
        integer(c_int) function TAPP_execute_batched_product(plan, exec, status, num_batches, alpha, A, B, beta, C, D) &
                bind(C, name='TAPP_execute_batched_product')
            import :: c_int, c_intptr_t, c_ptr
            integer(c_intptr_t), value :: plan, exec
            integer(c_intptr_t), intent(out), optional :: status
            integer(c_int), value :: num_batches
            type(c_ptr), value :: alpha, beta
            type(c_ptr), intent(in) :: A(*), B(*), D(*)
            type(c_ptr), intent(in), optional :: C(*)  ! absent: in place
        end function
    end interface

end module tapp
