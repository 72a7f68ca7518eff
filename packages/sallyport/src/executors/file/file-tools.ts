import type { TObject } from 'typebox';
import type { FilesystemPermission, SideEffectPolicy, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { FileConfig } from './file-config.ts';
import {
  EditParameters,
  GlobParameters,
  GrepParameters,
  ListParameters,
  ReadParameters,
  WriteParameters,
} from './parameters.ts';

interface FileTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: TObject;
  /**
   * `pure` leaves no side effect. A change is `compensatable`: it is never repeated automatically, since a repetition
   * could undo what somebody else wrote in between, and the `before` of its result says what an undo must restore.
   */
  readonly sideEffects: SideEffectPolicy;
  /** Parameters that may hold any text by design. */
  readonly content: readonly string[];
}

/** The tools by operation. */
export const FILE_TOOLS: Readonly<Record<FileConfig['operation'], FileTool>> = {
  read: {
    name: 'Read a file',
    description:
      'Reads a text file, or a part of it by lines. Gives content with its line ends, from_line and to_line, the number of lines, ' +
      'and sha256 of the whole file, which file_write and file_edit take as expected_sha256. When more is true, read on from to_line + 1. ' +
      'A file that is no text comes in Base64.',
    parameters: ReadParameters,
    sideEffects: 'pure',
    content: [],
  },
  write: {
    name: 'Write a file',
    description:
      'Writes a whole file, new or in place of the old one, at once or not at all. To change a part of a file use file_edit. ' +
      'Give expected_sha256 of what you read, so that nothing of somebody else is lost.',
    parameters: WriteParameters,
    sideEffects: 'compensatable',
    content: ['content'],
  },
  edit: {
    name: 'Edit a file',
    description:
      'Replaces text in a file. old_string must occur exactly once, or say replace_all. Line ends and encoding of the file are kept. ' +
      'Read the file before, and copy old_string from it exactly.',
    parameters: EditParameters,
    sideEffects: 'compensatable',
    content: ['old_string', 'new_string'],
  },
  list: {
    name: 'List a folder',
    description:
      'Lists a folder, and with depth the folders in it, sorted by name: path, kind (file, folder, link, other) and size. ' +
      'Links are named and not followed. When more is true, ask again with next_offset.',
    parameters: ListParameters,
    sideEffects: 'pure',
    content: [],
  },
  glob: {
    name: 'Find files by name',
    description: 'Finds files whose path fits a glob such as **/*.ts, sorted by path. Links are not followed.',
    parameters: GlobParameters,
    sideEffects: 'pure',
    content: ['pattern'],
  },
  grep: {
    name: 'Search in files',
    description:
      'Searches the lines of text files for a regular expression (RE2) or a fixed text; gives path, line number and line of each match. ' +
      'Binary files, and files that are too large, are passed over and counted. Links are not followed.',
    parameters: GrepParameters,
    sideEffects: 'pure',
    content: ['pattern', 'glob'],
  },
};

const VERSION = '1.0.0';

/**
 * Manifests of `file_read`, `file_write`, `file_edit`, `file_list`, `file_glob` and `file_grep`, to be registered.
 * @param folders that the tools ask for; reading tools ask for them read-only, writing tools for the writable ones
 *   only, and are left out when there are none
 */
export function fileToolManifests(folders: readonly FilesystemPermission[]): readonly ToolManifest[] {
  const operations = Object.keys(FILE_TOOLS) as FileConfig['operation'][];
  return operations.flatMap((operation) => {
    const filesystem = foldersFor(FILE_TOOLS[operation], folders);
    return filesystem.length === 0 ? [] : [manifestOf(operation, filesystem)];
  });
}

function foldersFor({ sideEffects }: FileTool, folders: readonly FilesystemPermission[]): FilesystemPermission[] {
  if (sideEffects !== 'pure') return folders.filter(({ mode }) => mode === 'rw');
  return folders.map(({ path }) => ({ path, mode: 'ro' }));
}

function manifestOf(operation: FileConfig['operation'], filesystem: FilesystemPermission[]): ToolManifest {
  const { name, description, parameters, sideEffects, content } = FILE_TOOLS[operation];
  return {
    tool_id: `file_${operation}`,
    tool_name: name,
    version: VERSION,
    description,
    category: 'file_system',
    tags: ['files'],
    // A plain copy: TypeBox attaches metadata of its own to a schema.
    parameters_schema: JSON.parse(JSON.stringify(parameters)),
    permissions: { filesystem },
    ...(content.length === 0
      ? {}
      : { execution_config: { argument_content: Object.fromEntries(content.map((each) => [`/${each}`, 'raw'])) } }),
    deterministic: false,
    side_effect_policy: sideEffects,
    executor: { kind: 'file', config: { operation } },
  };
}
