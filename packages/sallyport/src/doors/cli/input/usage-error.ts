import { CommanderError } from 'commander';
import { EXIT } from '../cli-parts.ts';

const CODE = 'sallyport.usage';

/** The command was used wrongly; the message says what to write instead. */
export function usageError(message: string): CommanderError {
  return new CommanderError(EXIT.usage, CODE, message);
}

/** True for usage errors of this command line; commander prints its own errors itself. */
export function isUsageError(thrown: unknown): thrown is CommanderError {
  return thrown instanceof CommanderError && thrown.code === CODE;
}
