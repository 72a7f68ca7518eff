import { type Static, Type } from 'typebox';
import { JsonObject, ToolId } from './identifiers.ts';
import { UpstreamName } from './upstream.ts';

/** Something that an upstream offers beside its tools. */
export const Offer = Type.Object(
  {
    upstream: UpstreamName,
    listed: Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description: 'As the server lists it; of a server: its version, instructions and capabilities.',
    }),
    tools: Type.Record(Type.String(), ToolId, {
      description: 'The tools by which it is used, by the request of MCP that each makes: resources/read and so on.',
    }),
  },
  { additionalProperties: false },
);
export type Offer = Static<typeof Offer>;

export const OfferListRequest = Type.Object(
  {
    list: Type.Enum(['servers', 'resources', 'templates', 'prompts'], {
      description: 'What is listed: upstreams, or their resources, resource templates or prompts.',
    }),
    upstream: Type.Optional(Type.String({ ...UpstreamName, description: 'Only of this upstream.' })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Which page.' })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
  },
  { additionalProperties: false },
);
export type OfferListRequest = Static<typeof OfferListRequest>;

/** Ordered by upstream, then as each server lists them. */
export const OfferListResponse = Type.Object(
  { offers: Type.Array(Offer), total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
  { additionalProperties: false },
);
export type OfferListResponse = Static<typeof OfferListResponse>;
