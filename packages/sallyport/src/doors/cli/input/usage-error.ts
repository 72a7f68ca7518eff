import { CommanderError } from 'commander';
import { EXIT } from '../cli-parts.ts';

const CODE = 'sallyport.usage';

/** The command was used wrongly; the message says what to write instead. */
export function usageError(message: string): CommanderError {
  return new CommanderError(EXIT.usage, CODE, message);
}

/** Whether it is ours: what commander itself throws it has printed already. */
export function isUsageError(thrown: unknown): thrown is CommanderError {
  return thrown instanceof CommanderError && thrown.code === CODE;
}
