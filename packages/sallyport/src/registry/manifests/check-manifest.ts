import { isAbsolute, normalize } from 'node:path/posix';
import { MiB } from '@sallyport/std/bytes';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { validRange } from 'semver';
import type { Fault } from '../../../api/schemas/error.ts';
import { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { documentFaults } from '../../domain/document/document-parameter.ts';
import { kindsWith, traitsOf } from '../../domain/tool/executor-kinds.ts';
import { FAULTS_MAX, wireCheck } from '../wire-faults.ts';

/** Largest manifest as JSON text, in UTF-16 units. */
export const MANIFEST_CHARS_MAX = 1 * MiB;
/** Deepest nesting of a manifest; more would exhaust the stack of code that walks it. */
export const MANIFEST_DEPTH_MAX = 200;

/** Checks a schema document; pointers start at the schema's root. Empty when it compiles. */
export type CompileSchema = (schema: Record<string, unknown>) => readonly Fault[];

/** Checks of a manifest beyond its wire schema. */
export interface ManifestChecks {
  readonly compileSchema: CompileSchema;
  /** Faults of `executor.config`, with pointers from the manifest's root. */
  readonly configFaults: (manifest: ToolManifest) => readonly Fault[];
}

const matchesContract = wireCheck(ToolManifest, 'E3008');

/**
 * The manifest as a plain JSON copy, or E3008 with every fault in `details.faults`; E3403 when only its circuit is
 * faulty. The copy is stored, so later changes by the caller have no effect.
 */
export function checkManifest(given: unknown, checks: ManifestChecks): ToolManifest | Failure {
  const copy = plainJson(given);
  if (copy === undefined) return refusal(given, [sizeFault(given)]);
  const shape = matchesContract(copy).map(ofCircuit);
  const faults = [...shape, ...deeperFaults(copy, shape, checks)];
  return faults.length === 0 ? (copy as ToolManifest) : refusal(copy, faults.slice(0, FAULTS_MAX));
}

/** Checks of each part beyond its shape. A part of a wrong shape is skipped. */
function deeperFaults(copy: unknown, shape: readonly Fault[], checks: ManifestChecks): Fault[] {
  const isSound = (...members: string[]): boolean =>
    members.every(
      (member) => !shape.some(({ path }) => path !== '' && (isIn(path, member) || `/${member}`.startsWith(`${path}/`))),
    );
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) return [];
  const manifest = copy as ToolManifest;
  return [
    ...(isSound('parameters_schema') ? parametersFaults(manifest, checks.compileSchema) : []),
    ...(isSound('result_schema') ? resultFaults(manifest, checks.compileSchema) : []),
    ...(isSound('permissions/filesystem') ? pathFaults(manifest) : []),
    ...(isSound('permissions/network') ? hostFaults(manifest) : []),
    ...(isSound('compatibility_range') ? rangeFaults(manifest) : []),
    ...(isSound('document_dependencies', 'executor', 'parameters_schema') ? documentFaults(manifest) : []),
    ...(isSound('executor') ? propertyNameFaults(manifest) : []),
    ...(isSound('executor', 'parameters_schema', 'permissions', 'execution_config')
      ? checks.configFaults(manifest)
      : []),
  ];
}

/** Faults of a manifest's circuit have a code of their own (CIR-01). */
const ofCircuit = (found: Fault): Fault => (isIn(found.path, CIRCUIT) ? { ...found, code: CIRCUIT_FAULT } : found);

const CIRCUIT = 'execution_config/circuit_breaker_config';
const CIRCUIT_FAULT = 'E3403';

const isIn = (path: string, member: string): boolean => path === `/${member}` || path.startsWith(`/${member}/`);

/** Names the oversized member, when it is a single one. */
function sizeFault(given: unknown): Fault {
  const message = `not JSON of at most ${MANIFEST_CHARS_MAX} characters and ${MANIFEST_DEPTH_MAX} levels`;
  const large =
    typeof given === 'object' && given !== null ? Object.entries(given).find(([, value]) => isLarge(value)) : undefined;
  return fault(large === undefined ? '' : pointerTo('', large[0]), 'size', message);
}

