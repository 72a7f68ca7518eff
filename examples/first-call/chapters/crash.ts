import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { processesWith } from '../processes.ts';
import type { CommandResult, ServingLayer } from '../sallyport-process.ts';
import { invokeOverRest, type Story } from '../story.ts';

/** What the chapter gets. */
export interface CrashParts {
  readonly story: Story;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
  readonly layer: ServingLayer;
  readonly restart: () => Promise<ServingLayer>;
}

/** A duration that no other process on the machine sleeps for. */
const SLEEP_SECONDS = 271.8281;
const INVOCATION = 'cut-off-by-a-crash';
/** Longest wait for something to begin or to end. */
const PATIENCE_MS = 10_000;

/** SIGKILL while the sandbox of a shell call is being made, and a new start on the same data folder. */
export async function crashChapter({ story, sallyport, layer, restart }: CrashParts): Promise<ServingLayer> {
  story.step('SIGKILL during a shell call');
  const token = (await sallyport('token', 'mint')).stdout.trim();
  const request = { tool_id: 'sleep', invocation_id: INVOCATION, parameters: { seconds: SLEEP_SECONDS } };
  const cut = invokeOverRest(layer.url, token, request).catch((error: unknown) => error);
  const sleeping = (): Promise<string[]> => processesWith(`sleep\0${SLEEP_SECONDS}`);
  // The launcher's command line names the tool too: the sandbox is only just being made.
  await until(async () => (await sleeping()).length > 0, 1);
  await layer.kill();
  await cut;
  await until(async () => (await sleeping()).length === 0);
  story.holds('leaves no process of the sandbox behind', () => undefined);

  const again = await restart();
  const fresh = (await sallyport('token', 'mint')).stdout.trim();
  const response = await fetch(`${again.url}/v1/invocations/${INVOCATION}`, {
    headers: { authorization: `Bearer ${fresh}` },
  });
  const status = (await response.json()) as { state: string; error?: { code: string } };
  story.holds('the call that was cut off is known, with an unknown outcome', () => {
    assert.deepEqual([status.state, status.error?.code], ['ABORTED', 'outcome_unknown'], JSON.stringify(status));
  });
  const next = await invokeOverRest(again.url, fresh, { tool_id: 'everything__echo', parameters: { message: 'back' } });
  story.holds('and the tools work again', () => assert.equal(next.body.status, 'success', JSON.stringify(next.body)));
  return again;
}

async function until(holds: () => Promise<boolean>, everyMs = 50): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'waited in vain');
    await wait(everyMs);
  }
}
