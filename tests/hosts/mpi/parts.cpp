// What the adapter for MPI is made of, one by one: which message is which, and where the elements of a datatype lie.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <nanlens/hosts/mpi/layout.hpp>
#include <nanlens/hosts/mpi/messages.hpp>
#include <nanlens/hosts/mpi/readable.hpp>

namespace {

using nanlens::Shape;
using nanlens::TensorView;
using nanlens::mpi_host::Messages;

void check(bool right, const char* what, int line) {
  if (right) return;
  std::fprintf(stderr, "line %d: %s\n", line, what);
  std::exit(1);
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__, __LINE__)

void sends_are_numbered_by_receiver_and_tag() {
  Messages messages;
  CHECK(messages.begin_send(1, 5, 7) == 1);
  messages.end_send(1, 5);
  CHECK(messages.begin_send(1, 6, 7) == 1);
  CHECK(messages.begin_send(2, 5, 8) == 1);
  CHECK(messages.begin_send(1, 5, 8) == 2);  // the thread before is done
  CHECK(messages.begin_send(1, 5, 7) == 0);  // two at once: MPI chooses
  messages.end_send(1, 5);
  messages.end_send(1, 5);
  CHECK(messages.begin_send(1, 5, 7) == 0);
  CHECK(messages.begin_send(1, 6, 7) == 2);
}

void receives_are_numbered_as_posted() {
  Messages messages;
  const auto first = messages.post(1, 5, 7);
  const auto second = messages.post(1, 5, 7);
  const auto other = messages.post(2, 5, 7);
  CHECK(messages.complete(second, 1, 5) == 2);
  CHECK(messages.complete(other, 2, 5) == 1);
  CHECK(messages.complete(first, 1, 5) == 1);
  CHECK(messages.complete(messages.post(1, 5, 7), 1, 5) == 3);
}

void with_too_many_kinds_nothing_is_certain() {
  Messages messages;
  const int most = Messages::most_kinds;
  const auto pending = messages.post(1, 5, 7);
  for (int tag = 0; tag < most; ++tag) {
    CHECK(messages.begin_send(1, tag, 7) == 1);
    messages.end_send(1, tag);
  }
  CHECK(messages.begin_send(1, 0, 7) == 2);
  CHECK(messages.begin_send(1, most, 7) == 0);
  messages.end_send(1, most);
  CHECK(messages.begin_send(1, 0, 7) == 0);
  CHECK(messages.complete(pending, 1, 5) == 0);
  CHECK(messages.complete(messages.post(1, 5, 7), 1, 5) == 0);
}

void receives_from_anyone_count_where_they_were_posted() {
  Messages messages;
  const auto any = messages.post(MPI_ANY_SOURCE, MPI_ANY_TAG, 7);
  const auto from_one = messages.post(1, 5, 7);
  const auto from_two = messages.post(2, 5, 7);
  CHECK(messages.complete(from_one, 1, 5) == 0);  // the first one of rank 1, or the second
  CHECK(messages.complete(any, 1, 5) == 1);
  CHECK(messages.complete(from_two, 2, 5) == 1);
  CHECK(messages.complete(messages.post(1, MPI_ANY_TAG, 7), 1, 5) == 3);
  CHECK(messages.complete(messages.post(MPI_ANY_SOURCE, 5, 7), 2, 5) == 2);
}

void threads_that_receive_the_same_lose_the_order() {
  Messages messages;
  const auto one = messages.post(1, 5, 7);
  const auto apart = messages.post(1, 6, 8);
  CHECK(messages.complete(apart, 1, 6) == 1);
  const auto two = messages.post(MPI_ANY_SOURCE, 5, 8);
  CHECK(messages.complete(one, 1, 5) == 0);
  CHECK(messages.complete(two, 1, 5) == 0);
}

// The elements that a view leads to.
std::vector<double> elements(const TensorView& view) {
  std::vector<double> found;
  const Shape strides = nanlens::strides_of(view);
  std::vector<std::int64_t> index(view.shape.size());
  for (std::int64_t n = nanlens::num_elements(view.shape); n > 0; --n) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    found.push_back(static_cast<const double*>(view.data)[at]);
    for (std::size_t d = index.size(); d-- > 0; index[d] = 0)
      if (++index[d] < view.shape[d]) break;
  }
  return found;
}

