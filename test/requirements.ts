// What the layer must do, one row each, in clauses. A test's name starts with the ids of the clauses that it proves, for
// example REG-03.2; `npm run requirements` says which clauses are proven. A new requirement is a new row, and a new clause
// comes at the end of its row; an id is never used again for something else.

/** One required behaviour. */
export interface Requirement {
  /** Group and number, for example PIPE-04. */
  readonly id: string;
  /**
   * Chapters of the specifications (000 to 004) that the requirement comes from; absent for requirements of this
   * project.
   */
  readonly source?: string;
  /**
   * What must hold; the second clause of PIPE-04 is PIPE-04.2. Details that a clause leaves out are those of its
   * source.
   */
  readonly clauses: readonly string[];
}

type Rows = Readonly<Record<string, readonly string[]>>;

/** Tool registry. */
const REG: Rows = {
  'REG-01': [
    'One manifest type for every source',
    'identity (`tool_id`, `tool_name`, `version`, `description`, `category` of data_access, computation, external_api, file_system, llm_interaction; `tags`)',
    '`parameters_schema` and `result_schema` (JSON Schema 2020-12)',
    '`permissions` (filesystem path+mode, network host+port, credentials)',
    '`execution_config` (timeout 30 s, 500 millicores, 1024 MB, requires_approval, retry_policy 3/1000 ms/60000 ms)',
    '`circuit_breaker_config`',
    '`deterministic`, `idempotent`, `side_effect_policy` (pure, idempotent, compensatable, irreversible), compensation tool',
    '`requires_confirmation` + prompt, executor kind and its config, dependencies (`requires`, `prefers`), migration guide',
    '`document_dependencies`',
  ],
  'REG-02': [
    'Importers: MCP servers over stdio and streamable HTTP, with every page of tools/list',
    'a list of an MCP server that changes (list_changed) is read anew',
    'OpenAPI 3.0 and 3.1 documents',
    'each operation one tool',
    '`$ref` and circular refs',
    'parameters in path, query, header and cookie',
    'bodies',
    'security schemes → credentials',
    'servers → network permissions',
    'LangChain tools as JS objects',
    'LangChain tools as their serialised JSON schema',
    'native TypeScript functions with a schema from TypeBox',
    'native TypeScript functions with a schema from zod',
    'native TypeScript functions with a schema of any library that follows Standard Schema',
    'skills (`SKILL.md`)',
  ],
  'REG-03': [
    'Several versions of a tool live side by side',
    'a request names an exact version or a range (`^2.1.0`, `latest`)',
    'the highest compatible version wins',
    'pre-releases only when asked',
    'a constraint that excluded a newer version is reported as a warning',
    'no match → E3006, unknown version → E3002, unknown tool → E3001',
    'same id+version twice → E3007 (same content: idempotent no-op)',
  ],
  'REG-04': [
    'Lifecycle active → deprecated → sunset → removed, in these steps only',
    'using a deprecated version succeeds with a warning in the response (E3003)',
    'using a sunset version succeeds with the warning too',
    'the warning carries `deprecated_in_favor_of` and the migration guide',
    'removed → E3004',
    '`deprecation_warning_days` (90) between deprecated and removed',
    '`max_versions_per_tool` (5) retires the oldest',
    'never one that is in use',
  ],
  'REG-05': [
    'Semantic search over descriptions',
    'with a similarity threshold (0.7 by default)',
    'the threshold is recalibrated per embedder',
    'hybrid with keyword search',
    'filters by category and tag',
    'filter by tier',
    'paging (50, max 200)',
    'with stable order',
    'Falls back to keyword search when the embedder is down and says so (E3005 as a warning)',
  ],
  'REG-06': [
    'Embedders: an embedded local one by default',
    'the local one needs no network',
    'Ollama',
    'any OpenAI-compatible endpoint',
    'Re-embedding on model change',
    'dimensions are stored with the vectors',
  ],
  'REG-07': [
    'Storage in PostgreSQL (schema of 000 §5.1 as the starting point)',
    'with migrations',
    'vectors in pgvector',
    'embedded PostgreSQL by default',
    'same queries on an embedded PostgreSQL and on one elsewhere',
  ],
  'REG-08': [
    'Manifests are validated on the way in (E3008 with every fault and its path)',
    'linted against 001 §6.3 (`$schema`, types, required, descriptions, additionalProperties)',
    'a compliance report per tool',
  ],
  'REG-09': [
    'MCP server registry: servers with capabilities',
    'their state (starting, ready, degraded, stopped)',
    'their last error and restart count',
    'tool name collisions between servers are resolved by namespace',
    'a changed tool definition (rug pull) is noticed by content hash',
    'quarantined until accepted',
    'descriptions with hidden instructions are flagged (tool poisoning)',
  ],
  'REG-10': [
    'Dependency metadata: a graph of `requires` (see MOD-05 for its use)',
    'a graph of `prefers`',
    'cycle detection at registration',
  ],
  'REG-11': [
    'Scales to 100 000 tools: they are listed, page by page',
    'they are searched',
    'list stays inside its latency goal',
    'search stays inside its latency goal',
  ],
  'REG-12': [
    'Schemas are judged by the dialect that they declare (draft-07, 2019-09, 2020-12): most real MCP tools are draft-07, and plain 2020-12 refuses four in ten',
    '2020-12 when silent',
  ],
  'REG-13': [
    'Curated views (virtual servers): allow and deny lists',
    'renames, description overrides, default arguments',
    'per tenant or agent',
    'conflict strategy prefix',
    'conflict strategy priority',
    'conflict strategy manual',
    "a name that loses a conflict is dropped, never aliased to another server's tool",
    'rules match server + tool, never a bare name',
    'and the content hash where the rule has one',
  ],
  'REG-14': ['Reads the `mcpServers` JSON that desktop clients use', 'an existing set-up moves in with one command'],
  'REG-15': [
    'Reads `server.json` of MCP registries (`upstreams add --registry`)',
    'is one: `GET /v0.1/servers` with versions',
    'with CORS',
    'filtered by what the asker may see',
  ],
  'REG-16': [
    'Provenance: package, version and integrity of an upstream are pinned when it is added',
    'its registry signature is pinned',
    'its origin and TLS key are pinned',
    'a change is quarantined like a changed definition',
    'look-alike names are named',
    'plain http to remote hosts is named',
    'too wide scopes are named',
  ],
  'REG-17': [
    "`compatibility_range` of a manifest is compared with the agent's version that the call states (000 §5.1.2, 003 Q1): outside → E3006 with both",
    'unsaid is a warning',
  ],
};

