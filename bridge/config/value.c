#include "bridge/config/value.h"

#include <arpa/inet.h>
#include <string.h>

#include "bridge/core/record.h"

/* Room for the words of one key in a sentence. */
#define WORDS_TEXT_MAX 96

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit_t;

/* The largest first. */
static const unit_t size_units[] = {
    {"GiB", 1024u * 1024u * 1024u}, {"MiB", 1024u * 1024u}, {"KiB", 1024u}, {"B", 1}, {NULL, 0}};
static const unit_t duration_units[] = {
    {"h", 3600000u}, {"m", 60000u}, {"s", 1000u}, {"ms", 1}, {NULL, 0}};
static const unit_t no_units[] = {{"", 1}, {NULL, 0}};

static const unit_t *units_of(const ab_key_t *key)
{
    return key->type == AB_KEY_SIZE       ? size_units
           : key->type == AB_KEY_DURATION ? duration_units
                                          : no_units;
}

const char *ab_number_text(const ab_key_t *key, uint64_t number, char ret_text[AB_NUMBER_TEXT_MAX])
{
    const unit_t *unit = units_of(key);
    while (unit->factor > 1 && (number == 0 || number % unit->factor != 0)) {
        unit++;
    }
    snprintf(ret_text, AB_NUMBER_TEXT_MAX, "%llu%s", (unsigned long long)(number / unit->factor),
             unit->name);
    return ret_text;
}

const char *ab_word_next(const char **at, size_t *ret_size)
{
    const char *word = *at;
    if (word == NULL || *word == '\0') {
        return NULL;
    }
    *ret_size = strcspn(word, "|");
    *at = word + *ret_size + (word[*ret_size] == '|' ? 1 : 0);
    return word;
}

/* The number of the word that text is, -1 when it is none. */
static int word_number(const char *words, const char *text)
{
    size_t size;
    const char *at = words;
    const char *word;
    for (int number = 0; (word = ab_word_next(&at, &size)) != NULL; number++) {
        if (strlen(text) == size && memcmp(word, text, size) == 0) {
            return number;
        }
    }
    return -1;
}

const char *ab_words_text(const char *words, char *ret_text, size_t size)
{
    size_t used = 0;
    size_t word_size;
    const char *at = words;
    const char *word;
    ret_text[0] = '\0';
    while ((word = ab_word_next(&at, &word_size)) != NULL && used < size) {
        const char *between = used == 0 ? "" : *at == '\0' ? " or " : ", ";
        int written =
            snprintf(ret_text + used, size - used, "%s%.*s", between, (int)word_size, word);
        used += (size_t)written;
    }
    return ret_text;
}

/* Says what was expected, in one form for all types. Returns false, the parsers' answer. */
static bool refuse(const ab_place_t *place, const char *text, const char *expected)
{
    char shown[AB_SHOWN_MAX];
    ab_place_mistake(place, "expected %s, found `%s`", expected, ab_shown(text, shown));
    return false;
}

/* False after a mistake: text is a word that only later versions know. */
static bool refuse_later(const ab_key_t *key, const char *text, const ab_place_t *place)
{
    if (word_number(key->later, text) < 0) {
        return true;
    }
    char words[WORDS_TEXT_MAX];
    ab_place_mistake(place, "`%s` is not in this version: expected %s", text,
                     ab_words_text(key->words, words, sizeof(words)));
    return false;
}

/* Reads the digits at the beginning of text. Returns what is behind them, NULL when there are none,
 * when a 0 leads others (octal to some), or when the number does not fit. */
static const char *read_digits(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '9') {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return NULL;
        }
        number = number * 10 + digit;
        at++;
    }
    if (at == text || (at - text > 1 && text[0] == '0')) {
        return NULL;
    }
    *ret_number = number;
    return at;
}

bool ab_duration_parse(const char *text, uint64_t *ret_ms)
{
    uint64_t number;
    const char *rest = read_digits(text, &number);
    const unit_t *unit = duration_units;
    while (rest != NULL && unit->name != NULL && strcmp(unit->name, rest) != 0) {
        unit++;
    }
    if (rest == NULL || unit->name == NULL || number > UINT64_MAX / unit->factor) {
        return false;
    }
    *ret_ms = number * unit->factor;
    return true;
}

