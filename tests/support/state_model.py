"""What an export request may be answered with, worked out from the state topic alone.

A request carries the ends that its writer knew: everything below them was written before it. The answer
then has to be the state of its key as it was at those ends, or at some later moment.
"""

import snapshots

STATE_OFFSET = "__agent_bridge.state_offset"
STATE_AT = "__agent_bridge.state_at_ms"
STATE_REFUSED = "__agent_bridge.state_refused"
SOURCE = "__agent_bridge.source"


class StateModel:
    """The history of each key, from the committed records of a state topic."""

    def __init__(self, topic, records, judge):
        self.topic, self.judge = topic, judge
        self.histories = {}  # (partition, key) -> [(offset, state record or None, refusing offset or None)]
        for record in records:
            self._apply(record)

    def _apply(self, record):
        history = self.histories.setdefault((record.partition, record.key), [])
        before = history[-1] if history else (-1, None, None)
        if record.value is None:
            history.append((record.offset, None, None))
            return
        message = self.judge.parse("StateSnapshot", record.value)
        if message is None or message.entity_key != record.key:
            reason = "undecodable" if message is None else "key_mismatch"
            history.append((record.offset, before[1], f"{reason}:{self.topic}:{record.partition}:{record.offset}"))
        else:
            history.append((record.offset, record, None))

    def allowed(self, partition, key, end):
        """The (state record or None, refusal or None) that a request may see which knew of everything below end."""
        history = self.histories.get((partition, key), [])
        before = [entry for entry in history if entry[0] < end]
        first = before[-1] if before else (-1, None, None)
        return [first[1:]] + [entry[1:] for entry in history if entry[0] >= end]

    def final(self, partition, key):
        history = self.histories.get((partition, key), [])
        return history[-1][1:] if history else (None, None)

    def expected(self, request, state, refusal):
        """(value, headers) of the answer to a request when the key's state is this."""
        source = f"{request.topic}:{request.partition}:{request.offset}:{request.timestamp_ms}".encode()
        headers = [(SOURCE, source)]
        if state is None:
            value = snapshots.empty(request.key, request.time_ms, request.request_id, self.judge)
        else:
            value = snapshots.expected(state.value, request.time_ms, request.request_id, self.judge)[0]
            was = self.judge.parse("StateSnapshot", state.value)
            headers += [(STATE_OFFSET, f"{self.topic}:{state.partition}:{state.offset}".encode()),
                        (STATE_AT, str(was.snapshot_at_ms).encode())]
        if refusal is not None:
            headers.append((STATE_REFUSED, refusal.encode()))
        return value, tuple(headers)

    def problems(self, request, answers):
        """What is wrong with the answers to one request, as a list of lines."""
        where = f"{request.topic}:{request.partition}:{request.offset} ({request.request_id})"
        if len(answers) != 1:
            return [f"{where}: {len(answers)} answers"]
        found = answers[0]
        if found.key != request.key:
            return [f"{where}: answered under the key {found.key!r}"]
        choices = [self.expected(request, *choice)
                   for choice in self.allowed(request.partition, request.key, request.end)]
        if (found.value, found.headers) not in choices:
            return [f"{where}: the answer is none of {len(choices)} that are allowed; it has {found.headers}, "
                    f"the first allowed {choices[0][1]}"]
        return []
