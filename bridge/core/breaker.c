#include "bridge/core/breaker.h"

#include <string.h>

static void forget(ab_breaker_t *breaker)
{
    memset(breaker->steps, 0, sizeof(breaker->steps));
    breaker->window = (ab_breaker_counts_t){0, 0};
}

/* Drops the steps that the window has left behind. */
static void move_on(ab_breaker_t *breaker, const ab_breaker_rule_t *rule, int64_t now_ms)
{
    const int64_t step_ms =
        rule->window_ms / AB_BREAKER_STEPS > 0 ? (int64_t)(rule->window_ms / AB_BREAKER_STEPS) : 1;
    const int64_t step = now_ms / step_ms;
    if (step - breaker->step >= (int64_t)AB_BREAKER_STEPS) {
        forget(breaker);
        breaker->step = step;
    }
    while (breaker->step < step) {
        breaker->step++;
        ab_breaker_counts_t *oldest = &breaker->steps[(uint64_t)breaker->step % AB_BREAKER_STEPS];
        breaker->window.read -= oldest->read;
        breaker->window.dead_lettered -= oldest->dead_lettered;
        *oldest = (ab_breaker_counts_t){0, 0};
    }
}

static void count(ab_breaker_t *breaker, bool dead)
{
    ab_breaker_counts_t *newest = &breaker->steps[(uint64_t)breaker->step % AB_BREAKER_STEPS];
    newest->read++;
    newest->dead_lettered += dead;
    breaker->window.read++;
    breaker->window.dead_lettered += dead;
}

static ab_breaker_change_t note_probe(ab_breaker_t *breaker, const ab_breaker_rule_t *rule,
                                      bool dead, int64_t now_ms)
{
    breaker->good = dead ? 0 : breaker->good + 1;
    breaker->next_ms = now_ms + (int64_t)rule->probe_ms;
    if (breaker->good < AB_BREAKER_GOOD) {
        return AB_BREAKER_SAME;
    }
    breaker->open = false;
    forget(breaker); /* what opened it is over */
    return AB_BREAKER_CLOSED;
}

ab_breaker_change_t ab_breaker_note(ab_breaker_t *breaker, const ab_breaker_rule_t *rule,
                                    ab_reason_t reason, int64_t now_ms)
{
    const bool dead = reason != AB_REASON_NONE;
    if (rule->off) {
        return AB_BREAKER_SAME;
    }
    if (dead) {
        breaker->last_reason = reason;
    }
    if (breaker->open) {
        return note_probe(breaker, rule, dead, now_ms);
    }
    move_on(breaker, rule, now_ms);
    count(breaker, dead);
    const ab_breaker_counts_t *window = &breaker->window;
    if (window->read < rule->min_records ||
        window->dead_lettered * 1000 <= window->read * rule->ratio_permille) {
        return AB_BREAKER_SAME;
    }
    breaker->open = true;
    breaker->good = 0;
    breaker->next_ms = now_ms + (int64_t)rule->probe_ms;
    breaker->tripped = *window;
    return AB_BREAKER_OPENED;
}

bool ab_breaker_lets_through(const ab_breaker_t *breaker, int64_t now_ms)
{
    return !breaker->open || now_ms >= breaker->next_ms;
}