// As MPI itself packs them.
void check_type(MPI_Datatype type, int count, std::size_t expected_rank, int line) {
  std::vector<double> buffer(200);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<double>(i);
  MPI_Type_commit(&type);
  std::vector<double> packed(buffer.size());
  int bytes = 0;
  MPI_Pack(buffer.data(), count, type, packed.data(), static_cast<int>(packed.size() * sizeof(double)), &bytes,
           MPI_COMM_SELF);
  packed.resize(static_cast<std::size_t>(bytes) / sizeof(double));
  TensorView view;
  check(nanlens::mpi_host::view_of_buffer(buffer.data(), count, nanlens::mpi_host::known_layout(type), view),
        "it can be looked at", line);
  check(elements(view) == packed, "the elements are those that MPI packs", line);
  check(view.shape.size() == expected_rank, "no more dimensions than needed", line);
  MPI_Type_free(&type);
}
#define CHECK_TYPE(type, count, rank) check_type(type, count, rank, __LINE__)

void derived_types_are_looked_at_as_they_lie() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(5, MPI_DOUBLE, &type);
  CHECK_TYPE(type, 3, 1);
  MPI_Type_vector(4, 2, 5, MPI_DOUBLE, &type);
  CHECK_TYPE(type, 1, 2);
  MPI_Type_vector(4, 2, 5, MPI_DOUBLE, &type);
  CHECK_TYPE(type, 3, 3);
  MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &inner);
  MPI_Type_create_resized(inner, 0, sizeof(double), &type);
  MPI_Type_free(&inner);
  CHECK_TYPE(type, 3, 2);
  MPI_Type_create_hvector(3, 2, 56, MPI_DOUBLE, &type);
  CHECK_TYPE(type, 2, 3);
  const int sizes[] = {5, 6, 4};
  const int part[] = {2, 3, 4};
  const int starts[] = {1, 2, 0};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    MPI_Type_create_subarray(3, sizes, part, starts, order, MPI_DOUBLE, &type);
    CHECK_TYPE(type, 1, order == MPI_ORDER_C ? 2 : 3);
  }
  MPI_Type_dup(MPI_DOUBLE, &type);
  CHECK_TYPE(type, 7, 1);
}

void what_is_not_understood_is_not_looked_at() {
  TensorView view;
  double x = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const auto looked_at = [&](MPI_Datatype t) {
    return nanlens::mpi_host::view_of_buffer(&x, 1, nanlens::mpi_host::known_layout(t), view);
  };
  CHECK(!looked_at(MPI_INT) && !looked_at(MPI_BYTE) && !looked_at(MPI_DATATYPE_NULL) && !looked_at(MPI_DOUBLE_INT));
  const int count = 1;
  const int place = 3;
  MPI_Type_indexed(1, &count, &place, MPI_DOUBLE, &type);
  CHECK(!looked_at(type));
  MPI_Type_free(&type);
  MPI_Type_create_hvector(2, 1, 12, MPI_DOUBLE, &type);  // not a multiple of an element
  CHECK(!looked_at(type));
  MPI_Type_free(&type);
}

void memory_that_cannot_be_read_is_left_alone() {
  const double x = 1;
  void* const closed = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(nanlens::detail::can_read(reinterpret_cast<std::uintptr_t>(&x)));
  CHECK(!nanlens::detail::can_read(reinterpret_cast<std::uintptr_t>(closed)));
  const TensorView view = nanlens::dense_view(closed, nanlens::DType::float64, Shape{4});
  CHECK(nanlens::mpi_host::is_here(view));  // nobody is asked where nothing has such memory
  CHECK(::dlopen(FAKE_CUDA, RTLD_NOW) != nullptr);
  CHECK(!nanlens::mpi_host::is_here(view));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sends_are_numbered_by_receiver_and_tag();
  receives_are_numbered_as_posted();
  with_too_many_kinds_nothing_is_certain();
  receives_from_anyone_count_where_they_were_posted();
  threads_that_receive_the_same_lose_the_order();
  derived_types_are_looked_at_as_they_lie();
  what_is_not_understood_is_not_looked_at();
  memory_that_cannot_be_read_is_left_alone();
  return MPI_Finalize();
}
