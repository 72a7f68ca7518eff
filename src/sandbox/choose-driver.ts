import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import {
  type DriverProbe,
  ISOLATION_LEVELS,
  type IsolationLevel,
  type SandboxDriver,
  type SandboxSpec,
} from './driver.port.ts';

/**
 * One driver made of several: each sandbox is made by the first, in the given order, that stands as strong as the spec asks,
 * can do what it needs and works on this machine. None below it is ever tried (SBX-02).
 * @param drivers most preferred first; at least one
 * @param atLeast what stands between any tool and the host, whatever its spec says; default `namespaces`
 */
export function chooseDriver(drivers: readonly SandboxDriver[], atLeast: IsolationLevel = 'namespaces'): SandboxDriver {
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
    probe: () => firstProbe(drivers),
    async start(spec) {
      const level = wanted(spec);
      const problems: string[] = [];
      for (const driver of drivers) {
        const unfit = unfitFor(driver, spec, level, imagesOnly);
        const problem = unfit ?? (await driver.probe().then(problemOf));
        if (problem === undefined) return driver.start(spec);
        problems.push(`${driver.name}: ${problem}`);
      }
      throw new ToolLayerError(
        'E3101',
        `No sandbox of the isolation ${level} or stronger can run this tool here (${problems.join('; ')}). See sallyport doctor.`,
        { details: { isolation: level } },
      );
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

/** Why a driver cannot run a spec even where it works; undefined when it can. */
function unfitFor(
  { isolation, supports }: SandboxDriver,
  spec: SandboxSpec,
  level: IsolationLevel,
  imagesOnly: boolean,
): string | undefined {
  if (!isAsStrong(isolation, level)) return `it gives ${isolation} only`;
  if (supports.programs === 'javascript') return 'it runs JavaScript only';
  // A program of the host's name in some image may be another program.
  if (supports.programs === 'image' && spec.isolation === undefined && !imagesOnly)
    return 'it runs programs of its own image, and the tool asks for no isolation of that kind';
  if (!supports.mounts && spec.mounts.length > 0) return 'it shows no folders of the host';
  if (!supports.egress && spec.network.length > 0) return 'it has no way out to the network';
  return undefined;
}

function problemOf({ works, problem }: DriverProbe): string | undefined {
  return works ? undefined : (problem ?? 'it does not work here');
}

/** That of the first driver that works, or of the first of all. */
async function firstProbe(drivers: readonly SandboxDriver[]): Promise<DriverProbe> {
  const probes = await Promise.all(drivers.map((driver) => driver.probe()));
  const found = probes.find(({ works }) => works) ?? probes[0];
  return found ?? { works: false, problem: 'No sandbox driver is configured.', weaknesses: [] };
}
