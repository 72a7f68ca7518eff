import type { DetailedError } from '@cedar-policy/cedar-wasm/web';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { PolicyFile } from '../../policies/policy-files.ts';
import type { PolicyFault } from '../../policy-engine.port.ts';
import { impossibleComparison } from './attributes-used.ts';
import { type Cedar, readPolicy } from './cedar-module.ts';
import { CEDAR_SCHEMA } from './cedar-schema.ts';
import { policyHead } from './policy-head.ts';

/** One policy and its position. */
export interface ParsedPolicy {
  /** `<file>:<@id>`, or `<file>:<place in the file>` without one. */
  readonly name: string;
  readonly text: string;
  readonly effect: 'allow' | 'deny';
  readonly file: string;
  /** Its first line, from 1. */
  readonly line: number;
  /** Decides only for the record (PIPE-15). */
  readonly shadow: boolean;
}

/** Result of parsing some files. */
export interface ParsedPolicies {
  readonly policies: readonly ParsedPolicy[];
  /** Faulty policies in shadow mode; they never keep the others out of force. */
  readonly leftOut: readonly PolicyFault[];
}

/** Most policies of one folder. */
const POLICIES_MAX = 10_000;
/** Name of a file whose policies are all in shadow mode. */
const SHADOW_FILE = /\.shadow\.cedar$/;

/**
 * Policies as one text, which the module reads four times faster than a table of them. It numbers them in order:
 * `policy0`, `policy1` and so on.
 */
export const joined = (policies: readonly { readonly text: string }[]): string =>
  policies.map(({ text }) => text).join('\n');

/** Index of a policy in a joined text, from the module's name for it. */
export const placeOf = (policyId: string): number => Number(policyId.slice('policy'.length));

/** The module's message, with its policy names replaced by ours. */
export const inOurNames = (message: string, nameOf: (place: number) => string | undefined): string =>
  message.replaceAll(/`?\bpolicy(\d+)\b`?/g, (own: string, place: string) => {
    const name = nameOf(Number(place));
    return name === undefined ? own : `"${name}"`;
  });

/** Position of a policy in its file. */
interface Placed extends ParsedPolicy {
  readonly source: PolicyFile;
  /** Byte offset in the file's UTF-8. */
  readonly offset: number;
}

/**
 * Parses policies. A policy is named by its file and its `@id` annotation, or by its position in the file without one.
 * @throws E3214 with file and line for a policy that does not parse, does not fit the schema, can never match, is a
 *   template or has a duplicate name; faults of policies in shadow mode are reported in `leftOut` instead
 */
export function parsePolicies(cedar: Cedar, files: readonly PolicyFile[]): ParsedPolicies {
  const leftOut: PolicyFault[] = [];
  const taken = new Map<string, Placed>();
  for (const file of files) {
    const inFile = orLeftOut(SHADOW_FILE.test(file.name), leftOut, () => policiesOf(cedar, file)) ?? [];
    for (const policy of inFile) {
      orLeftOut(policy.shadow, leftOut, () => {
        checkAlone(cedar, policy, taken);
        taken.set(policy.name, policy);
      });
    }
    if (taken.size > POLICIES_MAX)
      throw new ToolLayerError('E3214', `There are more than ${POLICIES_MAX} policies. Say more with fewer.`);
  }
  for (const [name, fault] of schemaFaults(cedar, taken)) {
    orLeftOut(taken.get(name)?.shadow === true, leftOut, () => {
      throw fault;
    });
    taken.delete(name);
  }
  const policies = [...taken.values()].map(({ source: _source, offset: _offset, ...policy }) => policy);
  return { policies, leftOut };
}

/** Runs a step; a fault of a policy in shadow mode is recorded and goes no further. */
function orLeftOut<T>(shadow: boolean, leftOut: PolicyFault[], work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (!shadow) throw thrown;
    const { message, details } = failureOf(thrown);
    leftOut.push({ message, ...details });
    return undefined;
  }
}

