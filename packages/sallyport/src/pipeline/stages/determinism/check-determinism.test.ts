import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { memoryOutputStore } from '../../../../test/stores/outcomes/memory-output-store.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { OutputStore } from '../../output-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { createOutputMemory } from './output-memory.ts';

/** One instance over a store of outputs. */
const instance = (outputs: OutputStore = memoryOutputStore(), store = memoryLedgerStore()) =>
  pipeline({ store, outputs: createOutputMemory({ store: outputs, clock: systemClock, log: silentLog }) });

const SAME = { tool_id: 'same', parameters: { n: 1 } };
const codes = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }): string[] =>
  warnings.map(({ code }) => code);

describe('a tool that says it is deterministic', () => {
  test('PIPE-10.1 and gives another result for the same input is reported, as a warning and an event', async () => {
    const { add, call, eventsOf } = await instance();
    let answer = 1;
    await add(manifest('same', { deterministic: true }), () => ({ answer }));
    const first = await call(SAME);
    expect((await call(SAME)).warnings).toEqual([]);
    answer = 2;
    expect((await call({ ...SAME, parameters: { n: 2 } })).warnings).toEqual([]);
    const broken = await call(SAME);
    expect(broken).toMatchObject({
      state: 'COMPLETED',
      warnings: [{ code: 'not_deterministic', details: { earlier_invocation_id: first.invocationId } }],
    });
    const [event] = (await eventsOf(broken.invocationId)).filter(
      ({ type }) => type === 'ai.agent.tool.determinism_broken',
    );
    expect(event?.data).toMatchObject({
      tool_id: 'same',
      input_hash: first.inputHash,
      earlier_output_hash: first.outputHash,
      output_hash: broken.outputHash,
    });
  });

  test('PIPE-10 is held to what it gave in another instance, and before a restart', async () => {
    const [store, ledger] = [memoryOutputStore(), memoryLedgerStore()];
    const [one, two] = [await instance(store, ledger), await instance(store, ledger)];
    await one.add(manifest('same', { deterministic: true }), () => 1);
    await two.add(manifest('same', { deterministic: true }), () => 2);
    const { invocationId } = await one.call(SAME);
    expect((await two.call(SAME)).warnings).toMatchObject([
      { code: 'not_deterministic', details: { earlier_invocation_id: invocationId } },
    ]);
    expect(codes(await one.call(SAME))).toEqual([]);
  });

  test('PIPE-10 PRM-10 tells a caller of the earlier call only where it is the caller’s own; the audit names it', async () => {
    const { add, call, token, eventsOf } = await instance();
    let answer = 0;
    await add(manifest('same', { deterministic: true }), () => (answer += 1));
    const first = await call(SAME);
    for (const claims of [{ user_did: 'did:user:u' }, { agent_did: 'did:agent:b' }]) {
      const broken = await call({ ...SAME, capability_token: await token(claims) });
      expect(broken.warnings).toMatchObject([{ code: 'not_deterministic' }]);
      expect(JSON.stringify(broken)).not.toContain(first.invocationId);
      expect(JSON.stringify(await eventsOf(broken.invocationId))).toContain(first.invocationId);
    }
  });

  test('PIPE-10 and gives two results at the same moment is reported once, in either instance', async () => {
    const store = memoryOutputStore();
    const [one, two] = [await instance(store), await instance(store)];
    await one.add(manifest('same', { deterministic: true }), () => 1);
    await two.add(manifest('same', { deterministic: true }), () => 2);
    const ends = await Promise.all([one.call(SAME), two.call(SAME)]);
    expect(ends.flatMap(codes)).toEqual(['not_deterministic']);
  });

  test('PIPE-10 of the catalogue is not compared with what another tenant was given', async () => {
    const { parts, visibility, add, call, token } = await instance();
    let answer = 0;
    const same = manifest('same', { deterministic: true });
    await add(same, () => (answer += 1));
    await parts.registry.register('catalog', same);
    const as = async (tenant_id: string) => {
      await visibility.setAvailability(tenant_id, { tool_id: 'same', available: true });
      return call({ ...SAME, capability_token: await token({ tenant_id }) });
    };
    expect(await as('globex')).toMatchObject({ state: 'COMPLETED', result: 1, warnings: [] });
    expect(await as('initech')).toMatchObject({ state: 'COMPLETED', result: 2, warnings: [] });
    expect(codes(await as('initech'))).toEqual(['not_deterministic']);
  });

  test('PIPE-10 and cannot be compared does not fail, and is not passed as compared either', async () => {
    const held = memoryOutputStore();
    let away = true;
    const { add, call, eventsOf } = await instance({
      ...held,
      remember: (key, output) =>
        away ? Promise.reject(new ToolLayerError('E3812', 'The store is away.')) : held.remember(key, output),
    });
    let answer = 1;
    await add(manifest('same', { deterministic: true }), () => answer);
    for (let times = 0; times < 2; times += 1) {
      expect(await call(SAME)).toMatchObject({
        state: 'COMPLETED',
        result: 1,
        warnings: [{ code: 'determinism_not_checked' }],
      });
    }
    answer = 2;
    const broken = await call(SAME);
    expect(codes(broken)).toEqual(['not_deterministic']);
    expect((await eventsOf(broken.invocationId)).map(({ type }) => type)).toContain('ai.agent.tool.determinism_broken');
    away = false;
    expect(codes(await call(SAME))).toEqual(['not_deterministic']);
    answer = 1;
    expect(codes(await call(SAME))).toEqual([]);
  });

  test('one that says nothing, or another definition of it, is not compared', async () => {
    const { add, call } = await instance();
    let answer = 0;
    const run = () => {
      answer += 1;
      return { answer };
    };
    await add(manifest('silent'), run);
    await add(manifest('same', { deterministic: true }), run);
    await add(manifest('same', { deterministic: true, version: '1.0.1' }), run);
    for (const request of [
      { tool_id: 'silent' },
      { tool_id: 'silent' },
      { tool_id: 'same', tool_version: '1.0.0' },
      { tool_id: 'same', tool_version: '1.0.1' },
    ]) {
      expect(codes(await call({ ...request, parameters: { n: 1 } }))).not.toContain('not_deterministic');
    }
  });

  test('PIPE-10 the store is never asked for a tool that says nothing', async () => {
    const asked: string[] = [];
    const held = memoryOutputStore();
    const { add, call } = await instance({
      ...held,
      remember: (key, output) => {
        asked.push(output.invocationId);
        return held.remember(key, output);
      },
    });
    await add(manifest('silent'), () => 1);
    await add(manifest('same', { deterministic: true }), () => 1);
    await call({ tool_id: 'silent', parameters: { n: 1 } });
    const { invocationId } = await call(SAME);
    await call(SAME);
    expect(asked).toEqual([invocationId]);
  });
});