const isLarge = (value: unknown): boolean => value !== undefined && plainJson(value) === undefined;

function plainJson(given: unknown): unknown {
  try {
    const text = JSON.stringify(given);
    if (text === undefined || text.length > MANIFEST_CHARS_MAX) return undefined;
    const copy: unknown = JSON.parse(text);
    return isDeeper(copy, MANIFEST_DEPTH_MAX) ? undefined : copy;
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function parametersFaults({ parameters_schema: parameters }: ToolManifest, compileSchema: CompileSchema): Fault[] {
  const faults = below('/parameters_schema', compileSchema(parameters));
  if (parameters['type'] === 'object') return faults;
  const hint = 'Write "type": "object"; arguments are always one JSON object.';
  return [{ ...fault('/parameters_schema/type', 'type', 'must be "object"'), hint }, ...faults];
}

function resultFaults({ result_schema: result }: ToolManifest, compileSchema: CompileSchema): Fault[] {
  return result === undefined ? [] : below('/result_schema', compileSchema(result));
}

const below = (pointer: string, faults: readonly Fault[]): Fault[] =>
  faults.map((found) => ({ ...found, code: 'E3008', path: pointer + found.path }));

function pathFaults({ permissions }: ToolManifest): Fault[] {
  return (permissions?.filesystem ?? []).flatMap(({ path }, index) =>
    isAbsolute(path) && normalize(path) === path && !path.includes('\0')
      ? []
      : [fault(`/permissions/filesystem/${index}/path`, 'path', 'must be an absolute path without . or .. or //')],
  );
}

function hostFaults({ permissions, executor }: ToolManifest): Fault[] {
  const takesPatterns = traitsOf(executor?.kind).hostPatterns === true;
  const host = takesPatterns ? HOST_OR_PATTERN : HOST;
  const message = takesPatterns
    ? 'must be a host name or IP literal, *.name for those below a name, or * for any public host'
    : 'must be a host name or IP literal, without scheme, port or *';
  return (permissions?.network ?? []).flatMap((row, index) =>
    host.test(row.host) ? [] : [fault(`/permissions/network/${index}/host`, 'host', message)],
  );
}

const HOST = /^[A-Za-z0-9._:-]+$/;
const HOST_OR_PATTERN = /^(?:\*|\*\.[A-Za-z0-9._-]+|[A-Za-z0-9._:-]+)$/;

function rangeFaults({ compatibility_range: range }: ToolManifest): Fault[] {
  if (range === undefined || range === 'latest' || validRange(range) !== null) return [];
  return [fault(pointerTo('', 'compatibility_range'), 'range', 'must be a version or a SemVer range such as ^2.1.0')];
}

function propertyNameFaults({ executor }: ToolManifest): Fault[] {
  const { kind, property_names: names } = executor ?? {};
  if (names === undefined) return [];
  const at = '/executor/property_names';
  if (traitsOf(kind).renamesProperties !== true)
    return [fault(at, 'kind', `is for tools of kind ${kindsWith('renamesProperties').join(', ')}`)];
  const originals = Object.values(names);
  return Object.entries(names).flatMap(([name, original], index) =>
    originals.indexOf(original) === index
      ? []
      : [fault(pointerTo(at, name), 'unique', 'names a property that another name is for already')],
  );
}

const fault = (path: string, keyword: string, message: string): Fault => ({ path, code: 'E3008', keyword, message });

function refusal(manifest: unknown, faults: readonly Fault[]): Failure {
  const id = (manifest as { tool_id?: unknown } | null)?.tool_id;
  const name = typeof id === 'string' ? ` of ${JSON.stringify(id.slice(0, 128))}` : '';
  const [first] = faults;
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults, the first`;
  const code = faults.every((each) => each.code === CIRCUIT_FAULT) ? CIRCUIT_FAULT : 'E3008';
  return failure(code, `The manifest${name} has ${count}: ${first?.path || '(root)'} ${first?.message}.`, {
    details: { faults },
  });
}
