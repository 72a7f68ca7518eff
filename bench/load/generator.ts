// The load generator's own process: what its callers cost is no part of what a server costs.
import { percentile, timeSeries } from '../report/statistics.ts';
import type { Caller } from './callers/caller.ts';
import { jsonCaller } from './callers/json-caller.ts';
import { mcpCaller } from './callers/mcp-caller.ts';
import { sseCaller } from './callers/sse-caller.ts';
import type { Conversation, Load, LoadCommand, LoadMessage, Target } from './target.ts';

const CALLERS: Readonly<Record<Conversation, (target: Target) => Promise<Caller>>> = {
  json: jsonCaller,
  mcp: mcpCaller,
  'mcp-sse': sseCaller,
};
/** A server that refuses so many calls in a round is broken; more would only make the log long. */
const FAILURES_MAX = 100;
/** Calls before the time runs: connections are new. */
const RAMP_CALLS = 3;

const opened: (readonly Caller[])[] = [];
let nextNumber = 1;

process.on('message', (command: LoadCommand) => {
  obey(command).catch((error: unknown) => say({ says: 'failed', reason: reasonOf(error) }));
});
// The parent is gone: nobody is left to measure for.
process.on('disconnect', () => process.exit());

async function obey(command: LoadCommand): Promise<void> {
  if (command.order === 'open') {
    const callers: Caller[] = [];
    for (let index = 0; index < command.callers; index += 1) {
      callers.push(await CALLERS[command.target.conversation](command.target));
    }
    say({ says: 'opened', id: opened.push(callers) - 1 });
    return;
  }
  const callers = (opened[command.id] ?? []).slice(0, command.callers);
  for (const caller of callers) await caller.renew();
  await Promise.all(callers.map(ramp));
  say({ says: 'began' });
  say({ says: 'finished', load: await run(callers, command.ms) });
}

async function ramp(caller: Caller): Promise<void> {
  for (let call = 0; call < RAMP_CALLS; call += 1) await caller.call(takeNumber());
}

async function run(callers: readonly Caller[], ms: number): Promise<Load> {
  const times = timeSeries();
  const failures: string[] = [];
  const begin = performance.now();
  const end = begin + ms;
  await Promise.all(
    callers.map(async (caller) => {
      for (let now = performance.now(); now < end && failures.length < FAILURES_MAX; ) {
        const failure = await caller.call(takeNumber()).catch(reasonOf);
        const after = performance.now();
        if (failure === undefined) times.add(after - now);
        else failures.push(failure);
        now = after;
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  const sorted = times.sorted();
  return {
    calls: times.count(),
    failed: failures.length,
    ...(failures[0] === undefined ? {} : { firstFailure: failures[0] }),
    seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}

function takeNumber(): number {
  nextNumber += 1;
  return nextNumber;
}

function say(message: LoadMessage): void {
  process.send?.(message);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
