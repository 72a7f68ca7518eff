import { ImportReport, LangChainImport } from '../../../api/schemas/imports.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** Registers serialised LangChain tools (REG-02). They run once a program has bound their functions. */
export const importLangChain = operation({
  name: 'tools.import-langchain',
  summary: 'Register serialised LangChain tools',
  method: 'POST',
  path: '/v1/imports/langchain',
  status: 200,
  access: 'operator',
  input: LangChainImport,
  output: ImportReport,
  run:
    (parts: OperationParts) =>
    async ({ tools, name, version, ...options }, asker) => {
      const imported = parts.importLangChain(tools, {
        ...(await knownIds(parts, asker)),
        ...(name === undefined ? {} : { name }),
        ...(version === undefined ? {} : { version }),
      });
      return importReport(parts, asker, imported, { ...options, whole: 'native' });
    },
});
