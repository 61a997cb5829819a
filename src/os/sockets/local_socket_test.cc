#include "os/sockets/local_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/files/file.h"

namespace gw::os {
namespace {

class LocalSocket : public testing::Test {
 protected:
  TempDir folder = TempDir::make().value();
  std::filesystem::path path = folder.path() / "run" / "socket";
};

TEST_F(LocalSocket, OnlyThisUserMayConnect) {
  auto listener = LocalListener::open(path);
  ASSERT_TRUE(listener);
  struct stat socket{}, parent{};
  ASSERT_EQ(::stat(path.c_str(), &socket), 0);
  ASSERT_EQ(::stat(path.parent_path().c_str(), &parent), 0);
  EXPECT_EQ(socket.st_mode & 0777, 0600u);
  EXPECT_EQ(parent.st_mode & 0777, 0700u);
  auto client = connect_local(path);
  ASSERT_TRUE(client);
  EXPECT_EQ(peer_user(client->get()).value(), ::geteuid());
}

TEST_F(LocalSocket, OneListenerAtATime) {
  auto first = LocalListener::open(path);
  ASSERT_TRUE(first);
  auto second = LocalListener::open(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Kind::overloaded);
  EXPECT_TRUE(connect_local(path)) << "the first one's socket was taken away";
}

TEST_F(LocalSocket, TheSocketOfAKilledProcessIsReplaced) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto listener = LocalListener::open(path);
    ::_exit(listener ? 0 : 1);  // without destructors, as when it is killed
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(connect_local(path).error().kind, Kind::not_found);
  EXPECT_TRUE(LocalListener::open(path));
}

TEST_F(LocalSocket, NothingButASocketIsReplaced) {
  std::filesystem::create_directories(path.parent_path());
  ASSERT_TRUE(write_file_atomic(path, as_bytes("precious"), Durability::unflushed));
  EXPECT_EQ(LocalListener::open(path).error().kind, Kind::invalid);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(LocalSocket, APathThatIsTooLongIsRefusedWithTheLimit) {
  const auto refused = LocalListener::open(folder.path() / std::string(200, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find("107"), std::string::npos);
}

TEST_F(LocalSocket, ConnectingWithoutAListenerFails) { EXPECT_EQ(connect_local(path).error().kind, Kind::not_found); }

}  // namespace
}  // namespace gw::os
