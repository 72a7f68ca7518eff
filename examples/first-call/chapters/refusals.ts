import assert from 'node:assert/strict';
import { processesWith } from '../processes.ts';
import type { CommandResult } from '../sallyport-process.ts';
import { assertRefused, invokeOverRest, type Story } from '../story.ts';

/** What the chapter gets. */
export interface RefusalsParts {
  readonly story: Story;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
  readonly url: string;
  readonly folder: string;
}

/** A duration that no other process on the machine sleeps for. */
const SLEEP_SECONDS = 31.4159;

/** Each way in which a call is refused or stopped. */
export async function refusalsChapter({ story, sallyport, url, folder }: RefusalsParts): Promise<void> {
  story.step('Calls that are refused');
  const mint = async (...args: string[]): Promise<string> => (await sallyport('token', 'mint', ...args)).stdout.trim();
  const token = await mint();
  const sleep = { tool_id: 'sleep', parameters: { seconds: 0 } };

  const without = await invokeOverRest(url, undefined, sleep);
  story.holds('without a token', () => assertRefused(without, 401, 'E3212'));
  const expired = await invokeOverRest(url, await expiredToken(url, await mint('--role', 'operator')), sleep);
  story.holds('with an expired token', () => assertRefused(expired, 401, 'E3202'));
  const foreign = await invokeOverRest(url, await mint('--tool', 'read-note'), sleep);
  story.holds('with the token of another tool', () => assertRefused(foreign, 403, 'E3209'));
  const forbidden = await invokeOverRest(url, token, { tool_id: 'forbidden' });
  story.holds('by a policy, which is named', () => {
    assertRefused(forbidden, 403, 'E3210');
    assert.match(forbidden.body.error?.message ?? '', /never-forbidden/);
  });
  const faulty = await invokeOverRest(url, token, { tool_id: 'sleep', parameters: { seconds: 'long', minutes: 1 } });
  story.holds('for its arguments, every fault with its path', () => {
    assertRefused(faulty, 400, 'E3509');
    const faults = faulty.body.error?.details?.['faults'] as { path: string }[];
    assert.deepEqual(faults.map(({ path }) => path).sort(), ['/minutes', '/seconds']);
  });
  const notes = `${folder}/notes`;
  const reading = { tool_id: 'read-note', parameters: { path: `${folder}/tools.json` } };
  const outside = await invokeOverRest(url, await mint('--path', notes), reading);
  story.holds('for a path outside the grant', () => assertRefused(outside, 403, 'E3203'));
  const ungranted = await invokeOverRest(url, token, { ...reading, parameters: { path: `${notes}/hello.txt` } });
  story.holds('for a grant that the token does not hold', () => assertRefused(ungranted, 403, 'E3203'));
  const unknown = await invokeOverRest(url, token, { tool_id: 'nowhere' });
  story.holds('for a tool that does not exist', () => assertRefused(unknown, 404, 'E3001'));

  const slow = { tool_id: 'sleep', parameters: { seconds: SLEEP_SECONDS }, resource_limits: { timeout_seconds: 0.5 } };
  const late = await invokeOverRest(url, token, slow);
  const left = await processesWith(`sleep\0${SLEEP_SECONDS}`);
  story.holds('at its timeout, and no process is left', () => {
    // The tool may leave something behind, so nobody knows what it did.
    assertRefused(late, 502, 'E3804');
    assert.deepEqual(left, []);
  });
}

/** The command line makes no token that is expired already; the operation does. */
async function expiredToken(url: string, operator: string): Promise<string> {
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}` },
    body: JSON.stringify({ expires_in_seconds: -60 }),
  });
  assert.equal(response.status, 201);
  return ((await response.json()) as { capability_token: string }).capability_token;
}