function policiesOf(cedar: Cedar, file: PolicyFile): readonly Placed[] {
  const parts = cedar.policySetTextToParts(file.text);
  // Nothing but its position is known yet.
  if (parts.type === 'failure') throw faultOf(file, 0, parts.errors[0], (place) => `${file.name}:${place + 1}`);
  const [template] = parts.policy_templates;
  if (template !== undefined)
    throw faultIn(file, byteOffset(file.text, template), 'templates are not supported. Name the entities.');
  let [line, offset, from] = [1, 0, 0];
  return placed(file.text, parts.policies).map(({ text, at }, index) => {
    const before = file.text.slice(from, at);
    line += before.split('\n').length - 1;
    offset += Buffer.byteLength(before);
    from = at;
    const { effect, annotations } = policyHead(cedar, text);
    const shadow = isShadow(file, offset, annotations['mode']) || SHADOW_FILE.test(file.name);
    const name = `${file.name}:${annotations['id'] ?? index + 1}`;
    return { name, text, effect, file: file.name, line, shadow, source: file, offset };
  });
}

/** The module lists the policies in the order of their numbers as text: 0, 1, 10, 11, 2. */
function placed(file: string, parts: readonly string[]): readonly { text: string; at: number }[] {
  const order = parts.map((_, index) => index).sort((a, b) => (String(a) < String(b) ? -1 : 1));
  const inFile: string[] = [];
  for (const [index, number] of order.entries()) inFile[number] = parts[index] ?? '';
  let from = 0;
  return inFile.map((text) => {
    const at = Math.max(from, file.indexOf(text, from));
    from = at + text.length;
    return { text, at };
  });
}

function isShadow(file: PolicyFile, offset: number, mode = 'enforce'): boolean {
  if (mode === 'enforce' || mode === 'shadow') return mode === 'shadow';
  throw faultIn(file, offset, `@mode("${mode}") is not known. Write "shadow" or "enforce".`);
}

function checkAlone(cedar: Cedar, { source, offset, name, text }: Placed, taken: ReadonlyMap<string, Placed>): void {
  if (taken.has(name)) throw faultIn(source, offset, `the name "${name}" is used twice. Change its @id.`);
  const impossible = impossibleComparison(text, () => readPolicy(cedar, text).conditions);
  if (impossible !== undefined) throw faultIn(source, offset, `${impossible}.`);
}

/** Faults by policy name. */
function schemaFaults(
  cedar: Cedar,
  policies: ReadonlyMap<string, Placed>,
): readonly (readonly [string, ToolLayerError])[] {
  const inOrder = [...policies.values()];
  const nameOf = (place: number): string | undefined => inOrder[place]?.name;
  const answer = cedar.validate({
    schema: CEDAR_SCHEMA,
    policies: { staticPolicies: joined(inOrder) },
    validationSettings: { mode: 'strict' },
  });
  if (answer.type === 'failure')
    throw new ToolLayerError(
      'E3214',
      `The policies cannot be checked: ${inOurNames(answer.errors[0]?.message ?? 'no reason given', nameOf)}.`,
    );
  return answer.validationErrors.map(({ policyId, error }) => {
    const place = placeOf(policyId);
    const policy = inOrder[place];
    if (policy === undefined)
      throw new ToolLayerError('E3214', `The policies do not fit the schema: ${inOurNames(error.message, nameOf)}.`);
    // The module counts bytes in the joined text.
    const before = inOrder.slice(0, place).reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    return [policy.name, faultOf(policy.source, policy.offset - before, error, nameOf)];
  });
}

function faultOf(
  file: PolicyFile,
  base: number,
  error: DetailedError | undefined,
  nameOf: (place: number) => string | undefined,
): ToolLayerError {
  const location = error?.sourceLocations?.[0];
  const expected = location?.label ? ` (${location.label})` : '';
  const help = error?.help ? ` ${error.help}` : '';
  const what = inOurNames(`${error?.message ?? 'does not parse'}${expected}.${help}`, nameOf);
  return faultIn(file, base + (location?.start ?? 0), what);
}

function faultIn(file: PolicyFile, offset: number, what: string): ToolLayerError {
  const line = Buffer.from(file.text).subarray(0, offset).toString().split('\n').length;
  return new ToolLayerError('E3214', `Policy file ${file.name}, line ${line}: ${what}`, {
    details: { file: file.name, line },
  });
}

const byteOffset = (text: string, part: string): number =>
  Buffer.byteLength(text.slice(0, Math.max(0, text.indexOf(part))));
