import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { UpstreamTool } from '../quarantine-store.port.ts';
import { definitionHash } from './definition-hash.ts';

/** A tool as a server lists it. */
export const listed = (name: string, description = 'First.'): ListedMcpTool => ({ name, description, inputSchema: {} });

/** The tool as it was accepted before. */
export const known = (name: string, more: Partial<UpstreamTool> = {}): UpstreamTool => ({
  ...{ tenantId: 'acme', toolId: `up__${name}`, upstream: 'up', tool: name },
  acceptedHash: definitionHash(listed(name)),
  version: '1.0.0',
  noticedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
