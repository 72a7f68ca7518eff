import { KiB } from '@sallyport/std/bytes';

/** Bounds of the shell screen: what lies beyond is refused, never passed over. */
export const SHELL_SCREEN_BOUNDS = {
  /** Characters of one script. */
  scriptCharactersMax: 64 * KiB,
  /** Expansions and substitutions that one script opens; each costs the parser a pass. */
  expansionsMax: 1000,
  /** Scripts within scripts: substitutions, `sh -c`, `eval`, functions that are called. */
  depthMax: 24,
  /** Simple commands of one check, those of unrolled loops and called functions included. */
  commandsMax: 2000,
  /** Characters of all scripts and texts that one check evaluates. */
  workCharactersMax: 512 * KiB,
  /** Rounds of a loop that are followed with their values. */
  roundsMax: 16,
  /** Words that one word may become by braces, lists and splitting. */
  fieldsMax: 512,
  /** Characters of a text that is worked out: output of echo, a decoder, a parameter expansion. */
  textCharactersMax: 64 * KiB,
  /** Findings that are kept. */
  findingsMax: 100,
} as const;
