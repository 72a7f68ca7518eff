import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import type { CliParts } from '../../cli-parts.ts';
import { createCommandKit } from '../../command-kit.ts';
import { addSecretsCheck } from './secrets.ts';

async function run(stdin: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  let code = -1;
  const parts = {
    io: {
      stdin: (async function* () {
        yield Buffer.from(stdin);
      })(),
      stdout: {
        write: (text: string) => {
          said.out += text;
        },
      },
      stderr: {
        write: (text: string) => {
          said.err += text;
        },
      },
      env: {},
      cwd: '/',
      signal: new AbortController().signal,
    },
  } as unknown as CliParts;
  const program = new Command();
  const finish = (ended: number): void => {
    code = ended;
  };
  addSecretsCheck(program, createCommandKit(parts, finish));
  await program.parseAsync(['secrets', ...args], { from: 'user' });
  return { code, ...said };
}

describe('check secrets', () => {
  test('a clean text ends with 0', async () => {
    expect(await run('The meeting is at noon.')).toMatchObject({ code: 0, out: 'nothing found\n' });
  });

  test('what was found is told by kind and place, never shown', async () => {
    const { code, out } = await run('write to ann@example.org');
    expect(code).toBe(1);
    expect(out).toContain('email');
    expect(out).toContain('9-24');
    expect(out).not.toContain('ann@');
  });

  test('a document is walked by fields, as JSON for programs', async () => {
    const { code, out } = await run('{"db":{"password":"correct horse"},"pin":"7"}', '--json', '--field', 'pin');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      clean: false,
      findings: [
        { kind: 'password', rule: 'field-name', path: '/db/password', start: 0, end: 13 },
        { kind: 'field', rule: 'field-name', path: '/pin', start: 0, end: 1 },
      ],
      redacted: { db: { password: '[REDACTED:password]' }, pin: '[REDACTED:field]' },
    });
  });

  test('with --redact the input comes back without them', async () => {
    expect((await run('mail ann@example.org now', '--redact')).out).toBe('mail [REDACTED:email] now\n');
  });

  test('only the kinds that were asked for', async () => {
    expect((await run('ann@example.org from 10.1.2.3', '--kind', 'ip', '--redact')).out).toBe(
      'ann@example.org from [REDACTED:ip]\n',
    );
  });

  test('a kind that does not exist is a wrong use', async () => {
    expect(await run('x', '--kind', 'mood')).toMatchObject({ code: 2 });
  });
});
