import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The checkout that is under test. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** What the installation makes in the layer's package. */
const MADE = 'packages/sallyport/dist';
const run = promisify(execFile);
/** A program that still runs after this time is stopped; its exit code is then not 0. */
const ENDS_MS = 100_000;
const ENV = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };

/** The packages that are published. */
export const PACKAGES = ['@sallyport/std', '@sallyport/guards', '@sallyport/sandbox', 'sallyport'];

/** The fenced code blocks of a language in README.md, under a heading. */
export async function blocksOf(heading: string, language: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [, section = ''] = new RegExp(`^## ${heading}\n(.*?)(?=^## )`, 'ms').exec(text) ?? [];
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
}

/** An empty folder that is removed at the end. */
export async function temporary(stack: AsyncDisposableStack, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The files of the checkout as a fresh clone has them, with what `npm ci` would bring and make. */
export async function clone(stack: AsyncDisposableStack): Promise<string> {
  const folder = await temporary(stack, 'readme-clone');
  // With the fractions of seconds, by which a start knows whether the bundle is of these sources.
  const files =
    'git ls-files -z --cached --others --exclude-standard | tar -c --format=pax --null -T - | tar -x -C "$1"';
  await run('sh', ['-c', files, 'sh', folder], { cwd: ROOT });
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  // Hard links take a tenth of the time; they need both folders on one file system.
  await run('cp', ['-al', from, to]).catch(() => run('cp', ['-a', from, to]));
  // npm ci makes the bundle too; without one, the first start does.
  await run('cp', ['-a', join(ROOT, MADE), join(folder, MADE)]).catch(() => undefined);
  return folder;
}

/** What a program printed and its exit code. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; it never rejects for a code other than 0. */
export async function ended(folder: string, command: string, ...args: string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await run(command, args, { cwd: folder, env: ENV, timeout: ENDS_MS })) };
  } catch (thrown) {
    const { code, stdout = '', stderr = String(thrown) } = thrown as Partial<Ended>;
    return { code: typeof code === 'number' ? code : -1, stdout, stderr };
  }
}

/**
 * Starts a program that keeps running, waits until its output matches `until`, and stops it with all its processes at
 * the end.
 */
export async function started(
  stack: AsyncDisposableStack,
  folder: string,
  line: string,
  until: RegExp,
): Promise<string> {
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    env: ENV,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  stack.defer(async () => {
    signalled(child.pid, 'SIGTERM');
    await exited;
    // npm may end before the program that npm started.
    while (signalled(child.pid, 0)) await setTimeout(50);
  });
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (until.test(said)) break;
  }
  child.stdout.resume();
  return said;
}

/** Sends a signal to a program and all its child processes; false when none of them is left. */
function signalled(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/**
 * A new project in which the packed packages are installed: their own files as they are shipped, the dependencies (none of the
 * development ones) by links to those of the clone.
 */
export async function projectWithPackage(stack: AsyncDisposableStack, source: string): Promise<string> {
  const folder = await temporary(stack, 'readme-project');
  await run('npm', ['run', 'pack', '--', folder], { cwd: source, env: ENV });
  for (const name of PACKAGES) {
    const own = join(folder, 'node_modules', name);
    await mkdir(own, { recursive: true });
    const archive = `${name.replace('@', '').replace('/', '-')}-[0-9]*.tgz`;
    await run('sh', ['-c', `tar -xzf ${archive} --strip-components=1 -C "$1"`, 'sh', own], { cwd: folder });
  }
  const lock = JSON.parse(await readFile(join(source, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>;
  };
  // The types of Node, which every TypeScript project has, and what a project with a graph has.
  const graph = ['langgraph', 'langgraph-sdk', 'protocol'].map((name) => `node_modules/@langchain/${name}`);
  const also = ['node_modules/@types/node', 'node_modules/undici-types', ...graph];
  for (const [path, { dev, link }] of Object.entries(lock.packages)) {
    const isNested = path.lastIndexOf('node_modules/') !== 0;
    if (isNested || link === true || (dev === true && !also.includes(path))) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(source, path), join(folder, path));
  }
  return folder;
}

/** The shape of a value: the names of its members and their types. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
