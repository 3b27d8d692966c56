/// @file
/// The definitions of what causes' headers declare. Those headers include it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

// First all declarations, then all definitions.
#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/neighbours.hpp>
#include <nanlens/causes/sentence.hpp>

#include <nanlens/causes/causes_alike.inl>
#include <nanlens/causes/causes_complex.inl>
#include <nanlens/causes/causes_guards.inl>
#include <nanlens/causes/causes_lead.inl>
#include <nanlens/causes/causes_missing.inl>
#include <nanlens/causes/causes_pass.inl>
#include <nanlens/causes/causes_queries.inl>
#include <nanlens/causes/causes_removals.inl>
#include <nanlens/causes/causes_scaled.inl>
#include <nanlens/causes/classifier.inl>
#include <nanlens/causes/classifier_clean.inl>
#include <nanlens/causes/classifier_evidence.inl>
#include <nanlens/causes/classifier_inputs.inl>
#include <nanlens/causes/classifier_more.inl>
#include <nanlens/causes/classifier_pipeline.inl>
#include <nanlens/causes/classifier_shared.inl>
#include <nanlens/causes/classifier_swallowed.inl>
#include <nanlens/causes/classifier_written.inl>
#include <nanlens/causes/evidence.inl>
#include <nanlens/causes/groups.inl>
#include <nanlens/causes/neighbours.inl>
#include <nanlens/causes/nested_calls.inl>
#include <nanlens/causes/recorded_rows.inl>
#include <nanlens/causes/resolver.inl>
#include <nanlens/causes/resolver_arguments.inl>
#include <nanlens/causes/resolver_branches.inl>
#include <nanlens/causes/resolver_calls.inl>
#include <nanlens/causes/resolver_complex.inl>
#include <nanlens/causes/row_owners.inl>
#include <nanlens/causes/sentence.inl>
#include <nanlens/causes/wording.inl>
