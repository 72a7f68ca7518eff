import { AT_MARK_COUNT, HASH_FACTOR, MARK_PLACE, ROOM, RUN_PLACE } from '../constants.ts';
import { CODES, codeAt, foldOf, HASHES, MARKS, REPORT, RUNS, SIGNS, setI32 } from './memory.ts';

/**
 * Looks at every unit of a text once, without a branch: what comes next cannot be foreseen, and a wrong guess of the
 * processor costs more than ten units. Leaves marks, runs and the hashes of runs, and how many marks there are in the report.
 * @returns the signs of the text
 */
export function read(length: i32): i32 {
  memory.fill(CODES + (length << 1), 0, 2 * ROOM);
  let signs: i32 = 0;
  let marks: i32 = 0;
  let runs: i32 = 0;
  let inside: i32 = 0;
  let hash: i32 = 0;
  for (let at: i32 = 0; at < length; at++) {
    const code = codeAt(at);
    const bits: i32 = load<u16>(SIGNS + (code << 1));
    signs |= bits;
    setI32(MARKS, marks, at);
    marks += (bits >>> MARK_PLACE) & 1;
    const now = bits >>> RUN_PLACE;
    setI32(RUNS, runs, at);
    runs += now ^ inside;
    inside = now;
    hash = hash * (HASH_FACTOR & (0 - now)) + foldOf(code);
    setI32(HASHES, runs, hash);
  }
  // A text may end within a run; and whoever looks for the next one has to find that there is none.
  setI32(RUNS, runs, length);
  setI32(RUNS, runs + 1, length);
  setI32(REPORT, AT_MARK_COUNT, marks);
  return signs;
}
