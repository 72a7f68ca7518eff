// The load generator's own process: what its callers cost is no part of what a server costs.
import type { Caller } from './callers/caller.ts';
import { jsonCaller } from './callers/json-caller.ts';
import { mcpCaller } from './callers/mcp-caller.ts';
import { openIdleStream } from './callers/mcp-stream.ts';
import { sseCaller } from './callers/sse-caller.ts';
import { nextNumber, reasonOf, runCalls } from './run-calls.ts';
import type { Conversation, LoadCommand, LoadMessage, Target } from './target.ts';

const CALLERS: Readonly<Record<Conversation, (target: Target) => Promise<Caller>>> = {
  json: jsonCaller,
  mcp: mcpCaller,
  'mcp-sse': sseCaller,
};
/** Calls before the time runs: connections are new. */
const RAMP_CALLS = 3;

const opened: (readonly Caller[])[] = [];

process.on('message', (command: LoadCommand) => {
  obey(command).catch((error: unknown) => say({ says: 'failed', reason: reasonOf(error) }));
});
// The parent is gone: nobody is left to measure for.
process.on('disconnect', () => process.exit());

async function obey(command: LoadCommand): Promise<void> {
  switch (command.order) {
    case 'open': {
      const { target, callers } = command;
      return say({
        says: 'opened',
        id: opened.push(await times(callers, () => CALLERS[target.conversation](target))) - 1,
      });
    }
    case 'hold':
      await times(command.streams, () => openIdleStream(command.target));
      return say({ says: 'held' });
    case 'run': {
      const callers = (opened[command.id] ?? []).slice(0, command.callers);
      for (const caller of callers) await caller.renew();
      await Promise.all(callers.map(ramp));
      say({ says: 'began' });
      return say({ says: 'finished', load: await runCalls(callers, command.span) });
    }
  }
}

/** One after the other. */
async function times<T>(count: number, open: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let index = 0; index < count; index += 1) all.push(await open());
  return all;
}

async function ramp(caller: Caller): Promise<void> {
  for (let call = 0; call < RAMP_CALLS; call += 1) await caller.call(nextNumber());
}

function say(message: LoadMessage): void {
  process.send?.(message);
}