static bool parse_number(const ab_key_t *key, const char *text, const ab_place_t *place,
                         ab_value_t *value)
{
    const char *expected = key->type == AB_KEY_SIZE
                               ? "a size, a whole number with B, KiB, MiB or GiB, such as 8MiB"
                           : key->type == AB_KEY_DURATION
                               ? "a duration, a whole number with ms, s, m or h, such as 100ms"
                               : "a whole number";
    uint64_t number;
    const char *rest = read_digits(text, &number);
    if (rest == NULL) {
        return refuse(place, text, expected);
    }
    const unit_t *unit = units_of(key);
    while (unit->name != NULL && strcmp(unit->name, rest) != 0) {
        unit++;
    }
    if (unit->name == NULL) {
        return refuse(place, text, expected);
    }
    bool fits = number <= UINT64_MAX / unit->factor;
    if (!fits || number * unit->factor < key->min || number * unit->factor > key->max) {
        char shown[AB_SHOWN_MAX], low[AB_NUMBER_TEXT_MAX], high[AB_NUMBER_TEXT_MAX];
        ab_place_mistake(place, "expected %s to %s, found `%s`", ab_number_text(key, key->min, low),
                         ab_number_text(key, key->max, high), ab_shown(text, shown));
        return false;
    }
    value->number = number * unit->factor;
    return true;
}

/* Decimals between 0 and 1, three at most, as thousandths. */
static bool parse_ratio(const ab_key_t *key, const char *text, const ab_place_t *place,
                        ab_value_t *value)
{
    uint64_t permille = 0;
    uint64_t unit = 1000;
    const char *at = text;
    if (at[0] == '0' && at[1] == '.') {
        for (at += 2; *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            permille += (uint64_t)(*at - '0') * unit;
        }
    }
    if (*at != '\0' || unit == 1000 || permille < key->min || permille > key->max) {
        return refuse(place, text,
                      "a number between 0 and 1 with up to three decimals, such as 0.5");
    }
    value->number = permille;
    return true;
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

static bool is_name(const char *text, size_t most)
{
    size_t size = 0;
    while (is_name_byte(text[size])) {
        size++;
    }
    return size > 0 && size <= most && text[size] == '\0';
}

static bool parse_name(const ab_key_t *key, const char *text, const ab_place_t *place,
                       ab_value_t *value)
{
    if (!is_name(text, key->max)) {
        char expected[96];
        snprintf(expected, sizeof(expected), "1 to %u letters, digits, dots, underscores or dashes",
                 (unsigned)key->max);
        return refuse(place, text, expected);
    }
    value->text = text;
    return true;
}

/* Words that mean something in some key and must not become the name of a topic in another. */
#define RESERVED_WORDS "dead_letter|drop|answer|off|true|false|null"

static bool parse_topic(const ab_key_t *key, const char *text, const ab_place_t *place,
                        ab_value_t *value)
{
    char words[WORDS_TEXT_MAX];
    char expected[WORDS_TEXT_MAX + 128];
    ab_words_text(key->words, words, sizeof(words));
    snprintf(expected, sizeof(expected),
             "the name of a topic (1 to %u letters, digits, dots, underscores or dashes)%s%s",
             AB_CONFIG_TOPIC_MAX,
             words[0] == '\0'                  ? ""
             : strchr(key->words, '|') != NULL ? ", "
                                               : " or ",
             words);
    if (!ab_topic_is_legal(aw_span_text_view(text)) || word_number(RESERVED_WORDS, text) >= 0) {
        return refuse(place, text, expected);
    }
    if (strcmp(text, "__consumer_offsets") == 0 || strcmp(text, "__transaction_state") == 0) {
        return refuse(place, text, "a topic that is not Kafka's own");
    }
    value->text = text;
    return true;
}

static bool parse_route(const ab_key_t *key, const char *text, const ab_place_t *place,
                        ab_value_t *value)
{
    if (word_number(key->words, text) < 0) {
        value->route = AB_ROUTE_TOPIC;
        return parse_topic(key, text, place, value);
    }
    value->route = strcmp(text, "drop") == 0     ? AB_ROUTE_DROP
                   : strcmp(text, "answer") == 0 ? AB_ROUTE_ANSWER
                                                 : AB_ROUTE_DEAD_LETTER;
    return true;
}

static bool parse_start(const ab_key_t *key, const char *text, const ab_place_t *place,
                        ab_value_t *value)
{
    int number = word_number(key->words, text);
    if (number >= 0) {
        value->start = (ab_start_kind_t)number;
        return true;
    }
    value->start = AB_START_TIME;
    if (!ab_time_parse(text, &value->start_time_ms)) {
        return refuse(place, text,
                      "earliest, latest, committed, or a time since 1970 with its zone, such as "
                      "2026-01-31T00:00:00Z");
    }
    return true;
}

static bool parse_path(const ab_key_t *key, const char *text, const ab_place_t *place,
                       ab_value_t *value)
{
    char expected[WORDS_TEXT_MAX];
    if (text[0] != '/' || strlen(text) > key->max) {
        snprintf(expected, sizeof(expected), "a path from the root, of up to %u characters",
                 (unsigned)key->max);
        return refuse(place, text, expected);
    }
    value->text = text;
    return true;
}

static bool parse_word(const char *words, const char *text, const ab_place_t *place,
                       ab_value_t *value)
{
    int number = word_number(words, text);
    if (number < 0) {
        char expected[WORDS_TEXT_MAX];
        return refuse(place, text, ab_words_text(words, expected, sizeof(expected)));
    }
    value->number = (uint64_t)number;
    return true;
}

/* Cuts "host:port" or "[host]:port" in two. Returns the port's text; NULL when it is neither. */
static const char *split_listen(const char *text, char ret_host[AB_LISTEN_HOST_MAX],
                                int *ret_family)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text) {
        return NULL;
    }
    const char *host = text;
    const char *end = colon;
    *ret_family = AF_INET;
    if (text[0] == '[') {
        host++;
        end--;
        *ret_family = AF_INET6;
    }
    if (end <= host || (host != text && *end != ']') || end - host >= AB_LISTEN_HOST_MAX) {
        return NULL;
    }
    memcpy(ret_host, host, (size_t)(end - host));
    ret_host[end - host] = '\0';
    return colon + 1;
}

