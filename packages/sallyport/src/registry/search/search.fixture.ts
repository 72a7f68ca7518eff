import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { contentHash, type ToolVersion } from '../../domain/tool/tool-version.ts';
import type { Embedder } from '../embedder.port.ts';

/** A tool version of the tenant acme. */
export function tool(tool_id: string, description: string, more: Partial<ToolManifest> = {}): ToolVersion {
  const manifest: ToolManifest = {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description,
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
    ...more,
  };
  return {
    tenantId: 'acme',
    manifest,
    contentHash: contentHash(manifest),
    state: 'active',
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
}

/** Groups of words that {@link conceptEmbedder} treats as having the same meaning. */
const CONCEPTS = [
  ['rain', 'weather', 'forecast', 'umbrella'],
  ['mail', 'letter', 'message', 'post'],
  ['money', 'currency', 'euro', 'payment'],
  ['photo', 'image', 'picture', 'camera'],
];

/** An embedder that a test can observe and change. */
export interface ConceptEmbedder extends Embedder {
  /** Every text that was to be embedded. */
  readonly asked: string[];
  /** Replaces the answer; undefined for the usual one. */
  answer: ((texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>) | undefined;
  closed: boolean;
}

/**
 * A model in a few lines: texts are similar when their words belong to the same concepts. Its cosines are 0 or near 1.
 */
export function conceptEmbedder(model = 'concepts'): ConceptEmbedder {
  const embedder: ConceptEmbedder = {
    model,
    textsMax: 8,
    textCharactersMax: 2000,
    traits: { dimensions: CONCEPTS.length + 1, boundaryCosine: 0.5, relatedCosine: 0.9 },
    asked: [],
    answer: undefined,
    closed: false,
    async embed(texts, signal) {
      signal.throwIfAborted();
      if (embedder.closed) throw new ToolLayerError('E3005', 'The embedder is closed.');
      embedder.asked.push(...texts);
      return embedder.answer?.(texts, signal) ?? texts.map(conceptVector);
    },
    async close() {
      embedder.closed = true;
    },
  };
  return embedder;
}

/** The usual vector of a text. */
export function conceptVector(text: string): Float32Array {
  const words = new Set(text.toLowerCase().match(/[a-z]+/g));
  const counts = CONCEPTS.map((concept) => concept.filter((word) => words.has(word)).length);
  return Float32Array.from([...counts, 0.01]);
}
