#include "chemistry/cc_checkpoint.hpp"

#include "arges/checkpoint.hpp"

#include <cmath>
#include <cstdio>

namespace arges::chemistry {

namespace {

std::string extents_text(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (std::int64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

std::string energy_text(double energy) {
    char text[40] = {};
    std::snprintf(text, sizeof text, "%.8f", energy);
    return text;
}

}  // namespace

AmplitudeFile::AmplitudeFile(CheckpointOptions options, std::string method, bool spatial,
                             const Reference& reference)
    : options_(std::move(options)), method_(std::move(method)),
      orbitals_(spatial ? "spatial" : "spin"), reference_energy_(reference.energy) {}

void AmplitudeFile::load(TensorSet& amplitudes) const {
    const World world = amplitudes.members().front().world();
    if (options_.path.empty() || world.is_dry_run()) return;
    CheckpointWriter(world,
                     options_.path);  // so that a wrong path is an error now, not after hours
    if (!options_.restart) return;
    const CheckpointReader file(world, options_.path);
    const std::string cure =
        "; restart with the input that the file was written for, or leave out --restart";
    for (const char* name : {"method", "orbitals", "reference_energy"})
        if (!file.has_value(name))
            throw InvalidArgument(options_.path + ": has no value '" + name +
                                  "', so it is not a checkpoint of coupled-cluster amplitudes" +
                                  cure);
    if (file.value<std::string>("orbitals") != orbitals_)
        throw InvalidArgument(options_.path + ": has amplitudes of " +
                              file.value<std::string>("method") + " over " +
                              file.value<std::string>("orbitals") + " orbitals, but " + method_ +
                              " is over " + orbitals_ + " orbitals" + cure);
    const double energy = file.value<double>("reference_energy");
    if (!(std::abs(energy - reference_energy_) <= 1e-7))
        throw InvalidArgument(options_.path + ": was written for a reference of " +
                              energy_text(energy) + " hartree, this one has " +
                              energy_text(reference_energy_) +
                              ": another molecule or other orbitals" + cure);
    for (Tensor<double>& member : amplitudes.members()) {
        if (!file.has_tensor(member.name())) continue;
        const CheckpointTensor& saved = file.tensor(member.name());
        if (saved.extents != member.extents())
            throw InvalidArgument(options_.path + ": " + member.name() + " is " +
                                  extents_text(saved.extents) + ", this calculation has " +
                                  extents_text(member.extents()) + cure);
        file.read_into(member.name(), member);
    }
}

bool AmplitudeFile::save(const TensorSet& amplitudes, const IterationReport& report,
                         bool last) const {
    const World world = amplitudes.members().front().world();
    if (options_.path.empty() || world.is_dry_run()) return false;
    if (!last && report.iteration % options_.interval != 0) return false;
    CheckpointWriter file(world, options_.path);
    for (const Tensor<double>& member : amplitudes.members()) file.add(member.name(), member);
    file.set("method", method_);
    file.set("orbitals", orbitals_);
    file.set("reference_energy", reference_energy_);
    file.set("iteration", static_cast<std::int64_t>(report.iteration));
    file.set("energy", report.energy);
    file.commit();
    return true;
}

}  // namespace arges::chemistry
