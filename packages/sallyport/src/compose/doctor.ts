import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SandboxDriver } from '@sallyport/sandbox';
import { createWasmDriver } from '@sallyport/sandbox/wasm';
import { MiB } from '@sallyport/std/bytes';
import { systemClock } from '@sallyport/std/clock';
import { messageOf } from '@sallyport/std/error/message-of';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { DoctorFinding, LayerOptions } from '../doors/cli/cli-parts.ts';
import { locateBinaries } from '../storage/postgres/embedded/binaries.ts';
import { CLOCK_APART_MS, serverFacts } from '../storage/postgres/server/server-facts.ts';
import { settingsOf } from './open-layer.ts';
import { checkCredentials } from './parts/from-settings/credentials.ts';
import { checkPolicies } from './parts/open-policies.ts';
import { MACHINE_DRIVERS, openSandboxes } from './parts/sandboxes/open-sandboxes.ts';
import { checkGate } from './parts/trust/open-trust.ts';
import { readSettings } from './read-settings.ts';
import { readRunningLayers } from './running-layer/running-layer-file.ts';
import { unknownVariables } from './settings/unknown-variables.ts';
import type { Settings } from './settings.ts';

/** Oldest Node.js that the layer runs on. */
const NODE_MAJOR_MIN = 24;
/** Free space that a database needs for its log alone, in bytes. */
const FREE_BYTES_MIN = 256 * MiB;

/**
 * Reports what works on this machine, what is missing, what that costs and how to fix it. Leaves no process running.
 */
export async function doctor(options: LayerOptions, now = systemClock.now): Promise<readonly DoctorFinding[]> {
  const [settings, settingsFinding] = checkSettings(options);
  return [
    checkNode(),
    settingsFinding,
    ...(settings === undefined
      ? []
      : await Promise.all([
          checkDatabase(settings, now),
          checkDataFolder(settings),
          checkPolicies(settings),
          checkRunning(settings),
        ])),
    ...(settings === undefined ? [] : await checkGate(settings)),
    ...(settings === undefined ? [] : await checkCredentials(settings, now())),
    ...(settings === undefined ? [] : await checkSandboxes(settings)),
  ];
}

function checkNode(): DoctorFinding {
  const { node } = process.versions;
  const ok = Number.parseInt(node, 10) >= NODE_MAJOR_MIN;
  if (ok) return { name: 'Node.js', state: 'ok', message: node };
  return { name: 'Node.js', state: 'failed', message: node, hint: `Install Node.js ${NODE_MAJOR_MIN} or newer.` };
}

function checkSettings(options: LayerOptions): [Settings | undefined, DoctorFinding] {
  try {
    return [readSettings({ given: settingsOf(options) }), checkVariables()];
  } catch (thrown) {
    const { message } = failureOf(thrown);
    return [undefined, { name: 'settings', state: 'failed', message, hint: 'See docs/settings.md.' }];
  }
}

/** A misspelt variable sets nothing, so the layer starts with a default. */
function checkVariables(): DoctorFinding {
  const name = 'settings';
  const unknown = unknownVariables(process.env);
  if (unknown.length === 0) return { name, state: 'ok', message: 'no faults' };
  const message = `no faults, but unknown variables: ${unknown.join(', ')}`;
  return { name, state: 'warning', message, hint: 'Correct or remove them; see docs/settings.md.' };
}

async function checkDatabase(settings: Settings, now: () => number): Promise<DoctorFinding> {
  const name = 'PostgreSQL';
  const url = settings['database.url'];
  if (url !== '') return checkOwnServer(name, url, now);
  try {
    await locateBinaries(`${process.platform}-${process.arch}`);
    return { name, state: 'ok', message: 'embedded' };
  } catch (thrown) {
    return { name, state: 'failed', message: failureOf(thrown).message, hint: 'Or set SALLYPORT_DATABASE_URL.' };
  }
}

