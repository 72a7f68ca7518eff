import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, addressOf, URI_CHARACTERS_MAX, uriOf } from './resource-uri.ts';

const name = fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text));
const page = fc.integer({ min: 1, max: 9_999_999 });
const address: fc.Arbitrary<Address> = fc.oneof(
  fc.record({ kind: fc.constant('tenant-available' as const), tenantId: name, page }),
  fc.record({ kind: fc.constantFrom('agent-enabled' as const, 'agent-unavailable' as const), agentDid: name, page }),
  fc.record({ kind: fc.constant('tool' as const), toolId: name }),
  fc.record({ kind: fc.constant('tool' as const), toolId: name, version: name }),
);

it('VIS-07 a URI names what it was made from, whatever stands in the parts', () => {
  fc.assert(
    fc.property(address, (given) => {
      const uri = uriOf(given);
      expect(uri).toMatch(/^[A-Za-z0-9._~:/?=%-]+$/);
      if (uri.length <= URI_CHARACTERS_MAX) expect(addressOf(uri)).toEqual(given);
    }),
  );
});

it('any text is read without a throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void addressOf(`sallyport://tools/${text}`)));
});

it('a DID is written in percent code, and read with and without', () => {
  const enabled = { kind: 'agent-enabled', agentDid: 'did:example:a', page: 1 } as const;
  expect(uriOf(enabled)).toBe('sallyport://tools/agent/did%3Aexample%3Aa/enabled');
  expect(addressOf('sallyport://tools/agent/did%3Aexample%3Aa/enabled')).toEqual(enabled);
  expect(addressOf('sallyport://tools/agent/did:example:a/enabled')).toEqual(enabled);
});

describe('pages and versions', () => {
  const available = (query: string) => addressOf(`sallyport://tools/tenant/acme/available${query}`);

  it('the first page has two names, the others one', () => {
    expect(available('?page=1')).toEqual(available(''));
    expect(available('?page=2')).toEqual({ kind: 'tenant-available', tenantId: 'acme', page: 2 });
  });

  it.each([
    '?',
    '?page=',
    '?page=0',
    '?page=01',
    '?page=-1',
    '?page=1.5',
    '?page=12345678',
    '?page=1&page=2',
    '?size=1',
  ])('%s is no page', (query) => {
    expect(available(query)).toBeUndefined();
  });

  it('a version may be a range', () => {
    expect(addressOf('sallyport://tools/tool/mail?version=%5E2.1.0')).toEqual({
      kind: 'tool',
      toolId: 'mail',
      version: '^2.1.0',
    });
    expect(addressOf('sallyport://tools/tool/mail?version=')).toBeUndefined();
    expect(addressOf('sallyport://tools/tool/mail?page=2')).toBeUndefined();
  });
});

describe('what looks like a way out names nothing, or only itself', () => {
  it.each([
    ['nothing', ''],
    ['another scheme', 'file:///etc/passwd'],
    ['another authority', 'sallyport://other/tenant/acme/available'],
    ['a user before the authority', 'sallyport://a@tools/tenant/acme/available'],
    ['dots as a part', 'sallyport://tools/tenant/acme/../globex/available'],
    ['a part too many', 'sallyport://tools/tenant/acme/available/more'],
    ['an empty part', 'sallyport://tools/tenant//available'],
    ['a list of no kind', 'sallyport://tools/tenant/acme/unavailable'],
    ['a kind that there is not', 'sallyport://tools/user/a/enabled'],
    ['a fragment', 'sallyport://tools/tenant/acme/available#x'],
    ['a half percent code', 'sallyport://tools/tenant/ac%6/available'],
    ['a percent code that is no UTF-8', 'sallyport://tools/tenant/%ff/available'],
    ['an encoded zero byte', 'sallyport://tools/tenant/acme%00/available'],
    ['an encoded line end', 'sallyport://tools/tool/mail%0d%0aX: y'],
    ['a raw space', 'sallyport://tools/tool/a b'],
    ['letters beyond ASCII as they are', 'sallyport://tools/tool/é'],
    ['a template', 'sallyport://tools/tenant/{tenant_id}/available'],
    ['100 000 characters', `sallyport://tools/tool/${'a'.repeat(100_000)}`],
    ['one character too many', `sallyport://tools/tool/${'a'.repeat(URI_CHARACTERS_MAX - 22)}`],
  ])('%s', (_what, uri) => {
    expect(addressOf(uri)).toBeUndefined();
  });

  it('encoded dots and slashes are text of their part', () => {
    expect(addressOf('sallyport://tools/tenant/acme%2f..%2fglobex/available')).toMatchObject({
      tenantId: 'acme/../globex',
    });
    expect(addressOf('sallyport://tools/tool/%2e%2e')).toEqual({ kind: 'tool', toolId: '..' });
  });

  it('percent code is taken off once', () => {
    expect(addressOf('sallyport://tools/tenant/%2561cme/available')).toMatchObject({ tenantId: '%61cme' });
  });

  it('the longest URI is read', () => {
    const uri = `sallyport://tools/tool/${'a'.repeat(URI_CHARACTERS_MAX - 23)}`;
    expect(uri).toHaveLength(URI_CHARACTERS_MAX);
    expect(addressOf(uri)).toMatchObject({ kind: 'tool' });
  });
});