/** Tiers and toolbox. */
const VIS: Rows = {
  'VIS-01': [
    'Three tiers: catalog (all), tenant-available, agent-enabled',
    'activation per agent with `enabled`',
    '`policy_overrides` of an activation (e.g. requires_confirmation) hold for the calls of that agent',
    'no activation means enabled',
  ],
  'VIS-02': [
    '`Toolbox` per agent: execute',
    'executeBatch is sequential and stops on the first failure of a critical tool',
    'at most `max_batch_size` 10',
    'getMetadata with overrides applied',
    'isAvailable, listAvailable, getUnavailableTools, isTenantAvailable, getToolDefinition',
  ],
  'VIS-03': [
    'Side-effect records of what was executed or failed',
    'with the idempotency key',
    'compensated, with the compensation fields',
    'emitted as events STARTED, COMPLETED, FAILED',
    '`compensate(record)` runs the compensation tool once',
    'reverse-order compensation of a batch on demand',
    'reverse-order compensation of a workflow on demand',
  ],
  'VIS-04': [
    'Idempotency key `{tool}:{business key}:turn_group:{id}`',
    'business key from `idempotency_key_fields`',
    'or the first 16 hex digits of SHA-256 over canonical args',
    'same turn group → one execution and `cached: true`',
    'concurrent duplicates wait for the first',
    'TTL 86400 s',
    'prefix `tool_idem`',
    'tenant-scoped',
  ],
  'VIS-05': [
    'Supersede check before an irreversible tool, and before no other',
    "the caller's decision SUPERSEDE aborts",
    'ABSORB, FORCE_COMPLETE and QUEUE are honoured: the tool runs',
  ],
  'VIS-06': [
    'Confirmation flow: a tool that requires confirmation returns a confirmation request (tool, args, prompt) until confirmed',
    'the confirmed path is a separate entry point',
    'it never skips policy',
  ],
  'VIS-07': [
    'Read-only MCP discovery server',
    'resources for tenant-available and agent-enabled tools',
    'resource for agent-unavailable tools (`why_unavailable`)',
    'resource templates',
    'subscriptions to changes',
    'tenant isolation by token',
  ],
  'VIS-08': [
    'Tool gateway routes by executor kind',
    'unknown kind is an error',
    'gateway knows nothing of tool semantics',
  ],
  'VIS-09': [
    'The embedding program hears side-effect events as they happen (004 §4)',
    'with key and compensation fields',
    '`when`, `bound_rule_id`, `bound_step_id` of planned executions are kept',
  ],
};

