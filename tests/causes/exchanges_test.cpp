// What ranks exchange, on paper: joined by what it is, whatever their clocks say and in whatever order it is read; and
// nobody is blamed for what is not on record.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/finish.hpp"
#include "../support/rank_on_paper.hpp"

using namespace nanlens;
using test::RankOnPaper;

namespace {

struct Finding {
  std::string text;
  std::string consequence;
  causes::EventClass event_class;
  std::size_t causes;
  std::int32_t rank;
};

Finding finding_of(causes::Causes& causes) {
  test::finish(causes);
  causes::SentenceWriter writer(causes);
  const std::uint32_t root = writer.groups().headline();
  REQUIRE(root != causes::none);
  const auto s = writer.sentence(root);
  const causes::Root& r = causes.roots()[root];
  return {s.text, s.consequence, r.event_class, writer.groups().list().size(),
          causes.run().rank_of_set(causes.model().set_of(r.event))};
}

Finding finding_of(const std::vector<std::pair<const RankOnPaper*, std::string>>& ranks) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  for (const auto& [rank, host] : ranks) rank->store(*storage, host);
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  causes::Causes causes(*logdir.runs().front());
  return finding_of(causes);
}

}  // namespace

TEST_CASE("the culprit's clock may be far ahead of those of the ranks that it reached") {
  for (const double clock : {1e9, 2e9, 3e9}) {
    RankOnPaper culprit(1, clock);
    RankOnPaper other(0, 2e9);
    for (const double bad : {0.0, 1.0, 2.0}) {
      culprit.allreduce(bad, bad);
      other.allreduce(0, bad);
    }
    const Finding a = finding_of({{&other, ""}, {&culprit, ""}});
    CHECK(a.rank == 1);
    CHECK(a.event_class == causes::EventClass::source);
    CHECK(a.causes == 1);
    CHECK(a.consequence.find("MPI_Allreduce spread it to 1 other rank. All 6 bad tensors follow") == 0);
  }
}

TEST_CASE("the same while ranks are read one after the other") {
  RankOnPaper culprit(1, 3e9);
  RankOnPaper other(0, 2e9);
  culprit.allreduce(1, 1);
  other.allreduce(0, 1);
  auto owned = std::make_unique<reader::MemoryStorage>();
  auto* const storage = owned.get();
  other.store(*storage);
  RankOnPaper nothing_yet(1, 3e9);
  nothing_yet.store(*storage);
  reader::Logdir logdir(std::move(owned));
  logdir.update();
  causes::Causes causes(*logdir.runs().at(0));
  CHECK(finding_of(causes).event_class == causes::EventClass::unknown);
  storage->append(test::generated_name(logdir::FileKind::execution, "host.rank1"), culprit.executions);
  logdir.update();
  causes.run_has_grown();
  const Finding a = finding_of(causes);
  CHECK(a.rank == 1);
  CHECK(a.causes == 1);
}

TEST_CASE("a rank without a record is not blamed, and nobody in its place") {
  RankOnPaper other(0, 2e9);
  other.allreduce(0, 1);
  const Finding a = finding_of({{&other, ""}});
  CHECK(a.event_class == causes::EventClass::unknown);
  CHECK(a.text.find("the part of rank 1 was not recorded") != std::string::npos);
}

TEST_CASE("two that claim to be the same rank are no answer") {
  RankOnPaper one(1, 2e9);
  RankOnPaper two(1, 2e9);
  RankOnPaper other(0, 2e9);
  one.allreduce(0, 0);
  two.allreduce(0, 0);
  other.allreduce(0, 1);
  CHECK(finding_of({{&one, ""}, {&two, "elsewhere.rank1"}, {&other, ""}}).event_class == causes::EventClass::unknown);
}

TEST_CASE("what the least of all ranks leaves out is expected, when that is read at last, too") {
  RankOnPaper empty(1, 2e9);
  RankOnPaper other(0, 3e9);
  for (int step = 0; step < 3; ++step) {
    empty.allreduce_least(8, 0);
    other.allreduce_least(0, 8);
    empty.message(true, 0, 1 + static_cast<std::uint64_t>(step), 0);  // has the same number, among messages
  }
  empty.allreduce_least(8, 0);
  other.allreduce_least(0, 8);
  for (const std::size_t late : {std::size_t{0}, std::size_t{40}}) {  // bytes: what the rank got last ends with them
    CAPTURE(late);
    RankOnPaper begun = empty;
    begun.executions.resize(empty.executions.size() - late);
    auto owned = std::make_unique<reader::MemoryStorage>();
    reader::MemoryStorage& storage = *owned;
    begun.store(storage);
    other.store(storage);
    reader::Logdir logdir(std::move(owned));
    logdir.update();
    causes::Causes causes(*logdir.runs().front());
    test::finish(causes);
    CHECK(causes.benign().size() == (late > 0 ? 3 : 4));
    storage.append(test::generated_name(logdir::FileKind::execution, "host.rank1"),
                   empty.executions.substr(empty.executions.size() - late));
    logdir.update();
    causes.run_has_grown();
    test::finish(causes);
    CHECK(causes.benign().size() == 4);
    CHECK_FALSE(causes.headline().has_value());
    CHECK(causes.killers().size() == 1);
  }
  RankOnPaper failed(1, 2e9);
  RankOnPaper first(0, 3e9);
  failed.allreduce_least(8, 8);
  first.allreduce_least(0, 8);
  CHECK(finding_of({{&failed, ""}, {&first, ""}}).rank == 1);
}

TEST_CASE("a message is joined with what was sent, if it can be that") {
  RankOnPaper sender(0, 2e9);
  RankOnPaper receiver(1, 2e9);
  sender.message(false, 1, 1, 1);
  sender.message(false, 1, 2, 3);
  receiver.message(true, 0, 2, 3);
  const Finding a = finding_of({{&sender, ""}, {&receiver, ""}});
  CHECK(a.rank == 0);
  CHECK(a.causes == 1);
  RankOnPaper odd(1, 1e9);
  odd.message(true, 0, 2, 4);  // another number of NaNs: not that message
  const Finding b = finding_of({{&sender, ""}, {&odd, ""}});
  CHECK(b.rank == 1);
  CHECK(b.event_class == causes::EventClass::unknown);
  RankOnPaper uncertain(1, 1e9);
  uncertain.message(true, 0, 0, 3);  // it is not known which one it is
  CHECK(finding_of({{&sender, ""}, {&uncertain, ""}}).event_class == causes::EventClass::unknown);
}

TEST_CASE("what is put in is bad where any of its parts is") {
  RankOnPaper culprit(1, 2e9);
  RankOnPaper other(0, 2e9);
  culprit.allreduce_parts(1, 1);
  other.allreduce_parts(0, 1);
  const Finding a = finding_of({{&other, ""}, {&culprit, ""}});
  CHECK(a.rank == 1);
  CHECK(a.causes == 1);
  CHECK(a.consequence.find("MPI_Allreduce spread it to 1 other rank. All 4 bad tensors follow") == 0);
}

TEST_CASE("of several tensors at once, each is joined with what was put in at its place") {
  RankOnPaper culprit(1, 2e9);
  RankOnPaper other(0, 2e9);
  culprit.split_and_allreduce({0, 1}, {0, 1});
  other.split_and_allreduce({0, 0}, {0, 1});
  const Finding a = finding_of({{&other, ""}, {&culprit, ""}});
  CHECK(a.rank == 1);
  CHECK(a.causes == 1);
  CHECK(a.consequence.find("MPI_Allreduce spread it to 1 other rank. All 4 bad tensors follow") == 0);
}
