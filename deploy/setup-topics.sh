#!/bin/bash
# Makes the topics of the example configurations, and says what is wrong with those that are there.
# Runs once, in the image apache/kafka, from docker-compose.yml; elsewhere set KAFKA_TOPICS and BOOTSTRAP.
#
#   BOOTSTRAP    host:port of a broker (kafka:19092)
#   PARTITIONS   of every topic (2): a key then keeps its partition from the source to each output
#   REPLICAS     of every partition (1)
#
# Exit codes: 0 all topics are as they have to be, 1 one that is there is not, 69 no broker answers.
set -euo pipefail

tool=${KAFKA_TOPICS:-/opt/kafka/bin/kafka-topics.sh}
bootstrap=${BOOTSTRAP:-kafka:19092}
partitions=${PARTITIONS:-2}
replicas=${REPLICAS:-1}
day=86400000

# Envelopes are events, which are not compacted. Published state is, or that of a quiet agent would be lost;
# its tombstones stay for a day, as long as a bridge may be down and build upon what it has. What was refused
# is kept twice as long as the source, so that there is time to look at it. A quarantine topic takes what the
# source takes and the headers that say where it came from; then every refused record fits whole.
week="cleanup.policy=delete,retention.ms=$((7 * day))"
state="cleanup.policy=compact,delete.retention.ms=$day"
fortnight="cleanup.policy=delete,retention.ms=$((14 * day))"
topics=(
  "agents.in             $week,max.message.bytes=1048588"
  "agents.events         $week,max.message.bytes=1114112"
  "agents.results        $week,max.message.bytes=1114112"
  "agents.approvals      $week,max.message.bytes=1114112"
  "agents.snapshots      $state,max.message.bytes=1048588"
  "agents.snapshots.answers  $week,max.message.bytes=1114112"
  "agents.in.errors      $fortnight,max.message.bytes=1048588"
  "agents.in.quarantine  $fortnight,max.message.bytes=1114112"
)

# Each call is a Java program of its own, which here lives for a second.
export KAFKA_HEAP_OPTS='-Xmx128m'
export KAFKA_JVM_PERFORMANCE_OPTS='-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true'

# kafka-topics.sh --describe's line of a topic as "NAME PARTITIONS CONFIG", for all topics.
describe() {
  "$tool" --bootstrap-server "$bootstrap" --describe |
    sed -n 's/^Topic: *\([^[:space:]]*\).*PartitionCount: *\([0-9]*\).*Configs: *\(.*\)$/\1 \2 \3/p'
}

there=''
for attempt in 1 2 3 4 5 6; do
  there=$(describe) && break
  if [ "$attempt" = 6 ]; then
    echo "setup-topics: no broker answers at $bootstrap; is Kafka up?" >&2
    exit 69
  fi
  sleep 2
done

for row in "${topics[@]}"; do
  read -r topic config <<<"$row"
  if ! grep -q "^$topic " <<<"$there"; then
    options=(--partitions "$partitions" --replication-factor "$replicas")
    for item in ${config//,/ }; do
      options+=(--config "$item")
    done
    "$tool" --bootstrap-server "$bootstrap" --create --if-not-exists --topic "$topic" "${options[@]}" \
      >/dev/null
  fi
done

there=$(describe)
bad=0
printf '%-24s %10s  %-8s %9s %11s\n' topic partitions cleanup retention 'max message'
for row in "${topics[@]}"; do
  read -r topic config <<<"$row"
  found=$(grep "^$topic " <<<"$there" || true)
  read -r _ count has <<<"$found"
  value() { tr ',' '\n' <<<"$has" | sed -n "s/^$1=//p"; }
  kept=$(value retention.ms)
  printf '%-24s %10s  %-8s %9s %11s\n' "$topic" "$count" "$(value cleanup.policy)" \
    "${kept:+$((kept / day))d}" "$(value max.message.bytes)"
  if [ "$count" != "$partitions" ]; then
    echo "setup-topics: $topic has $count partitions, $partitions were asked for" >&2
    bad=1
  fi
  for item in ${config//,/ }; do
    if [ "$(value "${item%%=*}")" != "${item#*=}" ]; then
      echo "setup-topics: $topic has ${item%%=*}=$(value "${item%%=*}"), not ${item#*=}" >&2
      bad=1
    fi
  done
done
exit "$bad"
