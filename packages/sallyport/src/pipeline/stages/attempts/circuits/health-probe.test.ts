import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryCircuitStore } from '../../../../storage/memory/memory-circuit-store.ts';
import { manifest } from '../../../pipeline.fixture.ts';
import { type Health, healthProbeOf, probeHealth } from './health-probe.ts';
import {
  answering,
  failed,
  NAME,
  NETWORK,
  never,
  PROBE,
  probedCircuits,
  type Send,
  TERMS,
} from './probed-circuits.fixture.ts';

describe('the probe of a circuit that becomes half open', () => {
  test('CIR-05.2 takes the place of the first trial, and is not sent again', async () => {
    const { open, codeOf, probed, state, trials } = probedCircuits();
    expect([await codeOf(), probed()]).toEqual([undefined, 0]);
    await open();
    expect([await codeOf(), probed()]).toEqual([undefined, 1]);
    expect([await state(), await codeOf(), probed()]).toEqual(['closed', undefined, 1]);
    expect(await trials()).toBeUndefined();
    await open();
    expect([await codeOf(), probed()]).toEqual([undefined, 2]);
  });

  test('CIR-05.2 CIR-04.4 that fails opens the circuit again at once, and says so with the wait', async () => {
    const { open, attempt, answer, state, events, codeOf, probed, turn } = probedCircuits();
    await open();
    answer(answering(503));
    expect(await attempt().take()).toMatchObject({
      code: 'E3404',
      retryAfterMs: TERMS.waitMs,
      details: { circuit: NAME, state: 'open' },
      message: expect.stringContaining('status 503'),
    });
    expect([await state(), await codeOf(), probed()]).toEqual(['open', 'E3401', 1]);
    turn(TERMS.waitMs);
    answer(answering(204));
    expect([await codeOf(), probed()]).toEqual([undefined, 2]);
    const by = { agent_did: 'did:a', tool_id: 'probed', invocation_id: 'i' };
    expect(events.map(({ data, subject, tenantId }) => [subject, tenantId, data['state'], data['cause']])).toEqual([
      [NAME, 'acme', 'open', 'consecutive_failures'],
      [NAME, 'acme', 'half_open', 'waited'],
      [NAME, 'acme', 'open', 'probe_failed'],
      [NAME, 'acme', 'half_open', 'waited'],
      [NAME, 'acme', 'closed', 'trials_succeeded'],
    ]);
    for (const { data } of events) expect(data).toMatchObject(by);
  });

  test('CIR-05.2 lets no other call of its tenant through while it is under way, and calls of others', async () => {
    const { open, attempt, answer, codeOf, probed, trials } = probedCircuits();
    await open();
    await open('globex');
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Send>>>();
    answer(() => promise);
    const first = attempt();
    const taken = first.take();
    await expect.poll(probed).toBe(1);
    for (const _ of [1, 2, 3])
      expect(await attempt().take()).toMatchObject({
        code: 'E3401',
        retryAfterMs: 1_000,
        details: { state: 'half_open' },
      });
    expect(await trials()).toMatchObject({ underWay: 1, ended: 0 });
    answer(answering(200));
    expect([await codeOf('globex'), probed()]).toEqual([undefined, 2]);
    resolve({ status: 200 } as Awaited<ReturnType<Send>>);
    expect(await taken).toBeUndefined();
    expect(first.ongoing.toolRun.permit).toMatchObject({ permitted: true, trial: expect.any(Number) });
    expect(await trials()).toMatchObject({ underWay: 1, ended: 1, succeeded: 1 });
  });

  test.each(['E3104', 'E3803'] as const)(
    'CIR-05.2 that could not be sent (%s) says nothing, fails its call as it is, and is sent by the next one',
    async (code) => {
      const { open, attempt, answer, codeOf, probed, trials } = probedCircuits();
      await open();
      answer(() => Promise.reject(failed(code)));
      expect(await attempt().take()).toMatchObject({ code, message: 'It failed.' });
      expect(await trials()).toMatchObject({ underWay: 0, ended: 0 });
      answer(answering(200));
      expect([await codeOf(), probed()]).toEqual([undefined, 2]);
    },
  );

  test('CIR-05.2 of a call that is cancelled is sent by the next one', async () => {
    const { open, attempt, answer, codeOf, probed, state } = probedCircuits();
    await open();
    const gone = new AbortController();
    answer(async () => {
      gone.abort(failed('E3805'));
      throw new Error('aborted');
    });
    const { take, over } = attempt('acme', undefined, gone.signal);
    await expect(take()).rejects.toMatchObject({ code: 'E3805' });
    await over();
    expect(await state()).toBe('half_open');
    answer(answering(200));
    expect([await codeOf(), probed()]).toEqual([undefined, 2]);
  });

  test('CIR-05.2 is not needed once a person closed the circuit, nor by the trials after it', async () => {
    const { open, attempt, answer, codeOf, probed, circuits, events } = probedCircuits();
    await open();
    answer(() => Promise.reject(failed('E3803')));
    await attempt().take();
    expect(await circuits.set('acme', NAME, 'closed', { set_by: 'ann' })).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: 'ai.agent.circuit.closed',
      subject: NAME,
      tenantId: 'acme',
      data: { set_by: 'ann', cause: 'set', reason: 'Set to closed by hand', state: 'closed' },
    });
    expect(await circuits.set('acme', 'tool:other@1.0.0', 'closed', {})).toBe(false);
    answer(answering(503));
    expect([await codeOf(), probed()]).toEqual([undefined, 1]);
  });

  test.each([
    ['closed', undefined],
    ['forced_open', 'E3401'],
  ] as const)(
    'CIR-05.2 that fails after a person has set the circuit to %s does not say that it stays open',
    async (set, code) => {
      const { open, attempt, answer, circuits, state } = probedCircuits();
      await open();
      answer(async (...given) => {
        await circuits.set('acme', NAME, set, { set_by: 'ann' });
        return answering(503)(...given);
      });
      expect([(await attempt().take())?.code, await state()]).toEqual([code, set]);
    },
  );

  test('CIR-05.2 as slow as the circuit allows no call to be does not close it', async () => {
    const { open, attempt, answer, turn, state, events } = probedCircuits({ terms: { ...TERMS, trialCalls: 1 } });
    await open();
    answer(async (...given) => {
      turn(TERMS.slowCallMs + 1);
      return answering(200)(...given);
    });
    expect(await attempt().take()).toMatchObject({ code: 'E3401' });
    expect([await state(), events.at(-1)?.data['cause']]).toEqual(['open', 'trials_slow']);
  });
});

