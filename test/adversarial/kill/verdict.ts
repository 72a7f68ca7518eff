import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { CallStory, FinalAnswer } from './clients.ts';
import type { LayerReady } from './layer-process.ts';
import { contentAfter, contentBefore, type Effect, fileOf, type Kind, type Places, readEffects } from './plan.ts';
import { type Answer, askOnce } from './target.ts';

/** Codes with which a call of each kind may end, besides success. */
const ENDS: Readonly<Record<Kind, readonly string[]>> = {
  pure: [],
  idempotent: [],
  compensatable: ['E3804'],
  irreversible: ['E3804'],
  approved: ['E3804'],
  denied: ['E3807'],
  shell: ['E3804'],
  file: ['E3804'],
  taken_back: ['E3804', 'E3815'],
};

/** Kinds of calls that must not run twice, whatever happens to layer and database. */
const ONCE: ReadonlySet<Kind> = new Set(['compensatable', 'irreversible', 'approved', 'denied', 'shell']);

/** Everything that is checked. */
interface Evidence {
  readonly stories: readonly CallStory[];
  readonly places: Places;
  readonly ready: LayerReady;
}

/** Descriptions of everything that is wrong; empty when nothing is. */
export async function faultsOf(evidence: Evidence): Promise<readonly string[]> {
  const effects = readEffects(evidence.places);
  const repeated = await repeatedStories(evidence);
  const faults: string[] = [];
  for (const story of evidence.stories) {
    const { key, kind } = story.call;
    const found = [...story.faults, ...endFaults(story), ...effectFaults(story, effects.get(key) ?? [])];
    const isFile = kind === 'file' || kind === 'taken_back';
    if (isFile && !repeated.has(story)) found.push(...fileFaults(story, evidence.places));
    found.push(...(await lostAnswers(story, evidence.ready)));
    faults.push(...found.map((fault) => `${key} ${kind}${story.call.later ? ' later' : ''}: ${fault}`));
  }
  const others = evidence.stories.filter((story) => !repeated.has(story));
  return [...faults, ...(await differences(others, evidence.ready))];
}

/**
 * Stories that another client's story of the same key may contradict: the call ended as outcome unknown, its rollback
 * succeeded at a later try, and the other client's request ran after that, to whatever end (PIPE-13). The layer must
 * say so itself: the first call is shown as settled by its rollback, and the other began later, or its warning names
 * the first.
 */
async function repeatedStories({ stories, ready }: Evidence): Promise<ReadonlySet<CallStory>> {
  const repeated = new Set<CallStory>();
  for (const pair of Map.groupBy(stories, ({ call }) => call.key).values()) {
    for (const first of pair) {
      if (endOf(first)?.code !== 'E3804') continue;
      const settled = await statusOf(first, endOf(first), ready);
      for (const second of pair) {
        if (ranAfter(settled, await statusOf(second, endOf(second), ready))) repeated.add(first);
      }
    }
  }
  return repeated;
}

function ranAfter(first: Answer['body'] | undefined, second: Answer['body'] | undefined): boolean {
  const { outcome, how, settled_at: settledAt = '' } = first?.settlement ?? {};
  if (outcome !== 'did_not_happen' || how !== 'rollback') return false;
  const startedAt = second?.execution_metadata?.started_at ?? '';
  const isNamed = second?.warnings?.some(
    ({ code, details }) => code === 'outcome_settled' && details?.['invocation_id'] === first?.invocation_id,
  );
  return isNamed === true || Date.parse(startedAt) >= Date.parse(settledAt);
}

async function statusOf({ call }: CallStory, end: FinalAnswer | undefined, ready: LayerReady) {
  const token = ready.tokens[call.client] ?? '';
  return (await askOnce(ready, token, 'GET', `/v1/invocations/${end?.invocationId}`))?.body;
}

/** The end of a call: the last final answer that its client received. */
const endOf = ({ received }: CallStory): FinalAnswer | undefined => received.at(-1);

