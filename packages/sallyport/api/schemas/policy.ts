import { type Static, Type } from 'typebox';
import { Role, TrustLevel } from './capability-token.ts';
import { AgentDid, InvocationId, TenantId } from './identifiers.ts';
import { InvocationPhase } from './invocation.ts';
import {
  DocumentAccessMode,
  ExecutorKind,
  FilesystemPermission,
  NetworkPermission,
  SideEffectPolicy,
} from './tool-manifest.ts';

/** Bounds of what one request about policies may bring. */
const FILES_MAX = 1000;
const FILE_CHARACTERS_MAX = 4_194_304;

/** A kind of injection that arguments of a call look like, where they reach the tool as they were given. */
export const ArgumentFinding = Type.Enum(['sql_injection', 'xss', 'command_injection']);

/** What becomes of a call; `ask` lets it run once a person has confirmed it. */
export const PolicyEffect = Type.Enum(['allow', 'deny', 'ask']);
export type PolicyEffect = Static<typeof PolicyEffect>;

/** Whether an answer counts, or is only put on record (PIPE-15). */
export const PolicyMode = Type.Enum(['enforce', 'shadow']);
export type PolicyMode = Static<typeof PolicyMode>;

/** One policy or rule, and where it stands. */
export const PolicyRule = Type.Object(
  {
    name: Type.String(),
    effect: PolicyEffect,
    mode: PolicyMode,
    file: Type.Optional(Type.String()),
    line: Type.Optional(Type.Integer({ minimum: 1 })),
    text: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type PolicyRule = Static<typeof PolicyRule>;

/** A policy beside one question: which of its conditions hold, and which do not. */
export const ExplainedPolicy = Type.Object(
  {
    ...PolicyRule.properties,
    held: Type.Array(Type.String(), { description: 'Conditions of the policy that hold for the call.' }),
    unmet: Type.Array(Type.String(), { description: 'Conditions of the policy that do not hold for the call.' }),
  },
  { additionalProperties: false },
);
export type ExplainedPolicy = Static<typeof ExplainedPolicy>;

/** Why one engine answers a question as it does. */
export const PolicyExplanation = Type.Object(
  {
    engine: Type.String(),
    mode: PolicyMode,
    allowed: Type.Boolean(),
    ask: Type.Optional(Type.Boolean()),
    error: Type.Optional(Type.String({ description: 'Why the engine gave no answer, which denies.' })),
    decided: Type.Array(ExplainedPolicy, { description: 'The policies that decided.' }),
    nearest: Type.Array(ExplainedPolicy, { description: 'Policies that would allow the call if they matched.' }),
    changes: Type.Array(Type.String(), { description: 'What would have to change for another answer.' }),
    reasons: Type.Optional(Type.Array(Type.String(), { description: 'What the engine itself says.' })),
  },
  { additionalProperties: false },
);
export type PolicyExplanation = Static<typeof PolicyExplanation>;

/** What was decided about a call, as its record and events keep it: `policy_decision`. */
export const RecordedDecision = Type.Object(
  {
    engine: Type.String(),
    version: Type.String({ description: 'Version of the policies that decided.' }),
    allowed: Type.Boolean(),
    ask: Type.Optional(Type.Boolean()),
    policies: Type.Array(Type.String()),
    shadow: Type.Optional(
      Type.Object(
        { allowed: Type.Boolean(), policies: Type.Array(Type.String()), error: Type.Optional(Type.String()) },
        { additionalProperties: false, description: 'What policies in shadow mode would have decided.' },
      ),
    ),
  },
  { additionalProperties: false },
);
export type RecordedDecision = Static<typeof RecordedDecision>;

/** A call that nobody made, for tests and explanations. What is left out has the value named. */
export const PolicyQuestionBody = Type.Object(
  {
    principal: Type.Optional(
      Type.Object(
        {
          tenant_id: Type.Optional(TenantId),
          agent_did: Type.Optional(AgentDid),
          user_did: Type.Optional(Type.String()),
          session_id: Type.Optional(Type.String()),
          roles: Type.Optional(Type.Array(Role, { description: '["agent"] when absent.' })),
          trust: Type.Optional(TrustLevel),
        },
        { additionalProperties: false },
      ),
    ),
    tool: Type.Object(
      {
        tool_id: Type.String({ minLength: 1, maxLength: 128 }),
        version: Type.Optional(Type.String({ description: '1.0.0 when absent.' })),
        content_hash: Type.Optional(Type.String()),
        executor: Type.Optional(ExecutorKind),
        category: Type.Optional(Type.String()),
        tags: Type.Optional(Type.Array(Type.String())),
        side_effect: Type.Optional(SideEffectPolicy),
      },
      { additionalProperties: false },
    ),
    context: Type.Optional(
      Type.Object(
        {
          phase: Type.Optional(InvocationPhase),
          trust: Type.Optional(TrustLevel),
          argument_findings: Type.Optional(Type.Array(ArgumentFinding)),
          document: Type.Optional(
            Type.Object(
              { document_id: Type.String(), access_mode: Type.Optional(DocumentAccessMode) },
              { additionalProperties: false, description: 'A document that the call is about to read.' },
            ),
          ),
          filesystem: Type.Optional(Type.Array(FilesystemPermission)),
          network: Type.Optional(Type.Array(NetworkPermission)),
          credentials: Type.Optional(Type.Array(Type.String())),
          timeout_ms: Type.Optional(Type.Number({ minimum: 0, maximum: 2_147_483_647 })),
          cpu_millicores: Type.Optional(Type.Number({ minimum: 0, maximum: 2_147_483_647 })),
          memory_mb: Type.Optional(Type.Number({ minimum: 0, maximum: 2_147_483_647 })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type PolicyQuestionBody = Static<typeof PolicyQuestionBody>;

/** A test of the policies: a question and the answer that it should get. */
export const PolicyCase = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    ...PolicyQuestionBody.properties,
    expect: PolicyEffect,
    by: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], {
        description: 'Policies that must be among the policies that decided.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type PolicyCase = Static<typeof PolicyCase>;

/** One file of policies or of tests, by its name without folder. */
export const PolicyFileBody = Type.Object(
  {
    name: Type.String({ pattern: '^[^/\\\\\\u0000]{1,255}$' }),
    text: Type.String({ maxLength: FILE_CHARACTERS_MAX }),
  },
  { additionalProperties: false },
);
export type PolicyFileBody = Static<typeof PolicyFileBody>;

export const PolicyListRequest = Type.Object(
  { text: Type.Optional(Type.Boolean({ description: 'With the text of each policy.' })) },
  { additionalProperties: false },
);
export type PolicyListRequest = Static<typeof PolicyListRequest>;

/** Something in the policy files that was not taken. */
export const PolicyFaultBody = Type.Object(
  {
    message: Type.String(),
    file: Type.Optional(Type.String()),
    line: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);
export type PolicyFaultBody = Static<typeof PolicyFaultBody>;

/** One engine with what it decides by. */
export const PolicyEngineState = Type.Object(
  {
    engine: Type.String(),
    mode: PolicyMode,
    version: Type.String(),
    fault: Type.Optional(
      Type.Object(
        { ...PolicyFaultBody.properties, since: Type.String({ format: 'date-time' }) },
        { additionalProperties: false, description: 'Why the newest files are not in force; the set before them is.' },
      ),
    ),
    left_out: Type.Array(PolicyFaultBody, { description: 'Parts of the set in force that were not taken.' }),
    policies: Type.Array(PolicyRule, { description: 'Empty for an engine that keeps its policies elsewhere.' }),
  },
  { additionalProperties: false },
);
export type PolicyEngineState = Static<typeof PolicyEngineState>;

/** State of the gate, in which a language model judges calls that the engines allow. */
export const GateState = Type.Object(
  {
    model: Type.String({ description: 'Host and name of the model.' }),
    policies: Type.Integer({ minimum: 0, description: 'Policies in plain language, of all phases together.' }),
    fail_open: Type.Boolean({ description: 'True when a call runs that the model gave no usable answer about.' }),
  },
  { additionalProperties: false, description: 'Absent when the gate is not enabled.' },
);

export const PolicyListResponse = Type.Object(
  {
    engines: Type.Array(PolicyEngineState, { description: 'In the order in which they are asked.' }),
    gate: Type.Optional(GateState),
  },
  { additionalProperties: false },
);
export type PolicyListResponse = Static<typeof PolicyListResponse>;

export const PolicyReloadResponse = Type.Object(
  {
    changed: Type.Boolean(),
    engines: Type.Array(
      Type.Object(
        { engine: Type.String(), mode: PolicyMode, version: Type.String(), policies: Type.Integer() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type PolicyReloadResponse = Static<typeof PolicyReloadResponse>;

export const PolicyTestRequest = Type.Object(
  {
    policies: Type.Optional(
      Type.Array(PolicyFileBody, { maxItems: FILES_MAX, description: "The layer's own policy files when absent." }),
    ),
    tests: Type.Optional(
      Type.Array(PolicyFileBody, { maxItems: FILES_MAX, description: "The layer's own test files when absent." }),
    ),
  },
  { additionalProperties: false },
);
export type PolicyTestRequest = Static<typeof PolicyTestRequest>;

export const PolicyTestResponse = Type.Object(
  {
    passed: Type.Integer(),
    failed: Type.Integer(),
    faults: Type.Array(PolicyFaultBody, { description: 'What kept policies or tests from being read.' }),
    cases: Type.Array(
      Type.Object(
        {
          file: Type.String(),
          name: Type.String(),
          passed: Type.Boolean(),
          expected: PolicyEffect,
          decided: Type.Enum(['allow', 'deny', 'ask', 'error']),
          by: Type.Array(Type.String()),
          message: Type.Optional(Type.String()),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type PolicyTestResponse = Static<typeof PolicyTestResponse>;

export const PolicyWhyRequest = Type.Object(
  {
    invocation_id: Type.Optional(InvocationId),
    question: Type.Optional(PolicyQuestionBody),
  },
  { additionalProperties: false, description: 'One of the two.' },
);
export type PolicyWhyRequest = Static<typeof PolicyWhyRequest>;

export const PolicyWhyResponse = Type.Object(
  {
    invocation_id: Type.Optional(InvocationId),
    tool_id: Type.String(),
    allowed: Type.Boolean(),
    ask: Type.Optional(Type.Boolean()),
    recorded: Type.Optional(RecordedDecision),
    still_so: Type.Boolean({
      description:
        'True when the policies in force now are the policies that decided; false when they changed or none are on record.',
    }),
    assumed: Type.Array(Type.String(), { description: 'Facts that are not on record and were filled in.' }),
    engines: Type.Array(PolicyExplanation, { description: 'What the policies in force now say, engine by engine.' }),
  },
  { additionalProperties: false },
);
export type PolicyWhyResponse = Static<typeof PolicyWhyResponse>;
