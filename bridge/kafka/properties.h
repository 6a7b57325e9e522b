#ifndef BRIDGE_KAFKA_PROPERTIES_H
#define BRIDGE_KAFKA_PROPERTIES_H

#include "bridge/config/config.h"

/** The version of the librdkafka that runs. Static storage. */
const char *ab_kafka_version(void);

/** Lets librdkafka judge every property under kafka:, consumer: and producer:, without connecting.
 *  Each refusal becomes a finding at the property's line; values are never repeated. An
 * ab_config_check_fn: looks at kafka, consumer and producer only. Returns 0, or -1 when memory is
 * short. */
int ab_kafka_check_properties(const ab_config_t *config, ab_findings_t *findings);

#endif
