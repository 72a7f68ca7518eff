import { expect, test } from 'vitest';
import { strictObject } from './strict-json.ts';

const read = (text: string) => strictObject(Buffer.from(text));

test.each([
  '{}',
  ' {"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]} ',
  String.raw`{"a":"\"a\":1,","b":"{\"b\":[","c":"\\"}`,
  String.raw`{"a\"":1,"a":2,"\\":3,"\\\\":4}`,
  '{"__proto__":1,"constructor":2}',
  '{"a":"a","b":["a","a","a"],"c":{"b":"c"},"d":"b"}',
  `{"a":"${'['.repeat(33)}","b":"}{,"}`,
  `{"x":${'['.repeat(31)}${']'.repeat(31)}}`,
])('%# what is an object is read as JSON.parse does', (text) => {
  expect(read(text)).toEqual(JSON.parse(text));
  expect(Object.getPrototypeOf(read(text))).toBe(Object.prototype);
});

test.each([
  ['twice', '{"a":1,"a":1}'],
  ['twice', '{"a":1,"b":[1,{"c":{}}],"a":1}'],
  ['twice', '{"x":[{"a":1},{"a":1,"a":2}]}'],
  ['twice', String.raw`{"a":1,"\u0061":2}`],
  ['twice', '{"a":"}","a":1}'],
  ['twice', '{"a":["]"],"b":"{","a":1}'],
  ['twice', String.raw`{"a\\":1,"b":2,"a\\":2}`],
  ['levels', `{"x":${'['.repeat(32)}${']'.repeat(32)}}`],
  ['levels', '['.repeat(100_000)],
  ['object', '[]'],
  ['object', 'null'],
  ['object', '"a"'],
  ['JSON', ''],
  ['JSON', '{"a":1,}'],
  ['JSON', '{"a":"'],
  ['JSON', '{"a\\'],
  ['JSON', '}{'],
  ['JSON', '\ufeff{}'],
])('%# what has a fault (%s) is refused', (why, text) => {
  expect(() => read(text)).toThrow(why === 'JSON' ? SyntaxError : why);
});

test('bytes that are no UTF-8 are refused', () => {
  expect(() => strictObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow(TypeError);
});
