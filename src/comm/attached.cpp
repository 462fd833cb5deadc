// Attributes of communicators: MPI calls a function of ours when it frees one. MPI_COMM_WORLD is never freed; MPI_Finalize frees what is
// attached to MPI_COMM_SELF first, and with it all objects.
#include "comm/attached.hpp"

#include "arges/error.hpp"

#include <list>
#include <utility>
#include <vector>

namespace arges {

namespace {

using Objects = std::list<std::shared_ptr<void>>;

Objects& objects() {
    static Objects all;
    return all;
}

std::vector<std::function<void()>>& last_works() {
    static std::vector<std::function<void()>> works;
    return works;
}

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
    const auto place = static_cast<Objects::iterator*>(value);
    objects().erase(*place);
    delete place;
    return MPI_SUCCESS;
}

int forget_all(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
    for (const auto& work : last_works()) work();
    for (auto& object : objects()) object.reset();
    return MPI_SUCCESS;
}

int new_key(MPI_Comm_delete_attr_function* forgets) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forgets, &key, nullptr);
    return key;
}

void watch_end() {
    static const bool watched = [] {
        MPI_Comm_set_attr(MPI_COMM_SELF, new_key(forget_all), nullptr);
        return true;
    }();
    (void)watched;
}

}  // namespace

void at_end_of_mpi(std::function<void()> work) {
    watch_end();
    last_works().push_back(std::move(work));
}

std::shared_ptr<void> attached(MPI_Comm comm, const std::function<std::shared_ptr<void>()>& make) {
    static const int key = new_key(forget);
    watch_end();
    void* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm, key, static_cast<void*>(&value), &found);
    if (found != 0) return **static_cast<Objects::iterator*>(value);
    objects().push_back(make());
    auto place = std::make_unique<Objects::iterator>(std::prev(objects().end()));
    MPI_Comm_set_attr(comm, key, place.release());
    return objects().back();
}

void size_and_rank(MPI_Comm comm, int& size, int& rank) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0) throw InvalidArgument("a world before MPI_Init; call MPI_Init first");
    if (comm == MPI_COMM_NULL) throw InvalidArgument("a world of MPI_COMM_NULL; give a communicator that this rank is in");
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
}

}  // namespace arges