function endFaults(story: CallStory): string[] {
  const end = endOf(story);
  if (end === undefined) return ['has no end'];
  const { kind } = story.call;
  if (story.decided.size > 0 && kind === 'denied' && end.code !== 'E3807')
    return [`was denied, and ended with ${shown(end)}`];
  const mayEnd = end.code === undefined ? kind !== 'denied' && kind !== 'taken_back' : ENDS[kind].includes(end.code);
  return mayEnd ? [] : [`ended with ${shown(end)}`];
}

const shown = ({ status, code, invocationId }: FinalAnswer): string => `${code ?? status} (${invocationId})`;

function effectFaults(story: CallStory, lines: readonly Effect[]): string[] {
  const { kind } = story.call;
  const end = endOf(story);
  const faults: string[] = [];
  if (ONCE.has(kind) && lines.length > 1) faults.push(`happened ${lines.length} times: ${JSON.stringify(lines)}`);
  if (kind === 'denied' && lines.length > 0) faults.push('was denied, and happened');
  if (kind === 'file' || kind === 'taken_back' || end?.status !== 'success') return faults;
  if (lines.length === 0) return [...faults, 'was answered as done, and did not happen'];
  if (kind === 'shell') return faults;
  const { mark } = end.result as { readonly mark?: unknown };
  const isOwn = lines.some((line) => line.mark === mark && line.invocationId === end.invocationId);
  return isOwn ? faults : [...faults, `was answered with ${String(mark)}, which is none of ${JSON.stringify(lines)}`];
}

/** Checks that a file holds what the call wrote if the call succeeded, and its content from before otherwise. */
function fileFaults(story: CallStory, places: Places): string[] {
  const { call } = story;
  const end = endOf(story);
  const wanted = end?.status === 'success' ? contentAfter(call) : contentBefore(call.key);
  const found = readFileSync(fileOf(places, call), 'utf8');
  return found === wanted
    ? []
    : [`ended with ${end?.code ?? end?.status}, and its file begins with ${JSON.stringify(found.slice(0, 40))}`];
}

/** Checks that the status of each call still is the final answer that its client received. */
async function lostAnswers({ call, received, accepted }: CallStory, ready: LayerReady): Promise<string[]> {
  const faults: string[] = [];
  const ask = (id: string) => askOnce(ready, ready.tokens[call.client] ?? '', 'GET', `/v1/invocations/${id}`);
  // A pure call without a key is on record when it is answered, and on the disk only a moment later (adr/0013).
  const mayBeLost = call.kind === 'pure' && call.names === 'id' && !call.later;
  for (const each of received) {
    const now = await ask(each.invocationId);
    if (mayBeLost && now?.http === 404) continue;
    if (!isAsReceived(now, each))
      faults.push(`was answered with ${JSON.stringify(each)}, and is ${JSON.stringify(now)}`);
  }
  for (const id of accepted) {
    if (received.some(({ invocationId }) => invocationId === id)) continue;
    const now = await ask(id);
    if (now?.http !== 200) faults.push(`${id} was accepted, and is ${JSON.stringify(now)}`);
  }
  return faults;
}

function isAsReceived(now: Answer | undefined, { status, code, result }: FinalAnswer): boolean {
  if (now?.http !== 200) return false;
  const { body } = now;
  return body.status === status && body.error?.e_code === code && isDeepStrictEqual(body.result, result);
}

/** Checks that two clients that sent the same key at the same time received the same answer. */
async function differences(stories: readonly CallStory[], ready: LayerReady): Promise<string[]> {
  const found: string[] = [];
  for (const [key, [one, other]] of Map.groupBy(stories, ({ call }) => call.key)) {
    if (one === undefined || other === undefined || isDeepStrictEqual(endOf(one), endOf(other))) continue;
    const shown = [await statusOf(one, endOf(one), ready), await statusOf(other, endOf(other), ready)];
    found.push(`${key}: its clients received different answers: ${JSON.stringify(shown)}`);
  }
  return found;
}
