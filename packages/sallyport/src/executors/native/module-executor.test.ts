import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { afterAll, describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { executorConformance } from '../conformance/executor.conformance.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { openDrivers, type TestDrivers } from './module-drivers.fixture.ts';
import { withModules } from './module-executor.ts';
import { createNativeExecutor } from './native-executor.ts';

const never = new AbortController().signal;

interface Shape {
  readonly isolation?: 'none' | 'interpreter' | 'namespaces';
  readonly config?: Record<string, unknown>;
}

function moduleCall(
  module: string | { path: string; sha256?: string },
  parameters: Record<string, unknown> = {},
  { isolation, config }: Shape = {},
  more: Partial<ExecutorCall> = {},
): ExecutorCall {
  const manifest: Partial<ToolManifest> & Pick<ToolManifest, 'executor'> = {
    executor: { kind: 'native', config: { module, ...config } },
    ...(isolation === undefined ? {} : { execution_config: { isolation } }),
  };
  return callOf(manifest, parameters, more);
}

for (const isolation of ['interpreter', 'namespaces'] as const) {
  executorConformance(test, `native module, ${isolation}`, async () => {
    const drivers = openDrivers();
    const executor = withModules(createNativeExecutor(), drivers.parts);
    const of = (module: string, parameters = {}): ExecutorCall => moduleCall(module, parameters, { isolation });
    return {
      executor,
      works: () => ({ call: of('export default ({ a, b }) => ({ sum: a + b })', { a: 1, b: 2 }), result: { sum: 3 } }),
      fails: () => of('export default () => { throw new Error("boom") }'),
      hangs() {
        const started = drivers.nextStart();
        return { call: of('export default () => { for (;;); }'), running: () => started };
      },
      faulty: () => moduleCall('export default (').tool.manifest,
      leftovers: () => drivers.running(),
      close: () => drivers.close(),
    };
  });
}

const drivers: TestDrivers = openDrivers();
afterAll(() => drivers.close());
const executor = withModules(createNativeExecutor(), drivers.parts);

const LIMITS = { timeoutMs: 30_000, cpuMillicores: 1000, memoryMb: 256, outputBytesMax: 65_536 };
const withLimits = (limits: Partial<typeof LIMITS>): Partial<ExecutorCall> => ({
  grant: { filesystem: [], network: [], credentials: [], limits: { ...LIMITS, ...limits } },
});

describe.each(['interpreter', 'namespaces'] as const)('a module in a sandbox of the isolation %s', (isolation) => {
  const call = (module: string, parameters = {}, config = {}, more: Partial<ExecutorCall> = {}): ExecutorCall =>
    moduleCall(module, parameters, { isolation, config }, more);
  const run = async (...given: Parameters<typeof call>): Promise<unknown> =>
    (await executor.execute(call(...given), never)).result;
  const refusal = async (...given: Parameters<typeof call>): Promise<ToolLayerError> => {
    const thrown = await executor.execute(call(...given), never).catch((error: unknown) => error);
    if (!(thrown instanceof ToolLayerError)) throw new Error(`not refused: ${JSON.stringify(thrown)}`);
    return thrown;
  };

  const failureOf = async (...given: Parameters<typeof call>) => (await refusal(...given)).failure;

  test('EXE-08.2 its function gets the parameters and the call, and its result comes back as JSON', async () => {
    const source = `export default async (parameters, { invocationId, principal, attempt, secrets }) =>
      ({ parameters, invocationId, tenant: principal.tenantId, attempt, key: secrets.get('KEY').length })`;
    const given = { text: '"\\\u0000\u2028😀', deep: [{ n: 1.5e300 }, null, true] };
    const result = await run(source, given, {}, { secrets: new Map([['KEY', 'hushhush']]), attempt: 2 });
    expect(result).toEqual({ parameters: given, invocationId: 'invocation-1', tenant: 'acme', attempt: 2, key: 8 });
  });

  test('EXE-08 a named export, and the last value of a script, are functions too', async () => {
    expect(await run('export const add = ({ a }) => a + 1; export default 1', { a: 1 }, { export: 'add' })).toBe(2);
    expect(await run('const one = 1;\n(({ a }) => a + one)', { a: 1 }, { format: 'script' })).toBe(2);
  });

  test('EXE-08 it sees the language and a console, and nothing of the host', async () => {
    const names = `['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'setTimeout', 'WebAssembly', 'SharedArrayBuffer',
      'stdin', 'stdout', 'modules', 'args', 'environment', 'performance', 'navigator', 'InternalError']`;
    expect(await run(`export default () => ${names}.filter((name) => name in globalThis)`)).toEqual([]);
    expect(await run('export default () => [typeof console.log, typeof Math.random(), Date.now() > 1e12]')).toEqual([
      'function',
      'number',
      true,
    ]);
    expect(await run('export default () => new Date(2026, 0, 1).toISOString()')).toBe('2026-01-01T00:00:00.000Z');
    const constructed = 'export default () => (() => {}).constructor("return typeof process + typeof require")()';
    expect(await run(constructed)).toBe('undefinedundefined');
  });

  test('EXE-08 a thrown error ends the call with E3108, its message and the line of the module', async () => {
    const source =
      'const total = (n) => {\n  throw new RangeError("no " + n);\n};\nexport default ({ n }) => total(n);';
    const { code, message, details } = await failureOf(source, { n: 7 });
    expect(code).toBe('E3108');
    expect(message).toBe('The function of subject failed with RangeError: no 7 (total line 2).');
    expect(details).toEqual({
      error: { name: 'RangeError', message: 'no 7', stack: ['total line 2', 'default line 4'] },
    });
  });

  test.each([
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['"text"', 'text'],
    ['10n', '10'],
    ['Symbol("s")', 'Symbol(s)'],
    ['({ get message() { throw 1 } })', 'something that cannot be shown'],
    ['new Proxy(new Error("p"), {})', 'Error: p'],
  ])('what is thrown need not be an error: %s', async (thrown, shown) => {
    const { code, message } = await refusal(`export default () => { throw ${thrown}; }`);
    expect([code, message]).toEqual(['E3108', expect.stringContaining(`failed with ${shown}`)]);
  });

  test('a message of many lines becomes one, and a long one is cut', async () => {
    const { message } = await refusal('export default () => { throw new Error("a\\n\\u202eb" + "x".repeat(1e5)); }');
    expect(message).toContain('Error: a bxxx');
    expect(message.length).toBeLessThan(1200);
  });

  test('what it writes to its console comes with an error, and is no part of a result', async () => {
    const source =
      'export default ({ fail }) => { console.log("seen", { a: [1] }); console.error(2n); if (fail) throw 1; return "ok" }';
    expect(await run(source)).toBe('ok');
    const { details } = await failureOf(source, { fail: true });
    expect(details).toMatchObject({ console: 'seen {"a":[1]}\n2\n' });
  });

  test('secrets are hidden in results, errors and the console', async () => {
    const secrets = new Map([['KEY', 'hunter2-hunter2']]);
    const leak =
      'export default ({ fail }, { secrets }) => { const k = secrets.get("KEY"); console.log(k); if (fail) throw new Error(k); return k }';
    expect(await run(leak, {}, {}, { secrets })).toBe('[hidden]');
    const { message, details } = await failureOf(leak, { fail: true }, {}, { secrets });
    expect(JSON.stringify([message, details])).not.toContain('hunter2');
  });

  test.each([
    ['undefined', null],
    ['NaN', null],
    ['[undefined, () => 1, -0, 1e999]', [null, null, 0, null]],
    ['({ a: undefined, toJSON() { return { b: 1 } } })', { b: 1 }],
    ['new Map([[1, 2]])', {}],
    ['({ __proto__: null, constructor: 1, ["__proto__"]: 2 })', JSON.parse('{"constructor":1,"__proto__":2}')],
    ['({ then: 1 })', JSON.parse('{"then":1}')],
  ])('a result is what JSON makes of it: %s', async (value, result) => {
    expect(await run(`export default () => (${value})`)).toEqual(result);
  });

  test.each([
    ['() => 10n', 'TypeError'],
    ['() => { const a = {}; a.a = a; return a }', 'TypeError'],
    ['() => Symbol()', 'the result is no JSON value'],
    ['() => () => 1', 'the result is no JSON value'],
    ['() => ({ get a() { throw new Error("getter") } })', 'Error: getter'],
    ['() => new Proxy({}, { ownKeys() { throw new Error("trap") } })', 'Error: trap'],
    ['() => ({ then(resolve, reject) { reject(new Error("thenable")) } })', 'Error: thenable'],
  ])('a result that is no JSON is an error of the function: %s', async (body, shown) => {
    const { code, message } = await refusal(`export default ${body}`);
    expect([code, message]).toEqual(['E3108', expect.stringContaining(shown)]);
  });

  test('a function that changes the built-in objects harms only itself', async () => {
    const source = `export default () => {
      JSON.stringify = () => '"evil"'; JSON.parse = null; String.prototype.split = null; Array.prototype.push = null;
      Object.prototype.get = () => 1; Array.prototype[Symbol.iterator] = null; RegExp.prototype.exec = null;
      Reflect.apply = null; Error.prototype.name = 'x'; globalThis.String = null;
      return { fine: true };
    }`;
    expect(await run(source)).toEqual({ fine: true });
  });

  test('imports are refused, at once or later', async () => {
    for (const source of [
      'export default async () => { await import("node:fs"); }',
      'export default async () => { await import("data:text/javascript,export default 1"); }',
    ]) {
      expect((await refusal(source)).message).toContain('there is no module');
    }
  });

  test('a promise that nothing settles is an error and no hang', async () => {
    const { code, message } = await refusal('export default () => new Promise(() => {})');
    expect([code, message]).toEqual(['E3108', expect.stringContaining('nothing will settle')]);
  });

  test('deep recursion is an error of the function', async () => {
    const { code, message } = await refusal('export default () => { const f = () => f() + 1; return f(); }');
    expect([code, message]).toEqual(['E3108', expect.stringContaining('Maximum call stack')]);
  });

  test('an export that is no function is told', async () => {
    expect((await refusal('export const other = 1')).code).toBe('E3901');
    expect((await refusal('export default {}')).message).toContain('gives object in place of a function');
  });

  test('a result beyond the bound of the call is refused, one at it is not', async () => {
    const source = 'export default ({ n }) => "x".repeat(n)';
    const more = withLimits({ outputBytesMax: 1000 });
    expect(await run(source, { n: 998 }, {}, more)).toHaveLength(998);
    expect((await refusal(source, { n: 100_000 }, {}, more)).code).toBe('E3501');
  });

  test('memory beyond the bound is E3102 and names memory', async () => {
    const bomb = 'export default () => { const held = []; for (;;) held.push(new Uint8Array(1e6).fill(1)); }';
    const { code, details } = await failureOf(bomb, {}, {}, withLimits({ memoryMb: 96 }));
    expect([code, details?.['limit']]).toEqual(['E3102', 'memory']);
  });

  test('PIPE-06.1 PIPE-06.2 a cancel and a timeout end it in the middle of a loop, and nothing stays', async () => {
    for (const reason of [new ToolLayerError('E3103', 'The time is up.'), new ToolLayerError('E3805', 'Cancelled.')]) {
      const controller = new AbortController();
      const begun = drivers.nextStart();
      const ended = executor.execute(call('export default () => { for (;;); }'), controller.signal);
      const refused = expect(ended).rejects.toBe(reason);
      await begun;
      controller.abort(reason);
      await refused;
      expect(drivers.running()).toBe(0);
    }
  });

  test('what one call leaves is not there for the next', async () => {
    const source =
      'export default () => { globalThis.n = (globalThis.n ?? 0) + 1; Array.prototype.left = 1; return [globalThis.n, Object.keys(Array.prototype)] }';
    for (let calls = 0; calls < 3; calls += 1) expect(await run(source)).toEqual([1, ['left']]);
  });
});

describe('where a module runs', () => {
  test('EXE-08.2 SBX-02.6 in the interpreter when it demands no more, else in a process, never below what it demands', async () => {
    const source = 'export default () => new Error("x").stack.includes("tool:")';
    const inNode = async (isolation?: 'none' | 'interpreter' | 'namespaces'): Promise<unknown> =>
      (await executor.execute(moduleCall(source, {}, isolation === undefined ? {} : { isolation }), never)).result;
    expect(await inNode()).toBe(false);
    expect(await inNode('none')).toBe(false);
    expect(await inNode('interpreter')).toBe(false);
    expect(await inNode('namespaces')).toBe(true);
    const above = moduleCall(source);
    const manifest = { ...above.tool.manifest, execution_config: { isolation: 'microvm' as const } };
    await expect(executor.execute({ ...above, tool: { ...above.tool, manifest } }, never)).rejects.toMatchObject({
      code: 'E3101',
    });
  });

  test('SBX-02 in a process where the operator wants more for every module', async () => {
    const stricter = withModules(createNativeExecutor(), { ...drivers.parts, atLeast: 'namespaces' });
    const call = moduleCall('export default () => new Error("x").stack.includes("tool:")', {}, { isolation: 'none' });
    expect((await stricter.execute(call, never)).result).toBe(true);
  });

  test('in a process where there is no interpreter', async () => {
    const { interpreter, ...parts } = drivers.parts;
    const missing = { ...interpreter, probe: async () => ({ works: false, weaknesses: [] }) };
    const other = withModules(createNativeExecutor(), { ...parts, interpreter: missing });
    const call = moduleCall('export default () => new Error("x").stack.includes("tool:")');
    expect((await other.execute(call, never)).result).toBe(true);
  });
});

describe('functions and modules side by side', () => {
  test('EXE-08.1 a manifest without a module runs the function of the embedding program', async () => {
    const functions = createNativeExecutor();
    functions.register('subject', '1.0.0', () => 'in process');
    const both = withModules(functions, drivers.parts);
    expect((await both.execute(callOf({ executor: { kind: 'native' } }), never)).result).toBe('in process');
    expect((await both.execute(moduleCall('export default () => "sandboxed"'), never)).result).toBe('sandboxed');
    expect((await both.executeConfirmed(moduleCall('export default () => "sandboxed"'), never)).result).toBe(
      'sandboxed',
    );
  });
});

describe('registration', () => {
  const faults = (manifest: Partial<ToolManifest>, config: unknown) =>
    executor.configFaults(
      callOf({ ...manifest, executor: { kind: 'native', config: config as Record<string, unknown> } }).tool.manifest,
    );

  test('EXE-08 a good module has no faults', () => {
    expect(faults({}, { module: 'await 0; export default () => 1' })).toEqual([]);
    expect(faults({}, { module: '() => 1', format: 'script' })).toEqual([]);
    expect(faults({ execution_config: { isolation: 'microvm' } }, { module: 'export default () => 1' })).toEqual([]);
  });

  test('EXE-08 a syntax error is found with its line, and nothing of the source runs', () => {
    const [fault] = faults({}, { module: 'for (;;);\n\nexport default () => {\n  return 1 +;\n};' });
    expect(fault).toMatchObject({ path: '/executor/config/module', code: 'E3008', keyword: 'syntax' });
    expect(fault?.message).toMatch(/^line 4: SyntaxError/);
    expect(faults({}, { module: 'for (;;);' })).toEqual([]);
  });

  test.each([
    [{ module: 7 }, '/executor/config/module'],
    [{ module: '' }, '/executor/config/module'],
    [{ module: '1', other: 1 }, '/executor/config/other'],
    [{ module: '1', export: 'no name' }, '/executor/config/export'],
    [{ module: '() => 1', format: 'script', export: 'x' }, '/executor/config/export'],
    [{ module: 'import "node:fs"; export default 1' }, '/executor/config/module'],
    [{ module: 'a\0b' }, '/executor/config/module'],
    [{ module: { path: '/etc/passwd' } }, '/executor/config/module'],
    [{ module: { path: 'x.js' } }, '/executor/config/module/path'],
  ])('a faulty configuration is refused where it is wrong: %j', (config, path) => {
    expect(faults({}, config).map((fault) => fault.path)).toContain(path);
  });

  test('permissions that a module cannot use are faults', () => {
    const permissions = {
      filesystem: [{ path: '/srv', mode: 'ro' as const }],
      network: [{ host: 'example.org', port: 443 }],
      credentials: ['KEY'],
    };
    const found = faults({ permissions }, { module: 'export default () => 1' });
    expect(found.map(({ path }) => path)).toEqual(['/permissions/filesystem', '/permissions/network']);
  });

  test('SBX-02.7 a manifest that demands isolation of a function in process is refused, and would not run', async () => {
    const functions = createNativeExecutor();
    functions.register('subject', '1.0.0', () => 'in process');
    const both = withModules(functions, drivers.parts);
    for (const isolation of ['interpreter', 'namespaces', 'user_kernel', 'microvm'] as const) {
      const demanding = callOf({ executor: { kind: 'native' }, execution_config: { isolation } });
      expect(both.configFaults(demanding.tool.manifest)).toEqual([
        expect.objectContaining({ path: '/execution_config/isolation', code: 'E3008' }),
      ]);
      await expect(both.execute(demanding, never)).rejects.toMatchObject({ code: 'E3101' });
    }
    const content = callOf({ executor: { kind: 'native' }, execution_config: { isolation: 'none' } });
    expect(both.configFaults(content.tool.manifest)).toEqual([]);
    expect((await both.execute(content, never)).result).toBe('in process');
  });
});

describe('modules in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modules-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const source = 'export default () => "one"';
  writeFileSync(join(folder, 'one.js'), source);
  symlinkSync('/etc/hostname', join(folder, 'out.js'));
  const files = withModules(createNativeExecutor(), { ...drivers.parts, folder });

  test('EXE-08 a file of the folder is read, and again when it has changed', async () => {
    const call = moduleCall({ path: 'one.js' });
    expect(files.configFaults(call.tool.manifest)).toEqual([]);
    expect((await files.execute(call, never)).result).toBe('one');
    writeFileSync(join(folder, 'two.js'), 'export default () => 1');
    const other = moduleCall({ path: 'two.js' });
    expect((await files.execute(other, never)).result).toBe(1);
    writeFileSync(join(folder, 'two.js'), 'export default () => "another"');
    expect((await files.execute(other, never)).result).toBe('another');
  });

  test('a content that is pinned is the only one that runs', async () => {
    const good = moduleCall({ path: 'one.js', sha256: sha256(source) });
    expect(files.configFaults(good.tool.manifest)).toEqual([]);
    expect((await files.execute(good, never)).result).toBe('one');
    const bad = moduleCall({ path: 'one.js', sha256: sha256('') });
    expect(files.configFaults(bad.tool.manifest)).toHaveLength(1);
    await expect(files.execute(bad, never)).rejects.toMatchObject({ code: 'E3901' });
  });

  test.each(['missing.js', '../../../etc/hostname', 'out.js', '.'])(
    'what is not in the folder is refused: %s',
    async (path) => {
      const call = moduleCall({ path });
      expect(files.configFaults(call.tool.manifest)).toEqual([
        expect.objectContaining({ path: '/executor/config/module/path' }),
      ]);
      await expect(files.execute(call, never)).rejects.toMatchObject({ code: 'E3901' });
    },
  );
});
