import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { CALL_VARIABLE_BOUNDS, callVariableFaults, environmentRefusal, forbiddenVariable } from './call-environment.ts';
import { callOf } from './conformance/executor-call.fixture.ts';

const { variablesMax, nameCharsMax, valueCharsMax } = CALL_VARIABLE_BOUNDS;
const ANY = { takesVariables: 'any' } as const;
const NAMED = { takesVariables: 'named' } as const;

function manifestOf(names?: readonly string[], credentials: readonly string[] = []): ToolManifest {
  const execution_config = names === undefined ? {} : { call_variables: [...names] };
  return callOf({ executor: { kind: 'skill' }, execution_config, permissions: { credentials: [...credentials] } }).tool
    .manifest;
}
const refusal = (taker: Parameters<typeof environmentRefusal>[0], environment: object, manifest = manifestOf()) =>
  environmentRefusal(taker, manifest, environment as Record<string, string>)?.message;

test('EXE-10 variables that decide nothing of the code are taken, up to the bounds', () => {
  const most = Object.fromEntries(Array.from({ length: variablesMax }, (_, index) => [`V${index}`, '']));
  const longest = { ['x'.repeat(nameCharsMax)]: 'y'.repeat(valueCharsMax) };
  for (const environment of [{}, { PROJECT: 'demo', _a1: '\n', LANG: 'C', NODE_ENV: 'test', TZ: 'UTC' }, most, longest])
    expect(refusal(ANY, environment)).toBeUndefined();
  expect(refusal(ANY, { ...most, ONE_MORE: '' })).toContain('64 variables at most');
  expect(refusal(ANY, { V: 'y'.repeat(valueCharsMax + 1) })).toContain('characters at most');
  expect(refusal(ANY, { ['x'.repeat(nameCharsMax + 1)]: '' })).toContain('no name of a variable');
  expect(refusal(ANY, { V: 'a\0b' })).toContain('without NUL');
});

describe('EXE-10 nobody sets by a call what decides which code runs, where programs look, or a secret', () => {
  const names =
    'PATH path CDPATH LD_PRELOAD ld_preload LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH ' +
    'IFS ENV SHELL SHELLOPTS BASH_ENV BASHOPTS BASH_FUNC_x PS4 PROMPT_COMMAND ZDOTDIR NODE_OPTIONS NODE_PATH NPM_CONFIG_PREFIX ' +
    'PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5LIB PERL5OPT PERLLIB RUBYOPT RUBYLIB GEM_HOME LUA_INIT PHPRC PHP_INI_SCAN_DIR ' +
    'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_EXTERNAL_DIFF SSH_ASKPASS ' +
    'EDITOR VISUAL PAGER MANPAGER GIT_PAGER BROWSER LESSOPEN MAKEFLAGS CC HOME XDG_CONFIG_HOME TMPDIR PWD KUBECONFIG ' +
    'AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE OPENSSL_CONF SSL_CERT_FILE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS ' +
    'NODE_TLS_REJECT_UNAUTHORIZED SSLKEYLOGFILE HTTP_PROXY https_proxy ALL_PROXY no_proxy HOSTALIASES ' +
    'GITHUB_TOKEN API_KEY APIKEY DB_PASSWORD CLIENT_SECRET AWS_SECRET_ACCESS_KEY PRIVATE_KEY SALLYPORT_SECRET_X SALLYPORT_DATA_FOLDER';
  test.each(names.split(' '))('%s', (name) => {
    expect(forbiddenVariable(name)).toBeDefined();
    expect(refusal(ANY, { [name]: 'the value' })).toContain(JSON.stringify(name));
    // A manifest cannot allow it either.
    expect(refusal(ANY, { [name]: 'the value' }, manifestOf([name]))).toContain('cannot be set by a call');
    expect(refusal(ANY, { [name]: 'the value' })).not.toContain('the value');
  });

  test.each(['', 'a-b', '1A', 'A=B', 'A B', 'A\n', 'Ä', 'A\0'])('%j, which is no name', (name) => {
    expect(refusal(ANY, { [name]: 'x' })).toContain('no name of a variable');
  });

  test('a secret of the tool', () => {
    const manifest = manifestOf(['DATABASE'], ['DATABASE']);
    expect(refusal(ANY, { DATABASE: 'mine' }, manifest)).toContain('is a secret of');
  });
});

test('EXE-10 an executor that takes none refuses, one that takes what is named refuses the rest', () => {
  expect(refusal({}, { PROJECT: 'x' })).toContain('takes no environment');
  expect(refusal({}, {})).toBeUndefined();
  expect(refusal(NAMED, { PROJECT: 'x' })).toContain('execution_config.call_variables');
  expect(refusal(NAMED, { PROJECT: 'x' }, manifestOf(['PROJECT']))).toBeUndefined();
  expect(refusal(NAMED, { project: 'x' }, manifestOf(['PROJECT']))).toBeDefined();
  // A manifest that names some variables excludes all others.
  expect(refusal(ANY, { OTHER: 'x' }, manifestOf(['PROJECT']))).toContain('OTHER');
  expect(refusal(ANY, { OTHER: 'x' }, manifestOf([]))).toContain('OTHER');
});

test('EXE-10 a manifest that gives away what no call may set has a fault at its place', () => {
  const faults = callVariableFaults(NAMED, manifestOf(['PROJECT', 'LD_PRELOAD', 'DATABASE'], ['DATABASE']));
  expect(faults.map(({ path }) => path)).toEqual([
    '/execution_config/call_variables/1',
    '/execution_config/call_variables/2',
  ]);
  expect(callVariableFaults(NAMED, manifestOf(['PROJECT']))).toEqual([]);
  expect(callVariableFaults({}, manifestOf())).toEqual([]);
  expect(callVariableFaults({}, manifestOf([]))).toMatchObject([{ path: '/execution_config/call_variables' }]);
});
