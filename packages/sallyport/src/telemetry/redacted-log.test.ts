import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redact } from '@sallyport/guards';
import { describe, expect, test } from 'vitest';
import type { Log } from './log.ts';
import { createPinoLog } from './pino-log.ts';
import { redactedLog } from './redacted-log.ts';

const redactFields = (fields: Record<string, unknown>) => redact(fields).value as Record<string, unknown>;
const MAIL = 'ann.lee@example.org';

const linesOf = (write: (log: Log) => void) =>
  textsOf(write).map((line) => JSON.parse(line) as Record<string, unknown>);

function textsOf(write: (log: Log) => void): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  const file = openSync(join(folder, 'log'), 'a');
  try {
    write(createPinoLog('info', redactFields, file));
    const text = readFileSync(join(folder, 'log'), 'utf8').trim();
    return text === '' ? [] : text.split('\n');
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

describe('log lines', () => {
  test('AUD-04 lose personal data and secrets, also those in errors and their causes', () => {
    const [line, other] = linesOf((log) => {
      const cause = new Error(`no mailbox ${MAIL}`);
      log.error('call-failed', {
        cause: new Error('password = "h0rse!battery"', { cause }),
        user: MAIL,
        password: 'x',
      });
      log.info('quiet');
    });
    expect(line).toMatchObject({
      msg: 'call-failed',
      user: '[REDACTED:email]',
      password: '[REDACTED:password]',
      cause: {
        name: 'Error',
        message: 'password = "[REDACTED:password]"',
        cause: { message: 'no mailbox [REDACTED:email]' },
      },
    });
    expect(JSON.stringify(line)).not.toContain(MAIL);
    expect(JSON.stringify(line)).not.toContain('h0rse');
    expect(other).toMatchObject({ msg: 'quiet' });
  });

  test('AUD-04 hold nothing that a terminal obeys or hides, and say the same', () => {
    const said = 'a\u001b[2J\u009b2J\u202eb\u200b\u{e0041} \u05d0 \u{1f469}\u200d\u{1f4bb}';
    const [text] = textsOf((log) => log.warn('seen', { said }));
    expect(text).not.toMatch(/[\p{Cc}\u200b\u202e\u{e0041}]/u);
    expect(JSON.parse(text ?? '')).toMatchObject({ said });
  });

  test('a line that is not kept is not looked at', () => {
    let looks = 0;
    const log = createPinoLog('error', (fields) => {
      looks += 1;
      return fields;
    });
    log.debug('call-failed', { user: MAIL });
    expect(looks).toBe(0);
  });

  test('a log of the program around is redacted alike, and of a line that cannot be read nothing is left', () => {
    const told: unknown[] = [];
    const take = (event: string, fields?: Record<string, unknown>): void => void told.push([event, fields]);
    const log: Log = { debug: take, info: take, warn: take, error: take };
    redactedLog(log, redactFields).warn('seen', { user: MAIL });
    redactedLog(log, () => {
      throw new Error('unreadable');
    }).warn('seen', { user: MAIL });
    expect(told).toEqual([
      ['seen', { user: '[REDACTED:email]' }],
      ['seen', { redaction: 'failed' }],
    ]);
  });
});
