// SPDX-License-Identifier: Apache-2.0
#include "tests/io/decoded_picture.h"

#include <cstdlib>
#include <memory>
#include <stdexcept>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
// The implementation is C that this project does not control.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace io_tests {
namespace {

template <class T>
void take(T* pixels, DecodedPicture& picture) {
  if (pixels == nullptr) throw std::runtime_error("stb_image cannot read it");
  const std::unique_ptr<T, void (*)(void*)> owner(pixels, &std::free);
  picture.values.assign(pixels, pixels + picture.width * picture.height * picture.channels);
}

}  // namespace

DecodedPicture decode(const std::string& file) {
  DecodedPicture picture;
  const bool deep = stbi_is_16_bit(file.c_str()) != 0;
  picture.bits = deep ? 16 : 8;
  if (deep) {
    take(stbi_load_16(file.c_str(), &picture.width, &picture.height, &picture.channels, 0),
         picture);
  } else {
    take(stbi_load(file.c_str(), &picture.width, &picture.height, &picture.channels, 0), picture);
  }
  return picture;
}

}  // namespace io_tests
