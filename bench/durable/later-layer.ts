import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedToolLayer } from '../../packages/sallyport/src/compose/create-tool-layer.ts';
import { createToolLayer } from '../../packages/sallyport/src/index.ts';
import { benchSettings, request } from '../pipeline/measured-layer.ts';
import { add, IRREVERSIBLE_TOOL, PURE_TOOL } from '../pipeline/tool.ts';

/** A layer with everything on, asked for calls that run later. */
export interface LaterLayer extends AsyncDisposable {
  /** From the request to the moment at which its watcher is notified of its end. @throws Error unless the answer is right */
  throughToTheEnd(toolId: string, number: number): Promise<void>;
  /** Asks for the status of a call that is over. */
  status(): Promise<void>;
  /** Starts a call that waits, and answers with what cancels it. */
  startHeld(): Promise<() => Promise<void>>;
}

/** A function that runs until it is cancelled. */
const HELD_TOOL = { ...PURE_TOOL, tool_id: 'bench-held', result_schema: { type: 'object' } };
const POLL_MS = 1;
const WAIT_SECONDS = 20;

export async function laterLayer(dataFolder: string): Promise<LaterLayer> {
  const layer = await createToolLayer({
    settings: { ...benchSettings(dataFolder), 'rate.external_burst': 1_000, 'rate.api_burst': 1_000 },
  });
  await layer.registerFunction(PURE_TOOL, add);
  await layer.registerFunction(IRREVERSIBLE_TOOL, add);
  await layer.registerFunction(HELD_TOOL, (_parameters, { signal }) => untilAborted(signal));
  const { capability_token: token } = await layer.mintToken({ tool_id: '*' });
  const caller = { door: 'library', token } as const;
  let last = '';
  return {
    async throughToTheEnd(toolId, number) {
      const later = { ...request(toolId, number), execution_options: { async_mode: true } };
      const { invocation_id, error } = await layer.ask('tools.invoke', later, caller);
      if (error !== undefined) throw new Error(`the call was refused: ${error.message}`);
      await done(layer, caller, invocation_id, number);
      last = invocation_id;
    },
    async status() {
      await layer.ask('invocations.get', { invocation_id: last }, caller);
    },
    async startHeld() {
      const later = { ...request(HELD_TOOL.tool_id, 1), execution_options: { async_mode: true } };
      const { invocation_id } = await layer.ask('tools.invoke', later, caller);
      while ((await layer.ask('invocations.get', { invocation_id }, caller)).state !== 'EXECUTING')
        await sleep(POLL_MS);
      return async () => {
        const { cancelled } = await layer.ask('invocations.cancel', { invocation_id }, caller);
        if (!cancelled) throw new Error('the call was not cancelled');
      };
    },
    [Symbol.asyncDispose]: () => layer.close(),
  };
}

async function done(
  layer: EmbeddedToolLayer,
  caller: { readonly door: 'library'; readonly token: string },
  invocation_id: string,
  number: number,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const known = after === undefined ? {} : { after };
    const seen = await layer.ask('invocations.watch', { invocation_id, wait_seconds: WAIT_SECONDS, ...known }, caller);
    if (seen.over) {
      const { status, result, error } = seen.invocation;
      if (status === 'success' && (result as { readonly sum?: number }).sum === number + 1) return;
      throw new Error(`the call ended with ${status}: ${error?.message}`);
    }
    after = seen.event_id;
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
