import type { Mutant } from './find-mutants.ts';

/** A mutant and the number that switches it on. */
export interface NumberedMutant extends Mutant {
  readonly id: number;
}

/** Global function of an instrumented program: notes that a mutant is reached, and says whether it is the one to run. */
export const SWITCH = '__isMutantOn';

/** The source with all of its mutants in it, each enabled by the switch. Lines stay where they are. */
export function instrument(source: string, mutants: readonly NumberedMutant[]): string {
  const places = [...Map.groupBy(mutants, ({ kind, start, end }) => `${kind} ${start} ${end}`).values()];
  return render(0, source.length, places);

  function render(from: number, to: number, inside: readonly NumberedMutant[][]): string {
    let at = from;
    let text = '';
    for (let index = 0; index < inside.length; ) {
      const place = inside[index] ?? [];
      const { start, end } = place[0] ?? { start: to, end: to };
      let next = index + 1;
      while (next < inside.length && (inside[next]?.[0]?.start ?? end) < end) next += 1;
      text += source.slice(at, start) + switched(place, render(start, end, inside.slice(index + 1, next)));
      at = end;
      index = next;
    }
    return text + source.slice(at, to);
  }
}

function switched(place: readonly NumberedMutant[], original: string): string {
  const [isStatement] = place.map(({ kind }) => kind === 'statement');
  return place.reduceRight(
    (otherwise, { id, replacement }) =>
      isStatement === true
        ? `{if(${SWITCH}(${id})){${oneLine(replacement)}}else{${otherwise}}}`
        : `(${SWITCH}(${id})?(${oneLine(replacement)}):(${otherwise}))`,
    original,
  );
}

/** A comment to the end of its line would swallow what follows. */
function oneLine(text: string): string {
  return text.includes('//') ? `${text}\n` : text;
}
