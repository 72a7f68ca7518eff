import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ExecutorBinding } from '../../../../api/schemas/tool-manifest.ts';
import type { Rate } from '../../../domain/rate/rate.ts';
import type { RateLimiter } from '../../../external/rate-limiter.port.ts';
import { memoryRateLimiter } from '../../../storage/memory/memory-rate-limiter.ts';
import type { Resolved } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { manifest } from '../../pipeline.fixture.ts';
import { takeRate } from './take-rate.ts';

const PLENTY = { per_minute: 6_000, burst: 1_000 };
const ONE = { per_minute: 60, burst: 1 };

function bench(limits: Partial<PipelineParts['limits']>, rateLimiter: RateLimiter = memoryRateLimiter()) {
  const parts = {
    rateLimiter,
    limits: {
      rateAlgorithm: 'token_bucket',
      externalRate: PLENTY,
      apiRates: new Map(),
      ...limits,
    } as PipelineParts['limits'],
  };
  return async (
    tool: Pick<Resolved, 'tool' | 'overrides' | 'overridesUser'>,
    tenantId = 'acme',
    agentDid = 'did:a',
  ) => {
    const end = await takeRate(parts, { principal: { tenantId, agentDid, roles: [] }, claims: {}, ...tool } as never);
    return isFailure(end) ? [end.code, end.message] : 'taken';
  };
}

const toolOf = (toolId: string, executor: ExecutorBinding, more: object = {}): Pick<Resolved, 'tool'> =>
  ({ tool: { tenantId: 'acme', manifest: manifest(toolId, { executor, ...more }) } }) as unknown as Pick<
    Resolved,
    'tool'
  >;
const http = (toolId: string, base_url: string, more: object = {}) =>
  toolOf(toolId, { kind: 'http', config: { base_url } }, more);
const SPENT = ['E3303', expect.stringContaining('The service api.example.com may be called 60 times a minute')];

