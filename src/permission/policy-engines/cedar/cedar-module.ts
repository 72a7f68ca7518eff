import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';

/** The WebAssembly module's functions. */
export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/**
 * The tree of a policy whose text parses. Takes half a millisecond, so it is asked for only where nothing else will do.
 * @throws E3214 when it does not parse after all
 */
export function readPolicy(cedar: Cedar, text: string): PolicyJson {
  const read = cedar.policyToJson(text);
  if (read.type === 'success') return read.json;
  throw new ToolLayerError('E3214', `A policy cannot be read: ${read.errors[0]?.message ?? 'no reason given'}.`);
}
