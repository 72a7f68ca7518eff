import { KiB, MiB } from '@sallyport/std/bytes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, findSensitive, KINDS_BY_CATEGORY, REDACTION_KINDS, redact } from './redact.ts';

const kindsIn = (text: string): string[] => findSensitive(text).map(({ kind }) => kind);
const redacted = (text: string): string => redact(text).value as string;
/** Assembled here, so that nothing in the repository looks like a real token. */
const GITHUB = `gh${'p_'}${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
const AWS = `AK${'IA'}${'7QXZ'.repeat(4)}`;
const PEM = (kind: string, end = true): string =>
  `-----BEGIN ${kind}PRIVATE KEY-----\nMIIBVgIBADANBgkq\nhkiG9w0B/+==\n${end ? `-----END ${kind}PRIVATE KEY-----` : ''}`;

describe('personal data', () => {
  test.each([
    ['write to ann.lee+x@mail.example.org.', 'write to [REDACTED:email].'],
    ['<bob@xn--bcher-kva.example>', '<[REDACTED:email]>'],
    ['SSN 219-43-8765 on file', 'SSN [REDACTED:ssn] on file'],
    ['ssn: 219438765', 'ssn: [REDACTED:ssn]'],
    ['pay with 4539 1488 0343 6467 today', 'pay with [REDACTED:card] today'],
    ['amex 371449635398431', 'amex [REDACTED:card]'],
    ['to DE89 3704 0044 0532 0130 00, please', 'to [REDACTED:iban], please'],
    ['gb82west12345698765432', '[REDACTED:iban]'],
    ['host 203.0.113.7:8080 answers', 'host [REDACTED:ip]:8080 answers'],
    ['route 10.0.0.0/8.', 'route [REDACTED:ip].'],
    ['from 2001:db8::8a2e:370:7334 and fe80::1%eth0', 'from [REDACTED:ip] and [REDACTED:ip]'],
    ['http://[2001:db8::1]/', 'http://[[REDACTED:ip]]/'],
    ['call (415) 555-0132 now', 'call [REDACTED:phone] now'],
    ['tel +44 20 7946 0958', 'tel [REDACTED:phone]'],
    ['Phone: 0711 123456', 'Phone: [REDACTED:phone]'],
    ['tel:+49 711 123456 or tel:0711123456', 'tel:[REDACTED:phone] or tel:[REDACTED:phone]'],
    ['Handynummer 0171/1234567', 'Handynummer [REDACTED:phone]'],
    ['Téléphone : 01 42 68 53 00', 'Téléphone : [REDACTED:phone]'],
    ['電話：03-1234-5678（代表）', '電話：[REDACTED:phone]（代表）'],
    ['手机号码 138 1234 5678', '手机号码 [REDACTED:phone]'],
    ['Моб. 8 912 345-67-89', 'Моб. [REDACTED:phone]'],
    ['هاتف: 050 123 4567', 'هاتف: [REDACTED:phone]'],
    ['전화 02-123-4567', '전화 [REDACTED:phone]'],
    ['No HP: 0812-3456-789', 'No HP: [REDACTED:phone]'],
    ['0171 1234567 (mobil)', '[REDACTED:phone] (mobil)'],
    ['My Finnish number is 040 123 4567', 'My Finnish number is [REDACTED:phone]'],
    ['maestro 501800000009', 'maestro [REDACTED:card]'],
    ['Mobile +995 (836) 554 923', 'Mobile [REDACTED:phone]'],
    ['415.555.0132 or 415-5550132', '[REDACTED:phone] or [REDACTED:phone]'],
    ['to DZ580002100001113000000570', 'to [REDACTED:iban]'],
    ['uatp card 135410014004955', 'uatp card [REDACTED:card]'],
    ['card 5018 0000 0009', 'card [REDACTED:card]'],
    ['pay 6799 9901 0000 0000 019 now', 'pay [REDACTED:card] now'],
  ])('AUD-04.1 %s', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  test.each([
    'npm install left-pad@1.3.0 @types/node',
    'logo@2x.png and git@host.example:team/repo',
    'SSN 000-12-3456, 666-12-3456, 900-12-3456, 219-00-8765, 219-43-0000, 078-05-1120',
    'order 219438765 of 2024',
    'ids 4539148803436468 and 1748503543012',
    'items 501800000009 and 5018 0000 0009',
    'clause 252.227-7013 and +995 (836) 554 923',
    'the mobile app has 1.234.567 users, a cell of a table 12',
    'port:8080123 id=12345678 at 10:15:30 cep 1234567',
    'hp 1234567 laptops, gsm 900-1800 bands',
    'DE89 3704 0044 0532 0130 01',
    'version 1.2.3.4, v1.2.3.4, pkg==1.2.3.4, Browser/100.0.0.0, 256.1.1.1, 1.2.3.4.5',
    'at 12:34:56 std::cout list[1::2] a::b 00:1A:2B:3C:4D:5E',
    'on 2024-02-29 12:30:00, took 1234567 ms, 1700000000',
    'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    '3f29b6a4-7c1d-4e0b-9a52-6f1c0d8e7b43',
  ])('AUD-04.1 leaves alone: %s', (text) => {
    expect(findSensitive(text)).toEqual([]);
    expect(redacted(text)).toBe(text);
  });

  test('AUD-04 the name of a field labels a telephone number in any language', () => {
    expect(
      redact({ 電話: '03-1234-5678', téléphone: '01 42 68 53 00', 'Моб. телефон': '8 912 345-67-89' }).value,
    ).toEqual({
      電話: '[REDACTED:phone]',
      téléphone: '[REDACTED:phone]',
      'Моб. телефон': '[REDACTED:phone]',
    });
    expect(redact({ portal: '03-1234-5678', hotel: '030 123456' }).findings).toEqual([]);
  });

  test('a number by itself may be what a field would call something else', () => {
    expect(kindsIn('219438765')).toEqual(['ssn']);
    expect(redact({ order: '219438765', ssn: '219438765' }).value).toEqual({
      order: '219438765',
      ssn: '[REDACTED:ssn]',
    });
  });
});

describe('secrets', () => {
  test.each([
    [`token ${GITHUB}`, 'token [REDACTED:token]'],
    [`key=${AWS};`, 'key=[REDACTED:api_key];'],
    [`${PEM('RSA ')} end`, '[REDACTED:private_key] end'],
    [PEM('', false), '[REDACTED:private_key]'],
    ['postgres://app:s3cr3t!pw@db.internal/x', 'postgres://[REDACTED:connection_string]@db.internal/x'],
    ['password = "h0rse!battery"', 'password = "[REDACTED:password]"'],
    ['my password is baz1234', 'my password is [REDACTED:password]'],
    ['Authorization: Bearer q8Zk3mV7xL2pT9wR4yN6', 'Authorization: Bearer [REDACTED:token]'],
    ['{"api_key":"q8Zk3mV7xL2pT9wR4yN6"}', '{"api_key":"[REDACTED:api_key]"}'],
    ['{\\"client_secret\\":\\"q8Zk3mV7xL2pT9wR4yN6\\"}', '{\\"client_secret\\":\\"[REDACTED:api_key]\\"}'],
    [`curl -u ann:'tr0ub4dor&3' x`, `curl -u ann:'[REDACTED:password]' x`],
    ['curl -u ":tr0ub4dor&3" x', 'curl -u ":[REDACTED:password]" x'],
    ['run --api-key q8Zk3mV7xL2pT9wR4yN6 now', 'run --api-key [REDACTED:api_key] now'],
    ['Cookie: sid=q8Zk3mV7xL2pT9wR; a=b', 'Cookie: [REDACTED:token]'],
    ['here is my API key q8Zk3mV7xL2pT9wR4yN6, thanks', 'here is my API key [REDACTED:api_key], thanks'],
    ['machine a login ann password 4be1c8f07d29a6e35b10', 'machine a login ann password [REDACTED:password]'],
    ['MAKER SECRET 4be1c8f07d29a6e35b10', 'MAKER SECRET [REDACTED:api_key]'],
    ['curl -u ann:qTrEDkVvPzLmWxYbNj x', 'curl -u ann:[REDACTED:password] x'],
    ['postgres://app:app@db.example.org/x', 'postgres://[REDACTED:connection_string]@db.example.org/x'],
  ])('AUD-04.2 %s', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  test('AUD-04.2 a JSON web token, whose header is one', () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: 'ann' })}.c2lnbmF0dXJl`;
    expect(redacted(`got ${token}!`)).toBe('got [REDACTED:token]!');
    expect(findSensitive(`eyJub3Q.${part({ a: 1 })}`)).toEqual([]);
    expect(findSensitive(`${token.slice(0, token.lastIndexOf('.'))}.signature`)).toEqual([]);
  });

  test.each([
    `abc1Q~${'xY7_'.repeat(8).slice(1)}`,
    `${'0a'.repeat(16)}-us1`,
    `12345678:${'aB3_-'.repeat(7)}`,
    `M${'a1B'.repeat(8).slice(1)}.c2D3e4.${'f5G'.repeat(9)}`,
    `hooks.slack.com/services/${'aB3cD'.repeat(4)}`,
  ])('AUD-04.2 the shortest of its shape: %s', (secret) => {
    expect(findSensitive(`see ${secret} here`)).toMatchObject([{ start: 4, end: 4 + secret.length }]);
  });

  test.each([
    'PASSWD',
    'db.passphrase',
    'passcode',
    'pass',
    'Pwd',
    'clientSecret',
    'secret word',
    'TOKEN',
    'x_api_key',
    'Authorisation',
    'my-credential',
    'X-Goog-Api-Value',
  ])('AUD-04 what is given to %s', (name) => {
    for (const sign of ['=', ': ', ' is ', '": "']) {
      expect(redacted(`${name}${sign}q8Zk3mV7xL2pT9wR4yN6qB5d!`)).not.toContain('q8Zk');
    }
  });

  test.each([
    'password: string; token: Promise<string>; apiKey = process.env.API_KEY',
    'password = "<your-password>" token=$TOKEN secret: "{{ secret }}"',
    'password reset: https://host.example/reset1 password_hint: blue7sky',
    'next_page_token=q8Zk3mV7xL2pT9wR4yN6 primary_key = "q8Zk3mV7xL2pT9wR4yN6abcd"',
    'api_key: xxxxxxxxxxxxxxxxxxxx1',
    'sort_key=created_at_2024, cache key: user-profile-2024',
    'postgres://user:password@localhost/db',
    'postgres://app:app@localhost/x mysql://root:root@db:3306 redis://me:me@127.0.0.1',
    'password: !vault | token: !env API_TOKEN secret: !Ref TheSecret',
    'password = match.groups?.password; password: parts[1], token: "abcd1234efgh5678..."',
    'db.password=\njdbc.url=\nthe credentials:\n\n![Picture1!](a.png)',
    'password_encryption = "scram-sha-256" event: password_change:ann1 customer-key-md5: base64KeyMd5Value99',
    'display-name-key="customEvent1" publicToken = "q8Zk3mV7xL2pT9wR4yN6" GPG key: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B',
    'run -u http://host.example/?id=1 the key 4be1c8f07d29a6e35b10 token 0x4be1c8f07d29a6e35b10 token abcdefghij1234567890',
    'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP',
  ])('leaves alone: %s', (text) => {
    expect(findSensitive(text)).toEqual([]);
  });
});

