import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { ImportReport, SkillImport, type SkillImportFile } from '../../../api/schemas/imports.ts';
import type { ImportedTools, SkillFile } from '../../registry/importer.port.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** Registers the skills in the files of a folder (REG-02). Several folders may share a source, unless it is named. */
export const importSkill = operation({
  name: 'tools.import-skill',
  summary: 'Register the skills of a folder',
  method: 'POST',
  path: '/v1/imports/skills',
  status: 200,
  access: 'operator',
  input: SkillImport,
  output: ImportReport,
  run:
    (parts: OperationParts) =>
    async ({ files, name, ...options }, asker) => {
      const given = files.map(fileOf);
      const imported = parts.importSkills(given, {
        ...(await knownIds(parts, asker)),
        ...(name === undefined ? {} : { name }),
      });
      // Files first: a tool that is registered without its files could not run.
      if (options.dry_run !== true) await keepFiles(parts, asker.principal.tenantId, imported, given);
      return importReport(parts, asker, imported, { ...options, whole: name === undefined ? undefined : 'skill' });
    },
});

async function keepFiles(
  { skillFiles }: Pick<OperationParts, 'skillFiles'>,
  tenantId: string,
  { manifests }: ImportedTools,
  given: readonly SkillFile[],
): Promise<void> {
  const contents = new Map(given.map(({ bytes }) => [sha256(bytes), bytes]));
  for (const { executor } of manifests) await skillFiles.keep(tenantId, executor.config as SkillPackage, contents);
}

function fileOf({ path, content, base64, executable }: SkillImportFile, index: number): SkillFile {
  if ((content === undefined) === (base64 === undefined)) {
    throw malformed(`/files/${index}`, 'needs either content or base64');
  }
  if (base64 !== undefined && !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw malformed(`/files/${index}/base64`, 'is not base64');
  }
  const bytes = base64 === undefined ? Buffer.from(content ?? '', 'utf8') : Buffer.from(base64, 'base64');
  return { path, bytes, ...(executable === undefined ? {} : { executable }) };
}

const malformed = (path: string, message: string): ToolLayerError =>
  new ToolLayerError('E3801', `The request for tools.import-skill is not well formed: ${path} ${message}.`, {
    details: { faults: [{ path, code: 'E3801', keyword: 'content', message }] },
  });
