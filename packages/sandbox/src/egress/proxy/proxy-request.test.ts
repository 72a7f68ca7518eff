import { expect, test } from 'vitest';
import { readProxyRequest } from './proxy-request.ts';

test.each<[string, string, number]>([
  ['api.example.com:443', 'api.example.com', 443],
  ['API.Example.com.:1', 'api.example.com', 1],
  ['127.0.0.1:65535', '127.0.0.1', 65_535],
  ['[::1]:80', '::1', 80],
])('a tunnel to %s is read', (authority, host, port) => {
  const head = `CONNECT ${authority} HTTP/1.1\r\nHost: other:1\r\nProxy-Authorization: x`;
  expect(readProxyRequest(head)).toEqual({ host, port, forward: '', isTunnel: true });
});

test.each([
  'a.test:0443',
  'a.test:443 ',
  'a.test:+443',
  'a.test:0',
  'a.test:65536',
  'a.test:1e2',
  'a.test:',
  'a.test',
  ':443',
  'a.test:80:443',
  '::1:443',
  '[::1%lo]:443',
  '[127.0.0.1]:443',
  '0x7f.1:443',
  '2130706433:443',
  '127.1:443',
  '017700000001:443',
  'user@a.test:443',
  'a.test\0:443',
  'http://a.test:443',
  'ａ.test:443',
  '*:443',
])('SBX-04 a tunnel to %j is refused', (authority) => {
  expect(readProxyRequest(`CONNECT ${authority} HTTP/1.1`)).toBeUndefined();
});

test('a plain request loses what was meant for the proxy, and names its host itself', () => {
  const head = [
    'GET HTTP://A.test:8080/x?y HTTP/1.1',
    'Host: other.test',
    'Accept: */*',
    'Proxy-Authorization: secret',
    'Connection: keep-alive',
  ].join('\r\n');
  expect(readProxyRequest(head)).toEqual({
    host: 'a.test',
    port: 8080,
    isTunnel: false,
    forward: 'GET /x?y HTTP/1.1\r\nHost: A.test:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n',
  });
  expect(readProxyRequest('GET http://a.test?y HTTP/1.1')?.forward).toMatch(
    /^GET \/\?y HTTP\/1\.1\r\nHost: a\.test\r\n/,
  );
});

test.each([
  'GET / HTTP/1.1',
  'GET https://a.test/ HTTP/1.1',
  'GET http://user@a.test/ HTTP/1.1',
  'GET http://a.test#@b.test/ HTTP/1.1',
  'GET http://a.test\\@b.test/ HTTP/1.1',
  'GET  http://a.test/ HTTP/1.1',
  'GET http://a.test/ HTTP/2.0',
  'GET http://a.test/ HTTP/1.1\r\n folded: x',
  'GET http://a.test/ HTTP/1.1\r\nno colon',
  'GET http://a.test/ HTTP/1.1\r\nName : x',
  'GET http://a.test/ HTTP/1.1\r\nName: x\ny: z',
  'get http://a.test/ HTTP/1.1',
  'GET http://a.test:0080/ HTTP/1.1',
  '',
  '\x05\x01\x00',
])('%j is no request to a proxy', (head) => {
  expect(readProxyRequest(head)).toBeUndefined();
});

test('a request with more fields than anyone needs is refused', () => {
  const fields = Array.from({ length: 201 }, (_, index) => `\r\nX-${index}: y`).join('');
  expect(readProxyRequest(`CONNECT a.test:1 HTTP/1.1${fields}`)).toBeUndefined();
});
