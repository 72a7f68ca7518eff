import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { addressAllowed, checkUrl, checkUrlResolved, classifyAddress, type UrlPolicy } from './check-url.ts';

const resolving =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses);

describe('what a URL says by itself', () => {
  test.each([
    ['https://api.example.com/x?y=a\\b', 'api.example.com', 443],
    ['http://API.example.com.:8080/', 'api.example.com', 8080],
    ['http://8.8.8.8/', '8.8.8.8', 80],
    ['http://011.8.8.8/', '9.8.8.8', 80],
    ['http://[2606:4700:4700::1111]/', '2606:4700:4700::1111', 80],
    ['https://bücher.example.com/', 'xn--bcher-kva.example.com', 443],
    ['https://example.com/#a@b', 'example.com', 443],
  ])('%s may be requested', (url, host, port) => {
    expect(checkUrl(url)).toMatchObject({ allowed: true, host, port, addressClass: 'public' });
  });

  test.each([
    ...['http://127.0.0.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://017700000001/', 'http://127.1/'],
    ...['http://0177.0.0.01/', 'http://0x7f.0.1/', 'http://127.0.0.1./', 'http://%31%32%37.0.0.1/', 'http://0/'],
    ...['http://１２７.0.0.1/', 'http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/', 'http:127.0.0.1', 'http:/127.0.0.1/'],
    ...[
      'http://[::1]/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
      'http://[::127.0.0.1]/',
    ],
    ...['http://[64:ff9b::7f00:1]/', 'http://[2002:7f00:1::]/', 'http://[::ffff:0:127.0.0.1]/', 'http://[fe80::1]/'],
    ...['http://[2001:0:102:304:0:0:80ff:fffe]/', 'http://[fe80::5efe:10.0.0.1]/', 'http://[2606::5efe:a00:1]/'],
    ...['http://10.1.2.3/', 'http://0xac100001/', 'http://3232235777/', 'http://100.64.0.1/', 'http://[fd12::1]/'],
    ...['http://169.254.169.254/', 'http://0xa9fea9fe/', 'http://168.63.129.16/', 'http://[fd00:ec2::254]/'],
    ...[
      'http://localhost/',
      'http://LOCALHOST./',
      'http://a.b.localhost/',
      'http://ⓛocalhost/',
      'http://localhost.localdomain/',
    ],
    ...['http://metadata.google.internal/', 'http://metadata/', 'http://db/', 'http://nas.local/', 'http://a.svc/'],
    ...['http://host.docker.internal/', 'http://1.0.0.127.in-addr.arpa/', 'http://a..example.com/'],
  ])('%s leads inside', (url) => expect(checkUrl(url).allowed).toBe(false));

  test.each([
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/hosts', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://example.com@8.8.8.8/', 'user name'],
    ['http://127.0.0.1@example.com/', 'user name'],
    ['http://example.com\\@10.0.0.1/', 'backslash'],
    ['http://0127.0.0.1/', 'drop the zeros'],
    ['http://0000010.0.0.01:80/', 'drop the zeros'],
    ['http://exa\tmple.com/', 'control character'],
    ['http://example.com#@127.0.0.1/', 'second host'],
    ['http://example.com:0/', 'port 0'],
    ['//example.com/', 'absolute'],
    [`http://example.com/${'a'.repeat(17_000)}`, 'too long'],
    ['http://[fe80::1%25eth0]/', 'absolute'],
  ])('%s is refused, and told why', (url, why) => expect(checkUrl(url).why).toContain(why));

  test('what it was understood as is told, refused or not', () => {
    expect(checkUrl('http://0x7F.1:99/a')).toMatchObject({ host: '127.0.0.1', port: 99, addressClass: 'loopback' });
    expect(checkUrl('http://0x7F.1:99/a').href).toBe('http://127.0.0.1:99/a');
  });
});

