import { checkTemplate } from '@sallyport/guards';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ShellConfig } from '../shell-config.ts';
import type { Template } from './argument-template.ts';

type Schema = ToolManifest['parameters_schema'];

/** Where a shell tool uses its parameters: in places that are executed, and in places that may be. */
export function parameterPlaces(config: ShellConfig, command: readonly Template[], schema: Schema) {
  const words = command.map(({ literals, names }) => ({
    text: literals[0] ?? '',
    isFilled: names.length > 0,
    varies: names.some((name) => varies(name, schema)),
  }));
  return checkTemplate(words, {
    allowsDash: config.allow_leading_dash === true,
    fillsInput: (config.stdin ?? 'none') !== 'none',
  });
}

/** True when a call may omit the parameter, or give a list for it. */
function varies(name: string, schema: Schema): boolean {
  const { properties, required } = schema as { readonly properties?: unknown; readonly required?: unknown };
  if (!Array.isArray(required) || !required.includes(name)) return true;
  const known = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  const [, described] = known.find(([key]) => key === name) ?? [];
  const type: unknown = typeof described === 'object' && described !== null ? described.type : undefined;
  const types = Array.isArray(type) ? type : [type];
  return types.some((each) => typeof each !== 'string' || each === 'array' || each === 'null');
}
