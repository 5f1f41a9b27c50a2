// SPDX-License-Identifier: Apache-2.0
// GAUSS, the boundaries of launch-level stencils and CANNY against OpenCV, on a synthetic picture
// and on a photograph where there is one.
#include <doctest/doctest.h>

#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>
#include <vector>

#include "samples/canny/find_edges.h"
#include "samples/canny/values.h"
#include "samples/common/plan_choice.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/smooth.h"
#include "samples/gauss/weights.h"
#include "stencil_templates/stencil_templates.h"

using namespace samples;

namespace {

using Bytes = Raster<unsigned char>;

/// Brightness as OpenCV reads it. Fails the test for a file that it cannot read.
Bytes readPhotograph(const std::string& file) {
  const cv::Mat image = cv::imread(file, cv::IMREAD_GRAYSCALE);
  REQUIRE_MESSAGE(!image.empty(), "OpenCV cannot read ", file);
  Bytes picture(image.rows, image.cols);
  for (int row = 0; row < image.rows; ++row)
    std::copy_n(image.ptr<unsigned char>(row), image.cols, &picture.at(row, 0));
  return picture;
}

std::vector<std::pair<std::string, Bytes>> pictures() {
  std::vector<std::pair<std::string, Bytes>> all{{"synthetic", testPicture({301, 403})}};
  if (const std::string file = HPL_PHOTOGRAPH; !file.empty())
    all.emplace_back(file, readPhotograph(file));
  return all;
}

Raster<float> asFloats(const Bytes& picture) {
  Raster<float> values(picture.extent());
  std::copy(picture.cells().begin(), picture.cells().end(), values.data());
  return values;
}

template <class T>
cv::Mat matOf(const Raster<T>& raster) {
  cv::Mat mat(raster.height(), raster.width(), cv::DataType<T>::type);
  for (int row = 0; row < mat.rows; ++row)
    std::copy_n(&raster.at(row, 0), mat.cols, mat.ptr<T>(row));
  return mat;
}

constexpr double kSigma = 2.0;
constexpr int kRadius = gauss::kRadius, kTaps = gauss::kTaps;

/// OpenCV sums rows, then columns, the sample 121 products: sums of 121 floats up to 255 differ in
/// their last places, by 121 half units of 2^-17 at most.
constexpr double kRounding = 121 * 0.5 / (1 << 17);

double largestDifference(const Raster<float>& ours, const cv::Mat& theirs, int border) {
  double largest = 0;
  for (int row = border; row < ours.height() - border; ++row)
    for (int column = border; column < ours.width() - border; ++column)
      largest = std::max(largest, std::abs(static_cast<double>(ours.at(row, column)) -
                                           static_cast<double>(theirs.at<float>(row, column))));
  return largest;
}

Raster<float> smoothed(const Raster<float>& picture) {
  gauss::Options options;
  options.sigma = kSigma;
  Progress progress(1, "iterations", Progress::Mode::Off);
  return gauss::smooth(picture, options, choosePlan(options.run), progress);
}

/// The sample's mean with a boundary.
Raster<float> smoothedWith(const Raster<float>& picture, const hpl::Boundary& boundary) {
  hpl::Stencil mean([weights = gauss::gaussianWeights(kSigma)](hpl::Neighbourhood<float, 2> p) {
    hpl::Float sum = 0.0f;
    std::size_t tap = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy)
      for (int dx = -kRadius; dx <= kRadius; ++dx) sum += weights[tap++] * p(dy, dx);
    return sum;
  });
  mean.boundary(boundary);
  hpl::Array<float, 2> in(picture.height(), picture.width());
  hpl::Array<float, 2> out(picture.height(), picture.width());
  in.copyFrom(picture.data());
  mean(in, out);
  Raster<float> result(picture.extent());
  out.copyTo(result.data());
  return result;
}

/// The Sobel gradient of the smoothed picture, in its sixteenths; none in the outermost ring.
std::pair<cv::Mat, cv::Mat> gradientOf(const Bytes& picture) {
  const cv::Mat mask(5, 5, CV_32S, const_cast<int*>(&canny::kMask[0][0]));
  cv::Mat weights, sums, source = matOf(asFloats(picture));
  mask.convertTo(weights, CV_32F, canny::kFraction);
  cv::filter2D(source, sums, CV_32F, weights);  // whole numbers below 2^24: exact
  cv::Mat smooth(source.size(), CV_16S);
  for (int row = 0; row < source.rows; ++row) {
    for (int column = 0; column < source.cols; ++column) {
      const bool inside =
          row >= 2 && row + 2 < source.rows && column >= 2 && column + 2 < source.cols;
      const int sum = static_cast<int>(sums.at<float>(row, column)) + canny::kMaskSum / 2;
      smooth.at<short>(row, column) = static_cast<short>(
          inside ? sum / canny::kMaskSum : canny::kFraction * picture.at(row, column));
    }
  }
  cv::Mat dx, dy;
  cv::Sobel(smooth, dx, CV_16S, 1, 0, 3);
  cv::Sobel(smooth, dy, CV_16S, 0, 1, 3);
  for (cv::Mat* gradient : {&dx, &dy})
    cv::rectangle(*gradient, {0, 0}, {source.cols - 1, source.rows - 1}, 0);
  return {dx, dy};
}

