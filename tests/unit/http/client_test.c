#include "bridge/http/client.h"

#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/http/listen.h"

/* A server that takes one connection, says what it is told, and closes. */
typedef struct liar {
    const char *text; /* NULL: says nothing and waits for the other side */
    size_t fill;      /* then so many letters */
    unsigned drip_ms; /* a pause between the letters of text */
    int listen_fd;
    unsigned port;
    pthread_t thread;
    char request[512]; /* what it was asked */
} liar_t;

static void say(int fd, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        text += sent;
        size -= (size_t)sent;
    }
}

static void *lie(void *opaque)
{
    liar_t *liar = opaque;
    const int fd = accept(liar->listen_fd, NULL, NULL);
    char letters[64];
    const struct timespec pause = {liar->drip_ms / 1000, (long)(liar->drip_ms % 1000) * 1000000};
    if (fd < 0) {
        return NULL;
    }
    (void)recv(fd, liar->request, sizeof(liar->request) - 1, 0);
    for (const char *at = liar->text; at != NULL && *at != '\0' && liar->drip_ms > 0; at++) {
        say(fd, at, 1);
        (void)nanosleep(&pause, NULL);
    }
    if (liar->text == NULL) {
        char byte;
        (void)recv(fd, &byte, 1, 0);
    } else if (liar->drip_ms == 0) {
        say(fd, liar->text, strlen(liar->text));
    }
    memset(letters, 'x', sizeof(letters));
    for (size_t left = liar->fill; left > 0;) {
        const size_t size = left < sizeof(letters) ? left : sizeof(letters);
        say(fd, letters, size);
        left -= size;
    }
    (void)close(fd);
    return NULL;
}

static void start_liar(liar_t *liar)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    liar->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(liar->listen_fd >= 0);
    assert_int_equal(bind(liar->listen_fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(liar->listen_fd, 1), 0);
    assert_int_equal(getsockname(liar->listen_fd, (struct sockaddr *)&address, &size), 0);
    liar->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&liar->thread, NULL, lie, liar), 0);
}

static void end_liar(liar_t *liar)
{
    assert_int_equal(pthread_join(liar->thread, NULL), 0);
    (void)close(liar->listen_fd);
}

/* Asks a liar. */
static bool ask(liar_t *liar, int timeout_ms, ab_http_reply_t *reply,
                char complaint[AB_HTTP_COMPLAINT_MAX])
{
    start_liar(liar);
    const bool got = ab_http_get("127.0.0.1", liar->port, "/readyz", timeout_ms, reply, complaint);
    end_liar(liar);
    return got;
}

static ab_http_reply_t *reply_new(void)
{
    ab_http_reply_t *reply = calloc(1, sizeof(*reply));
    assert_non_null(reply);
    return reply;
}

static bool parse(ab_http_reply_t *reply, const char *text, size_t size)
{
    memcpy(reply->data, text, size);
    return ab_http_reply_parse(reply, size);
}

static void test_reply_in_form_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned status;
        const char *body;
    } good[] = {
        {"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", 200, "body"},
        {"HTTP/1.0 503 Service Unavailable\r\n\r\n", 503, ""},
        {"HTTP/1.1 404\r\n\r\n\r\n", 404, "\r\n"},
        {"HTTP/1.1 200 OK\nA: b\n\nbody\n", 200, "body\n"},
        {"HTTP/1.9 599 x\r\n\r\n{}", 599, "{}"},
        {"HTTP/1.1 100 \r\nContent-Length: 99\r\n\r\nshort", 100, "short"},
    };
    ab_http_reply_t *reply = reply_new();
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(parse(reply, good[i].text, strlen(good[i].text)));
        assert_int_equal(reply->status, good[i].status);
        assert_string_equal(reply->body, good[i].body);
        assert_int_equal(reply->size, strlen(good[i].body));
    }
    free(reply);
}

static void test_reply_not_in_form_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "H",
        "HTTP/1.1",
        "HTTP/1.1 ",
        "HTTP/1.1 2",
        "HTTP/1.1 20",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n",
        "HTTP/1.1 200 OK\r\nA: b",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "HTTP/1. 200 OK\r\n\r\n",
        " HTTP/1.1 200 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    };
    ab_http_reply_t *reply = reply_new();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (parse(reply, bad[i], strlen(bad[i]))) {
            fail_msg("taken: %s", bad[i]);
        }
    }
    static const char with_nul[] = "HTTP/1.1 200 OK\r\n\0\r\n\r\n";
    assert_false(parse(reply, with_nul, sizeof(with_nul) - 1));
    free(reply);
}

