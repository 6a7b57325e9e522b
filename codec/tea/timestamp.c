#include <string.h>

#include "codec/tea/scalar.h"

/* Timestamps: YYYY-MM-DDTHH:MM:SS.mmm and Z or an offset. Seconds and below pass through as they
 * are, second 60 included; an offset moves whole minutes. */

#define DAYS_OF_400_YEARS 146097
#define MINUTES_OF_DAY    1440
#define MS_OF_MINUTE      60000
#define YEAR_MAX          9999
/** Length of a timestamp that ends in an offset. */
#define OFFSET_SIZE 29u

/** Days from 0000-03-01 to a date; years begin in March, so that a leap day is the last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month > 2 ? month - 3 : month + 9;
    year -= month <= 2;
    int64_t era = year >= 0 ? year / 400 : -1;
    int64_t of_era = year - era * 400;
    return era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 +
           (153 * shifted + 2) / 5 + day - 1;
}

/** The date of so many days behind 0000-03-01, from -366 days on. */
static void date_of(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day)
{
    int64_t era = days >= 0 ? days / DAYS_OF_400_YEARS : -1;
    int64_t of_era = days - era * DAYS_OF_400_YEARS;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t shifted = (5 * of_year + 2) / 153;
    *ret_day = of_year - (153 * shifted + 2) / 5 + 1;
    *ret_month = shifted < 10 ? shifted + 3 : shifted - 9;
    *ret_year = year + era * 400 + (*ret_month <= 2);
}

/** count digits at a place; -1 when one is none. */
static int64_t digits_at(const uint8_t *at, size_t count)
{
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t digit = (uint8_t)(at[i] - '0');
        if (digit > 9) {
            return -1;
        }
        value = value * 10 + digit;
    }
    return value;
}

static void put_digits(char *at, size_t count, int64_t value)
{
    for (; count > 0; count--) {
        at[count - 1] = (char)('0' + value % 10);
        value /= 10;
    }
}

/** The date and the minute of so many minutes behind 0000-03-01. False when no four-digit year
 * holds it. */
static bool put_minutes(int64_t minutes, char ret_text[AW_TEA_TIMESTAMP_SIZE])
{
    int64_t year, month, day;
    int64_t days = minutes / MINUTES_OF_DAY - (minutes % MINUTES_OF_DAY < 0);
    int64_t left = minutes - days * MINUTES_OF_DAY;
    if (days < days_of(0, 1, 1) || days > days_of(YEAR_MAX, 12, 31)) {
        return false;
    }
    date_of(days, &year, &month, &day);
    put_digits(ret_text, 4, year);
    put_digits(ret_text + 5, 2, month);
    put_digits(ret_text + 8, 2, day);
    put_digits(ret_text + 11, 2, left / 60);
    put_digits(ret_text + 14, 2, left % 60);
    return true;
}

/** Reads the zone behind the fraction as minutes east of UTC. */
static bool read_zone(aw_span_t text, int64_t *ret_minutes)
{
    const uint8_t *zone = text.data + AW_TEA_TIMESTAMP_SIZE - 1;
    if (text.size == AW_TEA_TIMESTAMP_SIZE) {
        *ret_minutes = 0;
        return *zone == 'Z';
    }
    if (text.size != OFFSET_SIZE || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') {
        return false;
    }
    int64_t hours = digits_at(zone + 1, 2);
    int64_t minutes = digits_at(zone + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
        return false;
    }
    *ret_minutes = (hours * 60 + minutes) * (zone[0] == '-' ? -1 : 1);
    return true;
}

static bool is_date(int64_t year, int64_t month, int64_t day)
{
    if (year < 0 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    int64_t next = month < 12 ? days_of(year, month + 1, 1) : days_of(year + 1, 1, 1);
    return day <= next - days_of(year, month, 1);
}

bool aw__tea_timestamp_read(aw_span_t text, char ret_text[AW_TEA_TIMESTAMP_SIZE])
{
    const uint8_t *at = text.data;
    int64_t zone;
    if (text.size < AW_TEA_TIMESTAMP_SIZE || at[4] != '-' || at[7] != '-' || at[10] != 'T' ||
        at[13] != ':' || at[16] != ':' || at[19] != '.' || !read_zone(text, &zone)) {
        return false;
    }
    int64_t year = digits_at(at, 4);
    int64_t month = digits_at(at + 5, 2);
    int64_t day = digits_at(at + 8, 2);
    int64_t hour = digits_at(at + 11, 2);
    int64_t minute = digits_at(at + 14, 2);
    int64_t second = digits_at(at + 17, 2);
    if (!is_date(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60 || digits_at(at + 20, 3) < 0) {
        return false;
    }
    char result[AW_TEA_TIMESTAMP_SIZE];
    memcpy(result, at, AW_TEA_TIMESTAMP_SIZE - 1);
    result[AW_TEA_TIMESTAMP_SIZE - 1] = 'Z';
    int64_t minutes = days_of(year, month, day) * MINUTES_OF_DAY + hour * 60 + minute - zone;
    if (!put_minutes(minutes, result)) {
        return false;
    }
    memcpy(ret_text, result, sizeof result);
    return true;
}

bool aw__tea_timestamp_write(int64_t timestamp_ms, char ret_text[AW_TEA_TIMESTAMP_SIZE])
{
    char result[AW_TEA_TIMESTAMP_SIZE] = "0000-00-00T00:00:00.000";
    int64_t left = timestamp_ms % MS_OF_MINUTE;
    int64_t minutes = timestamp_ms / MS_OF_MINUTE - (left < 0);
    left += left < 0 ? MS_OF_MINUTE : 0;
    if (!put_minutes(minutes + days_of(1970, 1, 1) * MINUTES_OF_DAY, result)) {
        return false;
    }
    put_digits(result + 17, 2, left / 1000);
    put_digits(result + 20, 3, left % 1000);
    result[AW_TEA_TIMESTAMP_SIZE - 1] = 'Z';
    memcpy(ret_text, result, sizeof result);
    return true;
}
