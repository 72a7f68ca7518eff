import { join } from 'node:path';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';

/** A tool that runs one program; what it may touch stands in its permissions. */
const shellTool = (
  tool_id: string,
  command: readonly string[],
  properties: Record<string, { readonly type: 'string'; readonly description: string }>,
  more: Partial<ToolManifest> & { readonly config?: object } = {},
): ToolManifest => {
  const { config, ...rest } = more;
  return {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: 'One program in a sandbox.',
    category: 'file_system',
    side_effect_policy: 'pure',
    parameters_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
    executor: { kind: 'shell', config: { command: [...command], output: 'text', ...config } },
    ...rest,
  };
};

const FILE = { file: { type: 'string', description: 'Name of a file of the project.' } } as const;

/** The tools of the story, for one project. */
export function toolsFor(project: string) {
  const reading = { permissions: { filesystem: [{ path: project, mode: 'ro' as const }] } };
  const writing = {
    side_effect_policy: 'compensatable' as const,
    permissions: { filesystem: [{ path: project, mode: 'rw' as const }] },
  };
  const here = { working_directory: project };
  return {
    count: shellTool('count-words', ['wc', '-w', '--', '{file}'], FILE, { ...reading, config: here }),
    show: shellTool('show-file', ['cat', '--', '{file}'], FILE, { ...reading, config: here }),
    touch: shellTool('touch-file', ['touch', '--', '{file}'], FILE, { ...reading, config: here }),
    routes: shellTool('count-routes', ['sh', '-c', 'tail -n +2 /proc/net/route | wc -l'], {}),
    wait: shellTool('wait-for-ever', ['sleep', '1000'], {}, { execution_config: { default_timeout_seconds: 1 } }),
    wipe: shellTool('tidy-up', ['sh', '-c', 'rm -rf -- "$1"/*', 'sh', '{folder}'], {
      folder: { type: 'string', description: 'Folder to empty.' },
    }),
    rename: shellTool(
      'rename-word',
      ['sh', join(project, 'rename.sh'), '{from}', '{to}'],
      { from: { type: 'string', description: 'Word to replace.' }, to: { type: 'string', description: 'New word.' } },
      { ...writing, config: { ...here, transaction: { snapshot_required: true } } },
    ),
    build: shellTool(
      'build',
      ['sh', '-c', 'echo "$PROJECT for $TARGET"'],
      {},
      {
        execution_config: { call_variables: ['TARGET'] },
        config: { environment: { PROJECT: 'apollo', TARGET: 'nobody' } },
      },
    ),
  };
}

/** A parameter in the middle of a script: whoever fills it writes the script. */
export const OPEN_DOOR = shellTool('find-lines', ['sh', '-c', 'grep {words} notes.txt'], {
  words: { type: 'string', description: 'Words to look for.' },
});

/** Writes all, and fails at the end: half a change is worse than none. */
export const RENAME = `for file in *.txt; do
  sed -i "s/$1/$2/g" "$file"
done
test "$2" != broken
`;
