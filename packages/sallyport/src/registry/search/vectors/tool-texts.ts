import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { parametersOf } from '../keywords/tool-fields.ts';
import { namePartsOf } from '../keywords/words.ts';

/** Changes with how texts are made, so that vectors that were made otherwise are not taken for these. */
const RECIPE = 'description; name, description, parameters; 1';
/** Characters of a text: what a tool does is said in its first sentences, and models take long texts slowly. */
const TEXT_CHARACTERS_MAX = 600;

/** What the vector of a tool is made from: the middle of its texts' vectors. */
export interface ToolTexts {
  /** One or two, never empty. */
  readonly texts: readonly string[];
  /** The same for the same texts, whoever's tool it is. */
  readonly contentHash: string;
}

/**
 * The description alone, and name, description and names of the parameters: together they found more on the shown sets than
 * either alone (docs/tools/search.md).
 */
export function toolTexts(manifest: ToolManifest): ToolTexts {
  const description = tidy(manifest.description).slice(0, TEXT_CHARACTERS_MAX);
  const name = tidy(namePartsOf(manifest.tool_name));
  const parameters = parametersOf(manifest).map((parameter) => namePartsOf(parameter.name));
  const whole = tidy(`${name}. ${description} ${parameters.join(', ')}`).slice(0, TEXT_CHARACTERS_MAX);
  const texts = description === '' || description === whole ? [whole] : [description, whole];
  return { texts, contentHash: sha256(JSON.stringify([RECIPE, ...texts])) };
}

/** A lone half of a surrogate pair has no place in a request to a model. */
const tidy = (text: string): string =>
  text
    .slice(0, TEXT_CHARACTERS_MAX * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
