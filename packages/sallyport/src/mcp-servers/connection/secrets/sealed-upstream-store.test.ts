import { expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { StoredUpstream } from '../../upstream-store.port.ts';
import { withReferences } from './literal-secrets.ts';
import { sealedUpstreamStore } from './sealed-upstream-store.ts';

const stdio = (args: string[], env: Record<string, string> = {}): UpstreamDefinition => ({
  name: 'a',
  transport: { type: 'stdio', command: 'x', args, env },
});
const remote: UpstreamDefinition = {
  name: 'b',
  transport: {
    type: 'http',
    url: 'https://example.com/mcp?key=hush-1',
    headers: { 'X-Key': 'hush-2', Ref: 'Bearer {{c}}' },
  },
};

/** A store of one row, as the row is in the table. */
function oneRow(first: StoredUpstream) {
  let row = first;
  const put = async (upstream: StoredUpstream): Promise<void> => {
    row = upstream;
  };
  const store = {
    put,
    remove: async () => true,
    find: async () => row.definition,
    loadAll: async () => [row],
    prints: async () => [],
  };
  return { text: () => JSON.stringify(row), sealed: sealedUpstreamStore(store, new Uint8Array(32), silentLog) };
}

test.each([
  [stdio(['--token', 'hush-1', '--verbose'], { MODE: 'hush-2' })],
  [stdio(['--token=hush-1', '--header', 'Authorization: Bearer hush-2'])],
  [remote],
])(
  'EXT-01 what was kept plain before is encrypted when it is loaded, and comes back as it was: %j',
  async (definition) => {
    const stored = { tenantId: 'acme', definition };
    const { text, sealed } = oneRow(stored);
    expect(await sealed.loadAll()).toEqual([stored]);
    expect(text()).not.toContain('hush');
    const once = text();
    expect(await sealed.loadAll()).toEqual([stored]);
    expect(text()).toBe(once);
    for (const plain of ['--verbose', 'Bearer {{c}}'])
      if (JSON.stringify(definition).includes(plain)) expect(once).toContain(plain);
  },
);

test('EXT-01 a reference takes the place of what is a secret by its name or form, and of nothing else', () => {
  const form = `ghp_${'a1B2'.repeat(9)}`;
  expect(withReferences(stdio(['x'], { API_KEY: 'k', X: form, MODE: 'fast', T: '{{t}}', PASSWORD: '' }))).toEqual(
    stdio(['x'], { API_KEY: '{{a.API_KEY}}', X: '{{a.X}}', MODE: 'fast', T: '{{t}}', PASSWORD: '' }),
  );
  const plain = stdio(['x'], { MODE: 'fast' });
  expect(withReferences(plain)).toBe(plain);
});
