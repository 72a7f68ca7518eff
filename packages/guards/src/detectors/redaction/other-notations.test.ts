import { describe, expect, test } from 'vitest';
import { findSensitive, redact } from '../redact.ts';

const redacted = (text: string): string => redact(text).value as string;
const PASSWORD = 'k7Vt9-xQ2m';
/** Assembled here, so that nothing in the repository looks like a real token. */
const drawn = (length: number): string => 'q7Zt4Xw9Lk2Vb5Nc8Rj3'.repeat(20).slice(0, length);
const HEX = '9f4e1c7a2b8d6035'.repeat(8);
const UUID = `9f4e1c7a-2b8d-4035-a9c1-${HEX.slice(0, 12)}`;

describe('personal data in other notations', () => {
  test.each([
    ['card 4539.1488.0343.6467', 'card [REDACTED:card]'],
    ['4539\u00a01488\u00a00343\u00a06467', '[REDACTED:card]'],
    ['4539\u202f1488\u202f0343\u202f6467', '[REDACTED:card]'],
    ['219\u201143\u20118765', '[REDACTED:ssn]'],
    ['https://example.org/?to=ann%40mail.example.org&n=1', 'https://example.org/?to=[REDACTED:email]&n=1'],
    ['ann [at] example [dot] org', '[REDACTED:email]'],
    ['write to ann(at)example.org', 'write to [REDACTED:email]'],
    ['call me at 4155550132', 'call me at [REDACTED:phone]'],
  ])('AUD-04.1 %s', (text, expected) => expect(redacted(text)).toBe(expected));

  test.each([
    'https://registry.example.org/%40types%2fnode and pkg%401.2.3',
    'http://example.com%40example.org/ and "login createdb password \'its word\'"',
    'we met (at) noon [at] the office',
    '2 4 8 16 32 64 128 256',
    '1 2 3 4 5 6 7 8 9 10',
    '10 20 30 40 50 60',
    'order 4155550132 at 10',
  ])('AUD-04.1 leaves alone: %s', (text) => expect(findSensitive(text)).toEqual([]));
});

describe('secrets in other notations', () => {
  test.each([
    `Passwort: ${PASSWORD}`,
    `mot de passe : ${PASSWORD}`,
    `contraseña: ${PASSWORD}`,
    `senha=${PASSWORD}`,
    `wachtwoord: "${PASSWORD}"`,
    `hasło: ${PASSWORD}`,
    `Пароль: ${PASSWORD}`,
    `パスワード：${PASSWORD}`,
    `密码: ${PASSWORD}`,
    `비밀번호: ${PASSWORD}`,
    `machine host.example login ann password ${PASSWORD}`,
    `<db:password>${PASSWORD}</db:password>`,
    `sshpass -p '${PASSWORD}' ssh host`,
    `mysql -u root -p${PASSWORD} shop`,
    `{"auths": {"host.example": {"auth": "${Buffer.from(`ann:${PASSWORD}`).toString('base64')}"}}}`,
    `WIFI_PSK=${PASSWORD}`,
    `AZDO_PAT=${drawn(52)}`,
    `Authorization: Splunk ${UUID}`,
    `Authorization: SSWS ${drawn(42)}`,
    `https://a.blob.example/b?sv=2022-11-02&sig=${drawn(20)}%2F${drawn(20)}%3D`,
    `https://a.example/b?X-Amz-Signature=${HEX.slice(0, 64)}`,
    `hf_${drawn(34)}`,
    `xoxd-${drawn(80)}`,
    `EAAR${drawn(120)}`,
  ])('AUD-04.2 %s', (text) => {
    expect(findSensitive(text)).toHaveLength(1);
    expect(findSensitive(JSON.stringify({ note: text }))).toHaveLength(1);
    expect(findSensitive(redacted(text))).toEqual([]);
  });

  test.each([
    'Passwort: bitte eingeben',
    'mot de passe : oublié',
    'contraseña: incorrecta',
    'パスワード：必須',
    '密码：请输入 8 位',
    'to login use the password of your account 2024',
    '<password></password><token>string</token>',
    'mysql -u root -p shop, mkdir -p src/a1',
    '"auth": "aGVsbG8gd29ybGQh"',
    'path=/srv/app pat=x',
    'see ?sig=abc and ?sig=1',
  ])('AUD-04.2 leaves alone: %s', (text) => expect(findSensitive(text)).toEqual([]));
});
