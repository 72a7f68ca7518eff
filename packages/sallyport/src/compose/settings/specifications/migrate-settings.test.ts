import { describe, expect, it, test } from 'vitest';
import { SETTINGS } from '../../settings.ts';
import { migrateSettings } from './migrate-settings.ts';
import { isTaken } from './source-key.ts';
import { SOURCE_KEYS } from './source-keys.ts';
import { SPECIFICATION_FILES } from './specification-files.fixture.ts';

const PLANTED = 'planted-value';

describe('the table of configuration keys', () => {
  it('OPS-06.1 has each key once, with settings that exist, or with the reason why there is none', () => {
    const keys = SOURCE_KEYS.map(({ key }) => key);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    const known = new Set<string>(SETTINGS.map(({ key }) => key));
    for (const { key, became } of SOURCE_KEYS) {
      if (isTaken(became)) expect([key, became.settings.filter((setting) => !known.has(setting))]).toEqual([key, []]);
      else expect([key, became.left]).toEqual([key, expect.stringMatching(/\w+ \w+/)]);
    }
  });

  it('OPS-06.1 takes the default that a source states, wherever a key became settings', () => {
    for (const { key, default: otherwise, became } of SOURCE_KEYS) {
      if (!isTaken(became) || otherwise === undefined) continue;
      expect([key, migrated(nested(key, otherwise)).settings]).toEqual([key, expect.any(Object)]);
    }
  });
});

describe('a configuration in the words of a specification', () => {
  it.each(SPECIFICATION_FILES)(
    'OPS-06.2 $name becomes settings in the units of the layer',
    ({ name, text, settings }) => {
      const found = migrateSettings(text, name);
      expect(found.settings).toEqual(settings);
      expect(found.notes.filter(({ why }) => why.includes('no key'))).toEqual([]);
    },
  );

  it('OPS-06.2 names each key that was not taken, with the reason, also in the settings file', () => {
    const { notes, text } = migrated({ registry: { embedding_dimensions: 768 }, tools: { tafc: { enabled: true } } });
    expect(notes).toEqual([
      { key: 'registry.embedding_dimensions', why: 'vectors are as long as the model makes them' },
      { key: 'tools.tafc.enabled', why: 'the layer does not do this yet' },
    ]);
    expect(text).toContain('# registry.embedding_dimensions: vectors are as long as the model makes them\n');
  });

  it.each([
    [{ registry: { embeding_model: 'x' } }, 'registry.embeding_model', 'did you mean registry.embedding_model'],
    [{ toolbx: { default_timeout: 1 } }, 'toolbx', 'did you mean toolbox'],
    [
      { circuit_breaker: { failure_rate_threshold: 5 } },
      'circuit_breaker.failure_rate_threshold',
      'did you mean circuit_breaker.default_config.failure_rate_threshold',
    ],
    [{ llm: { providers: [] } }, 'llm', /specifications$/],
  ])('OPS-06.2 names an unknown key, with the one that may be meant: %j', (file, key, why) => {
    expect(migrated(file).notes).toEqual([{ key, why: expect.stringMatching(why) }]);
    expect(migrated(file).settings).toEqual({});
  });

  it.each([
    [{ executor: { default_resource_limits: { memory_mb_limit: PLANTED } } }, 'memory_mb_limit must be a number'],
    [{ executor: { default_resource_limits: { memory_mb_limit: 1.5 } } }, 'must be a whole number'],
    [{ executor: { isolation_technology: PLANTED } }, 'must be one of gvisor, firecracker'],
    [{ executor: { isolation_technology: ['gvisor'] } }, 'must be one of gvisor, firecracker'],
    [
      { external_adapter: { retry: { retryable_status_codes: [200] } } },
      'retry.retryable_status_codes: "200" is no status',
    ],
    [{ executor: PLANTED }, 'executor must be a table of keys'],
    [{ resourceLimits: { maxMemory: PLANTED } }, 'resourceLimits.maxMemory must be a number'],
    [{ resourceLimits: { maxMemory: 0 } }, 'must be more than 0'],
    [{ resourceLimits: { maxExecutionTime: 0 } }, 'at least 0.001 .calls.timeout_seconds, in seconds'],
    [{ tools: { max_tool_calls_per_session: 0 } }, 'must be 1 or more'],
    [{ tools: { shell: { auto_rollback: PLANTED } } }, 'must be true or false'],
    [{ tools: { shell: { auto_rollback_exit_codes: [PLANTED] } } }, 'must be a list of whole numbers'],
    [{ tools: { shell: { auto_rollback_exit_codes: [999] } } }, 'numbers from 0 to 255'],
    [{ tools: { file: { deny_read: PLANTED } } }, 'must be a list of texts'],
    [
      { permission_checker: { jwt_algorithm: 'none' } },
      'permission_checker.jwt_algorithm.*tokens.algorithms must name',
    ],
    [{ circuit_breaker: { default_config: { failure_rate_threshold: 101 } } }, 'failure_rate_threshold'],
    [{ result_validator: { sanitization: { patterns: [{ threat_type: 'xss' }] } } }, 'threat_type, regex_pattern'],
    [
      {
        result_validator: {
          sanitization: { patterns: [{ threat_type: 'xss', regex_pattern: '(?=a)', action: 'reject' }] },
        },
      },
      'sanitization.patterns',
    ],
  ])(
    'OPS-06.2 refuses a value that cannot be taken, with what to change and without the value: %j',
    (file, message) => {
      const read = () => migrated(file);
      expect(read).toThrow(expect.objectContaining({ code: 'E3801', message: expect.stringMatching(message) }));
      expect(read).toThrow(expect.objectContaining({ message: expect.not.stringContaining(PLANTED) }));
    },
  );

  it('OPS-06.2 what is switched off stays off, whatever else the file says of it', () => {
    const cache = { permission_checker: { permission_cache: { enabled: false, ttl_seconds: 300 } } };
    expect(migrated(cache).settings).toEqual({ 'permission.cache_ttl_seconds': 0 });
    const shell = { tools: { shell: { auto_rollback: false, transactional: true } } };
    expect(migrated(shell).settings).toEqual({ 'shell.transactional': false });
  });

  it('OPS-06.2 names the key whose setting another key of the file has set differently', () => {
    const file = { toolbox: { default_timeout: 20 }, config: { timeout: 10_000 } };
    expect(migrated(file).settings).toEqual({ 'calls.timeout_seconds': 10 });
    expect(migrated(file).notes).toEqual([
      { key: 'toolbox.default_timeout', why: expect.stringMatching(/config\.timeout.*name one of them/) },
    ]);
    expect(migrated({ ...file, config: { timeout: 20_000 } }).notes).toEqual([]);
  });

  it('OPS-06.2 says what the operator has to add', () => {
    const gate = { tools: { adversarial_policy: { enabled: true, policies: ['Nothing is deleted.'] } } };
    expect(migrated(gate).notes).toEqual([
      { key: 'gate.enabled', why: expect.stringMatching(/does not start.*model\.url and model\.name too/) },
    ]);
    expect(migrated({ tools: { adversarial_policy: { enabled: true, policies: [] } } }).notes).toEqual([
      { key: 'gate.enabled', why: expect.stringContaining('model.url and model.name and gate.policies too') },
    ]);
    const key = { permission_checker: { jwt_public_key_path: 'key.pem' } };
    expect(migrated(key).notes).toEqual([{ key: 'tokens.public_key_file', why: expect.stringContaining('issuers') }]);
  });

  it('OPS-06.2 no note holds a value, and a secret is in the settings alone', () => {
    const file = {
      registry: { postgresql_connection_string: `postgres://user:${PLANTED}@host/name` },
      external_adapter: { vault: { address: PLANTED } },
      credentials: { key: PLANTED },
      unheard: PLANTED,
    };
    const { settings, notes, text } = migrated(file);
    expect(settings).toEqual({ 'database.url': `postgres://user:${PLANTED}@host/name` });
    expect(JSON.stringify(notes)).not.toContain(PLANTED);
    expect(text.split('\n').filter((line) => line.includes(PLANTED))).toEqual([
      `url = "postgres://user:${PLANTED}@host/name"`,
    ]);
  });

  it('OPS-06.2 keys cannot write into the settings file', () => {
    const key = 'a\n[tokens]\nmode = "development"';
    expect(
      migrated({ [key]: 1 })
        .text.split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    ).toEqual([]);
  });
});

