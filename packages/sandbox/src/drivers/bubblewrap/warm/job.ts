import type { SandboxSpec } from '../../../driver.port.ts';
import { DEFAULT_PATH } from '../../../linux/made-up-files.ts';
import { DEFAULT_FOLDER } from '../view/bubblewrap-arguments.ts';

/**
 * A job for what waits in a sandbox, as fields that each end with a NUL, which none of them can hold: how many fields
 * follow the first three; the working directory; how many variables there are; those as `NAME=value`; the command. The
 * number distinguishes a job that was cut off, because the layer was killed, from a whole one.
 */
export function jobText({ command, environment, workingDirectory = DEFAULT_FOLDER }: SandboxSpec): string {
  // bubblewrap sets PWD too, after all others.
  const variables = Object.entries({ PATH: DEFAULT_PATH, ...environment, PWD: workingDirectory });
  const fields = [...variables.map((pair) => pair.join('=')), ...command];
  return [fields.length, workingDirectory, variables.length, ...fields, ''].join('\0');
}
