import type { UpstreamImportResponse } from '../../../api/schemas/upstream.ts';
import { failureOf } from '../../domain/error/tool-layer-error.ts';
import { readDesktopConfiguration } from '../../mcp-servers/desktop-configuration.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { connectAndRegister } from '../upstreams/add-upstream.ts';

/** Moves the servers of a desktop client's file in (REG-14). One that does not start does not keep the others out. */
export function importUpstreams(parts: OperationParts): Run<'upstreams.import'> {
  return async ({ configuration, source }, asker) => {
    const read = readDesktopConfiguration(configuration, source);
    const imported: UpstreamImportResponse['imported'] = [];
    const refused = [...read.refused];
    for (const definition of read.upstreams) {
      try {
        imported.push(await connectAndRegister(parts, asker, definition, false));
      } catch (thrown) {
        refused.push({ name: definition.name, reason: failureOf(thrown).message });
      }
    }
    return { imported, refused, notes: [...read.notes] };
  };
}
