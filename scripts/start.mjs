// node scripts/start.mjs PROGRAM [ARGUMENTS]: runs `starter` or `sallyport` from the bundle, which is made anew first when a
// source has changed. Plain JavaScript, because loading the part of Node that reads TypeScript takes 60 ms.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openBundle } from './bundle/load-bundle.mjs';

if (Number.parseInt(process.versions.node, 10) < 24) {
  const { node } = process.versions;
  console.error(
    `Sallyport needs Node.js 24 or newer, and this is ${node}: npm ci brings one, which npm start then finds.`,
  );
  process.exit(1);
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** As in scripts/bundle/make-bundle.ts, which is TypeScript. */
const FOLDER = join(ROOT, 'dist', 'bundle');
const SOURCES = { sallyport: 'packages/sallyport/src/compose/main.ts', starter: 'examples/starter/start.ts' };

const [node, , program = '', ...args] = process.argv;
if (!Object.hasOwn(SOURCES, program)) throw new Error(`There is no program "${program}".`);
/** Programs that go on, and so use what a later start will. */
const SERVES = program === 'starter' || ['serve', 'mcp'].includes(args[0]);
/** When a start is over, and what it used is still known. */
const STARTED_MS = 10_000;

const part = bundled(program);
const file = join(ROOT, part === undefined ? SOURCES[program] : join('dist', 'bundle', part));
process.argv = [node, file, ...args];
if (part === undefined) await import(pathToFileURL(file).href);
else run(part);

function run(name) {
  const { load, keep } = openBundle(FOLDER);
  if (SERVES) {
    // One part at a time: the largest take 20 ms, and calls may be waiting.
    const keepOne = () => keep('used', 1) && setImmediate(keepOne);
    setTimeout(keepOne, STARTED_MS).unref();
    process.once('exit', () => keep('used'));
  }
  load(name);
}

/** The program's part of a bundle that holds what the sources say; undefined when there can be none. */
function bundled(name) {
  const record = freshRecord() ?? newRecord();
  return record?.programs[name];
}

function freshRecord() {
  try {
    const record = JSON.parse(readFileSync(join(FOLDER, 'bundle.json'), 'utf8'));
    return Object.entries(record.inputs).every(isUnchanged) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isUnchanged([path, time]) {
  // Thirteen hundred paths: joining each takes longer than the system takes to answer.
  return (statSync(ROOT + path, { throwIfNoEntry: false })?.mtimeMs ?? 0) === time;
}

/**
 * Made by another process, so that this one does not hold the bundler in memory. Without the bundler (an installation
 * without development dependencies), or with a fault in the sources, they run as they are, and say what the fault is.
 */
function newRecord() {
  if (!existsSync(join(ROOT, 'node_modules', 'rolldown'))) return undefined;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status } = spawnSync(node, [join(ROOT, 'scripts', 'bundle', 'make-bundle.ts')], { stdio: 'ignore' });
  return status === 0 ? freshRecord() : undefined;
}