describe('what a policy says', () => {
  const allowed = (url: string, policy: UrlPolicy): boolean => checkUrl(url, policy).allowed;

  test('private networks are one decision, metadata and link-local are not in it', () => {
    const policy = { allowPrivate: true };
    for (const host of ['10.0.0.1', '127.0.0.1', '[fd12::1]', '100.64.0.1', 'db', 'localhost']) {
      expect([host, allowed(`http://${host}/`, policy)]).toEqual([host, true]);
    }
    for (const host of [
      '169.254.169.254',
      '169.254.1.1',
      '[fe80::1]',
      '0.0.0.0',
      '224.0.0.1',
      'metadata.google.internal',
    ]) {
      expect([host, allowed(`http://${host}/`, policy)]).toEqual([host, false]);
    }
  });

  test('hosts: exactly, below a name, and what is denied wins', () => {
    const policy = {
      allowedHosts: ['example.com', '*.example.org', '10.0.0.5', '[0:0::5]'],
      deniedHosts: ['x.example.org'],
    };
    for (const host of ['example.com', 'EXAMPLE.com.', 'a.b.example.org', '10.0.0.5', '[::5]']) {
      expect([host, allowed(`http://${host}/`, policy)]).toEqual([host, true]);
    }
    for (const host of ['a.example.com', 'example.org', 'x.example.org', 'evilexample.org', '10.0.0.6', '8.8.8.8']) {
      expect([host, allowed(`http://${host}/`, policy)]).toEqual([host, false]);
    }
  });

  test('schemes and ports', () => {
    expect(allowed('ws://example.com/', { schemes: ['ws:'] })).toBe(true);
    expect(allowed('redis://0x7f.1:6379', { schemes: ['redis'] })).toBe(false);
    expect(allowed('redis://db.example.com:6379', { schemes: ['redis'] })).toBe(true);
    expect(allowed('https://example.com/', { ports: [443] })).toBe(true);
    expect(allowed('https://example.com:444/', { ports: [443] })).toBe(false);
    expect(allowed('https://u@example.com/', { allowCredentials: true })).toBe(true);
  });

  test('addresses and ranges, at one port or at all, and what is denied wins', () => {
    const policy = {
      allowedAddresses: ['10.0.1.0/24', '10.0.0.1:321', '[fd00::/8]:80'],
      deniedAddresses: ['8.8.8.8', '10.0.1.9:80'],
    };
    const rows = [
      ...[['10.0.1.255', 1, true] as const, ['10.0.2.0', 1, false] as const, ['10.0.0.1', 321, true] as const],
      ...[['10.0.0.1', 322, false] as const, ['fd00::1', 80, true] as const, ['fd00::1', 81, false] as const],
      ...[['8.8.8.8', 1, false] as const, ['10.0.1.9', 80, false] as const, ['::ffff:10.0.1.1', 1, true] as const],
    ];
    for (const [address, port, expected] of rows) {
      expect([address, port, addressAllowed(address, policy, port)]).toEqual([address, port, expected]);
    }
    expect(() => addressAllowed('8.8.8.8', { deniedAddresses: ['8.8.8.300'] })).toThrow(TypeError);
  });
});

