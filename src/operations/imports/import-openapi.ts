import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registerImported } from './register-imported.ts';

/** Registers each operation of an OpenAPI document (REG-02). */
export function importOpenApi(parts: OperationParts): Run<'tools.import-openapi'> {
  return async ({ document, name, base_url, source }, asker) => {
    const imported = await parts.importOpenApi(document, {
      ...(name === undefined ? {} : { name }),
      ...(base_url === undefined ? {} : { baseUrl: base_url }),
      ...(source === undefined ? {} : { source }),
    });
    return {
      source: imported.source,
      registrations: await registerImported(parts, asker, imported),
      skipped: [...imported.skipped],
    };
  };
}
