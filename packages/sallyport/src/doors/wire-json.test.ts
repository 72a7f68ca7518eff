import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from './json-place.ts';
import { JSON_DEPTH_MAX, readWireJson } from './wire-json.ts';

function read(text: string | Buffer) {
  return readWireJson(typeof text === 'string' ? Buffer.from(text) : text);
}

function refusal(text: string | Buffer) {
  const result = read(text);
  if (result.ok) throw new Error('expected a refusal');
  return { refusal: result.refusal, code: result.failure.code, message: result.failure.message };
}

it('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const result = read(text);
      const expected = JSON.parse(text);
      // fast-check often generates the key __proto__, which is refused.
      if (result.ok) expect(result.value).toEqual(expected);
      else expect(result.refusal).toBe('key');
    }),
  );
});

it('finds a fault exactly where JSON.parse does not read', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (text, at) => {
      const cut = text.slice(0, at % (text.length + 1));
      let parses = true;
      try {
        JSON.parse(cut);
      } catch {
        parses = false;
      }
      const { index, what } = findJsonFault(cut);
      if (parses) expect(what).toContain('the document has ended already');
      else expect(index).toBeLessThanOrEqual(cut.length);
    }),
  );
});

describe('broken JSON is refused with the place', () => {
  it.each([
    ['', 'line 1, column 1 (position 0), the text ends where a value is expected'],
    ['{"a":}', "line 1, column 6 (position 5), '}' stands where a value is expected"],
    ['{\n "a" 1}', "line 2, column 6 (position 7), '1' stands where a colon is expected"],
    ['[1,]', "line 1, column 4 (position 3), ']' stands where a value is expected"],
    ['{"a":1,}', 'column 8 (position 7)'],
    ['[1 2]', "'2' stands where a comma or a closing bracket is expected"],
    ['{a:1}', "'a' stands where a key in double quotes or } is expected"],
    ['"\\x"', 'a string that is not closed or holds a bad escape'],
    ['1 é', 'U+00e9 stands where the document has ended already'],
    ['{"token":"secret', 'a string that is not closed'],
  ])('%s', (text, place) => {
    const refused = refusal(text);
    expect(refused).toMatchObject({ refusal: 'syntax', code: 'E3801' });
    expect(refused.message).toContain(place);
    expect(refused.message).not.toContain('secret');
  });
});

describe('encoding', () => {
  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22], 1],
    ['a character cut off', [0x22, 0xc3], 1],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['a surrogate half', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    ['a wrong byte after a real U+FFFD', [0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22], 4],
  ])('%s is refused at its byte', (_what, bytes, at) => {
    expect(refusal(Buffer.from(bytes))).toMatchObject({
      refusal: 'encoding',
      message: expect.stringContaining(`byte ${at} `),
    });
  });

  it('valid UTF-8 beyond ASCII is read', () => {
    expect(read('"é😀"')).toEqual({ ok: true, value: 'é😀' });
  });
});

describe('depth', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  it('as many levels as allowed are read, one more is refused, and so are 10 000', () => {
    expect(read(nested(JSON_DEPTH_MAX)).ok).toBe(true);
    expect(refusal(nested(JSON_DEPTH_MAX + 1))).toMatchObject({ refusal: 'depth', code: 'E3810' });
    expect(refusal('{"a":'.repeat(10_000))).toMatchObject({ refusal: 'depth' });
  });

  it('brackets in strings do not count', () => {
    expect(read(JSON.stringify(`${'['.repeat(500)}"\\${'{'.repeat(500)}`)).ok).toBe(true);
  });
});

it('VAL-06.6 a member that is there twice is refused with its place', () => {
  expect(refusal('{"a":{"b":1,"b":2}}')).toEqual({
    refusal: 'key',
    code: 'E3801',
    message: 'The request has a member twice, at /a/b. Send it once.',
  });
  expect(read('{"a":1,"b":{"a":1}}').ok).toBe(true);
});

it('VAL-06.7 no digit is lost where arguments are', () => {
  const text = '{"bound":9007199254740993,"parameters":{"a":9007199254740993,"b":9007199254740992}}';
  expect(readWireJson(Buffer.from(text), [['parameters'], ['absent', 'too']])).toEqual({
    ok: true,
    inexact: true,
    value: { bound: 9007199254740992, parameters: { a: 9007199254740993n, b: 9007199254740992 } },
  });
  expect(readWireJson(Buffer.from(text), [['absent']])).toEqual({ ok: true, value: JSON.parse(text) });
});

describe('keys that reach a prototype', () => {
  it.each([
    ['{"__proto__":{}}', '/__proto__'],
    ['{"a":[{"\\u005f\\u005fproto__":1}]}', '/a/0/__proto__'],
    ['{"constructor":{"prototype":{}}}', '/constructor'],
  ])('%s is refused with its pointer', (text, pointer) => {
    expect(refusal(text)).toMatchObject({ refusal: 'key', code: 'E3801', message: expect.stringContaining(pointer) });
  });

  it.each(['{"constructor":"Brunel"}', '{"a":"__proto__"}', '{"proto":1}'])('%s is harmless', (text) => {
    expect(read(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });
});
