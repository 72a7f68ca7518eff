import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Progress } from '../../domain/principal/principal.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { fixture, REPOSITORY, TENANT } from '../../mcp-servers/test-servers/upstreams.fixture.ts';
import { importMcpTools } from '../../registry/importers/mcp/mcp-importer.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { createMcpExecutor } from './mcp-executor.ts';

const { upstreams } = fixture(createBubblewrapDriver());
const executor = createMcpExecutor(upstreams);
const manifests = new Map<string, ToolManifest>();
const never = new AbortController().signal;

beforeAll(async () => {
  const { tools, serverVersion } = await upstreams.add(TENANT, {
    name: 'everything',
    transport: {
      type: 'stdio',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-everything', 'stdio'],
      cwd: REPOSITORY,
    },
  });
  const imported = importMcpTools(tools, { name: 'everything', version: serverVersion });
  for (const manifest of imported.manifests) manifests.set(manifest.tool_id, manifest);
});
afterAll(() => upstreams.close());

function call(tool: string, parameters: Record<string, unknown>, more: Partial<ExecutorCall> = {}): ExecutorCall {
  const manifest = manifests.get(`everything__${tool}`) as ToolManifest;
  const version: ToolVersion = { tenantId: TENANT, manifest, contentHash: '', state: 'active', registeredAt: '' };
  const limits = { timeoutMs: 20_000, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1 };
  return {
    invocationId: 'i',
    principal: { tenantId: TENANT, agentDid: 'did:example:a', roles: [] },
    tool: version,
    parameters,
    grant: { filesystem: [], network: [], credentials: [], limits },
    secrets: new Map(),
    attempt: 1,
    ...more,
  };
}

test('EXE-01 the tools of a real server are owned, called, and their result comes as it is', async () => {
  const echo = call('echo', { message: 'hello' });
  expect(executor.owns(echo.tool)).toBe(true);
  expect(executor.requiresConfirmation(echo)).toBeUndefined();
  expect(executor.isRetryable(echo.tool)).toBe(false);
  const outcome = await executor.execute(echo, never);
  expect(outcome.result).toEqual({ content: [{ type: 'text', text: 'Echo: hello' }] });
  expect(outcome.toolError).toBeUndefined();
  expect((await executor.executeConfirmed(echo, never)).result).toEqual(outcome.result);
  const structured = await executor.execute(call('get-structured-content', { location: 'Chicago' }), never);
  expect(structured.result).toMatchObject({ structuredContent: { conditions: expect.any(String) } });
});

test('EXE-12 an error result is the tool’s own error and keeps what it says', async () => {
  const { result, toolError } = await executor.execute(call('get-sum', { a: 'one', b: 2 }), never);
  expect(toolError).toBe(true);
  expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('number') }] });
});

test('EXE-12 EXE-07.5 EXE-07.6 progress and cancellation pass through', async () => {
  const seen: Progress[] = [];
  const slow = { duration: 0.2, steps: 2 };
  await executor.execute(
    call('trigger-long-running-operation', slow, { onProgress: (progress) => seen.push(progress) }),
    never,
  );
  expect(seen).toMatchObject([
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ]);
  const controller = new AbortController();
  const running = executor.execute(
    call('trigger-long-running-operation', { duration: 60, steps: 2 }),
    controller.signal,
  );
  controller.abort(new ToolLayerError('E3805', 'The caller went away.'));
  await expect(running).rejects.toThrow('The caller went away.');
});

test('faults of the configuration are found with their places', () => {
  const manifest = (config?: Record<string, unknown>): ToolManifest => ({
    ...(manifests.get('everything__echo') as ToolManifest),
    executor: { kind: 'mcp', ...(config === undefined ? {} : { config }) },
  });
  const places = (config?: Record<string, unknown>) => executor.configFaults(manifest(config)).map(({ path }) => path);
  for (const known of manifests.values()) expect(executor.configFaults(known)).toEqual([]);
  expect(places({ upstream: 'a', tool: 'b' })).toEqual([]);
  expect(places()).toEqual(['/executor/config/upstream', '/executor/config/tool']);
  expect(places({ upstream: 'a__b', tool: '', url: 'x' })).toEqual([
    '/executor/config/upstream',
    '/executor/config/tool',
    '/executor/config/url',
  ]);
});
