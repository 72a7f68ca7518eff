import { expect, test } from 'vitest';
import { headerOf, responseReader } from './response-reader.ts';

const WITH_LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nMcp-Session-Id: s1\r\n\r\nhello';
const IN_CHUNKS = 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n';

function check(name: string, text: string, expected: { readonly status: number; readonly body: string }): void {
  test(name, () => {
    expect(responseReader().feed(Buffer.from(text))).toMatchObject(expected);
    for (let cut = 1; cut < text.length; cut += 1) {
      const reader = responseReader();
      const first = reader.feed(Buffer.from(text.slice(0, cut)));
      expect(first ?? reader.feed(Buffer.from(text.slice(cut)))).toMatchObject(expected);
    }
  });
}

check('a body of a length, cut anywhere', WITH_LENGTH, { status: 200, body: 'hello' });
check('a body in chunks, cut anywhere', IN_CHUNKS, { status: 202, body: 'hello' });
check('no body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '' });

test('one reader reads one response after the other', () => {
  const reader = responseReader();
  expect(reader.feed(Buffer.from(WITH_LENGTH))?.body).toBe('hello');
  expect(reader.feed(Buffer.from(IN_CHUNKS))?.body).toBe('hello');
});

test('a header is found in any case, an absent one is not', () => {
  const head = WITH_LENGTH.split('\r\n\r\n')[0] ?? '';
  expect(headerOf(head, 'mcp-session-id')).toBe('s1');
  expect(headerOf(head, 'etag')).toBeUndefined();
});