describe('values', () => {
  test('AUD-04.3 fields with a secret name, in any spelling, lose their values', () => {
    const value = {
      Password: 'x',
      'X-Api_Key': 'y',
      dbPass: 'z',
      credentials: { user: 'u', deep: ['v'] },
      compass: 'north',
      max_tokens: 5,
      next_page_token: 'n',
    };
    expect(redact(value).value).toEqual({
      Password: '[REDACTED:password]',
      'X-Api_Key': '[REDACTED:api_key]',
      dbPass: '[REDACTED:password]',
      credentials: { user: '[REDACTED:password]', deep: ['[REDACTED:password]'] },
      compass: 'north',
      max_tokens: 5,
      next_page_token: 'n',
    });
  });

  test('what was found is told by kind, rule and pointer, and never shown', () => {
    const { findings } = redact({ 'a/b': [{ note: 'mail ann@example.org' }] });
    expect(findings).toEqual([{ kind: 'email', rule: 'email', path: '/a~1b/0/note', start: 5, end: 20 }]);
  });

  test('names are redacted too, and stay apart', () => {
    const { value, findings } = redact({ 'ann@example.org': 1, 'bob@example.org': { ip: '10.1.2.3' } });
    expect(value).toEqual({ '[REDACTED:email]': 1, '[REDACTED:email]#2': { ip: '[REDACTED:ip]' } });
    expect(JSON.stringify(findings)).not.toContain('@');
  });

  test('VAL-06 100,000 names that become equal take a time that grows with their number', () => {
    const given = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`user${at}@example.org`, at]));
    const names = Object.keys(redact(given).value as object);
    expect([names.length, names.at(-1)]).toEqual([100_000, '[REDACTED:email]#100000']);
  });

  test('the same object comes back when nothing was found, and parts that are clean are shared', () => {
    const clean = { a: [1, 'two', null, { three: true }] };
    expect(redact(clean).value).toBe(clean);
    const half = { clean, mail: 'ann@example.org' };
    expect((redact(half).value as typeof half).clean).toBe(clean);
    expect(half.mail).toBe('ann@example.org');
  });

  test('a value that is nested too deep to be looked at is taken out', () => {
    let value: unknown = 'ann@example.org';
    for (let i = 0; i < 5_000; i += 1) value = [value];
    const text = JSON.stringify(redact(value).value);
    expect(text).not.toContain('ann@');
    expect(text).toContain('[REDACTED:field]');
  });

  test('AUD-04 a field with a long name and many numbers is redacted in time', () => {
    const numbers = '4111 '.repeat(50_000);
    const { value } = redact({ [numbers]: `${numbers}ann@example.org` });
    expect(JSON.stringify(value)).not.toContain('ann@');
  });

  test('kinds, fields and the replacement are the caller’s', () => {
    const redactor = createRedactor({
      kinds: ['ip', 'path'],
      fields: ['Nick-Name'],
      replacement: (kind) => `<${kind}>`,
    });
    expect(
      redactor.value({ nickname: 'annie', at: 'ann@example.org from 10.1.2.3 reads ~/.ssh/id_rsa' }).value,
    ).toEqual({
      nickname: '<field>',
      at: 'ann@example.org from <ip> reads <path>',
    });
    expect(redactor.text('10.1.2.3').findings[0]?.rule).toBe('ip-v4');
  });

  test('an ampersand within a password goes with it, one between two pairs of a form stays', () => {
    expect(redact('password: tr0ub4dor&3!x, done').value).toBe('password: [REDACTED:password], done');
    expect(redact('password=tr0ub4dor&page=2').value).toBe('password=[REDACTED:password]&page=2');
    expect(redact('PASSWORD=tr0ub4dor&& ls').value).toBe('PASSWORD=[REDACTED:password]&& ls');
    expect(redact('password=tr0ub4dor&amp;page=2').value).toBe('password=[REDACTED:password]&amp;page=2');
  });

  test('MOD-06.4 every kind is in exactly one of the six groups of patterns', () => {
    expect(Object.keys(KINDS_BY_CATEGORY)).toHaveLength(6);
    expect(Object.values(KINDS_BY_CATEGORY).flat().toSorted()).toEqual(REDACTION_KINDS.toSorted());
  });
});

