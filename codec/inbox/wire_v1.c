#include "codec/inbox/wire_v1.h"

/* Frozen: codec/inbox/FROZEN has its hash. A change of shape is a new version beside this one. */

/* clang-format off */
#define SHAPE(...)       &(const aw__shape_t){__VA_ARGS__}
#define CHOICES(...)     .choices = (const aw__shape_t *const[]){__VA_ARGS__, NULL}
#define MEMBERS(...)     .members = (const aw__shape_member_t[]){__VA_ARGS__, {.key = NULL}}
#define WORD(text)       SHAPE(.kind = AW__SHAPE_CONST, .word = (text))
#define WORDS(...)                                                                                 \
    SHAPE(.kind = AW__SHAPE_ENUM, .words = (const char *const[]){__VA_ARGS__, NULL})
#define LIST_OF(element) SHAPE(.kind = AW__SHAPE_LIST, .of = (element))
#define ANY_OF(...)      SHAPE(.kind = AW__SHAPE_ANY_OF, CHOICES(__VA_ARGS__))
#define ONE_OF(key, ...) SHAPE(.kind = AW__SHAPE_ONE_OF, .tag = (key), CHOICES(__VA_ARGS__))
#define RECORD(...)      SHAPE(.kind = AW__SHAPE_RECORD, MEMBERS(__VA_ARGS__))
/* Members: required or not, with or without a note of their own. */
#define NEED(name, is)   {.key = (name), .shape = (is), .required = true}
#define MAY(name, is)    {.key = (name), .shape = (is)}
#define NEED_NOTED(name, is, note)                                                                 \
    {.key = (name), .shape = (is), .description = (note), .required = true}
#define MAY_NOTED(name, is, note) {.key = (name), .shape = (is), .description = (note)}
#define DEFINED_RECORD(variable, name, ...)                                                        \
    static const aw__shape_t variable = {                                                          \
        .kind = AW__SHAPE_RECORD, .def = (name), MEMBERS(__VA_ARGS__)}
/* clang-format on */

static const aw__shape_t ANY = {.kind = AW__SHAPE_ANY};
static const aw__shape_t STRING = {.kind = AW__SHAPE_STRING};
static const aw__shape_t NUMBER = {.kind = AW__SHAPE_NUMBER};
static const aw__shape_t BOOLEAN = {.kind = AW__SHAPE_BOOLEAN};
static const aw__shape_t NUL = {.kind = AW__SHAPE_NULL};
static const aw__shape_t OBJECT = {.kind = AW__SHAPE_OBJECT};

static const aw__shape_t VERSION = {.kind = AW__SHAPE_VERSION, .version = 1, .def = "wireVersion"};
static const aw__shape_t COUNTER = {
    .kind = AW__SHAPE_COUNTER,
    .def = "counter",
    .description = "Whole number from 0 up to the largest integer a double holds exactly."};
static const aw__shape_t STRINGS = {.kind = AW__SHAPE_LIST, .def = "stringList", .of = &STRING};
static const aw__shape_t JSON_OBJECT = {.kind = AW__SHAPE_OBJECT,
                                        .def = "jsonObject",
                                        .description = "Any JSON object with any members."};
static const aw__shape_t PROVIDER_OPTIONS = {.kind = AW__SHAPE_MAP,
                                             .def = "providerOptions",
                                             .description =
                                                 "Provider name to an arbitrary JSON object.",
                                             .of = &JSON_OBJECT};

/* The parts of a message. */
#define ONLY_STRING "In JSON form only a string is possible."
DEFINED_RECORD(TEXT_PART, "textPart", NEED("type", WORD("text")), NEED("text", &STRING),
               MAY("providerOptions", &PROVIDER_OPTIONS));
DEFINED_RECORD(IMAGE_PART, "imagePart", NEED("type", WORD("image")),
               NEED_NOTED("image", &STRING, ONLY_STRING), MAY("mediaType", &STRING),
               MAY("providerOptions", &PROVIDER_OPTIONS));
DEFINED_RECORD(FILE_PART, "filePart", NEED("type", WORD("file")),
               NEED_NOTED("data", &STRING, ONLY_STRING), NEED("mediaType", &STRING),
               MAY("filename", &STRING), MAY("providerOptions", &PROVIDER_OPTIONS));
static const aw__shape_t USER_CONTENT = {
    .kind = AW__SHAPE_ANY_OF,
    .def = "userContent",
    .choices = (const aw__shape_t *const[]){
        &STRING, LIST_OF(ONE_OF("type", &TEXT_PART, &IMAGE_PART, &FILE_PART)), NULL}};
DEFINED_RECORD(INPUT_RESPONSE, "inputResponse", NEED("requestId", &STRING),
               MAY("optionId", &STRING), MAY("text", &STRING));

