import { type Static, Type } from 'typebox';
import { AgentDid, JsonObject, Timestamp, ToolId, Version } from './identifiers.ts';
import { Category, ExecutorKind, RateLimit, SideEffectPolicy } from './tool-manifest.ts';

/** VIS-01. catalog: everything on offer; tenant: what the tenant has; agent: what this agent may use. */
export const Tier = Type.Enum(['catalog', 'tenant', 'agent']);
export type Tier = Static<typeof Tier>;

const Reason = Type.String({ maxLength: 1024, description: 'Why, in words for people and agents.' });

/** Whether a tenant has a tool of the catalogue. A tool without one is available when the tenant registered it itself. */
export const ToolAvailability = Type.Object(
  { tool_id: ToolId, available: Type.Boolean(), reason: Type.Optional(Reason), changed_at: Timestamp },
  { additionalProperties: false },
);
export type ToolAvailability = Static<typeof ToolAvailability>;

export const AvailabilitySetRequest = Type.Object(
  { tool_id: ToolId, available: Type.Boolean(), reason: Type.Optional(Reason) },
  { additionalProperties: false },
);
export type AvailabilitySetRequest = Static<typeof AvailabilitySetRequest>;

/** What an operator has said; tools that nobody spoke of are not in it. Ordered by tool id. */
export const AvailabilityListResponse = Type.Object(
  { availability: Type.Array(ToolAvailability) },
  { additionalProperties: false },
);
export type AvailabilityListResponse = Static<typeof AvailabilityListResponse>;

/** What an activation changes of the manifest, for one agent. Only `requires_confirmation` may loosen it. */
export const PolicyOverrides = Type.Object(
  {
    requires_confirmation: Type.Optional(Type.Boolean()),
    confirmation_prompt: Type.Optional(Type.String({ maxLength: 4096 })),
    requires_approval: Type.Optional(Type.Literal(true)),
    timeout_seconds_max: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
    rate_limit: Type.Optional(RateLimit),
  },
  { additionalProperties: false },
);
export type PolicyOverrides = Static<typeof PolicyOverrides>;

const UserDid = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Of this user of the agent alone; of all its users when absent.',
});

/**
 * 004 §2.2: whether one agent may use one tool; with a user, whether the agent may use it for that user. The user's goes before
 * the agent's. No activation means enabled.
 */
export const ToolActivation = Type.Object(
  {
    agent_did: AgentDid,
    user_did: Type.Optional(UserDid),
    tool_id: ToolId,
    enabled: Type.Boolean(),
    policy_overrides: PolicyOverrides,
    reason: Type.Optional(Reason),
    changed_at: Timestamp,
  },
  { additionalProperties: false },
);
export type ToolActivation = Static<typeof ToolActivation>;

export const ActivationSetRequest = Type.Object(
  {
    agent_did: AgentDid,
    user_did: Type.Optional(UserDid),
    tool_id: ToolId,
    enabled: Type.Optional(Type.Boolean({ default: true })),
    policy_overrides: Type.Optional(PolicyOverrides),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
export type ActivationSetRequest = Static<typeof ActivationSetRequest>;

export const ActivationListRequest = Type.Object(
  {
    agent_did: Type.Optional(Type.String({ ...AgentDid, description: 'Of this agent.' })),
    user_did: Type.Optional(Type.String({ ...UserDid, description: 'Of this user.' })),
    tool_id: Type.Optional(Type.String({ ...ToolId, description: 'Of this tool.' })),
  },
  { additionalProperties: false },
);
export type ActivationListRequest = Static<typeof ActivationListRequest>;

/** Ordered by agent, then by tool id, then by user. */
export const ActivationListResponse = Type.Object(
  { activations: Type.Array(ToolActivation) },
  { additionalProperties: false },
);
export type ActivationListResponse = Static<typeof ActivationListResponse>;

export const ActivationRemoveRequest = Type.Object(
  { agent_did: AgentDid, user_did: Type.Optional(UserDid), tool_id: ToolId },
  { additionalProperties: false },
);
export type ActivationRemoveRequest = Static<typeof ActivationRemoveRequest>;

/** `removed` is false when there was none. */
export const ActivationRemoveResponse = Type.Object(
  { agent_did: AgentDid, user_did: Type.Optional(UserDid), tool_id: ToolId, removed: Type.Boolean() },
  { additionalProperties: false },
);
export type ActivationRemoveResponse = Static<typeof ActivationRemoveResponse>;

export const ViewName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$' });

/** Tools of a source: exact names or * for any run of characters, as the source itself names them. */
const ToolNames = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 });