/** Permission. */
const PRM: Rows = {
  'PRM-01': [
    'Capability tokens: JWT RS256',
    'with the claims of 000 §4.1.1 (tool_id, tool_version range, agent_did, tenant_id, allowed_operations, filesystem_, network_, credential_permissions, exp, iat, iss; jti)',
    'Bad signature/algorithm → E3201',
    'expired → E3202',
    'missing claims → E3207',
    'revoked by jti → E3208',
    'revoked by agent → E3208',
    'revoked by issued-before → E3208',
    'Only configured algorithms and issuers',
    'clock skew bounded',
  ],
  'PRM-02': [
    'Keys from a PEM file or a JWKS file',
    'or from the URL of a JWKS',
    'with rotation and overlap',
    'the layer also issues tokens for development (`token mint`)',
    'can run with tokens required, optional or in development mode',
    'without required tokens on loopback only',
    'which is loud about it',
  ],
  'PRM-03': [
    'Token permissions ∩ manifest permissions ∩ agent sandbox context',
    '= what the sandbox gets',
    'asking for more → E3203 filesystem',
    'E3204 network',
    'E3205 credentials',
  ],
  'PRM-04': [
    'Policy engines behind one port',
    'embedded Cedar by default',
    'OPA over REST',
    'ABAC endpoint `POST /api/v1/abac/check-permission`',
    'its answer is waited for 500 ms',
    'static rules: policy rules first, then authorization rules',
    'of the static rules the first match wins',
    'Engine unreachable → E3206 and deny',
  ],
  'PRM-05': [
    'Decisions cached 300 s',
    "the engine's `cache_ttl_seconds` wins",
    'invalidated by `policy:updates` within 1 s',
    'on every instance',
    'never cached across tenants',
  ],
  'PRM-06': ['Trust levels untrusted, provisional, trusted decide what runs without confirmation'],
  'PRM-07': [
    'Quota `max_tool_calls_per_session` bounds the calls of a session',
    'counts first attempts only',
    'exhausted → `quota_blocked`',
    'never silent',
  ],
  'PRM-08': [
    'Adversarial policy gate: an LLM judges the call against plain-language policies',
    'arguments are fenced',
    'only ALLOW or DENY is accepted',
    'fails closed unless `fail_open`',
    'exempt tools',
    'decision and `claim_source` go to the audit',
    'its state (provider, number of policies, `fail_open`) is shown to operators when it is enabled (002)',
  ],
  'PRM-09': [
    'Invocation phase planner, executor, verifier, autonomous is stated by the caller',
    'never inferred',
    'phase-specific policies',
    "phase is in every gate's audit entry",
    'an autonomous call that somebody would have to confirm is refused unless the operator allows it',
  ],
  'PRM-10': [
    'Admin and agent identities for the HTTP doors: API keys',
    'OAuth 2.1 bearer (JWKS)',
    'roles viewer, operator, approver, admin',
    'every row of data is tenant-scoped',
    'a token of one tenant can see nothing of another',
  ],
  'PRM-11': [
    'HTTP doors are OAuth 2.1 resource servers with protected-resource metadata',
    'that check the audience',
    'upstream calls can use token exchange (RFC 8693)',
    "or the caller's own stored credentials",
    'a session or connection of one user is never reused for another',
    'a token that is bound to a key (DPoP, RFC 9449) is accepted only with a proof of the key, once and for one request',
    'an authorization server for development, off by default and on loopback only: MCP clients log their users in with nothing but the address',
  ],
  'PRM-12': [
    'Flow: what a result brought (origin, secret, personal, untrusted) is remembered for the session as fingerprints',
    'through trivial re-encoding',
    'rules say which of it may reach which sink (server, class of side effect, host): allow, confirm, deny',
    'A secret of one server reaches another only after a confirmation that shows it',
    'Explained by `policy why`',
    'shadow mode',
  ],
};

/** Validation. */
const VAL: Rows = {
  'VAL-01': [
    'Input validated before authorisation',
    'output validated before it is returned',
    'JSON Schema 2020-12 by a compiled validator',
    'cached by schema hash',
    'every fault reported with its instance path, keyword and a hint',
  ],
  'VAL-02': [
    'Coercion string→number, integer, boolean',
    'string→date',
    'only when enabled',
    'lossless only ("12abc" is not 12, "false" is not true)',
    'failing → E3502',
  ],
  'VAL-03': [
    'Output errors E3501 (schema), E3506 (missing field), E3507 (wrong type)',
    'E3508 (no result schema in strict mode where required)',
    '`strict_mode: false` passes with a warning',
    'and logs',
  ],
  'VAL-04': [
    'Sanitisation patterns for SQL injection (E3503)',
    'XSS (E3504)',
    'command injection (E3505)',
    'actions reject, redact, escape',
    'configurable: the action for each threat, and own patterns',
    'defaults judge by context so that ordinary prose, code and Markdown pass',
    'results are looked at by default and marked, and changed only when asked (Decision 11)',
  ],
  'VAL-05': [
    'Untrusted schemas and patterns cannot hang or blow up the process',
    'linear-time regex',
    'bounded depth/size',
    'no remote `$ref`',
  ],
  'VAL-06': [
    'Inputs are sanitised too: control characters get a clear error',
    'prototype pollution keys',
    'oversize payloads',
    'invalid UTF-8',
    'deep nesting',
  ],
  'VAL-07': [
    'Arguments that a schema does not name are refused or stripped for tools of upstreams',
    'unless the schema says `additionalProperties: true`',
  ],
};

