import { describe, expect, it } from 'vitest';
import { toolsModeOf } from './tools-mode.ts';

describe('the mode that an HTTP request asks for', () => {
  it.each([
    ['nothing', '/mcp', {}, undefined],
    ['another query', '/mcp?x=meta', {}, undefined],
    ['the query', '/mcp?tools=meta', {}, 'meta'],
    ['the query in percent code', '/mcp?x=1&tools=%61uto', {}, 'auto'],
    ['the header', '/mcp', { 'sallyport-tools': 'meta' }, 'meta'],
    ['the header beside another query', '/mcp?x=1', { 'sallyport-tools': 'auto' }, 'auto'],
    ['both, where the query wins', '/mcp?tools=all', { 'sallyport-tools': 'meta' }, 'all'],
    ['no address at all', undefined, {}, undefined],
  ])('MOD-11 by %s', (_what, url, headers, mode) => {
    expect(toolsModeOf({ url, headers })).toBe(mode);
  });

  it.each([
    ['/mcp?tools=', {}],
    ['/mcp?tools=META', {}],
    ['/mcp?tools=constructor', {}],
    ['/mcp?tools=none&tools=meta', {}],
    ['/mcp', { 'sallyport-tools': 'all, meta' }],
    ['/mcp', { 'sallyport-tools': ['meta', 'meta'] }],
  ])('%s with %j is refused', (url, headers) => {
    expect(() => toolsModeOf({ url, headers })).toThrow(expect.objectContaining({ code: 'E3801' }));
  });
});
