/// Arguments of public calls: models, for CollectiveCall, as far as every rank knows them; and whether the memory that a call takes is
/// there.
#pragma once

#include "arges/cpd.hpp"
#include "arges/tucker.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"

#include <cstdint>
#include <string>

namespace arges {

/// A model, or none.
template <class Model>
struct ModelArgument {
    explicit ModelArgument(const Model* one) : model(one) {}
    const Model* model;
};
template <class T>
void add_to(Digest& digest, const ModelArgument<CpModel<T>>& argument) {
    digest.add(argument.model != nullptr);
    if (argument.model != nullptr) digest.add(argument.model->lengths()).add(argument.model->lambda());
}
template <class T>
void add_to(Digest& digest, const ModelArgument<TuckerModel<T>>& argument) {
    digest.add(argument.model != nullptr);
    if (argument.model != nullptr) digest.add(argument.model->lengths()).add(argument.model->core());
}

}  // namespace arges

namespace arges::decompose {

/// @throws OutOfMemory on every rank if a forecast, of which the tensor is a part, is over what the memory limit leaves. Collective.
/// @param held by the tensor now, on the rank that has most
/// @param cures for the message: what takes less memory, by commas
void check_forecast(const WorldState& world, const std::string& title, std::int64_t forecast, std::int64_t held,
                    const std::string& cures = "use more ranks, fewer components");

}  // namespace arges::decompose
