import { Type } from 'typebox';

/**
 * Letters, digits, dot, dash and underscore: a tool id is also its MCP tool name and a URL segment, so it needs no
 * mapping at any door. Tools of an upstream or an imported document are named `<source>__<name>`.
 */
export const ToolId = Type.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_])?$',
  description:
    'Unique id of a tool within a tenant, also its MCP name: 128 letters, digits, `_`, `-` and `.` at most, beginning with a letter or digit.',
});

/** Exact SemVer 2.0.0. */
const SEMVER = {
  pattern:
    '^(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$',
  maxLength: 64,
};

export const Version = Type.String({ ...SEMVER, description: 'Semantic version, for example 2.1.0.' });

export const AgentVersion = Type.String({
  ...SEMVER,
  description: "Semantic version of the agent itself; compared with a tool's compatibility_range.",
});

/** An exact version, a SemVer range or `latest`. */
export const VersionRange = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Exact version, SemVer range such as ^2.1.0, or latest.',
});

export const TenantId = Type.String({ minLength: 1, maxLength: 255, description: 'Tenant that owns the data.' });

export const AgentDid = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Decentralized identifier of the agent.',
});

export const InvocationId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$',
  description: 'Id of one invocation. A UUID is made when the caller gives none.',
});

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 time in UTC.' });

/** A JSON Schema document; judged by the dialect that its `$schema` names, 2020-12 when silent (REG-12). */
export const JsonSchemaDocument = Type.Unsafe<JsonSchemaObject>({
  type: 'object',
  description: 'JSON Schema: draft-07, 2019-09 or 2020-12 by $schema, 2020-12 when silent.',
});

/** A JSON Schema in object form. Its keywords are foreign data, hence unknown. */
export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

/** Any JSON object. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' });

/** Any JSON value. */
export const JsonValue = Type.Unsafe<unknown>({});

/** Input of an operation that takes none. */
export const NoInput = Type.Object({}, { additionalProperties: false });
