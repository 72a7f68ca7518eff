import { expect, test } from 'vitest';
import { hideSecrets } from '../hide-secrets.ts';
import { hideInResult } from './hide-in-result.ts';

const hide = hideSecrets(new Map([['key', 'sesame-42']]));
const nested = (levels: number): unknown => (levels === 0 ? 'sesame-42' : [nested(levels - 1)]);

test('a credential is taken out of texts, names of members and encodings, and everything else stays', () => {
  const result = {
    content: [
      { type: 'text', text: 'Bearer sesame-42' },
      { type: 'text', text: btoa('sesame-42') },
    ],
    structuredContent: { 'sesame-42': [1, null, true, { deep: 'sesame-42' }] },
    isError: false,
  };
  expect(hideInResult(result, hide)).toEqual({
    content: [
      { type: 'text', text: 'Bearer [hidden]' },
      { type: 'text', text: '[hidden]' },
    ],
    structuredContent: { '[hidden]': [1, null, true, { deep: '[hidden]' }] },
    isError: false,
  });
  const named = JSON.parse('{"__proto__":{"a":"sesame-42"}}');
  expect(JSON.stringify(hideInResult(named, hide))).toBe('{"__proto__":{"a":"[hidden]"}}');
});

test('a result is searched to its depth, and refused when it is too deep for that', () => {
  expect(JSON.stringify(hideInResult(nested(512), hide))).not.toContain('sesame-42');
  expect(() => hideInResult(nested(513), hide)).toThrow(expect.objectContaining({ code: 'E3308' }));
});