/* What a task reports. */
DEFINED_RECORD(INPUT_OPTION, "inputOption", NEED("id", &STRING), NEED("label", &STRING),
               MAY("description", &STRING), MAY("style", WORDS("primary", "danger", "default")));
DEFINED_RECORD(INPUT_REQUEST, "inputRequest",
               NEED("action", RECORD(NEED("callId", &STRING), NEED("input", &JSON_OBJECT),
                                     NEED("kind", WORD("tool-call")), NEED("toolName", &STRING))),
               NEED("kind", WORDS("question", "session-limit", "tool-approval")),
               NEED("prompt", &STRING), NEED("requestId", &STRING), MAY("allowFreeform", &BOOLEAN),
               MAY("display", WORDS("confirmation", "select", "text")),
               MAY("options", LIST_OF(&INPUT_OPTION)));
DEFINED_RECORD(TASK_AUTHORIZATION_EVENT, "taskAuthorizationEvent",
               NEED("hookPayload", RECORD(NEED("callId", &STRING), NEED("childSessionId", &STRING),
                                          NEED("event", &JSON_OBJECT),
                                          NEED("kind", WORD("subagent-authorization-event")),
                                          NEED("subagentName", &STRING))),
               NEED("taskId", &STRING));
DEFINED_RECORD(
    TASK_INPUT_REQUEST, "taskInputRequest",
    NEED("hookPayload",
         RECORD(NEED("callId", &STRING), NEED("childContinuationToken", &STRING),
                NEED("childSessionId", &STRING),
                NEED("event",
                     RECORD(NEED("requests", LIST_OF(&INPUT_REQUEST)), NEED("sequence", &COUNTER),
                            NEED("stepIndex", &COUNTER), NEED("turnId", &STRING))),
                NEED("kind", WORD("subagent-input-request")), NEED("subagentName", &STRING))),
    NEED("taskId", &STRING));
static const aw__shape_t TASK_METADATA = {
    .kind = AW__SHAPE_ANY_OF,
    .def = "taskMetadata",
    .choices = (const aw__shape_t *const[]){
        RECORD(NEED("agentId", &STRING), NEED("kind", WORD("subagent")),
               NEED("mode", WORDS("local", "remote")), NEED("name", &STRING)),
        RECORD(NEED("kind", &STRING), NEED("name", &STRING)), NULL}};
DEFINED_RECORD(TASK_EXECUTOR, "taskExecutor",
               MAY("binding",
                   RECORD(NEED_NOTED("data", &OBJECT,
                                     "Object whose member values may be any JSON value."),
                          NEED("kind", &STRING))),
               MAY("childSessionId", &STRING), MAY("childTurnId", &STRING),
               MAY("lifecycle", WORDS("parked", "terminal")));
static const aw__shape_t TOKEN_USAGE = {
    .kind = AW__SHAPE_RECORD,
    .policy = AW__SHAPE_STRIPPING,
    .def = "tokenUsage",
    .description = "Tolerant object: unlisted members are accepted on input but the encoder "
                   "removes them.",
    MEMBERS(NEED("cacheReadTokens", &COUNTER), NEED("cacheWriteTokens", &COUNTER),
            NEED("inputTokens", &COUNTER), NEED("outputTokens", &COUNTER))};

/* A task view has these members beside those of its status, whose names sort before them. */
#define VIEW(status)                                                                               \
    NEED("metadata", &TASK_METADATA), NEED("status", WORD(status)), NEED("taskId", &STRING),       \
        MAY("executor", &TASK_EXECUTOR), MAY("usage", &TOKEN_USAGE)
#define LAST_OUTPUT(type)                                                                          \
    NEED("lastOutput", RECORD(NEED_NOTED("data", &ANY, "Any JSON value, null included."),          \
                              NEED("type", WORD(type))))
DEFINED_RECORD(VIEW_WORKING, "taskViewWorking", VIEW("working"));
DEFINED_RECORD(VIEW_INPUT_REQUIRED, "taskViewInputRequired",
               NEED_NOTED("inputRequests", LIST_OF(NULL), "Elements may be any JSON value."),
               VIEW("input_required"));
DEFINED_RECORD(VIEW_COMPLETED, "taskViewCompleted", LAST_OUTPUT("result"), VIEW("completed"));
DEFINED_RECORD(VIEW_FAILED, "taskViewFailed", LAST_OUTPUT("error"), VIEW("failed"));
DEFINED_RECORD(VIEW_CANCELLED, "taskViewCancelled", VIEW("cancelled"));
static const aw__shape_t TASK_VIEW = {
    .kind = AW__SHAPE_ONE_OF,
    .def = "taskView",
    .tag = "status",
    .choices = (const aw__shape_t *const[]){&VIEW_WORKING, &VIEW_INPUT_REQUIRED, &VIEW_COMPLETED,
                                            &VIEW_FAILED, &VIEW_CANCELLED, NULL}};
