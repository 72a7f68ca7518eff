import { ImportReport, OpenApiImport } from '../../../api/schemas/imports.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** Registers each operation of an OpenAPI document (REG-02). */
export const importOpenApi = operation({
  name: 'tools.import-openapi',
  summary: 'Register each operation of an OpenAPI document',
  method: 'POST',
  path: '/v1/imports/openapi',
  status: 200,
  access: 'operator',
  input: OpenApiImport,
  output: ImportReport,
  run:
    (parts: OperationParts) =>
    async ({ document, name, base_url, source, ...options }, asker) => {
      const imported = await parts.importOpenApi(document, {
        ...(await knownIds(parts, asker)),
        ...(name === undefined ? {} : { name }),
        ...(base_url === undefined ? {} : { baseUrl: base_url }),
        ...(source === undefined ? {} : { source }),
      });
      return importReport(parts, asker, imported, { ...options, whole: 'http' });
    },
});
