#include "arges/chemistry/cc_checkpoint.hpp"

#include "arges/checkpoint.hpp"
#include "base/text.hpp"
#include "comm/values.hpp"
#include "interface/world/world_state.hpp"

#include <cmath>
#include <filesystem>

namespace arges::chemistry {

namespace {

/// What a file says of its indices.
const std::string spin_order = "virtual, then occupied indices; each counts all alpha spin orbitals, then all beta ones, of a spin in the "
                               "order of the integrals";
const std::string spatial_order = "virtual, then occupied indices; each counts spatial orbitals in the order of the integrals";

/// Is there such a file? Collective: as rank 0 sees it.
bool is_there(const World& world, const std::string& path) {
    std::error_code error;
    return from_first_rank(world.state()->communicator(), [&] { return std::filesystem::exists(path, error); });
}

World world_of(const TensorSet& amplitudes) {
    if (amplitudes.members().empty()) throw InvalidArgument("checkpoints: there are no amplitudes");
    return amplitudes.members().front().world();
}

}  // namespace

AmplitudeFile::AmplitudeFile(CheckpointOptions options, std::string method, bool spatial, const Reference& reference)
    : options_(std::move(options)), method_(std::move(method)), orbitals_(spatial ? "spatial" : "spin"),
      reference_energy_(reference.energy), counts_{{{"occupied_alpha", reference.spin[0].occupied},
                                                    {"occupied_beta", reference.spin[1].occupied},
                                                    {"virtual_alpha", reference.spin[0].virtuals},
                                                    {"virtual_beta", reference.spin[1].virtuals}}} {
    if (options_.interval < 1)
        throw InvalidArgument("checkpoints: an interval of " + std::to_string(options_.interval) + " iterations; it must be 1 or more");
}

void AmplitudeFile::load(TensorSet& amplitudes) const {
    const World world = world_of(amplitudes);
    if (options_.path.empty() || world.is_dry_run()) return;
    CheckpointWriter(world,
                     options_.path);  // so that a wrong path is an error now, not after hours
    if (!options_.restart || !is_there(world, options_.path)) return;
    const CheckpointReader file(world, options_.path);
    const std::string cure = "; restart with the input that the file was written for, or start without it";
    for (const char* name : {"method", "orbitals", "reference_energy"})
        if (!file.has_value(name))
            throw InvalidArgument(options_.path + ": has no value '" + name + "', so it is not a checkpoint of coupled-cluster amplitudes" +
                                  cure);
    if (file.value<std::string>("orbitals") != orbitals_)
        throw InvalidArgument(options_.path + ": has amplitudes of " + file.value<std::string>("method") + " over " +
                              file.value<std::string>("orbitals") + " orbitals, but " + method_ + " is over " + orbitals_ + " orbitals" +
                              cure);
    const double energy = file.value<double>("reference_energy");
    if (!(std::abs(energy - reference_energy_) <= 1e-7))
        throw InvalidArgument(options_.path + ": was written for a reference of " + printed("%.8f", energy) + " hartree, this one has " +
                              printed("%.8f", reference_energy_) + ": another molecule or other orbitals" + cure);
    for (const auto& [name, count] : counts_) {  // files of older versions have none
        if (file.has_value(name) && file.value<std::int64_t>(name) != count)
            throw InvalidArgument(options_.path + ": " + name + " is " + std::to_string(file.value<std::int64_t>(name)) +
                                  ", this calculation has " + std::to_string(count) + cure);
    }
    for (Tensor<double>& member : amplitudes.members()) {
        if (!file.has_tensor(member.name())) continue;
        const CheckpointTensor& saved = file.tensor(member.name());
        if (saved.extents != member.extents())
            throw InvalidArgument(options_.path + ": " + member.name() + " is " + joined(saved.extents, " x ") + ", this calculation has " +
                                  joined(member.extents(), " x ") + cure);
        file.read_into(member.name(), member);
    }
}

bool AmplitudeFile::save(const TensorSet& amplitudes, const IterationReport& report, bool last) const {
    const World world = world_of(amplitudes);
    if (options_.path.empty() || world.is_dry_run()) return false;
    if (!last && report.iteration % options_.interval != 0) return false;
    CheckpointWriter file(world, options_.path);
    for (const Tensor<double>& member : amplitudes.members()) file.add(member.name(), member);
    file.set("method", method_);
    file.set("orbitals", orbitals_);
    file.set("orbital_order", orbitals_ == "spin" ? spin_order : spatial_order);
    for (const auto& [name, count] : counts_) file.set(name, count);
    file.set("reference_energy", reference_energy_);
    file.set("iteration", report.iteration);
    file.set("energy", report.energy);
    file.commit();
    return true;
}

}  // namespace arges::chemistry