static bool parse_listen(const ab_key_t *key, const char *text, const ab_place_t *place,
                         ab_value_t *value)
{
    ab_listen_t listen = {.off = word_number(key->words, text) >= 0};
    if (!listen.off) {
        unsigned char address[sizeof(struct in6_addr)];
        uint64_t port = 0;
        int family = AF_INET;
        const char *digits = split_listen(text, listen.host, &family);
        if (digits != NULL && strcmp(listen.host, "localhost") == 0) {
            memcpy(listen.host, "127.0.0.1", sizeof("127.0.0.1"));
        }
        const char *rest = digits == NULL ? NULL : read_digits(digits, &port);
        if (rest == NULL || *rest != '\0' || port < 1 || port > UINT16_MAX ||
            inet_pton(family, listen.host, address) != 1) {
            return refuse(place, text,
                          "an IP address and a port from 1 to 65535, such as 127.0.0.1:9465, "
                          "0.0.0.0:9465 or [::1]:9465, or off");
        }
        listen.port = (unsigned)port;
    }
    value->listen = listen;
    return true;
}

bool ab_value_parse(const ab_key_t *key, const char *text, const ab_place_t *place,
                    ab_value_t *ret_value)
{
    ab_value_t value = {0};
    bool good;
    if (!refuse_later(key, text, place)) {
        return false;
    }
    switch (key->type) {
    case AB_KEY_NAME:
        good = parse_name(key, text, place, &value);
        break;
    case AB_KEY_PATH:
        good = parse_path(key, text, place, &value);
        break;
    case AB_KEY_TOPIC:
    case AB_KEY_TOPICS:
        good = parse_topic(key, text, place, &value);
        break;
    case AB_KEY_OPTIONAL_TOPIC:
        good = word_number(key->words, text) >= 0 || parse_topic(key, text, place, &value);
        break;
    case AB_KEY_ROUTE:
        good = parse_route(key, text, place, &value);
        break;
    case AB_KEY_START:
        good = parse_start(key, text, place, &value);
        break;
    case AB_KEY_LISTEN:
        good = parse_listen(key, text, place, &value);
        break;
    case AB_KEY_BOOL:
        good = parse_word("false|true", text, place, &value);
        break;
    case AB_KEY_RATIO:
        good = parse_ratio(key, text, place, &value);
        break;
    case AB_KEY_WORD:
        good = parse_word(key->words, text, place, &value);
        break;
    default:
        good = parse_number(key, text, place, &value);
        break;
    }
    if (good) {
        *ret_value = value;
    }
    return good;
}
