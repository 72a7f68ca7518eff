import { describe, expect, test } from 'vitest';
import type { BeforeHook, Hook, HookedCall, HookedResult } from './hook.ts';
import { createHooks, HookForged } from './run-hooks.ts';

const call: HookedCall = {
  invocationId: 'i',
  dryRun: false,
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  toolId: 'mail__send',
  toolVersion: '1.0.0',
  sideEffect: 'irreversible',
  trust: 'trusted',
  arguments: { to: 'a' },
};
const result: HookedResult = { ...call, result: 1, toolError: false };
const never = () => new AbortController().signal;

/** Runs one hook for a call. */
function ask(run: BeforeHook['run'], more: Partial<Omit<BeforeHook, 'run' | 'at'>> = {}, signal = never()) {
  const hook: BeforeHook = { id: 'h', at: 'before', run, ...more };
  return createHooks([hook]).askBefore(hook, call, signal);
}

describe('what a hook says', () => {
  test('PIPE-14 may let a call go on, refuse it, or give it other arguments', async () => {
    const verdicts = [];
    for (const said of [
      undefined,
      { outcome: 'allow' },
      { outcome: 'refuse', reason: 'Not today.' },
      { outcome: 'rewrite', arguments: { to: 'b' } },
    ] as const) {
      const { verdict, answer, refused } = await ask(async () => said);
      verdicts.push([verdict.outcome, answer, refused?.code, refused?.message]);
    }
    expect(verdicts).toEqual([
      ['allow', undefined, undefined, undefined],
      ['allow', undefined, undefined, undefined],
      ['refuse', undefined, 'E3815', 'The call is refused by the hook h: Not today.'],
      ['rewrite', { outcome: 'rewrite', arguments: { to: 'b' } }, undefined, undefined],
    ]);
  });

  test('PIPE-14.8 counts alone: a hook that changes the arguments, the result or its answer by itself changes no call', async () => {
    const given = { ...call, arguments: { to: 'a', card: { number: '1' } } };
    const forLog = (hooked: HookedCall): void => {
      Reflect.deleteProperty(hooked.arguments['card'] as object, 'number');
      Object.assign(hooked.arguments, { to: 'b' });
    };
    const said = { outcome: 'rewrite', arguments: { to: 'c' } } as const;
    const hook: BeforeHook = { id: 'h', at: 'before', run: (hooked) => void forLog(hooked) };
    const rewriting: BeforeHook = { id: 'r', at: 'before', run: () => said };
    const hooks = createHooks([hook, rewriting]);
    await hooks.askBefore(hook, given, never());
    expect(given.arguments).toEqual({ to: 'a', card: { number: '1' } });
    const { answer } = await hooks.askBefore(rewriting, given, never());
    Object.assign(said.arguments, { to: 'd' });
    expect(answer?.arguments).toEqual({ to: 'c' });
    const after: Hook = {
      id: 'a',
      at: 'after',
      run: (hooked) => void Object.assign(hooked.result as object, { n: 2 }),
    };
    const ran = { ...result, result: { n: 1 } };
    await createHooks([after]).askAfter(after, ran, never());
    expect(ran.result).toEqual({ n: 1 });
  });

  test.each([
    ['an unknown outcome', { outcome: 'maybe' }],
    ['nothing readable', 'allow'],
    ['a refusal without a reason', { outcome: 'refuse' }],
    ['a rewrite without arguments', { outcome: 'rewrite' }],
    ['a rewrite with a list', { outcome: 'rewrite', arguments: [1] }],
    ['a rewrite of the result', { outcome: 'rewrite', result: 1 }],
  ])('PIPE-14 %s is no answer', async (_name, said) => {
    const { verdict, refused } = await ask(() => said as never);
    expect([verdict.outcome, verdict.went_on, refused?.code]).toEqual(['failed', false, 'E3816']);
  });

  test('after a call may replace the result, with null too, but not with nothing', async () => {
    const ends = [];
    for (const value of [null, 0, undefined]) {
      const hook: Hook = { id: 'h', at: 'after', run: () => ({ outcome: 'rewrite', result: value }) };
      const { answer, refused } = await createHooks([hook]).askAfter(hook, result, never());
      ends.push([answer?.result, refused?.code]);
    }
    expect(ends).toEqual([
      [null, undefined],
      [0, undefined],
      [undefined, 'E3816'],
    ]);
  });
});

