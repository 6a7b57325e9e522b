#include "bridge/config/value.h"

/* Reads exactly count digits and moves *at behind them; -1 when there are fewer. */
static int read_fixed(const char **at, unsigned count)
{
    int number = 0;
    for (unsigned i = 0; i < count; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9') {
            return -1;
        }
        number = number * 10 + ((*at)[i] - '0');
    }
    *at += count;
    return number;
}

static bool read_byte(const char **at, char wanted)
{
    if (**at != wanted) {
        return false;
    }
    (*at)++;
    return true;
}

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Reads "2026-01-31" as days since 1970-01-01; false when there is no such day. */
static bool read_date(const char **at, int64_t *ret_days)
{
    static const int before_month[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int year = read_fixed(at, 4);
    if (year < 0 || !read_byte(at, '-')) {
        return false;
    }
    int month = read_fixed(at, 2);
    if (month < 1 || month > 12 || !read_byte(at, '-')) {
        return false;
    }
    int day = read_fixed(at, 2);
    int leap = is_leap_year(year) ? 1 : 0;
    int days_in_month = before_month[month] - before_month[month - 1] + (month == 2 ? leap : 0);
    if (day < 1 || day > days_in_month) {
        return false;
    }
    /* The leap days up to and without this year, less those before 1970, of which there were 477;
     * year 0 is one itself. */
    int last = year - 1;
    int leap_days = year > 0 ? 1 + last / 4 - last / 100 + last / 400 : 0;
    *ret_days = 365 * ((int64_t)year - 1970) + leap_days - 478 + before_month[month - 1] +
                (month > 2 ? leap : 0) + day - 1;
    return true;
}

/* Reads "23:59:60" as seconds of the day. */
static bool read_clock(const char **at, int64_t *ret_seconds)
{
    int hour = read_fixed(at, 2);
    if (hour < 0 || hour > 23 || !read_byte(at, ':')) {
        return false;
    }
    int minute = read_fixed(at, 2);
    if (minute < 0 || minute > 59 || !read_byte(at, ':')) {
        return false;
    }
    int second = read_fixed(at, 2);
    if (second < 0 || second > 60) {
        return false;
    }
    *ret_seconds = (int64_t)hour * 3600 + minute * 60 + second;
    return true;
}

/* Reads ".123456", if there is one, as milliseconds. */
static bool read_fraction(const char **at, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (!read_byte(at, '.')) {
        return true;
    }
    int weight = 100;
    unsigned digits = 0;
    while (**at >= '0' && **at <= '9') {
        *ret_ms += weight * (**at - '0');
        weight /= 10;
        digits++;
        (*at)++;
    }
    return digits > 0;
}

/* Reads "Z" or "+01:00" as the seconds that local time is ahead. */
static bool read_zone(const char **at, int64_t *ret_seconds)
{
    *ret_seconds = 0;
    if (read_byte(at, 'Z') || read_byte(at, 'z')) {
        return true;
    }
    int sign = read_byte(at, '+') ? 1 : read_byte(at, '-') ? -1 : 0;
    if (sign == 0) {
        return false;
    }
    int hours = read_fixed(at, 2);
    if (hours < 0 || hours > 23 || !read_byte(at, ':')) {
        return false;
    }
    int minutes = read_fixed(at, 2);
    if (minutes < 0 || minutes > 59) {
        return false;
    }
    *ret_seconds = sign * ((int64_t)hours * 3600 + minutes * 60);
    return true;
}

bool ab_time_parse(const char *text, int64_t *ret_ms)
{
    const char *at = text;
    int64_t days, seconds, fraction_ms, ahead;
    if (!read_date(&at, &days) || !(read_byte(&at, 'T') || read_byte(&at, 't')) ||
        !read_clock(&at, &seconds) || !read_fraction(&at, &fraction_ms) ||
        !read_zone(&at, &ahead) || *at != '\0') {
        return false;
    }
    int64_t ms = (days * 86400 + seconds - ahead) * 1000 + fraction_ms;
    if (ms < 0) {
        return false; /* Kafka takes negative times for earliest and latest */
    }
    *ret_ms = ms;
    return true;
}