/** Invocation pipeline. */
const PIPE: Rows = {
  'PIPE-01': [
    'States DECLARED → VALIDATED → AUTHORIZED → EXECUTING → COMPLETED with FAILED, DENIED, ABORTED, ROLLED_BACK',
    'only legal transitions',
    'each transition audited with time',
    'each transition audited with capabilities',
    'each transition audited with SHA-256 of input and output',
    'the reason of FAILED, DENIED and ABORTED is on record (001 §3.2)',
  ],
  'PIPE-02': [
    'One pipeline of ordered stages',
    'the same for every door',
    'the same for every executor; nothing reaches an executor around it',
  ],
  'PIPE-03': [
    'State transaction: begin, mutate, commit or roll back',
    'failure, abort or bad output rolls back to the pre-execution state',
    'tools mutate state only through it',
    'rollback is audited',
    'rollback is counted',
    'ACID (001 §2.2): calls beside each other are isolated, and no write of one is lost',
    'ACID (001 §2.2): what a killed layer left open is committed or rolled back whole',
  ],
  'PIPE-04': [
    'Errors: one catalogue (E-code, wire code, category of 002, failure type of 001, HTTP, gRPC, JSON-RPC status, retryable, quality failure)',
    'the HTTP status of an answer is that of the catalogue',
    'the JSON-RPC status of an answer is that of the catalogue',
    'the gRPC status of an answer is that of the catalogue',
    'No exception leaves the layer unstructured',
    'cause and stack are kept for operators',
    'cause and stack never leak to agents',
  ],
  'PIPE-05': [
    'Retries only for transient failures',
    'only of tools that are safe to retry (or when the request surely never reached the tool)',
    'exponential backoff',
    'jitter none, full, equal, decorrelated',
    '`Retry-After` honoured',
    'attempt budget',
    'time budget',
    'each attempt audited',
  ],
  'PIPE-06': [
    'Timeout reaches the running tool',
    'cancel reaches the running tool',
    'functions get an AbortSignal',
    'programs get SIGTERM then SIGKILL, the whole process tree',
    'cancel is idempotent',
  ],
  'PIPE-07': [
    'Sync and async mode',
    'async returns `pending`/`running` with `polling_info`',
    'status gives progress and phase',
    'status gives the latest checkpoint',
    'results are kept for retrieval',
    'server restart loses no accepted invocation',
  ],
  'PIPE-08': [
    'Priority low, normal, high decides the order',
    'per-agent concurrency',
    'beyond it E3106',
    'admission under overload rejects early with `resource_exhausted` and a retry hint',
    'low priority can be preempted',
    'no starvation',
    'per-agent concurrency is 8 by default (docs/specifications/deviations.md; the source says 4)',
    'per-agent concurrency counts across instances',
  ],
  'PIPE-09': [
    '`idempotency_key`: same key + same request → same response',
    'same key + different request → `idempotency_conflict`',
    'survives restart',
  ],
  'PIPE-10': [
    'Determinism check: for tools declared deterministic, a differing output hash for the same input hash is reported',
    '`verify` replays recorded inputs',
  ],
  'PIPE-11': [
    'execution_metadata: duration, started/completed',
    'execution_metadata: CPU millicore-seconds, peak memory',
    'execution_metadata: network bytes',
    'execution_metadata: documents accessed',
    'execution_metadata: checkpoints created',
    'execution_metadata: attempts',
    'execution_metadata: cached',
  ],
  'PIPE-12': ['`deadline`/timeouts beyond 15 minutes for async tools', 'with an extension call', 'with a heartbeat'],
  'PIPE-13': [
    'Outcome unknown: when a call to a tool that is not safe to retry was cut off by a crash after it may have reached the tool, it ends as error `outcome_unknown`',
    'so it does when it was cut off by a timeout or a lost connection',
    'it is never repeated by the layer',
    'it stays listed until a person settles it',
    'or a reconcile tool settles it',
  ],
  'PIPE-14': [
    'Hooks before and after a call, in process',
    'or an HTTP webhook with a signed body',
    'may refuse',
    'may rewrite arguments',
    'may rewrite the result',
    'per-hook timeout',
    'fail-open/fail-closed',
    'rewritten arguments are validated again',
    'rewritten arguments are authorised again',
  ],
  'PIPE-15': [
    'Dry run: everything up to execution, and nothing with an effect',
    'a dry run says what would happen and why',
    'shadow mode for policies decides and records',
    'shadow mode for policies does not enforce',
  ],
  'PIPE-16': [
    'Priority decides more than order: high gets a larger share of CPU than low (003 G-005), by weights of the control group where there is one',
    'high gets a larger share of memory than low',
  ],
};

/** Sandboxes. */
const SBX: Rows = {
  'SBX-01': [
    '`AgentSandboxContext` (limits, network policy with hosts/CIDRs/ports/DNS, filesystem mounts) bounds every tool, those of MCP servers, HTTP services and modules too',
    'limits ≤ agent (E3102)',
    'network ⊆ agent: hosts, CIDRs and ports (E3104)',
    "DNS servers are the agent's (E3104)",
    'paths ⊆ agent mounts and modes (E3105)',
    'after normalisation of `..`, case and IP literals',
    'after normalisation of symlinks',
  ],
  'SBX-02': [
    'Drivers behind one port with one conformance suite',
    'Linux namespaces (bubblewrap), the default',
    'gVisor (runsc)',
    'microVM',
    'Kubernetes Agent Sandbox (claims, warm pools)',
    'in-process WebAssembly for pure computation',
    'A missing driver fails closed',
    'with what to install (`doctor`)',
  ],
  'SBX-03': [
    'Enforced: CPU, memory, pids, disk',
    'Enforced: wall time (E3103)',
    'Enforced: output size',
    'Enforced: no new privileges, syscall filter',
    'no host processes or environment visible',
    'a limit that was reached is E3102 and says which',
    'network and files outside of the bounds are E3104 and E3105',
    'a sandbox that cannot be made is E3101, one that crashed E3107, a tool that failed E3108',
  ],
  'SBX-04': [
    "Egress only to allowed host:port through the layer's own proxy",
    'DNS pinned',
    'metadata and private addresses refused unless allowed',
    'bytes counted',
    'bandwidth limit',
  ],
  'SBX-05': [
    'Credentials reach only the tool that asked',
    'never the command line',
    'never logs or audit',
    'never checkpoints',
    'document context reaches only the tool that asked',
  ],
  'SBX-06': ['Warm pool: a fresh, single-use sandbox per invocation', 'without paying cold start'],
  'SBX-07': ['Usage measured per invocation: CPU, peak memory', 'bytes'],
  'SBX-08': [
    'Nothing survives success: processes, mounts, temp files and network namespaces are gone',
    'nothing survives failure',
    'nothing survives cancel',
    'nothing survives a crash of the layer',
  ],
};

