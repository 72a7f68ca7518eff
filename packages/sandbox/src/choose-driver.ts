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

/** An operator's demands on every driver. */
export interface Demands {
  /** Limits that must be enforced in full. */
  readonly limits?: readonly LimitName[];
  /** True when the driver's program must have a known version without known holes. */
  readonly withoutHoles?: boolean;
}

/**
 * One driver made of several: each sandbox is made by the first, in the given order, that is as strong as the spec
 * asks, can do what it needs and works on this machine. Weaker ones are never tried (SBX-02).
 * @param drivers most preferred first; at least one
 * @param atLeast least isolation between any tool and the host, whatever its spec says; default `namespaces`
 * @param demands requirements for every run; default none
 */
export function chooseDriver(
  drivers: readonly SandboxDriver[],
  atLeast: IsolationLevel = 'namespaces',
  demands: Demands = {},
): SandboxDriver {
  // When nothing else is configured, operators name programs of the image.
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

/** True when the first level is as strong as the second, or stronger. */
export function isAsStrong(level: IsolationLevel, asked: IsolationLevel): boolean {
  return ISOLATION_LEVELS.indexOf(level) >= ISOLATION_LEVELS.indexOf(asked);
}

function stronger(one: IsolationLevel, other: IsolationLevel): IsolationLevel {
  return isAsStrong(one, other) ? one : other;
}

/** Why one driver cannot run a spec. */
interface Unfit {
  readonly why: string;
  /** The capability it lacks, when that is the only reason. */
  readonly lacks?: 'folders' | 'network';
  /** True when it would run the spec if it worked here. */
  readonly broken?: true;
}

/** Why a driver cannot run a spec even when it works; undefined when it can. */
function unfitFor(
  { isolation, supports }: SandboxDriver,
  spec: SandboxSpec,
  level: IsolationLevel,
  imagesOnly: boolean,
): Unfit | undefined {
  if (!isAsStrong(isolation, level)) return { why: `it gives ${isolation} only` };
  if (supports.programs === 'javascript') return { why: 'it runs JavaScript only' };
  // In an image the same name may be another program.
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

/**
 * When the strong enough drivers all lack the same capability, retrying is useless: the tool's permission cannot be
 * granted.
 */
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

/** The probe of the first driver that works and meets the demands, or of the first of all. */
async function firstProbe(drivers: readonly SandboxDriver[], demands: Demands): Promise<DriverProbe> {
  const probes = await Promise.all(drivers.map((driver) => driver.probe()));
  const found = probes.find((probe) => brokenBy(probe, demands) === undefined) ?? probes[0];
  if (found === undefined) return { works: false, problem: 'No sandbox driver is configured.', weaknesses: [] };
  const unfit = brokenBy(found, demands);
  return unfit === undefined || !found.works
    ? found
    : { ...found, works: false, problem: `${drivers[0]?.name}: ${unfit.why}.` };
}
