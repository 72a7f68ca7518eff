import type { SkillImportFile } from '../../../api/schemas/imports.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { SkillFile } from '../../registry/importer.port.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';

/** Registers the skills in the files of a folder (REG-02). Several folders may share a source, unless it is named. */
export function importSkill(parts: OperationParts): Run<'tools.import-skill'> {
  return async ({ files, name, ...options }, asker) => {
    const imported = parts.importSkills(files.map(fileOf), name === undefined ? {} : { name });
    return importReport(parts, asker, imported, { ...options, whole: name === undefined ? undefined : 'skill' });
  };
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
