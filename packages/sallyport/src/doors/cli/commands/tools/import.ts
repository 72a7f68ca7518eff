import type { ImportReport, LangChainImport } from '../../../../../api/schemas/imports.ts';
import { isObject } from '../../../../domain/shape/is-object.ts';
import { readWireText } from '../../../wire-json.ts';
import { readFolder } from '../../input/read-folder.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import { printImport } from '../../output/import-report.ts';

/** Options that all imports share. */
const IMPORT = {
  whenAbsent: 'make',
  succeeded: ({ registrations }: ImportReport) => registrations.every(({ outcome }) => outcome !== 'refused'),
  print: printImport,
} as const;

/** `tools import openapi|langchain|skill|composio`. */
export function addToolsImportCommands(operation: AddOperation): void {
  operation('tools.import-openapi', {
    ...IMPORT,
    command: 'openapi',
    args: ['document'],
    members: {
      document: { flags: 'source', help: 'file, http(s) address, or - for standard input' },
      source: false,
    },
    input: async ({ document: source, ...given }, { parts }) => ({
      ...given,
      document: await readSource(source, parts.io),
      source,
    }),
  });
  operation('tools.import-langchain', {
    ...IMPORT,
    command: 'langchain',
    args: ['tools'],
    members: {
      tools: {
        flags: 'source',
        help: 'JSON, or one JSON object a line: file, http(s) address, or - for standard input',
        parse: String,
      },
      version: '--tool-version <version>',
    },
    input: async ({ tools, ...given }, { parts }) => {
      const source = String(tools);
      const text = await readSource(source, parts.io);
      return { ...given, tools: toolsIn(source === '-' ? 'Standard input' : source, text) };
    },
  });
  operation('tools.import-skill', {
    ...IMPORT,
    command: 'skill',
    help: 'register the skill of a folder, or each skill in its folders',
    args: ['files'],
    members: {
      files: {
        flags: 'folder',
        help: 'folder with SKILL.md, or with folders that have one; links are refused',
        parse: String,
      },
    },
    input: async ({ files: folder, ...given }, { parts }) => {
      const files = await readFolder(String(folder), parts.io);
      if (files.length === 0) throw usageError(`${String(folder)} is empty. Name the folder that SKILL.md stands in.`);
      return { ...given, files };
    },
  });
  // The command names the key and never contains it: it stays in the layer's secret store.
  operation('tools.import-composio', {
    ...IMPORT,
    command: 'composio',
    help: 'register tools of Composio',
    args: ['toolkit'],
    members: {
      toolkit: { help: 'only its tools, as github; all that the project has when absent' },
      tools: { flags: '--tool <slug>', help: 'only this tool; may come several times' },
    },
  });
}

/** Parses one JSON value, or JSON Lines, depending on the text. */
function toolsIn(name: string, text: string): LangChainImport['tools'] {
  const whole = readWireText(text);
  if (whole.ok) return objectsIn(name, whole.value);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line) => readWireText(line));
  const bad = read.findIndex((line) => !line.ok);
  // A single line, or a first line that is not JSON by itself, was meant as one value.
  if (lines.length < 2 || bad === 0)
    throw usageError(`${name}: ${whole.failure.message.replace('The request', 'The text')}`);
  const fault = read[bad];
  if (fault?.ok === false)
    throw usageError(`${name}, line ${bad + 1}: ${fault.failure.message.replace('The request', 'The text')}`);
  return objectsIn(
    name,
    read.map((line) => (line.ok ? line.value : undefined)),
  );
}

function objectsIn(name: string, value: unknown): LangChainImport['tools'] {
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0 || !values.every(isObject)) {
    throw usageError(`${name} must hold tools as JSON objects: a list, or an object with them.`);
  }
  return value as LangChainImport['tools'];
}