/** Executors. */
const EXE: Rows = {
  'EXE-01': [
    'One executor interface: owns(call), execute, executeConfirmed, requiresConfirmation, isRetryable (no definitions: docs/specifications/deviations.md)',
    'execute and executeConfirmed are separate paths',
    'composite chain with deterministic configured order',
    'wrappers delegate `requiresConfirmation`',
  ],
  'EXE-02': [
    'Shell: blocklist checked first and always',
    'on a parsed command (nested substitutions, pipes, here-strings, wrappers such as env/sudo/xargs, encodings)',
    'hot-swappable policy',
    'envelope {stdout, stderr, exit_code, truncated}',
    'exit 126 → policy_blocked, 127 → permanent',
    '"permission denied"/"no such file" → permanent',
    'working directory confined to the project root',
  ],
  'EXE-03': [
    'Transactional shell: snapshot of the scope before write commands',
    'restore on configured exit codes',
    'atomic rename: no file is ever half restored',
    '`max_snapshot_bytes`',
    '`snapshot_required` fails closed',
    'rollback audited',
  ],
  'EXE-04': [
    'File: read, write, list, search, edit',
    'inside roots',
    'deny globs before allow globs on canonical paths',
    'refusal is policy_blocked and not retryable',
    'race-free against symlink swaps',
  ],
  'EXE-05': [
    'Web fetch: URL → Markdown with main-content extraction',
    'redirects re-checked',
    'size limits',
    'type limits',
    'SSRF safe',
    'robots respected',
    'caching headers respected',
  ],
  'EXE-06': [
    'HTTP/OpenAPI: typed calls built from the operation',
    'auth injected',
    'through rate limit',
    'through breaker',
    'through retry',
  ],
  'EXE-07': [
    'MCP: stdio client',
    'streamable HTTP client',
    'capability negotiation',
    'supervised restart with backoff',
    'progress',
    'cancellation',
    'elicitation passed to approvals',
    'timeouts',
    'per-user credentials',
    'logs in at servers that ask for a token: discovery, registration, PKCE, refresh, step-up, grants without a person',
    'metadata of a server make the layer ask no address that nobody meant, and send no secret elsewhere',
    'passes the client half of the public conformance suite, in both revisions',
    'questions for completions and folders, to the calling client alone, where the operator allows them',
    'log messages of a server reach the client of their call',
    'a user whose login an upstream needs is asked at the calling client to open its link, and the call goes on or is repeated',
    'log messages of a server that belong to no call reach the sessions that set a level and see the server, those of a connection of one caller its sessions alone',
    'a session that was asked to open an address is notified once its user is done there, and no other client is',
  ],
  'EXE-08': [
    'Native/internal functions in process',
    'or as a sandboxed module',
    'Composio provider',
    'skills (`SKILL.md` tools)',
  ],
  'EXE-09': [
    'Native tools: memory_search, memory_save',
    'load_skill',
    'scheduler (cron and natural-language times)',
    'compress_context: summarises the conversation and appends it, marker autonomous',
    'compress_context never loses content on failure',
    'compress_context is never recursive',
  ],
  'EXE-10': ['Skill environment can be set per call', 'effective trust can be set per call'],
  'EXE-11': [
    'Upstreams are isolated from each other: one that is dead, slow or broken costs only its own tools',
    'it is retried patiently and recovers without a restart of the layer',
    'its processes never leak (their number is bounded and returns to zero)',
  ],
  'EXE-12': [
    'Progress extends the idle timeout',
    'never the absolute one',
    'cancel reaches the right upstream request',
    'error results of tools with an output schema reach the agent as they are',
  ],
};

/** External services. */
const EXT: Rows = {
  'EXT-01': [
    'Secrets port: embedded encrypted store by default',
    'environment by default',
    'Vault with token, Kubernetes, AppRole',
    'Vault: KV v2, path prefix',
    'Vault: dynamic leases with renewal and revocation at the end of the invocation',
    'E3301 when the store cannot be reached',
    'E3302 when a secret is missing',
    'Values are redacted everywhere',
  ],
  'EXT-02': [
    'Rate limits per tenant and API',
    'rate limits per tool',
    'token bucket (60/min, burst 10)',
    'leaky bucket, fixed and sliding window',
    'atomic in Redis',
    'same semantics in memory',
    'E3303 with retry-after',
    'counted across instances over PostgreSQL',
  ],
  'EXT-03': [
    'Outbound HTTP: pooling',
    'timeouts (E3306)',
    '5xx (E3304), 401/403 (E3307)',
    'malformed (E3308)',
    'exhausted retries (E3305)',
  ],
  'EXT-04': [
    'Context retrieval: `GET /api/v1/context/agent/{id}/tool/{id}` (credential refs, config, session context)',
    'cached 5 min',
  ],
  'EXT-05': [
    '`retryable_status_codes` (429, 500, 502, 503, 504) in settings decide which answers of a service are transient (000 §3.3.4)',
    '`retryable_status_codes` in the manifest decide it too',
  ],
  'EXT-06': [
    'A credential has a type, an expiry and a rotation schedule (000 §5.1.6)',
    'one near its end is named by doctor',
    'one near its end is named in an event',
    "leases last no longer than the tool's timeout",
  ],
};

