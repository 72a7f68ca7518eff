import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { expect, test } from 'vitest';
import { DOUBLE, openLayer } from '../layer.fixture.ts';
import { cli } from './cli.fixture.ts';

const SERVER = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url),
);
const SAID = (asked: number) =>
  `Its timeout of ${asked} s is longer than any call may take: calls end after 600 s. Raise the setting calls.timeout_seconds_max`;

test.runIf((await createBubblewrapDriver().probe()).works)(
  'EXE-12 API-05 a timeout that no call will have is told when it is asked for, once for all tools of an upstream',
  async () => {
    await using open = await openLayer({ 'calls.timeout_seconds_max': 600 });
    const add = (name: string, timeout: string) =>
      cli(open, ['upstreams', 'add', name, '--timeout', timeout, '--', process.execPath, SERVER]);
    const long = await add('long', '1h');
    expect(long.code, long.err).toBe(0);
    expect(long.err).toMatch(new RegExp(`^\\d+ of these tools: ${SAID(3600)}`, 'm'));
    expect(long.err.split('Its timeout of')).toHaveLength(2);
    expect((await add('short', '10m')).err).not.toContain('Its timeout of');

    const manifest = { ...DOUBLE, executor: { kind: 'mcp', config: { upstream: 'x', tool: 'y' } } };
    const lasting = { ...manifest, tool_id: 'lasting', execution_config: { default_timeout_seconds: 601 } };
    await writeFile(join(open.folder, 'lasting.json'), JSON.stringify(lasting));
    const checked = await cli(open, ['tools', 'check', 'lasting.json']);
    expect(checked.out + checked.err).toContain(SAID(601));
    const added = await cli(open, ['tools', 'add', 'lasting.json']);
    expect(added.out + added.err).toContain(SAID(601));
  },
);
