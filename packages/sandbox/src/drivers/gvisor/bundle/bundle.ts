import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownMark } from '../../../linux/crash/layer-mark.ts';
import { GVISOR_BOUNDS } from '../settings.ts';
import { driverFolder, leaveDriverFolder } from './root-folder.ts';

const ID_BYTES = 12;
const OWNER_ONLY = 0o700;
const PASSABLE = 0o755;

/** The folder of one sandbox, with its configuration and runsc's files. */
export interface Bundle {
  /** Name of the sandbox, with the layer's mark. Its control socket has that name on the whole machine. */
  readonly id: string;
  readonly folder: string;
  /** State of runsc, its `--root`. */
  readonly state: string;
  /** Folder for the socket of the gate. */
  readonly way: string;
  /** File with the names that the sandbox may reach. */
  readonly hosts: string;
  readonly log: string;
  /** Root file system of the sandbox; the maker of the bundle fills it. */
  readonly root: string;
  /** An empty folder over which the launcher mounts its stage. */
  readonly stage: string;
  writeConfig(config: object): void;
  /** runsc's error message; empty when there is none. */
  complaint(): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Makes a folder that only its owner may enter: it holds a tool's environment.
 * @param uid owner; the layer's own when undefined
 */
export function makeBundle(uid: number | undefined): Bundle {
  const folder = mkdtempSync(join(driverFolder(), 'b-'));
  const inside = (name: string): string => join(folder, name);
  const state = inside('s');
  const way = inside('w');
  const give = (path: string): void => {
    if (uid !== undefined) chownSync(path, uid, uid);
  };
  mkdirSync(state, OWNER_ONLY);
  // The forwarder inside has another uid; on the host nobody else can reach this folder.
  mkdirSync(way, PASSABLE);
  const stage = inside('mounts');
  mkdirSync(stage, PASSABLE);
  for (const path of [folder, state, way]) give(path);
  const log = inside('log');
  return {
    id: `tool-${ownMark()}-${randomBytes(ID_BYTES).toString('hex')}`,
    folder,
    state,
    way,
    hosts: inside('hosts'),
    log,
    root: inside('root'),
    stage,
    writeConfig(config) {
      writeFileSync(inside('config.json'), JSON.stringify(config), { mode: 0o600 });
      give(inside('config.json'));
    },
    async complaint() {
      const text = await readFile(log, 'utf8').catch(() => '');
      return text.slice(-GVISOR_BOUNDS.logBytesMax);
    },
    async remove() {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      leaveDriverFolder();
    },
  };
}
