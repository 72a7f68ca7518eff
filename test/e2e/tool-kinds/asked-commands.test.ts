import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../src/index.ts';
import type { ToolManifest } from '../../../src/manifest.ts';
import { createBubblewrapDriver } from '../../../src/sandbox/drivers/bubblewrap/bubblewrap-driver.ts';
import { ALICE, type Desk, openDesk } from '../calls/desk.fixture.ts';

const { works, problem } = await createBubblewrapDriver().probe();

describe.skipIf(!works)(`commands that are asked about${works ? '' : `, skipped: ${problem}`}`, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'asked-commands-')));
  let desk: Desk;
  let alice: string;
  beforeAll(async () => {
    desk = await openDesk({ settings: { 'shell.asked': ['deletes-by-force'], 'trust.autonomous': 'allow' } });
    alice = await desk.token(ALICE);
    for (const manifest of [
      shellTool('remove', ['rm', '-rf', '--', '{path}'], ['path']),
      shellTool('remove_confirmed', ['rm', '-rf', '--', '{path}'], ['path'], { requires_confirmation: true }),
      shellTool('touch', ['touch', '--', '{path}'], ['path']),
    ])
      await desk.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  });
  afterAll(async () => {
    await desk[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** A tool that may write in the folder of this test. */
  function shellTool(
    tool_id: string,
    command: readonly string[],
    parameters: readonly string[] = [],
    more: Partial<ToolManifest> = {},
  ): ToolManifest {
    return {
      tool_id,
      tool_name: tool_id,
      version: '1.0.0',
      description: 'Runs one command.',
      side_effect_policy: 'irreversible',
      parameters_schema: {
        type: 'object',
        properties: Object.fromEntries(parameters.map((name) => [name, { type: 'string', description: 'A value.' }])),
        required: [...parameters],
        additionalProperties: false,
      },
      permissions: { filesystem: [{ path: folder, mode: 'rw' }] },
      executor: { kind: 'shell', config: { command: [...command], output: 'text' } },
      ...more,
    };
  }

  let files = 0;
  function newFile(): string {
    files += 1;
    const path = join(folder, `file-${files}`);
    writeFileSync(path, 'kept\n');
    return path;
  }

  const call = async (tool_id: string, parameters: object, more: object = {}) => {
    const { body } = await desk.rest('POST', '/v1/invocations', await desk.token({ paths: [folder], mode: 'rw' }), {
      tool_id,
      parameters,
      ...more,
    });
    if (process.env['SHOW']) console.log(JSON.stringify(body));
    return body;
  };
  const approvalOf = (body: Readonly<Record<string, unknown>>): string =>
    (body['approval'] as { approval_id: string }).approval_id;

  test('EXE-02 a command that the screen asks about waits for a person, runs after a yes and never after a no', async () => {
    const [first, second] = [newFile(), newFile()];
    const asked = await call('remove', { path: first });
    expect(asked).toMatchObject({
      status: 'pending_approval',
      approval: { reason: 'executor', prompt: expect.stringContaining('deletes-by-force') },
    });
    expect(existsSync(first)).toBe(true);
    await desk.rest('POST', `/v1/approvals/${approvalOf(asked)}/approval`, alice, {});
    await desk.reaches(String(asked['invocation_id']), 'COMPLETED');
    expect(existsSync(first)).toBe(false);

    const declined = await call('remove', { path: second });
    await desk.rest('POST', `/v1/approvals/${approvalOf(declined)}/denial`, alice, {});
    await desk.reaches(String(declined['invocation_id']), 'DENIED');
    expect(existsSync(second)).toBe(true);
  });
});
