import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { renameMembers } from './rename-members.ts';
import { SchemaPlaces } from './schema-places.ts';

type Arguments = Readonly<Record<string, unknown>>;

interface Names {
  readonly places: SchemaPlaces;
  /** From the name in the schema to the original name. */
  readonly toOriginal: ReadonlyMap<string, string>;
  readonly toShown: ReadonlyMap<string, string>;
}

/** Computed at the first call of a tool version, and cached as long as its manifest lives. */
const known = new WeakMap<ToolManifest, Names>();

function namesOf(manifest: ToolManifest): Names | undefined {
  const given = manifest.executor.property_names;
  if (given === undefined) return undefined;
  let names = known.get(manifest);
  if (names === undefined) {
    const entries = Object.entries(given);
    names = {
      places: new SchemaPlaces(manifest.parameters_schema),
      toOriginal: new Map(entries),
      toShown: new Map(entries.map(([shown, original]) => [original, shown])),
    };
    known.set(manifest, names);
  }
  return names;
}

/**
 * Arguments for the tool itself: under the names of its document, before they were renamed for the providers of models
 * (`executor.property_names`). The same object for a tool without renamed properties.
 * @throws ToolLayerError E3509 when a property is given under both names
 */
export function originalArguments(manifest: ToolManifest, given: Arguments): Arguments {
  const names = namesOf(manifest);
  if (names === undefined) return given;
  const { places, toOriginal } = names;
  const schemas = places.together(manifest.parameters_schema);
  return renameMembers(given, schemas, places, toOriginal, (at, name) => {
    throw givenTwice(at, name, toOriginal.get(name) ?? name);
  }) as Arguments;
}

function givenTwice(at: readonly string[], name: string, original: string): ToolLayerError {
  const path = pointerTo(at.reduce(pointerTo, ''), name);
  const message = `is given a second time as ${JSON.stringify(original)}`;
  return new ToolLayerError('E3509', `The argument ${path} ${message}. Give it once, as ${name}.`, {
    details: { faults: [{ path, code: 'E3509', keyword: 'property_names', message }] },
  });
}

/** Faults that a tool itself found in its arguments, under the names that its caller knows. */
export function underShownNames(manifest: ToolManifest, thrown: unknown): unknown {
  const names = namesOf(manifest);
  if (names === undefined || !(thrown instanceof ToolLayerError) || thrown.code !== 'E3509') return thrown;
  const { failure } = thrown;
  const faults = failure.details?.['faults'];
  if (!Array.isArray(faults)) return thrown;
  const shown = (faults as Fault[]).map((fault) => ({ ...fault, path: shownPointer(fault.path, names.toShown) }));
  let message = failure.message;
  for (const [index, { path }] of (faults as Fault[]).entries()) {
    if (path !== '') message = message.replaceAll(path, shown[index]?.path ?? path);
  }
  return ToolLayerError.of({ ...failure, message, details: { ...failure.details, faults: shown } });
}

function shownPointer(pointer: string, toShown: ReadonlyMap<string, string>): string {
  const segments = pointer.split('/').slice(1);
  return segments
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((at, name) => pointerTo(at, toShown.get(name) ?? name), '');
}
