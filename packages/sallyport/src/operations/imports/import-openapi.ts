import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** Registers each operation of an OpenAPI document (REG-02). */
export function importOpenApi(parts: OperationParts): Run<'tools.import-openapi'> {
  return async ({ document, name, base_url, source, ...options }, asker) => {
    const imported = await parts.importOpenApi(document, {
      ...(await knownIds(parts, asker)),
      ...(name === undefined ? {} : { name }),
      ...(base_url === undefined ? {} : { baseUrl: base_url }),
      ...(source === undefined ? {} : { source }),
    });
    return importReport(parts, asker, imported, { ...options, whole: 'http' });
  };
}
