import { type Static, Type } from 'typebox';
import { CloudEvent, EventType } from './cloud-event.ts';

export const AuditQuery = Type.Object(
  {
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Position of the last event already seen.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    newest: Type.Optional(Type.Boolean({ description: 'The last `limit` events instead of the first after `after`.' })),
    invocation_id: Type.Optional(Type.String()),
    tool_id: Type.Optional(Type.String()),
    agent_did: Type.Optional(Type.String()),
    type: Type.Optional(EventType),
  },
  { additionalProperties: false },
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditPage = Type.Object(
  {
    events: Type.Array(CloudEvent),
    next: Type.Integer({ description: 'Position to ask from next; unchanged when nothing came.' }),
  },
  { additionalProperties: false },
);
export type AuditPage = Static<typeof AuditPage>;

export const ChainReport = Type.Object(
  {
    chain_id: Type.String(),
    events: Type.Integer(),
    checkpoints: Type.Integer(),
    unsigned_since: Type.Optional(
      Type.String({ description: 'Time of the first event that no signed head of the table covers. ISO 8601.' }),
    ),
    whole: Type.Boolean(),
    first_broken: Type.Optional(
      Type.Object(
        { seq: Type.Integer(), event_id: Type.Optional(Type.String()), reason: Type.String() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ChainReport = Static<typeof ChainReport>;

/** A signed statement that a chain had this head, as it is kept outside of the layer (AUD-07). */
export const Anchor = Type.Object(
  {
    chain_id: Type.String({ maxLength: 1_000 }),
    seq: Type.Integer({ minimum: 1 }),
    hash: Type.String({ maxLength: 64 }),
    time: Type.String({ maxLength: 64, description: 'ISO 8601.' }),
    key_id: Type.String({ maxLength: 1_000 }),
    signature: Type.String({
      maxLength: 2_000,
      description: 'RS256 over the canonical JSON of chainId, hash, seq and time; base64url.',
    }),
  },
  { additionalProperties: false },
);
export type Anchor = Static<typeof Anchor>;

export const AnchorList = Type.Object(
  { anchors: Type.Array(Anchor, { description: 'One for each chain.' }) },
  { additionalProperties: false },
);
export type AnchorList = Static<typeof AnchorList>;

export const AnchorsToVerify = Type.Object(
  { anchors: Type.Array(Anchor, { maxItems: 1_000 }) },
  { additionalProperties: false },
);
export type AnchorsToVerify = Static<typeof AnchorsToVerify>;

const HeadFault = Type.Object(
  { chain_id: Type.String(), seq: Type.Integer(), reason: Type.String() },
  { additionalProperties: false },
);

/** AUD-07: whether the chains have the heads that the layer keeps outside the tables. */
export const HeadsReport = Type.Object(
  {
    checked: Type.Integer({ description: 'Signed heads in the file of the data folder.' }),
    faults: Type.Array(HeadFault),
  },
  { additionalProperties: false },
);
export type HeadsReport = Static<typeof HeadsReport>;

/** What became of the heads that anchors name. */
export const AnchorVerification = Type.Object(
  {
    whole: Type.Boolean({ description: 'Each anchor is genuine, and its chain still has that head at that place.' }),
    checked: Type.Integer(),
    faults: Type.Array(HeadFault),
  },
  { additionalProperties: false },
);
export type AnchorVerification = Static<typeof AnchorVerification>;

/** A call whose row and events do not tell the same. */
export const CallGap = Type.Object(
  { tenant_id: Type.String(), invocation_id: Type.String(), reason: Type.String() },
  { additionalProperties: false },
);
export type CallGap = Static<typeof CallGap>;

/** AUD-07: whether each call that was accepted has its beginning and its end in the chains. */
export const CallsReport = Type.Object(
  {
    checked: Type.Integer({ description: 'Rows of calls.' }),
    open: Type.Integer({ description: 'Those of calls that are not over.' }),
    gaps: Type.Integer(),
    first_gaps: Type.Array(CallGap, { description: 'The first 20.' }),
  },
  { additionalProperties: false },
);
export type CallsReport = Static<typeof CallsReport>;

/** AUD-03, AUD-07: what `audit verify` found. */
export const AuditVerification = Type.Object(
  {
    whole: Type.Boolean(),
    events: Type.Integer(),
    chains: Type.Array(ChainReport),
    calls: CallsReport,
    heads: HeadsReport,
    warnings: Type.Array(Type.String(), {
      description: 'What is no proof that anything was changed, and worth a look.',
    }),
  },
  { additionalProperties: false },
);
export type AuditVerification = Static<typeof AuditVerification>;
