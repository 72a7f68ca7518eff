import type { EmbeddedTransport, ToolOverride, UpstreamDefinition } from '../../api/schemas/upstream.ts';
import { CONTEXT_OVERRIDES } from './context-server.ts';
import { DOCUMENT_OVERRIDES } from './documents.ts';

const SHIPPED: Readonly<Record<EmbeddedTransport['server'], Readonly<Record<string, ToolOverride>>>> = {
  documents: DOCUMENT_OVERRIDES,
  context: CONTEXT_OVERRIDES,
};

/**
 * The definition with what the layer itself knows of the tools of a reference server. What an operator states of a tool,
 * or of all, comes before it.
 */
export function withShippedOverrides(definition: UpstreamDefinition): UpstreamDefinition {
  const { transport, overrides: stated = {} } = definition;
  if (transport.type !== 'embedded') return definition;
  const all = stated['*'] ?? {};
  const overrides = { ...stated };
  for (const [tool, shipped] of Object.entries(SHIPPED[transport.server])) {
    const own = Object.entries(shipped).filter(([member]) => !Object.hasOwn(all, member));
    overrides[tool] = { ...Object.fromEntries(own), ...stated[tool] };
  }
  return { ...definition, overrides };
}
