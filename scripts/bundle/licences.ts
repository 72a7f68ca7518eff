import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licences of the packages that files come from, as one text: name, version, licence, and the text that the package brings. */
export function licencesOf(files: readonly string[]): string {
  const folders = new Set(
    files.flatMap((file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? []),
  );
  const texts = [...folders].sort().filter(isForeign).map(licenceOf);
  return `The files beside this one hold code of these packages.\n\n${texts.join('\n')}`;
}

const isForeign = (folder: string): boolean =>
  existsSync(join(folder, 'package.json')) &&
  !/[\\/]@?sallyport(?:[\\/]|$)/.test(folder.slice(folder.lastIndexOf('node_modules')));

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${'='.repeat(80)}`, `${name} ${version}: ${license}`, '', ...texts, ''].join('\n');
}