describe('long texts and short ones', () => {
  const filler = 'Lorem ipsum dolor sit amet. '.repeat(64 * KiB).slice(0, 64 * KiB - 20);

  test('AUD-04 what stands behind the first 64 KiB is found too', () => {
    for (const more of ['', filler]) {
      const text = `${filler}${more} ann@example.org 10.1.2.3`;
      expect(kindsIn(text)).toEqual(['email', 'ip']);
    }
  });

  test('a text says nothing of the next one', () => {
    const long = `${GITHUB} 4539148803436467 password=tr0ub4dor `.repeat(8);
    for (let length = 0; length < 40; length += 1) {
      expect(kindsIn(long)).toHaveLength(24);
      expect(kindsIn('gh'.repeat(length))).toEqual([]);
    }
  });
});

describe('hostile texts', () => {
  test('the kind that a mark names is no name of what follows the mark', () => {
    const once = redacted('password= tr0ub4dor = -*-0');
    expect(once).toBe('password= [REDACTED:password] = -*-0');
    expect(redacted(once)).toBe(once);
  });

  test('a mark behind an option of a command is no name and password', () => {
    const once = redacted('ann@example.org -u ann@example.org');
    expect(once).toBe('[REDACTED:email] -u [REDACTED:email]');
    expect(redacted(once)).toBe(once);
  });

  test('a sign that ends a password does not make a version of the address behind it', () => {
    expect(redacted('password= tr0ub4dor~ 10.1.2.3')).toBe('password= [REDACTED:password] [REDACTED:ip]');
    expect(redacted('listens @ 10.1.2.3')).toBe('listens @ [REDACTED:ip]');
    for (const version of ['~10.1.2.3', '"^10.1.2.3"', '>= 10.1.2.3', 'tool@10.1.2.3'])
      expect(redacted(version)).toBe(version);
  });

  test('what is redacted stays as it is when it is redacted again', () => {
    const pieces = [
      'ann@example.org',
      '10.1.2.3',
      'password=',
      GITHUB,
      '"',
      ' ',
      ':',
      '=',
      '4539148803436467',
      PEM(''),
      'é',
    ];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 12 }), (parts) => {
        const once = redacted(parts.join(' '));
        expect(redacted(once)).toBe(once);
      }),
    );
  });

  test.each([
    'a@',
    '1.',
    ':',
    'ab:1:',
    'key=a1',
    'cookie: a=b;',
    '-----BEGIN PRIVATE KEY-----!',
    'http://a:b',
    '-eyJ',
    'MNO',
    '1-2 ',
    '+1 ',
    '--',
    'sk-',
    'Password=',
    '(',
    '4111 ',
  ])('a mebibyte of %s ends', (piece) => {
    const text = piece.repeat(Math.ceil(MiB / piece.length));
    expect(createRedactor({ kinds: REDACTION_KINDS }).text(text).text.length).toBeGreaterThan(0);
  });
});
