import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SandboxDriver } from '@sallyport/sandbox';
import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { StoredUpstream, UpstreamStore } from '../upstream-store.port.ts';
import { createUpstreams, type Upstreams, type UpstreamsParts } from '../upstreams.ts';

/** The repository, where the real servers are installed. */
export const REPOSITORY = fileURLToPath(new URL('../../../../..', import.meta.url)).replace(/\/$/, '');
/** The tenant of every test. */
export const TENANT = 'acme';

/** Marks the servers of this test process among those of others that run at the same time. */
const TOKEN = `--of=${process.pid}`;

/** Upstreams with a store that can be looked into. */
export interface Fixture {
  readonly upstreams: Upstreams;
  readonly stored: Map<string, StoredUpstream>;
}

/** Upstreams over a real driver and a store in memory. */
export function fixture(driver: SandboxDriver, parts: Partial<UpstreamsParts> = {}): Fixture {
  const stored = new Map<string, StoredUpstream>();
  const store: UpstreamStore = {
    async put(upstream) {
      stored.set(`${upstream.tenantId} ${upstream.definition.name}`, upstream);
    },
    remove: async (tenantId, name) => stored.delete(`${tenantId} ${name}`),
    loadAll: async () => [...stored.values()],
  };
  const upstreams = createUpstreams({
    driver,
    store,
    log: silentLog,
    clock: systemClock,
    client: { name: 'sallyport', version: '0.0.0' },
    ...parts,
  });
  return { upstreams, stored };
}

/** A server of `odd-server.mjs`, named like its mode. */
export function odd(
  mode: string,
  more: Partial<Extract<UpstreamDefinition['transport'], { type: 'stdio' }>> = {},
): UpstreamDefinition {
  const script = fileURLToPath(new URL('odd-server.mjs', import.meta.url));
  return { name: mode, transport: { type: 'stdio', command: 'node', args: [script, mode, TOKEN], ...more } };
}

/** What was thrown, which has to be an error of the layer. */
export async function failureOf(run: Promise<unknown>): Promise<ToolLayerError> {
  const thrown = await run.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ToolLayerError) return thrown;
  throw new Error('no ToolLayerError was thrown', { cause: thrown });
}

/** Waits until something holds; the test's own time limit ends a wait in vain. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Processes whose command line holds a text and that this test process started. */
export function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    const commandLine = readIfThere(`/proc/${entry}/cmdline`);
    return commandLine.includes(text) && (commandLine.includes(TOKEN) || isDescendant(entry));
  });
}

function isDescendant(pid: string): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`);
  const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  if (parent === undefined || parent === '0' || parent === '1') return false;
  return parent === String(process.pid) || isDescendant(parent);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The text of the first block of a result. */
export function textOf(result: { readonly content: readonly unknown[] }): string {
  return (result.content[0] as { text: string }).text;
}
