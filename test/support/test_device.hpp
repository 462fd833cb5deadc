/// A device for tests: memory that faults wherever the host touches it.
#pragma once

namespace arges::test {

/// Tensors of float, double and the complex types are made in a memory that can be read and written only while a kernel of their table
/// runs: the kernels of devices (src/device), in loops on the host. Whatever else touches an element, MPI included, ends the process.
/// Local.
void use_test_device();
/// Tensors that are made from now on lie on the host again. Local.
void use_host();

}  // namespace arges::test
