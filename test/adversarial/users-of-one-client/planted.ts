import { randomBytes } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, vi } from 'vitest';
import type { EmbeddedToolLayer } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';

/** The names of one user's calls; an attacker with lucky guesses knows these. */
export interface CallNames {
  readonly agent: string;
  /** Undefined when the client uses its own credential. */
  readonly user: string | undefined;
  readonly token: string;
  /** A call that can be taken back, made under `key`. */
  readonly paid: string;
  readonly key: string;
  /** A second call, made in `turnGroup`. */
  readonly inTurn: string;
  readonly turnGroup: string;
  /** A call that a worker runs. */
  readonly running: string;
  /** A call that waits for an approver, and the approval's id. */
  readonly waiting: string;
  readonly approval: string;
  /** A call of a deterministic tool. */
  readonly looked: string;
  /** A checkpoint of the call that runs. */
  readonly checkpoint: string;
  /** A thread of the agent and its user. */
  readonly thread: string;
  /** A call whose outcome is not known. */
  readonly unknown: string;
}

/** The calls of one user, and the texts that no other user may read. */
export interface PlantedCalls {
  readonly names: CallNames;
  readonly marks: readonly string[];
}

/** The tools of these calls, and the effects that they had. */
export interface Shop extends Disposable {
  /** Orders that were compensated. */
  readonly takenBack: string[];
  /** Runs of `pay`, by their argument. */
  readonly paid: string[];
}

const LOCAL = { door: 'library', local: true } as const;

/** A text that occurs nowhere else. */
const word = (kind: string): string => `${kind}${randomBytes(9).toString('hex')}`;

const manifestOf = (tool_id: string, more: Partial<ToolManifest>): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: `Does ${tool_id}.`,
  parameters_schema: { type: 'object', properties: { q: { type: 'string' }, order: { type: 'string' } } },
  executor: { kind: 'native' },
  side_effect_policy: 'idempotent',
  ...more,
});

/** Registers the tools. Calls that still run end when the shop is disposed. */
export async function openShop(layer: EmbeddedToolLayer): Promise<Shop> {
  const takenBack: string[] = [];
  const paid: string[] = [];
  const { promise: gate, resolve: end } = Promise.withResolvers<void>();
  const compensatable = { side_effect_policy: 'compensatable', compensation_tool_id: 'refund' } as const;
  await layer.registerFunction(manifestOf('refund', {}), ({ order }) => {
    takenBack.push(String(order));
    return { refunded: true };
  });
  await layer.registerFunction(manifestOf('pay', compensatable), ({ q }) => {
    paid.push(String(q));
    return { order: word('order') };
  });
  await layer.registerFunction(manifestOf('mail', {}), () => ({ sent: true }));
  await layer.registerFunction(
    manifestOf('work', { execution_config: { default_timeout_seconds: 300 } }),
    async (_given, { signal, checkpoints }) => {
      await checkpoints.save({ seen: word('state') });
      signal.addEventListener('abort', () => end());
      return gate;
    },
  );
  await layer.registerFunction(manifestOf('sign', { execution_config: { requires_approval: true } }), () => ({}));
  await layer.registerFunction(
    manifestOf('look', { side_effect_policy: 'pure', deterministic: true }),
    // A different result each time, although the tool is declared deterministic: the report must not show other users'
    // calls.
    () => ({ seen: word('seen') }),
  );
  await layer.registerFunction(manifestOf('vanish', { side_effect_policy: 'irreversible' }), () => {
    throw new ToolLayerError('E3107', 'The connection broke.', { details: { reached: true } });
  });
  return { takenBack, paid, [Symbol.dispose]: () => end() };
}

/** Names of the same form that name nothing. */
export const absentNames = ({ agent, user, token }: Pick<CallNames, 'agent' | 'user' | 'token'>): CallNames => ({
  agent,
  user,
  token,
  paid: word('paid'),
  key: word('key'),
  inTurn: word('turn'),
  turnGroup: word('group'),
  running: word('running'),
  waiting: word('waiting'),
  approval: crypto.randomUUID(),
  looked: word('looked'),
  checkpoint: word('checkpoint'),
  thread: word('thread'),
  unknown: word('unknown'),
});

/** Makes one call of each kind with a token. */
export async function plantCalls(
  layer: EmbeddedToolLayer,
  holder: Pick<CallNames, 'agent' | 'user' | 'token'>,
): Promise<PlantedCalls> {
  const names = absentNames(holder);
  const results: string[] = [];
  const call = async (tool_id: string, invocation_id: string, q: string, execution_options: object = {}) => {
    const request = { tool_id, invocation_id, parameters: { q }, execution_options };
    const answer = await layer.invoke(request, { token: names.token });
    results.push(...Object.values((answer.result ?? {}) as Record<string, string>));
    return answer;
  };
  const said = word('argument');
  await call('pay', names.paid, said, { idempotency_key: names.key });
  await call('pay', names.inTurn, 'the same', { turn_group_id: names.turnGroup });
  await call('look', names.looked, 'the same');
  await call('vanish', names.unknown, said);
  await call('work', names.running, said, { async_mode: true });
  const [channel, value] = [word('channel'), { type: 'json', base64: '' }];
  results.push(channel);
  await layer.ask(
    'threads.save',
    {
      ...{ thread_id: names.thread, checkpoint_id: 'one', state: value, metadata: value, versions: { [channel]: '1' } },
      values: [{ channel, version: '1', value }],
    },
    { door: 'library', token: names.token },
  );
  const { approval } = await call('sign', names.waiting, said);
  const checkpoint = await vi.waitFor(async () => {
    const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: names.running }, LOCAL);
    const [saved] = checkpoints;
    if (saved === undefined) throw new Error('it has saved nothing yet');
    return saved.checkpoint_id;
  }, 50_000);
  const planted = { ...names, checkpoint, approval: approval?.approval_id ?? '' };
  await vi.waitFor(async () => {
    expect(await stateOf(layer, planted)).toEqual({
      paid: 'COMPLETED executed',
      inTurn: 'COMPLETED executed',
      looked: 'COMPLETED',
      unknown: 'ABORTED unknown',
      running: 'EXECUTING executing',
      waiting: 'AUTHORIZED',
    });
  }, 50_000);
  // Keys and turn groups are left out: the attacker sends the same ones, so they are in answers to the attacker's own
  // calls.
  const { agent: _agent, user: _user, key: _key, turnGroup: _turnGroup, ...secret } = planted;
  return { names: planted, marks: [said, ...results, ...Object.values(secret)] };
}

/** The recorded state of each call, as an operator sees it. */
export async function stateOf(layer: EmbeddedToolLayer, names: CallNames): Promise<Record<string, string>> {
  const states: Record<string, string> = {};
  for (const name of ['paid', 'inTurn', 'looked', 'unknown', 'running', 'waiting'] as const) {
    const asked = { invocation_id: names[name] };
    const { state } = await layer.ask('invocations.get', asked, LOCAL);
    const effect = await layer.ask('side-effects.get', asked, LOCAL).catch(() => undefined);
    states[name] = effect === undefined ? state : `${state} ${effect.status}`;
  }
  return states;
}
