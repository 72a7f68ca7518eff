import { type Static, Type } from 'typebox';
import { Timestamp, ToolId, Version } from '../identifiers.ts';
import { Registration } from '../registry.ts';
import { UpstreamName } from '../upstream.ts';

/**
 * `changed`: the server serves another definition than the accepted one. `flagged`: its description may hold hidden
 * instructions. `new`: it came later and its upstream takes no new tools. `rejected`: an operator refused what is served.
 */
export const QuarantineReason = Type.Enum(['changed', 'flagged', 'new', 'rejected']);
export type QuarantineReason = Static<typeof QuarantineReason>;

/** Something in a definition that speaks to the model behind the user's back, or may. */
export const DescriptionFinding = Type.Object(
  {
    kind: Type.String({ description: 'What was found: hidden-characters, concealment, …' }),
    path: Type.String({ description: 'JSON Pointer into the definition.' }),
    excerpt: Type.String({ description: 'The place, with hidden characters written out.' }),
  },
  { additionalProperties: false },
);
export type DescriptionFinding = Static<typeof DescriptionFinding>;

/** One difference between what was accepted and what is served. */
export const DefinitionChange = Type.Object(
  {
    path: Type.String({ description: 'JSON Pointer into the definition.' }),
    kind: Type.Enum(['added', 'removed', 'changed']),
    before: Type.Optional(Type.String({ description: 'JSON text, cut beyond 2 000 characters.' })),
    after: Type.Optional(Type.String({ description: 'JSON text, cut beyond 2 000 characters.' })),
  },
  { additionalProperties: false },
);
export type DefinitionChange = Static<typeof DefinitionChange>;

/** A tool of an upstream that waits for an operator, or was rejected (REG-09). */
export const QuarantinedTool = Type.Object(
  {
    upstream: UpstreamName,
    tool: Type.String({ description: 'As the server names it.' }),
    tool_id: ToolId,
    reason: QuarantineReason,
    content_hash: Type.String({
      description: 'SHA-256 over the canonical JSON of the definition that is served, hex.',
    }),
    accepted_version: Type.Optional(Version),
    findings: Type.Array(DescriptionFinding),
    changes: Type.Array(DefinitionChange, { description: 'Empty for a tool that was never accepted.' }),
    breaking: Type.Boolean({ description: 'Whether calls that were good may fail, or results take another form.' }),
    changes_left_out: Type.Integer({ description: 'Further changes, beyond the first hundred.' }),
    noticed_at: Timestamp,
  },
  { additionalProperties: false },
);
export type QuarantinedTool = Static<typeof QuarantinedTool>;

export const QuarantineListRequest = Type.Object(
  {
    name: Type.Optional(UpstreamName),
    tool: Type.Optional(Type.String({ description: 'Its id, or the name that the server gives it.' })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  },
  { additionalProperties: false },
);
export type QuarantineListRequest = Static<typeof QuarantineListRequest>;

export const QuarantineListResponse = Type.Object(
  {
    quarantined: Type.Array(QuarantinedTool),
    pagination: Type.Object(
      { total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type QuarantineListResponse = Static<typeof QuarantineListResponse>;

/** Either one tool, or all of an upstream. */
export const QuarantineDecision = Type.Object(
  {
    name: UpstreamName,
    tool: Type.Optional(Type.String({ minLength: 1, description: 'Its id, or the name that the server gives it.' })),
    all: Type.Optional(Type.Literal(true, { description: 'To accept, only those without a finding.' })),
    content_hash: Type.Optional(
      Type.String({ description: 'Of the definition that was looked at; another one is not decided on.' }),
    ),
  },
  { additionalProperties: false },
);
export type QuarantineDecision = Static<typeof QuarantineDecision>;

export const QuarantineAcceptResponse = Type.Object(
  {
    name: UpstreamName,
    registrations: Type.Array(Registration),
    left_out: Type.Array(ToolId, { description: 'With findings: each has to be named to be accepted.' }),
  },
  { additionalProperties: false },
);
export type QuarantineAcceptResponse = Static<typeof QuarantineAcceptResponse>;

export const QuarantineRejectResponse = Type.Object(
  { name: UpstreamName, rejected: Type.Array(ToolId) },
  { additionalProperties: false },
);
export type QuarantineRejectResponse = Static<typeof QuarantineRejectResponse>;
