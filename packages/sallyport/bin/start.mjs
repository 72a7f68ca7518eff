// Runs a program from the bundle. In a clone the bundle is made anew first when a source has changed; an installation brings one.
// Plain JavaScript, because loading the part of Node that reads TypeScript takes 60 ms.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openBundle } from './load-bundle.mjs';

const NODE_MAJOR_MIN = 24;
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
/** As in scripts/bundle/make-bundle.ts, which is TypeScript. */
const BUNDLE = join(PACKAGE, 'dist', 'bundle');
/** Whether the package is a part of a clone; an installation has no TypeScript. */
const isClone = () => existsSync(join(PACKAGE, 'src', 'compose', 'main.ts'));
const CLONE = fileURLToPath(new URL('../../..', import.meta.url));
/** What runs where there can be no bundle, by program; the first that exists. */
const SOURCES = {
  sallyport: ['src/compose/main.ts', 'src/compose/main.js'],
  starter: ['../../examples/starter/start.ts'],
};
/** When a start is over, and what it used is still known. */
const STARTED_MS = 10_000;

/**
 * Runs a program.
 * @param program `sallyport`, or `starter` in a clone
 * @param args its arguments
 */
export async function start(program, args) {
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
    console.error(
      `Sallyport needs Node.js ${NODE_MAJOR_MIN} or newer, and this is ${process.versions.node}: ${
        isClone() ? 'npm ci brings one, which npm start then finds.' : 'install one from https://nodejs.org.'
      }`,
    );
    process.exitCode = 1;
    return;
  }
  const part = bundled(program);
  const file = part === undefined ? sourceOf(program) : join(BUNDLE, part);
  process.argv = [process.argv[0], file, ...args];
  if (part === undefined) await import(pathToFileURL(file).href);
  // Programs that go on use what a later start will.
  else run(part, program === 'starter' || ['serve', 'mcp'].includes(args[0]));
}

function sourceOf(program) {
  const files = SOURCES[program].map((path) => join(PACKAGE, path));
  return files.find((file) => existsSync(file)) ?? files[0];
}

function run(part, serves) {
  const { load, keep } = openBundle(BUNDLE);
  if (serves) {
    // One part at a time: the largest take 20 ms, and calls may be waiting.
    const keepOne = () => keep('used', 1) && setImmediate(keepOne);
    setTimeout(keepOne, STARTED_MS).unref();
    process.once('exit', () => keep('used'));
  }
  load(part);
}

/** The program's part of a bundle that holds what the sources say; undefined when there can be none. */
function bundled(program) {
  const record = freshRecord() ?? newRecord();
  return record?.programs[program];
}

function freshRecord() {
  try {
    const record = JSON.parse(readFileSync(join(BUNDLE, 'bundle.json'), 'utf8'));
    return Object.entries(record.inputs).every(isUnchanged) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isUnchanged([path, time]) {
  // Thirteen hundred paths: joining each takes longer than the system takes to answer.
  return (statSync(CLONE + path, { throwIfNoEntry: false })?.mtimeMs ?? 0) === time;
}

/**
 * Made by another process, so that this one does not hold the bundler in memory. Without the bundler (an installation
 * without development dependencies), or with a fault in the sources, they run as they are, and say what the fault is.
 */
function newRecord() {
  if (!isClone() || !existsSync(join(CLONE, 'node_modules', 'rolldown'))) return undefined;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status } = spawnSync(process.execPath, [join(CLONE, 'scripts', 'bundle', 'make-bundle.ts')], {
    stdio: 'ignore',
  });
  return status === 0 ? freshRecord() : undefined;
}
