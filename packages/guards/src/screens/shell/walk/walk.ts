import type { Statement } from 'unbash';
import type { Input, Stream } from '../field.ts';
import type { Shell } from '../shell.ts';

/** Functions that follow parts of a script; passed to the code for loops and branches. */
export interface Walk {
  list(statements: readonly Statement[], shell: Shell, input: Input | undefined): Stream;
  node(node: Statement['command'], shell: Shell, input: Input | undefined): Stream;
}
