import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SandboxSpec } from '../driver.port.ts';

const ENVIRONMENT_NAMES_MAX = 1000;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Refuses specs that Linux cannot start a process with.
 * @throws E3101 for a NUL character, or a name that no environment can hold, or more than 1 000 of them
 */
export function checkUsable({ command, environment, workingDirectory }: SandboxSpec): void {
  const names = Object.keys(environment);
  const texts = [...command, ...Object.values(environment), workingDirectory ?? ''];
  if (names.length > ENVIRONMENT_NAMES_MAX) {
    throw unusable(`its environment has more than ${ENVIRONMENT_NAMES_MAX} names`);
  }
  const odd = names.find((name) => !ENVIRONMENT_NAME.test(name));
  if (odd !== undefined) throw unusable(`${JSON.stringify(odd)} is no name of an environment variable`);
  if (texts.some((value) => value.includes('\0'))) throw unusable('its command or environment holds a NUL character');
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}