describe('where a name leads', () => {
  test.each([
    ['127.0.0.1.nip.io', 'loopback'],
    ['app.10-0-0-1.sslip.io', 'private'],
    ['169-254-169-254.sslip.io', 'metadata'],
    ['a-7f000001.nip.io', 'loopback'],
    ['--1.sslip.io', 'loopback'],
    ['a.b.localtest.me', 'loopback'],
    ['lvh.me', 'loopback'],
    ['dns.service.consul', 'private'],
    ['8.8.8.8.nip.io', 'public'],
    ['www.nip.io', 'public'],
    ['127.0.0.1.nip.io.example.com', 'public'],
    ['10.0.0.1.example.com', 'public'],
  ])('SBX-04.3 %s says that it is %s', (host, addressClass) =>
    expect(checkUrl(`http://${host}/`)).toMatchObject({ addressClass, allowed: addressClass === 'public' }),
  );

  test('every address has to be public', async () => {
    const found = await checkUrlResolved('http://a.example.com/', resolving('8.8.8.8', '2606:4700::1'));
    expect(found).toMatchObject({ allowed: true, addresses: ['8.8.8.8', '2606:4700::1'] });
    for (const inner of [
      '127.0.0.1',
      '169.254.169.254',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      'fe80::1%eth0',
      '0177.0.0.1',
    ]) {
      const verdict = await checkUrlResolved('http://inner.example.com/', resolving('8.8.8.8', inner));
      expect([inner, verdict.allowed, verdict.addresses]).toEqual([inner, false, []]);
    }
  });

  test('no address, too many and a resolver that rejects are refused; a literal is not looked up', async () => {
    expect((await checkUrlResolved('http://a.example.com/', resolving())).allowed).toBe(false);
    expect((await checkUrlResolved('http://a.example.com/', resolving(...Array(257).fill('8.8.8.8')))).allowed).toBe(
      false,
    );
    const failing = () => Promise.reject(new Error('ENOTFOUND'));
    expect((await checkUrlResolved('http://a.example.com/', failing)).why).toContain('no address');
    expect(await checkUrlResolved('http://8.8.8.8/', failing)).toMatchObject({ allowed: true, addresses: ['8.8.8.8'] });
  });

  test('localhost leads to loopback, and only when it is named', async () => {
    const policy = { allowedHosts: ['localhost'] };
    expect((await checkUrlResolved('http://localhost/', resolving('127.0.0.1', '::1'), policy)).allowed).toBe(true);
    expect((await checkUrlResolved('http://localhost/', resolving('8.8.8.8'), policy)).allowed).toBe(false);
    expect((await checkUrlResolved('http://db/', resolving('10.0.0.1'), { allowedHosts: ['db'] })).allowed).toBe(false);
  });

  test('the dialer asks again for the address that it connects to', () => {
    expect(addressAllowed('8.8.8.8')).toBe(true);
    expect(addressAllowed('10.0.0.1')).toBe(false);
    expect(addressAllowed('example.com')).toBe(false);
  });
});

test.each([
  ...[
    ['9.255.255.255', 'public'],
    ['10.0.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
  ],
  ...[
    ['100.64.0.0', 'shared'],
    ['100.100.100.200', 'metadata'],
    ['100.128.0.0', 'public'],
    ['0.0.0.0', 'unspecified'],
  ],
  ...[
    ['0.0.0.1', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.19.0.1', 'benchmarking'],
    ['224.0.0.1', 'multicast'],
  ],
  ...[
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:8.8.8.8', 'public'],
  ],
  ...[
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::808:808', 'translated'],
    ['64:ff9c::1', 'public'],
  ],
  ...[
    ['2001::1', 'translated'],
    ['2001:db8::1', 'documentation'],
    ['2001:4860:4860::8888', 'public'],
    ['ff02::1', 'multicast'],
  ],
  ...[
    ['[fe80::1%eth0]', 'link_local'],
    ['fec0::1', 'reserved'],
    ['1.2.3', 'invalid'],
    ['1.2.3.04', 'invalid'],
  ],
  ...[
    ['1.2.3.256', 'invalid'],
    ['1::2::3', 'invalid'],
    ['1:2:3:4:5:6:7:8:9', 'invalid'],
    ['12345::', 'invalid'],
    ['', 'invalid'],
  ],
] as string[][])('%s is %s', (address, expected) => expect(classifyAddress(address ?? '')).toBe(expected));

const CORPUS = '../shared/corpora/ssrf-path/';

describe.skipIf(!existsSync(CORPUS))('on the cases of others (skipped without the corpora)', () => {
  test('addresses are classed as smokescreen classes them', () => {
    const { config, cases } = JSON.parse(readFileSync(`${CORPUS}smokescreen_classify.json`, 'utf8'));
    const self = config.localIPs.map((ip: string) => `${ip.includes(':') ? `[${ip}]` : ip}:${config.selfPort}`);
    const policy = {
      allowedAddresses: [...config.allowRanges, ...config.allowAddresses],
      deniedAddresses: [...config.denyRanges, ...config.denyAddresses, ...self],
    };
    for (const { ip, port, expected } of cases) {
      expect([ip, port, addressAllowed(ip, policy, port)]).toEqual([ip, port, expected.startsWith('ipAllow')]);
    }
  });

  test('URLs are read as the platform reads them', () => {
    const rows = JSON.parse(readFileSync(`${CORPUS}wpt_urltestdata.json`, 'utf8'));
    for (const row of rows) {
      if (typeof row === 'string' || row.base !== null) continue;
      expect([row.input, checkUrl(row.input).href]).toEqual([row.input, row.failure === true ? '' : row.href]);
    }
  });
});
