/* Reads doubles as hex digits of their bits, a line each, and prints what the writer makes of each
 * in the three layouts. json_number_test.py compares that with Python's repr. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json/number.h"

int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint64_t bits = strtoull(line, NULL, 16);
        double value;
        memcpy(&value, &bits, sizeof value);
        for (int layout = AW_JSON_NUMBERS_TEA; layout <= AW_JSON_NUMBERS_PYTHON; layout++) {
            char text[AW__DOUBLE_TEXT_MAX];
            size_t size = aw__double_text(value, (aw_json_numbers_t)layout, text);
            printf("%.*s%c", (int)size, text, layout == AW_JSON_NUMBERS_PYTHON ? '\n' : ' ');
        }
    }
    return 0;
}
