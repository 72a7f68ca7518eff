import { writeSync } from 'node:fs';
import { createEgressGate, type SandboxSpec } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';

/*
 * A process that starts one sandbox after the other, until the test kills it. Its arguments: a mark on each command
 * line that it starts, the kind of sandbox, and the program used as bubblewrap. It begins at the first input, and ends
 * when its input ends.
 */

/** More sandboxes than can be started before the test ends the process. */
const STARTS = 8;

const [mark = '', kind = 'tool', program = 'bwrap'] = process.argv.slice(2);

const tool = (mounts: SandboxSpec['mounts']): SandboxSpec => ({
  label: 'tool',
  command: ['sleep', `600.${mark}`],
  environment: {},
  mounts,
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
});

const wayOut = 'tool with a way out';
const specs: Readonly<Record<string, () => SandboxSpec | Promise<SandboxSpec>>> = {
  tool: () => tool([]),
  'tool without control groups': () => tool([]),
  'tool with a writable folder': () => tool([{ path: import.meta.dirname, mode: 'rw' }]),
  [wayOut]: () => ({ ...tool([]), network: [{ host: 'granted.test', port: 443 }] }),
  async upstream() {
    const { sandboxSpecOf } = await import('../../packages/sallyport/src/mcp-servers/stdio/sandbox-spec.ts');
    const script = new URL('../../packages/sallyport/src/mcp-servers/test-servers/odd-server.mjs', import.meta.url)
      .pathname;
    const args = [script, 'silent', `600.${mark}`];
    const folders = { folderOf: () => import.meta.dirname };
    return sandboxSpecOf('odd', { type: 'stdio', command: 'node', args }, {}, () => undefined, folders);
  },
};

const gate = kind === wayOut ? createEgressGate() : undefined;
const driver = createBubblewrapDriver({ program, controlGroups: kind !== 'tool without control groups' }, gate);
await driver.probe();
const spec = await specs[kind]?.();
if (spec === undefined) throw new Error(`no such kind of sandbox: ${kind}`);
writeSync(1, 'ready\n');
process.stdin.once('data', async () => {
  for (let count = 0; count < STARTS; count += 1) await driver.start(spec);
  writeSync(1, 'done\n');
});
