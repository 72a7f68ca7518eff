import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { isObject } from '../shape/is-object.ts';
import { traitsOf } from '../tool/executor-kinds.ts';
import { readDocumentRef } from './document-ref.ts';

/** Keyword that marks the parameter in which a tool gets its documents: the layer sets it, and no caller. */
export const DOCUMENTS_KEYWORD = 'x-documents';

const parameters = new WeakMap<ToolManifest, string | undefined>();

/** The top-level parameter that a manifest marks with `x-documents: true`; undefined for none. Computed once. */
export function documentParameter(manifest: ToolManifest): string | undefined {
  if (parameters.has(manifest)) return parameters.get(manifest);
  const marked = markedIn(manifest)[0];
  parameters.set(manifest, marked);
  return marked;
}

function markedIn({ parameters_schema: schema }: ToolManifest): readonly string[] {
  const properties = schema['properties'];
  if (!isObject(properties)) return [];
  return Object.keys(properties).filter((name) => {
    const property = properties[name];
    return isObject(property) && property[DOCUMENTS_KEYWORD] === true;
  });
}

/** True when a tool has a way to get documents. */
export function takesDocuments(manifest: ToolManifest): boolean {
  const { takesDocuments: how } = traitsOf(manifest.executor.kind);
  return how === 'always' || (how === 'marked' && documentParameter(manifest) !== undefined);
}

/** Faults of the documents in a manifest: dependencies of a tool that gets none, and marks that nobody would fill. */
export function documentFaults(manifest: ToolManifest): readonly Fault[] {
  return [...dependencyFaults(manifest), ...markFaults(manifest)];
}

function dependencyFaults(manifest: ToolManifest): readonly Fault[] {
  const { document_dependencies: dependencies = [], executor } = manifest;
  if (dependencies.length === 0) return [];
  const at = '/document_dependencies';
  if (!takesDocuments(manifest)) {
    const how = traitsOf(executor.kind).takesDocuments;
    const message = `a tool of kind ${executor.kind} gets no documents`;
    const hint = how === undefined ? 'Leave it out.' : `Mark the parameter for them with "${DOCUMENTS_KEYWORD}": true.`;
    return [{ path: at, code: 'E3008', keyword: 'unsupported', message, hint }];
  }
  return dependencies.flatMap(({ document_pattern: pattern }, index) =>
    readDocumentRef(pattern) === undefined
      ? [
          {
            path: `${at}/${index}/document_pattern`,
            code: 'E3008',
            keyword: 'pattern',
            message: 'is no id of a document, and no pattern of ids',
            hint: 'Write an id such as spec:requirements, ID@VERSION, or a pattern such as spec:requirements-*.',
          },
        ]
      : [],
  );
}

function markFaults(manifest: ToolManifest): readonly Fault[] {
  const [first, ...more] = markedIn(manifest);
  if (first === undefined) return [];
  const fault = (name: string, message: string, hint: string): Fault => ({
    path: pointerTo('/parameters_schema/properties', name),
    code: 'E3008',
    keyword: DOCUMENTS_KEYWORD,
    message,
    hint,
  });
  const { required } = manifest.parameters_schema;
  const isRequired = Array.isArray(required) && required.includes(first);
  return [
    ...more.map((name) => fault(name, 'is marked for documents, as another parameter is', 'Mark one parameter.')),
    ...(isRequired
      ? [fault(first, 'is set by the layer, so no caller can be required to', 'Take it out of "required".')]
      : []),
  ];
}
