#!/usr/bin/env bash
# Builds the image apache/kafka that docker-compose.yml names, for a machine that reaches no registry.
# The jars come through Maven; the base image debian:trixie-slim has to be there.
#
#   deploy/kafka-stand-in/build.sh          does nothing when an image of that name is there
#
# NETWORK is docker build's --network (default: host, for a machine whose containers reach no archive).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=../..
image=$(sed -n 's/^ *image: *\(apache\/kafka:[^ ]*\) *$/\1/p' $root/docker-compose.yml | head -n 1)
version=${image#*:}
log4j=$(sed -n 's:.*<log4j\.version>\(.*\)</log4j\.version>.*:\1:p' $root/tests/broker/pom.xml)
if [ -z "$image" ] || [ -z "$log4j" ]; then
  echo "build.sh: docker-compose.yml names no image apache/kafka, or tests/broker/pom.xml no log4j.version" >&2
  exit 70
fi
if docker image inspect "$image" >/dev/null 2>&1; then
  echo "$image is here"
  exit 0
fi
if ! command -v mvn >/dev/null; then
  echo "build.sh: mvn is not installed; \`make setup\` installs it (Debian: maven)" >&2
  exit 69
fi
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp -r Dockerfile bin docker "$context"
mvn -B -q -f pom.xml -Dkafka.version="$version" -Dlog4j.version="$log4j" \
  dependency:copy-dependencies -DoutputDirectory="$context/libs"
docker build -q --network "${NETWORK:-host}" --build-arg KAFKA_VERSION="$version" -t "$image" "$context" >/dev/null
echo "$image made (a stand-in from Maven's jars)"
