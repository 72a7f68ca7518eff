import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { PolicyOverrides, ViewTool } from '../../api/schemas/visibility.ts';
import { isObject } from '../domain/shape/is-object.ts';

/** How an agent sees a tool, beyond the manifest. */
export interface Showing {
  /** The agent's name for it; default: the tool's id. */
  readonly name?: string;
  readonly rule?: ViewTool;
  readonly overrides?: PolicyOverrides;
}

/**
 * The manifest as one agent sees it: name, description and default arguments of its view, and the changes of its
 * activation. The same object when nothing differs.
 */
export function shownManifest(manifest: ToolManifest, { name, rule, overrides }: Showing): ToolManifest {
  const renamed = name !== undefined && name !== manifest.tool_id;
  if (!renamed && rule === undefined && overrides === undefined) return manifest;
  const defaults = rule?.default_arguments;
  return {
    ...manifest,
    ...(renamed ? { tool_id: name } : {}),
    ...(rule?.description === undefined ? {} : { description: rule.description }),
    ...(defaults === undefined ? {} : { parameters_schema: withDefaults(manifest.parameters_schema, defaults) }),
    ...(overrides === undefined ? {} : policyOf(manifest, overrides)),
  };
}

/** The schema with the view's default arguments made optional; their values are described to the caller. */
export function withDefaults(schema: JsonSchemaObject, defaults: Readonly<Record<string, unknown>>): JsonSchemaObject {
  const { properties, required } = schema;
  const shown: Record<string, unknown> = isObject(properties) ? { ...properties } : {};
  for (const [name, value] of Object.entries(defaults)) {
    const own = Object.hasOwn(shown, name) ? shown[name] : undefined;
    define(shown, name, { ...(isObject(own) ? own : {}), default: value });
  }
  const still = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(defaults, String(name))) : undefined;
  return { ...schema, properties: shown, ...(still === undefined ? {} : { required: still }) };
}

/** A member of any name, `__proto__` too. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Overrides only tighten: a lower limit stays, and a required approval is never removed. */
function policyOf(manifest: ToolManifest, overrides: PolicyOverrides): Partial<ToolManifest> {
  const { requires_confirmation, confirmation_prompt, requires_approval, timeout_seconds_max, rate_limit } = overrides;
  const config = manifest.execution_config;
  const fallback = manifest.executor.kind === 'mcp' ? UPSTREAM_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
  const timeout = lower(config?.default_timeout_seconds, timeout_seconds_max, fallback);
  return {
    ...(requires_confirmation === undefined ? {} : { requires_confirmation }),
    ...(confirmation_prompt === undefined ? {} : { confirmation_prompt }),
    ...(requires_approval === undefined && timeout === undefined && rate_limit === undefined
      ? {}
      : {
          execution_config: {
            ...config,
            ...(requires_approval === undefined ? {} : { requires_approval }),
            ...(timeout === undefined ? {} : { default_timeout_seconds: timeout }),
            ...(rate_limit === undefined ? {} : { rate_limit: lowerRate(config?.rate_limit, rate_limit) }),
          },
        }),
  };
}

/** Default timeout of a manifest, api/schemas/tool-manifest.ts. */
const TIMEOUT_SECONDS = 30;
/** Default timeout of an upstream's tool. */
const UPSTREAM_TIMEOUT_SECONDS = 120;

const lower = (own: number | undefined, max: number | undefined, fallback: number): number | undefined =>
  max === undefined ? own : Math.min(own ?? fallback, max);

type Rate = NonNullable<PolicyOverrides['rate_limit']>;

/** Both limits hold; the manifest has room for one. */
function lowerRate(own: Rate | undefined, other: Rate): Rate {
  const bursts = [own?.burst, other.burst].filter((burst) => burst !== undefined);
  const algorithm = other.algorithm ?? own?.algorithm;
  return {
    per_minute: Math.min(own?.per_minute ?? other.per_minute, other.per_minute),
    ...(bursts.length === 0 ? {} : { burst: Math.min(...bursts) }),
    ...(algorithm === undefined ? {} : { algorithm }),
  };
}
