#include "bridge/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/config/bind.h"
#include "bridge/config/expand.h"

const char *ab_config_path_view(const char *option)
{
    if (option != NULL) {
        return option;
    }
    const char *variable = getenv("AGENT_BRIDGE_CONFIG");
    return variable != NULL && *variable != '\0' ? variable : "/etc/agent-bridge/config.yaml";
}

static void out_of_memory(ab_findings_t *findings)
{
    ab_findings_add(findings, false, 0, "", "out of memory");
}

/* Everything between the text and the checked config; what is wrong is in findings. */
static void fill(ab_config_t *config, ab_config_memory_t *scratch, const char *text, size_t size,
                 ab_config_check_fn *check, ab_findings_t *findings)
{
    const ab_node_t *root = ab_tree_parse(scratch, text, size, findings);
    if (root == NULL) {
        return;
    }
    ab_written_t *written;
    if (ab_config_bind(config, config->memory, root, scratch, findings, &written) != 0) {
        return;
    }
    ab_config_check(config, written, findings);
    if (check != NULL && check(config, findings) < 0) {
        out_of_memory(findings);
    }
}

ab_config_t *ab_config_parse(const char *name, const char *text, size_t size,
                             ab_config_check_fn *check, ab_findings_t *ret_findings)
{
    *ret_findings = (ab_findings_t){0};
    if (size > AB_CONFIG_FILE_MAX) {
        ab_findings_add(ret_findings, false, 0, "", "larger than %u bytes, the most that is read",
                        AB_CONFIG_FILE_MAX);
        return NULL;
    }
    ab_config_t *config = NULL;
    ab_config_memory_t *scratch = ab_config_memory_new();
    ab_config_memory_t *memory = ab_config_memory_new();
    if (memory != NULL) {
        config = ab_config_memory_alloc(memory, sizeof(*config));
    }
    if (config == NULL || scratch == NULL) {
        ab_config_memory_free(scratch);
        ab_config_memory_free(memory);
        out_of_memory(ret_findings);
        return NULL;
    }
    config->memory = memory;
    config->file = ab_config_memory_text(memory, name, strlen(name));
    fill(config, scratch, text, size, check, ret_findings);
    if (ab_config_memory_failed(memory) || ab_config_memory_failed(scratch)) {
        out_of_memory(ret_findings);
    }
    ab_config_memory_free(scratch);
    if (ret_findings->mistakes > 0) {
        ab_config_free(config);
        return NULL;
    }
    return config;
}

ab_config_t *ab_config_load(const char *path, ab_config_check_fn *check,
                            ab_findings_t *ret_findings)
{
    const size_t capacity = AB_CONFIG_FILE_MAX + 1;
    *ret_findings = (ab_findings_t){0};
    char *text = malloc(capacity);
    if (text == NULL) {
        out_of_memory(ret_findings);
        return NULL;
    }
    ab_config_t *config = NULL;
    long size = ab_file_read(path, text, capacity);
    if (size < 0) {
        ret_findings->unreadable = true;
        ab_findings_add(ret_findings, false, 0, "",
                        "cannot be read: %s; name a configuration with -c FILE or "
                        "$AGENT_BRIDGE_CONFIG",
                        strerror((int)-size));
    } else {
        config = ab_config_parse(path, text, (size_t)size, check, ret_findings);
        explicit_bzero(text, (size_t)size);
    }
    free(text);
    return config;
}

const char *ab_guarantee_word(const ab_config_t *config)
{
    return config->guarantee == AB_AT_LEAST_ONCE ? "at_least_once" : "exactly_once";
}

void ab_config_free(ab_config_t *config)
{
    if (config != NULL) {
        ab_config_memory_free(config->memory);
    }
}
