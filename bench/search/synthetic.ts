import { contentHash, type ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';
import type { Embedder } from '../../packages/sallyport/src/registry/embedder.port.ts';

/** What real tools and requests sound like, and their vectors. */
export interface Model {
  readonly descriptions: readonly string[];
  readonly requests: readonly string[];
  readonly vectors: readonly Float32Array[];
  readonly embedder: Embedder;
}

const VERBS = ['get', 'list', 'create', 'update', 'delete', 'search', 'send', 'convert', 'export', 'check'];
const PARAMETERS = ['limit', 'cursor', 'query', 'user_id', 'start_date', 'format', 'title', 'amount', 'language'];

/**
 * Tools that say what real ones say, each with words of its own: descriptions put together from those of the model, names of
 * thousands of sources, a few parameters.
 */
export function syntheticTools({ descriptions }: Model, count: number): readonly ToolVersion[] {
  const next = numbersFrom(count);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
  return Array.from({ length: count }, (_, at) => {
    const words = `${pick(descriptions)} ${pick(descriptions)}`.split(' ');
    const name = `${pick(VERBS)}_${word(next)}_${word(next)}`;
    const parameters = Array.from({ length: 3 }, () => pick(PARAMETERS));
    const manifest = {
      tool_id: `source${at % 2000}__${name}_${at}`,
      tool_name: name,
      version: '1.0.0',
      description: `${words.slice(0, 8 + Math.floor(next() * 20)).join(' ')} ${word(next)}.`,
      parameters_schema: {
        type: 'object',
        properties: Object.fromEntries(parameters.map((key) => [key, { description: pick(words) }])),
      },
      executor: { kind: 'native' as const },
    };
    const tool = { tenantId: 'bench', manifest, state: 'active' as const, registeredAt: '2026-01-01T00:00:00.000Z' };
    return { ...tool, contentHash: contentHash(manifest) };
  });
}

/** Answers at once with one of the model's vectors, moved by what follows from the text. */
export function perturbingEmbedder({ vectors, embedder }: Model): Embedder {
  return {
    ...embedder,
    textsMax: 4096,
    embed: async (texts) =>
      texts.map((text) => {
        const next = numbersFrom(seedOf(text));
        const base = vectors[Math.floor(next() * vectors.length)] as Float32Array;
        const spread = 1.2 / Math.sqrt(base.length);
        return base.map((value) => value + (next() - 0.5) * 2 * spread);
      }),
    close: async () => undefined,
  };
}

/** A word that no other tool has, mostly. */
function word(next: () => number): string {
  const parts = ['ba', 'ri', 'to', 'ne', 'lu', 'ska', 'mi', 'dor', 'pel', 'qua', 'ven', 'zi'];
  return Array.from({ length: 3 }, () => parts[Math.floor(next() * parts.length)]).join('');
}

function seedOf(text: string): number {
  let seed = 2_166_136_261;
  for (let at = 0; at < text.length; at += 1) seed = Math.imul(seed ^ text.charCodeAt(at), 16_777_619);
  return seed >>> 0;
}

/** Repeatable numbers from 0 to below 1. */
function numbersFrom(seed: number): () => number {
  let state = (seed ^ 0x9e37_79b9) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
