import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from './read-settings.ts';
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
});