describe('a hook that fails', () => {
  const fail = () => {
    throw new Error('password=hunter2');
  };

  test('PIPE-14.7 refuses the call, unless it fails open; nobody hears why', async () => {
    const closed = await ask(fail);
    expect(closed.verdict).toMatchObject({ outcome: 'failed', went_on: false });
    expect(closed.refused?.message).not.toContain('hunter2');
    const open = await ask(fail, { failOpen: true });
    expect(open).toMatchObject({ verdict: { outcome: 'failed', went_on: true } });
    expect(open.refused).toBeUndefined();
  });

  test('by a forged answer refuses the call even where it fails open', async () => {
    const forged = () => Promise.reject(new HookForged('not signed'));
    expect((await ask(forged, { failOpen: true })).refused?.code).toBe('E3816');
  });

  test('PIPE-14.6 is not waited for beyond its timeout, and its signal says so', async () => {
    let heard: AbortSignal | undefined;
    const hang: BeforeHook['run'] = (_call, signal) => {
      heard = signal;
      return new Promise(() => undefined);
    };
    expect((await ask(hang, { timeoutMs: 10 })).refused?.code).toBe('E3816');
    expect(heard?.aborted).toBe(true);
    expect((await ask(hang, { timeoutMs: 10, failOpen: true })).refused).toBeUndefined();
  });

  test('does not hold a call that ended', async () => {
    const gone = new AbortController();
    const asked = ask(() => new Promise(() => undefined), { failOpen: true }, gone.signal);
    gone.abort(new Error('the caller left'));
    await expect(asked).rejects.toThrow('the caller left');
  });
});

describe('which hooks are asked', () => {
  const hook = (id: string, match?: Hook['match']): Hook => ({
    id,
    at: 'before',
    run: () => undefined,
    ...(match === undefined ? {} : { match }),
  });
  const fitting = (hooks: readonly Hook[], phase?: 'executor' | 'planner') =>
    createHooks(hooks)
      .before({ toolId: 'mail__send', sideEffect: 'irreversible', phase })
      ?.map(({ id }) => id);

  test('PIPE-14 those that fit by tool, side effect and phase, in the order of their configuration', () => {
    const hooks = [
      hook('z'),
      hook('tool', { tools: ['files__*', 'mail__*'] }),
      hook('other-tool', { tools: ['mail'] }),
      hook('effect', { sideEffects: ['irreversible'] }),
      hook('other-effect', { sideEffects: ['pure'] }),
      hook('phase', { phases: ['executor'] }),
      hook('a', { tools: ['mail__*'], sideEffects: ['pure'] }),
    ];
    expect(fitting(hooks, 'executor')).toEqual(['z', 'tool', 'effect', 'phase']);
    expect(fitting(hooks)).toEqual(['z', 'tool', 'effect']);
    expect(fitting([hook('x', { tools: [] })])).toBeUndefined();
    expect(createHooks([hook('z')]).after({ toolId: 't', sideEffect: 'pure', phase: undefined })).toBeUndefined();
  });

  test.each([
    [[hook('a'), hook('a')], 'twice'],
    [[hook('a b')], 'no id'],
    [[{ ...hook('a'), timeoutMs: 0 }], 'timeout'],
    [[{ ...hook('a'), timeoutMs: 60_001 }], 'timeout'],
    [[{ ...hook('a'), at: 'during' } as unknown as Hook], 'neither'],
    [Array.from({ length: 101 }, (_, at) => hook(`h${at}`)), '100'],
  ])('a faulty configuration is refused: %#', (hooks, said) => {
    expect(() => createHooks(hooks)).toThrow(said);
  });
});