/* Every beginning of an answer, and every one with a byte changed: read within its bounds. */
static void test_reply_mutated_stays_inside_its_bytes(void **state)
{
    (void)state;
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    static const char bytes[] = {'\0', '\n', '\r', ' ', '0', '9', 'x', (char)0xff};
    ab_http_reply_t *reply = reply_new();
    unsigned taken = 0;
    for (size_t size = 0; size < sizeof(text); size++) {
        taken += parse(reply, text, size);
        for (size_t i = 0; i < sizeof(bytes); i++) {
            memcpy(reply->data, text, sizeof(text) - 1);
            reply->data[size] = bytes[i];
            if (ab_http_reply_parse(reply, sizeof(text) - 1)) {
                assert_true(reply->status >= 100 && reply->status < 600);
                assert_ptr_equal(reply->body + reply->size, reply->data + sizeof(text) - 1);
                taken++;
            }
        }
    }
    assert_true(taken > 10);
    free(reply);
}

static void test_get_answer_comes_back_whole(void **state)
{
    (void)state;
    liar_t liar = {.text = "HTTP/1.1 503 No\r\nA: b\r\n\r\n{\"ready\":false}"};
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = reply_new();
    assert_true(ask(&liar, 5000, reply, complaint));
    assert_int_equal(reply->status, 503);
    assert_string_equal(reply->body, "{\"ready\":false}");
    assert_non_null(strstr(liar.request, "GET /readyz HTTP/1.0\r\nHost: 127.0.0.1:"));
    assert_string_equal(liar.request + strlen(liar.request) - 4, "\r\n\r\n");
    free(reply);
}

static void test_get_largest_answer_fits_and_a_byte_more_does_not(void **state)
{
    (void)state;
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = reply_new();
    liar_t largest = {.text = head, .fill = AB_HTTP_REPLY_MAX - (sizeof(head) - 1)};
    assert_true(ask(&largest, 20000, reply, complaint));
    assert_int_equal(reply->size, largest.fill);
    liar_t larger = {.text = head, .fill = largest.fill + 1};
    assert_false(ask(&larger, 20000, reply, complaint));
    assert_string_equal(complaint, "the answer is too long");
    free(reply);
}

static void test_get_other_protocol_refused(void **state)
{
    (void)state;
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = reply_new();
    liar_t liar = {.text = "SSH-2.0-OpenSSH_9.2\r\n"};
    assert_false(ask(&liar, 5000, reply, complaint));
    assert_string_equal(complaint, "what answers does not speak HTTP");
    liar_t closes = {.text = ""};
    assert_false(ask(&closes, 5000, reply, complaint));
    assert_string_equal(complaint, "what answers does not speak HTTP");
    free(reply);
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_get_silence_and_drips_end_at_the_timeout(void **state)
{
    (void)state;
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = reply_new();
    liar_t liars[] = {{.text = NULL}, {.text = "HTTP/1.1 200 OK\r\n\r\n", .drip_ms = 60}};
    for (size_t i = 0; i < 2; i++) {
        const double begun = seconds_now();
        assert_false(ask(&liars[i], 300, reply, complaint));
        assert_true(seconds_now() - begun >= 0.29);
        assert_string_equal(complaint, "Connection timed out");
    }
    free(reply);
}

static void test_get_nothing_listens_refused_at_once(void **state)
{
    (void)state;
    unsigned port = 0;
    char complaint[AB_HTTP_COMPLAINT_MAX] = "";
    ab_http_reply_t *reply = reply_new();
    const int fd = ab_http_listen("127.0.0.1", 0, &port);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_false(ab_http_get("127.0.0.1", port, "/livez", 5000, reply, complaint));
    assert_string_equal(complaint, "Connection refused");
    assert_false(ab_http_get("nonsense", port, "/livez", 5000, reply, complaint));
    assert_string_equal(complaint, "Invalid argument");
    free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reply_in_form_taken_apart),
        cmocka_unit_test(test_reply_not_in_form_refused),
        cmocka_unit_test(test_reply_mutated_stays_inside_its_bytes),
        cmocka_unit_test(test_get_answer_comes_back_whole),
        cmocka_unit_test(test_get_largest_answer_fits_and_a_byte_more_does_not),
        cmocka_unit_test(test_get_other_protocol_refused),
        cmocka_unit_test(test_get_silence_and_drips_end_at_the_timeout),
        cmocka_unit_test(test_get_nothing_listens_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
