import type { DetailedError } from '@cedar-policy/cedar-wasm/nodejs';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { CEDAR_SCHEMA } from './cedar-schema.ts';
import type { PolicyFile } from './policy-files.ts';

/** The WebAssembly module's functions. */
export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** Where a policy stands in its file. */
interface Origin {
  readonly file: PolicyFile;
  /** Byte offset in the file's UTF-8. */
  readonly offset: number;
}

/**
 * The policies of some files as a map from name to text. A policy is named by its file and its `@id` annotation, or its
 * position in the file when it has none: `default.cedar:permit-all`, `default.cedar:2`.
 * @throws E3900 with file and line for what does not parse, does not fit the schema, is a template or has a name twice
 */
export function parsePolicies(cedar: Cedar, files: readonly PolicyFile[]): Readonly<Record<string, string>> {
  const policies: Record<string, string> = {};
  const origins = new Map<string, Origin>();
  for (const file of files) {
    for (const { name, text, offset } of policiesOf(cedar, file)) {
      if (origins.has(name)) throw faultIn(file, offset, `the name "${name}" is used twice. Change its @id.`);
      policies[name] = text;
      origins.set(name, { file, offset });
    }
  }
  checkAgainstSchema(cedar, policies, origins);
  return policies;
}

function policiesOf(cedar: Cedar, file: PolicyFile): { name: string; text: string; offset: number }[] {
  const parts = cedar.policySetTextToParts(file.text);
  if (parts.type === 'failure') throw faultOf(file, 0, parts.errors[0]);
  const template = parts.policy_templates[0];
  if (template !== undefined)
    throw faultIn(
      file,
      byteOffset(file.text, file.text.indexOf(template)),
      'templates are not supported. Name the entities.',
    );
  // The parts come in another order than they stand in the file.
  const taken = new Set<number>();
  const placed = parts.policies.map((text) => {
    let at = file.text.indexOf(text);
    while (taken.has(at) && at !== -1) at = file.text.indexOf(text, at + 1);
    taken.add(at);
    return { text, at };
  });
  placed.sort((a, b) => a.at - b.at);
  return placed.map(({ text, at }, index) => {
    const offset = byteOffset(file.text, at);
    const json = cedar.policyToJson(text);
    if (json.type === 'failure') throw faultOf(file, offset, json.errors[0]);
    return { name: `${file.name}:${json.json.annotations?.['id'] ?? index + 1}`, text, offset };
  });
}

function checkAgainstSchema(
  cedar: Cedar,
  staticPolicies: Record<string, string>,
  origins: ReadonlyMap<string, Origin>,
): void {
  const answer = cedar.validate({
    schema: CEDAR_SCHEMA,
    policies: { staticPolicies },
    validationSettings: { mode: 'strict' },
  });
  if (answer.type === 'failure')
    throw new ToolLayerError(
      'E3900',
      `The policies cannot be checked: ${answer.errors[0]?.message ?? 'no reason given'}.`,
    );
  const [fault] = answer.validationErrors;
  const origin = fault === undefined ? undefined : origins.get(fault.policyId);
  if (fault !== undefined && origin === undefined)
    throw new ToolLayerError('E3900', `The policies do not fit the schema: ${fault.error.message}.`);
  if (fault !== undefined && origin !== undefined) throw faultOf(origin.file, origin.offset, fault.error);
}

function faultOf(file: PolicyFile, base: number, error: DetailedError | undefined): ToolLayerError {
  const location = error?.sourceLocations?.[0];
  const expected = location?.label === undefined || location.label === null ? '' : ` (${location.label})`;
  const help = error?.help === undefined || error.help === null ? '' : ` ${error.help}`;
  return faultIn(file, base + (location?.start ?? 0), `${error?.message ?? 'does not parse'}${expected}.${help}`);
}

function faultIn(file: PolicyFile, offset: number, what: string): ToolLayerError {
  const line = Buffer.from(file.text).subarray(0, offset).toString().split('\n').length;
  return new ToolLayerError('E3900', `Policy file ${file.name}, line ${line}: ${what}`, {
    details: { file: file.name, line },
  });
}

const byteOffset = (text: string, index: number): number => Buffer.byteLength(text.slice(0, Math.max(0, index)));
