import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../../../../api/schemas/error.ts';
import { readYaml, sayFault } from '../../../../domain/shape/read-yaml.ts';
import { asNode, type Node } from './json.ts';
import { fromSwagger2 } from './swagger-2.ts';

/** Largest JSON document, in UTF-16 units. */
const JSON_CHARS_MAX = 32 * MiB;
/** Largest YAML document; reading YAML costs some fifty times as much as JSON. */
const YAML_CHARS_MAX = 4 * MiB;
/** Faults that are reported of one document. */
const FAULTS_MAX = 20;

/** A parsed document, always in the form of OpenAPI 3. */
export interface OpenApiDocument {
  readonly root: Node;
  /** Dialect of its schemas: that of 3.0 (and 2.0), or 2020-12. */
  readonly dialect: '3.0' | '3.1';
}

/**
 * Parses JSON or YAML text of OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0.
 * @throws ToolLayerError E3008 with each fault and its place
 */
export function parseDocument(text: string): OpenApiDocument {
  const trimmed = text.trimStart().replace(/^\uFEFF/, '');
  const root = asNode(/^[{[]/.test(trimmed) ? fromJson(trimmed) : fromYaml(text));
  if (root === undefined) throw refused([fault('', 'type', 'the document must be an object')]);
  const version = String(root['openapi'] ?? root['swagger'] ?? '');
  if ('paths' in root && asNode(root['paths']) === undefined) {
    throw refused([fault('/paths', 'type', 'must be an object with one member for each path')]);
  }
  if (root['openapi'] === undefined && version.startsWith('2')) return { root: fromSwagger2(root), dialect: '3.0' };
  // Unquoted YAML turns 3.0 into the number 3.
  if (/^3(?:\.0|$)/.test(version)) return { root, dialect: '3.0' };
  if (/^3\.[12]/.test(version)) return { root, dialect: '3.1' };
  const said = version === '' ? 'says no version' : `says ${JSON.stringify(version.slice(0, 20))}`;
  throw refused([fault('/openapi', 'version', `the document ${said}; 3.0, 3.1, 3.2 and Swagger 2.0 can be read`)]);
}

function fromJson(text: string): unknown {
  if (text.length > JSON_CHARS_MAX) throw tooLarge(text.length, JSON_CHARS_MAX);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refused([fault('', 'json', `no valid JSON: ${(cause as Error).message}`)], cause);
  }
}

function fromYaml(text: string): unknown {
  if (text.length > YAML_CHARS_MAX) throw tooLarge(text.length, YAML_CHARS_MAX);
  const read = readYaml(text);
  if ('value' in read) return read.value;
  throw refused(read.faults.slice(0, FAULTS_MAX).map((each) => fault('', 'yaml', `no valid YAML: ${sayFault(each)}`)));
}

const tooLarge = (chars: number, max: number): ToolLayerError =>
  refused([fault('', 'size', `the document has ${chars} characters, more than ${max}`)]);

const fault = (path: string, keyword: string, message: string): Fault => ({ path, code: 'E3008', keyword, message });

function refused(faults: readonly Fault[], cause?: unknown): ToolLayerError {
  const [first] = faults;
  const place = first?.path === '' ? '' : `${first?.path}: `;
  return new ToolLayerError('E3008', `The OpenAPI document cannot be imported: ${place}${first?.message}.`, {
    details: { faults },
    cause,
  });
}