DEFINED_RECORD(TASK_ENVELOPE, "taskEnvelope",
               MAY("authorizationEvents", LIST_OF(&TASK_AUTHORIZATION_EVENT)),
               MAY("inputRequests", LIST_OF(&TASK_INPUT_REQUEST)),
               MAY("views", LIST_OF(&TASK_VIEW)));

static const aw__shape_t PAYLOAD = {
    .kind = AW__SHAPE_RECORD,
    .policy = AW__SHAPE_LOOSE,
    .def = "payload",
    .description = "Open object: members not listed here belong to channel adapters and pass "
                   "through unchanged.",
    MEMBERS(MAY("context", &STRINGS), MAY("inputResponses", LIST_OF(&INPUT_RESPONSE)),
            MAY("message", &USER_CONTENT), MAY("outputSchema", &JSON_OBJECT),
            MAY("task", &TASK_ENVELOPE))};

/* Who sent it, who waits for it, where it came in. */
DEFINED_RECORD(AUTH, "auth",
               NEED("attributes", SHAPE(.kind = AW__SHAPE_MAP, .of = ANY_OF(&STRING, &STRINGS))),
               NEED("authenticator", &STRING), NEED("principalId", &STRING),
               NEED("principalType", &STRING), MAY("issuer", &STRING), MAY("subject", &STRING));
DEFINED_RECORD(REPLY_TO_HOOK, "replyToHook", NEED("kind", WORD("hook")), NEED("token", &STRING));
DEFINED_RECORD(REPLY_TO_CALLBACK, "replyToCallback", NEED("kind", WORD("callback")),
               NEED("token", &STRING), NEED("url", &STRING));
const aw__shape_t aw__inbox_v1_caller = {
    .kind = AW__SHAPE_RECORD,
    .def = "caller",
    MEMBERS(NEED("callId", &STRING),
            NEED("replyTo", ONE_OF("kind", &REPLY_TO_HOOK, &REPLY_TO_CALLBACK)),
            NEED("subagentName", &STRING), MAY("taskId", &STRING))};
DEFINED_RECORD(TRACE_CONTEXT, "traceContext", NEED("spanId", &STRING), NEED("traceFlags", &NUMBER),
               NEED("traceId", &STRING));
DEFINED_RECORD(METADATA_ENTRY, "deliveryMetadataEntry", NEED("channelKind", &STRING),
               NEED("channelName", &STRING), NEED("deliveryId", &STRING),
               NEED("payloadIndex", &COUNTER), MAY("requestId", &STRING),
               MAY("requestTraceContext", &TRACE_CONTEXT));

/* The six kinds. */
#define STAMPED(kind) NEED("kind", WORD(kind)), NEED("version", &VERSION)
DEFINED_RECORD(DELIVER, "deliver", NEED("kind", WORD("deliver")),
               NEED("payloads", LIST_OF(&PAYLOAD)), NEED("version", &VERSION),
               MAY_NOTED("payload", &PAYLOAD,
                         "Transitional mirror: the payload list folded into one payload. The "
                         "encoder always writes it; the decoder never reads it."),
               MAY("auth", ANY_OF(&AUTH, &NUL)), MAY("caller", &aw__inbox_v1_caller),
               MAY("deliveryMetadata", LIST_OF(&METADATA_ENTRY)), MAY("requestId", &STRING),
               MAY("taskDeliveryId", &STRING), MAY("turnPolicy", WORDS("queue", "steer")));
DEFINED_RECORD(SESSION_TIMEOUT, "sessionTimeout", STAMPED("session-timeout"));
DEFINED_RECORD(CLEAR, "clear", STAMPED("clear"));
DEFINED_RECORD(COMPACT, "compact", STAMPED("compact"));
DEFINED_RECORD(RESET, "reset", STAMPED("reset"), MAY("reason", &STRING));
DEFINED_RECORD(CANCEL, "cancel", STAMPED("cancel"), MAY("taskId", &STRING), MAY("turnId", &STRING));
const aw__shape_t aw__inbox_v1 = {
    .kind = AW__SHAPE_ONE_OF,
    .tag = "kind",
    .choices = (const aw__shape_t *const[]){&DELIVER, &SESSION_TIMEOUT, &CLEAR, &COMPACT, &RESET,
                                            &CANCEL, NULL}};

const char aw__inbox_v1_id[] = "urn:session-inbox:wire:v1";
const char aw__inbox_v1_title[] = "Session inbox wire value, version 1";
const char aw__inbox_v1_description[] =
    "One persisted inbox value as produced by the version-1 encoder. Closed at every level except "
    "where a note says otherwise.";
