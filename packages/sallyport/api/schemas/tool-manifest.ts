import { ISOLATION_LEVELS } from '@sallyport/std/permissions';
import { type Static, Type } from 'typebox';
import { JsonObject, JsonSchemaDocument, ToolId, Version, VersionRange } from './identifiers.ts';

export const Category = Type.Enum(['data_access', 'computation', 'external_api', 'file_system', 'llm_interaction']);
export type Category = Static<typeof Category>;

/** What a call may leave behind; decides retries, what is recorded before execution, and recovery (004 §2.1). */
export const SideEffectPolicy = Type.Enum(['pure', 'idempotent', 'compensatable', 'irreversible']);
export type SideEffectPolicy = Static<typeof SideEffectPolicy>;

/** The kinds of tools. */
export const ExecutorKind = Type.Enum(['native', 'shell', 'http', 'mcp', 'file', 'web', 'composio', 'skill']);
export type ExecutorKind = Static<typeof ExecutorKind>;

export const AccessMode = Type.Enum(['ro', 'rw']);
export type AccessMode = Static<typeof AccessMode>;

export const FilesystemPermission = Type.Object(
  { path: Type.String({ minLength: 1, description: 'Absolute path.' }), mode: AccessMode },
  { additionalProperties: false },
);
export type FilesystemPermission = Static<typeof FilesystemPermission>;

export const NetworkPermission = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description:
        'Exact host name or IP literal; a tool of kind web may say *.name for hosts below a name, or * for any public one.',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65535 }),
  },
  { additionalProperties: false },
);
export type NetworkPermission = Static<typeof NetworkPermission>;

/** What the tool asks for. The sandbox gets it only where token and agent context allow it too (PRM-03). */
export const ToolPermissions = Type.Object(
  {
    filesystem: Type.Optional(Type.Array(FilesystemPermission, { maxItems: 64 })),
    network: Type.Optional(Type.Array(NetworkPermission, { maxItems: 256 })),
    credentials: Type.Optional(
      Type.Array(Type.String({ minLength: 1, description: 'Name of a secret.' }), { maxItems: 64 }),
    ),
  },
  { additionalProperties: false },
);
export type ToolPermissions = Static<typeof ToolPermissions>;

export const RetryPolicy = Type.Object(
  {
    max_attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 3 })),
    base_delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000, default: 1000 })),
    max_delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000, default: 60_000 })),
    retryable_errors: Type.Optional(Type.Array(Type.String(), { maxItems: 64 })),
    retryable_status_codes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), {
        maxItems: 64,
        description:
          'Statuses with which the answer of a service is worth another attempt; as the settings say when absent.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** CIR-01. A tool that says anything here has a circuit of its own; what it leaves out is as the layer's settings say. */
export const CircuitBreakerConfig = Type.Object(
  {
    failure_rate_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Percent.' })),
    slow_call_rate_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Percent.' })),
    slow_call_duration_threshold_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    consecutive_failures_threshold: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: 'Failures in a row that open it, however few calls there were; 0 for never.',
      }),
    ),
    sliding_window_type: Type.Optional(Type.Enum(['count_based', 'time_based'])),
    sliding_window_size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Calls, or seconds where it is time_based.' }),
    ),
    minimum_number_of_calls: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    wait_duration_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    wait_duration_in_open_state_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 86_400, description: 'The same as wait_duration_seconds.' }),
    ),
    permitted_number_of_calls_in_half_open_state: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    half_open_strategy: Type.Optional(Type.Enum(['canary', 'all_or_nothing'])),
    health_probe: Type.Optional(
      Type.Object(
        {
          url: Type.String({
            minLength: 1,
            maxLength: 2_048,
            description: 'Asked with GET, without credentials; a status of 200 to 299 says that the service works.',
          }),
          timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000, default: 5_000 })),
        },
        {
          additionalProperties: false,
          description: 'What is asked of the service before a call is let through as a trial.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type CircuitBreakerConfig = Static<typeof CircuitBreakerConfig>;

/** The rules by which a rate is counted (EXT-02). */
export const RateAlgorithm = Type.Enum(['token_bucket', 'leaky_bucket', 'fixed_window', 'sliding_window'], {
  description: 'How calls are counted; absent: the setting rate.algorithm.',
});
export type RateAlgorithm = Static<typeof RateAlgorithm>;

export const RateLimit = Type.Object(
  {
    per_minute: Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Calls that may pass in each minute.' }),
    burst: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 10,
        description: 'Size of the token bucket; the other algorithms have none.',
      }),
    ),
    algorithm: Type.Optional(RateAlgorithm),
  },
  { additionalProperties: false },
);
export type RateLimit = Static<typeof RateLimit>;

/**
 * What an argument holds. A `fragment` becomes a part of a command, a query, a page or an address: what looks like an
 * injection is refused there. In a `page` markup that runs is escaped instead, with a warning. Everything else is content,
 * which reaches the tool as it was given: in `text` findings are marked for policies and audit; `sql` holds SQL statements,
 * `html` markup, `command` a shell command, of which these are no findings; in `code`, source text of any kind, and `raw`,
 * anything at all, nothing is looked for. In a schema the keyword `x-content` says the same.
 */
export const ArgumentContent = Type.Enum(['text', 'fragment', 'page', 'sql', 'html', 'command', 'code', 'raw']);
export type ArgumentContent = Static<typeof ArgumentContent>;

