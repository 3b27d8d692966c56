/// @file
/// From the facts of a cause to its sentence.
#pragma once

#include <map>
#include <string>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/speech.hpp>

namespace nanlens::causes {

/// A cause in words.
struct Words {
  std::map<std::string, std::string> arguments;  ///< what filled the texts, by the names in sentence_table.hpp
  std::string text;
  std::string remedy;
};

/// Chooses the wording that says all that is known and nothing else. Names that nanlens made up are in the same
/// language.
Words word(const CauseFacts& facts, const Speech& speech = english_speech);

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/wording.inl>
#endif
