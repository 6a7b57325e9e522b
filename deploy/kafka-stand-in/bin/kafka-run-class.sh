#!/bin/bash
# Runs a class of /opt/kafka/libs with the variables that Kafka's own script takes.
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} \
  ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+ExitOnOutOfMemoryError -Djava.awt.headless=true} \
  ${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=/opt/kafka/config/tools-log4j2.yaml} \
  ${KAFKA_OPTS-} -cp "/opt/kafka/libs/*" "$@"
