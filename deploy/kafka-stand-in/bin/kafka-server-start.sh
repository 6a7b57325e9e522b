#!/bin/bash
# kafka-server-start.sh FILE: the broker on a file of properties.
export KAFKA_HEAP_OPTS="${KAFKA_HEAP_OPTS:--Xmx1G -Xms256M}"
export KAFKA_LOG4J_OPTS="${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml}"
exec "${0%/*}/kafka-run-class.sh" kafka.Kafka "$@"
