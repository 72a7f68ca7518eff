import { hiddenShown } from '@sallyport/std/text/hidden-characters';
import { stringify } from 'smol-toml';
import type { MigrationNote } from '../../../doors/cli/cli-parts.ts';
import { SETTINGS, type Settings } from '../../settings.ts';

/**
 * A settings file: the settings in the order of their documentation, each with the key that it comes from, and the keys
 * that were not taken as comments.
 * @param origins by setting
 */
export function settingsText(
  settings: Partial<Settings>,
  origins: ReadonlyMap<string, string>,
  notes: readonly MigrationNote[],
): string {
  const lines: string[] = notes.map(({ key, why }) => comment(`${key}: ${why}`));
  let table = '';
  for (const { key } of SETTINGS) {
    const value = settings[key];
    if (value === undefined) continue;
    const [own, name] = [key.slice(0, key.lastIndexOf('.')), key.slice(key.lastIndexOf('.') + 1)];
    if (own !== table) lines.push('', `[${own}]`);
    table = own;
    lines.push(comment(`from ${origins.get(key) ?? 'the specification'}`), stringify({ [name]: value }).trim());
  }
  return `${lines.join('\n').trim()}\n`;
}

const comment = (text: string): string => `# ${hiddenShown(text).replaceAll(/\s+/g, ' ')}`;
