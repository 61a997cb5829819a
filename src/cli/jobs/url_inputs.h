#pragma once
// Inputs of a job that are named by a URL.

#include <functional>
#include <string>
#include <vector>

#include "gateway/client.h"
#include "wire/worker.pb.h"

namespace gw::cli {

struct UrlInput {
  std::string url;
  std::string guest;  // as in Mount
};

// Takes the URLs out of the words of --input: "https://HOST/PATH[:GUEST]", where GUEST begins with a slash. Without GUEST the program sees
// the last name of the path. Kind::invalid: no name for the program follows from it.
Result<std::vector<UrlInput>> take_urls(std::vector<std::string>& inputs);

// Has the daemon fetch the files and store their pieces. `stored` is told how many bytes came.
Result<std::vector<wire::pb::InputEntry>> fetch_urls(gateway::Client& client, const std::vector<UrlInput>& urls,
                                                     const std::function<void(std::uint64_t)>& stored);

}  // namespace gw::cli
