import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createRedactor } from '@sallyport/guards';
import { systemClock } from '@sallyport/std/clock';
import { expect, onTestFinished, test } from 'vitest';
import { memoryQuotaStore } from '../../../test/stores/calls/memory-quota-store.ts';
import { GATE_EXEMPT_TOOLS } from '../../permission/gates/gate-settings.ts';
import { readSettings } from '../read-settings.ts';
import type { Settings } from '../settings.ts';
import { ownPlaces } from './from-settings/own-places.ts';
import { toolScopesOf } from './from-settings/resource.ts';
import { openTrust } from './open-trust.ts';

async function open(given: Partial<Settings> = {}, files: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-trust-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'policies'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return openTrust({
    settings: readSettings({ environment: {}, given: { data_folder: folder, ...given } }),
    clock: systemClock,
    secrets: { read: async () => new Map() },
    quotaStore: memoryQuotaStore(),
    redactor: createRedactor(),
  });
}
const model = { 'gate.enabled': true, 'model.url': 'http://127.0.0.1:9', 'model.name': 'm' };
const webhook = '[[webhook]]\nid = "a"\nat = "before"\nurl = "https://hooks.example/a"\nsecret = "KEY"\n';

test('what is not set is absent', async () => {
  const parts = await open();
  expect(Object.keys(parts).sort()).toEqual(['quota', 'trust']);
  expect(parts.trust?.autonomous).toBe('refuse');
});

test('the gate takes its policies from the setting and from the file', async () => {
  const file = { 'policies/adversarial.toml': 'policies = ["A."]\n[phases]\nplanner = ["B."]\n' };
  const { gate } = await open({ ...model, 'gate.policies': ['C.'] }, file);
  expect(gate?.state).toEqual({ model: '127.0.0.1:9/m', policies: 3, failOpen: false });
});

test('PRM-08 tools are exempt by default as 002 says', () => {
  expect(readSettings({ environment: {} })['gate.exempt_tools']).toEqual(GATE_EXEMPT_TOOLS);
});

test('webhooks are read from the file in the data folder', async () => {
  const { hooks } = await open({}, { 'hooks.toml': webhook });
  expect(hooks?.before({ toolId: 't', sideEffect: 'pure', phase: undefined })?.map(({ id }) => id)).toEqual(['a']);
});

test.each<[Partial<Settings>, string]>([
  [{ 'gate.enabled': true }, 'model.url'],
  [model, 'gate.policies'],
  [{ ...model, 'gate.policies': ['A.'], 'model.temperature': 'hot' }, 'model.temperature'],
  [{ 'hooks.file': '/nowhere/hooks.toml' }, 'hooks.file'],
  [{ 'trust.sources': ['x'] }, 'trust.sources'],
])('%j is refused and says what to set', async (given, said) => {
  await expect(open(given)).rejects.toMatchObject({ code: 'E3801', message: expect.stringContaining(said) });
});

test('SBX-01 the own files of the layer are known wherever they are: they are hidden from every tool', () => {
  const files = {
    data_folder: '/data',
    'approvals.file': '/etc/approvals.toml',
    'hooks.file': '/etc/hooks.toml',
    'object_store.folder': '/objects',
    'oauth.exchange_file': '/etc/exchange.toml',
    'permission.policies_folder': '/etc/policies',
    'sandbox.kubernetes_kubeconfig': '/etc/kubeconfig',
    'sandbox.microvm_folder': '/images',
    'shell.policy_file': '/etc/shell.toml',
    'shell.snapshot_folder': '/snapshots',
    'audit.anchor_file': '/etc/anchors',
    'tokens.public_key_file': '/etc/keys.pem',
  };
  const named = ownPlaces(readSettings({ environment: {}, given: files }), 'sallyport.toml', ['/run/sockets']);
  expect(new Set(named)).toEqual(new Set([...Object.values(files), resolve('sallyport.toml'), '/run/sockets']));
  const bare = readSettings({ environment: {}, given: { data_folder: '/data' } });
  expect(ownPlaces(bare, undefined, [])).not.toContain(resolve(''));
});

test('PRM-10 a scope of tools is scope=TOOL, and the longest pattern comes first', () => {
  const read = (...scopes: string[]) => toolScopesOf({ 'oauth.tool_scopes': scopes });
  expect(read('all=*', 'a=b=c', 'mail=mail__*')).toEqual([
    { scope: 'mail', tool: 'mail__*' },
    { scope: 'a=b', tool: 'c' },
    { scope: 'all', tool: '*' },
  ]);
  for (const wrong of ['mail', '=mail', 'mail=', 'm ail=mail', ''])
    expect(() => read(wrong)).toThrow(expect.objectContaining({ code: 'E3801' }));
});
