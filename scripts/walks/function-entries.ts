import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'rolldown/utils';
import { ROOT } from '../project-files.ts';

/** What a stretch of work passed through. */
export interface Walk {
  /** Every file, in the order in which one of its functions first began; without `packages/`. */
  readonly path: readonly string[];
  /** Functions of ours that began. */
  readonly entries: number;
  /** Files that they stand in. */
  readonly files: number;
  /** How often the next function stood in another file than the one before. */
  readonly changesOfFile: number;
  /** The same for components: a folder of the layer, or of another package. */
  readonly changesOfComponent: number;
}

/** Records the functions of ours that begin, in their order. */
export interface FunctionEntries {
  /** Begins a new stretch. */
  begin(): void;
  /** Ends it. */
  end(): Walk;
}

const PACKAGES = join(ROOT, 'packages');

/** From now on every module of the packages that is loaded says when one of its functions begins. Call it before anything imports one. */
export function recordFunctionEntries(): FunctionEntries {
  const paths: string[] = [];
  let entered: number[] = [];
  Object.assign(globalThis, { functionBegins: (file: number) => entered.push(file) });
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
      const path = fileURLToPath(url);
      if (!path.startsWith(PACKAGES)) return next(url, context);
      const source = stripTypeScriptTypes(withCalls(path, readFileSync(path, 'utf8'), paths.push(path) - 1));
      return { format: 'module', source, shortCircuit: true };
    },
  });
  return {
    begin: () => {
      entered = [];
    },
    end: () => walkOf(entered.map((file) => paths[file] ?? '')),
  };
}

/** Counts a list of files, one for each function that began. */
export function walkOf(files: readonly string[]): Walk {
  const changes = (names: readonly string[]) => names.filter((name, at) => at > 0 && name !== names[at - 1]).length;
  return {
    entries: files.length,
    path: [...new Set(files)].map((file) => file.replace(/^.*?packages\//, '')),
    files: new Set(files).size,
    changesOfFile: changes(files),
    changesOfComponent: changes(files.map(componentOf)),
  };
}

const componentOf = (path: string): string =>
  /packages.(?:sallyport.src.[^/\\]+|guards.src.[^/\\]+|[^/\\]+)/.exec(path)?.[0] ?? path;

/** The source with a call at the beginning of each function; its lines stay where they are. */
export function withCalls(path: string, source: string, file: number): string {
  const call = `functionBegins(${file})`;
  const inserted: [at: number, text: string][] = [];
  const visit = (node: { readonly body?: unknown }): void => {
    const body = node.body as
      | { readonly type: string; readonly start: number; readonly end: number }
      | null
      | undefined;
    if (body === null || body === undefined) return;
    if (/^(?:BlockStatement|FunctionBody)$/.test(body.type)) inserted.push([body.start + 1, ` ${call};`]);
    else inserted.push([body.start, `(${call}, `], [body.end, ')']);
  };
  const { program } = parseSync(path, source, { lang: 'ts', sourceType: 'module' });
  new Visitor({ FunctionDeclaration: visit, FunctionExpression: visit, ArrowFunctionExpression: visit }).visit(program);
  inserted.sort(([one], [other]) => one - other);
  let [text, from] = ['', 0];
  for (const [at, more] of inserted) {
    text += source.slice(from, at) + more;
    from = at;
  }
  return text + source.slice(from);
}
