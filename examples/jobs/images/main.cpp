// SPDX-License-Identifier: Apache-2.0
// A job: a folder of JPEG files as tensors, as networks for images take them. `images run --input folder --tensors
// all.f32 --sheet all.jpg`: producers decode the files, each one into a tile, and the device resizes and normalises.
#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "album.hpp"
#include "decoders.hpp"
#include "folder.hpp"
#include <penstock/images.hpp>
#include <penstock/job.hpp>

using namespace penstock;

namespace {

std::array<float, 3> three_of(std::string const& text) {
  std::istringstream from(text);
  std::array<float, 3> three{};
  char first = 0, second = 0, rest = 0;
  from >> three[0] >> first >> three[1] >> second >> three[2];
  if (!from || first != ',' || second != ',' || from >> rest)
    throw Error(ErrorKind::bad_argument, "give three numbers, as in 0.5,0.5,0.5.");
  return three;
}

ImageForm form_of(JobValues const& values) {
  auto const side = static_cast<std::uint32_t>(values.number("size"));
  return {side, side, three_of(values.text("mean")), three_of(values.text("deviation"))};
}

class Resize final : public Stage {
 public:
  Resize(StageContext const& context, ImageForm const& form)
      : form_(form), multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()) {}
  Promises promises() const noexcept override { return {.capturable = true}; }
  void prepare(StreamRef stream) override { resize_images_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    ImageInput const image{tile.input, tile.output.as<float>()};
    if (image.tensor.size() < form_.elements())
      return 0;  // A tile that is measured alone sometimes has only a few
                 // bytes.
    resize_images(std::span(&image, 1), form_, stream, multiprocessors_);
    return form_.elements() * sizeof(float);
  }

 private:
  ImageForm const form_;
  unsigned const multiprocessors_;
};

JobWork make_tensors(JobPoint const& point) {
  ImageForm const form = form_of(point.values);
  auto const folder = std::make_shared<ImageFolder const>(point.values.text("input"));
  auto const album =
      std::make_shared<Album>(form, point.values.text("tensors"), point.values.text("sheet"), point.digested);
  auto const decoders = std::make_shared<Decoders>();  // Producers decode, each for a tile of its own.
  bool const scaled = point.values.text("scaling") == "yes";
  JpegDecoding const how{.width = scaled ? form.width : 0,
                         .height = scaled ? form.height : 0,
                         .square = point.values.text("fit") == "square",
                         .oriented = point.values.text("orientation") == "yes"};
  auto const fill = [=](TilePlace place, std::span<std::byte> input) {
    return decoders->decode(folder->files()[place], how, input);
  };
  return {.source =
              [=](Pool const&) {
                return std::make_unique<GeneratedSource<decltype(fill), std::byte>>(folder->files().size(), fill);
              },
          .stages = Stages{.make = [form](StageContext const& c) { return std::make_unique<Resize>(c, form); }},
          .sink = [album](Completion& completion) { album->take(completion); },
          .digest = [album] { return album->digest(); },
          .results = [album] { return album->results(); },
          .remarks =
              [=] {
                std::vector<std::string> all = folder->remarks();
                std::ranges::copy(decoders->warnings(), std::back_inserter(all));
                return all;
              },
          .left_out = [folder] { return folder->left_out(); }};
}

JobOption any_option(char const* name, char const* sentence, char const* preset, char const* type) {
  return {.name = name, .sentence = sentence, .preset = preset, .type = type, .listed = false};
}

JobOption three_option(char const* name, char const* sentence, char const* preset) {
  JobOption option = any_option(name, sentence, preset, "R,G,B");
  option.read = [](std::string const& value) { return three_of(value), value; };
  return option;
}

}  // namespace

int main(int count, char** arguments) {
  return run_job(
      count, arguments,
      {.sentence = "Makes tensors of the JPEG files in a folder",
       .options = {folder_option("input", "The folder, with all folders in it"),
                   output_option("tensors", "Where the tensors go, float32 in the order of the names"),
                   output_option("sheet", "Where a contact sheet goes, a JPEG file"),
                   number_option("size", "Pixels in a row and in a column of a tensor", 224, 1, 4096),
                   word_option("fit", "Of each image: the square in its middle, or all of it", {"square", "all"}),
                   word_option("orientation", "Turn images as EXIF says that the camera was held", {"yes", "no"}),
                   word_option("scaling", "Halve images while they are decoded, if so much is left", {"yes", "no"}),
                   three_option("mean", "What is subtracted from colours between 0 and 1", "0.485,0.456,0.406"),
                   three_option("deviation", "What they are then divided by", "0.229,0.224,0.225")},
       .tile = "4MiB",
       .shape =
           [](JobPoint const& point) {
             return TileShape{.input_bytes = point.tile_bytes,
                              .output_bytes = form_of(point.values).elements() * sizeof(float)};
           },
       .make = make_tensors,
       .check = [](JobPoint const& point) { static_cast<void>(ImageFolder(point.values.text("input"))); },
       .alone = [](JobPoint const&) { return Alone{.stage = true}; },  // The kernel takes any bytes.
       .item = "image",
       .items = [](Tile const&) { return 1; },
       .ordered = true});
}
