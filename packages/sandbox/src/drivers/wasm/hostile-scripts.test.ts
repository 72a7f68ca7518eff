import { readFileSync } from 'node:fs';
import { KiB, MiB } from '@sallyport/std/bytes';
import { afterAll, describe, expect, test } from 'vitest';
import { type CollectedOutput, collectOutput } from '../../collect-output.ts';
import type { SandboxExit, SandboxLimits, SandboxProcess } from '../../driver.port.ts';
import { createWasmDriver } from './wasm-driver.ts';

const driver = createWasmDriver();
afterAll(() => driver[Symbol.asyncDispose]());

const LIMITS: SandboxLimits = { cpuMillicores: 4000, memoryMb: 32, processesMax: 1, diskMb: 1, cpuSecondsMax: 20 };

function start(source: string, limits: Partial<SandboxLimits> = {}): Promise<SandboxProcess> {
  return driver.start({
    label: 'hostile',
    command: ['js', source],
    environment: {},
    mounts: [],
    network: [],
    limits: { ...LIMITS, ...limits },
  });
}

async function run(
  source: string,
  limits: Partial<SandboxLimits> = {},
): Promise<CollectedOutput & { readonly exit: SandboxExit }> {
  const running = await start(source, limits);
  running.stdin.end();
  const output = await collectOutput(running, { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB });
  return { ...output, exit: await running.exited };
}

describe('memory', () => {
  test.each([
    ['arrays', 'const held = []; for (;;) held.push([1, 2, 3]);'],
    ['strings', 'const held = []; for (;;) held.push("x".repeat(1e5) + held.length);'],
    ['buffers', 'const held = []; for (;;) held.push(new ArrayBuffer(1e6));'],
    ['typed arrays', 'const held = []; for (;;) held.push(new Float64Array(1e5).fill(1));'],
    ['maps', 'const held = new Map(); for (let n = 0; ; n++) held.set(n, {});'],
    ['closures', 'let last; for (;;) { const inner = last; last = () => inner; }'],
    ['big integers', 'const held = []; for (let n = 1n << 800000n; ; n++) held.push(n);'],
    ['regular expressions', 'const held = []; for (;;) held.push(new RegExp("(?:a{1,9}b?){9}" + held.length));'],
    ['promises', 'const again = () => Promise.resolve().then(again); await again();'],
    [
      'modules',
      'const source = "export default [" + "[1,2],".repeat(1e4) + "]"; for (let n = 0; ; n++) { modules.define("m" + n, source); await import("m" + n); }',
    ],
  ])('SBX-03 a bomb of %s is stopped, and memory is named', async (_name, source) => {
    const { exit, stderr } = await run(source);
    expect([exit.violation, exit.code === 0], stderr).toEqual(['memory', false]);
    expect(exit.memoryPeakMb).toBeLessThanOrEqual(32);
  });

  test('SBX-03 the memory of the whole process stays within the bounds of its scripts', async () => {
    await run('');
    const before = residentBytes();
    const bomb = 'const held = []; for (;;) held.push(new Uint8Array(1e6).fill(1));';
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes());
    }, 2);
    for (let round = 0; round < 4; round += 1) {
      expect((await run(bomb)).exit.violation).toBe('memory');
    }
    clearInterval(watch);
    // One script runs at a time: its 32 MB, the 32 MB of the previous thread that is still ending, and the threads' own
    // memory.
    expect(Math.max(most, residentBytes()) - before).toBeLessThan(160 * MiB);
  });

  test('a script may go on after it was refused memory', async () => {
    const source =
      'let n = 0; try { for (const held = []; ; n++) held.push(new ArrayBuffer(1e6)); } catch (e) { console.log(e.message, n > 5) }';
    const { stdout, exit } = await run(source);
    expect([stdout, exit.code, exit.violation]).toEqual(['out of memory true\n', 0, undefined]);
  });

  test('what a script gives out of its memory is bounded too', async () => {
    const roomy = { memoryMb: 512 };
    const name = await run('await import("x".repeat(3e7));', roomy);
    expect([name.exit.signal, name.stderr]).toEqual(['SIGABRT', expect.stringContaining('too long')]);
    const source = await run('modules.define("m", "y".repeat(3e7));', roomy);
    expect([source.exit.code, source.stderr]).toEqual([1, expect.stringContaining('too long')]);
    const many = await run('for (let n = 0; ; n++) modules.define("m" + n, "y".repeat(1e5));', roomy);
    expect([many.exit.code, many.stderr]).toEqual([1, expect.stringContaining('too long')]);
    expect((await run('stdout.write("next")')).stdout).toBe('next');
  });

  test('less memory than the interpreter needs is refused', async () => {
    await expect(start('', { memoryMb: 15 })).rejects.toMatchObject({ code: 'E3101' });
    expect((await run('', { memoryMb: 16 })).exit.code).toBe(0);
  });
});

