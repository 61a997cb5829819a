// The one place where the functions of Boost.Asio are compiled: BOOST_ASIO_SEPARATE_COMPILATION, set by the target `asio`.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