export const ArgumentContents = Type.Record(Type.String({ maxLength: 512 }), ArgumentContent, {
  maxProperties: 64,
  description: 'JSON Pointer to an argument, "*" for any member or element, to what it holds.',
});

/** How much stands between a tool and the host, the weakest first (SBX-02). */
export const IsolationLevel = Type.Enum(ISOLATION_LEVELS, {
  description: 'The least that must stand between the tool and the host; it never runs below it.',
});
export type IsolationLevel = Static<typeof IsolationLevel>;

/** Whether calls of a tool may be asynchronous: tasks, for MCP clients. */
export const TaskSupport = Type.Enum(['forbidden', 'optional', 'required'], {
  description:
    'Whether calls may be asynchronous (MCP: tasks). required: no other call is accepted. optional: clients of MCP 2026-07-28 that know tasks get one for each call. Absent: calls may ask for it.',
});
export type TaskSupport = Static<typeof TaskSupport>;

export const ExecutionConfig = Type.Object(
  {
    default_timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400, default: 30 })),
    heartbeat_seconds: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 86_400,
        description: 'A run that reports no progress for so long is stopped. Silence is no fault when absent.',
      }),
    ),
    default_cpu_millicore_limit: Type.Optional(Type.Integer({ minimum: 1, default: 500 })),
    default_memory_mb_limit: Type.Optional(Type.Integer({ minimum: 1, default: 1024 })),
    output_bytes_max: Type.Optional(Type.Integer({ minimum: 1, description: 'The result is cut beyond this.' })),
    output_tokens_max: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The result is cut beyond this many estimated tokens; 0 sets no bound.',
      }),
    ),
    requires_approval: Type.Optional(Type.Boolean({ default: false })),
    task_support: Type.Optional(TaskSupport),
    isolation: Type.Optional(IsolationLevel),
    call_variables: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128 }), {
        maxItems: 64,
        description:
          'Environment variables that a call may set. When absent: of a skill all that decide nothing of the code that runs; of other tools none.',
      }),
    ),
    retry_policy: Type.Optional(RetryPolicy),
    circuit_breaker_config: Type.Optional(CircuitBreakerConfig),
    rate_limit: Type.Optional(RateLimit),
    argument_content: Type.Optional(ArgumentContents),
    session_context: Type.Optional(
      Type.Boolean({
        description:
          'True for a function, command or script that reads what the calling agent has saved of its session at the context server.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** For what a call needs a document; policies are asked with it (DOC-04). Only the document server's own tool deletes. */
export const DocumentAccessMode = Type.Enum(['read', 'write', 'delete']);
export type DocumentAccessMode = Static<typeof DocumentAccessMode>;

/** Documents that every call of the tool gets. */
export const DocumentDependency = Type.Object(
  {
    document_pattern: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'Id of a document, ID@VERSION, or a pattern such as spec:requirements-*, which the document server answers with one.',
    }),
    access_mode: Type.Optional(
      Type.Enum(['read', 'write'], {
        description: 'What the policies are asked for; default read. The tool gets the content in both cases.',
      }),
    ),
    version_pinning: Type.Optional(
      Type.Boolean({ description: 'Whether a call and the calls that resume it get the same version.' }),
    ),
  },
  { additionalProperties: false },
);

/** Which executor runs the tool, and what that executor needs to know. Its `config` is judged by the executor itself. */
export const ExecutorBinding = Type.Object(
  {
    kind: ExecutorKind,
    config: Type.Optional(JsonObject),
    property_names: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-zA-Z0-9_.-]{1,64}$' }), Type.String({ maxLength: 4096 }), {
        maxProperties: 4096,
        description:
          'Name of a property in parameters_schema, at any depth, to the name that the tool itself knows. Importers write it where the providers of models would refuse the original name; the call is made with the original.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ExecutorBinding = Static<typeof ExecutorBinding>;

/** REG-01: what a tool says of itself, whatever it was imported from. */
export const ToolManifest = Type.Object(
  {
    tool_id: ToolId,
    tool_name: Type.String({ minLength: 1, maxLength: 255 }),
    version: Version,
    description: Type.String({ maxLength: 65_536 }),
    category: Type.Optional(Category),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 64 })),
    parameters_schema: JsonSchemaDocument,
    result_schema: Type.Optional(JsonSchemaDocument),
    permissions: Type.Optional(ToolPermissions),
    execution_config: Type.Optional(ExecutionConfig),
    document_dependencies: Type.Optional(Type.Array(DocumentDependency, { maxItems: 64 })),
    deterministic: Type.Optional(Type.Boolean()),
    idempotent: Type.Optional(Type.Boolean()),
    side_effect_policy: Type.Optional(SideEffectPolicy),
    compensation_tool_id: Type.Optional(ToolId),
    requires_confirmation: Type.Optional(Type.Boolean()),
    confirmation_prompt: Type.Optional(Type.String({ maxLength: 4096 })),
    idempotency_key_fields: Type.Optional(Type.Array(Type.String(), { maxItems: 32 })),
    requires: Type.Optional(Type.Array(ToolId, { maxItems: 64 })),
    prefers: Type.Optional(Type.Array(ToolId, { maxItems: 64 })),
    compatibility_range: Type.Optional(VersionRange),
    release_notes: Type.Optional(Type.String({ maxLength: 65_536 })),
    migration_guide: Type.Optional(Type.String({ maxLength: 65_536 })),
    executor: ExecutorBinding,
  },
  { additionalProperties: false, title: 'Tool manifest' },
);
export type ToolManifest = Static<typeof ToolManifest>;
