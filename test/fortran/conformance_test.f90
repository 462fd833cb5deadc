!> TAPP's functions through the module tapp, against loops over all labels: random products with each property that TAPP's own test
!> program looks at, in all four types, and each other function once. ARGES_TAPP_COUNT: seeds of each property and type. Elements are
!> such that every result is exact.
program conformance_test
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_intptr_t, c_loc, c_null_ptr, c_associated, c_ptr, c_size_t
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
    use tapp
    implicit none

    integer, parameter :: most = 12
    character(3), parameter :: type_names(0:3) = ['F32', 'F64', 'C32', 'C64']

    !> Number of labels in A, B and D; in A and D; in B and D; in A and B; in A or B alone; of labels again in A or B; and what else.
    !> Below 4 it is the largest number.
    type :: property
        character(24) :: name
        integer :: batch = 0, left = 0, right = 0, summed = 0, alone = 0, repeats = 0
        logical :: gaps = .false., negative = .false., zero = .false., conjugates = .false., empty = .false., in_place = .false.
    end type

    type(property), parameter :: properties(*) = [ &
        property('Hadamard', batch=4), &
        property('contraction', left=2, right=2, summed=2), &
        property('outer product', left=2, right=2), &
        property('to a scalar', summed=4), &
        property('one operand a scalar', right=4), &
        property('vectors', left=1, right=2, summed=1), &
        property('parts of tensors', left=2, right=2, summed=2, gaps=.true.), &
        property('negative strides', left=2, right=2, summed=2, negative=.true.), &
        property('parts backwards', left=2, right=2, summed=2, negative=.true., gaps=.true.), &
        property('zero strides', batch=1, left=2, right=2, summed=2, zero=.true.), &
        property('isolated labels', left=2, right=2, summed=2, alone=2), &
        property('repeated labels', left=2, right=2, summed=2, alone=1, repeats=2), &
        property('Hadamard and free labels', batch=2, left=2, right=2), &
        property('Hadamard and contraction', batch=2, summed=2), &
        property('conjugates', batch=1, left=2, right=2, summed=2, conjugates=.true.), &
        property('no elements', batch=1, left=2, right=2, summed=2, empty=.true.), &
        property('in place', left=2, right=2, summed=2, in_place=.true.), &
        property('all of this', 1, 2, 2, 2, 1, 1, gaps=.true., negative=.true., conjugates=.true., empty=.true.)]

    !> An array of one of the types.
    type :: memory
        integer(c_int) :: type = TAPP_F64
        real(real32), allocatable :: f32(:)
        real(real64), allocatable :: f64(:)
        complex(real32), allocatable :: c32(:)
        complex(real64), allocatable :: c64(:)
    end type

    !> `values` is its memory in the widest type; the element with index 0 everywhere is values(start).
    type :: tensor
        integer :: modes = 0
        integer(c_int64_t) :: labels(most) = 0, extents(most) = 0, strides(most) = 0
        integer :: start = 1
        integer(c_int) :: op = TAPP_IDENTITY
        complex(real64), allocatable :: values(:)
        type(memory) :: elements
    end type

    integer(int64) :: state = 1
    integer :: seeds, products, failed, p, seed
    integer(c_int) :: element
    character(20) :: count

    call get_environment_variable('ARGES_TAPP_COUNT', count)
    seeds = 1000
    if (count /= '') read (count, *) seeds
    products = 0
    failed = 0
    do p = 1, size(properties)
        do element = TAPP_F32, TAPP_C64
            do seed = 1, seeds
                products = products + 1
                state = 1 + mod(seed * (seed + 100003_int64), 2147483646_int64)
                if (holds(properties(p), element, mod(seed, 8) == 0)) cycle
                failed = failed + 1
                write (error_unit, '(5a,i0)') 'failed: ', trim(properties(p)%name), ', ', type_names(element), ', seed ', seed
            end do
        end do
    end do
    call try_other_functions()
    write (*, '(3(a,i0),a)') 'conformance in Fortran: ', products, ' products of ', size(properties), &
        ' properties, ', failed, ' failed'
    if (failed > 0 .or. products == 0) error stop 1

