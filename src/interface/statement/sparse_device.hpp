/// Whether statements with sparse tensors are computed on a device.
#pragma once

#include "interface/statement/sparse_terms.hpp"

#include <vector>

namespace arges {

/// A step that a device has no room for, on any rank: nothing has changed, and the statement is computed on the host.
struct NotOnDevice {};

/// The table of the device on which a statement ends first, with the copies that it takes there and on the host, if that can compute it:
/// each term has one sparse factor or none, and dense results lie there. Null: the host. The same on all ranks. Local.
const ElementKernels* fastest_device(const StatementArguments& statement, const std::vector<SparseTerm>& terms);

}  // namespace arges
