import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings, settingsFileOf } from './read-settings.ts';
import { SETTINGS, variableOf } from './settings.ts';

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sallyport.toml');
  writeFileSync(file, text);
  return file;
}

describe('settings', () => {
  test('OPS-01.3 come from the program, else the environment, else the file, else the default', () => {
    const file = fileWith('[server]\nport = 1\nhost = "a"\n[calls]\nmax = 7\n');
    const environment = {
      SALLYPORT_SERVER_PORT: '2',
      SALLYPORT_SERVER_HOST: 'b',
      SALLYPORT_TOKENS_ISSUERS: 'x, y',
      SALLYPORT_AUDIT_JSONL: 'false',
    };
    expect(readSettings({ file, environment, given: { 'server.port': 3 } })).toMatchObject({
      'server.port': 3,
      'server.host': 'b',
      'calls.max': 7,
      'calls.per_agent_max': 8,
      'tokens.issuers': ['x', 'y'],
      'audit.jsonl': false,
    });
  });

  test('have variables that follow from their keys, none of which means something else', () => {
    const variables = SETTINGS.map(variableOf);
    expect(variableOf({ key: 'calls.per_agent_max' })).toBe('SALLYPORT_CALLS_PER_AGENT_MAX');
    expect(new Set(variables).size).toBe(SETTINGS.length);
    const others = /^SALLYPORT_(?:CONFIG|TOKEN|URL|SECRET_.*)$/;
    expect(variables.filter((name) => !/^SALLYPORT(?:_[A-Z0-9]+)+$/.test(name) || others.test(name))).toEqual([]);
  });

  test('OPS-01.1 with faults are refused, each with its place and what to change', () => {
    const file = fileWith('data_foldr = "x"\n\n[server]\nport = -1\n[log]\nlevel = "loud"\n');
    const read = () => readSettings({ file, environment: { SALLYPORT_CALLS_MAX: 'many' } });
    expect(read).toThrow(/sallyport\.toml:1: there is no setting data_foldr/);
    expect(read).toThrow(/sallyport\.toml:4: server\.port must be at least 0/);
    expect(read).toThrow(/sallyport\.toml:6: log\.level must be one of debug, info/);
    expect(read).toThrow(/SALLYPORT_CALLS_MAX: calls\.max must be a number/);
  });

  test('of a list of known words are refused with any other word', () => {
    const read = (text: string) =>
      readSettings({ file: fileWith(''), environment: { SALLYPORT_APPROVALS_CLIENT_REASONS: text } });
    expect(read('trust, policy')['approvals.client_reasons']).toEqual(['trust', 'policy']);
    expect(() => read('trust, requires_approval')).toThrow(/must be a list of requires_confirmation, trust, policy/);
  });

  test('in a broken file are refused with line and column', () => {
    expect(() => readSettings({ file: fileWith('a = \n'), environment: {} })).toThrow(
      /sallyport\.toml is not TOML in line 1, column \d+/,
    );
    expect(() => readSettings({ file: '/nowhere/sallyport.toml', environment: {} })).toThrow(/cannot be read/);
  });

  test.each<[key: string, text: string, value: unknown]>([
    ['CALLS_MAX', '7', 7],
    ['CALLS_MAX', ' 7 ', 7],
    ['CALLS_MAX', '', 64],
    ['CALLS_MAX', ' ', undefined],
    ['CALLS_MAX', '1.5', undefined],
    ['CALLS_MAX', '0', undefined],
    ['CALLS_MAX', 'Infinity', undefined],
    ['SERVER_PORT', ' ', undefined],
    ['SERVER_PORT', '65535', 65_535],
    ['SERVER_PORT', '65536', undefined],
    ['CHECKPOINTS_RETENTION_HOUR', '23', 23],
    ['CHECKPOINTS_RETENTION_HOUR', '24', undefined],
    ['SEARCH_THRESHOLD', '0.5', 0.5],
    ['SEARCH_THRESHOLD', 'NaN', undefined],
    ['AUDIT_JSONL', 'true', true],
    ['AUDIT_JSONL', 'false', false],
    ['AUDIT_JSONL', 'yes', undefined],
    ['TOKENS_ISSUERS', ' a,b ', ['a', 'b']],
    ['LOG_LEVEL', 'debug', 'debug'],
    ['LOG_LEVEL', 'DEBUG', undefined],
  ])('OPS-01.3 the variable %s with the text "%s" is %j, or refused', (name, text, value) => {
    const read = () => readSettings({ file: fileWith(''), environment: { [`SALLYPORT_${name}`]: text } });
    const row = SETTINGS.find((each) => variableOf(each) === `SALLYPORT_${name}`);
    if (value === undefined) expect(read).toThrow(new RegExp(`SALLYPORT_${name}: ${row?.key} must be`));
    else expect(read()[row?.key as 'calls.max']).toEqual(text === '' ? row?.default : value);
  });

  test.each<[object, string]>([
    [{ 'calls.max': '7' }, 'calls.max must be a number'],
    [{ 'calls.max': Number.NaN }, 'calls.max must be a number'],
    [{ 'calls.max': 1.5 }, 'calls.max must be a whole number'],
    [{ 'audit.jsonl': 'true' }, 'audit.jsonl must be true or false'],
    [{ data_folder: 7 }, 'data_folder must be a text'],
    [{ data_folder: 'a\0b' }, 'data_folder must not hold the character U+0000'],
    [{ 'documents.folders': ['/a', '/b\0'] }, 'documents.folders must not hold the character U+0000'],
    [{ 'tokens.issuers': 'a' }, 'tokens.issuers must be a list of texts'],
    [{ 'tokens.issuers': ['a', 1] }, 'tokens.issuers must be a list of texts'],
    [{ 'call.max': 7 }, 'there is no setting call.max; did you mean calls.max'],
    [{ 'server.prort': 7 }, 'there is no setting server.prort; did you mean server.port'],
    [{ 'doors.public_url': 'x' }, 'there is no setting doors.public_url; did you mean server.public_url'],
    [{ 'server.port': 65_536 }, 'server.port must be at most 65535.'],
    // Longer than a timer counts, which would fire at once; and further than any date.
    [{ 'shutdown.grace_seconds': 2_147_484 }, 'shutdown.grace_seconds must be at most 2147483.'],
    [{ 'sandbox.warm_age_minutes': 35_792 }, 'sandbox.warm_age_minutes must be at most 35791.'],
    [{ 'checkpoints.macro_days': 36_526 }, 'checkpoints.macro_days must be at most 36525.'],
    [{ 'quota.idle_seconds': 3_155_760_001 }, 'quota.idle_seconds must be at most 3155760000.'],
    [{ 'server.port': -1 }, 'server.port must be at least 0.'],
    [{ 'servr.prt': 7 }, 'there is no setting servr.prt; did you mean server.port'],
    [{ nothing: 7 }, 'there is no setting nothing.'],
    [{ port: 7 }, 'there is no setting port; did you mean server.port'],
  ])('OPS-01.1 of the program are checked too: %j', (given, message) => {
    const read = () => readSettings({ file: fileWith(''), environment: {}, given });
    expect(read).toThrow(
      expect.objectContaining({ code: 'E3801', message: expect.stringContaining(`the program: ${message}`) }),
    );
  });

  test('OPS-01.1 all faults are named at once, also in the details; what is left open takes the value before', () => {
    const file = fileWith('[calls]\nmax = 5\n[calls.other]\ndeep = 1\n');
    expect(
      readSettings({
        file: fileWith('[calls]\nmax = 5\n'),
        environment: {},
        given: { 'calls.max': undefined } as never,
      })['calls.max'],
    ).toBe(5);
    const thrown = expect.objectContaining({
      failure: expect.objectContaining({
        details: {
          faults: [`${file}:4: there is no setting calls.other.deep`, 'the program: there is no setting nothing'],
        },
      }),
    });
    expect(() => readSettings({ file, environment: {}, given: { nothing: 1 } as never })).toThrow(thrown);
  });

  test('OPS-01.3 the file is the one that is named, by the program, else by the environment, else that of the folder', () => {
    const [one, two] = [fileWith('[calls]\nmax = 1\n'), fileWith('[calls]\nmax = 2\n')];
    const environment = { SALLYPORT_CONFIG: two };
    expect(readSettings({ file: one, environment })['calls.max']).toBe(1);
    expect(readSettings({ environment })['calls.max']).toBe(2);
    expect(settingsFileOf({ file: one, environment })).toBe(one);
    expect(settingsFileOf({ environment })).toBe(two);
    expect(settingsFileOf({ environment: {} })).toBe('sallyport.toml');
    expect(() => readSettings({ environment: { SALLYPORT_CONFIG: '/nowhere.toml' } })).toThrow(
      /\/nowhere\.toml cannot be read/,
    );
  });

  test('OPS-01.1 a value that no setting takes is named too, with its line where it has one of its own', () => {
    const faults = (text: string): string => {
      const file = fileWith(text);
      try {
        readSettings({ file, environment: {} });
      } catch (thrown) {
        return String((thrown as Error).message).replaceAll(file, 'FILE');
      }
      return 'none';
    };
    expect(faults('[tokens]\nissuers = ["a", "b"]\n')).toBe('none');
    expect(faults('[tokens]\nissuers = [{ a = 1 }]\n')).toContain('FILE:2: tokens.issuers must be a list of texts');
    expect(faults('[server]\nhost = 2026-01-01\n')).toContain('FILE:2: server.host must be a text');
    expect(faults('server = { prot = 1 }\n')).toContain(
      'FILE: there is no setting server.prot; did you mean server.port',
    );
  });

  test('OPS-01.1 whichever setting was meant is suggested, also one of the last', () => {
    const key = SETTINGS.at(-1)?.key ?? '';
    const read = () => readSettings({ file: fileWith(''), environment: {}, given: { [`${key}x`]: 1 } });
    expect(read).toThrow(`there is no setting ${key}x; did you mean ${key}`);
  });
});
