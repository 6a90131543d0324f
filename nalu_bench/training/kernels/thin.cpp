// Products with few rows, and logarithms, of float32 numbers on the CPU: see thin.py.
//
// Letters: S matrices, R rows of the left one, K and N sizes of the right one. Each row of a result is computed as if
// alone: its bits do not depend on R or S. Vectors have 16 lanes on every processor; the compiler splits them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#ifdef __clang__
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")  // a * b + c in one instruction with one rounding, where there is one
#endif

namespace {

constexpr int64_t LANES = 16, CHUNK = 1024;
typedef float Floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// R rows of the product at T vectors of columns: sum over k of left[r, k] right[k, n], in the order of k.
template <int R, int T>
void tile(const float* left, const float* right, float* out, int64_t K, int64_t N) {
  Floats sums[R][T] = {};
  for (int64_t k = 0; k < K; k++) {
    const Floats* row = reinterpret_cast<const Floats*>(right + k * N);
    for (int t = 0; t < T; t++)
      for (int r = 0; r < R; r++) sums[r][t] += left[r * K + k] * row[t];
  }
  for (int r = 0; r < R; r++)
    for (int t = 0; t < T; t++) reinterpret_cast<Floats*>(out + r * N)[t] = sums[r][t];
}

template <int R>
void rows(const float* left, const float* right, float* out, int64_t K, int64_t N) {
  constexpr int T = 16 / R;  // 16 sums stay in registers
  int64_t n = 0;
  for (; n + T * LANES <= N; n += T * LANES) tile<R, T>(left, right + n, out + n, K, N);
  for (; n < N; n += LANES) tile<R, 1>(left, right + n, out + n, K, N);
}

float total(const Floats& lanes) {
  typedef float Half __attribute__((vector_size(2 * LANES)));
  typedef float Quarter __attribute__((vector_size(LANES)));
  Half halves[2];
  std::memcpy(halves, &lanes, sizeof(lanes));
  const Half eight = halves[0] + halves[1];
  Quarter quarters[2];
  std::memcpy(quarters, &eight, sizeof(eight));
  const Quarter four = quarters[0] + quarters[1];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// R rows of the product with T rows of the transposed right matrix: sum over n of left[r, n] right[k, n], by lanes.
template <int R, int T>
void dots(const float* left, const float* right, float* out, int64_t K, int64_t N) {
  Floats sums[R][T] = {};
  for (int64_t n = 0; n < N; n += LANES)
    for (int t = 0; t < T; t++) {
      const Floats column = *reinterpret_cast<const Floats*>(right + t * N + n);
      for (int r = 0; r < R; r++) sums[r][t] += *reinterpret_cast<const Floats*>(left + r * N + n) * column;
    }
  for (int r = 0; r < R; r++)
    for (int t = 0; t < T; t++) out[r * K + t] = total(sums[r][t]);
}

template <int R>
void columns(const float* left, const float* right, float* out, int64_t K, int64_t N) {
  constexpr int T = 4;
  int64_t k = 0;
  for (; k + T <= K; k += T) dots<R, T>(left, right + k * N, out + k, K, N);
  for (; k < K; k++) dots<R, 1>(left, right + k * N, out + k, K, N);
}

// left (S, R, length), right (S, K, N) -> (S, R, width), of which `block` computes 4, 2 or 1 rows.
template <typename Block>
at::Tensor by_rows(const at::Tensor& left_, const at::Tensor& right_, int64_t width, Block block) {
  const auto left = left_.contiguous(), right = right_.contiguous();
  const int64_t S = left.size(0), R = left.size(1), length = left.size(2), K = right.size(1), N = right.size(2);
  auto out = at::empty({S, R, width}, left.options());
  const float *a = left.const_data_ptr<float>(), *b = right.const_data_ptr<float>();
  float* c = out.mutable_data_ptr<float>();
  const auto take = [&](auto count) {
    block(count, a, b, c, K, N);
    a += count * length, c += count * width;
  };
  for (int64_t s = 0; s < S; s++, b += K * N) {
    int64_t r = 0;
    for (; r + 4 <= R; r += 4) take(std::integral_constant<int, 4>());
    for (; r + 2 <= R; r += 2) take(std::integral_constant<int, 2>());
    for (; r < R; r++) take(std::integral_constant<int, 1>());
  }
  return out;
}

// left (S, R, K), right (S, K, N) -> (S, R, N); N is a multiple of LANES.
at::Tensor product(const at::Tensor& left, const at::Tensor& right) {
  return by_rows(left, right, right.size(2), [](auto count, auto... rest) { rows<decltype(count)::value>(rest...); });
}

// left (S, R, N), right (S, K, N) -> left times the transposed right (S, R, K); N is a multiple of LANES.
at::Tensor product_transposed(const at::Tensor& left, const at::Tensor& right) {
  return by_rows(left, right, right.size(1), [](auto count, auto... rest) { columns<decltype(count)::value>(rest...); });
}

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(1 + f) by the polynomial of FreeBSD's e_logf.c (Sun
// Microsystems 1993): log(1 + f) = f - f²/2 + s (f²/2 + R(s²)), s = f / (2 + f). For positive normal numbers.
Floats logarithm(const Ints& bits, const Floats& more) {
  const Ints exponent = (bits - 0x3f3504f3) >> 23;
  const Ints mantissa = bits - (exponent << 23);
  const Floats f = reinterpret_cast<const Floats&>(mantissa) - 1.0f;
  const Floats k = __builtin_convertvector(exponent, Floats) + more;
  const Floats s = f / (2.0f + f), z = s * s, w = z * z, half = 0.5f * f * f;
  const Floats rest = w * (0.40000972152f + w * 0.24279078841f) + z * (0.66666662693f + w * 0.28498786688f);
  return k * 0.69313812256f - ((half - (s * (half + rest) + k * 9.0580006145e-06f)) - f);
}

// Of subnormal numbers, infinity, and what has no logarithm.
Floats any_logarithm(const Floats& x) {
  const Ints small = x < std::numeric_limits<float>::min();
  const Floats scaled = small ? x * 33554432.0f : x;  // 2^25
  const Floats found = logarithm(reinterpret_cast<const Ints&>(scaled), small ? Floats{} - 25.0f : Floats{});
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Floats finite = x < infinity ? found : x;  // infinity, and what is no number, stay as they are
  return x > 0.0f || x != x ? finite : (x == 0.0f ? Floats{} - infinity : Floats{} + nan);
}

// values, as many as a multiple of LANES and contiguous -> their natural logarithms, or with `more` log(|x| + more).
at::Tensor logarithms(const at::Tensor& values_, std::optional<double> more) {
  const auto values = values_.contiguous();
  auto out = at::empty_like(values);
  const float *from = values.const_data_ptr<float>(), added = more.value_or(0.0);
  const Ints kept = Ints{} + (more ? 0x7fffffff : -1);  // without the sign of a number, or with it
  float* to = out.mutable_data_ptr<float>();
  const auto argument = [&](int64_t i) {
    const Ints bits = *reinterpret_cast<const Ints*>(from + i) & kept;
    return reinterpret_cast<const Floats&>(bits) + added;
  };
  for (int64_t start = 0, size = values.numel(); start < size; start += CHUNK) {
    const int64_t end = std::min(size, start + CHUNK);
    Ints strange = {};
    for (int64_t i = start; i < end; i += LANES) {
      const Floats x = argument(i);
      const Ints bits = reinterpret_cast<const Ints&>(x);
      strange |= (bits < 0x00800000) | (bits >= 0x7f800000);
      *reinterpret_cast<Floats*>(to + i) = logarithm(bits, Floats{});
    }
    bool any = false;
    for (int64_t lane = 0; lane < LANES; lane++) any |= strange[lane] != 0;
    for (int64_t i = start; any && i < end; i += LANES)
      *reinterpret_cast<Floats*>(to + i) = any_logarithm(argument(i));
  }
  return out;
}

}  // namespace

TORCH_LIBRARY(nalu_bench, library) {
  library.def("product(Tensor left, Tensor right) -> Tensor");
  library.def("product_transposed(Tensor left, Tensor right) -> Tensor");
  library.def("log(Tensor values, float? more) -> Tensor");
}

TORCH_LIBRARY_IMPL(nalu_bench, CPU, library) {
  library.impl("product", &product);
  library.impl("product_transposed", &product_transposed);
  library.impl("log", &logarithms);
}