/** One tool of a source as the view shows it. The hash pins the definition: a changed one leaves the view. */
export const ViewTool = Type.Object(
  {
    tool: Type.String({ minLength: 1, maxLength: 255, description: 'As its source names it.' }),
    content_hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    name: Type.Optional(ToolId),
    description: Type.Optional(Type.String({ maxLength: 65_536 })),
    default_arguments: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
);
export type ViewTool = Static<typeof ViewTool>;

/** What a view takes from one source: an upstream or import by its prefix, or `local` for tools without one. */
export const ViewSource = Type.Object(
  {
    source: Type.String({ minLength: 1, maxLength: 128 }),
    allow: Type.Optional(ToolNames),
    deny: Type.Optional(ToolNames),
    tools: Type.Optional(Type.Array(ViewTool, { maxItems: 1000 })),
  },
  { additionalProperties: false },
);
export type ViewSource = Static<typeof ViewSource>;

/**
 * REG-13: a curated set of tools under names of its own. `prefix` keeps the ids; `priority` and `manual` show bare names,
 * where the earlier source wins, or nobody does. A name that lost is dropped, never given to another tool.
 */
export const ToolView = Type.Object(
  {
    name: ViewName,
    description: Type.Optional(Type.String({ maxLength: 4096 })),
    agents: Type.Array(Type.Union([AgentDid, Type.Literal('*')]), {
      maxItems: 1000,
      description:
        'Agents that see this view and nothing else; * for every agent of the tenant without one of its own.',
    }),
    conflict: Type.Enum(['prefix', 'priority', 'manual']),
    sources: Type.Array(ViewSource, { minItems: 1, maxItems: 256 }),
  },
  { additionalProperties: false, title: 'Tool view' },
);
export type ToolView = Static<typeof ToolView>;

export const ViewPutRequest = Type.Object({ view: ToolView }, { additionalProperties: false });
export type ViewPutRequest = Static<typeof ViewPutRequest>;

export const ViewNameRequest = Type.Object({ name: ViewName }, { additionalProperties: false });
export type ViewNameRequest = Static<typeof ViewNameRequest>;

/** A view with what becomes of it now. A tool that is dropped cannot be seen or called by any name through the view. */
export const ViewDetail = Type.Object(
  {
    view: ToolView,
    changed_at: Timestamp,
    tools: Type.Array(
      Type.Object(
        { name: ToolId, tool_id: ToolId, version: Version, content_hash: Type.String() },
        { additionalProperties: false },
      ),
    ),
    dropped: Type.Array(
      Type.Object(
        {
          source: Type.String(),
          tool: Type.String({ description: 'As its source names it.' }),
          tool_id: Type.Optional(ToolId),
          name: Type.Optional(Type.String({ description: 'The name that it would have had.' })),
          reason: Type.String(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ViewDetail = Static<typeof ViewDetail>;

export const ViewListResponse = Type.Object(
  {
    views: Type.Array(
      Type.Object(
        {
          name: ViewName,
          description: Type.Optional(Type.String()),
          agents: Type.Array(Type.String()),
          conflict: ToolView.properties.conflict,
          tool_count: Type.Integer(),
          dropped_count: Type.Integer(),
          changed_at: Timestamp,
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ViewListResponse = Static<typeof ViewListResponse>;

export const ViewRemoveResponse = Type.Object(
  { name: ViewName, removed: Type.Boolean() },
  { additionalProperties: false },
);
export type ViewRemoveResponse = Static<typeof ViewRemoveResponse>;

/** A tool as lists by tier show it. `name` is what the agent calls it by. */
export const VisibleTool = Type.Object(
  {
    name: ToolId,
    tool_id: ToolId,
    version: Version,
    tool_name: Type.String(),
    description: Type.String(),
    category: Type.Optional(Category),
    tags: Type.Array(Type.String()),
    executor: ExecutorKind,
    side_effect_policy: SideEffectPolicy,
    requires_confirmation: Type.Boolean(),
    requires_approval: Type.Boolean(),
    why_unavailable: Type.Optional(
      Type.Object(
        {
          code: Type.Enum([
            'not_in_tenant',
            'disabled_for_agent',
            'not_in_view',
            'not_in_token',
            'quarantined',
            'held_back',
          ]),
          message: Type.String(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type VisibleTool = Static<typeof VisibleTool>;

/** Of the asker itself unless `agent_did` names another agent, which takes the operator's or viewer's role. */
export const VisibilityListRequest = Type.Object(
  {
    list: Type.Enum(['catalog', 'tenant-available', 'agent-enabled', 'agent-unavailable'], {
      description: 'Which tier, or what an agent lacks.',
    }),
    agent_did: Type.Optional(Type.String({ ...AgentDid, description: 'The agent that the list is about.' })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Which page.' })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
  },
  { additionalProperties: false },
);
export type VisibilityListRequest = Static<typeof VisibilityListRequest>;

export const VisibilityListResponse = Type.Object(
  { tools: Type.Array(VisibleTool), total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
  { additionalProperties: false },
);
export type VisibilityListResponse = Static<typeof VisibilityListResponse>;
