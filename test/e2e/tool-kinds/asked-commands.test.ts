import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkCommand } from '@sallyport/guards';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { ALICE, type Desk, openDesk } from '../calls/desk.fixture.ts';
import { HIDDEN_COMMANDS } from './hidden-commands.fixture.ts';

const { works, problem } = await createBubblewrapDriver().probe();

type Answer = Readonly<Record<string, unknown>>;

describe.skipIf(!works)(`commands that are asked about${works ? '' : `, skipped: ${problem}`}`, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'asked-commands-')));
  let desk: Desk;
  let alice: string;
  let agent: string;
  beforeAll(async () => {
    const settings = {
      'shell.asked': ['deletes-by-force'],
      'trust.autonomous': 'allow' as const,
      // The operator allows that the user at the agent's client is asked about commands; by default the user is not
      // asked.
      'approvals.client_reasons': ['executor'] as const,
    };
    desk = await openDesk({ settings });
    alice = await desk.token(ALICE);
    agent = await desk.token({ paths: [folder], mode: 'rw' });
    await register('remove', ['rm', '-rf', '--', '{path}'], ['path']);
    await register('stop', ['sh', '-c', 'reboot'], [], { requires_confirmation: true });
    await register('touch', ['touch', '--', '{path}'], ['path']);
    await register('remove_as', ['rm', '{how}', '--', '{path}'], ['how', 'path'], { requires_confirmation: true });
  });
  afterAll(async () => {
    await desk[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** Registers a tool that runs `command` and may write in the folder of this test. */
  function register(
    tool_id: string,
    command: readonly string[],
    parameters: readonly string[] = [],
    more: Partial<ToolManifest> = {},
  ): Promise<unknown> {
    const config = { command: [...command], output: 'text', allow_leading_dash: true };
    const manifest: ToolManifest = {
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
      executor: { kind: 'shell', config },
      ...more,
    };
    return desk.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  }

  let files = 0;
  function newFile(): string {
    files += 1;
    const path = join(folder, `file-${files}`);
    writeFileSync(path, 'kept\n');
    return path;
  }

  const invoke = async (tool_id: string, parameters: object, execution_options: object = {}): Promise<Answer> =>
    (await desk.rest('POST', '/v1/invocations', agent, { tool_id, parameters, execution_options })).body;
  const approvalOf = (body: Answer): string => (body['approval'] as { approval_id: string }).approval_id;
  const approve = (body: Answer, more: object = {}) =>
    desk.rest('POST', `/v1/approvals/${approvalOf(body)}/approval`, alice, more);
  const deny = (body: Answer) => desk.rest('POST', `/v1/approvals/${approvalOf(body)}/denial`, alice, {});
  const ended = (body: Answer, state: string) => desk.reaches(String(body['invocation_id']), state);
  const BY_FORCE = { reason: 'executor', question: expect.stringContaining('(deletes-by-force)') };

  test('EXE-01.2 EXE-02 VIS-06 a command that the screen asks about waits, runs on the confirmed path after an approval and never after a denial', async () => {
    const [first, second] = [newFile(), newFile()];
    const asked = await invoke('remove', { path: first });
    expect(asked).toMatchObject({ status: 'pending_approval', approval: BY_FORCE });
    expect(existsSync(first)).toBe(true);
    expect(await approve(asked)).toMatchObject({ body: { state: 'approved' } });
    await ended(asked, 'COMPLETED');
    expect(existsSync(first)).toBe(false);

    const declined = await invoke('remove', { path: second });
    await deny(declined);
    await ended(declined, 'DENIED');
    expect((await approve(declined)).body).toMatchObject({ e_code: 'E3817' });
    expect(existsSync(second)).toBe(true);
  });

  test('VIS-06 who decides sees the rule: at the command line, over REST, and at an MCP client before the box', async () => {
    const path = newFile();
    const asked = await invoke('remove', { path });
    const shown = await desk.rest('GET', `/v1/approvals/${approvalOf(asked)}`, alice);
    expect(shown.body).toMatchObject({ approval: BY_FORCE });
    expect((await desk.cli(['approvals', 'show', approvalOf(asked)])).out).toContain('(deletes-by-force)');
    await deny(asked);

    const messages: string[] = [];
    const withUser = await desk.token({ paths: [folder], mode: 'rw', user_did: 'did:user:u' });
    const client = await desk.mcp(withUser, ({ message }) => {
      messages.push(message);
      return { action: 'decline' };
    });
    await client.callTool({ name: 'remove', arguments: { path } });
    expect(messages).toEqual([expect.stringContaining('(deletes-by-force)')]);
    expect(existsSync(path)).toBe(true);
  });

  test('EXE-02.1 what is blocked is refused before anybody is asked, however the tool is confirmed', async () => {
    expect(await invoke('stop', {}, { require_approval: true })).toMatchObject({
      status: 'permission_denied',
      error: { e_code: 'E3210', details: { rules: ['stops-system'] } },
    });
  });

  test('PRM-06 nothing asks about the program that a tool names itself', async () => {
    const path = join(folder, 'touched');
    expect(await invoke('touch', { path })).toMatchObject({ status: 'success' });
    expect(existsSync(path)).toBe(true);
  });

  test('PRM-06 PRM-09 an autonomous call is refused, where confirmations are passed by too', async () => {
    const path = newFile();
    expect(await invoke('remove', { path }, { phase: 'autonomous' })).toMatchObject({
      error: { e_code: 'E3210', details: { reason: 'executor', question: BY_FORCE.question } },
    });
    expect(await invoke('remove_as', { how: '-rf', path }, { phase: 'autonomous' })).toMatchObject({
      error: { e_code: 'E3210', details: { reason: 'executor' } },
    });
    expect(existsSync(path)).toBe(true);
    expect(await invoke('remove_as', { how: '-v', path }, { phase: 'autonomous' })).toMatchObject({
      status: 'success',
    });
  });

  test('VIS-01 an activation takes the confirmation of a manifest away, not the question of the screen', async () => {
    const path = newFile();
    const { capability_token } = await desk.layer.mintToken({
      agent_did: 'did:agent:free',
      paths: [folder],
      mode: 'rw',
    });
    await desk.layer.ask(
      'activations.set',
      { tool_id: 'remove_as', agent_did: 'did:agent:free', policy_overrides: { requires_confirmation: false } },
      LOCAL_CALLER,
    );
    const as = (how: string) =>
      desk.rest('POST', '/v1/invocations', capability_token, { tool_id: 'remove_as', parameters: { how, path } });
    const asked = (await as('-rf')).body;
    expect(asked).toMatchObject({ status: 'pending_approval', approval: BY_FORCE });
    await deny(asked);
    expect((await as('-v')).body).toMatchObject({ status: 'success' });
  });

  test('PIPE-15.2 a dry run says that a person would be asked, and what', async () => {
    const path = newFile();
    const { body } = await desk.rest('POST', '/v1/dry-runs', agent, {
      tool_id: 'remove',
      parameters: { path },
    });
    expect(body).toMatchObject({
      would: 'ask',
      error: { e_code: 'E3806', details: { reason: 'executor', question: BY_FORCE.question } },
    });
    expect(existsSync(path)).toBe(true);
  });

  test('ORC-05 an edit that makes the screen ask is asked about again, with its question', async () => {
    const path = newFile();
    const asked = await invoke('remove_as', { how: '-v', path });
    expect(asked).toMatchObject({ status: 'pending_approval', approval: { reason: 'requires_confirmation' } });
    await approve(asked, { parameters: { how: '-rf', path } });
    const again = await waitsAgain(asked);
    expect(again).toMatchObject({ approval: BY_FORCE });
    expect(existsSync(path)).toBe(true);
    await approve(again);
    await ended(asked, 'COMPLETED');
    expect(existsSync(path)).toBe(false);
  });

  /** The same call, once it waits for a new approval, after the first one was decided. */
  async function waitsAgain(asked: Answer): Promise<Answer> {
    for (;;) {
      const seen = await desk.status(String(asked['invocation_id']));
      const approval = seen['approval'] as { approval_id: string } | undefined;
      if (approval !== undefined && approval.approval_id !== approvalOf(asked)) return { ...asked, approval };
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  test('ORC-05 a standing rule to a tool does not answer the screen, one to exact arguments for this question does', async () => {
    const remember = (scope: string) => ({ remember: { scope, for_seconds: 600 } });
    const plain = await invoke('remove_as', { how: '-v', path: newFile() });
    expect(await approve(plain, remember('tool'))).toMatchObject({ body: { state: 'approved' } });
    await ended(plain, 'COMPLETED');
    expect(await invoke('remove_as', { how: '-v', path: newFile() })).toMatchObject({ status: 'success' });

    const path = newFile();
    const asked = await invoke('remove_as', { how: '-rf', path });
    expect(asked).toMatchObject({ status: 'pending_approval', approval: BY_FORCE });
    expect((await approve(asked, remember('tool'))).body).toMatchObject({ e_code: 'E3801' });
    expect(await approve(asked, remember('exact_arguments'))).toMatchObject({ body: { state: 'approved' } });
    await ended(asked, 'COMPLETED');
    expect(await invoke('remove_as', { how: '-rf', path })).toMatchObject({ status: 'success' });
    const other = await invoke('remove_as', { how: '-rf', path: newFile() });
    expect(other).toMatchObject({ status: 'pending_approval' });
    await deny(other);
  });

  test('EXE-02.2 each hidden command waits where the screen asks about it, and is refused where it blocks it', async () => {
    const verdicts = new Set<string>();
    for (const [at, script] of HIDDEN_COMMANDS.entries()) {
      const { verdict } = checkCommand(script);
      verdicts.add(verdict);
      await register(`hidden_${at}`, ['bash', '-c', script]);
      const answer = await invoke(`hidden_${at}`, {});
      const said = verdict === 'ask' ? { status: 'pending_approval' } : { error: { e_code: 'E3210' } };
      expect(answer, `${verdict}: ${script}`).toMatchObject(said);
      if (verdict === 'ask') await deny(answer);
    }
    expect([...verdicts].sort()).toEqual(['ask', 'blocked']);
  });
});
