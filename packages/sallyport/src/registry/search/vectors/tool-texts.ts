import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { parametersOf } from '../keywords/tool-fields.ts';
import { namePartsOf } from '../keywords/words.ts';

/** Version of the way texts are made, so that vectors made differently are not reused. */
const RECIPE = 'description; name, description, parameters; 1';
/** Most characters of a text: the first sentences say what a tool does, and models are slow with long texts. */
const TEXT_CHARACTERS_MAX = 600;

/** Texts for a tool's vector, which is the mean of their vectors. */
export interface ToolTexts {
  /** One or two, never empty. */
  readonly texts: readonly string[];
  /** Equal for equal texts, whoever owns the tool. */
  readonly contentHash: string;
}

/**
 * The description alone; and name, description and parameter names: together they found more on the shown sets than
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

/** An unpaired surrogate is not valid in a request to a model. */
const tidy = (text: string): string =>
  text
    .slice(0, TEXT_CHARACTERS_MAX * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
