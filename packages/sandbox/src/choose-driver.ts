import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import {
  type DriverProbe,
  ISOLATION_LEVELS,
  type IsolationLevel,
  type LimitName,
  type SandboxDriver,
  type SandboxSpec,
} from './driver.port.ts';
import { anyWritable } from './linux/mounts.ts';

/** What an operator demands of every driver. */
export interface Demands {
  /** Limits that have to be kept in full. */
  readonly limits?: readonly LimitName[];
  /** Whether the driver's program must have a known version and no known hole. */
  readonly withoutHoles?: boolean;
}

/**
 * One driver made of several: each sandbox is made by the first, in the given order, that stands as strong as the spec asks,
 * can do what it needs and works on this machine. None below it is ever tried (SBX-02).
 * @param drivers most preferred first; at least one
 * @param atLeast what stands between any tool and the host, whatever its spec says; default `namespaces`
 * @param demands what nothing runs without; default none
 */
export function chooseDriver(
  drivers: readonly SandboxDriver[],
  atLeast: IsolationLevel = 'namespaces',
  demands: Demands = {},
): SandboxDriver {
  // Where nothing else is configured, the operator's tools are those of the image.
  const imagesOnly = drivers.every(({ supports }) => supports.programs !== 'host');
  const wanted = (spec: SandboxSpec): IsolationLevel => stronger(atLeast, spec.isolation ?? atLeast);
  return {
    name: drivers.map(({ name }) => name).join(', '),
    isolation: atLeast,
    supports: {
      egress: drivers.some(({ supports }) => supports.egress),
      mounts: drivers.some(({ supports }) => supports.mounts),
      programs: 'host',
    },
    probe: () => firstProbe(drivers, demands),
    async start(spec) {
      const level = wanted(spec);
      const unfits: Unfit[] = [];
      for (const driver of drivers) {
        const unfit =
          unfitFor(driver, spec, level, imagesOnly) ??
          (await driver.probe().then((probe) => brokenBy(probe, demands, spec)));
        if (unfit === undefined) return driver.start(spec);
        unfits.push({ ...unfit, why: `${driver.name}: ${unfit.why}` });
      }
      throw noDriver(unfits, spec, level);
    },
  };
}

/** Whether the first level is as strong as the second, or stronger. */
export function isAsStrong(level: IsolationLevel, asked: IsolationLevel): boolean {
  return ISOLATION_LEVELS.indexOf(level) >= ISOLATION_LEVELS.indexOf(asked);
}

function stronger(one: IsolationLevel, other: IsolationLevel): IsolationLevel {
  return isAsStrong(one, other) ? one : other;
}

/** Why one driver cannot run a spec. */
interface Unfit {
  readonly why: string;
  /** What it cannot show, where that alone keeps it from running the spec. */
  readonly lacks?: 'folders' | 'network';
  /** Whether it would run the spec if it worked here. */
  readonly broken?: true;
}

/** Why a driver cannot run a spec even where it works; undefined when it can. */
function unfitFor(
  { isolation, supports }: SandboxDriver,
  spec: SandboxSpec,
  level: IsolationLevel,
  imagesOnly: boolean,
): Unfit | undefined {
  if (!isAsStrong(isolation, level)) return { why: `it gives ${isolation} only` };
  if (supports.programs === 'javascript') return { why: 'it runs JavaScript only' };
  // A program of the host's name in some image may be another program.
  if (supports.programs === 'image' && spec.isolation === undefined && !imagesOnly)
    return { why: 'it runs programs of its own image, and the tool asks for no isolation of that kind' };
  if (!supports.mounts && spec.mounts.length > 0) return { why: 'it shows no folders of the host', lacks: 'folders' };
  if (!supports.egress && spec.network.length > 0) return { why: 'it has no way out to the network', lacks: 'network' };
  return undefined;
}

function brokenBy(
  { works, problem, weakerLimits = [], weakerWithFolders = [], holes = [] }: DriverProbe,
  { limits: required = [], withoutHoles = false }: Demands,
  { mounts }: Pick<SandboxSpec, 'mounts'> = { mounts: [] },
): Unfit | undefined {
  if (!works) return { why: problem ?? 'it does not work here', broken: true };
  if (withoutHoles && holes.length > 0) {
    return { why: `sandbox.refuse_known_holes is set. ${holes.map(({ text }) => text).join(' ')}`, broken: true };
  }
  const weaker = anyWritable(mounts) ? [...weakerLimits, ...weakerWithFolders] : weakerLimits;
  const missing = required.filter((name) => weaker.includes(name));
  if (missing.length === 0) return undefined;
  const why = `it cannot keep these limits of sandbox.require_limits in full here: ${missing.join(', ')}`;
  return { why, broken: true };
}

/** Where the strong enough drivers lack the same, calling again changes nothing: it is the tool's permission that cannot be given. */
function noDriver(unfits: readonly Unfit[], spec: SandboxSpec, level: IsolationLevel): ToolLayerError {
  const where = `No sandbox of the isolation ${level} or stronger can run this tool here (${unfits.map(({ why }) => why).join('; ')}).`;
  const lacking = unfits.filter(({ lacks }) => lacks !== undefined);
  const isLacking = lacking.length > 0 && unfits.every(({ broken }) => broken !== true);
  const [address, mount] = [spec.network[0], spec.mounts[0]];
  if (isLacking && mount !== undefined && lacking.every(({ lacks }) => lacks === 'folders')) {
    const message = `${where} Take its permissions.filesystem away, ask for less isolation, or add a driver that shows folders to sandbox.drivers.`;
    return new ToolLayerError('E3105', message, { details: { path: mount.path, isolation: level } });
  }
  if (isLacking && address !== undefined && lacking.every(({ lacks }) => lacks === 'network')) {
    const message = `${where} Take its permissions.network away, ask for less isolation, or add a driver with a way out to sandbox.drivers.`;
    const { host, port } = address;
    return new ToolLayerError('E3104', message, { details: { host, port, isolation: level } });
  }
  return new ToolLayerError('E3101', `${where} See sallyport doctor.`, { details: { isolation: level } });
}

/** That of the first driver that works and keeps what is required, or of the first of all. */
async function firstProbe(drivers: readonly SandboxDriver[], demands: Demands): Promise<DriverProbe> {
  const probes = await Promise.all(drivers.map((driver) => driver.probe()));
  const found = probes.find((probe) => brokenBy(probe, demands) === undefined) ?? probes[0];
  if (found === undefined) return { works: false, problem: 'No sandbox driver is configured.', weaknesses: [] };
  const unfit = brokenBy(found, demands);
  return unfit === undefined || !found.works
    ? found
    : { ...found, works: false, problem: `${drivers[0]?.name}: ${unfit.why}.` };
}
