import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';

/** What tools share that call one service: its host, with the port where it is not the usual one, or an upstream. */
export interface CalledApi {
  /** As settings name it: `api.example.com`, `localhost:8080`, `mcp:github`. */
  readonly name: string;
  readonly isHost: boolean;
}

const apis = new WeakMap<ToolManifest, CalledApi | 'none'>();

/** The service that a tool calls, as its manifest names it; undefined for tools of this machine, and where nothing can be read. */
export function calledApiOf(manifest: ToolManifest): CalledApi | undefined {
  const { kind, config } = manifest.executor;
  if (kind !== 'http' && kind !== 'composio' && kind !== 'mcp') return undefined;
  let known = apis.get(manifest);
  if (known === undefined) {
    known = apiIn(kind, config?.[kind === 'mcp' ? 'upstream' : 'base_url']) ?? 'none';
    apis.set(manifest, known);
  }
  return known === 'none' ? undefined : known;
}

function apiIn(kind: ToolManifest['executor']['kind'], place: unknown): CalledApi | undefined {
  if (typeof place !== 'string') return undefined;
  if (kind === 'mcp') return { name: `mcp:${place}`, isHost: false };
  const url = URL.parse(place);
  return url === null ? undefined : { name: url.host, isHost: true };
}
