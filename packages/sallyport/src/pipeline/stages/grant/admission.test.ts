import { failure, isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { createCompositeExecutor } from '../../../executors/composite.ts';
import { createNativeExecutor } from '../../../executors/native/native-executor.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import type { Stage } from '../../stage.ts';
import { createIdentify, createIdentifyAgain, type IdentifyOptions } from '../identify.ts';
import { policyQuestion } from './policy-question.ts';
import { forTokenHolders } from './token-refusal.ts';

const CLAIMS = { tenant_id: 'acme', agent_did: 'did:agent:a' } as CapabilityClaims;
const OPTIONS = { defaultTrust: 'trusted', checkPossession: () => undefined } as const;

describe('who asks', () => {
  const who = async (claims: object, caller: Partial<Caller> = {}, options: Partial<IdentifyOptions> = {}) => {
    const identify = createIdentify(async () => ({ ...CLAIMS, ...claims }), { ...OPTIONS, ...options });
    const found = await identify({ door: 'rest', token: 'token', ...caller });
    return isFailure(found) ? found.code : found.principal;
  };

  test('PRM-11.2 a token for the addresses of some servers is refused at every other address', async () => {
    const token = { server_audiences: ['mail', 'files'] };
    for (const server of ['mail', 'files']) expect(await who(token, { server })).toMatchObject({ tenantId: 'acme' });
    for (const caller of [{}, { server: 'other' }]) expect(await who(token, caller)).toBe('E3201');
    expect(await who({}, { server: 'other' })).toMatchObject({ tenantId: 'acme' });
  });

  test('PRM-11.6 the proof of a key is checked where a token is bound to one, or where one is shown', async () => {
    const checked: unknown[] = [];
    const checkPossession: IdentifyOptions['checkPossession'] = async (_claims, token, proof) => {
      checked.push([token, proof]);
      return proof === undefined ? failure('E3216', 'There is no proof.') : undefined;
    };
    const proof = { method: 'POST' } as unknown as NonNullable<Caller['proof']>;
    expect(await who({ cnf: { jkt: 'x' } }, {}, { checkPossession })).toBe('E3216');
    expect(await who({ cnf: { jkt: 'x' } }, { proof }, { checkPossession })).toMatchObject({ agentDid: 'did:agent:a' });
    expect(await who({}, { proof }, { checkPossession })).toMatchObject({ agentDid: 'did:agent:a' });
    expect(checked).toEqual([
      ['token', undefined],
      ['token', proof],
      ['token', proof],
    ]);
    await who({}, {}, { checkPossession });
    expect(checked).toHaveLength(3);
  });

  test('PRM-02.5 the token of the caller comes before that of the request, and nobody needs one where the settings say so', async () => {
    const seen: unknown[] = [];
    const verify = async (token: string | undefined) => {
      seen.push(token);
      return token === undefined ? failure('E3212', 'There is no token.') : CLAIMS;
    };
    const identify = createIdentify(verify, OPTIONS);
    await identify({ door: 'rest', token: 'own' }, 'of the request');
    await identify({ door: 'rest' }, 'of the request');
    expect(await identify({ door: 'rest' })).toMatchObject({ code: 'E3212' });
    expect(seen).toEqual(['own', 'of the request', undefined]);
    const optional = createIdentify(verify, { ...OPTIONS, withoutToken: { ...CLAIMS, agent_did: 'did:agent:nobody' } });
    expect(await optional({ door: 'rest' })).toMatchObject({ principal: { agentDid: 'did:agent:nobody' } });
    expect(await optional({ door: 'rest', token: 'own' })).toMatchObject({ principal: { agentDid: 'did:agent:a' } });
  });

  test('PRM-06 is an agent whom the layer trusts as the settings say, unless the token says more', async () => {
    const { tenantId, agentDid } = { tenantId: 'acme', agentDid: 'did:agent:a' };
    expect(await who({})).toEqual({ tenantId, agentDid, roles: ['agent'], trust: 'trusted' });
    expect(await who({}, {}, { defaultTrust: 'provisional' })).toMatchObject({ trust: 'provisional' });
    const whole = { roles: ['operator'], trust_level: 'untrusted', user_did: 'did:user:u', session_id: 's' };
    expect(await who(whole, {}, { defaultTrust: 'provisional' })).toEqual({
      ...{ tenantId, agentDid, roles: ['operator'], trust: 'untrusted', userDid: 'did:user:u', sessionId: 's' },
    });
    const again = createIdentifyAgain(({ session_id }) => session_id === 's', 'provisional');
    expect(again(CLAIMS)).toEqual({ claims: CLAIMS, principal: expect.objectContaining({ trust: 'provisional' }) });
    // The row of the refused call belongs to the agent whose token was revoked.
    const revoked = { ...CLAIMS, session_id: 's' };
    expect(again(revoked)).toMatchObject({
      ...{ claims: revoked, principal: { tenantId, agentDid, sessionId: 's' }, refused: { code: 'E3208' } },
    });
  });
});

describe('what a call may ask for', () => {
  test('API-03 options that this layer is not configured for are refused, those that ask for nothing are not', async () => {
    const { add, call } = await pipeline();
    await add(manifest('read'), () => 1);
    const asked = async (more: object) => {
      const { failure: refused } = await call({ tool_id: 'read', parameters: { n: 1 }, ...more });
      return refused && [refused.code, refused.details];
    };
    expect(await asked({ execution_options: { async_mode: true } })).toEqual([
      'E3901',
      { option: 'execution_options.async_mode' },
    ]);
    for (const nothing of [
      {},
      { document_context: {} },
      { document_context: { document_refs: [], version_pinning: false } },
      { execution_options: { async_mode: false } },
    ])
      expect(await asked(nothing)).toBeUndefined();
  });

  test('PIPE-03 EXT-02 a compensating call takes no slot and no quota, and keeps to the rate of its tool', async () => {
    const { add, run, parts, token } = await pipeline();
    await add(manifest('undo', { execution_config: { rate_limit: { per_minute: 1, burst: 1 } } }), () => 'done');
    const identity = await parts.identify({ door: 'library', token: await token() });
    if (isFailure(identity)) throw new Error('the token is refused');
    const undo = () =>
      run({
        ...{ request: { tool_id: 'undo', parameters: { n: 1 } }, caller: { door: 'library' as const } },
        ...{ onBehalfOf: identity.claims, compensates: 'call' },
      });
    const ends = [await undo(), await undo()].map(({ state, failure: refused }) => [state, refused?.code]);
    expect(ends[0]).toEqual(['COMPLETED', undefined]);
    expect(ends[1]?.[1]).toBe('E3303');
  });

  test('API-03 a tool whose server demands tasks is refused to MCP clients that take none; the layer waits for it elsewhere', async () => {
    const config = { upstream: 'u', tool: 't', execution: { taskSupport: 'required' } };
    const executors = { ...createCompositeExecutor([createNativeExecutor()]), configFaults: () => [] };
    const { call, parts } = await pipeline({ workers: { refuses: () => undefined }, executors });
    await parts.registry.registerAll('acme', [manifest('u__t', { executor: { kind: 'mcp', config } })]);
    const code = async (door: Caller['door'], async_mode = false) =>
      (await call({ tool_id: 'u__t', parameters: { n: 1 }, execution_options: { async_mode } }, { door })).failure
        ?.code;
    expect(await code('mcp')).toBe('E3822');
    // No executor of this pipeline runs it.
    expect([await code('mcp', true), await code('rest')]).toEqual(['E3901', 'E3901']);
  });

  test('PIPE-09 a row says which request wrote it, where the caller chose its id', async () => {
    const { add, call, store } = await pipeline();
    await add(manifest('write', { side_effect_policy: 'irreversible' }), () => 1);
    const given = { tool_id: 'write', parameters: { n: 1 } };
    const chosen = await call({ ...given, invocation_id: 'mine' });
    expect([chosen.invocationId, chosen.nonce === undefined, chosen.nonce === 'mine']).toEqual(['mine', false, false]);
    expect((await store.findInvocation('acme', 'mine'))?.nonce).toBe(chosen.nonce);
    expect(await call(given)).not.toHaveProperty('nonce');
  });
});

describe('what is asked about a call', () => {
  test('PRM-05 the policies learn source, category, tags and phase of a call, and nothing where there is none', () => {
    const ask = (more: object, phase?: 'executor') =>
      policyQuestion(
        {
          request: { tool_id: 't', ...(phase === undefined ? {} : { execution_options: { phase } }) },
          tool: { manifest: { ...manifest('t'), ...more }, contentHash: 'h' },
          argumentFindings: [],
        } as never,
        {} as never,
        'trusted',
      );
    const plain = ask({});
    expect(plain).toMatchObject({ source: '', category: '', tags: [], toolId: 't' });
    expect(plain).not.toHaveProperty('phase');
    expect(ask({ tool_id: 'mail__send', category: 'c', tags: ['x'] }, 'executor')).toMatchObject({
      ...{ source: 'mail', category: 'c', tags: ['x'], phase: 'executor' },
    });
  });

  test('PRM-03 only who may call the tool sees why its arguments are refused', async () => {
    const secret = failure('E3502', 'It takes n.');
    const end = (said: object, request: object = {}, claims: object = {}) => {
      const stage: Stage<object, object> = { name: 'validate', run: async () => said };
      const call = {
        request: { tool_id: 't', ...request },
        tool: { manifest: manifest('t') },
        claims: { ...CLAIMS, tool_id: 't', allowed_operations: ['execute'], ...claims },
      };
      return forTokenHolders(stage).run(call as never, {} as never);
    };
    const refused = { refused: secret, established: {} };
    const other = { agent_context: { agent_did: 'did:agent:b', tenant_id: 'acme' } };
    for (const said of [secret, refused]) {
      expect(await end(said)).toBe(said);
      expect(await end(said, {}, { tool_id: 'other' })).toMatchObject({ code: 'E3209' });
      expect(await end(said, other)).toMatchObject({ failed: true, code: expect.not.stringMatching('E3502') });
    }
    const passed = { parameters: {} };
    expect(await end(passed, {}, { tool_id: 'other' })).toBe(passed);
  });
});
