/// Arguments of public calls: models, for CollectiveCall, as far as every rank knows them.
#pragma once

#include "arges/cpd.hpp"
#include "arges/tucker.hpp"
#include "interface/world/call_arguments.hpp"

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