async function checkOwnServer(name: string, url: string, now: () => number): Promise<DoctorFinding> {
  try {
    const { version, isSuperuser, clockAheadMs } = await serverFacts({ url }, now);
    const server = `${version}, a server of your own (database.url)`;
    const faults = [...(isSuperuser ? [SUPERUSER] : []), ...clockFaults(clockAheadMs)];
    if (faults.length === 0) return { name, state: 'ok', message: server };
    const message = [server, ...faults.map((fault) => fault.message)].join('; ');
    return { name, state: 'warning', message, hint: faults.map(({ hint }) => hint).join(' ') };
  } catch (thrown) {
    return { name, state: 'failed', message: failureOf(thrown).message, hint: 'Correct database.url.' };
  }
}

const SUPERUSER = {
  message: 'the layer is superuser there: anybody with its password may start programs on that machine',
  hint: 'Give it a role that owns the schema sallyport and nothing else.',
};

function clockFaults(aheadMs: number): readonly (typeof SUPERUSER)[] {
  if (Math.abs(aheadMs) <= CLOCK_APART_MS) return [];
  const apart = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} it`;
  return [{ message: `the clock of this machine is ${apart}`, hint: 'Have both clocks set by NTP.' }];
}

async function checkDataFolder(settings: Settings): Promise<DoctorFinding> {
  const folder = settings['data_folder'];
  const name = 'data folder';
  try {
    const there = await nearestFolder(resolve(folder));
    await access(there, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(there);
    const shownFolder = there === resolve(folder) ? folder : `${folder}, which the first start makes`;
    if (bavail * bsize >= FREE_BYTES_MIN) return { name, state: 'ok', message: shownFolder };
    const message = `${folder} has ${Math.floor((bavail * bsize) / MiB)} MiB left`;
    return { name, state: 'failed', message, hint: 'Free some room, or choose another with --data-folder.' };
  } catch (cause) {
    const message = `${folder} cannot be used: ${messageOf(cause)}`;
    return { name, state: 'failed', message, hint: 'Choose another with --data-folder.' };
  }
}

/** The folder itself, or its nearest existing parent: nothing is created by the check. */
async function nearestFolder(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return false;
      throw cause;
    },
  );
  return isThere ? path : nearestFolder(dirname(path));
}

async function checkRunning(settings: Settings): Promise<DoctorFinding> {
  const running = await readRunningLayers(settings['data_folder']);
  const shown = running.map(({ url, pid }) => `${url} (process ${pid})`).join(', ');
  const message = shown === '' ? 'none on this data folder' : shown;
  return { name: 'running layer', state: 'ok', message };
}

/** Checks every driver: drivers that the settings name have to work, the others are reported as available or not. */
async function checkSandboxes(settings: Settings): Promise<DoctorFinding[]> {
  await using opened = new AsyncDisposableStack();
  const named = settings['sandbox.drivers'];
  const names = [...named, ...MACHINE_DRIVERS.filter((name) => !named.includes(name))];
  const drivers = [...openSandboxes(opened, { ...settings, 'sandbox.drivers': names }, []).drivers, createWasmDriver()];
  const findings = await Promise.all(drivers.map((driver) => checkDriver(driver, named[0] === driver.name)));
  for (const driver of drivers) if (Symbol.asyncDispose in driver) opened.use(driver as AsyncDisposable);
  return findings.flat();
}

async function checkDriver(driver: SandboxDriver, isFirst: boolean): Promise<DoctorFinding[]> {
  const { works, version, problem, weaknesses, holes = [] } = await driver.probe();
  const name = `sandbox: ${driver.name} (${driver.isolation})`;
  if (works) {
    return [
      { name, state: 'ok', message: version ?? 'works' },
      ...holes.map(({ text }): DoctorFinding => ({ name, state: 'warning', message: text })),
      ...[...refusals(driver), ...weaknesses].map((message): DoctorFinding => ({ name, state: 'limit', message })),
    ];
  }
  const message = problem ?? 'does not work here';
  if (!isFirst) return [{ name, state: 'absent', message }];
  return [{ name, state: 'failed', message, hint: 'Without it shell tools and stdio MCP servers are refused.' }];
}

/** Features that a driver refuses to every tool, even when it works (SBX-04). */
function refusals({ supports }: SandboxDriver): readonly string[] {
  return [
    ...(supports.egress ? [] : ['It lets no tool out: one with permissions.network needs another driver (E3104).']),
    ...(supports.mounts ? [] : ['It shows no folders: a tool with permissions.filesystem needs another one (E3105).']),
  ];
}
