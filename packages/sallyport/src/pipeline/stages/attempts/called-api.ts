import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { type ExecutorTraits, traitsOf } from '../../../domain/tool/executor-kinds.ts';

/** The service that several tools call: a host, with its port unless that is the default one, or an upstream. */
export interface CalledApi {
  /** As settings name it: `api.example.com`, `localhost:8080`, `mcp:github`. */
  readonly name: string;
  readonly isHost: boolean;
}

const apis = new WeakMap<ToolManifest, CalledApi | 'none'>();

/**
 * The service that a tool calls, according to its manifest; undefined for local tools, and when the address cannot be
 * parsed.
 */
export function calledApiOf(manifest: ToolManifest): CalledApi | undefined {
  const { kind, config } = manifest.executor;
  const { service } = traitsOf(kind);
  if (service === undefined) return undefined;
  let known = apis.get(manifest);
  if (known === undefined) {
    known = apiAt(service, config?.[service]) ?? 'none';
    apis.set(manifest, known);
  }
  return known === 'none' ? undefined : known;
}

function apiAt(service: NonNullable<ExecutorTraits['service']>, place: unknown): CalledApi | undefined {
  if (typeof place !== 'string') return undefined;
  if (service === 'upstream') return { name: `mcp:${place}`, isHost: false };
  const url = URL.parse(place);
  return url === null ? undefined : { name: url.host, isHost: true };
}
