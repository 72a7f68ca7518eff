import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** Registers serialised LangChain tools (REG-02). They run once a program has bound their functions. */
export function importLangChain(parts: OperationParts): Run<'tools.import-langchain'> {
  return async ({ tools, name, version, ...options }, asker) => {
    const imported = parts.importLangChain(tools, {
      ...(await knownIds(parts, asker)),
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
    });
    return importReport(parts, asker, imported, { ...options, whole: 'native' });
  };
}