describe('a trial', () => {
  test('CIR-03.3 that failed is named to the call that made it, and to no other', async () => {
    const { open, attempt } = probedCircuits();
    await open();
    const trial = attempt();
    await trial.take();
    await trial.ended(failed('E3310'));
    expect(await trial.take()).toMatchObject({ code: 'E3405' });
    expect(await attempt().take()).toMatchObject({ code: 'E3401' });
  });

  test('CIR-01.6 is given back with the end of its call, and counts nothing then', async () => {
    const { open, attempt, trials } = probedCircuits();
    await open();
    const trial = attempt();
    await trial.take();
    expect(await trials()).toMatchObject({ underWay: 1, ended: 1 });
    await trial.over();
    expect(await trials()).toMatchObject({ underWay: 0, ended: 1 });
    expect(trial.ongoing.toolRun.permit).toBeUndefined();
  });

  test.each([
    [{ timeoutMs: 2_000 }, 32_000],
    [{ timeoutMs: 2_000, timeoutMsMax: 9_000 }, 39_000],
  ])('CIR-01 is held no longer than its call may last, with %j for %i ms', async (limits, heldMs) => {
    const held: number[] = [];
    const memory = memoryCircuitStore();
    const permit: typeof memory.permit = (...given) => {
      held.push(given[3]);
      return memory.permit(...given);
    };
    await probedCircuits({ store: { ...memory, permit } })
      .attempt('acme', limits)
      .take();
    expect(held).toEqual([heldMs]);
  });

  test('CIR-01 a closed circuit leaves nothing to give back, and a timeout counts for the time of the call at most', async () => {
    const { attempt, state, store } = probedCircuits();
    const { take, ended, over } = attempt('acme', { timeoutMs: 100 });
    await take();
    await ended(failed('E3103'), 5_000);
    await over();
    expect([await state(), (await store.find('acme', NAME))?.counts.failures]).toEqual(['closed', 0]);
  });
});

describe('what is asked of the service', () => {
  const probe = { url: new URL(PROBE.url), timeoutMs: 10 };
  const healthOf = (send: Send, signal = never): Promise<Health> => probeHealth({ send }, probe, NETWORK, signal);

  test('CIR-05.2 is its address alone, within the rows of the grant, of which little is read', async () => {
    let asked: unknown;
    const send: Send = async (request, accept, { allowed, signal }) => {
      asked = [request, accept({ status: 200, headers: {} }), allowed, signal.aborted];
      return answering(200)(request, accept, { allowed, signal });
    };
    expect(await healthOf(send)).toEqual({ is: 'well' });
    const request = { url: probe.url, method: 'GET', headers: { accept: '*/*', 'user-agent': 'sallyport' } };
    expect(asked).toEqual([request, { wireBytesMax: 1_024, bodyBytesMax: 1_024 }, NETWORK, false]);
  });

  test.each([
    [200, 'well'],
    [299, 'well'],
    [199, 'ill'],
    [300, 'ill'],
    [404, 'ill'],
  ])('CIR-05.2 a status of %i says %s', async (status, is) => {
    expect(await healthOf(answering(status))).toMatchObject({ is });
  });

  test('CIR-05.2 no connection, and no answer in time, say ill; its caller alone decides for how long it is sent', async () => {
    expect(await healthOf(() => Promise.reject(failed('E3310')))).toEqual({ is: 'ill', why: 'It failed.' });
    const untilAborted: Send = (_request, _accept, { signal }) =>
      new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    expect(await healthOf(untilAborted)).toEqual({ is: 'ill', why: 'it had no answer within 10 ms' });
    const gone = AbortSignal.abort(new ToolLayerError('E3805', 'Cancelled.'));
    await expect(healthOf(untilAborted, gone)).rejects.toMatchObject({ code: 'E3805' });
  });

  test('CIR-05.2 is what the manifest names, and waits 5 s where that names no time', () => {
    const probeOf = (health_probe: typeof PROBE | { url: string } | undefined) =>
      healthProbeOf(
        manifest('t', {
          execution_config: { circuit_breaker_config: health_probe === undefined ? {} : { health_probe } },
        }),
      );
    expect([probeOf(PROBE), probeOf({ url: PROBE.url }), probeOf(undefined), healthProbeOf(manifest('t'))]).toEqual([
      { url: probe.url, timeoutMs: 4_000 },
      { url: probe.url, timeoutMs: 5_000 },
      undefined,
      undefined,
    ]);
  });
});

test('CIR-02.3 a failure of the store while a probed circuit is asked lets nothing through', async () => {
  const store = { ...memoryCircuitStore(), permit: () => Promise.reject(failure('E3812', 'away')) };
  const { attempt, probed } = probedCircuits({ store });
  expect(await attempt().take()).toMatchObject({ code: 'E3402' });
  expect(probed()).toBe(0);
});
