// Names of Rust's functions, as c++filt tells those of rustc's own symbols (but for lifetimes and types of constants,
// which are left out).
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <nanlens/capture/rust_name.hpp>
#include <nanlens/capture/symbolizer.hpp>
#include <nanlens/reader/stack.hpp>

using nanlens::detail::RustSymbol;
using nanlens::detail::without_rust_hash;

TEST_CASE("a C function's name is no type, as it would be where names are mangled") {
  for (const char* const name : {"f", "c", "d", "i", "v", "Pd", "main"})
    CHECK(nanlens::detail::demangled(name) == std::string(name));
  CHECK(nanlens::detail::demangled("_Z4fluxd") == "flux(double)");
  CHECK(nanlens::detail::demangled("_Zflux") == "_Zflux");
}

TEST_CASE("symbols of RFC 2603") {
  const std::pair<const char*, const char*> symbols[] = {
      {"_RNvXCsd2pkCS1BQMS_1sINtB2_4GriddENtB2_4Flux4flux", "<s::Grid<f64> as s::Flux>::flux"},
      {"_RNCNvXCsd2pkCS1BQMS_1sINtB4_4GriddENtB4_4Flux4flux0B4_", "<s::Grid<f64> as s::Flux>::flux::{closure#0}"},
      {"_RNvXs40_NtNtCsgEmfK2I1SDS_4core3ops5arithRdINtB6_3DivdE3div", "<&f64 as core::ops::arith::Div<f64>>::div"},
      {"_RNvXs1B_NtCsfoXig8kEbyV_12simd_adler324hashAhj63_NtB8_11Adler32Hash4hash",
       "<[u8; 99] as simd_adler32::Adler32Hash>::hash"},
      {"_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc3vec3VecNtNtBL_6string6StringEECskfNFR0Kh"
       "PAg_18tracing_subscriber",
       "core::ptr::drop_in_place::<alloc::vec::Vec<alloc::string::String>>"},
      {"_RINvMNtNtNtCsjsognp7xLSQ_10gix_config4file6access7comfortNtNtB9_5types4File13string_filterReQFG_RL0_NtB7_"
       "8Metad"
       "ataEbECsgZdARNDurcI_5cargo",
       "<gix_config::types::File>::string_filter::<&str, &mut fn(&gix_config::file::Metadata) -> bool>"},
      {"_RNvMsn_NtCsbEht8wFNRx7_5alloc4syncINtB5_3ArcDG0_INtNtNtCs8NwYtU1Mohg_4core3ops8function2FnTRL1_"
       "NtNtCsi4IsKQVxMg"
       "0_3std4path4PathRL0_B1v_EEp6OutputNtNtBR_3cmp8OrderingNtNtBR_6marker4SyncNtB2F_4SendEL_E9drop_"
       "slowCsia4wR6wdqKs_"
       "6ignore",
       "<alloc::sync::Arc<dyn core::ops::function::Fn<(&std::path::Path, &std::path::Path), Output = "
       "core::cmp::Ordering> + core::marker::Sync + core::marker::Send>>::drop_slow"}};
  for (const auto& [symbol, name] : symbols) CHECK(RustSymbol::name_of(symbol) == name);
}

TEST_CASE("what is no such symbol has no name") {
  for (const char* const text : {"", "_R", "_ZN1a1bEv", "main", "_RNv", "_RNvC1a", "_RNvC1a9b", "_RB_", "_RNvB0_1a"})
    CHECK(RustSymbol::name_of(text).empty());
  CHECK(RustSymbol::name_of("_RYSSB0_1a").empty());
  CHECK(RustSymbol::name_of("_RM" + std::string(100'000, 'S')).empty());
  std::string doubled = "_RIC1a";  // each argument is all that stands before, again
  for (int i = 0; i < 64; ++i) doubled += "TB_B_E";
  CHECK(RustSymbol::name_of(doubled + "E").size() < 100'000);
}

TEST_CASE("the older mangling, once it is demangled as C++") {
  CHECK(without_rust_hash("_$LT$s..Grid$LT$f64$GT$$u20$as$u20$s..Flux$GT$::flux::h23743011457aeb28") ==
        "<s::Grid<f64> as s::Flux>::flux");
  CHECK(without_rust_hash("solver::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef") ==
        "solver::main::{{closure}}");
  for (const char* const name : {"flux", "a::h0123456789abcdeg", "a::b", "::h0123456789abcdef", ""})
    CHECK(without_rust_hash(name) == name);
}

TEST_CASE("the places of libraries") {
  for (const char* const path :
       {"/rustc/59807616e1/library/core/src/ops/arith.rs", "library/core/src/iter/mod.rs",
        "<__array_function__ internals>", "<eval_with_key>.3", "/tmp/torchinductor_me/oi/coiw5jr5.py",
        "/root/.cargo/registry/src/index/ndarray-0.16.1/src/impl_ops.rs", "/usr/lib/python3/dist-packages/numpy/a.py"})
    CHECK(nanlens::reader::is_library_path(path));
  for (const char* const path : {"/home/me/library/core/src/solver.cpp", "src/main.rs", "<string>", "<stdin>"})
    CHECK_FALSE(nanlens::reader::is_library_path(path));
}
