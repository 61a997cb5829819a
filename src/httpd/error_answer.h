#pragma once
// Errors over HTTP.

#include <string>
#include <string_view>

#include "base/result.h"

namespace gw::httpd {

// The HTTP status of an error of this kind; the one table.
unsigned status_of(Kind kind);

// {"error": {"kind", "message", "next"}}: what went wrong, and what to do.
std::string error_body(const Error& error);
// The same with a better advice than the usual one for its kind.
std::string error_body(const Error& error, std::string_view next);

// The inverse; without a valid body the error names `status`.
Error error_of(unsigned status, std::string_view body);

}  // namespace gw::httpd
