import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxDriver } from '@sallyport/sandbox';
import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { memoryQuarantineStore } from '../../../test/stores/memory-quarantine-store.ts';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createPackages } from '../packages.ts';
import { createQuarantine, type Quarantine } from '../quarantine.ts';
import type { StoredUpstream, UpstreamStore } from '../upstream-store.port.ts';
import { createUpstreams, type Upstreams, type UpstreamsParts } from '../upstreams.ts';

/** Root of the repository, where the real servers are installed. */
export const REPOSITORY = fileURLToPath(new URL('../../../../..', import.meta.url)).replace(/\/$/, '');
/** The tenant of every test. */
export const TENANT = 'acme';

/** An argument that marks the servers of this test process, because other test processes start servers too. */
const TOKEN = `--of=${process.pid}`;

/** Upstreams, and the store that they use. */
export interface Fixture {
  readonly upstreams: Upstreams;
  readonly stored: Map<string, StoredUpstream>;
}

/** Dependencies that a test gives in place of the usual ones. */
export type FixtureParts = Partial<Omit<UpstreamsParts, 'quarantine'>> & { readonly quarantine?: Partial<Quarantine> };

const guard = createEgressGuard();
const outbound = createOutboundHttp({ guard });
/** Nobody is asked anything, nobody logs in, and the machine allows everything. */
const USUAL = {
  log: silentLog,
  clock: systemClock,
  client: { name: 'sallyport', version: '0.0.0' },
  secrets: { read: async () => new Map<string, string>() },
  logins: {
    authorizer: () => undefined,
    expect: () => Promise.reject(new Error('Nobody logs in.')),
    prints: async () => [],
    isOver: async () => false,
  },
  clients: { ask: async () => ({ unasked: 'there is none' }), clientOf: () => undefined, completed() {} },
  outbound,
  callerOutbound: () => createOutboundHttp({ guard }),
  embedded: {},
  checkDefinition() {},
  checkShown() {},
} as const satisfies Partial<UpstreamsParts>;

/** Upstreams with a real sandbox driver, and stores in memory. */
export function fixture(driver: SandboxDriver, { quarantine, ...parts }: FixtureParts = {}): Fixture {
  const stored = new Map<string, StoredUpstream>();
  const store: UpstreamStore = {
    async put(upstream) {
      stored.set(`${upstream.tenantId} ${upstream.definition.name}`, upstream);
    },
    remove: async (tenantId, name) => stored.delete(`${tenantId} ${name}`),
    find: async (tenantId, name) => stored.get(`${tenantId} ${name}`)?.definition,
    loadAll: async () => [...stored.values()],
    prints: async () =>
      [...stored.values()].map(({ tenantId, definition }) => ({
        ...{ tenantId, name: definition.name },
        print: JSON.stringify(definition),
      })),
  };
  const upstreams = createUpstreams({
    driver,
    store,
    ...USUAL,
    packages: createPackages({ driver, folder: join(tmpdir(), 'no-packages'), environment: {} }),
    quarantine: {
      ...createQuarantine({ ...USUAL, store: memoryQuarantineStore() }),
      ...quarantine,
    },
    ...parts,
  });
  return { upstreams, stored };
}

/** Definition of a server that runs `odd-server.mjs`, named after its mode. */
export function odd(
  mode: string,
  more: Partial<Extract<UpstreamDefinition['transport'], { type: 'stdio' }>> = {},
): UpstreamDefinition {
  const script = fileURLToPath(new URL('odd-server.mjs', import.meta.url));
  return { name: mode, transport: { type: 'stdio', command: 'node', args: [script, mode, TOKEN], ...more } };
}

/** The error with which a promise rejects; fails unless it is an error of the layer. */
export async function failureOf(run: Promise<unknown>): Promise<ToolLayerError> {
  const thrown = await run.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ToolLayerError) return thrown;
  throw new Error('no ToolLayerError was thrown', { cause: thrown });
}

/** Waits until a condition holds, or until the time limit of the test. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Pids of processes that this test process started and whose command line contains a text. */
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
export function textOf(result: { readonly content?: readonly unknown[] }): string {
  const [block] = result.content ?? [];
  return (block as { text: string }).text;
}