test.each([
  ['a.json', '{"toolbox": ', 'a.json'],
  ['a.toml', `a = 1\nsecret = ${PLANTED}`, 'a.toml:2:10 '],
  ['a.yaml', `a: 1\nb: [${PLANTED}`, /a\.yaml:2:\d+ /],
  ['standard input', PLANTED, 'standard input'],
  ['list.json', '[1]', 'list.json holds no tables of keys'],
  ['yaml.toml', 'toolbox:\n  default_timeout: 7\n', 'yaml.toml:1:'],
  ['a.yml', 'a: {b: 1', 'a.yml:1:'],
  ['a.JSON', 'toolbox:\n  default_timeout: 7\n', 'a.JSON holds'],
  ['deep.json', `{"b": 1, "a": ${'['.repeat(40)}1${']'.repeat(40)}}`, 'deeper than 32 levels'],
  ['deep.json', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 'deeper than 32 levels'],
])('OPS-06 a text that holds no configuration is refused without its content: %s', (name, text, message) => {
  const read = () => migrateSettings(text, name);
  expect(read).toThrow(expect.objectContaining({ code: 'E3801', message: expect.stringMatching(message) }));
  expect(read).toThrow(expect.objectContaining({ message: expect.not.stringContaining(PLANTED) }));
});

test('OPS-06 without a known ending, TOML and YAML are told apart', () => {
  expect(migrateSettings('[toolbox]\ndefault_timeout = 7\n', 'config').settings).toEqual({
    'calls.timeout_seconds': 7,
  });
  expect(migrateSettings('toolbox:\n  default_timeout: 7\n', 'config').settings).toEqual({
    'calls.timeout_seconds': 7,
  });
});

const migrated = (file: object) => migrateSettings(JSON.stringify(file), 'file.json');

/** A value under a key with dots. */
function nested(key: string, value: unknown): object {
  return key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}
