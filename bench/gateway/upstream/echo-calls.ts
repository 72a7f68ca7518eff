import { readFileSync } from 'node:fs';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import type { Upstreams } from '../../../packages/sallyport/src/mcp-servers/upstreams.ts';
import { ECHO_SCRIPT } from '../../peers/echo-script.ts';
import { processTree } from '../../processes/process-tree.ts';
import { percentile, timeSeries } from '../../report/statistics.ts';

/** Of every call here. */
export const TENANT = 'benchmark';

const TIMEOUT_MS = 30_000;

/** The trivial server behind every proxy, as an upstream. */
export function definitionOf(name: string): UpstreamDefinition {
  return { name, transport: { type: 'stdio', command: 'node', args: [ECHO_SCRIPT] } };
}

/** One round of calls. */
export interface CallRound {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** Of this process, for each call. */
  readonly cpuUs: number;
}

let number = 0;

/** Calls `echo` until the time is over, each caller one after the other and at least once, each time with another text. */
export async function callFor(upstreams: Upstreams, callers: number, ms: number): Promise<CallRound> {
  const times = timeSeries();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const caller = async (): Promise<void> => {
    do {
      number += 1;
      const text = `hello ${number}`;
      const start = performance.now();
      const { content = [] } = await upstreams.call(TENANT, 'echo', 'echo', { text }, { timeoutMs: TIMEOUT_MS });
      times.add(performance.now() - start);
      if ((content[0] as { text?: string } | undefined)?.text !== text) throw new Error('The upstream said otherwise.');
    } while (performance.now() - began < ms);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const taken = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = times.sorted();
  return {
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    perSecond: (times.count() / taken) * 1000,
    cpuUs: (user + system) / times.count(),
  };
}

/** Kills the servers that this process started, and nothing else. */
export function killServers(): void {
  for (const pid of processTree(process.pid).reverse()) {
    if (pid !== process.pid && isServer(pid)) process.kill(pid, 'SIGKILL');
  }
}

function isServer(pid: number): boolean {
  try {
    // The launcher of the sandbox names the script too, but its program is another.
    const [program = '', ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.endsWith('/node') && rest.includes(ECHO_SCRIPT);
  } catch {
    return false;
  }
}