contains

    !> A random number from 0 to n - 1.
    integer function below(n)
        integer, intent(in) :: n
        integer(int64), parameter :: modulus = 2147483647

        state = mod(state * 48271, modulus)
        below = int(state * n / modulus)
    end function

    !> A random number whose parts are integers from -largest to largest.
    complex(real64) function number(element, largest)
        integer(c_int), intent(in) :: element
        integer, intent(in) :: largest
        integer :: parts(2)

        parts(1) = below(2 * largest + 1) - largest
        parts(2) = 0
        if (element >= TAPP_C32) parts(2) = below(2 * largest + 1) - largest
        number = cmplx(parts(1), parts(2), real64)
    end function

    subroutine shuffle(list)
        integer(c_int64_t), intent(inout) :: list(:)
        integer(c_int64_t) :: kept
        integer :: i, j

        do i = size(list), 2, -1
            j = 1 + below(i)
            kept = list(i)
            list(i) = list(j)
            list(j) = kept
        end do
    end subroutine

    subroutine append(t, label)
        type(tensor), intent(inout) :: t
        integer, intent(in) :: label

        t%modes = t%modes + 1
        t%labels(t%modes) = label
    end subroutine

    !> New labels for all of the tensors.
    subroutine add_labels(labels, largest, first, second, third)
        integer, intent(inout) :: labels
        integer, intent(in) :: largest
        type(tensor), intent(inout) :: first
        type(tensor), intent(inout), optional :: second, third
        integer :: many, i

        many = largest
        if (many < 4) many = below(many + 1)
        do i = 1, many
            labels = labels + 1
            call append(first, labels)
            if (present(second)) call append(second, labels)
            if (present(third)) call append(third, labels)
        end do
    end subroutine

    subroutine repeat_label(t)
        type(tensor), intent(inout) :: t

        if (t%modes > 0) call append(t, int(t%labels(1 + below(t%modes))))
    end subroutine

    !> Large products are grown beyond the 768 multiplications up to which libarges.so lists all offsets.
    subroutine choose_extents(extents, empty, large)
        integer, intent(out) :: extents(:)
        logical, intent(in) :: empty, large
        integer :: i, l

        do l = 1, size(extents)
            if (empty) then
                extents(l) = below(4)
            else
                extents(l) = 1 + below(3)
            end if
        end do
        if (.not. large .or. size(extents) == 0) return
        do i = 1, 60
            l = 1 + below(size(extents))
            if (extents(l) < 9 .and. product(extents) <= 768) extents(l) = extents(l) + 1
        end do
    end subroutine

    !> Dimensions lie in any order, with gaps, backwards, or repeat one element; two elements on each side belong to no index.
    subroutine lay_out(t, extents, p, zero, element)
        type(tensor), intent(inout) :: t
        integer, intent(in) :: extents(:)
        type(property), intent(in) :: p
        logical, intent(in) :: zero
        integer(c_int), intent(in) :: element
        integer(c_int64_t) :: order(most)
        integer :: i, mode, steps, stride, dense, first, last

        order = [(int(i, c_int64_t), i=1, most)]
        call shuffle(order(:t%modes))
        dense = 1
        first = 0
        last = 0
        do i = 1, t%modes
            mode = int(order(i))
            t%extents(mode) = extents(t%labels(mode))
            steps = max(int(t%extents(mode)) - 1, 0)
            stride = dense
            if (p%gaps) stride = dense * (1 + below(2))
            dense = stride * (steps + 1)
            if (p%gaps) dense = dense + below(3)
            if (p%negative) stride = stride * (1 - 2 * below(2))
            if (zero) then
                if (below(3) == 0) stride = 0
            end if
            t%strides(mode) = stride
            first = first + min(steps * stride, 0)
            last = last + max(steps * stride, 0)
        end do
        t%start = 3 - first
        allocate (t%values(last - first + 5))
        do i = 1, size(t%values)
            t%values(i) = number(element, 8) / 8
        end do
        if (p%conjugates) t%op = below(2)
        call store(t%elements, element, t%values)
    end subroutine

    subroutine store(m, element, values)
        type(memory), intent(inout) :: m
        integer(c_int), intent(in) :: element
        complex(real64), intent(in) :: values(:)

        m%type = element
        select case (element)
        case (TAPP_F32)
            m%f32 = real(values, real32)
        case (TAPP_F64)
            m%f64 = real(values, real64)
        case (TAPP_C32)
            m%c32 = cmplx(values, kind=real32)
        case default
            m%c64 = values
        end select
    end subroutine

    function stored(m) result(values)
        type(memory), intent(in) :: m
        complex(real64), allocatable :: values(:)

        select case (m%type)
        case (TAPP_F32)
            values = cmplx(m%f32, kind=real64)
        case (TAPP_F64)
            values = cmplx(m%f64, kind=real64)
        case (TAPP_C32)
            values = cmplx(m%c32, kind=real64)
        case default
            values = m%c64
        end select
    end function

    type(c_ptr) function address(m, i)
        type(memory), intent(in), target :: m
        integer, intent(in) :: i

        select case (m%type)
        case (TAPP_F32)
            address = c_loc(m%f32(i))
        case (TAPP_F64)
            address = c_loc(m%f64(i))
        case (TAPP_C32)
            address = c_loc(m%c32(i))
        case default
            address = c_loc(m%c64(i))
        end select
    end function

    !> Where a tensor has the entry of all labels.
    integer function place(t, index)
        type(tensor), intent(in) :: t
        integer, intent(in) :: index(:)
        integer :: i

        place = t%start
        do i = 1, t%modes
            place = place + int(t%strides(i)) * index(t%labels(i))
        end do
    end function

    complex(real64) function with_op(value, op)
        complex(real64), intent(in) :: value
        integer(c_int), intent(in) :: op

        with_op = value
        if (op == TAPP_CONJUGATE) with_op = conjg(value)
    end function

    subroutine next(index, extents)
        integer, intent(inout) :: index(:)
        integer, intent(in) :: extents(:)
        integer :: l

        do l = 1, size(index)
            index(l) = index(l) + 1
            if (index(l) < extents(l)) return
            index(l) = 0
        end do
    end subroutine

    !> Writes the elements of D after the product into what its memory was; the first n labels are those of D.
    subroutine by_loops(a, b, old, op_old, d, alpha, beta, extents, n, expected)
        type(tensor), intent(in) :: a, b, old, d
        integer(c_int), intent(in) :: op_old
        complex(real64), intent(in) :: alpha, beta
        integer, intent(in) :: extents(:), n
        complex(real64), intent(inout) :: expected(:)
        complex(real64) :: total
        integer :: index(size(extents)), i, k

        index = 0
        do i = 1, product(extents(:n))
            total = 0
            do k = 1, product(extents(n + 1:))
                total = total + with_op(a%values(place(a, index)), a%op) * with_op(b%values(place(b, index)), b%op)
                call next(index(n + 1:), extents(n + 1:))
            end do
            total = alpha * total + beta * with_op(old%values(place(old, index)), op_old)
            expected(place(d, index)) = with_op(total, d%op)
            call next(index(:n), extents(:n))
        end do
    end subroutine

    !> Is a random product what it should be, and nothing beside it changed?
    logical function holds(p, element, large)
        type(property), intent(in) :: p
        integer(c_int), intent(in) :: element
        logical, intent(in) :: large
        type(tensor) :: a, b, c, d
        integer :: labels, n, i
        integer, allocatable :: extents(:)
        complex(real64) :: alpha, beta
        complex(real64), allocatable :: expected(:)

        labels = 0
        call add_labels(labels, p%batch, a, b, d)
        call add_labels(labels, p%left, a, d)
        call add_labels(labels, p%right, b, d)
        n = labels
        call add_labels(labels, p%summed, a, b)
        call add_labels(labels, p%alone, a)
        call add_labels(labels, p%alone, b)
        do i = 1, p%repeats
            call repeat_label(a)
            call repeat_label(b)
        end do
        call shuffle(a%labels(:a%modes))
        call shuffle(b%labels(:b%modes))
        call shuffle(d%labels(:d%modes))
        c%modes = d%modes
        c%labels = d%labels
        allocate (extents(labels))
        call choose_extents(extents, p%empty, large)
        call lay_out(a, extents, p, p%zero, element)
        call lay_out(b, extents, p, p%zero, element)
        call lay_out(c, extents, p, .false., element)
        call lay_out(d, extents, p, .false., element)
        alpha = number(element, 2)
        beta = number(element, 2)
        allocate (expected, source=d%values)
        if (p%in_place) then
            call by_loops(a, b, d, c%op, d, alpha, beta, extents, n, expected)
        else
            call by_loops(a, b, c, c%op, d, alpha, beta, extents, n, expected)
        end if
        holds = executed(a, b, c, d, alpha, beta, p%in_place)
        if (holds) holds = all(stored(d%elements) == expected)
    end function

    !> Calls TAPP, which changes the elements of d. Did all calls succeed?
    logical function executed(a, b, c, d, alpha, beta, in_place)
        type(tensor), intent(in), target :: a, b, c
        type(tensor), intent(inout), target :: d
        complex(real64), intent(in) :: alpha, beta
        logical, intent(in) :: in_place
        type(memory), target :: factor, factor_old
        integer(c_intptr_t) :: handle, executor, info_a, info_b, info_c, info_d, plan, status
        type(c_ptr) :: old

        executed = .true.
        call store(factor, d%elements%type, [alpha])
        call store(factor_old, d%elements%type, [beta])
        call note(executed, TAPP_create_handle(handle))
        call note(executed, TAPP_create_executor(executor))
        call describe(executed, a, info_a)
        call describe(executed, b, info_b)
        if (in_place) then
            old = TAPP_IN_PLACE
            call describe(executed, d, info_c)
        else
            old = address(c%elements, c%start)
            call describe(executed, c, info_c)
        end if
        call describe(executed, d, info_d)
        call note(executed, TAPP_create_tensor_product(plan, handle, a%op, info_a, a%labels, b%op, info_b, b%labels, &
                                                       c%op, info_c, d%labels, d%op, info_d, d%labels, TAPP_DEFAULT_PREC))
        call note(executed, TAPP_execute_product(plan, executor, status, &
                                                 address(factor, 1), address(a%elements, a%start), &
                                                 address(b%elements, b%start), &
                                                 address(factor_old, 1), old, address(d%elements, d%start)))
        call note(executed, TAPP_destroy_status(status))
        call note(executed, TAPP_destroy_tensor_product(plan))
        call note(executed, TAPP_destroy_tensor_info(info_a))
        call note(executed, TAPP_destroy_tensor_info(info_b))
        call note(executed, TAPP_destroy_tensor_info(info_c))
        call note(executed, TAPP_destroy_tensor_info(info_d))
        call note(executed, TAPP_destroy_executor(executor))
        call note(executed, TAPP_destroy_handle(handle))
    end function

    subroutine describe(succeeded, t, info)
        logical, intent(inout) :: succeeded
        type(tensor), intent(in) :: t
        integer(c_intptr_t), intent(out) :: info

        call note(succeeded, TAPP_create_tensor_info(info, t%elements%type, t%modes, t%extents, t%strides))
    end subroutine

    !> Prints an error.
    subroutine note(succeeded, error)
        logical, intent(inout) :: succeeded
        integer(c_int), intent(in) :: error

        if (TAPP_check_success(error)) return
        succeeded = .false.
        write (error_unit, '(a)') explanation(error)
    end subroutine

    function explanation(error) result(text)
        integer(c_int), intent(in) :: error
        character(:, kind=c_char), allocatable :: text
        character(kind=c_char) :: letters(200)
        integer :: i

        allocate (character(TAPP_explain_error(error, 0_c_size_t)) :: text)
        if (TAPP_explain_error(error, int(size(letters), c_size_t), letters) /= len(text)) error stop 'TAPP_explain_error'
        do i = 1, len(text)
            text(i:i) = letters(i)
        end do
    end function

    !> What random products do not call.
    subroutine try_other_functions()
        integer(c_intptr_t) :: matrix, executor, plan
        integer(c_int64_t) :: extents(2), strides(2)
        type(c_ptr) :: attribute, first(2), second(2)
        real(real64), target :: a(2, 3, 2), d(2, 3, 2), one = 1, two = 2
        logical :: succeeded
        integer :: i

        succeeded = .true.
        call note(succeeded, TAPP_create_tensor_info(matrix, TAPP_DOUBLE, 1, [5_c_int64_t], [7_c_int64_t]))
        call note(succeeded, TAPP_set_nmodes(matrix, 2))
        call note(succeeded, TAPP_set_extents(matrix, [2_c_int64_t, 3_c_int64_t]))
        call note(succeeded, TAPP_set_strides(matrix, [1_c_int64_t, 2_c_int64_t]))
        call TAPP_get_extents(matrix, extents)
        call TAPP_get_strides(matrix, strides)
        if (TAPP_get_nmodes(matrix) /= 2 .or. any(extents /= [2, 3]) .or. any(strides /= [1, 2])) error stop 'a description'
        if (TAPP_check_success(TAPP_attr_set(matrix, 1, c_null_ptr))) error stop 'an attribute was set'
        if (TAPP_check_success(TAPP_attr_get(matrix, 1, attribute)) .or. c_associated(attribute)) error stop 'an attribute'
        if (TAPP_check_success(TAPP_attr_clear(matrix, 1))) error stop 'an attribute was cleared'

        a = reshape([(real(i, real64), i=1, 12)], shape(a))
        first = [c_loc(a(1, 1, 1)), c_loc(a(1, 1, 2))]
        second = [c_loc(d(1, 1, 1)), c_loc(d(1, 1, 2))]
        call note(succeeded, TAPP_create_executor(executor))
        call note(succeeded, TAPP_create_tensor_product(plan, 0_c_intptr_t, TAPP_IDENTITY, matrix, extents, TAPP_IDENTITY, matrix, &
                                                        extents, TAPP_IDENTITY, matrix, extents, TAPP_IDENTITY, matrix, extents, &
                                                        TAPP_F64F64_ACCUM_F64))
        d = 0
        call note(succeeded, TAPP_execute_batched_product(plan, executor, num_batches=2, alpha=c_loc(two), A=first, B=first, &
                                                          beta=c_loc(one), C=first, D=second))
        if (any(d /= 2 * a**2 + a)) error stop 'a batched product'
        call note(succeeded, TAPP_execute_batched_product(plan, executor, num_batches=2, alpha=c_loc(one), A=first, B=first, &
                                                          beta=c_loc(two), D=second))
        if (any(d /= 5 * a**2 + 2 * a)) error stop 'a batched product in place'
        call note(succeeded, TAPP_destroy_tensor_product(plan))
        call note(succeeded, TAPP_destroy_executor(executor))
        call note(succeeded, TAPP_destroy_tensor_info(matrix))
        if (.not. succeeded) error stop 1
    end subroutine

end program conformance_test