describe('time', () => {
  test.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} finally { for (;;); } }'],
    ['a pattern that backtracks', '/^(a+)+$/.test("a".repeat(60) + "b");'],
    ['a chain of promises', 'const again = async () => { for (;;) await 0; }; await again();'],
    ['a getter of what is thrown', 'throw { get message() { for (;;); } };'],
    [
      'one long step outside the interpreter loop',
      'for (const text = "x".repeat(1e6); ;) text.lastIndexOf("xy".repeat(2e5));',
    ],
    ['sorting', 'const a = Array.from({ length: 2e5 }, (_, i) => -i); for (;;) a.sort(() => 0);'],
  ])('SBX-03 the processor time of %s is bounded', async (_name, source) => {
    const { exit } = await run(source, { cpuSecondsMax: 1, memoryMb: 64 });
    expect([exit.signal, exit.violation]).toEqual(['SIGKILL', 'cpu']);
  });

  test.each([
    ['spins', 'stdout.write("ready"); for (;;);'],
    ['waits for input', 'stdout.write("ready"); stdin.read(); stdin.read();'],
    ['waits for a reader', 'stdout.write("ready"); for (;;) stderr.write("x".repeat(1e5));'],
    [
      'copies without end',
      'stdout.write("ready"); stdin.read(); for (const a = new Uint8Array(8e6); ;) a.copyWithin(1, 0);',
    ],
  ])('PIPE-06 a script that %s is ended at once', async (_name, source) => {
    const running = await start(source);
    running.stdin.write('x');
    running.stdout.once('data', () => running.kill());
    expect(await running.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(driver.running()).toEqual([]);
  });

  test('a script that waits for its turn is ended without having begun', async () => {
    await using small = createWasmDriver({ workersMax: 1 });
    const spec = { label: 'turn', environment: {}, mounts: [], network: [], limits: LIMITS };
    const first = await small.start({ ...spec, command: ['js', 'stdout.write("ready"); for (;;);'] });
    const second = await small.start({ ...spec, command: ['js', 'stdout.write("never")'] });
    const third = await small.start({ ...spec, command: ['js', 'stdout.write("at last")'] });
    second.kill();
    expect(await second.exited).toEqual({ signal: 'SIGKILL', cpuMs: 0, memoryPeakMb: 0 });
    first.kill();
    expect((await collectOutput(third, { stdoutBytesMax: 100, stderrBytesMax: 100 })).stdout).toBe('at last');
  });

  test('nothing runs after exit, whatever stands around it', async () => {
    const source =
      'const leave = async () => { try { exit(3); } catch { stdout.write("caught"); } finally { stdout.write("finally"); } }; leave().then(() => stdout.write("then")); await leave(); stdout.write("after");';
    const { stdout, exit } = await run(source);
    expect([stdout, exit.code]).toEqual(['', 3]);
  });
});

describe('depth', () => {
  test.each([
    ['calls', 'const f = () => f() + 1; f();'],
    ['JSON', 'JSON.parse("[".repeat(1e6));'],
    ['nested arrays as text', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a);'],
    ['parentheses', 'eval("(".repeat(1e5));'],
    ['brackets', 'eval("[".repeat(1e5));'],
    ['groups of a pattern', 'new RegExp("(?:".repeat(1e5));'],
    ['proxies', 'let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); p.x;'],
  ])('SBX-03 %s nested too deep are an error of the script alone', async (_name, source) => {
    const { exit, stderr } = await run(source, { memoryMb: 128 });
    expect([exit.code, exit.violation], stderr).toEqual([1, undefined]);
    expect(stderr).toMatch(/^Uncaught (?:RangeError|SyntaxError|InternalError)/);
    expect((await run('stdout.write("next")')).stdout).toBe('next');
  });
});

describe('output', () => {
  test('SBX-03 a flood that nobody reads makes the script wait, in bounded memory', async () => {
    const running = await start('for (let n = 0; ; n++) { stdout.write("x".repeat(1e4)); }');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(running.stdout.readableLength).toBeLessThan(2 * MiB);
    running.kill();
    expect((await running.exited).signal).toBe('SIGKILL');
  });

  test('one line of many megabytes comes whole', async () => {
    const running = await start(
      'const text = "é😀".repeat(2e5); stdout.write(text); stdout.write("\\ud83d"); stdout.write("\\ude00end\\0\\ud800")',
    );
    const { stdout } = await collectOutput(running, { stdoutBytesMax: 8 * MiB, stderrBytesMax: 100 });
    expect(stdout).toBe(`${'é😀'.repeat(2e5)}😀end\0\ufffd`);
  });

  test('input of many megabytes is read in pieces, cut at no character', async () => {
    const running = await start(
      'let n = 0; for (let piece = stdin.read(); piece !== null; piece = stdin.read()) n += [...piece].length; stdout.write(n + " " + stdin.read())',
    );
    running.stdin.end('😀\0'.repeat(4e5));
    const { stdout } = await collectOutput(running, { stdoutBytesMax: 100, stderrBytesMax: 1000 });
    expect(stdout).toBe('800000 null');
  });
});

