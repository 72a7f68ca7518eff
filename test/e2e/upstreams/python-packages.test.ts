import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { openLayer } from '../layer.fixture.ts';
import { openPythonIndex } from './python-index.fixture.ts';

const SYSTEM_PATH = '/usr/bin:/bin';
const hasPip = spawnSync('python3', ['-m', 'pip', '--version'], { env: { PATH: SYSTEM_PATH } }).status === 0;

test.skipIf(!hasPip)(
  'REG-14 a Python package is installed as a wheel with its hash and runs from the data folder',
  async () => {
    await using index = await openPythonIndex();
    const environment = { PATH: SYSTEM_PATH, HOME: '/nonexistent', PIP_INDEX_URL: index.url };
    await using open = await openLayer({}, environment);
    const transport = { type: 'stdio' as const, command: 'uvx', args: ['snake-server@1.2.0', 'with', 'words'] };
    const input = { upstream: { name: 'snake', transport } };
    await expect(open.layer.ask('upstreams.add', input, LOCAL_CALLER)).rejects.toThrow(/not installed.*--yes/s);
    expect(index.asked).toEqual([]);
    const { upstream } = await open.layer.ask('upstreams.add', { ...input, install: true }, LOCAL_CALLER);
    expect(upstream).toMatchObject({ state: 'ready', tool_count: 1 });
    const { definition } = await open.layer.ask('upstreams.get', { name: 'snake' }, LOCAL_CALLER);
    expect(definition.transport).toMatchObject({ installed: { manager: 'pip', version: '1.2.0' } });
    const said = await open.layer.invoke({ tool_id: 'snake__say', parameters: {}, capability_token: open.token });
    expect(JSON.stringify(said)).toContain('from a wheel with words');
    const { mcpServers } = await open.layer.ask('upstreams.export', {}, LOCAL_CALLER);
    expect(mcpServers['snake']?.args).toEqual(['snake-server@1.2.0', 'with', 'words']);
  },
);