describe('the bound of a service', () => {
  test('EXE-06 EXT-02.1 is shared by all tools of a tenant that call one host, however they write it', async () => {
    const take = bench({ apiRate: { per_minute: 60, burst: 2 } });
    expect(await take(http('a', 'https://api.example.com/v1'))).toBe('taken');
    expect(await take(http('b', 'https://API.example.com:443/v2'))).toBe('taken');
    expect(await take(http('c', 'https://api.example.com'))).toEqual(SPENT);
    const composio = toolOf('d', { kind: 'composio', config: { base_url: 'https://api.example.com/api/v3' } });
    expect(await take(composio)).toEqual(SPENT);
    for (const other of ['https://api.example.com:8443', 'https://api.example.org'])
      expect(await take(http('e', other))).toBe('taken');
    expect(await take(http('a', 'https://api.example.com/v1'), 'globex')).toBe('taken');
  });

  test('EXE-06 EXT-02 is what the operator says of it, of an upstream too; other upstreams and tools of this machine have none', async () => {
    const apiRates = new Map([
      ['api.example.com', { per_minute: 60, burst: 2 }],
      ['mcp:git', ONE],
    ]);
    const take = bench({ apiRate: ONE, apiRates });
    const ends = async (tool: Pick<Resolved, 'tool'>) => [await take(tool), await take(tool), await take(tool)];
    const mcp = (upstream: string) => toolOf(`${upstream}__x`, { kind: 'mcp', config: { upstream, tool: 'x' } });
    expect(await ends(http('a', 'https://api.example.com'))).toEqual(['taken', 'taken', SPENT]);
    expect((await ends(http('a', 'https://other.example.com')))[1]).toMatchObject(['E3303', expect.anything()]);
    expect((await ends(mcp('git')))[1]).toMatchObject(['E3303', expect.stringContaining('mcp:git')]);
    expect(await ends(mcp('mail'))).toEqual(['taken', 'taken', 'taken']);
    expect(await ends(toolOf('n', { kind: 'native' }))).toEqual(['taken', 'taken', 'taken']);
  });

  test('EXT-02.2 stands beside the bound of the tool and of the agent; whichever is spent refuses', async () => {
    const rate_limit = { per_minute: 60, burst: 1 };
    const tool = http('a', 'https://api.example.com', { execution_config: { rate_limit } });
    const take = bench({ apiRate: PLENTY });
    expect(await take(tool)).toBe('taken');
    expect(await take(tool)).toMatchObject(['E3303', expect.stringContaining('The tool may be called')]);
    const own = { ...http('b', 'https://api.example.com'), overrides: { rate_limit } };
    expect(await take(own)).toBe('taken');
    expect(await take(own)).toMatchObject(['E3303', expect.stringContaining('The tool may be called')]);
    expect(await take(own, 'acme', 'did:b')).toBe('taken');
    const ofUser = { ...own, overridesUser: 'did:u' };
    expect(await take(ofUser)).toBe('taken');
    expect(await take(ofUser)).toMatchObject(['E3303', expect.stringContaining('The tool may be called')]);
    expect(await take({ ...own, overridesUser: 'did:v' })).toBe('taken');
  });

  test('EXT-02 is counted by the algorithm that it names, else by that of the settings, with a burst of 10 if it names none', async () => {
    const taken: Rate[] = [];
    const noting: RateLimiter = {
      ...memoryRateLimiter(),
      take(_key, rate) {
        taken.push(rate);
        return 0;
      },
    };
    const take = bench({ rateAlgorithm: 'sliding_window', apiRate: PLENTY }, noting);
    const rate_limit = { per_minute: 5, algorithm: 'leaky_bucket' };
    await take(http('a', 'https://api.example.com', { execution_config: { rate_limit } }));
    expect(taken).toEqual([
      { ...rate_limit, burst: 10 },
      { ...PLENTY, algorithm: 'sliding_window' },
    ]);
  });

  test('EXT-02 a limiter that fails lets nothing pass', async () => {
    const away = () => Promise.reject(new ToolLayerError('E3812', 'Away.'));
    const failing: RateLimiter = { ...memoryRateLimiter(), take: away };
    const tool = http('a', 'https://api.example.com');
    expect(await bench({}, failing)(tool)).toEqual(['E3812', 'Away.']);
  });

  test.each(['known', 'found out'])(
    'EXT-02 that refuses a call leaves the others uncounted, where its refusal is %s',
    async (how) => {
      const memory = memoryRateLimiter();
      const limiter: RateLimiter = how === 'known' ? memory : { ...memory, knownWaitMs: () => 0 };
      const rate_limit = { per_minute: 60, burst: 2 };
      const take = bench({ apiRate: ONE }, limiter);
      const limited = (base_url: string) => ({
        ...http('a', base_url, { execution_config: { rate_limit } }),
        overrides: { rate_limit },
      });
      expect(await take(http('b', 'https://api.example.com'))).toBe('taken');
      for (let refused = 0; refused < 5; refused += 1)
        expect(await take(limited('https://api.example.com'))).toEqual(SPENT);
      expect(await take(limited('https://api.example.org'))).toBe('taken');
    },
  );

  test('the same holds over a limiter that answers later', async () => {
    const memory = memoryRateLimiter();
    const later: RateLimiter = { ...memory, take: async (key, limit) => memory.take(key, limit) };
    const take = bench({ apiRate: ONE }, later);
    const tool = http('a', 'https://api.example.com', { execution_config: { rate_limit: PLENTY } });
    expect([await take(tool), await take(tool)]).toEqual(['taken', SPENT]);
  });

  test('a tool whose address cannot be read has the bounds of a tool alone', async () => {
    const take = bench({ apiRate: ONE, externalRate: ONE });
    const odd = toolOf('a', { kind: 'http', config: {} });
    expect([await take(odd), await take(odd)]).toEqual(['taken', 'taken']);
  });
});