describe('ways out', () => {
  test.each([
    [
      'what Node gives',
      '["process", "require", "global", "Buffer", "fetch", "WebAssembly", "Worker", "setTimeout", "std", "os", "Deno"].filter((name) => name in globalThis).join()',
    ],
    ['constructors', '(() => {}).constructor("return typeof process")() === "undefined" ? "" : "process"'],
    [
      'constructors of what the layer gives',
      'stdout.write.constructor("return typeof process")() + console.log.constructor("return typeof require")() + stdin.read.constructor.constructor("return this.process")()',
    ],
    [
      'callers',
      '(() => { try { return String(stdout.write.caller ?? "") + String(stdout.write.arguments ?? "") } catch { return "" } })()',
    ],
  ])('%s lead nowhere', async (_name, expression) => {
    const { stdout } = await run(`stdout.write(String(${expression}).replaceAll("undefined", ""))`);
    expect(stdout).toBe('');
  });

  test.each([
    'node:fs',
    'fs',
    'file:///etc/passwd',
    '/etc/passwd',
    './x.js',
    'data:text/javascript,1',
    'https://example.org/x.js',
    'constructor',
    '__proto__',
  ])('the module %s is not there', async (name) => {
    const { stdout, exit } = await run(
      `try { await import(${JSON.stringify(name)}); stdout.write("ESCAPED"); } catch (e) { stdout.write(e.message); }`,
    );
    expect([stdout, exit.code]).toEqual([`there is no module ${JSON.stringify(name)} here`, 0]);
  });

  test('a script that changes every built-in object harms only itself', async () => {
    const source = `
      for (const name of ['call', 'apply', 'bind']) Function.prototype[name] = () => { throw 1 };
      for (const name of Object.getOwnPropertyNames(String.prototype)) { try { String.prototype[name] = () => 'evil' } catch {} }
      for (const name of Object.getOwnPropertyNames(Array.prototype)) { try { Array.prototype[name] = () => { throw 2 } } catch {} }
      Object.defineProperty(Object.prototype, '0', { get() { throw 3 }, set() { throw 4 } });
      Object.defineProperty(Object.prototype, 'toJSON', { value: () => 'evil' });
      JSON.stringify = JSON.parse = Reflect.apply = () => { throw 5 };
      Promise.prototype.then = () => { throw 6 };
      stdout.write('fine'); console.log('', 1); exit(4);`;
    const { stdout, exit, stderr } = await run(source);
    expect([stdout, exit.code], stderr).toEqual(['fine 1\n', 4]);
  });

  test('SBX-05 nothing of the process is seen: environment, arguments, zone', async () => {
    const { stdout } = await run('stdout.write(JSON.stringify([environment, args, new Date(0).getTimezoneOffset()]))');
    expect(stdout).toBe('[{},[],0]');
  });

  test('scripts side by side share nothing', async () => {
    const source =
      'globalThis.n = (globalThis.n ?? 0) + 1; Array.prototype.left = (Array.prototype.left ?? 0) + 1; stdout.write(n + " " + [].left)';
    const all = await Promise.all(Array.from({ length: 12 }, () => run(source)));
    expect(all.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 12 }, () => '1 1'));
  });
});

describe('what an interpreter cannot give', () => {
  const spec = {
    label: 'x',
    command: ['js', ''] as [string, ...string[]],
    environment: {},
    mounts: [],
    network: [],
    limits: LIMITS,
  };

  test('SBX-02 folders, network and more isolation are refused', async () => {
    await expect(driver.start({ ...spec, mounts: [{ path: '/usr', mode: 'ro' }] })).rejects.toMatchObject({
      code: 'E3105',
    });
    await expect(driver.start({ ...spec, network: [{ host: 'example.org', port: 443 }] })).rejects.toMatchObject({
      code: 'E3104',
    });
    await expect(driver.start({ ...spec, isolation: 'namespaces' })).rejects.toMatchObject({ code: 'E3101' });
    for (const isolation of ['none', 'interpreter'] as const) {
      expect((await (await driver.start({ ...spec, isolation })).exited).code).toBe(0);
    }
  });

  test('a working directory is no run of the script', async () => {
    const running = await driver.start({ ...spec, workingDirectory: '/srv' });
    expect(await running.exited).toMatchObject({ notStarted: true });
  });

  test('a source may be longer than any command line', async () => {
    const { stdout } = await run(`/* ${'x'.repeat(4 * MiB)} */ stdout.write("long")`, { memoryMb: 64 });
    expect(stdout).toBe('long');
  });

  test('SBX-08 after it is closed nothing starts, and what ran has ended', async () => {
    const closing = createWasmDriver();
    const running = await closing.start({ ...spec, command: ['js', 'for (;;);'] });
    await closing[Symbol.asyncDispose]();
    expect((await running.exited).signal).toBe('SIGKILL');
    await expect(closing.start(spec)).rejects.toMatchObject({ code: 'E3101' });
  });
});

/** Resident memory of this process, in bytes. */
function residentBytes(): number {
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4 * KiB;
}
