!> Arges from Fortran: distributed tensors with symmetry, statements, einsum, plans, linear algebra, files. Link with
!> -larges_fortran -larges (pkg-config: arges-fortran). Types and procedures are described in the modules of which this one is
!> made.
module arges
    use arges_errors, only: arges_ok, arges_invalid_argument, arges_out_of_memory, arges_unsupported, arges_mpi_error, arges_error
    use arges_errors, only: arges_float32, arges_float64, arges_complex64, arges_complex128, arges_int16, arges_int32, &
        arges_int64, arges_bool
    use arges_errors, only: arges_as_it_is, arges_antisymmetrized, arges_symmetrized, arges_canonical
    use arges_errors, only: arges_refuse, arges_sum, arges_keep_first
    use arges_tensors, only: arges_world, arges_tensor
    use arges_statements
    use arges_matrices
    use arges_files
    implicit none
    public
end module arges
