import { describe, expect, test } from 'vitest';
import { findSensitive } from '../../redact.ts';
import { PROVIDER_RULES } from './providers/provider-rules.ts';

const HEX = '0123456789abcdef';
const SMALL = 'abcdefghijklmnopqrstuvwxyz0123456789';
const CAPITAL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789';
const MIXED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Reproducible random text, made here so that nothing in the repository looks like a real token. */
function drawn(alphabet: string, length: number): string {
  let state = length * 7 + alphabet.length;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return alphabet[(state >> 16) % alphabet.length];
  }).join('');
}
const hex = (length: number): string => drawn(HEX, length);
const small = (length: number): string => drawn(SMALL, length);
const capital = (length: number): string => drawn(CAPITAL, length);
const mixed = (length: number): string => drawn(MIXED, length);
const UUID = [8, 4, 4, 4, 12].map(hex).join('-');

const SECRETS: Readonly<Record<string, readonly string[]>> = {
  clouds: [
    `ABSK${mixed(132)}`,
    `LTAI${mixed(20)}`,
    `AKID${mixed(32)}`,
    `AQVN${mixed(36)}`,
    `HRKU-AA${mixed(58)}`,
    `fo1_${mixed(43)}`,
    `cfut_${mixed(40)}${hex(8)}`,
    `sha256~${mixed(43)}`,
    `nfp_${mixed(36)}`,
    `napi_${small(64)}`,
    `mdb_sa_sk_${mixed(40)}`,
    `CCDB1_${mixed(22)}_${mixed(40)}`,
    `tskey-auth-${mixed(16)}-${mixed(32)}`,
    `st.${hex(24)}.${hex(32)}.${hex(32)}`,
    `A3-${capital(6)}-${capital(11)}-${capital(5)}-${capital(5)}-${capital(5)}`,
    `${mixed(76)}+ASt${mixed(5)}A==`,
    `${mixed(33)}+ASbB${mixed(5)}=`,
    `${mixed(76)}AZDO${mixed(4)}`,
  ],
  code: [
    `ATBB${mixed(32)}`,
    `BBDC-${mixed(44)}`,
    `sgp_${hex(16)}_${hex(40)}`,
    `CLOJARS_${hex(60)}`,
    `oy2${small(43)}`,
    `cio${mixed(32)}`,
    `CCIPAT_${mixed(22)}_${hex(40)}`,
    `bkua_${hex(40)}`,
    `API-${capital(26)}`,
    `pat.${mixed(22)}.${mixed(24)}.${mixed(20)}`,
    `squ_${hex(40)}`,
    `dt0c01.${capital(24)}.${capital(64)}`,
    `hcaik_${small(58)}`,
    `phx_${mixed(43)}`,
    `xaat-${UUID}`,
    `NRJS-${hex(19)}`,
    `${hex(36)}NRAL`,
  ],
  services: [
    `access_token$production$${small(16)}$${hex(32)}`,
    `rzp_live_${mixed(14)}`,
    `FLWSECK-${hex(32)}-X`,
    `EZAK${mixed(54)}`,
    `shippo_live_${hex(40)}`,
    `EAAA${mixed(60)}`,
    `xkeysib-${hex(64)}-${mixed(16)}`,
    `re_${mixed(8)}_${mixed(24)}`,
    `mlsn.${hex(64)}`,
    `pat-na1-${UUID}`,
    `CFPAT-${mixed(43)}`,
    `tfp_${mixed(59)}`,
    `EAAM${mixed(120)}`,
    `2/${drawn('123456789', 16)}:${hex(32)}`,
    `open.feishu.cn/open-apis/bot/v2/hook/${UUID}`,
    `${mixed(6)}_${mixed(29)}_mmk`,
  ],
  models: [
    `tgp_v1_${mixed(43)}`,
    `csk-${small(48)}`,
    `nvapi-${mixed(64)}`,
    `lsv2_pt_${hex(32)}_${hex(10)}`,
    `sk-lf-${UUID}`,
    `pcsk_${mixed(5)}_${mixed(63)}`,
    `tvly-${mixed(32)}`,
    `fc-${hex(32)}`,
    `sk_${hex(48)}`,
    `e2b_${hex(40)}`,
    `rpa_${capital(42)}`,
  ],
};

describe.each(Object.entries(SECRETS))('forms of %s', (_, secrets) => {
  test.each(secrets)('AUD-04 %s is found whole', (secret) => {
    expect(findSensitive(`use ${secret} for it`)).toMatchObject([{ start: 4, end: 4 + secret.length }]);
    expect(findSensitive(`x="${secret}"`)).toMatchObject([{ start: 3, end: 3 + secret.length }]);
  });
});

/** Placeholders that documents have in the place of a secret. */
const FILLS = [
  'x'.repeat(36),
  'X'.repeat(40),
  'x'.repeat(16),
  '0'.repeat(32),
  'your-api-key-here',
  'YOUR_TOKEN',
  'your_secret_key_goes_here_0123456789abcdef',
  '1234567890abcdef1234567890abcdef',
  'abcdefghijklmnopqrstuvwxyz0123456789',
  'ABCDEFGHIJKLMNOP',
  '<token>',
  '...',
  'EXAMPLEEXAMPLE12',
];

test('AUD-04 placeholders are left alone in the form of every maker', () => {
  for (const { begins } of PROVIDER_RULES) {
    for (const begin of begins) {
      for (const fill of FILLS) expect(findSensitive(`key ${begin}${fill} end`), begin + fill).toEqual([]);
    }
  }
});

test.each([
  'AKIAIOSFODNN7EXAMPLE',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  `sk_${'test'}_4eC39HqLyjWDarjtT1zdp7dc`,
  `gho_${'16C7e42F292c6912E7710c838347Ae178B4a'}`,
  'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
  'AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;',
  `-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----`,
  `-----BEGIN RSA PRIVATE KEY-----\nyour private key here\n-----END RSA PRIVATE KEY-----`,
])('AUD-04 an example that its maker publishes is known: %s', (text) => expect(findSensitive(text)).toEqual([]));

test('AUD-04 the samples of jwt.io and of RFC 7519 are known, another token of the same header is not', () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ alg: 'HS256', typ: 'JWT' });
  const sign = mixed(43);
  for (const claims of [
    { sub: '1234567890', name: 'John Doe', iat: 1516239022 },
    { iss: 'joe', exp: 1300819380 },
  ])
    expect(findSensitive(`see ${head}.${part(claims)}.${sign}`)).toEqual([]);
  expect(findSensitive(`see ${head}.${part({ sub: '1234567891', name: 'Jo Doe' })}.${sign}`)).toHaveLength(1);
});

test.each([
  's.getElementsByClassName(x) and s.toLowerCase',
  'md-button-primary-outline and test_the_rows_of_a_table_come_back_in_order',
  'sk-learn-estimators-of-the-second-release pk_index_of_the_table_users',
  'api-gateway-of-the-region-eu-west-1 secret-santa-list-for-the-whole-team-2024',
  'test_abcdefghij_returns_a_list live_migration_of_the_database_2024',
])('AUD-04 names that begin like a token are none: %s', (text) => expect(findSensitive(text)).toEqual([]));
