// npm run generate [-- --check]: writes the documents that are made from code; with --check only says which ones are stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../packages/sallyport/src/compose/version.ts';
import {
  commandsDocument,
  errorsDocument,
  lifecycleDocument,
  operationsDocument,
  type SettingRow,
  settingsDocument,
  sourceKeysDocument,
} from './documents.ts';
import { ROOT } from './project-files.ts';
import { settingsSchema } from './settings-schema.ts';

/** Paths of the generated documents that are missing or differ from what the code says. */
export async function staleDocuments(): Promise<string[]> {
  const documents = await generatedDocuments();
  return [...documents].filter(([path, text]) => currentText(path) !== text).map(([path]) => path);
}

/** Text by path of every generated document. What is made from a module that is not there is left out. */
async function generatedDocuments(): Promise<Map<string, string>> {
  const documents = new Map([
    ['docs/errors.md', errorsDocument()],
    ['docs/calls/lifecycle.md', lifecycleDocument()],
    ['docs/operations.md', operationsDocument()],
    ['docs/cli.md', commandsDocument(currentText('docs/cli.md') ?? '')],
    ['docs/specifications/settings.md', sourceKeysDocument()],
  ]);
  const settings = await moduleIfThere<{ SETTINGS: Readonly<Record<string, SettingRow>> | readonly SettingRow[] }>(
    'packages/sallyport/src/compose/settings.ts',
  );
  if (settings !== undefined) {
    const rows = Object.values(settings.SETTINGS);
    documents.set('docs/settings.md', settingsDocument(rows));
    documents.set('docs/sallyport.schema.json', `${JSON.stringify(settingsSchema(rows), undefined, 2)}\n`);
  }
  const openApi = await moduleIfThere<{ openApiDocument: (version: string) => object }>(
    'packages/sallyport/src/compose/openapi/openapi-document.ts',
  );
  if (openApi !== undefined) {
    documents.set(
      'packages/sallyport/api/openapi.json',
      `${JSON.stringify(openApi.openApiDocument(VERSION), undefined, 2)}\n`,
    );
  }
  return documents;
}

async function moduleIfThere<M>(path: string): Promise<M | undefined> {
  const file = join(ROOT, path);
  return existsSync(file) ? ((await import(pathToFileURL(file).href)) as M) : undefined;
}

function currentText(path: string): string | undefined {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

async function main(): Promise<void> {
  const stale = await staleDocuments();
  if (process.argv.includes('--check')) {
    for (const path of stale) console.error(`${path} is stale: type npm run generate`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  const documents = await generatedDocuments();
  for (const path of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), documents.get(path) ?? '');
    console.log(`wrote ${path}`);
  }
}

if (import.meta.main) await main();