/// When two neighbours along a gradient are equal, OpenCV keeps the first, the sample the second:
/// turned round by 180 degrees they agree. The thresholds are bounds to be exceeded there, and to
/// be reached in the sample.
cv::Mat edgesByOpenCv(const Bytes& picture, int low, int high) {
  auto [dx, dy] = gradientOf(picture);
  cv::rotate(dx, dx, cv::ROTATE_180);
  cv::rotate(dy, dy, cv::ROTATE_180);
  dx = -dx;
  dy = -dy;
  const auto below = [](int threshold) { return std::sqrt(canny::squared(threshold) - 0.5); };
  cv::Mat edges;
  cv::Canny(dx, dy, edges, below(low), below(high), true);
  cv::rotate(edges, edges, cv::ROTATE_180);
  return edges;
}

struct Difference {
  std::size_t edges = 0;   ///< of OpenCV
  std::size_t pixels = 0;  ///< that one of the two calls an edge
};

Difference edgeDifference(const Bytes& picture, int low, int high) {
  canny::Options options;
  options.low = low;
  options.high = high;
  Progress progress(1, "pictures", Progress::Mode::Off);
  const Bytes ours = canny::findEdges(picture, options, choosePlan(options.run), progress);
  const cv::Mat theirs = edgesByOpenCv(picture, low, high);
  Difference difference;
  for (int row = 0; row < picture.height(); ++row) {
    for (int column = 0; column < picture.width(); ++column) {
      const bool edge = theirs.at<unsigned char>(row, column) != 0;
      difference.edges += edge ? 1 : 0;
      difference.pixels += (ours.at(row, column) == canny::kStrong) != edge ? 1 : 0;
    }
  }
  return difference;
}

}  // namespace

TEST_CASE("GAUSS is cv::GaussianBlur but for the outermost five rings, which it leaves alone") {
  for (const auto& [name, bytes] : pictures()) {
    CAPTURE(name);
    const Raster<float> picture = asFloats(bytes);
    cv::Mat expected;
    cv::GaussianBlur(matOf(picture), expected, {kTaps, kTaps}, kSigma);
    const Raster<float> result = smoothed(picture);
    CHECK(largestDifference(result, expected, kRadius) <= kRounding);
    CHECK(result.at(kRadius - 1, kRadius) == picture.at(kRadius - 1, kRadius));
    CHECK(result.at(kRadius, picture.width() - kRadius) ==
          picture.at(kRadius, picture.width() - kRadius));
  }
}

TEST_CASE("boundaries of stencils are the border types of OpenCV") {
  const Raster<float> picture = asFloats(testPicture({67, 120}));
  const std::pair<hpl::Boundary, int> list[] = {{hpl::Nearest(), cv::BORDER_REPLICATE},
                                                {hpl::Mirror(), cv::BORDER_REFLECT},
                                                {hpl::Periodic(), cv::BORDER_WRAP},
                                                {hpl::Fixed(17.0f), cv::BORDER_CONSTANT}};
  for (const auto& [boundary, border] : list) {
    CAPTURE(border);
    cv::Mat wide, expected;
    cv::copyMakeBorder(matOf(picture), wide, kRadius, kRadius, kRadius, kRadius, border, 17.0);
    cv::GaussianBlur(wide, expected, {kTaps, kTaps}, kSigma);
    expected = expected(cv::Rect(kRadius, kRadius, picture.width(), picture.height())).clone();
    CHECK(largestDifference(smoothedWith(picture, boundary), expected, 0) <= kRounding);
  }
}

TEST_CASE("CANNY finds the edges that cv::Canny finds in the same gradient") {
  for (const auto& [name, picture] : pictures()) {
    for (const auto& [low, high] : {std::pair{20, 40}, std::pair{30, 90}}) {
      CAPTURE(name);
      CAPTURE(low);
      const Difference d = edgeDifference(picture, low, high);
      CHECK(d.edges > picture.size() / 200);
      // Where gradients are equal along a diagonal OpenCV keeps neither of the two pixels, the
      // sample the second one; few edges hang on such a pixel (in these pictures none).
      CHECK(static_cast<double>(d.pixels) <= 0.001 * static_cast<double>(d.edges));
    }
  }
}
