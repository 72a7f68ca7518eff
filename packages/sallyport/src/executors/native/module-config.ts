import { type Static, Type } from 'typebox';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { MODULE_BOUNDS } from './settings.ts';

const NAME = '^[A-Za-z_$][A-Za-z0-9_$]{0,127}$';

/** `executor.config` of a tool of kind `native` that is a sandboxed module. */
export const ModuleConfig = Type.Object(
  {
    module: Type.Union(
      [
        Type.String({ minLength: 1, maxLength: MODULE_BOUNDS.sourceMax, description: 'The source itself.' }),
        Type.Object(
          {
            path: Type.String({
              minLength: 1,
              maxLength: 1024,
              pattern: '^[^\\u0000/\\\\][^\\u0000\\\\]*$',
              description: "A file in the operator's folder of modules, relative to it.",
            }),
            sha256: Type.Optional(
              Type.String({
                pattern: '^[0-9a-f]{64}$',
                description: 'Of the file; without it a later content of the file is run too.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
      ],
      { description: 'JavaScript; it imports nothing.' },
    ),
    format: Type.Optional(
      Type.Enum(['module', 'script'], {
        description:
          'module (default): an ES module that exports the function; script: its last value is the function.',
      }),
    ),
    export: Type.Optional(Type.String({ pattern: NAME, description: 'Export of the module. Default `default`.' })),
  },
  { additionalProperties: false },
);
export type ModuleConfig = Static<typeof ModuleConfig>;

/** True when a manifest of kind `native` is a module, not a function of the embedding program. */
export function isModule({ executor }: ToolManifest): boolean {
  return executor.config !== undefined && Object.hasOwn(executor.config, 'module');
}

/** The configuration of a registered tool, whose manifest was checked. */
export function moduleConfigOf(manifest: ToolManifest): ModuleConfig {
  return manifest.executor.config as ModuleConfig;
}
