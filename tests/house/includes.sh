#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# includes.sh ROOT: each header and source under ROOT/include, src, kernels, bench, examples and tests includes the standard headers
# of the names that it uses, itself or by headers of the project. What a header of one standard library happens to bring along,
# another library does not bring.
#
# Only the names of the table are looked at. Prints one line per name that is used without its header, and exits 1 if there is one
# or if there is nothing to look at.
set -euo pipefail
export LC_ALL=C
cd "$1"
mapfile -t files < <(find include src kernels bench examples tests -type f -regex '.*\.\(hpp\|cpp\|cu\|cuh\)' \
  ! -path 'tests/house/*/*' ! -path 'tests/chaos/mistakes/*' ! -path 'tests/fuzz/corpus/*' 2>/dev/null | sort)
((${#files[@]})) || { echo "includes.sh: nothing to look at in $1"; exit 1; }
awk '
  # needs HEADERS NAMES: each of these names of namespace std is declared by any of these headers.
  function needs(headers, names, all, k) {
    k = split(names, all, " ")
    for (; k > 0; --k) wanted[all[k]] = headers
  }
  BEGIN {
    needs("algorithm", "sort stable_sort find_if find_if_not count_if all_of any_of none_of for_each copy_n copy_if fill_n lower_bound upper_bound equal_range binary_search nth_element partial_sort unique remove_if rotate shuffle min_element max_element clamp generate replace is_sorted adjacent_find mismatch lexicographical_compare partition push_heap pop_heap make_heap set_difference set_intersection merge")
    needs("algorithm", "min max minmax")
    needs("array", "array to_array")
    needs("atomic", "atomic atomic_flag atomic_ref atomic_thread_fence memory_order memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst")
    needs("bit", "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero countr_one popcount has_single_bit rotl rotr endian")
    needs("charconv", "from_chars to_chars")
    needs("chrono", "chrono chrono_literals")
    needs("condition_variable", "condition_variable condition_variable_any")
    needs("cstddef iosfwd", "byte max_align_t")
    needs("cstddef", "nullptr_t ptrdiff_t")
    needs("cstdint", "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t")
    needs("cstddef cstdio cstdlib cstring ctime array span string string_view vector deque map set memory unordered_map unordered_set bitset", "size_t")
    needs("cstdio", "printf fprintf snprintf fputs fopen fclose fflush fwrite fread perror puts remove FILE")
    needs("cstdlib", "getenv exit _Exit abort atexit quick_exit system strtod strtoull strtoul strtol malloc free calloc realloc aligned_alloc")
    needs("cstring", "memcpy memmove memset memcmp memchr strlen strcmp strncmp strchr strrchr strstr strerror")
    needs("cmath", "sqrt pow floor ceil round lround llround log log2 log10 exp sin cos hypot isnan isinf isfinite fabs trunc ldexp frexp nextafter fma")
    needs("deque", "deque")
    needs("exception", "exception exception_ptr current_exception rethrow_exception make_exception_ptr terminate uncaught_exceptions set_terminate")
    needs("filesystem", "filesystem")
    needs("fstream", "ifstream ofstream fstream")
    needs("functional", "function invoke plus less greater equal_to hash ref cref mem_fn bind")
    needs("future", "future promise async packaged_task shared_future")
    needs("initializer_list", "initializer_list")
    needs("iomanip", "setw setfill setprecision")
    needs("iostream", "cin cout cerr clog")
    needs("iterator", "back_inserter istream_iterator istreambuf_iterator ostream_iterator inserter")
    needs("limits", "numeric_limits")
    needs("list", "list")
    needs("map", "map multimap")
    needs("memory", "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this addressof construct_at destroy_at uninitialized_copy pointer_traits to_address allocator")
    needs("mutex", "mutex recursive_mutex timed_mutex lock_guard unique_lock scoped_lock once_flag call_once try_to_lock defer_lock adopt_lock")
    needs("new", "bad_alloc align_val_t nothrow launder set_new_handler hardware_destructive_interference_size")
    needs("numeric", "accumulate iota reduce inner_product partial_sum gcd lcm midpoint")
    needs("optional", "optional nullopt make_optional")
    needs("ostream iosfwd", "ostream")
    needs("istream iosfwd", "istream")
    needs("ostream", "endl flush")
    needs("random", "mt19937 mt19937_64 minstd_rand uniform_int_distribution uniform_real_distribution normal_distribution exponential_distribution bernoulli_distribution random_device discrete_distribution")
    needs("regex", "regex smatch regex_match regex_search regex_replace sregex_iterator")
    needs("set", "set multiset")
    needs("shared_mutex", "shared_mutex shared_lock")
    needs("span", "span as_bytes as_writable_bytes dynamic_extent")
    needs("sstream", "ostringstream istringstream stringstream")
    needs("stdexcept", "runtime_error logic_error invalid_argument out_of_range length_error domain_error overflow_error")
    needs("stop_token", "stop_token stop_source stop_callback")
    needs("streambuf ostream istream", "streambuf")
    needs("string", "string to_string stoi stoul stoull stod getline char_traits")
    needs("string_view string", "string_view")
    needs("system_error", "errc error_code error_category generic_category system_category system_error make_error_code error_condition")
    needs("thread", "thread jthread this_thread")
    needs("tuple", "tuple make_tuple tie apply forward_as_tuple")
    needs("typeinfo", "type_info bad_cast")
    needs("typeindex", "type_index")
    needs("type_traits", "is_same_v is_trivially_copyable_v is_integral_v is_floating_point_v is_arithmetic_v is_base_of_v is_void_v is_invocable_v is_invocable_r_v is_enum_v is_unsigned_v is_signed_v is_const_v is_convertible_v is_constructible_v conditional_t enable_if_t decay_t remove_cvref_t remove_reference_t remove_cv_t remove_const_t invoke_result_t underlying_type_t make_unsigned_t make_signed_t void_t true_type false_type common_type_t is_constant_evaluated type_identity_t has_unique_object_representations_v is_standard_layout_v")
    needs("unordered_map", "unordered_map unordered_multimap")
    needs("unordered_set", "unordered_set unordered_multiset")
    needs("utility map unordered_map tuple", "pair make_pair")
    needs("utility", "move forward swap exchange in_place piecewise_construct index_sequence make_index_sequence integer_sequence as_const declval cmp_less")
    needs("variant", "variant visit get_if holds_alternative monostate")
    needs("vector", "vector")
    needs("concepts", "same_as convertible_to invocable integral floating_point derived_from regular")
    needs("ranges algorithm", "ranges")
    needs("ranges", "views")
    # Any of these declares them as well, by the standard or because nothing of it can be used without.
    brings["utility"] = "map|unordered_map|vector|string|memory|functional|algorithm|tuple|optional|variant|deque|set|array|thread|mutex|chrono|atomic|future|regex|filesystem"
    brings["initializer_list"] = "vector|string|map|set|deque|list|unordered_map|unordered_set|algorithm|optional|variant|utility|array|valarray|regex|random"
    brings["string"] = "sstream|filesystem|regex|fstream|system_error"
    brings["ostream"] = "iostream|sstream|fstream"
    brings["exception"] = "new|stdexcept|system_error|typeinfo|future"
    brings["stop_token"] = "thread|condition_variable"
    brings["mutex"] = "condition_variable|shared_mutex"
    brings["chrono"] = "thread|condition_variable|mutex|shared_mutex|future|filesystem"
    brings["system_error"] = "filesystem|thread|mutex|future|fstream"
    brings["type_traits"] = "concepts|utility|tuple|functional|memory|ranges|variant|optional|chrono|atomic|iterator"
    brings["iterator"] = "vector|string|array|span|map|set|deque|list|unordered_map|regex|ranges|string_view"
    brings["concepts"] = "iterator|ranges|random"
    for (header in brings) {
      k = split(brings[header], all, "|")
      for (; k > 0; --k) also[all[k], header] = 1
    }
    # Headers of others, each of which must include these to declare what it does.
    outside["gmock/gmock.h"] = outside["gtest/gtest.h"] = "functional map memory ostream set string tuple type_traits utility vector cstddef cstdint"
    outside["nlohmann/json.hpp"] = "algorithm cstddef cstdint functional initializer_list iterator map memory ostream string utility vector limits array"
    outside["CLI/CLI.hpp"] = "algorithm cstddef cstdint functional map memory ostream set string tuple utility vector fstream sstream"
    outside["benchmark/benchmark.h"] = "cstdint cstddef map memory string utility vector limits"
  }
  # Where "name" lies, seen from `file`.
  function place(name, file, folder, tries, count, k) {
    if ((file, name) in placed) return placed[file, name]
    folder = file
    sub(/[^\/]*$/, "", folder)
    tries = "include/" name "|src/" name "|" name "|" folder name "|tests/" name "|bench/" name "|bench/support/" name "|kernels/" name
    count = split(tries, all, "|")
    for (k = 1; k <= count; ++k) if (all[k] in known) return placed[file, name] = all[k]
    return placed[file, name] = ""
  }
  # Adds to `has` what the file brings, by itself and by headers of the project.
  function gather(file, lines, count, k, to) {
    if (file in seen) return
    seen[file] = 1
    count = split(included[file], lines, "\n")
    for (k = 1; k < count; ++k) {
      if (lines[k] ~ /^</ && lines[k] !~ /^<penstock\//) {
        add_header(substr(lines[k], 2, length(lines[k]) - 2))
      } else {
        to = place(substr(lines[k], 2, length(lines[k]) - 2), file)
        if (to != "") gather(to)
      }
    }
  }
  function add_header(name, all, k) {
    has[name] = 1
    k = split(outside[name], all, " ")
    for (; k > 0; --k) has[all[k]] = 1
  }
  function have(headers, all, k, pair, parts) {
    k = split(headers, all, " ")
    for (; k > 0; --k) {
      if (all[k] in has) return 1
      for (pair in also) { split(pair, parts, SUBSEP); if (parts[2] == all[k] && parts[1] in has) return 1 }
    }
    return 0
  }
  function use(name) {
    if ((FILENAME, name) in used) return
    used[FILENAME, name] = FNR
    names[FILENAME] = names[FILENAME] " " name
  }
  NR == FNR { known[$0] = 1; next }
  /^[ \t]*#[ \t]*include[ \t]/ {
    if (match($0, /[<"][^>"]*[>"]/)) included[FILENAME] = included[FILENAME] substr($0, RSTART, RLENGTH) "\n"
    next
  }
  {
    gsub(/\\"/, "")
    gsub(/"[^"]*"/, "\"\"")
    sub(/\/\/.*/, "")
    while (match($0, /std::[A-Za-z_0-9]+/)) {
      name = substr($0, RSTART + 5, RLENGTH - 5)
      $0 = substr($0, RSTART + RLENGTH)
      if (name in wanted) use(name)
    }
    if (/(^|[^A-Za-z0-9_])(errno|E(AGAIN|INTR|INVAL|TIMEDOUT|BUSY|PERM|NOENT|ACCES|EXIST|NOMEM|NOSPC|PIPE|MFILE|NFILE))([^A-Za-z0-9_]|$)/) use("errno")
    if (/for \(.* : \{/) use("initializer_list")
  }
  END {
    wanted["errno"] = "cerrno errno.h"
    for (file in names) {
      delete has
      delete seen
      gather(file)
      count = split(names[file], all_names, " ")
      for (k = 1; k <= count; ++k) {
        name = all_names[k]
        if (have(wanted[name])) continue
        header = wanted[name]
        sub(/ .*/, "", header)
        print file ":" used[file, name] ": uses " (name == "errno" ? "errno or a name of its values" : name == "initializer_list" ? "a list in braces" : "std::" name) " and includes <" header "> nowhere; include it"
        failed = 1
      }
    }
    exit failed
  }' <(printf '%s\n' "${files[@]}") "${files[@]}" | sort -t: -k1,1 -k2,2n
