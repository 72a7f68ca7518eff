import { describe, expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import { createCompositeExecutor } from '../../../executors/composite.ts';
import type { ExecutorCall } from '../../../executors/executor.port.ts';
import { createNativeExecutor } from '../../../executors/native/native-executor.ts';
import type { BeforeHook } from '../../../hooks/hook.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { decisionsOf, gateWith } from '../../../permission/gates/gates.fixture.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

type Options = NonNullable<ToolInvokeRequest['execution_options']>;

/** A layer whose tools take variables, and the variables that their executor got in each call. */
async function layer(more: Parameters<typeof pipeline>[0] = {}) {
  const seen: ExecutorCall['environment'][] = [];
  const native = createNativeExecutor();
  const taking = {
    ...native,
    takesVariables: 'named' as const,
    async execute(call: ExecutorCall) {
      seen.push(call.environment);
      return { result: seen.length, usage: NO_USAGE };
    },
  };
  const made = await pipeline({ executors: createCompositeExecutor([taking]), ...more });
  const execution_config = { call_variables: ['PROJECT', 'REGION'] };
  await made.add(manifest('build', { execution_config }), () => 1);
  const call = (options: Options, token?: string) =>
    made.call({
      tool_id: 'build',
      parameters: { n: 1 },
      execution_options: options,
      ...(token === undefined ? {} : { capability_token: token }),
    });
  return { ...made, seen, build: call };
}

const NO_USAGE = { cpuMillicoreSeconds: 0, memoryPeakMb: 0, networkBytesSent: 0, networkBytesReceived: 0 };

describe('variables of a call', () => {
  test('EXE-10 reach the executor of that call alone', async () => {
    const { build, seen } = await layer();
    await build({ environment: { PROJECT: 'a', REGION: 'eu' } });
    await build({});
    expect(seen).toEqual([{ PROJECT: 'a', REGION: 'eu' }, undefined]);
  });

  test('EXE-10 that it may not set end it before anything is asked or run', async () => {
    let asked = 0;
    const engine = {
      name: 'counting',
      version: () => '1',
      decide: () => {
        asked += 1;
        return { allowed: true, policies: [] };
      },
    };
    const { build, seen } = await layer({ policy: decisionsOf(engine) });
    for (const name of ['LD_PRELOAD', 'PATH', 'GITHUB_TOKEN', 'OTHER', 'project']) {
      const record = await build({ environment: { PROJECT: 'a', [name]: 'x' } });
      expect([name, record.failure?.code, record.metadata?.attempts]).toEqual([name, 'E3801', 0]);
    }
    expect([asked, seen]).toEqual([0, []]);
  });

  test('EXE-10 for a tool whose executor takes none are refused, not passed over', async () => {
    const { add, call } = await pipeline();
    await add(manifest('plain'), () => 1);
    const request = { tool_id: 'plain', parameters: { n: 1 } };
    const refused = await call({ ...request, execution_options: { environment: { PROJECT: 'a' } } });
    expect(refused).toMatchObject({ failure: { code: 'E3801' }, metadata: { attempts: 0 } });
    expect(await call({ ...request, execution_options: { environment: {} } })).toMatchObject({ state: 'COMPLETED' });
  });

  test('EXE-10 belong to what the call is bound to: the same arguments with others are another request', async () => {
    const { build } = await layer();
    const keyed = { idempotency_key: 'k' };
    const first = await build({ ...keyed, environment: { PROJECT: 'a' } });
    expect(await build({ ...keyed, environment: { PROJECT: 'a' } })).toMatchObject({
      invocationId: first.invocationId,
    });
    expect((await build({ ...keyed, environment: { PROJECT: 'b' } })).failure?.code).toBe('E3802');
    expect((await build(keyed)).failure?.code).toBe('E3802');
    const hashes = [await build({}), await build({ environment: { PROJECT: 'a' } })].map(({ inputHash }) => inputHash);
    expect(new Set([...hashes, first.inputHash]).size).toBe(2);
  });

  test('EXE-10 PRM-08 are shown to the gate beside the arguments', async () => {
    const prompts: string[] = [];
    const model = {
      name: 'model',
      async complete(prompt: object) {
        prompts.push(JSON.stringify(prompt));
        return 'ALLOW';
      },
    };
    const gate = gateWith({ model, policies: { always: ['Never build "secret".'], phases: {} } });
    const { build } = await layer({ gate });
    await build({ environment: { PROJECT: 'the-project' } });
    await build({});
    expect(prompts.map((prompt) => prompt.includes('the-project'))).toEqual([true, false]);
    expect(prompts[1]).not.toContain('environment');
  });
});

test('EXE-10 PIPE-14 variables are shown to hooks, and what these make of the arguments keeps them', async () => {
  const told: unknown[] = [];
  const hook: BeforeHook = {
    id: 'one',
    at: 'before',
    run(call) {
      told.push(call.environment);
      return { outcome: 'rewrite', arguments: { n: 2 } };
    },
  };
  const { build, seen } = await layer({ hooks: createHooks([hook]) });
  expect(await build({ environment: { PROJECT: 'a' } })).toMatchObject({ state: 'COMPLETED' });
  expect([told, seen]).toEqual([[{ PROJECT: 'a' }], [{ PROJECT: 'a' }]]);
});

describe('the trust that a call is content with', () => {
  test('EXE-10.2 PRM-06 lowers what token and source allow, and never raises it', async () => {
    const { add, call, token } = await pipeline();
    await add(manifest('write', { side_effect_policy: 'irreversible' }), () => 1);
    const codes = async (trust_level: 'trusted' | 'provisional' | 'untrusted') => {
      const capability_token = await token({ trust_level });
      const ends = [];
      for (const asked of ['trusted', 'provisional', 'untrusted'] as const) {
        const execution_options = { trust_level: asked };
        const record = await call({ tool_id: 'write', parameters: { n: 1 }, capability_token, execution_options });
        ends.push([record.trust, record.failure?.code]);
      }
      return ends;
    };
    expect(await codes('trusted')).toEqual([
      ['trusted', undefined],
      ['provisional', 'E3806'],
      ['untrusted', 'E3806'],
    ]);
    expect(await codes('untrusted')).toEqual([
      ['untrusted', 'E3806'],
      ['untrusted', 'E3806'],
      ['untrusted', 'E3806'],
    ]);
  });
});
