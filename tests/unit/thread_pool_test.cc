// Threads that are used again and again, and given up when they do not come back.
#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "drivers/emu/thread_pool.h"
#include "gtest/gtest.h"

namespace {

struct PoolFree {
    void operator()(emu_thread_pool *pool) const {
        emu_thread_pool_destroy(pool);
    }
};
using Pool = std::unique_ptr<emu_thread_pool, PoolFree>;

Pool make_pool(bool one_cpu = false, size_t stack_bytes = 0) {
    const emu_thread_pool_options options = {stack_bytes, one_cpu};
    emu_thread_pool *pool = nullptr;
    EXPECT_EQ(emu_thread_pool_create(&options, &pool, nullptr), TUTTI_OK);
    return Pool(pool);
}

// Something that threads do and that can be waited for.
class Work {
  public:
    explicit Work(std::function<void()> body) : body_(std::move(body)) {}
    static void run(void *argument) {
        Work *work = static_cast<Work *>(argument);
        work->body_();
        const std::lock_guard<std::mutex> guard(work->lock_);
        work->done_++;
        work->changed_.notify_all();
    }
    void wait(int count) {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [&] { return done_ >= count; });
    }

  private:
    std::function<void()> body_;
    std::mutex lock_;
    std::condition_variable changed_;
    int done_ = 0;
};

void run_on_all(emu_thread_pool *pool, uint32_t count, Work *work) {
    for (uint32_t i = 0; i < count; i++)
        emu_thread_pool_assign(pool, i, Work::run, work);
    for (uint32_t i = 0; i < count; i++)
        emu_thread_pool_start(pool, i);
}

TEST(ThreadPool, EveryThreadDoesItsJob) {
    const Pool pool = make_pool();
    ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 20, nullptr), TUTTI_OK);
    std::mutex lock;
    std::set<std::thread::id> seen;
    Work work([&] {
        const std::lock_guard<std::mutex> guard(lock);
        seen.insert(std::this_thread::get_id());
    });
    run_on_all(pool.get(), 20, &work);
    work.wait(20);
    EXPECT_EQ(seen.size(), 20U);
}

TEST(ThreadPool, ThreadsAreUsedAgain) {
    const Pool pool = make_pool();
    std::mutex lock;
    std::set<std::thread::id> seen;
    Work work([&] {
        const std::lock_guard<std::mutex> guard(lock);
        seen.insert(std::this_thread::get_id());
    });
    for (int round = 1; round <= 50; round++) {
        ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 4, nullptr), TUTTI_OK);
        run_on_all(pool.get(), 4, &work);
        work.wait(4 * round);
    }
    EXPECT_EQ(seen.size(), 4U);
}

TEST(ThreadPool, GrowsAndKeepsWhatItHas) {
    const Pool pool = make_pool();
    Work work([] {});
    int done = 0;
    for (const uint32_t count : {1U, 3U, 2U, 40U}) {
        ASSERT_EQ(emu_thread_pool_reserve(pool.get(), count, nullptr), TUTTI_OK);
        run_on_all(pool.get(), count, &work);
        done += static_cast<int>(count);
        work.wait(done);
    }
}

TEST(ThreadPool, StartIsNotLostWhenTheThreadIsSlowToCome) {
    const Pool pool = make_pool();
    Work work([] {});
    ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 1, nullptr), TUTTI_OK);
    run_on_all(pool.get(), 1, &work); // perhaps before it has begun to wait
    work.wait(1);
}

TEST(ThreadPool, WithoutThreadsIsDestroyed) {
    (void)make_pool();
    emu_thread_pool_destroy(nullptr);
}

TEST(ThreadPool, TooFewThreadsOfTheSystemIsAnErrorThatSaysWhy) {
    const Pool pool = make_pool(false, size_t{1} << 47); // no address space has room for that
    tutti_error error;
    tutti_error_clear(&error);
    EXPECT_EQ(emu_thread_pool_reserve(pool.get(), 3, &error), TUTTI_SYSTEM);
    EXPECT_STREQ(error.native_domain, "errno");
    EXPECT_NE(error.native_code, 0);
    EXPECT_NE(std::string(error.message).find("thread 0 could not be made"), std::string::npos);
    EXPECT_EQ(emu_thread_pool_reserve(pool.get(), 3, nullptr), TUTTI_SYSTEM);
}

TEST(ThreadPool, SmallStacksAreMadeLargeEnough) {
    const Pool pool = make_pool(false, 1);
    size_t bytes = 0;
    Work work([&] {
        pthread_attr_t attributes;
        void *start = nullptr;
        ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
        EXPECT_EQ(pthread_attr_getstack(&attributes, &start, &bytes), 0);
        pthread_attr_destroy(&attributes);
    });
    ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 1, nullptr), TUTTI_OK);
    run_on_all(pool.get(), 1, &work);
    work.wait(1);
    EXPECT_GE(bytes, 60U * 1024);
}

TEST(ThreadPool, OneCpuIsTheOneOfWhoeverMadeThePool) {
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    const Pool pool = make_pool(true);
    std::mutex lock;
    std::vector<cpu_set_t> sets;
    Work work([&] {
        cpu_set_t set;
        ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
        const std::lock_guard<std::mutex> guard(lock);
        sets.push_back(set);
    });
    ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 3, nullptr), TUTTI_OK);
    run_on_all(pool.get(), 3, &work);
    work.wait(3);
    for (const cpu_set_t &set : sets) {
        EXPECT_EQ(CPU_COUNT(&set), 1);
        EXPECT_TRUE(CPU_EQUAL(&set, &sets[0]));
    }
    ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the caller's own CPUs are as they were";
}

// A door that a stuck job waits at.
struct Door {
    std::mutex lock;
    std::condition_variable opened;
    bool open = false;
    void pass() {
        std::unique_lock<std::mutex> guard(lock);
        opened.wait(guard, [&] { return open; });
    }
    void let_through() {
        const std::lock_guard<std::mutex> guard(lock);
        open = true;
        opened.notify_all();
    }
};

TEST(ThreadPool, GivenUpThreadIsReplacedAndEndsWithItsJob) {
    Door door;
    Work stuck([&] { door.pass(); });
    Work quick([] {});
    {
        const Pool pool = make_pool();
        ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 2, nullptr), TUTTI_OK);
        emu_thread_pool_assign(pool.get(), 0, Work::run, &stuck);
        emu_thread_pool_start(pool.get(), 0);
        emu_thread_pool_abandon(pool.get(), 0);
        ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 2, nullptr), TUTTI_OK);
        run_on_all(pool.get(), 2, &quick);
        quick.wait(2);
    }
    // The pool is gone, and the stuck thread is not.
    door.let_through();
    stuck.wait(1);
}

TEST(ThreadPool, GivenUpThreadMayHaveEndedItsJob) {
    for (int i = 0; i < 50; i++) {
        const Pool pool = make_pool();
        Work work([] {});
        ASSERT_EQ(emu_thread_pool_reserve(pool.get(), 1, nullptr), TUTTI_OK);
        run_on_all(pool.get(), 1, &work);
        if (i % 2 == 0) work.wait(1);
        emu_thread_pool_abandon(pool.get(), 0);
        work.wait(1);
    }
}

} // namespace
