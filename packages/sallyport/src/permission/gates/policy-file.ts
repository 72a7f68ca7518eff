import { readSmallText } from '@sallyport/std/files/read-small-text';
import { Type } from 'typebox';
import { InvocationPhase } from '../../../api/schemas/invocation.ts';
import { fileFault, parseTomlAs } from '../../domain/settings/toml-file.ts';

/** A phase that a caller may state, or `unstated` (PRM-09). */
export type PhaseOfPolicies = InvocationPhase | 'unstated';

/** Policies in plain language: for every call, and in addition for the calls of each phase. */
export interface GatePolicies {
  readonly always: readonly string[];
  readonly phases: Readonly<Partial<Record<PhaseOfPolicies, readonly string[]>>>;
}

/** Most policies that judge one call, of each list. */
const POLICIES_MAX = 100;

const Policies = Type.Array(Type.String({ pattern: '\\S' }), { maxItems: POLICIES_MAX });
const phases: readonly PhaseOfPolicies[] = [...InvocationPhase.enum, 'unstated'];
const File = Type.Object(
  {
    policies: Type.Optional(Policies),
    phases: Type.Optional(
      Type.Object(Object.fromEntries(phases.map((phase) => [phase, Type.Optional(Policies)])), {
        additionalProperties: false,
      }),
    ),
  },
  { additionalProperties: false },
);

/**
 * Reads `policies = [...]` and, under `[phases]`, one such list per phase.
 * @returns undefined when the file does not exist
 * @throws ToolLayerError E3801 naming the file and the faults
 */
export async function readGatePolicies(path: string): Promise<GatePolicies | undefined> {
  const fault = fileFault("file of the gate's policies", path);
  const text = await readSmallText(path, fault);
  if (text === undefined) return undefined;
  const { policies: always = [], phases: perPhase = {} } = parseTomlAs(text, File, fault);
  return { always, phases: perPhase };
}
