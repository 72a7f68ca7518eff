import { readFileSync } from 'node:fs';
import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/** Marks the copy of a module that has no runs. */
const ROWS = '?rows';
const TABLE = /[\\/]src[\\/]operations[\\/]catalogue\.[jt]s$/;
const IN_OPERATIONS = /[\\/]src[\\/]operations[\\/]/;

/**
 * Who is outside of the operations gets their table without what does them: commands that ask a running layer need not load
 * half of it. A row and its run stand in one file, so the bundle gets that file twice: as it is, and with the row alone;
 * what only the run imports then falls away.
 */
export const rowsForDoors: Plugin = {
  name: 'rows-for-doors',
  resolveId: {
    filter: { id: /\.[jt]s$/ },
    async handler(source, importer) {
      if (importer === undefined) return null;
      const isOfRows = importer.endsWith(ROWS);
      const isTable = /operations\/catalogue\.[jt]s$/.test(source) && !IN_OPERATIONS.test(importer);
      if (!isOfRows && !isTable) return null;
      const from = importer.replace(ROWS, '');
      const resolved = await this.resolve(source, from, { skipSelf: true });
      const isRow = isTable || (TABLE.test(from) && source.startsWith('./'));
      return resolved && isRow ? { ...resolved, id: `${resolved.id}${ROWS}` } : resolved;
    },
  },
  load: {
    filter: { id: /\?rows$/ },
    handler(id) {
      const file = id.replace(ROWS, '');
      return { code: withoutRuns(file, readFileSync(file, 'utf8')), moduleType: file.endsWith('ts') ? 'ts' : 'js' };
    },
  },
};

/** The code of a module whose operations have no run. */
function withoutRuns(file: string, code: string): string {
  const runs: { start: number; end: number }[] = [];
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [described] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'operation') return;
      if (described?.type !== 'ObjectExpression') return;
      for (const member of described.properties) {
        if (member.type === 'Property' && member.key.type === 'Identifier' && member.key.name === 'run')
          runs.push(member.value);
      }
    },
  });
  visitor.visit(parseSync(file, code, { lang: 'ts' }).program);
  const places = runs.sort((a, b) => a.start - b.start);
  const parts = [0, ...places.map(({ end }) => end)].map((from, at) => code.slice(from, places[at]?.start));
  return parts.join('undefined');
}
