import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Field } from './keyword-index.ts';

/** One parameter of a tool as its schema describes it. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
}

/** Most parameters read in one schema. */
const PARAMETERS_MAX = 128;
/** Most levels of a schema that are read; deeper ones say little of what a tool does. */
const DEPTH_MAX = 5;
/** Most characters read of one text; what a tool does is said earlier. */
const TEXT_CHARACTERS_MAX = 4096;

/** Weights of fields. Found on the shown sets, where similar values differ little. */
const WEIGHTS = { id: 1, name: 1, description: 1, tags: 1, parameterNames: 0.5, parameterDescriptions: 0.5 } as const;
/** Usual number of words of a field. */
const USUAL_WORDS = { id: 3, name: 3, description: 10, tags: 3, parameterNames: 6, parameterDescriptions: 24 } as const;

/** The parts of a manifest for keyword search. The part of the id before `__` names the source. */
export function keywordFields(manifest: ToolManifest): Field[] {
  const parameters = parametersOf(manifest);
  const texts: Record<keyof typeof WEIGHTS, string> = {
    id: manifest.tool_id,
    name: manifest.tool_name,
    description: manifest.description,
    tags: manifest.tags?.join(' ') ?? '',
    parameterNames: parameters.map(({ name }) => name).join(' '),
    parameterDescriptions: parameters.map(({ description }) => description).join(' '),
  };
  return (Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]).map((field) => ({
    text: texts[field].slice(0, TEXT_CHARACTERS_MAX),
    weight: WEIGHTS[field],
    usualWords: USUAL_WORDS[field],
  }));
}

/** The properties of the parameters, nested ones too, in the order of the schema. */
export function parametersOf({ parameters_schema }: Pick<ToolManifest, 'parameters_schema'>): Parameter[] {
  const found: Parameter[] = [];
  collect(parameters_schema, found, 0);
  return found;
}

function collect(schema: unknown, found: Parameter[], depth: number): void {
  if (!isObject(schema) || depth > DEPTH_MAX) return;
  if (isObject(schema['properties'])) {
    for (const [name, property] of Object.entries(schema['properties'])) {
      if (found.length >= PARAMETERS_MAX) return;
      found.push({ name, description: descriptionOf(property) });
      collect(property, found, depth + 1);
    }
  }
  collect(schema['items'], found, depth + 1);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) for (const branch of branches) collect(branch, found, depth + 1);
  }
}

function descriptionOf(property: unknown): string {
  const description = isObject(property) ? property['description'] : undefined;
  return typeof description === 'string' ? description : '';
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