/** Circuit breaker. */
const CIR: Rows = {
  'CIR-01': [
    'Closed, open, half-open',
    'forced/disabled',
    'count- or time-based windows',
    'opens at the failure rate, not with fewer calls than the minimum',
    'opens at the slow-call rate',
    'after the wait so many half-open calls as are permitted',
    'defaults: failure rate 50, slow-call rate 100 at 5000 ms, window 100, minimum 10 calls, wait 60 s, 10 permitted half-open calls',
    'E3401 with remaining wait',
    'bad configuration → E3403',
  ],
  'CIR-02': [
    'State shared over Redis',
    'atomic transitions on several instances',
    'ambiguous or unreachable state → treated as open (E3402)',
    'configurable',
  ],
  'CIR-03': ['Half-open strategies canary (1 → 10 → 50 → 100 %)', 'and all_or_nothing', 'E3405'],
  'CIR-04': [
    'Transitions published on `circuit:state:changes`',
    'as CloudEvents, and recorded',
    'dependents subscribe',
    'health probe (E3404)',
  ],
  'CIR-05': [
    'Circuits open on consecutive failures too (000 §3.3.5, R-14)',
    'and by a health probe',
    'transitions are in PostgreSQL (Q7)',
    'configuration is in PostgreSQL',
  ],
};

/** Document bridge. */
const DOC: Rows = {
  'DOC-01': [
    'MCP client to a document server: get_source_of_truth, search_documents, find_overlaps, get_document_metadata',
    'get_document_version, ingest_document, deprecate_document',
    'batch retrieval in one request',
    'a reference document server ships with the project',
    'a document or a version of it is deleted for good, with its vectors',
  ],
  'DOC-02': [
    'Two-tier cache: 300 s content, 600 s metadata, under the keys `doc:cache:{op}:{id}:{version}`',
    'immutable versions are cached locally until the process ends',
    'invalidation over `document:updates`',
    'what was deleted is given from no memory',
  ],
  'DOC-03': [
    'Fallback: server → stale cache → direct read → E3602',
    'requests are tried again, 3 times by default',
    'E3605 timeout (30 s), E3606 protocol',
    'E3607 cache down is a warning, and the server is asked',
    'requests to the document server pass the circuit, the rate limit and the timeouts of its upstream',
  ],
  'DOC-04': [
    'ABAC check (agent, document, mode) before retrieval (E3603)',
    'versions pinned for the whole invocation and across resume',
    'pins that cannot be stored are E3608',
    'a deprecated pin warns, and E3604 comes only when it is gone',
    'policies of documents judge the own tools and resources of the document server too',
    'a document is deleted by whom a policy of the mode delete allows it',
  ],
  'DOC-05': ['Documents reach the tool as context', 'accesses counted in metadata'],
};

/** State bridge. */
const STA: Rows = {
  'STA-01': [
    'Micro checkpoints: every 30 s, hot store, TTL 3600 s, refreshed on read',
    'macro checkpoints at milestones, kept 90 days',
    'named checkpoints, kept until deleted',
    'by the layer on a timer, or by the tool through its context',
    'sandboxed and MCP tools have a way to checkpoint too',
  ],
  'STA-02': [
    'Resume after timeout, crash, cancel or server death from the newest valid checkpoint',
    'hot → cold',
    'E3702 unknown checkpoint, E3703 corrupted checkpoint, E3707 expired checkpoint',
  ],
  'STA-03': [
    'Delta encoding above 100 KB with parent chain and bounded length (E3705)',
    'gzip or zstd above 10 KB (E3706)',
    'integrity hash',
    'inline blobs < 1 MB, object store above',
    'schema_version',
  ],
  'STA-04': [
    'MCP client to a context server: save_context_snapshot, create_checkpoint, rollback_to, get_unified_context',
    'switch_task, detect_conflicts',
    'a reference context server ships with the project',
  ],
  'STA-05': ['Optimistic concurrency: conflicting writers → E3704'],
  'STA-06': [
    'Retention job (daily 02:00 UTC): expiry',
    'checkpoints of failed runs are kept 30 days',
    'archive to S3-compatible storage for 7 years',
    'restore (E3708 while pending)',
  ],
  'STA-07': [
    'A LangGraph.js checkpoint saver over the state bridge passes its public validation suite',
    'the states of a thread come back as they were saved',
    'the threads of an owner have a bound, and an end',
  ],
};

/** Orchestration. */
const ORC: Rows = {
  'ORC-01': [
    'Async invocations run on a worker pool, in process by default',
    'over an existing distributed queue when configured',
    "a dead worker's jobs are taken over",
    'cancel crosses processes',
    'progress crosses processes',
  ],
  'ORC-02': [
    'Workflows: DAG of tool calls in JSON, YAML or TypeScript',
    'steps in sequence, and in parallel with limits',
    'conditions, and loops over items',
    'data mapping between steps',
    'per-step retry and timeout',
    'compensation on failure',
    'approval steps',
    'cycle and reference errors found before running',
    'durable across crash',
  ],
  'ORC-03': [
    'Approvals: a call that needs one is `pending_approval`, and nothing of it runs before somebody decides',
    'notification by webhook',
    'notification on the console',
    'notification by MCP elicitation',
    'approval tokens are single-use',
    'approval tokens expire',
    'approve and deny',
    'edit: the new arguments are validated and authorised like those that came',
    'four-eyes',
    'escalation 1 h → 4 h → 24 h',
    'escalation is configurable per tool',
    'default on final timeout is deny',
    'decisions audited with who and why',
  ],
  'ORC-04': [
    'Scheduler: cron',
    'intervals and one-off',
    'natural language',
    'missed runs policy',
    'runs as invocations',
  ],
  'ORC-05': [
    'An approval is bound to caller, tool with content hash, digest of the arguments and policy version',
    'and to an expiry',
    'single use',
    'a changed call asks again',
    'expiry is reported as expiry, not as denial',
    'empty approver lists are refused at configuration',
    'a declined call can never run',
    'quorum: so many different persons, for the very same call',
  ],
  'ORC-06': [
    'One durable record for call and approval',
    'and for workflow',
    '`kill -9` at any point loses nothing acknowledged',
    '`kill -9` at any point repeats no effect that is not safe to repeat',
  ],
};

