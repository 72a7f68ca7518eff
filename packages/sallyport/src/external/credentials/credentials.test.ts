import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endingsOf, readCredentials } from '../credentials.ts';
import type { Credential } from './credential.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-06-01T00:00:00Z');

async function read(text: string): Promise<readonly Credential[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-credentials-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'credentials.toml');
  await writeFile(file, text);
  return readCredentials(file, 'default');
}

test('EXT-06.1 a credential has a type, an expiry and a rotation schedule, in the words of 000', async () => {
  const text = `
[[credential]]
name = "petstore_key"
tenant = "acme"
credential_type = "api_key"
expires_at = 2026-06-08T00:00:00Z
rotation_schedule = "weekly"
rotated_at = "2026-05-30T02:00:00+02:00"
metadata = { service_name = "petstore.example", scopes = ["read"] }
[[credential]]
name = "cloud"
credential_type = "aws_iam"
`;
  expect(await read(text)).toEqual([
    {
      name: 'petstore_key',
      tenantId: 'acme',
      type: 'api_key',
      expiresAt: NOW + 7 * DAY_MS,
      rotationSchedule: 'weekly',
      rotatedAt: NOW - 2 * DAY_MS,
      serviceName: 'petstore.example',
      scopes: ['read'],
    },
    { name: 'cloud', tenantId: 'default', type: 'aws_iam', rotationSchedule: 'on_demand' },
  ]);
  expect(await readCredentials(join(tmpdir(), 'no-such-folder', 'credentials.toml'), 'default')).toEqual([]);
});

const row = (more: string): string => `[[credential]]\nname = "a"\ncredential_type = "api_key"\n${more}\n`;

test.each([
  [row('credential_value = "planted-value"'), 'credential'],
  [row('').replace('api_key', 'planted-value'), 'credential_type'],
  [row('rotation_schedule = "daily"'), 'needs rotated_at'],
  [row('expires_at = "soon: planted-value"'), 'expires_at'],
  [row('expires_at = "2026-13-01T00:00:00Z"'), 'time that does not exist'],
  [row('expires_at = 2026-06-01'), 'expires_at'],
  [row('') + row(''), 'name and tenant of an earlier one'],
  ['planted-value', 'is not TOML in line 1'],
])('EXT-06.1 a file with faults is refused, with their places and without values: %s', async (text, said) => {
  const refused = await read(text).catch((thrown) => thrown);
  expect(refused).toMatchObject({ code: 'E3801', message: expect.stringContaining(said) });
  expect(refused.message).not.toContain('planted-value');
});

const credential = (more: Partial<Credential>): Credential => ({
  ...{ name: 'a', tenantId: 'acme', type: 'api_key', rotationSchedule: 'on_demand' },
  ...more,
});
const reasons = (more: Partial<Credential>) =>
  endingsOf([credential(more)], NOW, 7 * DAY_MS).map(({ reason, at }) => [reason, at]);

test('EXT-06 a credential is near its end from the warning on, and ended from that time on', () => {
  expect(reasons({})).toEqual([]);
  expect(reasons({ expiresAt: NOW + 7 * DAY_MS + 1 })).toEqual([]);
  expect(reasons({ expiresAt: NOW + 7 * DAY_MS })).toEqual([['expires_soon', NOW + 7 * DAY_MS]]);
  expect(reasons({ expiresAt: NOW + 1 })).toEqual([['expires_soon', NOW + 1]]);
  expect(reasons({ expiresAt: NOW })).toEqual([['expired', NOW]]);
});

test('EXT-06 a rotation is due one period after the last one', () => {
  expect(reasons({ rotationSchedule: 'daily', rotatedAt: NOW - DAY_MS + 1 })).toEqual([]);
  expect(reasons({ rotationSchedule: 'daily', rotatedAt: NOW - DAY_MS })).toEqual([['rotation_due', NOW]]);
  expect(reasons({ rotationSchedule: 'weekly', rotatedAt: NOW - DAY_MS })).toEqual([]);
  expect(reasons({ rotationSchedule: 'weekly', rotatedAt: NOW - 8 * DAY_MS })).toEqual([
    ['rotation_due', NOW - DAY_MS],
  ]);
  expect(reasons({ rotatedAt: 0 })).toEqual([]);
});
