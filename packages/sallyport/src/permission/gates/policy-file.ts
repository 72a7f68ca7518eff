import { readFile } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { InvocationPhase } from '../../../api/schemas/invocation.ts';

/** A phase that a caller may state, or `unstated` (PRM-09). */
export type PhaseOfPolicies = InvocationPhase | 'unstated';

/** Policies in plain language: for every call, and in addition for the calls of each phase. */
export interface GatePolicies {
  readonly always: readonly string[];
  readonly phases: Readonly<Partial<Record<PhaseOfPolicies, readonly string[]>>>;
}

const PHASES: readonly PhaseOfPolicies[] = [...InvocationPhase.enum, 'unstated'];
/** Most characters of a file. */
const TEXT_MAX = 64 * KiB;
/** Most policies that judge one call. */
const POLICIES_MAX = 100;

/**
 * Reads `policies = [...]` and, under `[phases]`, one such list per phase.
 * @returns undefined when the file does not exist
 * @throws ToolLayerError E3801 naming the file and the fault
 */
export async function readGatePolicies(path: string): Promise<GatePolicies | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw faulty(path, 'cannot be read', cause);
  }
  if (text.length > TEXT_MAX) throw faulty(path, `has more than ${TEXT_MAX} characters`);
  let values: Record<string, unknown>;
  try {
    values = parse(text);
  } catch (cause) {
    throw faulty(path, 'is not TOML', cause);
  }
  const { policies = [], phases = {}, ...others } = values;
  const [other] = Object.keys(others);
  if (other !== undefined) throw faulty(path, `holds "${other}"; it may hold policies and phases`);
  if (typeof phases !== 'object' || phases === null) throw faulty(path, 'holds phases that are no table');
  const always = textsOf(policies, path, 'policies');
  const perPhase = Object.entries(phases).map(([phase, list]) => {
    if (!PHASES.includes(phase as PhaseOfPolicies))
      throw faulty(path, `names a phase "${phase}"; there are ${PHASES.join(', ')}`);
    return [phase, textsOf(list, path, `phases.${phase}`)] as const;
  });
  return { always, phases: Object.fromEntries(perPhase) };
}

function textsOf(value: unknown, path: string, place: string): readonly string[] {
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string' && each.trim() !== '');
  if (!isList) throw faulty(path, `holds ${place} that is no list of texts`);
  if (value.length > POLICIES_MAX) throw faulty(path, `holds more than ${POLICIES_MAX} texts in ${place}`);
  return value as string[];
}

const faulty = (path: string, what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3801', `The file of the gate's policies ${path} ${what}.`, { cause });