/** Audit. */
const AUD: Rows = {
  'AUD-01': [
    'Every event is a CloudEvent 1.0',
    'ai.agent.tool.invoked, succeeded and state changes',
    'failed and timeout',
    'checkpoint.created',
    'approval decisions',
    'gate decisions',
    'rollback',
    'ai.agent.circuit.opened/half_opened/closed',
    'extensions for tenant and hash chain',
    'events of a call say tool, version, call, state, user, capabilities and hash of the input; the end also duration, error and hash of the output',
    'the beginning of a call says mode, priority, sub-agent and who approved it; the end of a program its exit code and whether its output was cut (002)',
  ],
  'AUD-02': [
    'Written durably before the result is returned',
    'at-least-once to every sink',
    'sink: JSONL file',
    'sink: PostgreSQL',
    'sink: Kafka by tenant key',
    'sink: HTTP for SIEM',
    'consumers can deduplicate by id',
  ],
  'AUD-03': [
    'Tamper-evident: hash chain',
    'periodic signed checkpoints',
    '`audit verify` names the first broken entry',
    'append only',
  ],
  'AUD-04': [
    'PII redacted by detectors: email, phone, SSN, cards with Luhn, IBAN, IP',
    'secrets redacted by detectors: tokens, keys',
    'redacted by field rules: names of fields, also the own ones of the operator',
    'before anything is written',
  ],
  'AUD-05': [
    'Backpressure: lag and buffer measured',
    'overload samples or buffers by policy',
    'security events never dropped',
    'the drop count is itself audited',
  ],
  'AUD-06': ['Query by tenant, agent, tool', 'query by time and status', 'export', 'retention 90 days hot', 'archive'],
  'AUD-07': [
    'Records outcomes, not attempts only',
    'complete by construction: every accepted invocation has a first and a last event',
    '`audit verify` finds gaps',
    'the chain head can be anchored outside',
  ],
  'AUD-08': [
    'Usage accounting per tenant, agent, tool and session from the same events',
    'cost accounting per tenant, agent, tool and session from the same events',
  ],
  'AUD-09': ['Every event in OCSF (with `record_integrity` from the chain)', 'usage in FOCUS'],
};

/** Model-facing features. */
const MOD: Rows = {
  'MOD-01': [
    'Errors for the model: `[tool_error]` block with category, message, suggestion, retryable',
    'eleven categories',
    'quality failures (InvalidParameters, TypeMismatch) only',
    'what is retryable is as 002 says for each category',
    'every failed call has its category on record',
  ],
  'MOD-02': [
    'Think-augmented schemas (`_tafc_think`) above a complexity threshold',
    'stripped before anything else sees them',
    'a call that has nothing else is skipped',
    'never logged',
  ],
  'MOD-03': [
    'Schema filter: always-on, name-mentioned, short description and no embedding are kept',
    'of the others the top-K by similarity',
    'reasons reported',
    'never filters without a query embedding',
    'never filters a tool already in use',
  ],
  'MOD-04': ['Result cache per session', 'TTL 300 s', 'non-cacheable tools (side effects, all MCP)', 'clear resets'],
  'MOD-05': [
    'Dependency gates hold for what a model is shown, after filtering',
    'requires: a tool is held back until all that it requires completed',
    'prefers: +0.15 each, cap 0.20',
    'cycles broken',
    'deadlock fallback',
    'session-scoped completion',
    'tools that are always on or named pass by the gates',
  ],
  'MOD-06': [
    'Output filters: matchers exact, prefix, regex, custom',
    'confidence full, partial, fallback',
    'TOML-declared',
    'secret and path patterns in six categories',
    'metrics',
    'token-aware truncation with overflow kept for `read_overflow`',
  ],
  'MOD-07': [
    'Utility gate: gain, cost, redundancy, exploration make a score, and calls below the threshold are skipped',
    'user-requested and exempt tools bypass',
    'errors fail closed',
  ],
  'MOD-08': ['Hallucination check: implausible paths warn', 'ungrounded entities warn', 'it never blocks'],
  'MOD-09': [
    'Path extraction from arguments, absolute and relative',
    'URLs excluded',
    'the paths are in the record of the adversarial gate',
  ],
  'MOD-10': ['Oversized results are cut at a budget', 'say so', 'and stay retrievable in pages'],
  'MOD-11': [
    'Meta-tools `find_tools`, `describe_tool`, `call_tool`',
    'clients that should not see every schema see these alone',
    'policy applies to the inner tool',
    'limits apply to the inner tool',
    'approval applies to the inner tool',
    'audit applies to the inner tool',
  ],
  'MOD-12': [
    'Code mode: `run_code` in the WebAssembly sandbox',
    'over a typed API of the tools that the token allows',
    'every inner call passes the pipeline',
    'bounded',
    'suspends for approvals',
  ],
  'MOD-13': [
    'Adapters load tools late as the providers do (`defer_loading`, `tool_search`), with our search answering',
  ],
  'MOD-14': [
    "Results that name another server's tool are marked for model and policy",
    'so are results that ask for credentials',
    'so are results that tell the model to run something as a cure',
  ],
};

/** Doors. */
const API: Rows = {
  'API-01': [
    'REST: tool.invoke, list, status, cancel',
    'approvals',
    'registry',
    'circuits',
    'audit',
    'workflows',
    'OpenAPI 3.1 generated from the same types',
    'problem details',
    'server-sent progress',
  ],
  'API-02': ['gRPC with the same contract', 'reflection', 'health'],
  'API-03': [
    'MCP as server in 2025-11-25 (sessions)',
    'MCP as server in 2026-07-28 (stateless: `server/discover`)',
    'with multi-round-trip requests',
    'MCP as client in 2025-11-25',
    'MCP as client in 2026-07-28',
    'read-only discovery (VIS-07)',
    'a gateway endpoint over streamable HTTP, where a client can call the tools its token allows',
    'the same over stdio',
    'any MCP client can use it',
    'with tasks for async, the tasks extension of 2026-07-28 too',
    'elicitation for confirmation',
    'progress',
    'structured output',
    'list_changed',
    'passes the public conformance suite',
    'The HTTP front is lean: the stock SDK transport costs about 550 µs CPU a call where bare HTTP costs about 100',
    'reading a resource, getting a prompt and completing an argument of an upstream are calls: granted, judged and recorded',
    'resources and prompts of upstreams are listed beside each other, and no upstream takes over the address of another',
    'the address of one upstream shows it under its own names',
    'instructions of upstreams are shown as theirs',
    'subscriptions to resources of upstreams',
    'user interfaces of tools (MCP Apps)',
    '`_meta` of requests, results and lists passes both ways',
    'resources and prompts of the embedding program are offered, granted, judged and recorded as those of upstreams',
    'resources, prompts and instructions of an upstream with a connection for each caller are those of this caller, and are shown to no other',
    'a subscription to a resource of such an upstream is the caller’s own, and ends with its client and with its login',
  ],
  'API-04': ['Typed TypeScript client', 'embeddable library', 'adapters that hand the tools to agent frameworks'],
  'API-05': [
    'CLI: serve, invoke, tools (list, search, import, check, deprecate), token, approvals, audit (tail, verify), circuits, doctor',
    'workflow',
    'audit export',
    'migrate-config',
    'progress bars',
    '`--json`',
    'completion',
    'exit codes',
  ],
  'API-06': [
    'Console in the browser: live invocations, approvals inbox',
    'registry with search, circuits, MCP servers',
    'workflows as a graph',
    'audit explorer with verification',
    'accessible, works on a phone, dark and light',
  ],
};

/** Operation. */
const OPS: Rows = {
  'OPS-01': [
    'One TOML file, every key validated (unknown keys and bad values named with line)',
    'every key documented',
    'environment overrides',
    'hot reload where the specifications ask for it',
    'JSON Schema for editors',
  ],
  'OPS-02': [
    'Prometheus metrics with the names of 004 §12.1',
    'and the seven of 001 §8.2',
    'OpenTelemetry traces across stages',
    'W3C context in',
    'W3C context out',
    'structured logs with the event names of 004 §12.2',
    'redaction of logs',
  ],
  'OPS-03': ['Health', 'readiness', 'graceful shutdown that finishes what runs', 'or hands it over'],
  'OPS-04': [
    'Several instances behind a load balancer share PostgreSQL and behave as one',
    'they share Redis',
    'rolling upgrade',
    'container image definition',
    'Kubernetes manifests',
    'process-manager file',
  ],
  'OPS-05': ['Backup and restore of all that the layer knows', 'encrypted', 'whole by `audit verify` afterwards'],
  'OPS-06': [
    'The configuration keys of the five specifications are understood: a table says what each became',
    '`config migrate` reads a file in their words',
  ],
};

const rows = (clauses: Rows, source?: string): Requirement[] =>
  Object.entries(clauses).map(([id, own]) => ({ id, clauses: own, ...(source === undefined ? {} : { source }) }));

/** Every requirement, in the order of the list. */
export const REQUIREMENTS: readonly Requirement[] = [
  ...rows(REG, '000 §3.3.1 §5.1–5.2, 003 G-001…003, 001 §4.1 §6.3'),
  ...rows(VIS, '004'),
  ...rows(PRM, '000 §3.3.3 §4.1.1 §4.2.2, 003 G-006 G-007, 002 OAP, quota'),
  ...rows(VAL, '000 §3.3.6, 001 §6, 003 G-010…012'),
  ...rows(PIPE, '001, 000 §4.1, 003 task 6'),
  ...rows(SBX, '000 §3.3.2 §2.3, 003 task 3'),
  ...rows(EXE, '002, 004 §8'),
  ...rows(EXT, '000 §3.3.4'),
  ...rows(CIR, '000 §3.3.5 §5.1.5 §5.3.3'),
  ...rows(DOC, '000 §3.3.7, 003 task 4'),
  ...rows(STA, '000 §3.3.8 §5.1.4, 003 task 5'),
  ...rows(ORC, '003 G-004 G-005 G-020…022'),
  ...rows(AUD, '000 §4.3, 001 §8, 002, 003 G-017…019'),
  ...rows(MOD, '002'),
  ...rows(API, '000 §4.1, 003 task 6, 004 §5'),
  ...rows(OPS),
];
